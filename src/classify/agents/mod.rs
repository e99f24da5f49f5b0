//! The catalogue of agents: whom the survey asks about, and what is known of them.
//!
//! It is data (`inputs/agents.toml`, embedded; another file can replace it), read once, with errors that name the file,
//! the line and the reason.

use std::collections::HashMap;

mod reading;

pub use reading::{CatalogueError, CatalogueFault};

/// The embedded catalogue.
/// The built-in catalogue, as the file it is.
pub const EMBEDDED: &str = include_str!("../../../inputs/agents.toml");

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
        Self::read(EMBEDDED, "inputs/agents.toml", &[]).expect("a test reads the embedded catalogue")
    }

    /// Reads a catalogue; `file_name` stands in its errors.
    ///
    /// The panel and the frozen sets are fixed for a version of the schema: a file that marks no agent for the panel
    /// gets the embedded panel as far as it has those tokens, a file without one of the embedded sets gets that set, and
    /// none may give one of their names to other tokens: figures under one name must count the same agents.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, CatalogueError> {
        let embedded = Self::embedded();
        let mut catalogue = Self::read(text, file_name, &embedded.sets)?;
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
    fn a_frozen_set_keeps_its_tokens() {
        let changed =
            EMBEDDED.replacen("\"GPTBot\", \"ClaudeBot\", \"Google-Extended\"", "\"GPTBot\", \"Google-Extended\"", 1);
        assert_ne!(changed, EMBEDDED);
        let error = Catalogue::parse(&changed, "mine.toml").unwrap_err();
        assert_eq!(error.reason, CatalogueFault::Frozen { set: "core-training-v1".into() });
        let line = changed.lines().position(|line| line == "name = \"core-training-v1\"").unwrap() + 1;
        assert_eq!(error.line, line);
        assert!(Catalogue::parse(EMBEDDED, "mine.toml").is_ok());
    }

    #[test]
    fn a_file_without_panel_and_sets_gets_those_of_the_schema() {
        let catalogue = Catalogue::parse(&(entry("MyBot", "other") + &entry("ccbot", "dataset")), "f").unwrap();
        assert_eq!(catalogue.panel().map(|agent| agent.token.as_str()).collect::<Vec<_>>(), ["ccbot"]);
        assert_eq!(catalogue.set("core-training-v1"), Catalogue::embedded().set("core-training-v1"));
    }
}
