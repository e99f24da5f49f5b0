//! Ten agents: how much is closed to each, by its own name or by inheritance, and against an unnamed crawler.
//!
//! The ten are the frozen set core-training-v1, one agent that serves AI search, and Google's search crawler as a
//! control: a site that closes itself to all crawlers closes itself to that one too.

use std::borrow::Cow;

use arrow::array::RecordBatch;

use crate::classify::row::{By, Comparison, Restriction};
use crate::stats::Statistic;
use crate::stats::answer::{Absence, Answer, Body, Cell, Column, Denominator, Depth, Rate, Row, Section};
use crate::stats::columns::{CLASS_COLUMNS, Classes, Presence, Words};

pub(super) const AGENTS: [&str; 10] = [
    "GPTBot",
    "ClaudeBot",
    "Google-Extended",
    "CCBot",
    "Bytespider",
    "Applebot-Extended",
    "meta-externalagent",
    "Amazonbot",
    "PerplexityBot",
    "Googlebot",
];

pub(super) fn columns() -> Vec<Cow<'static, str>> {
    let of_agent = |token| ["", "_by", "_vs_unnamed"].map(|suffix| Cow::Owned(column_of(token) + suffix));
    CLASS_COLUMNS.into_iter().map(Cow::Borrowed).chain(AGENTS.into_iter().flat_map(of_agent)).collect()
}

/// The name of an agent's column, as columns.md has it.
pub(super) fn column_of(token: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
    format!("agent_{}", token.chars().map(letter).collect::<String>())
}

/// Counts the verdicts on each agent.
#[derive(Default)]
pub(super) struct Agents {
    determinable: u64,
    classes: Presence,
    verdicts: [Verdicts; AGENTS.len()],
}

const LEVELS: usize = Restriction::ALL.len();

/// Counts over the determinable rows, each over those that say anything.
#[derive(Clone, Copy, Default)]
struct Verdicts {
    level: Presence,
    by: Presence,
    vs_unnamed: Presence,
    levels: [u64; LEVELS],
    named: [u64; LEVELS],
    inherited: [u64; LEVELS],
    comparisons: [u64; Comparison::ALL.len()],
}

impl Statistic for Agents {
    fn add(&mut self, batch: &RecordBatch) -> anyhow::Result<()> {
        let classes = Classes::read(batch)?;
        let determinable: Vec<usize> = classes.determinable().collect();
        self.determinable += determinable.len() as u64;
        self.classes.note(classes.is_present());
        for (verdicts, token) in self.verdicts.iter_mut().zip(AGENTS) {
            verdicts.add(batch, &column_of(token), &determinable)?;
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) {
        let Self { determinable, classes, verdicts } = other;
        self.determinable += determinable;
        self.classes.merge(classes);
        for (mine, theirs) in self.verdicts.iter_mut().zip(verdicts) {
            mine.merge(theirs);
        }
    }

    fn finish(self) -> Answer {
        Answer { name: "agents", sections: vec![self.levels(), self.origin(), self.open()] }
    }
}

impl Verdicts {
    fn add(&mut self, batch: &RecordBatch, column: &str, rows: &[usize]) -> anyhow::Result<()> {
        let level = Words::read(batch, column)?;
        let by = Words::read(batch, &format!("{column}_by"))?;
        let vs_unnamed = Words::read(batch, &format!("{column}_vs_unnamed"))?;
        self.level.note(level.is_present());
        self.by.note(by.is_present());
        self.vs_unnamed.note(vs_unnamed.is_present());

        let level = level.decode(batch.num_rows(), Restriction::from_word);
        let by = by.decode(batch.num_rows(), By::from_word);
        let vs_unnamed = vs_unnamed.decode(batch.num_rows(), Comparison::from_word);
        for &row in rows {
            if let Some(comparison) = vs_unnamed[row] {
                self.comparisons[comparison as usize] += 1;
            }
            let Some(level) = level[row] else { continue };
            self.levels[level as usize] += 1;
            match by[row] {
                Some(By::Named) => self.named[level as usize] += 1,
                Some(By::Wildcard | By::Default) => self.inherited[level as usize] += 1,
                None => {}
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) {
        let Self { level, by, vs_unnamed, levels, named, inherited, comparisons } = other;
        self.level.merge(level);
        self.by.merge(by);
        self.vs_unnamed.merge(vs_unnamed);
        add_each(&mut self.levels, levels);
        add_each(&mut self.named, named);
        add_each(&mut self.inherited, inherited);
        add_each(&mut self.comparisons, comparisons);
    }

    fn level_cells(&self) -> [Cell; LEVELS] {
        let known = self.levels.iter().sum();
        FROM_CLOSED_TO_OPEN.map(|level| rate(self.level, self.levels[level as usize], known))
    }

    fn comparison_cell(&self, comparison: Comparison) -> Cell {
        rate(self.vs_unnamed, self.comparisons[comparison as usize], self.comparisons.iter().sum())
    }

    /// Two cells for each level: by name, inherited.
    fn origin_cells(&self, levels: &[Restriction]) -> Vec<Cell> {
        let column = if self.by.is_missing() { self.by } else { self.level };
        let known = self.named.iter().chain(&self.inherited).sum();
        let counts = levels.iter().flat_map(|level| [self.named, self.inherited].map(|counts| counts[*level as usize]));
        counts.map(|hosts| rate(column, hosts, known)).collect()
    }
}

const FROM_CLOSED_TO_OPEN: [Restriction; LEVELS] =
    [Restriction::Full, Restriction::Mostly, Restriction::Partial, Restriction::None];

fn rate(column: Presence, hosts: u64, known: u64) -> Cell {
    if column.is_missing() {
        Cell::Absent(Absence::NotInSnapshot)
    } else {
        Rate::new(hosts, Denominator::Determinable, known).into()
    }
}

fn add_each<const N: usize>(mine: &mut [u64; N], theirs: [u64; N]) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        *mine += theirs;
    }
}

impl Agents {
    fn levels(&self) -> Section {
        let columns = vec![
            Column::new("agent", "agent"),
            Column::grouped("full", "closed to the agent", "full"),
            Column::grouped("mostly", "closed to the agent", "mostly"),
            Column::grouped("partial", "closed to the agent", "partial"),
            Column::grouped("none", "closed to the agent", "none"),
            Column::grouped("stricter", "than if not named", "stricter"),
            Column::grouped("looser", "than if not named", "looser"),
        ];
        let cells = |verdicts: &Verdicts| {
            let compared = [Comparison::Stricter, Comparison::Looser].map(|word| verdicts.comparison_cell(word));
            verdicts.level_cells().into_iter().chain(compared).collect()
        };
        let mut notes: Vec<Cow<'static, str>> = vec![
            "full: closed to the agent. mostly: closed, with exceptions. partial: some paths are closed. none: nothing \
             is. Stricter and looser: than a crawler that the file does not name."
                .into(),
            "Googlebot is a control: a search crawler, no AI agent.".into(),
        ];
        notes.extend(self.left_out());
        Section {
            name: "levels",
            title: "Ten agents: how much is closed to them",
            caption: "How much of a site its robots.txt closes to each agent, whether it names the agent or not."
                .into(),
            depth: Depth::Summary,
            is_judged: true,
            body: self.table(columns, cells),
            notes,
        }
    }

    fn origin(&self) -> Section {
        let columns = vec![
            Column::new("agent", "agent"),
            Column::grouped("full_named", "full", "by name"),
            Column::grouped("full_inherited", "full", "inherited"),
            Column::grouped("mostly_named", "mostly", "by name"),
            Column::grouped("mostly_inherited", "mostly", "inherited"),
            Column::grouped("partial_named", "partial", "by name"),
            Column::grouped("partial_inherited", "partial", "inherited"),
        ];
        Section {
            name: "origin",
            title: "Ten agents: by name, or inherited",
            caption: "The same hosts, by whether the file names the agent.".into(),
            depth: Depth::Summary,
            is_judged: true,
            body: self.table(columns, |verdicts| verdicts.origin_cells(&FROM_CLOSED_TO_OPEN[..LEVELS - 1])),
            notes: vec![
                "by name: a group of the file names the agent. inherited: none does, so the rules for every crawler \
                 (*) apply, or none do."
                    .into(),
            ],
        }
    }

    fn open(&self) -> Section {
        let columns = vec![
            Column::new("agent", "agent"),
            Column::grouped("none_named", "nothing closed", "by name"),
            Column::grouped("none_inherited", "nothing closed", "inherited"),
        ];
        Section {
            name: "open",
            title: "Ten agents: let in everywhere",
            caption: "Hosts that close nothing to the agent, by whether the file names it or does not.".into(),
            depth: Depth::Detail,
            is_judged: true,
            body: self.table(columns, |verdicts| verdicts.origin_cells(&[Restriction::None])),
            notes: Vec::new(),
        }
    }

    fn table(&self, columns: Vec<Column>, cells: impl Fn(&Verdicts) -> Vec<Cell>) -> Body {
        if self.classes.is_missing() {
            return Body::Missing { columns: CLASS_COLUMNS.map(Cow::Borrowed).to_vec() };
        }
        if self.verdicts.iter().all(|verdicts| verdicts.level.is_missing()) {
            return Body::Missing { columns: AGENTS.map(|token| column_of(token).into()).to_vec() };
        }
        let row = |(token, verdicts): (&'static str, &Verdicts)| {
            let mut row = vec![Cell::Word(token.into())];
            row.extend(cells(verdicts));
            Row::new(row)
        };
        Body::Table { columns, rows: AGENTS.into_iter().zip(&self.verdicts).map(row).collect() }
    }

    /// Says where a rate is over fewer hosts than are determinable.
    fn left_out(&self) -> Option<Cow<'static, str>> {
        let known = |verdicts: &Verdicts| verdicts.levels.iter().sum::<u64>();
        let is_short = |verdicts: &&Verdicts| !verdicts.level.is_missing() && known(verdicts) < self.determinable;
        let fewest = self.verdicts.iter().filter(is_short).map(known).min()?;
        let most = self.determinable - fewest;
        Some(format!("Up to {most} determinable hosts have no verdict on an agent and are left out there.").into())
    }
}
