//! What is counted over the hosts of two snapshots.

use std::collections::{BTreeMap, HashMap};

use super::changes::{came_and_went, signals};
use super::facts::Host;
use super::source::Tracked;
use crate::classify::row::{By, Restriction};
use crate::outcome::Outcome;

pub(super) const LEVELS: usize = Restriction::ALL.len();

/// Counts over the hosts of two snapshots; it can be taken in parts and merged in any order.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) before: u64,
    pub(super) after: u64,
    pub(super) in_both: u64,
    /// Hosts with a verdict in both.
    pub(super) panel: u64,
    pub(super) verdict_lost: u64,
    pub(super) verdict_gained: u64,
    /// Hosts of the panel of which both snapshots say what signals there are.
    pub(super) signals_recorded: u64,
    /// Hosts of both with a file, and of them those of which both snapshots say who wrote it.
    pub(super) files: u64,
    pub(super) templates_recorded: u64,
    /// For each tracked agent.
    pub(super) agents: Vec<AgentTally>,
    /// Hosts whose file names the token in the later snapshot only, and in the earlier one only.
    pub(super) tokens: HashMap<u32, [u64; 2]>,
    pub(super) signals: HashMap<u32, [u64; 2]>,
    /// Outcomes that are others.
    pub(super) outcomes: BTreeMap<(Option<Outcome>, Option<Outcome>), u64>,
}

/// Counts for one agent.
#[derive(Clone, Debug, Default)]
pub(super) struct AgentTally {
    /// Hosts with a known level in both, by the earlier level and the later one.
    pub(super) transitions: [[u64; LEVELS]; LEVELS],
    /// Of them, those whose later file alone names the agent, and whose earlier one alone does.
    pub(super) named: [u64; 2],
    /// Hosts by their earlier level: with a verdict later, without one, not in the later snapshot.
    pub(super) fates: [[u64; 3]; LEVELS],
}

impl Tally {
    pub(super) fn new(tracked: &Tracked) -> Self {
        Self {
            before: 0,
            after: 0,
            in_both: 0,
            panel: 0,
            verdict_lost: 0,
            verdict_gained: 0,
            signals_recorded: 0,
            files: 0,
            templates_recorded: 0,
            agents: vec![AgentTally::default(); tracked.len()],
            tokens: HashMap::new(),
            signals: HashMap::new(),
            outcomes: BTreeMap::new(),
        }
    }

    /// Counts a host of both.
    pub(super) fn add_pair(&mut self, before: Host<'_>, after: Host<'_>) {
        self.in_both += 1;
        if before.outcome() != after.outcome() {
            *self.outcomes.entry((before.outcome(), after.outcome())).or_default() += 1;
        }
        if before.has_file() && after.has_file() {
            self.files += 1;
            self.templates_recorded += u64::from(before.template().is_some() && after.template().is_some());
        }
        match (before.is_determinable(), after.is_determinable()) {
            (true, true) => {
                self.panel += 1;
                self.add_verdicts(before, after);
            }
            (true, false) => {
                self.verdict_lost += 1;
                self.add_fate(before, 1);
            }
            (false, true) => self.verdict_gained += 1,
            (false, false) => {}
        }
    }

    /// Counts a host that the later snapshot does not have.
    pub(super) fn add_gone(&mut self, before: Host<'_>) {
        if before.is_determinable() {
            self.add_fate(before, 2);
        }
    }

    fn add_verdicts(&mut self, before: Host<'_>, after: Host<'_>) {
        self.add_fate(before, 0);
        let levels = before.levels().iter().zip(after.levels());
        for (tally, (earlier, later)) in self.agents.iter_mut().zip(levels) {
            let (Some(from), Some(to)) = (earlier.restriction(), later.restriction()) else { continue };
            tally.transitions[from as usize][to as usize] += 1;
            match (earlier.by() == Some(By::Named), later.by() == Some(By::Named)) {
                (false, true) => tally.named[0] += 1,
                (true, false) => tally.named[1] += 1,
                _ => {}
            }
        }
        count(&mut self.tokens, before.tokens(), after.tokens());
        if let Some((earlier, later)) = signals(before, after) {
            self.signals_recorded += 1;
            count(&mut self.signals, earlier, later);
        }
    }

    fn add_fate(&mut self, before: Host<'_>, fate: usize) {
        for (tally, level) in self.agents.iter_mut().zip(before.levels()) {
            if let Some(level) = level.restriction() {
                tally.fates[level as usize][fate] += 1;
            }
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        let Self {
            before,
            after,
            in_both,
            panel,
            verdict_lost,
            verdict_gained,
            signals_recorded,
            files,
            templates_recorded,
            agents,
            tokens,
            signals,
            outcomes,
        } = other;
        self.before += before;
        self.after += after;
        self.in_both += in_both;
        self.panel += panel;
        self.verdict_lost += verdict_lost;
        self.verdict_gained += verdict_gained;
        self.signals_recorded += signals_recorded;
        self.files += files;
        self.templates_recorded += templates_recorded;
        for (mine, theirs) in self.agents.iter_mut().zip(agents) {
            mine.merge(&theirs);
        }
        for (mine, theirs) in [(&mut self.tokens, tokens), (&mut self.signals, signals)] {
            for (number, hosts) in theirs {
                add_each(mine.entry(number).or_default(), &hosts);
            }
        }
        for (words, hosts) in outcomes {
            *self.outcomes.entry(words).or_default() += hosts;
        }
    }
}

impl AgentTally {
    /// Hosts with a known level in both.
    pub(super) fn known(&self) -> u64 {
        self.transitions.iter().flatten().sum()
    }

    /// Hosts where more is closed to the agent, and where less is.
    pub(super) fn moved(&self) -> [u64; 2] {
        let sum = |is_it: fn(usize, usize) -> bool| {
            let pairs = (0..LEVELS).flat_map(|from| (0..LEVELS).map(move |to| (from, to)));
            pairs.filter(|(from, to)| is_it(*from, *to)).map(|(from, to)| self.transitions[from][to]).sum()
        };
        [sum(|from, to| to > from), sum(|from, to| to < from)]
    }

    fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.transitions.iter_mut().zip(&other.transitions) {
            add_each(mine, theirs);
        }
        add_each(&mut self.named, &other.named);
        for (mine, theirs) in self.fates.iter_mut().zip(&other.fates) {
            add_each(mine, theirs);
        }
    }
}

fn count(counts: &mut HashMap<u32, [u64; 2]>, before: &[u32], after: &[u32]) {
    if before == after {
        return;
    }
    let (came, went) = came_and_went(before, after);
    for (numbers, way) in [(came, 0), (went, 1)] {
        for number in numbers {
            counts.entry(number).or_default()[way] += 1;
        }
    }
}

fn add_each<const N: usize>(mine: &mut [u64; N], theirs: &[u64; N]) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        *mine += theirs;
    }
}
