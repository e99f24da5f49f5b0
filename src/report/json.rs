//! Answers as JSON: answers, sections and cells by their stable keys, numbers as numbers.
//!
//! A rate is always `{numerator, denominator, size, share}`; what is not there is `{absent: why}`, never a zero.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::report::Heading;
use crate::report::escape::steers;
use crate::stats::{Absence, Answer, Body, Cell, Column, Rate, Row, Section};

pub(super) fn write(heading: &Heading, answers: &[Answer], out: &mut impl Write) -> io::Result<()> {
    let text = serde_json::to_string_pretty(&Document { heading, answers })?;
    writeln!(out, "{}", Printable(&text))
}

/// JSON in which no character can steer a terminal.
///
/// Line feeds between values stay; other characters that steer stand in strings only, where JSON can escape them.
struct Printable<'a>(&'a str);

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

struct Answers<'a>(&'a [Answer]);

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
        let Section { name: _, title, caption, depth: _, body, notes } = self.0;
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

struct RateValue(Rate);

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
