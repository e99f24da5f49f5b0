//! A series of snapshots: how outcomes, agents and sets went, on all hosts and on the balanced panel.
//!
//! Hosts belong for good to the cohort and the rank with which they came in: a rate by today's rank would move with the
//! ranking. The waves are gone through twice, since only the last one shows who was determinable in all.
//!
//! # Memory
//!
//! About seventy bytes for each host that ever was listed, whatever the number of waves.

mod sections;
mod tally;

use std::sync::{Mutex, PoisonError};

use anyhow::{Context, ensure};

use self::tally::{Chosen, WaveTally};
use super::cause::Cause;
use super::diff::{Counts, diff};
use super::facts::{Extent, Facts};
use super::names::Names;
use super::parallel;
use super::register::Register;
use super::source::{Source, Tracked};
use crate::robots::Dialect;
use crate::stats::answer::Answer;

crate::words! {
    /// What a host counts as in a wave that brought no verdict of it.
    pub enum Missing {
        /// It is left out of the wave.
        AsObserved = "as-observed",
        /// It counts by its last verdict, as long as it is listed; deleted files and failures stay hidden so.
        CarryForward = "carry-forward",
    }
}

/// One snapshot of a series.
#[derive(Clone, Debug)]
pub struct Wave<'a> {
    /// Its date.
    pub date: String,
    /// Its rows.
    pub source: Source<'a>,
}

/// Says how a series went; its waves in the order of their dates, judged alike, files read in `dialect`.
pub fn trend(waves: &[Wave<'_>], tracked: &Tracked, missing: Missing, dialect: Dialect) -> anyhow::Result<Vec<Answer>> {
    ensure!(waves.len() < usize::from(u16::MAX), "more waves than a series can have");
    let register = Mutex::new(Register::new(tracked.len()));
    let names = Names::default();
    for (wave, Wave { date, source }) in (0..).zip(waves) {
        parallel::each(source.parts.len(), |part| {
            let facts = Facts::read(source, part, tracked, &names, Extent::Outcomes)?;
            let mut register = register.lock().unwrap_or_else(PoisonError::into_inner);
            facts.hosts().for_each(|host| register.enter(wave, host));
            Ok(())
        })
        .with_context(|| format!("reading the wave {date}"))?;
    }
    register.lock().unwrap_or_else(PoisonError::into_inner).rewind();

    let mut tallies = Vec::new();
    for (wave, Wave { date, source }) in (0..).zip(waves) {
        let chosen = Chosen { wave, waves: u16::try_from(waves.len())?, missing };
        let tally = Mutex::new(WaveTally::new(waves.len(), tracked.len()));
        parallel::each(source.parts.len(), |part| {
            let facts = Facts::read(source, part, tracked, &names, Extent::Verdicts)?;
            let mut register = register.lock().unwrap_or_else(PoisonError::into_inner);
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            facts.hosts().for_each(|host| tally.add(host, &mut register, chosen));
            Ok(())
        })
        .with_context(|| format!("reading the wave {date}"))?;
        tallies.push(tally.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
    drop(register);

    let mut steps: Vec<Counts> = Vec::new();
    for pair in waves.windows(2) {
        let [before, after] = [&pair[0], &pair[1]];
        let diff = diff(&before.source, &after.source, tracked, dialect)
            .with_context(|| format!("comparing {} with {}", before.date, after.date))?;
        steps.push(diff.counts);
    }
    let dates: Vec<&str> = waves.iter().map(|wave| wave.date.as_str()).collect();
    Ok(vec![sections::answer(&dates, &tallies, &steps, tracked, missing)])
}

/// The causes that a series shows, each a column.
const CAUSES: [Cause; 6] =
    [Cause::Own, Cause::Platform, Cause::OwnOrPlatform, Cause::Outcome, Cause::Catalogue, Cause::Noise];
