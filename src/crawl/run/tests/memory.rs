//! Targets that are remembered: asked with a condition at the URL that answered then, and nowhere else.

use anyhow::bail;

use super::*;
use crate::crawl::Remembers;
use crate::observation::BodySource;

/// Remembers the same answer of every target, given by one URL.
struct Always {
    url: &'static str,
    is_damaged: bool,
}

const TAG: &str = "\"1\"";

impl Remembers for Always {
    fn validators(&self, _: u32, url: &str) -> anyhow::Result<Option<Validators>> {
        let validators = Validators { etag: Some(TAG.to_owned()), last_modified: None };
        Ok((url == self.url).then_some(validators))
    }

    fn answer(&self, _: u32) -> anyhow::Result<Response> {
        if self.is_damaged {
            bail!("the file ends too soon");
        }
        Ok(Response {
            url: self.url.to_owned(),
            status: 200,
            headers: vec![("etag".to_owned(), TAG.to_owned())],
            body: "User-agent: *\n".into(),
            is_truncated: false,
            wire_bytes: Some(14),
        })
    }
}

async fn remember(
    memory: Always,
    reply: Rules,
    probing: Probing,
) -> (Result<End, CrawlError>, Vec<Observation>, FakeWeb) {
    let web = FakeWeb::new(reply, anywhere, Duration::from_millis(100));
    let (sink, mut source) = mpsc::channel(16);
    let collecting = tokio::spawn(async move {
        let mut seen = Vec::new();
        while let Some(observation) = source.recv().await {
            seen.push(observation);
        }
        seen
    });
    let (pulse, _) = watch::channel(Pulse::default());
    let memory = Memory::new(Arc::new(memory));
    let crawl = Crawl::new(web.clone(), everywhere(), (PACE, LIMITS), (probing, memory), sink);
    let end = crawl.run(std::iter::once(target(0, "a.example")), &pulse, &CancellationToken::new()).await;
    (end, collecting.await.unwrap(), web)
}

fn when(conditional: Reply, plain: Reply) -> Reply {
    Reply::If(Box::new(conditional), Box::new(plain))
}

const HTTPS: Always = Always { url: "https://a.example/robots.txt", is_damaged: false };

fn statuses(observation: &Observation) -> Vec<Option<u16>> {
    observation.asking.as_ref().unwrap().hops.iter().map(|hop| hop.status).collect()
}

#[tokio::test(start_paused = true)]
async fn a_304_takes_the_earlier_answer_and_says_so() {
    let reply: Rules = |_| when(Reply::Status(304), Reply::Status(200));
    let (_, seen, web) = remember(HTTPS, reply, Probing::NONE).await;
    assert_eq!(seen[0].body_source, BodySource::NotModified);
    let response = seen[0].response().unwrap();
    assert_eq!((response.status, &response.body[..], response.wire_bytes), (200, &b"User-agent: *\n"[..], Some(0)));
    assert_eq!(statuses(&seen[0]), [Some(304)]);
    assert_eq!(web.0.conditions.lock().unwrap()[0].etag.as_deref(), Some(TAG));
}

#[tokio::test(start_paused = true)]
async fn a_changed_file_is_fetched_in_the_same_request() {
    let (_, seen, web) = remember(HTTPS, |_| Reply::Status(200), Probing::NONE).await;
    assert_eq!((seen[0].body_source, statuses(&seen[0])), (BodySource::Fetched, vec![Some(200)]));
    assert_eq!(web.0.conditions.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_condition_is_for_the_url_that_answered_and_for_no_other() {
    // Behind the redirect stands what gave the answer; the redirect itself is asked plainly.
    let reply: Rules = |url| match url.as_str() {
        "https://a.example/robots.txt" => Reply::Redirect("https://b.example/robots.txt".to_owned()),
        _ => when(Reply::Status(304), Reply::Status(200)),
    };
    let behind = Always { url: "https://b.example/robots.txt", is_damaged: false };
    let (_, seen, web) = remember(behind, reply, Probing::NONE).await;
    assert_eq!((seen[0].body_source, statuses(&seen[0])), (BodySource::NotModified, vec![Some(301), Some(304)]));
    assert_eq!(web.0.conditions.lock().unwrap().len(), 1);
    // Another path, host or scheme gave the answer then.
    for url in ["https://a.example/other.txt", "https://www.a.example/robots.txt", "http://a.example/robots.txt"] {
        let elsewhere = Always { url, is_damaged: false };
        let (_, seen, web) = remember(elsewhere, |_| when(Reply::Status(304), Reply::Status(200)), Probing::NONE).await;
        assert_eq!(seen[0].body_source, BodySource::Fetched, "{url}");
        assert!(web.0.conditions.lock().unwrap().is_empty(), "{url}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_304_that_nobody_asked_for_is_an_answer_of_its_own() {
    let elsewhere = Always { url: "https://b.example/robots.txt", is_damaged: false };
    let (_, seen, _) = remember(elsewhere, |_| Reply::Status(304), Probing::NONE).await;
    assert_eq!((seen[0].response().unwrap().status, seen[0].body_source), (304, BodySource::Fetched));
    assert_eq!(statuses(&seen[0]), [Some(304)]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_takes_a_condition_amiss_is_asked_plainly() {
    let (_, seen, _) = remember(HTTPS, |_| when(Reply::Status(412), Reply::Status(404)), Probing::NONE).await;
    assert_eq!((seen[0].response().unwrap().status, statuses(&seen[0])), (404, vec![Some(412), Some(404)]));
}

#[tokio::test(start_paused = true)]
async fn an_extra_look_has_no_condition() {
    let probing = Probing::new(|observation| match observation.body_source {
        BodySource::NotModified => vec![ProbeKind::Unconditional, ProbeKind::Repeat],
        _ => Vec::new(),
    });
    let (_, seen, web) = remember(HTTPS, |_| when(Reply::Status(304), Reply::Status(200)), probing).await;
    let probes = &seen[0].asking.as_ref().unwrap().probes;
    assert_eq!(
        probes.iter().map(|probe| probe.kind).collect::<Vec<_>>(),
        [ProbeKind::Unconditional, ProbeKind::Repeat]
    );
    assert!(probes.iter().all(|probe| matches!(&probe.ending, Ending::Response(response) if response.status == 200)));
    assert_eq!((seen[0].body_source, web.0.conditions.lock().unwrap().len()), (BodySource::NotModified, 1));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_remembered_ends_the_crawl_and_is_no_outcome() {
    let damaged = Always { is_damaged: true, ..HTTPS };
    let (end, seen, _) = remember(damaged, |_| when(Reply::Status(304), Reply::Status(200)), Probing::NONE).await;
    assert!(matches!(end, Err(CrawlError::Memory(error)) if error.to_string() == "the file ends too soon"));
    assert!(seen.is_empty());
}
