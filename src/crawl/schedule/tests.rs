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

impl<J> Schedule<J> {
    /// A connection that was opened at `started` ended just then, with an answer.
    fn answer(&mut self, server: Server, ended: Instant) {
        assert!(self.release(server, Span { started: ended, ended }, Heard::Answer).is_empty());
    }

    /// The same with a refusal.
    fn refuse(&mut self, server: Server, ended: Instant, after: Option<Duration>) -> Vec<J> {
        self.release(server, Span { started: ended, ended }, Heard::Refusal(after))
    }
}

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
    schedule.answer(one, ended);
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
        schedule.answer(server, start);
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
    schedule.answer(one, until);
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
                let heard = if is_answered { Heard::Answer } else { Heard::Nothing };
                schedule.release(one, Span { started: at(hour), ended: at(hour) }, heard);
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
    schedule.answer(open[0], start);
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

#[test]
fn a_giant_in_a_published_prefix_gets_four_connections_and_ten_starts_a_second() {
    let start = Instant::now();
    let mut schedule = Schedule::new(PACE);
    let one = server("104.16.0.1");
    for job in 0..1000 {
        schedule.push(one, job, start);
    }
    let mut now = start;
    let mut starts = Vec::new();
    while starts.len() < 4 {
        match schedule.pop(now) {
            Turn::Ready(..) => starts.push(now - start),
            Turn::Wait(until) => now = until,
            Turn::Idle => panic!("four may be open"),
        }
    }
    assert_eq!(starts, [0, 100, 200, 300].map(Duration::from_millis));
    assert_eq!(schedule.pop(now + PACE.gap), Turn::Idle, "four are open");
    let longest = schedule.longest_line().unwrap();
    assert_eq!((longest.targets, longest.at_least), (996, Duration::from_millis(99_500)));

    // One that asks for fewer requests is no giant any more, and the three others that it cuts short are one refusal.
    let ended = now + Duration::from_secs(5);
    for _ in 0..4 {
        let given_back = schedule.release(one, Span { started: now, ended }, Heard::Refusal(None));
        assert!(given_back.is_empty());
    }
    let Turn::Wait(until) = schedule.pop(ended) else { panic!("it is blocked") };
    assert!(until >= ended + PACE.backoff && until < ended + 2 * PACE.backoff, "{:?}", until - ended);
    assert!(matches!(schedule.pop(until), Turn::Ready(..)));
    assert_eq!(schedule.pop(until + PACE.gap), Turn::Idle, "one connection at a time");
}

#[test]
fn another_giant_is_asked_faster_as_long_as_it_is_well() {
    let start = Instant::now();
    let mut schedule = Schedule::new(PACE);
    let one = server("192.0.2.1");
    for job in 0..3000 {
        schedule.push(one, job, start);
    }
    let bound = schedule.longest_line().unwrap().at_least;
    let mut now = start;
    let mut by_minute = [0_i32; 20];
    let mut asked = 0;
    loop {
        match schedule.pop(now) {
            Turn::Ready(..) => {
                let minute = usize::try_from((now - start).as_secs() / 60).unwrap();
                by_minute[minute] += 1;
                asked += 1;
                // In its eighth minute it breaks one connection off.
                let heard = if minute == 7 && by_minute[7] == 1 { Heard::Broken } else { Heard::Answer };
                schedule.release(one, Span { started: now, ended: now }, heard);
            }
            Turn::Wait(until) => now = until,
            Turn::Idle => break,
        }
    }
    assert_eq!(asked, 3000);
    let expected = [120, 180, 240, 300];
    assert!(by_minute.iter().zip(expected).all(|(seen, expected)| seen.abs_diff(expected) <= 1), "{by_minute:?}");
    assert!(by_minute[4..7].iter().all(|count| *count == 300), "{by_minute:?}");
    assert!(by_minute[7] <= 125, "{by_minute:?}");
    assert!(bound < now - start && bound > (now - start) / 2, "{bound:?} of {:?}", now - start);
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

/// Some of the property's servers stand in a published prefix.
fn address(host: u8) -> Server {
    let first = if host.is_multiple_of(2) { [104, 16] } else { [192, 0] };
    Server::V4(Ipv4Addr::new(first[0], first[1], host % 3, host))
}

fn is_front(server: Server) -> bool {
    front_of(server.address()).is_some()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any mix of servers, arrivals and service times: each job starts once or is given back once, gaps, pauses and
    /// caps hold, nothing is left.
    #[test]
    fn every_job_starts_once_and_no_promise_is_broken(
        jobs in prop::collection::vec((0u8..12, 0u64..3000, 0u64..2500, any::<bool>(), ended()), 1..120),
        interval in prop_oneof![Just(0u64), 1u64..50],
        giant in prop_oneof![Just(GIANT), 0usize..20],
    ) {
        let pace = Pace { interval: Duration::from_millis(interval), per_network: 3, ..PACE };
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut schedule = Schedule::new(pace);
        schedule.giant = giant;
        // Whatever a server is, it is never asked faster than this, nor over more connections.
        let may_be_giant = giant < GIANT;
        let gap = |server| if !may_be_giant { 1000 } else if is_front(server) { 0 } else { 200 };
        let most = |server| if may_be_giant && is_front(server) { 4 } else { 1 };
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
                let server = address(host);
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
                        schedule.answer(server, at(ms));
                        gap(server)
                    }
                    Ended::Refused(after) => {
                        let given_back = schedule.refuse(server, at(ms), after.map(Duration::from_secs));
                        for index in given_back {
                            started[index] += 1;
                        }
                        after.map_or(60_000, |seconds| (seconds * 1000).max(gap(server)))
                    }
                };
                let free = free_from.entry(server).or_default();
                *free = (ms + least).max(*free);
            }
            let mut next = match schedule.pop(at(now)) {
                Turn::Ready(server, index) => {
                    started[index] += 1;
                    let open = busy.entry(server).or_default();
                    prop_assert!(*open < most(server), "too many connections to one server");
                    *open += 1;
                    prop_assert!(free_from.get(&server).is_none_or(|free| *free <= now), "gap broken");
                    let network: usize = busy.iter().filter(|(other, _)| other.network() == server.network()).map(|(_, n)| n).sum();
                    prop_assert!(network <= 3, "network cap broken");
                    prop_assert!(last_start.is_none_or(|last| last + interval <= now), "interval broken");
                    last_start = Some(now);
                    // Of several connections the starts keep the distance, not the ends.
                    let free = free_from.entry(server).or_default();
                    *free = (now + 100).max(*free);
                    ends.push(Reverse((now + jobs[index].2, server, index)));
                    continue;
                }
                Turn::Wait(until) => Some(u64::try_from((until - start).as_micros().div_ceil(1000)).unwrap()),
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
