//! How the target was asked and how that ended; null where an archive cannot know.

use std::borrow::Cow;
use std::time::Duration;

use url::Url;

use super::target::registrable_domain;
use crate::classify::{Look, Row};
use crate::fronts::front_of;
use crate::observation::{Authority, BodySource, Hop, HttpVersion, TlsVerdict, TlsVersion};
use crate::outcome::{Cause, Effect, OutcomeClass};
use crate::table::Column;
use crate::table::column::{Cell, ItemsOf};

pub(super) fn columns() -> impl Iterator<Item = Column> {
    request().into_iter().chain(network()).chain(ending()).chain(response())
}

fn request() -> [Column; 8] {
    [
        Column::new(
            "fetched_at",
            "When the deciding request was sent, or the date of the capture; where the body is `fresh`, the request of the \
             earlier snapshot.",
            Cell::Time(|row| row.observation.fetched_at),
        ),
        Column::new(
            "elapsed_ms",
            "Milliseconds from the first look-up of the deciding try to its last byte, waiting for the server's turn \
             included.",
            Cell::I32(|row| row.observation.asking.as_ref().map(|asking| millis(asking.elapsed))),
        ),
        Column::new(
            "attempts",
            "Requests sent for this row, redirects and fallbacks included; connections that failed count. 0 where the body \
             is `fresh`.",
            Cell::I32(attempts),
        ),
        Column::new(
            "requested_url",
            "The first URL asked for.",
            Cell::Text(|row| hops(row).and_then(<[Hop]>::first).map_or_else(|| response_url(row), hop_url)),
        ),
        Column::new(
            "final_url",
            "The last URL asked for, after redirects and fallbacks.",
            Cell::Text(|row| response_url(row).or_else(|| last_hop(row, hop_url))),
        ),
        Column::new(
            "authority",
            "Which authority the deciding request started from; the apex is the listed name itself.",
            Cell::Word(|row| row.observation.asking.as_ref()?.authority.map(Authority::word)),
        ),
        Column::new("hops", "Every request in order, fallbacks and redirects included.", Cell::Items(&HOPS)),
        Column::new(
            "redirected_off_site",
            "Whether the last request went to another registrable domain than the target's.",
            Cell::Flag(redirected_off_site),
        ),
    ]
}

fn network() -> [Column; 9] {
    [
        Column::new(
            "resolved_ips",
            "Addresses of the name that was asked, as DNS gave them.",
            Cell::Texts(|row| {
                let asking = row.observation.asking.as_ref()?;
                Some(asking.resolved_ips.iter().map(|ip| Cow::Owned(ip.to_string())).collect())
            }),
        ),
        Column::new(
            "dns_cname",
            "The last canonical name, where the asked name is an alias.",
            Cell::Text(|row| row.observation.asking.as_ref()?.dns_cname.as_deref().map(Cow::Borrowed)),
        ),
        Column::new(
            "dns_a",
            "What DNS answered for IPv4 addresses of that name: `addresses`, `no-address`, `nxdomain`, `servfail`, \
             `refused`, `timeout`, `malformed`.",
            Cell::Word(|row| Some(row.observation.asking.as_ref()?.dns.a?.word())),
        ),
        Column::new(
            "dns_aaaa",
            "The same for IPv6 addresses; null where they were not asked for.",
            Cell::Word(|row| Some(row.observation.asking.as_ref()?.dns.aaaa?.word())),
        ),
        Column::new(
            "server_ip",
            "The address that gave the last HTTP answer.",
            Cell::Text(|row| last_hop(row, |hop| hop.status.and(hop.ip)).map(|ip| Cow::Owned(ip.to_string()))),
        ),
        Column::new(
            "front",
            "CDN or hoster of that address, by its published prefixes.",
            Cell::Word(|row| {
                let front = front_of(last_hop(row, |hop| hop.status.and(hop.ip))?)?;
                Some(front.name.as_str())
            }),
        ),
        Column::new(
            "http_version",
            "Version of HTTP in the last answer.",
            Cell::Word(|row| last_hop(row, |hop| hop.http_version).map(HttpVersion::word)),
        ),
        Column::new(
            "tls_version",
            "Version of TLS last spoken.",
            Cell::Word(|row| last_hop(row, |hop| hop.tls_version).map(TlsVersion::word)),
        ),
        Column::new(
            "tls_verdict",
            "What the last certificate seen was worth to a careful client; null where none was seen.",
            Cell::Word(|row| last_hop(row, |hop| hop.tls_verdict).map(TlsVerdict::word)),
        ),
    ]
}

fn ending() -> [Column; 10] {
    [
        Column::required(
            "outcome",
            "What happened, one word of a closed list (`survey outcomes`).",
            Cell::Word(|row| Some(row.outcome.word())),
        ),
        Column::required(
            "outcome_class",
            "The class of the outcome; denominators are made of classes.",
            Cell::Word(|row| Some(OutcomeClass::word(row.outcome.class()))),
        ),
        Column::new(
            "failure_detail",
            "What stands behind a failure, short and normalised, so that equal failures compare equal.",
            Cell::Text(|row| row.observation.failure()?.detail.as_deref().map(Cow::Borrowed)),
        ),
        Column::new("status", "The last HTTP status.", Cell::I32(status)),
        Column::required(
            "effect_rfc",
            "What a crawler that follows RFC 9309 to the letter derives from the outcome; a file that was unreachable for 30 \
             days is then one that is not there (2.3.1.4).",
            Cell::Word(|row| Some(Effect::word(row.effect_rfc()))),
        ),
        Column::required(
            "effect_google",
            "What a crawler that follows Google's documentation derives from the outcome; of a failure that lasts for 12 \
             hours or more, `by-rules` means those of the last good file.",
            Cell::Word(|row| Some(Effect::word(row.effect_google()))),
        ),
        Column::new(
            "unreachable_since",
            "Since when each look over the snapshots of the list failed to tell of the file: server and network errors, \
             and requests for fewer; null where this one did not.",
            Cell::Time(|row| row.past_after().unreachable_since),
        ),
        Column::new(
            "last_good_at",
            "When the last good file was last known to be current: the row's own, or where it has none that of an \
             earlier snapshot; null once the server says that there is none for us.",
            Cell::Time(|row| row.past_after().last_good.map(|good| good.at)),
        ),
        Column::new(
            "last_good_sha256",
            "SHA-256 of that file's decoded bytes, by which it is found in the earlier snapshot.",
            Cell::Sha(Row::last_good_sha256),
        ),
        Column::new(
            "retry_after_s",
            "Seconds of the Retry-After header, where it gives seconds; a date is left to `headers`.",
            Cell::I64(|row| delta_seconds(header(row, "retry-after")?)),
        ),
    ]
}

fn response() -> [Column; 7] {
    [
        Column::new(
            "etag",
            "The ETag header of the answer, as received.",
            Cell::Text(|row| header(row, "etag").map(Cow::Borrowed)),
        ),
        Column::new(
            "last_modified",
            "The Last-Modified header of the answer, as received.",
            Cell::Text(|row| header(row, "last-modified").map(Cow::Borrowed)),
        ),
        Column::new(
            "server",
            "The Server header of the answer, as received.",
            Cell::Text(|row| header(row, "server").map(Cow::Borrowed)),
        ),
        Column::new(
            "content_type",
            "The Content-Type header of the answer, as received.",
            Cell::Text(|row| header(row, "content-type").map(Cow::Borrowed)),
        ),
        Column::new(
            "content_encoding",
            "The Content-Encoding header of the answer, as received.",
            Cell::Text(|row| header(row, "content-encoding").map(Cow::Borrowed)),
        ),
        Column::new("headers", "All header fields of the answer, in order.", Cell::Items(&HEADERS)),
        Column::new("probes", "Extra looks at the same target, and what they changed.", Cell::Items(&PROBES)),
    ]
}

static HOPS: ItemsOf<Row, Hop> = ItemsOf {
    items: hops,
    fields: &[
        Column::required("url", "The URL asked for.", Cell::Text(hop_url)),
        Column::new(
            "ip",
            "The address that was contacted.",
            Cell::Text(|hop| hop.ip.map(|ip| Cow::Owned(ip.to_string()))),
        ),
        Column::new("status", "Status of the response.", Cell::I32(|hop| hop.status.map(i32::from))),
        Column::new("failure", "Why there is no usable response.", Cell::Word(|hop| hop.failure.map(Cause::word))),
        Column::new(
            "tls_verdict",
            "What the certificate was worth; null where none was seen.",
            Cell::Word(|hop| hop.tls_verdict.map(TlsVerdict::word)),
        ),
        Column::required(
            "elapsed_ms",
            "Milliseconds from the start of the connection to the last byte read.",
            Cell::I32(|hop| Some(millis(hop.elapsed))),
        ),
    ],
};

static HEADERS: ItemsOf<Row, (String, String)> = ItemsOf {
    items: |row| row.observation.response().map(|response| response.headers.as_slice()),
    fields: &[
        Column::required("name", "Name of the field, in lower case.", Cell::Text(|(name, _)| Some(name.into()))),
        Column::required(
            "value",
            "Its value, bytes outside ASCII read as Latin-1.",
            Cell::Text(|(_, value)| Some(value.into())),
        ),
    ],
};

static PROBES: ItemsOf<Row, Look> = ItemsOf {
    items: |row| (!row.looks.is_empty()).then_some(row.looks.as_slice()),
    fields: &[
        Column::required(
            "kind",
            "What kind of look: `repeat`, `authority` (the www or apex twin), `identity` (another honest user agent), \
             `unconditional`.",
            Cell::Word(|look| Some(look.kind.word())),
        ),
        Column::required(
            "outcome",
            "What happened, a word of the outcomes.",
            Cell::Word(|look| Some(look.outcome.word())),
        ),
        Column::new("body_sha256", "SHA-256 of the bytes it got.", Cell::Sha(|look| look.body_sha256.as_ref())),
        Column::new(
            "verdicts_changed",
            "Whether any verdict differs from the row's; null where one of the two looks brought none.",
            Cell::Flag(|look| look.has_changed_verdicts),
        ),
    ],
};

fn hops(row: &Row) -> Option<&[Hop]> {
    row.observation.asking.as_ref().map(|asking| asking.hops.as_slice())
}

/// What the last hop that knows it says.
fn last_hop<'a, V>(row: &'a Row, value: impl Fn(&'a Hop) -> Option<V>) -> Option<V> {
    hops(row)?.iter().rev().find_map(value)
}

fn attempts(row: &Row) -> Option<i32> {
    match hops(row) {
        Some(hops) => Some(super::count(hops.iter().filter(|hop| hop.ip.is_some()).count())),
        None => (row.observation.body_source == BodySource::Fresh).then_some(0),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the shape of a cell's function")]
fn hop_url(hop: &Hop) -> Option<Cow<'_, str>> {
    Some(Cow::Borrowed(&hop.url))
}

fn response_url(row: &Row) -> Option<Cow<'_, str>> {
    row.observation.response().map(|response| Cow::Borrowed(response.url.as_str()))
}

fn status(row: &Row) -> Option<i32> {
    let answered = row.observation.response().map(|response| response.status);
    answered.or_else(|| last_hop(row, |hop| hop.status)).map(i32::from)
}

fn header<'a>(row: &'a Row, name: &str) -> Option<&'a str> {
    row.observation.response()?.header(name)
}

/// Compares sites, not names: a target that is itself a public suffix is the site of all names below it.
fn redirected_off_site(row: &Row) -> Option<bool> {
    let url = Url::parse(&hops(row)?.last()?.url).ok()?;
    let last = url.host_str()?;
    let asked = row.observation.target.domain.as_str();
    Some(match registrable_domain(asked) {
        Some(site) => registrable_domain(last) != Some(site),
        None => last != asked && !last.strip_suffix(asked).is_some_and(|below| below.ends_with('.')),
    })
}

/// The delta-seconds form of RFC 9110, section 10.2.3.
fn delta_seconds(value: &str) -> Option<i64> {
    let value = value.trim_matches([' ', '\t']);
    if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Digits only, so all that can fail is the size.
    Some(value.parse().unwrap_or(i64::MAX))
}

fn millis(duration: Duration) -> i32 {
    super::count(duration.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_nothing() {
        assert_eq!(delta_seconds(" 120 "), Some(120));
        assert_eq!(delta_seconds("99999999999999999999"), Some(i64::MAX));
        for value in ["", "-1", "+1", "1.5", "Fri, 31 Dec 1999 23:59:59 GMT"] {
            assert_eq!(delta_seconds(value), None, "{value:?}");
        }
    }
}
