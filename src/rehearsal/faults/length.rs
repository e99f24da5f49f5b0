//! Bodies whose stated length is wrong, no number, or said twice, and chunks that do not add up.

use bytes::Bytes;

use super::{FILE, Fault};
use crate::outcome::{Cause, Kind};
use crate::rehearsal::behaviour::{Behaviour, Play, Reply, Then};

const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";

pub(super) const TABLE: &[Fault] = &[
    bad("length-twice", "Two different lengths are stated.", |_| {
        body("Content-Length: 34\r\nContent-Length: 35\r\n", FILE)
    }),
    bad("length-list", "Two different lengths are stated in one field.", |_| body("Content-Length: 34, 35\r\n", FILE)),
    bad("length-word", "The length is no number.", |_| body("Content-Length: long\r\n", FILE)),
    bad("length-negative", "The length is negative.", |_| body("Content-Length: -1\r\n", FILE)),
    bad("length-fraction", "The length is a fraction.", |_| body("Content-Length: 34.0\r\n", FILE)),
    bad("length-huge", "The length is larger than any integer.", |_| {
        body("Content-Length: 99999999999999999999999\r\n", FILE)
    }),
    bad("chunk-bad-size", "The size of a chunk is no number.", |_| body(CHUNKED, "size\r\nx\r\n0\r\n\r\n")),
    bad("chunk-huge", "The size of a chunk is larger than any integer.", |_| {
        body(CHUNKED, "ffffffffffffffffff\r\nx\r\n0\r\n\r\n")
    }),
    bad("chunk-no-end-of-line", "A chunk goes on where it should end.", |_| {
        body(CHUNKED, &format!("5\r\n{FILE}\r\n0\r\n\r\n"))
    }),
    Fault::fails("chunk-bad-trailer", Cause::HttpBadHeader, "A field after the last chunk that is none.", |_| {
        body(CHUNKED, &format!("{:x}\r\n{FILE}\r\n0\r\nX-Late: a\rb\r\n\r\n", FILE.len()))
    }),
    Fault::fails("chunk-many-trailers", Cause::HttpHeadTooLarge, "2,000 fields after the last chunk.", |_| {
        let trailers = "X-Late: x\r\n".repeat(2000);
        body(CHUNKED, &format!("{:x}\r\n{FILE}\r\n0\r\n{trailers}\r\n", FILE.len()))
    }),
    read("length-same", "The same length is stated twice.", |_| {
        let field = format!("Content-Length: {}\r\n", FILE.len());
        body(&field.repeat(2), FILE)
    }),
    read("length-and-chunks", "A wrong length is stated for a body in chunks.", |_| {
        body(&format!("Content-Length: 5\r\n{CHUNKED}"), &chunked())
    }),
    read("length-none", "No length is stated; the connection ends with the body.", |_| body("", FILE)),
    read("chunk-extension", "Chunks with extensions.", |_| {
        body(CHUNKED, &format!("{:x};name=value\r\n{FILE}\r\n0\r\n\r\n", FILE.len()))
    }),
    read("chunk-trailer", "Fields after the last chunk.", |_| {
        body(CHUNKED, &format!("{:x}\r\n{FILE}\r\n0\r\nX-Late: x\r\n\r\n", FILE.len()))
    }),
    read("chunk-capitals", "Sizes of chunks in capitals, with zeros in front.", |_| {
        body(CHUNKED, &format!("0000{:X}\r\n{FILE}\r\n000\r\n\r\n", FILE.len()))
    }),
    short("length-short", "The body ends before its stated length.", |_| body("Content-Length: 1000\r\n", FILE)),
    short("length-no-body", "There is no byte of the stated body.", |_| body("Content-Length: 1000\r\n", "")),
    short("chunk-short", "The body ends in the middle of a chunk.", |_| body(CHUNKED, &format!("1000\r\n{FILE}"))),
    short("chunk-no-last", "The body ends before its last chunk.", |_| {
        body(CHUNKED, &format!("{:x}\r\n{FILE}\r\n", FILE.len()))
    }),
    short("chunk-half-size", "The body ends in the size of a chunk.", |_| {
        body(CHUNKED, &format!("{:x}\r\n{FILE}\r\n1", FILE.len()))
    }),
    short("chunk-none", "A body in chunks has none.", |_| body(CHUNKED, "")),
];

const fn bad(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    Fault::fails(name, Cause::HttpBadLength, about, act)
}

const fn short(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    Fault::fails(name, Cause::HttpShortBody, about, act).plain_too()
}

const fn read(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    Fault::answers(name, Kind::Rules, about, act)
}

fn chunked() -> String {
    format!("{:x}\r\n{FILE}\r\n0\r\n\r\n", FILE.len())
}

/// The body as it is, behind a head with these fields.
fn body(fields: &str, body: &str) -> Behaviour {
    let message = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n{fields}\r\n{body}");
    Behaviour::open(Reply::Play(Play { bytes: Bytes::from(message), then: Then::Close }))
}
