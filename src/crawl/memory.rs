//! What is remembered of targets from before: by which validators they can be asked again, and what they answered then.
//!
//! Where the memory lies is not known here: whoever starts the crawl gives it. Validators belong to the URL that gave
//! the answer, so they are sent to that one alone, never to what a redirect leads to now; extra looks send none.
//! Confirming is pure.

use std::fmt;
use std::sync::Arc;

use super::fetch::{Condition, Exchange};
use super::journey::Journey;
use crate::observation::{Response, Validators};

/// Remembers what targets answered before. Failing to remember is the program's own failure, never a target's.
pub trait Remembers: Send + Sync {
    /// The validators of what this URL answered, where it gave the target's answer and that is kept.
    fn validators(&self, target: u32, url: &str) -> anyhow::Result<Option<Validators>>;

    /// What it answered; asked only where there are validators.
    fn answer(&self, target: u32) -> anyhow::Result<Response>;
}

/// What a crawl remembers.
#[derive(Clone)]
pub struct Memory(Option<Arc<dyn Remembers>>);

impl Memory {
    /// Nothing: nobody is asked with a condition.
    pub const NONE: Self = Self(None);

    /// What somebody remembers.
    pub fn new(remembers: Arc<dyn Remembers>) -> Self {
        Self(Some(remembers))
    }

    /// By which validators the journey's next URL is asked.
    ///
    /// # Cost
    ///
    /// That of whoever remembers; a kilobyte is read from a file. It is asked when the request is about to start, so
    /// that targets that wait for their turn hold nothing.
    pub(crate) fn recall(&self, journey: &Journey) -> anyhow::Result<Option<Validators>> {
        match &self.0 {
            Some(memory) if journey.may_recall() => memory.validators(journey.target(), journey.url().as_str()),
            _ => Ok(None),
        }
    }

    /// Puts the earlier answer in the place of a 304 that confirms it; any other answer stays as it is.
    pub(crate) fn settle(&self, journey: &Journey, exchange: &mut Exchange) -> anyhow::Result<()> {
        let (Some(memory), Condition::Sent, Ok(told)) = (&self.0, exchange.condition, &exchange.result) else {
            return Ok(());
        };
        if told.status != NOT_MODIFIED {
            return Ok(());
        }
        if let Some(confirmed) = confirm(memory.answer(journey.target())?, told) {
            exchange.result = Ok(confirmed);
            exchange.condition = Condition::Holds;
        }
        Ok(())
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Memory").field(&self.0.is_some()).finish()
    }
}

/// The status that says that what the asker has still holds.
pub(crate) const NOT_MODIFIED: u16 = 304;
/// The status that says that a condition failed, which nobody has any business to say to ours (RFC 9110, section 13.1.2).
pub(crate) const PRECONDITION_FAILED: u16 = 412;

/// The earlier answer, its header fields brought up to date by the 304 (RFC 9111, sections 3.2 and 4.3.4); nothing where
/// the 304 speaks of another one.
fn confirm(earlier: Response, told: &Response) -> Option<Response> {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    if let (Some(then), Some(now)) = (earlier.header("etag"), told.header("etag")) {
        // Of two tags for one thing one may be weak: the comparison of If-None-Match is (RFC 9110, section 8.8.3.2).
        if opaque(then) != opaque(now) {
            return None;
        }
    } else if let (Some(then), Some(now)) = (earlier.header("last-modified"), told.header("last-modified"))
        && then.trim() != now.trim()
    {
        return None;
    }
    let named = told.header("connection").unwrap_or_default().to_ascii_lowercase();
    let is_kept = |name: &str| KEPT.contains(&name) || named.split(',').any(|other| other.trim() == name);
    let mut headers = earlier.headers;
    let mut places: Vec<&str> = Vec::new();
    for (name, value) in told.headers.iter().filter(|(name, _)| !is_kept(name)) {
        // The fields of one name take the place of all that had it; where they are several they stay together.
        let is_first = !places.contains(&name.as_str());
        let at = headers.iter().position(|(other, _)| other == name);
        if is_first {
            headers.retain(|(other, _)| other != name);
            places.push(name);
        }
        let at = match at {
            Some(at) if is_first => at.min(headers.len()),
            Some(_) => headers.iter().rposition(|(other, _)| other == name).map_or(headers.len(), |last| last + 1),
            None => headers.len(),
        };
        headers.insert(at, (name.clone(), value.clone()));
    }
    // None of its bytes were sent for this answer.
    Some(Response { headers, wire_bytes: Some(0), ..earlier })
}

/// Fields of a 304 that say nothing of the earlier answer: those about the connection (RFC 9111, section 3.1), and about
/// how its bytes were laid out, which were decoded since.
const KEPT: &[&str] = &[
    "connection",
    "content-encoding",
    "content-length",
    "content-range",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authentication-info",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn response(status: u16, fields: &[(&str, &str)]) -> Response {
        Response {
            url: "https://a.example/robots.txt".to_owned(),
            status,
            headers: fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            body: "User-agent: *\n".into(),
            is_truncated: false,
            wire_bytes: Some(14),
        }
    }

    #[track_caller]
    fn check(then: &[(&str, &str)], now: &[(&str, &str)], expected: Option<&[(&str, &str)]>) {
        let confirmed = confirm(response(200, then), &response(304, now));
        let fields = confirmed.as_ref().map(|confirmed| {
            assert_eq!((confirmed.status, confirmed.wire_bytes), (200, Some(0)));
            assert_eq!(confirmed.body, "User-agent: *\n");
            confirmed.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect::<Vec<_>>()
        });
        assert_eq!(fields.as_deref(), expected);
    }

    #[test]
    fn rfc9111_3_2_fields_of_a_304_replace_those_that_were_kept() {
        check(
            &[("server", "a"), ("etag", "\"1\""), ("x", "1"), ("x", "2"), ("content-length", "14")],
            &[("x", "3"), ("age", "7"), ("etag", "W/\"1\""), ("x", "4"), ("content-length", "0")],
            Some(&[
                ("server", "a"),
                ("etag", "W/\"1\""),
                ("x", "3"),
                ("x", "4"),
                ("content-length", "14"),
                ("age", "7"),
            ]),
        );
        check(
            &[("etag", "\"1\""), ("content-encoding", "gzip")],
            &[("connection", "close, X-Hop"), ("x-hop", "1"), ("content-encoding", "br"), ("te", "x")],
            Some(&[("etag", "\"1\""), ("content-encoding", "gzip")]),
        );
    }

    #[test]
    fn rfc9111_4_3_4_a_304_that_speaks_of_another_answer_confirms_nothing() {
        check(&[("etag", "\"1\"")], &[("etag", "\"2\"")], None);
        check(&[("etag", "\"1\"")], &[], Some(&[("etag", "\"1\"")]));
        let date = ("last-modified", "Mon, 30 Nov 2026 00:00:00 GMT");
        let other = ("last-modified", "Tue, 01 Dec 2026 00:00:00 GMT");
        check(&[date], &[other], None);
        check(&[date], &[date], Some(&[date]));
        check(&[("etag", "\"1\""), date], &[("etag", "\"1\""), other], Some(&[("etag", "\"1\""), other]));
    }
}
