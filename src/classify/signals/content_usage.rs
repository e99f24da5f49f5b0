//! Content-Usage: the vocabulary of AIPREF, an optional path and a dictionary of structured fields (RFC 9651).
//!
//! Labels have changed from draft to draft and old ones are still in the wild, so each is kept under its own name and
//! none is mapped to another ([`drafts_of`]). A value other than `y` and `n`, and a line whose dictionary does not
//! parse, say nothing: they are unknown and stay so.

use std::borrow::Cow;
use std::collections::HashMap;
use std::convert::Infallible;

use sfv::visitor::{DictionaryVisitor, EntryVisitor, Ignored, InnerListVisitor, ItemVisitor, ParameterVisitor};
use sfv::{BareItemFromInput, KeyRef, Parser};

use super::found::{Example, Expected, Keys, Meaning, Read, Signal, Sink, Statement, text};
use crate::observation::Response;

/// The name of the signal.
pub(super) const KIND: &str = "content-usage";

pub(super) const TABLE: &[Signal] = &[
    Signal {
        kind: KIND,
        syntax: "Content-Usage: [/path ]train-ai=n, search=y",
        doc: "Whether crawled content may be used for training and for search, by path.",
        status: "draft-ietf-aipref-attach-05 and -vocab, of a working group; labels differ between drafts.",
        example: Example::file(
            "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /open/ train-ai=y, search=y\nAllow: /\n",
            &[
                label("*", None, "train-ai", "n", 2),
                label("*", Some("/open/"), "train-ai", "y", 3),
                label("*", Some("/open/"), "search", "y", 3),
            ],
        ),
        read: Read::Record { keys: Keys::Are(&["content-usage"]), is_scoped: true, read: from_record },
    },
    Signal {
        kind: KIND,
        syntax: "Content-Usage: train-ai=n (header)",
        doc: "The same about the content of one response.",
        status: "draft-ietf-aipref-attach-05.",
        example: Example::head(
            200,
            "Content-Usage: train-ai=n\n",
            &[Expected { line: None, ..label("response", None, "train-ai", "n", 0) }],
        ),
        read: Read::Head(from_head),
    },
];

const fn label(
    scope: &'static str,
    path: Option<&'static str>,
    key: &'static str,
    value: &'static str,
    line: u32,
) -> Expected {
    Expected { scope, path, key: Some(key), value: Some(value), line: Some(line) }
}

/// Every label that a draft of the vocabulary has, the drafts that have it, and its meaning where it is denied and
/// where it is granted.
const LABELS: &[(&str, &str, Meaning, Meaning)] = &[
    ("tdm", "01", Meaning::ReservesAi, Meaning::GrantsAi),
    ("ai", "01", Meaning::ReservesAi, Meaning::GrantsAi),
    ("genai", "01", Meaning::ReservesAi, Meaning::GrantsAi),
    ("inference", "01", Meaning::ReservesAi, Meaning::GrantsAi),
    ("all", "02", Meaning::ReservesAi, Meaning::GrantsAi),
    ("ai-use", "02", Meaning::ReservesAi, Meaning::GrantsAi),
    ("bots", "03 to 04", Meaning::ReservesAi, Meaning::GrantsAi),
    ("ai-output", "04", Meaning::ReservesAi, Meaning::GrantsAi),
    ("train-genai", "02 to 03", Meaning::ReservesTraining, Meaning::GrantsTraining),
    ("train-ai", "02 to 07", Meaning::ReservesTraining, Meaning::GrantsTraining),
    ("search", "01 to 07", Meaning::Neutral, Meaning::Neutral),
];

/// Which drafts of AIPREF's vocabulary have a label, by their numbers; nothing where none is known to have it.
///
/// Draft 08 (2026-09-14) exists, and its text has not been read.
pub fn drafts_of(label: &str) -> Option<&'static str> {
    LABELS.iter().find(|(name, ..)| *name == label).map(|(_, drafts, ..)| *drafts)
}

fn from_record(_: &[u8], value: &[u8], sink: &mut Sink<'_>) {
    let (path, dictionary) = match value {
        [b'/', ..] => {
            let end = value.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(value.len());
            (Some(text(&value[..end])), value[end..].trim_ascii_start())
        }
        _ => (None, value),
    };
    labels(path, dictionary, sink);
}

fn from_head(response: &Response, sink: &mut Sink<'_>) {
    let fields = response.headers.iter().filter(|(name, _)| name == "content-usage");
    let values: Vec<&str> = fields.map(|(_, value)| value.as_str()).collect();
    if !values.is_empty() {
        // Fields of one name are one dictionary (RFC 9651, section 4.2).
        labels(None, values.join(", ").as_bytes(), sink);
    }
}

fn labels(path: Option<Cow<'_, str>>, dictionary: &[u8], sink: &mut Sink<'_>) {
    let members = Parser::new(dictionary).parse_dictionary_with_visitor(Members::default()).unwrap_or_default();
    if members.is_empty() {
        // Nothing was said, or the dictionary does not parse: the whole line is unknown.
        return sink.say(Statement { path, key: None, value: Some(text(dictionary)), meaning: Meaning::Unknown });
    }
    for (label, value) in members {
        let known = LABELS.iter().find(|(name, ..)| *name == label);
        let meaning = match (known, &*value) {
            (Some((_, _, denied, _)), "n") => *denied,
            (Some((_, _, _, granted)), "y") => *granted,
            _ => Meaning::Unknown,
        };
        let key = Some(Cow::Borrowed(label));
        sink.say(Statement { path: path.clone(), key, value: Some(value), meaning });
    }
}

/// The members of a dictionary in order, each key once with its last value.
#[derive(Default)]
struct Members<'i> {
    all: Vec<(&'i str, Cow<'i, str>)>,
    places: HashMap<&'i str, usize>,
}

impl<'i> DictionaryVisitor<'i> for Members<'i> {
    type Out = Vec<(&'i str, Cow<'i, str>)>;
    type Error = Infallible;

    fn entry(&mut self, key: &'i KeyRef) -> Result<impl EntryVisitor<'i>, Self::Error> {
        let key = key.as_str();
        let place = *self.places.entry(key).or_insert(self.all.len());
        if place == self.all.len() {
            self.all.push((key, Cow::Borrowed("")));
        }
        Ok(Value(&mut self.all[place].1))
    }

    fn finish(self) -> Result<Self::Out, Self::Error> {
        Ok(self.all)
    }
}

/// Where the value of a member goes.
struct Value<'m, 'i>(&'m mut Cow<'i, str>);

impl<'i> EntryVisitor<'i> for Value<'_, 'i> {
    type Error = Infallible;

    fn item(self) -> Result<impl ItemVisitor<'i>, Self::Error> {
        Ok(self)
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'i>, Self::Error> {
        *self.0 = Cow::Borrowed("(list)");
        Ok(Ignored)
    }
}

impl<'i> ItemVisitor<'i> for Value<'_, 'i> {
    type Out = ();
    type Error = Infallible;

    fn bare_item(self, item: BareItemFromInput<'i>) -> Result<impl ParameterVisitor<'i, Out = Self::Out>, Self::Error> {
        *self.0 = written(&item);
        Ok(Ignored)
    }
}

/// A value as it is written; only tokens can mean anything here, and none of the others looks like `y` or `n`.
fn written<'i>(item: &BareItemFromInput<'i>) -> Cow<'i, str> {
    match item {
        BareItemFromInput::Token(token) => Cow::Borrowed(token.as_str()),
        BareItemFromInput::Boolean(true) => Cow::Borrowed("?1"),
        BareItemFromInput::Boolean(false) => Cow::Borrowed("?0"),
        BareItemFromInput::Integer(number) => Cow::Owned(number.to_string()),
        BareItemFromInput::Decimal(number) => Cow::Owned(number.to_string()),
        BareItemFromInput::String(string) => Cow::Owned(format!("{:?}", string.as_str())),
        BareItemFromInput::ByteSequence(_) => Cow::Borrowed("(bytes)"),
        BareItemFromInput::Date(_) => Cow::Borrowed("(date)"),
        BareItemFromInput::DisplayString(_) => Cow::Borrowed("(display string)"),
    }
}

#[cfg(test)]
mod tests {
    use super::Meaning::*;
    use super::*;

    /// A statement as path, key, value and meaning.
    type Said = (Option<&'static str>, Option<&'static str>, &'static str, Meaning);

    #[test]
    fn a_line_is_an_optional_path_and_a_dictionary() {
        let cases: &[(&[u8], &[Said])] = &[
            (b"train-ai=n", &[(None, Some("train-ai"), "n", ReservesTraining)]),
            (
                b"train-ai=y, search=n",
                &[(None, Some("train-ai"), "y", GrantsTraining), (None, Some("search"), "n", Neutral)],
            ),
            (b"/ai-ok/ train-ai=y", &[(Some("/ai-ok/"), Some("train-ai"), "y", GrantsTraining)]),
            (b"/ai-ok/\ttrain-ai=y", &[(Some("/ai-ok/"), Some("train-ai"), "y", GrantsTraining)]),
            (b"/a \t  search=y", &[(Some("/a"), Some("search"), "y", Neutral)]),
            // A path alone, and nothing at all, say nothing.
            (b"/a", &[(Some("/a"), None, "", Unknown)]),
            (b"", &[(None, None, "", Unknown)]),
            // Nuxt's documentation forgets the comma: the whole line fails.
            (b"ai=n train-ai=n", &[(None, None, "ai=n train-ai=n", Unknown)]),
            // Keys in lower case only; a trailing comma fails; a semicolon makes a parameter.
            (b"Train-AI=n", &[(None, None, "Train-AI=n", Unknown)]),
            (b"train-ai=n,", &[(None, None, "train-ai=n,", Unknown)]),
            (b"train-ai=n; search=y", &[(None, Some("train-ai"), "n", ReservesTraining)]),
            // Values that are no token, or another token.
            (b"train-ai", &[(None, Some("train-ai"), "?1", Unknown)]),
            (b"train-ai=?0", &[(None, Some("train-ai"), "?0", Unknown)]),
            (b"train-ai=\"n\"", &[(None, Some("train-ai"), "\"n\"", Unknown)]),
            (b"train-ai=0", &[(None, Some("train-ai"), "0", Unknown)]),
            (b"train-ai=0.5", &[(None, Some("train-ai"), "0.5", Unknown)]),
            (b"train-ai=(n y)", &[(None, Some("train-ai"), "(list)", Unknown)]),
            (b"train-ai=:bg==:", &[(None, Some("train-ai"), "(bytes)", Unknown)]),
            (b"train-ai=no", &[(None, Some("train-ai"), "no", Unknown)]),
            (b"train-ai=N", &[(None, Some("train-ai"), "N", Unknown)]),
            // A key that comes again: its last value.
            (b"train-ai=n, train-ai=y", &[(None, Some("train-ai"), "y", GrantsTraining)]),
            // Labels of older drafts keep their names; those of none are unknown.
            (b"ai=n", &[(None, Some("ai"), "n", ReservesAi)]),
            (b"tdm=n, genai=y", &[(None, Some("tdm"), "n", ReservesAi), (None, Some("genai"), "y", GrantsAi)]),
            (b"ai-train=n", &[(None, Some("ai-train"), "n", Unknown)]),
            // Bytes that are no ASCII.
            (b"train-ai=\xff", &[(None, None, "train-ai=\u{fffd}", Unknown)]),
        ];
        for (value, expected) in cases {
            let mut found = Vec::new();
            from_record(
                b"content-usage",
                value,
                &mut Sink(&mut |_, said| {
                    let owned = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
                    found.push((owned(said.path), owned(said.key), owned(said.value).unwrap(), said.meaning));
                }),
            );
            let owned = |text: Option<&str>| text.map(str::to_owned);
            let expected: Vec<_> = expected
                .iter()
                .map(|(path, key, value, meaning)| (owned(*path), owned(*key), (*value).to_owned(), *meaning))
                .collect();
            assert_eq!(found, expected, "{}", text(value));
        }
    }

    #[test]
    fn labels_are_those_of_the_drafts() {
        let drafts = [
            ("01", "tdm ai genai search inference"),
            ("02", "all train-ai train-genai ai-use search"),
            ("03", "bots train-ai train-genai search"),
            ("04", "bots train-ai ai-output search"),
            ("05", "train-ai search"),
            ("06", "train-ai search"),
            ("07", "train-ai search"),
        ];
        for (label, written, ..) in LABELS {
            let having: Vec<&str> = drafts
                .iter()
                .filter(|(_, labels)| labels.split(' ').any(|name| name == *label))
                .map(|(draft, _)| *draft)
                .collect();
            let expected = match having.as_slice() {
                [one] => (*one).to_owned(),
                [first, .., last] => format!("{first} to {last}"),
                [] => panic!("no draft has {label}"),
            };
            assert_eq!(*written, expected, "{label}");
            assert_eq!(drafts_of(label), Some(*written));
        }
        let all: usize = drafts.iter().map(|(_, labels)| labels.split(' ').count()).sum();
        assert_eq!((all, drafts_of("train")), (24, None));
    }
}
