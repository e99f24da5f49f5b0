//! What holds for any bytes.

use proptest::prelude::*;

use super::*;

/// Files that look like files, with some noise in them.
fn any_file() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        Just("User-agent: "),
        Just("user-agent:"),
        Just("Disallow: "),
        Just("Allow:"),
        Just("disalow "),
        Just("Sitemap: "),
        Just("*"),
        Just("GPTBot"),
        Just("a/1"),
        Just("a"),
        Just("b c"),
        Just("/"),
        Just("/a"),
        Just("$"),
        Just("%41"),
        Just("%2a"),
        Just("%"),
        Just("\u{e9}"),
        Just("index.html"),
        Just("#"),
        Just("\n"),
        Just("\n"),
        Just("\r"),
        Just("\r\n"),
        Just("\0"),
        Just(":"),
        Just(" "),
        Just("\u{feff}"),
        Just(","),
    ];
    let words = prop::collection::vec(word, 0..60).prop_map(|words| words.concat().into_bytes());
    prop_oneof![9 => words, 1 => prop::collection::vec(any::<u8>(), 0..200)]
}

fn any_path() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("/"),
        Just("a"),
        Just("%41"),
        Just("A"),
        Just("*"),
        Just("$"),
        Just("%2A"),
        Just("\u{e9}"),
        Just("%"),
        Just("index.html"),
        Just("robots.txt"),
    ];
    prop::collection::vec(part, 0..8).prop_map(|parts| format!("/{}", parts.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_within_bounds(body in any_file(), path in any_path(), google in any::<bool>()) {
        let dialect = if google { Dialect::Google } else { Dialect::Rfc9309 };
        let robots = RobotsTxt::parse(&body, dialect);
        let lines = usize::try_from(robots.line_count()).unwrap();
        prop_assert!(lines <= body.len());
        let records = robots.rules().count() + robots.records().count() + robots.tokens().len();
        prop_assert!(records <= lines && robots.groups().len() <= lines);
        prop_assert!(robots.set_count() <= robots.tokens().len());
        for agent in ["GPTBot", "a", "a/1", "b c", "AI2Bot", "*", ""] {
            let line = robots.rules_for(agent).judge(path.as_bytes()).line;
            prop_assert!(line as usize <= lines);
        }
    }

    #[test]
    fn many_paths_at_once_equal_one_by_one(body in any_file(), paths in prop::collection::vec(any_path(), 1..8), google in any::<bool>()) {
        let dialect = if google { Dialect::Google } else { Dialect::Rfc9309 };
        let robots = RobotsTxt::parse(&body, dialect);
        for agent in ["GPTBot", "a", "nobody"] {
            let rules = robots.rules_for(agent);
            let index = rules.index();
            for path in &paths {
                let one = rules.judge(path.as_bytes());
                let many = index.judge(path.as_bytes());
                prop_assert_eq!(one.allowed, many.allowed);
                if dialect == Dialect::Rfc9309 {
                    prop_assert_eq!(one.line, many.line);
                }
                prop_assert_eq!(one, PathByGroup::new(&robots, path.as_bytes()).judge(&rules));
            }
        }
    }

    #[test]
    fn a_group_for_somebody_else_changes_nothing(body in any_file(), path in any_path()) {
        let mut longer = body.clone();
        // A rule line first, so that the new group stands apart from what is there.
        longer.extend_from_slice(b"\nAllow:\nUser-agent: somebody-else\nDisallow: /\n");
        let before = RobotsTxt::parse(&body, Dialect::Rfc9309);
        let after = RobotsTxt::parse(&longer, Dialect::Rfc9309);
        for agent in ["GPTBot", "a", "nobody"] {
            let (before, after) = (before.rules_for(agent), after.rules_for(agent));
            prop_assert_eq!(before.judge(path.as_bytes()).allowed, after.judge(path.as_bytes()).allowed);
        }
    }

    #[test]
    fn one_more_disallow_loosens_nothing(body in any_file(), path in any_path()) {
        let mut longer = body.clone();
        longer.extend_from_slice(b"\nDisallow: /a\n");
        let before = RobotsTxt::parse(&body, Dialect::Rfc9309);
        let after = RobotsTxt::parse(&longer, Dialect::Rfc9309);
        for agent in ["GPTBot", "a", "nobody"] {
            let (before, after) = (before.rules_for(agent), after.rules_for(agent));
            prop_assert!(before.judge(path.as_bytes()).allowed || !after.judge(path.as_bytes()).allowed);
        }
    }
}
