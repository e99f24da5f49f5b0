//! One file, one agent, one path → why the verdict is what it is, in each dialect and under each definition.

use crate::classify::agents::Catalogue;
use crate::classify::definitions::{DEFINITIONS, Definition, Parser};
use crate::classify::grouping;
use crate::classify::row::Restriction;
use crate::classify::signals::{Found, Signals};
use crate::classify::templates::{self, Decision as Decided, Templates};
use crate::classify::verdicts::{Asked, Judge};
use crate::robots::{By, Decision, Dialect, Finding, Match, RobotsTxt};

/// Why a file means what it means for one agent and one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// What each dialect makes of it, in the order of [`Dialect::ALL`].
    pub readings: Vec<ReadingOf>,
    /// What each definition makes of it, in the order of the registry.
    pub levels: Vec<Level>,
    /// The signals in the file, by line.
    pub signals: Vec<Said>,
    /// Whether there are more than these.
    pub has_more_signals: bool,
    /// Who wrote it.
    pub author: Author,
    /// What is odd in the file.
    pub oddities: Vec<Odd>,
}

/// What one dialect makes of an agent and a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadingOf {
    /// The dialect.
    pub dialect: Dialect,
    /// Which rules apply.
    pub by: By,
    /// The user-agent lines that make them apply, the first of each spelling.
    pub naming: Vec<Quote>,
    /// The first line of each group that is used.
    pub groups: Vec<u32>,
    /// The verdict on the path.
    pub decision: Decision,
    /// The rules that match the path: the one that decides, then the one that came second.
    pub ranking: Vec<Ranked>,
    /// How many rules match the path, whether they are heard or not.
    pub match_count: usize,
    /// How many rules with a value apply to the agent.
    pub rule_count: u32,
}

/// A rule that matches, as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranked {
    /// Its line.
    pub quote: Quote,
    /// The octets that it counts.
    pub octets: u32,
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// Its number, from 1.
    pub line: u32,
    /// Its text; bytes that are no UTF-8 are replaced.
    pub text: String,
}

/// What one definition makes of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// The definition's name.
    pub definition: &'static str,
    /// The level in each dialect, in the order of [`Dialect::ALL`]; nothing where the definition does not take it.
    pub by_dialect: Vec<Option<Restriction>>,
    /// How the definition reads a file.
    pub parser: Parser,
}

/// A signal, and the line where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// What it says.
    pub found: Found,
    /// Its line.
    pub quote: Quote,
}

/// Who wrote a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// The templates found, in order of rank.
    pub templates: Vec<Wrote>,
    /// Who decided the AI rules.
    pub decided: Decided,
    /// Tokens named outside managed blocks and templates.
    pub own_named_agents: Vec<String>,
    /// The verdict of the file without its managed blocks, by RFC 9309, and its line; nothing where it has none.
    pub unmanaged: Option<(Decision, Option<Quote>)>,
}

/// A template, and the line where it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrote {
    /// Which one.
    pub found: templates::Found,
    /// Its line.
    pub quote: Quote,
}

/// An oddity, and the first line that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Odd {
    /// The oddity, its first line and how many lines have it.
    pub finding: Finding,
    /// That line.
    pub quote: Quote,
}

/// Explains a file for an agent and a path (what follows the authority of a URL).
///
/// The head of the response tells who sent a managed block, where it is known.
pub fn explain(body: &[u8], headers: &[(String, String)], agent: &str, path: &[u8]) -> Explanation {
    let files: Vec<RobotsTxt<'_>> = Dialect::ALL.iter().map(|dialect| RobotsTxt::parse(body, *dialect)).collect();
    let levels = DEFINITIONS.iter().map(|definition| Level {
        definition: definition.name,
        by_dialect: files.iter().map(|file| level(definition, file, agent)).collect(),
        parser: definition.parser,
    });
    // The first dialect is RFC 9309's, by which signals and templates are read.
    let signals = Signals::of_file(&files[0]);
    let author = author(&files[0], headers, &signals, agent, path);
    let said = |found: Found| Said { quote: quote(&files[0], found.line.unwrap_or_default()), found };
    let oddities = grouping::oddities(&files[0], &DEFINITIONS[0]);
    Explanation {
        readings: files.iter().map(|file| read(file, agent, path)).collect(),
        levels: levels.collect(),
        signals: signals.found.into_iter().map(said).collect(),
        has_more_signals: signals.is_cut,
        author,
        oddities: oddities.into_iter().map(|finding| Odd { finding, quote: quote(&files[0], finding.line) }).collect(),
    }
}

fn author(file: &RobotsTxt<'_>, headers: &[(String, String)], signals: &Signals, agent: &str, path: &[u8]) -> Author {
    let found = Templates::of_file(file, headers);
    let (decided, own_named_agents) = found.weigh(file, &signals.found, &Asked::new(&Catalogue::embedded()));
    let unmanaged = found.unmanaged.as_ref().map(|rest| {
        let rest = RobotsTxt::parse(rest, file.dialect());
        let decision = rest.rules_for(agent).judge(path);
        // Lines keep their numbers.
        (decision, (decision.line > 0).then(|| quote(file, decision.line)))
    });
    let wrote = |found: templates::Found| Wrote { quote: quote(file, found.line), found };
    Author { templates: found.found.into_iter().map(wrote).collect(), decided, own_named_agents, unmanaged }
}

fn level(definition: &Definition, file: &RobotsTxt<'_>, agent: &str) -> Option<Restriction> {
    let rules = file.rules_for(agent);
    definition.takes(file.dialect()).then(|| Judge::new(file, definition).judge(agent.as_bytes(), &rules).restriction)
}

fn read(file: &RobotsTxt<'_>, agent: &str, path: &[u8]) -> ReadingOf {
    let rules = file.rules_for(agent);
    let decision = rules.judge(path);
    let matches = rules.matches(path);
    // A path that is allowed whatever the rules say has no rule that decides.
    let shown = if decision.line == 0 { 0 } else { 2 };
    let rank = |Match { rule, octets }: &Match<'_>| Ranked { quote: quote(file, rule.line), octets: *octets };
    let (allow_rules, disallow_rules) = rules.counts();
    ReadingOf {
        dialect: file.dialect(),
        by: rules.by(),
        naming: file.tokens_for(agent).iter().map(|token| quote(file, token.line)).collect(),
        groups: rules.groups().iter().map(|group| file.groups()[*group as usize].line).collect(),
        decision,
        ranking: matches.iter().take(shown).map(rank).collect(),
        match_count: matches.len(),
        rule_count: allow_rules + disallow_rules,
    }
}

fn quote(file: &RobotsTxt<'_>, line: u32) -> Quote {
    let text = file.line(line).unwrap_or_default();
    Quote { line, text: String::from_utf8_lossy(text).trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(text: &str, agent: &str, path: &str) -> Explanation {
        explain(text.replace('|', "\n").as_bytes(), &[], agent, path.as_bytes())
    }

    fn ranking(reading: &ReadingOf) -> Vec<(u32, &str, u32)> {
        reading.ranking.iter().map(|rank| (rank.quote.line, rank.quote.text.as_str(), rank.octets)).collect()
    }

    #[test]
    fn the_deciding_rule_comes_first_and_then_the_one_that_would_decide_without_it() {
        let text =
            "User-agent: *|Disallow: /|User-agent: GPTBot|Allow: /a/b # mine|Disallow: /a|Disallow: /a/*|Allow: /";
        let explanation = explained(text, "gptbot", "/a/b/c");
        for reading in &explanation.readings {
            assert_eq!((reading.by, reading.decision.allowed, reading.decision.line), (By::Named, true, 4));
            assert_eq!(ranking(reading), [(4, "Allow: /a/b # mine", 4), (6, "Disallow: /a/*", 4)]);
            assert_eq!((reading.match_count, reading.rule_count), (4, 4));
            assert_eq!(reading.naming, [Quote { line: 3, text: "User-agent: GPTBot".to_owned() }]);
            assert_eq!(reading.groups, [3]);
        }
        assert!(explanation.oddities.is_empty());
    }

    #[test]
    fn what_the_dialects_read_differently_is_told_apart() {
        let explanation = explained("User-agent: AI2Bot|Disallow: /|User-agent: *|Dissallow: /x", "AI2Bot", "/x");
        let [rfc, google] = &explanation.readings[..] else { panic!("two dialects") };
        assert_eq!((rfc.by, rfc.decision.line), (By::Named, 2));
        assert_eq!((google.by, google.decision.line), (By::Wildcard, 4));
        let level = |name| explanation.levels.iter().find(|level| level.definition == name).unwrap();
        assert_eq!(level("rfc").by_dialect, [Some(Restriction::Full), Some(Restriction::Partial)]);
        assert_eq!(level("imc25").by_dialect, [None, Some(Restriction::Partial)]);
        let words: Vec<_> =
            explanation.oddities.iter().map(|odd| (odd.finding.oddity.word(), odd.quote.line)).collect();
        assert_eq!(words, [("misspelt-key", 4), ("token-outside-alphabet", 1)]);
    }

    #[test]
    fn a_path_that_is_always_allowed_is_decided_by_no_rule() {
        let explanation = explained("User-agent: *|Disallow: /", "GPTBot", "/robots.txt");
        let [rfc, google] = &explanation.readings[..] else { panic!("two dialects") };
        assert_eq!((rfc.decision.allowed, rfc.decision.line, rfc.ranking.len()), (true, 0, 0));
        assert_eq!((google.decision.allowed, google.decision.line), (false, 2));
    }

    #[test]
    fn who_wrote_it_is_told_with_the_verdict_that_stands_behind_a_managed_block() {
        let text = "# BEGIN Cloudflare Managed content|User-agent: *|Content-Signal: ai-train=no|Allow: /|\
                    # END Cloudflare Managed Content|User-agent: *|Disallow: /|User-agent: Zao|Disallow: /";
        let headers = [("server".to_owned(), "cloudflare".to_owned())];
        let explanation = explain(text.replace('|', "\n").as_bytes(), &headers, "GPTBot", b"/x");
        assert!(explanation.readings[0].decision.allowed);
        let Author { templates, decided, own_named_agents, unmanaged } = explanation.author;
        let [Wrote { found, quote }] = &templates[..] else { panic!("{templates:?}") };
        assert_eq!((found.template, found.line, found.last_line), ("cloudflare-managed", 1, Some(5)));
        assert_eq!(quote.text, "# BEGIN Cloudflare Managed content");
        assert_eq!((decided, own_named_agents), (Decided::Switch, vec!["zao".to_owned()]));
        let (decision, line) = unmanaged.unwrap();
        assert_eq!((decision.allowed, line.unwrap()), (false, Quote { line: 7, text: "Disallow: /".to_owned() }));
    }

    #[test]
    fn every_line_that_names_the_agent_is_shown_by_its_spelling() {
        let text = "User-agent: GPTBot/1.0|Disallow: /a||User-agent: GPTBot/2.0|Disallow: /b|User-agent: gptbot/1.0";
        let explanation = explained(text, "GPTBot", "/b");
        let lines: Vec<u32> = explanation.readings[0].naming.iter().map(|quote| quote.line).collect();
        assert_eq!(lines, [1, 4]);
        assert_eq!(explanation.readings[0].groups, [1, 4, 6]);
        assert_eq!(explanation.readings[0].decision.line, 5);
    }
}
