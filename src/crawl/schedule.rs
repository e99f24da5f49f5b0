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

/// How gently servers are asked.
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

/// Refusals in a row after which a server is not asked again.
const REFUSALS: u32 = 3;

/// Jobs waiting for their server's turn.
///
/// Between a [`Turn::Ready`] and its [`Schedule::release`] the server is busy and no other job of its line is ready.
/// A server is forgotten as soon as its line is empty and its gap has passed, so memory follows what waits, not what
/// was ever seen; only those that refused are remembered.
#[derive(Debug)]
pub(crate) struct Schedule<J> {
    pace: Pace,
    lines: HashMap<Server, Line<J>>,
    /// When each server that is neither busy nor parked may next be asked. Each such server stands here exactly once.
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
    /// It stands among the ready, is parked or is busy; else nothing waits for it.
    is_known: bool,
    /// It asked for fewer requests so many times in a row.
    refusals: u32,
    /// It may not be asked before, whatever its gap.
    blocked_until: Option<Instant>,
    /// It is not asked again.
    is_closed: bool,
}

impl<J> Default for Line<J> {
    fn default() -> Self {
        Self { jobs: VecDeque::new(), is_known: false, refusals: 0, blocked_until: None, is_closed: false }
    }
}

/// What [`Schedule::pop`] found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Turn<J> {
    /// This job may start now; its server is busy until released.
    Ready(Server, J),
    /// Nothing may start before this time.
    Wait(Instant),
    /// Nothing may start before a job is pushed or a server released.
    Idle,
}

impl<J> Schedule<J> {
    pub(crate) fn new(pace: Pace) -> Self {
        Self {
            pace,
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
    pub(crate) fn push(&mut self, server: Server, job: J, now: Instant) {
        self.line(server, now).push_back(job);
    }

    /// Puts a job at the head of its server's line: what was begun elsewhere is finished first.
    pub(crate) fn push_front(&mut self, server: Server, job: J, now: Instant) {
        self.line(server, now).push_front(job);
    }

    /// The next job whose server may be asked at `now`.
    pub(crate) fn pop(&mut self, now: Instant) -> Turn<J> {
        loop {
            let Some(&Reverse((at, _, server))) = self.ready.peek() else { return Turn::Idle };
            if at > now {
                return Turn::Wait(at);
            }
            let line = self.lines.get_mut(&server).expect("a server in the heap has a line");
            if line.jobs.is_empty() {
                self.ready.pop();
                line.is_known = false;
                if line.refusals == 0 && !line.is_closed {
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
            return Turn::Ready(server, line.jobs.pop_front().expect("the line was seen not to be empty"));
        }
    }

    /// Says that the connection to `server` ended at `ended`; the gap runs from there.
    ///
    /// An answer forgives earlier refusals; a connection that brought none says nothing about them.
    pub(crate) fn release(&mut self, server: Server, ended: Instant, is_answered: bool) {
        if is_answered && let Some(line) = self.lines.get_mut(&server) {
            line.refusals = 0;
        }
        self.free(server, ended);
    }

    /// Says that the connection ended and that the server asked for fewer requests, perhaps after a time.
    ///
    /// Its whole line waits that long, or else ever longer with each refusal in a row. After three, or where the time
    /// is beyond our patience, it is closed: what waits for it is given back, and nothing may be pushed.
    pub(crate) fn refuse(&mut self, server: Server, ended: Instant, after: Option<Duration>) -> Vec<J> {
        self.sequence += 1;
        let line = self.lines.entry(server).or_default();
        line.refusals += 1;
        let backoff = self.pace.backoff * 2u32.pow(line.refusals - 1);
        // Servers that refused at one moment are not all asked again at one moment.
        let jitter = backoff / 10 * u32::try_from(self.sequence % 11).expect("a remainder is small") / 10;
        let pause = after.unwrap_or(backoff + jitter);
        let mut given_back = VecDeque::new();
        if line.refusals >= REFUSALS || pause > self.pace.patience {
            line.is_closed = true;
            given_back = std::mem::take(&mut line.jobs);
            self.waiting -= given_back.len();
        } else {
            line.blocked_until = Some(ended + pause);
        }
        self.free(server, ended);
        given_back.into()
    }

    /// Whether the server is not asked again.
    pub(crate) fn is_closed(&self, server: Server) -> bool {
        self.lines.get(&server).is_some_and(|line| line.is_closed)
    }

    /// Jobs that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Takes away everything that waits.
    pub(crate) fn drain(&mut self) -> Vec<J> {
        self.waiting = 0;
        self.lines.values_mut().flat_map(|line| std::mem::take(&mut line.jobs)).collect()
    }

    /// The line that takes longest, by the gap between its jobs.
    pub(crate) fn longest_line(&self) -> Option<LongestLine> {
        let (server, line) = self.lines.iter().max_by_key(|(_, line)| line.jobs.len())?;
        let gaps = u32::try_from(line.jobs.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let at_least = self.pace.gap.saturating_mul(gaps);
        Some(LongestLine { server: server.address(), targets: line.jobs.len(), at_least })
    }

    fn free(&mut self, server: Server, ended: Instant) {
        let line = self.lines.entry(server).or_default();
        line.is_known = true;
        // One that refused is asked at half the rate, and half of that after the next refusal.
        let gap = self.pace.gap * 2u32.pow(line.refusals.min(REFUSALS));
        let at = line.blocked_until.take().unwrap_or(ended).max(ended + gap);
        self.enqueue(server, at);
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

    fn line(&mut self, server: Server, now: Instant) -> &mut VecDeque<J> {
        self.waiting += 1;
        if !self.lines.get(&server).is_some_and(|line| line.is_known) {
            self.enqueue(server, now);
        }
        let line = self.lines.entry(server).or_default();
        line.is_known = true;
        &mut line.jobs
    }

    fn enqueue(&mut self, server: Server, at: Instant) {
        self.sequence += 1;
        self.ready.push(Reverse((at, self.sequence, server)));
    }
}

/// One machine to be spared, as far as an address can tell: an IPv4 address, or an IPv6 /64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Server {
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
