//! Reading a list: what each line or row gives, or why it is rejected.

use std::path::Path;

use anyhow::Context;

use super::columns::{Columns, Fields};
use super::intake::{Intake, Said};
use super::list::TargetList;
use super::rows;
use super::source::{Length, Opened, Source, read_line};
use crate::domain::NotADomain;

/// How a list is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// The column that holds weights; without a name it is `weight`, where there is one.
    pub weight_column: Option<String>,
}

/// A line or row that was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Its number in the unpacked text, or among the rows of a Parquet file, from 1.
    pub line: u64,
    /// Its beginning; bytes that are no UTF-8 are replaced.
    pub text: String,
    /// Why.
    pub reason: Reason,
}

/// Why a line was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// What stands where the host should is none.
    Domain(NotADomain),
    /// The line itself cannot be read.
    Line(LineFault),
}

impl Reason {
    /// The stored word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Domain(reason) => reason.word(),
            Self::Line(fault) => fault.word(),
        }
    }

    /// What the word means.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Domain(reason) => reason.doc(),
            Self::Line(fault) => fault.doc(),
        }
    }
}

crate::words! {
    /// Why a line of a list cannot be read.
    pub enum LineFault {
        /// The line or row has nothing where the others have the domain.
        NoColumn = "no-column",
        /// The text is no UTF-8.
        NotUtf8 = "not-utf8",
        /// The rank is no whole number.
        BadRank = "bad-rank",
        /// The weight is no number from zero up.
        BadWeight = "bad-weight",
        /// What looks like a URL is none, or has no host.
        BadUrl = "bad-url",
        /// The path does not begin with a slash.
        BadPath = "bad-path",
        /// The line is longer than any line of a list.
        LineTooLong = "line-too-long",
    }
}

/// Bytes of a line that are read; no list has longer ones.
pub(super) const MAX_LINE: usize = 64 << 10;

/// Reads a list of domains from a file, or from standard input for `-`.
///
/// Each rejected line or row goes to `reject` and never stops the reading. A rank or weight that cannot be read rejects
/// its line too: a target that silently lost its rank would be counted in the wrong stratum.
pub fn read_list(path: &Path, options: &ListOptions, reject: &mut dyn FnMut(Rejected)) -> anyhow::Result<TargetList> {
    let name = list_name(path);
    let list = match Opened::open(path)? {
        Opened::Text(source) => read_lines(source, options, Intake::new(name, "line", reject)),
        Opened::Parquet(file) => rows::read(file, options, Intake::new(name, "row", reject)),
    };
    list.with_context(|| format!("the list {}", path.display()))
}

/// Reads a list from a stream, under the given name.
#[cfg(test)]
pub(super) fn read_stream(
    stream: Box<dyn std::io::Read>,
    name: &str,
    options: &ListOptions,
    reject: &mut dyn FnMut(Rejected),
) -> anyhow::Result<TargetList> {
    read_lines(Source::new(stream)?, options, Intake::new(name.to_owned(), "line", reject))
}

fn read_lines(mut source: Source, options: &ListOptions, mut intake: Intake<'_>) -> anyhow::Result<TargetList> {
    let mut columns: Option<Columns> = None;
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        let length = read_line(source.bytes.as_mut(), &mut line, MAX_LINE);
        let Some(length) = length.with_context(|| format!("after line {number}"))? else { break };
        number += 1;
        let mut text = &line[..];
        if number == 1 {
            text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        }
        let text = text.trim_ascii();
        if text.is_empty() || text.starts_with(b"#") {
            continue;
        }
        let taken = match (length, str::from_utf8(text)) {
            (Length::Cut, _) => Err(Reason::Line(LineFault::LineTooLong)),
            (_, Err(_)) => Err(Reason::Line(LineFault::NotUtf8)),
            (Length::Whole, Ok(text)) => {
                let (columns, is_first) = match &mut columns {
                    Some(columns) => (&*columns, false),
                    undecided => (&*undecided.insert(Columns::decide(text, options.weight_column.as_deref())?), true),
                };
                if is_first && columns.is_header {
                    continue;
                }
                match columns.fields(text) {
                    None => Err(Reason::Line(LineFault::NoColumn)),
                    Some(fields) => intake.take(say(&fields))?,
                }
            }
        };
        if let Err(reason) = taken {
            intake.reject(number, text, reason);
        }
    }
    // What a decompressor left unread still belongs to the file's hash.
    std::io::copy(&mut source.bytes, &mut std::io::sink()).context("reading to the end")?;
    intake.finish(source.sha256())
}

fn say(fields: &Fields) -> Said<'_> {
    Said {
        host: &fields.domain,
        rank: fields.rank.as_deref().map(read_rank).transpose(),
        weight: fields.weight.as_deref().map(read_weight).transpose(),
        stratum: fields.stratum.as_deref(),
    }
}

/// Reads a rank as a list has it.
pub(super) fn read_rank(text: &str) -> Result<u32, Reason> {
    text.parse().map_err(|_| Reason::Line(LineFault::BadRank))
}

/// Reads a weight as a list has it.
pub(super) fn read_weight(text: &str) -> Result<f64, Reason> {
    text.parse().map_err(|_| Reason::Line(LineFault::BadWeight))
}

/// The name of a list's file without what follows from its format.
pub fn list_name(path: &Path) -> String {
    if path == Path::new("-") {
        return "stdin".to_owned();
    }
    let mut name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    for extension in [".gz", ".zst", ".zip", ".csv", ".tsv", ".txt", ".list", ".parquet"] {
        if let Some(stem) = name.strip_suffix(extension).filter(|stem| !stem.is_empty()) {
            name = stem.to_owned();
        }
    }
    name
}
