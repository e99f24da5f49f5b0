//! Definitions of restriction: how a file's rules for an agent become one word.
//!
//! Published rates differ by factors because they count different things, so each way of counting has a name here, and
//! a snapshot says which one it was made with.

use crate::classify::row::Restriction;
use crate::classify::witnesses::{self, Budget};
use crate::robots::{By, Ruleset, Verb};

/// One way of counting.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Its stable name, for flags and columns.
    pub name: &'static str,
    /// What it counts, in one sentence.
    pub doc: &'static str,
    /// Who counts so.
    pub source: &'static str,
    /// Whether an agent that no group names inherits the `*` group.
    pub inherits: bool,
    judge: fn(&mut Question<'_, '_>) -> Restriction,
}

/// Every definition, the default first.
pub const DEFINITIONS: &[Definition] = &[
    Definition {
        name: "rfc",
        doc: "Four levels by witness paths under the rules of RFC 9309: none, partial, mostly or all of them are \
              disallowed.",
        source: "This project.",
        inherits: true,
        judge: rfc,
    },
    Definition {
        name: "root",
        doc: "Full where the path `/` is disallowed, else none.",
        source: "KI-Zugangsindex and most surveys that give one number.",
        inherits: true,
        judge: root,
    },
    Definition {
        name: "named-root",
        doc: "Full where a group that names the agent holds the literal rule `Disallow: /`, whatever Allow says, else \
              none.",
        source: "Crawlora, HasData.",
        inherits: false,
        judge: named_root,
    },
    Definition {
        name: "mention",
        doc: "Full where the agent's token stands on a user-agent line, else none.",
        source: "HTTP Archive, the-great-gpt-firewall.",
        inherits: false,
        judge: mention,
    },
];

impl Definition {
    /// The definition of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        DEFINITIONS.iter().find(|definition| definition.name == name)
    }

    /// How much is closed to the agent whose rules these are.
    pub fn judge(&self, question: &mut Question<'_, '_>) -> Restriction {
        (self.judge)(question)
    }
}

/// The rules of one agent, with what is known of them already.
#[derive(Debug)]
pub struct Question<'q, 'r> {
    /// The rules, and why they apply.
    pub rules: &'q Ruleset<'r>,
    /// Whether `/` may be fetched.
    pub root_allowed: bool,
    /// Whether a path that no rule names may be fetched.
    pub unnamed_allowed: bool,
    /// What may still be spent on the file.
    pub budget: &'q mut Budget,
}

fn rfc(question: &mut Question<'_, '_>) -> Restriction {
    let allowed = question.unnamed_allowed;
    let some_differ =
        question.root_allowed != allowed || witnesses::some_differ(question.rules, allowed, question.budget);
    match (allowed, some_differ) {
        (true, false) => Restriction::None,
        (true, true) => Restriction::Partial,
        (false, true) => Restriction::Mostly,
        (false, false) => Restriction::Full,
    }
}

fn root(question: &mut Question<'_, '_>) -> Restriction {
    all_or_nothing(!question.root_allowed)
}

fn named_root(question: &mut Question<'_, '_>) -> Restriction {
    let mut rules = question.rules.rules();
    let is_named = question.rules.by() == By::Named;
    all_or_nothing(is_named && rules.any(|rule| rule.verb == Verb::Disallow && rule.pattern == b"/"))
}

fn mention(question: &mut Question<'_, '_>) -> Restriction {
    all_or_nothing(question.rules.by() == By::Named)
}

const fn all_or_nothing(is_closed: bool) -> Restriction {
    if is_closed { Restriction::Full } else { Restriction::None }
}
