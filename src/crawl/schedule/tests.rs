//! Every promise of the schedule, in virtual time.

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
    schedule.release(one, ended, true);
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
        schedule.release(server, start, true);
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
    schedule.release(one, until, true);
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
fn an_answer_forgives_refusals_and_a_connection_that_brought_none_does_not() {
    for is_answered in [true, false] {
        let start = Instant::now();
        let at = |hours: u64| start + Duration::from_secs(hours * 3600);
        let mut schedule = Schedule::new(PACE);
        let one = server("192.0.2.1");
        for hour in 0..5 {
            schedule.push(one, hour, at(hour));
            assert_eq!(schedule.pop(at(hour)), Turn::Ready(one, hour));
            if hour % 2 == 0 {
                schedule.refuse(one, at(hour), None);
            } else {
                schedule.release(one, at(hour), is_answered);
            }
        }
        assert_eq!(schedule.is_closed(one), !is_answered, "three refusals, answers between them: {is_answered}");
    }
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
    schedule.release(open[0], start, true);
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
                        schedule.release(server, at(ms), true);
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
