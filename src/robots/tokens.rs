//! User-agent records → distinct tokens, and the rule sets that agents share (RFC 9309, section 2.2.1).

use std::hash::{BuildHasher, Hash, Hasher};
use std::iter::successors;
use std::mem;
use std::ops::Range;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::robots::Dialect;
use crate::robots::groups::AgentLine;
use crate::robots::lines::{Span, count, is_space};

/// Tokens up to which a search along the list beats a hash table.
const FEW: usize = 8;

/// A token that stands on a user-agent line.
#[derive(Clone, Debug)]
pub struct Token<'r> {
    /// As the dialect compares it, apart from case.
    pub name: &'r [u8],
    /// The whole value of the line that has it first.
    pub as_written: &'r [u8],
    /// That line, from 1.
    pub line: u32,
    /// The rules of its groups; equal numbers mean the same groups (`RobotsTxt::set`).
    pub set: usize,
}

/// The distinct tokens of a file.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    body: &'a [u8],
    dialect: Dialect,
    all: Vec<StoredToken>,
    /// All of them by name, once they are more than a few.
    by_name: HashTable<u32>,
    /// Tokens with a `/`, by the part before it: the last one with that part, which leads to those before.
    by_head: HashTable<u32>,
    /// Groups of each token, one range after the other.
    groups: Vec<u32>,
    /// Distinct lists of groups, as ranges of `groups`.
    sets: Vec<Range<u32>>,
    star: Option<u32>,
    /// Seeded anew for each file, so that no file can know which names collide.
    hasher: DefaultHashBuilder,
}

#[derive(Clone, Debug)]
struct StoredToken {
    name: Span,
    written: Span,
    line: u32,
    set: u32,
    /// The one before it with the same part before a `/`.
    previous_by_head: Option<u32>,
}

impl<'a> Tokens<'a> {
    /// Gives each distinct token its groups, and tokens with the same groups one set.
    pub(super) fn collect(body: &'a [u8], dialect: Dialect, agents: &[AgentLine]) -> Self {
        let mut tokens = Self {
            body,
            dialect,
            all: Vec::new(),
            by_name: HashTable::new(),
            by_head: HashTable::new(),
            groups: Vec::new(),
            sets: Vec::new(),
            star: None,
            hasher: DefaultHashBuilder::default(),
        };
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(agents.len());
        for agent in agents {
            let name = tokens.name_of(agent.value);
            if name.is_empty() {
                continue;
            }
            let token = tokens.find(name.of(body)).unwrap_or_else(|| tokens.add(name, agent));
            pairs.push((token, agent.group));
        }
        pairs.sort_unstable();
        pairs.dedup();
        tokens.groups = pairs.iter().map(|(_, group)| *group).collect();
        tokens.share_sets(&pairs);
        tokens
    }

    /// Every token, in order of first appearance.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = Token<'a>> + '_ {
        self.all.iter().map(|token| self.token(token))
    }

    fn token(&self, token: &StoredToken) -> Token<'a> {
        Token {
            name: token.name.of(self.body),
            as_written: token.written.of(self.body),
            line: token.line,
            set: token.set as usize,
        }
    }

    /// How many sets there are.
    pub(super) fn set_count(&self) -> usize {
        self.sets.len()
    }

    /// The groups of a set, by their place in the file.
    pub(super) fn groups_of_set(&self, set: usize) -> &[u32] {
        let Range { start, end } = self.sets[set];
        &self.groups[start as usize..end as usize]
    }

    /// The set of `*`.
    pub(super) fn star(&self) -> Option<usize> {
        self.star.map(|star| self.set_of(star))
    }

    /// Whether a token could match by the part before its `/`.
    pub(super) fn has_heads(&self) -> bool {
        !self.by_head.is_empty()
    }

    /// The set of the token that is this name, as a whole.
    pub(super) fn set_by_name(&self, name: &[u8]) -> Option<usize> {
        self.find(name).map(|token| self.set_of(token))
    }

    /// The tokens that match a name: the one that is this name as a whole, else those that match by the part before a
    /// `/`.
    pub(super) fn matching(&self, name: &[u8]) -> Vec<Token<'a>> {
        let found = self.find(name).map_or_else(|| self.tokens_by_head(name), |token| vec![token]);
        found.into_iter().map(|token| self.token(&self.all[token as usize])).collect()
    }

    /// The sets of tokens that match a name by the part before a `/`; no whole one did.
    pub(super) fn sets_by_head(&self, name: &[u8]) -> Vec<usize> {
        self.tokens_by_head(name).into_iter().map(|token| self.set_of(token)).collect()
    }

    /// The tokens that match a name by the part before a `/`, of the token or of the name.
    fn tokens_by_head(&self, name: &[u8]) -> Vec<u32> {
        if self.dialect == Dialect::Google {
            return Vec::new();
        }
        let head = head(name).unwrap_or(name);
        let last = self.by_head.find(self.hash(head), |token| self.has_head(*token, head)).copied();
        let with_head = successors(last, |token| self.all[*token as usize].previous_by_head);
        let without = if head.len() < name.len() { self.find(head) } else { None };
        let mut tokens: Vec<u32> = with_head.chain(without).collect();
        tokens.sort_unstable();
        tokens
    }

    fn set_of(&self, token: u32) -> usize {
        self.all[token as usize].set as usize
    }

    fn find(&self, name: &[u8]) -> Option<u32> {
        let is_it = |token: &StoredToken| token.name.of(self.body).eq_ignore_ascii_case(name);
        if self.all.len() <= FEW {
            return self.all.iter().position(is_it).map(count);
        }
        self.by_name.find(self.hash(name), |token| is_it(&self.all[*token as usize])).copied()
    }

    fn add(&mut self, name: Span, agent: &AgentLine) -> u32 {
        let token = count(self.all.len());
        let text = name.of(self.body);
        self.all.push(StoredToken { name, written: agent.value, line: agent.line, set: 0, previous_by_head: None });
        let Self { body, all, by_name, hasher, .. } = self;
        if all.len() > FEW {
            let hash = |token: &u32| hasher.hash_one(Folded(all[*token as usize].name.of(body)));
            let first = if all.len() == FEW + 1 { 0 } else { token };
            for token in first..=token {
                by_name.insert_unique(hash(&token), token, hash);
            }
        }
        if text == b"*" {
            self.star = Some(token);
        } else if let (Dialect::Rfc9309, Some(head)) = (self.dialect, head(text)) {
            self.add_head(token, head);
        }
        token
    }

    fn add_head(&mut self, token: u32, head: &[u8]) {
        let Self { body, all, by_head, hasher, .. } = self;
        let head_of = |token: u32| Folded(self::head(all[token as usize].name.of(body)).unwrap_or_default());
        let hash = |token: &u32| hasher.hash_one(head_of(*token));
        let entry = by_head.entry(hash(&token), |last| head_of(*last) == Folded(head), hash);
        let previous = match entry {
            Entry::Occupied(mut last) => Some(mem::replace(last.get_mut(), token)),
            Entry::Vacant(place) => {
                place.insert(token);
                None
            }
        };
        all[token as usize].previous_by_head = previous;
    }

    fn has_head(&self, token: u32, head: &[u8]) -> bool {
        self::head(self.name(token)).is_some_and(|of_token| Folded(of_token) == Folded(head))
    }

    fn name(&self, token: u32) -> &'a [u8] {
        self.all[token as usize].name.of(self.body)
    }

    fn hash(&self, name: &[u8]) -> u64 {
        self.hasher.hash_one(Folded(name))
    }

    /// `pairs` are tokens and their groups, sorted.
    fn share_sets(&mut self, pairs: &[(u32, u32)]) {
        // Sets by their groups, where there are more than a few.
        let mut known: HashTable<u32> = HashTable::new();
        let mut start = 0;
        for chunk in pairs.chunk_by(|one, other| one.0 == other.0) {
            let end = start + chunk.len();
            let groups = &self.groups[start..end];
            let is_same = |set: &u32| self.groups_of_set(*set as usize) == groups;
            let next = count(self.sets.len());
            let set = if self.all.len() <= FEW {
                (0..next).find(is_same)
            } else {
                let hash = |set: &u32| self.hasher.hash_one(self.groups_of_set(*set as usize));
                let entry = known.entry(self.hasher.hash_one(groups), is_same, hash);
                Some(*entry.or_insert(next).get())
            };
            if set.is_none_or(|set| set == next) {
                self.sets.push(count(start)..count(end));
            }
            self.all[chunk[0].0 as usize].set = set.unwrap_or(next);
            start = end;
        }
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

/// The part of a name before its first `/`, if it has one and the part can be a name; `*` is none.
fn head(name: &[u8]) -> Option<&[u8]> {
    let slash = memchr::memchr(b'/', name)?;
    let end = name[..slash].iter().rposition(|byte| !is_space(*byte))? + 1;
    Some(&name[..end]).filter(|head| *head != b"*")
}

/// The alphabet of product tokens (RFC 9309, section 2.2.1).
pub(super) const fn is_of_alphabet(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_')
}
