//! One host that differs.

use std::sync::Arc;

use super::cause::{Cause, Direction};
use super::facts::Host;
use super::levels::Level;
use crate::classify::row::{By, Restriction};
use crate::outcome::{Outcome, OutcomeClass};

/// One host that differs between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its name.
    pub host: Box<str>,
    /// Why.
    pub cause: Cause,
    /// What happened when it was asked, earlier and later; nothing where a snapshot does not have it.
    pub outcomes: (Option<Outcome>, Option<Outcome>),
    /// The agents whose level changed, on a host with a verdict in both.
    pub steps: Vec<Step>,
    /// Tokens that stand in the later file only.
    pub named: Vec<Arc<str>>,
    /// Tokens that stood in the earlier file only.
    pub no_longer_named: Vec<Arc<str>>,
    /// Signals that stand in the later file only.
    pub signals_came: Vec<Arc<str>>,
    /// Signals that stood in the earlier file only.
    pub signals_went: Vec<Arc<str>>,
    pub(super) places: (Option<Place>, Option<Place>),
}

/// Where a host's row is: part, and row in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) part: u32,
    pub(super) row: u32,
}

/// One agent whose level changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The agent, by its place among the tracked ones.
    pub agent: usize,
    /// The earlier level.
    pub from: Restriction,
    /// The later level.
    pub to: Restriction,
    /// What applied to the agent earlier, where it is stored.
    pub from_by: Option<By>,
    /// What applies to the agent later, where it is stored.
    pub to_by: Option<By>,
}

impl Change {
    /// Which way the host went; nothing where no agent's level changed.
    ///
    /// The unnamed crawler counts like the agents.
    pub fn direction(&self) -> Option<Direction> {
        let tighter = self.steps.iter().any(|step| step.to > step.from);
        let looser = self.steps.iter().any(|step| step.to < step.from);
        match (tighter, looser) {
            (true, true) => Some(Direction::Mixed),
            (true, false) => Some(Direction::Tightened),
            (false, true) => Some(Direction::Loosened),
            (false, false) => None,
        }
    }

    /// Whether both snapshots have a verdict.
    pub fn is_determinable(&self) -> bool {
        let has_verdict = |outcome: Option<Outcome>| outcome.is_some_and(|outcome| outcome.class().is_determinable());
        has_verdict(self.outcomes.0) && has_verdict(self.outcomes.1)
    }

    /// What became of the file, where the cause is the outcome.
    pub fn turn(&self) -> Turn {
        let class = |outcome: Option<Outcome>| outcome.map(Outcome::class);
        let is_determinable = |class: Option<OutcomeClass>| class.is_some_and(OutcomeClass::is_determinable);
        let (before, after) = (class(self.outcomes.0), class(self.outcomes.1));
        match (is_determinable(before), is_determinable(after)) {
            (true, false) => Turn::VerdictLost,
            (false, true) => Turn::VerdictGained,
            (false, false) => Turn::NoVerdict,
            (true, true) => match (before == Some(OutcomeClass::Absent), after == Some(OutcomeClass::Absent)) {
                (true, false) => Turn::FileAppeared,
                (false, true) => Turn::FileVanished,
                _ => Turn::OtherWord,
            },
        }
    }
}

crate::words! {
    /// What another outcome means for the verdict.
    pub enum Turn {
        /// There was no file, and now there is.
        FileAppeared = "file-appeared",
        /// There was a file, and now there is none.
        FileVanished = "file-vanished",
        /// A verdict in both, by another word of the same kind.
        OtherWord = "other-word",
        /// There was a verdict, and now there is none.
        VerdictLost = "verdict-lost",
        /// There was no verdict, and now there is.
        VerdictGained = "verdict-gained",
        /// No verdict in either.
        NoVerdict = "no-verdict",
    }
}

/// The agents whose level differs, where both are known.
pub(super) fn steps(before: &[Level], after: &[Level]) -> Vec<Step> {
    let step = |(agent, (before, after)): (usize, (&Level, &Level))| {
        let (from, to) = (before.restriction()?, after.restriction()?);
        (from != to).then_some(Step { agent, from, to, from_by: before.by(), to_by: after.by() })
    };
    before.iter().zip(after).enumerate().filter_map(step).collect()
}

/// What stands in the later list only, and in the earlier one only; both ascend.
pub(super) fn came_and_went(before: &[u32], after: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let without = |these: &[u32], those: &[u32]| {
        these.iter().copied().filter(|item| those.binary_search(item).is_err()).collect::<Vec<_>>()
    };
    (without(after, before), without(before, after))
}

/// What a pair of rows comes to, before any body is read.
pub(super) enum Pair {
    /// Nothing differs.
    Same,
    /// Something differs, for this cause.
    Differs(Cause),
    /// The bytes differ, and only they can say whether the rules do.
    Bytes,
}

/// Compares two rows of a host.
pub(super) fn compare(before: Host<'_>, after: Host<'_>) -> Pair {
    let is_same_body = before.body() == after.body();
    if !(before.has_file() && after.has_file()) {
        return match (before.outcome() == after.outcome(), is_same_body) {
            (false, _) => Pair::Differs(Cause::Outcome),
            (true, false) => Pair::Differs(Cause::Noise),
            (true, true) => unchanged(before, after),
        };
    }
    let is_policy = differ(before.levels(), after.levels())
        || before.tokens() != after.tokens()
        || signals(before, after).is_some_and(|(earlier, later)| earlier != later);
    if is_policy {
        return Pair::Differs(who_decided(before, after));
    }
    if is_same_body { unchanged(before, after) } else { Pair::Bytes }
}

/// The signals of both, where both are recorded.
pub(super) fn signals<'h>(before: Host<'h>, after: Host<'h>) -> Option<(&'h [u32], &'h [u32])> {
    let is_recorded = before.says_signals() || after.says_signals();
    before.signals().zip(after.signals()).filter(|_| is_recorded)
}

/// Nothing differs, judged alike; the stored verdicts may.
fn unchanged(before: Host<'_>, after: Host<'_>) -> Pair {
    let is_other = differ(before.stored_levels(), after.stored_levels());
    if is_other { Pair::Differs(Cause::Catalogue) } else { Pair::Same }
}

fn differ(before: &[Level], after: &[Level]) -> bool {
    before.iter().zip(after).any(|(before, after)| before.differs(*after))
}

/// Whose change of the rules it is.
pub(super) fn who_decided(before: Host<'_>, after: Host<'_>) -> Cause {
    match (before.template(), after.template()) {
        (Some(earlier), Some(later)) => {
            let is_other_template = earlier.version != later.version;
            if is_other_template && earlier.own_agents == later.own_agents { Cause::Platform } else { Cause::Own }
        }
        _ => Cause::OwnOrPlatform,
    }
}
