//! A file, read: its facts, and the rules that apply to an agent.

use std::borrow::Cow;

use crate::robots::groups::{Group, Grouping, Reader, Record, StoredRecord};
use crate::robots::lines;
use crate::robots::oddities::{Finding, Findings};
use crate::robots::rules::{By, Ruleset, StoredRule};
use crate::robots::tokens::{Token, Tokens};
use crate::robots::{Dialect, Rule};

/// A robots.txt file, read.
#[derive(Clone, Debug)]
pub struct RobotsTxt<'a> {
    body: &'a [u8],
    dialect: Dialect,
    line_count: u32,
    findings: Findings,
    /// Rules in file order; those before the first group come first and belong to nobody.
    rules: Vec<StoredRule>,
    groups: Vec<Group>,
    records: Vec<StoredRecord>,
    has_known_record: bool,
    tokens: Tokens<'a>,
}

impl<'a> RobotsTxt<'a> {
    /// Reads a body.
    ///
    /// Never fails: each line that can be used is used (RFC 9309, section 2.3.1.5). Bytes beyond 4 GiB are not read;
    /// the limit of the survey itself is far below.
    pub fn parse(bytes: &'a [u8], dialect: Dialect) -> Self {
        Self::parse_grouped(bytes, dialect, Grouping::Rfc9309)
    }

    /// The same by another model of where groups end: only to find out whether it would matter.
    pub fn parse_grouped(bytes: &'a [u8], dialect: Dialect, grouping: Grouping) -> Self {
        let body = &bytes[..bytes.len().min(u32::MAX as usize - 1)];
        let mut reader = Reader::new(body, grouping);
        let line_count = lines::read(body, dialect, &mut reader);
        let tokens = Tokens::collect(body, dialect, &reader.agents);
        let Reader { findings, rules, groups, records, has_known_record, .. } = reader;
        Self { body, dialect, line_count, findings, rules, groups, records, has_known_record, tokens }
    }

    /// The bytes that were read.
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// How they were read.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Lines, the last one counted where it has no end.
    pub fn line_count(&self) -> u32 {
        self.line_count
    }

    /// Groups in file order; groups that name the same agent are not merged here.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Every Allow and Disallow record in file order, empty ones and those outside any group included.
    pub fn rules(&self) -> impl Iterator<Item = Rule<'a>> + '_ {
        self.rules.iter().map(|rule| rule.of(self.body))
    }

    /// Whether a rule with a value stands in a group.
    pub fn has_rules(&self) -> bool {
        self.groups.iter().any(|group| group.allow_rules + group.disallow_rules > 0)
    }

    /// Every other record in file order, known or not.
    pub fn records(&self) -> impl Iterator<Item = Record<'a>> + '_ {
        self.records.iter().map(|record| Record {
            key: record.key.of(self.body),
            value: record.value.of(self.body),
            line: record.line,
            group: (record.group as usize).checked_sub(1),
        })
    }

    /// Whether at least one line is a known record ([`KNOWN_KEYS`](crate::robots::KNOWN_KEYS)).
    pub fn has_known_record(&self) -> bool {
        self.has_known_record
    }

    /// What is odd in the file, each oddity once, in the order of the vocabulary.
    ///
    /// Of `ambiguous-grouping` only the occasion is known here, a record between user-agent lines; whether it changes
    /// any verdict is for [`classify`](crate::classify) to find out.
    pub fn oddities(&self) -> impl Iterator<Item = Finding> + '_ {
        self.findings.iter()
    }

    /// Every token on a user-agent line, `*` included, each once, in order of first appearance.
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = Token<'a>> + '_ {
        self.tokens.iter()
    }

    /// How many distinct rule sets the tokens of the file have.
    pub fn set_count(&self) -> usize {
        self.tokens.set_count()
    }

    /// The rules of one such set, as for an agent that is named by it.
    pub fn set(&self, set: usize) -> Ruleset<'_> {
        Ruleset::new(self, By::Named, Cow::Borrowed(self.tokens.groups_of_set(set)), Some(set))
    }

    /// The rules that apply to an agent (RFC 9309, section 2.2.1).
    ///
    /// Groups that name it are merged, wherever they stand; `*` is taken only where no group names it. Under `rfc9309`
    /// names are compared whole, and only if no group of the file matches so, by the part before a `/`, so that
    /// `GPTBot/1.2` names GPTBot. Under `google` the file's token is cut at the first byte outside the alphabet, and
    /// the name asked for is not.
    pub fn rules_for(&self, agent: &str) -> Ruleset<'_> {
        if agent == "*" {
            return self.rules_for_unnamed();
        }
        if let Some(set) = self.tokens.set_by_name(agent.as_bytes()) {
            return self.set(set);
        }
        match self.tokens.sets_by_head(agent.as_bytes()).as_slice() {
            [] => self.rules_for_unnamed(),
            [set] => self.set(*set),
            several => {
                let groups = several.iter().flat_map(|set| self.tokens.groups_of_set(*set));
                let mut groups: Vec<u32> = groups.copied().collect();
                groups.sort_unstable();
                groups.dedup();
                Ruleset::new(self, By::Named, Cow::Owned(groups), None)
            }
        }
    }

    /// The tokens through which these rules come to apply to an agent: its own, else `*`, else none.
    pub fn tokens_for(&self, agent: &str) -> Vec<Token<'a>> {
        let own = if agent == "*" { Vec::new() } else { self.tokens.matching(agent.as_bytes()) };
        if own.is_empty() { self.tokens.matching(b"*") } else { own }
    }

    /// The rules that apply to a crawler that no group names.
    pub fn rules_for_unnamed(&self) -> Ruleset<'_> {
        match self.tokens.star() {
            Some(set) => Ruleset::new(self, By::Wildcard, Cow::Borrowed(self.tokens.groups_of_set(set)), Some(set)),
            None => Ruleset::new(self, By::Default, Cow::Borrowed(&[]), None),
        }
    }

    /// Whether a name could match a token by the part before a `/` alone.
    pub fn has_heads(&self) -> bool {
        self.tokens.has_heads()
    }

    /// The value of the first Crawl-delay record in one of the groups of a set.
    pub fn crawl_delay(&self, set: usize) -> Option<&'a [u8]> {
        let record =
            self.tokens.groups_of_set(set).iter().find_map(|group| self.groups[*group as usize].crawl_delay)?;
        Some(self.records[record as usize].value.of(self.body))
    }

    /// The rules of one group, by its place in the file.
    pub(super) fn stored_rules(&self, group: u32) -> &[StoredRule] {
        let start = self.groups[group as usize].first_rule as usize;
        let end = self.groups.get(group as usize + 1).map_or(self.rules.len(), |next| next.first_rule as usize);
        &self.rules[start..end]
    }
}
