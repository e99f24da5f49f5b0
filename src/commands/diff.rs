//! `survey diff`: what changed between two snapshots, host by host.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::again::{AgainArgs, Comparable, Opened};
use crate::cli::Output;
use crate::progress::Counter;
use crate::report::{Comparison, ComparisonFormat, Group, thousands, write_comparison};
use crate::snapshot::Snapshot;
use crate::stats::{Body, Cause, Change, Diff, Direction, Section, changed_lines, diff};

/// Compare two snapshots, host by host: what was closed and opened, and why
///
/// Policies are compared on the balanced panel, the hosts with a verdict in both snapshots; outcomes, attrition, hosts in
/// one snapshot only and mere noise are counted apart. Snapshots that were judged differently are judged again first.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct DiffArgs {
    /// The earlier snapshot: a list's folder (its latest complete one), FOLDER@DATE, or a date's data folder
    #[arg(value_name = "OLD")]
    old: String,

    /// The later snapshot
    #[arg(value_name = "NEW")]
    new: String,

    #[command(flatten)]
    again: AgainArgs,

    /// How it is written: text, csv (every host that differs, a line for each thing in which it does) or json
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = parse_format)]
    format: ComparisonFormat,

    /// Hosts of each kind that are listed in text and JSON
    #[arg(long, value_name = "N", default_value_t = 20)]
    list: usize,

    /// List every host
    #[arg(long, conflicts_with = "list")]
    all: bool,

    /// Exit with code 3 if something is found
    #[arg(long, value_name = "WHAT", value_enum)]
    fail_on: Option<Alarm>,
}

/// What makes a diff end with exit code 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Alarm {
    /// More is closed to one of the agents on some host
    Tighten,
    /// Anything differs but noise and the catalogue
    Any,
}

/// The exit code of an alarm.
const ALARMED: u8 = 3;

const EXAMPLES: &str = "\
Examples:
  What changed in a week
      survey diff snapshots/top10k@2026-11-30 snapshots/top10k@2026-12-07

  Every host on which something changed for two agents, for a spreadsheet
      survey diff OLD NEW --agents GPTBot,CCBot --format csv > changes.csv

  A gate for one's own sites: exit code 3 if a deployment has closed more to a crawler than before
      survey diff OLD NEW --fail-on tighten

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 what --fail-on names was found.";

pub(super) fn run(args: &DiffArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let snapshots = [&args.old, &args.new].map(|name| Opened::open(&Snapshot::locate(name)?));
    let [before, after] = snapshots;
    let comparable = Comparable::new(vec![before?, after?], &args.again)?;
    let format = if output.json { ComparisonFormat::Json } else { args.format };
    if !output.quiet && format == ComparisonFormat::Csv {
        let counter = Counter::new("");
        comparable.notes.iter().for_each(|note| counter.note(note));
    }
    let sources = comparable.sources();
    let [before, after] = sources.as_slice() else { unreachable!("two snapshots were opened") };
    let mut found = diff(before, after, &comparable.tracked, comparable.dialect)?;
    let limit = if args.all { usize::MAX } else { args.list };
    if format == ComparisonFormat::Text {
        found.answers.iter_mut().flat_map(|answer| &mut answer.sections).for_each(|section| shorten(section, limit));
    }
    let mut groups = groups(&found, limit);
    if format != ComparisonFormat::Csv {
        for group in groups.iter_mut().filter(|group| group.lines.is_some()) {
            group.lines = Some(changed_lines(before.parts, after.parts, &group.listed)?);
        }
    }
    let names: Vec<String> = comparable.snapshots.iter().map(|snapshot| snapshot.name.clone()).collect();
    let comparison = Comparison {
        title: format!("{} compared with {}", names[1], names[0]),
        heading: comparable.heading.clone(),
        snapshots: names,
        notes: comparable.notes.clone(),
        answers: &found.answers,
        changes: Some(&found.changes),
        groups,
        agents: comparable.tracked.tokens(),
    };
    let mut out = BufWriter::new(io::stdout().lock());
    write_comparison(format, &comparison, &mut out).and_then(|()| out.flush()).context("writing to standard output")?;
    let is_alarmed = match args.fail_on {
        Some(Alarm::Tighten) => found.has_tightened(),
        Some(Alarm::Any) => found.has_changed(),
        None => false,
    };
    Ok(if is_alarmed { ExitCode::from(ALARMED) } else { ExitCode::SUCCESS })
}

/// Sections whose rows are as many as what came up.
const LONG: [&str; 3] = ["named", "signals", "outcomes"];

/// Leaves the first rows of a long section, and says so.
fn shorten(section: &mut Section, limit: usize) {
    if let Body::Table { columns: _, rows } = &mut section.body
        && LONG.contains(&section.name)
        && rows.len() > limit
    {
        let all = thousands(rows.len() as u64);
        section.notes.push(format!("The first {limit} of {all} lines; --all shows them all.").into());
        rows.truncate(limit);
    }
}

/// The hosts that are shown: by direction with their lines, then all by cause.
fn groups(found: &Diff, limit: usize) -> Vec<Group<'_>> {
    let listed = |is_it: &dyn Fn(&Change) -> bool| -> Vec<&Change> {
        found.changes.iter().filter(|change| is_it(change)).take(limit).collect()
    };
    let directions = [
        (Direction::Tightened, "Hosts that tightened"),
        (Direction::Loosened, "Hosts that loosened"),
        (Direction::Mixed, "Hosts that tightened for some agents and loosened for others"),
    ];
    let by_direction = directions.into_iter().map(|(direction, title)| Group {
        word: direction.word(),
        title,
        rate: found.rate_towards(direction),
        listed: listed(&|change| change.direction() == Some(direction)),
        lines: Some(Vec::new()),
    });
    let causes = [
        (Cause::Own, "Own decision of the site"),
        (Cause::Platform, "Template of a platform or CDN"),
        (Cause::OwnOrPlatform, "Site or platform, not known which"),
        (Cause::Outcome, "Another outcome"),
        (Cause::Catalogue, "Catalogue or definition only"),
        (Cause::Noise, "Noise: other bytes, same rules"),
        (Cause::OnlyBefore, "In the earlier snapshot only"),
        (Cause::OnlyAfter, "In the later snapshot only"),
    ];
    let by_cause = causes.into_iter().map(|(cause, title)| Group {
        word: cause.word(),
        title,
        rate: found.rate_of(cause),
        listed: listed(&|change| change.cause == cause),
        lines: None,
    });
    by_direction.chain(by_cause).filter(|group| group.rate.numerator() > 0).collect()
}

fn parse_format(word: &str) -> Result<ComparisonFormat, String> {
    ComparisonFormat::from_word(word).ok_or_else(|| "there are text, csv and json".to_owned())
}
