//! The loop: one place that takes targets, starts look-ups and requests, and knows what is under way.
//!
//! Everything mutable is owned by [`Crawl`]; tasks only carry a journey to its next step and bring it back. A target's
//! panic is contained, a fault of this machine makes everybody wait, and nothing is written for either.

use std::collections::VecDeque;
use std::future::Future;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use jiff::Timestamp;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::fetch::{Exchange, Fetcher};
use super::journey::{Journey, Step};
use super::resolve::{Resolution, Resolver};
use super::schedule::{Pace, Schedule, Server, Turn};
use super::{CrawlError, End, Fault, Limits, Miss, Pulse, Reach};
use crate::domain::Target;
use crate::observation::Observation;

/// The seam between the loop and the world: tests put a web of their own behind it, in virtual time.
pub(super) trait Web: Clone + Send + Sync + 'static {
    fn resolve(&self, host: &str) -> impl Future<Output = Result<Resolution, Miss>> + Send;
    fn ask(&self, url: &Url, ip: IpAddr) -> impl Future<Output = Result<Exchange, Fault>> + Send;
}

/// The real network.
#[derive(Clone, Debug)]
pub(super) struct Network {
    pub(super) resolver: Resolver,
    pub(super) fetcher: Fetcher,
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
pub(super) struct Crawl<W> {
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
    pub(super) fn new(web: W, reach: Arc<Reach>, pace: Pace, limits: Limits, sink: mpsc::Sender<Observation>) -> Self {
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

    pub(super) async fn run(
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
