//! The crawl room and its parts: through sockets, and where that says more, by themselves.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use rustls::RootCertStore;
use survey::crawl::{
    Door, FetchSettings, Heard, Limits, Memory, Pace, Probing, Pulse, Reach, Schedule, Server, Settings, Span, Turn,
    Www, crawl,
};
use survey::domain::{Domain, Target};
use survey::exclusions::Exclusions;
use survey::input::{ListOptions, read_list};
use survey::observation::Observation;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::rehearsal::Rehearsal;
use crate::{Measured, used};

/// Which door answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Https,
    /// The other port refuses, so that the crawl turns to this one.
    Http,
}

/// Crawls the domains and counts requests that were answered.
fn crawl_domains(domains: &[Domain], settings: Settings) -> Result<Measured, Box<dyn Error>> {
    crawl_watched(domains, settings, &watch::Sender::new(Pulse::default()))
}

fn crawl_watched(
    domains: &[Domain],
    settings: Settings,
    pulse: &watch::Sender<Pulse>,
) -> Result<Measured, Box<dyn Error>> {
    let targets = domains.iter().zip(0..).map(|(domain, index)| target(index, domain.clone()));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let before = used::cpu()?;
    let requests = runtime.block_on(async {
        let (sink, mut source) = mpsc::channel::<Observation>(256);
        let counting = tokio::spawn(async move {
            let mut requests = 0;
            while let Some(observation) = source.recv().await {
                let hops = observation.asking.map(|asking| asking.hops).unwrap_or_default();
                requests += hops.iter().filter(|hop| hop.status.is_some()).count();
            }
            requests
        });
        crawl(targets, settings, sink, pulse, &CancellationToken::new()).await?;
        Ok::<_, Box<dyn Error>>(counting.await?)
    })?;
    Ok(Measured { requests, cpu: used::cpu()?.saturating_sub(before) })
}

/// The crawl room against a rehearsal.
pub(crate) fn crawl_room(
    domains: &[Domain],
    web: &Rehearsal,
    in_flight: usize,
    scheme: Scheme,
) -> Result<Measured, Box<dyn Error>> {
    let mut doors = web.doors()?;
    if scheme == Scheme::Http {
        for door in &mut doors {
            door.https = CLOSED;
        }
    }
    crawl_domains(domains, settings(vec![web.announcement.dns], doors, web.roots()?, in_flight))
}

/// Nothing listens at this port of loopback, so that connections are refused.
const CLOSED: u16 = 1;

/// Looks names up that do not exist; not below `.invalid`, which no resolver asks anybody for (RFC 6761).
pub(crate) fn look_up_nothing(web: &Rehearsal, count: usize) -> Result<(), Box<dyn Error>> {
    let domains: Result<Vec<Domain>, _> =
        (0..count).map(|number| Domain::parse(&format!("nobody-{number}.com"))).collect();
    let settings = settings(vec![web.announcement.dns], web.doors()?, web.roots()?, 1);
    let cpu = crawl_domains(&domains?, settings)?.cpu;
    println!("  {:.0} us CPU for a target whose name does not exist: one look-up and the loop", micros(cpu, count));
    Ok(())
}

/// Holds a connection in flight to each of the domains, at a port that takes connections and says nothing.
pub(crate) fn hold(domains: &[Domain], web: &Rehearsal) -> Result<(), Box<dyn Error>> {
    let listener = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)?;
    listener.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)).into())?;
    listener.listen(4096)?;
    let port = listener.local_addr()?.as_socket().ok_or("no port")?.port();
    let door = Door { block: "127.0.0.0/8".parse()?, http: CLOSED, https: port };
    let mut settings = settings(vec![web.announcement.dns], vec![door], web.roots()?, domains.len());
    settings.fetch.connect_timeout = Duration::from_secs(20);
    settings.limits.deadline = Some(Duration::from_secs(15));
    let before = used::resident()?;
    let (domains, count) = (domains.to_vec(), domains.len());
    let (sender, in_flight) = watch::channel(Pulse::default());
    let crawling =
        thread::spawn(move || crawl_watched(&domains, settings, &sender).map(drop).map_err(|error| error.to_string()));
    let (mut most, mut held) = (before, 0);
    while !crawling.is_finished() {
        most = most.max(used::resident()?);
        held = held.max(in_flight.borrow().in_flight);
        thread::sleep(Duration::from_millis(50));
    }
    crawling.join().map_err(|_| "the crawl panicked")??;
    let each = (most - before) / 1024 / u64::try_from(held.max(1))?;
    println!("  {each} KB of memory for a connection in flight: {held} of {count} held, their servers say nothing");
    Ok(())
}

/// Pushes and pops jobs of servers that share none of their time.
pub(crate) fn schedule(jobs: u32) {
    let servers = jobs / 5;
    let start = tokio::time::Instant::now();
    let server = |job: u32| Server::from(IpAddr::from(Ipv4Addr::from(0x0100_0000 + (job % servers) * 1021)));
    let mut schedule = Schedule::new(Pace { gap: Duration::from_secs(1), ..PACE });
    let clock = Instant::now();
    for job in 0..jobs {
        schedule.push(server(job), job, start);
    }
    let (mut now, mut popped) = (start, 0);
    loop {
        match schedule.pop(now) {
            Turn::Ready(server, _) => {
                schedule.release(server, Span { started: now, ended: now }, Heard::Answer);
                popped += 1;
            }
            Turn::Wait(until) => now = until,
            Turn::Idle => break,
        }
    }
    assert_eq!(popped, jobs, "each job is popped once");
    println!(
        "  {:.0} ns to push, pop and release one of {jobs} jobs of {servers} servers",
        clock.elapsed().as_secs_f64() * 1e9 / f64::from(jobs)
    );
}

/// Reads a list into memory.
pub(crate) fn list(names: u32) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("names.txt");
    let mut file = BufWriter::new(File::create(&path)?);
    for number in 0..names {
        writeln!(file, "host-{number}.example.com")?;
    }
    file.into_inner()?.sync_all()?;
    let before = used::resident()?;
    let list = read_list(&path, &ListOptions::default(), &mut |_| {})?;
    let bytes = used::resident()?.saturating_sub(before) / u64::from(names);
    println!("  {bytes} bytes of memory for a listed domain, of {} read", list.len());
    Ok(())
}

const PACE: Pace = Pace {
    gap: Duration::ZERO,
    interval: Duration::ZERO,
    per_network: 64,
    backoff: Duration::ZERO,
    patience: Duration::ZERO,
};

fn settings(upstreams: Vec<SocketAddr>, doors: Vec<Door>, roots: RootCertStore, in_flight: usize) -> Settings {
    Settings {
        fetch: FetchSettings {
            user_agent: "robots-survey-bench".to_owned(),
            other_user_agent: "robots-survey-bench".to_owned(),
            from: None,
            max_body: 1 << 20,
            connect_timeout: Duration::from_secs(8),
            read_timeout: Duration::from_secs(8),
            total_timeout: Duration::from_secs(20),
        },
        pace: PACE,
        limits: Limits {
            in_flight,
            resolving: 64,
            lookup_interval: Duration::ZERO,
            waiting: 100_000,
            www: Www::Never,
            second_try: None,
            deadline: None,
        },
        probing: Probing::NONE,
        memory: Memory::NONE,
        upstreams,
        asks_ipv6: false,
        canary: None,
        reach: Reach::Rehearsal(doors),
        exclusions: Exclusions::default(),
        roots,
    }
}

fn target(index: u32, domain: Domain) -> Target {
    Target { index, domain, rank: None, weight: None, stratum: None }
}

fn micros(cpu: Duration, count: usize) -> f64 {
    cpu.as_secs_f64() * 1e6 / f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
