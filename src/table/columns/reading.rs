//! What stands in the file, and what it asks of crawlers at large.

use std::borrow::Cow;

use crate::classify::Row;
use crate::classify::row::{Judgement, NamedAgent, Reading, Restriction};
use crate::robots::Oddity;
use crate::table::Column;
use crate::table::column::{Cell, ItemsOf};

pub(super) fn columns() -> impl Iterator<Item = Column> {
    file().into_iter().chain(judgement())
}

fn file() -> [Column; 8] {
    [
        Column::new(
            "line_count",
            "Lines of the file, the last one counted where it has no end.",
            Cell::I32(|row| read(row, |reading| reading.line_count)),
        ),
        Column::new(
            "group_count",
            "Groups, as the file's lines make them.",
            Cell::I32(|row| read(row, |reading| reading.group_count)),
        ),
        Column::new(
            "allow_rule_count",
            "Allow lines with a value, in a group or not.",
            Cell::I32(|row| read(row, |reading| reading.allow_rule_count)),
        ),
        Column::new(
            "disallow_rule_count",
            "Disallow lines with a value, in a group or not.",
            Cell::I32(|row| read(row, |reading| reading.disallow_rule_count)),
        ),
        Column::new(
            "sitemaps",
            "Values of the Sitemap records, in order.",
            Cell::Texts(|row| {
                let reading = row.reading.as_ref()?;
                Some(reading.sitemaps.iter().map(|value| Cow::Borrowed(value.as_str())).collect())
            }),
        ),
        Column::new(
            "oddities",
            "Oddities that a reader of the verdicts should know, each word once.",
            Cell::Words(|row| {
                let reading = row.reading.as_ref()?;
                Some(reading.oddities.iter().copied().map(Oddity::word).collect())
            }),
        ),
        Column::new(
            "other_records",
            "Every key that is no user-agent, allow or disallow, in order of first appearance.",
            Cell::Items(&OTHER_RECORDS),
        ),
        Column::new(
            "named_agents",
            "Every token that stands on a user-agent line, `*` included, each once, in order of first appearance.",
            Cell::Items(&NAMED_AGENTS),
        ),
    ]
}

fn judgement() -> [Column; 6] {
    [
        Column::new(
            "unnamed_restriction",
            "Level for a crawler that no group names: `none`, `partial`, `mostly`, `full`, under the snapshot's definition.",
            Cell::Word(|row| row.judgement.as_ref().map(|judgement| Restriction::word(judgement.unnamed_restriction))),
        ),
        Column::new(
            "unnamed_root_allowed",
            "Whether a crawler that no group names may fetch `/`.",
            Cell::Flag(|row| judged(row, |judgement| judgement.unnamed_root_allowed)),
        ),
        Column::new(
            "core_training_stricter",
            "Whether at least one agent of the set core-training-v1 is treated stricter than an unnamed crawler.",
            Cell::Flag(|row| judged(row, |judgement| judgement.core_training_stricter)),
        ),
        Column::new(
            "any_ai",
            "Whether at least one agent of the set ai-v1 is fully or mostly restricted.",
            Cell::Flag(|row| judged(row, |judgement| judgement.any_ai)),
        ),
        Column::new(
            "any_ai_named",
            "Whether at least one agent of the set ai-v1 is fully or mostly restricted by its own group.",
            Cell::Flag(|row| judged(row, |judgement| judgement.any_ai_named)),
        ),
        Column::new(
            "policy_class",
            "The file as a whole: `open`, `hygiene` (paths only, the same for all), `training-no`, `ai-no`, `allowlist`, \
             `closed`, `incoherent`; `survey signals --policies` says how each is decided.",
            Cell::Word(|row| row.stance.map(|stance| stance.policy.word())),
        ),
    ]
}

static OTHER_RECORDS: ItemsOf<Row, (String, u32)> = ItemsOf {
    items: |row| row.reading.as_ref().map(|reading| reading.other_records.as_slice()),
    fields: &[
        Column::required("key", "The key, in lower case.", Cell::Text(|(key, _)| Some(key.into()))),
        Column::required("count", "How many such lines there are.", Cell::I32(|(_, count)| Some(super::count(*count)))),
    ],
};

static NAMED_AGENTS: ItemsOf<Row, NamedAgent> = ItemsOf {
    items: |row| row.reading.as_ref().map(|reading| reading.named_agents.as_slice()),
    fields: &[
        Column::required(
            "token",
            "The token, in lower case, as the dialect compares it.",
            Cell::Text(|agent| Some(Cow::Borrowed(agent.token.as_str()))),
        ),
        Column::required(
            "as_written",
            "The token as first written.",
            Cell::Text(|agent| Some(Cow::Borrowed(agent.as_written.as_str()))),
        ),
        Column::required(
            "restriction",
            "Its level under the snapshot's definition.",
            Cell::Word(|agent| Some(Restriction::word(agent.restriction))),
        ),
        Column::required("root_allowed", "Whether it may fetch `/`.", Cell::Flag(|agent| Some(agent.root_allowed))),
        Column::required(
            "unnamed_allowed",
            "Whether it may fetch a path that no rule names.",
            Cell::Flag(|agent| Some(agent.unnamed_allowed)),
        ),
        Column::required(
            "allow_rules",
            "Allow rules of its groups.",
            Cell::I32(|agent| Some(super::count(agent.allow_rules))),
        ),
        Column::required(
            "disallow_rules",
            "Disallow rules of its groups.",
            Cell::I32(|agent| Some(super::count(agent.disallow_rules))),
        ),
        Column::new(
            "crawl_delay_s",
            "The Crawl-delay of its groups in seconds, where a number is given.",
            Cell::F64(|agent| agent.crawl_delay_s),
        ),
        Column::required(
            "line",
            "The first line that names it, from 1.",
            Cell::I32(|agent| Some(super::count(agent.line))),
        ),
    ],
};

fn read(row: &Row, number: impl Fn(&Reading) -> u32) -> Option<i32> {
    row.reading.as_ref().map(|reading| super::count(number(reading)))
}

fn judged(row: &Row, flag: impl Fn(&Judgement) -> bool) -> Option<bool> {
    row.judgement.as_ref().map(flag)
}
