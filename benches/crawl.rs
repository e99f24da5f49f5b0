//! What one new HTTPS connection costs the client: the crawl room alone, against `survey rehearse` in its own process.
//!
//! Figures are CPU seconds of this process (user and system, all threads, from `/proc/self/stat`), so the server's
//! share does not count and a busy machine disturbs less than it would on the wall clock. The hosts are those of a
//! recorded wave where `../shared/corpora` is there, else a seeded population.
//!
//!     cargo bench --bench crawl
//!
//! With `SURVEY_BENCH_QUICK=1` it asks a few hundred hosts only, to show that it still works.

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use survey::crawl::{Door, FetchSettings, Limits, Pace, Pulse, Reach, Settings, crawl};
use survey::domain::{Domain, Target};
use survey::exclusions::Exclusions;
use survey::observation::Observation;
use survey::rehearsal::Announcement;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

fn main() -> Result<(), Box<dyn Error>> {
    let is_quick = std::env::var_os("SURVEY_BENCH_QUICK").is_some();
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora/gov-2024-06-29.robotstxt.warc.gz");
    let mut domains = Vec::new();
    let mut arguments: Vec<PathBuf> = Vec::new();
    if shared.exists() {
        println!("source: the recorded wave gov-2024-06-29");
        for capture in survey::input::warc::read(&shared, 1 << 20)? {
            domains.extend(capture.ok().and_then(|capture| capture.host.ok()));
        }
        arguments.extend(["--source".into(), shared]);
    } else {
        println!("source: a seeded population (../shared is absent)");
        let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("inputs/top10k.txt");
        for line in fs::read_to_string(&list)?.lines().filter(|line| !line.starts_with('#')) {
            domains.extend(line.split(',').next_back().and_then(|name| Domain::parse(name).ok()));
        }
        arguments.extend(["--domains".into(), list]);
    }
    if is_quick {
        domains.truncate(300);
    }
    let rehearsal = Rehearsal::start(&arguments)?;
    for concurrency in [50, 300] {
        measure(&domains, &rehearsal.announcement, concurrency)?;
    }
    Ok(())
}

fn measure(domains: &[Domain], web: &Announcement, concurrency: usize) -> Result<(), Box<dyn Error>> {
    let targets = domains.iter().zip(0..).map(|(domain, index)| Target {
        index,
        domain: domain.clone(),
        rank: None,
        weight: None,
        stratum: None,
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (wall, cpu) = (Instant::now(), cpu_time()?);
    let connections = runtime.block_on(async {
        let (sink, mut source) = mpsc::channel::<Observation>(256);
        let counting = tokio::spawn(async move {
            let mut connections = 0;
            while let Some(observation) = source.recv().await {
                let hops = observation.asking.map(|asking| asking.hops).unwrap_or_default();
                connections += hops.iter().filter(|hop| hop.tls_version.is_some()).count();
            }
            connections
        });
        let (pulse, _) = watch::channel(Pulse::default());
        crawl(targets, settings(web, concurrency)?, sink, &pulse, &CancellationToken::new()).await?;
        Ok::<_, Box<dyn Error>>(counting.await?)
    })?;
    let (wall, cpu) = (wall.elapsed().as_secs_f64(), cpu_time()?.saturating_sub(cpu).as_secs_f64());
    let connections = f64::from(u32::try_from(connections)?);
    println!(
        "{concurrency:>4} in flight: {connections:.0} HTTPS connections, {:.0} us CPU each, {:.0} per core-second \
         (wall {wall:.1} s, {:.0} per second beside the server)",
        cpu / connections * 1e6,
        connections / cpu,
        connections / wall,
    );
    Ok(())
}

fn settings(web: &Announcement, concurrency: usize) -> Result<Settings, Box<dyn Error>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(web.ca_pem.as_bytes())?)?;
    let doors: Result<Vec<Door>, _> = web
        .doors
        .iter()
        .map(|door| door.block.parse().map(|block| Door { block, http: door.http, https: door.https }))
        .collect();
    Ok(Settings {
        fetch: FetchSettings {
            user_agent: "robots-survey-bench".to_owned(),
            from: None,
            max_body: NonZeroUsize::MIN.get() << 20,
            connect_timeout: Duration::from_secs(8),
            read_timeout: Duration::from_secs(8),
            total_timeout: Duration::from_secs(20),
        },
        pace: Pace {
            gap: Duration::ZERO,
            interval: Duration::ZERO,
            per_network: 64,
            backoff: Duration::ZERO,
            patience: Duration::ZERO,
        },
        limits: Limits {
            in_flight: concurrency,
            resolving: 64,
            lookup_interval: Duration::ZERO,
            waiting: 100_000,
            second_try: None,
            deadline: None,
        },
        upstreams: vec![web.dns],
        reach: Reach::Rehearsal(doors?),
        exclusions: Exclusions::default(),
        roots,
    })
}

/// `survey rehearse` in its own process, ended with this one.
struct Rehearsal {
    child: Child,
    announcement: Announcement,
}

impl Rehearsal {
    fn start(arguments: &[PathBuf]) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_survey"))
            .arg("rehearse")
            .args(arguments)
            .arg("--until-stdin-closes")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no pipe")?).read_line(&mut line)?;
        let announcement = serde_json::from_str(&line)?;
        Ok(Self { child, announcement })
    }
}

impl Drop for Rehearsal {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        if let Err(error) = self.child.wait() {
            let _ = writeln!(std::io::stderr(), "waiting for the rehearsal: {error}");
        }
    }
}

/// User and system time of this process so far, in ticks of 10 ms.
fn cpu_time() -> Result<Duration, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit(')').next().ok_or("no fields")?.split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).map(|field| field.parse().unwrap_or(0)).sum();
    Ok(Duration::from_millis(ticks * 10))
}
