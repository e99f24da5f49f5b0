//! The share closed, for each host and agent.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::Arc;

use super::Answer;
use crate::classify::Verdict;
use crate::classify::row::Restriction;
use crate::input::Case;

/// How much of what was asked is closed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Share {
    /// Cases that were asked.
    pub cases: u64,
    /// Those without a verdict.
    pub unknown: u64,
    /// Those whose path is disallowed.
    pub disallowed: u64,
    /// The weight of all cases.
    pub weight: f64,
    /// The weight of those with a verdict: the denominator.
    pub determinable_weight: f64,
    /// The weight of those whose path is disallowed: the numerator.
    pub disallowed_weight: f64,
    /// The agent's level on the host, where it was asked for.
    pub restriction: Option<Restriction>,
}

impl Share {
    /// The share closed, of the weight with a verdict; nothing where there is none.
    pub fn closed(&self) -> Option<f64> {
        (self.determinable_weight > 0.0).then(|| self.disallowed_weight / self.determinable_weight)
    }

    fn add(&mut self, case: &Case, answer: &Answer) {
        self.cases += 1;
        self.weight += case.weight;
        match answer.verdict {
            Verdict::Unknown => self.unknown += 1,
            verdict => {
                self.determinable_weight += case.weight;
                if verdict == Verdict::Disallow {
                    self.disallowed += 1;
                    self.disallowed_weight += case.weight;
                }
            }
        }
    }
}

/// The shares of all hosts and agents, in the order in which they first came.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    by_host: InOrder<(Box<str>, Arc<str>)>,
    by_agent: InOrder<Arc<str>>,
}

impl Summary {
    /// Adds one answer.
    pub fn add(&mut self, case: &Case, answer: &Answer) {
        let share = self.by_host.share((case.host.clone(), Arc::clone(&case.agent)));
        share.add(case, answer);
        share.restriction = answer.restriction;
        self.by_agent.share(Arc::clone(&case.agent)).add(case, answer);
    }

    /// Host, agent and share.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &str, &Share)> {
        self.by_host.rows.iter().map(|((host, agent), share)| (&**host, &**agent, share))
    }

    /// Agent and share over all hosts.
    pub fn totals(&self) -> impl Iterator<Item = (&str, &Share)> {
        self.by_agent.rows.iter().map(|(agent, share)| (&**agent, share))
    }
}

/// Shares by key, in the order in which the keys first came.
#[derive(Clone, Debug)]
struct InOrder<K> {
    places: HashMap<K, usize>,
    rows: Vec<(K, Share)>,
}

impl<K> Default for InOrder<K> {
    fn default() -> Self {
        Self { places: HashMap::new(), rows: Vec::new() }
    }
}

impl<K: Clone + Eq + Hash> InOrder<K> {
    fn share(&mut self, key: K) -> &mut Share {
        let place = match self.places.entry(key) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                self.rows.push((entry.key().clone(), Share::default()));
                *entry.insert(self.rows.len() - 1)
            }
        };
        &mut self.rows[place].1
    }
}
