//! Observation → row, and the definitions case by case. In the files of the cases `|` stands for a line end.

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::classify::row::{By, Comparison, Restriction};
use crate::domain::{Domain, Target};
use crate::observation::{BodySource, Failure, Past};
use crate::outcome::{Cause, Effect, Kind};

fn classifier(definition: &str, dialect: Dialect) -> Classifier {
    Classifier::new(Catalogue::embedded(), Definition::named(definition).unwrap(), dialect)
}

/// The panel's first agent, GPTBot, under one definition.
#[track_caller]
fn check(definition: &str, text: &str, expected: Restriction) {
    let judgement = classifier(definition, Dialect::Rfc9309).judge_bytes(text.replace('|', "\n").as_bytes());
    assert_eq!(judgement.panel[0].restriction, expected, "{definition}: {text}");
}

#[test]
fn rfc_has_four_levels() {
    let check = |text, expected| check("rfc", text, expected);
    check("", Restriction::None);
    check("User-agent: *|Disallow:", Restriction::None);
    check("User-agent: *|Allow: /", Restriction::None);
    check("User-agent: *|Disallow: /x", Restriction::Partial);
    check("User-agent: *|Disallow: /$", Restriction::Partial);
    check("User-agent: *|Disallow: /", Restriction::Full);
    check("User-agent: *|Disallow: *", Restriction::Full);
    check("User-agent: *|Disallow: /|Disallow: /x", Restriction::Full);
    check("User-agent: *|Disallow: /|Allow: /x", Restriction::Mostly);
    check("User-agent: *|Disallow: /|Allow: /$", Restriction::Mostly);
    check("User-agent: *|Disallow: /|Allow: /", Restriction::None);
    check("User-agent: *|Disallow: /|Allow: /robots.txt", Restriction::Full);
    check("User-agent: *|Disallow: /robots.txt", Restriction::None);
    check("User-agent: *|Disallow: x", Restriction::None);
    check("User-agent: *|Disallow: /x*y|Allow: /xy", Restriction::Partial);
    check("User-agent: *|Disallow: /|User-agent: GPTBot|Disallow: /x", Restriction::Partial);
}

#[test]
fn the_other_definitions() {
    check("root", "User-agent: *|Disallow: /", Restriction::Full);
    check("root", "User-agent: *|Disallow: /|Allow: /$", Restriction::None);
    check("root", "User-agent: *|Disallow: /x", Restriction::None);
    check("named-root", "User-agent: *|Disallow: /", Restriction::None);
    check("named-root", "User-agent: GPTBot|Disallow: /|Allow: /", Restriction::Full);
    check("named-root", "User-agent: GPTBot|Disallow: /*", Restriction::None);
    check("mention", "User-agent: GPTBot|Allow: /", Restriction::Full);
    check("mention", "User-agent: *|Disallow: /", Restriction::None);
}

#[test]
fn consent_in_crisis_looks_at_the_text_of_the_rules() {
    let check = |text, expected| check("cic", text, expected);
    check("", Restriction::None);
    check("User-agent: *|Disallow:", Restriction::None);
    check("User-agent: *|Disallow: /", Restriction::Full);
    check("User-agent: *|Disallow: /*", Restriction::Partial);
    check("User-agent: *|Disallow: /x|Disallow: /", Restriction::Full);
    check("User-agent: *|Disallow: /|Allow: /robots.txt", Restriction::Partial);
    check("User-agent: *|Disallow: /|Allow: /?x", Restriction::Full);
    check("User-agent: *|Allow: /|Disallow: /", Restriction::None);
    check("User-agent: *|Allow: /|Disallow: /|Disallow: /x", Restriction::Partial);
    check("User-agent: *|Disallow: /?x", Restriction::None);
    check("User-agent: *|Disallow:|Disallow:", Restriction::Partial);
    check("User-agent: *|Disallow: /|User-agent: gptbot|Allow: /x", Restriction::None);
    check("User-agent: GPTBot|User-agent: x||Disallow: /", Restriction::Full);
}

#[test]
fn consent_in_crisis_as_published_reads_as_its_parser_did() {
    let check = |text, expected| check("cic-2024", text, expected);
    check("", Restriction::None);
    check("User-agent: *|Disallow: /", Restriction::Full);
    check("User-agent: *|Disallow: /|User-agent: GPTBot|Disallow: /x", Restriction::Partial);
    // Agents compare by case, keys have one spelling.
    check("User-agent: *|Disallow: /|User-agent: gptbot|Disallow: /x", Restriction::Full);
    check("User-Agent: *|Disallow: /", Restriction::None);
    check("User-agent: *|disallow: /", Restriction::None);
    check("User-agent : *|Disallow: /", Restriction::None);
    // A blank line or a comment ends the group, an unknown line does not.
    check("User-agent: GPTBot||Disallow: /", Restriction::None);
    check("User-agent: GPTBot|# AI|Disallow: /", Restriction::None);
    check("User-agent: GPTBot|Sitemap: x|Disallow: /", Restriction::Full);
    check("  User-agent: GPTBot |\tDisallow: / ", Restriction::Full);
    check("User-agent: GPTBot\r|Disallow: /\r|", Restriction::Full);
    // Python ends lines where others do not.
    check("User-agent: GPTBot\u{2028}Disallow: /", Restriction::Full);
    check("User-agent: GPTBot\x0b|Disallow: /", Restriction::None);
    // Of stacked names the last gets the rules; a name that returns keeps one list; a comment stays in the value.
    check("User-agent: GPTBot|User-agent: x|Disallow: /", Restriction::None);
    check("User-agent: x|User-agent: GPTBot|Disallow: /", Restriction::Full);
    check("User-agent: GPTBot|Allow: /x|User-agent: GPTBot|Disallow: /", Restriction::Partial);
    check("User-agent: GPTBot|Disallow: / # all", Restriction::Partial);
    check("\u{feff}User-agent: GPTBot|Disallow: /", Restriction::None);
    check("User-agent: *|Disallow: /|User-agent: GPTBot", Restriction::None);
}

#[test]
fn common_crawl_looks_at_the_set_of_rules() {
    let check = |text, expected| check("cc-2025", text, expected);
    for none in ["", "User-agent: *", "User-agent: *|Disallow:", "User-agent: *|Allow:", "User-agent: *|Allow: /"] {
        check(none, Restriction::None);
    }
    check("User-agent: *|Allow: *|Allow: *", Restriction::None);
    check("User-agent: *|Allow: /*", Restriction::None);
    check("User-agent: *|Disallow: /", Restriction::Full);
    check("User-agent: GPTBot|Disallow: /|User-agent: gptbot|Disallow: /", Restriction::Full);
    check("User-agent: *|Disallow: /|Disallow:", Restriction::Partial);
    check("User-agent: *|Disallow: /|Allow: /", Restriction::Partial);
    check("User-agent: *|Disallow: *", Restriction::Partial);
    check("User-agent: *|Disallow: /x", Restriction::Partial);
    check("User-agent: *|Allow: /|Allow: /*", Restriction::Partial);
}

#[test]
fn imc25_looks_at_every_path_that_is_written() {
    let check = |text: &str, expected| {
        let judgement = classifier("imc25", Dialect::Google).judge_bytes(text.replace('|', "\n").as_bytes());
        assert_eq!(judgement.panel[0].restriction, expected, "{text}");
    };
    check("", Restriction::None);
    check("User-agent: *|Disallow: /", Restriction::Full);
    check("User-agent: *|Disallow: /x", Restriction::Partial);
    check("User-agent: *|Disallow: /|Allow: /x", Restriction::Partial);
    check("User-agent: *|Disallow: /|# Allow: / would be kinder", Restriction::Full);
    check("User-agent: *|Disallow: /x*y", Restriction::Partial);
    check("User-agent: *|Disallow: /x$", Restriction::Partial);
    check("User-agent: *|Disallow: x", Restriction::None);
    check("User-agent: *|Disallow: /|User-agent: x|Disallow: /y", Restriction::Full);
    check("User-agent: *|Allow: /|User-agent: x|Disallow: /y", Restriction::None);
}

/// A word for an agent must not depend on which others are asked at the same time.
#[test]
fn an_agent_asked_alone_gets_the_verdict_it_gets_among_all() {
    let text = "User-agent: *|Disallow: /x?|User-agent: GPTBot/1.1|User-agent: ccbot|Disallow: /||User-agent: CCBot|\
                Disallow: /|Allow: /y|User-agent: MistralAI-User|Disallow:|User-agent: AI2Bot|Disallow: /";
    for definition in DEFINITIONS {
        let dialect = definition.usual_dialect();
        let classifier = classifier(definition.name, dialect);
        let body = text.replace('|', "\n").into_bytes();
        let file = RobotsTxt::parse(&body, dialect);
        let verdicts = classifier.judge(&file);
        for (agent, verdict) in classifier.catalogue().agents().iter().zip(&verdicts.agents) {
            let alone = classifier.judge_agent(&file, &agent.token);
            assert_eq!(alone.restriction, verdict.restriction, "{} {}", definition.name, agent.token);
            assert_eq!(alone.root_allowed, verdict.root_allowed, "{} {}", definition.name, agent.token);
        }
    }
}

#[test]
fn definitions_are_documented_and_differ() {
    let names: std::collections::BTreeSet<_> = DEFINITIONS.iter().map(|definition| definition.name).collect();
    assert_eq!(names.len(), DEFINITIONS.len());
    for definition in DEFINITIONS {
        assert!(definition.doc.ends_with('.') && definition.source.ends_with('.'), "{}", definition.name);
    }
}

#[test]
fn an_agent_is_compared_with_a_crawler_that_no_group_names() {
    let text = b"User-agent: *\nDisallow: /x\nUser-agent: GPTBot\nDisallow: /\nUser-agent: CCBot\nAllow: /\n";
    let judgement = classifier("rfc", Dialect::Rfc9309).judge_bytes(text);
    let of = |place: usize| (judgement.panel[place].by, judgement.panel[place].vs_unnamed);
    assert_eq!(of(0), (By::Named, Comparison::Stricter));
    assert_eq!(of(1), (By::Wildcard, Comparison::Same));
    assert_eq!(of(9), (By::Named, Comparison::Looser));
    assert_eq!(judgement.unnamed_restriction, Restriction::Partial);
    assert!(judgement.core_training_stricter && judgement.any_ai && judgement.any_ai_named);
    let judgement = classifier("rfc", Dialect::Rfc9309).judge_bytes(b"User-agent: *\nDisallow: /\n");
    assert!(judgement.any_ai && !judgement.any_ai_named && !judgement.core_training_stricter);
}

#[test]
fn versions_in_a_name_are_understood_for_every_agent() {
    let classifier = classifier("rfc", Dialect::Rfc9309);
    let body = b"User-agent: GPTBot/1.1\nUser-agent: MistralAI-User\nDisallow: /\n";
    let file = RobotsTxt::parse(body, Dialect::Rfc9309);
    let verdicts = classifier.judge(&file);
    for name in ["GPTBot", "MistralAI-User", "MistralAI-User/1.0"] {
        let position = classifier.catalogue().position(name).unwrap();
        assert_eq!(verdicts.agents[position].by, By::Named, "{name}");
        assert_eq!(verdicts.agents[position].restriction, Restriction::Full, "{name}");
    }
}

fn observation(ending: Ending) -> Observation {
    let domain = Domain::parse("example.com").unwrap();
    Observation {
        target: Target { index: 0, domain, rank: None, weight: None, stratum: None },
        capture_index: 0,
        fetched_at: None,
        asking: None,
        ending,
        body_source: BodySource::Fetched,
        past: Past::default(),
    }
}

fn response(status: u16, body: &[u8]) -> Response {
    Response {
        url: "https://example.com/robots.txt".into(),
        status,
        headers: Vec::new(),
        body: Bytes::copy_from_slice(body),
        is_truncated: false,
        wire_bytes: None,
    }
}

fn row(status: u16, body: &[u8]) -> Row {
    classifier("rfc", Dialect::Rfc9309).classify(observation(Ending::Response(response(status, body))))
}

#[test]
fn a_readable_file_is_read_and_judged() {
    let row = row(200, b"User-agent: GPTBot\nCrawl-delay: 5\nDisallow: /\nSitemap: s\nsitemap: t\nAllow:\n");
    assert_eq!(row.outcome, Outcome::Answer(Kind::Rules));
    let reading = row.reading.unwrap();
    assert_eq!((reading.line_count, reading.group_count), (6, 1));
    assert_eq!((reading.allow_rule_count, reading.disallow_rule_count), (0, 1));
    assert_eq!(reading.sitemaps, ["s", "t"]);
    assert_eq!(reading.other_records, [("crawl-delay".to_owned(), 1), ("sitemap".to_owned(), 2)]);
    let named = &reading.named_agents[0];
    assert_eq!((named.token.as_str(), named.as_written.as_str(), named.line), ("gptbot", "GPTBot", 1));
    assert_eq!((named.restriction, named.disallow_rules, named.crawl_delay_s), (Restriction::Full, 1, Some(5.0)));
    assert_eq!(row.judgement.unwrap().panel.len(), 25);
}

#[test]
fn what_is_absent_or_empty_restricts_nobody() {
    for (status, body) in [(404, "User-agent: *\nDisallow: /"), (410, ""), (200, ""), (200, "# Disallow: /")] {
        let row = row(status, body.as_bytes());
        assert_eq!(row.reading.is_some(), status == 200);
        let judgement = row.judgement.unwrap();
        assert!(judgement.panel.iter().all(|agent| {
            (agent.restriction, agent.by, agent.vs_unnamed, agent.root_allowed)
                == (Restriction::None, By::Default, Comparison::Same, true)
        }));
        assert!(!judgement.any_ai);
    }
}

#[test]
fn what_is_not_determinable_has_no_verdict() {
    for (status, body) in [(200, "<html>\nUser-agent: *\nDisallow: /"), (403, "User-agent: *\nDisallow: /"), (503, "")]
    {
        let row = row(status, body.as_bytes());
        assert!(row.reading.is_none() && row.judgement.is_none() && row.body.is_some());
    }
    let failure = Ending::Failure(Failure::from(Cause::DnsNxdomain));
    let row = classifier("rfc", Dialect::Rfc9309).classify(observation(failure));
    assert_eq!(row.outcome, Outcome::Failure(Cause::DnsNxdomain));
    assert!(row.reading.is_none() && row.judgement.is_none() && row.body.is_none());
}

/// A row for a response with these header fields.
fn row_with(dialect: Dialect, status: u16, headers: &[(&str, &str)], body: &str) -> Row {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let response = Response { headers, ..response(status, body.replace('|', "\n").as_bytes()) };
    classifier("rfc", dialect).classify(observation(Ending::Response(response)))
}

fn kinds(row: &Row) -> Option<Vec<&'static str>> {
    row.signals.as_ref().map(|signals| signals.iter().map(|found| found.kind).collect())
}

#[test]
fn signals_of_the_file_come_by_line_and_then_the_hints_of_the_head() {
    let body =
        "# AI training is prohibited.|User-agent: *|License: https://e.com/l|Content-Signal: ai-train=no|Allow: /";
    let row = row_with(Dialect::Rfc9309, 200, &[("tdm-reservation", "1")], body);
    assert_eq!(kinds(&row).unwrap(), ["prose-reservation", "license", "content-signal", "tdm-reservation"]);
    let stance = row.stance.unwrap();
    assert!(stance.stated.has_license && stance.stated.has_prose_reservation);
    assert_eq!(stance.policy, PolicyClass::TrainingNo);
    // The hint alone changes no word.
    let hint = row_with(Dialect::Rfc9309, 200, &[("content-signal", "ai-train=no")], "User-agent: *|Allow: /");
    assert_eq!((kinds(&hint).unwrap().len(), hint.stance.unwrap().policy), (1, PolicyClass::Open));
}

#[test]
fn signals_are_known_where_a_file_is_and_hints_wherever_a_response_is() {
    let head = [("x-robots-tag", "noai")];
    let of = |status, head: &[(&str, &str)], body| kinds(&row_with(Dialect::Rfc9309, status, head, body));
    assert_eq!(of(404, &[], ""), Some(vec![]));
    assert_eq!(of(404, &head, ""), Some(vec!["x-robots-tag"]));
    assert_eq!(of(200, &[], "# nothing"), Some(vec![]));
    // A page or a refusal is no file: what it does not say is not known, what its head says is.
    assert_eq!(of(200, &[], "<html># AI training is prohibited."), None);
    assert_eq!(of(403, &head, "Content-Signal: ai-train=no"), Some(vec!["x-robots-tag"]));
    assert!(row_with(Dialect::Rfc9309, 403, &head, "").stance.is_none());
    assert_eq!(row_with(Dialect::Rfc9309, 404, &head, "").stance.unwrap().policy, PolicyClass::Open);
}

#[test]
fn a_policy_without_a_signal_reserves_nothing() {
    let policy = "# As a condition of accessing this website, you agree to abide by the following content signals:||\
                  # (a)  If a content-signal = yes, you may collect content for the corresponding use.|\
                  # (b)  If a content-signal = no, you may not collect content for the corresponding use.||\
                  # ai-train:  training or fine-tuning AI models.||\
                  # ANY RESTRICTIONS EXPRESSED VIA CONTENT SIGNALS ARE EXPRESS RESERVATIONS OF RIGHTS UNDER ARTICLE 4|\
                  # OF THE EUROPEAN UNION DIRECTIVE 2019/790.|";
    let row = row_with(Dialect::Rfc9309, 200, &[], policy);
    assert_eq!((row.outcome, kinds(&row).unwrap()), (Outcome::Answer(Kind::Empty), vec![]));
    let stance = row.stance.unwrap();
    assert_eq!((stance.policy, stance.reservation()), (PolicyClass::Open, ReservationScope::None));
    let managed = format!(
        "{policy}|User-agent: *|Content-Signal: search=yes,ai-train=no|Allow: /||User-agent: GPTBot|Disallow: /"
    );
    let stance = row_with(Dialect::Rfc9309, 200, &[], &managed).stance.unwrap();
    assert!(!stance.stated.has_prose_reservation && !stance.is_contradictory);
    assert_eq!((stance.policy, stance.usage), (PolicyClass::TrainingNo, ReservationScope::Wildcard));
}

#[test]
fn a_signal_is_a_signal_whatever_the_dialect_makes_of_its_key() {
    let body = "User-agent: *|DisallowAITraining: /|Allow: /x";
    for (dialect, unnamed) in [(Dialect::Rfc9309, Restriction::None), (Dialect::Google, Restriction::Mostly)] {
        let row = row_with(dialect, 200, &[], body);
        assert_eq!(kinds(&row).unwrap(), ["disallow-ai-training"], "{dialect}");
        assert_eq!(row.judgement.unwrap().unnamed_restriction, unnamed, "{dialect}");
    }
}

#[test]
fn oddities_of_the_whole_file_stand_beside_those_of_its_lines() {
    let oddities = |body| row_with(Dialect::Rfc9309, 200, &[], body).reading.unwrap().oddities;
    let contradiction = "User-agent: *|Content-Signal: ai-train=yes|Allow: /|User-agent: GPTBot|Disallow: /";
    assert_eq!(oddities(contradiction), [Oddity::ContradictorySignals]);
    let ambiguous = "User-agent: *|Content-Signal: ai-train=yes||User-agent: GPTBot|Disallow: /";
    assert_eq!(oddities(ambiguous), [Oddity::AmbiguousGrouping, Oddity::ContradictorySignals]);
    assert_eq!(oddities("User-agent: *|Crawl-delay: 1|User-agent: GPTBot|Disallow:"), []);
    let many = format!("User-agent: *|{}", "Content-Signal: search=yes|".repeat(300));
    assert_eq!(row_with(Dialect::Rfc9309, 200, &[], &many).reading.unwrap().oddities, [Oddity::ManySignals]);
}

#[test]
fn charsets_are_sniffed_from_marks_and_bytes() {
    let cases: [(&[u8], Charset); 6] = [
        (b"abc", Charset::Ascii),
        ("\u{e9}".as_bytes(), Charset::Utf8),
        (b"\xef\xbb\xbfabc", Charset::Utf8Bom),
        (b"\xff\xfea\0", Charset::Utf16le),
        (b"\xfe\xff\0a", Charset::Utf16be),
        (b"caf\xe9 ", Charset::Other),
    ];
    for (body, expected) in cases {
        assert_eq!(charset_of(body, false), expected, "{body:?}");
    }
    assert_eq!(charset_of("\u{e9}".as_bytes().split_last().unwrap().1, true), Charset::Utf8);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn many_agents_at_once_equal_one_by_one(lines in prop::collection::vec((0_usize..9, 0_usize..12), 0..30), google in any::<bool>()) {
        let keys = ["User-agent: ", "User-agent: ", "Disallow: ", "Disallow: ", "Allow: ", "Allow: ", "Sitemap: ", "", "#"];
        let values = ["*", "GPTBot", "gptbot/2", "CCBot", "MistralAI-User", "AI2Bot", "/", "/x*", "/*.y$", "/x", "", "/z"];
        let lines = lines.iter().flat_map(|(key, value)| [keys[*key], values[*value], "\n"]);
        let text: String = lines.collect();
        let dialect = if google { Dialect::Google } else { Dialect::Rfc9309 };
        let classifier = classifier("rfc", dialect);
        let file = RobotsTxt::parse(text.as_bytes(), dialect);
        let verdicts = classifier.judge(&file);
        for (agent, verdict) in classifier.catalogue().agents().iter().zip(&verdicts.agents) {
            let rules = file.rules_for(&agent.token);
            prop_assert_eq!(rules.by(), verdict.by, "{}: {}", &agent.token, &text);
            prop_assert_eq!(rules.judge(b"/").allowed, verdict.root_allowed, "{}: {}", &agent.token, &text);
            prop_assert_eq!(level(&rules), verdict.restriction, "{}: {}", &agent.token, &text);
        }
    }
}

/// The definition `rfc` as the sentences of its documentation say it, without any short cut.
fn level(rules: &crate::robots::Ruleset<'_>) -> Restriction {
    let dialect = rules.file().dialect();
    let mut witnesses = vec![b"/".to_vec(), UNNAMED_PATH.to_vec()];
    for rule in rules.rules().filter(|rule| !rule.pattern.is_empty()) {
        let pattern = String::from_utf8(rule.normalised(dialect).into_owned()).unwrap();
        for filler in ["", "x"] {
            let path = pattern.strip_suffix('$').unwrap_or(&pattern).replace('*', filler);
            witnesses.push(if path.starts_with('/') { path } else { format!("/{path}") }.into_bytes());
        }
    }
    witnesses.retain(|path| path != b"/robots.txt");
    let closed = witnesses.iter().filter(|path| !rules.judge(path).allowed).count();
    match (closed, rules.judge(UNNAMED_PATH).allowed) {
        (0, _) => Restriction::None,
        (_, true) => Restriction::Partial,
        (closed, false) if closed == witnesses.len() => Restriction::Full,
        (_, false) => Restriction::Mostly,
    }
}

/// Nothing here may take time that grows with the square of the file; a test that hangs is the sign.
#[test]
fn hostile_files_are_judged_whole() {
    let file = |line: &dyn Fn(usize) -> String| {
        let lines: Vec<String> = (0..8_000).map(line).collect();
        format!("User-agent: *|{}", lines.concat())
    };
    check("rfc", &file(&|n| format!("Allow: /a{n}|Disallow: /a{n}*|")), Restriction::Partial);
    check("rfc", &file(&|n| format!("Disallow: /a{n}|Allow: /a{n}*|")), Restriction::None);
    check("rfc", &(file(&|n| format!("Disallow: /a{n}|Allow: /a{n}*|")) + "Disallow: /z"), Restriction::Partial);
    check("rfc", &(file(&|n| format!("Disallow: /*a{n}|")) + "Disallow: /"), Restriction::Full);
    check("rfc", &file(&|_| "User-agent: GPTBot|".into()), Restriction::None);
    check("rfc", &file(&|_| "User-agent: GPTBot|Disallow: /x|".into()), Restriction::Partial);
    check("rfc", &(file(&|n| format!("User-agent: GPTBot/{n}|Disallow: /{n}|")) + "Disallow: /"), Restriction::Full);
}

/// crawlee-python#2065 and kreuzcrawl#44 took 429, 5xx and time-outs for permission; what 401 and 403 mean is disputed.
#[test]
fn an_answer_that_is_no_file_gives_no_verdict_and_keeps_its_status() {
    let body = b"User-agent: *\nDisallow: /\n";
    for (status, outcome, effect) in [
        (401, Kind::Refused401, Effect::AllowAll),
        (403, Kind::Refused403, Effect::AllowAll),
        (429, Kind::Limited429, Effect::AllowAll),
        (500, Kind::ServerError, Effect::DisallowAll),
        (503, Kind::ServerError, Effect::DisallowAll),
        (522, Kind::OriginDown, Effect::DisallowAll),
    ] {
        let row = row(status, body);
        assert_eq!((row.outcome, row.outcome.effect_rfc()), (Outcome::Answer(outcome), effect), "{status}");
        assert!(row.judgement.is_none() && row.reading.is_none(), "{status}");
        assert_eq!(row.observation.response().unwrap().status, status);
    }
    let late = Failure { cause: Cause::HttpTimeout, detail: None };
    let row = classifier("rfc", Dialect::Rfc9309).classify(observation(Ending::Failure(late)));
    assert!(row.judgement.is_none());
    assert_eq!(row.outcome.effect_rfc(), Effect::DisallowAll);
    assert_eq!(row.outcome.effect_google(), Effect::DisallowForNow);
}

/// A plain list of pairs is what a long honest file may be; it must not be given up.
#[test]
fn as_many_pairs_as_a_file_can_hold_are_judged_whole() {
    for (shorter, longer, level) in
        [("Allow", "Disallow", Restriction::Partial), ("Disallow", "Allow", Restriction::None)]
    {
        let mut text = String::from("User-agent: *\n");
        for number in 0.. {
            let pair = format!("{shorter}: /a{number}\n{longer}: /a{number}*\n");
            if text.len() + pair.len() > 512 << 10 {
                break;
            }
            text.push_str(&pair);
        }
        let verdicts = classifier("rfc", Dialect::Rfc9309).judge(&RobotsTxt::parse(text.as_bytes(), Dialect::Rfc9309));
        assert_eq!((verdicts.unnamed.restriction, verdicts.is_in_part), (level, false), "{longer} longer");
    }
}

#[test]
fn a_rule_that_the_limit_cut_in_half_is_no_rule() {
    let whole = b"User-agent: *\nDisallow: /private/\n";
    let classify = |body: &[u8], is_truncated| {
        let mut response = response(200, body);
        response.is_truncated = is_truncated;
        classifier("rfc", Dialect::Rfc9309).classify(observation(Ending::Response(response)))
    };
    for end in 0..=whole.len() {
        let row = classify(&whole[..end], true);
        let closed = row.judgement.is_some_and(|judgement| judgement.unnamed_restriction == Restriction::Full);
        assert!(!closed, "{:?}", String::from_utf8_lossy(&whole[..end]));
    }
    // The same bytes, sent whole, do close the site.
    let cut = whole.len() - b"private/\n".len();
    let row = classify(&whole[..cut], false);
    assert_eq!(row.judgement.unwrap().unnamed_restriction, Restriction::Full);
    // The bytes that are kept and hashed stay as they came.
    assert_eq!(classify(&whole[..cut], true).observation.response().unwrap().body.len(), cut);
}

#[test]
fn a_file_that_takes_too_much_work_says_so() {
    let mut hostile = b"User-agent: *\n".to_vec();
    for number in 0..9000 {
        hostile.extend_from_slice(format!("Allow: /*a{number:05}*\nDisallow: /*a{number:05}\n").as_bytes());
    }
    let odd = |body: &[u8]| row(200, body).reading.unwrap().oddities.contains(&Oddity::JudgedInPart);
    assert!(odd(&hostile));
    assert!(!odd(b"User-agent: *\nAllow: /*a*b\nDisallow: /*a*b*d\n"));
}
