//! The noise floor: how much differs between two looks at the same host when nothing was changed in between.
//!
//! A share that moves by less between two snapshots says nothing.

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::Context;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::DataType;

use crate::observation::ProbeKind;
use crate::stats::Statistic;
use crate::stats::answer::{Answer, Body, Cell, Column, Denominator, Depth, Rate, Row, Section};
use crate::stats::columns::{Flags, Presence, Words};

const COLUMNS: [&str; 3] = ["outcome", "body_sha256", "probes"];

pub(super) fn columns() -> Vec<Cow<'static, str>> {
    COLUMNS.map(Cow::Borrowed).to_vec()
}

/// Counts extra looks by kind, and what they found otherwise.
#[derive(Default)]
pub(super) struct Noise {
    column: Presence,
    kinds: BTreeMap<String, Looks>,
}

#[derive(Clone, Copy, Default)]
struct Looks {
    all: u64,
    other_outcome: u64,
    /// Both looks brought a body.
    with_bodies: u64,
    other_body: u64,
    /// Both looks brought verdicts.
    with_verdicts: u64,
    other_verdicts: u64,
}

impl Looks {
    fn add(&mut self, other: Self) {
        self.all += other.all;
        self.other_outcome += other.other_outcome;
        self.with_bodies += other.with_bodies;
        self.other_body += other.other_body;
        self.with_verdicts += other.with_verdicts;
        self.other_verdicts += other.other_verdicts;
    }
}

impl Statistic for Noise {
    fn add(&mut self, batch: &RecordBatch) -> anyhow::Result<()> {
        let probes = batch.column_by_name("probes");
        self.column.note(probes.is_some());
        let Some(probes) = probes.filter(|probes| probes.null_count() < probes.len()) else { return Ok(()) };
        let lists = probes.as_list_opt::<i32>().context("column probes is no list")?;
        let items = lists.values().as_struct_opt().context("column probes is no list of items with fields")?;
        let looks = RecordBatch::from(items);
        let (kinds, found) = (Words::read(&looks, "kind")?, Words::read(&looks, "outcome")?);
        let (changed, then) = (Flags::read(&looks, "verdicts_changed")?, looks.column_by_name("body_sha256"));
        let (outcomes, first) = (Words::read(batch, "outcome")?, batch.column_by_name("body_sha256"));
        for row in (0..batch.num_rows()).filter(|row| !lists.is_null(*row)) {
            let range = lists.value_offsets()[row]..lists.value_offsets()[row + 1];
            for look in range.map(|offset| usize::try_from(offset).expect("offsets of a list are not negative")) {
                let Ok(kind) = kinds.word(look) else { continue };
                let bodies = digest(first, row).zip(digest(then, look));
                let verdicts = changed.flag(look);
                self.kinds.entry(kind.to_owned()).or_default().add(Looks {
                    all: 1,
                    other_outcome: u64::from(outcomes.word(row) != found.word(look)),
                    with_bodies: u64::from(bodies.is_some()),
                    other_body: u64::from(bodies.is_some_and(|(first, then)| first != then)),
                    with_verdicts: u64::from(verdicts.is_some()),
                    other_verdicts: u64::from(verdicts == Some(true)),
                });
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) {
        self.column.merge(other.column);
        for (kind, looks) in other.kinds {
            self.kinds.entry(kind).or_default().add(looks);
        }
    }

    fn finish(self) -> Answer {
        let rows: Vec<Row> = self.kinds.iter().map(|(kind, looks)| row(kind, *looks)).collect();
        let (body, depth) = if self.column.is_missing() {
            (Body::Missing { columns: vec!["probes".into()] }, Depth::Detail)
        } else if rows.is_empty() {
            // Nobody asked for probes, so that nobody misses them.
            return Answer { name: "noise", sections: Vec::new() };
        } else {
            let columns = vec![
                Column::new("kind", "kind of look"),
                Column::new("looks", "looks"),
                Column::grouped("outcome", "found otherwise", "outcome"),
                Column::grouped("body", "found otherwise", "file"),
                Column::grouped("verdicts", "found otherwise", "verdicts"),
            ];
            (Body::Table { columns, rows }, Depth::Summary)
        };
        let meanings = self.kinds.keys().filter_map(|kind| ProbeKind::from_word(kind));
        Answer {
            name: "noise",
            sections: vec![Section {
                name: "noise",
                title: "The noise floor",
                caption: "Hosts that were looked at once more, and what differed from the first look.".into(),
                depth,
                is_judged: false,
                body,
                notes: meanings.map(|kind| format!("{kind}: {}", kind.doc()).into()).collect(),
            }],
        }
    }
}

fn row(kind: &str, looks: Looks) -> Row {
    Row::new(vec![
        Cell::Word(kind.to_owned().into()),
        Rate::new(looks.all, Denominator::Probed, looks.all).into(),
        Rate::new(looks.other_outcome, Denominator::Probed, looks.all).into(),
        Rate::new(looks.other_body, Denominator::BodiesCompared, looks.with_bodies).into(),
        Rate::new(looks.other_verdicts, Denominator::VerdictsCompared, looks.with_verdicts).into(),
    ])
}

/// The bytes of a digest, however the file holds them.
pub(super) fn digest(column: Option<&ArrayRef>, row: usize) -> Option<&[u8]> {
    let column = column.filter(|column| !column.is_null(row))?;
    match column.data_type() {
        DataType::FixedSizeBinary(_) => Some(column.as_fixed_size_binary().value(row)),
        DataType::Binary => Some(column.as_binary::<i32>().value(row)),
        DataType::Utf8 => Some(column.as_string::<i32>().value(row).as_bytes()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{BooleanArray, FixedSizeBinaryArray, ListArray, StringArray, StructArray};
    use arrow::buffer::OffsetBuffer;
    use arrow::datatypes::Field;

    use super::*;

    #[test]
    fn what_differs_is_counted_over_what_could_be_compared() {
        let sha = |bytes: &[Option<u8>]| -> ArrayRef {
            let digests = bytes.iter().map(|byte| byte.map(|byte| [byte; 32]));
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(digests, 32).unwrap())
        };
        let items = StructArray::try_from(vec![
            ("kind", Arc::new(StringArray::from(vec!["repeat", "identity", "repeat"])) as ArrayRef),
            ("outcome", Arc::new(StringArray::from(vec!["rules", "refused-403", "http-timeout"]))),
            ("body_sha256", sha(&[Some(2), Some(3), None])),
            ("verdicts_changed", Arc::new(BooleanArray::from(vec![Some(false), None, None]))),
        ])
        .unwrap();
        let item = Arc::new(Field::new("item", items.data_type().clone(), true));
        let offsets = OffsetBuffer::from_lengths([2, 0, 1]);
        let probes = ListArray::new(item, offsets, Arc::new(items), Some(vec![true, false, true].into()));
        let batch = RecordBatch::try_from_iter_with_nullable(vec![
            ("outcome", Arc::new(StringArray::from(vec!["rules", "empty", "rules"])) as ArrayRef, true),
            ("body_sha256", sha(&[Some(1), Some(1), Some(1)]), true),
            ("probes", Arc::new(probes), true),
        ])
        .unwrap();
        let mut noise = Noise::default();
        noise.add(&batch).unwrap();
        let mut twice = Noise::default();
        twice.add(&batch).unwrap();
        noise.merge(twice);
        let repeat = noise.kinds["repeat"];
        assert_eq!((repeat.all, repeat.other_outcome), (4, 2));
        assert_eq!((repeat.with_bodies, repeat.other_body), (2, 2));
        assert_eq!((repeat.with_verdicts, repeat.other_verdicts), (2, 0));
        let identity = noise.kinds["identity"];
        assert_eq!((identity.all, identity.other_outcome, identity.with_verdicts), (2, 2, 0));
        assert_eq!(noise.finish().sections.len(), 1);
    }
}
