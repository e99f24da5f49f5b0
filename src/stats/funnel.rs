//! The funnel: listed → resolved → answered → determinable, and why the others give no verdict.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use arrow::array::{Array, RecordBatch};

use crate::outcome::{Outcome, OutcomeClass};
use crate::stats::Statistic;
use crate::stats::answer::{Absence, Answer, Body, Cell, Column, Denominator, Depth, Rate, Row, Section};
use crate::stats::columns::{CLASS_COLUMNS, Presence, Words, class_word, non_empty_lists};

const ADDRESSES: &str = "resolved_ips";
/// Null in every row of an archive, which cannot know how often a host was asked.
const REQUESTS: &str = "attempts";

pub(super) fn columns() -> Vec<Cow<'static, str>> {
    CLASS_COLUMNS.into_iter().chain([ADDRESSES, REQUESTS]).map(Cow::Borrowed).collect()
}

/// Counts hosts by class and outcome; every stage is a sum over them.
#[derive(Default)]
pub(super) struct Funnel {
    listed: u64,
    endings: BTreeMap<Ending, Hosts>,
    outcomes: Presence,
    requests: Presence,
    was_asked: bool,
}

/// The stored words of class and outcome.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Ending {
    class: Result<String, Absence>,
    outcome: Result<String, Absence>,
}

impl Ending {
    fn class(&self) -> Option<OutcomeClass> {
        self.class.as_deref().ok().and_then(OutcomeClass::from_word)
    }
}

#[derive(Clone, Copy, Default)]
struct Hosts {
    all: u64,
    with_stored_address: u64,
}

impl Statistic for Funnel {
    fn add(&mut self, batch: &RecordBatch) -> anyhow::Result<()> {
        let classes = Words::read(batch, "outcome_class")?;
        let outcomes = Words::read(batch, "outcome")?;
        let has_address = non_empty_lists(batch, ADDRESSES)?;
        let requests = batch.column_by_name(REQUESTS);

        // Counted by the batch's own numbers first: a word is looked at once, not once a row.
        let mut counts: HashMap<_, (usize, Hosts)> = HashMap::new();
        for (row, has_address) in has_address.into_iter().enumerate() {
            let (_, hosts) =
                counts.entry((classes.code(row), outcomes.code(row))).or_insert_with(|| (row, Hosts::default()));
            hosts.all += 1;
            hosts.with_stored_address += u64::from(has_address);
        }
        for (row, hosts) in counts.into_values() {
            let class = class_word(&classes, &outcomes, row);
            self.count(Ending { class, outcome: outcomes.word(row).map(str::to_owned) }, hosts);
        }

        self.listed += batch.num_rows() as u64;
        self.outcomes.note(classes.is_present() || outcomes.is_present());
        self.requests.note(requests.is_some());
        self.was_asked |= requests.is_some_and(|requests| requests.null_count() < requests.len());
        Ok(())
    }

    fn merge(&mut self, other: Self) {
        let Self { listed, endings, outcomes, requests, was_asked } = other;
        self.listed += listed;
        self.outcomes.merge(outcomes);
        self.requests.merge(requests);
        self.was_asked |= was_asked;
        for (ending, hosts) in endings {
            self.count(ending, hosts);
        }
    }

    fn finish(self) -> Answer {
        Answer { name: "funnel", sections: vec![self.stages(), self.unknown()] }
    }
}

impl Funnel {
    fn count(&mut self, ending: Ending, hosts: Hosts) {
        let counted = self.endings.entry(ending).or_default();
        counted.all += hosts.all;
        counted.with_stored_address += hosts.with_stored_address;
    }

    fn hosts(&self, in_stage: impl Fn(OutcomeClass) -> bool) -> u64 {
        self.endings
            .iter()
            .filter(|(ending, _)| ending.class().is_some_and(&in_stage))
            .map(|(_, hosts)| hosts.all)
            .sum()
    }

    /// Hosts with an address, or that it cannot be asked of an archive.
    fn resolved(&self) -> Result<u64, Absence> {
        let only_surveys_end_so = |class| matches!(class, OutcomeClass::Dns | OutcomeClass::Policy);
        let is_survey = self.was_asked || self.requests.is_missing() || self.hosts(only_surveys_end_so) > 0;
        if !is_survey && self.listed > 0 {
            return Err(Absence::NotInArchive);
        }
        let resolved = |(ending, hosts): (&Ending, &Hosts)| match ending.class() {
            Some(OutcomeClass::Dns | OutcomeClass::Policy) | None => hosts.with_stored_address,
            Some(_) => hosts.all,
        };
        Ok(self.endings.iter().map(resolved).sum())
    }

    fn stages(&self) -> Section {
        let listed = self.listed;
        let stages = if self.outcomes.is_missing() {
            [Err(Absence::NotInSnapshot); 7]
        } else {
            let determinable = self.hosts(OutcomeClass::is_determinable);
            [
                self.resolved(),
                Ok(self.hosts(OutcomeClass::is_answered)),
                Ok(determinable),
                Ok(self.hosts(|class| class == OutcomeClass::Readable)),
                Ok(self.hosts(|class| class == OutcomeClass::Empty)),
                Ok(self.hosts(|class| class == OutcomeClass::Absent)),
                Ok(listed - determinable),
            ]
        };
        let [resolved, answered, determinable, readable, empty, absent, no_verdict] = stages;

        let of_listed = |hosts: Result<u64, Absence>| match hosts {
            Ok(hosts) => Rate::new(hosts, Denominator::Listed, listed).into(),
            Err(absence) => Cell::Absent(absence),
        };
        let of_stage = |hosts: Result<u64, Absence>, stage, size: Result<u64, Absence>| match (hosts, size) {
            (Ok(hosts), Ok(size)) => Rate::new(hosts, stage, size).into(),
            (Err(absence), _) | (_, Err(absence)) => Cell::Absent(absence),
        };
        let stage = |word, label, hosts, before| vec![Cell::Labelled { word, label }, of_listed(hosts), before];
        let before_answered =
            if resolved.is_ok() { (Denominator::Resolved, resolved) } else { (Denominator::Listed, Ok(listed)) };
        let inside = |hosts| of_stage(hosts, Denominator::Determinable, determinable);
        let rows = vec![
            Row::new(stage("listed", "listed", Ok(listed), Cell::Blank)),
            Row::new(stage(
                "resolved",
                "resolved: has an address",
                resolved,
                of_stage(resolved, Denominator::Listed, Ok(listed)),
            )),
            Row::new(stage(
                "answered",
                "answered: an HTTP response came",
                answered,
                of_stage(answered, before_answered.0, before_answered.1),
            )),
            Row::new(stage(
                "determinable",
                "determinable: a verdict is possible",
                determinable,
                of_stage(determinable, Denominator::Answered, answered),
            )),
            Row::inside(stage("readable", "readable: a robots.txt file", readable, inside(readable))),
            Row::inside(stage("empty", "empty: a file that says nothing", empty, inside(empty))),
            Row::inside(stage("absent", "absent: no such file (404, 410)", absent, inside(absent))),
            Row::new(stage("no-verdict", "no verdict: all others", no_verdict, Cell::Blank)),
        ];
        Section {
            name: "stages",
            title: "From the list to a verdict",
            caption: "How far the survey came with each listed host.".into(),
            depth: Depth::Summary,
            is_judged: false,
            body: Body::Table {
                columns: vec![
                    Column::new("stage", "stage"),
                    Column::new("of_listed", "hosts"),
                    Column::new("of_stage_before", "of the stage before"),
                ],
                rows,
            },
            notes: Vec::new(),
        }
    }

    fn unknown(&self) -> Section {
        let columns = vec![
            Column::new("class", "class"),
            Column::new("outcome", "outcome"),
            Column::new("hosts", "hosts"),
            Column::new("meaning", "what it means"),
        ];
        let mut endings: Vec<(&Ending, u64)> = self
            .endings
            .iter()
            .filter(|(ending, _)| !ending.class().is_some_and(OutcomeClass::is_determinable))
            .map(|(ending, hosts)| (ending, hosts.all))
            .collect();
        let mut class_sizes: BTreeMap<&Result<String, Absence>, u64> = BTreeMap::new();
        for (ending, hosts) in &endings {
            *class_sizes.entry(&ending.class).or_default() += hosts;
        }
        endings.sort_by_key(|(ending, hosts)| (Reverse(class_sizes[&ending.class]), &ending.class, Reverse(*hosts)));
        let rows = endings
            .into_iter()
            .map(|(ending, hosts)| {
                Row::new(vec![
                    ending.class.clone().into(),
                    ending.outcome.clone().into(),
                    Rate::new(hosts, Denominator::Listed, self.listed).into(),
                    meaning(ending),
                ])
            })
            .collect();
        let body = if self.outcomes.is_missing() {
            Body::Missing { columns: CLASS_COLUMNS.map(Cow::Borrowed).to_vec() }
        } else {
            Body::Table { columns, rows }
        };
        Section {
            name: "unknown",
            title: "Why there is no verdict",
            caption: "Hosts that count neither as open nor as closed, by cause.".into(),
            depth: Depth::Summary,
            is_judged: false,
            body,
            notes: Vec::new(),
        }
    }
}

fn meaning(ending: &Ending) -> Cell {
    let outcome = ending.outcome.as_deref().ok().and_then(Outcome::from_word);
    outcome.map_or(Cell::Blank, |outcome| Cell::Text(outcome.doc().into()))
}
