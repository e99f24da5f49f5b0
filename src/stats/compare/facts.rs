//! What a comparison needs of each row of a part, column by column: about a hundred bytes a host, no body.

use anyhow::{Context, ensure};
use arrow::array::{Array, RecordBatch};

use super::cells::{Items, first_captures, hashes, integers, texts};
use super::levels::{Level, levels};
use super::names::{Names, NamesReader};
use super::source::{Source, Tracked};
use crate::outcome::{Outcome, OutcomeClass};
use crate::stats::columns::{Flags, Words};

/// The questions that a row answers with yes or no, one column each.
pub(super) const SETS: [&str; 3] = ["core_training_stricter", "any_ai", "any_ai_named"];

/// How much is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Who was asked, and whether that gave a verdict.
    Outcomes,
    /// And the verdicts.
    Verdicts,
    /// And everything by which a host can change.
    Everything,
}

/// The facts of the rows of one part.
#[derive(Debug, Default)]
pub(super) struct Facts {
    names: String,
    ends: Vec<u32>,
    /// Places in the part; rows of further captures are passed over.
    rows: Vec<u32>,
    outcomes: Vec<Option<Outcome>>,
    ranks: Vec<u32>,
    agents: usize,
    levels: Vec<Level>,
    /// As they are stored, where the rows are judged again.
    stored: Option<Vec<Level>>,
    sets: Vec<u8>,
    bodies: Vec<Body>,
    tokens: Lists,
    signals: Lists,
    templates: Vec<Option<Template>>,
    /// Whether the row says what signals there are, be it none.
    says_signals: Vec<bool>,
}

/// Which bytes were kept: equal for equal files. Half of a SHA-256 is enough to tell files apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Body {
    sha256: Option<[u8; 16]>,
    is_truncated: bool,
}

/// Who wrote the file, by numbers of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Template {
    /// The template and its version.
    pub(super) version: u32,
    /// The agents named outside of it.
    pub(super) own_agents: u32,
}

/// One row of [`Facts`].
#[derive(Clone, Copy)]
pub(super) struct Host<'f> {
    pub(super) facts: &'f Facts,
    pub(super) at: usize,
}

#[derive(Debug, Default)]
struct Lists {
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn push(&mut self, mut items: Vec<u32>) {
        items.sort_unstable();
        items.dedup();
        self.items.extend(items);
        self.ends.push(u32::try_from(self.items.len()).expect("a part has fewer than 2^32 items"));
    }

    fn get(&self, at: usize) -> &[u32] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start as usize..self.ends[at] as usize]
    }
}

impl Facts {
    /// Reads a part.
    pub(super) fn read(
        source: &Source<'_>,
        part: usize,
        tracked: &Tracked,
        names: &Names,
        extent: Extent,
    ) -> anyhow::Result<Self> {
        let reading = || format!("reading {}", source.parts[part].display());
        let verdicts = tracked.columns();
        let mut columns = vec!["domain", "capture_index", "outcome", "rank"];
        if extent != Extent::Outcomes {
            columns.extend(verdicts.iter().map(String::as_str).chain(SETS).chain(["named_agents"]));
        }
        if extent == Extent::Everything {
            columns.extend(DETAILS);
        }
        let mut facts = Self { agents: tracked.len(), ..Self::default() };
        let mut reader = names.reader();
        let mut row = 0;
        for batch in source.batches(part, &columns)? {
            let batch = batch?;
            facts.add(&batch, row, tracked, &mut reader, extent).with_context(reading)?;
            row += u32::try_from(batch.num_rows()).context("a batch of more than 2^32 rows")?;
        }
        if source.again.is_some() && extent == Extent::Everything {
            facts.stored = Some(facts.stored_levels(source, part, tracked).with_context(reading)?);
        }
        facts.shrink();
        Ok(facts)
    }

    /// Gives back the room that growing lists took in advance.
    fn shrink(&mut self) {
        let Self { names, ends, rows, outcomes, ranks, agents: _, levels, stored, sets, bodies, .. } = self;
        names.shrink_to_fit();
        ends.shrink_to_fit();
        rows.shrink_to_fit();
        outcomes.shrink_to_fit();
        ranks.shrink_to_fit();
        levels.shrink_to_fit();
        sets.shrink_to_fit();
        bodies.shrink_to_fit();
        if let Some(stored) = stored {
            stored.shrink_to_fit();
        }
        for lists in [&mut self.tokens, &mut self.signals] {
            lists.ends.shrink_to_fit();
            lists.items.shrink_to_fit();
        }
        self.says_signals.shrink_to_fit();
        self.templates.shrink_to_fit();
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn hosts(&self) -> impl Iterator<Item = Host<'_>> {
        (0..self.len()).map(|at| Host { facts: self, at })
    }

    fn add(
        &mut self,
        batch: &RecordBatch,
        first_row: u32,
        tracked: &Tracked,
        reader: &mut NamesReader<'_>,
        extent: Extent,
    ) -> anyhow::Result<()> {
        let rows = batch.num_rows();
        let domains = texts(batch, "domain")?.context("it has no column domain")?;
        let kept = first_captures(batch)?;
        let outcomes = Words::read(batch, "outcome")?;
        ensure!(outcomes.is_present(), "it has no column outcome");
        let outcomes = outcomes.decode(rows, Outcome::from_word);
        let ranks = integers(batch, "rank")?;
        for &row in &kept {
            self.names += if domains.is_valid(row) { domains.value(row) } else { "" };
            self.ends.push(u32::try_from(self.names.len()).context("more than 4 GiB of names in a part")?);
            self.rows.push(first_row + u32::try_from(row).expect("a batch is small"));
            self.outcomes.push(outcomes[row]);
            self.ranks.push(ranks[row].and_then(|rank| u32::try_from(rank).ok()).unwrap_or(0));
        }
        if extent == Extent::Outcomes {
            return Ok(());
        }
        self.levels.extend(levels(batch, &kept, tracked)?);
        let flags = SETS.iter().map(|name| Flags::read(batch, name)).collect::<anyhow::Result<Vec<_>>>()?;
        self.sets.extend(kept.iter().map(|row| {
            let bits = |(number, flags): (usize, &Flags)| {
                flags.flag(*row).map_or(0, |yes| (1 | u8::from(yes) << 1) << (2 * number))
            };
            flags.iter().enumerate().map(bits).fold(0, |all, bits| all | bits)
        }));
        if extent == Extent::Everything {
            self.add_details(batch, &kept, reader)?;
        }
        Ok(())
    }

    fn add_details(&mut self, batch: &RecordBatch, kept: &[usize], reader: &mut NamesReader<'_>) -> anyhow::Result<()> {
        let hashes = hashes(batch, "body_sha256")?;
        let truncated = Flags::read(batch, "is_truncated")?;
        let tokens = Items::read(batch, "named_agents", &["token"])?;
        let signals = Items::read(batch, "signals", &["kind", "key", "value"])?;
        let own_agents = Items::read(batch, "own_named_agents", &[])?;
        let (template, version) = (Words::read(batch, "template")?, texts(batch, "template_version")?);
        for &row in kept {
            self.bodies.push(Body { sha256: hashes[row], is_truncated: truncated.flag(row).unwrap_or(false) });
            self.tokens.push(tokens.of(row).into_iter().flatten().map(|token| reader.number(&token)).collect());
            let said = signals.of(row);
            self.says_signals.push(said.is_some());
            self.signals
                .push(said.into_iter().flatten().map(|signal| reader.number(&signal.replace('\0', " "))).collect());
            let template = template.word(row).ok().map(|template| {
                let version = version.as_ref().filter(|versions| versions.is_valid(row)).map(|texts| texts.value(row));
                let mut own: Vec<String> = own_agents.of(row).into_iter().flatten().collect();
                own.sort_unstable();
                Template {
                    version: reader.number(&format!("{template} {}", version.unwrap_or_default())),
                    own_agents: reader.number(&own.join("\n")),
                }
            });
            self.templates.push(template);
        }
        Ok(())
    }

    fn stored_levels(&self, source: &Source<'_>, part: usize, tracked: &Tracked) -> anyhow::Result<Vec<Level>> {
        let verdicts = tracked.columns();
        let mut columns = vec!["capture_index", "named_agents"];
        columns.extend(verdicts.iter().map(String::as_str));
        let mut stored = Vec::with_capacity(self.levels.len());
        for batch in source.stored_batches(part, &columns) {
            let batch = batch?;
            stored.extend(levels(&batch, &first_captures(&batch)?, tracked)?);
        }
        ensure!(stored.len() == self.levels.len(), "it has other rows than it had");
        Ok(stored)
    }
}

/// What [`Extent::Everything`] reads besides.
const DETAILS: [&str; 6] =
    ["body_sha256", "is_truncated", "signals", "template", "template_version", "own_named_agents"];

impl<'f> Host<'f> {
    pub(super) fn name(self) -> &'f str {
        let start = self.at.checked_sub(1).map_or(0, |before| self.facts.ends[before]);
        &self.facts.names[start as usize..self.facts.ends[self.at] as usize]
    }

    pub(super) fn row(self) -> u32 {
        self.facts.rows[self.at]
    }

    pub(super) fn outcome(self) -> Option<Outcome> {
        self.facts.outcomes[self.at]
    }

    pub(super) fn class(self) -> Option<OutcomeClass> {
        self.outcome().map(Outcome::class)
    }

    pub(super) fn is_determinable(self) -> bool {
        self.class().is_some_and(OutcomeClass::is_determinable)
    }

    /// Whether bytes were read as a robots.txt file.
    pub(super) fn has_file(self) -> bool {
        self.class().is_some_and(|class| matches!(class, OutcomeClass::Readable | OutcomeClass::Empty))
    }

    /// One level for each tracked agent.
    pub(super) fn levels(self) -> &'f [Level] {
        &self.facts.levels[self.at * self.facts.agents..(self.at + 1) * self.facts.agents]
    }

    /// The levels as they are stored, where they are judged again; else the same.
    pub(super) fn stored_levels(self) -> &'f [Level] {
        let levels = self.facts.stored.as_ref().unwrap_or(&self.facts.levels);
        &levels[self.at * self.facts.agents..(self.at + 1) * self.facts.agents]
    }

    /// The rank in the list; 0 where it has none.
    pub(super) fn rank(self) -> u32 {
        self.facts.ranks[self.at]
    }

    /// The answers to the questions of [`SETS`], two bits each: known, and yes.
    pub(super) fn sets(self) -> u8 {
        self.facts.sets[self.at]
    }

    pub(super) fn body(self) -> Body {
        self.facts.bodies[self.at]
    }

    /// Tokens on user-agent lines, ascending by number.
    pub(super) fn tokens(self) -> &'f [u32] {
        self.facts.tokens.get(self.at)
    }

    /// Signals, ascending by number; nothing where the snapshot does not record them. Without a file there is none.
    pub(super) fn signals(self) -> Option<&'f [u32]> {
        let is_absent = self.class() == Some(OutcomeClass::Absent);
        (is_absent || self.says_signals()).then(|| self.facts.signals.get(self.at))
    }

    /// Whether the row itself says what signals there are.
    pub(super) fn says_signals(self) -> bool {
        self.facts.says_signals[self.at]
    }

    pub(super) fn template(self) -> Option<Template> {
        self.facts.templates[self.at]
    }
}
