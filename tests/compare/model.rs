//! Diff and trend against a second implementation that knows no table, no join and no digest.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use survey::classify::row::{By, Restriction};
use survey::classify::{Classifier, Row};
use survey::outcome::{Cause, OutcomeClass};
use survey::robots::{Dialect, RobotsTxt, Verb};
use survey::stats::{self, Missing, Source, Tracked, Wave};

use super::made::{Seen, classifier, judge};
use super::write;

const AGENTS: [&str; 2] = ["GPTBot", "CCBot"];

/// What came in one wave, by host; hosts that are not there are not listed.
type World = BTreeMap<String, Seen>;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_diff_says_what_two_worlds_differ_in((before, after) in (worlds(), worlds())) {
        let classifier = classifier("rfc");
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = [("2026-01-02", &before), ("2026-01-09", &after)].map(|(date, world)| {
            let hosts: Vec<(&String, Seen)> = world.iter().map(|(host, seen)| (host, seen.clone())).collect();
            write(folder.path(), date, &classifier, &hosts).parts().unwrap()
        });
        let [old, new] = [&old, &new].map(|parts| Source { parts, again: None });
        let tracked = Tracked::new(&AGENTS.map(str::to_owned));
        let found = stats::diff(&old, &new, &tracked, Dialect::Rfc9309).unwrap();
        let changes: BTreeMap<String, &str> =
            found.changes.iter().map(|change| (change.host.to_string(), change.cause.word())).collect();
        prop_assert_eq!(changes.len(), found.changes.len());
        prop_assert_eq!(changes, causes(&classifier, &before, &after));
        prop_assert_eq!(transitions(&found.answers), expected_transitions(&classifier, &before, &after));

        // Backwards all is the other way round.
        let back = stats::diff(&new, &old, &tracked, Dialect::Rfc9309).unwrap();
        for (one, other) in found.changes.iter().zip(&back.changes) {
            prop_assert_eq!(&one.host, &other.host);
            prop_assert_eq!((&one.named, &one.outcomes.0), (&other.no_longer_named, &other.outcomes.1));
            let turned: Vec<_> = other.steps.iter().map(|step| (step.agent, step.to, step.from)).collect();
            prop_assert_eq!(one.steps.iter().map(|step| (step.agent, step.from, step.to)).collect::<Vec<_>>(), turned);
        }
        for source in [&old, &new] {
            let itself = stats::diff(source, source, &tracked, Dialect::Rfc9309).unwrap();
            prop_assert!(itself.changes.is_empty(), "{:?}", itself.changes);
            prop_assert!(!itself.has_changed() && !itself.has_tightened());
        }
    }

    #[test]
    fn a_trend_counts_what_each_wave_had(series in proptest::collection::vec(worlds(), 1..4), carry in any::<bool>()) {
        let classifier = classifier("rfc");
        let folder = tempfile::tempdir().unwrap();
        let dates: Vec<String> = (0..series.len()).map(|wave| format!("2026-01-{:02}", wave + 2)).collect();
        let parts: Vec<_> = dates.iter().zip(&series).map(|(date, world)| {
            let hosts: Vec<(&String, Seen)> = world.iter().map(|(host, seen)| (host, seen.clone())).collect();
            write(folder.path(), date, &classifier, &hosts).parts().unwrap()
        }).collect();
        let waves: Vec<Wave<'_>> = dates.iter().zip(&parts).map(|(date, parts)| Wave {
            date: date.clone(),
            source: Source { parts, again: None },
        }).collect();
        let missing = if carry { Missing::CarryForward } else { Missing::AsObserved };
        let tracked = Tracked::new(&AGENTS.map(str::to_owned));
        let answers = stats::trend(&waves, &tracked, missing, Dialect::Rfc9309).unwrap();

        let rows: Vec<BTreeMap<&String, Row>> = series.iter().map(|world| {
            world.iter().map(|(host, seen)| (host, judge(&classifier, 0, host, seen))).collect()
        }).collect();
        let has_verdict = |row: &&Row| row.judgement.is_some();
        for (wave, date) in dates.iter().enumerate() {
            for agent in AGENTS {
                let mut full = [0; 4];
                let mut balanced = [0; 4];
                for (host, row) in &rows[wave] {
                    let earlier = rows[..wave].iter().rev().filter_map(|rows| rows.get(host)).find(has_verdict);
                    let counted = Some(row).filter(has_verdict).or_else(|| earlier.filter(|_| carry));
                    let Some(row) = counted else { continue };
                    let level = row.judgement.as_ref().unwrap().panel[panel_place(&classifier, agent)].restriction;
                    full[level as usize] += 1;
                    let in_all = rows.iter().all(|rows| rows.get(host).is_some_and(|row| row.judgement.is_some()));
                    balanced[level as usize] += u64::from(in_all);
                }
                for (section, expected) in [("agents", full), ("agents_balanced", balanced)] {
                    let cells = cells(&answers, section, agent, date);
                    let levels = Restriction::ALL.iter().map(|level| cells[level.word()]["numerator"].as_u64().unwrap());
                    prop_assert_eq!(levels.collect::<Vec<_>>(), expected.to_vec(), "{} {} {}", section, agent, date);
                    prop_assert_eq!(cells["full"]["size"].as_u64().unwrap(), expected.iter().sum::<u64>());
                }
            }
        }
    }
}

/// The row of a section whose first two cells are these.
fn cells(answers: &[stats::Answer], section: &str, first: &str, second: &str) -> Value {
    let section = answers[0].sections.iter().find(|other| other.name == section).unwrap();
    let stats::Body::Table { columns, rows } = &section.body else { panic!("{section:?}") };
    let is_it = |cell: &stats::Cell, text: &str| *cell == stats::Cell::Word(text.to_owned().into());
    let row = rows.iter().find(|row| is_it(&row.cells[0], first) && is_it(&row.cells[1], second)).unwrap();
    let pairs = columns.iter().zip(&row.cells).filter_map(|(column, cell)| match cell {
        stats::Cell::Rate(rate) => {
            Some((column.name.to_owned(), serde_json::json!({ "numerator": rate.numerator(), "size": rate.size() })))
        }
        _ => None,
    });
    Value::Object(pairs.collect())
}

/// Transitions as the answer has them: agent, from, to → hosts.
fn transitions(answers: &[stats::Answer]) -> BTreeMap<(String, Restriction, Restriction), u64> {
    let mut found = BTreeMap::new();
    for agent in AGENTS {
        for from in Restriction::ALL {
            let cells = cells(answers, "transitions", agent, from.word());
            for to in Restriction::ALL {
                found.insert((agent.to_owned(), *from, *to), cells[to.word()]["numerator"].as_u64().unwrap());
            }
        }
    }
    found.retain(|_, hosts| *hosts > 0);
    found
}

fn expected_transitions(
    classifier: &Classifier,
    before: &World,
    after: &World,
) -> BTreeMap<(String, Restriction, Restriction), u64> {
    let mut expected = BTreeMap::new();
    for (host, seen) in before {
        let Some(then) = after.get(host) else { continue };
        let [one, other] = [seen, then].map(|seen| judge(classifier, 0, host, seen).judgement);
        let (Some(one), Some(other)) = (one, other) else { continue };
        for agent in AGENTS {
            let place = panel_place(classifier, agent);
            let step = (agent.to_owned(), one.panel[place].restriction, other.panel[place].restriction);
            *expected.entry(step).or_default() += 1;
        }
    }
    expected
}

fn panel_place(classifier: &Classifier, agent: &str) -> usize {
    classifier.catalogue().panel().position(|other| other.token == agent).unwrap()
}

/// The cause of every host that differs.
fn causes(classifier: &Classifier, before: &World, after: &World) -> BTreeMap<String, &'static str> {
    let mut causes = BTreeMap::new();
    for host in before.keys().chain(after.keys()) {
        let cause = match (before.get(host), after.get(host)) {
            (Some(_), None) => "only-before",
            (None, _) => "only-after",
            (Some(one), Some(other)) if one == other => continue,
            (Some(one), Some(other)) => {
                let [row, then] = [one, other].map(|seen| judge(classifier, 0, host, seen));
                let is_file = |row: &Row| matches!(row.outcome.class(), OutcomeClass::Readable | OutcomeClass::Empty);
                match (one, other) {
                    (Seen::File(one), Seen::File(other)) if is_file(&row) && is_file(&then) => {
                        if rules(one) == rules(other) { "noise" } else { "own" }
                    }
                    _ if row.outcome != then.outcome => "outcome",
                    _ => "noise",
                }
            }
        };
        causes.insert(host.clone(), cause);
    }
    causes
}

/// Each token with its rules.
fn rules(text: &str) -> BTreeMap<Vec<u8>, BTreeSet<(bool, Vec<u8>)>> {
    let file = RobotsTxt::parse(text.as_bytes(), Dialect::Rfc9309);
    let of_token = |name: &[u8]| {
        let name = std::str::from_utf8(name).unwrap();
        let rules = file.rules_for(name);
        assert!(rules.by() != By::Default);
        let rules = rules.rules().filter(|rule| !rule.pattern.is_empty());
        rules.map(|rule| (rule.verb == Verb::Allow, rule.pattern.to_vec())).collect()
    };
    file.tokens().map(|token| (token.name.to_ascii_lowercase(), of_token(token.name))).collect()
}

/// Ten hosts at most, few enough bodies that they often agree.
fn worlds() -> impl Strategy<Value = World> {
    let line = select(vec![
        "User-agent: *",
        "User-agent: GPTBot",
        "User-agent: CCBot",
        "Disallow: /",
        "Disallow: /a",
        "Allow: /a/b",
        "Disallow:",
        "Sitemap: https://a.example/s",
        "# c",
    ]);
    let text = proptest::collection::vec(line, 0..6).prop_map(|lines| lines.join("\n"));
    let seen = prop_oneof![
        6 => text.prop_map(Seen::File),
        1 => select(vec![404, 410, 403]).prop_map(|status| Seen::Status(status, "page".to_owned())),
        1 => select(vec!["page 1", "page 2"]).prop_map(|page| Seen::Status(503, page.to_owned())),
        1 => select(vec![Cause::DnsNxdomain, Cause::TlsAlert]).prop_map(Seen::Failed),
    ];
    let host = select((0..10).map(|number| format!("h{number}.example")).collect::<Vec<_>>());
    proptest::collection::btree_map(host, seen, 1..10)
}
