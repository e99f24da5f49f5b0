//! Snapshots side by side: the figures, and the hosts that differ, as text, CSV and JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::json::{Answers, Printable, RateValue};
use super::number::thousands;
use super::text::{write_prose, write_section, write_title};
use super::wrap::{characters, wrap};
use super::{Heading, csv, escape};
use crate::outcome::Outcome;
use crate::stats::{Answer, Change, Depth, LineChange, Rate, Step};

crate::words! {
    /// How a comparison is written.
    pub enum ComparisonFormat {
        /// For a terminal.
        Text = "text",
        /// The hosts of a diff, or the figures of a trend, one fact a line.
        Csv = "csv",
        /// Everything, for machines.
        Json = "json",
    }
}

/// What stands above a comparison, and what it has.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// The title, for people.
    pub title: String,
    /// What the figures rest on; its list and date are not shown.
    pub heading: Heading,
    /// The snapshots, in their order.
    pub snapshots: Vec<String>,
    /// What a reader must know: what was judged again, what is unfinished.
    pub notes: Vec<String>,
    /// The figures.
    pub answers: &'a [Answer],
    /// Every host that differs; nothing where more than two snapshots are compared.
    pub changes: Option<&'a [Change]>,
    /// Those of them that are shown to people, group by group.
    pub groups: Vec<Group<'a>>,
    /// The agents, by their places.
    pub agents: &'a [String],
}

/// Hosts that have something in common, the first of them listed.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The stable word.
    pub word: &'static str,
    /// The title, for people.
    pub title: &'static str,
    /// How many there are.
    pub rate: Rate,
    /// Those that are listed.
    pub listed: Vec<&'a Change>,
    /// For each of them the lines that changed; nothing where lines do not matter.
    pub lines: Option<Vec<Vec<LineChange>>>,
}

/// Lines of a host that a terminal gets.
const LINES: usize = 12;

/// Characters of a line that a terminal gets.
const LINE_WIDTH: usize = 90;

/// Writes a comparison.
pub fn write_comparison(format: ComparisonFormat, comparison: &Comparison<'_>, out: &mut impl Write) -> io::Result<()> {
    match (format, comparison.changes) {
        (ComparisonFormat::Text, _) => write_text(comparison, out),
        (ComparisonFormat::Csv, Some(changes)) => csv::write_hosts(changes, comparison.agents, out),
        (ComparisonFormat::Csv, None) => csv::write_figures(comparison.answers, out),
        (ComparisonFormat::Json, _) => write_json(comparison, out),
    }
}

fn write_text(comparison: &Comparison<'_>, out: &mut impl Write) -> io::Result<()> {
    write_title(&escape(&comparison.title).to_string(), &comparison.heading, out)?;
    for note in &comparison.notes {
        write_prose(&escape(note).to_string(), out)?;
    }
    for section in comparison.answers.iter().flat_map(|answer| &answer.sections) {
        writeln!(out)?;
        if section.depth <= Depth::Detail {
            write_section(&comparison.heading, section, out)?;
        }
    }
    comparison.groups.iter().try_for_each(|group| write_group(group, comparison.agents, out))
}

fn write_group(group: &Group<'_>, agents: &[String], out: &mut impl Write) -> io::Result<()> {
    let Group { word: _, title, rate, listed, lines } = group;
    writeln!(out)?;
    writeln!(out, "{title}")?;
    writeln!(out, "{}", "─".repeat(characters(title)))?;
    let all = thousands(rate.numerator());
    let more = if listed.len() as u64 == rate.numerator() {
        String::new()
    } else {
        format!("; the first {} are listed, --all lists them all", thousands(listed.len() as u64))
    };
    write_prose(&format!("{all} of {} {} hosts{more}.", thousands(rate.size()), rate.denominator()), out)?;
    if listed.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let Some(lines) = lines else {
        let names: Vec<String> = listed.iter().map(|change| in_brief(change)).collect();
        return wrap(&names.join(", "), 98).iter().try_for_each(|line| writeln!(out, "  {line}"));
    };
    for (change, lines) in listed.iter().zip(lines) {
        writeln!(out, "  {}  ({})", escape(&change.host), in_words(change))?;
        for line in wrap(&levels_in_words(&change.steps, agents), 94) {
            writeln!(out, "    {line}")?;
        }
        let signed = lines.iter().map(|line| match line {
            LineChange::Removed(line) => ('-', line),
            LineChange::Added(line) => ('+', line),
        });
        // A comment closes nothing, and some are long.
        let mut shown = 0;
        for (sign, line) in signed.filter(|(_, line)| !line.text.starts_with('#')).take(LINES) {
            shown += 1;
            let text: String = line.text.chars().take(LINE_WIDTH).collect();
            let cut = if text.len() < line.text.len() { " ..." } else { "" };
            writeln!(out, "    {sign} {:>4}  {}{cut}", line.number, escape(&text))?;
        }
        if lines.len() > shown {
            writeln!(out, "    and {} more lines, comments among them", thousands((lines.len() - shown) as u64))?;
        }
    }
    Ok(())
}

/// A host in a list of names, with its outcomes where they differ.
fn in_brief(change: &Change) -> String {
    let host = escape(&change.host);
    match change.outcomes {
        (Some(before), Some(after)) if before != after => {
            format!("{host} ({before} → {after})", before = before.word(), after = after.word())
        }
        _ => host.to_string(),
    }
}

fn in_words(change: &Change) -> String {
    let word = |outcome: Option<Outcome>| outcome.map_or("not there", Outcome::word);
    match change.outcomes {
        (before, after) if before == after => change.cause.word().to_owned(),
        (before, after) => format!("{}: {} → {}", change.cause.word(), word(before), word(after)),
    }
}

/// `GPTBot, CCBot: partial → full`, agents that made the same step together.
fn levels_in_words(steps: &[Step], agents: &[String]) -> String {
    let mut together: Vec<(&Step, Vec<&str>)> = Vec::new();
    for step in steps {
        let agent = match agents[step.agent].as_str() {
            "*" => "an unnamed crawler",
            agent => agent,
        };
        match together.iter_mut().find(|(known, _)| (known.from, known.to) == (step.from, step.to)) {
            Some((_, agents)) => agents.push(agent),
            None => together.push((step, vec![agent])),
        }
    }
    let mut text = String::new();
    for (number, (step, agents)) in together.into_iter().enumerate() {
        let gap = if number > 0 { "; " } else { "" };
        write!(text, "{gap}{}: {} → {}", escape(&agents.join(", ")), step.from, step.to)
            .expect("writing to a string cannot fail");
    }
    text
}

fn write_json(comparison: &Comparison<'_>, out: &mut impl Write) -> io::Result<()> {
    let Comparison { title: _, heading, snapshots, notes, answers, changes, groups, agents } = comparison;
    let mut document = json!({
        "snapshots": snapshots,
        "definition": heading.definition,
        "definition_says": heading.definition_says,
        "dialect": heading.dialect,
        "is_rehearsal": heading.is_rehearsal,
        "notes": notes,
        "answers": serde_json::to_value(Answers(answers))?,
    });
    if changes.is_some() {
        let groups = groups.iter().map(|group| group_value(group, agents)).collect::<Result<Vec<_>, _>>()?;
        document["hosts"] = Value::Array(groups);
    }
    writeln!(out, "{}", Printable(&serde_json::to_string_pretty(&document)?))
}

fn group_value(group: &Group<'_>, agents: &[String]) -> serde_json::Result<Value> {
    let Group { word, title, rate, listed, lines } = group;
    let mut hosts: Vec<Value> = listed.iter().map(|change| change_value(change, agents)).collect();
    if let Some(lines) = lines {
        for (host, lines) in hosts.iter_mut().zip(lines) {
            host["lines"] = lines.iter().map(line_value).collect();
        }
    }
    Ok(json!({
        "group": word,
        "title": title,
        "count": serde_json::to_value(RateValue(*rate))?,
        "listed": listed.len(),
        "hosts": hosts,
    }))
}

fn change_value(change: &Change, agents: &[String]) -> Value {
    let step = |step: &Step| {
        json!({
            "agent": agents[step.agent],
            "from": step.from.word(),
            "to": step.to.word(),
            "from_by": step.from_by.map(crate::robots::By::word),
            "to_by": step.to_by.map(crate::robots::By::word),
        })
    };
    json!({
        "host": change.host,
        "cause": change.cause.word(),
        "direction": change.direction().map(crate::stats::Direction::word),
        "outcome_before": change.outcomes.0.map(Outcome::word),
        "outcome_after": change.outcomes.1.map(Outcome::word),
        "levels": change.steps.iter().map(step).collect::<Vec<_>>(),
        "named": change.named.iter().map(AsRef::as_ref).collect::<Vec<&str>>(),
        "no_longer_named": change.no_longer_named.iter().map(AsRef::as_ref).collect::<Vec<&str>>(),
        "signals_came": change.signals_came.iter().map(AsRef::as_ref).collect::<Vec<&str>>(),
        "signals_went": change.signals_went.iter().map(AsRef::as_ref).collect::<Vec<&str>>(),
    })
}

fn line_value(change: &LineChange) -> Value {
    let (sign, line) = match change {
        LineChange::Removed(line) => ("removed", line),
        LineChange::Added(line) => ("added", line),
    };
    json!({ "change": sign, "line": line.number, "text": line.text })
}
