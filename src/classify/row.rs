//! The row: what was seen for a target and everything that follows from it, as plain values.
//!
//! The table's columns are functions over [`Row`]; no Arrow type appears here.

use std::fmt;

use crate::classify::signals::Found;
use crate::classify::stance::Stance;
use crate::classify::templates::Authorship;
use crate::observation::{Observation, ProbeKind};
use crate::outcome::Outcome;

pub use crate::robots::By;

/// One row of the snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was seen.
    pub observation: Observation,
    /// What that was.
    pub outcome: Outcome,
    /// Facts of the bytes, where a response with a body of any kind came.
    pub body: Option<BodyFacts>,
    /// What stands in the file, where the outcome is readable or empty.
    pub reading: Option<Reading>,
    /// What it asks of crawlers, where that is determinable.
    pub judgement: Option<Judgement>,
    /// The signals that were found, those of the file by line and then the hints of the head; nothing where no response
    /// came, or one that is no file and says nothing in its head.
    pub signals: Option<Vec<Found>>,
    /// What the file says as a whole, where that is determinable.
    pub stance: Option<Stance>,
    /// Who wrote the file, where that is determinable.
    pub authorship: Option<Authorship>,
    /// What extra looks at the target found.
    pub looks: Vec<Look>,
}

/// What one extra look at a target found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// How it differed from the first one.
    pub kind: ProbeKind,
    /// What happened.
    pub outcome: Outcome,
    /// SHA-256 of the decoded bytes kept, where a response came.
    pub body_sha256: Option<[u8; 32]>,
    /// Whether any verdict is another; nothing where one of the two looks brought no verdicts.
    pub has_changed_verdicts: Option<bool>,
}

/// Facts of a body's bytes, whatever they say.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyFacts {
    /// SHA-256 of the decoded bytes kept.
    pub sha256: [u8; 32],
    /// Whether it starts like a page; sniffed from the bytes, not from the type.
    pub is_html: bool,
    /// Its encoding, sniffed.
    pub charset: Charset,
}

crate::words! {
    /// How the bytes of a body are encoded, sniffed.
    pub enum Charset {
        /// All bytes below 0x80.
        Ascii = "ascii",
        /// Valid UTF-8 without a mark.
        Utf8 = "utf-8",
        /// Valid UTF-8 behind a byte order mark.
        Utf8Bom = "utf-8-bom",
        /// A little-endian UTF-16 byte order mark.
        Utf16le = "utf-16le",
        /// A big-endian UTF-16 byte order mark.
        Utf16be = "utf-16be",
        /// Anything else.
        Other = "other",
    }
}

/// What stands in a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Lines, the last one counted where it has no end.
    pub line_count: u32,
    /// Groups, as the file's lines make them (groups that name the same agent are not merged).
    pub group_count: u32,
    /// Allow lines with a value, in a group or not.
    pub allow_rule_count: u32,
    /// Disallow lines with a value, in a group or not.
    pub disallow_rule_count: u32,
    /// Values of Sitemap records, in order.
    pub sitemaps: Vec<String>,
    /// Oddities found, each word once, in the order of the vocabulary.
    pub oddities: Vec<crate::robots::Oddity>,
    /// Every key that is no user-agent, allow or disallow, lower-case, with its count, in order of first appearance.
    pub other_records: Vec<(String, u32)>,
    /// Every token on a user-agent line, `*` included, each once, in order of first appearance.
    pub named_agents: Vec<NamedAgent>,
}

/// One token that stands on a user-agent line, and what its groups ask.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedAgent {
    /// The token, lower-case, as the dialect compares it.
    pub token: String,
    /// As first written.
    pub as_written: String,
    /// Its level under the snapshot's definition.
    pub restriction: Restriction,
    /// Whether `/` may be fetched.
    pub root_allowed: bool,
    /// Whether a path that no rule names may be fetched.
    pub unnamed_allowed: bool,
    /// Allow rules of its groups.
    pub allow_rules: u32,
    /// Disallow rules of its groups.
    pub disallow_rules: u32,
    /// The Crawl-delay of its groups, in seconds, where a number is given.
    pub crawl_delay_s: Option<f64>,
    /// The first line that names it, from 1.
    pub line: u32,
}

/// What a target asks of crawlers, under the snapshot's definition.
#[expect(clippy::struct_excessive_bools, reason = "each is a column of its own")]
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Level for a crawler that no group names.
    pub unnamed_restriction: Restriction,
    /// Whether such a crawler may fetch `/`.
    pub unnamed_root_allowed: bool,
    /// One verdict per panel agent, in the panel's order.
    pub panel: Vec<AgentVerdict>,
    /// Whether at least one agent of `core-training-v1` is treated stricter than an unnamed crawler.
    pub core_training_stricter: bool,
    /// Whether at least one agent of `ai-v1` is fully or mostly restricted.
    pub any_ai: bool,
    /// Whether at least one agent of `ai-v1` is so by its own group.
    pub any_ai_named: bool,
}

/// What a target asks of one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentVerdict {
    /// The level.
    pub restriction: Restriction,
    /// What applies to the agent.
    pub by: By,
    /// The level against that of a crawler that no group names.
    pub vs_unnamed: Comparison,
    /// Whether `/` may be fetched.
    pub root_allowed: bool,
}

crate::words! {
    /// How much of a site is closed to an agent; ordered from open to closed.
    pub enum Restriction {
        /// No witness path is disallowed.
        None = "none",
        /// Some witness paths are disallowed; the unnamed path is allowed.
        Partial = "partial",
        /// The unnamed path is disallowed; some witness path is allowed: closed, with exceptions.
        Mostly = "mostly",
        /// All witness paths are disallowed.
        Full = "full",
    }
}

crate::words! {
    /// An agent's level against that of a crawler that no group names.
    pub enum Comparison {
        /// More is closed to the agent.
        Stricter = "stricter",
        /// The levels are equal.
        Same = "same",
        /// Less is closed to the agent.
        Looser = "looser",
    }
}

impl Comparison {
    /// Compares an agent's level with the unnamed crawler's.
    pub fn between(agent: Restriction, unnamed: Restriction) -> Self {
        match agent.cmp(&unnamed) {
            std::cmp::Ordering::Greater => Self::Stricter,
            std::cmp::Ordering::Equal => Self::Same,
            std::cmp::Ordering::Less => Self::Looser,
        }
    }
}

/// A SHA-256 in lower-case hexadecimal.
pub struct Hex<'a>(pub &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}
