//! `survey explain`: one verdict and its reasons.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, ensure};
use bytes::Bytes;
use clap::Args;
use jiff::Timestamp;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::asking::AskerArgs;
use super::rehearsed::{Rehearsed, Script};
use crate::classify::signals::{self, Signals};
use crate::classify::{explain, judged_bytes, outcome_of};
use crate::cli::Output;
use crate::crawl::{Pulse, crawl};
use crate::domain::{Domain, Target};
use crate::observation::{Ending, Response};
use crate::outcome::Outcome;
use crate::path::path_of_url;
use crate::report::{Subject, write_explanation, write_explanation_json};
use crate::robots::Dialect;
use crate::snapshot::Snapshot;

/// Explain one verdict: outcome, group, deciding line, what each definition and dialect makes of it, signals, author
///
/// Of a robots.txt file, of a host in a snapshot (--snapshot), or of a host that is asked now (--live).
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExplainArgs {
    /// A robots.txt file, - for standard input; with --snapshot or --live a host
    #[arg(value_name = "HOST|FILE")]
    subject: String,

    /// The crawler's product token, such as GPTBot; * for a crawler that no group names
    agent: String,

    /// The path that it would fetch, query included; a whole URL is taken by its path
    #[arg(default_value = "/")]
    path: String,

    /// Take the host's file from this snapshot: a list's folder, FOLDER@DATE, or a date's data folder
    #[arg(long, value_name = "SNAPSHOT", conflicts_with = "live")]
    snapshot: Option<String>,

    /// Ask the host now, as a survey of this one target would
    #[arg(long)]
    live: bool,

    /// With --live: ask a web on loopback instead of the real one
    #[expect(clippy::option_option, reason = "not given, given alone, given with a source: clap's own shape for it")]
    #[arg(long, value_name = "SOURCE", requires = "live")]
    rehearse: Option<Option<PathBuf>>,

    #[command(flatten)]
    asker: AskerArgs,
}

const EXAMPLES: &str = "\
Examples:
  survey explain robots.txt GPTBot /private/
  curl -s https://example.com/robots.txt | survey explain - ClaudeBot
  survey explain --snapshot snapshots/top10k example.com CCBot '/search?q=1'
  survey explain --live --contact you@example.org example.com Google-Extended";

pub(super) async fn run(args: ExplainArgs, output: &Output) -> anyhow::Result<()> {
    let found = match &args.snapshot {
        _ if args.live => ask(&args).await?,
        Some(snapshot) => look_up(snapshot, &args.subject)?,
        None => read(&args)?,
    };
    let path = match args.path.as_bytes() {
        path @ [b'/', ..] => path.into(),
        url => path_of_url(url),
    };
    let subject = Subject {
        name: args.subject,
        agent: args.agent,
        path: String::from_utf8_lossy(&path).into_owned(),
        source: found.source,
        url: found.url,
        outcome: found.outcome,
        is_truncated: found.is_truncated,
        hints: found.hints,
    };
    let body = judged_bytes(found.outcome, &found.body, found.is_truncated);
    let explanation = body.map(|body| explain(body, &found.headers, &subject.agent, &path));
    let mut out = BufWriter::new(io::stdout().lock());
    let write = if output.json { write_explanation_json } else { write_explanation };
    write(&subject, explanation.as_ref(), &mut out).and_then(|()| out.flush()).context("writing to standard output")
}

/// A file to explain, and what is known of how it came.
struct Found {
    source: String,
    url: Option<String>,
    outcome: Outcome,
    body: Bytes,
    is_truncated: bool,
    /// The fields of the response, where they are at hand.
    headers: Vec<(String, String)>,
    /// Signals in the head of the response, where it is at hand.
    hints: Vec<signals::Found>,
}

impl Found {
    /// A response, and what it was.
    fn response(source: String, response: Response) -> Self {
        let outcome = outcome_of(&response, Dialect::Rfc9309);
        let hints = Signals::of_head(&response).found;
        let Response { url, headers, body, is_truncated, .. } = response;
        Self { source, url: Some(url).filter(|url| !url.is_empty()), outcome, body, is_truncated, headers, hints }
    }
}

/// Reads a file, or standard input, as a server would send it with status 200.
fn read(args: &ExplainArgs) -> anyhow::Result<Found> {
    let subject = args.subject.as_str();
    let mut body = Vec::new();
    let source = if subject == "-" {
        io::stdin().read_to_end(&mut body).context("reading standard input")?;
        "standard input"
    } else {
        let path = Path::new(subject);
        ensure!(
            path.exists(),
            "there is no file {subject}; a host is explained from a snapshot (--snapshot SNAPSHOT) or asked now (--live)"
        );
        let reading = || format!("reading {subject}");
        File::open(path).and_then(|mut file| file.read_to_end(&mut body)).with_context(reading)?;
        "a file, judged as if a server had sent it with status 200"
    };
    let response = Response {
        url: String::new(),
        status: 200,
        headers: Vec::new(),
        body: body.into(),
        is_truncated: false,
        wire_bytes: None,
    };
    Ok(Found::response(source.to_owned(), response))
}

/// Looks a host up in a snapshot.
fn look_up(snapshot: &str, host: &str) -> anyhow::Result<Found> {
    let domain = parse_host(host)?;
    let snapshot = Snapshot::locate(snapshot)?;
    let hosts = snapshot.hosts()?;
    let place = hosts.find(domain.as_str());
    let place = place.with_context(|| format!("{domain} is none of the {} targets of {snapshot}", hosts.len()))?;
    let headers = hosts.headers(place)?;
    let mut found = None;
    hosts.read(&[place], &mut |_, stored| {
        let asked_at = stored.fetched_at.map_or_else(String::new, |at| format!(", asked {}", seconds(at)));
        found = Some(Found {
            source: format!("the snapshot {snapshot}{asked_at}"),
            url: stored.final_url,
            outcome: stored.outcome,
            body: stored.body,
            is_truncated: stored.is_truncated,
            headers: headers.clone(),
            // Signals in the head stand in the row's columns; what is explained here is the file.
            hints: Vec::new(),
        });
        Ok(())
    })?;
    found.with_context(|| format!("{snapshot} has lost the row of {domain}"))
}

/// Asks one host, with all the care of a survey.
async fn ask(args: &ExplainArgs) -> anyhow::Result<Found> {
    let domain = parse_host(&args.subject)?;
    let asking = args.asker.clone().decide(args.rehearse.is_some())?;
    let rehearsed = match &args.rehearse {
        Some(source) => Some(rehearse(source.as_deref(), &domain).await?),
        None => None,
    };
    if rehearsed.is_none() {
        asking.warn_if_anonymous();
    }
    let settings = asking.settings(rehearsed.as_ref(), 0)?;
    let target = Target { index: 0, domain, rank: None, weight: None, stratum: None };
    let (sink, mut source) = mpsc::channel(1);
    let (pulse, stop) = (watch::Sender::new(Pulse::default()), CancellationToken::new());
    crawl(std::iter::once(target), settings, sink, &pulse, &stop).await?;
    let observation = source.recv().await.context("the crawl ended without an observation")?;
    if let Some(rehearsed) = rehearsed {
        rehearsed.stop().await?;
    }
    let which = if args.rehearse.is_some() { "a REHEARSAL: it says nothing about the real host" } else { "asked now" };
    let asked_at = observation.fetched_at.map_or_else(String::new, |at| format!(", {}", seconds(at)));
    let source = format!("{which}{asked_at}");
    Ok(match observation.ending {
        Ending::Response(response) => Found::response(source, response),
        Ending::Failure(failure) => Found {
            source,
            url: None,
            outcome: Outcome::Failure(failure.cause),
            body: Bytes::new(),
            is_truncated: false,
            headers: Vec::new(),
            hints: Vec::new(),
        },
    })
}

/// Starts a web on loopback that has this host.
async fn rehearse(source: Option<&Path>, domain: &Domain) -> anyhow::Result<Rehearsed> {
    let mut list = tempfile::NamedTempFile::new().context("opening a temporary file")?;
    writeln!(list, "{domain}").context("writing a temporary file")?;
    let log = tempfile::NamedTempFile::new().context("opening a temporary file")?;
    let script = Script { source, labels: None, list: list.path(), seed: 1, shared: None, log: log.path().to_owned() };
    Rehearsed::start(&script).await
}

fn parse_host(text: &str) -> anyhow::Result<Domain> {
    Domain::parse(text).map_err(|reason| anyhow!("{text} is no host name: {}", reason.doc()))
}

fn seconds(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}
