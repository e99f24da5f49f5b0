//! The way of one target: which name and URL next, when to turn to the other scheme or the `www.` twin, when it ends.
//!
//! Pure: what was seen goes in, the next step comes out. The order is fixed: `https://` and the listed name; on a
//! failure to connect or to speak TLS, `http://`; where the listed name has no address or answered on neither, the
//! same two with `www.`, once, unless the twin may only be probed. Redirects are followed from whichever of them answered, five at most
//! (RFC 9309, section 2.3.1.2), and no URL is asked twice.

use std::net::IpAddr;

use jiff::Timestamp;
use tokio::time::Instant;
use url::{Host, Url};

use super::Www;
use super::fetch::{Condition, Exchange, Identity};
use super::memory::{NOT_MODIFIED, PRECONDITION_FAILED};
use super::reach::Guard;
use super::resolve::{Lookup, Resolution};
use crate::domain::{Domain, Target};
use crate::observation::{
    Asking, Authority, BodySource, DnsAnswers, Ending, Failure, Hop, Observation, Past, Probe, ProbeKind, Response,
};
use crate::outcome::{Cause, OutcomeClass};

/// Redirects that are followed in a row (RFC 9309, section 2.3.1.2).
const MAX_REDIRECTS: usize = 5;
/// Requests that one target may cost in all.
const MAX_REQUESTS: usize = 8;

/// One target under way.
#[derive(Debug)]
pub(crate) struct Journey {
    target: Target,
    /// The name that is asked: the listed one, or its twin for a probe.
    domain: Domain,
    /// Whether the `www.` twin may give the answer where the name itself does not.
    tries_www: bool,
    started: Instant,
    /// Which authority is being tried.
    authority: Authority,
    /// The URL to ask next.
    url: Url,
    /// URLs asked since the authority was last changed; more than one means that redirects were followed.
    chain: Vec<Url>,
    hops: Vec<Hop>,
    /// When the last request was sent; before the first one, when the target's turn began.
    sent_at: Timestamp,
    /// What was looked up so far, so that no name is looked up twice.
    names: Vec<(String, Resolution)>,
    /// What DNS answered for the listed name, and for another one asked in its stead.
    answers: Vec<(String, DnsAnswers)>,
    /// The failure of the listed name that got furthest.
    failure: Option<Failure>,
    /// What the first try saw, where this is the second.
    earlier: Option<Box<Observation>>,
    /// What the target gave already, where this is an extra look at it.
    probed: Option<(ProbeKind, Box<Observation>)>,
    /// Whether the server took a condition amiss, so that it is asked without.
    asks_plainly: bool,
    /// Where the bytes of the answer came from.
    body_source: BodySource,
}

/// What has to happen next.
#[derive(Debug)]
pub(crate) enum Step {
    /// Look up the host of the journey's URL.
    Resolve(Box<Journey>),
    /// Ask the journey's URL at this address.
    Ask(Box<Journey>, IpAddr),
    /// The target is done.
    Done(Box<Observation>),
}

impl Journey {
    /// Sets out for a target; `today` is the wall clock's reading of `now`.
    pub(crate) fn begin(target: Target, www: Www, now: Instant, today: Timestamp) -> Box<Self> {
        let domain = target.domain.clone();
        let url = robots_url("https", &domain);
        Box::new(Self {
            target,
            domain,
            tries_www: www == Www::Fallback,
            started: now,
            authority: Authority::HttpsApex,
            url,
            chain: Vec::new(),
            hops: Vec::new(),
            sent_at: today,
            names: Vec::new(),
            answers: Vec::new(),
            failure: None,
            earlier: None,
            probed: None,
            asks_plainly: false,
            body_source: BodySource::Fetched,
        })
    }

    /// Sets out once more for a target whose first try failed in passing.
    pub(crate) fn begin_again(earlier: Box<Observation>, www: Www, now: Instant, today: Timestamp) -> Box<Self> {
        let mut journey = Self::begin(earlier.target.clone(), www, now, today);
        journey.earlier = Some(earlier);
        journey
    }

    /// Sets out for an extra look; of the target's two names only the twin is asked where it is the other authority
    /// that is looked at.
    pub(crate) fn begin_probe(
        first: Box<Observation>,
        kind: ProbeKind,
        www: Www,
        now: Instant,
        today: Timestamp,
    ) -> Box<Self> {
        let mut journey = Self::begin(first.target.clone(), www, now, today);
        if kind == ProbeKind::Authority
            && let Some(twin) = journey.domain.twin()
        {
            journey.url = robots_url("https", &twin);
            journey.domain = twin;
            journey.tries_www = false;
        }
        journey.probed = Some((kind, first));
        journey
    }

    /// Whether this is the first try, and no extra look.
    pub(crate) fn is_first_try(&self) -> bool {
        self.earlier.is_none() && self.probed.is_none()
    }

    /// Whether this is the second try of one that failed.
    pub(crate) fn is_second_try(&self) -> bool {
        self.earlier.is_some()
    }

    /// The target's index.
    pub(crate) fn target(&self) -> u32 {
        self.target.index
    }

    /// Whether what is remembered of the target may be a condition of the next request; of an extra look never.
    pub(crate) fn may_recall(&self) -> bool {
        self.probed.is_none() && !self.asks_plainly
    }

    /// Who we say we are.
    pub(crate) fn identity(&self) -> Identity {
        match self.probed {
            Some((ProbeKind::Identity, _)) => Identity::Other,
            _ => Identity::Usual,
        }
    }

    /// Ends without asking further; what a first try saw stands.
    pub(crate) fn abandon(mut self: Box<Self>, cause: Cause, now: Instant) -> Box<Observation> {
        let Self { earlier, probed, .. } = &mut *self;
        if let Some(earlier) = earlier.take().or_else(|| probed.take().map(|(_, first)| first)) {
            return earlier;
        }
        let detail = self.is_redirected().then(|| "after a redirect".to_owned());
        self.end(Ending::Failure(Failure { cause, detail }), now)
    }

    /// The URL to ask next.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// The host to look up next.
    pub(crate) fn host(&self) -> &str {
        self.url.host_str().expect("every URL of a journey has a host")
    }

    /// Whether nothing is known of the target yet.
    pub(crate) fn is_fresh(&self) -> bool {
        self.names.is_empty() && self.failure.is_none() && self.is_first_try()
    }

    /// Whether a request was made for the target already.
    pub(crate) fn has_begun(&self) -> bool {
        !self.hops.is_empty()
    }

    /// Goes on after a look-up.
    pub(crate) fn resolved(mut self: Box<Self>, lookup: Lookup, guard: &Guard, now: Instant) -> Step {
        let host = self.host().to_owned();
        self.answers.push((host, lookup.answers));
        match lookup.result {
            Ok(resolution) => {
                self.names.push((self.host().to_owned(), resolution));
                self.choose_address(guard, now)
            }
            Err(failure) if self.is_redirected() => self.fail(failure, now),
            Err(failure) => {
                let has_no_address = matches!(failure.cause, Cause::DnsNxdomain | Cause::DnsNoAddress);
                match self.authority {
                    Authority::HttpsApex if has_no_address => {
                        self.keep(failure);
                        self.try_www(guard, now)
                    }
                    Authority::HttpsApex | Authority::HttpApex => self.fail(failure, now),
                    Authority::HttpsWww | Authority::HttpWww => self.give_up(now),
                }
            }
        }
    }

    /// Goes on after a request.
    pub(crate) fn answered(mut self: Box<Self>, exchange: Exchange, guard: &Guard, now: Instant) -> Step {
        self.sent_at = exchange.sent_at;
        self.hops.push(exchange.hop);
        self.chain.push(self.url.clone());
        if exchange.condition == Condition::Holds {
            self.body_source = BodySource::NotModified;
        }
        match exchange.result {
            // The answer is to our condition, not to the question, so that this is asked once more.
            Ok(response)
                if exchange.condition == Condition::Sent
                    && matches!(response.status, NOT_MODIFIED | PRECONDITION_FAILED)
                    && self.hops.len() < MAX_REQUESTS =>
            {
                self.chain.pop();
                self.asks_plainly = true;
                self.choose_address(guard, now)
            }
            Ok(response) if matches!(response.status, 301 | 302 | 303 | 307 | 308) => {
                self.follow(&response, guard, now)
            }
            Ok(response) => self.finish(Ending::Response(response), now),
            Err(failure) if self.is_redirected() => self.fail(failure, now),
            Err(failure) => self.turn(failure, guard, now),
        }
    }

    fn is_redirected(&self) -> bool {
        self.chain.iter().any(|asked| *asked != self.url)
    }

    /// Chooses the address to ask: the first one of the answer that may be contacted.
    fn choose_address(self: Box<Self>, guard: &Guard, now: Instant) -> Step {
        let (_, resolution) =
            self.names.iter().find(|(name, _)| name == self.host()).expect("the host has just been looked up");
        match resolution.ips.iter().copied().find(|ip| guard.reach.allows(*ip)) {
            // Another address of the same host is no way around its owner's wish.
            Some(ip) if guard.exclusions.hold_address(ip) && self.is_www() => self.give_up(now),
            Some(ip) if guard.exclusions.hold_address(ip) => self.fail(Cause::OptedOut.into(), now),
            Some(ip) => Step::Ask(self, ip),
            None if self.is_redirected() => self.fail(Cause::RedirectToPrivate.into(), now),
            None if self.is_www() => self.give_up(now),
            None => self.fail(Cause::DnsPrivate.into(), now),
        }
    }

    /// Turns to the next authority after a failure of the present one.
    fn turn(mut self: Box<Self>, failure: Failure, guard: &Guard, now: Instant) -> Step {
        let may_turn = matches!(failure.cause.class(), OutcomeClass::Connect | OutcomeClass::Tls);
        match self.authority {
            Authority::HttpsApex | Authority::HttpApex if !may_turn => self.fail(failure, now),
            Authority::HttpsApex => {
                self.keep(failure);
                let url = robots_url("http", &self.domain);
                self.set_out(Authority::HttpApex, url, guard, now)
            }
            Authority::HttpApex => {
                self.keep(failure);
                self.try_www(guard, now)
            }
            Authority::HttpsWww if may_turn => {
                let www = self.domain.www().expect("the www. twin is being tried, so it exists");
                self.set_out(Authority::HttpWww, robots_url("http", &www), guard, now)
            }
            Authority::HttpsWww | Authority::HttpWww => self.give_up(now),
        }
    }

    fn try_www(self: Box<Self>, guard: &Guard, now: Instant) -> Step {
        match self.domain.www().filter(|_| self.tries_www) {
            Some(www) => self.set_out(Authority::HttpsWww, robots_url("https", &www), guard, now),
            None => self.give_up(now),
        }
    }

    fn set_out(mut self: Box<Self>, authority: Authority, url: Url, guard: &Guard, now: Instant) -> Step {
        self.authority = authority;
        self.chain.clear();
        self.go_to(url, guard, now)
    }

    fn go_to(mut self: Box<Self>, url: Url, guard: &Guard, now: Instant) -> Step {
        self.url = url;
        if self.names.iter().any(|(name, _)| name == self.host()) {
            return self.choose_address(guard, now);
        }
        Step::Resolve(self)
    }

    fn follow(self: Box<Self>, response: &Response, guard: &Guard, now: Instant) -> Step {
        let Some(location) = response.header("location") else {
            return self.fail(Cause::RedirectNoLocation.into(), now);
        };
        let next = match read_location(&self.url, location) {
            Ok(next) => next,
            Err(cause) => return self.fail(cause.into(), now),
        };
        if self.chain.contains(&next) {
            return self.fail(Cause::RedirectLoop.into(), now);
        }
        if self.chain.len() > MAX_REDIRECTS {
            return self.fail(Cause::RedirectLimit.into(), now);
        }
        // Before the authority changed, this URL may have been asked and have failed; it is not asked a second time.
        if let Some(cause) = self.hops.iter().find(|hop| hop.url == next.as_str()).and_then(|hop| hop.failure) {
            return self.fail(cause.into(), now);
        }
        if self.hops.len() >= MAX_REQUESTS {
            let detail = Some(format!("{MAX_REQUESTS} requests"));
            return self.fail(Failure { cause: Cause::RedirectLimit, detail }, now);
        }
        self.go_to(next, guard, now)
    }

    /// Keeps the failure of the listed name that got furthest; of two that got equally far, the first.
    fn keep(&mut self, failure: Failure) {
        let is_further = self.failure.as_ref().is_none_or(|kept| failure.cause.class() > kept.cause.class());
        if is_further {
            self.failure = Some(failure);
        }
    }

    /// Ends with the listed name's own failure: its `www.` twin did not answer either.
    fn give_up(self: Box<Self>, now: Instant) -> Step {
        let failure = self.failure.clone().expect("the twin is tried only after a failure");
        self.finish(Ending::Failure(failure), now)
    }

    fn fail(mut self: Box<Self>, mut failure: Failure, now: Instant) -> Step {
        if self.is_redirected() && failure.cause.class() != OutcomeClass::Redirect {
            failure.detail = Some(match failure.detail {
                Some(detail) => format!("after a redirect: {detail}"),
                None => "after a redirect".to_owned(),
            });
            return self.finish(Ending::Failure(failure), now);
        }
        self.keep(failure.clone());
        let ending = match failure.cause.class() {
            OutcomeClass::Redirect => failure,
            _ => self.failure.clone().expect("a failure was just kept"),
        };
        self.finish(Ending::Failure(ending), now)
    }

    fn finish(self: Box<Self>, ending: Ending, now: Instant) -> Step {
        Step::Done(self.end(ending, now))
    }

    fn end(mut self: Box<Self>, ending: Ending, now: Instant) -> Box<Observation> {
        if let Some((kind, mut first)) = self.probed.take() {
            if let Some(asking) = &mut first.asking {
                asking.probes.push(Probe { kind, ending });
            }
            return first;
        }
        let has_answered = self.hops.last().is_some_and(|hop| hop.status.is_some()) || self.is_redirected();
        // The columns speak of the name that was asked; where nothing answered, that is the listed one.
        let asked = match (self.is_www(), self.domain.www(), &ending) {
            (true, Some(www), Ending::Response(_)) => www,
            (true, Some(www), Ending::Failure(_)) if has_answered => www,
            _ => self.domain.clone(),
        };
        let resolution = self.names.into_iter().find(|(name, _)| name == asked.as_str()).map(|(_, found)| found);
        let resolution = resolution.unwrap_or_default();
        let answers = self.answers.into_iter().find(|(name, _)| name == asked.as_str()).map(|(_, answers)| answers);
        let mut hops = self.earlier.and_then(|earlier| earlier.asking).map_or_else(Vec::new, |asking| asking.hops);
        hops.extend(self.hops);
        Box::new(Observation {
            target: self.target,
            capture_index: 0,
            fetched_at: Some(self.sent_at),
            asking: Some(Asking {
                elapsed: now - self.started,
                hops,
                authority: has_answered.then_some(self.authority),
                resolved_ips: resolution.ips,
                dns_cname: resolution.cname,
                dns: answers.unwrap_or_default(),
                probes: Vec::new(),
            }),
            ending,
            body_source: self.body_source,
            past: Past::default(),
        })
    }

    fn is_www(&self) -> bool {
        matches!(self.authority, Authority::HttpsWww | Authority::HttpWww)
    }
}

/// Whether an ending may be otherwise a little later: a time-out, a reset, a server's own error, a request for fewer.
pub(crate) fn is_transient(ending: &Ending) -> bool {
    match ending {
        Ending::Response(response) => matches!(response.status, 429 | 500..=599),
        Ending::Failure(failure) => failure.cause.is_transient(),
    }
}

fn robots_url(scheme: &str, domain: &Domain) -> Url {
    Url::parse(&format!("{scheme}://{domain}/robots.txt")).expect("a Domain is a host that URLs accept")
}

/// Whether a name could be asked for at all: labels of 1 to 63 bytes, 253 in all (RFC 1035, section 2.3.4).
fn fits_a_query(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.len() <= 253 && name.split('.').all(|label| (1..=63).contains(&label.len()))
}

/// Where a redirect leads, or why it is not followed.
fn read_location(base: &Url, location: &str) -> Result<Url, Cause> {
    // Header values were read as Latin-1; servers that send raw UTF-8 mean UTF-8 (RFC 9110, section 10.2.2 aside).
    let bytes: Vec<u8> = location.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect();
    let mut next = base.join(&String::from_utf8_lossy(&bytes)).map_err(|_| Cause::RedirectBadLocation)?;
    if !matches!(next.scheme(), "http" | "https") {
        return Err(Cause::RedirectOtherScheme);
    }
    match next.host() {
        Some(Host::Domain(name)) if fits_a_query(name) => {}
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => return Err(Cause::RedirectToIp),
        _ => return Err(Cause::RedirectBadLocation),
    }
    if next.port().is_some() {
        return Err(Cause::RedirectOtherPort);
    }
    next.set_fragment(None);
    // Neither can fail: the URL has a host.
    let _ = next.set_username("");
    let _ = next.set_password(None);
    Ok(next)
}

#[cfg(test)]
mod tests;
