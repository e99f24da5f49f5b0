//! Answers as text for a terminal: at most 100 columns, no colour, nothing from outside unescaped.

use std::io::{self, Write};

use crate::report::Heading;
use crate::report::escape::escape;
use crate::report::table;
use crate::report::wrap::{characters, wrap};
use crate::stats::{Answer, Body, Depth, Section};

const WIDTH: usize = 100;
const INDENT: &str = "  ";

/// Writes the sections of at most this depth.
pub(super) fn write(heading: &Heading, answers: &[Answer], depth: Depth, out: &mut impl Write) -> io::Result<()> {
    write_heading(heading, out)?;
    for section in answers.iter().flat_map(|answer| &answer.sections).filter(|section| section.depth <= depth) {
        writeln!(out)?;
        write_section(section, out)?;
    }
    Ok(())
}

fn write_heading(heading: &Heading, out: &mut impl Write) -> io::Result<()> {
    let Heading { list, date, definition, definition_says, dialect, is_rehearsal } = heading;
    writeln!(out, "Survey of {}, {}", escape(list), escape(date))?;
    if *is_rehearsal {
        writeln!(out)?;
        write_prose(
            "REHEARSAL: all answers came from a web on this machine. These figures say nothing about the real hosts.",
            out,
        )?;
    }
    writeln!(out)?;
    write_prose(&format!("Definition {}: {}", escape(definition), escape(definition_says)), out)?;
    write_prose(&format!("Dialect {}. A host is one line of the list.", escape(dialect)), out)
}

fn write_section(section: &Section, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", section.title)?;
    writeln!(out, "{}", "─".repeat(characters(section.title)))?;
    write_prose(&section.caption, out)?;
    writeln!(out)?;
    match &section.body {
        Body::Table { columns: _, rows } if rows.is_empty() => writeln!(out, "{INDENT}none")?,
        Body::Table { columns, rows } => {
            for line in table::lines(columns, rows, WIDTH - INDENT.len()) {
                writeln!(out, "{}", format!("{INDENT}{line}").trim_end())?;
            }
        }
        Body::Missing { columns } => {
            write_prose(&format!("not in this snapshot, which has no column {}", escape(&columns.join(", "))), out)?;
        }
    }
    if !section.notes.is_empty() {
        writeln!(out)?;
    }
    section.notes.iter().try_for_each(|note| write_prose(&escape(note).to_string(), out))
}

fn write_prose(text: &str, out: &mut impl Write) -> io::Result<()> {
    wrap(text, WIDTH - INDENT.len()).iter().try_for_each(|line| writeln!(out, "{INDENT}{line}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Format, write};
    use crate::stats::sample::{Layout, answers, batch, population};

    #[test]
    fn demo() {
        let heading = Heading {
            list: "top10k".into(),
            date: "2026-11-30".into(),
            definition: "rfc".into(),
            definition_says: "a site is fully closed to an agent if none of the paths that its robots.txt mentions, nor any other, may be fetched.".into(),
            dialect: "rfc9309".into(),
            is_rehearsal: true,
        };
        let size = std::env::var("SIZE").map_or(9997, |s| s.parse().unwrap());
        let answers = answers(&[batch(&population(size), Layout::Dictionary)]);
        let mut out = Vec::new();
        write(Format::Text, &heading, &answers, &mut out).unwrap();
        std::fs::write(std::env::temp_dir().join("demo.txt"), out).unwrap();
    }
}
