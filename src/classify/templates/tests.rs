//! What holds for all templates: the registry's examples, and any bytes.

use std::collections::BTreeSet;

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::classify::row::Restriction;
use crate::classify::{Catalogue, Classifier, DEFINITIONS, PolicyClass, Row};
use crate::domain::{Domain, Target};
use crate::observation::{BodySource, Ending, Observation, Response};
use crate::robots::{Dialect, RobotsTxt};

fn row_in(dialect: Dialect, head: &str, body: &[u8]) -> Row {
    let field = |line: &str| {
        let (name, value) = line.split_once(": ").unwrap();
        (name.to_ascii_lowercase(), value.to_owned())
    };
    let response = Response {
        url: "https://example.com/robots.txt".to_owned(),
        status: 200,
        headers: head.lines().map(field).collect(),
        body: Bytes::copy_from_slice(body),
        is_truncated: false,
        wire_bytes: None,
    };
    let domain = Domain::parse("example.com").unwrap();
    Classifier::new(Catalogue::embedded(), &DEFINITIONS[0], dialect).classify(Observation {
        target: Target { index: 0, domain, rank: None, weight: None, stratum: None },
        capture_index: 0,
        fetched_at: None,
        asking: None,
        ending: Ending::Response(response),
        body_source: BodySource::Fetched,
    })
}

fn row(head: &str, body: &str) -> Row {
    row_in(Dialect::Rfc9309, head, body.replace('|', "\n").as_bytes())
}

fn written(head: &str, body: &str) -> Authorship {
    row(head, body).authorship.unwrap()
}

/// Checks the names and versions of what is found in a file, who decided, and what is the site's own.
#[track_caller]
fn check(head: &str, body: &str, found: &[&str], decision: Decision, own: &[&str]) {
    let written = written(head, body);
    let version = |found: &Found| found.version.as_ref().map_or_else(String::new, |version| format!(" {version}"));
    let names: Vec<String> = written.found.iter().map(|found| found.template.to_owned() + &version(found)).collect();
    let found: Vec<String> = found.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!((names, written.decision), (found, decision), "{body}");
    assert_eq!(written.own_named_agents, own, "{body}");
}

const CLOUDFLARE: &str = "Server: cloudflare\n";

const MANAGED: &str = "# BEGIN Cloudflare Managed content||User-agent: *|Content-Signal: search=yes,ai-train=no|Allow: /||\
                       User-agent: GPTBot|Disallow: /||# END Cloudflare Managed Content|";

#[test]
fn every_example_is_found_and_decided_as_it_says() {
    for template in templates() {
        assert!(!template.examples.is_empty(), "{} has no example", template.name);
        for example in template.examples {
            for dialect in [Dialect::Rfc9309, Dialect::Google] {
                let written = row_in(dialect, example.head, example.body.as_bytes()).authorship.unwrap();
                let [found] = written.found.as_slice() else {
                    panic!("{}: {:?} in {}", template.name, written.found, example.body)
                };
                assert_eq!(found.template, template.name);
                assert_eq!(found.version.as_deref(), example.version, "{}", example.body);
                assert_eq!((found.kind, found.decision), (template.kind, example.decision), "{}", example.body);
                assert_eq!(written.decision, example.of_file, "{}", example.body);
                assert_eq!(written.own_named_agents, example.own, "{}", example.body);
                assert_eq!(written.unmanaged.is_some(), template.kind == Kind::ManagedBlock);
            }
        }
    }
}

#[test]
fn every_entry_is_documented_and_stands_once() {
    let mut names = BTreeSet::new();
    for template in templates() {
        assert!(names.insert(template.name), "{} stands twice", template.name);
        assert!(template.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", template.name);
        assert!(template.doc.ends_with('.') && template.who.ends_with('.'), "{}", template.name);
        assert!(!template.marks.is_empty() && template.marks.iter().all(|mark| mark.len() >= 6), "{}", template.name);
        for example in template.examples {
            // The sentence on who decides says so with the words that are stored.
            let word = example.decision.word();
            assert!(template.who.contains(word) || example.decision == Decision::None, "{}: {word}", template.name);
            // So does the sentence on what it is with the versions, but for their numbers and names.
            if let Some(version) = example.version.filter(|_| template.kind == Kind::Platform) {
                let stem = version.trim_end_matches(|last: char| last.is_ascii_digit() && version.contains("ai-"));
                assert!(template.doc.contains(stem), "{}: {version}", template.name);
            }
        }
    }
}

/// Leftmost matches hide each other where they overlap; by a slash alone none does in any file that a program wrote.
#[test]
fn no_mark_can_hide_another() {
    let marks: BTreeSet<&str> = templates().flat_map(|template| template.marks).copied().collect();
    for mark in &marks {
        for other in marks.iter().filter(|other| *other != mark) {
            let mut lengths = 2..=mark.len().min(other.len());
            assert!(!mark.contains(other) && !lengths.any(|length| mark.ends_with(&other[..length])), "{mark} {other}");
        }
    }
}

#[test]
fn a_managed_open_group_wins_over_the_sites_own_closed_one() {
    let row = row(CLOUDFLARE, &format!("{MANAGED}User-agent: *|Disallow: /|"));
    let (whole, written) = (row.judgement.unwrap(), row.authorship.unwrap());
    let (rest, policy) = *written.unmanaged.unwrap();
    assert_eq!((whole.unnamed_restriction, whole.unnamed_root_allowed), (Restriction::None, true));
    assert_eq!((rest.unnamed_restriction, rest.unnamed_root_allowed), (Restriction::Full, false));
    assert_eq!((whole.core_training_stricter, rest.core_training_stricter), (true, false));
    assert_eq!((whole.any_ai_named, rest.any_ai_named), (true, false));
    assert_eq!((row.stance.unwrap().policy, policy), (PolicyClass::TrainingNo, PolicyClass::Closed));
    assert_eq!(written.decision, Decision::Switch);
}

#[test]
fn who_sent_a_block_is_told_by_the_head() {
    let version = "cloudflare-managed 2025-09";
    check(CLOUDFLARE, MANAGED, &[version], Decision::Switch, &[]);
    check("CF-Ray: 1\nServer: nginx\n", MANAGED, &[version], Decision::Switch, &[]);
    check("Content-Type: text/plain\n", MANAGED, &[version], Decision::Unknown, &[]);
    check("Server: nginx\n", MANAGED, &["cloudflare-copied managed"], Decision::Own, &["gptbot"]);
    // Cloudflare sent it, and did not write it.
    for foreign in ["Sitemap: https://e.com/s.xml", "Disallow: /blog/", "Crawl-delay: 3"] {
        let body = MANAGED.replace("# END", &format!("{foreign}|# END"));
        check(CLOUDFLARE, &body, &["cloudflare-copied managed"], Decision::Own, &["gptbot"]);
    }
    let without_end = MANAGED.replace("# END", "# end of");
    check(CLOUDFLARE, &without_end, &["cloudflare-copied managed"], Decision::Own, &["gptbot"]);
}

#[test]
fn what_stands_beside_a_block_is_read_without_it() {
    let both = format!("{MANAGED}User-agent: *|Disallow: /wp-admin/|Allow: /wp-admin/admin-ajax.php|");
    check(CLOUDFLARE, &both, &["cloudflare-managed 2025-09", "wordpress"], Decision::Switch, &[]);
    let own = format!("User-agent: CCBot|Disallow: /|{MANAGED}User-agent: gptbot|Allow: /x|");
    check(CLOUDFLARE, &own, &["cloudflare-managed 2025-09"], Decision::Own, &["ccbot", "gptbot"]);
    let signal = format!("{MANAGED}User-agent: *|Content-Signal: ai-input=no|Disallow: /x|");
    check(CLOUDFLARE, &signal, &["cloudflare-managed 2025-09"], Decision::Own, &[]);
    let sync =
        MANAGED.replace("Managed content", "Bot Preference Sync").replace("Managed Content", "Bot Preference Sync");
    let found = ["cloudflare-managed 2025-09", "cloudflare-bot-preference-sync"];
    check(CLOUDFLARE, &format!("{sync}{MANAGED}"), &found, Decision::Switch, &[]);
}

#[test]
fn a_template_does_not_answer_for_what_a_site_made_of_it() {
    let govoffice = "User-agent: Googlebot|Disallow: /admin/|Disallow: /manager/|Disallow: /*Design*|\
                     Disallow: /*GUESTBOOK*|User-agent: CCBot|Disallow: /admin/|Disallow: /manager/|";
    check("", govoffice, &["govoffice 2024"], Decision::Default, &[]);
    check("", &format!("{govoffice}Disallow: /|"), &["govoffice 2023"], Decision::Own, &["ccbot"]);
    let added = format!("{govoffice}User-agent: GPTBot|Disallow: /|");
    check("", &added, &["govoffice 2024"], Decision::Own, &["gptbot"]);
    let squarespace = "# Squarespace Robots Txt|User-agent: GPTBot|User-agent: *|Disallow: /config|";
    check("", squarespace, &["squarespace ai-off-1"], Decision::Default, &[]);
    check(
        "",
        &format!("{squarespace}User-agent: GPTBot|Disallow: /|"),
        &["squarespace no-ai"],
        Decision::Own,
        &["gptbot"],
    );
    check("", "# not Wix|User-agent: *|Disallow: /wix|", &[], Decision::None, &[]);
    check("", "User-agent: GPTBot/1.2|User-agent: Zao|Disallow: /|", &[], Decision::Own, &["gptbot/1.2", "zao"]);
    check("", "User-agent: *|DisallowAITraining: /|", &[], Decision::Own, &[]);
    check("", "# AI training is prohibited.|User-agent: *|Disallow: /x|", &[], Decision::None, &[]);
}

#[test]
fn copies_of_a_list_have_the_age_of_their_youngest_names() {
    let catalogue = Catalogue::embedded();
    let by = |month: &str| {
        let listed = |first: &Option<String>| first.as_deref().is_some_and(|first| first <= month);
        let names = catalogue.agents().iter().filter(|agent| !agent.control && listed(&agent.first_listed));
        names.fold(String::new(), |text, agent| text + "User-agent: " + &agent.token + "|") + "Disallow: /|"
    };
    let months: BTreeSet<String> = catalogue
        .agents()
        .iter()
        .filter(|agent| !agent.control)
        .filter_map(|agent| agent.first_listed.clone())
        .collect();
    for month in months {
        let written = written("", &format!("User-agent: *|Allow: /|{}", by(&month)));
        assert_eq!(written.found[0].template, "ai-robots-txt");
        assert_eq!(written.found[0].version.as_deref(), Some(month.as_str()));
        assert_eq!((written.found[0].line, written.decision), (3, Decision::Own));
    }
    // A few names alone are nobody's list.
    check(
        "",
        "User-agent: anthropic-ai|User-agent: GPTBot|Disallow: /",
        &[],
        Decision::Own,
        &["anthropic-ai", "gptbot"],
    );
}

#[test]
fn a_policy_alone_is_as_good_as_no_file() {
    let policy = "# As a condition of accessing this website, you agree to abide by the following|# content signals:|";
    let row = row(CLOUDFLARE, policy);
    assert_eq!(row.outcome.word(), "empty");
    assert_eq!(row.authorship.unwrap().found[0].template, "cloudflare-policy");
    check(CLOUDFLARE, &format!("{policy}{MANAGED}"), &["cloudflare-managed 2025-09"], Decision::Switch, &[]);
    check(CLOUDFLARE, &format!("{policy}User-agent: *|Disallow: /x|"), &[], Decision::None, &[]);
}

#[test]
fn lines_are_those_of_the_file_whatever_ends_them() {
    for end in ["\n", "\r\n", "\r"] {
        let body =
            format!("\u{feff}# mine|{MANAGED}User-agent: *|Disallow: /wp-admin/|Allow: /wp-admin/admin-ajax.php");
        let found = row_in(Dialect::Rfc9309, CLOUDFLARE, body.replace('|', end).as_bytes()).authorship.unwrap().found;
        assert_eq!((found[0].line, found[0].last_line), (2, Some(11)));
        assert_eq!((found[1].line, found[1].last_line), (14, None));
    }
}

/// Stored words are a public contract: a change here breaks every reader's queries.
#[test]
fn the_vocabularies_are_pinned() {
    let words: Vec<&str> = Decision::ALL.iter().map(|word| word.word()).collect();
    assert_eq!(words, ["own", "switch", "default", "none", "unknown"]);
    let words: Vec<&str> = Kind::ALL.iter().map(|word| word.word()).collect();
    assert_eq!(words, ["managed-block", "platform", "plugin", "copied"]);
}

fn any_piece() -> impl Strategy<Value = Vec<u8>> {
    let marks: Vec<String> = templates().flat_map(|template| template.marks).map(|mark| (*mark).to_owned()).collect();
    let examples = templates().flat_map(|template| template.examples);
    let lines = examples.flat_map(|example| example.body.lines()).map(str::to_owned).collect::<BTreeSet<_>>();
    let end = prop::sample::select(vec!["\n", "\r\n", "\r", "", " "]);
    let text = prop_oneof![
        2 => prop::sample::select(marks).prop_map(String::into_bytes),
        6 => prop::sample::select(lines.into_iter().collect::<Vec<_>>()).prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ];
    (text, end).prop_map(|(text, end)| [&text, end.as_bytes()].concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_are_too_odd(pieces in prop::collection::vec(any_piece(), 0..30), is_cloudflare in any::<bool>()) {
        let body = pieces.concat();
        let file = RobotsTxt::parse(&body, Dialect::Rfc9309);
        let server = if is_cloudflare { "cloudflare" } else { "nginx" };
        let headers = [("server".to_owned(), server.to_owned())];
        let all = Templates::of_file(&file, &headers);
        for found in &all.found {
            prop_assert!(found.line >= 1 && found.line <= file.line_count());
            prop_assert!(found.last_line.is_none_or(|last| last >= found.line && last <= file.line_count()));
        }
        if let Some(rest) = &all.unmanaged {
            prop_assert_eq!(rest.len(), body.len());
            // What is taken away once is not found again.
            let again = Templates::of_file(&RobotsTxt::parse(rest, Dialect::Rfc9309), &headers);
            let managed = |all: &Templates| all.found.iter().filter(|found| found.kind == Kind::ManagedBlock).count();
            prop_assert!(managed(&again) <= managed(&all));
        }
    }
}
