//! Content-Signal: `search`, `ai-input`, `ai-train` and `use`, as Cloudflare's policy defines them.
//!
//! Keys in any case, pairs parted by commas, `yes` and `no` exactly so; `use` is a measure and has three words. What
//! does not fit stays in the table as it was written and is `nonstandard` in the columns. A key that is not there is
//! not a no.

use std::borrow::Cow;

use super::found::{Example, Expected, Keys, Meaning, Read, Signal, Sink, Statement, text};
use crate::observation::Response;

/// The name of the signal.
pub(super) const KIND: &str = "content-signal";

pub(super) const TABLE: &[Signal] = &[
    Signal {
        kind: KIND,
        syntax: "Content-Signal: search=yes, ai-train=no",
        doc: "Whether content may be collected for search, as input of AI, for training, and how much may be reused.",
        status: "Cloudflare's policy of 2025-09-24; draft-romm-aipref-contentsignals-00 has expired; `use` since 2026-07.",
        example: Example::file(
            "User-agent: *\nContent-Signal: search=yes, AI-Train=no,use=reference\nAllow: /\n",
            &[pair("*", "search", "yes", 2), pair("*", "ai-train", "no", 2), pair("*", "use", "reference", 2)],
        ),
        read: Read::Record {
            keys: Keys::Are(&["content-signal"]),
            is_scoped: true,
            read: |_, value, sink| pairs(&text(value), sink),
        },
    },
    Signal {
        kind: KIND,
        syntax: "Content-Signal: ai-train=no (header)",
        doc: "The same about one response.",
        status: "Seen in the wild; no document defines the header.",
        example: Example::head(
            200,
            "Content-Signal: ai-train=no\n",
            &[Expected { line: None, ..pair("response", "ai-train", "no", 0) }],
        ),
        read: Read::Head(from_head),
    },
];

const fn pair(scope: &'static str, key: &'static str, value: &'static str, line: u32) -> Expected {
    Expected { scope, path: None, key: Some(key), value: Some(value), line: Some(line) }
}

fn from_head(response: &Response, sink: &mut Sink<'_>) {
    for (_, value) in response.headers.iter().filter(|(name, _)| name == "content-signal") {
        pairs(value, sink);
    }
}

fn pairs(value: &str, sink: &mut Sink<'_>) {
    for pair in value.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (key, value) = match pair.split_once('=') {
            Some((key, value)) => (key.trim_end(), Some(value.trim_start())),
            None => (pair, None),
        };
        let key = key.to_ascii_lowercase();
        let meaning = meaning(&key, value);
        sink.say(Statement::new(Some(Cow::Owned(key)), value.map(Cow::Borrowed), meaning));
    }
}

fn meaning(key: &str, value: Option<&str>) -> Meaning {
    match (key, value) {
        ("ai-train", Some("no")) => Meaning::ReservesTraining,
        ("ai-train", Some("yes")) => Meaning::GrantsTraining,
        ("ai-input", Some("no")) => Meaning::ReservesAi,
        ("ai-input", Some("yes")) => Meaning::GrantsAi,
        ("search", Some("yes" | "no")) | ("use", Some("immediate" | "reference" | "full")) => Meaning::Neutral,
        _ => Meaning::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::Meaning::*;
    use super::*;

    #[test]
    fn pairs_are_read_as_the_policy_asks_and_what_does_not_fit_stays_as_it_is() {
        type Case = (&'static str, &'static [(&'static str, Option<&'static str>, Meaning)]);
        let cases: &[Case] = &[
            (
                "search=yes, ai-train=no",
                &[("search", Some("yes"), Neutral), ("ai-train", Some("no"), ReservesTraining)],
            ),
            (
                "search=yes,ai-input=yes,ai-train=yes",
                &[
                    ("search", Some("yes"), Neutral),
                    ("ai-input", Some("yes"), GrantsAi),
                    ("ai-train", Some("yes"), GrantsTraining),
                ],
            ),
            ("ai-input=no", &[("ai-input", Some("no"), ReservesAi)]),
            ("use=reference", &[("use", Some("reference"), Neutral)]),
            ("use=immediate , use=full", &[("use", Some("immediate"), Neutral), ("use", Some("full"), Neutral)]),
            // Keys in any case, values not.
            ("AI-TRAIN=no", &[("ai-train", Some("no"), ReservesTraining)]),
            ("ai-train=No", &[("ai-train", Some("No"), Unknown)]),
            // Spatie's package.
            ("ai-train=disallow", &[("ai-train", Some("disallow"), Unknown)]),
            // `use` is no yes or no, and the others are no measure.
            ("use=no", &[("use", Some("no"), Unknown)]),
            ("ai-train=reference", &[("ai-train", Some("reference"), Unknown)]),
            // A missing comma spoils both.
            ("search=yes ai-train=no", &[("search", Some("yes ai-train=no"), Unknown)]),
            ("search=yes; ai-train=no", &[("search", Some("yes; ai-train=no"), Unknown)]),
            // White space around the sign, empty pieces, a key alone, a key that nobody knows.
            (" ai-train = no ,, ,", &[("ai-train", Some("no"), ReservesTraining)]),
            ("ai-train", &[("ai-train", None, Unknown)]),
            ("ai-train=", &[("ai-train", Some(""), Unknown)]),
            ("ai-train=no=yes", &[("ai-train", Some("no=yes"), Unknown)]),
            ("=no", &[("", Some("no"), Unknown)]),
            ("ai-grounding=no", &[("ai-grounding", Some("no"), Unknown)]),
            // AIPREF's words are no Content-Signal.
            ("train-ai=n", &[("train-ai", Some("n"), Unknown)]),
            ("", &[]),
        ];
        for (value, expected) in cases {
            let mut found = Vec::new();
            pairs(
                value,
                &mut Sink(&mut |_, said| {
                    let owned = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
                    found.push((owned(said.key).unwrap(), owned(said.value), said.meaning));
                }),
            );
            let expected: Vec<_> = expected
                .iter()
                .map(|(key, value, meaning)| ((*key).to_owned(), value.map(str::to_owned), *meaning))
                .collect();
            assert_eq!(found, expected, "{value}");
        }
    }
}
