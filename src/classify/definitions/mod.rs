//! Definitions of restriction: how a file's rules for an agent become one word.
//!
//! Published rates differ by factors because they count different things, so each way of counting has a name here, and
//! a snapshot says which one it was made with. Most look at the rules that apply to an agent; some bring a dialect or a
//! parser of their own, since that is part of how they count.
//!
//! | file | what it is |
//! |---|---|
//! | `mod.rs` | the registry, and the definitions that take a few lines |
//! | `cic.rs` | Consent in Crisis, on any grouping |
//! | `cic_2024.rs` | the same with the parser that the paper used |
//! | `imc25.rs` | Liu et al.: every path that is written in the file |

mod cic;
mod cic_2024;
mod imc25;

use std::cell::OnceCell;

use crate::classify::row::Restriction;
use crate::classify::witnesses::{self, Budget};
use crate::robots::{By, Dialect, RobotsTxt, Rule, Ruleset, Verb};

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
    /// How it reads a file.
    pub parser: Parser,
    judge: Judge,
}

crate::words! {
    /// How a definition reads a file.
    pub enum Parser {
        /// In any dialect, the one that was asked for.
        Any = "any",
        /// In the `google` dialect only.
        Google = "google",
        /// With a parser of its own, whatever the dialect; only what it calls restricted depends on it.
        Own = "own",
    }
}

/// Every definition, the default first.
pub const DEFINITIONS: &[Definition] = &[
    Definition {
        name: "rfc",
        doc: "Four levels by witness paths under the rules of RFC 9309: none, partial, mostly or all of them are \
              disallowed.",
        source: "This project.",
        inherits: true,
        parser: Parser::Any,
        judge: Judge::ByRules(rfc),
    },
    Definition {
        name: "root",
        doc: "Full where the path `/` is disallowed, else none.",
        source: "KI-Zugangsindex and most surveys that give one number.",
        inherits: true,
        parser: Parser::Any,
        judge: Judge::ByRules(root),
    },
    Definition {
        name: "named-root",
        doc: "Full where a group that names the agent holds the literal rule `Disallow: /`, whatever Allow says, else \
              none.",
        source: "Crawlora, HasData.",
        inherits: false,
        parser: Parser::Any,
        judge: Judge::ByRules(named_root),
    },
    Definition {
        name: "mention",
        doc: "Full where the agent's token stands on a user-agent line, else none.",
        source: "HTTP Archive, the-great-gpt-firewall.",
        inherits: false,
        parser: Parser::Any,
        judge: Judge::ByRules(mention),
    },
    Definition {
        name: "imc25",
        doc: "Full or none where `/`, every path that is written in the file and a path that no rule names are all \
              disallowed or all allowed by Google's matcher, else partial.",
        source: "Liu et al., IMC 2025.",
        inherits: true,
        parser: Parser::Google,
        judge: Judge::ByRules(imc25::judge),
    },
    Definition {
        name: "cic",
        doc: "By the text of the rules, those with a `?` left out: none without a Disallow, with one empty one only, or \
              where the Allow values equal the Disallow values; full with a `Disallow: /` and no Allow; else partial.",
        source: "Longpre et al., Consent in Crisis (2024), on the dialect's grouping.",
        inherits: true,
        parser: Parser::Any,
        judge: Judge::ByRules(cic::judge),
    },
    Definition {
        name: "cic-2024",
        doc: "As cic, with the parser that the paper used: keys in one spelling, agents by case, of stacked user-agent \
              lines the last only, and groups that end at a blank line or comment.",
        source: "Longpre et al., Consent in Crisis (2024), as published.",
        inherits: true,
        parser: Parser::Own,
        judge: Judge::ByName(cic_2024::read),
    },
    Definition {
        name: "cc-2025",
        doc: "By the set of rules: full where it is exactly `Disallow: /`; none where it is one of `Allow: /`, `Allow: \
              *`, `Allow: /*`, an empty Allow or an empty Disallow, or there is no rule; else partial. Its explicit \
              form counts the rows that are by `named`.",
        source: "Common Crawl, robotstxt-experiments (2025).",
        inherits: true,
        parser: Parser::Any,
        judge: Judge::ByRules(cc_2025),
    },
];

#[derive(Clone, Copy, Debug)]
enum Judge {
    /// From the rules that apply to an agent; agents with the same rules get the same word.
    ByRules(fn(&mut Question<'_, '_>) -> Restriction),
    /// From the bytes and the agent's name.
    ByName(fn(&[u8]) -> LevelByName),
}

/// What a parser of its own made of one file: the level of an agent of that name, `*` for an unnamed one.
type LevelByName = Box<dyn Fn(&[u8]) -> Restriction>;

impl Definition {
    /// The definition of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        DEFINITIONS.iter().find(|definition| definition.name == name)
    }

    /// Whether it can be asked of a file that was read in this dialect.
    pub fn takes(&self, dialect: Dialect) -> bool {
        self.parser != Parser::Google || dialect == Dialect::Google
    }

    /// The dialect in which a file is read for it, where none is asked for.
    pub fn usual_dialect(&self) -> Dialect {
        if self.takes(Dialect::Rfc9309) { Dialect::Rfc9309 } else { Dialect::Google }
    }

    /// Opens a file, to be judged for one agent after another.
    pub(super) fn open(&self, file: &RobotsTxt<'_>) -> Opened {
        match self.judge {
            Judge::ByRules(judge) => Opened::ByRules(judge),
            Judge::ByName(read) => Opened::ByName(read(file.body())),
        }
    }
}

/// A file as a definition reads it.
pub(super) enum Opened {
    ByRules(fn(&mut Question<'_, '_>) -> Restriction),
    ByName(LevelByName),
}

impl Opened {
    /// Whether agents to which the same rules apply get the same word.
    pub(super) fn is_by_rules(&self) -> bool {
        matches!(self, Self::ByRules(_))
    }

    /// How much is closed to the agent of that name, whose rules are those of the question.
    pub(super) fn judge(&self, agent: &[u8], question: &mut Question<'_, '_>) -> Restriction {
        match self {
            Self::ByRules(judge) => judge(question),
            Self::ByName(level) => level(agent),
        }
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
    /// Paths that are written anywhere in the file; a definition that wants them looks for them once.
    pub written_paths: &'q OnceCell<Vec<Vec<u8>>>,
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
    let is_named = question.rules.by() == By::Named;
    all_or_nothing(is_named && question.rules.rules().any(is_disallow_root))
}

fn mention(question: &mut Question<'_, '_>) -> Restriction {
    all_or_nothing(question.rules.by() == By::Named)
}

/// A set: the same rule again changes nothing, any other one does.
fn cc_2025(question: &mut Question<'_, '_>) -> Restriction {
    let is_open = |rule: Rule<'_>| match rule.verb {
        Verb::Allow => matches!(rule.pattern, b"/" | b"*" | b"/*" | b""),
        Verb::Disallow => rule.pattern.is_empty(),
    };
    let mut rules = question.rules.rules();
    let Some(first) = rules.next() else { return Restriction::None };
    let is_one = rules.all(|rule| (rule.verb, rule.pattern) == (first.verb, first.pattern));
    match is_one {
        true if is_disallow_root(first) => Restriction::Full,
        true if is_open(first) => Restriction::None,
        _ => Restriction::Partial,
    }
}

fn is_disallow_root(rule: Rule<'_>) -> bool {
    rule.verb == Verb::Disallow && rule.pattern == b"/"
}

const fn all_or_nothing(is_closed: bool) -> Restriction {
    if is_closed { Restriction::Full } else { Restriction::None }
}
