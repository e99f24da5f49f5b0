//! Agents' levels on a host, a byte each.

use arrow::array::RecordBatch;

use super::cells::Items;
use super::source::Tracked;
use crate::classify::row::{By, Restriction};
use crate::stats::agents::column_of;
use crate::stats::columns::Words;

/// An agent's level on a host and what it comes from, in a byte; or that nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Level(u8);

impl Level {
    /// No verdict is possible, or none is stored.
    pub(super) const UNKNOWN: Self = Self(0);

    fn new(restriction: Option<Restriction>, by: Option<By>) -> Self {
        let Some(restriction) = restriction else { return Self::UNKNOWN };
        Self(1 + 4 * restriction as u8 + by.map_or(3, |by| by as u8))
    }

    pub(super) fn restriction(self) -> Option<Restriction> {
        let place = self.0.checked_sub(1)? / 4;
        Some(Restriction::ALL[usize::from(place)])
    }

    /// Whether the levels, or what they come from, are known to be others.
    pub(super) fn differs(self, other: Self) -> bool {
        let (Some(one), Some(two)) = (self.restriction(), other.restriction()) else { return false };
        one != two || self.by().zip(other.by()).is_some_and(|(one, two)| one != two)
    }

    pub(super) fn by(self) -> Option<By> {
        By::ALL.get(usize::from(self.0.checked_sub(1)? % 4)).copied()
    }
}

/// The levels of these rows, agent by agent within a row.
pub(super) fn levels(batch: &RecordBatch, rows: &[usize], tracked: &Tracked) -> anyhow::Result<Vec<Level>> {
    let all = batch.num_rows();
    let unnamed = Words::read(batch, "unnamed_restriction")?.decode(all, Restriction::from_word);
    let mut levels = vec![Level::UNKNOWN; rows.len() * tracked.len()];
    for (place, &row) in rows.iter().enumerate() {
        levels[place * tracked.len()] = Level::new(unnamed[row], None);
    }
    for (agent, token) in tracked.agents() {
        let column = column_of(token);
        let restrictions = Words::read(batch, &column)?;
        let bys = Words::read(batch, &format!("{column}_by"))?;
        if restrictions.is_present() {
            let restrictions = restrictions.decode(all, Restriction::from_word);
            let bys = bys.decode(all, By::from_word);
            for (place, &row) in rows.iter().enumerate() {
                levels[place * tracked.len() + agent] = Level::new(restrictions[row], bys[row]);
            }
            continue;
        }
        // No column of its own: it is among the named agents, or it inherits.
        let named = Items::read(batch, "named_agents", &["token", "restriction"])?;
        let wanted = format!("{}\u{0}", token.to_ascii_lowercase());
        for (place, &row) in rows.iter().enumerate() {
            let own =
                named.of(row).into_iter().flatten().find_map(|item| item.strip_prefix(&wanted).map(str::to_owned));
            levels[place * tracked.len() + agent] = match own {
                Some(word) => Level::new(Restriction::from_word(&word), Some(By::Named)),
                None => Level::new(unnamed[row], None),
            };
        }
    }
    Ok(levels)
}
