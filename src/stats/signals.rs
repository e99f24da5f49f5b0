//! Signals: how many hosts state AI preferences beside Allow and Disallow, by kind, and what that comes to.
//!
//! Signals of the file are counted over the hosts for which a restriction can be stated. Hints in the head of the last
//! response are counted over all that answered: a refusal with a price has no file. Kinds that the registry does not
//! know, in parts that a newer program or others wrote, are counted under their own names.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use arrow::array::RecordBatch;

use crate::classify::signals::{Source, signals};
use crate::stats::Statistic;
use crate::stats::answer::{Answer, Body, Cell, Column, Denominator, Depth, Rate, Row, Section};
use crate::stats::columns::{CLASS_COLUMNS, Classes, Flags, ListedWords, Presence, Words};

const SIGNALS: &str = "signals";

/// Columns of words that sum up what is stated.
const WORDS: [&str; 10] = [
    "content_signal_search",
    "content_signal_ai_input",
    "content_signal_ai_train",
    "content_signal_use",
    "content_usage_train_ai",
    "content_usage_search",
    "reservation_scope",
    "access_reservation_scope",
    "use_reservation_scope",
    "policy_class",
];

/// Columns of yes and no that do.
const FLAGS: [&str; 2] = ["has_license", "has_prose_reservation"];

pub(super) fn columns() -> Vec<Cow<'static, str>> {
    CLASS_COLUMNS.into_iter().chain([SIGNALS]).chain(WORDS).chain(FLAGS).map(Cow::Borrowed).collect()
}

/// Counts hosts by the kinds of signals that they have, and by the words that sum these up.
#[derive(Default)]
pub(super) struct Counts {
    classes: Presence,
    signals: Presence,
    /// Determinable hosts whose signals are known.
    readable: u64,
    /// Hosts that answered, in batches whose signals are known.
    answered: u64,
    kinds: BTreeMap<Kind, u64>,
    /// Determinable hosts by each word of a column.
    words: BTreeMap<(usize, String), u64>,
    /// Determinable hosts by the known flags of a column.
    flags: [(u64, u64); FLAGS.len()],
    stated: Presence,
}

/// A kind of signal, and whether it stands in the head of the response.
type Kind = (bool, String);

impl Statistic for Counts {
    fn add(&mut self, batch: &RecordBatch) -> anyhow::Result<()> {
        let classes = Classes::read(batch)?;
        self.classes.note(classes.is_present());
        self.add_kinds(batch, &classes)?;
        for (column, name) in WORDS.into_iter().enumerate() {
            let words = Words::read(batch, name)?;
            self.stated.note(words.is_present());
            for word in classes.determinable().filter_map(|row| words.word(row).ok()) {
                if let Some(count) = self.words.get_mut(&(column, word.to_owned())) {
                    *count += 1;
                } else {
                    self.words.insert((column, word.to_owned()), 1);
                }
            }
        }
        for (counts, name) in self.flags.iter_mut().zip(FLAGS) {
            let flags = Flags::read(batch, name)?;
            for flag in classes.determinable().filter_map(|row| flags.flag(row)) {
                counts.0 += u64::from(flag);
                counts.1 += 1;
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) {
        let Self { classes, signals, readable, answered, kinds, words, flags, stated } = other;
        self.classes.merge(classes);
        self.signals.merge(signals);
        self.readable += readable;
        self.answered += answered;
        for (kind, count) in kinds {
            *self.kinds.entry(kind).or_default() += count;
        }
        for (word, count) in words {
            *self.words.entry(word).or_default() += count;
        }
        for (mine, theirs) in self.flags.iter_mut().zip(flags) {
            *mine = (mine.0 + theirs.0, mine.1 + theirs.1);
        }
        self.stated.merge(stated);
    }

    fn finish(self) -> Answer {
        Answer { name: "signals", sections: vec![self.kinds(), self.stated()] }
    }
}

impl Counts {
    fn add_kinds(&mut self, batch: &RecordBatch, classes: &Classes) -> anyhow::Result<()> {
        let kinds = ListedWords::read(batch, SIGNALS, "kind")?;
        let sources = ListedWords::read(batch, SIGNALS, "source")?;
        // A part that is older than the signals has the column, and nothing in it for any file.
        let is_known = |row: usize| kinds.items(row).is_some();
        let is_filled = classes.determinable().next().is_none() || classes.determinable().any(is_known);
        self.signals.note(kinds.is_present() && is_filled);
        if !kinds.is_present() || !is_filled {
            return Ok(());
        }
        let determinable: BTreeSet<usize> = classes.determinable().filter(|row| is_known(*row)).collect();
        self.readable += determinable.len() as u64;
        for row in classes.answered() {
            self.answered += 1;
            let Some(items) = kinds.items(row) else { continue };
            let of_row: BTreeSet<Kind> = items
                .filter_map(|item| {
                    let is_hint = sources.word(item)? == Source::Header.word();
                    Some((is_hint, kinds.word(item)?.to_owned()))
                })
                .filter(|(is_hint, _)| *is_hint || determinable.contains(&row))
                .collect();
            for kind in of_row {
                *self.kinds.entry(kind).or_default() += 1;
            }
        }
        Ok(())
    }

    fn kinds(&self) -> Section {
        let columns =
            vec![Column::new("kind", "signal"), Column::new("source", "where"), Column::new("hosts", "hosts")];
        let mut kinds: BTreeMap<Kind, u64> =
            signals().map(|signal| ((signal.place().source() == Source::Header, signal.kind.to_owned()), 0)).collect();
        kinds.extend(self.kinds.iter().map(|(kind, count)| (kind.clone(), *count)));
        let row = |((is_hint, kind), count): (Kind, u64)| {
            let (place, denominator, size) = if is_hint {
                ("head", Denominator::Answered, self.answered)
            } else {
                ("file", Denominator::Determinable, self.readable)
            };
            Row::new(vec![
                Cell::Word(kind.into()),
                Cell::Word(place.into()),
                Rate::new(count, denominator, size).into(),
            ])
        };
        let body = if self.classes.is_missing() {
            Body::Missing { columns: CLASS_COLUMNS.map(Cow::Borrowed).to_vec() }
        } else if self.signals.is_missing() {
            Body::Missing { columns: vec![SIGNALS.into()] }
        } else {
            Body::Table { columns, rows: kinds.into_iter().map(row).collect() }
        };
        Section {
            name: "kinds",
            title: "AI preferences beside Allow and Disallow",
            caption: "Hosts with at least one signal of the kind, whatever it says.".into(),
            depth: Depth::Summary,
            is_judged: false,
            body,
            notes: vec![
                "file: in robots.txt itself. head: in the head of the last response, which speaks of that response only."
                    .into(),
            ],
        }
    }

    fn stated(&self) -> Section {
        let columns = vec![Column::new("column", "column"), Column::new("word", "word"), Column::new("hosts", "hosts")];
        let mut rows = Vec::new();
        for (column, name) in WORDS.into_iter().enumerate() {
            let of_column = || self.words.range((column, String::new())..(column + 1, String::new()));
            let known = of_column().map(|(_, count)| count).sum();
            rows.extend(of_column().map(|((_, word), count)| row(name, word.clone(), *count, known)));
        }
        for (name, (yes, known)) in FLAGS.into_iter().zip(self.flags) {
            rows.push(row(name, "true".to_owned(), yes, known));
        }
        let body = if self.classes.is_missing() {
            Body::Missing { columns: CLASS_COLUMNS.map(Cow::Borrowed).to_vec() }
        } else if self.stated.is_missing() {
            Body::Missing { columns: WORDS.map(Cow::Borrowed).to_vec() }
        } else {
            Body::Table { columns, rows }
        };
        Section {
            name: "stated",
            title: "What files state as a whole",
            caption: "Hosts by what their signals and rules come to, of those where it is known.".into(),
            depth: Depth::Detail,
            is_judged: true,
            body,
            notes: vec!["The columns and their words are those of `survey columns`.".into()],
        }
    }
}

fn row(column: &'static str, word: String, count: u64, known: u64) -> Row {
    let rate = Rate::new(count, Denominator::Determinable, known);
    Row::new(vec![Cell::Word(column.into()), Cell::Word(word.into()), rate.into()])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        Array, ArrayRef, BooleanArray, DictionaryArray, LargeListArray, ListArray, StringArray, StructArray,
    };
    use arrow::buffer::{NullBuffer, OffsetBuffer};
    use arrow::datatypes::{DataType, Field, Int32Type};

    use super::*;

    /// A host: its outcome, its signals as kind and source, and its class of policy.
    type Host = (&'static str, Option<&'static [(&'static str, &'static str)]>, Option<&'static str>);

    const HOSTS: [Host; 7] = [
        (
            "rules",
            Some(&[("content-signal", "body"), ("content-signal", "body"), ("license", "header")]),
            Some("training-no"),
        ),
        ("rules", Some(&[("content-signal", "body"), ("from-the-future", "body")]), Some("ai-no")),
        ("rules", Some(&[]), Some("open")),
        ("absent-404", Some(&[("tdm-reservation", "header")]), Some("open")),
        ("payment-402", Some(&[("price", "header")]), None),
        ("refused-403", None, None),
        ("dns-nxdomain", None, None),
    ];

    fn batch(hosts: &[Host], is_large: bool) -> RecordBatch {
        let items: Vec<(&str, &str)> =
            hosts.iter().flat_map(|(_, items, _)| items.unwrap_or_default()).copied().collect();
        let kinds: DictionaryArray<Int32Type> = items.iter().map(|(kind, _)| *kind).collect();
        let sources: StringArray = items.iter().map(|(_, source)| Some(*source)).collect();
        let fields = vec![
            Arc::new(Field::new(
                "kind",
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
                false,
            )),
            Arc::new(Field::new("source", DataType::Utf8, true)),
        ];
        let items = StructArray::new(fields.into(), vec![Arc::new(kinds), Arc::new(sources)], None);
        let lengths: Vec<usize> = hosts.iter().map(|(_, items, _)| items.map_or(0, <[_]>::len)).collect();
        let nulls: NullBuffer = hosts.iter().map(|(_, items, _)| items.is_some()).collect();
        let element = Arc::new(Field::new("element", items.data_type().clone(), false));
        let lists: ArrayRef = if is_large {
            Arc::new(LargeListArray::new(element, OffsetBuffer::from_lengths(lengths), Arc::new(items), Some(nulls)))
        } else {
            Arc::new(ListArray::new(element, OffsetBuffer::from_lengths(lengths), Arc::new(items), Some(nulls)))
        };
        let outcomes: StringArray = hosts.iter().map(|(outcome, ..)| Some(*outcome)).collect();
        let policies: StringArray = hosts.iter().map(|(.., policy)| *policy).collect();
        let flags: BooleanArray = hosts.iter().map(|(.., policy)| policy.map(|policy| policy == "open")).collect();
        RecordBatch::try_from_iter_with_nullable([
            ("outcome", Arc::new(outcomes) as ArrayRef, true),
            ("signals", lists, true),
            ("policy_class", Arc::new(policies) as ArrayRef, true),
            ("has_license", Arc::new(flags) as ArrayRef, true),
        ])
        .unwrap()
    }

    fn rates(answer: &Answer, section: usize) -> Vec<(Vec<String>, Rate)> {
        let Body::Table { rows, .. } = &answer.sections[section].body else { panic!("a table") };
        let rate = |row: &Row| match &row.cells[..] {
            [Cell::Word(one), Cell::Word(two), Cell::Rate(rate)] => (vec![one.to_string(), two.to_string()], *rate),
            cells => panic!("{cells:?}"),
        };
        rows.iter().map(rate).collect()
    }

    #[track_caller]
    fn check(answer: &Answer, section: usize, words: [&str; 2], expected: Option<Rate>) {
        let rates = rates(answer, section);
        let found = rates.iter().find(|(found, _)| found == &words);
        assert_eq!(found.map(|(_, rate)| *rate), expected, "{words:?}");
    }

    #[test]
    fn hosts_are_counted_once_a_kind_over_those_that_could_have_it() {
        for is_large in [false, true] {
            let mut counts = Counts::default();
            counts.add(&batch(&HOSTS, is_large)).unwrap();
            let answer = counts.finish();
            let file = |count| Some(Rate::new(count, Denominator::Determinable, 4));
            let head = |count| Some(Rate::new(count, Denominator::Answered, 6));
            check(&answer, 0, ["content-signal", "file"], file(2));
            check(&answer, 0, ["content-usage", "file"], file(0));
            check(&answer, 0, ["from-the-future", "file"], file(1));
            check(&answer, 0, ["license", "head"], head(1));
            check(&answer, 0, ["license", "file"], file(0));
            check(&answer, 0, ["tdm-reservation", "head"], head(1));
            check(&answer, 0, ["price", "head"], head(1));
            check(&answer, 1, ["policy_class", "open"], file(2));
            check(&answer, 1, ["policy_class", "ai-no"], file(1));
            check(&answer, 1, ["policy_class", "closed"], None);
            check(&answer, 1, ["has_license", "true"], file(2));
            check(&answer, 1, ["has_prose_reservation", "true"], Some(Rate::new(0, Denominator::Determinable, 0)));
        }
    }

    #[test]
    fn parts_that_are_older_than_signals_do_not_dilute_the_shares() {
        let mut old = HOSTS;
        for (_, signals, _) in &mut old {
            *signals = None;
        }
        let (mut counts, mut other) = (Counts::default(), Counts::default());
        counts.add(&batch(&old, false)).unwrap();
        other.add(&batch(&old, false)).unwrap();
        let answer = other.finish();
        assert_eq!(answer.sections[0].body, Body::Missing { columns: vec![SIGNALS.into()] });
        counts.add(&batch(&HOSTS, false)).unwrap();
        check(&counts.finish(), 0, ["content-signal", "file"], Some(Rate::new(2, Denominator::Determinable, 4)));
    }
}
