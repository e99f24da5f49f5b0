//! AI preferences beside the rules, and who wrote them. In the schema, and filled by a later step.

use std::convert::Infallible;

use crate::classify::Row;
use crate::table::Column;
use crate::table::column::{Cell, ItemsOf, Kind};

pub(super) fn columns() -> impl Iterator<Item = Column> {
    stated().into_iter().chain(provenance())
}

fn stated() -> [Column; 10] {
    const YES_NO: Cell<Row> = Cell::Absent(Kind::Word);
    [
        Column::new("signals", "Every AI preference found, in order.", Cell::Items(&SIGNALS)),
        Column::new(
            "content_signal_search",
            "Content-Signal `search` under `*`: `yes`, `no`, `nonstandard`, `unset`.",
            YES_NO,
        ),
        Column::new(
            "content_signal_ai_input",
            "Content-Signal `ai-input` under `*`: `yes`, `no`, `nonstandard`, `unset`.",
            YES_NO,
        ),
        Column::new(
            "content_signal_ai_train",
            "Content-Signal `ai-train` under `*`: `yes`, `no`, `nonstandard`, `unset`.",
            YES_NO,
        ),
        Column::new(
            "content_signal_use",
            "Content-Signal `use` under `*`: `yes`, `no`, `nonstandard`, `unset`.",
            YES_NO,
        ),
        Column::new("content_usage_train_ai", "Content-Usage `train-ai` under `*`: `y`, `n`, `unset`.", YES_NO),
        Column::new("content_usage_search", "Content-Usage `search` under `*`: `y`, `n`, `unset`.", YES_NO),
        Column::new("has_license", "Whether a License record points to terms.", Cell::Absent(Kind::Flag)),
        Column::new("has_prose_reservation", "Whether comments reserve rights in prose.", Cell::Absent(Kind::Flag)),
        Column::new(
            "reservation_scope",
            "Whom the reservations speak to: `wildcard`, `named-only`, `none`.",
            Cell::Absent(Kind::Word),
        ),
    ]
}

fn provenance() -> [Column; 5] {
    [
        Column::new("template", "Platform or managed block recognised, else `none`.", Cell::Absent(Kind::Word)),
        Column::new("template_version", "Version of that template.", Cell::Absent(Kind::Word)),
        Column::new(
            "decision",
            "Who decided the AI rules: `own`, `switch` (a platform's or CDN's toggle), `default` (came with the platform), \
             `none` (there are none), `unknown`.",
            Cell::Absent(Kind::Word),
        ),
        Column::new(
            "own_named_agents",
            "Tokens named outside managed blocks and templates.",
            Cell::Absent(Kind::Texts),
        ),
        Column::new("extra_files", "Other files that were asked for, such as ai.txt.", Cell::Items(&EXTRA_FILES)),
    ]
}

static SIGNALS: ItemsOf<Row, Infallible> = ItemsOf {
    items: |_| None,
    fields: &[
        Column::required(
            "kind",
            "What kind of signal: `content-signal`, `content-usage`, `license`, `disallow-ai-training`, `tdm-reservation` \
             and others.",
            Cell::Absent(Kind::Word),
        ),
        Column::required("scope", "The tokens of its group, or `file`.", Cell::Absent(Kind::Text)),
        Column::new("path", "The path it speaks of, where it names one.", Cell::Absent(Kind::Text)),
        Column::new("key", "The key within the signal.", Cell::Absent(Kind::Text)),
        Column::new("value", "The value, as written.", Cell::Absent(Kind::Text)),
        Column::new("line", "The line it stands on, from 1.", Cell::Absent(Kind::I32)),
        Column::required(
            "source",
            "Where it was found: `body`, `header`, or the extra file.",
            Cell::Absent(Kind::Word),
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
