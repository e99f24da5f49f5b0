//! Answer → text, JSON and CSV, the same figures in each.
//!
//! * [`Heading`]: what stands above the figures: list, date, definition, dialect, rehearsal
//! * [`Format`]: one variant and one file per format
//! * [`write()`]: writes answers in a format
//! * [`Comparison`], [`Group`], [`write_comparison`]: snapshots side by side, and the hosts that differ
//! * [`Subject`], [`write_explanation`]: one verdict and its reasons
//! * [`escape`], [`thousands`]: for all who show text and numbers to people
//!
//! Writes to the writer that it is given; the shell owns standard output. Deliberately absent: counting, which is the
//! business of [`crate::stats`], files, clocks, and colour.

mod comparison;
mod csv;
mod escape;
mod explanation;
mod json;
mod number;
mod table;
mod text;
mod wrap;

use std::io::{self, Write};

pub use comparison::{Comparison, ComparisonFormat, Group, write_comparison};
pub use escape::{Escaped, escape};
pub use explanation::{Subject, write_json as write_explanation_json, write_text as write_explanation};
pub use number::thousands;

use crate::stats::{Answer, Depth};

crate::words! {
    /// How answers are written.
    pub enum Format {
        /// For a terminal: what stands at the end of a run.
        Summary = "summary",
        /// For a terminal, with every section.
        Text = "text",
        /// For machines, with every section.
        Json = "json",
    }
}

/// What stands above the figures: without it they mean nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The name of the list.
    pub list: String,
    /// The date of the snapshot.
    pub date: String,
    /// The name of the verdict definition.
    pub definition: String,
    /// What the definition calls closed, in a sentence.
    pub definition_says: String,
    /// The name of the parser's dialect.
    pub dialect: String,
    /// Whether the answers came from a rehearsal, so that they say nothing about the real hosts.
    pub is_rehearsal: bool,
}

/// Writes the answers under their heading.
pub fn write(format: Format, heading: &Heading, answers: &[Answer], out: &mut impl Write) -> io::Result<()> {
    match format {
        Format::Summary => text::write(heading, answers, Depth::Summary, out),
        Format::Text => text::write(heading, answers, Depth::Detail, out),
        Format::Json => json::write(heading, answers, out),
    }
}

#[cfg(test)]
mod tests {
    use super::Heading;

    pub(super) fn heading() -> Heading {
        Heading {
            list: "top10k".to_owned(),
            date: "2026-11-30".to_owned(),
            definition: "rfc".to_owned(),
            definition_says: "a site is fully closed to an agent where its rules let it fetch no path that the file \
                              mentions and no other."
                .to_owned(),
            dialect: "rfc9309".to_owned(),
            is_rehearsal: false,
        }
    }
}
