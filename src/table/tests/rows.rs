//! Rows to test with: an empty one, a full one, any one.

use std::time::Duration;

use bytes::Bytes;
use proptest::prelude::*;

use crate::classify::row::{
    AgentVerdict, BodyFacts, By, Charset, Comparison, Judgement, NamedAgent, Reading, Restriction,
};
use crate::classify::signals::{ContentSignal, Found, Meaning, Reuse, Scope, Source, Stated, Usage};
use crate::classify::{Look, PolicyClass, ReservationScope, Row, Stance};
use crate::domain::{Domain, Target};
use crate::observation::{
    Asking, Authority, BodySource, DnsAnswer, DnsAnswers, Ending, Failure, Hop, HttpVersion, Observation, Past,
    ProbeKind, Response, TlsVerdict, TlsVersion,
};
use crate::outcome::{Cause, Kind, Outcome};
use crate::robots::Oddity;
use crate::table::{Provenance, Table, columns};

pub(super) fn panel() -> [String; 2] {
    ["GPTBot".to_owned(), "Google-Extended".to_owned()]
}

pub(super) fn provenance() -> Provenance {
    Provenance {
        parser_version: "1".to_owned(),
        definition: "rfc".to_owned(),
        dialect: "rfc9309".to_owned(),
        catalogue_sha256: "cc".to_owned(),
        list_sha256: Some("11".to_owned()),
        date: "2026-11-30".to_owned(),
        is_rehearsal: true,
    }
}

pub(super) fn table() -> Table {
    Table::new(columns(&panel()), provenance()).unwrap()
}

pub(super) fn target(index: u32) -> Target {
    let domain = Domain::parse("www.example.co.uk").unwrap();
    Target { index, domain, rank: None, weight: None, stratum: None }
}

/// Nothing is known but who was asked and that the name does not exist.
pub(super) fn empty_row(index: u32) -> Row {
    Row {
        observation: Observation {
            target: target(index),
            capture_index: 0,
            fetched_at: None,
            asking: None,
            ending: Ending::Failure(Failure::from(Cause::DnsNxdomain)),
            body_source: BodySource::Fetched,
            past: Past::default(),
        },
        outcome: Outcome::Failure(Cause::DnsNxdomain),
        body: None,
        reading: None,
        judgement: None,
        signals: None,
        stance: None,
        looks: Vec::new(),
    }
}

pub(super) fn response() -> Response {
    Response {
        url: "https://www.example.net/robots.txt".to_owned(),
        status: 200,
        headers: [
            ("etag", "\"a\""),
            ("last-modified", "Mon, 30 Nov 2026 00:00:00 GMT"),
            ("server", "caf\u{e9}"),
            ("content-type", "text/plain"),
            ("content-encoding", "gzip"),
            ("retry-after", "120"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec(),
        body: Bytes::from_static(b"User-agent: *\nDisallow: /\n"),
        is_truncated: false,
        wire_bytes: Some(46),
    }
}

pub(super) fn hop(url: &str) -> Hop {
    Hop {
        url: url.to_owned(),
        ip: None,
        status: None,
        failure: None,
        tls_verdict: None,
        tls_version: None,
        http_version: None,
        elapsed: Duration::from_millis(12),
    }
}

/// Everything that a row can hold.
pub(super) fn full_row(index: u32) -> Row {
    let last = Hop {
        ip: Some("2001:db8::1".parse().unwrap()),
        status: Some(200),
        tls_verdict: Some(TlsVerdict::Expired),
        tls_version: Some(TlsVersion::Tls13),
        http_version: Some(HttpVersion::Http11),
        ..hop("https://www.example.net/robots.txt")
    };
    let first = Hop {
        ip: Some("192.0.2.1".parse().unwrap()),
        failure: Some(Cause::ConnectRefused),
        ..hop("https://www.example.co.uk/robots.txt")
    };
    let verdict = AgentVerdict {
        restriction: Restriction::Full,
        by: By::Named,
        vs_unnamed: Comparison::Stricter,
        root_allowed: false,
    };
    let named = NamedAgent {
        token: "gptbot".to_owned(),
        as_written: "GPTBot".to_owned(),
        restriction: Restriction::Full,
        root_allowed: false,
        unnamed_allowed: false,
        allow_rules: 0,
        disallow_rules: 1,
        crawl_delay_s: Some(1.5),
        line: 1,
    };
    Row {
        observation: Observation {
            target: Target { rank: Some(5), weight: Some(0.25), stratum: Some("head".into()), ..target(index) },
            capture_index: 0,
            fetched_at: Some("2026-11-30T14:05:33.25Z".parse().unwrap()),
            asking: Some(Asking {
                elapsed: Duration::from_millis(345),
                hops: vec![first, last],
                authority: Some(Authority::HttpsApex),
                resolved_ips: vec!["192.0.2.1".parse().unwrap(), "2001:db8::2".parse().unwrap()],
                dns_cname: Some("edge.example.net".to_owned()),
                dns: DnsAnswers { a: Some(DnsAnswer::Addresses), aaaa: None },
                probes: Vec::new(),
            }),
            ending: Ending::Response(response()),
            body_source: BodySource::Fetched,
            past: Past::default(),
        },
        outcome: Outcome::Answer(Kind::Rules),
        body: Some(BodyFacts { sha256: [0xab; 32], is_html: false, charset: Charset::Ascii }),
        reading: Some(Reading {
            line_count: 2,
            group_count: 1,
            allow_rule_count: 0,
            disallow_rule_count: 1,
            sitemaps: vec!["https://www.example.net/sitemap.xml".to_owned()],
            oddities: vec![Oddity::Bom],
            other_records: vec![("host".to_owned(), 2)],
            named_agents: vec![named],
        }),
        judgement: Some(Judgement {
            unnamed_restriction: Restriction::Partial,
            unnamed_root_allowed: true,
            panel: vec![verdict; 2],
            core_training_stricter: true,
            any_ai: true,
            any_ai_named: false,
        }),
        signals: Some(signals()),
        stance: Some(stance()),
        looks: vec![Look {
            kind: ProbeKind::Repeat,
            outcome: Outcome::Answer(Kind::Empty),
            body_sha256: Some([0xcd; 32]),
            has_changed_verdicts: Some(true),
        }],
    }
}

fn signals() -> Vec<Found> {
    vec![
        Found {
            kind: "content-usage",
            scope: Scope::Group { tokens: "*, gptbot".to_owned(), is_wildcard: true },
            path: Some("/x".to_owned()),
            key: Some("train-ai".to_owned()),
            value: Some("n".to_owned()),
            line: Some(3),
            source: Source::Body,
            meaning: Meaning::ReservesTraining,
        },
        Found {
            kind: "tdm-reservation",
            scope: Scope::Response,
            path: None,
            key: None,
            value: Some("1".to_owned()),
            line: None,
            source: Source::Header,
            meaning: Meaning::ReservesAi,
        },
    ]
}

fn stance() -> Stance {
    Stance {
        stated: Stated {
            content_signal_search: ContentSignal::Yes,
            content_signal_ai_input: ContentSignal::Nonstandard,
            content_signal_ai_train: ContentSignal::No,
            content_signal_use: Reuse::Reference,
            content_usage_train_ai: Usage::N,
            content_usage_search: Usage::Y,
            has_license: true,
            has_prose_reservation: false,
            ..Stated::default()
        },
        access: ReservationScope::NamedOnly,
        usage: ReservationScope::Wildcard,
        policy: PolicyClass::TrainingNo,
        is_contradictory: false,
    }
}

pub(super) fn any_row() -> impl Strategy<Value = Row> {
    let target = (any::<Option<u32>>(), prop::option::of(-1e9..1e9f64), prop::option::of("[a-z]{1,4}"));
    let times = (prop::option::of(0..4_000_000_000_000i64), any::<u32>());
    let answer = (100..600u16, prop::collection::vec(("[a-z-]{1,12}", "\\PC{0,20}"), 0..4), any::<Option<u64>>());
    let body = (prop::collection::vec(any::<u8>(), 0..300), any::<[u8; 32]>(), any::<[bool; 5]>());
    (target, times, answer, body).prop_map(|((rank, weight, stratum), (at, elapsed), (status, headers, wire), body)| {
        let (bytes, sha256, [is_truncated, is_html, has_body, has_asking, has_judgement]) = body;
        let mut row = full_row(0);
        row.observation.target.rank = rank;
        row.observation.target.weight = weight;
        row.observation.target.stratum = stratum.map(Into::into);
        row.observation.fetched_at = at.map(|at| jiff::Timestamp::from_millisecond(at).unwrap());
        row.observation.asking.as_mut().unwrap().elapsed = Duration::from_millis(elapsed.into());
        row.observation.asking = row.observation.asking.filter(|_| has_asking);
        row.observation.ending = Ending::Response(Response {
            status,
            headers,
            body: bytes.into(),
            is_truncated,
            wire_bytes: wire,
            ..response()
        });
        row.body = has_body.then_some(BodyFacts { sha256, is_html, charset: Charset::Other });
        row.judgement = row.judgement.filter(|_| has_judgement);
        row
    })
}
