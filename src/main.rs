//! The `survey` program: arguments, logging, exit code.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::Parser;
use survey::commands::{self, Cli};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The system's allocator costs a tenth of a crawl's CPU time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Where the HTTP client says, at the level debug, each address that it opens a socket to.
const DIALS: &str = "hyper_util::client::legacy::connect::http";

fn main() -> ExitCode {
    let cli = Cli::parse();
    let level = LevelFilter::from(cli.output.log_level);
    // Libraries speak only when everything is asked for: what matters of theirs becomes an outcome or an error.
    let libraries = if level == LevelFilter::TRACE { level } else { LevelFilter::OFF };
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(io::stderr().is_terminal());
    let targets = Targets::new().with_target("survey", level).with_target(DIALS, level).with_default(libraries);
    tracing_subscriber::registry().with(lines.with_target(false)).with(targets).init();
    match commands::run(cli) {
        Ok(code) => code,
        Err(error) if commands::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            commands::complain(&error);
            ExitCode::FAILURE
        }
    }
}
