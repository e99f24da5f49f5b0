//! What a snapshot stored for a host, read back: for whoever asks about a few hosts among many.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, TimeUnit, TimestampMillisecondType};
use bytes::Bytes;
use jiff::Timestamp;
use url::Url;

use super::Snapshot;
use super::fields::Lists;
use super::observed::HEADER;
use crate::outcome::Outcome;
use crate::table::{read_columns, read_rows};

/// What was stored for one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The target's name.
    pub domain: String,
    /// What happened when it was asked.
    pub outcome: Outcome,
    /// When, if that is known.
    pub fetched_at: Option<Timestamp>,
    /// The URL that gave the answer.
    pub final_url: Option<String>,
    /// The bytes that were kept.
    pub body: Bytes,
    /// Whether more was on offer.
    pub is_truncated: bool,
}

/// Where a target's row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    part: u32,
    row: u32,
}

/// The hosts of a snapshot, to be found by name.
///
/// About a hundred bytes a host; bodies stay on the disk.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    parts: Vec<PathBuf>,
    by_domain: HashMap<Box<str>, Place>,
    /// With the target's index: the first target counts, wherever its row is.
    by_final_host: HashMap<Box<str>, (i64, Place)>,
}

impl Snapshot {
    /// Reads the names of its targets; where a target has several captures its first counts.
    pub fn hosts(&self) -> anyhow::Result<Hosts> {
        let mut hosts = Hosts { parts: self.parts()?, ..Hosts::default() };
        ensure!(!hosts.parts.is_empty(), "{self} has no part yet");
        for (part, path) in hosts.parts.clone().into_iter().enumerate() {
            let part = u32::try_from(part).context("more parts than 32 bits can count")?;
            let mut row = 0;
            for batch in read_columns(std::slice::from_ref(&path), &["target_index", "domain", "final_url"]) {
                let batch = batch?;
                let indexes = column(&batch, "target_index", &DataType::Int64, &path)?;
                let indexes = indexes.as_primitive::<Int64Type>();
                let (domains, urls) = (text(&batch, "domain", &path)?, text(&batch, "final_url", &path)?);
                for ((domain, url), index) in domains.iter().zip(urls.iter()).zip(indexes.values()) {
                    let place = Place { part, row };
                    row += 1;
                    hosts.by_domain.entry(domain.unwrap_or_default().into()).or_insert(place);
                    if let Some(host) = url.and_then(host_of) {
                        let first = hosts.by_final_host.entry(host).or_insert((*index, place));
                        *first = (*first).min((*index, place));
                    }
                }
            }
        }
        Ok(hosts)
    }
}

impl Hosts {
    /// How many targets there are.
    pub fn len(&self) -> usize {
        self.by_domain.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_domain.is_empty()
    }

    /// The row of the target of exactly this name.
    pub fn find(&self, host: &str) -> Option<Place> {
        self.by_domain.get(host).copied()
    }

    /// The row of the first target whose answer was this host's own robots.txt, on the usual port of http or https.
    pub fn find_final(&self, host: &str) -> Option<Place> {
        self.by_final_host.get(host).map(|(_, place)| *place)
    }

    /// Reads rows, each once, part by part; `places` ascend.
    pub fn read(
        &self,
        places: &[Place],
        take: &mut dyn FnMut(Place, Stored) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        for places in places.chunk_by(|one, other| one.part == other.part) {
            let path = &self.parts[places[0].part as usize];
            let rows: Vec<u32> = places.iter().map(|place| place.row).collect();
            let mut places = places.iter();
            for batch in read_rows(path, COLUMNS, &rows)? {
                let batch = StoredBatch::of(&batch?, path)?;
                for row in 0..batch.domain.len() {
                    let place =
                        places.next().with_context(|| format!("{} has more rows than asked", path.display()))?;
                    take(*place, batch.stored(row).with_context(|| format!("reading {}", path.display()))?)?;
                }
            }
            ensure!(places.next().is_none(), "{} has fewer rows than it had", path.display());
        }
        Ok(())
    }
}

impl Hosts {
    /// Reads the fields of a row's response, in their order; none where the part does not have them.
    pub fn headers(&self, place: Place) -> anyhow::Result<Vec<(String, String)>> {
        let path = &self.parts[place.part as usize];
        let reading = || format!("reading the head of a response from {}", path.display());
        let mut headers = Vec::new();
        for batch in read_rows(path, &["headers"], &[place.row])? {
            let batch = batch?;
            let lists = Lists::of_items(&batch, "headers", HEADER).with_context(reading)?;
            let text = |name, item| lists.fields.text(name, item).unwrap_or_default().to_owned();
            let items = (0..batch.num_rows()).filter_map(|row| lists.items(row)).flatten();
            headers.extend(items.map(|item| (text("name", item), text("value", item))));
        }
        Ok(headers)
    }
}

const COLUMNS: &[&str] = &["domain", "outcome", "fetched_at", "final_url", "body", "is_truncated"];

struct StoredBatch {
    domain: StringArray,
    outcome: StringArray,
    fetched_at: ArrayRef,
    final_url: StringArray,
    body: ArrayRef,
    is_truncated: ArrayRef,
}

impl StoredBatch {
    fn of(batch: &RecordBatch, path: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            domain: text(batch, "domain", path)?,
            outcome: text(batch, "outcome", path)?,
            fetched_at: column(batch, "fetched_at", &DataType::Timestamp(TimeUnit::Millisecond, None), path)?,
            final_url: text(batch, "final_url", path)?,
            body: column(batch, "body", &DataType::Binary, path)?,
            is_truncated: column(batch, "is_truncated", &DataType::Boolean, path)?,
        })
    }

    fn stored(&self, row: usize) -> anyhow::Result<Stored> {
        let word = self.outcome.value(row);
        let bodies = self.body.as_binary::<i32>();
        let times = self.fetched_at.as_primitive::<TimestampMillisecondType>();
        let truncated = self.is_truncated.as_boolean();
        let fetched_at = times.is_valid(row).then(|| Timestamp::from_millisecond(times.value(row))).transpose();
        Ok(Stored {
            domain: self.domain.value(row).to_owned(),
            outcome: Outcome::from_word(word).with_context(|| format!("{word:?} is no outcome"))?,
            fetched_at: fetched_at.context("a time that no calendar has")?,
            final_url: self.final_url.is_valid(row).then(|| self.final_url.value(row).to_owned()),
            body: if bodies.is_valid(row) { Bytes::copy_from_slice(bodies.value(row)) } else { Bytes::new() },
            is_truncated: truncated.is_valid(row) && truncated.value(row),
        })
    }
}

/// A column as the wanted type: parts that others made may have another one for the same thing.
fn column(batch: &RecordBatch, name: &str, wanted: &DataType, path: &Path) -> anyhow::Result<ArrayRef> {
    let column = batch.column_by_name(name).with_context(|| format!("{} has no column {name}", path.display()))?;
    cast(column, wanted).with_context(|| format!("reading {} of {} as {wanted}", name, path.display()))
}

fn text(batch: &RecordBatch, name: &str, path: &Path) -> anyhow::Result<StringArray> {
    Ok(column(batch, name, &DataType::Utf8, path)?.as_string::<i32>().clone())
}

/// The host whose own file this URL is, on the usual port of its scheme.
fn host_of(url: &str) -> Option<Box<str>> {
    let url = Url::parse(url).ok().filter(|url| url.port().is_none() && url.path() == "/robots.txt")?;
    Some(url.domain()?.into())
}
