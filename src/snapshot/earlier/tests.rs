//! What is taken over from an earlier snapshot, and what is not.

use super::*;
use crate::domain::{Domain, Target};

const NOW: &str = "2026-12-07T12:00:00Z";
const URL: &str = "https://a.example/robots.txt";

fn wanted(max_body: usize, index_of: &dyn Fn(&str) -> Option<u32>) -> Wanted<'_> {
    let now: Timestamp = NOW.parse().unwrap();
    Wanted { targets: 3, index_of, max_body, fresh_from: Some("2026-12-07T00:00:00Z".parse().unwrap()), now }
}

fn target(index: u32, domain: &str) -> Target {
    Target { index, domain: Domain::parse(domain).unwrap(), rank: None, weight: None, stratum: None }
}

/// A file that was seen at this time, with these header fields.
fn seen(at: &str, fields: &[(&str, &str)], body: &str, is_truncated: bool) -> Recalled {
    let headers = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let response = Response {
        url: URL.to_owned(),
        status: 200,
        headers,
        body: bytes::Bytes::copy_from_slice(body.as_bytes()),
        is_truncated,
        wire_bytes: None,
    };
    let sha256 = Sha256::digest(body).into();
    let at: Timestamp = at.parse().unwrap();
    let observation = Observation {
        target: target(7, "a.example"),
        capture_index: 0,
        fetched_at: Some(at),
        asking: None,
        ending: Ending::Response(response),
        body_source: BodySource::Fetched,
        past: Past { unreachable_since: None, last_good: Some(LastGood { at, sha256 }) },
    };
    Recalled { observation, looks: Vec::new(), class: OutcomeClass::Readable, body_sha256: Some(sha256) }
}

fn keep(recalled: Recalled, max_body: usize) -> anyhow::Result<Earlier> {
    let folder = tempfile::tempdir().unwrap();
    let mut kept = Kept::begin(folder.path(), 3)?;
    kept.keep(recalled, &wanted(max_body, &|name| (name == "a.example").then_some(2)))?;
    kept.finish()
}

const TAG: (&str, &str) = ("etag", "\"1\"");
const OLD: &str = "2026-11-30T12:00:00Z";

#[test]
fn an_answer_comes_back_at_the_place_that_its_target_has_now() {
    let earlier = keep(seen(OLD, &[TAG, ("x", "caf\u{e9}")], "User-agent: *\n", false), 100).unwrap();
    let answer = earlier.answer(2).unwrap().unwrap();
    assert_eq!((&answer.body[..], answer.status, answer.is_truncated), (&b"User-agent: *\n"[..], 200, false));
    assert_eq!(answer.header("x"), Some("caf\u{e9}"));
    assert_eq!(earlier.validators(2, URL).unwrap().unwrap().etag.as_deref(), Some("\"1\""));
    assert_eq!(earlier.validators(2, "http://a.example/robots.txt").unwrap(), None);
    assert_eq!(earlier.past(2).unwrap().last_good.unwrap().at, OLD.parse().unwrap());
    assert_eq!(earlier.counts(), Kinds { fresh: 0, conditional: 1 });
    for other in [0, 1, 3] {
        assert!(earlier.answer(other).unwrap().is_none() && !earlier.is_fresh(other));
        assert_eq!(earlier.past(other).unwrap(), Past::default());
    }
}

#[test]
fn only_as_much_is_taken_over_as_would_be_kept_now_and_no_less() {
    let cut = keep(seen(OLD, &[TAG], "0123456789", false), 4).unwrap().answer(2).unwrap().unwrap();
    assert_eq!((&cut.body[..], cut.is_truncated), (&b"0123"[..], true));
    let same = keep(seen(OLD, &[TAG], "0123456789", true), 10).unwrap();
    assert!(same.answer(2).unwrap().unwrap().is_truncated);
    let longer = keep(seen(OLD, &[TAG], "0123456789", true), 11).unwrap();
    assert_eq!(longer.validators(2, URL).unwrap(), None, "more may be wanted than was kept");
    assert!(longer.past(2).unwrap().last_good.is_some(), "what is known of it stays known");
}

#[test]
fn a_file_is_fresh_within_its_time_and_not_from_the_future() {
    for (at, is_fresh) in
        [("2026-12-07T00:00:00Z", true), (NOW, true), ("2026-12-06T23:59:59Z", false), ("2026-12-07T12:00:01Z", false)]
    {
        let earlier = keep(seen(at, &[], "User-agent: *\n", false), 100).unwrap();
        assert_eq!(earlier.is_fresh(2), is_fresh, "{at}");
    }
    let earlier = keep(seen(NOW, &[], "User-agent: *\n", false), 100).unwrap();
    let observation = earlier.observe_fresh(target(2, "a.example")).unwrap();
    assert_eq!((observation.body_source, observation.fetched_at), (BodySource::Fresh, Some(NOW.parse().unwrap())));
    assert_eq!((observation.target.index, observation.response().unwrap().wire_bytes), (2, Some(0)));
    let absent = Recalled { class: OutcomeClass::Absent, ..seen(NOW, &[], "", false) };
    assert!(!keep(absent, 100).unwrap().is_fresh(2));
}

#[test]
fn bytes_that_are_not_those_that_were_stored_are_an_error() {
    let damaged = Recalled { body_sha256: Some([0; 32]), ..seen(OLD, &[TAG], "User-agent: *\n", false) };
    let error = keep(damaged, 100).err().unwrap().to_string();
    assert!(error.contains("a.example") && error.contains("hash"), "{error}");
}
