//! A list of URLs: a line each, or a column of CSV, TSV or Parquet.

use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};

use super::lines::{Lines, reject};
use super::{Case, find_header, parquet, read_host, read_weight};
use crate::input::source::Opened;
use crate::input::{LineFault, Reason, Rejected};

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

pub(super) fn open(path: &Path, names: &Names<'_>) -> anyhow::Result<Urls> {
    match Opened::open(path)? {
        Opened::Parquet(file) => parquet::open(file, names),
        Opened::Text(source) => open_text(source.bytes, names),
    }
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
///
/// Host and path are cut at the same places (RFC 3986, section 3.2), so that neither can take what is the other's.
pub(super) fn locate(text: &str, weight: f64) -> Result<Located, Reason> {
    let text = text.trim();
    let bad_url = Reason::Line(LineFault::BadUrl);
    let start = text.find(['/', '?', '#']).unwrap_or(text.len());
    let (scheme, rest) = match text[..start].strip_suffix(':') {
        Some(scheme) => (scheme, text[start..].strip_prefix("//").ok_or(bad_url)?),
        None => ("", text.strip_prefix("//").unwrap_or(text)),
    };
    let usual_port = match scheme.to_ascii_lowercase().as_str() {
        "" => None,
        "http" => Some(80),
        "https" => Some(443),
        _ => return Err(bad_url),
    };
    let end = rest.find(['/', '?', '#', ';', '\\']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = match authority.rsplit_once('@') {
        Some((_, host)) if !scheme.is_empty() => host,
        // A mail address, which names no page.
        Some(_) => return Err(bad_url),
        None => authority,
    };
    if host.is_empty() || path.starts_with('\\') {
        return Err(bad_url);
    }
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        _ => (host, None),
    };
    let port = match port {
        None | Some("") => None,
        Some(port) => Some(port.parse::<u16>().map_err(|_| bad_url)?).filter(|port| Some(*port) != usual_port),
    };
    let host = read_host(name)?;
    let host = port.map_or_else(|| host.clone(), |port| format!("{host}:{port}").into());
    let path = path.split('#').next().unwrap_or_default();
    let path = if path.starts_with('/') { path.into() } else { format!("/{path}").into() };
    Ok(Located { host, path, weight })
}
