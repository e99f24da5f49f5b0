//! Witness paths: what the definition `rfc` looks at to say how much of a site is closed.
//!
//! They are `/`, a path that no rule names, and two paths made from each rule. The question is only whether all of
//! them meet the same verdict, so the search stops at the first that does not: in ordinary files at the first it tries.
//!
//! # Cost
//!
//! The first few are judged by a scan of the rules, the rest through a [`RuleIndex`](crate::robots::RuleIndex), in time
//! that is linear in the file but for wildcard rules with one common prefix, and for thousands of agents that share a
//! long group and each have another one. The work is counted, and a file that takes more than [`STEPS`] is judged by
//! the witnesses that were reached, which is said as an oddity of the file ([`Budget::is_spent`]). The count is of work,
//! not of time: equal bytes get equal verdicts.

use crate::robots::{Decision, Rule, RuleIndex, Ruleset, Verb};

/// The path that stands for all that no rule names.
pub const UNNAMED_PATH: &[u8] = b"/dummy-testing-path-54321";

/// What is spent on one file's witnesses: about as many comparisons of a byte.
///
/// It is made for hostile files, which take 40 ms or so; of 38,000 real ones in two dialects none took a sixteenth of it.
pub const STEPS: u64 = 1 << 23;

/// What is spent on one file's written paths, by the definitions that look at them all for every agent.
///
/// Two real files, with hundreds of paths and agents, take more than [`STEPS`].
const WRITTEN_STEPS: u64 = 1 << 27;

/// What it takes to try a rule on a path, in bytes compared.
const TRY: u64 = 4;

/// What it takes to sort a rule into an index.
const SORT: u64 = 32;

/// What it takes to find a path's place in an index.
const LOOK_UP: u64 = 32;

/// What may still be spent on one file, and whether it was not enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    steps: u64,
    written_steps: u64,
    is_spent: bool,
}

impl Budget {
    /// All of it.
    pub(super) const fn whole() -> Self {
        Self { steps: STEPS, written_steps: WRITTEN_STEPS, is_spent: false }
    }

    /// Whether a search was given up, so that some level is by the witnesses that were reached.
    pub const fn is_spent(self) -> bool {
        self.is_spent
    }
}

/// Whether a witness made from a rule meets another verdict than this one, as far as the budget goes.
pub(super) fn some_differ(rules: &Ruleset<'_>, allowed: bool, budget: &mut Budget) -> bool {
    let some_differ = search(rules, allowed, &mut budget.steps);
    budget.is_spent |= some_differ.is_none();
    some_differ.unwrap_or(false)
}

/// Whether one of these paths meets another verdict than this one, as far as the budget goes.
pub(super) fn some_of_paths_differ(rules: &Ruleset<'_>, allowed: bool, paths: &[Vec<u8>], budget: &mut Budget) -> bool {
    let mut judge = PathSearch::new(rules);
    for path in paths {
        match judge.judge(path, &mut budget.written_steps) {
            Some(decision) if decision.allowed == allowed => {}
            Some(_) => return true,
            None => {
                budget.is_spent = true;
                return false;
            }
        }
    }
    false
}

/// The answer, unless the steps run out.
fn search(rules: &Ruleset<'_>, allowed: bool, steps: &mut u64) -> Option<bool> {
    let (allow_rules, disallow_rules) = rules.counts();
    if allowed && disallow_rules == 0 {
        return Some(false);
    }
    if !allowed && allow_rules == 0 {
        spend(steps, TRY * u64::from(disallow_rules))?;
        if rules.rules().any(|rule| rule.verb == Verb::Disallow && matches!(rule.pattern, b"/" | b"/*" | b"*")) {
            return Some(false);
        }
    }
    // The rules of the other verb are likely to differ; the rest is looked at all the same.
    let is_of = |verb: Verb| move |rule: &Rule<'_>| rule.verb == verb && !rule.pattern.is_empty();
    let (first, second) = if allowed { (Verb::Disallow, Verb::Allow) } else { (Verb::Allow, Verb::Disallow) };
    let ordered = rules.rules().filter(is_of(first)).chain(rules.rules().filter(is_of(second)));
    let dialect = rules.file().dialect();
    let mut judge = PathSearch::new(rules);
    let mut path = Vec::new();
    for rule in ordered {
        let pattern = rule.normalised(dialect);
        let fillers: &[&[u8]] = if pattern.contains(&b'*') { &[b"", b"x"] } else { &[b""] };
        for filler in fillers {
            write_witness(&pattern, filler, &mut path);
            if path != b"/robots.txt" && judge.judge(&path, steps)?.allowed != allowed {
                return Some(true);
            }
        }
    }
    Some(false)
}

/// Judges one path after another: the first few by a scan of the rules, the rest through an index of them.
struct PathSearch<'q, 'r> {
    rules: &'q Ruleset<'r>,
    rule_count: u64,
    scans: usize,
    index: Option<RuleIndex<'r>>,
}

impl<'q, 'r> PathSearch<'q, 'r> {
    /// Paths judged by a scan before the rules are sorted.
    const SCANS: usize = 8;

    fn new(rules: &'q Ruleset<'r>) -> Self {
        let (allow_rules, disallow_rules) = rules.counts();
        let rule_count = u64::from(allow_rules) + u64::from(disallow_rules);
        Self { rules, rule_count, scans: Self::SCANS, index: None }
    }

    /// The verdict on a path, unless the steps run out.
    fn judge(&mut self, path: &[u8], steps: &mut u64) -> Option<Decision> {
        if self.scans > 0 {
            self.scans -= 1;
            spend(steps, TRY * self.rule_count)?;
            return Some(self.rules.judge(path));
        }
        if self.index.is_none() {
            spend(steps, SORT * self.rule_count)?;
        }
        spend(steps, LOOK_UP + path.len() as u64)?;
        self.index.get_or_insert_with(|| self.rules.index()).judge_within(path, steps)
    }
}

fn spend(steps: &mut u64, cost: u64) -> Option<()> {
    *steps = steps.checked_sub(cost)?;
    Some(())
}

/// Writes the path made from a normalised pattern: stars replaced, a final `$` removed, `/` in front.
fn write_witness(pattern: &[u8], filler: &[u8], path: &mut Vec<u8>) {
    path.clear();
    for byte in pattern.strip_suffix(b"$").unwrap_or(pattern) {
        match byte {
            b'*' => path.extend_from_slice(filler),
            _ => path.push(*byte),
        }
    }
    if path.first() != Some(&b'/') {
        path.insert(0, b'/');
    }
}
