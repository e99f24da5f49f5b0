//! Politeness as a value: who may be asked next, with time as an argument.
//!
//! Targets wait in one line per server. A server is one IPv4 address or one IPv6 /64, since it is the machine that is
//! to be spared, not the name. Nothing here reads a clock or knows what a job is, so every promise is tested in
//! virtual time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use tokio::time::Instant;

/// How gently servers are asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// From the end of one connection to a server to the start of the next.
    pub gap: Duration,
    /// From one start to the next, whatever the servers; zero for no limit.
    pub interval: Duration,
    /// Connections open at once to one IPv4 /24 or IPv6 /48.
    pub per_network: usize,
}

/// Jobs waiting for their server's turn.
///
/// Between a [`Turn::Ready`] and its [`Schedule::release`] the server is busy and no other job of its line is ready.
/// A server is forgotten as soon as its line is empty and its gap has passed, so memory follows what waits, not what
/// was ever seen.
#[derive(Debug)]
pub(crate) struct Schedule<J> {
    pace: Pace,
    lines: HashMap<Server, VecDeque<J>>,
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
            if line.is_empty() {
                self.ready.pop();
                self.lines.remove(&server);
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
            return Turn::Ready(server, line.pop_front().expect("the line was seen not to be empty"));
        }
    }

    /// Says that the connection to `server` ended at `ended`; the gap runs from there.
    pub(crate) fn release(&mut self, server: Server, ended: Instant) {
        self.enqueue(server, ended + self.pace.gap);
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

    /// Jobs that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    fn line(&mut self, server: Server, now: Instant) -> &mut VecDeque<J> {
        self.waiting += 1;
        if !self.lines.contains_key(&server) {
            self.enqueue(server, now);
        }
        self.lines.entry(server).or_default()
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

    const PACE: Pace = Pace { gap: Duration::from_secs(1), interval: Duration::ZERO, per_network: 8 };

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

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Any mix of servers, arrivals and service times: each job starts once, gaps and caps hold, nothing is left.
        #[test]
        fn every_job_starts_once_and_no_promise_is_broken(
            jobs in prop::collection::vec((0u8..12, 0u64..3000, 0u64..2500, any::<bool>()), 1..120),
            interval in prop_oneof![Just(0u64), 1u64..50],
        ) {
            let pace = Pace { interval: Duration::from_millis(interval), per_network: 3, ..PACE };
            let start = Instant::now();
            let at = |ms: u64| start + Duration::from_millis(ms);
            let mut schedule = Schedule::new(pace);
            let mut arrivals: Vec<(u64, usize)> = jobs.iter().enumerate().map(|(index, job)| (job.1, index)).collect();
            arrivals.sort_unstable();
            let mut arrivals = VecDeque::from(arrivals);
            let mut ends: BinaryHeap<Reverse<(u64, Server)>> = BinaryHeap::new();
            let mut free_from: HashMap<Server, u64> = HashMap::new();
            let mut busy: HashMap<Server, usize> = HashMap::new();
            let mut last_start: Option<u64> = None;
            let mut started = vec![0; jobs.len()];
            let mut now = 0;
            loop {
                while arrivals.front().is_some_and(|(ms, _)| *ms <= now) {
                    let (_, index) = arrivals.pop_front().unwrap();
                    let (host, _, _, front) = jobs[index];
                    let server = Server::V4(Ipv4Addr::new(192, 0, host % 3, host));
                    if front { schedule.push_front(server, index, at(now)) } else { schedule.push(server, index, at(now)) }
                }
                while ends.peek().is_some_and(|Reverse((ms, _))| *ms <= now) {
                    let Reverse((ms, server)) = ends.pop().unwrap();
                    *busy.get_mut(&server).unwrap() -= 1;
                    free_from.insert(server, ms + 1000);
                    schedule.release(server, at(ms));
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
                        ends.push(Reverse((now + jobs[index].2, server)));
                        continue;
                    }
                    Turn::Wait(until) => Some(u64::try_from((until - start).as_millis()).unwrap()),
                    Turn::Idle => None,
                };
                for candidate in [arrivals.front().map(|(ms, _)| *ms), ends.peek().map(|Reverse((ms, _))| *ms)] {
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
