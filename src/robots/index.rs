//! The same verdict for many paths, in time that does not grow with the number of rules.
//!
//! Rules are sorted by what stands before their first special character. Those whose prefix begins a path are then an
//! element of the sorted list and its ancestors; ancestors are linked, and what plain prefixes decide is summed up
//! along the link. Only wildcard rules are still tried one by one, those alone whose prefix fits.

use std::borrow::Cow;
use std::ops::Range;

use crate::robots::pattern::{folder_of_index, matches, normalised_path};
use crate::robots::rules::{Best, is_always_allowed};
use crate::robots::{Decision, Dialect, Rule, Verb};

/// The rules of one agent, sorted for many questions.
#[derive(Clone, Debug)]
pub struct RuleIndex<'r> {
    dialect: Dialect,
    nodes: Vec<Node<'r>>,
    wild: Vec<Wild<'r>>,
}

/// One distinct prefix.
#[derive(Clone, Debug)]
struct Node<'r> {
    prefix: Cow<'r, [u8]>,
    /// The longest other prefix that begins this one.
    parent: Option<usize>,
    /// What plain prefixes decide for a path that starts so: this node's and its ancestors'.
    plain: Best,
    /// What anchored patterns decide for exactly this path.
    exact: Best,
    /// Wildcard rules that start so, the longest first.
    wild: Range<usize>,
    /// The nearest ancestor with wildcard rules.
    wild_parent: Option<usize>,
}

#[derive(Clone, Debug)]
struct Wild<'r> {
    pattern: Cow<'r, [u8]>,
    /// Bytes before its first special character.
    literal: usize,
    verb: Verb,
    line: u32,
}

impl<'r> RuleIndex<'r> {
    pub(super) fn new(dialect: Dialect, rules: impl Iterator<Item = Rule<'r>>) -> Self {
        let mut patterns = Vec::new();
        for rule in rules.filter(|rule| !rule.pattern.is_empty()) {
            let mut add = |pattern: Cow<'r, [u8]>| {
                patterns.push(Wild { literal: literal(&pattern).len(), pattern, verb: rule.verb, line: rule.line });
            };
            if let (Dialect::Google, Verb::Allow, Some(folder)) = (dialect, rule.verb, folder_of_index(rule.pattern)) {
                add(Cow::Owned(folder));
            }
            add(rule.normalised(dialect));
        }
        patterns.sort_unstable_by(|one, other| {
            let by_prefix = one.pattern[..one.literal].cmp(&other.pattern[..other.literal]);
            let by_length = by_prefix.then(other.pattern.len().cmp(&one.pattern.len()));
            by_length.then_with(|| (&one.pattern, one.verb, one.line).cmp(&(&other.pattern, other.verb, other.line)))
        });
        // Of rules that say the same the first one is named; there are files that repeat one thousands of times.
        patterns.dedup_by(|one, first| one.verb == first.verb && one.pattern == first.pattern);
        let mut index = Self { dialect, nodes: Vec::new(), wild: Vec::new() };
        for pattern in patterns {
            index.add(pattern);
        }
        index
    }

    /// The verdict on a path: what [`Ruleset::judge`](crate::robots::Ruleset::judge) says, but for the line of an
    /// empty rule in the `google` dialect.
    pub fn judge(&self, path: &[u8]) -> Decision {
        let mut steps = u64::MAX;
        self.judge_within(path, &mut steps).unwrap_or(Decision::NO_RULE)
    }

    /// The verdict, unless it takes more than so many steps, which are counted down; a step is a wildcard rule that is
    /// passed, or a byte compared with one.
    pub fn judge_within(&self, path: &[u8], steps: &mut u64) -> Option<Decision> {
        let path = normalised_path(self.dialect, path);
        if is_always_allowed(self.dialect, &path) {
            return Some(Decision::NO_RULE);
        }
        let mut found = self.nodes.partition_point(|node| node.prefix.as_ref() <= path.as_ref()).checked_sub(1);
        while let Some(node) = found
            && !path.starts_with(&self.nodes[node].prefix)
        {
            found = self.nodes[node].parent;
        }
        let Some(node) = found else { return Some(Best::default().decision()) };
        let mut best = self.nodes[node].plain;
        if self.nodes[node].prefix.len() == path.len() {
            best.merge(self.nodes[node].exact);
        }
        while let Some(node) = found {
            for rule in &self.wild[self.nodes[node].wild.clone()] {
                let length = u32::try_from(rule.pattern.len()).unwrap_or(u32::MAX);
                if best.outranks(rule.verb, length) {
                    *steps = steps.checked_sub(1)?;
                    continue;
                }
                *steps = steps.checked_sub((rule.pattern.len() + path.len()) as u64)?;
                if matches(&rule.pattern, &path) {
                    best.take(rule.verb, length, rule.line);
                }
            }
            found = self.nodes[node].wild_parent;
        }
        Some(best.decision())
    }

    /// Adds the next pattern in order of prefixes.
    fn add(&mut self, rule: Wild<'r>) {
        let prefix = rule.literal;
        let is_new = self.nodes.last().is_none_or(|last| last.prefix.as_ref() != &rule.pattern[..prefix]);
        if is_new {
            self.add_node(match &rule.pattern {
                Cow::Borrowed(pattern) => Cow::Borrowed(&pattern[..prefix]),
                Cow::Owned(pattern) => Cow::Owned(pattern[..prefix].to_vec()),
            });
        }
        let node = self.nodes.last_mut().expect("one was added if there was none");
        let length = u32::try_from(rule.pattern.len()).unwrap_or(u32::MAX);
        match &rule.pattern[prefix..] {
            [] => node.plain.take(rule.verb, length, rule.line),
            [b'$'] => node.exact.take(rule.verb, length, rule.line),
            _ => {
                self.wild.push(rule);
                node.wild.end = self.wild.len();
            }
        }
    }

    fn add_node(&mut self, prefix: Cow<'r, [u8]>) {
        let mut parent = self.nodes.len().checked_sub(1);
        while let Some(node) = parent
            && !prefix.starts_with(&self.nodes[node].prefix)
        {
            parent = self.nodes[node].parent;
        }
        let above = parent.map(|parent| &self.nodes[parent]);
        let wild_parent = match above {
            Some(node) if node.wild.is_empty() => node.wild_parent,
            _ => parent,
        };
        let plain = above.map_or_else(Best::default, |node| node.plain);
        let wild = self.wild.len()..self.wild.len();
        self.nodes.push(Node { prefix, parent, plain, exact: Best::default(), wild, wild_parent });
    }
}

/// What stands before the first special character of a normalised pattern.
fn literal(pattern: &[u8]) -> &[u8] {
    let end = memchr::memchr(b'*', pattern).unwrap_or(pattern.len());
    match &pattern[..end] {
        [start @ .., b'$'] if end == pattern.len() => start,
        start => start,
    }
}
