//! Success, and all sorts of files.

use bytes::Bytes;

use super::{FILE, Fault};
use crate::outcome::Kind;
use crate::rehearsal::behaviour::{Behaviour, Reply, Response};

pub(super) const TABLE: &[Fault] = &[
    Fault::answers("rules", Kind::Rules, "A file with a rule.", |_| serves(FILE)).plain_too(),
    Fault::answers("rules-bom", Kind::Rules, "A file with a byte order mark.", |_| serves(format!("\u{feff}{FILE}"))),
    Fault::answers("rules-cr", Kind::Rules, "A file whose lines end in CR.", |_| serves(FILE.replace('\n', "\r"))),
    Fault::answers("rules-nul", Kind::Rules, "A file with a NUL byte in a rule.", |_| {
        serves("User-agent: *\nDisallow: /a\0b\n")
    }),
    Fault::answers("rules-as-html", Kind::Rules, "A file that is called a page.", |_| {
        Behaviour::open(Reply::Respond(Response::new(200, "text/html", FILE)))
    }),
    Fault::answers("rules-600-kb", Kind::Rules, "A file larger than what is kept of it.", |_| {
        serves(format!("{FILE}{}", "Disallow: /another/path/\n".repeat(25_000)))
    }),
    Fault::answers("no-rules", Kind::NoRules, "A file with a sitemap only.", |_| {
        serves("Sitemap: https://no-rules.test/sitemap.xml\n")
    })
    .plain_too(),
    Fault::answers("no-rules-group", Kind::NoRules, "A group that disallows nothing.", |_| {
        serves("User-agent: *\nDisallow:\n")
    }),
    Fault::answers("no-rules-orphan", Kind::NoRules, "A rule that stands in no group.", |_| serves("Disallow: /x\n")),
    Fault::answers("empty", Kind::Empty, "Nothing.", |_| serves("")).plain_too(),
    Fault::answers("empty-white", Kind::Empty, "White space.", |_| serves(" \r\n\t\n")),
    Fault::answers("empty-comments", Kind::Empty, "Comments.", |_| serves("# Nothing\n  # to see.\n")),
    Fault::answers("empty-bom", Kind::Empty, "A byte order mark.", |_| serves("\u{feff}")),
    Fault::answers("html", Kind::Html, "A page.", |host| Behaviour::open(Reply::Respond(Response::page(200, host))))
        .plain_too(),
    Fault::answers("html-bom", Kind::Html, "A page with a byte order mark.", |_| serves("\u{feff}\n<!DOCTYPE html>\n")),
    Fault::answers("html-tag", Kind::Html, "A page that begins with its first tag, in capitals.", |_| {
        serves("<HTML>\n")
    }),
    Fault::answers("html-with-rules", Kind::Html, "A page around the lines of a file.", |_| {
        serves(format!("<html><pre>\n{FILE}</pre></html>\n"))
    }),
    Fault::answers("no-directives", Kind::NoDirectives, "Text without a record.", |_| serves("Not here.\n"))
        .plain_too(),
    Fault::answers("no-directives-json", Kind::NoDirectives, "JSON.", |_| serves("{\"error\":404}\n")),
    Fault::answers("binary", Kind::Binary, "A picture.", |_| serves(&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0"[..]))
        .plain_too(),
    Fault::answers("binary-utf-16", Kind::Binary, "A file in UTF-16.", |_| {
        let units = FILE.encode_utf16().flat_map(u16::to_le_bytes);
        serves([0xff, 0xfe].into_iter().chain(units).collect::<Vec<u8>>())
    }),
    Fault::answers("validator-lies", Kind::Rules, "A file that changes, under a tag that does not.", |_| {
        let tagged = |text: &str| Reply::Respond(Response::file(text.to_owned()).with("ETag: \"always\"\r\n"));
        let then = tagged("User-agent: *\nDisallow: /\n");
        Behaviour::open(Reply::AtFirst(Box::new(tagged(FILE)), Box::new(then)))
    })
    .unsteady(),
];

fn serves(text: impl Into<Bytes>) -> Behaviour {
    Behaviour::open(Reply::Respond(Response::file(text)))
}
