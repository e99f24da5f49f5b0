//! Records → groups.

use crate::robots::Verb;
use crate::robots::keys::{Key, is_known};
use crate::robots::lines::{Records, Span, count};
use crate::robots::oddities::{Findings, Oddity, has_look_alike};
use crate::robots::rules::StoredRule;
use crate::robots::tokens::is_of_alphabet;

crate::words! {
    /// Which records end a run of user-agent lines, so that the next such line begins another group.
    pub enum Grouping {
        /// Allow and Disallow only (RFC 9309, section 2.2.4).
        Rfc9309 = "rfc9309",
        /// Content-Usage too, which is a rule by the draft that updates RFC 9309 (draft-ietf-aipref-attach).
        Aipref = "aipref",
        /// Any record: what site owners often mean, and what naive readers do.
        AnyRecord = "any-record",
    }
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
    pub(super) first_rule: u32,
    /// The first Crawl-delay record in it.
    pub(super) crawl_delay: Option<u32>,
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

#[derive(Clone, Copy, Debug)]
pub(super) struct StoredRecord {
    pub(super) key: Span,
    pub(super) value: Span,
    pub(super) line: u32,
    pub(super) group: u32,
}

/// A user-agent record as the file keeps it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AgentLine {
    pub(super) value: Span,
    pub(super) line: u32,
    pub(super) group: u32,
}

/// Collects the records of a file while its lines are read.
#[derive(Default)]
pub(super) struct Reader<'a> {
    pub(super) body: &'a [u8],
    pub(super) findings: Findings,
    pub(super) rules: Vec<StoredRule>,
    pub(super) groups: Vec<Group>,
    pub(super) records: Vec<StoredRecord>,
    pub(super) agents: Vec<AgentLine>,
    pub(super) has_known_record: bool,
    /// Nothing is the grouping of RFC 9309.
    grouping: Option<Grouping>,
    /// The last group's run of user-agent lines still goes on.
    is_run_open: bool,
    /// Another record came after a user-agent line of that run.
    is_run_interrupted: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(body: &'a [u8], grouping: Grouping) -> Self {
        Self { body, grouping: Some(grouping), ..Self::default() }
    }

    /// Whether a record of this key, which is no rule, ends a run of user-agent lines.
    fn ends_run(&self, key: &[u8]) -> bool {
        match self.grouping {
            None | Some(Grouping::Rfc9309) => false,
            Some(Grouping::Aipref) => key.eq_ignore_ascii_case(b"content-usage"),
            Some(Grouping::AnyRecord) => true,
        }
    }

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
        if self.ends_run(name) {
            self.is_run_open = false;
        }
        self.has_known_record = self.has_known_record || is_known(name);
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
