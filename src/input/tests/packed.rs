//! Lists in zip archives and Parquet files, whole, odd and broken.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, DictionaryArray, Float64Array, Int64Array, LargeStringArray, RecordBatch,
    StringArray, StringViewArray, UInt16Array,
};
use arrow::datatypes::Int32Type;
use flate2::write::DeflateEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression as Codec, GzipLevel};
use parquet::file::properties::WriterProperties;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use tempfile::TempDir;

use super::*;

/// Reads a list that stands in a file of this name.
fn read_file(name: &str, bytes: &[u8]) -> anyhow::Result<(TargetList, Vec<Rejected>)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let mut rejected = Vec::new();
    let list = read_list(&path, &ListOptions::default(), &mut |line| rejected.push(line))?;
    Ok((list, rejected))
}

#[track_caller]
fn refusal(name: &str, bytes: &[u8]) -> String {
    let error = format!("{:#}", read_file(name, bytes).unwrap_err());
    assert!(error.contains(name), "{error}");
    error
}

/// An archive of these files; a name that ends in a slash is a folder.
pub(in crate::input) fn zip(files: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut archive = ZipArchiveWriter::new(Vec::new());
    for (name, bytes) in files {
        if name.ends_with('/') {
            archive.new_dir(*name).create().unwrap();
            continue;
        }
        let (mut entry, config) = archive.new_file(*name).compression_method(method).start().unwrap();
        let descriptor = if method == CompressionMethod::DEFLATE {
            let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::fast()));
            writer.write_all(bytes).unwrap();
            let (encoder, descriptor) = writer.finish().unwrap();
            encoder.finish().unwrap();
            descriptor
        } else {
            let mut writer = config.wrap(&mut entry);
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap().1
        };
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap()
}

fn parquet(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    parquet_packed(columns, Codec::SNAPPY)
}

fn parquet_packed(columns: Vec<(&str, ArrayRef)>, codec: Codec) -> Vec<u8> {
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let properties = WriterProperties::builder().set_compression(codec).set_max_row_group_row_count(Some(3)).build();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    file
}

fn strings(texts: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from(texts.to_vec()))
}

#[test]
fn the_only_file_of_an_archive_is_the_list_whatever_it_is_called() {
    for method in [CompressionMethod::STORE, CompressionMethod::DEFLATE] {
        for name in ["tranco_XXXXX-1m.csv.zip", "downloaded"] {
            let archive = zip(&[("lists/", b""), ("lists/top-1m.csv", b"1,a.example\n2,b.example\n")], method);
            let (list, _) = read_file(name, &archive).unwrap();
            assert_eq!(shown(&list), ["a.example 1 - -", "b.example 2 - -"]);
            assert_eq!(list.name(), name.trim_end_matches(".csv.zip"));
            assert_eq!(list.sha256(), <[u8; 32]>::from(<sha2::Sha256 as sha2::Digest>::digest(&archive)));
        }
    }
}

#[test]
fn an_archive_that_is_no_list_is_refused_with_what_it_is() {
    let list: &[u8] = b"a.example\nb.example\n";
    let several: Vec<_> = ["a.csv", "b.csv", "c", "d", "e", "f"].map(|name| (name, list)).to_vec();
    let error = refusal("several.zip", &zip(&several, CompressionMethod::STORE));
    assert!(
        error.contains("holds 6 files") && error.contains("b.csv (20 bytes)") && error.contains("and more"),
        "{error}"
    );
    assert!(refusal("none.zip", &zip(&[("folder/", b"")], CompressionMethod::STORE)).contains("holds no file"));
    assert!(refusal("text.zip", list).contains("it is no whole zip archive"));

    let mut encrypted = zip(&[("a.csv", list)], CompressionMethod::DEFLATE);
    let directory = memchr::memmem::find(&encrypted, b"PK\x01\x02").unwrap();
    encrypted[directory + 8] |= 1;
    let error = refusal("secret.zip", &encrypted);
    assert!(error.contains("a.csv, in the zip archive, is encrypted"), "{error}");
    let mut odd = zip(&[("a.csv", list)], CompressionMethod::DEFLATE);
    odd[directory + 10] = 12;
    let error = refusal("odd.zip", &odd);
    assert!(error.contains("BZIP2") && error.contains("stored and deflated"), "{error}");

    let archive = parquet(vec![("host", strings(&[Some("a.example")]))]);
    let error = refusal("nested.zip", &zip(&[("a.parquet", &archive)], CompressionMethod::STORE));
    assert!(error.contains("it is Parquet"), "{error}");
}

#[test]
fn a_damaged_archive_is_an_error_and_never_a_shorter_list() {
    let list = (0..200).map(|number| format!("{number},h{number}.example")).collect::<Vec<_>>().join("\n");
    for method in [CompressionMethod::STORE, CompressionMethod::DEFLATE] {
        let archive = zip(&[("list.csv", list.as_bytes())], method);
        for at in (0..archive.len()).step_by(7) {
            assert!(read_file("cut.csv.zip", &archive[..at]).is_err(), "cut at {at}");
            let mut damaged = archive.clone();
            damaged[at] ^= 0x10;
            // Some bytes of an archive say nothing of its file: times, versions, names.
            if let Ok((read, rejected)) = read_file("damaged.csv.zip", &damaged) {
                assert!(read.len() == 200 && rejected.is_empty(), "{method}, damaged at {at}");
            }
        }
    }
}

#[test]
fn columns_of_parquet_have_the_names_of_a_header_and_any_kind_of_text_and_number() {
    let hosts: [ArrayRef; 5] = [
        strings(&[Some("https://a.example/x"), Some(" B.example. ")]),
        Arc::new(LargeStringArray::from(vec!["a.example", "b.example"])),
        Arc::new(StringViewArray::from(vec!["a.example", "b.example"])),
        Arc::new(DictionaryArray::<Int32Type>::from_iter(["a.example", "b.example"])),
        Arc::new(BinaryArray::from(vec![&b"a.example"[..], b"b.example"])),
    ];
    let numbers: [[ArrayRef; 2]; 3] = [
        [Arc::new(Int64Array::from(vec![7, 4_000_000_000])), Arc::new(Float64Array::from(vec![0.5, 2.0]))],
        [Arc::new(Float64Array::from(vec![7.0, 4e9])), strings(&[Some("0.5"), Some("2")])],
        [strings(&[Some("7"), Some("4000000000")]), Arc::new(Float64Array::from(vec![0.5, 2.0]))],
    ];
    let codecs = [Codec::UNCOMPRESSED, Codec::SNAPPY, Codec::GZIP(GzipLevel::default()), Codec::LZ4_RAW, Codec::LZ4];
    for (name, host, codec) in ["domain", "Host", "URL", "origin", "domain"].iter().zip(hosts).zip(codecs).map(flatten)
    {
        for [rank, weight] in numbers.clone() {
            let columns = vec![
                ("note", Arc::new(UInt16Array::from(vec![1, 2])) as ArrayRef),
                ("Stratum", strings(&[Some("head"), None])),
                ("weight", weight),
                (name, ArrayRef::clone(&host)),
                ("GlobalRank", rank),
            ];
            let (list, rejected) = read_file("list", &parquet_packed(columns, codec)).unwrap();
            assert_eq!(shown(&list), ["a.example 7 0.5 head", "b.example 4000000000 2 -"], "{:?}", host.data_type());
            assert!(rejected.is_empty());
        }
    }
}

fn flatten<A, B, C>(((a, b), c): ((A, B), C)) -> (A, B, C) {
    (a, b, c)
}

#[test]
fn a_bad_row_has_its_number_and_costs_nothing_else() {
    let hosts = vec![Some(&b"a.example"[..]), None, Some(b"no host"), Some(b"\xff.example"), Some(b"b.example")];
    let hosts: Vec<_> = hosts.into_iter().chain([Some(&b"c.example"[..]), Some(b"d.example"), Some(b"")]).collect();
    let ranks = vec![Some(1.0), Some(2.0), Some(3.0), Some(4.0), None, Some(1.5), Some(-1.0), Some(8.0)];
    let columns: Vec<(&str, ArrayRef)> =
        vec![("host", Arc::new(BinaryArray::from(hosts))), ("rank", Arc::new(Float64Array::from(ranks)))];
    let (list, rejected) = read_file("list.parquet", &parquet(columns)).unwrap();
    assert_eq!(shown(&list), ["a.example 1 - -", "b.example - - -"]);
    assert_eq!(list.counts(), Counts { accepted: 2, duplicates: 0, rejected: 6 });
    let rows: Vec<_> = rejected.iter().map(|row| (row.line, row.reason.word())).collect();
    let bad = [(2, "no-column"), (3, "character"), (4, "not-utf8"), (6, "bad-rank"), (7, "bad-rank"), (8, "no-column")];
    assert_eq!(rows, bad);

    let weights: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN, -1.0, 1.0]));
    let hosts = strings(&[Some("a.example"), Some("b.example"), Some("c.example")]);
    let (list, rejected) = read_file("list.parquet", &parquet(vec![("host", hosts), ("weight", weights)])).unwrap();
    assert_eq!(shown(&list), ["c.example - 1 -"]);
    assert_eq!((rejected[1].text.as_str(), rejected[1].reason.word()), ("b.example,-1.0", "bad-weight"));
}

#[test]
fn parquet_that_is_no_list_says_why() {
    let hosts = || strings(&[Some("a.example")]);
    let error = refusal("odd.parquet", &parquet(vec![("name", hosts()), ("rank", hosts())]));
    assert!(error.contains("called domain, host, url, origin; they are name, rank"), "{error}");
    let error = refusal("none.parquet", &parquet(vec![("host", strings(&[None, Some("x")]))]));
    assert!(
        error.contains("none of its 2 rows names a host; row 1: \"\" (no-column); row 2: \"x\" (no-dot)"),
        "{error}"
    );
    assert!(refusal("empty.parquet", &parquet(vec![("host", strings(&[]))])).contains("it is empty"));
    assert!(refusal("text.parquet", b"a.example\n").contains("it is no whole Parquet file"));
    let whole = parquet(vec![("host", hosts())]);
    assert!(refusal("cut.parquet", &whole[..whole.len() - 9]).contains("it is no whole Parquet file"));
    // Through a stream nobody can look at the end.
    let error = format!("{:#}", read(&whole, None).unwrap_err());
    assert!(error.contains("it is Parquet") && error.contains("name a file"), "{error}");
    let error = format!("{:#}", read(&zip(&[("a", b"a.example")], CompressionMethod::STORE), None).unwrap_err());
    assert!(error.contains("it is a zip archive") && error.contains("name a file"), "{error}");
}

#[test]
fn a_weight_column_may_have_any_name_in_parquet_too() {
    let folder: TempDir = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("list.parquet");
    let tokens: ArrayRef = Arc::new(Int64Array::from(vec![5]));
    std::fs::write(&path, parquet(vec![("host", strings(&[Some("a.example")])), ("tokens", tokens)])).unwrap();
    let read = |name: &str| {
        let options = ListOptions { weight_column: Some(name.to_owned()) };
        read_list(&path, &options, &mut |_| {})
    };
    assert_eq!(shown(&read("Tokens").unwrap()), ["a.example - 5 -"]);
    let error = format!("{:#}", read("token").unwrap_err());
    assert!(error.contains("no column \"token\" for weights; its columns are host, tokens"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_same_list_in_any_form_gives_the_same_targets(
        rows in prop::collection::vec(
            (
                "([a-c]{1,2}|10|\u{e4}| )(\\.[a-c]{1,2}|\\.example|/x|:1| )?",
                prop::option::of(0..5_000_000_000_i64),
                prop::option::of(-0.5..4.0),
                prop::option::of("[hr]{1,2}"),
            ),
            1..20,
        ),
    ) {
        let mut csv = String::from("rank,stratum,host,weight\n");
        for (host, rank, weight, stratum) in &rows {
            let show = |number: Option<String>| number.unwrap_or_default();
            let (rank, weight) = (show(rank.map(|n| n.to_string())), show(weight.map(|n: f64| n.to_string())));
            writeln!(csv, "{rank},{},\"{host}\",{weight}", stratum.as_deref().unwrap_or_default()).unwrap();
        }
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("rank", Arc::new(rows.iter().map(|row| row.1).collect::<Int64Array>())),
            ("stratum", Arc::new(rows.iter().map(|row| row.3.as_deref()).collect::<StringArray>())),
            ("host", Arc::new(rows.iter().map(|row| Some(row.0.as_str())).collect::<StringArray>())),
            ("weight", Arc::new(rows.iter().map(|row| row.2).collect::<Float64Array>())),
        ];
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(csv.as_bytes()).unwrap();
        let files = [
            ("list.csv.gz", gzip.finish().unwrap()),
            ("list.csv.zst", zstd::encode_all(csv.as_bytes(), 1).unwrap()),
            ("list.csv.zip", zip(&[("list.csv", csv.as_bytes())], CompressionMethod::DEFLATE)),
            ("list.zip", zip(&[("list.csv", csv.as_bytes())], CompressionMethod::STORE)),
            ("list.parquet", parquet(columns)),
        ];
        let seen = |read: anyhow::Result<(TargetList, Vec<Rejected>)>, first: u64| read.ok().map(|(list, rejected)| {
            let rejected: Vec<_> = rejected.iter().map(|line| (line.line - first, line.reason.word())).collect();
            (list.name().to_owned(), shown(&list), list.counts(), rejected)
        });
        let expected = seen(read_file("list.csv", csv.as_bytes()), 2);
        for (name, bytes) in files {
            let first = if name.ends_with("parquet") { 1 } else { 2 };
            prop_assert_eq!(&seen(read_file(name, &bytes), first), &expected, "{}", name);
        }
    }

    #[test]
    fn any_bytes_are_a_zip_archive_or_parquet_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0usize..300) {
        let hosts = strings(&[Some("a.example"), Some("b.example")]);
        let whole = [parquet(vec![("host", hosts)]), zip(&[("a", b"a.example\nb.example\n")], CompressionMethod::DEFLATE)];
        for (mut file, name) in whole.into_iter().zip(["list.parquet", "list.zip"]) {
            let _ = read_file(name, &bytes);
            let at = at.min(file.len());
            file.splice(at..(at + bytes.len()).min(file.len()), bytes.iter().copied());
            let _ = read_file(name, &file);
        }
    }
}
