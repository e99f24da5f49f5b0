//! Rows of cells as aligned lines of text.
//!
//! A share is a count and a percentage. What it is a share of is written once where all shares of the table or of a
//! column agree, above them, and beside each share where they do not; it is never left out. A table that is too wide is
//! broken between columns, and the words that it begins with are repeated, two columns at most.

use std::collections::BTreeSet;

use crate::report::escape::escape;
use crate::report::number::{percent, thousands};
use crate::report::wrap::{characters, wrap};
use crate::stats::{Absence, Cell, Column, Denominator, Rate, Row};

/// The lines of a table, at most `width` characters wide.
pub(super) fn lines(columns: &[Column], rows: &[Row], width: usize) -> Vec<String> {
    let shared = shared_denominator(rows.iter().flat_map(|row| &row.cells));
    let mut lines = Vec::new();
    if let Some((denominator, size)) = shared {
        lines.push(format!("Hosts, and their share of {} {denominator} hosts:", thousands(size)));
    }
    let draw = |gaps| -> Vec<Drawn> {
        columns.iter().enumerate().map(|(at, column)| Drawn::new(column, at, rows, shared.is_some(), gaps)).collect()
    };
    let mut gaps = WIDE;
    let mut drawn = draw(gaps);
    if total_width(&drawn, gaps) > width {
        let narrow = draw(NARROW);
        // What must be broken anyway has room again.
        if total_width(&narrow, NARROW) <= width {
            (drawn, gaps) = (narrow, NARROW);
        }
    }
    for (number, block) in blocks(&drawn, gaps, width).into_iter().enumerate() {
        if number > 0 {
            lines.push(String::new());
        }
        block_lines(&drawn, &block, rows, gaps, width, &mut lines);
    }
    let marked_rows = rows.iter().filter(|row| spanning_absence(row).is_none());
    let absences: BTreeSet<&str> = marked_rows
        .flat_map(|row| row.cells.iter().skip(1))
        .filter_map(|cell| if let Cell::Absent(absence) = cell { Some(absence.phrase()) } else { None })
        .collect();
    if !absences.is_empty() {
        lines.push(format!("{ABSENT} {}", absences.into_iter().collect::<Vec<_>>().join(", or ")));
    }
    lines
}

/// Stands where a cell has no value.
const ABSENT: &str = "–";

/// The least width of a last column of prose.
const LEAST_PROSE: usize = 24;

/// Spaces between columns, and between a count and its percentage.
#[derive(Clone, Copy)]
struct Gaps {
    column: usize,
    percentage: usize,
}

const WIDE: Gaps = Gaps { column: 3, percentage: 2 };
const NARROW: Gaps = Gaps { column: 2, percentage: 1 };

/// One column as text; all cells have its width, prose excepted.
struct Drawn {
    group: Option<&'static str>,
    heads: [String; 2],
    cells: Vec<String>,
    width: usize,
    style: Style,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Words,
    Prose,
    Shares,
}

impl Drawn {
    fn new(column: &Column, at: usize, rows: &[Row], is_denominator_shown: bool, gaps: Gaps) -> Self {
        let cells = || rows.iter().map(|row| &row.cells[at]);
        let style = if cells().any(|cell| matches!(cell, Cell::Word(_) | Cell::Labelled { .. })) {
            Style::Words
        } else if cells().any(|cell| matches!(cell, Cell::Text(_))) {
            Style::Prose
        } else {
            Style::Shares
        };
        let of_column = shared_denominator(cells());
        let below = match of_column {
            Some((denominator, size)) if !is_denominator_shown => format!("of {} {denominator}", thousands(size)),
            _ => String::new(),
        };
        let heads = [column.title.to_owned(), below];
        let shares = ShareWidths::of(cells(), of_column.is_none(), gaps);
        let mut texts: Vec<String> = Vec::new();
        for (number, (row, cell)) in rows.iter().zip(cells()).enumerate() {
            let indent = if at == 0 { "  ".repeat(row.level) } else { String::new() };
            let is_repeated = at == 0 && number > 0 && rows[number - 1].cells[0] == *cell;
            texts.push(match cell {
                _ if is_repeated => String::new(),
                Cell::Word(text) | Cell::Text(text) => format!("{indent}{}", escape(text)),
                Cell::Labelled { word: _, label } => format!("{indent}{label}"),
                Cell::Rate(rate) => shares.show(*rate),
                Cell::Absent(absence) if at == 0 => absence.phrase().to_owned(),
                Cell::Absent(_) if spanning_absence(row).is_some() => String::new(),
                Cell::Absent(_) => ABSENT.to_owned(),
                Cell::Blank => String::new(),
            });
        }
        let width = texts.iter().chain(&heads).map(|text| characters(text)).max().unwrap_or(0);
        Self { group: column.group, heads, cells: texts, width, style }
    }

    fn pad(&self, text: &str, width: usize) -> String {
        match self.style {
            Style::Shares => format!("{text:>width$}"),
            Style::Words | Style::Prose => format!("{text:<width$}"),
        }
    }

    /// The width below which it cannot go.
    fn least_width(&self) -> usize {
        if self.style == Style::Prose { self.width.min(LEAST_PROSE) } else { self.width }
    }
}

/// The widths of a share's pieces in one column.
struct ShareWidths {
    count: usize,
    size: usize,
    denominator: usize,
    percentage: usize,
    is_long: bool,
    gap: usize,
}

impl ShareWidths {
    fn of<'a>(cells: impl Iterator<Item = &'a Cell>, is_long: bool, gaps: Gaps) -> Self {
        let mut widths = Self { count: 0, size: 0, denominator: 0, percentage: 0, is_long, gap: gaps.percentage };
        for cell in cells {
            let Cell::Rate(rate) = cell else { continue };
            widths.count = widths.count.max(thousands(rate.numerator()).len());
            widths.size = widths.size.max(thousands(rate.size()).len());
            widths.denominator = widths.denominator.max(rate.denominator().word().len());
            widths.percentage = widths.percentage.max(characters(&share(*rate)));
        }
        widths
    }

    fn show(&self, rate: Rate) -> String {
        let Self { count, size, denominator, percentage, is_long, gap } = *self;
        let numerator = thousands(rate.numerator());
        let share = share(rate);
        if is_long {
            let of = thousands(rate.size());
            let name = rate.denominator();
            format!("{numerator:>count$} of {of:>size$} {name:<denominator$}{:gap$}{share:>percentage$}", "")
        } else {
            format!("{numerator:>count$}{:gap$}{share:>percentage$}", "")
        }
    }
}

fn share(rate: Rate) -> String {
    rate.share().map_or_else(|| ABSENT.to_owned(), percent)
}

/// What all shares among the cells are shares of, if that is one thing.
fn shared_denominator<'a>(cells: impl Iterator<Item = &'a Cell>) -> Option<(Denominator, u64)> {
    let mut rates = cells.filter_map(|cell| match cell {
        Cell::Rate(rate) => Some((rate.denominator(), rate.size())),
        _ => None,
    });
    let first = rates.next()?;
    rates.all(|other| other == first).then_some(first)
}

/// Why a row has no values at all.
fn spanning_absence(row: &Row) -> Option<Absence> {
    let (_, values) = row.cells.split_first()?;
    let Some(Cell::Absent(absence)) = values.first() else { return None };
    values.iter().all(|cell| *cell == Cell::Absent(*absence)).then_some(*absence)
}

fn total_width(drawn: &[Drawn], gaps: Gaps) -> usize {
    let widths: usize = drawn.iter().map(Drawn::least_width).sum();
    widths + gaps.column * drawn.len().saturating_sub(1)
}

/// How many columns say what a row is about: the words before its shares, two at most.
fn key_columns(drawn: &[Drawn]) -> usize {
    let words = drawn.iter().take_while(|column| column.style == Style::Words && column.group.is_none()).count();
    if drawn.get(words).is_some_and(|column| column.style == Style::Shares) { words.clamp(1, 2) } else { 1 }
}

/// Which columns stand side by side; columns of one group stay together.
fn blocks(drawn: &[Drawn], gaps: Gaps, width: usize) -> Vec<Vec<usize>> {
    if drawn.is_empty() {
        return Vec::new();
    }
    let keys = key_columns(drawn);
    let keys_width = drawn[..keys].iter().map(|column| column.width + gaps.column).sum::<usize>() - gaps.column;
    let mut blocks = vec![(0..keys).collect::<Vec<_>>()];
    let mut used = keys_width;
    let mut at = keys;
    while at < drawn.len() {
        let group = drawn[at].group;
        let end = if group.is_none() {
            at + 1
        } else {
            at + drawn[at..].iter().take_while(|column| column.group == group).count()
        };
        let needed: usize = drawn[at..end].iter().map(|column| gaps.column + column.least_width()).sum();
        if used + needed > width && blocks.last().is_some_and(|block| block.len() > keys) {
            blocks.push((0..keys).collect());
            used = keys_width;
        }
        used += needed;
        if let Some(block) = blocks.last_mut() {
            block.extend(at..end);
        }
        at = end;
    }
    blocks
}

/// Writes the heads and rows of the columns that stand side by side.
fn block_lines(drawn: &[Drawn], block: &[usize], rows: &[Row], gaps: Gaps, width: usize, lines: &mut Vec<String>) {
    let columns: Vec<&Drawn> = block.iter().map(|at| &drawn[*at]).collect();
    let mut widths: Vec<usize> = columns.iter().map(|column| column.width).collect();
    let before: usize = widths.iter().rev().skip(1).map(|width| width + gaps.column).sum();
    if let (Some(last), Some(column)) = (widths.last_mut(), columns.last())
        && column.style == Style::Prose
    {
        *last = width.saturating_sub(before).max(LEAST_PROSE);
    }

    let gap = " ".repeat(gaps.column);
    let mut push = |cells: &[String]| lines.push(cells.join(&gap).trim_end().to_owned());
    if let Some(groups) = group_line(&columns, &mut widths, gaps) {
        push(&[groups]);
    }
    for head in 0..2 {
        if head == 0 || columns.iter().any(|column| !column.heads[head].is_empty()) {
            let heads = columns.iter().zip(&widths).map(|(column, width)| column.pad(&column.heads[head], *width));
            push(&heads.collect::<Vec<_>>());
        }
    }
    for (number, row) in rows.iter().enumerate() {
        if let Some(absence) = spanning_absence(row) {
            push(&[columns[0].pad(&columns[0].cells[number], widths[0]), absence.phrase().to_owned()]);
            continue;
        }
        let mut cells: Vec<String> =
            columns.iter().zip(&widths).map(|(column, width)| column.pad(&column.cells[number], *width)).collect();
        let is_prose = columns.last().is_some_and(|column| column.style == Style::Prose);
        let mut prose = Vec::new();
        if let (true, Some(last), Some(width)) = (is_prose, cells.last_mut(), widths.last()) {
            prose = wrap(last, *width);
            *last = prose.first().cloned().unwrap_or_default();
        }
        push(&cells);
        for rest in prose.into_iter().skip(1) {
            push(&[format!("{:1$}{rest}", "", before)]);
        }
    }
}

/// The line of titles that neighbours share, each with a rule as wide as its columns; widens columns where it must.
fn group_line(columns: &[&Drawn], widths: &mut [usize], gaps: Gaps) -> Option<String> {
    columns.iter().find(|column| column.group.is_some())?;
    let mut line = String::new();
    let mut at = 0;
    while at < columns.len() {
        let group = columns[at].group;
        let end = at + columns[at..].iter().take_while(|column| column.group == group).count();
        let title = group.unwrap_or_default();
        let mut span = widths[at..end].iter().sum::<usize>() + gaps.column * (end - at - 1);
        let needed = if group.is_some() { characters(title) + 4 } else { 0 };
        if needed > span {
            widths[at] += needed - span;
            span = needed;
        }
        if group.is_some() {
            line.extend(["─ ", title, " ", &"─".repeat(span - characters(title) - 3)]);
        } else {
            line += &" ".repeat(span);
        }
        line += &" ".repeat(gaps.column);
        at = end;
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_too_wide_is_broken_between_groups_and_repeats_its_first_column() {
        let rate = |hosts| Cell::Rate(Rate::new(hosts, Denominator::Determinable, 1_234_567));
        let columns = [
            Column::new("agent", "agent"),
            Column::grouped("full", "closed", "full"),
            Column::grouped("none", "closed", "none"),
            Column::grouped("stricter", "than if not named", "stricter"),
        ];
        let rows = [
            Row::new(vec![Cell::Word("GPTBot".into()), rate(1_000_000), rate(234_567), rate(99_999)]),
            Row::new(vec![Cell::Word("CCBot".into()), rate(0), rate(1_234_567), Cell::Absent(Absence::NotKnown)]),
        ];
        insta::assert_snapshot!(lines(&columns, &rows, 50).join("\n"), @r"
        Hosts, and their share of 1,234,567 determinable hosts:
                 ─ closed ───────────────────────────
        agent                full                none
        GPTBot   1,000,000  81.0%     234,567   19.0%
        CCBot            0   0.0%   1,234,567  100.0%

                 ─ than if not named ─
        agent                 stricter
        GPTBot            99,999  8.1%
        CCBot                        –
        – not known
        ");
    }

    #[test]
    fn shares_of_different_things_each_name_theirs() {
        let rate = |hosts, denominator, size| Cell::Rate(Rate::new(hosts, denominator, size));
        let columns = [Column::new("stage", "stage"), Column::new("share", "of the stage before")];
        let rows = [
            Row::new(vec![Cell::Word("resolved".into()), rate(8_331, Denominator::Listed, 9_997)]),
            Row::inside(vec![Cell::Word("a\u{7}b".into()), rate(94, Denominator::Resolved, 8_331)]),
            Row::new(vec![Cell::Word("nobody".into()), rate(0, Denominator::Readable, 0)]),
        ];
        insta::assert_snapshot!(lines(&columns, &rows, 80).join("\n"), @r"
        stage                  of the stage before
        resolved    8,331 of 9,997 listed    83.3%
          a\u{7}b      94 of 8,331 resolved   1.1%
        nobody          0 of     0 readable      –
        ");
    }
}
