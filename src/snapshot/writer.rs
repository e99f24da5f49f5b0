//! Writes one snapshot, and goes on with one that was left unfinished.
//!
//! # Durability
//!
//! A part is written under `writing/`, synced, renamed into `data/` and its folder synced; only then does the manifest
//! speak of it. Parts are the journal: going on means reading back which targets stand in whole parts. What a crash
//! costs is the rows that wait for their part, [`Limits`] at most; those targets are asked again.
//!
//! # Memory
//!
//! Rows wait until their part is full, at most [`Limits::bytes`] plus one row, and are dropped as they are encoded (see
//! [`Table::write_part`]). The peak is about that limit plus 30 MiB, however many targets there are.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::mem;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use arrow::array::AsArray;
use arrow::datatypes::{Int32Type, Int64Type};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::manifest::Part;
use super::{Date, Done, Folder, Manifest, Plan, RejectedWriter, Session, Snapshot, State, durable};
use crate::classify::Row;
use crate::classify::row::Hex;
use crate::table::{Table, columns, read_columns, weight};

/// When a part is full: the first of these that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Rows.
    pub rows: usize,
    /// Bytes of rows in memory, bodies above all.
    pub bytes: usize,
    /// Time since its first row; looked at when a row comes.
    pub age: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { rows: 16_384, bytes: 128 << 20, age: Duration::from_secs(300) }
    }
}

/// Writes the rows of one snapshot; the only writer of its folder while it lives.
pub struct SnapshotWriter {
    snapshot: Snapshot,
    run: PathBuf,
    manifest: Manifest,
    table: Table,
    limits: Limits,
    /// Rows in whole parts and waiting ones; a row comes once.
    done: Done,
    waiting: Waiting,
    next_part: u32,
    /// Held by being open; the system lets go of it however the process ends.
    _lock: File,
}

#[derive(Default)]
struct Waiting {
    rows: Vec<Row>,
    bytes: usize,
    since: Option<Instant>,
}

impl SnapshotWriter {
    /// Opens the snapshot of this date: a new one, or an unfinished one of the same plan.
    ///
    /// Refuses a complete one, an unfinished one of another plan, and one that another run is writing.
    pub fn open(
        folder: &Folder,
        date: Date,
        plan: Plan,
        command: Vec<String>,
        seed: u64,
        now: Timestamp,
    ) -> anyhow::Result<Self> {
        let snapshot = folder.snapshot(date);
        let run = snapshot.run().context("a snapshot of a list's folder has a run")?.to_owned();
        let table = Table::new(columns(&plan.panel), plan.provenance(date))?;
        // Looked at before anything is created, so that a refusal leaves no trace, and again under the lock.
        may_go_on(&snapshot, &plan)?;
        durable::create_folder(&run)?;
        let lock = lock(&run, &snapshot)?;
        let earlier = may_go_on(&snapshot, &plan)?;

        put_aside(&run)?;
        let found = Found::read(&snapshot, earlier.as_ref())?;
        let mut manifest = earlier.unwrap_or_else(|| Manifest {
            state: State::Running,
            date,
            plan,
            started: now,
            ended: None,
            sessions: Vec::new(),
            rows: 0,
            outcomes: BTreeMap::new(),
            parts: Vec::new(),
            defects: BTreeMap::new(),
        });
        manifest.state = State::Running;
        manifest.ended = None;
        manifest.rows = found.done.len();
        manifest.outcomes = found.outcomes;
        manifest.parts = found.parts;
        let session = Session { command, seed, started: now, ended: None, rows_before: manifest.rows };
        manifest.sessions.push(session);
        manifest.write(&run.join("manifest.json"))?;
        Ok(Self {
            snapshot,
            run,
            manifest,
            table,
            limits: Limits::default(),
            done: found.done,
            waiting: Waiting::default(),
            next_part: found.next_part,
            _lock: lock,
        })
    }

    /// The same writer with other limits of a part.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The snapshot that is written.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The account so far; it speaks of whole parts only.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The targets that have their row, found or pushed; they need not be asked.
    pub fn done(&self) -> &Done {
        &self.done
    }

    /// Begins `rejected.csv` anew.
    pub fn rejected(&self) -> anyhow::Result<RejectedWriter> {
        RejectedWriter::create(self.writing()?.join("rejected.csv"), self.run.join("rejected.csv"))
    }

    /// Adds counts of defects met in an archive to the account.
    pub fn add_defects(&mut self, defects: impl IntoIterator<Item = (String, u64)>) {
        for (word, count) in defects {
            *self.manifest.defects.entry(word).or_default() += count;
        }
    }

    /// Takes a row, and writes a part when one is full; a target's second row is an error.
    ///
    /// After an error the rows that waited are gone from this run; the snapshot can still be gone on with by another.
    ///
    /// # Cost
    ///
    /// Usually nothing; about a second when a part of bodies is written, in which the caller waits.
    pub fn push(&mut self, row: Row) -> anyhow::Result<()> {
        let (target, capture) = (row.observation.target.index, row.observation.capture_index);
        ensure!(
            self.done.insert(target, capture),
            "target {target} ({}) has a second row for capture {capture}",
            row.observation.target.domain
        );
        let size = weight(&row);
        if !self.waiting.rows.is_empty() && self.waiting.bytes + size > self.limits.bytes {
            self.write_part()?;
        }
        self.waiting.bytes += size;
        self.waiting.rows.push(row);
        let since = *self.waiting.since.get_or_insert_with(Instant::now);
        if self.waiting.rows.len() >= self.limits.rows || since.elapsed() >= self.limits.age {
            self.write_part()?;
        }
        Ok(())
    }

    /// Writes what waits and declares the snapshot complete.
    ///
    /// Refuses where a target of the list has no row: the snapshot then stays interrupted, and can be gone on with.
    pub fn finish(mut self, now: Timestamp) -> anyhow::Result<Manifest> {
        // A data set without any file cannot be opened; an empty part still has the schema.
        if !self.waiting.rows.is_empty() || self.manifest.parts.is_empty() {
            self.write_part()?;
        }
        let rows = self.manifest.rows;
        let accepted = self.manifest.plan.list.as_ref().map_or(rows, |list| list.accepted);
        if rows != accepted {
            let snapshot = self.snapshot.to_string();
            self.close(State::Interrupted, now)?;
            bail!("{snapshot} has {rows} rows for the list's {accepted} targets; it stays unfinished");
        }
        self.close(State::Complete, now)
    }

    /// Writes what waits and leaves the snapshot to be gone on with.
    pub fn interrupt(mut self, now: Timestamp) -> anyhow::Result<Manifest> {
        if !self.waiting.rows.is_empty() {
            self.write_part()?;
        }
        self.close(State::Interrupted, now)
    }

    fn close(mut self, state: State, now: Timestamp) -> anyhow::Result<Manifest> {
        self.manifest.state = state;
        self.manifest.ended = Some(now);
        if let Some(session) = self.manifest.sessions.last_mut() {
            session.ended = Some(now);
        }
        self.manifest.write(&self.run.join("manifest.json"))?;
        Ok(self.manifest)
    }

    fn write_part(&mut self) -> anyhow::Result<()> {
        let Waiting { rows, .. } = mem::take(&mut self.waiting);
        let mut outcomes = self.manifest.outcomes.clone();
        for row in &rows {
            *outcomes.entry(row.outcome.word().to_owned()).or_default() += 1;
        }
        let file = format!("part-{:05}.parquet", self.next_part);
        let fresh = self.writing()?.join(&file);
        let written = self.table.write_part(&fresh, self.next_part, rows)?;
        durable::create_folder(self.snapshot.data())?;
        durable::publish(&fresh, &self.snapshot.data().join(&file))?;

        self.next_part += 1;
        self.manifest.outcomes = outcomes;
        self.manifest.rows += written.rows;
        let sha256 = Hex(&written.sha256).to_string();
        self.manifest.parts.push(Part { file, rows: written.rows, bytes: written.bytes, sha256 });
        self.manifest.write(&self.run.join("manifest.json"))
    }

    fn writing(&self) -> anyhow::Result<PathBuf> {
        let writing = self.run.join("writing");
        durable::create_folder(&writing)?;
        Ok(writing)
    }
}

/// What an unfinished snapshot already holds.
struct Found {
    done: Done,
    outcomes: BTreeMap<String, u64>,
    parts: Vec<Part>,
    next_part: u32,
}

impl Found {
    /// Reads the whole parts back; the manifest may be one part behind them.
    fn read(snapshot: &Snapshot, earlier: Option<&Manifest>) -> anyhow::Result<Self> {
        let mut found = Self { done: Done::default(), outcomes: BTreeMap::new(), parts: Vec::new(), next_part: 0 };
        for path in snapshot.parts()? {
            let file = path.file_name().and_then(|name| name.to_str()).context("a part has a plain name")?.to_owned();
            let number = file.strip_prefix("part-").and_then(|rest| rest.strip_suffix(".parquet")?.parse::<u32>().ok());
            let Some(number) = number else { bail!("{} is no part of this program's", path.display()) };
            let before = found.done.len();
            found.read_part(&path)?;
            let rows = found.done.len() - before;
            let known = earlier.and_then(|manifest| manifest.parts.iter().find(|part| part.file == file));
            found.parts.push(match known {
                Some(part) => part.clone(),
                None => measure(&path, file, rows)?,
            });
            found.next_part = found.next_part.max(number + 1);
        }
        if earlier.is_none() && !found.parts.is_empty() {
            bail!("{} holds parts without a manifest, so what they are is not known", snapshot.data().display());
        }
        Ok(found)
    }

    fn read_part(&mut self, path: &Path) -> anyhow::Result<()> {
        let missing = |name| format!("{} has no column {name}", path.display());
        for batch in read_columns(&[path.to_owned()], &["target_index", "capture_index", "outcome"]) {
            let batch = batch?;
            let column = |name| batch.column_by_name(name).with_context(|| missing(name));
            let targets = column("target_index")?;
            let targets = targets.as_primitive_opt::<Int64Type>().with_context(|| missing("target_index"))?;
            let captures = column("capture_index")?;
            let captures = captures.as_primitive_opt::<Int32Type>().with_context(|| missing("capture_index"))?;
            for (target, capture) in targets.values().iter().zip(captures.values()) {
                let row = u32::try_from(*target).ok().zip(u32::try_from(*capture).ok());
                let (target, capture) = row.with_context(|| format!("{}: target {target}", path.display()))?;
                ensure!(self.done.insert(target, capture), "{}: target {target} stands twice", path.display());
            }
            let words = column("outcome")?;
            let words = words.as_dictionary_opt::<Int32Type>().with_context(|| missing("outcome"))?;
            let words = words.downcast_dict::<arrow::array::StringArray>().with_context(|| missing("outcome"))?;
            for word in words.into_iter().flatten() {
                *self.outcomes.entry(word.to_owned()).or_default() += 1;
            }
        }
        Ok(())
    }
}

/// The manifest of an unfinished snapshot that this plan may go on with; nothing where there is none yet.
fn may_go_on(snapshot: &Snapshot, plan: &Plan) -> anyhow::Result<Option<Manifest>> {
    let Some(earlier) = snapshot.manifest()? else { return Ok(None) };
    if earlier.state == State::Complete {
        bail!("{snapshot} is complete and is not surveyed again; use --again for another one of that day, or --date");
    }
    let differences = earlier.plan.differences(plan);
    if !differences.is_empty() {
        bail!(
            "{snapshot} is unfinished and was begun differently; use the same settings to go on with it, or --again or \
             --date for another one:\n  {}",
            differences.join("\n  ")
        );
    }
    Ok(Some(earlier))
}

fn lock(run: &Path, snapshot: &Snapshot) -> anyhow::Result<File> {
    let path = run.join("lock");
    let locking = || format!("locking {}", path.display());
    let file = File::options().create(true).append(true).open(&path).with_context(locking)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => bail!("another run is writing {snapshot}: it holds {}", path.display()),
        Err(TryLockError::Error(error)) => Err(error).with_context(locking),
    }
}

/// Moves what a killed run left half-written out of the way; it is not read and not deleted.
fn put_aside(run: &Path) -> anyhow::Result<()> {
    let torn = run.join("torn");
    for path in durable::entries(&run.join("writing"))? {
        durable::create_folder(&torn)?;
        let name = path.file_name().context("an entry of a folder has a name")?;
        let mut aside = torn.join(name);
        let mut again = 1;
        while aside.exists() {
            again += 1;
            let mut name = name.to_owned();
            name.push(format!(".{again}"));
            aside = torn.join(name);
        }
        fs::rename(&path, &aside).with_context(|| format!("putting {} aside", path.display()))?;
    }
    Ok(())
}

fn measure(path: &Path, file: String, rows: u64) -> anyhow::Result<Part> {
    let reading = || format!("reading {}", path.display());
    let mut hash = HashingSink(Sha256::new());
    let bytes = std::io::copy(&mut File::open(path).with_context(reading)?, &mut hash).with_context(reading)?;
    Ok(Part { file, rows, bytes, sha256: Hex(&hash.0.finalize()).to_string() })
}

struct HashingSink(Sha256);

impl std::io::Write for HashingSink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
