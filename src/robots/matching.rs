//! Every rule that matches a path, for whoever wants to know why.

use crate::robots::pattern::{index_match_length, match_length, normalised_path};
use crate::robots::{Dialect, Rule, Ruleset, Verb};

/// A rule that matches a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match<'r> {
    /// The rule.
    pub rule: Rule<'r>,
    /// The octets that it counts: those of its normalised pattern (RFC 9309, section 2.2.2).
    pub octets: u32,
}

impl<'r> Ruleset<'r> {
    /// The rules that match a path, the one that decides first ([`judge`](Self::judge) names its line), then in the
    /// order in which they would. Of `/robots.txt` under `rfc9309` none decides, whatever matches.
    pub fn matches(&self, path: &[u8]) -> Vec<Match<'r>> {
        let dialect = self.file().dialect();
        let path = normalised_path(dialect, path);
        let octets = |rule: &Rule<'_>| match (dialect, rule.verb) {
            (Dialect::Rfc9309, _) => match_length(dialect, rule.pattern, &path).filter(|octets| *octets > 0),
            (Dialect::Google, Verb::Disallow) => match_length(dialect, rule.pattern, &path),
            (Dialect::Google, Verb::Allow) => {
                match_length(dialect, rule.pattern, &path).or_else(|| index_match_length(rule.pattern, &path))
            }
        };
        let mut found: Vec<_> =
            self.rules().filter_map(|rule| octets(&rule).map(|octets| Match { rule, octets })).collect();
        found.sort_by_key(|Match { rule, octets }| (std::cmp::Reverse(*octets), rule.verb, rule.line));
        found
    }
}
