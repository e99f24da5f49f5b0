//! Figures and hosts as CSV, one fact a line.

use std::cell::Cell as StdCell;
use std::io::{self, Write};

use csv::Writer;

use crate::stats::{Absence, Answer, Body, Cause, Cell, Change, Column, Row, Step};
use crate::text::visible;

/// Writes every figure of the answers as a line of its own.
pub(super) fn write_figures(answers: &[Answer], out: &mut impl Write) -> io::Result<()> {
    let mut table = Writer::from_writer(out);
    let head = ["section", "key", "subkey", "measure", "numerator", "denominator", "size", "share", "absent"];
    table.write_record(head).map_err(io::Error::from)?;
    for section in answers.iter().flat_map(|answer| &answer.sections) {
        match &section.body {
            Body::Table { columns, rows } => {
                rows.iter().try_for_each(|row| write_row(&mut table, section.name, columns, row))?;
            }
            Body::Missing { columns: _ } => {
                let absent = Absence::NotInSnapshot.word();
                table.write_record([section.name, "", "", "", "", "", "", "", absent]).map_err(io::Error::from)?;
            }
        }
    }
    table.flush()
}

/// Words say what a row is about; each other cell is a line.
fn write_row<W: Write>(table: &mut Writer<W>, section: &str, columns: &[Column], row: &Row) -> io::Result<()> {
    let key = |cell: &Cell| match cell {
        Cell::Word(text) | Cell::Text(text) => Some(visible(text.as_bytes()).into_owned()),
        Cell::Labelled { word, label: _ } => Some((*word).to_owned()),
        Cell::Rate(_) | Cell::Absent(_) | Cell::Blank => None,
    };
    let keys: Vec<String> = row.cells.iter().map_while(key).collect();
    let subkey = keys.get(1..).unwrap_or_default().join(" ");
    let first = keys.first().map_or("", String::as_str);
    for (column, cell) in columns.iter().zip(&row.cells).skip(keys.len()) {
        let measure = column.name;
        let [numerator, denominator, size, share, absent] = match cell {
            Cell::Rate(rate) => [
                rate.numerator().to_string(),
                rate.denominator().word().to_owned(),
                rate.size().to_string(),
                rate.share().map_or_else(String::new, |share| share.to_string()),
                String::new(),
            ],
            Cell::Absent(absence) => {
                [String::new(), String::new(), String::new(), String::new(), absence.word().to_owned()]
            }
            Cell::Word(_) | Cell::Text(_) | Cell::Labelled { .. } | Cell::Blank => continue,
        };
        let record = [section, first, &subkey, measure, &numerator, &denominator, &size, &share, &absent];
        table.write_record(record).map_err(io::Error::from)?;
    }
    Ok(())
}

/// Writes every host that differs, a line for each thing in which it does.
pub(super) fn write_hosts(changes: &[Change], agents: &[String], out: &mut impl Write) -> io::Result<()> {
    let mut table = Writer::from_writer(out);
    let head = ["host", "cause", "direction", "change", "subject", "from", "to", "from_by", "to_by"];
    table.write_record(head).map_err(io::Error::from)?;
    for change in changes {
        let direction = change.direction().map_or("", |direction| direction.word());
        let lines = StdCell::new(0);
        let mut write = |what: &str, subject: &str, rest: [&str; 4]| {
            lines.set(lines.get() + 1);
            let [from, to, from_by, to_by] = rest;
            let subject = visible(subject.as_bytes());
            let record = [&change.host, change.cause.word(), direction, what, &subject, from, to, from_by, to_by];
            table.write_record(record).map_err(io::Error::from)
        };
        for Step { agent, from, to, from_by, to_by } in &change.steps {
            let by = |by: &Option<crate::robots::By>| by.map_or("", |by| by.word());
            write("level", &agents[*agent], [from.word(), to.word(), by(from_by), by(to_by)])?;
        }
        let texts = [
            ("named", &change.named),
            ("no-longer-named", &change.no_longer_named),
            ("signal-came", &change.signals_came),
            ("signal-went", &change.signals_went),
        ];
        for (what, texts) in texts {
            texts.iter().try_for_each(|text| write(what, text, [""; 4]))?;
        }
        let (before, after) = change.outcomes;
        if before != after {
            let word = |outcome: Option<crate::outcome::Outcome>| outcome.map_or("", |outcome| outcome.word());
            write("outcome", "", [word(before), word(after), "", ""])?;
        }
        if lines.get() == 0 {
            let what = match change.cause {
                Cause::Noise => "bytes",
                Cause::Catalogue => "stored-verdict",
                _ => "rules",
            };
            write(what, "", [""; 4])?;
        }
    }
    table.flush()
}
