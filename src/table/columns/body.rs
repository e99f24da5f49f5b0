//! The bytes that came, and their facts.

use crate::classify::Row;
use crate::classify::row::{BodyFacts, Charset};
use crate::observation::Response;
use crate::table::Column;
use crate::table::column::{Cell, Kind};

/// The body's columns, without its bytes.
pub(super) fn facts() -> [Column; 9] {
    [
        Column::new(
            "body_sha256",
            "SHA-256 of the decoded bytes kept.",
            Cell::Sha(|row| row.body.as_ref().map(|facts| &facts.sha256)),
        ),
        Column::new(
            "body_bytes",
            "Decoded bytes kept.",
            Cell::I64(|row| with_body(row).map(|(_, response)| super::large(response.body.len()))),
        ),
        Column::new(
            "wire_bytes",
            "Bytes of the body on the wire, before decoding, where they were counted; 0 where none were sent for this row.",
            Cell::I64(|row| with_body(row).and_then(|(_, response)| response.wire_bytes).map(super::large)),
        ),
        Column::new(
            "body_source",
            "Where the bytes came from: `fetched`, `not-modified` (the earlier snapshot's, after a 304), `fresh` (the \
             earlier snapshot's, nobody was asked), `archive`.",
            Cell::Word(|row| with_body(row).map(|_| row.observation.body_source.word())),
        ),
        Column::new(
            "confirmed_at",
            "When these bytes were last known to be current: when they were sent or confirmed, or the capture's date.",
            Cell::Time(|row| with_body(row).and(row.observation.fetched_at)),
        ),
        Column::new(
            "is_truncated",
            "Whether more was, or may have been, on offer than was kept.",
            Cell::Flag(|row| with_body(row).map(|(_, response)| response.is_truncated)),
        ),
        Column::new(
            "is_html",
            "Whether the bytes start like a page; sniffed, not taken from the type.",
            Cell::Flag(|row| row.body.as_ref().map(|facts| facts.is_html)),
        ),
        Column::new(
            "charset",
            "How the bytes are encoded: `ascii`, `utf-8`, `utf-8-bom`, `utf-16le`, `utf-16be`, `other`; sniffed.",
            Cell::Word(|row| row.body.as_ref().map(|facts| Charset::word(facts.charset))),
        ),
        Column::new(
            "normalised_sha256",
            "SHA-256 after removing what differs between copies of one template (sitemaps, host names, dates, comments, \
             blank lines, case): the cluster.",
            Cell::Absent(Kind::Sha),
        ),
    ]
}

/// The bytes themselves.
pub(super) fn bytes() -> Column {
    Column::new(
        "body",
        "The decoded bytes, at most the run's limit.",
        Cell::Bytes(|row| with_body(row).map(|(_, response)| response.body.as_ref())),
    )
}

/// The response of a row that has a body: facts and bytes are null together.
fn with_body(row: &Row) -> Option<(&BodyFacts, &Response)> {
    row.body.as_ref().zip(row.observation.response())
}
