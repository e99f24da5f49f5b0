//! What a file is known to hold, beside its verdicts.

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
    check_odd(b"User-agent: *\nDisallow: /\nSitemap: x\nUser-agent: b\nContent-Usage: train-ai=n\nDisallow: /", &[]);
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
fn the_known_keys_are_lower_case_and_differ() {
    let distinct: std::collections::BTreeSet<_> = KNOWN_KEYS.iter().map(|key| key.to_ascii_lowercase()).collect();
    assert_eq!(distinct.len(), KNOWN_KEYS.len());
    assert!(KNOWN_KEYS.iter().all(|key| distinct.contains(*key)));
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Stored words are a public contract: a change here breaks every reader's queries.
#[test]
fn the_vocabularies_are_pinned() {
    let words = |all: &[Oddity]| all.iter().map(|oddity| oddity.word()).collect::<Vec<_>>().join(" ");
    assert_eq!(
        words(Oddity::ALL),
        "bom cr-only nul long-line missing-colon misspelt-key rule-before-group no-leading-slash empty-user-agent \
         comma-list look-alike token-outside-alphabet ambiguous-grouping contradictory-signals \
         many-signals judged-in-part"
    );
    assert!(Oddity::ALL.iter().all(|oddity| oddity.doc().ends_with('.')));
    assert_eq!(Dialect::ALL.iter().map(|dialect| dialect.word()).collect::<Vec<_>>(), ["rfc9309", "google"]);
    assert_eq!(
        Grouping::ALL.iter().map(|grouping| grouping.word()).collect::<Vec<_>>(),
        ["rfc9309", "aipref", "any-record"]
    );
    assert_eq!(By::ALL.iter().map(|by| by.word()).collect::<Vec<_>>(), ["named", "wildcard", "default"]);
}
