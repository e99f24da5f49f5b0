//! Snapshot → answers: the registry of statistics.
//!
//! A statistic reads the table, not [`Row`](crate::classify::Row), so that it works on snapshots of any age and on
//! files that others made. It is a monoid: parts are counted in parallel, in any order, and merged.
//!
//! * [`Entry`]: one line of the registry [`STATISTICS`]: name, sentence, columns, constructor
//! * [`Statistic`]: what a new one implements, in a file of its own
//! * [`Answer`]: what comes out: sections of typed cells
//! * [`Rate`]: the only way to state a share; it holds its denominator
//! * [`summarise`]: runs all of them in one pass over the parts
//! * [`diff`], [`trend`]: two snapshots, or all of a folder, side by side (`compare/`)
//!
//! May touch the table's reader and the vocabularies. Deliberately absent: formats (that is [`crate::report`]), verdicts
//! (they stand in the table), and zeros for what a snapshot does not have.

mod agents;
mod answer;
mod columns;
mod compare;
mod funnel;
mod headline;
mod noise;
mod outcomes;
#[cfg(test)]
pub(crate) mod sample;
mod signals;
mod sources;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::Context;
use arrow::array::RecordBatch;

pub use answer::{Absence, Answer, Body, Cell, Column, Denominator, Depth, Rate, Row, Section};
pub use compare::{
    Cause, Change, Diff, Direction, Line, LineChange, Missing, Source, Step, Tracked, Turn, Wave, changed_lines, diff,
    trend,
};

use crate::table;

/// Every statistic, in reading order.
pub const STATISTICS: &[Entry] = &[
    Entry {
        name: "funnel",
        doc: "How many listed hosts have an address, answered, and allow a verdict, and why the others do not.",
        columns: funnel::columns,
        start: || Box::new(funnel::Funnel::default()),
    },
    Entry {
        name: "outcomes",
        doc: "What happened at each host, and what a crawler of each school may do then.",
        columns: outcomes::columns,
        start: || Box::new(outcomes::Outcomes::default()),
    },
    Entry {
        name: "headline",
        doc: "Hosts that treat an AI training agent stricter than a crawler their file does not name.",
        columns: headline::columns,
        start: || Box::new(headline::Headline::default()),
    },
    Entry {
        name: "agents",
        doc: "How much is closed to each of ten agents, by name or by inheritance, and against an unnamed crawler.",
        columns: agents::columns,
        start: || Box::new(agents::Agents::default()),
    },
    Entry {
        name: "signals",
        doc: "How many hosts state AI preferences beside Allow and Disallow, by kind, and what that comes to.",
        columns: signals::columns,
        start: || Box::new(signals::Counts::default()),
    },
    Entry {
        name: "sources",
        doc: "Where the bytes came from, and how often a server said wrongly that nothing had changed.",
        columns: sources::columns,
        start: || Box::new(sources::Sources::default()),
    },
    Entry {
        name: "noise",
        doc: "How much differs between two looks at the same host, by kind of probe.",
        columns: noise::columns,
        start: || Box::new(noise::Noise::default()),
    },
];

/// One statistic of the registry.
pub struct Entry {
    /// The stable name.
    pub name: &'static str,
    /// What it counts, in a sentence.
    pub doc: &'static str,
    /// The columns that it reads; those that a snapshot lacks are reported, not guessed.
    pub columns: fn() -> Vec<Cow<'static, str>>,
    start: fn() -> Box<dyn Tally>,
}

/// A count over the table that can be taken in parts.
///
/// Merging is associative and commutative, and a fresh value changes nothing: the order of parts never shows.
pub trait Statistic: Send + 'static {
    /// Counts the rows of a batch.
    fn add(&mut self, batch: &RecordBatch) -> anyhow::Result<()>;

    /// Takes over what another has counted.
    fn merge(&mut self, other: Self);

    /// Says what was found.
    fn finish(self) -> Answer;
}

/// Runs every statistic over the parts of a snapshot, in one pass.
///
/// # Cost
///
/// Only the columns that some statistic names are read. Parts are shared out to as many threads as there are cores.
pub fn summarise(parts: &[PathBuf]) -> anyhow::Result<Vec<Answer>> {
    let columns: Vec<Cow<'static, str>> = STATISTICS.iter().flat_map(|entry| (entry.columns)()).collect();
    let columns: Vec<&str> = columns.iter().map(AsRef::as_ref).collect();
    let next_part = AtomicUsize::new(0);
    let count_parts = || -> anyhow::Result<Tallies> {
        let mut tallies = Tallies::start(STATISTICS);
        while let Some(part) = parts.get(next_part.fetch_add(1, Ordering::Relaxed)) {
            for batch in table::read_columns(slice::from_ref(part), &columns) {
                tallies.add(&batch?).with_context(|| part.display().to_string())?;
            }
        }
        Ok(tallies)
    };

    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut all = Tallies::start(STATISTICS);
    thread::scope(|scope| {
        let mut workers = Vec::new();
        for _ in 0..cores.min(parts.len()) {
            workers.push(scope.spawn(count_parts));
        }
        for worker in workers {
            all.merge(worker.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        anyhow::Ok(())
    })?;
    Ok(all.finish())
}

/// One running count per statistic.
struct Tallies(Vec<Box<dyn Tally>>);

impl Tallies {
    fn start(statistics: &[Entry]) -> Self {
        Self(statistics.iter().map(|entry| (entry.start)()).collect())
    }

    fn add(&mut self, batch: &RecordBatch) -> anyhow::Result<()> {
        self.0.iter_mut().try_for_each(|tally| tally.add(batch))
    }

    fn merge(&mut self, other: Self) {
        for (tally, other) in self.0.iter_mut().zip(other.0) {
            tally.merge(other);
        }
    }

    fn finish(self) -> Vec<Answer> {
        self.0.into_iter().map(Tally::finish).collect()
    }
}

/// A [`Statistic`] whose type the registry has forgotten.
trait Tally: Any + Send {
    fn add(&mut self, batch: &RecordBatch) -> anyhow::Result<()>;
    fn merge(&mut self, other: Box<dyn Tally>);
    fn finish(self: Box<Self>) -> Answer;
}

impl<S: Statistic> Tally for S {
    fn add(&mut self, batch: &RecordBatch) -> anyhow::Result<()> {
        Statistic::add(self, batch)
    }

    fn merge(&mut self, other: Box<dyn Tally>) {
        let other: Box<dyn Any> = other;
        let other = other.downcast::<S>().expect("both come from the same entry of the registry");
        Statistic::merge(self, *other);
    }

    fn finish(self: Box<Self>) -> Answer {
        Statistic::finish(*self)
    }
}
