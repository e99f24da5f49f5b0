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

    /// Says that the connection to `server` ended at `ended` with an answer of any kind, or none; the gap runs from
    /// there.
    pub(crate) fn release(&mut self, server: Server, ended: Instant) {
        if let Some(line) = self.lines.get_mut(&server) {
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
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    const PACE: Pace = Pace {
        gap: Duration::from_secs(1),
        interval: Duration::ZERO,
        per_network: 8,
        backoff: Duration::from_secs(60),
        patience: Duration::from_secs(900),
    };

    fn server(ip: &str) -> Server {
        ip.parse::<IpAddr>().unwrap().into()
    }

    #[test]
    fn the_gap_runs_from_the_end_of_a_connection() {
        let start = Instant::now();
        let mut schedule = Schedule::new(PACE);
        let one = server("192.0.2.1");
        schedule.push(one, 'a', start);
        schedule.push(one, 'b', start);
        assert_eq!(schedule.pop(start), Turn::Ready(one, 'a'));
        assert_eq!(schedule.pop(start + Duration::from_secs(60)), Turn::Idle, "the server is busy");
        let ended = start + Duration::from_secs(60);
        schedule.release(one, ended);
        assert_eq!(schedule.pop(ended), Turn::Wait(ended + PACE.gap));
        assert_eq!(schedule.pop(ended + PACE.gap), Turn::Ready(one, 'b'));
    }

    #[test]
    fn a_server_whose_gap_has_passed_is_forgotten() {
        let start = Instant::now();
        let mut schedule = Schedule::new(PACE);
        for last in 1..=200 {
            schedule.push(server(&format!("192.0.{last}.1")), last, start);
        }
        while let Turn::Ready(server, _) = schedule.pop(start) {
            schedule.release(server, start);
        }
        assert_eq!(schedule.lines.len(), 200);
        assert_eq!(schedule.pop(start + PACE.gap), Turn::Idle);
        assert_eq!((schedule.lines.len(), schedule.open.len(), schedule.ready.len()), (0, 0, 0));
    }

    #[test]
    fn a_server_that_names_a_time_is_left_alone_until_then() {
        let start = Instant::now();
        let mut schedule = Schedule::new(PACE);
        let one = server("192.0.2.1");
        schedule.push(one, 'a', start);
        schedule.push(one, 'b', start);
        assert_eq!(schedule.pop(start), Turn::Ready(one, 'a'));
        assert!(schedule.refuse(one, start, Some(Duration::from_secs(30))).is_empty());
        schedule.push(one, 'c', start);
        let until = start + Duration::from_secs(30);
        assert_eq!(schedule.pop(start), Turn::Wait(until));
        assert_eq!(schedule.pop(until), Turn::Ready(one, 'b'));
        schedule.release(one, until);
        assert_eq!(schedule.pop(until), Turn::Wait(until + PACE.gap), "an answer forgives");
    }

    #[test]
    fn a_server_that_names_no_time_is_left_alone_ever_longer_and_then_for_good() {
        let mut now = Instant::now();
        let mut schedule = Schedule::new(PACE);
        let one = server("192.0.2.1");
        for job in 0..5 {
            schedule.push(one, job, now);
        }
        for (job, least) in [(0, 60), (1, 120)] {
            assert_eq!(schedule.pop(now), Turn::Ready(one, job));
            assert!(schedule.refuse(one, now, None).is_empty());
            let Turn::Wait(until) = schedule.pop(now) else { panic!("it is blocked") };
            let pause = until - now;
            assert!(pause >= Duration::from_secs(least) && pause <= Duration::from_secs(least * 11 / 10), "{pause:?}");
            now = until;
        }
        assert_eq!(schedule.pop(now), Turn::Ready(one, 2));
        assert!(!schedule.is_closed(one));
        assert_eq!(schedule.refuse(one, now, None), [3, 4]);
        assert!(schedule.is_closed(one));
        assert_eq!((schedule.waiting(), schedule.pop(now + Duration::from_secs(3600))), (0, Turn::Idle));
        assert!(schedule.is_closed(one), "it is remembered");
    }

    #[test]
    fn a_time_beyond_our_patience_closes_the_server() {
        let start = Instant::now();
        let mut schedule = Schedule::new(PACE);
        let one = server("192.0.2.1");
        schedule.push(one, 'a', start);
        schedule.push(one, 'b', start);
        assert_eq!(schedule.pop(start), Turn::Ready(one, 'a'));
        assert_eq!(schedule.refuse(one, start, Some(Duration::from_secs(86_400))), ['b']);
        assert!(schedule.is_closed(one) && !schedule.is_closed(server("192.0.2.2")));
    }

    #[test]
    fn what_waits_can_be_taken_away() {
        let start = Instant::now();
        let mut schedule = Schedule::new(PACE);
        for last in 0..20 {
            schedule.push(server(&format!("192.0.2.{}", last % 3)), last, start);
        }
        let longest = schedule.longest_line().unwrap();
        assert_eq!((longest.targets, longest.at_least), (7, 6 * PACE.gap));
        let mut drained = schedule.drain();
        drained.sort_unstable();
        assert_eq!(drained, (0..20).collect::<Vec<_>>());
        assert_eq!((schedule.waiting(), schedule.pop(start)), (0, Turn::Idle));
    }

    #[test]
    fn neighbours_share_eight_connections() {
        let start = Instant::now();
        let mut schedule = Schedule::new(PACE);
        for last in 0..20 {
            schedule.push(server(&format!("192.0.2.{last}")), last, start);
        }
        let mut open = Vec::new();
        while let Turn::Ready(server, _) = schedule.pop(start) {
            open.push(server);
        }
        assert_eq!(open.len(), 8);
        schedule.release(open[0], start);
        assert!(matches!(schedule.pop(start), Turn::Ready(..)));
        assert_eq!(schedule.pop(start), Turn::Wait(start + PACE.gap));
    }

    #[test]
    fn an_ipv6_server_is_a_64_and_its_network_a_48() {
        assert_eq!(server("2001:db8:1:2::1"), server("2001:db8:1:2:ffff::1"));
        assert_ne!(server("2001:db8:1:2::1"), server("2001:db8:1:3::1"));
        assert_eq!(server("2001:db8:1:2::1").network(), server("2001:db8:1:3::1").network());
        assert_ne!(server("2001:db8:1:2::1").network(), server("2001:db8:2:2::1").network());
    }

    #[test]
    fn starts_keep_the_global_interval() {
        let start = Instant::now();
        let mut schedule = Schedule::new(Pace { interval: Duration::from_millis(5), ..PACE });
        schedule.push(server("192.0.2.1"), 'a', start);
        schedule.push(server("198.51.100.1"), 'b', start);
        assert!(matches!(schedule.pop(start), Turn::Ready(..)));
        assert_eq!(schedule.pop(start), Turn::Wait(start + Duration::from_millis(5)));
        assert!(matches!(schedule.pop(start + Duration::from_millis(5)), Turn::Ready(..)));
    }

    /// How a job of the property ends.
    #[derive(Clone, Copy, Debug)]
    enum Ended {
        Answered,
        /// With the seconds that the server names.
        Refused(Option<u64>),
    }

    fn ended() -> impl Strategy<Value = Ended> {
        prop_oneof![
            6 => Just(Ended::Answered),
            1 => Just(Ended::Refused(None)),
            1 => (0u64..1200).prop_map(|seconds| Ended::Refused(Some(seconds))),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Any mix of servers, arrivals and service times: each job starts once or is given back once, gaps, pauses and
        /// caps hold, nothing is left.
        #[test]
        fn every_job_starts_once_and_no_promise_is_broken(
            jobs in prop::collection::vec((0u8..12, 0u64..3000, 0u64..2500, any::<bool>(), ended()), 1..120),
            interval in prop_oneof![Just(0u64), 1u64..50],
        ) {
            let pace = Pace { interval: Duration::from_millis(interval), per_network: 3, ..PACE };
            let start = Instant::now();
            let at = |ms: u64| start + Duration::from_millis(ms);
            let mut schedule = Schedule::new(pace);
            let mut arrivals: Vec<(u64, usize)> = jobs.iter().enumerate().map(|(index, job)| (job.1, index)).collect();
            arrivals.sort_unstable();
            let mut arrivals = VecDeque::from(arrivals);
            let mut ends: BinaryHeap<Reverse<(u64, Server, usize)>> = BinaryHeap::new();
            let mut free_from: HashMap<Server, u64> = HashMap::new();
            let mut busy: HashMap<Server, usize> = HashMap::new();
            let mut last_start: Option<u64> = None;
            let mut started = vec![0; jobs.len()];
            let mut now = 0;
            loop {
                while arrivals.front().is_some_and(|(ms, _)| *ms <= now) {
                    let (_, index) = arrivals.pop_front().unwrap();
                    let (host, _, _, front, _) = jobs[index];
                    let server = Server::V4(Ipv4Addr::new(192, 0, host % 3, host));
                    if schedule.is_closed(server) {
                        started[index] += 1;
                        continue;
                    }
                    if front { schedule.push_front(server, index, at(now)) } else { schedule.push(server, index, at(now)) }
                }
                while ends.peek().is_some_and(|Reverse((ms, ..))| *ms <= now) {
                    let Reverse((ms, server, index)) = ends.pop().unwrap();
                    *busy.get_mut(&server).unwrap() -= 1;
                    let least = match jobs[index].4 {
                        Ended::Answered => {
                            schedule.release(server, at(ms));
                            1000
                        }
                        Ended::Refused(after) => {
                            let given_back = schedule.refuse(server, at(ms), after.map(Duration::from_secs));
                            for index in given_back {
                                started[index] += 1;
                            }
                            after.map_or(60_000, |seconds| (seconds * 1000).max(1000))
                        }
                    };
                    free_from.insert(server, ms + least);
                }
                let mut next = match schedule.pop(at(now)) {
                    Turn::Ready(server, index) => {
                        started[index] += 1;
                        let open = busy.entry(server).or_default();
                        prop_assert_eq!(*open, 0, "two connections to one server");
                        *open += 1;
                        prop_assert!(free_from.get(&server).is_none_or(|free| *free <= now), "gap broken");
                        let network: usize = busy.iter().filter(|(other, _)| other.network() == server.network()).map(|(_, n)| n).sum();
                        prop_assert!(network <= 3, "network cap broken");
                        prop_assert!(last_start.is_none_or(|last| last + interval <= now), "interval broken");
                        last_start = Some(now);
                        ends.push(Reverse((now + jobs[index].2, server, index)));
                        continue;
                    }
                    Turn::Wait(until) => Some(u64::try_from((until - start).as_millis()).unwrap()),
                    Turn::Idle => None,
                };
                for candidate in [arrivals.front().map(|(ms, _)| *ms), ends.peek().map(|Reverse((ms, ..))| *ms)] {
                    next = [next, candidate].into_iter().flatten().min();
                }
                match next {
                    Some(ms) => now = ms.max(now),
                    None => break,
                }
            }
            prop_assert!(started.iter().all(|times| *times == 1), "{started:?}");
            prop_assert_eq!(schedule.waiting(), 0);
        }
    }
}
