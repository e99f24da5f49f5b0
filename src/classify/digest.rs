//! A file's rules, apart from how they are written: two files with one digest ask the same of every crawler.

use sha2::{Digest, Sha256};

use crate::robots::{Dialect, RobotsTxt, Rule, Verb};

/// Rules that are looked at for one file, counted once for each agent to which they apply.
///
/// Groups that many agents share in many combinations could otherwise be made to cost the square of the file's size.
const WORK: usize = 1 << 20;

/// What a file's rules come to.
///
/// Order, case of names, comments, blank lines, spelling of keys, rules that stand twice, groups that are split or
/// merged, and all other records leave no mark; which agents are named does, even where they get the rules of `*`. Of a
/// file beyond all measure (a million rules, counted once for each set of groups) the bytes are taken as they are.
///
/// ```
/// use survey::classify::rules_digest;
/// use survey::robots::Dialect::Rfc9309;
/// let digest = |text: &str| rules_digest(text.as_bytes(), Rfc9309);
/// assert_eq!(digest("User-agent: A\nDisallow: /x"), digest("user-agent:a # comment\n\nDISALLOW: /x\nSitemap: y"));
/// assert_ne!(digest("User-agent: A\nDisallow: /x"), digest("User-agent: A\nDisallow: /y"));
/// ```
pub fn rules_digest(bytes: &[u8], dialect: Dialect) -> [u8; 16] {
    let file = RobotsTxt::parse(bytes, dialect);
    let work: usize = (0..file.set_count()).map(|set| rule_count(&file, set)).sum();
    if work > WORK {
        return half(Sha256::digest(bytes).into());
    }
    let sets: Vec<[u8; 32]> = (0..file.set_count()).map(|set| digest_of(file.set(set).rules(), dialect)).collect();
    let mut tokens: Vec<(Vec<u8>, [u8; 32])> =
        file.tokens().map(|token| (token.name.to_ascii_lowercase(), sets[token.set])).collect();
    tokens.sort_unstable();
    let mut sha256 = Sha256::new();
    for (name, rules) in tokens {
        sha256.update(name.len().to_le_bytes());
        sha256.update(name);
        sha256.update(rules);
    }
    half(sha256.finalize().into())
}

fn half(sha256: [u8; 32]) -> [u8; 16] {
    sha256[..16].try_into().expect("half of 32 bytes is 16")
}

fn rule_count(file: &RobotsTxt<'_>, set: usize) -> usize {
    let (allow, disallow) = file.set(set).counts();
    allow as usize + disallow as usize
}

/// The rules with a value, each once, in an order of their own.
fn digest_of<'r>(rules: impl Iterator<Item = Rule<'r>>, dialect: Dialect) -> [u8; 32] {
    let with_value = rules.filter(|rule| !rule.pattern.is_empty());
    let mut rules: Vec<_> = with_value.map(|rule| (rule.verb == Verb::Allow, rule.normalised(dialect))).collect();
    rules.sort_unstable();
    rules.dedup();
    let mut sha256 = Sha256::new();
    for (is_allow, pattern) in rules {
        sha256.update([u8::from(is_allow)]);
        sha256.update(pattern.len().to_le_bytes());
        sha256.update(pattern);
    }
    sha256.finalize().into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    #[track_caller]
    fn check(one: &str, other: &str, is_same: bool) {
        let digest = |text: &str| rules_digest(text.as_bytes(), Dialect::Rfc9309);
        assert_eq!(digest(one) == digest(other), is_same, "{one:?} {other:?}");
    }

    #[test]
    fn how_rules_are_written_leaves_no_mark() {
        check(
            "User-agent: *\nDisallow: /a\nAllow: /a/b",
            "\u{feff}user-agent: *\r\nAllow: /a/b\r\nDisallow: /a\r\n",
            true,
        );
        check(
            "User-agent: A\nDisallow: /a\nUser-agent: A\nDisallow: /b",
            "User-agent: a\nDisallow: /b\nDisallow: /a",
            true,
        );
        check(
            "User-agent: A\nUser-agent: B\nDisallow: /",
            "User-agent: B\nDisallow: /\nUser-agent: A\nDisallow: /",
            true,
        );
        check("User-agent: A\nDisallow: /a\nDisallow: /a\nDisallow:", "User-agent: A\nDisallow: /a", true);
        check("", "# nothing\nSitemap: x", true);
        check("User-agent: A\nDisallow: /%7ex", "User-agent: A\nDisallow: /%7Ex", true);
    }

    #[test]
    fn what_is_asked_leaves_a_mark() {
        check("User-agent: A\nDisallow: /", "User-agent: A\nAllow: /", false);
        check("User-agent: A\nDisallow: /", "User-agent: B\nDisallow: /", false);
        check("User-agent: A\nDisallow: /a", "User-agent: A\nDisallow: /A", false);
        check("User-agent: *\nDisallow: /", "User-agent: *\nUser-agent: A\nDisallow: /", false);
        check("User-agent: A\nDisallow:", "", false);
    }

    #[test]
    fn a_file_beyond_all_measure_is_done_in_time() {
        // Each agent has a group of its own, and all share one of many rules: 16 million rules, counted once for each.
        let lines = |before: &str, after: &str| -> String {
            (0..4000).map(|number| [before, &number.to_string(), after].concat()).collect()
        };
        let own = lines("User-agent: a", "\nDisallow: /own\n");
        let text = own + &lines("User-agent: a", "\n") + &lines("Disallow: /", "\n");
        assert_eq!(rules_digest(text.as_bytes(), Dialect::Rfc9309), half(Sha256::digest(&text).into()));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn one_digest_means_one_answer(
            one in lines(),
            other in lines(),
            path in select(vec!["/", "/a", "/a/b", "/b"]),
            agent in select(vec!["a", "b", "c", "*"]),
        ) {
            let digest = |text: &str| rules_digest(text.as_bytes(), Dialect::Rfc9309);
            if digest(&one) == digest(&other) {
                let allowed = |text: &str| {
                    let file = RobotsTxt::parse(text.as_bytes(), Dialect::Rfc9309);
                    file.rules_for(agent).judge(path.as_bytes()).allowed
                };
                prop_assert_eq!(allowed(&one), allowed(&other));
            }
        }
    }

    /// Few enough lines and kinds of them that equal digests are common.
    fn lines() -> impl Strategy<Value = String> {
        let line =
            select(vec!["User-agent: a", "User-agent: B", "User-agent: *", "Disallow: /a", "Allow: /a/b", "# x"]);
        proptest::collection::vec(line, 0..5).prop_map(|lines| lines.join("\n"))
    }
}
