//! Consent in Crisis: a test of the rules' text, not of paths (Longpre et al. 2024, `interpret_agent`).

use super::Question;
use crate::classify::row::Restriction;
use crate::robots::{Rule, Verb};

pub(super) fn judge(question: &mut Question<'_, '_>) -> Restriction {
    let of = |verb: Verb| move |rule: &Rule<'_>| rule.verb == verb;
    let values = |verb| question.rules.rules().filter(of(verb)).map(|rule| rule.pattern).collect();
    level(values(Verb::Allow), values(Verb::Disallow))
}

/// The level of an agent with these values, in the order in which they stand.
pub(super) fn level<'v>(mut allow: Vec<&'v [u8]>, mut disallow: Vec<&'v [u8]>) -> Restriction {
    for values in [&mut allow, &mut disallow] {
        values.retain(|value| !value.contains(&b'?'));
    }
    if disallow.is_empty() || disallow == [b""] || disallow == allow {
        Restriction::None
    } else if allow.is_empty() && disallow.contains(&&b"/"[..]) {
        Restriction::Full
    } else {
        Restriction::Partial
    }
}
