//! What a diff of two large snapshots costs: `cargo bench --bench compare`.
//!
//! Writes two snapshots of made-up hosts through the snapshot writer, a million rows each (`SURVEY_BENCH_ROWS`), a sixth of
//! the files changed in between; and the same with bodies six times as large. Compares each pair in a process of its own
//! and prints its time, processor time and peak memory, which must not follow the bodies. With `--test` a few rows only.
//! Snapshots are kept in `SURVEY_BENCH_DIR` and used again where that is set.

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

#[path = "../../tests/compare/made.rs"]
mod made;

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use survey::classify::Classifier;
use survey::outcome::Cause;
use survey::robots::Dialect;
use survey::snapshot::{Folder, Snapshot};
use survey::stats::{self, Source, Tracked};

use crate::made::Seen;

const DATES: [&str; 2] = ["2026-11-30", "2026-12-07"];

/// Lines of the body that say nothing of AI, by size of the bodies.
const SIZES: [(&str, u32); 2] = [("small", 20), ("large", 120)];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, flag, old, new] = arguments.as_slice()
        && flag == "--compare"
    {
        return compare(old, new);
    }
    let is_test = arguments.iter().any(|argument| argument == "--test");
    let rows = match std::env::var("SURVEY_BENCH_ROWS") {
        Ok(rows) => rows.parse()?,
        Err(_) if is_test => 200,
        Err(_) => 1_000_000,
    };
    let temporary = tempfile::tempdir()?;
    let kept = std::env::var_os("SURVEY_BENCH_DIR").map(PathBuf::from);
    let root = kept.unwrap_or_else(|| temporary.path().to_owned());
    let classifier = made::classifier("rfc");
    for (size, lines) in SIZES {
        let folder = root.join(format!("{size}-{rows}"));
        for (week, date) in (0..).zip(DATES) {
            let started = Instant::now();
            if write(&folder, date, &classifier, rows, lines, week)? {
                let snapshot = Folder::new(&folder).snapshot(date.parse()?);
                let bytes: u64 = snapshot.parts()?.iter().map(|part| fs::metadata(part).map_or(0, |it| it.len())).sum();
                let seconds = started.elapsed().as_secs_f64();
                println!("wrote {rows} rows, {size} bodies, {} MB, in {seconds:.1} s", bytes / 1_000_000);
            }
        }
        let [old, new] = DATES.map(|date| format!("{}@{date}", folder.display()));
        let status = Command::new(std::env::current_exe()?).args(["--compare", &old, &new]).status()?;
        assert!(status.success(), "the comparison of {size} bodies failed");
    }
    Ok(())
}

/// Writes a week's snapshot, unless it is there; whether it had to be written.
fn write(
    folder: &Path,
    date: &str,
    classifier: &Classifier,
    rows: u32,
    lines: u32,
    week: u32,
) -> Result<bool, Box<dyn Error>> {
    if Folder::new(folder).snapshot(date.parse()?).manifest()?.is_some() {
        return Ok(false);
    }
    let mut writer = made::open(folder, date, classifier, 16_384);
    for index in 0..rows {
        let host = format!("host-{index}.example");
        writer.push(made::judge(classifier, index, &host, &seen(index, lines, week)))?;
    }
    writer.finish("2026-12-07T15:00:00Z".parse()?)?;
    Ok(true)
}

/// What came of a host in a week: a sixth of the files changed in the second one, every other of them in a comment only.
fn seen(index: u32, lines: u32, week: u32) -> Seen {
    let hash = index.wrapping_mul(2_654_435_761) >> 8;
    match hash % 20 {
        0..2 => return Seen::Failed(Cause::DnsNxdomain),
        2..4 => return Seen::Status(404, format!("not found, request {week}{index}")),
        4 => return Seen::Status(403, "forbidden".to_owned()),
        _ => {}
    }
    let mut text = String::from("User-agent: *\n");
    for line in 0..lines {
        let section = hash.wrapping_mul(line + 1);
        writeln!(text, "Disallow: /host-{index}/section-{line}-{section:x}/").expect("a string takes all");
    }
    if hash.is_multiple_of(7) {
        text += "User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n";
    }
    if week > 0 {
        match hash / 20 % 12 {
            0 => text += "# a comment\n",
            1 if hash.is_multiple_of(3) => text += "User-agent: ClaudeBot\nDisallow: /\n",
            1 => text += "User-agent: *\nDisallow: /new/\n",
            _ => {}
        }
    }
    Seen::File(text)
}

/// Compares, and prints what it cost this process.
fn compare(old: &str, new: &str) -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let [old_parts, new_parts] = [Snapshot::locate(old)?.parts()?, Snapshot::locate(new)?.parts()?];
    let tracked = Tracked::well_known();
    let old = Source { parts: &old_parts, again: None };
    let new = Source { parts: &new_parts, again: None };
    let found = stats::diff(&old, &new, &tracked, Dialect::Rfc9309)?;
    let seconds = started.elapsed().as_secs_f64();
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?.trim().to_owned();
    println!("compared in {seconds:.1} s, peak {peak}, {} hosts differ", found.changes.len());
    Ok(())
}
