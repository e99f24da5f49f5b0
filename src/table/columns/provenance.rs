//! Who wrote the file, and what it asks without the blocks that a CDN or hoster puts into it.

use std::borrow::Cow;
use std::convert::Infallible;

use super::panel::stem;
use crate::classify::row::{Judgement, Restriction};
use crate::classify::templates::{Decision, Found};
use crate::classify::{PolicyClass, Row};
use crate::table::Column;
use crate::table::column::{Cell, ItemsOf, Kind};

pub(super) fn columns(panel: &[String]) -> impl Iterator<Item = Column> {
    let agents = panel.iter().enumerate().map(|(place, token)| unmanaged_agent(place, token));
    // Not filled yet: nothing asks for other files.
    let extra_files =
        Column::new("extra_files", "Other files that were asked for, such as ai.txt.", Cell::Items(&EXTRA_FILES));
    authors().into_iter().chain(unmanaged()).chain(agents).chain([extra_files])
}

fn authors() -> [Column; 5] {
    [
        Column::new(
            "template",
            "The first of the platforms, managed blocks, plugins and copied lists that were recognised, as `survey \
             templates` ranks them, else `none`.",
            Cell::Word(|row| found(row).map(|found| found.first().map_or("none", |first| first.template))),
        ),
        Column::new(
            "template_version",
            "Version of that template, where it has several.",
            Cell::Word(|row| found(row)?.first()?.version.as_deref()),
        ),
        Column::new("templates", "Every template recognised, in order of rank.", Cell::Items(&TEMPLATES)),
        Column::new(
            "decision",
            "Who decided the AI rules (groups that name agents of ai-v1, and signals): `own` (the site), `switch` (a \
             platform's or CDN's toggle), `default` (came with the platform), `none` (there are none), `unknown`.",
            Cell::Word(|row| row.authorship.as_ref().map(|authorship| authorship.decision.word())),
        ),
        Column::new(
            "own_named_agents",
            "Tokens named outside managed blocks and templates, lower-case, without `*`; those of copied lists are the \
             site's own.",
            Cell::Texts(|row| {
                let own = &row.authorship.as_ref()?.own_named_agents;
                Some(own.iter().map(|token| Cow::Borrowed(token.as_str())).collect())
            }),
        ),
    ]
}

fn found(row: &Row) -> Option<&[Found]> {
    row.authorship.as_ref().map(|authorship| authorship.found.as_slice())
}

/// What the file without its managed blocks asks: the same as the whole file, where it has none.
fn unmanaged() -> [Column; 6] {
    [
        Column::new(
            "unmanaged_unnamed_restriction",
            "Level for a crawler that no group names, in the file without its managed blocks; these columns equal those of \
             the whole file where it has none.",
            Cell::Word(|row| rest(row).map(|rest| rest.unnamed_restriction.word())),
        ),
        Column::new(
            "unmanaged_unnamed_root_allowed",
            "Whether such a crawler may fetch `/`, by the file without its managed blocks.",
            Cell::Flag(|row| rest(row).map(|rest| rest.unnamed_root_allowed)),
        ),
        Column::new(
            "unmanaged_core_training_stricter",
            "Whether at least one agent of core-training-v1 is treated stricter than an unnamed crawler, by the file without \
             its managed blocks.",
            Cell::Flag(|row| rest(row).map(|rest| rest.core_training_stricter)),
        ),
        Column::new(
            "unmanaged_any_ai",
            "Whether at least one agent of ai-v1 is mostly or fully restricted, by the file without its managed blocks.",
            Cell::Flag(|row| rest(row).map(|rest| rest.any_ai)),
        ),
        Column::new(
            "unmanaged_any_ai_named",
            "Whether at least one agent of ai-v1 is so by its own group, by the file without its managed blocks.",
            Cell::Flag(|row| rest(row).map(|rest| rest.any_ai_named)),
        ),
        Column::new(
            "unmanaged_policy_class",
            "Class of what the file without its managed blocks asks, as `survey signals --policies` lists them.",
            Cell::Word(|row| {
                let unmanaged = row.authorship.as_ref()?.unmanaged.as_deref();
                unmanaged
                    .map(|(_, policy)| *policy)
                    .or_else(|| row.stance.map(|stance| stance.policy))
                    .map(PolicyClass::word)
            }),
        ),
    ]
}

fn unmanaged_agent(place: usize, token: &str) -> Column {
    Column {
        name: Cow::Owned(format!("unmanaged_{}", stem(token))),
        doc: Cow::Owned(format!("Level for {token}, by the file without its managed blocks.")),
        required: false,
        cell: Cell::PanelWord(place, |row, place| Some(Restriction::word(rest(row)?.panel.get(place)?.restriction))),
    }
}

fn rest(row: &Row) -> Option<&Judgement> {
    let unmanaged = row.authorship.as_ref()?.unmanaged.as_deref();
    unmanaged.map(|(judgement, _)| judgement).or(row.judgement.as_ref())
}

static TEMPLATES: ItemsOf<Row, Found> = ItemsOf {
    items: found,
    fields: &[
        Column::required(
            "template",
            "Which one, as `survey templates` lists them.",
            Cell::Word(|found| Some(found.template)),
        ),
        Column::new("version", "Its version, where it has several.", Cell::Word(|found| found.version.as_deref())),
        Column::required(
            "decision",
            "Who decides the AI rules in it; `none` where it has none.",
            Cell::Word(|found| Some(Decision::word(found.decision))),
        ),
        Column::required(
            "line",
            "The line where it shows, or where the block begins, from 1.",
            Cell::I32(|found| Some(super::count(found.line))),
        ),
        Column::new(
            "last_line",
            "The last line, where it is a block.",
            Cell::I32(|found| found.last_line.map(super::count)),
        ),
    ],
};

static EXTRA_FILES: ItemsOf<Row, Infallible> = ItemsOf {
    items: |_| None,
    fields: &[
        Column::required("kind", "Which file.", Cell::Absent(Kind::Word)),
        Column::required("outcome", "What happened, a word of the outcomes.", Cell::Absent(Kind::Word)),
        Column::new("status", "The last HTTP status.", Cell::Absent(Kind::I32)),
        Column::new("sha256", "SHA-256 of the decoded bytes kept.", Cell::Absent(Kind::Sha)),
        Column::new("bytes", "Decoded bytes kept.", Cell::Absent(Kind::I64)),
        Column::new("body", "The decoded bytes.", Cell::Absent(Kind::Bytes)),
    ],
};
