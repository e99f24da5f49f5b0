//! A list while its lines or rows come in: each gives a target, says more of one, or is rejected with its reason.

use anyhow::bail;
use url::{Host, Url};

use super::list::{Builder, Remarks, TargetList};
use super::read::{LineFault, Reason, Rejected};
use crate::domain::{Domain, NotADomain};

/// What a line or row says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    /// A host or URL.
    pub(super) host: &'a str,
    /// The rank, or what is wrong with it.
    pub(super) rank: Result<Option<u32>, Reason>,
    /// The weight, or what is wrong with it.
    pub(super) weight: Result<Option<f64>, Reason>,
    pub(super) stratum: Option<&'a str>,
}

/// Takes what lines or rows say, and keeps a few examples of what is rejected.
pub(super) struct Intake<'r> {
    builder: Builder,
    examples: Vec<String>,
    reject: &'r mut dyn FnMut(Rejected),
    /// What the list consists of: `line` or `row`.
    unit: &'static str,
}

const MAX_TEXT: usize = 200;
const MAX_EXAMPLE: usize = 40;

impl<'r> Intake<'r> {
    pub(super) fn new(name: String, unit: &'static str, reject: &'r mut dyn FnMut(Rejected)) -> Self {
        Self { builder: Builder::new(name), examples: Vec::new(), reject, unit }
    }

    /// Adds what a line or row says; the outer error ends the reading, the inner one rejects it.
    pub(super) fn take(&mut self, said: Said<'_>) -> anyhow::Result<Result<(), Reason>> {
        let read = || Ok((read_host(said.host)?, said.rank?, said.weight?));
        let (domain, rank, weight) = match read() {
            Ok(read) => read,
            Err(reason) => return Ok(Err(reason)),
        };
        if weight.is_some_and(|weight| !weight.is_finite() || weight < 0.0) {
            return Ok(Err(Reason::Line(LineFault::BadWeight)));
        }
        self.builder.add(&domain, Remarks { rank, weight, stratum: said.stratum })?;
        Ok(Ok(()))
    }

    /// Counts and hands out a line or row that gave nothing.
    pub(super) fn reject(&mut self, number: u64, text: &[u8], reason: Reason) {
        self.builder.reject();
        let rejected = Rejected { line: number, text: beginning(text), reason };
        if self.examples.len() < 3 {
            let example: String = rejected.text.chars().take(MAX_EXAMPLE).collect();
            self.examples.push(format!("{} {number}: {example:?} ({})", self.unit, reason.word()));
        }
        (self.reject)(rejected);
    }

    /// The list; one that gave no target is an error.
    pub(super) fn finish(self, sha256: [u8; 32]) -> anyhow::Result<TargetList> {
        let unit = self.unit;
        match (self.builder.counts().accepted, self.builder.counts().rejected) {
            (0, 0) => bail!("it is empty: no {unit} names a host"),
            (0, rejected) => bail!("none of its {rejected} {unit}s names a host; {}", self.examples.join("; ")),
            _ => Ok(self.builder.finish(sha256)),
        }
    }
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

/// The beginning of a text, for a person.
pub(super) fn beginning(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(4 * MAX_TEXT)]).chars().take(MAX_TEXT).collect()
}
