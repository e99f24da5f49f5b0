//! Where the bytes came from: sent for this snapshot, or taken from an earlier one, and whether that was right.
//!
//! A validator that lies makes a change look like stability. Some hosts whose server said that nothing had changed are
//! therefore asked again without a condition.

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::Context;
use arrow::array::{Array, AsArray, RecordBatch};

use super::noise::digest;
use crate::observation::{BodySource, ProbeKind};
use crate::outcome::{Outcome, OutcomeClass};
use crate::stats::Statistic;
use crate::stats::answer::{Answer, Body, Cell, Column, Denominator, Depth, Rate, Row, Section};
use crate::stats::columns::{Presence, Words};

const COLUMNS: [&str; 3] = ["body_source", "body_sha256", "probes"];

pub(super) fn columns() -> Vec<Cow<'static, str>> {
    COLUMNS.map(Cow::Borrowed).to_vec()
}

/// Counts hosts by the source of their bytes, and checks of what servers said.
#[derive(Default)]
pub(super) struct Sources {
    column: Presence,
    hosts: BTreeMap<String, u64>,
    checks: Checks,
}

#[derive(Clone, Copy, Default)]
struct Checks {
    all: u64,
    /// Those that brought a file, a page or the word that there is none, and no refusal.
    with_answer: u64,
    /// Those whose bytes were others.
    false_answers: u64,
}

impl Statistic for Sources {
    fn add(&mut self, batch: &RecordBatch) -> anyhow::Result<()> {
        let sources = Words::read(batch, "body_source")?;
        self.column.note(sources.is_present());
        let mut unchanged = Vec::new();
        for row in 0..batch.num_rows() {
            let Ok(source) = sources.word(row) else { continue };
            match self.hosts.get_mut(source) {
                Some(hosts) => *hosts += 1,
                None => drop(self.hosts.insert(source.to_owned(), 1)),
            }
            if source == BodySource::NotModified.word() {
                unchanged.push(row);
            }
        }
        self.check(batch, &unchanged)
    }

    fn merge(&mut self, other: Self) {
        self.column.merge(other.column);
        for (source, hosts) in other.hosts {
            *self.hosts.entry(source).or_default() += hosts;
        }
        self.checks.all += other.checks.all;
        self.checks.with_answer += other.checks.with_answer;
        self.checks.false_answers += other.checks.false_answers;
    }

    fn finish(self) -> Answer {
        let of = |source: BodySource| self.hosts.get(source.word()).copied().unwrap_or(0);
        let unchanged = of(BodySource::NotModified);
        let (body, depth) = if self.column.is_missing() {
            (Body::Missing { columns: vec!["body_source".into()] }, Depth::Detail)
        } else if unchanged + of(BodySource::Fresh) == 0 {
            // All bytes came for this snapshot, so that there is nothing to tell apart.
            return Answer { name: "sources", sections: Vec::new() };
        } else {
            (self.table(unchanged), Depth::Summary)
        };
        let meanings = BodySource::ALL.iter().filter(|source| of(**source) > 0);
        Answer {
            name: "sources",
            sections: vec![Section {
                name: "sources",
                title: "Where the bytes came from",
                caption:
                    "Hosts by the source of their answer's bytes; some of those not modified were asked once more, \
                          without a condition."
                        .into(),
                depth,
                is_judged: false,
                body,
                notes: meanings.map(|source| format!("{source}: {}", source.doc()).into()).collect(),
            }],
        }
    }
}

impl Sources {
    /// Looks at the checks of these rows.
    fn check(&mut self, batch: &RecordBatch, unchanged: &[usize]) -> anyhow::Result<()> {
        let probes = batch.column_by_name("probes").filter(|probes| probes.null_count() < probes.len());
        let Some(probes) = probes.filter(|_| !unchanged.is_empty()) else { return Ok(()) };
        let lists = probes.as_list_opt::<i32>().context("column probes is no list")?;
        let items = lists.values().as_struct_opt().context("column probes is no list of items with fields")?;
        let looks = RecordBatch::from(items);
        let (kinds, outcomes) = (Words::read(&looks, "kind")?, Words::read(&looks, "outcome")?);
        let (first, then) = (batch.column_by_name("body_sha256"), looks.column_by_name("body_sha256"));
        for row in unchanged.iter().copied().filter(|row| lists.is_valid(*row)) {
            let range = lists.value_offsets()[row]..lists.value_offsets()[row + 1];
            for look in range.map(|offset| usize::try_from(offset).expect("offsets of a list are not negative")) {
                if kinds.word(look) != Ok(ProbeKind::Unconditional.word()) {
                    continue;
                }
                self.checks.all += 1;
                let class = outcomes.word(look).ok().and_then(Outcome::from_word).map(Outcome::class);
                let is_answer = class.is_some_and(|class| class.is_determinable() || class == OutcomeClass::NotRobots);
                let bodies = digest(first, row).zip(digest(then, look)).filter(|_| is_answer);
                self.checks.with_answer += u64::from(bodies.is_some());
                self.checks.false_answers += u64::from(bodies.is_some_and(|(first, then)| first != then));
            }
        }
        Ok(())
    }

    fn table(&self, unchanged: u64) -> Body {
        let columns = vec![
            Column::new("source", "source"),
            Column::new("hosts", "hosts"),
            Column::grouped("checked", "asked again without a condition", "hosts"),
            Column::grouped("other_bytes", "asked again without a condition", "had other bytes"),
        ];
        let all = self.hosts.values().sum();
        let Checks { all: checked, with_answer, false_answers } = self.checks;
        let row = |(source, hosts): (&String, &u64)| {
            let (checked, other): (Cell, Cell) = if source == BodySource::NotModified.word() {
                (
                    Rate::new(checked, Denominator::NotModified, unchanged).into(),
                    Rate::new(false_answers, Denominator::BodiesCompared, with_answer).into(),
                )
            } else {
                (Cell::Blank, Cell::Blank)
            };
            let hosts = Rate::new(*hosts, Denominator::WithBody, all).into();
            Row::new(vec![Cell::Word(source.clone().into()), hosts, checked, other])
        };
        Body::Table { columns, rows: self.hosts.iter().map(row).collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, FixedSizeBinaryArray, ListArray, StringArray, StructArray};
    use arrow::buffer::OffsetBuffer;
    use arrow::datatypes::Field;

    use super::*;

    fn sha(bytes: &[Option<u8>]) -> ArrayRef {
        let digests = bytes.iter().map(|byte| byte.map(|byte| [byte; 32]));
        Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(digests, 32).unwrap())
    }

    #[test]
    fn a_false_304_is_counted_over_the_checks_that_brought_an_answer() {
        let unconditional = "unconditional";
        let items = StructArray::try_from(vec![
            (
                "kind",
                Arc::new(StringArray::from(vec![unconditional, "repeat", unconditional, unconditional])) as ArrayRef,
            ),
            ("outcome", Arc::new(StringArray::from(vec!["rules", "rules", "html", "refused-403"]))),
            ("body_sha256", sha(&[Some(1), Some(9), Some(7), Some(8)])),
        ])
        .unwrap();
        let item = Arc::new(Field::new("item", items.data_type().clone(), true));
        let offsets = OffsetBuffer::from_lengths([2, 1, 1, 0]);
        let probes = ListArray::new(item, offsets, Arc::new(items), Some(vec![true, true, true, false].into()));
        let source = vec![Some("not-modified"), Some("not-modified"), Some("not-modified"), Some("fetched")];
        let batch = RecordBatch::try_from_iter_with_nullable(vec![
            ("body_source", Arc::new(StringArray::from(source)) as ArrayRef, true),
            ("body_sha256", sha(&[Some(1), Some(1), Some(1), Some(1)]), true),
            ("probes", Arc::new(probes), true),
        ])
        .unwrap();
        let mut sources = Sources::default();
        sources.add(&batch).unwrap();
        let mut twice = Sources::default();
        twice.add(&batch).unwrap();
        sources.merge(twice);
        let Checks { all, with_answer, false_answers } = sources.checks;
        assert_eq!((all, with_answer, false_answers), (6, 4, 2));
        assert_eq!((sources.hosts["not-modified"], sources.hosts["fetched"]), (6, 2));
        assert_eq!(sources.finish().sections.len(), 1);
    }

    #[test]
    fn where_everything_was_fetched_there_is_nothing_to_say() {
        let source = Arc::new(StringArray::from(vec![Some("fetched"), None])) as ArrayRef;
        let batch = RecordBatch::try_from_iter_with_nullable(vec![("body_source", source, true)]).unwrap();
        let mut sources = Sources::default();
        sources.add(&batch).unwrap();
        assert!(sources.finish().sections.is_empty());
    }
}
