//! Archives made here, whole and broken.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;

fn record(kind: &str, url: &str, block: &[u8]) -> Vec<u8> {
    let mut record = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:0>\r\nWARC-Target-URI: {url}\r\n\
         WARC-Date: 2024-06-29T00:00:00Z\r\nContent-Length: {}\r\n\r\n",
        block.len()
    )
    .into_bytes();
    record.extend_from_slice(block);
    record.extend_from_slice(b"\r\n\r\n");
    record
}

fn response(host: &str, body: &str) -> Vec<u8> {
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{body}");
    record("response", &format!("https://{host}/robots.txt"), block.as_bytes())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut member = GzEncoder::new(Vec::new(), Compression::fast());
    member.write_all(bytes).unwrap();
    member.finish().unwrap()
}

fn read(archive: &[u8]) -> Vec<Result<Capture, Defect>> {
    Captures::new(Box::new(Cursor::new(archive.to_vec())), 1000).unwrap().collect()
}

/// Reads an archive and shows a capture as `host: body`, a defect as its word.
#[track_caller]
fn check(archive: &[u8], expected: &[&str]) {
    let shown: Vec<String> = read(archive)
        .into_iter()
        .map(|item| match item {
            Ok(capture) => {
                let host = capture.host.map_or_else(|reason| reason.to_string(), |host| host.to_string());
                format!("{host}: {}", String::from_utf8_lossy(&capture.body))
            }
            Err(defect) => defect.reason.word().to_owned(),
        })
        .collect();
    assert_eq!(shown, expected);
}

#[test]
fn responses_come_in_order_and_other_records_are_passed_over() {
    let info = record("warcinfo", "https://a.example/robots.txt", b"software: x");
    let page = record("response", "https://a.example/", b"HTTP/1.1 200 OK\r\n\r\nx");
    let records = [info, response("a.example", "one"), page, response("b.example", "two\r\n\r\n")];
    check(&records.concat(), &["a.example: one", "b.example: two\r\n\r\n"]);
    check(&records.map(|record| gzip(&record)).concat(), &["a.example: one", "b.example: two\r\n\r\n"]);
    check(&gzip(&response("a.example", "one")), &["a.example: one"]);
    check(b"", &[]);
}

#[test]
fn a_host_that_could_not_be_surveyed_says_why() {
    check(&[response("10.0.0.1", "x"), response("a.example:8080", "x")].concat(), &["ip-literal: x", "port: x"]);
}

#[test]
fn codings_are_undone_where_they_are_there() {
    let body = |head: &str, body: &[u8]| {
        let block = [format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n").as_bytes(), body].concat();
        record("response", "https://a.example/robots.txt", &block)
    };
    check(&body("Transfer-Encoding: chunked", b"3\r\none\r\n4;x=y\r\n two\r\n0\r\n\r\n"), &["a.example: one two"]);
    check(&body("Transfer-Encoding: chunked", b"Disallow: /"), &["a.example: Disallow: /"]);
    check(&body("Content-Encoding: gzip", &gzip(b"one")), &["a.example: one"]);
    check(&body("Content-Encoding: gzip", b"one"), &["a.example: one"]);
    check(&body("Content-Encoding: gzip", &gzip(b"one")[..12]), &["bad-coding"]);
}

#[test]
fn a_bad_record_costs_only_itself() {
    let bad = record("response", "https://b.example/robots.txt", b"this is no HTTP\r\n\r\nat all");
    let lost = record("response", "no url", b"HTTP/1.1 200 OK\r\n\r\n");
    let archive = [response("a.example", "one"), bad, lost, response("c.example", "three")].concat();
    check(&archive, &["a.example: one", "bad-head", "bad-url", "c.example: three"]);
}

#[test]
fn a_body_is_cut_at_the_limit_and_says_so() {
    let items = read(&response("a.example", &"x".repeat(1001)));
    let capture = items[0].as_ref().unwrap();
    assert_eq!((capture.body.len(), capture.is_truncated), (1000, true));
    let items = read(&response("a.example", &"x".repeat(1000)));
    assert!(!items[0].as_ref().unwrap().is_truncated);
}

#[test]
fn an_absurd_length_ends_the_archive_with_one_defect() {
    for length in ["18446744073709551615", "18446744073709551612", "2147483648"] {
        let header = format!("WARC/1.0\r\nWARC-Type: response\r\nContent-Length: {length}\r\n\r\nHTTP/1.1 200 OK");
        check(&[response("a.example", "one"), header.into_bytes()].concat(), &["a.example: one", "torn"]);
    }
}

#[test]
fn an_archive_cut_anywhere_gives_its_whole_records_and_at_most_one_defect() {
    let records = [response("a.example", "one"), response("b.example", "two"), response("c.example", "three")];
    for records in [records.clone(), records.map(|record| gzip(&record))] {
        let archive = records.concat();
        for cut in 0..archive.len() {
            let items = read(&archive[..cut]);
            let mut end = 0;
            let whole = records.iter().take_while(|record| {
                end += record.len();
                end <= cut
            });
            let whole = whole.count();
            let captures = items.iter().filter(|item| item.is_ok()).count();
            assert!(captures >= whole, "cut at {cut}: {captures} of {whole}");
            let mut ends = records.iter().scan(0, |end, record| {
                *end += record.len();
                Some(*end)
            });
            let is_clean = cut == 0 || ends.any(|end| end == cut);
            let defects = items.len() - captures;
            assert_eq!(defects, usize::from(!is_clean), "cut at {cut}: {items:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400), at in 0usize..200) {
        read(&bytes);
        let mut archive = response("a.example", "one");
        let at = at.min(archive.len());
        archive.splice(at..at, bytes);
        read(&archive);
    }
}
