//! User-agent records → distinct tokens, and the rule sets that agents share (RFC 9309, section 2.2.1).

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::ops::Range;

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
    by_name: HashMap<Folded<'a>, u32>,
    /// Tokens with a `/`, by the part before it.
    by_head: HashMap<Folded<'a>, Vec<u32>>,
    /// Groups of each token, one range after the other.
    groups: Vec<u32>,
    /// Distinct lists of groups, as ranges of `groups`.
    sets: Vec<Range<u32>>,
    star: Option<u32>,
}

#[derive(Clone, Debug)]
struct StoredToken {
    name: Span,
    written: Span,
    line: u32,
    set: u32,
}

impl<'a> Tokens<'a> {
    /// Gives each distinct token its groups, and tokens with the same groups one set.
    pub(super) fn collect(body: &'a [u8], dialect: Dialect, agents: &[AgentLine]) -> Self {
        let mut tokens = Self {
            body,
            dialect,
            all: Vec::new(),
            by_name: HashMap::new(),
            by_head: HashMap::new(),
            groups: Vec::new(),
            sets: Vec::new(),
            star: None,
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
        let mut tokens = self.by_head.get(&Folded(head)).cloned().unwrap_or_default();
        if head.len() < name.len() {
            tokens.extend(self.find(head));
        }
        tokens
    }

    fn set_of(&self, token: u32) -> usize {
        self.all[token as usize].set as usize
    }

    fn find(&self, name: &[u8]) -> Option<u32> {
        if self.all.len() > FEW {
            return self.by_name.get(&Folded(name)).copied();
        }
        self.all.iter().position(|token| token.name.of(self.body).eq_ignore_ascii_case(name)).map(count)
    }

    fn add(&mut self, name: Span, agent: &AgentLine) -> u32 {
        let token = count(self.all.len());
        let text = name.of(self.body);
        self.all.push(StoredToken { name, written: agent.value, line: agent.line, set: 0 });
        if self.all.len() == FEW + 1 {
            let all = self.all.iter().enumerate();
            self.by_name = all.map(|(token, stored)| (Folded(stored.name.of(self.body)), count(token))).collect();
        } else if self.all.len() > FEW {
            self.by_name.insert(Folded(text), token);
        }
        if text == b"*" {
            self.star = Some(token);
        } else if let (Dialect::Rfc9309, Some(head)) = (self.dialect, head(text)) {
            self.by_head.entry(Folded(head)).or_default().push(token);
        }
        token
    }

    /// `pairs` are tokens and their groups, sorted.
    fn share_sets(&mut self, pairs: &[(u32, u32)]) {
        let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut start = 0;
        for chunk in pairs.chunk_by(|one, other| one.0 == other.0) {
            let end = start + chunk.len();
            let groups = &self.groups[start..end];
            let same = if self.all.len() <= FEW {
                (0..self.sets.len()).find(|set| self.groups_of_set(*set) == groups)
            } else {
                known.get(groups).copied()
            };
            let set = same.unwrap_or_else(|| {
                if self.all.len() > FEW {
                    known.insert(groups.to_vec(), self.sets.len());
                }
                self.sets.push(count(start)..count(end));
                self.sets.len() - 1
            });
            self.all[chunk[0].0 as usize].set = count(set);
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
