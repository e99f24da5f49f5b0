//! Rules of one agent, and their verdict on a path.

use std::borrow::Cow;

use crate::robots::lines::Span;
use crate::robots::pattern::{index_match_length, match_length, normalised_path, normalised_pattern};
use crate::robots::{Dialect, RobotsTxt, RuleIndex};

crate::words! {
    /// Which rules apply to an agent.
    pub enum By {
        /// Its own group.
        Named = "named",
        /// The `*` group, since no group names it.
        Wildcard = "wildcard",
        /// No group applies.
        Default = "default",
    }
}

crate::words! {
    /// What a rule does.
    pub enum Verb {
        /// It opens the paths that match.
        Allow = "allow",
        /// It closes them.
        Disallow = "disallow",
    }
}

/// One Allow or Disallow record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule<'a> {
    /// What it does.
    pub verb: Verb,
    /// The pattern as written; empty where the record has no value, and then it decides nothing.
    pub pattern: &'a [u8],
    /// The line, from 1.
    pub line: u32,
}

impl<'a> Rule<'a> {
    /// The pattern as the dialect compares and measures it.
    pub fn normalised(&self, dialect: Dialect) -> Cow<'a, [u8]> {
        normalised_pattern(dialect, self.pattern)
    }
}

/// The verdict on one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether the path may be fetched.
    pub allowed: bool,
    /// The line of the rule that decided; 0 where none did.
    pub line: u32,
}

impl Decision {
    /// Allowed, since no rule says otherwise.
    pub(super) const NO_RULE: Self = Self { allowed: true, line: 0 };
}

/// Whether a (normalised) path is allowed whatever the rules say (RFC 9309, section 2.2.2).
pub(super) fn is_always_allowed(dialect: Dialect, path: &[u8]) -> bool {
    dialect == Dialect::Rfc9309 && path == b"/robots.txt"
}

/// The verdicts of every group of a file on one path.
///
/// Agents are named by many combinations of groups; this is asked once and combined for each.
#[derive(Clone, Debug)]
pub struct PathByGroup {
    is_always_allowed: bool,
    bests: Vec<Best>,
}

impl PathByGroup {
    /// Judges a path by each group of the file.
    pub fn new(file: &RobotsTxt<'_>, path: &[u8]) -> Self {
        let path = normalised_path(file.dialect(), path);
        let groups = 0..u32::try_from(file.groups().len()).unwrap_or(u32::MAX);
        Self {
            is_always_allowed: is_always_allowed(file.dialect(), &path),
            bests: groups.map(|group| Best::of(file, file.stored_rules(group), &path)).collect(),
        }
    }

    /// The verdict of rules of the same file: what [`Ruleset::judge`] says of the path.
    pub fn judge(&self, rules: &Ruleset<'_>) -> Decision {
        if self.is_always_allowed {
            return Decision::NO_RULE;
        }
        let mut best = Best::default();
        for group in rules.groups() {
            best.merge(self.bests[*group as usize]);
        }
        best.decision()
    }
}

/// The rules that apply to one agent: those of all its groups, merged.
#[derive(Clone, Debug)]
pub struct Ruleset<'r> {
    file: &'r RobotsTxt<'r>,
    by: By,
    groups: Cow<'r, [u32]>,
    set: Option<usize>,
}

impl<'r> Ruleset<'r> {
    pub(super) fn new(file: &'r RobotsTxt<'r>, by: By, groups: Cow<'r, [u32]>, set: Option<usize>) -> Self {
        Self { file, by, groups, set }
    }

    /// The file.
    pub fn file(&self) -> &'r RobotsTxt<'r> {
        self.file
    }

    /// Why these rules apply.
    pub fn by(&self) -> By {
        self.by
    }

    /// The number of these rules among the file's sets, if they are one of them ([`RobotsTxt::set`]).
    pub fn set(&self) -> Option<usize> {
        self.set
    }

    /// The groups, by their place in the file.
    pub fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// The rules in file order, empty ones included.
    pub fn rules(&self) -> impl Iterator<Item = Rule<'r>> + '_ {
        let body = self.file.body();
        self.stored().map(move |rule| rule.of(body))
    }

    /// How many Allow and Disallow rules with a value there are.
    pub fn counts(&self) -> (u32, u32) {
        let groups = self.groups.iter().map(|group| &self.file.groups()[*group as usize]);
        groups.fold((0, 0), |(allow, disallow), group| (allow + group.allow_rules, disallow + group.disallow_rules))
    }

    /// The verdict on a path: what follows the authority of a URL, query included (RFC 9309, section 2.2.2).
    ///
    /// The longest pattern that matches wins, Allow wins among equals, and a path that no rule matches is allowed. Under
    /// `rfc9309` `/robots.txt` is always allowed.
    pub fn judge(&self, path: &[u8]) -> Decision {
        let dialect = self.file.dialect();
        let path = normalised_path(dialect, path);
        if is_always_allowed(dialect, &path) {
            return Decision::NO_RULE;
        }
        Best::of(self.file, self.stored(), &path).decision()
    }

    /// The same for many paths: sorts the rules once.
    pub fn index(&self) -> RuleIndex<'r> {
        RuleIndex::new(self.file.dialect(), self.rules())
    }

    pub(super) fn stored(&self) -> impl Iterator<Item = &'r StoredRule> + '_ {
        let file = self.file;
        self.groups.iter().flat_map(move |group| file.stored_rules(*group))
    }
}

/// The longest match so far, Allow and Disallow apart: its octets and one more, so that 0 is no match, and its line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Best {
    allow: (u32, u32),
    disallow: (u32, u32),
}

impl Best {
    fn of<'s>(file: &RobotsTxt<'_>, rules: impl IntoIterator<Item = &'s StoredRule>, path: &[u8]) -> Self {
        let mut best = Self::default();
        for rule in rules {
            best.try_rule(file.dialect(), rule.verb, rule.value.of(file.body()), rule.line, path);
        }
        best
    }

    #[inline]
    pub(super) fn try_rule(&mut self, dialect: Dialect, verb: Verb, pattern: &[u8], line: u32, path: &[u8]) {
        let length = match match_length(dialect, pattern, path) {
            None if verb == Verb::Allow && dialect == Dialect::Google => index_match_length(pattern, path),
            // An empty pattern never decides, but Google's parser names its line where nothing else matches.
            Some(0) if dialect == Dialect::Rfc9309 => None,
            found => found,
        };
        if let Some(length) = length {
            self.take(verb, length, line);
        }
    }

    /// Takes a match; among equals the first keeps its line.
    #[inline]
    pub(super) fn take(&mut self, verb: Verb, length: u32, line: u32) {
        let best = match verb {
            Verb::Allow => &mut self.allow,
            Verb::Disallow => &mut self.disallow,
        };
        if length >= best.0 || (length + 1 == best.0 && line < best.1) {
            *best = (length + 1, line);
        }
    }

    /// Takes what another group, or another kind of pattern, has found.
    pub(super) fn merge(&mut self, other: Self) {
        for (verb, (length, line)) in [(Verb::Allow, other.allow), (Verb::Disallow, other.disallow)] {
            if let Some(length) = length.checked_sub(1) {
                self.take(verb, length, line);
            }
        }
    }

    /// Whether a match of that length would change nothing.
    pub(super) fn outranks(self, verb: Verb, length: u32) -> bool {
        length + 1 < if verb == Verb::Allow { self.allow.0 } else { self.disallow.0 }
    }

    pub(super) fn decision(self) -> Decision {
        let (best, is_allow) =
            if self.allow.0 >= self.disallow.0 { (self.allow, true) } else { (self.disallow, false) };
        Decision { allowed: is_allow || best.0 == 1, line: best.1 }
    }
}

/// A rule as the file keeps it.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredRule {
    pub(super) value: Span,
    pub(super) line: u32,
    pub(super) verb: Verb,
}

impl StoredRule {
    pub(super) fn of(self, body: &[u8]) -> Rule<'_> {
        Rule { verb: self.verb, pattern: self.value.of(body), line: self.line }
    }
}
