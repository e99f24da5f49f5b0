//! Answers as JSON: answers, sections and cells by their stable keys, numbers as numbers.
//!
//! A rate is always `{numerator, denominator, size, share}`; what is not there is `{absent: why}`, never a zero.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::report::Heading;
use crate::stats::{Absence, Answer, Body, Cell, Column, Rate, Row, Section};
use crate::text::steers;

pub(super) fn write(heading: &Heading, answers: &[Answer], out: &mut impl Write) -> io::Result<()> {
    let text = serde_json::to_string_pretty(&Document { heading, answers })?;
    writeln!(out, "{}", Printable(&text))
}

/// JSON in which no character can steer a terminal.
///
/// Line feeds between values stay; other characters that steer stand in strings only, where JSON can escape them.
pub(super) struct Printable<'a>(pub(super) &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            if letter == '\n' || !steers(letter) {
                formatter.write_char(letter)?;
            } else {
                letter.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(formatter, "\\u{unit:04x}"))?;
            }
        }
        Ok(())
    }
}

struct Document<'a> {
    heading: &'a Heading,
    answers: &'a [Answer],
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Heading { list, date, definition, definition_says, dialect, is_rehearsal } = self.heading;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("list", list)?;
        map.serialize_entry("date", date)?;
        map.serialize_entry("definition", definition)?;
        map.serialize_entry("definition_says", definition_says)?;
        map.serialize_entry("dialect", dialect)?;
        map.serialize_entry("is_rehearsal", is_rehearsal)?;
        map.serialize_entry("answers", &Answers(self.answers))?;
        map.end()
    }
}

/// Answers by their names.
pub(super) struct Answers<'a>(pub(super) &'a [Answer]);

impl Serialize for Answers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|answer| (answer.name, Sections(answer))))
    }
}

struct Sections<'a>(&'a Answer);

impl Serialize for Sections<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.sections.iter().map(|section| (section.name, SectionValue(section))))
    }
}

struct SectionValue<'a>(&'a Section);

impl Serialize for SectionValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Section { name: _, title, caption, depth: _, is_judged: _, body, notes } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("title", title)?;
        map.serialize_entry("caption", caption)?;
        match body {
            Body::Table { columns, rows } => {
                let objects: Vec<_> = rows.iter().map(|row| RowValue { columns, row }).collect();
                map.serialize_entry("rows", &objects)?;
            }
            Body::Missing { columns } => {
                map.serialize_entry("absent", Absence::NotInSnapshot.word())?;
                map.serialize_entry("missing_columns", columns)?;
            }
        }
        map.serialize_entry("notes", notes)?;
        map.end()
    }
}

struct RowValue<'a> {
    columns: &'a [Column],
    row: &'a Row,
}

impl Serialize for RowValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cells = self.columns.iter().zip(&self.row.cells);
        serializer.collect_map(cells.map(|(column, cell)| (column.name, CellValue(cell))))
    }
}

struct CellValue<'a>(&'a Cell);

impl Serialize for CellValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Cell::Word(text) | Cell::Text(text) => text.serialize(serializer),
            Cell::Labelled { word, label: _ } => word.serialize(serializer),
            Cell::Rate(rate) => RateValue(*rate).serialize(serializer),
            Cell::Absent(absence) => serializer.collect_map([("absent", absence.word())]),
            Cell::Blank => serializer.serialize_none(),
        }
    }
}

/// A rate with all that belongs to it.
pub(super) struct RateValue(pub(super) Rate);

impl Serialize for RateValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("numerator", &self.0.numerator())?;
        map.serialize_entry("denominator", self.0.denominator().word())?;
        map.serialize_entry("size", &self.0.size())?;
        map.serialize_entry("share", &self.0.share())?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::heading;
    use crate::stats::{Denominator, Depth};

    #[test]
    fn every_kind_of_cell_has_a_stable_form() {
        let rate = |numerator, size| Cell::Rate(Rate::new(numerator, Denominator::Determinable, size));
        let columns = vec![Column::new("agent", "the agent"), Column::grouped("full", "closed", "full")];
        let section = |name, body| Section {
            name,
            title: "A title",
            caption: "A caption.".into(),
            depth: Depth::Detail,
            is_judged: true,
            body,
            notes: vec!["A note.".into()],
        };
        let rows = vec![
            Row::new(vec![Cell::Word("GPTBot".into()), rate(1, 8)]),
            Row::inside(vec![Cell::Labelled { word: "any-ai", label: "any agent" }, rate(0, 0)]),
            Row::new(vec![Cell::Text("a\u{9b}\u{202e}b".into()), Cell::Absent(Absence::NotInSnapshot)]),
            Row::new(vec![Cell::Word("CCBot".into()), Cell::Blank]),
        ];
        let sections = vec![
            section("levels", Body::Table { columns, rows }),
            section("origin", Body::Missing { columns: vec!["agent_gptbot_by".into()] }),
        ];
        let mut out = Vec::new();
        write(&heading(), &[Answer { name: "agents", sections }], &mut out).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r#"
        {
          "list": "top10k",
          "date": "2026-11-30",
          "definition": "rfc",
          "definition_says": "a site is fully closed to an agent where its rules let it fetch no path that the file mentions and no other.",
          "dialect": "rfc9309",
          "is_rehearsal": false,
          "answers": {
            "agents": {
              "levels": {
                "title": "A title",
                "caption": "A caption.",
                "rows": [
                  {
                    "agent": "GPTBot",
                    "full": {
                      "numerator": 1,
                      "denominator": "determinable",
                      "size": 8,
                      "share": 0.125
                    }
                  },
                  {
                    "agent": "any-ai",
                    "full": {
                      "numerator": 0,
                      "denominator": "determinable",
                      "size": 0,
                      "share": null
                    }
                  },
                  {
                    "agent": "a\u009b\u202eb",
                    "full": {
                      "absent": "not-in-snapshot"
                    }
                  },
                  {
                    "agent": "CCBot",
                    "full": null
                  }
                ],
                "notes": [
                  "A note."
                ]
              },
              "origin": {
                "title": "A title",
                "caption": "A caption.",
                "absent": "not-in-snapshot",
                "missing_columns": [
                  "agent_gptbot_by"
                ],
                "notes": [
                  "A note."
                ]
              }
            }
          }
        }
        "#);
    }
}
