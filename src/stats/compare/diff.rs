//! Two snapshots, host by host.
//!
//! # Memory
//!
//! About a hundred bytes for each host of the earlier snapshot, a part of the later one for each thread, and the hosts
//! that differ. Bodies are read only of hosts that have a file in both, of other bytes and with the same stored verdicts
//! and tokens, and never kept: of each the digest of its rules is.

use std::sync::Arc;

use super::bodies::look_at;
use super::cause::{Cause, Direction};
use super::changes::{Change, Pair, Place, came_and_went, compare, signals, steps, who_decided};
use super::facts::{Extent, Facts, Host};
use super::index::{Found, Index};
use super::names::Names;
use super::parallel;
use super::sections;
use super::source::{Source, Tracked};
use super::tally::Tally;
use crate::classify::{judged_bytes, rules_digest};
use crate::outcome::{Kind, Outcome};
use crate::robots::Dialect;
use crate::stats::answer::{Answer, Denominator, Rate};

/// What two snapshots differ in.
#[derive(Debug)]
pub struct Diff {
    /// The figures.
    pub answers: Vec<Answer>,
    /// Every host that differs, by name.
    pub changes: Vec<Change>,
    pub(super) counts: Counts,
}

/// Hosts by what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) in_either: u64,
    pub(super) in_both: u64,
    pub(super) panel: u64,
    pub(super) files: u64,
    pub(super) templates_recorded: u64,
    /// By cause, in the order of [`Cause::ALL`].
    pub(super) causes: [u64; Cause::ALL.len()],
}

impl Diff {
    /// Whether more is closed to a tracked agent on some host than before.
    pub fn has_tightened(&self) -> bool {
        self.changes.iter().any(|change| matches!(change.direction(), Some(Direction::Tightened | Direction::Mixed)))
    }

    /// Hosts with this cause, and what they are a share of.
    pub fn rate_of(&self, cause: Cause) -> Rate {
        let hosts = self.counts.causes[cause as usize];
        match cause {
            Cause::OnlyBefore | Cause::OnlyAfter => Rate::new(hosts, Denominator::InEither, self.counts.in_either),
            _ => Rate::new(hosts, Denominator::InBoth, self.counts.in_both),
        }
    }

    /// Hosts of the panel that went this way.
    pub fn rate_towards(&self, direction: Direction) -> Rate {
        let hosts = self.changes.iter().filter(|change| change.direction() == Some(direction)).count();
        Rate::new(hosts as u64, Denominator::Panel, self.counts.panel)
    }

    /// Whether anything differs besides noise and the catalogue.
    pub fn has_changed(&self) -> bool {
        self.changes.iter().any(|change| !matches!(change.cause, Cause::Noise | Cause::Catalogue))
    }
}

/// Compares two snapshots; `dialect` is the one in which files of both are read.
pub fn diff(before: &Source<'_>, after: &Source<'_>, tracked: &Tracked, dialect: Dialect) -> anyhow::Result<Diff> {
    let names = Names::default();
    let earlier =
        parallel::each(before.parts.len(), |part| Facts::read(before, part, tracked, &names, Extent::Everything))?;
    let index = Index::new(earlier)?;
    let joined = parallel::each(after.parts.len(), |part| {
        let later = Facts::read(after, part, tracked, &names, Extent::Everything)?;
        Ok(join(&index, &later, u32::try_from(part)?, tracked))
    })?;

    let mut tally = Tally::new(tracked);
    let mut drafts = Vec::new();
    for (counted, some) in joined {
        tally.merge(counted);
        drafts.extend(some);
    }
    tally.before = index.len() as u64;
    for (part, host) in index.left() {
        tally.add_gone(host);
        drafts.push(Draft::only(Cause::OnlyBefore, host, (Some(place(part, host)), None)));
    }
    drop(index);

    let texts = names.texts();
    let mut changes = decide(drafts, before, after, dialect, &texts)?;
    changes.sort_unstable_by(|one, other| one.host.cmp(&other.host));
    let mut counts = Counts {
        in_either: tally.before + tally.after - tally.in_both,
        in_both: tally.in_both,
        panel: tally.panel,
        files: tally.files,
        templates_recorded: tally.templates_recorded,
        ..Counts::default()
    };
    for change in &changes {
        counts.causes[change.cause as usize] += 1;
    }
    let answers = vec![sections::answer(&tally, &counts, &changes, tracked, &texts)];
    Ok(Diff { answers, changes, counts })
}

/// A host that differs, its texts still numbers.
struct Draft {
    change: Change,
    /// The bytes differ, and are still to be asked whether the rules do; then this is the cause.
    if_rules_differ: Option<Cause>,
    tokens: (Vec<u32>, Vec<u32>),
    signals: (Vec<u32>, Vec<u32>),
}

impl Draft {
    fn new(host: &str, cause: Cause) -> Self {
        Self {
            change: Change {
                host: host.into(),
                cause,
                outcomes: (None, None),
                steps: Vec::new(),
                named: Vec::new(),
                no_longer_named: Vec::new(),
                signals_came: Vec::new(),
                signals_went: Vec::new(),
                places: (None, None),
            },
            if_rules_differ: None,
            tokens: Default::default(),
            signals: Default::default(),
        }
    }

    fn only(cause: Cause, host: Host<'_>, places: (Option<Place>, Option<Place>)) -> Self {
        let mut draft = Self::new(host.name(), cause);
        draft.change.outcomes = (places.0.and_then(|_| host.outcome()), places.1.and_then(|_| host.outcome()));
        draft.change.places = places;
        draft
    }
}

fn place(part: u32, host: Host<'_>) -> Place {
    Place { part, row: host.row() }
}

/// Compares the rows of a part of the later snapshot with the earlier one's.
fn join(index: &Index, later: &Facts, part: u32, tracked: &Tracked) -> (Tally, Vec<Draft>) {
    let mut tally = Tally::new(tracked);
    let mut drafts = Vec::new();
    for after in later.hosts() {
        let (earlier_part, before) = match index.take(after.name()) {
            Found::Taken => continue,
            Found::Nobody => {
                tally.after += 1;
                drafts.push(Draft::only(Cause::OnlyAfter, after, (None, Some(place(part, after)))));
                continue;
            }
            Found::Host { part, host } => (part, host),
        };
        tally.after += 1;
        tally.add_pair(before, after);
        let (cause, if_rules_differ) = match compare(before, after) {
            Pair::Same => continue,
            Pair::Differs(cause) => (cause, None),
            Pair::Bytes => (Cause::Noise, Some(who_decided(before, after))),
        };
        let mut draft = Draft::new(after.name(), cause);
        draft.if_rules_differ = if_rules_differ;
        draft.change.outcomes = (before.outcome(), after.outcome());
        draft.change.places = (Some(place(earlier_part, before)), Some(place(part, after)));
        if before.is_determinable() && after.is_determinable() {
            draft.change.steps = steps(before.levels(), after.levels());
            draft.tokens = came_and_went(before.tokens(), after.tokens());
            if let Some((earlier, later)) = signals(before, after) {
                draft.signals = came_and_went(earlier, later);
            }
        }
        drafts.push(draft);
    }
    (tally, drafts)
}

/// Asks the bytes where only they can tell, and puts texts in the place of numbers.
fn decide(
    mut drafts: Vec<Draft>,
    before: &Source<'_>,
    after: &Source<'_>,
    dialect: Dialect,
    texts: &[Arc<str>],
) -> anyhow::Result<Vec<Change>> {
    let open: Vec<usize> = (0..drafts.len()).filter(|at| drafts[*at].if_rules_differ.is_some()).collect();
    let earlier = digests(before, &drafts, &open, dialect, |change| change.places.0)?;
    let later = digests(after, &drafts, &open, dialect, |change| change.places.1)?;
    for (number, at) in open.into_iter().enumerate() {
        if earlier[number] != later[number]
            && let Some(cause) = drafts[at].if_rules_differ
        {
            drafts[at].change.cause = cause;
        }
    }
    // Numbers are given as threads come to them; the order of texts is the same in every run.
    let text = |numbers: Vec<u32>| {
        let mut all: Vec<Arc<str>> = numbers.into_iter().map(|number| Arc::clone(&texts[number as usize])).collect();
        all.sort_unstable();
        all
    };
    let name = |draft: Draft| {
        let Draft { change, if_rules_differ: _, tokens: (named, no_longer_named), signals: (came, went) } = draft;
        Change {
            named: text(named),
            no_longer_named: text(no_longer_named),
            signals_came: text(came),
            signals_went: text(went),
            ..change
        }
    };
    Ok(drafts.into_iter().map(name).collect())
}

/// The digests of the rules of these drafts' files, in their order.
fn digests(
    source: &Source<'_>,
    drafts: &[Draft],
    open: &[usize],
    dialect: Dialect,
    side: impl Fn(&Change) -> Option<Place>,
) -> anyhow::Result<Vec<[u8; 16]>> {
    let mut places: Vec<(Place, usize)> = Vec::with_capacity(open.len());
    for (number, at) in open.iter().enumerate() {
        places.extend(side(&drafts[*at].change).map(|place| (place, number)));
    }
    places.sort_unstable();
    let in_order: Vec<Place> = places.iter().map(|(place, _)| *place).collect();
    // Both have a file, whatever its outcome's word.
    let outcome = Outcome::Answer(Kind::Rules);
    let read = look_at(source.parts, &in_order, |body, is_truncated| {
        rules_digest(judged_bytes(outcome, body, is_truncated).unwrap_or(body), dialect)
    })?;
    let mut digests = vec![[0; 16]; open.len()];
    for (digest, (_, number)) in read.into_iter().zip(places) {
        digests[number] = digest;
    }
    Ok(digests)
}
