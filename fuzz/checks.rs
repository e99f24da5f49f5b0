//! What must hold for any bytes: plain functions that panic where it does not.
//!
//! The fuzz targets (`targets/`) and a smoke run on stable (`tests/fuzz.rs` of the main package) share this file. The
//! parser and the matcher that they compare with are in `reference.rs`.

mod reference;

use std::collections::HashSet;
use std::sync::OnceLock;

use survey::classify::{Catalogue, Classifier, DEFINITIONS};
use survey::robots::{By, Decision, Dialect, Oddity, PathByGroup, RobotsTxt, RuleIndex, Ruleset, Verb};

pub(crate) use reference::LONGEST_LINE;

/// Agents that are asked for whatever the file says: in the catalogue or not, with what no file can name among them.
pub(crate) const AGENTS: &[&str] = &["GPTBot", "gptbot", "a", "a/1", "AI2Bot", "b c", "GPTBot/1.0", "*"];

/// How much of one file [`agree`] asks about, at most: many small files find more than one large one.
const MOST_TOKENS: usize = 6;
const MOST_RULES: usize = 6;

// ---------------------------------------------------------------------------------------------------------------------
// Reading

/// A body is read without a panic, and what is read of it fits together.
pub(crate) fn parse(bytes: &[u8]) {
    let line_counts = Dialect::ALL.iter().map(|dialect| parse_in(*dialect, bytes));
    let line_counts: HashSet<u32> = line_counts.collect();
    assert_eq!(line_counts.len(), 1, "the dialects agree on what ends a line");
}

fn parse_in(dialect: Dialect, bytes: &[u8]) -> u32 {
    let file = RobotsTxt::parse(bytes, dialect);
    let line_count = file.line_count();
    assert!(line_count as usize <= bytes.len());
    let ascend = |what: &str, lines: Vec<u32>| {
        assert!(lines.is_sorted_by(|one, next| one < next), "{dialect}: lines of {what} ascend: {lines:?}");
        assert!(lines.iter().all(|line| (1..=line_count).contains(line)), "{dialect}: {what} within the file");
    };
    ascend("rules", file.rules().map(|rule| rule.line).collect());
    ascend("records", file.records().map(|record| record.line).collect());
    ascend("tokens", file.tokens().map(|token| token.line).collect());
    ascend("groups", file.groups().iter().map(|group| group.line).collect());
    let mut taken = HashSet::new();
    let rules = file.rules().map(|rule| rule.line);
    let one_each = rules.chain(file.records().map(|record| record.line)).chain(file.tokens().map(|token| token.line));
    assert!(one_each.into_iter().all(|line| taken.insert(line)), "{dialect}: a line is one record");

    groups_add_up(&file);
    tokens_are_distinct(&file);
    values_are_trimmed(&file);
    for finding in file.oddities() {
        assert!(finding.count >= 1 && finding.line >= 1, "{finding:?}");
        // A mark without a line is all that a file of one to three bytes may be.
        assert!(finding.line <= line_count || finding.oddity == Oddity::Bom, "{finding:?}");
    }
    let oddities: Vec<Oddity> = file.oddities().map(|finding| finding.oddity).collect();
    assert!(oddities.is_sorted_by(|one, next| one < next), "{oddities:?}");
    if file.rules().next().is_some() || !file.groups().is_empty() {
        assert!(file.has_known_record(), "a rule and a group are known records");
    }
    line_count
}

/// Groups count the rules that stand between their lines and the next group's.
fn groups_add_up(file: &RobotsTxt<'_>) {
    let groups = file.groups();
    for (place, group) in groups.iter().enumerate() {
        let end = groups.get(place + 1).map_or(u32::MAX, |next| next.line);
        let count = |verb| {
            let own = file.rules().filter(|rule| rule.line > group.line && rule.line < end);
            own.filter(|rule| rule.verb == verb && !rule.pattern.is_empty()).count()
        };
        assert_eq!(count(Verb::Allow), group.allow_rules as usize, "{group:?}");
        assert_eq!(count(Verb::Disallow), group.disallow_rules as usize, "{group:?}");
    }
    let has_rules = groups.iter().any(|group| group.allow_rules + group.disallow_rules > 0);
    assert_eq!(file.has_rules(), has_rules);
    for record in file.records() {
        let before = groups.iter().take_while(|group| group.line < record.line).count();
        assert_eq!(record.group, before.checked_sub(1), "{record:?}");
    }
}

/// Tokens are told apart whatever their case, and share sets exactly where they share groups.
fn tokens_are_distinct(file: &RobotsTxt<'_>) {
    let mut names = HashSet::new();
    let mut used = HashSet::new();
    for token in file.tokens() {
        assert!(!token.name.is_empty() && token.as_written.starts_with(token.name), "{token:?}");
        assert!(names.insert(token.name.to_ascii_lowercase()), "{token:?} is there twice");
        if file.dialect() == Dialect::Google {
            let is_of_alphabet = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_');
            assert!(token.name == b"*" || token.name.iter().all(is_of_alphabet), "{token:?}");
        }
        used.insert(token.set);
        if let Ok(name) = std::str::from_utf8(token.name) {
            let rules = file.rules_for(name);
            let by = if name == "*" { By::Wildcard } else { By::Named };
            assert_eq!((rules.set(), rules.by()), (Some(token.set), by), "{token:?}");
        }
    }
    assert!(used.iter().all(|set| *set < file.set_count()) && used.len() == file.set_count(), "each set has a token");
    let mut lists = HashSet::new();
    for set in 0..file.set_count() {
        let rules = file.set(set);
        let groups = rules.groups();
        assert!(!groups.is_empty() && groups.is_sorted_by(|one, next| one < next), "{groups:?}");
        assert!(groups.iter().all(|group| (*group as usize) < file.groups().len()), "{groups:?}");
        assert!(lists.insert(groups.to_vec()), "two sets have the groups {groups:?}");
        let lines: Vec<u32> = rules.rules().map(|rule| rule.line).collect();
        assert!(lines.is_sorted_by(|one, next| one < next), "{lines:?}");
        let (allow, disallow) = rules.counts();
        assert_eq!((allow + disallow) as usize, rules.rules().filter(|rule| !rule.pattern.is_empty()).count());
    }
}

/// Values have no white space around and nothing of a comment or of another line in them, and stand on their lines.
fn values_are_trimmed(file: &RobotsTxt<'_>) {
    let check = |value: &[u8]| {
        assert_eq!(reference::trim(value), value);
        assert!(!value.iter().any(|byte| matches!(byte, b'\n' | b'\r' | b'#')), "{}", value.escape_ascii());
        assert!(file.dialect() == Dialect::Rfc9309 || !value.contains(&0), "{}", value.escape_ascii());
    };
    file.rules().for_each(|rule| check(rule.pattern));
    file.tokens().for_each(|token| check(token.as_written));
    for record in file.records() {
        assert!(!record.key.is_empty());
        check(record.key);
        check(record.value);
    }
    for rule in file.rules().take(MOST_RULES) {
        let line = file.line(rule.line).unwrap_or_else(|| panic!("{rule:?} has a line"));
        let is_there = rule.pattern.is_empty() || line.windows(rule.pattern.len()).any(|part| part == rule.pattern);
        assert!(is_there, "{rule:?} stands on {}", line.escape_ascii());
    }
    assert_eq!(file.line(0), None);
    assert_eq!(file.line(file.line_count() + 1), None);
}

// ---------------------------------------------------------------------------------------------------------------------
// Matching

/// A file of one rule closes or opens a path where a matcher that tries everything says so.
pub(crate) fn matcher(pattern: &[u8], path: &[u8]) {
    let pattern = reference::trim(pattern);
    if pattern.is_empty() || pattern.iter().any(|byte| matches!(byte, b'\n' | b'\r' | b'#' | 0)) {
        return;
    }
    // Google's parser cuts longer lines, which is for `verdict` to check.
    if pattern.len() + b"Disallow:".len() > LONGEST_LINE {
        return;
    }
    for dialect in Dialect::ALL.iter().copied() {
        let compared = reference::compared_path(dialect, path);
        let is_exempt = dialect == Dialect::Rfc9309 && compared == b"/robots.txt";
        for verb in Verb::ALL.iter().copied() {
            let key: &[u8] = if verb == Verb::Allow { b"Allow:" } else { b"Disallow:" };
            let body = [b"User-agent:*\n", key, pattern].concat();
            let file = RobotsTxt::parse(&body, dialect);
            let rules = file.rules_for_unnamed();
            let octets = reference::octets(dialect, verb, pattern, &compared);
            let expected = match octets {
                Some(_) if !is_exempt => Decision { allowed: verb == Verb::Allow, line: 2 },
                _ => Decision { allowed: true, line: 0 },
            };
            let context = || format!("{dialect} {verb} {} for {}", pattern.escape_ascii(), path.escape_ascii());
            assert_eq!(rules.judge(path), expected, "{}", context());
            assert_eq!(rules.index().judge(path), expected, "by index: {}", context());
            let found = rules.matches(path);
            assert_eq!(found.first().map(|found| found.octets as usize), octets, "octets: {}", context());
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Agreement

/// Every way to the same answer leads to the same answer.
pub(crate) fn agree(bytes: &[u8], paths: &[&[u8]]) {
    for dialect in Dialect::ALL.iter().copied() {
        let file = RobotsTxt::parse(bytes, dialect);
        let mut asked: Vec<Vec<u8>> = paths.iter().map(|path| path.to_vec()).collect();
        asked.extend([b"/".to_vec(), b"/robots.txt".to_vec()]);
        asked.extend(file.rules().take(MOST_RULES).flat_map(|rule| paths_of(rule.pattern)));
        let by_group: Vec<PathByGroup> = asked.iter().map(|path| PathByGroup::new(&file, path)).collect();
        let mut agents: Vec<&str> = AGENTS.to_vec();
        let tokens = || file.tokens().take(MOST_TOKENS);
        agents.extend(tokens().filter_map(|token| std::str::from_utf8(token.name).ok()));
        agents.extend(tokens().filter_map(|token| std::str::from_utf8(token.as_written).ok()));
        for agent in agents {
            let rules = file.rules_for(agent);
            let lines: Vec<u32> = rules.rules().map(|rule| rule.line).collect();
            assert!(lines.is_sorted_by(|one, next| one < next), "{dialect} {agent}: {lines:?}");
            let named = file.tokens_for(agent);
            assert_eq!(named.is_empty(), rules.by() == By::Default, "{dialect} {agent}: {named:?}");
            let index = rules.index();
            for (path, by_group) in asked.iter().zip(&by_group) {
                ways_agree(&rules, &index, by_group, path, agent);
            }
        }
        classifiers_agree(&file);
    }
}

/// Paths that a rule is likely to match, or just not to.
fn paths_of(pattern: &[u8]) -> [Vec<u8>; 3] {
    let pattern = pattern.strip_suffix(b"$").unwrap_or(pattern);
    let fill = |filler: &[u8]| -> Vec<u8> {
        let parts: Vec<&[u8]> = pattern.split(|byte| *byte == b'*').collect();
        parts.join(filler)
    };
    [fill(b""), fill(b"/x"), [&fill(b"*"), b"$x".as_slice()].concat()]
}

fn ways_agree(rules: &Ruleset<'_>, index: &RuleIndex<'_>, by_group: &PathByGroup, path: &[u8], agent: &str) {
    let dialect = rules.file().dialect();
    let context = || format!("{dialect} {agent} {}", path.escape_ascii());
    let one = rules.judge(path);
    assert_eq!(by_group.judge(rules), one, "by group: {}", context());
    let is_exempt = dialect == Dialect::Rfc9309 && reference::compared_path(dialect, path) == b"/robots.txt";
    if is_exempt {
        assert_eq!(one, Decision { allowed: true, line: 0 }, "{}", context());
    } else {
        let found = rules.matches(path);
        assert_eq!(found.first().map_or(0, |first| first.rule.line), one.line, "first of all: {}", context());
    }
    let decided_by = rules.rules().find(|rule| rule.line == one.line);
    let is_decided = decided_by.is_some_and(|rule| !rule.pattern.is_empty());
    // An index does not know the line of an empty rule, which decides nothing.
    let expected = if is_decided { one } else { Decision { allowed: true, line: 0 } };
    assert_eq!(index.judge(path), expected, "by index: {}", context());
    assert_eq!(one.allowed, expected.allowed, "an empty rule decides nothing: {}", context());
    assert_eq!(decided_by.is_none(), one.line == 0, "the line is one of the agent's rules: {}", context());
}

/// Every definition in each dialect that it takes.
fn classifiers() -> &'static [Classifier] {
    static CLASSIFIERS: OnceLock<Vec<Classifier>> = OnceLock::new();
    CLASSIFIERS.get_or_init(|| {
        let catalogue = Catalogue::embedded();
        let taken = Dialect::ALL.iter().flat_map(|dialect| {
            DEFINITIONS.iter().filter(|definition| definition.takes(*dialect)).map(|definition| (definition, *dialect))
        });
        taken.map(|(definition, dialect)| Classifier::new(catalogue.clone(), definition, dialect)).collect()
    })
}

/// The whole catalogue at once equals one agent after the other.
fn classifiers_agree(file: &RobotsTxt<'_>) {
    let of_dialect = || classifiers().iter().filter(|classifier| classifier.dialect() == file.dialect());
    let agents = of_dialect().next().map_or(&[][..], |classifier| classifier.catalogue().agents());
    let by: Vec<By> = agents.iter().map(|agent| file.rules_for(&agent.token).by()).collect();
    // Those that the file names first, and two that its length picks.
    let named = (0..agents.len()).filter(|place| by[*place] == By::Named).take(MOST_TOKENS);
    let picked = [1, 7].map(|factor| file.body().len() * factor % agents.len());
    let sample: Vec<usize> = named.chain(picked).collect();
    for classifier in of_dialect() {
        let all = classifier.judge(file);
        if all.is_in_part {
            // Whoever comes last may find the budget spent; alone it is not.
            continue;
        }
        for place in &sample {
            let agent = &agents[*place].token;
            let alone = classifier.judge_agent(file, agent);
            let together = all.agents[*place];
            let context = || format!("{} {} {agent}", file.dialect(), classifier.definition().name);
            assert_eq!(together.restriction, alone.restriction, "{}", context());
            assert_eq!(together.root_allowed, alone.root_allowed, "{}", context());
        }
        let by_all = all.agents.iter().map(|verdict| verdict.by);
        assert!(by_all.take(agents.len()).eq(by.iter().copied()), "{} {by:?}", classifier.definition().name);
        assert_eq!(all.tokens.len(), file.tokens().len());
        assert_eq!(all.unnamed, classifier.judge_agent(file, "*"));
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The dialects

/// A file says what a parser makes of it that takes the dialect's decisions one after the other.
///
/// For `google` they are the numbered ones of the notes on Google's parser; `rfc9309` differs from them where it must.
/// An empty name is not asked for: no crawler has one.
pub(crate) fn verdict(dialect: Dialect, bytes: &[u8], agent: &str, path: &[u8]) {
    if agent.is_empty() {
        return;
    }
    let file = RobotsTxt::parse(bytes, dialect);
    let expected = reference::verdict(dialect, &reference::groups(dialect, bytes), agent, path);
    assert_eq!(file.rules_for(agent).judge(path), expected, "{dialect} {agent} {}", path.escape_ascii());
}
