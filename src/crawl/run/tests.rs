//! The loop and the journey against a web that is a function, in virtual time.

#![expect(clippy::unnecessary_wraps, reason = "each fake address book has the type of all of them")]

use std::collections::{BTreeMap, HashMap};
use std::net::Ipv4Addr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

mod later;
mod memory;
mod probes;

use url::Url;

use super::*;
use crate::crawl::Reach;
use crate::crawl::Www;
use crate::crawl::fetch::{Condition, Identity};
use crate::crawl::resolve::Resolution;
use crate::domain::Domain;
use crate::exclusions::Exclusions;
use crate::observation::{Authority, Ending, Failure, Hop, Response, Validators};
use crate::outcome::Cause;

/// What one URL of the fake web does.
#[derive(Clone, Debug)]
enum Reply {
    Status(u16),
    Redirect(String),
    Fail(Cause),
    /// With this Retry-After.
    Refuse(u16, Option<&'static str>),
    /// The first time one thing, later another.
    First(Box<Self>, Box<Self>),
    /// One thing where there is a condition, another where there is none.
    If(Box<Self>, Box<Self>),
}

type Rules = fn(&Url) -> Reply;

#[derive(Clone)]
struct FakeWeb(Arc<Fake>);

struct Fake {
    reply: Rules,
    address: fn(&str) -> Result<Ipv4Addr, Cause>,
    service: Duration,
    /// Start and end of each request, by address.
    log: Mutex<HashMap<IpAddr, Vec<(Instant, Instant)>>>,
    urls: Mutex<Vec<String>>,
    identities: Mutex<Vec<Identity>>,
    conditions: Mutex<Vec<Validators>>,
    open: AtomicUsize,
    most_open: AtomicUsize,
    /// Faults still to be given.
    faults: AtomicUsize,
}

impl FakeWeb {
    fn new(reply: Rules, address: fn(&str) -> Result<Ipv4Addr, Cause>, service: Duration) -> Self {
        Self(Arc::new(Fake {
            reply,
            address,
            service,
            log: Mutex::default(),
            urls: Mutex::default(),
            identities: Mutex::default(),
            conditions: Mutex::default(),
            open: AtomicUsize::new(0),
            most_open: AtomicUsize::new(0),
            faults: AtomicUsize::new(0),
        }))
    }
}

impl Web for FakeWeb {
    async fn resolve(&self, host: &str) -> Result<Lookup, Fault> {
        tokio::time::sleep(Duration::from_millis(30)).await;
        let result = (self.0.address)(host);
        let result = result.map(|ip| Resolution { ips: vec![ip.into()], cname: None }).map_err(Failure::from);
        Ok(Lookup { answers: DnsAnswers::default(), result })
    }

    fn lateness(&self) -> Duration {
        Duration::ZERO
    }

    async fn ask(&self, request: Request<'_>) -> Result<Exchange, Fault> {
        let Request { url, ip, identity, validators } = request;
        self.0.identities.lock().unwrap().push(identity);
        let fake = &self.0;
        if fake.faults.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
            return Err(Fault::NoDescriptors);
        }
        assert!(url.host_str() != Some("panic.example"), "planted");
        let started = Instant::now();
        let open = fake.open.fetch_add(1, Ordering::SeqCst) + 1;
        fake.most_open.fetch_max(open, Ordering::SeqCst);
        tokio::time::sleep(fake.service).await;
        fake.open.fetch_sub(1, Ordering::SeqCst);
        fake.log.lock().unwrap().entry(ip).or_default().push((started, Instant::now()));
        let is_first = {
            let mut urls = fake.urls.lock().unwrap();
            urls.push(url.to_string());
            urls.iter().filter(|asked| *asked == url.as_str()).count() == 1
        };
        let reply = match (fake.reply)(url) {
            Reply::First(first, _) if is_first => *first,
            Reply::First(_, later) => *later,
            Reply::If(then, _) if validators.is_some() => *then,
            Reply::If(_, otherwise) => *otherwise,
            reply => reply,
        };
        let condition = if validators.is_some() { Condition::Sent } else { Condition::None };
        fake.conditions.lock().unwrap().extend(validators.cloned());
        Ok(Exchange { condition, ..exchange(url, ip, reply) })
    }
}

fn exchange(url: &Url, ip: IpAddr, reply: Reply) -> Exchange {
    let response = |status, headers| {
        Ok(Response {
            url: url.to_string(),
            status,
            headers,
            body: Bytes::new(),
            is_truncated: false,
            wire_bytes: Some(0),
        })
    };
    let result = match reply {
        Reply::Status(status) => response(status, Vec::new()),
        Reply::Redirect(to) => response(301, vec![("location".to_owned(), to)]),
        Reply::Fail(cause) => Err(cause.into()),
        Reply::Refuse(status, after) => {
            response(status, after.map(|after| ("retry-after".to_owned(), after.to_owned())).into_iter().collect())
        }
        Reply::First(..) | Reply::If(..) => unreachable!("one of the two was chosen"),
    };
    let hop = Hop {
        url: url.to_string(),
        ip: Some(ip),
        status: result.as_ref().ok().map(|response| response.status),
        failure: result.as_ref().err().map(|failure: &Failure| failure.cause),
        tls_verdict: None,
        tls_version: None,
        http_version: None,
        elapsed: Duration::ZERO,
    };
    Exchange { sent_at: Timestamp::UNIX_EPOCH, hop, result, condition: Condition::None }
}

const PACE: Pace = Pace {
    gap: Duration::from_millis(250),
    interval: Duration::ZERO,
    per_network: 8,
    backoff: Duration::from_secs(60),
    patience: Duration::from_secs(900),
};
const LIMITS: Limits = Limits {
    in_flight: 64,
    resolving: 64,
    lookup_interval: Duration::ZERO,
    waiting: 10_000,
    www: Www::Fallback,
    second_try: None,
    deadline: None,
};

fn target(index: u32, domain: &str) -> Target {
    Target { index, domain: Domain::parse(domain).unwrap(), rank: None, weight: None, stratum: None }
}

/// Every address but 10.0.0.0/8, as the real guard has it.
fn everywhere() -> Arc<Guard> {
    Arc::new(Guard { reach: Reach::Internet, exclusions: Exclusions::default() })
}

async fn run(
    web: &FakeWeb,
    targets: impl Iterator<Item = Target>,
    stop: &CancellationToken,
) -> (Result<End, CrawlError>, Vec<Observation>) {
    run_within(LIMITS, web, targets, stop).await
}

async fn run_within(
    limits: Limits,
    web: &FakeWeb,
    targets: impl Iterator<Item = Target>,
    stop: &CancellationToken,
) -> (Result<End, CrawlError>, Vec<Observation>) {
    let (sink, mut source) = mpsc::channel(16);
    let collecting = tokio::spawn(async move {
        let mut seen = Vec::new();
        while let Some(observation) = source.recv().await {
            seen.push(observation);
        }
        seen
    });
    let (pulse, _) = watch::channel(Pulse::default());
    let end = Crawl::new(web.clone(), everywhere(), (PACE, limits), (Probing::NONE, Memory::NONE), sink)
        .run(targets, &pulse, stop)
        .await;
    (end, collecting.await.unwrap())
}

/// A quarter of all names on one server, the others on their own.
fn crowded(host: &str) -> Result<Ipv4Addr, Cause> {
    let number: u32 = host.split('.').next().unwrap().trim_start_matches('h').parse().unwrap();
    Ok(if number.is_multiple_of(4) { Ipv4Addr::new(9, 9, 9, 9) } else { Ipv4Addr::from(0x0800_0000 + number * 256) })
}

#[tokio::test(start_paused = true)]
async fn each_target_is_observed_once_and_no_server_is_asked_too_soon() {
    let web = FakeWeb::new(|_| Reply::Status(404), crowded, Duration::from_millis(100));
    let targets = (0..2000).map(|index| target(index, &format!("h{index}.example")));
    let (end, seen) = run(&web, targets, &CancellationToken::new()).await;
    assert_eq!(end.unwrap(), End::Complete);
    let mut indexes: Vec<u32> = seen.iter().map(|observation| observation.target.index).collect();
    indexes.sort_unstable();
    assert!(indexes.iter().copied().eq(0..2000));
    assert!(web.0.most_open.load(Ordering::SeqCst) <= 64);
    let log = web.0.log.lock().unwrap();
    let crowd = &log[&IpAddr::V4(Ipv4Addr::new(9, 9, 9, 9))];
    assert_eq!(crowd.len(), 500);
    let mut crowd = crowd.clone();
    crowd.sort_unstable();
    let closest = crowd.windows(2).map(|pair| pair[1].0 - pair[0].1).min().unwrap();
    // It has more names than a single machine would: a giant in good health, of no published prefix.
    assert!(closest >= PACE.gap / 3, "{closest:?}");
    assert!(closest < PACE.gap * 2, "the line was never idle for long: {closest:?}");
}

#[tokio::test(start_paused = true)]
async fn stopping_finishes_what_is_in_flight_and_abandons_the_rest() {
    let web = FakeWeb::new(|_| Reply::Status(404), crowded, Duration::from_secs(5));
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(12)).await;
        stopping.cancel();
    });
    let started = Instant::now();
    let targets = (0..100_000).map(|index| target(index, &format!("h{index}.example")));
    let (end, seen) = run(&web, targets, &stop).await;
    assert_eq!(end.unwrap(), End::Stopped);
    assert!(started.elapsed() <= Duration::from_secs(18), "{:?}", started.elapsed());
    let asked = web.0.urls.lock().unwrap().len();
    assert_eq!(seen.len(), asked, "every request that was sent has its row");
    assert!(asked > 100);
}

#[tokio::test(start_paused = true)]
async fn stopping_ends_also_while_names_are_looked_up() {
    let web = FakeWeb::new(|_| Reply::Status(404), crowded, Duration::from_secs(5));
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(10)).await;
        stopping.cancel();
    });
    let targets = (0..100).map(|index| target(index, &format!("h{index}.example")));
    let (end, seen) = run(&web, targets, &stop).await;
    assert_eq!(end.unwrap(), End::Stopped);
    assert!(seen.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_fault_of_our_own_costs_time_and_no_row_is_written_for_it() {
    let web = FakeWeb::new(|_| Reply::Status(404), crowded, Duration::from_millis(10));
    web.0.faults.store(200, Ordering::SeqCst);
    let targets = (0..300).map(|index| target(index, &format!("h{index}.example")));
    let (end, seen) = run(&web, targets, &CancellationToken::new()).await;
    assert_eq!(end.unwrap(), End::Complete);
    assert_eq!(seen.len(), 300);
    assert!(seen.iter().all(|observation| observation.failure().is_none()));
}

#[tokio::test(start_paused = true)]
async fn a_fault_that_stays_ends_the_crawl_with_its_name() {
    let web = FakeWeb::new(|_| Reply::Status(404), crowded, Duration::from_millis(10));
    web.0.faults.store(usize::MAX, Ordering::SeqCst);
    let targets = (0..300).map(|index| target(index, &format!("h{index}.example")));
    let (end, seen) = run(&web, targets, &CancellationToken::new()).await;
    assert!(matches!(end, Err(CrawlError::Fault { fault: Fault::NoDescriptors })), "{end:?}");
    assert!(seen.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_panic_costs_its_target_and_is_reported() {
    let web = FakeWeb::new(|_| Reply::Status(404), |_| Ok(Ipv4Addr::new(9, 9, 9, 9)), Duration::from_millis(10));
    let targets = ["a.example", "panic.example", "b.example"];
    let targets = targets.iter().zip(0..).map(|(domain, index)| target(index, domain));
    let (end, seen) = run(&web, targets, &CancellationToken::new()).await;
    assert!(matches!(end, Err(CrawlError::Panic { count: 1, ref first }) if first == "planted"), "{end:?}");
    assert_eq!(seen.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_sink_that_has_gone_ends_the_crawl() {
    let web = FakeWeb::new(|_| Reply::Status(404), crowded, Duration::from_millis(10));
    let (sink, source) = mpsc::channel(1);
    drop(source);
    let (pulse, _) = watch::channel(Pulse::default());
    let targets = (0..300).map(|index| target(index, &format!("h{index}.example")));
    let crawl = Crawl::new(web, everywhere(), (PACE, LIMITS), (Probing::NONE, Memory::NONE), sink);
    let end = crawl.run(targets, &pulse, &CancellationToken::new()).await;
    assert!(matches!(end, Err(CrawlError::SinkClosed)), "{end:?}");
}

/// Surveys one name on a web that is a function and shows the URLs asked, the authority and how it ended.
async fn follow(
    domain: &str,
    address: fn(&str) -> Result<Ipv4Addr, Cause>,
    reply: Rules,
) -> (Vec<String>, Option<Authority>, Result<u16, Cause>) {
    let web = FakeWeb::new(reply, address, Duration::from_millis(10));
    let (end, mut seen) = run(&web, std::iter::once(target(0, domain)), &CancellationToken::new()).await;
    assert_eq!(end.unwrap(), End::Complete);
    let observation = seen.pop().unwrap();
    assert!(seen.is_empty());
    let urls = web.0.urls.lock().unwrap().clone();
    let asking = observation.asking.unwrap();
    assert_eq!(asking.hops.iter().map(|hop| hop.url.clone()).collect::<Vec<_>>(), urls);
    let ending = match observation.ending {
        Ending::Response(response) => Ok(response.status),
        Ending::Failure(failure) => Err(failure.cause),
    };
    (urls, asking.authority, ending)
}

fn anywhere(_: &str) -> Result<Ipv4Addr, Cause> {
    Ok(Ipv4Addr::new(9, 9, 9, 9))
}

fn only_www(host: &str) -> Result<Ipv4Addr, Cause> {
    if host.starts_with("www.") { anywhere(host) } else { Err(Cause::DnsNxdomain) }
}

#[tokio::test(start_paused = true)]
async fn https_is_asked_first_and_http_after_a_failure_to_connect() {
    let (urls, authority, ending) = follow("a.example", anywhere, |url| match url.scheme() {
        "https" => Reply::Fail(Cause::ConnectRefused),
        _ => Reply::Status(200),
    })
    .await;
    assert_eq!(urls, ["https://a.example/robots.txt", "http://a.example/robots.txt"]);
    assert_eq!((authority, ending), (Some(Authority::HttpApex), Ok(200)));
}

#[tokio::test(start_paused = true)]
async fn a_name_without_an_address_is_asked_once_more_with_www() {
    let (urls, authority, ending) = follow("a.example", only_www, |_| Reply::Status(200)).await;
    assert_eq!(urls, ["https://www.a.example/robots.txt"]);
    assert_eq!((authority, ending), (Some(Authority::HttpsWww), Ok(200)));
    let (urls, authority, ending) = follow("www.a.example", |_| Err(Cause::DnsNxdomain), |_| Reply::Status(200)).await;
    assert!(urls.is_empty());
    assert_eq!((authority, ending), (None, Err(Cause::DnsNxdomain)));
}

#[tokio::test(start_paused = true)]
async fn a_resolver_that_failed_says_nothing_about_the_name_so_www_is_not_tried() {
    let (urls, _, ending) = follow("a.example", |_| Err(Cause::DnsServfail), |_| Reply::Status(200)).await;
    assert!(urls.is_empty());
    assert_eq!(ending, Err(Cause::DnsServfail));
}

#[tokio::test(start_paused = true)]
async fn where_nobody_answers_the_listed_names_furthest_failure_is_the_outcome() {
    let (urls, authority, ending) = follow("a.example", anywhere, |url| match (url.scheme(), url.host_str()) {
        ("https", Some("a.example")) => Reply::Fail(Cause::TlsAlert),
        ("http", Some("a.example")) => Reply::Fail(Cause::ConnectRefused),
        _ => Reply::Fail(Cause::HttpTimeout),
    })
    .await;
    let expected = ["https://a.example/robots.txt", "http://a.example/robots.txt", "https://www.a.example/robots.txt"];
    assert_eq!(urls, expected);
    assert_eq!((authority, ending), (None, Err(Cause::TlsAlert)));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_accepts_and_then_says_nothing_has_had_its_chance() {
    let (urls, _, ending) = follow("a.example", anywhere, |_| Reply::Fail(Cause::HttpTimeout)).await;
    assert_eq!(urls, ["https://a.example/robots.txt"]);
    assert_eq!(ending, Err(Cause::HttpTimeout));
}

#[tokio::test(start_paused = true)]
async fn rfc9309_2_3_1_2_five_redirects_are_followed_and_a_sixth_is_not() {
    fn step(url: &Url, last: u32) -> Reply {
        let number: u32 = url.path().trim_start_matches("/r").parse().unwrap_or(0);
        if number == last { Reply::Status(200) } else { Reply::Redirect(format!("/r{}", number + 1)) }
    }
    let (urls, authority, ending) = follow("a.example", anywhere, |url| step(url, 5)).await;
    assert_eq!(urls.len(), 6);
    assert_eq!((authority, ending), (Some(Authority::HttpsApex), Ok(200)));
    let (urls, _, ending) = follow("a.example", anywhere, |url| step(url, 6)).await;
    assert_eq!(urls.len(), 6);
    assert_eq!(ending, Err(Cause::RedirectLimit));
}

#[tokio::test(start_paused = true)]
async fn a_redirect_that_must_not_be_followed_says_why() {
    fn address(host: &str) -> Result<Ipv4Addr, Cause> {
        match host {
            "inside.example" => Ok(Ipv4Addr::new(10, 0, 0, 1)),
            "gone.example" => Err(Cause::DnsNxdomain),
            _ => anywhere(host),
        }
    }
    fn reply(url: &Url) -> Reply {
        let to = match url.host_str().unwrap().split('.').next().unwrap() {
            "loop" => "http://loop.example/robots.txt",
            "bad" => "http://[",
            "nohost" => "https://",
            "dots" => "https://a..example/",
            "long" => concat!(
                "https://",
                "aaaaaaaaaaaaaaaa",
                "aaaaaaaaaaaaaaaa",
                "aaaaaaaaaaaaaaaa",
                "aaaaaaaaaaaaaaaa",
                ".example/"
            ),
            "literal" => "http://0x7f000001/robots.txt",
            "mapped" => "http://[::ffff:10.0.0.1]/robots.txt",
            "private" => "http://inside.example/robots.txt",
            "port" => "http://b.example:8080/robots.txt",
            "scheme" => "ftp://b.example/robots.txt",
            "lost" => "https://gone.example/",
            _ => return Reply::Status(200),
        };
        if url.scheme() == "http" && url.host_str() == Some("loop.example") {
            return Reply::Redirect("https://loop.example/robots.txt".to_owned());
        }
        Reply::Redirect(to.to_owned())
    }
    let expected = BTreeMap::from([
        ("loop.example", Cause::RedirectLoop),
        ("bad.example", Cause::RedirectBadLocation),
        ("nohost.example", Cause::RedirectBadLocation),
        ("dots.example", Cause::RedirectBadLocation),
        ("long.example", Cause::RedirectBadLocation),
        ("literal.example", Cause::RedirectToIp),
        ("mapped.example", Cause::RedirectToIp),
        ("private.example", Cause::RedirectToPrivate),
        ("port.example", Cause::RedirectOtherPort),
        ("scheme.example", Cause::RedirectOtherScheme),
        ("lost.example", Cause::DnsNxdomain),
    ]);
    for (domain, cause) in expected {
        let (urls, authority, ending) = follow(domain, address, reply).await;
        assert_eq!(ending, Err(cause), "{domain}");
        assert_eq!(authority, Some(Authority::HttpsApex), "{domain}");
        assert!(urls.iter().all(|url| !url.contains("inside") && !url.contains("gone")), "{urls:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_with_private_addresses_only_is_not_contacted() {
    let (urls, _, ending) = follow("a.example", |_| Ok(Ipv4Addr::new(192, 168, 0, 1)), |_| Reply::Status(200)).await;
    assert!(urls.is_empty());
    assert_eq!(ending, Err(Cause::DnsPrivate));
}

#[tokio::test(start_paused = true)]
async fn no_url_is_asked_twice_and_eight_requests_are_the_most() {
    // https never connects, and http redirects to it.
    let (urls, _, ending) = follow("a.example", anywhere, |url| match url.scheme() {
        "https" => Reply::Fail(Cause::ConnectTimeout),
        _ => Reply::Redirect("https://a.example/robots.txt".to_owned()),
    })
    .await;
    assert_eq!(urls, ["https://a.example/robots.txt", "http://a.example/robots.txt"]);
    assert_eq!(ending, Err(Cause::ConnectTimeout));
    // Nothing on the apex, then five redirects on www: the ninth request is not made.
    let (urls, _, ending) = follow("a.example", anywhere, |url| match (url.scheme(), url.host_str()) {
        (_, Some("a.example")) | ("https", _) => Reply::Fail(Cause::ConnectRefused),
        _ => Reply::Redirect(format!("{}x", url.path())),
    })
    .await;
    assert_eq!(urls.len(), 8);
    assert_eq!(ending, Err(Cause::RedirectLimit));
}
