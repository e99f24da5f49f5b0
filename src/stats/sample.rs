//! Batches made by hand, for the tests of this room and of those that print what it says.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, DictionaryArray, Int32Array, ListArray, RecordBatch, StringArray};
use arrow::datatypes::Int32Type;

use crate::classify::row::{Comparison, Restriction};
use crate::outcome::Outcome;
use crate::stats::agents::{AGENTS, column_of};
use crate::stats::{Answer, STATISTICS, Tallies};

/// One host: how it ended, and what it asks of the named agents and of all others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host {
    pub(crate) outcome: &'static str,
    pub(crate) unnamed: Restriction,
    /// The agents that it names, by their number in [`AGENTS`], and the level for them.
    pub(crate) named: &'static [usize],
    pub(crate) level: Restriction,
}

impl Host {
    pub(crate) const fn ending(outcome: &'static str) -> Self {
        Self { outcome, unnamed: Restriction::None, named: &[], level: Restriction::None }
    }

    fn class(&self) -> crate::outcome::OutcomeClass {
        Outcome::from_word(self.outcome).unwrap().class()
    }

    fn verdict(&self, agent: usize) -> Option<(Restriction, &'static str)> {
        let verdict = if self.named.contains(&agent) {
            (self.level, "named")
        } else if self.unnamed == Restriction::None {
            (self.unnamed, "default")
        } else {
            (self.unnamed, "wildcard")
        };
        self.class().is_determinable().then_some(verdict)
    }

    fn flag(&self, holds: impl Fn(Restriction, &str) -> bool) -> Option<bool> {
        self.class()
            .is_determinable()
            .then(|| (0..8).filter_map(|agent| self.verdict(agent)).any(|(level, by)| holds(level, by)))
    }
}

/// How words are laid out in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    Dictionary,
    Plain,
}

/// The batch of these hosts, as a survey over the network writes it.
pub(crate) fn batch(hosts: &[Host], layout: Layout) -> RecordBatch {
    let words = |word: &dyn Fn(&Host) -> Option<&'static str>| -> ArrayRef {
        let words = hosts.iter().map(word);
        match layout {
            Layout::Dictionary => Arc::new(words.collect::<DictionaryArray<Int32Type>>()),
            Layout::Plain => Arc::new(words.collect::<StringArray>()),
        }
    };
    let flags = |holds: &dyn Fn(&Host, Restriction, &str) -> bool| -> ArrayRef {
        Arc::new(hosts.iter().map(|host| host.flag(|level, by| holds(host, level, by))).collect::<BooleanArray>())
    };
    let outcome = |host: &Host| Outcome::from_word(host.outcome).unwrap();
    let addresses = hosts.iter().map(|host| host.class().is_answered().then(|| vec![Some(1)]));
    let mut columns = vec![
        ("outcome".to_owned(), words(&|host| Some(host.outcome))),
        ("outcome_class".to_owned(), words(&|host| Some(host.class().word()))),
        ("effect_rfc".to_owned(), words(&|host| Some(outcome(host).effect_rfc().word()))),
        ("effect_google".to_owned(), words(&|host| Some(outcome(host).effect_google().word()))),
        ("attempts".to_owned(), Arc::new(Int32Array::from(vec![1; hosts.len()])) as ArrayRef),
        ("resolved_ips".to_owned(), Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(addresses)) as ArrayRef),
        ("core_training_stricter".to_owned(), flags(&|host, level, _| level > host.unnamed)),
        ("any_ai".to_owned(), flags(&|_, level, _| level >= Restriction::Mostly)),
        ("any_ai_named".to_owned(), flags(&|_, level, by| level >= Restriction::Mostly && by == "named")),
    ];
    for (number, token) in AGENTS.into_iter().enumerate() {
        let column = column_of(token);
        let compared =
            |host: &Host| host.verdict(number).map(|(level, _)| Comparison::between(level, host.unnamed).word());
        columns.push((format!("{column}_by"), words(&|host| host.verdict(number).map(|(_, by)| by))));
        columns.push((format!("{column}_vs_unnamed"), words(&compared)));
        columns.push((column, words(&|host| host.verdict(number).map(|(level, _)| level.word()))));
    }
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

/// A few hosts of every kind; twelve in all, eight of them determinable.
pub(crate) fn dozen() -> Vec<Host> {
    let rules = Host::ending("rules");
    vec![
        Host { named: &[0, 3], level: Restriction::Full, ..rules },
        Host { named: &[0], level: Restriction::Full, unnamed: Restriction::Partial, ..rules },
        Host { named: &[0, 1, 2, 9], level: Restriction::None, unnamed: Restriction::Full, ..rules },
        Host { unnamed: Restriction::Partial, ..rules },
        Host { named: &[8], level: Restriction::Mostly, ..rules },
        Host::ending("empty"),
        Host::ending("absent-404"),
        Host::ending("absent-404"),
        Host::ending("refused-403"),
        Host::ending("dns-nxdomain"),
        Host::ending("dns-nxdomain"),
        Host::ending("connect-timeout"),
    ]
}

/// A population of this size in shares as a survey of well-known hosts finds them; the same for the same size.
pub(crate) fn population(size: u32) -> Vec<Host> {
    let ending = |number: u32| match number % 1000 {
        0..460 => "rules",
        460..472 => "no-rules",
        472..481 => "empty",
        481..535 => "html",
        535..640 => "absent-404",
        640..642 => "absent-410",
        642..721 => "refused-403",
        721..733 => "other-4xx",
        733..741 => "challenge",
        741..746 => "limited-429",
        746..774 => "server-error",
        774..779 => "redirect-limit",
        779..880 => "dns-nxdomain",
        880..930 => "dns-no-address",
        930..945 => "dns-servfail",
        945..972 => "connect-timeout",
        972..980 => "connect-refused",
        980..995 => "tls-alert",
        _ => "http-reset",
    };
    let host = |number: u32| {
        // A fixed hash spreads the kinds, so that sizes of all digits occur.
        let hash = number.wrapping_mul(2_654_435_761);
        let (named, level): (&'static [usize], _) = match (hash >> 8) % 100 {
            0..6 => (&[0, 1, 2, 3, 4, 5, 6, 7, 8], Restriction::Full),
            6..12 => (&[0, 3, 2], Restriction::Full),
            12..15 => (&[0, 4], Restriction::Mostly),
            15..19 => (&[0, 1, 8], Restriction::None),
            19..28 => (&[9], Restriction::Partial),
            _ => (&[], Restriction::None),
        };
        let unnamed = match (hash >> 20) % 100 {
            0..5 => Restriction::Full,
            5..7 => Restriction::Mostly,
            7..70 => Restriction::Partial,
            _ => Restriction::None,
        };
        match ending(hash >> 4) {
            "rules" => Host { outcome: "rules", unnamed, named, level },
            other => Host::ending(other),
        }
    };
    (0..size).map(host).collect()
}

/// What all statistics say about the batches.
pub(crate) fn answers(batches: &[RecordBatch]) -> Vec<Answer> {
    let mut tallies = Tallies::start(STATISTICS);
    for batch in batches {
        tallies.add(batch).unwrap();
    }
    tallies.finish()
}
