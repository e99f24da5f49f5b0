//! Public bug reports of other parsers, each as a case of its own.
//!
//! What the same reports say of fetching is tested there: 429, 5xx and time-outs read as permission
//! (crawlee-python#2065, kreuzcrawl#44) and 401 and 403 in `classify/tests.rs`; files cut at 4 KB (httrack#1286) in
//! `cli.rs` and `classify/tests.rs`.

use super::*;

#[test]
fn scrapy_6195_and_bubing_17_a_mark_before_the_first_key_is_skipped_once() {
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
fn crawler_commons_utf_16_has_no_rules_and_is_reported() {
    let wide: Vec<u8> = "User-agent: *\nDisallow: /".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let body = [b"\xff\xfe".to_vec(), wide].concat();
    check_in(Dialect::Rfc9309, &body, "a", "/", true);
    check_in(Dialect::Google, &body, "a", "/", true);
    assert!(RobotsTxt::parse(&body, Dialect::Google).oddities().any(|finding| finding.oddity == Oddity::Nul));
}

#[test]
fn tomverran_14_a_lone_carriage_return_ends_a_line() {
    check("User-agent: *\rDisallow: /x\rDisallow: /y\r", "a", "/y", false);
    check_odd(b"User-agent: *\rDisallow: /x\r", &[Oddity::CrOnly]);
}

#[test]
fn meziantou_2938_other_separators_end_no_line() {
    for separator in ["\u{b}", "\u{c}", "\u{85}", "\u{2028}"] {
        check(&format!("User-agent: *{separator}Disallow: /"), "b", "/", true);
    }
}

#[test]
fn fizx_3_keys_have_any_case() {
    check("USER-AGENT: *|dISALLOW: /|aLLOW: /x", "a", "/y", false);
    check("USER-AGENT: *|dISALLOW: /|aLLOW: /x", "a", "/x", true);
}

#[test]
fn t1gor_93_no_space_is_needed() {
    check("User-agent:*|Disallow:/|Allow:/x", "a", "/y", false);
    check("User-agent:*|Disallow:/|Allow:/x", "a", "/x", true);
}

#[test]
fn webtrees_4972_a_missing_colon_is_reported() {
    check_apart("User-agent: *|Disallow /", "a", "/", true, false);
    check_odd(b"User-agent: *\nDisallow /", &[Oddity::MissingColon]);
}

#[test]
fn bopoda_16_misspellings_are_reported() {
    for key in ["Dissallow", "Dissalow", "Disalow", "Diasllow", "Disallaw"] {
        check_apart(&format!("User-agent: *|{key}: /"), "a", "/", true, false);
        check_odd(&file(&format!("User-agent: *|{key}: /")), &[Oddity::MisspeltKey]);
    }
    check("User-agent: *|Disalllow: /", "a", "/", true);
}

#[test]
fn webignition_14_an_empty_user_agent_is_a_header_that_names_nobody() {
    check("User-agent:|Disallow: /", "a", "/", true);
    check("User-agent: *|Disallow: /x|User-agent:|Disallow: /", "a", "/y", true);
    check_odd(b"User-agent:\nDisallow: /", &[Oddity::EmptyUserAgent]);
}

#[test]
fn wayback_12_blank_lines_mean_nothing() {
    check("User-agent: A||User-agent: B|Disallow: /", "A", "/", false);
    check("User-agent: A||User-agent: B|Disallow: /", "B", "/", false);
}

#[test]
fn crawler_commons_430_and_google_51_a_crawl_delay_ends_no_group_and_is_reported() {
    let text = "User-agent: *|Crawl-delay: 10|User-agent: badbot|Disallow: /";
    check(text, "anybody", "/", false);
    check_odd(&file(text), &[Oddity::AmbiguousGrouping]);
}

#[test]
fn httrack_1695_the_star_does_not_leak_into_a_named_group() {
    check("User-agent: *|Disallow: /|User-agent: a|Disallow: /x", "a", "/y", true);
    check("User-agent: a|Disallow: /x|User-agent: *|Disallow: /", "a", "/y", true);
}

#[test]
fn ultimate_seo_geo_8_all_stacked_agents_count() {
    for agent in ["a", "b", "c"] {
        check("User-agent: a|User-agent: b|User-agent: c|Disallow: /", agent, "/", false);
    }
}

#[test]
fn agentic_seo_skill_33_the_named_group_is_used_and_not_the_star() {
    check("User-agent: GPTBot|Disallow: /|User-agent: *|Allow: /", "GPTBot", "/", false);
    check("User-agent: *|Allow: /|User-agent: GPTBot|Disallow: /", "GPTBot", "/", false);
}

#[test]
fn lightpanda_2997_an_own_group_with_an_empty_disallow_allows_whatever_the_star_says() {
    check("User-agent: *|Disallow: /|User-agent: a|Disallow:", "a", "/", true);
}

#[test]
fn protego_65_and_crawler_commons_192_no_substring_and_no_prefix_names_an_agent() {
    check("User-agent: bot|Disallow: /", "GPTBot", "/", true);
    check("User-agent: GPT|Disallow: /", "GPTBot", "/", true);
    check("User-agent: GPTBot-News|Disallow: /", "GPTBot", "/", true);
}

#[test]
fn google_46_and_ai_robots_txt_242_digits_and_spaces_in_names_are_compared_and_reported() {
    for name in ["AI2Bot", "img2dataset", "Kangaroo Bot", "Brightbot 1.0", "panscient.com"] {
        let text = format!("User-agent: {name}|Disallow: /");
        check_apart(&text, name, "/", false, true);
        check_odd(&file(&text), &[Oddity::TokenOutsideAlphabet]);
    }
}

#[test]
fn a_comma_list_names_one_agent_for_google_and_is_reported() {
    let text = "User-agent: GPTBot, CCBot|Disallow: /";
    check_apart(text, "GPTBot", "/", true, false);
    check(text, "CCBot", "/", true);
    check_odd(&file(text), &[Oddity::CommaList, Oddity::TokenOutsideAlphabet]);
}

#[test]
fn robots_parser_12_and_crawler4j_425_stars_do_not_explode() {
    let text = format!("User-agent: *|Disallow: /{}x", "*".repeat(2_000));
    check(&text, "a", &format!("/{}", "y".repeat(2_000)), true);
    let text = format!("User-agent: *|Disallow: /{}x", "*a".repeat(2_000));
    check(&text, "a", &format!("/{}", "a".repeat(3_000)), true);
}

#[test]
fn a_star_and_a_dollar_end_a_pattern_together() {
    check("User-agent: *|Disallow: /*.jpg$", "a", "/x.jpg", false);
    check("User-agent: *|Disallow: /*.jpg$", "a", "/x.jpg?y", true);
    check("User-agent: *|Disallow: /*.jpg$", "a", "/x.jpg/y.jpg", false);
}

#[test]
fn all_is_closed_but_the_root() {
    check("User-agent: *|Disallow: /*|Allow: /$", "a", "/", true);
    check("User-agent: *|Disallow: /*|Allow: /$", "a", "/x", false);
}

#[test]
fn temoto_21_a_dollar_in_the_middle_is_literal() {
    check("User-agent: *|Disallow: /a$b", "a", "/a$b", false);
    check("User-agent: *|Disallow: /a$b", "a", "/a", true);
    check("User-agent: *|Disallow: /a$b", "a", "/ab", true);
}

#[test]
fn crawler_commons_422_an_empty_disallow_beside_other_rules_is_ignored() {
    check("User-agent: *|Disallow:|Disallow: /x", "a", "/x", false);
    check("User-agent: *|Disallow: /x|Disallow:", "a", "/x", false);
    check("User-agent: *|Disallow: /x|Disallow:", "a", "/y", true);
}

#[test]
fn crawler_commons_195_an_encoded_slash_is_no_slash() {
    check("User-agent: *|Disallow: /*%2F*", "a", "/a/b", true);
    check("User-agent: *|Disallow: /*%2F*", "a", "/a%2Fb", false);
}

#[test]
fn crawler_commons_389_raw_unicode_matches_its_encoding() {
    check("User-agent: *|Disallow: /bücher/", "a", "/b%C3%BCcher/x", false);
    check_apart("User-agent: *|Disallow: /bücher/", "a", "/bücher/x", false, true);
}

#[test]
fn google_57_an_encoded_star_is_no_wildcard() {
    check("User-agent: *|Disallow: /x%2Ay", "a", "/xzy", true);
    check("User-agent: *|Disallow: /x%2Ay", "a", "/x%2Ay", false);
    check_apart("User-agent: *|Disallow: /x%2Ay", "a", "/x*y", false, true);
}

#[test]
fn google_64_hexadecimal_digits_have_any_case() {
    check("User-agent: *|Disallow: /%e3%83%84", "a", "/%E3%83%84", false);
    check_apart("User-agent: *|Disallow: /%E3%83%84", "a", "/%e3%83%84", false, true);
}

#[test]
fn httrack_1286_a_rule_behind_the_first_four_kilobytes_counts() {
    let text = format!("User-agent: *|{}Disallow: /x", "# padding|".repeat(60_000));
    assert!(text.len() > 500 << 10);
    check(&text, "a", "/x", false);
}

#[test]
fn folyd_1_a_line_of_spaces_does_not_panic() {
    for body in [" ", "\t", " | |", "User-agent: *| |Disallow: /x"] {
        check(body, "a", "/", true);
    }
}

#[test]
fn folyd_2_a_shell_script_does_not_panic_and_has_no_rules() {
    check("#!/bin/sh|if :; then|  echo \"User-agent: *\" > x|fi|:|::", "a", "/", true);
}

#[test]
fn folyd_5_a_character_of_many_bytes_is_not_cut() {
    for body in ["User-agent: ü|Disallow: /ü%", "Disallow: /\u{1f916}", "\u{1f916}: /", "%|%E|%EF|%EF%"] {
        check(body, "a", "/", true);
    }
    let body = file("User-agent: ü|Disallow: /\u{1f916}x");
    check_in(Dialect::Rfc9309, &body, "ü", "/\u{1f916}x/y", false);
}

#[test]
fn robots_parser_34_a_page_has_no_rules() {
    check("<p>User-agent: *<br>Disallow: /<br>", "a", "/", true);
    check("<p>User-agent: *<br>|Disallow: /<br>", "a", "/", true);
}

#[test]
fn protego_84_robots_txt_itself_is_always_allowed() {
    check_apart("User-agent: *|Disallow: /", "a", "/robots.txt", true, false);
    check_apart("User-agent: *|Disallow: /robots.txt", "a", "/robots.txt", true, false);
}

#[test]
fn cloudflare_docs_29198_a_managed_block_and_the_sites_own_star_group_merge() {
    let text = "User-agent: *|Content-Signal: ai-train=no|Allow: /||User-agent: *|Disallow: /admin";
    check(text, "a", "/admin", false);
    check(text, "a", "/x", true);
}

#[test]
fn robotspy_212_thousands_of_agents_are_a_few_distinct_ones() {
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
