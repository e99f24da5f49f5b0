//! One file, one agent, many paths → the verdict on each, with the rule that decided.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::outcome::{Outcome, OutcomeClass};
use crate::robots::{By, Decision, Dialect, Rule, RuleIndex, Ruleset, Verb};
use crate::text::visible;

crate::words! {
    /// What a host's robots.txt says of one path for one agent.
    pub enum Verdict {
        /// The path may be fetched.
        Allow = "allow",
        /// It may not.
        Disallow = "disallow",
        /// No robots.txt was read, and none is known to be absent, so nothing was said.
        Unknown = "unknown",
    }
}

impl Verdict {
    /// The verdict of a decision.
    pub const fn of(decision: Decision) -> Self {
        if decision.allowed { Self::Allow } else { Self::Disallow }
    }
}

/// The bytes that an outcome leaves to be judged: the file's whole lines, nothing where there is no file, and no bytes
/// at all where no verdict is possible.
pub fn judged_bytes(outcome: Outcome, body: &[u8], is_truncated: bool) -> Option<&[u8]> {
    match outcome.class() {
        OutcomeClass::Readable | OutcomeClass::Empty => Some(whole_lines(body, is_truncated)),
        // There is no file, whatever page tells so.
        OutcomeClass::Absent => Some(b""),
        _ => None,
    }
}

/// What of a body is judged: all, or where the limit cut it what stands before its last line end.
///
/// Half a rule is another rule, and a shorter one closes more.
pub(super) fn whole_lines(body: &[u8], is_truncated: bool) -> &[u8] {
    let last_end = if is_truncated { memchr::memrchr2(b'\n', b'\r', body) } else { None };
    last_end.map_or(body, |end| &body[..=end])
}

/// The rules of one agent, made ready for many paths.
pub struct PathJudge<'r> {
    rules: &'r Ruleset<'r>,
    /// Lines ascend.
    in_order: Vec<Rule<'r>>,
    /// Rules that were shown, by line, so that many answers share one text.
    shown: RefCell<HashMap<u32, Arc<str>>>,
    index: Option<RuleIndex<'r>>,
}

/// Paths from which on sorting the rules pays.
const MANY: usize = 16;

impl<'r> PathJudge<'r> {
    /// Makes the rules ready for about so many paths.
    pub fn new(rules: &'r Ruleset<'r>, paths: usize) -> Self {
        let in_order: Vec<Rule<'r>> = rules.rules().collect();
        // An index does not know the line of an empty rule, which the google dialect names where no other one decides.
        let is_exact =
            rules.file().dialect() == Dialect::Rfc9309 || in_order.iter().all(|rule| !rule.pattern.is_empty());
        let index = (paths >= MANY && is_exact).then(|| rules.index());
        Self { rules, in_order, shown: RefCell::default(), index }
    }

    /// Which rules apply.
    pub fn by(&self) -> By {
        self.rules.by()
    }

    /// The verdict on a path: what [`Ruleset::judge`] says.
    pub fn judge(&self, path: &[u8]) -> Decision {
        match &self.index {
            Some(index) => index.judge(path),
            None => self.rules.judge(path),
        }
    }

    /// The rule on a line: `Disallow: /private/`, as written but for the key's spelling and what stands around, and
    /// cut where it is longer than any honest rule.
    pub fn rule_at(&self, line: u32) -> Option<Arc<str>> {
        let place = self.in_order.binary_search_by_key(&line, |rule| rule.line).ok()?;
        let Rule { verb, pattern, .. } = self.in_order[place];
        let show = || {
            let verb = match verb {
                Verb::Allow => "Allow",
                Verb::Disallow => "Disallow",
            };
            let (shown, rest) = pattern.split_at(pattern.len().min(LONGEST_SHOWN));
            let more = if rest.is_empty() { "" } else { "…" };
            format!("{verb}: {}{more}", visible(shown)).into()
        };
        Some(Arc::clone(self.shown.borrow_mut().entry(line).or_insert_with(show)))
    }
}

/// Bytes of a pattern that are shown.
const LONGEST_SHOWN: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Kind;
    use crate::robots::RobotsTxt;

    #[test]
    fn many_paths_and_few_get_the_same_answers() {
        let body = b"User-agent: *\nDisallow:\nDisallow: /a\nAllow: /a/*b\nDisallow: /\xff\tx\nAllow: /index.html\n";
        for dialect in Dialect::ALL {
            let file = RobotsTxt::parse(body, *dialect);
            let rules = file.rules_for("GPTBot");
            let (few, many) = (PathJudge::new(&rules, 1), PathJudge::new(&rules, MANY));
            for path in ["/", "/a", "/a/b", "/a/xb", "/b", "/%FF%09x", "/robots.txt", ""] {
                assert_eq!(few.judge(path.as_bytes()), many.judge(path.as_bytes()), "{dialect} {path}");
                assert_eq!(few.judge(path.as_bytes()), rules.judge(path.as_bytes()), "{dialect} {path}");
            }
        }
    }

    #[test]
    fn a_rule_is_shown_without_what_a_cell_cannot_hold() {
        let file = RobotsTxt::parse(b"User-agent: *\nDISALLOW : /\xff\tx\xc2\x85\\ # no\n", Dialect::Rfc9309);
        let rules = file.rules_for_unnamed();
        let judge = PathJudge::new(&rules, 1);
        assert_eq!(&*judge.rule_at(2).unwrap(), "Disallow: /\\xff\\tx\\u{85}\\");
        assert_eq!(judge.rule_at(1), None);
        let long = format!("User-agent: *\nDisallow: /{}\n", "*".repeat(100_000));
        let file = RobotsTxt::parse(long.as_bytes(), Dialect::Rfc9309);
        let rules = file.rules_for_unnamed();
        assert!(PathJudge::new(&rules, 1).rule_at(2).unwrap().len() < 2100);
    }

    #[test]
    fn only_what_was_said_is_judged() {
        let judged = |kind, is_truncated| judged_bytes(Outcome::Answer(kind), b"a\nb", is_truncated);
        assert_eq!(judged(Kind::Rules, false), Some(&b"a\nb"[..]));
        assert_eq!(judged(Kind::Rules, true), Some(&b"a\n"[..]));
        assert_eq!(judged(Kind::Absent404, false), Some(&b""[..]));
        for kind in [Kind::Html, Kind::Refused403, Kind::ServerError, Kind::Limited429, Kind::Challenge] {
            assert_eq!(judged(kind, false), None, "{kind}");
        }
    }
}
