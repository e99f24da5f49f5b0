//! What was seen for one target at one time, kept apart from what it means.
//!
//! The observation is the hinge of the program: the live crawl, archives and the bodies of older snapshots all become
//! [`Observation`]s, and one classifier serves them.
//!
//! Touches nothing. Deliberately absent: robots.txt syntax, agents, Arrow, serialisation.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use jiff::fmt::rfc2822;

use crate::domain::Target;
use crate::outcome::Cause;

/// What was seen for one target at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Who was asked.
    pub target: Target,
    /// 0, or the number of this capture of the target in an archive.
    pub capture_index: u32,
    /// When the deciding request was sent, or the capture's date.
    pub fetched_at: Option<Timestamp>,
    /// How it was asked; nothing where an archive cannot know.
    pub asking: Option<Asking>,
    /// How it ended.
    pub ending: Ending,
    /// Where the body came from.
    pub body_source: BodySource,
    /// What was known of the target before.
    pub past: Past,
}

impl Observation {
    /// The last response, if one came.
    pub fn response(&self) -> Option<&Response> {
        match &self.ending {
            Ending::Response(response) => Some(response),
            Ending::Failure(_) => None,
        }
    }

    /// The failure, if no response could be taken as the answer.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.ending {
            Ending::Response(_) => None,
            Ending::Failure(failure) => Some(failure),
        }
    }
}

/// What was known of a target before it was seen this time: its memory of failures (RFC 9309, section 2.3.1.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// Since when every look has failed to tell anything of its file; nothing where the last one did tell.
    pub unreachable_since: Option<Timestamp>,
    /// The last file that was read, unless the server has said since that there is none for us.
    pub last_good: Option<LastGood>,
}

/// A file that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastGood {
    /// When it was last known to be current.
    pub at: Timestamp,
    /// SHA-256 of the decoded bytes kept.
    pub sha256: [u8; 32],
}

/// How one target was asked over the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Asking {
    /// From the first look-up to the last byte, waiting for the server's turn included.
    pub elapsed: Duration,
    /// Every request in order, fallbacks and redirects included.
    pub hops: Vec<Hop>,
    /// Which authority the deciding request started from.
    pub authority: Option<Authority>,
    /// Addresses of the name that was asked, as DNS gave them.
    pub resolved_ips: Vec<IpAddr>,
    /// The last canonical name, where the asked name is an alias.
    pub dns_cname: Option<String>,
    /// What DNS answered for that name, type by type.
    pub dns: DnsAnswers,
    /// Extra looks at the same target.
    pub probes: Vec<Probe>,
}

/// What DNS answered for one name; nothing for a type that was not asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DnsAnswers {
    /// For IPv4 addresses.
    pub a: Option<DnsAnswer>,
    /// For IPv6 addresses.
    pub aaaa: Option<DnsAnswer>,
}

/// An extra look at a target, which is never its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// How it differs from the first look.
    pub kind: ProbeKind,
    /// How it ended.
    pub ending: Ending,
}

/// One request and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Hop {
    /// The URL asked for.
    pub url: String,
    /// The address that was contacted; known also where the contact failed.
    pub ip: Option<IpAddr>,
    /// Status of the response.
    pub status: Option<u16>,
    /// Why there is no usable response.
    pub failure: Option<Cause>,
    /// What the certificate was worth; nothing where no certificate was seen.
    pub tls_verdict: Option<TlsVerdict>,
    /// Version of TLS spoken.
    pub tls_version: Option<TlsVersion>,
    /// Version of HTTP in the response.
    pub http_version: Option<HttpVersion>,
    /// From the start of the connection to the last byte read.
    pub elapsed: Duration,
}

/// How the asking ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// A response that is the target's answer.
    Response(Response),
    /// No such response.
    Failure(Failure),
}

/// The HTTP response that is the target's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The URL that gave it.
    pub url: String,
    /// Its status.
    pub status: u16,
    /// All header fields in order, names in lower case, values with bytes outside ASCII read as Latin-1.
    pub headers: Vec<(String, String)>,
    /// The decoded body, cut at the limit.
    pub body: Bytes,
    /// Whether more was, or may have been, on offer than was kept.
    pub is_truncated: bool,
    /// Bytes of the body on the wire, where they were counted.
    pub wire_bytes: Option<u64>,
}

impl Response {
    /// The first header field of that name (given in lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// By what its server can be asked whether it still holds; of a plain success only.
    pub fn validators(&self) -> Option<Validators> {
        let field = |name| self.header(name).map(str::trim);
        let etag = field("etag").filter(|tag| is_one_tag(tag));
        // A server must pay no heed to a date that is none, and some then answer as if there were no condition.
        let last_modified = field("last-modified").filter(|date| rfc2822::parse(date).is_ok());
        let validators = Validators { etag: etag.map(str::to_owned), last_modified: last_modified.map(str::to_owned) };
        (self.status == 200 && (etag.is_some() || last_modified.is_some())).then_some(validators)
    }
}

/// By what a server can tell whether its answer is still the same (RFC 9110, section 8.8); values as received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validators {
    /// The entity tag.
    pub etag: Option<String>,
    /// When it was last modified.
    pub last_modified: Option<String>,
}

/// A longer one is not sent back.
const LONGEST_TAG: usize = 1024;

/// Whether a value can be sent back as one entity tag. Some servers forget the quotes, and know their tag without them.
fn is_one_tag(value: &str) -> bool {
    let bare = value.trim_start_matches("W/");
    let bare = bare.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')).unwrap_or(bare);
    let is_plain = |c: char| matches!(c, '\u{21}' | '\u{23}'..='\u{7e}' | '\u{80}'..='\u{ff}');
    // A star would match whatever the server has, and a comma outside quotes would make two tags of one.
    let is_quoted = value.ends_with('"');
    !bare.is_empty()
        && value.len() <= LONGEST_TAG
        && bare.chars().all(is_plain)
        && (is_quoted || !bare.contains([',', '*']))
}

/// Why there is no response, with what a reader would want to know beside the word.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The word.
    pub cause: Cause,
    /// Short and normalised: no addresses, no times, so that equal failures compare equal.
    pub detail: Option<String>,
}

impl From<Cause> for Failure {
    fn from(cause: Cause) -> Self {
        Self { cause, detail: None }
    }
}

crate::words! {
    /// Which authority answered; the apex is the listed name itself.
    pub enum Authority {
        /// `https://` and the listed name.
        HttpsApex = "https-apex",
        /// `http://` and the listed name.
        HttpApex = "http-apex",
        /// `https://www.` and the listed name.
        HttpsWww = "https-www",
        /// `http://www.` and the listed name.
        HttpWww = "http-www",
    }
}

crate::words! {
    /// What DNS answered for one type of record.
    pub enum DnsAnswer {
        /// At least one address.
        Addresses = "addresses",
        /// The name exists and has none (NODATA).
        NoAddress = "no-address",
        /// The name does not exist.
        Nxdomain = "nxdomain",
        /// SERVFAIL.
        Servfail = "servfail",
        /// REFUSED, or another error code.
        Refused = "refused",
        /// Nothing in time.
        Timeout = "timeout",
        /// No message that could be read.
        Malformed = "malformed",
    }
}

crate::words! {
    /// How an extra look at a target differs from the first one.
    pub enum ProbeKind {
        /// The same again, later: what differs is noise.
        Repeat = "repeat",
        /// The `www.` twin of the listed name, or the name without its `www.`
        Authority = "authority",
        /// The same with another honest user agent string of ours.
        Identity = "identity",
        /// The same at once without a condition, where status 304 gave the answer: whether the validator tells the truth.
        Unconditional = "unconditional",
    }
}

crate::words! {
    /// Where the bytes of the body came from.
    pub enum BodySource {
        /// The server sent them for this snapshot.
        Fetched = "fetched",
        /// The server said that the earlier snapshot's bytes still hold (status 304).
        NotModified = "not-modified",
        /// The earlier snapshot's bytes were younger than the maximum age; nobody was asked.
        Fresh = "fresh",
        /// An archive held them.
        Archive = "archive",
    }
}

crate::words! {
    /// What a server's certificate was worth to a careful client.
    pub enum TlsVerdict {
        /// The chain leads to a trusted root and the name matches.
        Verified = "verified",
        /// Its time is over.
        Expired = "expired",
        /// Its time has not come.
        NotYetValid = "not-yet-valid",
        /// It is for another name.
        NameMismatch = "name-mismatch",
        /// No chain to a trusted root: self-signed, private, or without its intermediates.
        UnknownIssuer = "unknown-issuer",
        /// It was revoked.
        Revoked = "revoked",
        /// It could not be verified for another reason.
        Invalid = "invalid",
    }
}

crate::words! {
    /// Version of TLS.
    pub enum TlsVersion {
        /// TLS 1.2 (RFC 5246).
        Tls12 = "1.2",
        /// TLS 1.3 (RFC 8446).
        Tls13 = "1.3",
    }
}

crate::words! {
    /// Version of HTTP.
    pub enum HttpVersion {
        /// HTTP/1.0.
        Http10 = "1.0",
        /// HTTP/1.1.
        Http11 = "1.1",
        /// HTTP/2.
        Http2 = "2",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn validators_are_what_can_be_sent_back_as_it_is() {
        let of = |fields: &[(&str, &str)], status| {
            let headers = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let (body, url) = (Bytes::new(), String::new());
            let response = Response { url, status, headers, body, is_truncated: false, wire_bytes: None };
            response.validators().map(|validators| (validators.etag, validators.last_modified))
        };
        let date = "Mon, 30 Nov 2026 12:01:30 GMT";
        let both = Some((Some("\"a,b\"".to_owned()), Some(date.to_owned())));
        assert_eq!(of(&[("etag", "\"a,b\""), ("last-modified", date)], 200), both);
        assert_eq!(of(&[("etag", "\"a\"")], 404), None);
        for etag in ["W/\"a\"", "abc", "\"*\""] {
            assert_eq!(of(&[("etag", etag)], 200), Some((Some(etag.to_owned()), None)), "{etag}");
        }
        for etag in ["*", "", "\"\"\"", "a, b", "\"a", "a\"b", "W/*"] {
            assert_eq!(of(&[("etag", etag), ("last-modified", "soon")], 200), None, "{etag}");
        }
    }
}
