//! The catalogue of agents: whom the survey asks about, and what is known of them.
//!
//! It is data (`inputs/agents.toml`, embedded; another file can replace it), read once, with errors that name the file,
//! the line and the reason.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use toml::Spanned;

/// The embedded catalogue.
pub const EMBEDDED: &str = include_str!("../../inputs/agents.toml");

/// One agent of the catalogue.
#[expect(clippy::struct_excessive_bools, reason = "a record of independent facts, as the file has them")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// The product token as its operator writes it.
    pub token: String,
    /// Other names under which it is looked up here; a verdict is always for the token.
    pub aliases: Vec<String>,
    /// Who runs it.
    pub operator: String,
    /// What it fetches for.
    pub purpose: Purpose,
    /// Whether it is said to follow robots.txt.
    pub honours_robots: HonoursRobots,
    /// Who says so.
    pub basis: Basis,
    /// The month in which the operator announced or documented it.
    pub since: Option<String>,
    /// The first month in which a public AI list has it.
    pub first_listed: Option<String>,
    /// Whether the operator has given it up.
    pub deprecated: bool,
    /// Studies and platform templates that name it.
    pub in_lists: Vec<String>,
    /// What a reader of its figures should know.
    pub note: Option<String>,
    /// Where the facts come from.
    pub source: String,
    /// A baseline, no AI token.
    pub control: bool,
    /// Whether the token is within `A-Z a-z _ -` (RFC 9309, section 2.2.1).
    pub rfc9309_charset: bool,
    /// Whether it has columns of its own.
    pub panel: bool,
    /// Whether it serves training, grounding, AI search or AI agents.
    pub ai: bool,
}

crate::words! {
    /// What an agent fetches for.
    pub enum Purpose {
        /// Training of models.
        Training = "training",
        /// An index that answers are searched in.
        SearchIndex = "search-index",
        /// A person's request, at that moment.
        UserTriggered = "user-triggered",
        /// Nothing: a token that governs the use of what another crawler fetched.
        OptOutToken = "opt-out-token",
        /// A data set for others.
        Dataset = "dataset",
        /// An agent that acts on pages.
        Agentic = "agentic",
        /// The operator does not say.
        Undocumented = "undocumented",
        /// Something else: search, previews, archives.
        Other = "other",
    }
}

crate::words! {
    /// Whether an agent is said to follow robots.txt.
    pub enum HonoursRobots {
        /// It does.
        Yes = "yes",
        /// It does not, or may not.
        No = "no",
        /// Nobody says, or they disagree.
        Unclear = "unclear",
    }
}

crate::words! {
    /// Who says what is known of an agent.
    pub enum Basis {
        /// Its operator's documentation.
        OperatorDoc = "operator-doc",
        /// A public list.
        List = "list",
        /// Reports by third parties.
        Reported = "reported",
    }
}

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
    /// A set names a token that no entry has.
    #[error("set {set:?} names {token:?}, which is no token of this file")]
    UnknownToken {
        /// The set.
        set: String,
        /// The token as it stands there.
        token: String,
    },
}

/// A named, frozen set of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSet {
    /// Its name, with its version.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// Its tokens, as the file has them.
    pub tokens: Vec<String>,
}

/// The catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalogue {
    agents: Vec<Agent>,
    panel: Vec<usize>,
    sets: Vec<AgentSet>,
    by_name: HashMap<String, usize>,
    sha256: [u8; 32],
}

impl Catalogue {
    /// The embedded catalogue.
    pub fn embedded() -> Self {
        Self::read(EMBEDDED, "inputs/agents.toml").expect("a test reads the embedded catalogue")
    }

    /// Reads a catalogue; `file_name` stands in its errors.
    ///
    /// The panel and the frozen sets are fixed for a version of the schema: a file that marks no agent for the panel
    /// gets the embedded panel as far as it has those tokens, and a file without one of the embedded sets gets that set.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, CatalogueError> {
        let mut catalogue = Self::read(text, file_name)?;
        let embedded = Self::embedded();
        if catalogue.panel.is_empty() {
            catalogue.panel = embedded.panel().filter_map(|agent| catalogue.position(&agent.token)).collect();
        }
        for set in embedded.sets {
            if catalogue.set(&set.name).is_none() {
                catalogue.sets.push(set);
            }
        }
        Ok(catalogue)
    }

    fn read(text: &str, file_name: &str) -> Result<Self, CatalogueError> {
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

    /// Every agent, in the order of the file.
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// The agents of the panel, in the order of their columns.
    pub fn panel(&self) -> impl ExactSizeIterator<Item = &Agent> + '_ {
        self.panel.iter().map(|position| &self.agents[*position])
    }

    /// Where an agent stands in [`agents`](Self::agents), by its token or an alias, in any case.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.by_name.get(&name.to_ascii_lowercase()).copied()
    }

    /// The tokens of a named set.
    pub fn set(&self, name: &str) -> Option<&[String]> {
        self.sets.iter().find(|set| set.name == name).map(|set| set.tokens.as_slice())
    }

    /// Every named set.
    pub fn sets(&self) -> &[AgentSet] {
        &self.sets
    }

    /// SHA-256 of the file's bytes.
    pub fn sha256(&self) -> [u8; 32] {
        self.sha256
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn fails(text: &str, expected: &str) {
        assert_eq!(Catalogue::parse(text, "mine.toml").unwrap_err().to_string(), expected);
    }

    fn entry(token: &str, purpose: &str) -> String {
        format!(
            "[[agent]]\ntoken = \"{token}\"\noperator = \"o\"\npurpose = \"{purpose}\"\nhonours_robots = \"yes\"\n\
             basis = \"list\"\nsource = \"s\"\n"
        )
    }

    #[test]
    fn the_embedded_catalogue_is_whole() {
        let catalogue = Catalogue::embedded();
        assert_eq!(catalogue.agents().len(), 173);
        let panel: Vec<&str> = catalogue.panel().map(|agent| agent.token.as_str()).collect();
        assert_eq!(
            panel.join(" "),
            "GPTBot OAI-SearchBot ChatGPT-User ClaudeBot Claude-User Claude-SearchBot anthropic-ai Claude-Web \
             Google-Extended CCBot Bytespider PerplexityBot Perplexity-User Applebot-Extended Applebot Amazonbot \
             FacebookBot meta-externalagent cohere-ai Diffbot omgili ImagesiftBot Googlebot ia_archiver bingbot"
        );
        assert_eq!(catalogue.set("core-training-v1").unwrap().len(), 8);
        assert_eq!(catalogue.position("gptbot"), Some(0));
        assert_eq!(
            catalogue.position("brightbot 1.0"),
            catalogue.agents().iter().position(|a| a.token == "Brightbot 1.0")
        );
    }

    #[test]
    fn the_ai_flag_and_the_frozen_set_agree() {
        let catalogue = Catalogue::embedded();
        let flagged: Vec<&String> =
            catalogue.agents().iter().filter(|agent| agent.ai).map(|agent| &agent.token).collect();
        assert_eq!(catalogue.set("ai-v1").unwrap().iter().collect::<Vec<_>>(), flagged);
        let controls = catalogue.agents().iter().filter(|agent| agent.control && agent.ai);
        assert_eq!(controls.count(), 0);
    }

    #[test]
    fn the_charset_flag_is_true_to_the_token() {
        for agent in Catalogue::embedded().agents() {
            let is_plain = agent.token.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-' || b == b'_');
            assert_eq!(agent.rfc9309_charset, is_plain, "{}", agent.token);
        }
    }

    #[test]
    fn errors_name_file_line_and_reason() {
        let twice = entry("GPTBot", "training") + &entry("gptbot", "training");
        fails(&twice, "mine.toml, line 9: duplicate token \"gptbot\", first on line 2");
        fails(
            &entry("A", "trainig"),
            "mine.toml, line 4: unknown purpose \"trainig\"; known are: training, search-index, user-triggered, \
             opt-out-token, dataset, agentic, undocumented, other",
        );
        let set = entry("A", "other") + "[[set]]\nname = \"s\"\ndoc = \"d\"\ntokens = [\n\"A\",\n\"B\"]\n";
        fails(&set, "mine.toml, line 13: set \"s\" names \"B\", which is no token of this file");
        assert!(
            Catalogue::parse("agent = 3\n[x", "mine.toml").unwrap_err().to_string().starts_with("mine.toml, line ")
        );
    }

    #[test]
    fn a_file_without_panel_and_sets_gets_those_of_the_schema() {
        let catalogue = Catalogue::parse(&(entry("MyBot", "other") + &entry("ccbot", "dataset")), "f").unwrap();
        assert_eq!(catalogue.panel().map(|agent| agent.token.as_str()).collect::<Vec<_>>(), ["ccbot"]);
        assert_eq!(catalogue.set("core-training-v1"), Catalogue::embedded().set("core-training-v1"));
    }
}
