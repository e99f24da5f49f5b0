//! What the commands' lines have in common: groups of arguments and how their values are read.
//!
//! Touches nothing. Deliberately absent: what the commands do with it.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use bytesize::ByteSize;
use clap::{Args, ValueEnum};
use jiff::{Span, SpanRelativeTo};
use tracing::level_filters::LevelFilter;

use crate::snapshot::Date;

/// What every command understands.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What is shown")]
pub struct Output {
    /// Show no progress and no notes; errors and results still appear
    #[arg(long, short, global = true)]
    pub quiet: bool,

    /// Print results as JSON
    #[arg(long, global = true)]
    pub json: bool,

    /// How much to log to standard error
    #[arg(long, global = true, value_name = "LEVEL", default_value = "warn")]
    pub log_level: LogLevel,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What ended or spoiled something.
    Error,
    /// What a careful person should know.
    Warn,
    /// What is being done.
    Info,
    /// Each step, and each address that is dialled.
    Debug,
    /// Everything, the libraries' notes included.
    Trace,
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Off => Self::OFF,
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Trace => Self::TRACE,
        }
    }
}

/// Where a snapshot goes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Where the snapshot goes")]
pub struct Destination {
    /// The folder that holds one folder per list [default: snapshots, or rehearsals]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// The list's folder below it [default: the list's own name]
    #[arg(long)]
    pub name: Option<String>,

    /// The snapshot's date [default: today, UTC; an archive's own date]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub date: Option<Date>,

    /// Make another snapshot of a date that is complete; its folder then carries the time too
    #[arg(long)]
    pub again: bool,
}

/// How files are judged.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How files are judged")]
pub struct Judging {
    /// What "restricted" means; `survey definitions` lists the names
    #[arg(long, value_name = "NAME", default_value = "rfc")]
    pub definition: String,

    /// How robots.txt is read: rfc9309 or google [default: rfc9309, or the one that the definition demands]
    #[arg(long, value_name = "NAME")]
    pub dialect: Option<String>,

    /// A catalogue of agents to use instead of the built-in one (`survey agents --toml` prints it)
    #[arg(long, value_name = "FILE")]
    pub agents: Option<PathBuf>,
}

/// Reads a span of time as people write it: `200ms`, `1s`, `1m 30s`, `7d`.
pub fn parse_duration(text: &str) -> anyhow::Result<Duration> {
    let expected = || "expected a span of time such as 200ms, 1s, 2m 30s or 7d";
    let span: Span = text.parse().with_context(expected)?;
    let span = span.to_duration(SpanRelativeTo::days_are_24_hours()).with_context(expected)?;
    Duration::try_from(span).context("a span of time cannot be negative here")
}

/// Reads a size as people write it: `512KiB`, `4MiB`, `1000000`.
pub fn parse_size(text: &str) -> anyhow::Result<NonZeroUsize> {
    let size: ByteSize = text.parse().map_err(|reason| anyhow::anyhow!("expected a size such as 512KiB: {reason}"))?;
    let bytes = usize::try_from(size.as_u64()).context("too large for this machine")?;
    NonZeroUsize::new(bytes).context("a size of zero keeps nothing")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_sizes_are_read_as_people_write_them() {
        assert_eq!(parse_duration("200ms").unwrap(), Duration::from_millis(200));
        assert_eq!(parse_duration("2h 20m").unwrap(), Duration::from_secs(8400));
        assert_eq!(parse_duration("7d").unwrap(), Duration::from_secs(7 * 86_400));
        assert_eq!(parse_size("4MiB").unwrap().get(), 4 << 20);
        assert_eq!(parse_size("512KiB").unwrap().get(), 512 << 10);
        assert_eq!(parse_size("70000").unwrap().get(), 70_000);
    }

    #[test]
    fn nonsense_is_refused_with_an_example() {
        for text in ["", "1", "soon", "-1s", "1mo"] {
            let error = format!("{:#}", parse_duration(text).unwrap_err());
            assert!(error.contains("span of time"), "{text}: {error}");
        }
        for text in ["", "0", "-1", "many"] {
            let error = format!("{:#}", parse_size(text).unwrap_err());
            assert!(error.contains("size"), "{text}: {error}");
        }
    }
}
