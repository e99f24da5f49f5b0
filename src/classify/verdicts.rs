//! One file → the verdict for every agent.
//!
//! The tokens of the file are looked up among the agents, not the other way round: a file names a few, the catalogue
//! holds hundreds. Agents that share their groups share one verdict.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::classify::agents::{Catalogue, Purpose};
use crate::classify::definitions::{Definition, Opened, Question};
use crate::classify::row::{AgentVerdict, Comparison, Judgement, Restriction};
use crate::classify::witnesses::{Budget, UNNAMED_PATH};
use crate::robots::{By, Dialect, PathByGroup, RobotsTxt, Ruleset};

/// The set whose stricter treatment is the headline.
const CORE_TRAINING: &str = "core-training-v1";

/// The set of all AI tokens.
const AI: &str = "ai-v1";

/// The verdict on the rules of one combination of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetVerdict {
    /// The level.
    pub restriction: Restriction,
    /// Whether `/` may be fetched.
    pub root_allowed: bool,
    /// Whether a path that no rule names may be fetched.
    pub unnamed_allowed: bool,
    /// Allow rules with a value.
    pub allow_rules: u32,
    /// Disallow rules with a value.
    pub disallow_rules: u32,
}

/// The verdicts of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdicts {
    /// For a crawler that no group names.
    pub unnamed: SetVerdict,
    /// For each token of the file in its order ([`RobotsTxt::tokens`]); `*` is the unnamed crawler.
    pub tokens: Vec<SetVerdict>,
    /// For each agent of the catalogue in its order, and then for tokens that only its sets name.
    pub agents: Vec<AgentVerdict>,
    /// Whether the file took more work than is spent on one, so that some level is by the witnesses that were reached.
    pub is_in_part: bool,
}

impl Verdicts {
    pub(super) fn of(file: &RobotsTxt<'_>, definition: &Definition, asked: &Asked) -> Self {
        let mut judge = Judge::new(file, definition);
        let for_unnamed = file.rules_for_unnamed();
        let unnamed = judge.judge(b"*", &for_unnamed);
        let mut agents = if judge.opened.is_by_rules() {
            vec![agent_verdict(unnamed, for_unnamed.by(), unnamed); asked.names.len()]
        } else {
            let by_name = asked.names.iter().map(|name| judge.judge(name.as_bytes(), &for_unnamed));
            by_name.map(|verdict| agent_verdict(verdict, for_unnamed.by(), unnamed)).collect()
        };
        let mut tokens = Vec::with_capacity(file.tokens().len());
        for token in file.tokens() {
            let rules = file.set(token.set);
            if let Some(agent) = asked.position(token.name) {
                agents[agent] = agent_verdict(judge.judge(asked.names[agent].as_bytes(), &rules), By::Named, unnamed);
            }
            tokens.push(match token.name {
                b"*" => unnamed,
                _ => judge.judge(token.as_written, &rules),
            });
        }
        for agent in asked.by_head(file) {
            if agents[agent].by != By::Named {
                let rules = file.rules_for(&asked.names[agent]);
                if rules.by() == By::Named {
                    agents[agent] =
                        agent_verdict(judge.judge(asked.names[agent].as_bytes(), &rules), By::Named, unnamed);
                }
            }
        }
        Self { unnamed, tokens, agents, is_in_part: judge.budget.is_spent() }
    }
}

fn agent_verdict(verdict: SetVerdict, by: By, unnamed: SetVerdict) -> AgentVerdict {
    AgentVerdict {
        restriction: verdict.restriction,
        by,
        vs_unnamed: Comparison::between(verdict.restriction, unnamed.restriction),
        root_allowed: verdict.root_allowed,
    }
}

/// A file under one definition, with what is known once for all its agents.
pub(super) struct Judge {
    opened: Opened,
    inherits: bool,
    root: PathByGroup,
    unnamed: PathByGroup,
    budget: Budget,
    written_paths: OnceCell<Vec<Vec<u8>>>,
    /// The verdict of each rule set that was judged already.
    by_set: Vec<Option<SetVerdict>>,
}

impl Judge {
    pub(super) fn new(file: &RobotsTxt<'_>, definition: &Definition) -> Self {
        Self {
            opened: definition.open(file),
            inherits: definition.inherits,
            root: PathByGroup::new(file, b"/"),
            unnamed: PathByGroup::new(file, UNNAMED_PATH),
            budget: Budget::whole(),
            written_paths: OnceCell::new(),
            by_set: vec![None; file.set_count()],
        }
    }

    /// What is asked of the agent of that name, whose rules these are.
    pub(super) fn judge(&mut self, name: &[u8], rules: &Ruleset<'_>) -> SetVerdict {
        // Where nothing is inherited, rules mean another thing to those whom they do not name.
        let is_shared = self.opened.is_by_rules() && (self.inherits || rules.by() == By::Named);
        let set = rules.set().filter(|_| is_shared);
        if let Some(verdict) = set.and_then(|set| self.by_set[set]) {
            return verdict;
        }
        let root_allowed = self.root.judge(rules).allowed;
        let unnamed_allowed = self.unnamed.judge(rules).allowed;
        let mut question = Question {
            rules,
            root_allowed,
            unnamed_allowed,
            budget: &mut self.budget,
            written_paths: &self.written_paths,
        };
        let restriction = self.opened.judge(name, &mut question);
        let (allow_rules, disallow_rules) = rules.counts();
        let verdict = SetVerdict { restriction, root_allowed, unnamed_allowed, allow_rules, disallow_rules };
        if let Some(set) = set {
            self.by_set[set] = Some(verdict);
        }
        verdict
    }
}

/// The agents that every file is asked about.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    names: Vec<String>,
    by_name: HashMap<Box<[u8]>, usize>,
    longest: usize,
    /// Those with a `/`, which a token may match by the part before it.
    with_slash: Vec<usize>,
    panel: Vec<usize>,
    pub(super) core_training: Vec<usize>,
    pub(super) ai: Vec<usize>,
    /// Those of `ai` that serve AI search, users or agents.
    pub(super) other_ai: Vec<usize>,
    /// Tokens without a crawler, which govern a use.
    pub(super) opt_out_tokens: Vec<usize>,
}

impl Asked {
    pub(super) fn new(catalogue: &Catalogue) -> Self {
        let mut asked = Self {
            names: Vec::new(),
            by_name: HashMap::new(),
            longest: 0,
            with_slash: Vec::new(),
            panel: Vec::new(),
            core_training: Vec::new(),
            ai: Vec::new(),
            other_ai: Vec::new(),
            opt_out_tokens: Vec::new(),
        };
        for agent in catalogue.agents() {
            asked.add(&agent.token);
        }
        asked.panel = catalogue.panel().map(|agent| asked.add(&agent.token)).collect();
        let set = |asked: &mut Self, name| -> Vec<usize> {
            catalogue.set(name).unwrap_or_default().iter().map(|token| asked.add(token)).collect()
        };
        asked.core_training = set(&mut asked, CORE_TRAINING);
        asked.ai = set(&mut asked, AI);
        for (position, agent) in catalogue.agents().iter().enumerate() {
            let is_ai = asked.ai.contains(&position);
            match agent.purpose {
                Purpose::SearchIndex | Purpose::UserTriggered | Purpose::Agentic if is_ai => {
                    asked.other_ai.push(position);
                }
                Purpose::OptOutToken => asked.opt_out_tokens.push(position),
                _ => {}
            }
        }
        asked
    }

    /// Adds a name unless it is there.
    fn add(&mut self, name: &str) -> usize {
        let key = name.to_ascii_lowercase().into_bytes().into_boxed_slice();
        let next = self.names.len();
        let position = *self.by_name.entry(key).or_insert(next);
        if position == next {
            self.names.push(name.to_owned());
            self.longest = self.longest.max(name.len());
            if name.contains('/') {
                self.with_slash.push(next);
            }
        }
        position
    }

    fn position(&self, token: &[u8]) -> Option<usize> {
        if token.len() > self.longest || token == b"*" {
            return None;
        }
        self.by_name.get(token.to_ascii_lowercase().as_slice()).copied()
    }

    /// Whether a token of a file names an agent of `ai-v1`, as a whole or by the part before a `/`.
    pub(super) fn is_ai(&self, token: &[u8]) -> bool {
        let head = || memchr::memchr(b'/', token).and_then(|end| self.position(token[..end].trim_ascii_end()));
        self.position(token).or_else(head).is_some_and(|position| self.ai.contains(&position))
    }

    /// Agents that a token of the file may match by the part before a `/`.
    fn by_head(&self, file: &RobotsTxt<'_>) -> Vec<usize> {
        if file.has_heads() {
            (0..self.names.len()).collect()
        } else if file.dialect() == Dialect::Rfc9309 && file.tokens().len() > 0 {
            self.with_slash.clone()
        } else {
            Vec::new()
        }
    }

    /// What the snapshot's columns say of a file.
    pub(super) fn judgement(&self, verdicts: &Verdicts) -> Judgement {
        let of = |positions: &[usize], is_so: fn(&AgentVerdict) -> bool| {
            positions.iter().any(|position| is_so(&verdicts.agents[*position]))
        };
        Judgement {
            unnamed_restriction: verdicts.unnamed.restriction,
            unnamed_root_allowed: verdicts.unnamed.root_allowed,
            panel: self.panel.iter().map(|position| verdicts.agents[*position]).collect(),
            core_training_stricter: of(&self.core_training, |agent| agent.vs_unnamed == Comparison::Stricter),
            any_ai: of(&self.ai, |agent| agent.restriction >= Restriction::Mostly),
            any_ai_named: of(&self.ai, |agent| agent.restriction >= Restriction::Mostly && agent.by == By::Named),
        }
    }
}
