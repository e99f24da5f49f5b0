//! Why a file means what it means for an agent: as text for a person, as JSON for a machine.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::classify::definitions::{Definition, Parser};
use crate::classify::row::Restriction;
use crate::classify::signals::{Found, Scope, drafts_of};
use crate::classify::templates::Decision as Decided;
use crate::classify::{Author, Explanation, Level, Quote, Ranked, ReadingOf, Said, Wrote};
use crate::outcome::Outcome;
use crate::report::escape::escape;
use crate::report::json::Printable;
use crate::report::wrap::wrap;
use crate::robots::{By, Dialect};

/// What is explained, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The host or file.
    pub name: String,
    /// The agent.
    pub agent: String,
    /// The path.
    pub path: String,
    /// Where the bytes come from, in words.
    pub source: String,
    /// The URL that gave them, where one did.
    pub url: Option<String>,
    /// What happened when it was asked; for a file, what a server that sends it would count as.
    pub outcome: Outcome,
    /// Whether the limit of size cut the file, so that only its whole lines are judged.
    pub is_truncated: bool,
    /// Signals in the head of the response, where it is known.
    pub hints: Vec<Found>,
}

const WIDTH: usize = 100;
const LABEL: usize = 12;
/// Characters of a quoted line that are shown; a file may hold lines of any length.
const LONGEST_QUOTE: usize = 120;
/// Lines of a list of names that are shown.
const LONGEST_LIST: usize = 6;

/// Writes an explanation for a terminal; without one the outcome gives no verdict.
pub fn write_text(subject: &Subject, explanation: Option<&Explanation>, out: &mut impl Write) -> io::Result<()> {
    let Subject { name, agent, path, source, url, outcome, is_truncated, hints } = subject;
    writeln!(out, "{}, agent {}, path {}", escape(name), escape(agent), escape(path))?;
    write_field("Source", &escape(source).to_string(), out)?;
    if let Some(url) = url {
        write_field("", &escape(url).to_string(), out)?;
    }
    write_field("Outcome", &format!("{outcome}: {}", outcome.doc(), outcome = outcome.word()), out)?;
    if *is_truncated {
        write_field("", "The file is longer than what was kept; its whole lines are judged.", out)?;
    }
    let Some(explanation) = explanation else {
        write_field("Verdict", "unknown: what came is no robots.txt file, so no rule was stated.", out)?;
        let effects = format!(
            "By RFC 9309 a crawler derives {}, by Google's documentation {}.",
            outcome.effect_rfc().word(),
            outcome.effect_google().word()
        );
        write_field("", &effects, out)?;
        return write_hints(hints, out);
    };
    let is_same = |reading: &ReadingOf| {
        let first = &explanation.readings[0];
        ReadingOf { dialect: first.dialect, ..reading.clone() } == *first
    };
    if explanation.readings.iter().all(is_same) {
        write_reading(&explanation.readings[0], "in both dialects", out)?;
    } else {
        for reading in &explanation.readings {
            write_reading(reading, &format!("in dialect {}", reading.dialect), out)?;
        }
    }
    write_levels(&explanation.levels, out)?;
    write_signals(explanation, out)?;
    write_hints(hints, out)?;
    write_author(&explanation.author, out)?;
    write_oddities(explanation, out)
}

fn write_reading(reading: &ReadingOf, which: &str, out: &mut impl Write) -> io::Result<()> {
    writeln!(out)?;
    write_field("Verdict", &format!("{}, {which}", verdict(reading)), out)?;
    write_field("Group", &group(reading), out)?;
    for quote in &reading.naming {
        write_line("", &quoted(quote), out)?;
    }
    match reading.ranking.as_slice() {
        [] => write_field("Decided by", undecided(reading), out),
        [first, rest @ ..] => {
            write_line("Decided by", &ranked(first), out)?;
            match rest {
                [] => write_field("Second", "no other rule matches", out),
                [second, ..] => write_line("Second", &ranked(second), out),
            }
        }
    }
}

const fn verdict(reading: &ReadingOf) -> &'static str {
    if reading.decision.allowed { "allow" } else { "disallow" }
}

fn group(reading: &ReadingOf) -> String {
    let why = match reading.by {
        By::Named => "the file names the agent",
        By::Wildcard => "no group names the agent, so that of * applies",
        By::Default => return "default: no group names the agent, and there is none for *".to_owned(),
    };
    let groups = match reading.groups.as_slice() {
        [one] => format!("the group at line {one}"),
        several => {
            let lines: Vec<String> = several.iter().take(8).map(ToString::to_string).collect();
            let more = if several.len() > lines.len() {
                format!(" and {} more", several.len() - lines.len())
            } else {
                String::new()
            };
            format!("{} groups as one, at lines {}{more}", several.len(), lines.join(", "))
        }
    };
    format!("{}: {why}; {groups}, {}", reading.by, plural(u64::from(reading.rule_count), "rule"))
}

const fn undecided(reading: &ReadingOf) -> &'static str {
    if reading.match_count > 0 {
        "no rule: the file itself may always be fetched (RFC 9309, section 2.2.2)"
    } else {
        "no rule matches the path, so it is allowed"
    }
}

fn ranked(Ranked { quote, octets }: &Ranked) -> String {
    format!("{}   ({})", quoted(quote), plural(u64::from(*octets), "octet"))
}

fn quoted(Quote { line, text }: &Quote) -> String {
    let mut shown: String = text.chars().take(LONGEST_QUOTE).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("line {line}: {}", escape(&shown))
}

fn plural(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn write_levels(levels: &[Level], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\nRestriction under each definition (`survey definitions` explains them)")?;
    let [first, second] = [Dialect::Rfc9309, Dialect::Google];
    writeln!(out, "  {:<LABEL$}{:<10}{}", "", first.word(), second.word())?;
    for Level { definition, by_dialect, parser } in levels {
        let word = |place: usize| by_dialect[place].map_or("-", Restriction::word);
        match parser {
            Parser::Own => writeln!(out, "  {definition:<LABEL$}{} by its own parser", word(0))?,
            _ => writeln!(out, "  {definition:<LABEL$}{:<10}{}", word(0), word(1))?,
        }
    }
    Ok(())
}

fn write_signals(explanation: &Explanation, out: &mut impl Write) -> io::Result<()> {
    if explanation.signals.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nSignals in the file (`survey signals` explains them)")?;
    let mut last = 0;
    for Said { found, quote } in &explanation.signals {
        if quote.line != last {
            last = quote.line;
            writeln!(out, "  {}", quoted(quote))?;
        }
        writeln!(out, "    {}", signal(found))?;
    }
    if explanation.has_more_signals {
        writeln!(out, "  and more, which are not kept")?;
    }
    Ok(())
}

fn write_hints(hints: &[Found], out: &mut impl Write) -> io::Result<()> {
    if hints.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nSignals in the head of the response, about this response only")?;
    hints.iter().try_for_each(|found| writeln!(out, "    {}", signal(found)))
}

/// A signal on one line: its kind, what it says, to whom, and what that comes to.
fn signal(found: &Found) -> String {
    let short = |text: &str| {
        let mut shown: String = text.chars().take(LONGEST_QUOTE).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        escape(&shown).to_string()
    };
    let Found { kind, scope, path, key, value, meaning, .. } = found;
    let drafts = match key {
        Some(key) if *kind == "content-usage" => drafts_of(key)
            .map_or_else(|| " (label of no draft)".to_owned(), |drafts| format!(" (label of draft {drafts})")),
        _ => String::new(),
    };
    let said = match (key, value) {
        (Some(key), Some(value)) => format!(" {}={}{drafts}", short(key), short(value)),
        (Some(only), None) | (None, Some(only)) => format!(" {}{drafts}", short(only)),
        (None, None) => String::new(),
    };
    let path = path.as_deref().map_or_else(String::new, |path| format!(" for {}", short(path)));
    let to = match scope {
        Scope::Group { tokens, .. } => format!("to {}", short(tokens)),
        Scope::Orphan => "to nobody: before the first group".to_owned(),
        Scope::File => "to all".to_owned(),
        Scope::Response => "about this response".to_owned(),
    };
    format!("{kind}{said}{path}, {to}: {meaning}")
}

fn write_author(author: &Author, out: &mut impl Write) -> io::Result<()> {
    let Author { templates, decided, own_named_agents, unmanaged } = author;
    if templates.is_empty() && *decided == Decided::None {
        return Ok(());
    }
    writeln!(out, "\nWho wrote the file (`survey templates` explains them)")?;
    for Wrote { found, quote } in templates {
        let version = found.version.as_deref().map_or_else(String::new, |version| format!(" {version}"));
        let last_line = found.last_line.map_or_else(String::new, |last| format!(", to line {last}"));
        writeln!(out, "  {}{version}, {}{last_line}", found.template, quoted(quote))?;
    }
    for line in wrap(&format!("AI rules decided by: {decided}. {}", decided.doc()), WIDTH - 2) {
        writeln!(out, "  {line}")?;
    }
    if !own_named_agents.is_empty() {
        let names = format!("Named by the site itself: {}", own_named_agents.join(", "));
        let shown = wrap(&escape(&names).to_string(), WIDTH - 2);
        shown.iter().take(LONGEST_LIST).try_for_each(|line| writeln!(out, "  {line}"))?;
        if shown.len() > LONGEST_LIST {
            writeln!(out, "  and more")?;
        }
    }
    if let Some((decision, line)) = unmanaged {
        let verdict = if decision.allowed { "allow" } else { "disallow" };
        let by = line.as_ref().map_or_else(|| "no rule matches".to_owned(), quoted);
        writeln!(out, "  Without the managed blocks: {verdict}, {by}")?;
    }
    Ok(())
}

fn write_oddities(explanation: &Explanation, out: &mut impl Write) -> io::Result<()> {
    if explanation.oddities.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nOddities of the file")?;
    for odd in &explanation.oddities {
        let more = match odd.finding.count - 1 {
            0 => String::new(),
            more => format!(", and on {} more", plural(u64::from(more), "line")),
        };
        writeln!(out, "  {}, {}{more}", odd.finding.oddity, quoted(&odd.quote))?;
        for line in wrap(odd.finding.oddity.doc(), WIDTH - 4) {
            writeln!(out, "    {line}")?;
        }
    }
    Ok(())
}

/// A label and its text, which goes on below itself.
fn write_field(label: &str, text: &str, out: &mut impl Write) -> io::Result<()> {
    let mut lines = wrap(text, WIDTH - LABEL).into_iter();
    write_line(label, &lines.next().unwrap_or_default(), out)?;
    lines.try_for_each(|line| write_line("", &line, out))
}

/// A label and a text on one line, however long, so that what is quoted can be searched for.
fn write_line(label: &str, text: &str, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", format!("{label:<LABEL$}{text}").trim_end())
}

/// Writes an explanation as one JSON object.
pub fn write_json(subject: &Subject, explanation: Option<&Explanation>, out: &mut impl Write) -> io::Result<()> {
    let Subject { name, agent, path, source, url, outcome, is_truncated, hints } = subject;
    let document = json!({
        "name": name,
        "agent": agent,
        "path": path,
        "source": source,
        "url": url,
        "outcome": outcome.word(),
        "outcome_class": outcome.class().word(),
        "effect_rfc": outcome.effect_rfc().word(),
        "effect_google": outcome.effect_google().word(),
        "is_truncated": is_truncated,
        "dialects": explanation.map(|explanation| explanation.readings.iter().map(reading_value).collect::<Vec<_>>()),
        "definitions": explanation.map(|explanation| explanation.levels.iter().map(level_value).collect::<Vec<_>>()),
        "signals": explanation.map(|explanation| {
            explanation.signals.iter().map(|said| signal_value(&said.found, Some(&said.quote))).collect::<Vec<_>>()
        }),
        "has_more_signals": explanation.map(|explanation| explanation.has_more_signals),
        "author": explanation.map(|explanation| author_value(&explanation.author)),
        "hints": hints.iter().map(|found| signal_value(found, None)).collect::<Vec<_>>(),
        "oddities": explanation.map(|explanation| {
            let odd = explanation.oddities.iter().map(|odd| json!({
                "oddity": odd.finding.oddity.word(),
                "line": odd.finding.line,
                "count": odd.finding.count,
                "text": odd.quote.text,
            }));
            odd.collect::<Vec<_>>()
        }),
    });
    writeln!(out, "{}", Printable(&serde_json::to_string_pretty(&document)?))
}

fn reading_value(reading: &ReadingOf) -> Value {
    let quote = |Quote { line, text }: &Quote| json!({ "line": line, "text": text });
    let rank =
        |ranked: &Ranked| json!({ "line": ranked.quote.line, "text": ranked.quote.text, "octets": ranked.octets });
    json!({
        "dialect": reading.dialect.word(),
        "verdict": verdict(reading),
        "line": reading.decision.line,
        "group": reading.by.word(),
        "named_by": reading.naming.iter().map(quote).collect::<Vec<_>>(),
        "group_lines": reading.groups,
        "rules": reading.rule_count,
        "matching_rules": reading.match_count,
        "decided_by": reading.ranking.first().map(rank),
        "second": reading.ranking.get(1).map(rank),
    })
}

fn author_value(author: &Author) -> Value {
    let Author { templates, decided, own_named_agents, unmanaged } = author;
    let template = |Wrote { found, quote }: &Wrote| {
        json!({
            "template": found.template,
            "version": found.version,
            "decision": found.decision.word(),
            "line": found.line,
            "last_line": found.last_line,
            "text": quote.text,
        })
    };
    json!({
        "templates": templates.iter().map(template).collect::<Vec<_>>(),
        "decision": decided.word(),
        "own_named_agents": own_named_agents,
        "unmanaged": unmanaged.as_ref().map(|(decision, _)| {
            json!({ "verdict": if decision.allowed { "allow" } else { "disallow" }, "line": decision.line })
        }),
    })
}

fn signal_value(found: &Found, quote: Option<&Quote>) -> Value {
    json!({
        "kind": found.kind,
        "scope": found.scope.text(),
        "path": found.path,
        "key": found.key,
        "value": found.value,
        "line": found.line,
        "source": found.source.word(),
        "meaning": found.meaning.word(),
        "text": quote.map(|quote| &quote.text),
    })
}

fn level_value(level: &Level) -> Value {
    let levels = Dialect::ALL.iter().zip(&level.by_dialect);
    let levels = levels.map(|(dialect, level)| (dialect.word().to_owned(), json!(level.map(Restriction::word))));
    json!({
        "definition": level.definition,
        "parser": level.parser.word(),
        "restriction": Value::Object(levels.collect()),
        "source": Definition::named(level.definition).map(|definition| definition.source),
    })
}
