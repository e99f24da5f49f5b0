//! `DisallowAITraining` and its kin: training by path, as a draft of Microsoft's has it.
//!
//! The first draft has two fixed keys; the second drops them for any name that starts with `DisallowAI` or `AllowAI`.
//! To Google's parser, which compares keys by prefix, each of them is a Disallow or an Allow as well.

use std::borrow::Cow;

use super::found::{Example, Expected, Keys, Meaning, Read, Signal, Sink, Statement, text};

pub(super) const TABLE: &[Signal] = &[
    Signal {
        kind: "disallow-ai-training",
        syntax: "DisallowAITraining: /path",
        doc: "Content below the path may not be used for training.",
        status: "draft-canel-robots-ai-control-00 (2024-10), expired.",
        example: Example::file(
            "User-agent: *\nDisallowAITraining: /\nAllow: /\n",
            &[Expected { scope: "*", path: Some("/"), key: None, value: None, line: Some(2) }],
        ),
        read: Read::Record {
            keys: Keys::Are(&["disallowaitraining"]),
            is_scoped: true,
            read: |_, value, sink| of_path(None, value, Meaning::ReservesTraining, sink),
        },
    },
    Signal {
        kind: "allow-ai-training",
        syntax: "AllowAITraining: /path",
        doc: "Content below the path may be used for training.",
        status: "draft-canel-robots-ai-control-00 (2024-10), expired.",
        example: Example::file(
            "User-agent: *\nDisallow: /x\nAllowAITraining: /open/ # all yours\n",
            &[Expected { scope: "*", path: Some("/open/"), key: None, value: None, line: Some(3) }],
        ),
        read: Read::Record {
            keys: Keys::Are(&["allowaitraining"]),
            is_scoped: true,
            read: |_, value, sink| of_path(None, value, Meaning::GrantsTraining, sink),
        },
    },
    Signal {
        kind: "disallow-ai",
        syntax: "DisallowAIname: /path",
        doc: "Content below the path may not be put to the AI use of that name.",
        status: "draft-canel-robots-ai-control-01 (2025-04), expired; its grammar has not been read.",
        example: Example::file(
            "User-agent: *\nDisallowAISearch: /\nAllow: /\n",
            &[Expected { scope: "*", path: Some("/"), key: Some("Search"), value: None, line: Some(2) }],
        ),
        read: Read::Record {
            keys: Keys::StartWith(&["disallowai"]),
            is_scoped: true,
            read: |key, value, sink| of_path(Some(&key["disallowai".len()..]), value, Meaning::ReservesAi, sink),
        },
    },
    Signal {
        kind: "allow-ai",
        syntax: "AllowAIname: /path",
        doc: "Content below the path may be put to the AI use of that name.",
        status: "draft-canel-robots-ai-control-01 (2025-04), expired; its grammar has not been read.",
        example: Example::file(
            "AllowAIInput: /\nUser-agent: *\nDisallow:\n",
            &[Expected { scope: "orphan", path: Some("/"), key: Some("Input"), value: None, line: Some(1) }],
        ),
        read: Read::Record {
            keys: Keys::StartWith(&["allowai"]),
            is_scoped: true,
            read: |key, value, sink| of_path(Some(&key["allowai".len()..]), value, Meaning::GrantsAi, sink),
        },
    },
];

fn of_path(name: Option<&[u8]>, path: &[u8], meaning: Meaning, sink: &mut Sink<'_>) {
    // Without a path it says nothing, as an empty Disallow does.
    let meaning = if matches!(path, [b'/' | b'*', ..]) { meaning } else { Meaning::Unknown };
    let key = name.filter(|name| !name.is_empty()).map(text);
    sink.say(Statement { path: Some(text(path)), key, value: None::<Cow<'_, str>>, meaning });
}

#[cfg(test)]
mod tests {
    use crate::classify::signals::tests::said;

    #[test]
    fn keys_are_compared_whole_or_by_the_start_that_the_drafts_give() {
        let cases = [
            ("DisallowAITraining: /x", "disallow-ai-training | * | /x | - | - | 2 | reserves-training"),
            ("disallowaitraining:/", "disallow-ai-training | * | / | - | - | 2 | reserves-training"),
            ("DISALLOWAITRAINING : *.jpg", "disallow-ai-training | * | *.jpg | - | - | 2 | reserves-training"),
            ("AllowAITraining: /", "allow-ai-training | * | / | - | - | 2 | grants-training"),
            ("DisallowAI: /", "disallow-ai | * | / | - | - | 2 | reserves-ai"),
            ("DisallowAITrainingData: /", "disallow-ai | * | / | TrainingData | - | 2 | reserves-ai"),
            ("AllowAIx: /", "allow-ai | * | / | x | - | 2 | grants-ai"),
            // Nothing is disallowed, and a path that begins with neither / nor * matches none.
            ("DisallowAITraining:", "disallow-ai-training | * |  | - | - | 2 | unknown"),
            ("DisallowAITraining: yes", "disallow-ai-training | * | yes | - | - | 2 | unknown"),
        ];
        for (line, expected) in cases {
            assert_eq!(said(&format!("User-agent: *\n{line}\nDisallow: /y\n")), [expected], "{line}");
        }
        for line in ["Disallow: /AITraining", "Disallow-AI-Training: /", "DisallowA: /", "# DisallowAITraining: /"] {
            assert!(said(&format!("User-agent: *\n{line}\nDisallow: /y\n")).is_empty(), "{line}");
        }
    }
}
