//! Responses whose head is missing, late, broken, or larger than any honest one.

use std::time::Duration;

use bytes::Bytes;

use super::{FILE, Fault};
use crate::outcome::{Cause, Kind};
use crate::rehearsal::behaviour::{Behaviour, Play, Reply, Then};

pub(super) const TABLE: &[Fault] = &[
    no_http("http-noise", "Bytes that are no text.", |_| says(b"\x00\x01\x02\xfe\xff\r\n\r\n")),
    no_http("http-ssh", "The greeting of an SSH server.", |_| says(b"SSH-2.0-OpenSSH_9.6\r\n")),
    no_http("http-smtp", "The greeting of a mail server.", |_| says(b"220 mail.test ESMTP\r\n")),
    no_http("http-09", "The file and no head, as HTTP/0.9 had it.", |_| says(FILE.as_bytes())),
    no_http("http-page-only", "A page and no head.", |_| says(b"<!doctype html><title>No</title>\n")),
    no_http("http-version", "A version of HTTP that does not exist.", |_| head("HTTP/3.7 200 OK", "")),
    no_http("http-icy", "The protocol of a radio station.", |_| head("ICY 200 OK", "")),
    no_http("http-status-word", "A status that is no number.", |_| head("HTTP/1.1 fine OK", "")),
    no_http("http-status-long", "A status of four digits.", |_| head("HTTP/1.1 2000 OK", "")),
    read("http-10", "HTTP/1.0.", |_| head("HTTP/1.0 200 OK", "")),
    read("http-no-reason", "A status line that ends with the status.", |_| head("HTTP/1.1 200", "")),
    read("http-continue", "An interim response 100, then the file.", |_| {
        says(format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{FILE}").as_bytes())
    }),
    read("http-early-hints", "An interim response 103, then the file.", |_| {
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\n";
        says(format!("{hints}{hints}HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{FILE}").as_bytes())
    }),
    Fault::fails("http-continue-only", Cause::HttpEmptyReply, "An interim response 100 and no other.", |_| {
        says(b"HTTP/1.1 100 Continue\r\n\r\n")
    })
    .plain_too(),
    Fault::fails("header-nul", Cause::HttpBadHeader, "A header field with a NUL byte.", |_| {
        head("HTTP/1.1 200 OK", "X-Odd: a\0b\r\n")
    })
    .plain_too(),
    Fault::fails("header-cr", Cause::HttpBadHeader, "A header field with a CR in the middle.", |_| {
        head("HTTP/1.1 200 OK", "X-Odd: a\rb\r\n")
    })
    .plain_too(),
    read("header-name", "A header field whose name has a space.", |_| {
        head("HTTP/1.1 200 OK", "Bad Header Name: x\r\n")
    }),
    read("header-no-colon", "A header line without a colon.", |_| head("HTTP/1.1 200 OK", "No colon here\r\n")),
    read("header-no-name", "A header field without a name.", |_| head("HTTP/1.1 200 OK", ": x\r\n")),
    read("header-space", "A space between name and colon.", |_| head("HTTP/1.1 200 OK", "X-Spaced : x\r\n")),
    read("header-folded", "A field over two lines, as was once allowed.", |_| {
        head("HTTP/1.1 200 OK", "X-Folded: one\r\n two\r\n")
    }),
    read("header-bytes", "A field of bytes beyond ASCII.", |_| {
        says(&[b"HTTP/1.1 200 OK\r\nX-Odd: \xe9\xff\r\nConnection: close\r\n\r\n", FILE.as_bytes()].concat())
    }),
    read("header-none", "A status line, no fields.", |_| says(format!("HTTP/1.1 200 OK\r\n\r\n{FILE}").as_bytes())),
    read("header-lf", "Lines that end in LF alone.", |_| {
        says(format!("HTTP/1.1 200 OK\nConnection: close\nContent-Type: text/plain\n\n{FILE}").as_bytes())
    }),
    read("headers-150", "150 fields.", |_| head("HTTP/1.1 200 OK", &"X-Many: x\r\n".repeat(150))),
    too_large("headers-600", "600 fields.", |_| head("HTTP/1.1 200 OK", &"X-Many: x\r\n".repeat(600))),
    too_large("header-600-kb", "A field of 600 KB.", |_| {
        head("HTTP/1.1 200 OK", &format!("X-Long: {}\r\n", "x".repeat(600_000)))
    }),
    too_large("header-endless", "A field that never ends.", |_| {
        let piece = Bytes::from(vec![b'x'; 16 * 1024]);
        plays(b"HTTP/1.1 200 OK\r\nX-Long: ", Then::Repeat { piece, every: Duration::ZERO, times: None })
    }),
    Fault::fails("http-empty-reply", Cause::HttpEmptyReply, "It closes after the request.", |_| says(b"")).plain_too(),
    Fault::fails("http-half-head", Cause::HttpEmptyReply, "It closes in the middle of the head.", |_| {
        says(b"HTTP/1.1 200 OK\r\nContent-Ty")
    })
    .plain_too(),
    Fault::fails("http-reset", Cause::HttpReset, "It resets after the request.", |_| Behaviour::open(Reply::Reset))
        .plain_too(),
    Fault::fails("http-reset-in-head", Cause::HttpReset, "It resets in the middle of the head.", |_| {
        plays(b"HTTP/1.1 200 OK\r\nContent-Ty", Then::Reset)
    })
    .plain_too(),
    late("http-silent", "It says nothing after the request.", |_| plays(b"", Then::Hold)),
    late("http-silent-in-head", "It falls silent in the middle of the head.", |_| {
        plays(b"HTTP/1.1 200 OK\r\nContent-Ty", Then::Hold)
    }),
    late("http-trickled-head", "The head comes a byte at a time and never ends.", |_| {
        let every = Duration::from_millis(200);
        plays(b"HTTP/1.1 200 OK\r\nX-Slow: ", Then::Repeat { piece: Bytes::from_static(b"x"), every, times: None })
    }),
];

const fn no_http(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    Fault::fails(name, Cause::HttpNotHttp, about, act).plain_too()
}

const fn read(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    Fault::answers(name, Kind::Rules, about, act)
}

const fn too_large(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    Fault::fails(name, Cause::HttpHeadTooLarge, about, act)
}

const fn late(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    Fault::fails(name, Cause::HttpTimeout, about, act).plain_too()
}

/// A head with this status line and these fields, then the file until the end of the connection.
fn head(line: &str, fields: &str) -> Behaviour {
    says(format!("{line}\r\nContent-Type: text/plain\r\nConnection: close\r\n{fields}\r\n{FILE}").as_bytes())
}

fn says(message: &[u8]) -> Behaviour {
    plays(message, Then::Close)
}

fn plays(message: &[u8], then: Then) -> Behaviour {
    Behaviour::open(Reply::Play(Play { bytes: Bytes::copy_from_slice(message), then }))
}
