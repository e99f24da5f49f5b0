//! Whether it matters where the groups of a file end.
//!
//! Under RFC 9309 only Allow and Disallow end a run of user-agent lines. The draft of AIPREF adds Content-Usage, and
//! site owners often mean any record. Files on which the models differ are few; each is read again by the others.

use crate::classify::definitions::Definition;
use crate::classify::row::Restriction;
use crate::classify::signals::Signals;
use crate::classify::verdicts::Judge;
use crate::robots::{Dialect, Finding, Grouping, Oddity, RobotsTxt};

/// The oddities of a file; `ambiguous-grouping` among them only where another model of grouping gives another verdict
/// to some crawler under this definition, or another scope to some signal.
pub(super) fn oddities(file: &RobotsTxt<'_>, definition: &Definition) -> Vec<Finding> {
    let is_kept = |finding: &Finding| finding.oddity != Oddity::AmbiguousGrouping || is_ambiguous(file, definition);
    file.oddities().filter(is_kept).collect()
}

fn is_ambiguous(file: &RobotsTxt<'_>, definition: &Definition) -> bool {
    let verdicts = verdicts(file, definition);
    let signals = signals(file.body(), Grouping::Rfc9309);
    let others = [Grouping::Aipref, Grouping::AnyRecord];
    others.into_iter().any(|grouping| {
        let other = RobotsTxt::parse_grouped(file.body(), file.dialect(), grouping);
        self::verdicts(&other, definition) != verdicts || self::signals(file.body(), grouping) != signals
    })
}

/// For an unnamed crawler and then for each token: the level, and whether `/` and the unnamed path are open.
///
/// That is enough for agents that are not in the file: they have the verdict of one of these, or of several together.
fn verdicts(file: &RobotsTxt<'_>, definition: &Definition) -> Vec<(Restriction, bool, bool)> {
    let mut judge = Judge::new(file, definition);
    let unnamed = judge.judge(b"*", &file.rules_for_unnamed());
    let named = file.tokens().filter(|token| token.name != b"*");
    let named = named.map(|token| judge.judge(token.as_written, &file.set(token.set)));
    let all: Vec<_> = std::iter::once(unnamed).chain(named).collect();
    all.into_iter().map(|verdict| (verdict.restriction, verdict.root_allowed, verdict.unnamed_allowed)).collect()
}

fn signals(body: &[u8], grouping: Grouping) -> Signals {
    Signals::of_records(&RobotsTxt::parse_grouped(body, Dialect::Rfc9309, grouping))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, is_ambiguous: bool) {
        let body = text.replace('|', "\n").into_bytes();
        let file = RobotsTxt::parse(&body, Dialect::Rfc9309);
        let found = oddities(&file, Definition::named("rfc").unwrap());
        let found = found.iter().any(|finding| finding.oddity == Oddity::AmbiguousGrouping);
        assert_eq!(found, is_ambiguous, "{text}");
    }

    #[test]
    fn another_record_between_user_agent_lines_matters_where_a_verdict_changes() {
        check("User-agent: *|Crawl-delay: 10|User-agent: GPTBot|Disallow: /", true);
        check("User-agent: *|Sitemap: https://e.com/s||User-agent: GPTBot|Disallow: /", true);
        check("User-agent: *|Content-Signal: ai-train=no||User-agent: GPTBot|Disallow: /", true);
        check("User-agent: *|Content-Usage: train-ai=n||User-agent: GPTBot|Disallow: /", true);
        // Both have the same rules anyway, or none.
        check("User-agent: *|Crawl-delay: 10|User-agent: GPTBot|Disallow:", false);
        check("User-agent: a|Crawl-delay: 10|User-agent: b|Disallow: /|User-agent: a|Disallow: /", false);
        check("Sitemap: x|User-agent: *|User-agent: GPTBot|Disallow: /", false);
        check("User-agent: *|Disallow: /x|Crawl-delay: 10|User-agent: GPTBot|Disallow: /", false);
    }

    #[test]
    fn a_signal_whose_scope_changes_matters_too() {
        check("User-agent: GPTBot|Content-Signal: ai-train=no||User-agent: *|Disallow:", true);
        check("User-agent: GPTBot|Content-Usage: train-ai=n||User-agent: *|Disallow:", true);
        // A licence belongs to no group.
        check("User-agent: GPTBot|License: https://e.com/l||User-agent: *|Disallow:", false);
    }
}
