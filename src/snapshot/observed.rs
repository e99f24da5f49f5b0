//! Stored rows → observations: the bytes of an earlier snapshot, to be judged again.
//!
//! What a row stores comes back as it was seen, so that judging it again as before gives the same columns. Two things
//! are gone: the versions of HTTP and TLS of all requests but the last, and the bytes that extra looks brought, of which
//! what they were found to be is kept.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use arrow::array::RecordBatch;
use bytes::Bytes;
use jiff::Timestamp;

use super::fields::{Fields, Kind, Lists};
use crate::classify::{Look, past_after};
use crate::domain::{Domain, Target};
use crate::observation::{
    Asking, Authority, BodySource, DnsAnswer, DnsAnswers, Ending, Failure, Hop, HttpVersion, LastGood, Observation,
    Past, ProbeKind, Response, TlsVerdict, TlsVersion,
};
use crate::outcome::{Cause, Outcome, OutcomeClass};

/// What a stored row holds of what was seen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recalled {
    /// What was seen; its past is what was known after it.
    pub observation: Observation,
    /// What extra looks were found to be.
    pub looks: Vec<Look>,
    /// The class of what was found.
    pub class: OutcomeClass,
    /// The hash of the body that was stored.
    pub body_sha256: Option<[u8; 32]>,
}

/// The columns that are read; those that a part lacks are null in every row.
pub(super) const COLUMNS: &[&str] = &[
    "target_index",
    "capture_index",
    "domain",
    "rank",
    "weight",
    "stratum",
    "fetched_at",
    "elapsed_ms",
    "final_url",
    "authority",
    "hops",
    "resolved_ips",
    "dns_cname",
    "dns_a",
    "dns_aaaa",
    "http_version",
    "tls_version",
    "outcome",
    "failure_detail",
    "status",
    "unreachable_since",
    "last_good_at",
    "last_good_sha256",
    "headers",
    "probes",
    "body_sha256",
    "wire_bytes",
    "body_source",
    "is_truncated",
    "body",
];

/// Without these nothing can be judged.
const REQUIRED: &[&str] = &["domain", "outcome", "status", "body"];

const PLAIN: &[(&str, Kind)] = &[
    ("target_index", Kind::Integer),
    ("capture_index", Kind::Integer),
    ("domain", Kind::Text),
    ("rank", Kind::Integer),
    ("weight", Kind::Number),
    ("stratum", Kind::Text),
    ("fetched_at", Kind::Millis),
    ("elapsed_ms", Kind::Integer),
    ("final_url", Kind::Text),
    ("authority", Kind::Text),
    ("dns_cname", Kind::Text),
    ("dns_a", Kind::Text),
    ("dns_aaaa", Kind::Text),
    ("http_version", Kind::Text),
    ("tls_version", Kind::Text),
    ("outcome", Kind::Text),
    ("failure_detail", Kind::Text),
    ("status", Kind::Integer),
    ("unreachable_since", Kind::Millis),
    ("last_good_at", Kind::Millis),
    ("last_good_sha256", Kind::Sha),
    ("body_sha256", Kind::Sha),
    ("wire_bytes", Kind::Integer),
    ("body_source", Kind::Text),
    ("is_truncated", Kind::Flag),
    ("body", Kind::Bytes),
];

const HOP: &[(&str, Kind)] = &[
    ("url", Kind::Text),
    ("ip", Kind::Text),
    ("status", Kind::Integer),
    ("failure", Kind::Text),
    ("tls_verdict", Kind::Text),
    ("elapsed_ms", Kind::Integer),
];

const HEADER: &[(&str, Kind)] = &[("name", Kind::Text), ("value", Kind::Text)];

const LOOK: &[(&str, Kind)] =
    &[("kind", Kind::Text), ("outcome", Kind::Text), ("body_sha256", Kind::Sha), ("verdicts_changed", Kind::Flag)];

/// The rows of a batch of the part at `path`, as they were seen, in their order.
pub(super) fn recall(batch: &RecordBatch, path: &Path) -> anyhow::Result<Vec<Recalled>> {
    for name in REQUIRED {
        ensure!(
            batch.column_by_name(name).is_some(),
            "{} has no column {name}, without which its rows cannot be judged again",
            path.display()
        );
    }
    let stored = StoredRows::of(batch).with_context(|| format!("reading {}", path.display()))?;
    let row = |row: usize| {
        let domain = stored.plain.text("domain", row).unwrap_or("nobody");
        stored.recall(row).with_context(|| format!("reading the row of {domain} in {}", path.display()))
    };
    (0..batch.num_rows()).map(row).collect()
}

/// A batch, its columns found.
struct StoredRows {
    plain: Fields,
    hops: Lists,
    headers: Lists,
    probes: Lists,
    resolved_ips: Lists,
}

impl StoredRows {
    fn of(batch: &RecordBatch) -> anyhow::Result<Self> {
        Ok(Self {
            plain: Fields::of_batch(batch, PLAIN)?,
            hops: Lists::of_items(batch, "hops", HOP)?,
            headers: Lists::of_items(batch, "headers", HEADER)?,
            probes: Lists::of_items(batch, "probes", LOOK)?,
            resolved_ips: Lists::of_texts(batch, "resolved_ips")?,
        })
    }

    fn recall(&self, row: usize) -> anyhow::Result<Recalled> {
        let Self { plain, .. } = self;
        let target = Target {
            index: plain.count("target_index", row)?.unwrap_or(0),
            domain: Domain::parse(plain.text("domain", row).unwrap_or_default())?,
            rank: plain.count("rank", row)?,
            weight: plain.number("weight", row),
            stratum: plain.text("stratum", row).map(Arc::from),
        };
        let Some(outcome) = word(plain.text("outcome", row), Outcome::from_word)? else { bail!("it has no outcome") };
        let ending = match outcome {
            Outcome::Answer(_) => Ending::Response(self.response(row)?),
            Outcome::Failure(cause) => {
                Ending::Failure(Failure { cause, detail: plain.text("failure_detail", row).map(str::to_owned) })
            }
        };
        let body_sha256 = self.sha256("body_sha256", row)?;
        let fetched_at = self.time("fetched_at", row)?;
        // A row from before there was a memory is the beginning of one.
        let past = past_after(self.past(row)?, outcome, fetched_at, body_sha256);
        let observation = Observation {
            target,
            capture_index: plain.count("capture_index", row)?.unwrap_or(0),
            fetched_at,
            asking: self.asking(row)?,
            ending,
            body_source: word(plain.text("body_source", row), BodySource::from_word)?.unwrap_or(BodySource::Fetched),
            past,
        };
        Ok(Recalled { observation, looks: self.looks(row)?, class: outcome.class(), body_sha256 })
    }

    fn past(&self, row: usize) -> anyhow::Result<Past> {
        let last_good = self.time("last_good_at", row)?.zip(self.sha256("last_good_sha256", row)?);
        Ok(Past {
            unreachable_since: self.time("unreachable_since", row)?,
            last_good: last_good.map(|(at, sha256)| LastGood { at, sha256 }),
        })
    }

    fn time(&self, name: &str, row: usize) -> anyhow::Result<Option<Timestamp>> {
        Ok(self.plain.integer(name, row).map(Timestamp::from_millisecond).transpose()?)
    }

    fn sha256(&self, name: &str, row: usize) -> anyhow::Result<Option<[u8; 32]>> {
        Ok(self.plain.bytes(name, row).map(TryInto::try_into).transpose()?)
    }

    fn response(&self, row: usize) -> anyhow::Result<Response> {
        let Self { plain, .. } = self;
        let fields = &self.headers.fields;
        let header = |item| {
            let text = |name| fields.text(name, item).unwrap_or_default().to_owned();
            (text("name"), text("value"))
        };
        Ok(Response {
            url: plain.text("final_url", row).unwrap_or_default().to_owned(),
            status: plain.count("status", row)?.context("it is an answer without a status")?,
            headers: self.headers.items(row).into_iter().flatten().map(header).collect(),
            body: plain.bytes("body", row).map_or_else(Bytes::new, Bytes::copy_from_slice),
            is_truncated: plain.flag("is_truncated", row).unwrap_or(false),
            wire_bytes: plain.count("wire_bytes", row)?,
        })
    }

    fn asking(&self, row: usize) -> anyhow::Result<Option<Asking>> {
        let Some(items) = self.hops.items(row) else { return Ok(None) };
        let Self { plain, .. } = self;
        let mut hops = items.map(|item| hop(&self.hops.fields, item)).collect::<anyhow::Result<Vec<_>>>()?;
        // A row keeps one version of each; it stands with the last request that can have spoken it.
        if let Some(hop) = hops.iter_mut().rev().find(|hop| hop.status.is_some()) {
            hop.http_version = word(plain.text("http_version", row), HttpVersion::from_word)?;
        }
        if let Some(hop) = hops.iter_mut().rev().find(|hop| hop.tls_verdict.is_some()) {
            hop.tls_version = word(plain.text("tls_version", row), TlsVersion::from_word)?;
        }
        let ips = &self.resolved_ips;
        let resolved_ips = ips.items(row).into_iter().flatten().filter_map(|item| ips.fields.text("", item));
        Ok(Some(Asking {
            elapsed: millis(plain.count("elapsed_ms", row)?),
            hops,
            authority: word(plain.text("authority", row), Authority::from_word)?,
            resolved_ips: resolved_ips.map(address).collect::<anyhow::Result<_>>()?,
            dns_cname: plain.text("dns_cname", row).map(str::to_owned),
            dns: DnsAnswers {
                a: word(plain.text("dns_a", row), DnsAnswer::from_word)?,
                aaaa: word(plain.text("dns_aaaa", row), DnsAnswer::from_word)?,
            },
            probes: Vec::new(),
        }))
    }

    fn looks(&self, row: usize) -> anyhow::Result<Vec<Look>> {
        let fields = &self.probes.fields;
        let look = |item: usize| -> anyhow::Result<Look> {
            Ok(Look {
                kind: word(fields.text("kind", item), ProbeKind::from_word)?.context("a look without a kind")?,
                outcome: word(fields.text("outcome", item), Outcome::from_word)?
                    .context("a look without an outcome")?,
                body_sha256: fields.bytes("body_sha256", item).map(TryInto::try_into).transpose()?,
                has_changed_verdicts: fields.flag("verdicts_changed", item),
            })
        };
        self.probes.items(row).into_iter().flatten().map(look).collect()
    }
}

fn hop(fields: &Fields, item: usize) -> anyhow::Result<Hop> {
    Ok(Hop {
        url: fields.text("url", item).unwrap_or_default().to_owned(),
        ip: fields.text("ip", item).map(address).transpose()?,
        status: fields.count("status", item)?,
        failure: word(fields.text("failure", item), Cause::from_word)?,
        tls_verdict: word(fields.text("tls_verdict", item), TlsVerdict::from_word)?,
        tls_version: None,
        http_version: None,
        elapsed: millis(fields.count("elapsed_ms", item)?),
    })
}

/// A word of a closed vocabulary; one that it does not have was written by a later version, and is an error.
fn word<T>(word: Option<&str>, from_word: impl Fn(&str) -> Option<T>) -> anyhow::Result<Option<T>> {
    word.map(|word| from_word(word).with_context(|| format!("{word:?} is a word that this version does not know")))
        .transpose()
}

fn address(text: &str) -> anyhow::Result<IpAddr> {
    text.parse().with_context(|| format!("{text:?} is no address"))
}

fn millis(number: Option<u32>) -> Duration {
    Duration::from_millis(number.unwrap_or(0).into())
}
