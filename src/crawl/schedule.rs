//! Politeness as a value: who may be asked next, with time as an argument.
//!
//! Targets wait in one line per server. A server is one IPv4 address or one IPv6 /64, since it is the machine that is
//! to be spared, not the name. Nothing here reads a clock or knows what a job is, so every promise is tested in
//! virtual time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use tokio::time::Instant;

use super::LongestLine;
use super::refusal::Heard;
use crate::fronts::front_of;

/// How gently servers are asked.
///
/// A server with more than [`GIANT`] names in the crawl is asked more often, since at one a second a shared address of
/// 8,000 names takes hours: ten times as often and over four connections where it stands in a published prefix
/// ([`fronts`](crate::fronts)), twice as often elsewhere, and up to five times as it stays in good health.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// From the end of one connection to a server to the start of the next.
    pub gap: Duration,
    /// From one start to the next, whatever the servers; zero for no limit.
    pub interval: Duration,
    /// Connections open at once to one IPv4 /24 or IPv6 /48.
    pub per_network: usize,
    /// The pause after a server asked for fewer requests and named no time; it doubles with each refusal in a row.
    pub backoff: Duration,
    /// The longest time that is waited because a server named it; one that names more is not asked again.
    pub patience: Duration,
}

/// A server with more names than this is no single machine.
pub const GIANT: usize = 256;

/// Refusals in a row after which a server is not asked again.
const REFUSALS: u32 = 3;
/// By how much the gap of a giant in a published prefix is divided, and how many connections it gets.
const FRONT: (u32, usize) = (10, 4);
/// By how much the gap of another giant is divided at first and at last, one more for each minute in good health.
const GROWTH: (u32, u32) = (2, 5);
const GROWTH_STEP: Duration = Duration::from_secs(60);

/// Jobs waiting for their server's turn.
///
/// Between a [`Turn::Ready`] and its [`Schedule::release`] a connection to the server is open, and it has one at a time
/// unless it is a giant in a published prefix. A server is forgotten as soon as its line is empty and its gap has
/// passed, so memory follows what waits, not what was ever seen; only those that refused are remembered.
#[derive(Debug)]
pub struct Schedule<J> {
    pace: Pace,
    /// [`GIANT`], or fewer in a test.
    giant: usize,
    lines: HashMap<Server, Line<J>>,
    /// When each server that may take another connection may next be asked; it stands here or is parked, once.
    ready: BinaryHeap<Reverse<(Instant, u64, Server)>>,
    /// Connections open to each network; networks without any are absent.
    open: HashMap<Network, usize>,
    /// Servers whose own time has come while their network was full, in order of arrival.
    parked: BTreeMap<Network, VecDeque<Server>>,
    next_start: Option<Instant>,
    sequence: u64,
    waiting: usize,
}

/// One server's line.
#[derive(Debug)]
struct Line<J> {
    jobs: VecDeque<J>,
    /// Jobs that ever stood at its end; as many names are behind the server.
    names: usize,
    /// It stands among the ready or is parked; else it is busy, or nothing waits for it.
    is_queued: bool,
    /// Connections that are open to it.
    open: usize,
    /// It asked for fewer requests so many times in a row.
    refusals: u32,
    /// When it last did, or last broke a connection.
    trouble: Option<Instant>,
    /// When it was first known to be a giant.
    giant_since: Option<Instant>,
    /// Its address is in a published prefix; asked of giants only.
    is_front: bool,
    /// It may not be asked before, whatever its gap.
    blocked_until: Option<Instant>,
    /// It is not asked again.
    is_closed: bool,
}

impl<J> Default for Line<J> {
    fn default() -> Self {
        Self {
            jobs: VecDeque::new(),
            names: 0,
            is_queued: false,
            open: 0,
            refusals: 0,
            trouble: None,
            giant_since: None,
            is_front: false,
            blocked_until: None,
            is_closed: false,
        }
    }
}

/// How fast a line moves.
#[derive(Clone, Copy, Debug)]
struct Tempo {
    gap: Duration,
    connections: usize,
}

impl<J> Line<J> {
    fn tempo(&self, gap: Duration, now: Instant) -> Tempo {
        if self.refusals > 0 {
            // One that refused is asked at half the rate, and half of that after the next refusal.
            return Tempo { gap: gap * 2u32.pow(self.refusals.min(REFUSALS)), connections: 1 };
        }
        match self.giant_since {
            None => Tempo { gap, connections: 1 },
            Some(_) if self.is_front => Tempo { gap: gap / FRONT.0, connections: FRONT.1 },
            Some(since) => {
                let healthy = now.saturating_duration_since(self.trouble.map_or(since, |trouble| trouble.max(since)));
                let steps = u32::try_from(healthy.as_secs() / GROWTH_STEP.as_secs()).unwrap_or(u32::MAX);
                Tempo { gap: gap / GROWTH.0.saturating_add(steps).min(GROWTH.1), connections: 1 }
            }
        }
    }

    /// What the gaps between all that wait come to, if nothing happens that slows the line down.
    fn at_least(&self, gap: Duration) -> Duration {
        let mut gaps = u32::try_from(self.jobs.len().saturating_sub(1)).unwrap_or(u32::MAX);
        match self.giant_since {
            None => gap.saturating_mul(gaps),
            Some(_) if self.is_front => (gap / FRONT.0).saturating_mul(gaps),
            Some(_) => {
                let mut total = Duration::ZERO;
                for divisor in GROWTH.0..GROWTH.1 {
                    let gap = gap / divisor;
                    let step = GROWTH_STEP.as_nanos().checked_div(gap.as_nanos()).unwrap_or(u128::MAX);
                    let step = u32::try_from(step).unwrap_or(u32::MAX);
                    if gaps <= step {
                        return total + gap.saturating_mul(gaps);
                    }
                    total += GROWTH_STEP;
                    gaps -= step;
                }
                total + (gap / GROWTH.1).saturating_mul(gaps)
            }
        }
    }
}

/// When a connection was opened, and when it was over.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Its start.
    pub started: Instant,
    /// Its end.
    pub ended: Instant,
}

/// What [`Schedule::pop`] found.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn<J> {
    /// This job may start now; its server is busy until released.
    Ready(Server, J),
    /// Nothing may start before this time.
    Wait(Instant),
    /// Nothing may start before a job is pushed or a server released.
    Idle,
}

impl<J> Schedule<J> {
    /// An empty one.
    pub fn new(pace: Pace) -> Self {
        Self {
            pace,
            giant: GIANT,
            lines: HashMap::new(),
            ready: BinaryHeap::new(),
            open: HashMap::new(),
            parked: BTreeMap::new(),
            next_start: None,
            sequence: 0,
            waiting: 0,
        }
    }

    /// Puts a job at the end of its server's line.
    pub fn push(&mut self, server: Server, job: J, now: Instant) {
        let giant = self.giant;
        let line = self.line(server, now);
        line.jobs.push_back(job);
        line.names += 1;
        if line.names > giant && line.giant_since.is_none() {
            line.giant_since = Some(now);
            line.is_front = front_of(server.address()).is_some();
        }
    }

    /// Puts a job at the head of its server's line: what was begun elsewhere is finished first.
    pub fn push_front(&mut self, server: Server, job: J, now: Instant) {
        self.line(server, now).jobs.push_front(job);
    }

    /// The next job whose server may be asked at `now`.
    pub fn pop(&mut self, now: Instant) -> Turn<J> {
        loop {
            let Some(&Reverse((at, _, server))) = self.ready.peek() else { return Turn::Idle };
            if at > now {
                return Turn::Wait(at);
            }
            let line = self.lines.get_mut(&server).expect("a server in the heap has a line");
            let tempo = line.tempo(self.pace.gap, now);
            // Since it was queued it may have refused, emptied, or got back to one connection at a time.
            if let Some(until) = line.blocked_until.filter(|until| *until > now && !line.jobs.is_empty()) {
                self.ready.pop();
                self.enqueue(server, until);
                continue;
            }
            if line.jobs.is_empty() || line.open >= tempo.connections {
                self.ready.pop();
                line.is_queued = false;
                if line.open == 0 && line.refusals == 0 && !line.is_closed {
                    self.lines.remove(&server);
                }
                continue;
            }
            if let Some(next_start) = self.next_start.filter(|next_start| *next_start > now) {
                return Turn::Wait(next_start);
            }
            self.ready.pop();
            let network = server.network();
            let open = self.open.entry(network).or_default();
            if *open >= self.pace.per_network {
                self.parked.entry(network).or_default().push_back(server);
                continue;
            }
            *open += 1;
            if !self.pace.interval.is_zero() {
                self.next_start = Some(now + self.pace.interval);
            }
            self.waiting -= 1;
            let job = line.jobs.pop_front().expect("the line was seen not to be empty");
            line.open += 1;
            line.is_queued = line.open < tempo.connections;
            if line.is_queued {
                self.enqueue(server, now + tempo.gap);
            }
            return Turn::Ready(server, job);
        }
    }

    /// Says that a connection to `server` is over, and what it told; the gap runs from its end.
    ///
    /// An answer forgives earlier refusals; a connection that brought none says nothing about them. After a refusal the
    /// whole line waits for the time that was named, or else ever longer with each refusal in a row. After three, or
    /// where the time is beyond our patience, it is closed: what waits for it is given back, and nothing may be pushed.
    pub fn release(&mut self, server: Server, span: Span, heard: Heard) -> Vec<J> {
        self.sequence += 1;
        let line = self.lines.get_mut(&server).expect("a busy server has a line");
        // A connection that was open when the server refused tells nothing new about its patience.
        let is_new = line.refusals == 0 || line.trouble.is_none_or(|trouble| trouble <= span.started);
        let mut given_back = VecDeque::new();
        match heard {
            Heard::Broken => line.trouble = Some(span.ended),
            Heard::Answer if is_new => line.refusals = 0,
            Heard::Answer | Heard::Nothing => {}
            Heard::Refusal(after) => {
                line.refusals += u32::from(is_new);
                line.trouble = Some(span.ended);
                let backoff = self.pace.backoff * 2u32.pow(line.refusals - 1);
                // Servers that refused at one moment are not all asked again at one moment.
                let jitter = backoff / 10 * u32::try_from(self.sequence % 11).expect("a remainder is small") / 10;
                let pause = after.unwrap_or(backoff + jitter);
                if line.refusals >= REFUSALS || pause > self.pace.patience {
                    line.is_closed = true;
                    given_back = std::mem::take(&mut line.jobs);
                    self.waiting -= given_back.len();
                } else {
                    line.blocked_until = line.blocked_until.max(Some(span.ended + pause));
                }
            }
        }
        self.free(server, span.ended);
        given_back.into()
    }

    /// Whether the server is not asked again.
    pub fn is_closed(&self, server: Server) -> bool {
        self.lines.get(&server).is_some_and(|line| line.is_closed)
    }

    /// Jobs that wait.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Takes away everything that waits.
    pub fn drain(&mut self) -> Vec<J> {
        self.waiting = 0;
        self.lines.values_mut().flat_map(|line| std::mem::take(&mut line.jobs)).collect()
    }

    /// The line that takes longest, by the gaps between its jobs.
    pub fn longest_line(&self) -> Option<LongestLine> {
        let lines = self.lines.iter().map(|(server, line)| (server, line, line.at_least(self.pace.gap)));
        let (server, line, at_least) = lines.max_by_key(|(_, _, at_least)| *at_least)?;
        Some(LongestLine { server: server.address(), targets: line.jobs.len(), at_least })
    }

    fn free(&mut self, server: Server, ended: Instant) {
        let line = self.lines.get_mut(&server).expect("a busy server has a line");
        line.open -= 1;
        let tempo = line.tempo(self.pace.gap, ended);
        if !line.is_queued && line.open < tempo.connections {
            line.is_queued = true;
            let at = line.blocked_until.unwrap_or(ended).max(ended + tempo.gap);
            self.enqueue(server, at);
        }
        let network = server.network();
        let open = self.open.get_mut(&network).expect("a busy server's network has an open connection");
        *open -= 1;
        if *open == 0 {
            self.open.remove(&network);
        }
        if let Some(parked) = self.parked.get_mut(&network) {
            let next = parked.pop_front().expect("a network without parked servers is absent");
            if parked.is_empty() {
                self.parked.remove(&network);
            }
            self.enqueue(next, ended);
        }
    }

    fn line(&mut self, server: Server, now: Instant) -> &mut Line<J> {
        self.waiting += 1;
        let line = self.lines.entry(server).or_default();
        if !line.is_queued && line.open == 0 {
            line.is_queued = true;
            self.enqueue(server, now);
        }
        self.lines.get_mut(&server).expect("it was just made")
    }

    fn enqueue(&mut self, server: Server, at: Instant) {
        self.sequence += 1;
        self.ready.push(Reverse((at, self.sequence, server)));
    }
}

/// One machine to be spared, as far as an address can tell: an IPv4 address, or an IPv6 /64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Server {
    /// The address.
    V4(Ipv4Addr),
    /// The first 64 bits.
    V6(u64),
}

impl Server {
    /// Its address; of a /64 the first one.
    fn address(self) -> IpAddr {
        match self {
            Self::V4(ip) => ip.into(),
            Self::V6(prefix) => Ipv6Addr::from_bits(u128::from(prefix) << 64).into(),
        }
    }

    fn network(self) -> Network {
        match self {
            Self::V4(ip) => {
                let [a, b, c, _] = ip.octets();
                Network::V4([a, b, c])
            }
            Self::V6(prefix) => Network::V6(prefix >> 16),
        }
    }
}

impl From<IpAddr> for Server {
    fn from(ip: IpAddr) -> Self {
        match ip {
            IpAddr::V4(ip) => Self::V4(ip),
            IpAddr::V6(ip) => {
                let [a, b, c, d, ..] = ip.segments();
                Self::V6([a, b, c, d].into_iter().fold(0, |prefix, part| prefix << 16 | u64::from(part)))
            }
        }
    }
}

/// Neighbours that probably share a line: an IPv4 /24, or an IPv6 /48.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Network {
    V4([u8; 3]),
    V6(u64),
}

#[cfg(test)]
mod tests;
