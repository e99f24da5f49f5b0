//! Four columns for each agent of the panel.

use std::borrow::Cow;

use crate::classify::Row;
use crate::classify::row::{AgentVerdict, By, Comparison, Restriction};
use crate::table::Column;
use crate::table::column::Cell;

pub(super) fn columns(panel: &[String]) -> impl Iterator<Item = Column> {
    panel.iter().enumerate().flat_map(|(place, token)| agent(place, token))
}

fn agent(place: usize, token: &str) -> [Column; 4] {
    let stem = stem(token);
    let column = |suffix: &str, doc: String, cell| Column {
        name: Cow::Owned(format!("{stem}{suffix}")),
        doc: Cow::Owned(doc),
        required: false,
        cell,
    };
    [
        column(
            "",
            format!("Level for {token} under the snapshot's definition: `none`, `partial`, `mostly`, `full`."),
            Cell::PanelWord(place, |row, place| verdict(row, place).map(|it| Restriction::word(it.restriction))),
        ),
        column(
            "_by",
            format!(
                "Which rules apply to {token}: `named` (its own group), `wildcard` (`*`), `default` (no group applies)."
            ),
            Cell::PanelWord(place, |row, place| verdict(row, place).map(|it| By::word(it.by))),
        ),
        column(
            "_vs_unnamed",
            format!(
                "The level for {token} against that for a crawler that no group names: `stricter`, `same`, `looser`."
            ),
            Cell::PanelWord(place, |row, place| verdict(row, place).map(|it| Comparison::word(it.vs_unnamed))),
        ),
        column(
            "_root_allowed",
            format!("Whether {token} may fetch `/`."),
            Cell::PanelFlag(place, |row, place| verdict(row, place).map(|it| it.root_allowed)),
        ),
    ]
}

/// `agent_` and the token in lower case, everything but letters and digits as `_`.
pub(super) fn stem(token: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    "agent_".chars().chain(token.chars().map(plain)).collect()
}

fn verdict(row: &Row, place: usize) -> Option<&AgentVerdict> {
    row.judgement.as_ref()?.panel.get(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_become_plain_names() {
        assert_eq!(stem("GPTBot"), "agent_gptbot");
        assert_eq!(stem("Google-Extended"), "agent_google_extended");
        assert_eq!(stem("Kangaroo Bot"), "agent_kangaroo_bot");
    }
}
