//! Records → groups, tokens, and the rule sets that agents share.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::ops::Range;

use crate::robots::keys::{Key, is_known};
use crate::robots::lines::{self, Records, Span, is_space};
use crate::robots::oddities::{Finding, Findings, Oddity, has_look_alike};
use crate::robots::rules::{By, Ruleset, StoredRule, Verb};
use crate::robots::{Dialect, Rule};

/// Tokens up to which a search along the list beats a hash table.
const FEW: usize = 8;

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
    tokens: Vec<StoredToken>,
    by_token: HashMap<Folded<'a>, u32>,
    /// Tokens with a `/`, by the part before it.
    by_head: HashMap<Folded<'a>, Vec<u32>>,
    /// Groups of each token, one range after the other.
    token_groups: Vec<u32>,
    /// Distinct lists of groups, as ranges of `token_groups`.
    sets: Vec<Range<u32>>,
    star: Option<u32>,
}

/// A group as the file's lines make it: a run of user-agent lines and what follows until the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The line of its first user-agent record, from 1.
    pub line: u32,
    /// Allow records with a value.
    pub allow_rules: u32,
    /// Disallow records with a value.
    pub disallow_rules: u32,
    first_rule: u32,
    /// The first Crawl-delay record in it.
    crawl_delay: Option<u32>,
}

/// A record that is no user-agent, Allow or Disallow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The key as written.
    pub key: &'a [u8],
    /// The value without comment and white space around.
    pub value: &'a [u8],
    /// The line, from 1.
    pub line: u32,
    /// The group in which it stands, by its place in the file; nothing before the first one.
    pub group: Option<usize>,
}

/// A token that stands on a user-agent line.
#[derive(Clone, Debug)]
pub struct Token<'r> {
    /// As the dialect compares it, apart from case.
    pub name: &'r [u8],
    /// The whole value of the line that has it first.
    pub as_written: &'r [u8],
    /// That line, from 1.
    pub line: u32,
    /// The rules of its groups; equal numbers mean the same groups ([`RobotsTxt::set`]).
    pub set: usize,
}

#[derive(Clone, Copy, Debug)]
struct StoredRecord {
    key: Span,
    value: Span,
    line: u32,
    group: u32,
}

#[derive(Clone, Debug)]
struct StoredToken {
    name: Span,
    written: Span,
    line: u32,
    set: u32,
}

impl<'a> RobotsTxt<'a> {
    /// Reads a body.
    ///
    /// Never fails: each line that can be used is used (RFC 9309, section 2.3.1.5). Bytes beyond 4 GiB are not read;
    /// the limit of the survey itself is far below.
    pub fn parse(bytes: &'a [u8], dialect: Dialect) -> Self {
        let body = &bytes[..bytes.len().min(u32::MAX as usize - 1)];
        let mut reader = Reader { body, ..Reader::default() };
        let line_count = lines::read(body, dialect, &mut reader);
        let Reader { findings, rules, groups, records, agents, has_known_record, .. } = reader;
        let mut file = Self {
            body,
            dialect,
            line_count,
            findings,
            rules,
            groups,
            records,
            has_known_record,
            tokens: Vec::new(),
            by_token: HashMap::new(),
            by_head: HashMap::new(),
            token_groups: Vec::new(),
            sets: Vec::new(),
            star: None,
        };
        file.collect_tokens(&agents);
        file
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
    pub fn oddities(&self) -> impl Iterator<Item = Finding> + '_ {
        self.findings.iter()
    }

    /// Every token on a user-agent line, `*` included, each once, in order of first appearance.
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = Token<'_>> + '_ {
        self.tokens.iter().map(|token| Token {
            name: token.name.of(self.body),
            as_written: token.written.of(self.body),
            line: token.line,
            set: token.set as usize,
        })
    }

    /// How many distinct rule sets the tokens of the file have.
    pub fn set_count(&self) -> usize {
        self.sets.len()
    }

    /// The rules of one such set, as for an agent that is named by it.
    pub fn set(&self, set: usize) -> Ruleset<'_> {
        Ruleset::new(self, By::Named, Cow::Borrowed(self.groups_of_set(set)), Some(set))
    }

    /// The rules that apply to an agent (RFC 9309, section 2.2.1).
    ///
    /// Groups that name it are merged, wherever they stand; `*` is taken only where no group names it. Under `rfc9309`
    /// names are compared whole, and only if no group of the file matches so, by the part before a `/`, so that
    /// `GPTBot/1.2` names GPTBot. Under `google` the file's token is cut at the first byte outside the alphabet, and
    /// the name asked for is not.
    pub fn rules_for(&self, agent: &str) -> Ruleset<'_> {
        let agent = agent.as_bytes();
        if let Some(token) = self.token(agent) {
            return self.set(self.tokens[token as usize].set as usize);
        }
        let named = self.tokens_by_head(agent);
        match named.as_slice() {
            [] => self.rules_for_unnamed(),
            [token] => self.set(self.tokens[*token as usize].set as usize),
            several => {
                let sets = several.iter().map(|token| self.tokens[*token as usize].set as usize);
                let mut groups: Vec<u32> = sets.flat_map(|set| self.groups_of_set(set)).copied().collect();
                groups.sort_unstable();
                groups.dedup();
                Ruleset::new(self, By::Named, Cow::Owned(groups), None)
            }
        }
    }

    /// The rules that apply to a crawler that no group names.
    pub fn rules_for_unnamed(&self) -> Ruleset<'_> {
        match self.star {
            Some(star) => {
                let set = self.tokens[star as usize].set as usize;
                Ruleset::new(self, By::Wildcard, Cow::Borrowed(self.groups_of_set(set)), Some(set))
            }
            None => Ruleset::new(self, By::Default, Cow::Borrowed(&[]), None),
        }
    }

    /// Whether a name could match a token by the part before a `/` alone.
    pub fn has_heads(&self) -> bool {
        !self.by_head.is_empty()
    }

    /// The value of the first Crawl-delay record in one of the groups of a set.
    pub fn crawl_delay(&self, set: usize) -> Option<&'a [u8]> {
        let record = self.groups_of_set(set).iter().find_map(|group| self.groups[*group as usize].crawl_delay)?;
        Some(self.records[record as usize].value.of(self.body))
    }

    /// The rules of one group, by its place in the file.
    pub(super) fn stored_rules(&self, group: u32) -> &[StoredRule] {
        let start = self.groups[group as usize].first_rule as usize;
        let end = self.groups.get(group as usize + 1).map_or(self.rules.len(), |next| next.first_rule as usize);
        &self.rules[start..end]
    }

    fn groups_of_set(&self, set: usize) -> &[u32] {
        let Range { start, end } = self.sets[set];
        &self.token_groups[start as usize..end as usize]
    }

    fn token(&self, name: &[u8]) -> Option<u32> {
        if self.tokens.len() > FEW {
            return self.by_token.get(&Folded(name)).copied();
        }
        let place = self.tokens.iter().position(|token| token.name.of(self.body).eq_ignore_ascii_case(name))?;
        u32::try_from(place).ok()
    }

    /// Tokens that match a name by the part before a `/`, of the token or of the name; no whole one did.
    fn tokens_by_head(&self, agent: &[u8]) -> Vec<u32> {
        if self.dialect == Dialect::Google {
            return Vec::new();
        }
        let head = head(agent).unwrap_or(agent);
        let mut tokens = self.by_head.get(&Folded(head)).cloned().unwrap_or_default();
        if head.len() < agent.len() && head != b"*" {
            tokens.extend(self.token(head));
        }
        tokens
    }

    /// Gives each distinct token its groups, and tokens with the same groups one set.
    fn collect_tokens(&mut self, agents: &[AgentLine]) {
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(agents.len());
        for agent in agents {
            let name = self.name_of(agent.value);
            if name.is_empty() {
                continue;
            }
            let token = self.token(name.of(self.body)).unwrap_or_else(|| self.add_token(name, agent));
            pairs.push((token, agent.group));
        }
        pairs.sort_unstable();
        pairs.dedup();
        self.token_groups = pairs.iter().map(|(_, group)| *group).collect();
        let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut start = 0;
        for chunk in pairs.chunk_by(|one, other| one.0 == other.0) {
            let end = start + chunk.len();
            let groups = &self.token_groups[start..end];
            let set = if self.tokens.len() <= FEW {
                (0..self.sets.len()).find(|set| self.groups_of_set(*set) == groups)
            } else {
                known.get(groups).map(|set| *set as usize)
            };
            let set = set.unwrap_or_else(|| {
                if self.tokens.len() > FEW {
                    known.insert(groups.to_vec(), count(self.sets.len()));
                }
                self.sets.push(count(start)..count(end));
                self.sets.len() - 1
            });
            self.tokens[chunk[0].0 as usize].set = count(set);
            start = end;
        }
    }

    fn add_token(&mut self, name: Span, agent: &AgentLine) -> u32 {
        let token = count(self.tokens.len());
        let text = name.of(self.body);
        self.tokens.push(StoredToken { name, written: agent.value, line: agent.line, set: 0 });
        if self.tokens.len() == FEW + 1 {
            let all = self.tokens.iter().enumerate();
            self.by_token = all.map(|(token, stored)| (Folded(stored.name.of(self.body)), count(token))).collect();
        } else if self.tokens.len() > FEW {
            self.by_token.insert(Folded(text), token);
        }
        if text == b"*" {
            self.star = Some(token);
        } else if let (Dialect::Rfc9309, Some(head)) = (self.dialect, head(text)) {
            self.by_head.entry(Folded(head)).or_default().push(token);
        }
        token
    }

    /// What a user-agent line's value names.
    fn name_of(&self, value: Span) -> Span {
        if self.dialect == Dialect::Rfc9309 {
            return value;
        }
        let length = match value.of(self.body) {
            [b'*'] => 1,
            [b'*', next, ..] if is_space(*next) => 1,
            text => text.iter().take_while(|byte| is_of_alphabet(**byte)).count(),
        };
        Span { start: value.start, end: value.start + count(length) }
    }
}

#[derive(Clone, Copy, Debug)]
struct AgentLine {
    value: Span,
    line: u32,
    group: u32,
}

/// Collects the records of a file while its lines are read.
#[derive(Default)]
struct Reader<'a> {
    body: &'a [u8],
    findings: Findings,
    rules: Vec<StoredRule>,
    groups: Vec<Group>,
    records: Vec<StoredRecord>,
    agents: Vec<AgentLine>,
    has_known_record: bool,
    /// The last group's run of user-agent lines still goes on.
    is_run_open: bool,
    /// Another record came after a user-agent line of that run.
    is_run_interrupted: bool,
}

impl Records for Reader<'_> {
    fn user_agent(&mut self, value: Span, line: u32) {
        self.has_known_record = true;
        if !self.is_run_open {
            let first_rule = count(self.rules.len());
            self.groups.push(Group { line, allow_rules: 0, disallow_rules: 0, first_rule, crawl_delay: None });
            self.is_run_open = true;
        } else if self.is_run_interrupted {
            self.findings.note(Oddity::AmbiguousGrouping, line);
        }
        self.is_run_interrupted = false;
        self.agents.push(AgentLine { value, line, group: count(self.groups.len() - 1) });
        let text = value.of(self.body);
        if !text.iter().all(|byte| is_of_alphabet(*byte)) {
            self.note_token(text, line);
        } else if text.is_empty() {
            self.findings.note(Oddity::EmptyUserAgent, line);
        }
    }

    #[inline]
    fn rule(&mut self, key: Key, value: Span, line: u32) {
        self.has_known_record = true;
        self.is_run_open = false;
        let verb = if key == Key::Allow { Verb::Allow } else { Verb::Disallow };
        match self.groups.last_mut() {
            None => self.findings.note(Oddity::RuleBeforeGroup, line),
            Some(_) if value.is_empty() => {}
            Some(group) if verb == Verb::Allow => group.allow_rules += 1,
            Some(group) => group.disallow_rules += 1,
        }
        if !matches!(value.of(self.body), [] | [b'/' | b'*', ..]) {
            self.findings.note(Oddity::NoLeadingSlash, line);
        }
        self.rules.push(StoredRule { value, line, verb });
    }

    fn other(&mut self, key: Span, value: Span, line: u32) {
        self.is_run_interrupted = true;
        let name = key.of(self.body);
        self.has_known_record |= is_known(name);
        if let Some(group) = self.groups.last_mut()
            && group.crawl_delay.is_none()
            && name.eq_ignore_ascii_case(b"crawl-delay")
        {
            group.crawl_delay = Some(count(self.records.len()));
        }
        self.records.push(StoredRecord { key, value, line, group: count(self.groups.len()) });
    }

    fn note(&mut self, oddity: Oddity, line: u32) {
        self.findings.note(oddity, line);
    }
}

impl Reader<'_> {
    /// Notes what is odd in a user-agent value that is no identifier.
    fn note_token(&mut self, text: &[u8], line: u32) {
        if text == b"*" {
            return;
        }
        self.findings.note(Oddity::TokenOutsideAlphabet, line);
        if memchr::memchr(b',', text).is_some() {
            self.findings.note(Oddity::CommaList, line);
        }
        if has_look_alike(text) {
            self.findings.note(Oddity::LookAlike, line);
        }
    }
}

/// A token as a key: case of ASCII letters does not count.
#[derive(Clone, Copy, Debug)]
struct Folded<'a>(&'a [u8]);

impl PartialEq for Folded<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(other.0)
    }
}

impl Eq for Folded<'_> {}

impl Hash for Folded<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut buffer = [0; 32];
        for chunk in self.0.chunks(buffer.len()) {
            let folded = &mut buffer[..chunk.len()];
            folded.copy_from_slice(chunk);
            folded.make_ascii_lowercase();
            state.write(folded);
        }
        state.write_usize(self.0.len());
    }
}

/// The part of a name before its first `/`, if it has one and the part is not empty.
fn head(name: &[u8]) -> Option<&[u8]> {
    let slash = memchr::memchr(b'/', name)?;
    Some(name[..slash].trim_ascii_end()).filter(|head| !head.is_empty())
}

/// The alphabet of product tokens (RFC 9309, section 2.2.1).
const fn is_of_alphabet(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_')
}

/// Counts fit: each item takes at least one byte of a body of less than 4 GiB.
#[expect(clippy::cast_possible_truncation, reason = "the body is cut at u32::MAX bytes before it is read")]
#[inline]
const fn count(items: usize) -> u32 {
    items as u32
}
