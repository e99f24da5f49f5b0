//! Extra looks: each kind of probe asks what it says, once, and never changes the answer.

use super::*;
use crate::observation::Probe;

async fn probe(probing: Probing, www: Www, web: &FakeWeb, domains: &[&str]) -> Vec<Observation> {
    let (sink, mut source) = mpsc::channel(16);
    let collecting = tokio::spawn(async move {
        let mut seen = Vec::new();
        while let Some(observation) = source.recv().await {
            seen.push(observation);
        }
        seen.sort_by_key(|observation: &Observation| observation.target.index);
        seen
    });
    let limits = Limits { www, second_try: Some(Duration::from_secs(600)), ..LIMITS };
    let targets = domains.iter().zip(0..).map(|(domain, index)| target(index, domain));
    let (pulse, _) = watch::channel(Pulse::default());
    let crawl = Crawl::new(web.clone(), everywhere(), (PACE, limits), (probing, Memory::NONE), sink);
    assert_eq!(crawl.run(targets, &pulse, &CancellationToken::new()).await.unwrap(), End::Complete);
    collecting.await.unwrap()
}

fn status(ending: &Ending) -> Result<u16, Cause> {
    match ending {
        Ending::Response(response) => Ok(response.status),
        Ending::Failure(failure) => Err(failure.cause),
    }
}

fn probes(observation: &Observation) -> Vec<(ProbeKind, Result<u16, Cause>)> {
    let probes = &observation.asking.as_ref().unwrap().probes;
    probes.iter().map(|Probe { kind, ending }| (*kind, status(ending))).collect()
}

#[tokio::test(start_paused = true)]
async fn a_target_gets_each_kind_of_look_once_and_keeps_its_answer() {
    let reply: Rules = |url| match url.as_str() {
        "https://a.example/robots.txt" => Reply::First(Box::new(Reply::Status(200)), Box::new(Reply::Status(410))),
        "https://www.a.example/robots.txt" => Reply::Redirect("https://b.example/robots.txt".to_owned()),
        "https://b.example/robots.txt" => Reply::Status(403),
        _ => Reply::Status(404),
    };
    let web = FakeWeb::new(reply, anywhere, Duration::from_millis(100));
    let probing = Probing::new(|_| ProbeKind::ALL.to_vec());
    let started = Instant::now();
    let seen = probe(probing, Www::Fallback, &web, &["a.example"]).await;
    assert_eq!(status(&seen[0].ending), Ok(200));
    assert_eq!(seen[0].asking.as_ref().unwrap().hops.len(), 1, "probes are no hops of the answer");
    assert_eq!(
        probes(&seen[0]),
        [
            (ProbeKind::Repeat, Ok(410)),
            (ProbeKind::Authority, Ok(403)),
            (ProbeKind::Identity, Ok(410)),
            (ProbeKind::Unconditional, Ok(410))
        ]
    );
    assert_eq!(web.0.urls.lock().unwrap().len(), 6);
    let identities = web.0.identities.lock().unwrap();
    assert_eq!(identities.iter().filter(|identity| **identity == Identity::Other).count(), 1);
    assert!(started.elapsed() < Duration::from_secs(60), "nothing else was left to do");
}

#[tokio::test(start_paused = true)]
async fn the_twin_that_may_only_be_probed_never_gives_the_answer() {
    fn address(host: &str) -> Result<Ipv4Addr, Cause> {
        if host == "gone.example" { Err(Cause::DnsNxdomain) } else { anywhere(host) }
    }
    let web = FakeWeb::new(|_| Reply::Status(200), address, Duration::from_millis(100));
    for (www, asked) in [(Www::Probe, 1), (Www::Never, 0), (Www::Fallback, 1)] {
        let is_probed = www == Www::Probe;
        let probing = if is_probed { Probing::new(|_| vec![ProbeKind::Authority]) } else { Probing::NONE };
        web.0.urls.lock().unwrap().clear();
        let seen = probe(probing, www, &web, &["gone.example"]).await;
        let expected = if www == Www::Fallback { Ok(200) } else { Err(Cause::DnsNxdomain) };
        assert_eq!(status(&seen[0].ending), expected, "{www}");
        assert_eq!(probes(&seen[0]).len(), usize::from(is_probed), "{www}");
        assert_eq!(web.0.urls.lock().unwrap().len(), asked, "{www}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_is_not_attempted_leaves_the_answer_as_it_is() {
    let reply: Rules = |url| match url.host_str() {
        Some("www.a.example") => Reply::Refuse(429, Some("86400")),
        _ => Reply::Status(200),
    };
    let web = FakeWeb::new(reply, anywhere, Duration::from_millis(100));
    let probing = Probing::new(|_| vec![ProbeKind::Authority, ProbeKind::Repeat]);
    let seen = probe(probing, Www::Fallback, &web, &["a.example", "b.example"]).await;
    assert!(seen.iter().all(|one| status(&one.ending) == Ok(200)));
    assert_eq!(seen.len(), 2);
    assert_eq!(probes(&seen[0]), [(ProbeKind::Authority, Ok(429))], "its server is not asked again");
}
