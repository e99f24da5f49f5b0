//! The room's promises, case by case: RFC 9309 with its sections, Google's dialect, and public bug reports.
//!
//! In the files of the cases `|` stands for a line end.

use proptest::prelude::*;

use super::*;

/// A file in which `|` is a line end.
fn file(text: &str) -> Vec<u8> {
    text.replace('|', "\n").into_bytes()
}

#[track_caller]
fn check_in(dialect: Dialect, body: &[u8], agent: &str, path: &str, allowed: bool) {
    let robots = RobotsTxt::parse(body, dialect);
    let rules = robots.rules_for(agent);
    let decision = rules.judge(path.as_bytes());
    assert_eq!(decision.allowed, allowed, "{dialect} {:?} {agent} {path}", String::from_utf8_lossy(body));
    let by_index = rules.index().judge(path.as_bytes());
    assert_eq!(by_index.allowed, allowed, "by index: {dialect} {:?} {path}", String::from_utf8_lossy(body));
}

/// Both dialects say the same.
#[track_caller]
fn check(text: &str, agent: &str, path: &str, allowed: bool) {
    check_in(Dialect::Rfc9309, &file(text), agent, path, allowed);
    check_in(Dialect::Google, &file(text), agent, path, allowed);
}

/// The dialects differ on purpose (allowed under `rfc9309`, under `google`).
#[track_caller]
fn check_apart(text: &str, agent: &str, path: &str, rfc9309: bool, google: bool) {
    check_in(Dialect::Rfc9309, &file(text), agent, path, rfc9309);
    check_in(Dialect::Google, &file(text), agent, path, google);
}

#[track_caller]
fn check_odd(text: &[u8], expected: &[Oddity]) {
    let robots = RobotsTxt::parse(text, Dialect::Rfc9309);
    let found: Vec<Oddity> = robots.oddities().map(|finding| finding.oddity).collect();
    assert_eq!(found, expected, "{:?}", String::from_utf8_lossy(text));
}

mod rfc9309 {
    use super::*;

    #[test]
    fn section_2_1_the_last_group_may_have_no_rules() {
        check("User-agent: *|Disallow: /|User-agent: a", "a", "/x", true);
        check("User-agent: *|Disallow: /|User-agent: a", "b", "/x", false);
    }

    #[test]
    fn section_2_2_white_space_comments_and_line_ends() {
        check(" \tUser-Agent\t : \t* # all|\tdisALLOW :/x#y|", "a", "/x", false);
        check("User-agent:*\rDisallow:/x\r", "a", "/x", false);
        check("User-agent:*\r\nDisallow:/x\r\n\r\nDisallow:/y", "a", "/y", false);
        check("User-agent: a||# comment||Disallow: /", "a", "/x", false);
    }

    #[test]
    fn section_2_2_1_agents_compare_without_case_and_whole() {
        check("User-agent: ExampleBot|Disallow: /", "examplebot", "/", false);
        check("User-agent: Example|Disallow: /", "ExampleBot", "/", true);
        check("User-agent: ExampleBot-News|Disallow: /", "ExampleBot", "/", true);
    }

    #[test]
    fn section_2_2_1_groups_of_one_agent_are_merged() {
        let text = "User-agent: a|Disallow: /x|User-agent: b|Disallow: /y|User-agent: A|Disallow: /z";
        check(text, "a", "/x", false);
        check(text, "a", "/y", true);
        check(text, "a", "/z", false);
    }

    #[test]
    fn section_2_2_1_the_star_group_serves_those_that_no_group_names() {
        let text = "User-agent: *|Disallow: /|User-agent: a|Disallow: /x";
        check(text, "a", "/y", true);
        check(text, "b", "/y", false);
        check("User-agent: a|Disallow: /", "b", "/", true);
        check("", "b", "/", true);
    }

    #[test]
    fn section_2_2_2_the_longest_match_decides_and_allow_wins_ties() {
        let text = "User-agent: *|Disallow: /example/page/disallowed.gif|Allow: /example/page/";
        check(text, "a", "/example/page/", true);
        check(text, "a", "/example/page/disallowed.gif", false);
        check("User-agent: *|Disallow: /p|Allow: /p", "a", "/p", true);
        check("User-agent: *|Allow: /p|Disallow: /p", "a", "/p", true);
        check("User-agent: *|Disallow: /P", "a", "/p", true);
        check("User-agent: *|Disallow: /b", "a", "/a/b", true);
    }

    #[test]
    fn section_2_2_2_robots_txt_itself_is_always_allowed() {
        check_apart("User-agent: *|Disallow: /", "a", "/robots.txt", true, false);
        check("User-agent: *|Disallow: /", "a", "/robots.txt.bak", false);
    }

    #[test]
    fn section_2_2_2_percent_encoding_does_not_hide_a_path() {
        check_apart("User-agent: *|Disallow: /foo/bar/%62%61%7A", "a", "/foo/bar/baz", false, true);
        check_apart("User-agent: *|Disallow: /m", "a", "/%6D", false, true);
        check("User-agent: *|Disallow: /foo/bar/ツ", "a", "/foo/bar/%E3%83%84", false);
        check_apart("User-agent: *|Disallow: /foo/bar/ツ", "a", "/foo/bar/ツ", false, true);
        check_apart("User-agent: *|Disallow: /foo/bar/%E3%83%84", "a", "/foo/bar/ツ", false, true);
        check_apart("User-agent: *|Disallow: /%E3", "a", "/%e3", false, true);
        check("User-agent: *|Disallow: /%e3", "a", "/%E3", false);
        check("User-agent: *|Disallow: /a%2Fb", "a", "/a/b", true);
    }

    #[test]
    fn section_2_2_2_rules_outside_any_group_apply_to_nobody() {
        check("Disallow: /|User-agent: *|Disallow: /x", "a", "/", true);
    }

    #[test]
    fn section_2_2_3_special_characters() {
        check("User-agent: *|Disallow: *.gif$", "a", "/x/y.gif", false);
        check("User-agent: *|Disallow: *.gif$", "a", "/x/y.gif?z", true);
        check("User-agent: *|Disallow: /*/b*c$", "a", "/a/bbc", false);
        check("User-agent: *|Disallow: /a$b", "a", "/a$b", false);
        check("User-agent: *|Disallow: /a$b", "a", "/a", true);
        check_apart("User-agent: *|Disallow: /%2A", "a", "/*", false, true);
        check_apart("User-agent: *|Disallow: /%24", "a", "/$", false, true);
        check("User-agent: *|Disallow: /%2A", "a", "/x", true);
    }

    #[test]
    fn section_2_2_4_other_records_do_not_interfere() {
        for other in ["Sitemap: https://e.com/s", "Crawl-delay: 5", "Content-Signal: ai-train=no", "Noindex: /"] {
            let text = format!("User-agent: a|{other}||User-agent: b|Disallow: /");
            check(&text, "a", "/", false);
            check(&text, "b", "/", false);
        }
    }

    #[test]
    fn section_2_3_1_5_what_parses_is_used() {
        check("<html>|User-agent: *|!?|Disallow: /x|\u{1}", "a", "/x", false);
    }

    #[test]
    fn keys_count_whole() {
        check_apart("User-agent: *|Disallowed: /", "a", "/", true, false);
        check_apart("User-agent: *|DisallowAITraining: /", "a", "/", true, false);
        check_apart("Useragent: *|Disallow: /", "a", "/", true, false);
        check_apart("User-agent *|Disallow /", "a", "/", true, false);
        check("User_agent: *|Disallow: /", "a", "/", true);
    }

    #[test]
    fn names_outside_the_alphabet_compare_whole_and_then_before_the_slash() {
        check_apart("User-agent: AI2Bot|Disallow: /", "AI2Bot", "/", false, true);
        check_apart("User-agent: Kangaroo Bot|Disallow: /", "kangaroo bot", "/", false, true);
        check_apart("User-agent: Kangaroo Bot|Disallow: /", "Kangaroo", "/", true, false);
        check("User-agent: GPTBot/1.0|Disallow: /", "GPTBot", "/", false);
        check_apart("User-agent: GPTBot/1.0|Disallow: /|User-agent: GPTBot|Disallow:", "GPTBot", "/", true, false);
        check_apart(
            "User-agent: GPTBot/1|User-agent: b|Disallow: /x|User-agent: GPTBot/2|Disallow: /y",
            "GPTBot",
            "/y",
            false,
            false,
        );
        check_apart("User-agent: MistralAI-User|Disallow: /", "MistralAI-User/1.0", "/", false, true);
        check_apart("User-agent: * foo|Disallow: /", "a", "/", true, false);
    }

    #[test]
    fn a_file_of_google_index_pages_is_read_to_the_letter() {
        check_apart("User-agent: *|Disallow: /|Allow: /d/index.html", "a", "/d/", false, true);
    }

    #[test]
    fn nul_and_long_lines_are_kept() {
        let long = format!("User-agent: *|Disallow: /{}", "a".repeat(20_000));
        let path = format!("/{}", "a".repeat(16_700));
        check_apart(&long, "a", &path, true, false);
        check_apart("User-agent: *|Disallow: /x\0y", "a", "/xz", true, false);
    }
}

/// Public bug reports of other parsers; the sources are named where they matter.
mod reports {
    use super::*;

    #[test]
    fn scrapy_6195_a_mark_before_the_first_key() {
        check("\u{feff}User-agent: *|Disallow: /", "a", "/", false);
        check("\u{feff}\u{feff}User-agent: *|Disallow: /", "a", "/", true);
    }

    #[test]
    fn scrapy_6292_one_latin_1_byte_does_not_lose_the_file() {
        let body = b"User-agent: *\nDisallow: /caf\xe9\nDisallow: /x";
        for dialect in [Dialect::Rfc9309, Dialect::Google] {
            check_in(dialect, body, "a", "/caf%E9", false);
            check_in(dialect, body, "a", "/x", false);
        }
    }

    #[test]
    fn utf_16_has_no_rules_and_is_reported() {
        let wide: Vec<u8> = "User-agent: *\nDisallow: /".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let body = [b"\xff\xfe".to_vec(), wide].concat();
        check_in(Dialect::Rfc9309, &body, "a", "/", true);
        check_in(Dialect::Google, &body, "a", "/", true);
        assert!(RobotsTxt::parse(&body, Dialect::Google).oddities().any(|finding| finding.oddity == Oddity::Nul));
    }

    #[test]
    fn meziantou_2938_other_separators_end_no_line() {
        for separator in ["\u{b}", "\u{c}", "\u{85}", "\u{2028}"] {
            check(&format!("User-agent: *{separator}Disallow: /"), "b", "/", true);
        }
    }

    #[test]
    fn fizx_3_and_t1gor_93_case_and_spaces_of_keys() {
        check("USER-AGENT:*|DISALLOW:/|allow:/x", "a", "/y", false);
        check("USER-AGENT:*|DISALLOW:/|allow:/x", "a", "/x", true);
    }

    #[test]
    fn webtrees_4972_and_bopoda_16_missing_colons_and_misspellings() {
        check_apart("User-agent: *|Disallow /", "a", "/", true, false);
        check_apart("User-agent: *|Dissallow: /", "a", "/", true, false);
        check("User-agent: *|Disalllow: /", "a", "/", true);
    }

    #[test]
    fn webignition_14_an_empty_user_agent_is_a_header_that_names_nobody() {
        check("User-agent:|Disallow: /", "a", "/", true);
        check("User-agent: *|Disallow: /x|User-agent:|Disallow: /", "a", "/y", true);
    }

    #[test]
    fn wayback_12_blank_lines_mean_nothing() {
        check("User-agent: A||User-agent: B|Disallow: /", "A", "/", false);
    }

    #[test]
    fn crawler_commons_430_a_crawl_delay_ends_no_group() {
        let text = "User-agent: *|Crawl-delay: 10|User-agent: badbot|Disallow: /";
        check(text, "anybody", "/", false);
        check_odd(&file(text), &[Oddity::AmbiguousGrouping]);
    }

    #[test]
    fn httrack_1695_and_others_the_star_does_not_leak_into_a_named_group() {
        check("User-agent: *|Disallow: /|User-agent: a|Disallow: /x", "a", "/y", true);
        check("User-agent: a|User-agent: b|User-agent: c|Disallow: /", "b", "/", false);
        check("User-agent: *|Disallow: /|User-agent: a|Disallow:", "a", "/", true);
    }

    #[test]
    fn protego_65_no_substring_and_no_prefix_names_an_agent() {
        check("User-agent: bot|Disallow: /", "GPTBot", "/", true);
        check("User-agent: GPT|Disallow: /", "GPTBot", "/", true);
        check_apart("User-agent: GPTBot, CCBot|Disallow: /", "GPTBot", "/", true, false);
        check("User-agent: GPTBot, CCBot|Disallow: /", "CCBot", "/", true);
    }

    #[test]
    fn robots_parser_12_stars_do_not_explode() {
        let text = format!("User-agent: *|Disallow: /{}x", "*".repeat(2_000));
        check(&text, "a", &format!("/{}", "y".repeat(2_000)), true);
        let text = format!("User-agent: *|Disallow: /{}x", "*a".repeat(2_000));
        check(&text, "a", &format!("/{}", "a".repeat(3_000)), true);
    }

    #[test]
    fn patterns_of_many_reports() {
        check("User-agent: *|Disallow: /*.jpg$", "a", "/x.jpg", false);
        check("User-agent: *|Disallow: /*|Allow: /$", "a", "/", true);
        check("User-agent: *|Disallow: /*|Allow: /$", "a", "/x", false);
        check("User-agent: *|Disallow:|Disallow: /x", "a", "/x", false);
        check("User-agent: *|Disallow: /*%2F*", "a", "/a/b", true);
        check("User-agent: *|Disallow: /*%2F*", "a", "/a%2Fb", false);
    }

    #[test]
    fn folyd_odd_bytes_do_not_panic() {
        for body in [" ", "#!/bin/sh\nif :; then\nfi", "User-agent: ü\nDisallow: /ü%", ":", "\n:\n", "%"] {
            check(body, "a", "/", true);
        }
    }

    #[test]
    fn robots_parser_34_a_page_has_no_rules() {
        check("<p>User-agent: *<br>Disallow: /<br>", "a", "/", true);
        check("<p>User-agent: *<br>|Disallow: /<br>", "a", "/", true);
    }

    #[test]
    fn cloudflare_docs_29198_a_managed_block_and_the_sites_own_star_group_merge() {
        let text = "User-agent: *|Content-Signal: ai-train=no|Allow: /||User-agent: *|Disallow: /admin";
        check(text, "a", "/admin", false);
        check(text, "a", "/x", true);
    }

    #[test]
    fn robotspy_212_thousands_of_agents() {
        let mut text = String::new();
        for number in 0..5_000 {
            text += &format!("User-agent: bot{}|", "abcdefghij".repeat(number % 7 + 1));
        }
        text += "User-agent: last|Disallow: /";
        check(&text, "last", "/", false);
        assert_eq!(RobotsTxt::parse(&file(&text), Dialect::Rfc9309).tokens().len(), 8);
        assert_eq!(RobotsTxt::parse(&file(&text), Dialect::Rfc9309).set_count(), 1);
    }
}

mod facts {
    use super::*;

    #[test]
    fn oddities_are_found_with_their_lines() {
        check_odd(b"\xef\xbb\xbfUser-agent: *\rDisallow: /x\r", &[Oddity::Bom, Oddity::CrOnly]);
        check_odd(
            b"Disallow: /\nUser-agent:\nDisalow: x\n",
            &[Oddity::MisspeltKey, Oddity::RuleBeforeGroup, Oddity::EmptyUserAgent],
        );
        check_odd(
            b"User-agent: *\nDisallow x\nDisallow: x\0",
            &[Oddity::Nul, Oddity::MissingColon, Oddity::NoLeadingSlash],
        );
        check_odd("User-agent: Perplexity\u{2011}User".as_bytes(), &[Oddity::LookAlike, Oddity::TokenOutsideAlphabet]);
        check_odd(b"User-agent: GPTBot, CCBot", &[Oddity::CommaList, Oddity::TokenOutsideAlphabet]);
        check_odd(
            b"User-agent: *\nDisallow: /\nSitemap: x\nUser-agent: b\nContent-Usage: train-ai=n\nDisallow: /",
            &[],
        );
        let body = file("User-agent: AI2Bot|User-agent: b c|User-agent: d");
        let robots = RobotsTxt::parse(&body, Dialect::Google);
        let finding = robots.oddities().next().unwrap();
        assert_eq!((finding.line, finding.count), (1, 2));
    }

    #[test]
    fn lines_count_crlf_once_and_the_last_one_without_an_end() {
        for (text, lines) in [("", 0), ("a", 1), ("a\n", 1), ("a\r\nb", 2), ("a\n\rb", 3), ("\n\n", 2)] {
            assert_eq!(RobotsTxt::parse(text.as_bytes(), Dialect::Rfc9309).line_count(), lines, "{text:?}");
        }
    }

    #[test]
    fn tokens_come_once_as_first_written_and_share_sets() {
        let body = file("User-agent: GPTBot|User-agent: *|Disallow: /|User-agent: gptbot|User-agent: B/2|Allow: /x");
        let robots = RobotsTxt::parse(&body, Dialect::Rfc9309);
        let tokens: Vec<_> = robots.tokens().map(|token| (text(token.name), token.line, token.set)).collect();
        assert_eq!(tokens, [("GPTBot".into(), 1, 0), ("*".into(), 2, 1), ("B/2".into(), 5, 2)]);
        let robots = RobotsTxt::parse(&body, Dialect::Google);
        assert_eq!(text(robots.tokens().last().unwrap().name), "B");
        assert_eq!(text(robots.tokens().last().unwrap().as_written), "B/2");
    }

    #[test]
    fn other_records_keep_key_value_line_and_group() {
        let body = file("Sitemap: https://e.com/s.xml|User-agent: *|Crawl-delay: 2.5|Foo: bar # baz");
        let robots = RobotsTxt::parse(&body, Dialect::Rfc9309);
        let records: Vec<_> =
            robots.records().map(|record| (text(record.key), text(record.value), record.line, record.group)).collect();
        assert_eq!(
            records,
            [
                ("Sitemap".into(), "https://e.com/s.xml".into(), 1, None),
                ("Crawl-delay".into(), "2.5".into(), 3, Some(0)),
                ("Foo".into(), "bar".into(), 4, Some(0)),
            ]
        );
        assert_eq!(robots.crawl_delay(0), Some(b"2.5".as_slice()));
        assert!(robots.has_known_record());
        assert!(!robots.has_rules());
        assert!(!RobotsTxt::parse(b"Foo: bar", Dialect::Rfc9309).has_known_record());
    }

    #[test]
    fn the_deciding_line_is_the_first_of_the_longest() {
        let body = file("User-agent: *|Disallow: /x|Disallow: /x|Allow: /y|Disallow: /xx");
        let robots = RobotsTxt::parse(&body, Dialect::Rfc9309);
        let line = |path: &str| robots.rules_for("a").judge(path.as_bytes()).line;
        assert_eq!([line("/x"), line("/y"), line("/xx"), line("/z")], [2, 4, 5, 0]);
    }

    #[test]
    fn paths_of_urls_are_those_of_googles_parser() {
        for (url, path) in [
            ("", "/"),
            ("http://www.example.com", "/"),
            ("http://www.example.com/a/b", "/a/b"),
            ("http://www.example.com?x", "/?x"),
            ("http://www.example.com;x#y", "/;x"),
            ("//www.example.com/a", "/a"),
            ("example.com/a?b=http://c", "/a?b=http://c"),
            ("http://www.example.com#/a", "/"),
        ] {
            assert_eq!(text(&path_of_url(url.as_bytes())), path, "{url}");
        }
    }

    #[test]
    fn the_known_keys_are_lower_case_and_differ() {
        let distinct: std::collections::BTreeSet<_> = KNOWN_KEYS.iter().map(|key| key.to_ascii_lowercase()).collect();
        assert_eq!(distinct.len(), KNOWN_KEYS.len());
        assert!(KNOWN_KEYS.iter().all(|key| distinct.contains(*key)));
    }

    fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }
}

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
