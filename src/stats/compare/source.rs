//! The rows of one snapshot, as they are stored or judged again.

use std::path::PathBuf;
use std::slice;

use arrow::array::RecordBatch;

use crate::classify::Classifier;
use crate::snapshot::{Grounds, rejudge_part};
use crate::stats::agents::{AGENTS, column_of};
use crate::table::{Column, Provenance, Table, columns, read_columns};

/// The rows of one snapshot.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its parts.
    pub parts: &'a [PathBuf],
    /// What judges them again; nothing where the stored verdicts count.
    pub again: Option<&'a Classifier>,
}

/// The agents that are looked at, the unnamed crawler first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracked {
    tokens: Vec<String>,
}

/// How the unnamed crawler is written.
pub(super) const UNNAMED: &str = "*";

impl Tracked {
    /// Agents by their product tokens, in this order; the unnamed crawler is looked at as well.
    pub fn new(tokens: &[String]) -> Self {
        let mut all = vec![UNNAMED.to_owned()];
        for token in tokens {
            if !all.iter().any(|known| known.eq_ignore_ascii_case(token)) {
                all.push(token.clone());
            }
        }
        Self { tokens: all }
    }

    /// The ten agents of the statistic of that name.
    pub fn well_known() -> Self {
        Self::new(&AGENTS.map(str::to_owned))
    }

    /// Their tokens; the first one is `*`.
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// The agents without the unnamed crawler, each with its place.
    pub(super) fn agents(&self) -> impl Iterator<Item = (usize, &str)> {
        self.tokens.iter().map(String::as_str).enumerate().skip(1)
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The columns that hold their verdicts.
    pub(super) fn columns(&self) -> Vec<String> {
        let of_agent = |(_, token): (usize, &str)| [column_of(token), column_of(token) + "_by"];
        self.agents().flat_map(of_agent).chain(["unnamed_restriction".to_owned()]).collect()
    }
}

impl Source<'_> {
    /// The named columns of a part, batch by batch, its rows in their order.
    pub(super) fn batches<'s>(
        &'s self,
        part: usize,
        names: &'s [&'s str],
    ) -> anyhow::Result<Box<dyn Iterator<Item = anyhow::Result<RecordBatch>> + 's>> {
        let Some(classifier) = self.again else { return Ok(Box::new(self.stored_batches(part, names))) };
        // A table of these columns only: what is not asked for is not built.
        let panel: Vec<String> = classifier.catalogue().panel().map(|agent| agent.token.clone()).collect();
        let mut columns: Vec<Column> = columns(&panel);
        columns.retain(|column| names.contains(&column.name.as_ref()));
        let table = Table::new(columns, provenance(classifier))?;
        Ok(Box::new(rejudge_part(&self.parts[part], classifier).map(move |rows| table.batch(&rows?))))
    }

    /// The named columns of a part as they are stored.
    pub(super) fn stored_batches<'s>(
        &'s self,
        part: usize,
        names: &'s [&'s str],
    ) -> impl Iterator<Item = anyhow::Result<RecordBatch>> + 's {
        read_columns(slice::from_ref(&self.parts[part]), names)
    }
}

/// What a table of rows judged again would say of itself; it is never written.
fn provenance(classifier: &Classifier) -> Provenance {
    let Grounds { definition, dialect, catalogue_sha256, parser_version } = Grounds::of(classifier);
    Provenance {
        parser_version,
        definition,
        dialect,
        catalogue_sha256,
        list_sha256: None,
        date: String::new(),
        is_rehearsal: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_looked_at_once_and_the_unnamed_crawler_always() {
        let tracked = Tracked::new(&["GPTBot".to_owned(), "gptbot".to_owned(), "*".to_owned()]);
        assert_eq!(tracked.tokens(), ["*", "GPTBot"]);
        assert_eq!(tracked.columns(), ["agent_gptbot", "agent_gptbot_by", "unnamed_restriction"]);
    }
}
