//! `survey --domains LIST`: asks every listed domain and leaves a snapshot.

use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use clap::Args;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::asking::{Asking, AskingArgs};
use super::opted_out::OptedOut;
use super::record::{Recording, Tally};
use super::rehearsed::{Rehearsed, Script, announced_in};
use super::since::{self, SinceArgs};
use super::{descriptors, judging, probing, summary};
use crate::classify::Classifier;
use crate::classify::row::Hex;
use crate::cli::{Destination, Judging, Output};
use crate::crawl::{self, End, LongestLine, Memory, Pulse, Remembers, crawl};
use crate::input::{ListOptions, Rejected, TargetList, read_list};
use crate::progress::{Counts, Progress};
use crate::report::thousands;
use crate::snapshot::{Earlier, Folder, List, Plan, Settings, Since, SnapshotWriter};

/// Survey the domains of a list.
#[derive(Args, Clone, Debug)]
pub(super) struct SurveyArgs {
    /// The list: plain names, `rank,domain`, or CSV with a header (Tranco, Umbrella, Majestic, Radar, CrUX), also .gz,
    /// .zst or the one file in a .zip; or Parquet with such columns; - for standard input
    #[arg(long, value_name = "LIST", required = true)]
    domains: Option<PathBuf>,

    /// Survey a web on loopback instead of the real one: a WARC file's recorded answers, @FILE for a `survey rehearse`
    /// that runs and whose announcement is in FILE, or without SOURCE an invented population of the list
    #[expect(clippy::option_option, reason = "not given, given alone, given with a source: clap's own shape for it")]
    #[arg(long, value_name = "SOURCE")]
    rehearse: Option<Option<PathBuf>>,

    /// With --rehearse WARC: a table of hosts that failed, and how (host, kind, status, cause)
    #[arg(long, value_name = "TSV", requires = "rehearse")]
    labels: Option<PathBuf>,

    /// With --rehearse: how many hosts share one address
    #[arg(long, value_name = "N", requires = "rehearse")]
    shared: Option<usize>,

    /// The column that holds a target's weight [default: weight, where there is one]
    #[arg(long, value_name = "NAME")]
    weight_column: Option<String>,

    /// Seed of the order in which targets are asked, and of an invented population [default: from the clock; 1 for a
    /// population]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Where the survey is made from, in your own words; kept in the manifest
    #[arg(long, value_name = "TEXT")]
    vantage: Option<String>,

    #[command(flatten)]
    destination: Destination,

    #[command(flatten)]
    asking: AskingArgs,

    #[command(flatten)]
    since: SinceArgs,

    #[command(flatten)]
    judging: Judging,
}

impl SurveyArgs {
    /// Whether anything of a survey was asked for.
    pub(super) fn is_given(&self) -> bool {
        self.domains.is_some() || self.rehearse.is_some()
    }
}

/// Rows that may wait between the crawl and the writer; the crawl waits when there are more.
const WAITING_ROWS: usize = 256;
/// The sample that probes are drawn by unless another seed is given, so that all waves of a list have the same.
const SAMPLE_SEED: u64 = 1;
/// The population that a rehearsal invents unless another seed is given.
const POPULATION_SEED: u64 = 1;

pub(super) async fn run(args: SurveyArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let path = args.domains.clone().context("--domains is required")?;
    let classifier = judging::classifier(&args.judging)?;
    let is_rehearsal = args.rehearse.is_some();
    let mut asking = args.asking.clone().decide(is_rehearsal)?;
    let descriptors = descriptors::raise()?;
    if !is_rehearsal {
        asking.warn_if_anonymous();
    }

    let (list, rejected) = read(&path, args.weight_column.clone())?;
    let seed = args.seed.unwrap_or_else(clock_seed);
    let name = args.destination.name.clone().unwrap_or_else(|| list.name().to_owned());
    let root = args
        .destination
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from(if is_rehearsal { "rehearsals" } else { "snapshots" }));
    let folder = Folder::new(root.join(name));
    if args.since.since != Since::Never {
        probing::check_conditions(&mut asking.probes);
    }
    let plan = plan(&args, &classifier, &list, &asking)?;
    let now = Timestamp::now();
    let date = folder.date_for(args.destination.date, args.destination.again, &plan, now)?;
    let earlier = since::go_back(&folder, date, &plan, &list, now)?;
    let writer = SnapshotWriter::open(&folder, date, plan, std::env::args().collect(), seed, now)?;
    rejected.copy_to(&writer)?;

    let progress = if output.quiet { Progress::silent() } else { Progress::new() };
    note_list(&progress, &list, &writer);
    if let Some(earlier) = &earlier {
        progress.note(&since::describe(earlier));
    }
    let rehearsed = match rehearse(&args, &path, &writer).await {
        Ok(rehearsed) => rehearsed,
        Err(error) => {
            writer.interrupt(Timestamp::now())?;
            return Err(error);
        }
    };
    let opted_out = OptedOut::read(folder.root())?;
    for name in opted_out.names() {
        asking.exclusions.add_host(name);
    }
    if opted_out.names().len() > 0 {
        let count = thousands(opted_out.names().len() as u64);
        progress
            .note(&format!("{count} sites closed themselves to this survey by name and are not asked (opted-out.txt)"));
    }
    let mut settings = asking.settings(rehearsed.as_ref(), args.seed.unwrap_or(SAMPLE_SEED))?;
    // The plan keeps what was asked for: the same run may go on where another number of files may be open.
    descriptors::fit(&mut settings.limits, descriptors);
    let list_name = list.name().to_owned();
    if let Some(earlier) = &earlier {
        settings.memory = Memory::new(Arc::clone(earlier) as Arc<dyn Remembers>);
    }
    let knowing = (classifier, opted_out, earlier);
    let (ended, recorded) = ask_everyone(list, seed, settings, writer, knowing, &progress).await;
    if let Some(rehearsed) = rehearsed {
        rehearsed.stop().await?;
    }
    progress.finish();

    // The writer's own failure explains a sink that closed, so it is told first.
    let recorded = recorded?;
    let snapshot = recorded.writer.snapshot().clone();
    let now = Timestamp::now();
    match (ended, recorded.panics) {
        (Ok(End::Complete), None) => {
            let manifest = recorded.writer.finish(now)?;
            summary::print(&snapshot, &list_name, &manifest, output)?;
            progress.note(&format!("snapshot: {}", snapshot.data().display()));
            Ok(ExitCode::SUCCESS)
        }
        (Ok(End::Stopped), _) => {
            let manifest = recorded.writer.interrupt(now)?;
            progress.note(&format!("stopped with {} rows; the same command goes on from there", manifest.rows));
            Ok(ExitCode::from(INTERRUPTED))
        }
        (Ok(End::Complete), Some((first, count))) => {
            recorded.writer.interrupt(now)?;
            bail!("a defect of this program cost {count} targets their row, {first} first; {snapshot} stays unfinished")
        }
        (Err(error), _) => {
            recorded.writer.interrupt(now)?;
            Err(error.context(format!("surveying into {snapshot}, which stays unfinished")))
        }
    }
}

/// The exit code of a run that was stopped and closed its files.
const INTERRUPTED: u8 = 130;

/// Starts the rehearsal, if one was asked for.
async fn rehearse(args: &SurveyArgs, list: &Path, writer: &SnapshotWriter) -> anyhow::Result<Option<Rehearsed>> {
    let Some(source) = &args.rehearse else { return Ok(None) };
    let run = writer.snapshot().run().context("a snapshot that is written has a run")?;
    let script = Script {
        source: source.as_deref(),
        labels: args.labels.as_deref(),
        list,
        seed: args.seed.unwrap_or(POPULATION_SEED),
        shared: args.shared,
        log: run.join("rehearsal.csv"),
    };
    Rehearsed::start(&script).await.map(Some)
}

/// Crawls what has no row yet, judging and writing as observations come.
async fn ask_everyone(
    list: TargetList,
    seed: u64,
    settings: crawl::Settings,
    writer: SnapshotWriter,
    (classifier, opted_out, earlier): (Classifier, OptedOut, Option<Arc<Earlier>>),
    progress: &Progress,
) -> (anyhow::Result<End>, anyhow::Result<super::record::Recorded>) {
    let stop = CancellationToken::new();
    let watching = tokio::spawn(watch_signals(stop.clone()));
    let order = list.order(seed);
    let done = writer.done().clone();
    let (sink, source) = mpsc::channel(WAITING_ROWS);
    let (tally, tally_seen) = watch::channel(Tally { rows: done.len(), ..Tally::default() });
    let (pulse, pulse_seen) = watch::channel(Pulse::default());
    let recording = match Recording::start(writer, classifier, (opted_out, earlier.clone()), source, tally) {
        Ok(recording) => recording,
        Err(error) => return (Ok(End::Stopped), Err(error)),
    };
    let listed = u64::from(list.len());
    let list = Arc::new(list);
    // What is fresh needs no asking; the others are asked.
    let (fresh, order): (Vec<u32>, Vec<u32>) =
        order.into_iter().filter(|index| !done.contains(*index)).partition(|index| {
            earlier.as_ref().is_some_and(|earlier| since::is_fresh(earlier, &list, &settings.exclusions, *index))
        });
    let targets = {
        let list = Arc::clone(&list);
        order.into_iter().map(move |index| list.target(index))
    };
    let mut is_bound_told = false;
    let mut show = || {
        let (pulse, tally) = (*pulse_seen.borrow(), *tally_seen.borrow());
        if let Some(longest) = pulse.longest_line.filter(|_| !is_bound_told) {
            is_bound_told = true;
            note_bound(progress, longest);
        }
        progress.update(&Counts {
            listed,
            done: tally.rows,
            resolving: pulse.resolving as u64,
            resolved: pulse.resolved,
            waiting: pulse.waiting as u64,
            in_flight: pulse.in_flight as u64,
            by_class: tally.by_class,
        });
    };
    // As a task of its own it runs on the threads of those that it waits for, which need not wake another one.
    let mut crawling = tokio::spawn(async move {
        if let Some(earlier) = earlier {
            since::send_fresh(&earlier, &list, fresh.into_iter(), &sink, &stop).await?;
        }
        crawl(targets, settings, sink, &pulse, &stop).await
    });
    let mut ticks = tokio::time::interval(Duration::from_millis(100));
    let ended = loop {
        tokio::select! {
            ended = &mut crawling => break ended.unwrap_or_else(|error| Err(error).context("crawling")),
            _ = ticks.tick() => show(),
        }
    };
    watching.abort();
    // The crawl has dropped its sender, so the writer ends as soon as it has taken what was sent.
    let recorded = match tokio::task::spawn_blocking(|| recording.join()).await {
        Ok(recorded) => recorded,
        Err(error) => Err(error).context("waiting for the writer"),
    };
    show();
    (ended, recorded)
}

/// Stops the crawl on the first Ctrl-C or SIGTERM; a second one ends the process at once, whole parts kept.
async fn watch_signals(stop: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        tracing::warn!("signals cannot be watched, so Ctrl-C will end the run without closing the last part");
        return;
    };
    for is_second in [false, true] {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        if is_second {
            tracing::error!("stopped at once; the rows of the last, unfinished part are asked again next time");
            #[expect(clippy::exit, reason = "the person has asked twice, and waiting for tasks is what they refuse")]
            std::process::exit(i32::from(INTERRUPTED));
        }
        tracing::warn!("stopping: requests in flight are finished; press Ctrl-C again to stop at once");
        stop.cancel();
    }
}

fn plan(args: &SurveyArgs, classifier: &Classifier, list: &TargetList, asking: &Asking) -> anyhow::Result<Plan> {
    let counts = list.counts();
    let upstreams: Vec<String> = asking.upstreams.iter().map(ToString::to_string).collect();
    let rehearsal = args.rehearse.as_ref().map(|source| describe_source(source.as_deref(), args));
    let resolver = match (&rehearsal, upstreams.is_empty()) {
        (Some(_), _) => "rehearsal".to_owned(),
        (None, true) => "system".to_owned(),
        (None, false) => upstreams.join(","),
    };
    Ok(Plan {
        list: Some(List {
            name: list.name().to_owned(),
            sha256: Hex(&list.sha256()).to_string(),
            accepted: counts.accepted,
            duplicates: counts.duplicates,
            rejected: counts.rejected,
        }),
        settings: Some(Settings {
            gap_ms: u64::try_from(asking.pace.gap.as_millis()).unwrap_or(u64::MAX),
            concurrency: asking.limits.in_flight as u64,
            rate: asking.rate.unwrap_or(0.0),
            exclusions: asking.exclusions.len() as u64,
            second_try: asking.limits.second_try.is_some(),
            www: asking.limits.www.word().to_owned(),
            probes: asking.probes.iter().map(ToString::to_string).collect(),
            max_age_s: args.since.max_age_s()?,
            ipv6: asking.asks_ipv6,
            max_body: asking.fetch.max_body as u64,
            contact: asking.contact.as_ref().map(ToString::to_string),
            user_agent: asking.fetch.user_agent.clone(),
            resolver,
            vantage: args.vantage.clone(),
        }),
        rehearsal,
        since: args.since.since,
        ..judging::plan(classifier)
    })
}

fn describe_source(source: Option<&Path>, args: &SurveyArgs) -> String {
    let file = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    match (source, &args.labels) {
        (Some(source), _) if let Some(announcement) = announced_in(source) => format!("joined: {}", file(announcement)),
        (None, _) => format!("population, seed {}", args.seed.unwrap_or(POPULATION_SEED)),
        (Some(source), None) => file(source),
        (Some(source), Some(labels)) => format!("{} with {}", file(source), file(labels)),
    }
}

/// Says how long the run takes at least, where that is long: neither speed nor order can change it.
fn note_bound(progress: &Progress, LongestLine { server, targets, at_least }: LongestLine) {
    if at_least >= Duration::from_secs(60) {
        let span = SignedDuration::from_secs(i64::try_from(at_least.as_secs()).unwrap_or(i64::MAX));
        progress.note(&format!("at least {span:#}: {} targets share {server}", thousands(targets as u64)));
    }
}

fn note_list(progress: &Progress, list: &TargetList, writer: &SnapshotWriter) {
    let counts = list.counts();
    progress.note(&format!(
        "{}: {} targets, {} duplicates, {} lines rejected",
        list.name(),
        counts.accepted,
        counts.duplicates,
        counts.rejected
    ));
    let done = writer.done().len();
    if done > 0 {
        progress.note(&format!("{done} targets already have their row; going on with {}", writer.snapshot()));
    }
}

/// Reads the list; what it rejects waits in an unnamed file until the snapshot's folder is known.
fn read(path: &Path, weight_column: Option<String>) -> anyhow::Result<(TargetList, Spool)> {
    let mut spool = Spool::new()?;
    let mut broken = None;
    let list = read_list(path, &ListOptions { weight_column }, &mut |rejected: Rejected| {
        if let Err(error) = spool.push(&rejected) {
            broken.get_or_insert(error);
        }
    })?;
    match broken {
        Some(error) => Err(error),
        None => Ok((list, spool)),
    }
}

/// Rejected lines on their way to the snapshot's folder, which is known only once the list is read.
struct Spool(csv::Writer<std::fs::File>);

impl Spool {
    fn new() -> anyhow::Result<Self> {
        Ok(Self(csv::Writer::from_writer(tempfile::tempfile().context("opening a temporary file")?)))
    }

    fn push(&mut self, rejected: &Rejected) -> anyhow::Result<()> {
        let record = [&rejected.line.to_string(), &rejected.text, rejected.reason.word()];
        self.0.write_record(record).context("writing rejected lines to a temporary file")
    }

    fn copy_to(self, writer: &SnapshotWriter) -> anyhow::Result<()> {
        let reading = "reading rejected lines from a temporary file";
        let mut file = self.0.into_inner().map_err(csv::IntoInnerError::into_error).context(reading)?;
        file.seek(SeekFrom::Start(0)).context(reading)?;
        let mut out = writer.rejected()?;
        for record in csv::ReaderBuilder::new().has_headers(false).from_reader(file).into_records() {
            let record = record.context(reading)?;
            let (line, text, reason) = record.deserialize::<(u64, &str, &str)>(None).context(reading)?;
            out.push(line, text, reason)?;
        }
        out.finish()
    }
}

/// A seed nobody chose; the manifest keeps it.
fn clock_seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(since.subsec_nanos()) ^ since.as_secs()
}
