//! Outcomes: every word that occurs, with its class, its count and the effect that each school derives.
//!
//! The effects are taken from the table, so that a snapshot says what was derived when it was made.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use arrow::array::RecordBatch;

use crate::stats::Statistic;
use crate::stats::answer::{Absence, Answer, Body, Cell, Column, Denominator, Depth, Rate, Row, Section};
use crate::stats::columns::{Presence, Words, class_word};

const COLUMNS: [&str; 4] = ["outcome_class", "outcome", "effect_rfc", "effect_google"];

pub(super) fn columns() -> Vec<Cow<'static, str>> {
    COLUMNS.map(Cow::Borrowed).to_vec()
}

/// Counts hosts by the four words.
#[derive(Default)]
pub(super) struct Outcomes {
    listed: u64,
    column: Presence,
    counts: BTreeMap<[Result<String, Absence>; 4], u64>,
}

impl Statistic for Outcomes {
    fn add(&mut self, batch: &RecordBatch) -> anyhow::Result<()> {
        let [class, outcome, rfc, google] = COLUMNS.map(|name| Words::read(batch, name));
        let words = [class?, outcome?, rfc?, google?];

        // Counted by the batch's own numbers first: a word is looked at once, not once a row.
        let mut counts: HashMap<_, (usize, u64)> = HashMap::new();
        for row in 0..batch.num_rows() {
            counts.entry(words.each_ref().map(|words| words.code(row))).or_insert((row, 0)).1 += 1;
        }
        for (row, count) in counts.into_values() {
            let [class, outcome, rfc, google] = words.each_ref();
            let [stored, rfc, google] = [outcome, rfc, google].map(|words| words.word(row).map(str::to_owned));
            let key = [class_word(class, outcome, row), stored, rfc, google];
            *self.counts.entry(key).or_default() += count;
        }
        self.listed += batch.num_rows() as u64;
        self.column.note(words[1].is_present());
        Ok(())
    }

    fn merge(&mut self, other: Self) {
        let Self { listed, column, counts } = other;
        self.listed += listed;
        self.column.merge(column);
        for (key, count) in counts {
            *self.counts.entry(key).or_default() += count;
        }
    }

    fn finish(self) -> Answer {
        let columns = vec![
            Column::new("class", "class"),
            Column::new("outcome", "outcome"),
            Column::new("hosts", "hosts"),
            Column::grouped("effect_rfc", "what a crawler may do", "by RFC 9309"),
            Column::grouped("effect_google", "what a crawler may do", "by Google"),
        ];
        let mut counts: Vec<_> = self.counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| Reverse(*count));
        let rows = counts
            .into_iter()
            .map(|([class, outcome, rfc, google], count)| {
                let hosts = Rate::new(count, Denominator::Listed, self.listed);
                Row::new(vec![class.into(), outcome.into(), Cell::Rate(hosts), rfc.into(), google.into()])
            })
            .collect();
        let body = if self.column.is_missing() {
            Body::Missing { columns: vec!["outcome".into()] }
        } else {
            Body::Table { columns, rows }
        };
        Answer {
            name: "outcomes",
            sections: vec![Section {
                name: "outcomes",
                title: "What happened at each host",
                caption: "Every listed host ends in one outcome; the schools differ in what a crawler may do then."
                    .into(),
                depth: Depth::Detail,
                is_judged: false,
                body,
                notes: Vec::new(),
            }],
        }
    }
}
