//! Bytes → the file's groups, rules and facts (RFC 9309); agent choice; path match.
//!
//! [`RobotsTxt::parse`] reads a body once, in one of two [`Dialect`]s, and answers for any number of agents and paths.
//! It takes any bytes: there is no error, no panic and no allocation per line, and the cost is linear in the input.
//! Everything is a range of the body; nothing is copied until somebody asks for text.
//!
//! | file | what it is |
//! |---|---|
//! | `keys.rs` | the closed list of known records, and the misspellings that Google's parser takes |
//! | `stops.rs` | where lines end |
//! | `lines.rs` | bytes → lines → records |
//! | `oddities.rs` | the vocabulary of what is odd in a file, with line numbers |
//! | `groups.rs` | records → groups |
//! | `tokens.rs` | user-agent records → distinct tokens, and the rule sets that agents share |
//! | `file.rs` | the file: its facts, and the rules that apply to an agent |
//! | `rules.rs` | rules of one agent, and their verdict on a path |
//! | `index.rs` | the same verdict for many paths, in time that does not grow with the number of rules |
//! | `matching.rs` | all rules that match a path, in the order in which they would decide |
//! | `pattern.rs` | percent-encoding and wildcards |
//! | `quote.rs` | a line of the file by its number |
//!
//! Touches nothing. Deliberately absent: what a verdict means (that is `classify`), which agents exist, HTTP, and any
//! guess about encodings: UTF-16 has no rules here, as it has none for a crawler.

mod file;
mod groups;
mod index;
mod keys;
mod lines;
mod matching;
mod oddities;
mod pattern;
mod quote;
mod rules;
mod stops;
mod tokens;

pub use file::RobotsTxt;
pub use groups::{Group, Grouping, Record};
pub use index::RuleIndex;
pub use keys::KNOWN_KEYS;
pub use matching::Match;
pub use oddities::{Finding, Oddity};
pub use rules::{By, Decision, PathByGroup, Rule, Ruleset, Verb};
pub use tokens::Token;

/// Version of the reading: it moves whenever the same bytes may be read differently.
pub const PARSER_VERSION: &str = "2";

crate::words! {
    /// How a file is read where crawlers differ.
    pub enum Dialect {
        /// The grammar and the matching of RFC 9309, with the leniency that it asks for.
        Rfc9309 = "rfc9309",
        /// What Google's open-source parser decides, bit for bit.
        Google = "google",
    }
}

#[cfg(test)]
mod tests;
