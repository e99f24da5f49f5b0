//! One file per command, and the line that chooses among them.
//!
//! The shell: it may know every room, and no room knows it. Results go to standard output, progress and notes to
//! standard error. Deliberately absent: logic that would be worth a unit test in a room below.

mod again;
mod agents;
mod asking;
mod check;
mod columns;
mod definitions;
mod descriptors;
mod diff;
mod explain;
mod ingest;
mod judging;
mod opted_out;
mod outcomes;
mod probing;
mod record;
mod registry;
mod rehearse;
mod rehearsed;
mod signals;
mod since;
mod summary;
mod survey;
mod trend;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, Parser, Subcommand};

use crate::cli::Output;
use crate::report::escape;

/// Measure what the web's robots.txt files ask of crawlers, above all of AI crawlers.
///
/// `survey --domains LIST` asks every listed domain for its robots.txt, politely and many at once, and leaves a
/// snapshot: a folder of Parquet files with what was seen, what it means, and the bytes themselves. A summary is
/// printed at the end.
#[derive(Debug, Parser)]
#[command(name = "survey", version, after_help = EXAMPLES, subcommand_negates_reqs = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    survey: survey::SurveyArgs,

    /// What every command understands.
    #[command(flatten)]
    pub output: Output,
}

const EXAMPLES: &str = "\
Examples:
  A first look, without any network: a web on loopback plays the part of the listed hosts
      survey --domains inputs/top10k.txt --rehearse

  About a hundred real hosts
      survey --domains inputs/sample.txt --contact you@example.org

  A list from elsewhere, slower than by default, kept apart by name
      survey --domains tranco.csv.gz --contact https://example.org/survey --gap 5s --name tranco-slow

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted after a clean close.";

#[derive(Debug, Subcommand)]
enum Command {
    Ingest(ingest::IngestArgs),
    Explain(explain::ExplainArgs),
    Check(check::CheckArgs),
    Diff(diff::DiffArgs),
    Trend(trend::TrendArgs),
    Rehearse(rehearse::RehearseArgs),
    Agents(agents::AgentsArgs),
    Columns(columns::ColumnsArgs),
    Definitions(definitions::DefinitionsArgs),
    Outcomes(outcomes::OutcomesArgs),
    Signals(signals::SignalsArgs),
}

/// Runs the command that was typed.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let Some(command) = cli.command else {
        return runtime()?.block_on(survey::run(cli.survey, &cli.output));
    };
    if cli.survey.is_given() {
        let message = "--domains and the settings of a survey cannot stand before another command";
        Cli::command().error(clap::error::ErrorKind::ArgumentConflict, message).exit();
    }
    match command {
        Command::Ingest(args) => ingest::run(&args, &cli.output)?,
        Command::Explain(args) => runtime()?.block_on(explain::run(args, &cli.output))?,
        Command::Check(args) => check::run(&args, &cli.output)?,
        Command::Diff(args) => return diff::run(&args, &cli.output),
        Command::Trend(args) => trend::run(&args, &cli.output)?,
        Command::Rehearse(args) => runtime()?.block_on(rehearse::run(args))?,
        Command::Agents(args) => agents::run(&args, &cli.output)?,
        Command::Columns(args) => columns::run(&args, &cli.output)?,
        Command::Definitions(args) => definitions::run(&args, &cli.output)?,
        Command::Outcomes(args) => outcomes::run(&args, &cli.output)?,
        Command::Signals(args) => signals::run(&args, &cli.output)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether an error only says that whoever read our output has had enough.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|link| {
        // The csv crate holds its reason without giving it as a source.
        let io = match link.downcast_ref::<csv::Error>().map(csv::Error::kind) {
            Some(csv::ErrorKind::Io(error)) => Some(error),
            _ => link.downcast_ref::<io::Error>(),
        };
        io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// Says on standard error why the program failed, one reason a line, outermost first.
pub fn complain(error: &anyhow::Error) {
    let mut text = String::from("error");
    for reason in error.chain().map(<dyn Error>::to_string) {
        // Reasons may quote lists and servers; only their own line breaks reach the terminal as such.
        let lines: Vec<String> = reason.lines().map(|line| escape(line).to_string()).collect();
        text = format!("{text}: {}", lines.join("\n"));
    }
    // If standard error is closed there is nobody left to tell.
    let _ = writeln!(io::stderr(), "{text}");
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("starting the runtime")
}
