//! The headline: hosts that treat AI training agents stricter than a crawler their file does not name.
//!
//! Beside it stand the two simpler questions that other surveys ask, and for each the worst case over the hosts that
//! gave no verdict: none of them, or all of them.

use std::borrow::Cow;

use arrow::array::RecordBatch;

use crate::stats::Statistic;
use crate::stats::answer::{Absence, Answer, Body, Cell, Column, Denominator, Depth, Rate, Row, Section};
use crate::stats::columns::{CLASS_COLUMNS, Classes, Flags, Presence};

/// What the words of the questions stand for.
pub(super) const SETS: &str = "AI training agents (set core-training-v1): GPTBot, ClaudeBot, Google-Extended, CCBot, Bytespider, \
     Applebot-Extended, meta-externalagent, Amazonbot. Stricter: the agent's level (none, partial, mostly, full) is \
     higher than that of a crawler no group names. Closed: full or mostly.";

/// A yes-or-no question to every determinable host.
struct Question {
    column: &'static str,
    word: &'static str,
    label: &'static str,
}

const QUESTIONS: [Question; 3] = [
    Question {
        column: "core_training_stricter",
        word: "core-training-stricter",
        label: "stricter for an AI training agent",
    },
    Question { column: "any_ai", word: "any-ai", label: "closed to some AI agent" },
    Question { column: "any_ai_named", word: "any-ai-named", label: "closed to some AI agent by name" },
];

pub(super) fn columns() -> Vec<Cow<'static, str>> {
    CLASS_COLUMNS.into_iter().chain(QUESTIONS.map(|question| question.column)).map(Cow::Borrowed).collect()
}

/// Counts the answers to each question.
#[derive(Default)]
pub(super) struct Headline {
    listed: u64,
    determinable: u64,
    classes: Presence,
    replies: [Replies; QUESTIONS.len()],
}

#[derive(Clone, Copy, Default)]
struct Replies {
    column: Presence,
    known: u64,
    yes: u64,
}

impl Statistic for Headline {
    fn add(&mut self, batch: &RecordBatch) -> anyhow::Result<()> {
        let classes = Classes::read(batch)?;
        self.listed += batch.num_rows() as u64;
        self.determinable += classes.determinable().count() as u64;
        self.classes.note(classes.is_present());
        for (replies, question) in self.replies.iter_mut().zip(QUESTIONS) {
            let flags = Flags::read(batch, question.column)?;
            replies.column.note(flags.is_present());
            for flag in classes.determinable().filter_map(|row| flags.flag(row)) {
                replies.known += 1;
                replies.yes += u64::from(flag);
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) {
        let Self { listed, determinable, classes, replies } = other;
        self.listed += listed;
        self.determinable += determinable;
        self.classes.merge(classes);
        for (mine, theirs) in self.replies.iter_mut().zip(replies) {
            mine.column.merge(theirs.column);
            mine.known += theirs.known;
            mine.yes += theirs.yes;
        }
    }

    fn finish(self) -> Answer {
        let columns = vec![
            Column::new("question", "hosts that are"),
            Column::new("share", "with a verdict"),
            Column::grouped("at_least", "bounds over all hosts", "at least"),
            Column::grouped("at_most", "bounds over all hosts", "at most"),
        ];
        let rows = QUESTIONS.iter().zip(self.replies).map(|(question, replies)| self.row(question, replies)).collect();
        let body = if self.classes.is_missing() {
            Body::Missing { columns: CLASS_COLUMNS.map(Cow::Borrowed).to_vec() }
        } else {
            Body::Table { columns, rows }
        };
        Answer {
            name: "headline",
            sections: vec![Section {
                name: "headline",
                title: "Stricter for AI training than for a crawler that is not named",
                caption:
                    "Hosts that close more of their site to at least one AI training agent than to a crawler that \
                          their robots.txt does not name."
                        .into(),
                depth: Depth::Summary,
                is_judged: true,
                body,
                notes: self.notes(),
            }],
        }
    }
}

impl Headline {
    fn row(&self, question: &Question, replies: Replies) -> Row {
        let name = Cell::Labelled { word: question.word, label: question.label };
        if replies.column.is_missing() {
            let absent = Cell::Absent(Absence::NotInSnapshot);
            return Row::new(vec![name, absent.clone(), absent.clone(), absent]);
        }
        let without_reply = self.listed - replies.known;
        Row::new(vec![
            name,
            Rate::new(replies.yes, Denominator::Determinable, replies.known).into(),
            Rate::new(replies.yes, Denominator::Listed, self.listed).into(),
            Rate::new(replies.yes + without_reply, Denominator::Listed, self.listed).into(),
        ])
    }

    fn notes(&self) -> Vec<Cow<'static, str>> {
        let mut notes: Vec<Cow<'static, str>> = vec![
            SETS.into(),
            "AI agents (set ai-v1): those that the catalogue marks so, whatever they serve.".into(),
            "Bounds: at least, if no host without a verdict were so; at most, if all of them were.".into(),
        ];
        for (question, replies) in QUESTIONS.iter().zip(self.replies) {
            let silent = self.determinable - replies.known;
            if silent > 0 && !replies.column.is_missing() {
                notes.push(
                    format!("{silent} determinable hosts have no value in {} and are left out.", question.column)
                        .into(),
                );
            }
        }
        notes
    }
}
