//! Lists of every format, and everything that is wrong with real ones.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

pub(super) mod packed;

use super::read::read_stream;
use super::*;

fn read(text: &[u8], weight_column: Option<&str>) -> anyhow::Result<(TargetList, Vec<Rejected>)> {
    let mut rejected = Vec::new();
    let options = ListOptions { weight_column: weight_column.map(str::to_owned) };
    let list = read_stream(Box::new(Cursor::new(text.to_vec())), "test", &options, &mut |line| rejected.push(line))?;
    Ok((list, rejected))
}

/// Reads a list and shows each target as `domain rank weight stratum`, with `-` for nothing.
#[track_caller]
fn check(text: impl AsRef<[u8]>, expected: &[&str]) {
    let (list, rejected) = read(text.as_ref(), None).unwrap();
    assert_eq!(shown(&list), expected);
    assert!(rejected.is_empty(), "{rejected:?}");
}

fn shown(list: &TargetList) -> Vec<String> {
    let show = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    list.iter()
        .map(|target| {
            let (rank, weight) = (target.rank.map(|n| n.to_string()), target.weight.map(|n| n.to_string()));
            let stratum = target.stratum.map(|word| word.to_string());
            format!("{} {} {} {}", target.domain, show(rank), show(weight), show(stratum))
        })
        .collect()
}

#[test]
fn plain_names_with_comments_and_blank_lines() {
    check(
        "# a list\n\nexample.org\n  Example.COM.  # inline\nhttps://shop.example/path?q#f\n",
        &["example.org - - -", "example.com - - -", "shop.example - - -"],
    );
}

#[test]
fn rank_and_domain_as_tranco_and_umbrella_have_it() {
    check("1,google.com\r\n2,example.org\r\n", &["google.com 1 - -", "example.org 2 - -"]);
    check("# Tranco\n1,google.com\n", &["google.com 1 - -"]);
}

#[test]
fn majestic_and_radar_by_their_headers() {
    check("GlobalRank,TldRank,Domain,TLD,RefSubNets\n1,1,google.com,com,515\n", &["google.com 1 - -"]);
    check("rank,domain,categories\n7,example.org,\"News, Sports\"\n", &["example.org 7 - -"]);
    check("domain\nexample.org\n", &["example.org - - -"]);
}

#[test]
fn crux_origins_and_their_buckets() {
    check(
        "origin,rank\nhttps://www.example.org,1000\nhttp://example.com,5000\n",
        &["www.example.org 1000 - -", "example.com 5000 - -"],
    );
}

#[test]
fn any_csv_with_a_known_header() {
    let text = "Note,STRATUM,Weight,URL\nx,head,1.5,https://a.example/\ny,random,,b.example\n";
    check(text, &["a.example - 1.5 head", "b.example - - random"]);
    let (list, _) = read(b"host,tokens\na.example,12\n", Some("Tokens")).unwrap();
    assert_eq!(shown(&list), ["a.example - 12 -"]);
    check("host\tkind\tstatus\na.example\ttext\t200\n", &["a.example - - -"]);
}

#[test]
fn compressed_lists_are_recognised_by_content() {
    let mut gzip = Vec::new();
    for text in ["1,a.example\n", "2,b.example\n"] {
        let mut member = GzEncoder::new(Vec::new(), Compression::fast());
        member.write_all(text.as_bytes()).unwrap();
        gzip.extend(member.finish().unwrap());
    }
    check(&gzip, &["a.example 1 - -", "b.example 2 - -"]);
    check(zstd::encode_all(&b"1,a.example\n"[..], 1).unwrap(), &["a.example 1 - -"]);
    let error = read(&gzip[..gzip.len() - 12], None).unwrap_err();
    assert!(format!("{error:#}").contains("after line"), "{error:#}");
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_name() {
    check("\u{feff}example.org\n", &["example.org - - -"]);
    check("\u{feff}rank,domain\n3,example.org\n", &["example.org 3 - -"]);
}

#[test]
fn a_name_that_comes_again_is_asked_once() {
    let (list, rejected) =
        read(b"domain,rank,weight\na.example,5,1\nA.example.,2,10\nb.example,,\nb.example,9,\n", None).unwrap();
    assert_eq!(shown(&list), ["a.example 5 11 -", "b.example 9 - -"]);
    assert_eq!(list.counts(), Counts { accepted: 2, duplicates: 2, rejected: 0 });
    assert!(rejected.is_empty());
}

#[test]
fn what_is_no_host_is_rejected_with_its_line_and_reason() {
    let text =
        b"# list\nexample.org\nlocalhost\n10.0.0.1\nexample.org:8080\nhttps://example.org:8443/\nhttp://[::1]/\n\
        a..b\nexa\x01mple.org\nhttp://\n\xff\xfe.org\n";
    let (list, rejected) = read(text, None).unwrap();
    assert_eq!(list.counts(), Counts { accepted: 1, duplicates: 0, rejected: 9 });
    let lines: Vec<_> = rejected.iter().map(|line| (line.line, line.reason.word())).collect();
    assert_eq!(
        lines,
        [
            (3, "no-dot"),
            (4, "ip-literal"),
            (5, "port"),
            (6, "port"),
            (7, "ip-literal"),
            (8, "empty-label"),
            (9, "control-character"),
            (10, "bad-url"),
            (11, "not-utf8"),
        ]
    );
    let (_, rejected) = read(b"rank,domain,weight\n1,a.example,2\nx,b.example,2\n3,c.example,-1\n4\n", None).unwrap();
    let lines: Vec<_> = rejected.iter().map(|line| (line.line, line.reason.word())).collect();
    assert_eq!(lines, [(3, "bad-rank"), (4, "bad-weight"), (5, "no-column")]);
}

#[test]
fn a_line_without_end_costs_its_limit_only() {
    let mut text = b"example.org\n".to_vec();
    text.resize(10_000_000, b'a');
    text.extend(b"\nexample.com\n");
    let (list, rejected) = read(&text, None).unwrap();
    assert_eq!(shown(&list), ["example.org - - -", "example.com - - -"]);
    assert_eq!((rejected[0].line, rejected[0].reason.word(), rejected[0].text.len()), (2, "line-too-long", 200));
}

#[test]
fn a_list_that_gives_nothing_is_an_error_that_shows_why() {
    let error = |text: &[u8]| format!("{:#}", read(text, None).unwrap_err());
    assert!(error(b"").contains("empty"));
    assert!(error(b"# nothing\n\n").contains("empty"));
    insta::assert_snapshot!(error(b"foo\nbar\nbaz\nqux\n"), @r#"none of its 4 lines names a host; line 1: "foo" (no-dot); line 2: "bar" (no-dot); line 3: "baz" (no-dot)"#);
    let error = format!("{:#}", read(b"host,tokens\na.example,1\n", Some("weigth")).unwrap_err());
    assert!(error.contains("host, tokens"), "{error}");
    assert!(read(b"a.example\n", Some("tokens")).is_err());
}

#[test]
fn the_order_of_a_seed_is_the_same_for_ever() {
    let text = (0..10).map(|number| format!("h{number}.example")).collect::<Vec<_>>().join("\n");
    let (list, _) = read(text.as_bytes(), None).unwrap();
    assert_eq!(list.order(1), [8, 4, 3, 7, 0, 1, 5, 9, 6, 2]);
    let mut order = list.order(2);
    assert_ne!(order, list.order(1));
    order.sort_unstable();
    assert!(order.into_iter().eq(0..10));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_line_is_accepted_a_duplicate_or_rejected(lines in prop::collection::vec("[a-c]{0,2}[.,:/ ]?[a-c0-9\u{e4}]{0,3}", 0..30)) {
        let text = lines.join("\n");
        let candidates = text.lines().map(str::trim).filter(|line| !line.is_empty()).count() as u64;
        if let Ok((list, rejected)) = read(text.as_bytes(), None) {
            let Counts { accepted, duplicates, rejected: count } = list.counts();
            prop_assert_eq!(accepted + duplicates + count, candidates);
            prop_assert_eq!(count, rejected.len() as u64);
            prop_assert_eq!(u64::from(list.len()), accepted);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes, None);
    }
}
