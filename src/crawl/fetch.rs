//! One request: one address, one connection, one response or one cause.
//!
//! reqwest is used without its comforts, each of which would hide something that the survey must see or count: no
//! pool, no redirects, no retries, no proxy, no decompression, HTTP/1.1 only. The address is pinned for each request
//! through a task-local, so that the name is never looked up a second time.

use std::cell::RefCell;
use std::future::ready;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use jiff::Timestamp;
use reqwest::dns::{Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONNECTION, FROM, HeaderMap, HeaderValue, USER_AGENT};
use reqwest::redirect::Policy;
use reqwest::tls::{TlsInfo, Version};
use rustls::RootCertStore;
use tokio::time::{Instant, timeout_at};
use url::{Host, Url};

use super::body::Body;
use super::failure::{Fault, Phase, explain_request, is_unclean_end, timed_out};
use super::reach::Reach;
use super::tls::{RECORD, Record, client_config};
use crate::observation::{Failure, Hop, HttpVersion, Response, TlsVersion};
use crate::outcome::Cause;

/// How requests are made.
#[derive(Clone, Debug)]
pub struct FetchSettings {
    /// Sent as `User-Agent`.
    pub user_agent: String,
    /// Sent instead where a probe asks as somebody else, who is still us.
    pub other_user_agent: String,
    /// Sent as `From`, where the contact is a mail address.
    pub from: Option<String>,
    /// Decoded bytes of a body that are kept.
    pub max_body: usize,
    /// For the TCP connection and the TLS handshake together.
    pub connect_timeout: Duration,
    /// Between two pieces of a response.
    pub read_timeout: Duration,
    /// For the whole request.
    pub total_timeout: Duration,
}

/// Who we say we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// By the user agent of the run.
    Usual,
    /// By the other one.
    Other,
}

/// What one request brought.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    /// When it was sent, by the wall clock.
    pub(crate) sent_at: Timestamp,
    /// The request, as the table records it.
    pub(crate) hop: Hop,
    /// The response, whatever its status, or why there is none.
    pub(crate) result: Result<Response, Failure>,
}

/// Makes requests.
#[derive(Clone, Debug)]
pub(crate) struct Fetcher {
    v4: reqwest::Client,
    v6: reqwest::Client,
    settings: Arc<FetchSettings>,
    reach: Arc<Reach>,
}

tokio::task_local! {
    /// The only address that the current task's request may connect to.
    static PIN: SocketAddr;
}

/// More than any honest response has; the default of 100 is not.
const MAX_HEADERS: usize = 512;

impl Fetcher {
    pub(crate) fn new(settings: FetchSettings, reach: Arc<Reach>, roots: RootCertStore) -> anyhow::Result<Self> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("text/plain,*/*;q=0.8"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        if let Some(from) = &settings.from {
            headers.insert(FROM, HeaderValue::from_str(from).with_context(|| format!("the contact {from:?}"))?);
        }
        let config = client_config(roots)?;
        let client = |source: Option<IpAddr>| {
            reqwest::Client::builder()
                .tls_backend_preconfigured(config.clone())
                .tls_info(true)
                .dns_resolver(Arc::new(Pinned))
                .pool_max_idle_per_host(0)
                .http1_only()
                .http1_max_headers(MAX_HEADERS)
                .http1_ignore_invalid_headers_in_responses(true)
                .http1_allow_spaces_after_header_name_in_responses(true)
                .http1_allow_obsolete_multiline_headers_in_responses(true)
                .redirect(Policy::none())
                .referer(false)
                .retry(reqwest::retry::never())
                .no_proxy()
                // A connection lives for one request, whose time limits are ours.
                .tcp_keepalive(None)
                .tcp_keepalive_interval(None)
                .tcp_keepalive_retries(None)
                .tcp_user_timeout(None)
                .connect_timeout(settings.connect_timeout)
                .user_agent(&settings.user_agent)
                .default_headers(headers.clone())
                .local_address(source)
        };
        let (v4, v6) = match &*reach {
            Reach::Internet => (client(None), client(None)),
            Reach::Rehearsal(_) => {
                let (v4, v6) = (client(Some(Ipv4Addr::LOCALHOST.into())), client(Some(Ipv6Addr::LOCALHOST.into())));
                // Linux lets packets from ::1 out by any device, so that the device is bound too.
                #[cfg(target_os = "linux")]
                let v6 = v6.interface("lo");
                (v4, v6)
            }
        };
        let building = "setting up the HTTP client";
        let (v4, v6) = (v4.build().context(building)?, v6.build().context(building)?);
        Ok(Self { v4, v6, settings: Arc::new(settings), reach })
    }

    /// The client for the address that will be dialled: the pinned one, or an IP literal, should one ever come so far.
    ///
    /// In a rehearsal each is bound to loopback, so that the kernel refuses whatever the guard might let through.
    fn client(&self, url: &Url) -> &reqwest::Client {
        let is_v6 = match url.host() {
            Some(Host::Ipv4(_)) => false,
            Some(Host::Ipv6(_)) => true,
            Some(Host::Domain(_)) | None => PIN.with(SocketAddr::is_ipv6),
        };
        if is_v6 { &self.v6 } else { &self.v4 }
    }

    /// Asks for one URL at one address.
    ///
    /// The URL's host must be a name; the caller has refused IP literals, which would bypass the pin.
    pub(crate) async fn ask(&self, url: &Url, ip: IpAddr, identity: Identity) -> Result<Exchange, Fault> {
        let address = self
            .reach
            .dial(ip, url.scheme() == "https")
            .expect("the journey asks only addresses that the reach allows");
        let sent_at = Timestamp::now();
        let started = Instant::now();
        let mut hop = Hop {
            url: url.to_string(),
            ip: Some(ip),
            status: None,
            failure: None,
            tls_verdict: None,
            tls_version: None,
            http_version: None,
            elapsed: Duration::ZERO,
        };
        let request = async {
            let result = self.exchange(url, identity, started, &mut hop).await;
            let record = RECORD.with(|record| *record.borrow());
            (result, record)
        };
        let (result, record) = RECORD.scope(RefCell::new(Record::default()), PIN.scope(address, request)).await;
        let result = match result {
            Ok(response) => Ok(response),
            Err(Stop::Failure(failure)) => Err(failure),
            Err(Stop::Fault(fault)) => return Err(fault),
        };
        hop.tls_verdict = record.verdict;
        hop.failure = result.as_ref().err().map(|failure| failure.cause);
        hop.elapsed = started.elapsed();
        Ok(Exchange { sent_at, hop, result })
    }

    async fn exchange(&self, url: &Url, identity: Identity, started: Instant, hop: &mut Hop) -> Result<Response, Stop> {
        let deadline = started + self.settings.total_timeout;
        let mut request = self.client(url).get(url.clone());
        if identity == Identity::Other {
            request = request.header(USER_AGENT, &self.settings.other_user_agent);
        }
        let sending = timeout_at(deadline, request.send());
        let mut response = match sending.await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(stop(&error, sending_phase(&error, url))),
            Err(_) => return Err(Stop::Failure(Cause::HttpTimeout.into())),
        };
        hop.status = Some(response.status().as_u16());
        hop.http_version = http_version(response.version());
        hop.tls_version = response.extensions().get::<TlsInfo>().and_then(TlsInfo::version).and_then(tls_version);
        let headers = header_list(response.headers());
        let mut body = Body::new(&headers, self.settings.max_body).map_err(Stop::Failure)?;
        let mut may_be_cut = false;
        loop {
            let patience = Instant::now() + self.settings.read_timeout;
            let chunk = match timeout_at(deadline.min(patience), response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => break,
                Ok(Err(error)) if has_no_length(&headers) && is_unclean_end(&error) => {
                    may_be_cut = true;
                    break;
                }
                Ok(Err(error)) => return Err(stop(&error, Phase::Body)),
                // The server was still sending when the whole time was over: not silent, but too slow.
                Err(_) if deadline < patience => return Err(Stop::Failure(Cause::HttpTooSlow.into())),
                Err(_) => return Err(Stop::Failure(Cause::HttpTimeout.into())),
            };
            body.push(&chunk).map_err(Stop::Failure)?;
            if body.is_full() {
                break;
            }
        }
        let wire_bytes = body.wire_bytes();
        let (bytes, is_truncated) = body.finish().map_err(Stop::Failure)?;
        Ok(Response {
            url: url.to_string(),
            status: response.status().as_u16(),
            headers,
            body: bytes.into(),
            is_truncated: is_truncated || may_be_cut,
            wire_bytes: Some(wire_bytes),
        })
    }
}

/// Why an exchange stopped without a response.
enum Stop {
    Failure(Failure),
    Fault(Fault),
}

fn stop(error: &reqwest::Error, phase: Phase) -> Stop {
    // Only a limit of our own has this marker; its word depends on the phase alone.
    if error.is_timeout() {
        return Stop::Failure(timed_out(phase).into());
    }
    match explain_request(error, phase) {
        Ok(failure) => Stop::Failure(failure),
        Err(fault) => Stop::Fault(fault),
    }
}

/// How far a request had come that failed before its response's head.
fn sending_phase(error: &reqwest::Error, url: &Url) -> Phase {
    let record = RECORD.with(|record| *record.borrow());
    match (error.is_connect(), record.has_started) {
        (true, true) => Phase::Tls,
        (true, false) => Phase::Connect,
        // A handshake that breaks after the certificate shows up on the first write of the request.
        (false, false) if url.scheme() == "https" => Phase::Tls,
        (false, _) => Phase::Head,
    }
}

/// Whether only the end of the connection tells where the body ends (RFC 9112, section 6.3, item 8).
fn has_no_length(headers: &[(String, String)]) -> bool {
    !headers.iter().any(|(name, _)| name == "content-length" || name == "transfer-encoding")
}

/// A resolver that never looks anything up: it gives the one address that the current request was pinned to.
struct Pinned;

impl Resolve for Pinned {
    fn resolve(&self, name: Name) -> Resolving {
        let pinned = PIN.try_with(|address| *address);
        Box::pin(ready(match pinned {
            Ok(address) => Ok(Box::new(std::iter::once(address)) as reqwest::dns::Addrs),
            Err(_) => Err(format!("{} was not pinned to an address", name.as_str()).into()),
        }))
    }
}

fn header_list(headers: &HeaderMap) -> Vec<(String, String)> {
    let latin1 = |value: &HeaderValue| value.as_bytes().iter().copied().map(char::from).collect();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), latin1(value))).collect()
}

fn http_version(version: reqwest::Version) -> Option<HttpVersion> {
    match version {
        reqwest::Version::HTTP_10 => Some(HttpVersion::Http10),
        reqwest::Version::HTTP_11 => Some(HttpVersion::Http11),
        reqwest::Version::HTTP_2 => Some(HttpVersion::Http2),
        _ => None,
    }
}

fn tls_version(version: Version) -> Option<TlsVersion> {
    match version {
        Version::TLS_1_2 => Some(TlsVersion::Tls12),
        Version::TLS_1_3 => Some(TlsVersion::Tls13),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
