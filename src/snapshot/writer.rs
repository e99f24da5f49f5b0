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
//! [`Table::write_part`]). At its peak the process holds about twice that limit where bodies do not compress at all, and
//! stays there however many targets there are; what grows is one bit a target ([`Done`]) and a line a part.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::mem;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use jiff::Timestamp;

use super::resume::{Found, put_aside};
use super::{Cost, Date, Done, Folder, Manifest, Part, Plan, RejectedWriter, Session, Snapshot, State, durable};
use crate::classify::Row;
use crate::classify::row::Hex;
use crate::table::{Table, columns, weight};

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
        Self { rows: 16_384, bytes: 64 << 20, age: Duration::from_secs(300) }
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
        let session = Session { command, seed, started: now, ended: None, rows_before: manifest.rows, cost: None };
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
            session.cost = Cost::so_far();
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
