//! Who was asked.

use std::borrow::Cow;
use std::convert::Infallible;

use crate::classify::Row;
use crate::table::Column;
use crate::table::column::{Cell, ItemsOf, Kind};

pub(super) fn columns() -> [Column; 9] {
    [
        Column::required(
            "target_index",
            "Position among the accepted lines of the input, from 0; unique in a snapshot together with capture_index.",
            Cell::I64(|row| Some(row.observation.target.index.into())),
        ),
        Column::required(
            "capture_index",
            "0, or the number of the capture of this target in an archive.",
            Cell::I32(|row| Some(super::count(row.observation.capture_index))),
        ),
        Column::required(
            "domain",
            "The host name that was asked for, as a lower-case A-label.",
            Cell::Text(|row| Some(Cow::Borrowed(host(row)))),
        ),
        Column::new(
            "rank",
            "Rank in the list, if it has one; for CrUX the bucket.",
            Cell::I64(|row| row.observation.target.rank.map(i64::from)),
        ),
        Column::new(
            "weight",
            "Weight of the target (tokens, traffic), if the list has one.",
            Cell::F64(|row| row.observation.target.weight),
        ),
        Column::new(
            "stratum",
            "Stratum of the list, a word of the list's own.",
            Cell::Word(|row| row.observation.target.stratum.as_deref()),
        ),
        Column::new("labels", "Labels joined to the target from other files.", Cell::Items(&LABELS)),
        Column::new(
            "registrable_domain",
            "The registrable domain by the full public suffix list, its private section included (user.github.io is one); \
             an unlisted top-level domain counts as a suffix; null where the name is itself a suffix.",
            Cell::Text(|row| registrable_domain(host(row)).map(Cow::Borrowed)),
        ),
        Column::required(
            "tld",
            "The top-level domain: the last label of the name, as a lower-case A-label.",
            Cell::Word(|row| host(row).rsplit('.').next()),
        ),
    ]
}

/// The registrable domain by the full public suffix list, private section included.
///
/// Names under a private suffix (`github.io`, `blogspot.com`) have owners of their own, and it is owners who write a
/// robots.txt. A top-level domain that the list does not know is a suffix by the list's default rule `*`.
pub(super) fn registrable_domain(host: &str) -> Option<&str> {
    psl::domain_str(host)
}

fn host(row: &Row) -> &str {
    row.observation.target.domain.as_str()
}

static LABELS: ItemsOf<Row, Infallible> = ItemsOf {
    items: |_| None,
    fields: &[
        Column::required("name", "Name of the mark.", Cell::Absent(Kind::Text)),
        Column::required("value", "Its value for this target.", Cell::Absent(Kind::Text)),
    ],
};
