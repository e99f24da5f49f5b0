//! What happens later than the first answer: refusals, second tries, the deadline.

use super::*;

const TWO_TRIES: Limits = Limits { second_try: Some(Duration::from_secs(600)), ..LIMITS };

fn outcome(observation: &Observation) -> Result<u16, Cause> {
    match &observation.ending {
        Ending::Response(response) => Ok(response.status),
        Ending::Failure(failure) => Err(failure.cause),
    }
}

/// Targets `h0.example` and on, all of one server unless the address book says otherwise.
fn targets(count: u32) -> impl Iterator<Item = Target> {
    (0..count).map(|index| target(index, &format!("h{index}.example")))
}

async fn run_all(limits: Limits, web: &FakeWeb, count: u32) -> Vec<Observation> {
    let (end, mut seen) = run_within(limits, web, targets(count), &CancellationToken::new()).await;
    assert_eq!(end.unwrap(), End::Complete);
    seen.sort_by_key(|observation| observation.target.index);
    assert!(seen.iter().map(|observation| observation.target.index).eq(0..count), "each target once");
    seen
}

/// Pauses between the connections to one server, in order.
fn pauses(web: &FakeWeb) -> Vec<Duration> {
    let log = web.0.log.lock().unwrap();
    let mut connections: Vec<_> = log.values().flatten().copied().collect();
    connections.sort_unstable();
    connections.windows(2).map(|pair| pair[1].0 - pair[0].1).collect()
}

#[tokio::test(start_paused = true)]
async fn a_server_that_names_a_time_gets_it_for_its_whole_line() {
    let reply: Rules = |url| match url.host_str() {
        Some("h1.example") => Reply::Refuse(429, Some("90")),
        // The clock of the fake web stands at 1970.
        Some("h2.example") => Reply::Refuse(503, Some("Thu, 01 Jan 1970 00:02:00 GMT")),
        _ => Reply::Status(404),
    };
    let web = FakeWeb::new(reply, anywhere, Duration::from_millis(100));
    let seen = run_all(LIMITS, &web, 6).await;
    assert_eq!(seen.iter().filter(|one| outcome(one) == Ok(404)).count(), 4);
    let pauses = pauses(&web);
    assert!(pauses.iter().all(|pause| *pause >= PACE.gap));
    let long: Vec<u64> = pauses.iter().map(Duration::as_secs).filter(|pause| *pause > 10).collect();
    assert_eq!(long, [90, 120]);
}

#[tokio::test(start_paused = true)]
async fn after_three_refusals_in_a_row_the_rest_of_the_line_is_not_attempted() {
    let web = FakeWeb::new(|_| Reply::Refuse(503, None), anywhere, Duration::from_millis(100));
    let seen = run_all(LIMITS, &web, 50).await;
    assert_eq!(web.0.urls.lock().unwrap().len(), 3);
    let limited = seen.iter().filter(|one| outcome(one) == Err(Cause::NotAttemptedLimited)).count();
    assert_eq!(limited, 47);
    assert!(pauses(&web).iter().all(|pause| *pause >= PACE.backoff));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_wants_a_day_is_not_asked_again_and_another_one_is() {
    fn address(host: &str) -> Result<Ipv4Addr, Cause> {
        if host == "h5.example" { Ok(Ipv4Addr::new(8, 8, 8, 8)) } else { anywhere(host) }
    }
    let web = FakeWeb::new(|_| Reply::Refuse(429, Some("86400")), address, Duration::from_millis(100));
    let seen = run_all(LIMITS, &web, 6).await;
    assert_eq!(web.0.urls.lock().unwrap().len(), 2);
    assert_eq!(outcome(&seen[5]), Ok(429));
}

#[tokio::test(start_paused = true)]
async fn what_failed_in_passing_is_tried_once_more_and_the_second_answer_counts() {
    let reply: Rules = |url| match url.host_str().unwrap() {
        "h0.example" => Reply::First(Box::new(Reply::Fail(Cause::HttpReset)), Box::new(Reply::Status(200))),
        "h1.example" => Reply::First(Box::new(Reply::Status(500)), Box::new(Reply::Status(404))),
        "h2.example" => Reply::Fail(Cause::HttpTimeout),
        "h3.example" => Reply::Status(403),
        _ => Reply::Status(200),
    };
    let web = FakeWeb::new(reply, crowded, Duration::from_millis(100));
    let seen = run_all(TWO_TRIES, &web, 5).await;
    let outcomes: Vec<_> = seen.iter().map(outcome).collect();
    assert_eq!(outcomes, [Ok(200), Ok(404), Err(Cause::HttpTimeout), Ok(403), Ok(200)]);
    let hops: Vec<usize> = seen.iter().map(|one| one.asking.as_ref().unwrap().hops.len()).collect();
    assert_eq!(hops, [2, 2, 2, 1, 1], "both tries are in the row");
    assert_eq!(seen[0].asking.as_ref().unwrap().hops[0].failure, Some(Cause::HttpReset));
}

#[tokio::test(start_paused = true)]
async fn the_second_try_comes_ten_minutes_later_or_at_the_end() {
    let reply: Rules = |url| match url.host_str().unwrap() {
        "h0.example" => Reply::Fail(Cause::HttpReset),
        _ => Reply::Status(200),
    };
    // The crowd on one server, every fourth name, takes 4000 times 0.35 s, which is 23 minutes.
    let web = FakeWeb::new(
        reply,
        |host| if host == "h0.example" { Ok(Ipv4Addr::new(7, 7, 7, 7)) } else { crowded(host) },
        Duration::from_millis(100),
    );
    let started = Instant::now();
    run_all(TWO_TRIES, &web, 16_000).await;
    let tries = web.0.log.lock().unwrap()[&IpAddr::V4(Ipv4Addr::new(7, 7, 7, 7))].clone();
    assert_eq!(tries.len(), 2);
    assert!(tries[1].0 - tries[0].1 >= Duration::from_secs(600));
    assert!(tries[1].0 - started < Duration::from_secs(660), "it did not wait for the end");

    let web = FakeWeb::new(reply, anywhere, Duration::from_millis(100));
    let started = Instant::now();
    run_all(TWO_TRIES, &web, 10).await;
    assert!(started.elapsed() < Duration::from_secs(60), "nothing else was left to do");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_the_crawl_and_says_what_was_not_attempted() {
    let reply: Rules = |url| match url.host_str().unwrap() {
        "h0.example" => Reply::Fail(Cause::HttpReset),
        _ => Reply::Status(200),
    };
    let web = FakeWeb::new(reply, crowded, Duration::from_millis(100));
    let limits = Limits { deadline: Some(Duration::from_secs(20)), waiting: 500, ..TWO_TRIES };
    let started = Instant::now();
    let seen = run_all(limits, &web, 3000).await;
    assert!(started.elapsed() < Duration::from_secs(21), "{:?}", started.elapsed());
    assert_eq!(outcome(&seen[0]), Err(Cause::HttpReset), "its first try stands");
    let asked = seen.iter().filter(|one| outcome(one) == Ok(200)).count();
    let rest = seen.iter().filter(|one| outcome(one) == Err(Cause::NotAttemptedDeadline)).count();
    assert_eq!(asked + rest + 1, 3000);
    assert!(asked > 100 && rest > 100, "{asked} {rest}");
    assert_eq!(web.0.urls.lock().unwrap().len(), asked + 1);
}

#[tokio::test(start_paused = true)]
async fn a_fault_of_our_own_does_not_outlive_the_deadline() {
    let web = FakeWeb::new(|_| Reply::Status(200), crowded, Duration::from_millis(100));
    web.0.faults.store(usize::MAX, Ordering::SeqCst);
    let limits = Limits { deadline: Some(Duration::from_secs(20)), ..LIMITS };
    let started = Instant::now();
    let seen = run_all(limits, &web, 300).await;
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    assert!(seen.iter().all(|one| outcome(one) == Err(Cause::NotAttemptedDeadline)));
}

#[tokio::test(start_paused = true)]
async fn the_line_that_bounds_the_crawl_is_told_when_names_are_resolved() {
    let web = FakeWeb::new(|_| Reply::Status(404), crowded, Duration::from_millis(100));
    let (sink, mut source) = mpsc::channel(16);
    tokio::spawn(async move { while source.recv().await.is_some() {} });
    let (pulse, seen) = watch::channel(Pulse::default());
    let crawl = Crawl::new(web, everywhere(), (PACE, LIMITS), (Probing::NONE, Memory::NONE), sink);
    crawl.run(targets(1000), &pulse, &CancellationToken::new()).await.unwrap();
    let longest = seen.borrow().longest_line.unwrap();
    assert_eq!(longest.server, IpAddr::V4(Ipv4Addr::new(9, 9, 9, 9)));
    assert!(longest.targets > 200 && longest.targets <= 250, "{longest:?}");
    assert_eq!(longest.at_least, PACE.gap * u32::try_from(longest.targets - 1).unwrap());
}

#[tokio::test(start_paused = true)]
async fn who_asked_not_to_be_surveyed_is_not_even_looked_up() {
    fn address(host: &str) -> Result<Ipv4Addr, Cause> {
        assert!(host != "h1.example" && host != "www.away.example", "{host} was looked up");
        Ok(if host == "h2.example" { Ipv4Addr::new(8, 8, 4, 4) } else { Ipv4Addr::new(9, 9, 9, 9) })
    }
    let reply: Rules = |url| match url.host_str().unwrap() {
        "h3.example" => Reply::Redirect("https://www.away.example/robots.txt".to_owned()),
        "h4.example" => Reply::Redirect("https://h2.example/robots.txt".to_owned()),
        _ => Reply::Status(200),
    };
    let web = FakeWeb::new(reply, address, Duration::from_millis(100));
    let exclusions = Exclusions::parse("h1.example\n8.8.4.0/24\naway.example").unwrap();
    let guard = Arc::new(Guard { reach: Reach::Internet, exclusions });
    let (sink, mut source) = mpsc::channel(16);
    let crawl = Crawl::new(web.clone(), guard, (PACE, LIMITS), (Probing::NONE, Memory::NONE), sink);
    let pulse = watch::Sender::new(Pulse::default());
    assert_eq!(crawl.run(targets(5), &pulse, &CancellationToken::new()).await.unwrap(), End::Complete);
    let mut seen = Vec::new();
    while let Some(observation) = source.recv().await {
        seen.push((observation.target.index, outcome(&observation)));
    }
    seen.sort_unstable_by_key(|(index, _)| *index);
    let opted_out = Err(Cause::OptedOut);
    assert_eq!(seen, [(0, Ok(200)), (1, opted_out), (2, opted_out), (3, opted_out), (4, opted_out)]);
    assert!(!web.0.log.lock().unwrap().contains_key(&IpAddr::V4(Ipv4Addr::new(8, 8, 4, 4))));
}
