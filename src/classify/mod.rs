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
//! | `effect.rs` | what a crawler may do, the time of failure included |
//! | `outcome.rs` | a response's status, headers and bytes → its outcome |
//! | `verdicts.rs` | one file → the verdict for every agent |
//! | `signals/` | the registry of signals beside Allow and Disallow |
//! | `grouping.rs` | whether it matters where the groups of a file end |
//! | `stance.rs` | verdicts and signals → whom reservations speak to, and the class of the policy |
//! | `row.rs` | the row |
//!
//! Deliberately absent: where the bytes came from, and how a row is stored.

pub mod agents;
mod answer;
pub mod definitions;
mod digest;
mod effect;
mod explanation;
mod grouping;
mod outcome;
pub mod row;
pub mod signals;
mod stance;
mod verdicts;
mod witnesses;

pub use agents::{Agent, Catalogue, CatalogueError, CatalogueFault};
pub use answer::{PathJudge, Verdict, judged_bytes};
pub use definitions::{DEFINITIONS, Definition};
pub use digest::rules_digest;
pub use effect::past_after;
pub use explanation::{Explanation, Level, Odd, Quote, Ranked, ReadingOf, Said, explain};
pub use row::{Look, Row};
pub use stance::{PolicyClass, ReservationScope, Stance};
pub use verdicts::{SetVerdict, Verdicts};
pub use witnesses::{Budget, STEPS, UNNAMED_PATH};

use sha2::{Digest, Sha256};

use crate::classify::answer::whole_lines;
use crate::classify::row::{BodyFacts, Charset, Judgement, NamedAgent, Reading};
use crate::classify::signals::{Found, Signals, Stated};
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
        let Meaning { outcome, body, reading, judgement, signals, stance } = self.understand(&observation.ending);
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
        Row { observation, outcome, body, reading, judgement, signals, stance, looks }
    }

    fn understand(&self, ending: &Ending) -> Meaning {
        let response = match ending {
            Ending::Failure(failure) => return Meaning::of(Outcome::Failure(failure.cause)),
            Ending::Response(response) => response,
        };
        let bytes = whole_lines(&response.body, response.is_truncated);
        let file = RobotsTxt::parse(bytes, self.dialect);
        let outcome = Outcome::Answer(outcome::kind_of(response, &file));
        let meaning = Meaning { body: Some(body_facts(response)), ..Meaning::of(outcome) };
        let hints = Signals::of_head(response);
        match outcome.class() {
            OutcomeClass::Readable | OutcomeClass::Empty => {
                let verdicts = self.judge(&file);
                let mut signals = match self.dialect {
                    Dialect::Rfc9309 => Signals::of_file(&file),
                    Dialect::Google => Signals::of_file(&RobotsTxt::parse(bytes, Dialect::Rfc9309)),
                };
                let stance = Stance::of(signals.stated, &verdicts, &self.asked);
                let mut reading = read(&file, &verdicts);
                reading.oddities = self.oddities(&file, &verdicts, &stance, signals.is_cut || hints.is_cut);
                signals.found.extend(hints.found);
                Meaning {
                    reading: Some(reading),
                    judgement: Some(self.asked.judgement(&verdicts)),
                    signals: Some(signals.found),
                    stance: Some(stance),
                    ..meaning
                }
            }
            OutcomeClass::Absent => {
                let verdicts = self.judge(&RobotsTxt::parse(b"", self.dialect));
                Meaning {
                    judgement: Some(self.asked.judgement(&verdicts)),
                    signals: Some(hints.found),
                    stance: Some(Stance::of(Stated::default(), &verdicts, &self.asked)),
                    ..meaning
                }
            }
            // What came is not what the site asks of crawlers, so that nothing found means nothing known.
            _ => Meaning { signals: Some(hints.found).filter(|found| !found.is_empty()), ..meaning },
        }
    }

    /// What is odd in a file, each word once, in the order of the vocabulary.
    fn oddities(&self, file: &RobotsTxt<'_>, verdicts: &Verdicts, stance: &Stance, is_cut: bool) -> Vec<Oddity> {
        let by_line = grouping::oddities(file, self.definition).into_iter().map(|finding| finding.oddity);
        let of_all = [
            (stance.is_contradictory, Oddity::ContradictorySignals),
            (is_cut, Oddity::ManySignals),
            (verdicts.is_in_part, Oddity::JudgedInPart),
        ];
        by_line.chain(of_all.into_iter().filter(|(is_so, _)| *is_so).map(|(_, oddity)| oddity)).collect()
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
    signals: Option<Vec<Found>>,
    stance: Option<Stance>,
}

impl Meaning {
    /// An outcome of which nothing else is known.
    fn of(outcome: Outcome) -> Self {
        Self { outcome, body: None, reading: None, judgement: None, signals: None, stance: None }
    }
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

/// What stands in a file, but for its oddities.
fn read(file: &RobotsTxt<'_>, verdicts: &Verdicts) -> Reading {
    let mut reading = Reading {
        line_count: file.line_count(),
        group_count: u32::try_from(file.groups().len()).unwrap_or(u32::MAX),
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
