//! Bodies that stall, trickle, never end, or do not decompress.

use std::io::Write as _;
use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::{FILE, Fault};
use crate::outcome::{Cause, Kind};
use crate::rehearsal::behaviour::{Behaviour, Play, Reply, Then};

pub(super) const TABLE: &[Fault] = &[
    Fault::fails("body-reset", Cause::HttpReset, "It resets in the middle of the body.", |_| {
        plays("Content-Length: 1000\r\n", FILE.as_bytes(), Then::Reset)
    })
    .plain_too(),
    Fault::fails("body-stall", Cause::HttpTimeout, "It falls silent in the middle of the body.", |_| {
        plays("Content-Length: 1000\r\n", FILE.as_bytes(), Then::Hold)
    })
    .plain_too(),
    Fault::fails("body-none-yet", Cause::HttpTimeout, "It falls silent between head and body.", |_| {
        plays("Content-Length: 1000\r\n", b"", Then::Hold)
    }),
    Fault::fails("body-trickle", Cause::HttpTooSlow, "The body comes at four bytes a second.", |_| {
        let every = Duration::from_millis(250);
        let then = Then::Repeat { piece: Bytes::from_static(b"#"), every, times: None };
        plays("Content-Length: 100000\r\n", b"", then)
    })
    .plain_too(),
    Fault::answers("body-endless", Kind::Rules, "The file is followed by chunks for ever.", |_| {
        let first = format!("{:x}\r\n{FILE}\r\n", FILE.len());
        let piece = Bytes::from(format!("1000\r\n{}\r\n", "#".repeat(0x1000)));
        let then = Then::Repeat { piece, every: Duration::ZERO, times: None };
        plays("Transfer-Encoding: chunked\r\n", first.as_bytes(), then)
    })
    .plain_too(),
    Fault::answers("body-endless-without-length", Kind::Rules, "The file is followed by bytes for ever.", |_| {
        let then = Then::Repeat { piece: Bytes::from(vec![b'#'; 0x4000]), every: Duration::ZERO, times: None };
        plays("", FILE.as_bytes(), then)
    }),
    Fault::answers("body-terabyte", Kind::Rules, "A length of a terabyte is stated, and kept to.", |_| {
        let then = Then::Repeat { piece: Bytes::from(vec![b'#'; 0x4000]), every: Duration::ZERO, times: None };
        plays("Content-Length: 1099511627776\r\n", FILE.as_bytes(), then)
    }),
    Fault::answers("body-pieces", Kind::Rules, "The body comes in pieces of two bytes.", |_| {
        let every = Duration::from_millis(1);
        let then = Then::Repeat { piece: Bytes::from_static(b"#\n"), every, times: Some(100) };
        plays("", FILE.as_bytes(), then)
    }),
    Fault::answers("gzip", Kind::Rules, "A compressed body.", |_| encoded("gzip", &GZIPPED)),
    Fault::answers("gzip-x", Kind::Rules, "A compressed body, by the coding's old name.", |_| {
        encoded("x-gzip", &GZIPPED)
    }),
    Fault::answers("gzip-twice-in-a-row", Kind::Rules, "Two compressed pieces, one after the other.", |_| {
        encoded("gzip", &[&GZIPPED[..], &GZIPPED].concat())
    }),
    Fault::answers("gzip-bomb", Kind::Rules, "A megabyte that unpacks to a gigabyte.", |_| {
        // A gzip stream may be many, one after the other (RFC 1952, section 2.2), so that one piece is enough.
        let length = format!("Content-Length: {}\r\n", GZIPPED.len() + MEGABYTE.len() * 1024);
        let then = Then::Repeat { piece: MEGABYTE.clone(), every: Duration::ZERO, times: Some(1024) };
        plays(&format!("{length}Content-Encoding: gzip\r\n"), &GZIPPED, then)
    })
    .plain_too(),
    bad("gzip-not", "The body is said to be compressed and is not.", |_| encoded("gzip", FILE.as_bytes())),
    bad("gzip-broken", "The compressed body is damaged in the middle.", |_| {
        let mut body = GZIPPED.to_vec();
        let middle = body.len() / 2;
        body[middle..middle + 8].fill(0xff);
        encoded("gzip", &body)
    }),
    bad("gzip-checksum", "The compressed body has the wrong checksum.", |_| {
        let mut body = GZIPPED.to_vec();
        let checksum = body.len() - 8;
        body[checksum] ^= 0xff;
        encoded("gzip", &body)
    }),
    bad("gzip-cut", "The compressed body ends too early.", |_| encoded("gzip", &GZIPPED[..GZIPPED.len() / 2])),
    bad("gzip-gzip", "The body is compressed twice over.", |_| encoded("gzip, gzip", &gzip(&GZIPPED))),
    bad("brotli", "The body has a coding that nobody asked for.", |_| encoded("br", b"\x0b\x02\x80hello\x03")),
    bad("deflate", "The body has another coding that nobody asked for.", |_| encoded("deflate", b"\x78\x9c\x03\0")),
    bad("encoding-unknown", "The body has a coding that does not exist.", |_| encoded("rot13", FILE.as_bytes())),
    Fault::answers("encoding-identity", Kind::Rules, "The body has no coding, and says so.", |_| {
        encoded("identity", FILE.as_bytes())
    }),
    Fault::answers("encoding-utf-8", Kind::Rules, "A character set stands where a coding should.", |_| {
        encoded("UTF-8", FILE.as_bytes())
    }),
];

static GZIPPED: LazyLock<Bytes> = LazyLock::new(|| gzip(FILE.as_bytes()));
static MEGABYTE: LazyLock<Bytes> = LazyLock::new(|| gzip(&vec![b'#'; 1 << 20]));

const fn bad(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    Fault::fails(name, Cause::HttpBadEncoding, about, act)
}

fn encoded(coding: &str, body: &[u8]) -> Behaviour {
    let fields = format!("Content-Encoding: {coding}\r\nContent-Length: {}\r\n", body.len());
    plays(&fields, body, Then::Close)
}

fn plays(fields: &str, body: &[u8], then: Then) -> Behaviour {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n{fields}\r\n");
    Behaviour::open(Reply::Play(Play { bytes: [head.as_bytes(), body].concat().into(), then }))
}

fn gzip(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("a vector takes every byte");
    encoder.finish().expect("a vector takes every byte").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bomb_is_small_and_its_load_is_not() {
        assert!(MEGABYTE.len() * 1024 < 1_200_000, "{}", MEGABYTE.len());
    }
}
