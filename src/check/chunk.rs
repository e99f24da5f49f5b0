//! Cases in, answers out, a chunk at a time.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::Files;
use super::files::Found;
use crate::classify::row::Restriction;
use crate::classify::{Classifier, PathJudge, Verdict, judged_bytes};
use crate::input::warc::Defect;
use crate::input::{Case, Cases, Rejected};
use crate::outcome::Outcome;
use crate::robots::{By, RobotsTxt};

/// What is said of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether the path may be fetched.
    pub verdict: Verdict,
    /// The line that decided; 0 where no rule did.
    pub line: u32,
    /// The rule on that line.
    pub rule: Option<Arc<str>>,
    /// Which rules apply, where there is a verdict.
    pub group: Option<By>,
    /// What happened when the host was asked; nothing where it is none of the hosts that were.
    pub outcome: Option<Outcome>,
    /// The agent's level on this host under the definition, where one was asked for and there is a verdict.
    pub restriction: Option<Restriction>,
}

impl Answer {
    /// A host that is not there says nothing, and least of all that it allows.
    const NOT_THERE: Self =
        Self { verdict: Verdict::Unknown, line: 0, rule: None, group: None, outcome: None, restriction: None };

    /// The outcome's word; that of a host that is not there is no outcome.
    pub fn outcome_word(&self) -> &'static str {
        self.outcome.map_or("not-in-snapshot", Outcome::word)
    }
}

/// How cases are answered.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The dialect, and the definition of levels.
    pub classifier: Classifier,
    /// Whether levels are asked for.
    pub with_restriction: bool,
    /// How much is held in memory.
    pub chunk: Chunk,
}

/// How many cases are held in memory at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Cases, at most.
    pub cases: usize,
    /// Bytes of their hosts and paths, about.
    pub bytes: usize,
}

impl Default for Chunk {
    fn default() -> Self {
        Self { cases: 500_000, bytes: 64 << 20 }
    }
}

/// What came of all cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cases that were answered.
    pub cases: u64,
    /// Those whose path is allowed.
    pub allowed: u64,
    /// Those whose path is disallowed.
    pub disallowed: u64,
    /// Those without a verdict, by outcome.
    pub unknown: std::collections::BTreeMap<&'static str, u64>,
    /// Lines that were no case.
    pub rejected: u64,
    /// Records of the archive that gave nothing.
    pub defects: Vec<Defect>,
}

/// What takes the answers.
pub trait Sink {
    /// Takes the next answer, in the order of the cases.
    fn answer(&mut self, case: &Case, answer: &Answer) -> anyhow::Result<()>;

    /// Takes a line that was no case.
    fn reject(&mut self, rejected: &Rejected) -> anyhow::Result<()>;
}

/// Answers all cases.
pub fn check(cases: Cases, files: &Files, settings: &Settings, sink: &mut dyn Sink) -> anyhow::Result<Tally> {
    let mut cases = cases.peekable();
    let mut tally = Tally::default();
    while cases.peek().is_some() {
        let mut chunk: Vec<Case> = Vec::new();
        let mut bytes = 0;
        while chunk.len() < settings.chunk.cases
            && bytes < settings.chunk.bytes
            && let Some(case) = cases.next()
        {
            match case? {
                Ok(case) => {
                    bytes += case.host.len() + case.path.len();
                    chunk.push(case);
                }
                Err(rejected) => {
                    tally.rejected += 1;
                    sink.reject(&rejected)?;
                }
            }
        }
        let answers = answer_chunk(&chunk, files, settings, &mut tally.defects)?;
        for (case, answer) in chunk.iter().zip(&answers) {
            tally.count(answer);
            sink.answer(case, answer)?;
        }
    }
    Ok(tally)
}

impl Tally {
    fn count(&mut self, answer: &Answer) {
        self.cases += 1;
        match answer.verdict {
            Verdict::Allow => self.allowed += 1,
            Verdict::Disallow => self.disallowed += 1,
            Verdict::Unknown => *self.unknown.entry(answer.outcome_word()).or_default() += 1,
        }
    }
}

fn answer_chunk(
    chunk: &[Case],
    files: &Files,
    settings: &Settings,
    defects: &mut Vec<Defect>,
) -> anyhow::Result<Vec<Answer>> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut wanted: Vec<&str> = Vec::new();
    let mut cases_of: Vec<Vec<usize>> = Vec::new();
    for (place, case) in chunk.iter().enumerate() {
        let number = match numbers.entry(&case.host) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                wanted.push(&case.host);
                cases_of.push(Vec::new());
                *entry.insert(wanted.len() - 1)
            }
        };
        cases_of[number].push(place);
    }
    let mut answers = vec![Answer::NOT_THERE; chunk.len()];
    files.read(&wanted, settings.classifier.dialect(), defects, &mut |number, found| {
        answer_host(&found, &cases_of[number], chunk, settings, &mut answers);
        Ok(())
    })?;
    Ok(answers)
}

/// Answers the cases of one host, which are those at these places of the chunk.
fn answer_host(found: &Found<'_>, places: &[usize], chunk: &[Case], settings: &Settings, answers: &mut [Answer]) {
    let Some(bytes) = judged_bytes(found.outcome, found.body, found.is_truncated) else {
        for place in places {
            answers[*place].outcome = Some(found.outcome);
        }
        return;
    };
    let file = RobotsTxt::parse(bytes, settings.classifier.dialect());
    let mut by_agent: Vec<(&Arc<str>, Vec<usize>)> = Vec::new();
    for place in places {
        let agent = &chunk[*place].agent;
        match by_agent.iter_mut().find(|(known, _)| known == &agent) {
            Some((_, places)) => places.push(*place),
            None => by_agent.push((agent, vec![*place])),
        }
    }
    for (agent, places) in by_agent {
        let rules = file.rules_for(agent);
        let judge = PathJudge::new(&rules, places.len());
        let restriction = settings.with_restriction.then(|| settings.classifier.judge_agent(&file, agent).restriction);
        for place in places {
            let decision = judge.judge(chunk[place].path.as_bytes());
            answers[place] = Answer {
                verdict: Verdict::of(decision),
                line: decision.line,
                rule: judge.rule_at(decision.line),
                group: Some(judge.by()),
                outcome: Some(found.outcome),
                restriction,
            };
        }
    }
}
