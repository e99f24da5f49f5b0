//! `survey check`: what robots.txt said, for millions of hosts, agents and paths.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, ensure};
use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::judging::{find_definition, find_dialect};
use crate::check::{Answer, Answers, Chunk, Files, Format, Settings, Share, Sink, Summary, Tally, check};
use crate::classify::row::Restriction;
use crate::classify::{Catalogue, Classifier};
use crate::cli::{Output, parse_size};
use crate::input::{Case, CaseSource, Rejected};
use crate::progress::Counter;
use crate::report::thousands;
use crate::robots::Dialect;
use crate::snapshot::Snapshot;
use crate::table::read_metadata;
use crate::text::visible;

/// Answer for millions of cases what robots.txt said: may this agent fetch this path of this host
///
/// Answers are a table `host agent path verdict line rule group outcome` in the order of the cases. The verdict is
/// allow, disallow or unknown; line 0 means that no rule decided. A host that was not surveyed, or whose answer was no
/// robots.txt, is unknown, with the outcome beside it; where there is no file (404, 410) everything is allowed.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct CheckArgs {
    /// A list's folder (its latest complete snapshot), FOLDER@DATE, a date's data folder, or a WARC file
    #[arg(value_name = "SNAPSHOT|ARCHIVE")]
    source: String,

    #[command(flatten)]
    asked: AskedArgs,

    /// The column that a case counts by in --summary; needs a header
    #[arg(long, value_name = "NAME")]
    weight_column: Option<String>,

    /// Answer a host that is no target by the target whose file finally came from it
    ///
    /// By RFC 9309, section 2.3.1.2, rules belong to the authority that was asked first, so this is a guess.
    #[arg(long)]
    follow_final_host: bool,

    /// How robots.txt is read: rfc9309 or google [default: as in the snapshot; rfc9309 for an archive]
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,

    /// Add a column with the agent's level on the host under this definition
    #[arg(long, value_name = "NAME")]
    definition: Option<String>,

    /// How answers are written: tsv, csv or parquet
    #[arg(long, value_name = "FORMAT", default_value = "tsv", value_parser = parse_format)]
    format: Format,

    /// Write answers to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print the share closed for each host and agent; answers are then written only with --output
    #[arg(long)]
    summary: bool,

    /// Write lines that are no case to this file, as CSV: line, text, reason
    #[arg(long, value_name = "FILE")]
    rejected: Option<PathBuf>,

    /// With an archive: bytes of a file that are kept
    #[arg(long, value_name = "SIZE", default_value = "512KiB", value_parser = parse_size)]
    max_body: std::num::NonZeroUsize,
}

/// What is asked.
#[derive(Args, Clone, Debug)]
struct AskedArgs {
    /// A table of host, agent and path, tab-separated; also .gz, .zst or .zip; - for standard input
    #[arg(long, value_name = "FILE", required_unless_present = "urls", conflicts_with_all = ["urls", "agent"])]
    cases: Option<PathBuf>,

    /// URLs: a line each, or CSV or TSV with a header, or Parquet; text also .gz, .zst or .zip; - for standard input
    #[arg(long, value_name = "FILE", requires = "agent")]
    urls: Option<PathBuf>,

    /// With --urls: the agent that each is asked for; may be given several times
    #[arg(long, value_name = "TOKEN")]
    agent: Vec<String>,

    /// With --urls: the column that holds them
    #[arg(long, value_name = "NAME", default_value = "url")]
    url_column: String,
}

const EXAMPLES: &str = "\
Examples:
  Which URLs of a corpus did robots.txt close to CCBot when the snapshot was made?
      survey check snapshots/top10k@2026-11-30 --urls corpus.parquet --agent CCBot --format parquet --output ccbot.parquet

  The share of tokens closed, host by host
      survey check snapshots/top10k --urls urls.csv --agent GPTBot --weight-column tokens --summary

  A table of cases, answered from an archive
      survey check robotstxt.warc.gz --cases cases.tsv.gz > answers.tsv";

pub(super) fn run(args: &CheckArgs, output: &Output) -> anyhow::Result<()> {
    ensure!(
        args.format != Format::Parquet || args.output.is_some(),
        "Parquet cannot be written to standard output; name a file with --output"
    );
    refuse_to_overwrite(args)?;
    let (files, stored_dialect) = open_files(args)?;
    let settings = Settings {
        classifier: classifier(args, stored_dialect)?,
        with_restriction: args.definition.is_some(),
        chunk: Chunk::default(),
    };
    let cases = case_source(args).open()?;
    let answers = match (&args.output, args.summary) {
        (Some(path), _) => Some(create(path)?),
        (None, false) => Some(Box::new(BufWriter::new(io::stdout())) as Box<dyn Write + Send>),
        (None, true) => None,
    };
    let mut takers = Takers {
        answers: answers.map(|out| Answers::new(args.format, settings.with_restriction, out)).transpose()?,
        summary: args.summary.then(Summary::default),
        rejected: args.rejected.as_deref().map(rejected_file).transpose()?,
        source: args
            .asked
            .cases
            .as_ref()
            .or(args.asked.urls.as_ref())
            .map_or(String::new(), |path| path.display().to_string()),
        shown: 0,
        counter: if output.quiet { Counter::silent() } else { Counter::new("cases answered") },
    };
    let tally = check(cases, &files, &settings, &mut takers)?;
    takers.finish(&tally, output)
}

/// An output that is one of the inputs would be emptied before it is read.
fn refuse_to_overwrite(args: &CheckArgs) -> anyhow::Result<()> {
    let real = |path: &Path| path.canonicalize().ok();
    let inputs = [Some(Path::new(&args.source)), args.asked.cases.as_deref(), args.asked.urls.as_deref()];
    for output in [&args.output, &args.rejected].into_iter().flatten() {
        let is_input =
            inputs.into_iter().flatten().any(|input| real(input).is_some_and(|input| Some(input) == real(output)));
        ensure!(!is_input, "{} is read, so it cannot be written as well", output.display());
    }
    Ok(())
}

/// Opens where the files come from, and says in which dialect its own columns were judged.
fn open_files(args: &CheckArgs) -> anyhow::Result<(Files, Option<Dialect>)> {
    let path = Path::new(&args.source);
    if path.is_file() {
        ensure!(
            !args.follow_final_host,
            "an archive has no targets whose files came from elsewhere (--follow-final-host)"
        );
        return Ok((Files::Archive { path: path.to_owned(), max_body: args.max_body.get() }, None));
    }
    let snapshot = Snapshot::locate(&args.source)?;
    let dialect = match snapshot.parts()?.first() {
        Some(part) => read_metadata(part)?.get("survey.dialect").map(|word| find_dialect(word)).transpose()?,
        None => None,
    };
    Ok((Files::Snapshot { hosts: snapshot.hosts()?, follow_final_host: args.follow_final_host }, dialect))
}

fn classifier(args: &CheckArgs, stored: Option<Dialect>) -> anyhow::Result<Classifier> {
    let definition = find_definition(args.definition.as_deref().unwrap_or("rfc"))?;
    let asked = args.dialect.as_deref().map(find_dialect).transpose()?;
    let dialect = asked.or(stored).filter(|dialect| asked.is_some() || definition.takes(*dialect));
    let dialect = dialect.unwrap_or_else(|| definition.usual_dialect());
    ensure!(
        definition.takes(dialect),
        "the definition {} does not read files in the dialect {dialect}",
        definition.name
    );
    Ok(Classifier::new(Catalogue::embedded(), definition, dialect))
}

fn case_source(args: &CheckArgs) -> CaseSource {
    let weight_column = args.weight_column.clone();
    match (&args.asked.cases, &args.asked.urls) {
        (Some(path), _) => CaseSource::Table { path: path.clone(), weight_column },
        (None, urls) => CaseSource::Urls {
            path: urls.clone().unwrap_or_else(|| PathBuf::from("-")),
            agents: args.asked.agent.iter().map(|agent| Arc::from(agent.as_str())).collect(),
            url_column: args.asked.url_column.clone(),
            weight_column,
        },
    }
}

fn create(path: &Path) -> anyhow::Result<Box<dyn Write + Send>> {
    let file = File::create(path).with_context(|| format!("creating {}", path.display()))?;
    Ok(Box::new(BufWriter::new(file)))
}

fn rejected_file(path: &Path) -> anyhow::Result<csv::Writer<Box<dyn Write + Send>>> {
    let mut file = csv::Writer::from_writer(create(path)?);
    file.write_record(["line", "text", "reason"]).with_context(|| format!("writing {}", path.display()))?;
    Ok(file)
}

/// Everything that wants to hear of answers.
struct Takers {
    answers: Option<Answers>,
    summary: Option<Summary>,
    rejected: Option<csv::Writer<Box<dyn Write + Send>>>,
    source: String,
    /// Rejected lines that were shown.
    shown: usize,
    counter: Counter,
}

/// Rejected lines and torn records that are shown; all are counted.
const SHOWN: usize = 10;

impl Sink for Takers {
    fn answer(&mut self, case: &Case, answer: &Answer) -> anyhow::Result<()> {
        if let Some(summary) = &mut self.summary {
            summary.add(case, answer);
        }
        if let Some(answers) = &mut self.answers {
            answers.push(case, answer)?;
        }
        self.counter.tick();
        Ok(())
    }

    fn reject(&mut self, rejected: &Rejected) -> anyhow::Result<()> {
        let Rejected { line, text, reason } = rejected;
        if let Some(file) = &mut self.rejected {
            return file.write_record([&line.to_string(), text, reason.word()]).context("writing rejected lines");
        }
        self.shown += 1;
        if self.shown <= SHOWN {
            self.counter.note(&format!(
                "{}, line {line}: {} ({text})",
                self.source,
                reason.doc().trim_end_matches('.')
            ));
        }
        Ok(())
    }
}

impl Takers {
    fn finish(self, tally: &Tally, output: &Output) -> anyhow::Result<()> {
        if let Some(answers) = self.answers {
            answers.finish()?;
        }
        if let Some(mut file) = self.rejected {
            file.flush().context("writing rejected lines")?;
        }
        self.counter.finish();
        if let Some(summary) = &self.summary {
            let mut out = BufWriter::new(io::stdout().lock());
            let written = if output.json { write_json(summary, &mut out) } else { write_table(summary, &mut out) };
            written.and_then(|()| Ok(out.flush()?)).context("writing the summary to standard output")?;
            for (agent, share) in summary.totals() {
                self.counter.note(&format!("{agent}: {}", in_words(share)));
            }
        }
        for defect in tally.defects.iter().take(SHOWN) {
            self.counter.note(&format!("the archive, {defect}"));
        }
        self.counter.note(&say(tally));
        Ok(())
    }
}

/// One line: all cases, by what was said of them.
fn say(tally: &Tally) -> String {
    let unknown: u64 = tally.unknown.values().sum();
    let by_outcome: Vec<String> =
        tally.unknown.iter().map(|(word, cases)| format!("{word} {}", thousands(*cases))).collect();
    let mut parts = vec![
        format!("{} cases: {} allow", thousands(tally.cases), thousands(tally.allowed)),
        format!("{} disallow", thousands(tally.disallowed)),
        match unknown {
            0 => "0 unknown".to_owned(),
            unknown => format!("{} unknown ({})", thousands(unknown), by_outcome.join(", ")),
        },
    ];
    if tally.rejected > 0 {
        parts.push(format!("{} lines rejected", thousands(tally.rejected)));
    }
    if !tally.defects.is_empty() {
        parts.push(format!("{} records of the archive gave nothing", thousands(tally.defects.len() as u64)));
    }
    parts.join(", ")
}

fn in_words(share: &Share) -> String {
    let Share { cases, unknown, disallowed, determinable_weight, disallowed_weight, .. } = share;
    let closed = share.closed().map_or_else(
        || "none has a verdict".to_owned(),
        |closed| format!("by weight {disallowed_weight} of {determinable_weight}, which is {:.2} %", closed * 100.0),
    );
    format!(
        "{} of {} cases with a verdict are disallowed ({closed}); {} have none",
        thousands(*disallowed),
        thousands(cases - unknown),
        thousands(*unknown)
    )
}

/// One line of the summary; without a host it is the agent's total.
#[derive(Serialize)]
struct ShareRow<'s> {
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<Cow<'s, str>>,
    agent: Cow<'s, str>,
    cases: u64,
    unknown: u64,
    disallowed: u64,
    weight: f64,
    determinable_weight: f64,
    disallowed_weight: f64,
    share_closed: Option<f64>,
    restriction: Option<&'static str>,
}

impl<'s> ShareRow<'s> {
    fn new(host: Option<&'s str>, agent: &'s str, share: &Share) -> Self {
        let Share { cases, unknown, disallowed, weight, determinable_weight, disallowed_weight, restriction } = *share;
        let restriction = restriction.map(Restriction::word);
        let (host, agent) = (host.map(|host| visible(host.as_bytes())), visible(agent.as_bytes()));
        let share_closed = share.closed();
        Self {
            host,
            agent,
            cases,
            unknown,
            disallowed,
            weight,
            determinable_weight,
            disallowed_weight,
            share_closed,
            restriction,
        }
    }
}

fn write_table(summary: &Summary, out: &mut impl Write) -> anyhow::Result<()> {
    let mut table = csv::WriterBuilder::new().delimiter(b'\t').quote_style(csv::QuoteStyle::Never).from_writer(out);
    for (host, agent, share) in summary.rows() {
        table.serialize(ShareRow::new(Some(host), agent, share))?;
    }
    table.flush()?;
    Ok(())
}

fn write_json(summary: &Summary, out: &mut impl Write) -> anyhow::Result<()> {
    let hosts = summary.rows().map(|(host, agent, share)| ShareRow::new(Some(host), agent, share));
    let agents = summary.totals().map(|(agent, share)| ShareRow::new(None, agent, share));
    let document = json!({ "hosts": hosts.collect::<Vec<_>>(), "agents": agents.collect::<Vec<_>>() });
    writeln!(out, "{}", serde_json::to_string_pretty(&document)?)?;
    Ok(())
}

fn parse_format(word: &str) -> Result<Format, String> {
    Format::from_word(word).ok_or_else(|| "there are tsv, csv and parquet".to_owned())
}
