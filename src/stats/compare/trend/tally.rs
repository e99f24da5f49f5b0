//! What is counted over the hosts of one wave.

use super::Missing;
use crate::classify::row::{By, Restriction};
use crate::outcome::OutcomeClass;
use crate::stats::compare::facts::{Host, SETS};
use crate::stats::compare::levels::Level;
use crate::stats::compare::register::{Met, Register};
use crate::stats::compare::tally::LEVELS;

/// How a wave is counted.
#[derive(Clone, Copy)]
pub(super) struct Chosen {
    pub(super) wave: u16,
    pub(super) waves: u16,
    pub(super) missing: Missing,
}

/// The strata of ranks at entry: up to these, beyond, and without a rank.
pub(super) const RANKS: [(u32, &str); 6] = [
    (1_000, "1 to 1,000"),
    (10_000, "1,001 to 10,000"),
    (100_000, "10,001 to 100,000"),
    (1_000_000, "100,001 to 1,000,000"),
    (u32::MAX, "beyond 1,000,000"),
    (0, "without a rank"),
];

/// Counts over the hosts of one wave.
pub(super) struct WaveTally {
    pub(super) listed: u64,
    pub(super) determinable: u64,
    pub(super) carried: u64,
    pub(super) entered: u64,
    pub(super) stayed: u64,
    pub(super) classes: [u64; OutcomeClass::ALL.len()],
    /// Hosts whose outcome is no word of this version.
    pub(super) unknown_outcomes: u64,
    pub(super) full: PanelTally,
    pub(super) balanced: PanelTally,
    /// By the wave of entry.
    pub(super) cohorts: Vec<SetTally>,
    /// By the rank at entry.
    pub(super) ranks: [SetTally; RANKS.len()],
}

/// Counts over the hosts of a panel.
pub(super) struct PanelTally {
    pub(super) agents: Vec<AgentTally>,
    pub(super) sets: SetTally,
}

/// Counts for one agent.
#[derive(Clone, Copy, Default)]
pub(super) struct AgentTally {
    pub(super) levels: [u64; LEVELS],
    /// Fully or mostly closed by its own group.
    pub(super) closed_by_name: u64,
    /// Closed more than to an unnamed crawler.
    pub(super) stricter: u64,
    pub(super) looser: u64,
}

/// Counts of hosts by the yes-or-no questions.
#[derive(Clone, Copy, Default)]
pub(super) struct SetTally {
    pub(super) listed: u64,
    /// For each question: hosts that answer it, and those that say yes.
    pub(super) answers: [(u64, u64); SETS.len()],
}

impl WaveTally {
    pub(super) fn new(waves: usize, agents: usize) -> Self {
        Self {
            listed: 0,
            determinable: 0,
            carried: 0,
            entered: 0,
            stayed: 0,
            classes: [0; OutcomeClass::ALL.len()],
            unknown_outcomes: 0,
            full: PanelTally::new(agents),
            balanced: PanelTally::new(agents),
            cohorts: vec![SetTally::default(); waves],
            ranks: [SetTally::default(); RANKS.len()],
        }
    }

    /// Counts a host; one that stands twice counts once.
    pub(super) fn add(&mut self, host: Host<'_>, register: &mut Register, chosen: Chosen) {
        let Some(Met { number, member, stayed }) = register.meet(chosen.wave, host) else { return };
        self.listed += 1;
        self.stayed += u64::from(stayed);
        self.entered += u64::from(member.entry == chosen.wave);
        match host.class() {
            Some(class) => self.classes[class as usize] += 1,
            None => self.unknown_outcomes += 1,
        }
        let cohort = &mut self.cohorts[usize::from(member.entry)];
        let rank = &mut self.ranks[stratum(member.rank)];
        cohort.listed += 1;
        rank.listed += 1;
        let (levels, sets) = if host.is_determinable() {
            self.determinable += 1;
            register.keep(number, host);
            (host.levels(), host.sets())
        } else if chosen.missing == Missing::CarryForward
            && let Some(kept) = register.kept(number)
        {
            self.carried += 1;
            kept
        } else {
            return;
        };
        self.full.add(levels, sets);
        cohort.add(sets);
        rank.add(sets);
        if member.determinable == chosen.waves {
            self.balanced.add(levels, sets);
        }
    }
}

impl PanelTally {
    fn new(agents: usize) -> Self {
        Self { agents: vec![AgentTally::default(); agents], sets: SetTally::default() }
    }

    fn add(&mut self, levels: &[Level], sets: u8) {
        let unnamed = levels[0].restriction();
        for (tally, level) in self.agents.iter_mut().zip(levels) {
            let Some(restriction) = level.restriction() else { continue };
            tally.levels[restriction as usize] += 1;
            let is_closed = restriction >= Restriction::Mostly;
            tally.closed_by_name += u64::from(is_closed && level.by() == Some(By::Named));
            if let Some(unnamed) = unnamed {
                tally.stricter += u64::from(restriction > unnamed);
                tally.looser += u64::from(restriction < unnamed);
            }
        }
        self.sets.listed += 1;
        self.sets.add(sets);
    }
}

impl AgentTally {
    pub(super) fn known(&self) -> u64 {
        self.levels.iter().sum()
    }
}

impl SetTally {
    fn add(&mut self, sets: u8) {
        for (number, (known, yes)) in self.answers.iter_mut().enumerate() {
            let bits = sets >> (2 * number);
            *known += u64::from(bits & 1);
            *yes += u64::from(bits >> 1 & 1);
        }
    }
}

fn stratum(rank: u32) -> usize {
    let ranked = &RANKS[..RANKS.len() - 1];
    let place = ranked.iter().position(|(last, _)| rank <= *last).unwrap_or(ranked.len() - 1);
    if rank == 0 { RANKS.len() - 1 } else { place }
}
