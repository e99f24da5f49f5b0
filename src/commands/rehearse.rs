//! `survey rehearse`: the loopback web alone.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::domain::Domain;
use crate::input::{ListOptions, read_list};
use crate::rehearsal::{Rehearsal, Settings, Source, faults};

/// Serve a web on loopback (DNS, HTTP, HTTPS) that answers by host name; its ports are printed as one line of JSON, and
/// `survey --domains LIST --rehearse @FILE` with that line in FILE surveys it.
#[derive(Args, Clone, Debug)]
pub(super) struct RehearseArgs {
    /// Hosts answer with what this WARC file recorded.
    #[arg(long, value_name = "WARC")]
    pub(super) source: Option<PathBuf>,
    /// Hosts that failed, by this table (host, kind, status, cause), fail in the same way again.
    #[arg(long, value_name = "TSV", requires = "source")]
    pub(super) labels: Option<PathBuf>,
    /// Invent behaviour for the domains of this list.
    #[arg(long, value_name = "LIST", required_unless_present_any = ["source", "faults"], conflicts_with = "source")]
    pub(super) domains: Option<PathBuf>,
    /// Another seed invents another web.
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Print the hosts that answer with a fault in every rehearsal, as a list that the survey reads, and end
    ///
    /// CSV: the domain, the outcome that a survey must give it, and what it does.
    #[arg(long)]
    pub(super) faults: bool,
    /// How many hosts share one address [default: none of an archive, one in twenty of a list, at most 500].
    #[arg(long, value_name = "N")]
    pub(super) shared: Option<usize>,
    /// The shared address asks for fewer requests: of a thousand hosts there so many answer 429, with Retry-After.
    #[arg(long, value_name = "SHARE", default_value_t = 0)]
    pub(super) refusing: usize,
    /// Write down every query and connection.
    #[arg(long, value_name = "CSV")]
    pub(super) log: Option<PathBuf>,
    /// End when standard input ends, as it does when the parent dies.
    #[arg(long)]
    pub(super) until_stdin_closes: bool,
}

/// Serves until it is told to end.
pub(super) async fn run(args: RehearseArgs) -> anyhow::Result<()> {
    if args.faults {
        return print_faults();
    }
    let source = match (args.source, args.labels, args.domains) {
        (Some(archive), Some(labels), _) => Source::Labelled { archive, labels },
        (Some(archive), None, _) => Source::Archive(archive),
        (None, _, Some(list)) => Source::Population { domains: read_domains(&list)?, seed: args.seed },
        (None, _, None) => anyhow::bail!("a rehearsal needs --source or --domains"),
    };
    // Before the announcement: from then on somebody may send signals.
    let mut terminate = signal(SignalKind::terminate()).context("listening for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("listening for SIGINT")?;
    let rehearsal =
        Rehearsal::start(source, Settings { shared: args.shared, refusing: args.refusing, log: args.log }).await?;
    let mut line = serde_json::to_vec(rehearsal.announcement()).context("writing the announcement")?;
    line.push(b'\n');
    let mut out = io::stdout();
    out.write_all(&line).and_then(|()| out.flush()).context("announcing the rehearsal on standard output")?;

    // Held here so that it never fires where standard input does not matter.
    let (ended, end_of_input) = oneshot::channel();
    let _held = if args.until_stdin_closes { await_end_of_input(ended).map(|()| None)? } else { Some(ended) };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        _ = end_of_input => {}
    }
    rehearsal.stop().await
}

fn print_faults() -> anyhow::Result<()> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(["domain", "expected", "about"])?;
    for host in faults() {
        csv.write_record([&host.name, host.expected.word(), &host.about])?;
    }
    let text = csv.into_inner().context("printing the fault hosts")?;
    let mut out = io::stdout().lock();
    out.write_all(&text).and_then(|()| out.flush()).context("writing to standard output")
}

/// A thread, because standard input has no other way to be read without blocking the runtime's own exit.
fn await_end_of_input(ended: oneshot::Sender<()>) -> anyhow::Result<()> {
    let watch = move || {
        let mut buffer = [0; 256];
        let mut input = io::stdin().lock();
        while input.read(&mut buffer).is_ok_and(|length| length > 0) {}
        // Nobody listens any more if a signal came first.
        let _ = ended.send(());
    };
    std::thread::Builder::new().name("stdin".into()).spawn(watch).context("watching standard input")?;
    Ok(())
}

/// The names of a list, read as the survey reads it; what it rejects nobody will ask for.
fn read_domains(list: &Path) -> anyhow::Result<Vec<Domain>> {
    let list = read_list(list, &ListOptions::default(), &mut |_| {})?;
    Ok(list.iter().map(|target| target.domain).collect())
}
