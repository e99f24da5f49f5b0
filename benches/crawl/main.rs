//! What one new connection costs: the whole program, the crawl room alone, a bare loop and curl, in one run on the same
//! hosts, with `survey rehearse` in a process of its own.
//!
//! Figures are CPU seconds of the client (user and system, all threads), so the server's share does not count and a
//! busy machine disturbs less than it would on the wall clock. The hosts are those of a recorded wave where
//! `../shared/corpora` is there, else a seeded population.
//!
//!     cargo bench --bench crawl
//!
//! With `SURVEY_BENCH_QUICK=1` it asks a few hundred hosts only, to show that it still works.

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

mod bare;
mod rehearsal;
mod rooms;
mod used;

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rehearsal::Rehearsal;
use survey::domain::Domain;

/// What many requests cost in all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) requests: usize,
    pub(crate) cpu: Duration,
}

impl Measured {
    fn microseconds(self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / f64::from(u32::try_from(self.requests.max(1)).unwrap_or(u32::MAX))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let is_quick = std::env::var_os("SURVEY_BENCH_QUICK").is_some();
    let source = Source::find(is_quick)?;
    let web = Rehearsal::start(&source.arguments)?;
    let jobs = web.resolve(&source.domains)?;
    println!("{}; {} hosts have an address and a door", source.name, jobs.https.len());

    println!("\nCPU of the client for a new connection and its answer, microseconds:");
    let in_flight = 300;
    let bare = measure(|| bare::run(&jobs.https, Some(web.roots()?), in_flight))?;
    report("bare loop (mio, rustls, httparse), HTTPS", bare, bare);
    let crawl = rooms::crawl_room(&source.domains, &web, in_flight, rooms::Scheme::Https)?;
    report("the crawl room: DNS, politeness, reqwest, HTTPS", crawl, bare);
    let whole = whole(&source, in_flight)?;
    report("the whole program: verdicts and Parquet too, HTTPS", whole, bare);
    match curl(&jobs.https, &web, in_flight)? {
        Some((version, curl)) => {
            report(&format!("{version} --parallel, HTTPS"), curl, bare);
            println!("  the whole program takes {:.2} of curl's", whole.microseconds() / curl.microseconds());
        }
        None => println!("  curl is not installed"),
    }
    let bare = measure(|| bare::run(&jobs.http, None, in_flight))?;
    report("bare loop, HTTP", bare, bare);
    let crawl = rooms::crawl_room(&source.domains, &web, in_flight, rooms::Scheme::Http)?;
    report("the crawl room, HTTP, a refused connection to 443 before it", crawl, bare);

    println!("\nThe rooms by themselves:");
    rooms::look_up_nothing(&web, if is_quick { 500 } else { 20_000 })?;
    rooms::hold(&source.domains[..source.domains.len().min(2000)], &web)?;
    rooms::schedule(if is_quick { 10_000 } else { 1_000_000 });
    rooms::list(if is_quick { 10_000 } else { 1_000_000 })
}

/// Hosts, and the web that has them.
struct Source {
    name: &'static str,
    domains: Vec<Domain>,
    /// For `survey rehearse`.
    arguments: Vec<PathBuf>,
    /// For `survey --rehearse`.
    archive: Option<PathBuf>,
}

impl Source {
    fn find(is_quick: bool) -> Result<Self, Box<dyn Error>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let archive = root.join("../shared/corpora/gov-2024-06-29.robotstxt.warc.gz");
        let mut domains = Vec::new();
        let mut source = if archive.exists() {
            for capture in survey::input::warc::read(&archive, 1 << 20)? {
                domains.extend(capture.ok().and_then(|capture| capture.host.ok()));
            }
            let arguments = vec!["--source".into(), archive.clone()];
            Self { name: "the recorded wave gov-2024-06-29", domains, arguments, archive: Some(archive) }
        } else {
            let list = root.join("inputs/top10k.txt");
            for line in fs::read_to_string(&list)?.lines().filter(|line| !line.starts_with('#')) {
                domains.extend(line.split(',').next_back().and_then(|name| Domain::parse(name).ok()));
            }
            Self { name: "a seeded population", domains, arguments: vec!["--domains".into(), list], archive: None }
        };
        if is_quick {
            source.domains.truncate(300);
        }
        Ok(source)
    }
}

/// Runs work in this process.
fn measure(work: impl FnOnce() -> Result<usize, Box<dyn Error>>) -> Result<Measured, Box<dyn Error>> {
    let before = used::cpu()?;
    let requests = work()?;
    Ok(Measured { requests, cpu: used::cpu()?.saturating_sub(before) })
}

/// Runs the program as people do, with a rehearsal of its own; what it cost stands in its manifest, the rehearsal's
/// share not included.
fn whole(source: &Source, in_flight: usize) -> Result<Measured, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let list = folder.path().join("bench.txt");
    let mut file = BufWriter::new(File::create(&list)?);
    for domain in &source.domains {
        writeln!(file, "{domain}")?;
    }
    file.into_inner()?.sync_all()?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_survey"));
    command.current_dir(folder.path()).args(["--domains", "bench.txt", "--no-second-try", "--quiet", "--out", "out"]);
    command.args(["--date", "2026-01-01", "--concurrency", &in_flight.to_string(), "--rehearse"]);
    command.args(&source.archive).stdout(Stdio::null());
    if !command.status()?.success() {
        return Err("the survey failed".into());
    }
    let run = folder.path().join("out/bench/runs/2026-01-01/manifest.json");
    let manifest: serde_json::Value = serde_json::from_str(&fs::read_to_string(run)?)?;
    let cost = manifest["sessions"][0]["cost"]["cpu_ms"].as_u64().ok_or("the manifest has no cost")?;
    let mut requests = 0;
    let parts = survey::snapshot::Snapshot::locate(&folder.path().join("out/bench").display().to_string())?.parts()?;
    for batch in survey::table::read_columns(&parts, &["attempts"]) {
        use arrow::array::AsArray;
        let batch = batch?;
        let attempts = batch.column(0).as_primitive::<arrow::datatypes::Int32Type>();
        requests += attempts.iter().flatten().map(|attempts| usize::try_from(attempts).unwrap_or(0)).sum::<usize>();
    }
    Ok(Measured { requests, cpu: Duration::from_millis(cost) })
}

/// curl over the same number of fresh connections; nothing where it is not installed.
fn curl(jobs: &[bare::Job], web: &Rehearsal, in_flight: usize) -> Result<Option<(String, Measured)>, Box<dyn Error>> {
    let Ok(version) = Command::new("curl").arg("--version").output() else { return Ok(None) };
    let version = String::from_utf8_lossy(&version.stdout);
    let version = version.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    let folder = tempfile::tempdir()?;
    let (authority, config) = (folder.path().join("ca.pem"), folder.path().join("config"));
    fs::write(&authority, &web.announcement.ca_pem)?;
    let mut file = BufWriter::new(File::create(&config)?);
    // Each transfer has options of its own: in one list, curl would look through all addresses for each of them.
    for (number, bare::Job { host, address }) in jobs.iter().enumerate() {
        let (ip, port) = (address.ip(), address.port());
        if number > 0 {
            writeln!(file, "next")?;
        }
        writeln!(file, "url = \"https://{host}:{port}/robots.txt\"\nresolve = \"{host}:{port}:{ip}\"")?;
        writeln!(file, "output = \"/dev/null\"\nhttp1.1\ncompressed\nheader = \"Connection: close\"")?;
        writeln!(file, "cacert = \"{}\"", authority.display())?;
    }
    file.into_inner()?.sync_all()?;
    let before = used::children_cpu()?;
    let mut command = Command::new("curl");
    command.args(["--parallel", "--parallel-max", &in_flight.to_string(), "--silent", "--config"]).arg(&config);
    // Some hosts answer as they were recorded, which curl may call a failure; it has made its connections all the same.
    command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    let cpu = used::children_cpu()?.saturating_sub(before);
    Ok(Some((version, Measured { requests: jobs.len(), cpu })))
}

fn report(what: &str, measured: Measured, bound: Measured) {
    println!(
        "  {:>5.0}  {:>5.2} of the bare loop's  {what} ({} requests)",
        measured.microseconds(),
        measured.microseconds() / bound.microseconds(),
        measured.requests,
    );
}
