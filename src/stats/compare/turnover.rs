//! What came and went between two snapshots: named agents, signals, outcomes.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use super::tally::Tally;
use crate::outcome::Outcome;
use crate::stats::answer::{Absence, Body, Cell, Column, Denominator, Depth, Rate, Row, Section};

/// The rows of texts that came and went, most frequent first.
fn came_and_went(counts: &HashMap<u32, [u64; 2]>, texts: &[Arc<str>], denominator: Denominator, size: u64) -> Vec<Row> {
    let mut counts: Vec<(&str, [u64; 2])> =
        counts.iter().map(|(number, hosts)| (texts[*number as usize].as_ref(), *hosts)).collect();
    counts.sort_unstable_by_key(|(text, [came, went])| (Reverse(came + went), *text));
    let row = |(text, ways): (&str, [u64; 2])| {
        let name = Cell::Word(text.to_owned().into());
        let [came, went] = ways.map(|hosts| Rate::new(hosts, denominator, size).into());
        Row::new(vec![name, came, went])
    };
    counts.into_iter().map(row).collect()
}

/// Tokens on user-agent lines.
pub(super) fn tokens(tally: &Tally, texts: &[Arc<str>]) -> Section {
    Section {
        name: "named",
        title: "Agents that came and went",
        caption:
            "Every token that stands on a user-agent line in one of the two files only, the catalogue's and any other."
                .into(),
        depth: Depth::Detail,
        is_judged: false,
        body: Body::Table {
            columns: vec![Column::new("token", "token"), Column::new("came", "came"), Column::new("went", "went")],
            rows: came_and_went(&tally.tokens, texts, Denominator::Panel, tally.panel),
        },
        notes: Vec::new(),
    }
}

/// AI preferences beside the rules.
pub(super) fn signals(tally: &Tally, texts: &[Arc<str>]) -> Section {
    let is_recorded = tally.signals_recorded > 0;
    let rows = if is_recorded {
        came_and_went(&tally.signals, texts, Denominator::SignalsRecorded, tally.signals_recorded)
    } else {
        let any = Cell::Labelled { word: "any", label: "any signal" };
        vec![Row::new(vec![any, Cell::Absent(Absence::NotKnown), Cell::Absent(Absence::NotKnown)])]
    };
    let columns = vec![Column::new("signal", "signal"), Column::new("came", "came"), Column::new("went", "went")];
    let mut notes: Vec<Cow<'static, str>> = Vec::new();
    if !is_recorded {
        notes.push(
            "Signals are not recorded in both snapshots; where nothing but a signal changed, the host counts as noise."
                .into(),
        );
    }
    Section {
        name: "signals",
        title: "Signals that came and went",
        caption: "AI preferences beside Allow and Disallow.".into(),
        depth: Depth::Detail,
        is_judged: false,
        body: Body::Table { columns, rows },
        notes,
    }
}

/// Words for what happened.
pub(super) fn outcomes(tally: &Tally) -> Section {
    let word = |outcome: Option<Outcome>| match outcome {
        Some(outcome) => Cell::Word(outcome.word().into()),
        None => Cell::Absent(Absence::NotKnown),
    };
    let mut counts: Vec<_> = tally.outcomes.iter().collect();
    counts.sort_by_key(|(_, hosts)| Reverse(**hosts));
    let row = |((before, after), hosts): (&(Option<Outcome>, Option<Outcome>), &u64)| {
        Row::new(vec![word(*before), word(*after), Rate::new(*hosts, Denominator::InBoth, tally.in_both).into()])
    };
    Section {
        name: "outcomes",
        title: "Outcomes that changed",
        caption: "What happened when the host was asked, where it is another word than before.".into(),
        depth: Depth::Detail,
        is_judged: false,
        body: Body::Table {
            columns: vec![Column::new("from", "earlier"), Column::new("to", "later"), Column::new("hosts", "hosts")],
            rows: counts.into_iter().map(row).collect(),
        },
        notes: Vec::new(),
    }
}
