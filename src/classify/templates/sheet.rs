//! What an entry of the registry looks at: a file that has one of its marks, and the head of the response.

use std::ops::Range;

use super::lines::{line_at, lines};
use crate::robots::{RobotsTxt, Token, Verb};

/// A file as an entry sees it.
pub(super) struct Sheet<'s> {
    /// The file, read by RFC 9309; managed blocks are gone, but for the entries that look for them.
    pub(super) file: &'s RobotsTxt<'s>,
    /// The fields of the response, their names in lower case.
    pub(super) headers: &'s [(String, String)],
    /// Where the first of the entry's marks stands.
    pub(super) at: usize,
}

impl<'s> Sheet<'s> {
    /// The line of the entry's first mark.
    pub(super) fn line(&self) -> u32 {
        line_at(self.file.body(), self.at)
    }

    /// Whether the text stands in the file, case as written.
    pub(super) fn has(&self, text: &str) -> bool {
        memchr::memmem::find(self.file.body(), text.as_bytes()).is_some()
    }

    /// Whether a rule of each of these patterns closes something to somebody.
    pub(super) fn disallows(&self, patterns: &[&str]) -> bool {
        patterns.iter().all(|pattern| self.has_rule(Verb::Disallow, pattern))
    }

    /// Whether a rule of this pattern stands in the file, for whomever.
    pub(super) fn has_rule(&self, verb: Verb, pattern: &str) -> bool {
        self.file.rules().any(|rule| rule.verb == verb && rule.pattern.eq_ignore_ascii_case(pattern.as_bytes()))
    }

    /// The token of this name.
    pub(super) fn token(&self, name: &str) -> Option<Token<'s>> {
        self.file.tokens().find(|token| token.name.eq_ignore_ascii_case(name.as_bytes()))
    }

    /// The first line that names the token.
    pub(super) fn names(&self, token: &str) -> Option<u32> {
        self.token(token).map(|token| token.line)
    }

    /// Whether the groups of a token have these rules with a value, and no other.
    pub(super) fn has_rules(&self, token: &Token<'_>, rules: &[(Verb, &str)]) -> bool {
        let set = self.file.set(token.set);
        let (allow, disallow) = set.counts();
        // Some stand twice; but thousands that many agents share are not looked at for each of them.
        if allow as usize + disallow as usize > 4 * rules.len() {
            return false;
        }
        let is = |verb: Verb, pattern: &[u8], (wanted, text): &(Verb, &str)| {
            verb == *wanted && pattern.eq_ignore_ascii_case(text.as_bytes())
        };
        let with_value = || set.rules().filter(|rule| !rule.pattern.is_empty());
        rules.iter().all(|wanted| with_value().any(|rule| is(rule.verb, rule.pattern, wanted)))
            && with_value().all(|rule| rules.iter().any(|wanted| is(rule.verb, rule.pattern, wanted)))
    }

    /// Whether a token is named, and its groups have these rules and no other.
    pub(super) fn is_given(&self, token: &str, rules: &[(Verb, &str)]) -> bool {
        self.token(token).is_some_and(|token| self.has_rules(&token, rules))
    }

    /// The tokens, `*` not among them, whose groups have nothing but `Disallow: /`.
    pub(super) fn shut_out(&self) -> Vec<Token<'s>> {
        let is_out = |token: &Token<'_>| token.name != b"*" && self.has_rules(token, &[(Verb::Disallow, "/")]);
        self.file.tokens().filter(is_out).collect()
    }

    /// Where each line stands, with its number, from the one of the mark on.
    pub(super) fn lines_from_mark(&self) -> impl Iterator<Item = (u32, &'s [u8])> + use<'s> {
        let body = self.file.body();
        let first = self.line();
        let start = body[..self.at].iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(0, |end| end + 1);
        (first..).zip(lines(body, start).map(move |line: Range<usize>| &body[line]))
    }

    /// A field of the response.
    pub(super) fn header(&self, name: &str) -> Option<&'s str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}
