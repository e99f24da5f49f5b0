//! The checks of `fuzz/`, for a few seconds on stable: on files that look like files, and on noise.

use proptest::prelude::*;
use proptest::sample::select;
use survey::robots::Dialect;

#[path = "../fuzz/checks.rs"]
mod checks;

/// What means something somewhere in a line, or looks as if it did.
const ODD: &[&[u8]] = &[
    b"",
    b" ",
    b"\t",
    b"\x0b",
    b"\x0c",
    b"\0",
    b"#",
    b"# x",
    b":",
    b"%",
    b"%4",
    b"%zz",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xc2\xa0",
    b"\xe2\x80\xa8",
    b"\xc2\x85",
    b"\xe9",
    b",",
    b"/",
    b"*",
    b"$",
];

const KEYS: &[&str] = &[
    "User-agent",
    "User-agent",
    "User-agent",
    "Disallow",
    "Disallow",
    "Disallow",
    "Allow",
    "Allow",
    "useragent",
    "user agent",
    "user_agent",
    "User-agents",
    "dissallow",
    "dissalow",
    "disalow",
    "diasllow",
    "disallaw",
    "disalllow",
    "Disallowed",
    "Allow-from",
    "DisallowAITraining",
    "Crawl-delay",
    "Sitemap",
    "site-map",
    "Noindex",
    "Host",
    "",
];

const AGENTS: &[&str] = &[
    "*",
    "*",
    "GPTBot",
    "GPTBot",
    "gptbot/1.0",
    "GPTBot, CCBot",
    "* foo",
    "*bot",
    "ClaudeBot",
    "AI2Bot",
    "a",
    "a/1",
    "a/",
    "/a",
    "b c",
    "A",
    "Google-Extended",
    "facebookexternalhit/1.1",
    "\"GPTBot\"",
    "",
    "Perplexity\u{2011}User",
];

const PARTS: &[&[u8]] = &[
    b"/",
    b"/",
    b"a",
    b"b",
    b"ab",
    b"*",
    b"*",
    b"$",
    b"%41",
    b"%61",
    b"%2A",
    b"%24",
    b"%2f",
    b"%2F",
    b"%",
    b"%e3",
    b"%E3",
    b"\xe3",
    b"\xc3\xa9",
    b"?",
    b"=",
    b"index.html",
    b"/index.htm",
    b"robots.txt",
    b".php",
    b"~",
    b"%7E",
];

fn joined(parts: impl Strategy<Value = Vec<Vec<u8>>>) -> impl Strategy<Value = Vec<u8>> {
    parts.prop_map(|parts| parts.concat())
}

fn of(words: &'static [&'static [u8]]) -> impl Strategy<Value = Vec<u8>> {
    select(words).prop_map(<[u8]>::to_vec)
}

/// Most paths begin as paths do, few patterns are long.
fn pattern() -> impl Strategy<Value = Vec<u8>> {
    let parts = joined(prop::collection::vec(of(PARTS), 0..6));
    (prop::bool::weighted(0.7), parts)
        .prop_map(|(is_path, parts)| if is_path { [b"/", &*parts].concat() } else { parts })
}

/// The same word in another case.
fn in_any_case(word: &'static str) -> impl Strategy<Value = Vec<u8>> {
    select(&[0u8, 0, 1, 2][..]).prop_map(move |case| match case {
        0 => word.as_bytes().to_vec(),
        1 => word.to_ascii_uppercase().into_bytes(),
        _ => word.to_ascii_lowercase().into_bytes(),
    })
}

/// A record, with too little or too much around its parts.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let odd = || prop_oneof![6 => Just(Vec::new()), 1 => of(ODD)];
    let key = select(KEYS).prop_flat_map(in_any_case);
    let colon = of(&[b":", b":", b": ", b": ", b":\t", b" : ", b" ", b"\t", b"", b"::"]);
    let agent = select(AGENTS).prop_flat_map(in_any_case);
    let value = prop_oneof![1 => agent, 1 => pattern()];
    let end = of(&[b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\n\n", b"\n\r", b"", b"\x0b", b"\r\r\n"]);
    (odd(), key, odd(), colon, value, odd(), end).prop_map(|(before, key, within, colon, value, after, end)| {
        [before, key, within, colon, value, after, end].concat()
    })
}

/// A group that is as it should be, so that verdicts depend on more than junk.
fn group() -> impl Strategy<Value = Vec<u8>> {
    let agents = prop::collection::vec(select(AGENTS), 1..3);
    let rules = prop::collection::vec((any::<bool>(), pattern()), 0..5);
    (agents, rules).prop_map(|(agents, rules)| {
        let mut text = Vec::new();
        for agent in agents {
            text.extend(format!("User-agent: {agent}\n").bytes());
        }
        for (is_allow, pattern) in rules {
            text.extend_from_slice(if is_allow { b"Allow: " } else { b"Disallow: " });
            text.extend(pattern);
            text.push(b'\n');
        }
        text
    })
}

fn file() -> impl Strategy<Value = Vec<u8>> {
    let mark = prop_oneof![8 => Just(Vec::new()), 1 => of(&[b"\xef", b"\xef\xbb", b"\xef\xbb\xbf", b"\xef\xbb\xbf\xef\xbb\xbf"])];
    let lines = joined(prop::collection::vec(prop_oneof![3 => line(), 2 => group()], 0..10));
    let written = (mark, lines).prop_map(|(mark, lines)| [mark, lines].concat());
    prop_oneof![9 => written, 1 => prop::collection::vec(any::<u8>(), 0..300)]
}

/// A file in which the value of one line stands about where Google's parser cuts it.
fn file_with_a_long_line() -> impl Strategy<Value = Vec<u8>> {
    let key = select(&["User-agent", "Disallow", "Allow"][..]).prop_flat_map(in_any_case);
    let value = prop_oneof![1 => select(AGENTS).prop_map(|agent| agent.as_bytes().to_vec()), 3 => pattern()];
    (group(), key, value, 0..8usize, file()).prop_map(|(before, key, value, room, after)| {
        let filler = vec![b' '; checks::LONGEST_LINE - key.len() - 1 - room];
        [&*before, &key, b":", &filler, &value, b"\n", &after].concat()
    })
}

/// A file that names more agents than are compared one by one, some of them twice.
fn file_for_many() -> impl Strategy<Value = Vec<u8>> {
    const NAMES: &[&str] =
        &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "a/1", "b/", "GPTBot", "CCBot", "*", "k-k"];
    let name = select(NAMES).prop_flat_map(in_any_case);
    let lines = (name, of(&[b"", b"", b"Allow:\n", b"Disallow: /\n", b"Disallow: /a\n"]));
    let lines = lines.prop_map(|(name, rule)| [b"User-agent:", &*name, b"\n", &rule].concat());
    joined(prop::collection::vec(lines, 6..40))
}

fn agent() -> impl Strategy<Value = String> {
    prop_oneof![9 => select(AGENTS).prop_map(str::to_owned), 1 => any::<String>()]
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn what_is_read_of_any_bytes_fits_together(body in prop_oneof![9 => file(), 1 => file_for_many()]) {
        checks::parse(&body);
    }

    #[test]
    fn one_rule_matches_where_trying_everything_says_so(pattern in pattern(), path in pattern()) {
        checks::matcher(&pattern, &path);
    }

    #[test]
    fn each_dialect_equals_its_decisions_one_by_one(body in prop_oneof![9 => file(), 1 => file_for_many()], agent in agent(), path in pattern()) {
        checks::verdict(Dialect::Google, &body, &agent, &path);
        checks::verdict(Dialect::Rfc9309, &body, &agent, &path);
    }
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn every_way_to_an_answer_leads_to_the_same(body in file(), paths in prop::collection::vec(pattern(), 0..4)) {
        let paths: Vec<&[u8]> = paths.iter().map(Vec::as_slice).collect();
        checks::agree(&body, &paths);
    }

    #[test]
    fn lines_are_kept_up_to_their_longest_and_no_further(body in file_with_a_long_line(), agent in agent(), path in pattern()) {
        checks::parse(&body);
        checks::verdict(Dialect::Google, &body, &agent, &path);
        checks::verdict(Dialect::Rfc9309, &body, &agent, &path);
    }
}
