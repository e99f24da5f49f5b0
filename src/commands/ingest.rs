//! `survey ingest`: the same rows from an archive, without asking anybody.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Args;
use jiff::{SignedDuration, Timestamp};

use super::{judging, summary};
use crate::classify::Classifier;
use crate::cli::{Destination, Judging, Output, parse_size};
use crate::domain::{Domain, Target};
use crate::input::warc;
use crate::progress::{Counts, Progress};
use crate::snapshot::{Date, Folder, Plan, RejectedWriter, SnapshotWriter};

/// Read an archive of robots.txt responses (WARC) into a snapshot: one row per host, its first capture
#[derive(Args, Clone, Debug)]
pub(super) struct IngestArgs {
    /// The archive, plain or gzip
    #[arg(value_name = "WARC")]
    archive: PathBuf,

    #[command(flatten)]
    destination: Destination,

    #[command(flatten)]
    judging: Judging,

    /// Bytes of a file that are kept; RFC 9309 asks for at least 500 KiB
    #[arg(long, value_name = "SIZE", default_value = "512KiB", value_parser = parse_size)]
    max_body: std::num::NonZeroUsize,
}

pub(super) fn run(args: &IngestArgs, output: &Output) -> anyhow::Result<()> {
    let classifier = judging::classifier(&args.judging)?;
    let name = args.destination.name.clone().unwrap_or_else(|| archive_name(&args.archive));
    let root = args.destination.out.clone().unwrap_or_else(|| PathBuf::from("snapshots"));
    let folder = Folder::new(root.join(&name));
    let file = args.archive.file_name().unwrap_or(args.archive.as_os_str()).to_string_lossy().into_owned();
    let plan = Plan { archives: vec![file], ..judging::plan(&classifier) };

    // The first capture dates the snapshot, and shows before anything is written that there is one.
    let first = warc::read(&args.archive, args.max_body.get())?.find_map(Result::ok);
    let first = first.with_context(|| format!("{} holds no response for a robots.txt", args.archive.display()))?;
    let asked = Some(args.destination.date.unwrap_or_else(|| Date::of(first.captured_at)));
    let now = Timestamp::now();
    // A snapshot of an archive is of the archive's date, whenever it is read.
    let patience = SignedDuration::MAX;
    let date = folder.date_for((asked, args.destination.again), &plan, now, patience)?.date;
    let writer = SnapshotWriter::open(&folder, date, plan, std::env::args().collect(), 0, now)?;

    let progress = if output.quiet { Progress::silent() } else { Progress::new() };
    let (mut writer, defects) = read_into(writer, args, &classifier, &progress)?;
    progress.finish();
    let count = defects.values().sum::<u64>();
    writer.add_defects(defects);
    let snapshot = writer.snapshot().clone();
    let manifest = writer.finish(Timestamp::now())?;
    summary::print(&snapshot, &name, &manifest, output)?;
    if count > 0 {
        let run = snapshot.run().map_or_else(String::new, |run| run.join("rejected.csv").display().to_string());
        progress.note(&format!("{count} records of {} gave no row; {run} lists them", args.archive.display()));
    }
    progress.note(&format!("snapshot: {}", snapshot.data().display()));
    Ok(())
}

type Defects = BTreeMap<String, u64>;

/// Judges and writes the first capture of each host; a resumed run passes over what has its row.
fn read_into(
    mut writer: SnapshotWriter,
    args: &IngestArgs,
    classifier: &Classifier,
    progress: &Progress,
) -> anyhow::Result<(SnapshotWriter, Defects)> {
    let mut rejected = writer.rejected()?;
    let mut defects = Defects::new();
    let mut seen: HashSet<Domain> = HashSet::new();
    let mut counts = Counts::default();
    for capture in warc::read(&args.archive, args.max_body.get())? {
        let (record, text, reason) = match capture {
            Err(defect) => {
                progress.note(&format!("{}: {defect}", args.archive.display()));
                (defect.record, defect.detail, defect.reason.word())
            }
            Ok(capture) => match capture.host.clone() {
                Err(reason) => (capture.record, capture.url, reason.word()),
                Ok(domain) if seen.contains(&domain) => (capture.record, capture.url, "duplicate"),
                Ok(domain) => {
                    let index = u32::try_from(seen.len()).context("more hosts than 32 bits can count")?;
                    seen.insert(domain.clone());
                    if !writer.done().contains(index) {
                        let target = Target { index, domain, rank: None, weight: None, stratum: None };
                        let row = classifier.classify(capture.observe(target));
                        counts.by_class.count(row.outcome.class());
                        writer.push(row)?;
                    }
                    counts.done += 1;
                    counts.listed = counts.done;
                    progress.update(&counts);
                    continue;
                }
            },
        };
        reject(&mut rejected, &mut defects, record, &text, reason)?;
    }
    ensure!(!seen.is_empty(), "{} holds no host that could be surveyed", args.archive.display());
    rejected.finish()?;
    Ok((writer, defects))
}

/// The "line" of an archive is the number of its record.
fn reject(
    rejected: &mut RejectedWriter,
    defects: &mut Defects,
    record: u64,
    text: &str,
    reason: &str,
) -> anyhow::Result<()> {
    *defects.entry(reason.to_owned()).or_default() += 1;
    rejected.push(record, text, reason)
}

/// The archive's own name, without what follows from its format.
fn archive_name(path: &Path) -> String {
    let mut name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    for extension in [".gz", ".warc", ".robotstxt"] {
        if let Some(stem) = name.strip_suffix(extension).filter(|stem| !stem.is_empty()) {
            name = stem.to_owned();
        }
    }
    name
}
