//! Reading a list line by line: what each gives, or why it is rejected.

use std::path::Path;

use anyhow::{Context, bail};
use url::{Host, Url};

use super::columns::{Columns, Fields};
use super::list::{Builder, Remarks, TargetList};
use super::source::{Length, Source, read_line};
use crate::domain::{Domain, NotADomain};

/// How a list is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// The column that holds weights; without a name it is `weight`, where there is one.
    pub weight_column: Option<String>,
}

/// A line that was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Its number in the unpacked text, from 1.
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
        /// The line has no field where the others have the domain.
        NoColumn = "no-column",
        /// The line is no UTF-8.
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
const MAX_TEXT: usize = 200;
const MAX_EXAMPLE: usize = 40;

/// Reads a list of domains from a file, or from standard input for `-`.
///
/// Each rejected line goes to `reject` and never stops the reading. A rank or weight that cannot be read rejects its
/// line too: a target that silently lost its rank would be counted in the wrong stratum.
pub fn read_list(path: &Path, options: &ListOptions, reject: &mut dyn FnMut(Rejected)) -> anyhow::Result<TargetList> {
    let source = Source::open(path)?;
    read_source(source, list_name(path), options, reject).with_context(|| format!("the list {}", path.display()))
}

/// Reads a list from a stream, under the given name.
#[cfg(test)]
pub(super) fn read_stream(
    stream: Box<dyn std::io::Read>,
    name: &str,
    options: &ListOptions,
    reject: &mut dyn FnMut(Rejected),
) -> anyhow::Result<TargetList> {
    read_source(Source::new(stream)?, name.to_owned(), options, reject)
}

fn read_source(
    mut source: Source,
    name: String,
    options: &ListOptions,
    reject: &mut dyn FnMut(Rejected),
) -> anyhow::Result<TargetList> {
    let mut builder = Builder::new(name);
    let mut columns: Option<Columns> = None;
    let mut examples = Vec::new();
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
                    Some(fields) => take(&mut builder, &fields)?,
                }
            }
        };
        if let Err(reason) = taken {
            builder.reject();
            let rejected = Rejected { line: number, text: beginning(text), reason };
            if examples.len() < 3 {
                let example: String = rejected.text.chars().take(MAX_EXAMPLE).collect();
                examples.push(format!("line {number}: {example:?} ({})", reason.word()));
            }
            reject(rejected);
        }
    }
    // What a decompressor left unread still belongs to the file's hash.
    std::io::copy(&mut source.bytes, &mut std::io::sink()).context("reading to the end")?;
    match (builder.counts().accepted, builder.counts().rejected) {
        (0, 0) => bail!("it is empty: no line names a host"),
        (0, rejected) => bail!("none of its {rejected} lines names a host; {}", examples.join("; ")),
        _ => Ok(builder.finish(source.sha256())),
    }
}

/// Adds what a line says; the outer error ends the reading, the inner one rejects the line.
fn take(builder: &mut Builder, fields: &Fields) -> anyhow::Result<Result<(), Reason>> {
    let domain = match read_host(&fields.domain) {
        Ok(domain) => domain,
        Err(reason) => return Ok(Err(reason)),
    };
    let Ok(rank) = fields.rank.as_deref().map(str::parse::<u32>).transpose() else {
        return Ok(Err(Reason::Line(LineFault::BadRank)));
    };
    let weight = fields.weight.as_deref().map(str::parse::<f64>).transpose();
    let Some(weight) = weight.ok().filter(|weight| weight.is_none_or(|weight| weight.is_finite() && weight >= 0.0))
    else {
        return Ok(Err(Reason::Line(LineFault::BadWeight)));
    };
    builder.add(&domain, Remarks { rank, weight, stratum: fields.stratum.as_deref() })?;
    Ok(Ok(()))
}

/// The host of a name or URL as it stands in a list.
fn read_host(text: &str) -> Result<Domain, Reason> {
    if !text.contains('/') {
        return Domain::parse(text).map_err(Reason::Domain);
    }
    let bad_url = Reason::Line(LineFault::BadUrl);
    let absolute =
        if text.contains("://") { text.to_owned() } else { format!("http://{}", text.trim_start_matches('/')) };
    let url = Url::parse(&absolute).map_err(|_| bad_url)?;
    if url.port().is_some() {
        return Err(Reason::Domain(NotADomain::Port));
    }
    match url.host() {
        Some(Host::Domain(name)) => Domain::parse(name).map_err(Reason::Domain),
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => Err(Reason::Domain(NotADomain::IpLiteral)),
        None => Err(bad_url),
    }
}

/// The name of a list's file without what follows from its format.
fn list_name(path: &Path) -> String {
    if path == Path::new("-") {
        return "stdin".to_owned();
    }
    let mut name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    for extension in [".gz", ".zst", ".csv", ".tsv", ".txt", ".list"] {
        if let Some(stem) = name.strip_suffix(extension).filter(|stem| !stem.is_empty()) {
            name = stem.to_owned();
        }
    }
    name
}

/// The beginning of a text, for a person.
pub(super) fn beginning(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(4 * MAX_TEXT)]).chars().take(MAX_TEXT).collect()
}
