//! Reservations in the words of comments: a heuristic, and recorded as one.
//!
//! A sentence of a comment counts if it holds one of [`SUBJECTS`] and one of [`RESERVATIONS`], and none of
//! [`EXPLANATIONS`]; a sentence may go over several lines that hold nothing but comment. Both lists are short on
//! purpose. That machines are told off in words is no reservation of AI uses, so access, scraping and indexing are no
//! subjects: on 12,129 files of 2017, before anybody reserved such rights, nothing may be found (a test looks). Nor is
//! the text with which Cloudflare explains Content-Signal: it reserves what signals say, and may stand there without a
//! signal. A comment that says the opposite in a roundabout way is read wrongly; who needs certainty reads the line.
//!
//! Nothing of this counts for the scope of reservations or for the class of the policy.
//!
//! # Cost
//!
//! Comments are first looked through for a few stems, without allocation; only a file that has one of them is read.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::found::{Example, Expected, Meaning, Read, Signal, Sink, Statement};

/// The name of the signal.
pub(super) const KIND: &str = "prose-reservation";

pub(super) const TABLE: &[Signal] = &[Signal {
    kind: KIND,
    syntax: "# ... AI training ... prohibited ...",
    doc: "A sentence of a comment that speaks of AI training or text and data mining, and of a reservation.",
    status: "A heuristic of this project: a list of words in English, German and French.",
    example: Example::file(
        "# Use of this site for AI\n#  training is prohibited. Ask us first.\nUser-agent: *\nDisallow: /x\n",
        &[Expected {
            scope: "file",
            path: None,
            key: None,
            value: Some("Use of this site for AI training is prohibited."),
            line: Some(1),
        }],
    ),
    read: Read::Comments(read),
}];

/// What a reservation is about: words with one space between them, the last of which may go on.
const SUBJECTS: &[&str] = &[
    "ai train",
    "train ai",
    "train any ai",
    "training any ai",
    "training ai",
    "training of ai",
    "training or fine tuning ai",
    "ai model",
    "ai system",
    "generative ai",
    "artificial intelligence",
    "machine learning",
    "language model",
    "train llm",
    "training llm",
    "training of llm",
    "llm train",
    "training data",
    "model training",
    "data mining",
    "data mine",
    "tdm",
    "2019/790",
    "ki training",
    "ki modell",
    "künstliche intelligenz",
    "künstlicher intelligenz",
    "fouille de texte",
    "fouille de donn",
    "intelligence artificielle",
];

/// What makes it one, in the same way.
const RESERVATIONS: &[&str] = &[
    "prohibit",
    "forbid",
    "forbidden",
    "not permit",
    "not allow",
    "not authori",
    "unauthori",
    "may not",
    "must not",
    "shall not",
    "do not",
    "don t",
    "cannot",
    "not be used",
    "not consent",
    "without consent",
    "without permission",
    "without prior",
    "without our",
    "without express",
    "without written",
    "reserve",
    "opt out",
    "opts out",
    "opted out",
    "no ai train",
    "no machine learning",
    "no text and data mining",
    "no data mining",
    "no tdm",
    "untersagt",
    "verboten",
    "vorbehalt",
    "vorbehält",
    "nicht gestattet",
    "nicht erlaubt",
    "widersprech",
    "interdit",
    "réserv",
    "oppos",
];

/// What shows that a sentence explains a signal or grants something, in the same way.
const EXPLANATIONS: &[&str] =
    &["content signal", "neither grants nor restricts", "not prohibited", "not forbidden", "not reserved"];

/// Words and beginnings of words; no comment without one of them is part of a subject.
const STEMS: &[&str] = &[
    " ai ",
    " train",
    " intellig",
    " learning",
    " language",
    " llm",
    " mining",
    " mine",
    " tdm",
    "2019/790",
    " ki ",
    " fouille",
];

/// What a byte of a comment is looked at as: letters in lower case, and a space for what is no part of a word.
const FOLDED: [u8; 256] = {
    let mut folded = [b' '; 256];
    let mut byte = 0_u8;
    loop {
        if byte.is_ascii_alphanumeric() || byte == b'/' || !byte.is_ascii() {
            folded[byte as usize] = byte.to_ascii_lowercase();
        }
        if byte == u8::MAX {
            break folded;
        }
        byte += 1;
    }
};

/// Characters of a sentence that are kept.
const LONGEST_SENTENCE: usize = 400;

fn read(body: &[u8], sink: &mut Sink<'_>) {
    if !may_have_subject(body) {
        return;
    }
    for paragraph in paragraphs(body) {
        for (line, sentence) in paragraph.sentences() {
            if is_reservation(sentence) {
                let kept: String = sentence.chars().take(LONGEST_SENTENCE).collect();
                sink.say_at(line, Statement::new(None, Some(Cow::Owned(kept)), Meaning::ReservesAi));
            }
        }
    }
}

/// The comments of a body, in order, each without its first `#` and without its line's end.
fn comments(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = body;
    std::iter::from_fn(move || {
        let start = memchr::memchr(b'#', rest)? + 1;
        let end = memchr::memchr2(b'\n', b'\r', &rest[start..]).map_or(rest.len(), |length| start + length);
        let comment = &rest[start..end];
        rest = &rest[end..];
        Some(comment)
    })
}

/// Whether a stem stands in a comment.
///
/// Comments are short, and starting a search takes longer than most of them: they are gathered, in lower case and with
/// spaces for what is neither letter nor digit, and searched together.
fn may_have_subject(body: &[u8]) -> bool {
    static FINDERS: LazyLock<Vec<Finder<'static>>> =
        LazyLock::new(|| STEMS.iter().map(|stem| Finder::new(stem.as_bytes())).collect());
    const WINDOW: usize = 2_048;
    /// A stem that two pieces of one long comment share is found in the second.
    const OVERLAP: usize = 16;
    let has_stem = |text: &[u8]| FINDERS.iter().any(|finder| finder.find(text).is_some());
    let mut window = [b' '; WINDOW];
    let mut filled = 1;
    for comment in comments(body) {
        let mut rest = comment;
        loop {
            if filled + OVERLAP >= WINDOW {
                if has_stem(&window[..filled]) {
                    return true;
                }
                window[0] = b' ';
                filled = 1;
            }
            let length = rest.len().min(WINDOW - filled - 1);
            for (to, from) in window[filled..].iter_mut().zip(&rest[..length]) {
                *to = FOLDED[usize::from(*from)];
            }
            filled += length;
            window[filled] = b' ';
            filled += 1;
            if length == rest.len() {
                break;
            }
            rest = &rest[length.saturating_sub(OVERLAP).max(1)..];
        }
    }
    has_stem(&window[..filled])
}

/// Comments of neighbouring lines, joined.
struct Paragraph {
    text: String,
    /// Where the text of each line begins, and the number of the line.
    lines: Vec<(usize, u32)>,
}

/// Runs of lines that hold nothing but a comment; a comment behind a record stands alone.
fn paragraphs(body: &[u8]) -> Vec<Paragraph> {
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    let mut is_open = false;
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    for (line, number) in lines(body).zip(1..) {
        let Some(hash) = memchr::memchr(b'#', line) else {
            is_open = false;
            continue;
        };
        let is_alone = line[..hash].trim_ascii().is_empty();
        let comment = String::from_utf8_lossy(&line[hash + 1..]);
        let comment = comment.trim_matches(|letter: char| letter.is_whitespace() || "#*-=|_~+".contains(letter));
        if comment.is_empty() {
            is_open = false;
            continue;
        }
        if !(is_open && is_alone) {
            paragraphs.push(Paragraph { text: String::new(), lines: Vec::new() });
        }
        is_open = is_alone;
        let paragraph = paragraphs.last_mut().expect("one was opened if there was none");
        if !paragraph.text.is_empty() {
            paragraph.text.push(' ');
        }
        paragraph.lines.push((paragraph.text.len(), number));
        paragraph.text.push_str(comment);
    }
    paragraphs
}

/// The lines of a body, as the reading of records counts them.
fn lines(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = body;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let line = &rest[..end];
        let length = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = rest.get(end + length..).unwrap_or_default();
        Some(line)
    })
}

impl Paragraph {
    /// Its sentences, each with the line where it begins. They end at a stop before white space.
    fn sentences(&self) -> impl Iterator<Item = (u32, &str)> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
            let is_end = |(at, stop): &(usize, &str)| rest[at + stop.len()..].starts_with(char::is_whitespace);
            let end = rest.match_indices(['.', '!', '?', ';']).find(is_end);
            let sentence = &rest[..end.map_or(rest.len(), |(at, stop)| at + stop.len())];
            let begin = start + (sentence.len() - sentence.trim_start().len());
            start += sentence.len();
            let line = self.lines.partition_point(|(offset, _)| *offset <= begin);
            Some((self.lines[line.saturating_sub(1)].1, sentence.trim()))
        })
    }
}

fn is_reservation(sentence: &str) -> bool {
    let plain = plain(sentence);
    let holds = |phrases: &[&str]| phrases.iter().any(|phrase| has_phrase(&plain, phrase));
    holds(SUBJECTS) && holds(RESERVATIONS) && !holds(EXPLANATIONS)
}

/// A sentence in lower case, with one space for all that is neither letter, digit nor slash, and one at each end.
fn plain(sentence: &str) -> String {
    let mut plain = String::from(" ");
    for letter in sentence.chars().flat_map(char::to_lowercase) {
        if letter.is_alphanumeric() || letter == '/' {
            plain.push(letter);
        } else if !plain.ends_with(' ') {
            plain.push(' ');
        }
    }
    if !plain.ends_with(' ') {
        plain.push(' ');
    }
    plain
}

/// Whether a phrase stands at the beginning of a word; short ones must be whole words.
fn has_phrase(plain: &str, phrase: &str) -> bool {
    plain.match_indices(phrase).any(|(at, _)| {
        let is_begin = plain[..at].ends_with(' ');
        let is_end = plain[at + phrase.len()..].starts_with(' ');
        is_begin && (is_end || phrase.len() > 4)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(u32, String)> {
        let mut found = Vec::new();
        read(
            text.as_bytes(),
            &mut Sink(&mut |line, said| found.push((line.unwrap(), said.value.unwrap().into_owned()))),
        );
        found
    }

    #[track_caller]
    fn check(text: &str, lines: &[u32]) {
        let found = found(text);
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), lines, "{text}\n{found:?}");
    }

    #[test]
    fn reservations_are_found_by_subject_and_word() {
        for text in [
            "# AI training prohibited",
            "# NO AI TRAINING",
            "# No text-and-data-mining!",
            "# You may not use our content to train AI.",
            "# Training AI models on this content is not permitted without our written consent.",
            "# We reserve all rights under Article 4 of Directive (EU) 2019/790.",
            "# TDM rights reserved",
            "# The use of this content for machine learning is forbidden",
            "# Do not use this site as training data.",
            "# This site opts out of text & data mining.",
            "# We opt-out of generative AI",
            "# Nutzung f\u{fc}r Text- und Data-Mining ist vorbehalten (\u{a7} 44b UrhG)",
            "# KI-Training ist untersagt.",
            "# Toute fouille de textes et de donn\u{e9}es est interdite",
            "User-agent: * # AI training is not allowed",
            "\u{feff}# AI training is not allowed",
            "## ---- AI training is not allowed ---- ##",
            // The notice of the first managed files, in its gist.
            "# NOTICE: Collecting content through any tool designed to data mine or scrape it is prohibited except\n\
             # (1) for search engine indexing or (2) with express written permission from this site's operator.",
        ] {
            check(text, &[1]);
        }
    }

    #[test]
    fn what_only_sounds_like_one_is_none() {
        for text in [
            "AI training is prohibited",
            "Note: AI training is prohibited",
            "# AI Data Scraper",
            "# Block AI Scraping Bots last updated 09-11-24",
            "# https://darkvisitors.com/agents/cohere-training-data-crawler",
            "# Disallow: /ai-training/",
            "# AI training is welcome here.",
            "# AI training is not prohibited.",
            "# Crawling is prohibited unless you have express written permission",
            "# Don't index the training pages",
            "# Please do not mirror our site without permission.",
            "# allow boomtrain bot on entire site; do not block",
            // Subject and word in two sentences, and in two paragraphs.
            "# For AI training see our terms. Indexing is prohibited.",
            "# AI training\n\n# prohibited",
            "# AI training\nUser-agent: *\n# prohibited",
            "# AI training\n#\n# prohibited",
            // Words within words.
            "# The Maida trainer may not enter",
            "# attdmx reserved",
            // How Cloudflare explains its signals.
            "# As a condition of accessing this website, you agree to abide by the following content signals:\n\
             # (b)  If a content-signal = no, you may not collect content for the corresponding use, such as AI training.\n\
             # ai-train:  training or fine-tuning AI models.\n\
             # ANY RESTRICTIONS EXPRESSED VIA CONTENT SIGNALS ARE EXPRESS RESERVATIONS OF RIGHTS UNDER ARTICLE 4 OF THE\n\
             # EUROPEAN UNION DIRECTIVE 2019/790 ON COPYRIGHT AND RELATED RIGHTS IN THE DIGITAL SINGLE MARKET.",
            "",
            "#",
            "##########",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn a_sentence_may_go_over_lines_and_is_found_where_it_begins() {
        check("# Hello.\r\n# Use for AI\r\n# training is\r\n#   prohibited. Bye.\r\n", &[2]);
        check("User-agent: * # Use for AI\n# training is prohibited", &[]);
        check("# Machine learning is forbidden.\n# Data mining, too, is forbidden.\r# TDM: reserved", &[1, 2, 3]);
        assert_eq!(found("# Use for AI\n#\ttraining is prohibited. Bye.")[0].1, "Use for AI training is prohibited.");
    }

    #[test]
    fn long_comments_and_odd_bytes_are_read() {
        let long = format!("# {} AI training is prohibited", "x ".repeat(5_000));
        assert_eq!(found(&long)[0].1.chars().count(), LONGEST_SENTENCE);
        for shift in 2_000..2_060 {
            let text = format!("#{}tdm rights reserved", " ".repeat(shift));
            assert_eq!(found(&text).len(), 1, "{shift}");
        }
        let mut found = 0;
        read(b"# \xff AI\xfe training \0 prohibited", &mut Sink(&mut |_, _| found += 1));
        assert_eq!(found, 1);
    }

    /// The look beforehand must let no subject pass.
    #[test]
    fn every_subject_has_a_stem() {
        for subject in SUBJECTS {
            assert!(may_have_subject(format!("# {subject}").as_bytes()), "{subject}");
        }
        assert!(!may_have_subject(b"# Sitemaps and other useful things, https://example.com/help"));
    }
}
