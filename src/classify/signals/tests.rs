//! What holds for all signals: the registry's examples, and any bytes.

use std::collections::BTreeSet;

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::observation::Response;
use crate::robots::{Dialect, RobotsTxt};

/// What is found in a file, a line for each: kind, scope, path, key, value, line, meaning.
pub(super) fn said(text: &str) -> Vec<String> {
    Signals::of_file(&RobotsTxt::parse(text.as_bytes(), Dialect::Rfc9309)).found.iter().map(shown).collect()
}

/// What is found in a head, in the same way.
pub(super) fn said_by_head(status: u16, fields: &[(&str, &str)]) -> Vec<String> {
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Signals::of_head(&response(status, fields.collect())).found.iter().map(shown).collect()
}

fn response(status: u16, headers: Vec<(String, String)>) -> Response {
    Response {
        url: "https://example.com/robots.txt".to_owned(),
        status,
        headers,
        body: Bytes::new(),
        is_truncated: false,
        wire_bytes: None,
    }
}

fn shown(found: &Found) -> String {
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let line = found.line.map_or_else(|| "-".to_owned(), |line| line.to_string());
    format!(
        "{} | {} | {} | {} | {} | {line} | {}",
        found.kind,
        found.scope.text(),
        or_dash(&found.path),
        or_dash(&found.key),
        or_dash(&found.value),
        found.meaning
    )
}

fn as_expected(found: &Found) -> (&str, Option<&str>, Option<&str>, Option<&str>, Option<u32>) {
    (found.scope.text(), found.path.as_deref(), found.key.as_deref(), found.value.as_deref(), found.line)
}

#[test]
fn every_entry_finds_what_its_example_says() {
    for signal in signals() {
        let Example { status, head, body, finds } = &signal.example;
        let fields = head.lines().map(|line| line.split_once(": ").unwrap());
        let fields = fields.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        let file = RobotsTxt::parse(body.as_bytes(), Dialect::Rfc9309);
        let found = match signal.place() {
            Place::Header => Signals::of_head(&response(*status, fields)).found,
            Place::Record | Place::Comment => Signals::of_file(&file).found,
        };
        assert!(found.iter().all(|found| found.kind == signal.kind), "{}: {found:?}", signal.syntax);
        let found: Vec<_> = found.iter().map(as_expected).collect();
        let expected =
            finds.iter().map(|Expected { scope, path, key, value, line }| (*scope, *path, *key, *value, *line));
        assert!(!finds.is_empty());
        assert_eq!(found, expected.collect::<Vec<_>>(), "{}", signal.syntax);
    }
}

#[test]
fn every_entry_is_documented_and_stands_once() {
    let mut seen = BTreeSet::new();
    for signal in signals() {
        assert!(seen.insert((signal.kind, signal.place().word())), "{} stands twice", signal.kind);
        assert!(signal.doc.ends_with('.') && signal.status.ends_with('.'), "{}", signal.kind);
        assert!(signal.kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", signal.kind);
    }
}

/// A record that carries a signal makes a file a robots.txt, as the closed list of keys has it.
#[test]
fn keys_that_are_compared_whole_are_known_keys() {
    for signal in signals() {
        if let found::Read::Record { keys: found::Keys::Are(keys), .. } = &signal.read {
            assert!(keys.iter().all(|key| crate::robots::KNOWN_KEYS.contains(key)), "{}", signal.kind);
        }
    }
}

#[test]
fn scopes_are_the_tokens_of_the_group_or_say_that_there_is_none() {
    let check = |text: &str, scopes: &[&str]| {
        let file = RobotsTxt::parse(text.as_bytes(), Dialect::Rfc9309);
        let found = Signals::of_file(&file).found;
        assert_eq!(found.iter().map(|found| found.scope.text()).collect::<Vec<_>>(), scopes, "{text}");
    };
    check("Content-Signal: search=yes\nUser-agent: *\nAllow: /", &["orphan"]);
    check("User-agent: GPTBot\nUser-agent: *\nContent-Signal: search=yes", &["gptbot, *"]);
    check("User-agent: a\nAllow: /\nContent-Signal: search=yes\nUser-agent: b\nContent-Signal: search=no", &["a", "b"]);
    // One group to RFC 9309, whatever stands between the user-agent lines.
    check("User-agent: *\nContent-Signal: search=yes\n\nUser-agent: GPTBot\nDisallow: /", &["*, gptbot"]);
    check("License: https://e.com/l\nUser-agent: *\nLicense: https://e.com/l", &["file", "file"]);
    check("User-agent:\nContent-Signal: search=yes", &[""]);
}

#[test]
fn a_file_that_says_no_end_of_things_is_cut_and_still_counted() {
    let agents = (0..1_000).fold(String::new(), |text, number| text + &format!("User-agent: agent-number-{number}\n"));
    let many =
        format!("{agents}User-agent: *\n{}Content-Signal: ai-train=no\n", "Content-Signal: search=yes\n".repeat(2_000));
    let signals = Signals::of_file(&RobotsTxt::parse(many.as_bytes(), Dialect::Rfc9309));
    assert_eq!((signals.found.len(), signals.is_cut), (MOST_SIGNALS, true));
    assert_eq!(signals.stated.content_signal_ai_train, ContentSignal::No);
    let scope = signals.found[0].scope.text();
    assert!(scope.len() < LONGEST_SCOPE + 100 && scope.ends_with(" more"), "{scope}");
}

fn any_line() -> impl Strategy<Value = Vec<u8>> {
    let keys = [
        "User-agent: ",
        "Disallow: ",
        "Content-Signal: ",
        "Content-Usage: ",
        "License: ",
        "DisallowAITraining: ",
        "AllowAI",
        "# ",
        "content-signal:",
        "",
    ];
    let values = [
        "*",
        "GPTBot",
        "/",
        "ai-train=no",
        "search=yes,ai-input=no",
        "/x train-ai=n",
        "train-ai=(a b);c=:bg==:",
        "https://e.com/l",
        "AI training is prohibited.",
        "<https://e.com>; rel=\"license\\",
        "noai: noai",
        "tdm",
        "@1",
        "%\"a%20\"",
    ];
    let value = prop_oneof![
        3 => prop::sample::select(values.to_vec()).prop_map(|value| value.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ];
    let end = prop::sample::select(vec!["\n", "\r\n", "\r", "", " "]);
    (prop::sample::select(keys.to_vec()), value, end)
        .prop_map(|(key, value, end)| [key.as_bytes(), &value, end.as_bytes()].concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_are_too_odd(lines in prop::collection::vec(any_line(), 0..20), noise in prop::collection::vec(any::<u8>(), 0..200)) {
        for body in [lines.concat(), noise] {
            let file = RobotsTxt::parse(&body, Dialect::Rfc9309);
            let signals = Signals::of_file(&file);
            for found in &signals.found {
                prop_assert!(found.line.is_some_and(|line| line >= 1 && line <= file.line_count()));
            }
            prop_assert!(signals.found.is_sorted_by_key(|found| found.line));
        }
    }

    #[test]
    fn no_head_is_too_odd(status in 100..600u16, values in prop::collection::vec("\\PC{0,40}|[<>;,=\" a-z:]{0,40}", 0..6)) {
        let mut names: Vec<String> = signals().flat_map(|signal| signal.example.head.lines()).map(|line| {
            line.split_once(':').unwrap().0.to_ascii_lowercase()
        }).collect();
        names.dedup();
        for name in names {
            let fields = values.iter().map(|value| (name.clone(), value.clone())).collect();
            Signals::of_head(&response(status, fields));
        }
    }

    #[test]
    fn values_of_a_response_are_never_the_files(text in "[a-z=,-]{0,20}") {
        let fields = vec![("content-signal".to_owned(), text), ("tdm-reservation".to_owned(), "1".to_owned())];
        prop_assert_eq!(Signals::of_head(&response(200, fields)).stated, Stated::default());
    }
}
