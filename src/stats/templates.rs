//! Templates: who wrote the files and decided their AI rules, and what they ask with and without managed blocks.
//!
//! All is counted over the hosts for which a restriction can be stated and this is known. Templates and decisions that
//! the registry does not know, in parts that a newer program or others wrote, are counted under their own names.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use arrow::array::RecordBatch;

use crate::classify::row::Restriction;
use crate::stats::Statistic;
use crate::stats::agents::{AGENTS, column_of};
use crate::stats::answer::{Answer, Body, Cell, Column, Denominator, Depth, Rate, Row, Section};
use crate::stats::columns::{CLASS_COLUMNS, Classes, Flags, ListedWords, Presence, Words};

const TEMPLATES: &str = "templates";

const DECISION: &str = "decision";

/// Questions that are asked of the whole file and of the file without its managed blocks: column, label.
const QUESTIONS: [(&str, &str); 3] = [
    ("core_training_stricter", "stricter for an AI training agent"),
    ("any_ai", "mostly or fully closed to an AI agent"),
    ("any_ai_named", "so by a group that names it"),
];

pub(super) fn columns() -> Vec<Cow<'static, str>> {
    let pairs = pairs().flat_map(|(whole, rest)| [whole, rest]).map(Cow::Owned);
    CLASS_COLUMNS.into_iter().chain([TEMPLATES, DECISION]).map(Cow::Borrowed).chain(pairs).collect()
}

/// The columns of each question, and then of each agent: of the whole file, and of the rest.
fn pairs() -> impl Iterator<Item = (String, String)> {
    let names = QUESTIONS.into_iter().map(|(column, _)| column.to_owned()).chain(AGENTS.into_iter().map(column_of));
    names.map(|name| (name.clone(), format!("unmanaged_{name}")))
}

/// Counts hosts by template and by decision, and those that shut somebody out with and without managed blocks.
#[derive(Default)]
pub(super) struct Counts {
    classes: Presence,
    templates: Presence,
    decisions: Presence,
    rest: Presence,
    /// Determinable hosts whose templates are known.
    looked_at: u64,
    by_template: BTreeMap<String, u64>,
    by_decision: BTreeMap<String, u64>,
    answers: [Answers; QUESTIONS.len() + AGENTS.len()],
}

/// Hosts of which both answers to a question are known, and how many of them say yes.
#[derive(Clone, Copy, Default)]
struct Answers {
    known: u64,
    whole: u64,
    rest: u64,
}

impl Statistic for Counts {
    fn add(&mut self, batch: &RecordBatch) -> anyhow::Result<()> {
        let classes = Classes::read(batch)?;
        self.classes.note(classes.is_present());
        self.add_templates(batch, &classes)?;
        self.add_decisions(batch, &classes)?;
        for (place, (whole, rest)) in pairs().enumerate() {
            let (whole, rest) = (replies(batch, &whole)?, replies(batch, &rest)?);
            let (Some(whole), Some(rest)) = (whole, rest) else {
                self.rest.note(false);
                continue;
            };
            self.rest.note(is_filled(&classes, |row| whole[*row].is_some() && rest[*row].is_some()));
            for (whole, rest) in classes.determinable().filter_map(|row| whole[row].zip(rest[row])) {
                let answers = &mut self.answers[place];
                answers.known += 1;
                answers.whole += u64::from(whole);
                answers.rest += u64::from(rest);
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) {
        let Self { classes, templates, decisions, rest, looked_at, by_template, by_decision, answers } = other;
        self.classes.merge(classes);
        self.templates.merge(templates);
        self.decisions.merge(decisions);
        self.rest.merge(rest);
        self.looked_at += looked_at;
        for (template, count) in by_template {
            *self.by_template.entry(template).or_default() += count;
        }
        for (decision, count) in by_decision {
            *self.by_decision.entry(decision).or_default() += count;
        }
        for (mine, theirs) in self.answers.iter_mut().zip(answers) {
            mine.known += theirs.known;
            mine.whole += theirs.whole;
            mine.rest += theirs.rest;
        }
    }

    fn finish(self) -> Answer {
        Answer { name: "templates", sections: vec![self.templates(), self.decisions(), self.managed()] }
    }
}

/// Whether a batch says something of its determinable rows. A part that is older has the column, and nothing in it.
fn is_filled(classes: &Classes, is_known: impl Fn(&usize) -> bool) -> bool {
    classes.determinable().next().is_none() || classes.determinable().any(|row| is_known(&row))
}

/// Yes and no in every row: a flag, or a level that shuts out, which is mostly or fully closed. Nothing where there is
/// no such column.
fn replies(batch: &RecordBatch, column: &str) -> anyhow::Result<Option<Vec<Option<bool>>>> {
    let rows = 0..batch.num_rows();
    if QUESTIONS.iter().any(|(name, _)| column.ends_with(name)) {
        let flags = Flags::read(batch, column)?;
        return Ok(flags.is_present().then(|| rows.map(|row| flags.flag(row)).collect()));
    }
    let words = Words::read(batch, column)?;
    let levels = words.is_present().then(|| words.decode(rows.len(), Restriction::from_word));
    let is_out = |level: Option<Restriction>| level.map(|level| level >= Restriction::Mostly);
    Ok(levels.map(|levels| levels.into_iter().map(is_out).collect()))
}

impl Counts {
    fn add_templates(&mut self, batch: &RecordBatch, classes: &Classes) -> anyhow::Result<()> {
        let templates = ListedWords::read(batch, TEMPLATES, "template")?;
        self.templates.note(templates.is_present() && is_filled(classes, |row| templates.items(*row).is_some()));
        for items in classes.determinable().filter_map(|row| templates.items(row)) {
            self.looked_at += 1;
            let of_row: BTreeSet<&str> = items.filter_map(|item| templates.word(item)).collect();
            for template in of_row {
                *self.by_template.entry(template.to_owned()).or_default() += 1;
            }
        }
        Ok(())
    }

    fn add_decisions(&mut self, batch: &RecordBatch, classes: &Classes) -> anyhow::Result<()> {
        let decisions = Words::read(batch, DECISION)?;
        self.decisions.note(decisions.is_present() && is_filled(classes, |row| decisions.word(*row).is_ok()));
        for decision in classes.determinable().filter_map(|row| decisions.word(row).ok()) {
            if let Some(count) = self.by_decision.get_mut(decision) {
                *count += 1;
            } else {
                self.by_decision.insert(decision.to_owned(), 1);
            }
        }
        Ok(())
    }

    fn templates(&self) -> Section {
        let mut counts: Vec<(&String, &u64)> = self.by_template.iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let rows = counts.into_iter().map(|(template, count)| row(template, *count, self.looked_at)).collect();
        Section {
            name: "templates",
            title: "Who wrote the files",
            caption: "Hosts with a text that stands in many files; a file may have several.".into(),
            depth: Depth::Summary,
            is_judged: false,
            body: self.body(self.templates, TEMPLATES, vec![("template", "template"), ("hosts", "hosts")], rows),
            notes: vec!["`survey templates` explains them.".into()],
        }
    }

    fn decisions(&self) -> Section {
        let known = self.by_decision.values().sum();
        let rows = self.by_decision.iter().map(|(decision, count)| row(decision, *count, known)).collect();
        Section {
            name: "decisions",
            title: "Who decided the AI rules",
            caption: "Hosts by who decided the groups that name AI agents, and the signals.".into(),
            depth: Depth::Summary,
            is_judged: false,
            body: self.body(self.decisions, DECISION, vec![("decision", "decision"), ("hosts", "hosts")], rows),
            notes: vec![
                "own: the site. switch: a platform's or CDN's toggle. default: they came with the platform. none: there are \
                 none."
                    .into(),
            ],
        }
    }

    fn managed(&self) -> Section {
        let labels = QUESTIONS.map(|(_, label)| label).into_iter().chain(AGENTS);
        let rows = labels.zip(self.answers).filter(|(_, answers)| answers.known > 0).map(|(label, answers)| {
            let rate = |count| Rate::new(count, Denominator::Determinable, answers.known);
            Row::new(vec![Cell::Word(label.into()), rate(answers.whole).into(), rate(answers.rest).into()])
        });
        let columns =
            vec![("question", "hosts that are"), ("whole", "by the whole file"), ("unmanaged", "without blocks")];
        Section {
            name: "managed",
            title: "With and without managed blocks",
            caption: "What files ask as they are, and without what a CDN or hoster put into them.".into(),
            depth: Depth::Detail,
            is_judged: true,
            body: self.body(self.rest, "unmanaged_any_ai", columns, rows.collect()),
            notes: vec!["An agent: mostly or fully closed to it, by its own group or by that of *.".into()],
        }
    }

    fn body(
        &self,
        presence: Presence,
        column: &'static str,
        columns: Vec<(&'static str, &'static str)>,
        rows: Vec<Row>,
    ) -> Body {
        if self.classes.is_missing() {
            Body::Missing { columns: CLASS_COLUMNS.map(Cow::Borrowed).to_vec() }
        } else if presence.is_missing() {
            Body::Missing { columns: vec![column.into()] }
        } else {
            let columns = columns.into_iter().map(|(name, title)| Column::new(name, title)).collect();
            Body::Table { columns, rows }
        }
    }
}

fn row(word: &str, count: u64, known: u64) -> Row {
    let rate = Rate::new(count, Denominator::Determinable, known);
    Row::new(vec![Cell::Word(word.to_owned().into()), rate.into()])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Array, ArrayRef, BooleanArray, ListArray, StringArray, StructArray};
    use arrow::buffer::{NullBuffer, OffsetBuffer};
    use arrow::datatypes::{DataType, Field};

    use super::*;

    /// A host: its outcome, its templates, who decided, and whether an AI agent is shut out with and without blocks.
    type Host = (&'static str, Option<&'static [&'static str]>, Option<&'static str>, Option<(bool, bool)>);

    const HOSTS: [Host; 5] = [
        ("rules", Some(&["cloudflare-managed", "wordpress"]), Some("switch"), Some((true, false))),
        ("rules", Some(&["from-the-future", "wordpress", "wordpress"]), Some("own"), Some((true, true))),
        ("rules", Some(&[]), Some("none"), Some((false, false))),
        ("absent-404", Some(&[]), Some("none"), Some((false, false))),
        ("refused-403", None, None, None),
    ];

    fn batch(hosts: &[Host]) -> RecordBatch {
        let names: StringArray =
            hosts.iter().flat_map(|host| host.1.unwrap_or_default()).map(|name| Some(*name)).collect();
        let fields = vec![Arc::new(Field::new("template", DataType::Utf8, true))];
        let items = StructArray::new(fields.into(), vec![Arc::new(names)], None);
        let lengths = hosts.iter().map(|host| host.1.map_or(0, <[_]>::len));
        let nulls: NullBuffer = hosts.iter().map(|host| host.1.is_some()).collect();
        let element = Arc::new(Field::new("element", items.data_type().clone(), false));
        let lists = ListArray::new(element, OffsetBuffer::from_lengths(lengths), Arc::new(items), Some(nulls));
        let outcomes: StringArray = hosts.iter().map(|host| Some(host.0)).collect();
        let decisions: StringArray = hosts.iter().map(|host| host.2).collect();
        let flags = |which: fn((bool, bool)) -> bool| -> ArrayRef {
            Arc::new(hosts.iter().map(|host| host.3.map(which)).collect::<BooleanArray>())
        };
        RecordBatch::try_from_iter_with_nullable([
            ("outcome", Arc::new(outcomes) as ArrayRef, true),
            ("templates", Arc::new(lists), true),
            ("decision", Arc::new(decisions), true),
            ("any_ai", flags(|(whole, _)| whole), true),
            ("unmanaged_any_ai", flags(|(_, rest)| rest), true),
        ])
        .unwrap()
    }

    /// The first cell of each row of a section, and the rates behind it as numerator and size.
    fn figures(answer: &Answer, section: usize) -> Vec<(String, Vec<(u64, u64)>)> {
        let Body::Table { rows, .. } = &answer.sections[section].body else { panic!("a table") };
        let figures = |row: &Row| {
            let Cell::Word(word) = &row.cells[0] else { panic!("a word") };
            let rate = |cell: &Cell| match cell {
                Cell::Rate(rate) => (rate.numerator(), rate.size()),
                other => panic!("{other:?}"),
            };
            (word.to_string(), row.cells[1..].iter().map(rate).collect())
        };
        rows.iter().map(figures).collect()
    }

    #[test]
    fn hosts_are_counted_once_a_template_and_once_a_decision() {
        let mut counts = Counts::default();
        counts.add(&batch(&HOSTS)).unwrap();
        let answer = counts.finish();
        let one = |word: &str, count, size| (word.to_owned(), vec![(count, size)]);
        let templates = [one("wordpress", 2, 4), one("cloudflare-managed", 1, 4), one("from-the-future", 1, 4)];
        assert_eq!(figures(&answer, 0), templates);
        assert_eq!(figures(&answer, 1), [one("none", 2, 4), one("own", 1, 4), one("switch", 1, 4)]);
        let managed = vec![("mostly or fully closed to an AI agent".to_owned(), vec![(2, 4), (1, 4)])];
        assert_eq!(figures(&answer, 2), managed);
    }

    #[test]
    fn parts_that_are_older_than_templates_do_not_dilute_the_shares() {
        let old = HOSTS.map(|(outcome, ..)| (outcome, None, None, None));
        let (mut counts, mut other) = (Counts::default(), Counts::default());
        counts.add(&batch(&old)).unwrap();
        other.add(&batch(&old)).unwrap();
        let answer = other.finish();
        assert_eq!(answer.sections[0].body, Body::Missing { columns: vec![TEMPLATES.into()] });
        assert_eq!(answer.sections[1].body, Body::Missing { columns: vec![DECISION.into()] });
        counts.add(&batch(&HOSTS)).unwrap();
        assert_eq!(figures(&counts.finish(), 1)[0], ("none".to_owned(), vec![(2, 4)]));
    }
}
