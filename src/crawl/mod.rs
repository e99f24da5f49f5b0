//! Target → observation over the network: politely, many at once, each target exactly once.
//!
//! ```text
//! targets -> look up -> wait for the server's turn -> ask -> next step, or done -> sink
//!               ^_____________________________________________|
//! ```
//!
//! One loop owns the schedule and starts everything ([`crawl`]). Looking up and asking have separate permits; a target
//! that waits for its server's turn holds none. A request's permit is held until the sink has accepted the
//! observation, so a slow disk slows the crawl and memory stays flat.
//!
//! Touches the network and the clock, and nothing else. Deliberately absent: robots.txt syntax, agents, files.
//!
//! * [`Settings`]: everything that a run decides beforehand.
//! * `journey`: the way of one target, pure.
//! * `schedule`: politeness as a value, pure.
//! * `reach`: whom the crawl may contact.
//! * `resolve`, `fetch`, `tls`, `body`: one look-up, one request.
//! * `failure`: library errors → causes and faults.

mod body;
mod failure;
mod fetch;
mod journey;
mod reach;
mod resolve;
mod schedule;
mod tls;

use std::collections::VecDeque;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use jiff::Timestamp;
use rustls::RootCertStore;
use thiserror::Error;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

pub use self::failure::Fault;
pub use self::fetch::FetchSettings;
pub use self::reach::{Door, Reach};
pub use self::schedule::Pace;
pub use self::tls::public_roots;

use self::fetch::{Exchange, Fetcher};
use self::journey::{Journey, Step};
use self::resolve::{Resolution, Resolver};
use self::schedule::{Schedule, Server, Turn};
use crate::domain::Target;
use crate::observation::{Failure, Observation};

/// Everything that a crawl decides beforehand.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How requests are made.
    pub fetch: FetchSettings,
    /// How gently servers are asked.
    pub pace: Pace,
    /// How much may be under way.
    pub limits: Limits,
    /// Upstream name servers; none means the system's.
    pub upstreams: Vec<SocketAddr>,
    /// Whom the crawl may contact.
    pub reach: Reach,
    /// Whom certificates are verified against.
    pub roots: RootCertStore,
}

/// How much may be under way at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests in flight.
    pub in_flight: usize,
    /// Look-ups in flight.
    pub resolving: usize,
    /// From one look-up's start to the next; zero for no limit.
    pub lookup_interval: Duration,
    /// Targets that wait for their server's turn. Above it no new target is taken.
    pub waiting: usize,
}

/// How far a crawl has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pulse {
    /// Look-ups in flight.
    pub resolving: usize,
    /// Targets whose own name was looked up.
    pub resolved: u64,
    /// Targets waiting for their server's turn.
    pub waiting: usize,
    /// Requests in flight.
    pub in_flight: usize,
    /// Targets whose observation was accepted.
    pub done: u64,
    /// Times that a fault of this machine made the crawl pause.
    pub faults: u64,
}

/// How a crawl that could end in order ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every target was observed.
    Complete,
    /// The caller asked it to stop; what was in flight was finished.
    Stopped,
}

/// Why a crawl could not go on.
#[derive(Debug, Error)]
pub enum CrawlError {
    /// Our own machine cannot do the work; nothing was written for the targets that met the fault.
    #[error(
        "this machine has a fault that does not pass ({fault}: {}); the targets that met it have no row, and the same \
         command goes on with them",
        fault.doc()
    )]
    Fault {
        /// The fault.
        fault: Fault,
    },
    /// A task panicked; its target has no row.
    #[error("a defect of this program cost {count} targets their row: {first}")]
    Panic {
        /// How many targets.
        count: usize,
        /// What the first panic said.
        first: String,
    },
    /// Whoever accepts observations has gone.
    #[error("observations are no longer accepted")]
    SinkClosed,
}

/// A look-up or a request that brought nothing.
#[derive(Debug)]
pub(crate) enum Miss {
    /// The target's doing.
    Failure(Failure),
    /// Our own machine's doing; the same is asked again later.
    Fault(Fault),
}

/// Crawls the targets and sends one observation each to the sink.
///
/// Stops taking targets when `stop` is cancelled, finishes the requests in flight and abandons those that wait; an
/// abandoned target has no observation, so a resumed run asks it.
///
/// # Deadlocks
///
/// The sink must be drained by another thread or task; the crawl waits for it, permits in hand.
pub async fn crawl(
    targets: impl Iterator<Item = Target>,
    settings: Settings,
    sink: mpsc::Sender<Observation>,
    pulse: &watch::Sender<Pulse>,
    stop: &CancellationToken,
) -> anyhow::Result<End> {
    let reach = Arc::new(settings.reach);
    let web = Network {
        resolver: Resolver::new(&settings.upstreams)?,
        fetcher: Fetcher::new(settings.fetch, Arc::clone(&reach), settings.roots)?,
    };
    Ok(Crawl::new(web, reach, settings.pace, settings.limits, sink).run(targets, pulse, stop).await?)
}

/// The seam between the loop and the world: tests put a web of their own behind it, in virtual time.
trait Web: Clone + Send + Sync + 'static {
    fn resolve(&self, host: &str) -> impl Future<Output = Result<Resolution, Miss>> + Send;
    fn ask(&self, url: &Url, ip: IpAddr) -> impl Future<Output = Result<Exchange, Fault>> + Send;
}

/// The real network.
#[derive(Clone, Debug)]
struct Network {
    resolver: Resolver,
    fetcher: Fetcher,
}

impl Web for Network {
    async fn resolve(&self, host: &str) -> Result<Resolution, Miss> {
        self.resolver.resolve(host).await
    }

    async fn ask(&self, url: &Url, ip: IpAddr) -> Result<Exchange, Fault> {
        self.fetcher.ask(url, ip).await
    }
}

/// The loop and everything it owns.
struct Crawl<W> {
    web: W,
    reach: Arc<Reach>,
    limits: Limits,
    sink: mpsc::Sender<Observation>,
    schedule: Schedule<(Box<Journey>, IpAddr)>,
    /// Journeys whose next step is a look-up; they go before new targets.
    lookups: VecDeque<Box<Journey>>,
    resolving: JoinSet<(bool, Ended)>,
    asking: JoinSet<(Server, Instant, Ended)>,
    next_lookup: Instant,
    trouble: Option<Trouble>,
    pulse: Pulse,
    panics: Vec<String>,
}

/// What became of a spawned look-up or request.
enum Ended {
    /// The journey goes on.
    Next(Step),
    /// The target is done and its observation accepted.
    Accepted,
    /// Our own machine failed; the same step is due again.
    Fault(Fault, Again),
    /// The sink is closed.
    SinkClosed,
    /// The task panicked.
    Panic(String),
}

/// A step that is due again.
enum Again {
    Resolve(Box<Journey>),
    Ask(Box<Journey>, IpAddr),
}

/// A fault that has not passed yet.
struct Trouble {
    since: Instant,
    until: Instant,
    pause: Duration,
}

/// The first pause after a fault; each further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause after a fault.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A fault that has not passed after this long ends the crawl.
const FAULT_LIMIT: Duration = Duration::from_secs(180);
/// A crawl pauses and asks again; it stops at once only when this many tasks have panicked.
const MAX_PANICS: usize = 100;

impl<W: Web> Crawl<W> {
    fn new(web: W, reach: Arc<Reach>, pace: Pace, limits: Limits, sink: mpsc::Sender<Observation>) -> Self {
        Self {
            web,
            reach,
            limits,
            sink,
            schedule: Schedule::new(pace),
            lookups: VecDeque::new(),
            resolving: JoinSet::new(),
            asking: JoinSet::new(),
            next_lookup: Instant::now(),
            trouble: None,
            pulse: Pulse::default(),
            panics: Vec::new(),
        }
    }

    async fn run(
        mut self,
        targets: impl Iterator<Item = Target>,
        pulse: &watch::Sender<Pulse>,
        stop: &CancellationToken,
    ) -> Result<End, CrawlError> {
        let mut targets = targets.fuse().peekable();
        loop {
            // The clock is read after every wait, never before it: a start that was judged by an older reading would
            // come too early.
            let now = Instant::now();
            let stopping = stop.is_cancelled();
            let mut wake = None;
            if !stopping {
                wake = match self.trouble.as_ref().filter(|trouble| trouble.until > now) {
                    Some(trouble) => Some(trouble.until),
                    None => earlier(self.start_lookups(&mut targets, now), self.start_requests(now)),
                };
            }
            self.publish(pulse);
            let is_idle = self.resolving.is_empty() && self.asking.is_empty();
            if is_idle && stopping {
                return self.end(End::Stopped);
            }
            let nothing_waits = self.lookups.is_empty() && self.schedule.waiting() == 0;
            if is_idle && nothing_waits && targets.peek().is_none() {
                return self.end(End::Complete);
            }
            tokio::select! {
                Some(joined) = self.resolving.join_next() => {
                    // A look-up that was aborted is no look-up: its target has no row.
                    if let Ok((is_first, ended)) = joined {
                        self.pulse.resolved += u64::from(is_first && !matches!(ended, Ended::Fault(..)));
                        self.take(ended)?;
                    }
                }
                Some(ended) = self.asking.join_next() => {
                    let (server, at, ended) = ended.expect("panics are caught inside the task");
                    self.schedule.release(server, at);
                    self.take(ended)?;
                }
                () = sleep_until(wake) => {}
                () = stop.cancelled(), if !stopping => self.resolving.abort_all(),
            }
        }
    }

    fn end(self, end: End) -> Result<End, CrawlError> {
        let count = self.panics.len();
        match self.panics.into_iter().next() {
            None => Ok(end),
            Some(first) => Err(CrawlError::Panic { count, first }),
        }
    }

    /// Starts as many look-ups as may start now; says when the next one may.
    fn start_lookups(
        &mut self,
        targets: &mut std::iter::Peekable<impl Iterator<Item = Target>>,
        now: Instant,
    ) -> Option<Instant> {
        while self.resolving.len() < self.limits.resolving {
            let may_take = self.schedule.waiting() + self.resolving.len() < self.limits.waiting;
            if self.lookups.is_empty() && (!may_take || targets.peek().is_none()) {
                return None;
            }
            if self.next_lookup > now {
                return Some(self.next_lookup);
            }
            self.next_lookup = now + self.limits.lookup_interval;
            let journey = self.lookups.pop_front();
            let journey =
                journey.or_else(|| targets.next().map(|target| Journey::begin(target, now, Timestamp::now())))?;
            self.spawn_lookup(journey);
        }
        None
    }

    /// Starts as many requests as may start now; says when the next one may.
    fn start_requests(&mut self, now: Instant) -> Option<Instant> {
        while self.asking.len() < self.limits.in_flight {
            match self.schedule.pop(now) {
                Turn::Ready(server, (journey, ip)) => self.spawn_request(server, journey, ip),
                Turn::Wait(until) => return Some(until),
                Turn::Idle => return None,
            }
        }
        None
    }

    fn spawn_lookup(&mut self, journey: Box<Journey>) {
        let (web, reach, sink) = (self.web.clone(), Arc::clone(&self.reach), self.sink.clone());
        let is_first = journey.is_fresh();
        let work = async move {
            let step = match web.resolve(journey.host()).await {
                Ok(resolution) => journey.resolved(Ok(resolution), &reach, Instant::now()),
                Err(Miss::Failure(failure)) => journey.resolved(Err(failure), &reach, Instant::now()),
                Err(Miss::Fault(fault)) => return Ended::Fault(fault, Again::Resolve(journey)),
            };
            hand_over(step, &sink).await
        };
        self.resolving.spawn(async move { (is_first, contain(work).await) });
    }

    fn spawn_request(&mut self, server: Server, journey: Box<Journey>, ip: IpAddr) {
        let (web, reach, sink) = (self.web.clone(), Arc::clone(&self.reach), self.sink.clone());
        self.asking.spawn(async move {
            // The gap runs from the end of the connection, not from the moment the writer has taken the row.
            let mut at = Instant::now();
            let work = async {
                let exchange = web.ask(journey.url(), ip).await;
                at = Instant::now();
                match exchange {
                    Ok(exchange) => hand_over(journey.answered(exchange, &reach, at), &sink).await,
                    Err(fault) => Ended::Fault(fault, Again::Ask(journey, ip)),
                }
            };
            let ended = contain(work).await;
            (server, at, ended)
        });
    }

    fn take(&mut self, ended: Ended) -> Result<(), CrawlError> {
        let now = Instant::now();
        match ended {
            Ended::Accepted => {
                self.trouble = None;
                self.pulse.done += 1;
            }
            Ended::Next(step) => {
                self.trouble = None;
                match step {
                    Step::Resolve(journey) => self.lookups.push_back(journey),
                    // What was begun is finished before the line's next target, so that few are under way at once.
                    Step::Ask(journey, ip) if journey.has_begun() => {
                        self.schedule.push_front(ip.into(), (journey, ip), now);
                    }
                    Step::Ask(journey, ip) => self.schedule.push(ip.into(), (journey, ip), now),
                    Step::Done(_) => unreachable!("a finished step was handed to the sink"),
                }
            }
            Ended::Fault(fault, again) => {
                match again {
                    Again::Resolve(journey) => self.lookups.push_front(journey),
                    Again::Ask(journey, ip) => self.schedule.push_front(ip.into(), (journey, ip), now),
                }
                self.pause(fault, now)?;
            }
            Ended::SinkClosed => return Err(CrawlError::SinkClosed),
            Ended::Panic(text) => {
                tracing::error!("a task panicked: {text}");
                self.panics.push(text);
                if self.panics.len() >= MAX_PANICS {
                    let first = self.panics.swap_remove(0);
                    return Err(CrawlError::Panic { count: MAX_PANICS, first });
                }
            }
        }
        Ok(())
    }

    /// Starts nothing for a while, longer each time; ends the crawl when the fault does not pass.
    fn pause(&mut self, fault: Fault, now: Instant) -> Result<(), CrawlError> {
        let trouble = self.trouble.get_or_insert(Trouble { since: now, until: now, pause: FIRST_PAUSE });
        if trouble.until > now {
            // Tasks that were already under way meet the same fault; they are the same pause.
            return Ok(());
        }
        if now - trouble.since > FAULT_LIMIT {
            return Err(CrawlError::Fault { fault });
        }
        tracing::warn!("pausing {:?}: {fault}: {}", trouble.pause, fault.doc());
        self.pulse.faults += 1;
        trouble.until = now + trouble.pause;
        trouble.pause = (trouble.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }

    fn publish(&mut self, pulse: &watch::Sender<Pulse>) {
        self.pulse.resolving = self.resolving.len();
        self.pulse.waiting = self.schedule.waiting();
        self.pulse.in_flight = self.asking.len();
        pulse.send_replace(self.pulse);
    }
}

/// Sends a finished target's observation to the sink; anything else is the loop's to take further.
async fn hand_over(step: Step, sink: &mpsc::Sender<Observation>) -> Ended {
    match step {
        Step::Done(observation) => match sink.send(*observation).await {
            Ok(()) => Ended::Accepted,
            Err(_) => Ended::SinkClosed,
        },
        step => Ended::Next(step),
    }
}

/// Runs a task's work; a panic costs its target, not the run.
async fn contain(work: impl Future<Output = Ended>) -> Ended {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(ended) => ended,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            Ended::Panic(text.unwrap_or_else(|| "no text".to_owned()))
        }
    }
}

fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    [one, other].into_iter().flatten().min()
}

async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
