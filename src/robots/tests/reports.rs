//! Public bug reports of other parsers, as cases.

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
        text += "User-agent: bot";
        text += &"abcdefghij".repeat(number % 7 + 1);
        text += "|";
    }
    text += "User-agent: last|Disallow: /";
    check(&text, "last", "/", false);
    assert_eq!(RobotsTxt::parse(&file(&text), Dialect::Rfc9309).tokens().len(), 8);
    assert_eq!(RobotsTxt::parse(&file(&text), Dialect::Rfc9309).set_count(), 1);
}
