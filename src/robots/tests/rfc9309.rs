//! RFC 9309, section by section, and where Google's parser differs.

use super::*;

/// A requirement of the RFC and files that show it: body, agent, path, whether it may be fetched under `rfc9309`.
struct Requirement {
    section: &'static str,
    level: &'static str,
    says: &'static str,
    cases: &'static [(&'static str, &'static str, &'static str, bool)],
}

/// Each MUST, SHOULD and MAY that a reader of files can meet, in the RFC's order.
///
/// Those that bind a fetcher are tested where it is: sections 2.3.1.1 (success), 2.3.1.3 (unavailable) and 2.3.1.4
/// (unreachable) in `outcome.rs` and `classify/tests.rs`; 2.3.1.2 (redirects) in `crawl/journey.rs`; 2.2.1 on our own
/// name in `commands/asking.rs`; 2.5 (limit) in `cli.rs` and `crawl/body.rs`. Sections 2.3.1.4 (after 30 days) and 2.4
/// (caching) need a history of snapshots, which is not built yet.
const REQUIREMENTS: &[Requirement] = &[
    Requirement {
        section: "2.2.1",
        level: "MUST",
        says: "product tokens match without regard to case",
        cases: &[
            ("User-agent: ExampleBot|Disallow: /", "EXAMPLEBOT", "/", false),
            ("user-agent: examplebot|Disallow: /", "ExampleBot", "/", false),
        ],
    },
    Requirement {
        section: "2.2.1",
        level: "MUST",
        says: "the rules of all groups that match are combined into one",
        cases: &[
            ("User-agent: a|Disallow: /x|User-agent: b|Disallow: /y|User-agent: a|Disallow: /z", "a", "/x", false),
            ("User-agent: a|Disallow: /x|User-agent: b|Disallow: /y|User-agent: a|Disallow: /z", "a", "/z", false),
            ("User-agent: a|Disallow: /x|User-agent: b|Disallow: /y|User-agent: a|Disallow: /z", "a", "/y", true),
            ("User-agent: a|Disallow: /x|User-agent: a|Allow: /x", "a", "/x", true),
        ],
    },
    Requirement {
        section: "2.2.1",
        level: "MUST",
        says: "without a group that matches, that of * is obeyed, if there is one",
        cases: &[
            ("User-agent: a|Allow: /|User-agent: *|Disallow: /", "b", "/", false),
            ("User-agent: a|Disallow: /x|User-agent: *|Disallow: /", "a", "/y", true),
        ],
    },
    Requirement {
        section: "2.2.1",
        level: "MUST",
        says: "if there is neither, no rules apply",
        cases: &[("User-agent: a|Disallow: /", "b", "/", true), ("", "b", "/", true)],
    },
    Requirement {
        section: "2.2.2",
        level: "MUST",
        says: "matching starts at the first octet of the path",
        cases: &[("User-agent: *|Disallow: /b", "a", "/a/b", true), ("User-agent: *|Disallow: /a", "a", "/a/b", false)],
    },
    Requirement {
        section: "2.2.2",
        level: "MUST",
        says: "the most specific match is used, which is the one of the most octets",
        cases: &[
            ("User-agent: *|Allow: /a|Disallow: /a/b", "a", "/a/b", false),
            ("User-agent: *|Disallow: /a/b|Allow: /a/b/c", "a", "/a/b/c", true),
            ("User-agent: *|Disallow: /ツ|Allow: /%E3%83%8", "a", "/ツ", false),
        ],
    },
    Requirement {
        section: "2.2.2",
        level: "SHOULD",
        says: "matching is case-sensitive",
        cases: &[("User-agent: *|Disallow: /A", "a", "/a", true), ("User-agent: *|Disallow: /A", "a", "/A", false)],
    },
    Requirement {
        section: "2.2.2",
        level: "SHOULD",
        says: "of an equivalent Allow and Disallow the Allow is used",
        cases: &[
            ("User-agent: *|Disallow: /p|Allow: /p", "a", "/p", true),
            ("User-agent: *|Allow: /*x|Disallow: /yx", "a", "/yx", true),
        ],
    },
    Requirement {
        section: "2.2.2",
        level: "MAY",
        says: "duplicate rules may be removed: they change nothing",
        cases: &[
            ("User-agent: *|Disallow: /x|Disallow: /x|Allow: /x/y|Allow: /x/y", "a", "/x", false),
            ("User-agent: *|Disallow: /x|Disallow: /x|Allow: /x/y|Allow: /x/y", "a", "/x/y", true),
        ],
    },
    Requirement {
        section: "2.2.2",
        level: "-",
        says: "a path that no rule matches is allowed, and /robots.txt always",
        cases: &[
            ("User-agent: *|Disallow: /x", "a", "/y", true),
            ("User-agent: *|Disallow: /", "a", "/robots.txt", true),
            ("User-agent: *|Disallow: /", "a", "/robots.txt?x", false),
        ],
    },
    Requirement {
        section: "2.2.2",
        level: "MUST",
        says: "octets outside ASCII, and reserved ones, are percent-encoded before they are compared",
        cases: &[
            ("User-agent: *|Disallow: /foo/bar?baz=quz", "a", "/foo/bar?baz=quz", false),
            ("User-agent: *|Disallow: /foo/bar/ツ", "a", "/foo/bar/%E3%83%84", false),
            ("User-agent: *|Disallow: /foo/bar/%E3%83%84", "a", "/foo/bar/ツ", false),
            ("User-agent: *|Disallow: /a%2Fb", "a", "/a/b", true),
            ("User-agent: *|Disallow: /a%2fb", "a", "/a%2Fb", false),
        ],
    },
    Requirement {
        section: "2.2.2",
        level: "MUST",
        says: "percent-encoded unreserved octets are decoded before they are compared",
        cases: &[
            ("User-agent: *|Disallow: /foo/bar/%62%61%7A", "a", "/foo/bar/baz", false),
            ("User-agent: *|Disallow: /m", "a", "/%6D", false),
            ("User-agent: *|Disallow: /~x", "a", "/%7Ex", false),
        ],
    },
    Requirement {
        section: "2.2.2",
        level: "SHOULD",
        says: "rules outside any group are ignored",
        cases: &[("Disallow: /|User-agent: *|Disallow: /x", "a", "/y", true)],
    },
    Requirement {
        section: "2.2.2",
        level: "MAY",
        says: "another encoding may be bridged: we keep the octets, so that one odd byte costs its line alone",
        cases: &[("User-agent: *|Disallow: /\u{fffd}|Disallow: /x", "a", "/x", false)],
    },
    Requirement {
        section: "2.2.3",
        level: "MUST",
        says: "# begins a comment",
        cases: &[
            ("User-agent: * # all|Disallow: /x # y", "a", "/x", false),
            ("# User-agent: *|# Disallow: /", "a", "/", true),
            ("User-agent: *|Disallow: /x#y", "a", "/xz", false),
        ],
    },
    Requirement {
        section: "2.2.3",
        level: "MUST",
        says: "$ ends a pattern",
        cases: &[
            ("User-agent: *|Disallow: /x$", "a", "/x", false),
            ("User-agent: *|Disallow: /x$", "a", "/xy", true),
            ("User-agent: *|Disallow: /x$y", "a", "/x$y", false),
        ],
    },
    Requirement {
        section: "2.2.3",
        level: "MUST",
        says: "* stands for any run of characters, none included",
        cases: &[
            ("User-agent: *|Disallow: /x*y", "a", "/xy", false),
            ("User-agent: *|Disallow: /x*y", "a", "/x/a/yz", false),
            ("User-agent: *|Disallow: *.gif$", "a", "/x.gif", false),
            ("User-agent: *|Disallow: /x*y", "a", "/xz", true),
        ],
    },
    Requirement {
        section: "2.2.3",
        level: "SHOULD",
        says: "special characters are matched as themselves where the rule encodes them",
        cases: &[
            ("User-agent: *|Disallow: /path/file-with-a-%2A.html", "a", "/path/file-with-a-*.html", false),
            ("User-agent: *|Disallow: /path/foo-%24", "a", "/path/foo-$", false),
            ("User-agent: *|Disallow: /%2A", "a", "/x", true),
        ],
    },
    Requirement {
        section: "2.2.4",
        level: "MAY",
        says: "other records may be read: they are kept",
        cases: &[("User-agent: *|Sitemap: https://e.com/s|Disallow: /x|Crawl-delay: 1", "a", "/x", false)],
    },
    Requirement {
        section: "2.2.4",
        level: "MUST NOT",
        says: "reading them does not interfere with groups and rules",
        cases: &[
            ("User-agent: a|Sitemap: https://e.com/s||User-agent: b|Disallow: /", "a", "/", false),
            ("User-agent: a|Crawl-delay: 1|User-agent: b|Disallow: /", "a", "/", false),
            ("User-agent: a|Disallow: /x|Host: e.com|Disallow: /y", "a", "/y", false),
        ],
    },
    Requirement {
        section: "2.3.1.5",
        level: "MUST",
        says: "each line is tried, and what parses is used",
        cases: &[
            ("<html>|User-agent: *|!?|: |Disallow|Disallow: /x|\u{1}", "a", "/x", false),
            ("User-agent|User-agent: *|Disallow /y|Disallow: /x", "a", "/y", true),
        ],
    },
];

#[test]
fn each_requirement_that_a_reader_of_files_can_meet_is_met() {
    for Requirement { section, level, says, cases } in REQUIREMENTS {
        for (text, agent, path, allowed) in *cases {
            let body = file(text);
            let robots = RobotsTxt::parse(&body, Dialect::Rfc9309);
            let found = robots.rules_for(agent).judge(path.as_bytes()).allowed;
            assert_eq!(found, *allowed, "section {section}, {level}: {says}: {text} {agent} {path}");
        }
    }
}

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

/// Found by writing the reference in `fuzz/checks.rs`: white space is the same everywhere, VT included.
#[test]
fn white_space_before_the_slash_of_a_name_does_not_count() {
    for white in [" ", "\t", "\x0b", "\x0c", " \x0b "] {
        check(&format!("User-agent: GPTBot{white}/1.0|Disallow: /"), "GPTBot", "/", false);
        check_in(Dialect::Rfc9309, b"User-agent: GPTBot\nDisallow: /", &format!("GPTBot{white}/1.0"), "/", false);
    }
}

/// Found by fuzzing: such a token named itself as the reason why rules apply, and none applied.
#[test]
fn a_star_before_a_slash_is_neither_the_star_nor_a_name() {
    let body = file("User-agent: */1|Disallow: /");
    let robots = RobotsTxt::parse(&body, Dialect::Rfc9309);
    for agent in ["GPTBot", "*", "*/2"] {
        assert_eq!(robots.rules_for(agent).by(), By::Default, "{agent}");
        assert!(robots.tokens_for(agent).is_empty(), "{agent}");
    }
    assert_eq!(robots.rules_for("*/1").by(), By::Named);
    check("User-agent: */1|Disallow: /|User-agent: *|Disallow: /x", "GPTBot", "/", true);
    check("User-agent: *|Disallow: /", "*/1", "/", false);
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
