//! Witness paths: what the definition `rfc` looks at to say how much of a site is closed.
//!
//! They are `/`, a path that no rule names, and two paths made from each rule. The question is only whether all of
//! them meet the same verdict, so the search stops at the first that does not: in ordinary files at the first it tries.
//!
//! # Cost
//!
//! The first few are judged by a scan of the rules, the rest through a [`RuleIndex`](crate::robots::RuleIndex), in time
//! that is linear in the file but for wildcard rules with one common prefix. Those are counted, and a file whose rules
//! take more than [`STEPS`] is judged by the witnesses that were reached; no file of the four test corpora does.

use crate::robots::{Rule, Ruleset, Verb};

/// The path that stands for all that no rule names.
pub const UNNAMED_PATH: &[u8] = b"/dummy-testing-path-54321";

/// Byte comparisons that are spent on one file's witnesses.
pub const STEPS: u64 = 1 << 25;

/// Witnesses judged by a scan before the rules are sorted.
const SCANS: usize = 8;

/// Whether a witness made from a rule meets another verdict than this one.
pub(super) fn some_differ(rules: &Ruleset<'_>, allowed: bool, steps: &mut u64) -> bool {
    let is_of = |verb: Verb| move |rule: &Rule<'_>| rule.verb == verb && !rule.pattern.is_empty();
    if allowed && !rules.rules().any(|rule| is_of(Verb::Disallow)(&rule)) {
        return false;
    }
    let closes_all = |rule: Rule<'_>| rule.verb == Verb::Disallow && matches!(rule.pattern, b"/" | b"/*" | b"*");
    if !allowed && !rules.rules().any(|rule| is_of(Verb::Allow)(&rule)) && rules.rules().any(closes_all) {
        return false;
    }
    // The rules of the other verb are likely to differ; the rest is looked at all the same.
    let (first, second) = if allowed { (Verb::Disallow, Verb::Allow) } else { (Verb::Allow, Verb::Disallow) };
    let ordered = rules.rules().filter(is_of(first)).chain(rules.rules().filter(is_of(second)));
    let rule_count: u64 = rules.rules().map(|_| 1).sum();
    let dialect = rules.file().dialect();
    let mut index = None;
    let mut tried = 0;
    let mut path = Vec::new();
    for rule in ordered {
        let pattern = rule.normalised(dialect);
        let fillers: &[&[u8]] = if pattern.contains(&b'*') { &[b"", b"x"] } else { &[b""] };
        for filler in fillers {
            write_witness(&pattern, filler, &mut path);
            if path == b"/robots.txt" {
                continue;
            }
            let decision = if tried < SCANS {
                tried += 1;
                let Some(left) = steps.checked_sub(rule_count) else { return false };
                *steps = left;
                rules.judge(&path)
            } else {
                let Some(left) = steps.checked_sub(if index.is_none() { rule_count } else { 1 }) else { return false };
                *steps = left;
                let sorted = index.get_or_insert_with(|| rules.index());
                let Some(decision) = sorted.judge_within(&path, steps) else { return false };
                decision
            };
            if decision.allowed != allowed {
                return true;
            }
        }
    }
    false
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
