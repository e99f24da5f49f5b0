//! What an earlier snapshot holds of each target of a list: its past, and its answer where that can be asked for again.
//!
//! The snapshot is read once, part by part, into one unnamed file in the list's folder, and found there again by the targets'
//! indexes.
//!
//! # Memory
//!
//! Eight bytes a target and one batch, whatever the bodies are; they are compressed in the file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Snapshot;
use super::observed::{COLUMNS, Recalled, recall};
use crate::observation::{BodySource, Ending, LastGood, Observation, Past, Response, Validators};
use crate::outcome::OutcomeClass;
use crate::table::read_columns;

/// What is wanted of an earlier snapshot.
pub struct Wanted<'a> {
    /// How many targets the list has.
    pub targets: u32,
    /// The index of the target of this name in the list that is surveyed now, whatever it was then.
    pub index_of: &'a dyn Fn(&str) -> Option<u32>,
    /// Decoded bytes of a body that are kept now.
    pub max_body: usize,
    /// Files that were current at this time or later need not be asked for; nothing where all are.
    pub fresh_from: Option<Timestamp>,
    /// What time it is; files from later are not fresh, since a clock was wrong.
    pub now: Timestamp,
}

/// What an earlier snapshot holds of each target.
pub struct Earlier {
    file: File,
    /// Where each target's record begins in the file; the highest bit marks files that are fresh.
    places: Vec<u64>,
    counts: Kinds,
}

/// How many targets an earlier snapshot is good for, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds {
    /// Those that need not be asked.
    pub fresh: u64,
    /// Those of the others that are asked with a condition.
    pub conditional: u64,
}

const NOWHERE: u64 = u64::MAX;
const FRESH: u64 = 1 << 63;
/// Two lengths of four bytes.
const LENGTHS: usize = 8;
/// The quickest level: bodies are written once, and few are read again.
const LEVEL: i32 = 1;

/// What stands in the file before the body; times to the millisecond, as the table has them.
#[derive(Serialize, Deserialize)]
struct Head {
    unreachable_since: Option<i64>,
    last_good: Option<(i64, [u8; 32])>,
    answer: Option<Answer>,
}

/// An answer without its body.
#[derive(Serialize, Deserialize)]
struct Answer {
    fetched_at: Option<i64>,
    url: String,
    headers: Vec<(String, String)>,
    is_truncated: bool,
    body_bytes: usize,
}

impl Earlier {
    /// Reads an earlier snapshot; the file that it is kept in goes with this value, and has no name in `folder`.
    ///
    /// One that is not whole is an error which names the part: what is missing must not pass for what was never seen.
    pub fn read(snapshot: &Snapshot, folder: &Path, wanted: &Wanted<'_>) -> anyhow::Result<Self> {
        let reading = || format!("going back to the earlier snapshot {snapshot} (--since never does not)");
        Self::read_parts(snapshot, folder, wanted).with_context(reading)
    }

    fn read_parts(snapshot: &Snapshot, folder: &Path, wanted: &Wanted<'_>) -> anyhow::Result<Self> {
        let manifest = snapshot.manifest()?.with_context(|| format!("{snapshot} has no manifest"))?;
        let mut kept = Kept::begin(folder, wanted.targets)?;
        for part in &manifest.parts {
            let path = snapshot.data().join(&part.file);
            let mut rows = 0;
            for batch in read_columns(std::slice::from_ref(&path), COLUMNS) {
                for recalled in recall(&batch?, &path)? {
                    rows += 1;
                    kept.keep(recalled, wanted).with_context(|| format!("reading {}", path.display()))?;
                }
            }
            ensure!(rows == part.rows, "{} has {rows} rows, and the manifest says {}", path.display(), part.rows);
        }
        kept.finish()
    }

    /// How many targets it is good for.
    pub fn counts(&self) -> Kinds {
        self.counts
    }

    /// What is known of a target.
    pub fn past(&self, target: u32) -> anyhow::Result<Past> {
        let Some(Head { unreachable_since, last_good, .. }) = self.head(target)? else { return Ok(Past::default()) };
        let last_good = last_good.map(|(at, sha256)| Ok(LastGood { at: Timestamp::from_millisecond(at)?, sha256 }));
        Ok(Past {
            unreachable_since: unreachable_since.map(Timestamp::from_millisecond).transpose()?,
            last_good: last_good.transpose().map_err(|error: jiff::Error| error)?,
        })
    }

    /// The validators of the answer that this URL gave for the target, if that is kept and has some.
    pub fn validators(&self, target: u32, url: &str) -> anyhow::Result<Option<Validators>> {
        let answer = self.head(target)?.and_then(|head| head.answer).filter(|answer| answer.url == url);
        Ok(answer.and_then(|answer| answer.response(Vec::new()).validators()))
    }

    /// The answer that is kept of the target.
    pub fn answer(&self, target: u32) -> anyhow::Result<Option<Response>> {
        let Some((answer, body)) = self.answer_and_body(target)? else { return Ok(None) };
        Ok(Some(answer.response(body)))
    }

    /// Whether the target has a file that need not be asked for.
    pub fn is_fresh(&self, target: u32) -> bool {
        self.places.get(target as usize).is_some_and(|place| *place != NOWHERE && place & FRESH != 0)
    }

    /// What a target that is not asked is observed as; its past is left to whoever writes it.
    pub fn observe_fresh(&self, target: crate::domain::Target) -> anyhow::Result<Observation> {
        let Some((answer, body)) = self.answer_and_body(target.index)? else {
            bail!("the fresh file of {} is not kept", target.domain)
        };
        Ok(Observation {
            capture_index: 0,
            fetched_at: answer.fetched_at.map(Timestamp::from_millisecond).transpose()?,
            asking: None,
            ending: Ending::Response(Response { wire_bytes: Some(0), ..answer.response(body) }),
            body_source: BodySource::Fresh,
            past: Past::default(),
            target,
        })
    }

    fn answer_and_body(&self, target: u32) -> anyhow::Result<Option<(Answer, Vec<u8>)>> {
        let Some(place) = self.place(target) else { return Ok(None) };
        let (head, body) = self.lengths(place)?;
        let mut bytes = vec![0; head + body];
        self.file.read_exact_at(&mut bytes, place + LENGTHS as u64).context(FINDING)?;
        let Some(answer) = serde_json::from_slice::<Head>(&bytes[..head]).context(FINDING)?.answer else {
            return Ok(None);
        };
        let body = zstd::bulk::decompress(&bytes[head..], answer.body_bytes).context(FINDING)?;
        Ok(Some((answer, body)))
    }

    fn head(&self, target: u32) -> anyhow::Result<Option<Head>> {
        let Some(place) = self.place(target) else { return Ok(None) };
        let (head, _) = self.lengths(place)?;
        let mut bytes = vec![0; head];
        self.file.read_exact_at(&mut bytes, place + LENGTHS as u64).context(FINDING)?;
        Ok(Some(serde_json::from_slice(&bytes).context(FINDING)?))
    }

    fn place(&self, target: u32) -> Option<u64> {
        let place = self.places.get(target as usize).copied().filter(|place| *place != NOWHERE)?;
        Some(place & !FRESH)
    }

    fn lengths(&self, place: u64) -> anyhow::Result<(usize, usize)> {
        let mut lengths = [0; LENGTHS];
        self.file.read_exact_at(&mut lengths, place).context(FINDING)?;
        let both = u64::from_le_bytes(lengths);
        let half = |bits: u64| usize::try_from(bits & u64::from(u32::MAX)).context(FINDING);
        Ok((half(both)?, half(both >> 32)?))
    }
}

const KEEPING: &str = "keeping what an earlier snapshot holds in a temporary file";
const FINDING: &str = "finding what an earlier snapshot held in a temporary file";

impl Answer {
    fn response(&self, body: Vec<u8>) -> Response {
        Response {
            url: self.url.clone(),
            status: 200,
            headers: self.headers.clone(),
            body: body.into(),
            is_truncated: self.is_truncated,
            wire_bytes: None,
        }
    }
}

/// The file while it is written.
struct Kept {
    writer: BufWriter<File>,
    end: u64,
    places: Vec<u64>,
    counts: Kinds,
}

impl Kept {
    fn begin(folder: &Path, targets: u32) -> anyhow::Result<Self> {
        let file = tempfile::tempfile_in(folder).with_context(|| format!("opening a file in {}", folder.display()))?;
        Ok(Self {
            writer: BufWriter::with_capacity(1 << 20, file),
            end: 0,
            places: vec![NOWHERE; targets as usize],
            counts: Kinds::default(),
        })
    }

    fn finish(self) -> anyhow::Result<Earlier> {
        let file = self.writer.into_inner().map_err(std::io::IntoInnerError::into_error).context(KEEPING)?;
        Ok(Earlier { file, places: self.places, counts: self.counts })
    }

    fn keep(&mut self, recalled: Recalled, wanted: &Wanted<'_>) -> anyhow::Result<()> {
        let Recalled { observation, class, body_sha256, .. } = recalled;
        let domain = observation.target.domain.as_str();
        let Some(target) = (wanted.index_of)(domain).filter(|_| observation.capture_index == 0) else { return Ok(()) };
        let past = observation.past;
        let is_file = matches!(class, OutcomeClass::Readable | OutcomeClass::Empty);
        let is_young =
            wanted.fresh_from.zip(observation.fetched_at).is_some_and(|(from, at)| (from..=wanted.now).contains(&at));
        let mut answer = observation.response().filter(|response| is_usable(response, wanted.max_body)).cloned();
        let is_fresh = is_file && is_young && answer.is_some();
        answer = answer.filter(|answer| is_fresh || answer.validators().is_some());
        if let (Some(answer), Some(sha256)) = (&answer, body_sha256) {
            let is_whole = <[u8; 32]>::from(Sha256::digest(&answer.body)) == sha256;
            ensure!(is_whole, "the body of {domain} is not the one that was stored: its hash differs");
        }
        if answer.is_none() && past == Past::default() {
            return Ok(());
        }
        self.counts.fresh += u64::from(is_fresh);
        self.counts.conditional += u64::from(!is_fresh && answer.is_some());
        let mut body = answer.as_ref().map_or_else(bytes::Bytes::new, |answer| answer.body.clone());
        let is_cut = body.len() > wanted.max_body;
        body.truncate(wanted.max_body);
        let head = Head {
            unreachable_since: past.unreachable_since.map(Timestamp::as_millisecond),
            last_good: past.last_good.map(|good| (good.at.as_millisecond(), good.sha256)),
            answer: answer.map(|answer| Answer {
                fetched_at: observation.fetched_at.map(Timestamp::as_millisecond),
                url: answer.url,
                headers: answer.headers,
                is_truncated: answer.is_truncated || is_cut,
                body_bytes: body.len(),
            }),
        };
        let place = self.put(&head, &body)?;
        let place = if is_fresh { place | FRESH } else { place };
        let slot = self.places.get_mut(target as usize).context("a target of the list has no place")?;
        *slot = place;
        Ok(())
    }

    fn put(&mut self, head: &Head, body: &[u8]) -> anyhow::Result<u64> {
        let head = serde_json::to_vec(head).context(KEEPING)?;
        let body = zstd::bulk::compress(body, LEVEL).context(KEEPING)?;
        let place = self.end;
        for length in [head.len(), body.len()] {
            let length = u32::try_from(length).context("a row of more than 4 GiB")?;
            self.writer.write_all(&length.to_le_bytes()).context(KEEPING)?;
        }
        self.writer.write_all(&head).context(KEEPING)?;
        self.writer.write_all(&body).context(KEEPING)?;
        self.end += (LENGTHS + head.len() + body.len()) as u64;
        Ok(place)
    }
}

/// Whether an answer can stand for what its URL would give now: a plain success, and as much of it as is kept now.
fn is_usable(response: &Response, max_body: usize) -> bool {
    response.status == 200 && (!response.is_truncated || response.body.len() >= max_body)
}

#[cfg(test)]
mod tests;
