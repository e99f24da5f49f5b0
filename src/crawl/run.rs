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

use super::fetch::{Exchange, Request};
use super::journey::{Journey, Step, is_transient};
use super::reach::Guard;
use super::refusal::Heard;
use super::resolve::Lookup;
use super::schedule::{Pace, Schedule, Server, Span, Turn};
use super::window::Window;
use super::{CrawlError, End, Fault, Limits, Memory, Probing, Pulse};
use crate::domain::Target;
use crate::observation::{DnsAnswers, Observation, ProbeKind};
use crate::outcome::Cause;

/// The seam between the loop and the world: tests put a web of their own behind it, in virtual time.
pub(super) trait Web: Clone + Send + Sync + 'static {
    fn resolve(&self, host: &str) -> impl Future<Output = Result<Lookup, Fault>> + Send;
    fn ask(&self, request: Request<'_>) -> impl Future<Output = Result<Exchange, Fault>> + Send;
    /// By how much tasks that sleep were woken too late so far, in all.
    fn lateness(&self) -> Duration;
}

/// The loop and everything it owns.
pub(super) struct Crawl<W> {
    web: W,
    guard: Arc<Guard>,
    limits: Limits,
    sink: mpsc::Sender<Observation>,
    /// Which extra looks a target gets.
    probing: Probing,
    /// What is remembered of targets.
    memory: Memory,
    schedule: Schedule<(Box<Journey>, IpAddr)>,
    window: Window,
    /// Journeys whose next step is a look-up; they go before new targets.
    lookups: VecDeque<Box<Journey>>,
    /// Journeys that set out later, and when; all wait equally long, so the first is due first.
    late: VecDeque<(Instant, Late)>,
    /// What they hold in memory, about.
    late_bytes: usize,
    resolving: JoinSet<(bool, Ended)>,
    asking: JoinSet<(Server, Span, Heard, Ended)>,
    next_lookup: Instant,
    trouble: Option<Trouble>,
    /// The deadline has passed: nothing is started any more.
    is_over: bool,
    pulse: Pulse,
    panics: Vec<String>,
}

/// Why a target is asked later.
enum Late {
    /// Its first try failed in passing.
    SecondTry(Box<Observation>),
    /// It is looked at once more, to see what differs.
    Repeat(Box<Observation>),
}

impl Late {
    fn observation(self) -> Box<Observation> {
        let (Self::SecondTry(observation) | Self::Repeat(observation)) = self;
        observation
    }

    fn observation_ref(&self) -> &Observation {
        let (Self::SecondTry(observation) | Self::Repeat(observation)) = self;
        observation
    }
}

/// What became of a spawned look-up or request.
enum Ended {
    /// The journey goes on.
    Next(Step),
    /// The target is done and its observation accepted.
    Accepted,
    /// The first try failed in passing; a second one may tell otherwise.
    Transient(Box<Observation>),
    /// The target is done, but for an extra look of this kind.
    Probe(Box<Observation>, ProbeKind),
    /// Our own machine failed; the same step is due again.
    Fault(Fault, Again),
    /// What is remembered of the target cannot be read.
    Forgotten(anyhow::Error),
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
/// Memory for targets that wait for a second try, about; those beyond get none.
const LATE_BYTES: usize = 64 << 20;
/// By how much slower names are looked up a second time.
const SLOWNESS: u32 = 10;
/// How much later a target is looked at once more where second tries say nothing else.
const REPEAT: Duration = Duration::from_secs(600);
/// A crawl pauses and asks again; it stops at once only when this many tasks have panicked.
const MAX_PANICS: usize = 100;

impl<W: Web> Crawl<W> {
    pub(super) fn new(
        web: W,
        guard: Arc<Guard>,
        (pace, limits): (Pace, Limits),
        (probing, memory): (Probing, Memory),
        sink: mpsc::Sender<Observation>,
    ) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            web,
            guard,
            limits,
            sink,
            probing,
            memory,
            schedule: Schedule::new(pace),
            window: Window::new(limits.in_flight, cores, Instant::now()),
            lookups: VecDeque::new(),
            late: VecDeque::new(),
            late_bytes: 0,
            resolving: JoinSet::new(),
            asking: JoinSet::new(),
            next_lookup: Instant::now(),
            trouble: None,
            is_over: false,
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
        let deadline = self.limits.deadline.map(|span| Instant::now() + span);
        loop {
            // The clock is read after every wait, never before it: a start that was judged by an older reading would
            // come too early.
            let now = Instant::now();
            let stopping = stop.is_cancelled();
            let mut wake = deadline.filter(|_| !self.is_over);
            if wake.is_some_and(|deadline| deadline <= now) && !stopping {
                self.give_up(&mut targets, now).await?;
                wake = None;
            }
            self.window.adjust(self.web.lateness(), self.asking.len(), now);
            if !stopping {
                self.call_back(now, targets.peek().is_none());
                wake = earlier(wake, self.late.front().map(|(due, _)| *due));
                let next = match self.trouble.as_ref().filter(|trouble| trouble.until > now) {
                    Some(trouble) => Some(trouble.until),
                    None => earlier(self.start_lookups(&mut targets, now), self.start_requests(now)),
                };
                wake = earlier(wake, next);
            }
            self.measure(targets.peek().is_none());
            self.publish(pulse);
            let is_idle = self.resolving.is_empty() && self.asking.is_empty();
            if is_idle && stopping {
                return self.end(End::Stopped);
            }
            let nothing_waits = self.lookups.is_empty() && self.late.is_empty() && self.schedule.waiting() == 0;
            if is_idle && nothing_waits && targets.peek().is_none() {
                return self.end(End::Complete);
            }
            tokio::select! {
                Some(joined) = self.resolving.join_next() => {
                    // A look-up that was aborted is no look-up: its target has no row.
                    if let Ok((is_first, ended)) = joined {
                        self.pulse.resolved += u64::from(is_first && !matches!(ended, Ended::Fault(..)));
                        self.take(ended).await?;
                    }
                }
                Some(ended) = self.asking.join_next() => {
                    let (server, span, heard, ended) = ended.expect("panics are caught inside the task");
                    for (journey, _) in self.schedule.release(server, span, heard) {
                        self.accept(journey.abandon(Cause::NotAttemptedLimited, span.ended)).await?;
                    }
                    self.take(ended).await?;
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
        while self.resolving.len() < self.limits.resolving && !self.is_over {
            let may_take = self.schedule.waiting() + self.resolving.len() < self.limits.waiting;
            if self.lookups.is_empty() && (!may_take || targets.peek().is_none()) {
                return None;
            }
            if self.next_lookup > now {
                return Some(self.next_lookup);
            }
            let journey = self.lookups.pop_front();
            let journey = journey.or_else(|| {
                let target = targets.next()?;
                Some(Journey::begin(target, self.limits.www, now, Timestamp::now()))
            })?;
            // What failed once is asked again slowly, whoever was too busy for it.
            let factor = if journey.is_second_try() { SLOWNESS } else { 1 };
            self.next_lookup = now + self.limits.lookup_interval * factor;
            self.spawn_lookup(journey);
        }
        None
    }

    /// Starts as many requests as may start now; says when the next one may.
    fn start_requests(&mut self, now: Instant) -> Option<Instant> {
        while self.asking.len() < self.window.size() {
            match self.schedule.pop(now) {
                Turn::Ready(server, (journey, ip)) => self.spawn_request(server, journey, ip),
                Turn::Wait(until) => return Some(until),
                Turn::Idle => return None,
            }
        }
        None
    }

    fn spawn_lookup(&mut self, journey: Box<Journey>) {
        let (web, guard, sink) = (self.web.clone(), Arc::clone(&self.guard), self.sink.clone());
        let is_first = journey.is_fresh();
        let may_be_late = self.limits.second_try.is_some() && journey.is_first_try();
        let probing = self.probing.clone();
        let work = async move {
            let lookup = if guard.exclusions.hold_name(journey.host()) {
                Ok(Lookup { answers: DnsAnswers::default(), result: Err(Cause::OptedOut.into()) })
            } else {
                web.resolve(journey.host()).await
            };
            match lookup {
                Ok(lookup) => {
                    hand_over(journey.resolved(lookup, &guard, Instant::now()), may_be_late, &probing, &sink).await
                }
                Err(fault) => Ended::Fault(fault, Again::Resolve(journey)),
            }
        };
        self.resolving.spawn(async move { (is_first, contain(work).await) });
    }

    fn spawn_request(&mut self, server: Server, journey: Box<Journey>, ip: IpAddr) {
        let may_be_late = self.limits.second_try.is_some();
        let (probing, memory) = (self.probing.clone(), self.memory.clone());
        let (web, guard, sink) = (self.web.clone(), Arc::clone(&self.guard), self.sink.clone());
        self.asking.spawn(async move {
            // The gap runs from the end of the connection, not from the moment the writer has taken the row.
            let started = Instant::now();
            let mut ended = started;
            let mut heard = Heard::Nothing;
            let work = async {
                let validators = match memory.recall(&journey) {
                    Ok(validators) => validators,
                    Err(error) => return Ended::Forgotten(error),
                };
                let (identity, validators) = (journey.identity(), validators.as_ref());
                let exchange = web.ask(Request { url: journey.url(), ip, identity, validators }).await;
                ended = Instant::now();
                match exchange {
                    Ok(mut exchange) => {
                        heard = Heard::of(&exchange);
                        if let Err(error) = memory.settle(&journey, &mut exchange) {
                            return Ended::Forgotten(error);
                        }
                        let may_be_late = may_be_late && journey.is_first_try();
                        hand_over(journey.answered(exchange, &guard, ended), may_be_late, &probing, &sink).await
                    }
                    Err(fault) => Ended::Fault(fault, Again::Ask(journey, ip)),
                }
            };
            let what = contain(work).await;
            (server, Span { started, ended }, heard, what)
        });
    }

    async fn take(&mut self, ended: Ended) -> Result<(), CrawlError> {
        let now = Instant::now();
        match ended {
            Ended::Accepted => {
                self.trouble = None;
                self.pulse.done += 1;
            }
            Ended::Transient(observation) => {
                self.trouble = None;
                self.put_off(Late::SecondTry(observation), now).await?;
            }
            Ended::Probe(observation, ProbeKind::Repeat) => {
                self.trouble = None;
                self.put_off(Late::Repeat(observation), now).await?;
            }
            Ended::Probe(observation, kind) => {
                self.trouble = None;
                let journey = Journey::begin_probe(observation, kind, self.limits.www, now, Timestamp::now());
                self.go_on(Step::Resolve(journey), now).await?;
            }
            Ended::Next(step) => {
                self.trouble = None;
                self.go_on(step, now).await?;
            }
            // Nothing is asked again after the deadline, so that there is nothing to pause for.
            Ended::Fault(_, Again::Resolve(journey) | Again::Ask(journey, _)) if self.is_over => {
                self.accept(journey.abandon(Cause::NotAttemptedDeadline, now)).await?;
            }
            Ended::Fault(fault, again) => {
                match again {
                    Again::Resolve(journey) => self.lookups.push_front(journey),
                    Again::Ask(journey, ip) => self.schedule.push_front(ip.into(), (journey, ip), now),
                }
                self.pause(fault, now)?;
            }
            Ended::Forgotten(error) => return Err(CrawlError::Memory(error)),
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

    /// Puts a journey where its next step waits, unless that will not come.
    async fn go_on(&mut self, step: Step, now: Instant) -> Result<(), CrawlError> {
        match step {
            Step::Resolve(journey) | Step::Ask(journey, _) if self.is_over => {
                self.accept(journey.abandon(Cause::NotAttemptedDeadline, now)).await?;
            }
            Step::Ask(journey, ip) if self.schedule.is_closed(ip.into()) => {
                self.accept(journey.abandon(Cause::NotAttemptedLimited, now)).await?;
            }
            Step::Resolve(journey) => self.lookups.push_back(journey),
            // What was begun is finished before the line's next target, so that few are under way at once.
            Step::Ask(journey, ip) if journey.has_begun() => {
                self.schedule.push_front(ip.into(), (journey, ip), now);
            }
            Step::Ask(journey, ip) => self.schedule.push(ip.into(), (journey, ip), now),
            Step::Done(observation) => self.accept(observation).await?,
        }
        Ok(())
    }

    /// Sends an observation that no task sends.
    async fn accept(&mut self, observation: Box<Observation>) -> Result<(), CrawlError> {
        self.sink.send(*observation).await.map_err(|_| CrawlError::SinkClosed)?;
        self.pulse.done += 1;
        Ok(())
    }

    /// Keeps a target until it is asked again.
    async fn put_off(&mut self, late: Late, now: Instant) -> Result<(), CrawlError> {
        let wait = self.limits.second_try.unwrap_or(REPEAT);
        let observation = late.observation_ref();
        let bytes = weight(observation);
        if self.is_over || self.late_bytes + bytes > LATE_BYTES {
            return self.accept(late.observation()).await;
        }
        self.late_bytes += bytes;
        self.late.push_back((now + wait, late));
        Ok(())
    }

    /// Sets out again for those whose time has come, which it has for all when nothing else is left to do.
    fn call_back(&mut self, now: Instant, are_all_taken: bool) {
        let is_idle = self.lookups.is_empty()
            && self.resolving.is_empty()
            && self.asking.is_empty()
            && self.schedule.waiting() == 0;
        let is_end = are_all_taken && is_idle;
        while let Some((due, _)) = self.late.front()
            && (*due <= now || is_end)
            && let Some((_, late)) = self.late.pop_front()
        {
            self.late_bytes -= weight(late.observation_ref());
            let (www, today) = (self.limits.www, Timestamp::now());
            self.lookups.push_back(match late {
                Late::SecondTry(earlier) => Journey::begin_again(earlier, www, now, today),
                Late::Repeat(first) => Journey::begin_probe(first, ProbeKind::Repeat, www, now, today),
            });
        }
    }

    /// The time is up: all that was not attempted is observed as that, what is in flight is awaited.
    async fn give_up(&mut self, targets: &mut impl Iterator<Item = Target>, now: Instant) -> Result<(), CrawlError> {
        self.is_over = true;
        let waiting = self.schedule.drain().into_iter().map(|(journey, _)| journey);
        let begun: Vec<Box<Journey>> = self.lookups.drain(..).chain(waiting).collect();
        for journey in begun {
            self.accept(journey.abandon(Cause::NotAttemptedDeadline, now)).await?;
        }
        for (_, late) in std::mem::take(&mut self.late) {
            self.accept(late.observation()).await?;
        }
        for target in targets {
            let journey = Journey::begin(target, self.limits.www, now, Timestamp::now());
            self.accept(journey.abandon(Cause::NotAttemptedDeadline, now)).await?;
        }
        Ok(())
    }

    /// Finds the line that decides how long all of it takes at least, once: when all names are resolved, or so many
    /// that no more are taken.
    fn measure(&mut self, are_all_taken: bool) {
        let is_resolved = are_all_taken && self.lookups.is_empty() && self.resolving.is_empty();
        let is_full = self.schedule.waiting() >= self.limits.waiting;
        if self.pulse.longest_line.is_none() && (is_resolved || is_full) {
            self.pulse.longest_line = self.schedule.longest_line();
        }
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
        self.pulse.late = self.late.len();
        pulse.send_replace(self.pulse);
    }
}

/// What an observation holds in memory, about: its body, and a kilobyte for all the rest.
fn weight(observation: &Observation) -> usize {
    1024 + observation.response().map_or(0, |response| response.body.len())
}

/// Sends a finished target's observation to the sink; anything else is the loop's to take further.
async fn hand_over(step: Step, may_be_late: bool, probing: &Probing, sink: &mpsc::Sender<Observation>) -> Ended {
    match step {
        Step::Done(observation) if may_be_late && is_transient(&observation.ending) => Ended::Transient(observation),
        Step::Done(observation) => match probing.next(&observation) {
            Some(kind) => Ended::Probe(observation, kind),
            None => match sink.send(*observation).await {
                Ok(()) => Ended::Accepted,
                Err(_) => Ended::SinkClosed,
            },
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
