//! A list of URLs: a line each, or a column of CSV, TSV or Parquet.

use std::fs::File;
use std::io::{BufRead, Read};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use url::Url;

use super::lines::{Lines, reject};
use super::{Case, find_header, parquet, read_host, read_weight};
use crate::input::source::Source;
use crate::input::{LineFault, Reason, Rejected};
use crate::path::path_of_url;

/// What the header of a list of URLs may name.
pub(super) struct Names<'a> {
    pub(super) url: &'a str,
    pub(super) weight: Option<&'a str>,
}

/// A URL, taken apart.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Located {
    host: Box<str>,
    path: Box<str>,
    weight: f64,
}

impl Located {
    pub(super) fn ask(&self, agent: &Arc<str>) -> Case {
        Case { host: self.host.clone(), agent: Arc::clone(agent), path: self.path.clone(), weight: self.weight }
    }
}

/// The URLs of a source, in its order.
pub(super) type Urls = Box<dyn Iterator<Item = anyhow::Result<Result<Located, Rejected>>>>;

const PARQUET_MAGIC: &[u8; 4] = b"PAR1";

pub(super) fn open(path: &Path, names: &Names<'_>) -> anyhow::Result<Urls> {
    // Parquet is read from its end, so that it cannot come from a pipe.
    if path.is_file() {
        let mut start = Vec::new();
        File::open(path)?.take(4).read_to_end(&mut start)?;
        if start == PARQUET_MAGIC {
            return parquet::open(path, names);
        }
    }
    open_text(Source::open(path)?.bytes, names)
}

fn open_text(source: Box<dyn BufRead>, names: &Names<'_>) -> anyhow::Result<Urls> {
    let lines = Lines::new(source)?;
    if let Some(line) = lines.first() {
        let separator = if line.contains('\t') { b'\t' } else { b',' };
        let mut reader = csv::ReaderBuilder::new().has_headers(false).delimiter(separator).from_reader(line.as_bytes());
        let record = reader.records().next().transpose().ok().flatten().unwrap_or_default();
        if let Some(header) = find_header(record.iter(), &[names.url]) {
            let weight = names.weight.map(|name| header.find(name)).transpose()?;
            return Ok(read_csv(lines.without_header(), separator, header.wanted[0], weight));
        }
    }
    if let Some(name) = names.weight {
        bail!("it has no header with a column {:?}, so no column {name:?} of weights", names.url);
    }
    Ok(lines.map(|line| locate(line, 1.0)))
}

/// The rest of a file with a header: fields may be quoted and hold line ends.
fn read_csv(lines: Lines, separator: u8, url: usize, weight: Option<usize>) -> Urls {
    let above = lines.number;
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(separator).from_reader(lines.source);
    let mut record = csv::ByteRecord::new();
    Box::new(std::iter::from_fn(move || {
        let start = reader.position().line() + above;
        match reader.read_byte_record(&mut record) {
            Ok(false) => return None,
            Ok(true) => {}
            Err(error) => return Some(Err(error).with_context(|| format!("after line {start}"))),
        }
        let number = record.position().map_or(start, |position| position.line() + above);
        let field = |place: usize| {
            let field = record.get(place).ok_or(Reason::Line(LineFault::NoColumn))?;
            std::str::from_utf8(field).map_err(|_| Reason::Line(LineFault::NotUtf8))
        };
        let located =
            weight.map(field).transpose().and_then(read_weight).and_then(|weight| locate(field(url)?, weight));
        let whole = record.iter().collect::<Vec<_>>().join(&separator);
        Some(Ok(located.map_err(|reason| reject(number, &whole, reason))))
    }))
}

/// Takes a URL apart without changing a byte of its path; one without a scheme starts with the host.
pub(super) fn locate(text: &str, weight: f64) -> Result<Located, Reason> {
    let text = text.trim();
    let bad_url = Reason::Line(LineFault::BadUrl);
    let absolute =
        if text.contains("://") { text.to_owned() } else { format!("http://{}", text.trim_start_matches('/')) };
    let url = Url::parse(&absolute).map_err(|_| bad_url)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad_url);
    }
    let host = read_host(url.host_str().ok_or(bad_url)?)?;
    let host = match url.port() {
        None => host,
        Some(port) => format!("{host}:{port}").into(),
    };
    let path = String::from_utf8_lossy(&path_of_url(absolute.as_bytes())).into();
    Ok(Located { host, path, weight })
}
