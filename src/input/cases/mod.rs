//! Questions about many hosts: tables of host, agent and path, and lists of URLs.
//!
//! | source | read as |
//! |---|---|
//! | [`CaseSource::Table`] | host, agent and path, separated by tabs; a header may name them, and a weight |
//! | [`CaseSource::Urls`], text | one URL a line, or CSV or TSV whose header names the column of URLs |
//! | [`CaseSource::Urls`], Parquet | the column of URLs |
//!
//! Text may be gzip, Zstandard or alone in a zip archive, and `-` is standard input. What cannot be read is handed out
//! as [`Rejected`] in its place and costs nothing else.

mod lines;
mod parquet;
mod table;
mod urls;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use url::Url;

use self::urls::{Located, Names};
use super::source::Source;
use super::{LineFault, Reason, Rejected};
use crate::domain::{Domain, NotADomain};

/// One question: may this agent fetch this path of this host.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The host in lower-case A-labels, or an address; with a port where that is not the scheme's own, and then it is
    /// another authority.
    pub host: Box<str>,
    /// The crawler's product token.
    pub agent: Arc<str>,
    /// What follows the authority, query included, byte for byte as it was written.
    pub path: Box<str>,
    /// What the case counts in a summary.
    pub weight: f64,
}

/// Where questions come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseSource {
    /// A table of host, agent and path.
    Table {
        /// The file, or `-`.
        path: PathBuf,
        /// The column of weights, which needs a header.
        weight_column: Option<String>,
    },
    /// A list of URLs, each asked for every agent.
    Urls {
        /// The file, or `-`.
        path: PathBuf,
        /// The agents.
        agents: Vec<Arc<str>>,
        /// The column of URLs, where there is a header.
        url_column: String,
        /// The column of weights, which needs a header.
        weight_column: Option<String>,
    },
}

/// The questions of a source, in its order.
pub type Cases = Box<dyn Iterator<Item = anyhow::Result<Result<Case, Rejected>>>>;

impl CaseSource {
    /// Opens the source; the outer error of an item ends the reading, the inner one costs its line only.
    pub fn open(&self) -> anyhow::Result<Cases> {
        let reading = |path: &Path| format!("reading the cases in {}", path.display());
        match self {
            Self::Table { path, weight_column } => {
                let source = Source::open(path)?;
                table::open(source.bytes, weight_column.as_deref()).with_context(|| reading(path))
            }
            Self::Urls { path, agents, url_column, weight_column } => {
                let names = Names { url: url_column, weight: weight_column.as_deref() };
                let asked = |located: anyhow::Result<Result<Located, Rejected>>, agents: &[Arc<str>]| match located {
                    Ok(Ok(located)) => agents.iter().map(|agent| Ok(Ok(located.ask(agent)))).collect(),
                    Ok(Err(rejected)) => vec![Ok(Err(rejected))],
                    Err(error) => vec![Err(error)],
                };
                let agents = agents.clone();
                let located = urls::open(path, &names).with_context(|| reading(path))?;
                Ok(Box::new(located.flat_map(move |located| asked(located, &agents))))
            }
        }
    }
}

/// The host that a text names: a domain, or what may stand in a URL all the same and cannot be surveyed, such as an
/// address; nobody need have asked it.
fn read_host(text: &str) -> Result<Box<str>, Reason> {
    match Domain::parse(text) {
        Ok(domain) => Ok(domain.as_str().into()),
        Err(NotADomain::IpLiteral | NotADomain::Port | NotADomain::NoDot) => Ok(text.to_ascii_lowercase().into()),
        Err(reason) => Err(Reason::Domain(reason)),
    }
}

/// The host of a URL that names no domain, as a case would have it.
pub fn unsurveyed_host(url: &str) -> String {
    Url::parse(url).ok().and_then(|url| Some(url.host_str()?.to_owned())).unwrap_or_default()
}

/// Reads what a case counts; one without a field for it counts one.
fn read_weight(text: Option<&str>) -> Result<f64, Reason> {
    let Some(text) = text else { return Ok(1.0) };
    let weight = text.trim().parse::<f64>().ok().and_then(check_weight);
    weight.ok_or(Reason::Line(LineFault::BadWeight))
}

/// A weight is a number from zero up.
fn check_weight(weight: f64) -> Option<f64> {
    (weight.is_finite() && weight >= 0.0).then_some(weight)
}

struct Header<const N: usize> {
    names: Vec<String>,
    wanted: [usize; N],
}

impl<const N: usize> Header<N> {
    fn find(&self, name: &str) -> anyhow::Result<usize> {
        let found = self.names.iter().position(|other| other.eq_ignore_ascii_case(name));
        found.with_context(|| format!("there is no column {name:?}; there are {}", self.names.join(", ")))
    }
}

/// A first line that names all the wanted columns is a header.
fn find_header<'l, const N: usize>(fields: impl Iterator<Item = &'l str>, wanted: &[&str; N]) -> Option<Header<N>> {
    let names: Vec<String> = fields.map(|name| name.trim().to_owned()).collect();
    let places = wanted.map(|name| names.iter().position(|other| other.eq_ignore_ascii_case(name)));
    if places.contains(&None) {
        return None;
    }
    Some(Header { wanted: places.map(|place| place.expect("none is missing")), names })
}

#[cfg(test)]
mod tests;
