//! AI preferences beside the rules.

use std::borrow::Cow;

use crate::classify::Row;
use crate::classify::signals::{Found, Source, Stated};
use crate::table::Column;
use crate::table::column::{Cell, ItemsOf};

pub(super) fn columns() -> [Column; 12] {
    [
        Column::new(
            "signals",
            "Every AI preference found: in the file by line, then in the head of the response, as hints about that \
             response only. Null where nothing came that could hold one; at most 256 of each place (oddity many-signals).",
            Cell::Items(&SIGNALS),
        ),
        Column::new(
            "content_signal_search",
            "Content-Signal `search` under `*`, the most restrictive line: `no`, `yes`, `nonstandard`, `unset`.",
            Cell::Word(|row| said(row, |stated| stated.content_signal_search.word())),
        ),
        Column::new(
            "content_signal_ai_input",
            "Content-Signal `ai-input` under `*`, the most restrictive line: `no`, `yes`, `nonstandard`, `unset`.",
            Cell::Word(|row| said(row, |stated| stated.content_signal_ai_input.word())),
        ),
        Column::new(
            "content_signal_ai_train",
            "Content-Signal `ai-train` under `*`, the most restrictive line: `no`, `yes`, `nonstandard`, `unset`.",
            Cell::Word(|row| said(row, |stated| stated.content_signal_ai_train.word())),
        ),
        Column::new(
            "content_signal_use",
            "Content-Signal `use` under `*`, the most restrictive line: `immediate`, `reference`, `full`, `nonstandard`, \
             `unset`.",
            Cell::Word(|row| said(row, |stated| stated.content_signal_use.word())),
        ),
        Column::new(
            "content_usage_train_ai",
            "Content-Usage `train-ai` under `*` for the whole site, the most restrictive line: `n`, `y`, `unset` (unknown \
             values too).",
            Cell::Word(|row| said(row, |stated| stated.content_usage_train_ai.word())),
        ),
        Column::new(
            "content_usage_search",
            "Content-Usage `search` under `*` for the whole site, the most restrictive line: `n`, `y`, `unset` (unknown \
             values too).",
            Cell::Word(|row| said(row, |stated| stated.content_usage_search.word())),
        ),
        Column::new(
            "has_license",
            "Whether a License record points to terms by an absolute URL.",
            Cell::Flag(|row| row.stance.map(|stance| stance.stated.has_license)),
        ),
        Column::new(
            "has_prose_reservation",
            "Whether comments reserve rights in prose: a heuristic.",
            Cell::Flag(|row| row.stance.map(|stance| stance.stated.has_prose_reservation)),
        ),
        Column::new(
            "reservation_scope",
            "Whom any reservation speaks to, of access or of use, the widest of both: `wildcard`, `named-only`, `none`.",
            Cell::Word(|row| row.stance.map(|stance| stance.reservation().word())),
        ),
        Column::new(
            "access_reservation_scope",
            "Whom rules that shut out (mostly or full) speak to: `wildcard` (a crawler that no group names), `named-only` \
             (agents of ai-v1 by their own groups), `none`.",
            Cell::Word(|row| row.stance.map(|stance| stance.access.word())),
        ),
        Column::new(
            "use_reservation_scope",
            "Whom refusals of AI uses speak to: `wildcard` (signals under `*` for the whole site), `named-only` (other \
             signals in groups, or a group that shuts out an opt-out token), `none`.",
            Cell::Word(|row| row.stance.map(|stance| stance.usage.word())),
        ),
    ]
}

fn said(row: &Row, word: impl Fn(&Stated) -> &'static str) -> Option<&'static str> {
    row.stance.as_ref().map(|stance| word(&stance.stated))
}

static SIGNALS: ItemsOf<Row, Found> = ItemsOf {
    items: |row| row.signals.as_deref(),
    fields: &[
        Column::required(
            "kind",
            "What kind of signal, as `survey signals` lists them: `content-signal`, `content-usage`, `license`, \
             `disallow-ai-training`, `tdm-reservation` and others.",
            Cell::Word(|found| Some(found.kind)),
        ),
        Column::required(
            "scope",
            "The tokens of its group, `orphan` where it stands in none and should, `file` where it belongs to none, \
             `response` for a hint of the head.",
            Cell::Text(|found| Some(found.scope.text().into())),
        ),
        Column::new(
            "path",
            "The path it speaks of, where it names one.",
            Cell::Text(|found| found.path.as_deref().map(Cow::Borrowed)),
        ),
        Column::new("key", "The key within the signal.", Cell::Text(|found| found.key.as_deref().map(Cow::Borrowed))),
        Column::new("value", "The value, as written.", Cell::Text(|found| found.value.as_deref().map(Cow::Borrowed))),
        Column::new("line", "The line it stands on, from 1.", Cell::I32(|found| found.line.map(super::count))),
        Column::required(
            "source",
            "Where it was found: `body`, `header`, or the extra file.",
            Cell::Word(|found| Some(Source::word(found.source))),
        ),
    ],
};
