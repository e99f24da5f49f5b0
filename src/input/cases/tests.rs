use std::io::Write;

use arrow::array::{ArrayRef, Float64Array, LargeStringArray, RecordBatch, StringViewArray};
use tempfile::NamedTempFile;

use super::*;
use crate::input::tests::packed::zip;

fn file(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// Cases as `host agent path weight`, rejected lines as `line reason`.
fn read(source: &CaseSource) -> Vec<String> {
    let show = |item: anyhow::Result<Result<Case, Rejected>>| match item.unwrap() {
        Ok(Case { host, agent, path, weight }) => format!("{host} {agent} {path} {weight}"),
        Err(Rejected { line, reason, .. }) => format!("{line} {}", reason.word()),
    };
    source.open().unwrap().map(show).collect()
}

fn table(bytes: &[u8], weight_column: Option<&str>) -> Vec<String> {
    let file = file(bytes);
    let weight_column = weight_column.map(str::to_owned);
    read(&CaseSource::Table { path: file.path().to_owned(), weight_column })
}

fn urls_of(file: &NamedTempFile, agents: &[&str], weight_column: Option<&str>) -> CaseSource {
    CaseSource::Urls {
        path: file.path().to_owned(),
        agents: agents.iter().map(|agent| (*agent).into()).collect(),
        url_column: "url".to_owned(),
        weight_column: weight_column.map(str::to_owned),
    }
}

fn urls(bytes: &[u8], weight_column: Option<&str>) -> Vec<String> {
    let file = file(bytes);
    read(&urls_of(&file, &["A"], weight_column))
}

#[test]
fn a_table_has_three_columns_and_may_name_them() {
    let plain = b"# host\tagent\nExample.COM\tGPTBot\t/a b\tmore\nb\xc3\xbccher.example\tX\t\n";
    assert_eq!(table(plain, None), ["example.com GPTBot /a b 1", "xn--bcher-kva.example X / 1"]);
    let named = b"Path\tweight\tHost\tAgent\r\n/x\t2.5\texample.com\tA\r\n";
    assert_eq!(table(named, None), ["example.com A /x 1"]);
    assert_eq!(table(named, Some("weight")), ["example.com A /x 2.5"]);
}

#[test]
fn a_bad_line_has_a_number_and_a_reason_and_costs_nothing_else() {
    let bytes =
        b"example.com\tA\t/\n\nexample.com\tA\n10.0.0.1\tA\t/\n\xff\tA\t/\nexample.com\t\t/\nexample.com\tA\thttps://x\n\
                  example.com\tA\t/z\n";
    let expected = [
        "example.com A / 1",
        "3 no-column",
        "10.0.0.1 A / 1",
        "5 not-utf8",
        "6 no-column",
        "7 bad-path",
        "example.com A /z 1",
    ];
    assert_eq!(table(bytes, None), expected);
    let weighted = b"host\tagent\tpath\tw\nexample.com\tA\t/\tNaN\nexample.com\tA\t/\t-1\nexample.com\tA\t/\t0\n";
    assert_eq!(table(weighted, Some("w")), ["2 bad-weight", "3 bad-weight", "example.com A / 0"]);
}

#[test]
fn urls_come_a_line_each_and_keep_their_bytes() {
    let bytes = b"https://Example.com/a,b?q=%7e#f\nexample.com\nhttp://example.com:8080/x\nhttps://example.com:443\n\
                  https://example.com?x\nftp://example.com/\nhttps://[::1]/\nhttps://u:p@example.com/\xc3\xa4/../y\nno host\n\
                  mailto:me@example.org\nme@example.org\nhttp:///example.org/y\nhttp://example.org\\x\n\
                  example.org/?u=http://y\nHTTP://example.org:80;x\nexample.org:443/\nhttps://example.org:x/\n";
    let expected = [
        "example.com A /a,b?q=%7e 1",
        "example.com A / 1",
        "example.com:8080 A /x 1",
        "example.com A / 1",
        "example.com A /?x 1",
        "6 bad-url",
        "[::1] A / 1",
        "example.com A /ä/../y 1",
        "9 character",
        "10 bad-url",
        "11 bad-url",
        "12 bad-url",
        "13 bad-url",
        "example.org A /?u=http://y 1",
        "example.org A /;x 1",
        "example.org:443 A / 1",
        "17 bad-url",
    ];
    assert_eq!(urls(bytes, None), expected);
}

#[test]
fn a_header_makes_it_csv_or_tsv() {
    let csv = b"# made today\nid,url,tokens\n1,\"https://example.com/a,\"\"b\",10\n2,https://example.com/c\n3,,1\n";
    assert_eq!(urls(csv, None), ["example.com A /a,\"b 1", "example.com A /c 1", "5 bad-url"]);
    assert_eq!(urls(csv, Some("Tokens")), ["example.com A /a,\"b 10", "4 no-column", "5 bad-url"]);
    assert_eq!(urls(b"tokens\tURL\n7\texample.com/x\n", Some("tokens")), ["example.com A /x 7"]);
}

#[test]
fn each_url_is_asked_for_each_agent() {
    let file = file(b"example.com/x\nexample.com/y\n");
    let expected = ["example.com A /x 1", "example.com B /x 1", "example.com A /y 1", "example.com B /y 1"];
    assert_eq!(read(&urls_of(&file, &["A", "B"], None)), expected);
}

#[test]
fn compressed_text_is_unpacked() {
    let text = b"https://example.com/x\n";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text).unwrap();
    assert_eq!(urls(&gzip.finish().unwrap(), None), ["example.com A /x 1"]);
    assert_eq!(urls(&zstd::encode_all(&text[..], 1).unwrap(), None), ["example.com A /x 1"]);
    assert_eq!(urls(&zip(&[("urls.txt", text)], rawzip::CompressionMethod::DEFLATE), None), ["example.com A /x 1"]);
}

#[test]
fn a_column_of_parquet_is_read_whatever_kind_of_text_it_is() {
    let texts = [Some("https://example.com/x"), None, Some("example.com/y")];
    let kinds: [ArrayRef; 2] =
        [Arc::new(LargeStringArray::from(texts.to_vec())), Arc::new(StringViewArray::from(texts.to_vec()))];
    for kind in kinds {
        let weights: ArrayRef = Arc::new(Float64Array::from(vec![Some(2.0), Some(1.0), None]));
        let batch =
            RecordBatch::try_from_iter([("other", Arc::clone(&weights)), ("url", kind), ("w", weights)]).unwrap();
        let file = NamedTempFile::new().unwrap();
        let mut writer = ::parquet::arrow::ArrowWriter::try_new(file.reopen().unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        assert_eq!(read(&urls_of(&file, &["A"], None)), ["example.com A /x 1", "2 bad-url", "example.com A /y 1"]);
        assert_eq!(read(&urls_of(&file, &["A"], Some("w"))), ["example.com A /x 2", "2 bad-url", "3 bad-weight"]);
    }
}

#[test]
fn a_column_that_is_not_there_is_an_error_with_those_that_are() {
    let file = file(b"a,url\n1,example.com\n");
    let error = format!("{:#}", urls_of(&file, &["A"], Some("w")).open().err().unwrap());
    assert!(error.contains("\"w\"") && error.contains("a, url"), "{error}");
}
