//! The catalogue's file: its shape, and errors that name the file, the line and the reason.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use toml::Spanned;

use crate::classify::agents::{Agent, AgentSet, Basis, Catalogue, HonoursRobots, Purpose};

/// Why a catalogue cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}, line {line}: {reason}")]
pub struct CatalogueError {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: CatalogueFault,
}

/// What is wrong with a catalogue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueFault {
    /// It is no TOML of this shape.
    #[error("{0}")]
    Syntax(String),
    /// A token, or the name of a set, is empty.
    #[error("an empty {0}")]
    Empty(&'static str),
    /// Two entries have one name; case does not count.
    #[error("duplicate {kind} {name:?}, first on line {first}")]
    Duplicate {
        /// Whether a token, an alias or a set.
        kind: &'static str,
        /// The name as it stands there.
        name: String,
        /// The line that has it first.
        first: usize,
    },
    /// A word that is not in its closed list.
    #[error("unknown {field} {word:?}; known are: {known}")]
    UnknownWord {
        /// The field.
        field: &'static str,
        /// The word as it stands there.
        word: String,
        /// The words of the list.
        known: String,
    },
    /// A set has the name of a frozen one and other tokens.
    #[error("set {set:?} is frozen with other tokens; give yours a name of its own")]
    Frozen {
        /// The set.
        set: String,
    },
    /// A set names a token that no entry has.
    #[error("set {set:?} names {token:?}, which is no token of this file")]
    UnknownToken {
        /// The set.
        set: String,
        /// The token as it stands there.
        token: String,
    },
}

impl Catalogue {
    /// Reads a file as it stands; sets that are frozen elsewhere keep their tokens.
    pub(super) fn read(text: &str, file_name: &str, frozen: &[AgentSet]) -> Result<Self, CatalogueError> {
        let fail = |span: Range<usize>, reason| CatalogueError {
            file: file_name.to_owned(),
            line: line_of(text, span.start),
            reason,
        };
        let file: CatalogueFile = toml::from_str(text).map_err(|error| {
            fail(error.span().unwrap_or_default(), CatalogueFault::Syntax(error.message().to_owned()))
        })?;
        let mut tokens = Names::new(text, "token");
        for entry in &file.agent {
            tokens.add(&entry.token).map_err(|(span, fault)| fail(span, fault))?;
        }
        let mut aliases = Names::new(text, "alias");
        for alias in file.agent.iter().flat_map(|entry| &entry.aliases) {
            aliases.add(alias).map_err(|(span, fault)| fail(span, fault))?;
        }
        let mut sets = Names::new(text, "set");
        for set in &file.set {
            sets.add(&set.name).map_err(|(span, fault)| fail(span, fault))?;
            let is_changed = |frozen: &AgentSet| {
                frozen.name == *set.name.get_ref() && !set.tokens.iter().map(Spanned::get_ref).eq(&frozen.tokens)
            };
            if frozen.iter().any(is_changed) {
                return Err(fail(set.name.span(), CatalogueFault::Frozen { set: set.name.get_ref().clone() }));
            }
            for token in &set.tokens {
                if !tokens.has(token.get_ref()) {
                    let (set, token_text) = (set.name.get_ref().clone(), token.get_ref().clone());
                    return Err(fail(token.span(), CatalogueFault::UnknownToken { set, token: token_text }));
                }
            }
        }
        let agents = file.agent.into_iter().map(Agent::try_from).collect::<Result<Vec<_>, _>>();
        let agents = agents.map_err(|(span, fault)| fail(span, fault))?;
        let mut by_name = HashMap::new();
        // A token goes before an alias of the same name: some variants are entries of their own.
        for (position, agent) in agents.iter().enumerate() {
            by_name.insert(agent.token.to_ascii_lowercase(), position);
        }
        for (position, agent) in agents.iter().enumerate() {
            for alias in &agent.aliases {
                by_name.entry(alias.to_ascii_lowercase()).or_insert(position);
            }
        }
        let panel = agents.iter().enumerate().filter(|(_, agent)| agent.panel).map(|(position, _)| position).collect();
        let sets = file.set.into_iter().map(|set| AgentSet {
            name: set.name.into_inner(),
            doc: set.doc,
            tokens: set.tokens.into_iter().map(Spanned::into_inner).collect(),
        });
        let sets = sets.collect();
        Ok(Self { agents, panel, sets, by_name, sha256: Sha256::digest(text.as_bytes()).into() })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CatalogueFile {
    #[serde(rename = "schema_version")]
    _schema_version: Option<u32>,
    #[serde(rename = "compiled")]
    _compiled: Option<String>,
    agent: Vec<Entry>,
    #[serde(default)]
    set: Vec<SetEntry>,
}

#[expect(clippy::struct_excessive_bools, reason = "the shape of the file")]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    token: Spanned<String>,
    #[serde(default)]
    aliases: Vec<Spanned<String>>,
    operator: String,
    purpose: Spanned<String>,
    honours_robots: Spanned<String>,
    basis: Spanned<String>,
    since: Option<String>,
    first_listed: Option<String>,
    #[serde(default)]
    deprecated: bool,
    #[serde(default)]
    in_lists: Vec<String>,
    note: Option<String>,
    source: String,
    #[serde(default)]
    control: bool,
    #[serde(default = "yes")]
    rfc9309_charset: bool,
    #[serde(default)]
    panel: bool,
    #[serde(default)]
    ai: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetEntry {
    name: Spanned<String>,
    doc: String,
    tokens: Vec<Spanned<String>>,
}

const fn yes() -> bool {
    true
}

/// A fault and the bytes of the file that have it.
type Faulty = (Range<usize>, CatalogueFault);

impl TryFrom<Entry> for Agent {
    type Error = Faulty;

    fn try_from(entry: Entry) -> Result<Self, Faulty> {
        Ok(Self {
            token: entry.token.into_inner(),
            aliases: entry.aliases.into_iter().map(Spanned::into_inner).collect(),
            operator: entry.operator,
            purpose: word_of("purpose", &entry.purpose, Purpose::from_word, Purpose::ALL)?,
            honours_robots: word_of(
                "honours_robots",
                &entry.honours_robots,
                HonoursRobots::from_word,
                HonoursRobots::ALL,
            )?,
            basis: word_of("basis", &entry.basis, Basis::from_word, Basis::ALL)?,
            since: entry.since,
            first_listed: entry.first_listed,
            deprecated: entry.deprecated,
            in_lists: entry.in_lists,
            note: entry.note,
            source: entry.source,
            control: entry.control,
            rfc9309_charset: entry.rfc9309_charset,
            panel: entry.panel,
            ai: entry.ai,
        })
    }
}

fn word_of<W: ToString>(
    field: &'static str,
    word: &Spanned<String>,
    from_word: fn(&str) -> Option<W>,
    all: &[W],
) -> Result<W, Faulty> {
    from_word(word.get_ref()).ok_or_else(|| {
        let known = all.iter().map(W::to_string).collect::<Vec<_>>().join(", ");
        (word.span(), CatalogueFault::UnknownWord { field, word: word.get_ref().clone(), known })
    })
}

/// Names that must differ, whatever their case, and where they stand.
struct Names<'t> {
    text: &'t str,
    kind: &'static str,
    seen: HashMap<String, usize>,
}

impl<'t> Names<'t> {
    fn new(text: &'t str, kind: &'static str) -> Self {
        Self { text, kind, seen: HashMap::new() }
    }

    fn add(&mut self, name: &Spanned<String>) -> Result<(), Faulty> {
        if name.get_ref().trim().is_empty() {
            return Err((name.span(), CatalogueFault::Empty(self.kind)));
        }
        match self.seen.insert(name.get_ref().to_ascii_lowercase(), name.span().start) {
            None => Ok(()),
            Some(first) => {
                let (name_text, first) = (name.get_ref().clone(), line_of(self.text, first));
                Err((name.span(), CatalogueFault::Duplicate { kind: self.kind, name: name_text, first }))
            }
        }
    }

    fn has(&self, name: &str) -> bool {
        self.seen.contains_key(&name.to_ascii_lowercase())
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].split(|byte| *byte == b'\n').count()
}
