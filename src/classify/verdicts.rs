//! One file → the verdict for every agent.
//!
//! The tokens of the file are looked up among the agents, not the other way round: a file names a few, the catalogue
//! holds hundreds. Agents that share their groups share one verdict.

use std::collections::HashMap;

use crate::classify::agents::Catalogue;
use crate::classify::definitions::{Definition, Question};
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
    /// For each rule set of the file, by its number ([`RobotsTxt::set`]), as for an agent named by it.
    pub sets: Vec<SetVerdict>,
    /// For each agent of the catalogue in its order, and then for tokens that only its sets name.
    pub agents: Vec<AgentVerdict>,
    /// Whether the file took more work than is spent on one, so that some level is by the witnesses that were reached.
    pub is_in_part: bool,
}

impl Verdicts {
    pub(super) fn of(file: &RobotsTxt<'_>, definition: &Definition, asked: &Asked) -> Self {
        let mut judge = Judge {
            definition,
            root: PathByGroup::new(file, b"/"),
            unnamed: PathByGroup::new(file, UNNAMED_PATH),
            budget: Budget::whole(),
        };
        let for_unnamed = file.rules_for_unnamed();
        let unnamed = judge.judge(&for_unnamed);
        let sets = (0..file.set_count()).map(|set| {
            let is_same = definition.inherits && for_unnamed.set() == Some(set);
            if is_same { unnamed } else { judge.judge(&file.set(set)) }
        });
        let sets: Vec<SetVerdict> = sets.collect();
        let by_default = agent_verdict(unnamed, for_unnamed.by(), unnamed);
        let mut agents = vec![by_default; asked.names.len()];
        for token in file.tokens() {
            if let Some(agent) = asked.position(token.name) {
                agents[agent] = agent_verdict(sets[token.set], By::Named, unnamed);
            }
        }
        for agent in asked.by_head(file) {
            if agents[agent].by != By::Named {
                let rules = file.rules_for(&asked.names[agent]);
                if rules.by() == By::Named {
                    let verdict = rules.set().map_or_else(|| judge.judge(&rules), |set| sets[set]);
                    agents[agent] = agent_verdict(verdict, By::Named, unnamed);
                }
            }
        }
        Self { unnamed, sets, agents, is_in_part: judge.budget.is_spent() }
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

/// What is known once for all rule sets of a file.
struct Judge<'d> {
    definition: &'d Definition,
    root: PathByGroup,
    unnamed: PathByGroup,
    budget: Budget,
}

impl Judge<'_> {
    fn judge(&mut self, rules: &Ruleset<'_>) -> SetVerdict {
        let root_allowed = self.root.judge(rules).allowed;
        let unnamed_allowed = self.unnamed.judge(rules).allowed;
        let mut question = Question { rules, root_allowed, unnamed_allowed, budget: &mut self.budget };
        let restriction = self.definition.judge(&mut question);
        let (allow_rules, disallow_rules) = rules.counts();
        SetVerdict { restriction, root_allowed, unnamed_allowed, allow_rules, disallow_rules }
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
    core_training: Vec<usize>,
    ai: Vec<usize>,
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
