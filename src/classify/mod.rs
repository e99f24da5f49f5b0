//! Observation → row: what was seen, judged.
//!
//! Pure: it touches the ground and `robots` only, never a clock, a file or the network, and never fails. One parse of
//! a body serves every agent of the catalogue.
//!
//! | file | what it is |
//! |---|---|
//! | `agents/` | the catalogue of agents and its frozen sets |
//! | `answer.rs` | one file, one agent, many paths → verdicts |
//! | `definitions/` | the registry of definitions of restriction |
//! | `digest.rs` | a file's rules apart from how they are written |
//! | `witnesses.rs` | the paths that the definition `rfc` looks at |
//! | `explanation.rs` | why a verdict is what it is |
//! | `outcome.rs` | a response's status, headers and bytes → its outcome |
//! | `verdicts.rs` | one file → the verdict for every agent |
//! | `row.rs` | the row |
//!
//! Deliberately absent: where the bytes came from, and how a row is stored.

pub mod agents;
mod answer;
pub mod definitions;
mod digest;
mod explanation;
mod outcome;
pub mod row;
mod verdicts;
mod witnesses;

pub use agents::{Agent, Catalogue, CatalogueError, CatalogueFault};
pub use answer::{PathJudge, Verdict, judged_bytes};
pub use definitions::{DEFINITIONS, Definition};
pub use digest::rules_digest;
pub use explanation::{Explanation, Level, Odd, Quote, Ranked, ReadingOf, explain};
pub use row::{Look, Row};
pub use verdicts::{SetVerdict, Verdicts};
pub use witnesses::{Budget, STEPS, UNNAMED_PATH};

use sha2::{Digest, Sha256};

use crate::classify::answer::whole_lines;
use crate::classify::row::{BodyFacts, Charset, Judgement, NamedAgent, Reading};
use crate::classify::verdicts::{Asked, Judge};
use crate::observation::{Ending, Observation, Response};
use crate::outcome::{Outcome, OutcomeClass};
use crate::robots::{Dialect, Oddity, RobotsTxt, Verb};

/// Turns observations into rows, under one catalogue, definition and dialect.
#[derive(Clone, Debug)]
pub struct Classifier {
    catalogue: Catalogue,
    definition: &'static Definition,
    dialect: Dialect,
    asked: Asked,
}

impl Classifier {
    /// A classifier; cheap to clone and to share, but not to make.
    pub fn new(catalogue: Catalogue, definition: &'static Definition, dialect: Dialect) -> Self {
        let asked = Asked::new(&catalogue);
        Self { catalogue, definition, dialect, asked }
    }

    /// The catalogue.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The definition of restriction.
    pub fn definition(&self) -> &'static Definition {
        self.definition
    }

    /// The dialect in which files are read.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Judges an observation.
    pub fn classify(&self, observation: Observation) -> Row {
        let Meaning { outcome, body, reading, judgement } = self.understand(&observation.ending);
        let probes = observation.asking.as_ref().map_or(&[][..], |asking| &asking.probes);
        let looks = probes.iter().map(|probe| {
            let seen = self.understand(&probe.ending);
            Look {
                kind: probe.kind,
                outcome: seen.outcome,
                body_sha256: seen.body.map(|body| body.sha256),
                has_changed_verdicts: judgement
                    .as_ref()
                    .zip(seen.judgement.as_ref())
                    .map(|(first, then)| first != then),
            }
        });
        let looks = looks.collect();
        Row { observation, outcome, body, reading, judgement, looks }
    }

    fn understand(&self, ending: &Ending) -> Meaning {
        let response = match ending {
            Ending::Failure(failure) => {
                return Meaning {
                    outcome: Outcome::Failure(failure.cause),
                    body: None,
                    reading: None,
                    judgement: None,
                };
            }
            Ending::Response(response) => response,
        };
        let file = RobotsTxt::parse(whole_lines(&response.body, response.is_truncated), self.dialect);
        let outcome = Outcome::Answer(outcome::kind_of(response, &file));
        let body = Some(body_facts(response));
        let (reading, judgement) = match outcome.class() {
            OutcomeClass::Readable | OutcomeClass::Empty => {
                let verdicts = self.judge(&file);
                (Some(read(&file, &verdicts)), Some(self.asked.judgement(&verdicts)))
            }
            OutcomeClass::Absent => (None, Some(self.judge_bytes(b""))),
            _ => (None, None),
        };
        Meaning { outcome, body, reading, judgement }
    }

    /// Judges bytes as a robots.txt file, whatever the outcome of a response with them would be.
    pub fn judge_bytes(&self, bytes: &[u8]) -> Judgement {
        let file = RobotsTxt::parse(bytes, self.dialect);
        self.asked.judgement(&self.judge(&file))
    }

    /// Judges a file for one agent, in the catalogue or not.
    pub fn judge_agent(&self, file: &RobotsTxt<'_>, agent: &str) -> SetVerdict {
        Judge::new(file, self.definition).judge(agent.as_bytes(), &file.rules_for(agent))
    }

    /// Judges a file for every agent of the catalogue and every token that stands in it.
    pub fn judge(&self, file: &RobotsTxt<'_>) -> Verdicts {
        Verdicts::of(file, self.definition, &self.asked)
    }
}

/// What one look at a target means.
struct Meaning {
    outcome: Outcome,
    body: Option<BodyFacts>,
    reading: Option<Reading>,
    judgement: Option<Judgement>,
}

/// What a response turned out to be, read in a dialect.
///
/// The dialect decides for files only whose every rule is misspelt.
pub fn outcome_of(response: &Response, dialect: Dialect) -> Outcome {
    let file = RobotsTxt::parse(whole_lines(&response.body, response.is_truncated), dialect);
    Outcome::Answer(outcome::kind_of(response, &file))
}

fn body_facts(response: &Response) -> BodyFacts {
    let body = &response.body;
    BodyFacts {
        sha256: Sha256::digest(body).into(),
        is_html: outcome::is_html(body),
        charset: charset_of(body, response.is_truncated),
    }
}

/// The encoding by the marks and the bytes; a character that the size limit has cut is no fault.
fn charset_of(body: &[u8], is_truncated: bool) -> Charset {
    if body.is_ascii() {
        return Charset::Ascii;
    }
    let is_utf8 = match std::str::from_utf8(body) {
        Ok(_) => true,
        Err(error) => is_truncated && error.error_len().is_none(),
    };
    match body {
        [0xff, 0xfe, ..] => Charset::Utf16le,
        [0xfe, 0xff, ..] => Charset::Utf16be,
        [0xef, 0xbb, 0xbf, ..] if is_utf8 => Charset::Utf8Bom,
        _ if is_utf8 => Charset::Utf8,
        _ => Charset::Other,
    }
}

/// What stands in a file.
fn read(file: &RobotsTxt<'_>, verdicts: &Verdicts) -> Reading {
    let mut reading = Reading {
        line_count: file.line_count(),
        group_count: u32::try_from(file.groups().len()).unwrap_or(u32::MAX),
        oddities: file.oddities().map(|finding| finding.oddity).collect(),
        ..Reading::default()
    };
    for rule in file.rules().filter(|rule| !rule.pattern.is_empty()) {
        match rule.verb {
            Verb::Allow => reading.allow_rule_count += 1,
            Verb::Disallow => reading.disallow_rule_count += 1,
        }
    }
    let mut places = std::collections::HashMap::new();
    for record in file.records() {
        if record.key.eq_ignore_ascii_case(b"sitemap") {
            reading.sitemaps.push(text(record.value));
        }
        let key = text(record.key).to_ascii_lowercase();
        let place = *places.entry(key.clone()).or_insert(reading.other_records.len());
        if place == reading.other_records.len() {
            reading.other_records.push((key, 0));
        }
        reading.other_records[place].1 += 1;
    }
    if verdicts.is_in_part {
        reading.oddities.push(Oddity::JudgedInPart);
    }
    reading.named_agents = file
        .tokens()
        .zip(&verdicts.tokens)
        .map(|(token, verdict)| NamedAgent {
            token: text(token.name).to_ascii_lowercase(),
            as_written: text(token.as_written),
            restriction: verdict.restriction,
            root_allowed: verdict.root_allowed,
            unnamed_allowed: verdict.unnamed_allowed,
            allow_rules: verdict.allow_rules,
            disallow_rules: verdict.disallow_rules,
            crawl_delay_s: file.crawl_delay(token.set).and_then(seconds),
            line: token.line,
        })
        .collect();
    reading
}

fn seconds(value: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests;
