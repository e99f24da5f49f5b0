//! `survey trend`: how outcomes, agents and sets went over all snapshots of a folder.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::Args;

use super::again::{AgainArgs, Comparable, Opened};
use crate::cli::Output;
use crate::progress::Counter;
use crate::report::{Comparison, ComparisonFormat, write_comparison};
use crate::snapshot::{Folder, State};
use crate::stats::{Missing, Wave, trend};

/// Say how outcomes, agents and sets went over all complete snapshots of a list's folder
///
/// On all hosts of each wave, and on the balanced panel: the hosts with a verdict in every wave. Hosts belong for good to
/// the cohort and the rank with which they came in. Snapshots that were judged differently are judged again first.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct TrendArgs {
    /// A list's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    #[command(flatten)]
    again: AgainArgs,

    /// What a host counts as in a wave that brought no verdict of it: as-observed (nothing) or carry-forward (its last
    /// verdict)
    #[arg(long, value_name = "HANDLING", default_value = "as-observed", value_parser = parse_missing)]
    missing: Missing,

    /// How it is written: text, csv (a line for each figure) or json
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = parse_format)]
    format: ComparisonFormat,
}

const EXAMPLES: &str = "\
Examples:
  survey trend snapshots/top10k
  survey trend snapshots/top10k --agents GPTBot,ClaudeBot,CCBot --missing carry-forward --format csv > trend.csv";

pub(super) fn run(args: &TrendArgs, output: &Output) -> anyhow::Result<()> {
    let folder = Folder::new(&args.folder);
    let mut opened = Vec::new();
    let mut dates = Vec::new();
    let mut unfinished = Vec::new();
    for date in folder.dates()? {
        let snapshot = folder.snapshot(date);
        match snapshot.manifest()?.map(|manifest| manifest.state) {
            Some(State::Complete) => {
                opened.push(Opened::open(&snapshot)?);
                dates.push(date.to_string());
            }
            _ => unfinished.push(date.to_string()),
        }
    }
    ensure!(!opened.is_empty(), "{} has no complete snapshot", args.folder.display());
    let mut comparable = Comparable::new(opened, &args.again)?;
    if !unfinished.is_empty() {
        comparable.notes.push(format!("Unfinished and left out: {}.", unfinished.join(", ")));
    }
    let format = if output.json { ComparisonFormat::Json } else { args.format };
    if !output.quiet && format == ComparisonFormat::Csv {
        let counter = Counter::new("");
        comparable.notes.iter().for_each(|note| counter.note(note));
    }
    let waves: Vec<Wave<'_>> =
        dates.into_iter().zip(comparable.sources()).map(|(date, source)| Wave { date, source }).collect();
    let answers = trend(&waves, &comparable.tracked, args.missing, comparable.dialect)?;
    let comparison = Comparison {
        title: format!(
            "Trend of {}: {} waves, {} to {}, missing {}",
            args.folder.display(),
            waves.len(),
            waves.first().map_or("", |wave| &wave.date),
            waves.last().map_or("", |wave| &wave.date),
            args.missing
        ),
        heading: comparable.heading.clone(),
        snapshots: comparable.snapshots.iter().map(|snapshot| snapshot.name.clone()).collect(),
        notes: comparable.notes.clone(),
        answers: &answers,
        changes: None,
        groups: Vec::new(),
        agents: comparable.tracked.tokens(),
    };
    let mut out = BufWriter::new(io::stdout().lock());
    write_comparison(format, &comparison, &mut out).and_then(|()| out.flush()).context("writing to standard output")
}

fn parse_missing(word: &str) -> Result<Missing, String> {
    Missing::from_word(word).ok_or_else(|| "there are as-observed and carry-forward".to_owned())
}

fn parse_format(word: &str) -> Result<ComparisonFormat, String> {
    ComparisonFormat::from_word(word).ok_or_else(|| "there are text, csv and json".to_owned())
}
