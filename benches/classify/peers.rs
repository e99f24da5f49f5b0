//! The same work done by other crates, in the same run.
//!
//! The work is a survey's: each file is read, and eight agents are answered on up to ten paths made from the file's own
//! rules. How that is done is up to each crate, and here each is used as its documentation says:
//!
//! * ours reads a file once for all agents, and judges a path by each group once;
//! * `texting_robots` and `robotxt` read a file for one agent, so once for each of the eight;
//! * `fast-robots` reads it once and builds an index. It takes UTF-8 only; other files count as not read, and its limit
//!   of size is lifted.
//!
//! Reading alone is for one agent where there must be one. Nobody checks here who is right (`tests/oracle.rs` does for
//! ours); where a crate panics or refuses, the file is counted and its time stays in.

use std::hint::black_box;
use std::panic;

use survey::robots::{Dialect, PathByGroup, RobotsTxt};

const AGENTS: [&str; 8] =
    ["GPTBot", "CCBot", "Googlebot", "bingbot", "ClaudeBot", "Google-Extended", "PerplexityBot", "nobody"];

/// A file and what is asked about it.
struct Task<'b> {
    body: &'b [u8],
    paths: Vec<String>,
}

/// Another crate, or ours.
struct Peer {
    name: &'static str,
    /// Reads a file; false where it refuses.
    read: fn(&[u8]) -> bool,
    /// Reads a file and answers; how many paths are closed to an agent, or nothing where it refuses.
    answer: fn(&Task<'_>) -> Option<usize>,
}

const PEERS: [Peer; 4] = [
    Peer {
        name: "ours",
        read: |body| !RobotsTxt::parse(body, Dialect::Rfc9309).body().is_empty(),
        answer: |task| Some(ours(task)),
    },
    Peer {
        name: "texting_robots 0.2",
        read: |body| texting_robots::Robot::new(AGENTS[0], body).is_ok(),
        answer: texting,
    },
    Peer {
        name: "robotxt 0.7",
        read: |body| robotxt::Robots::parse(body, AGENTS[0]).rules().len() < usize::MAX,
        answer: |task| Some(robotxt(task)),
    },
    Peer { name: "fast-robots 0.1", read: |body| fast_file(body).is_some(), answer: fast },
];

/// Prints what each does, and its ratio to ours.
pub(crate) fn compare(bodies: &[Vec<u8>], rounds: usize) {
    let tasks: Vec<Task<'_>> = bodies.iter().map(|body| Task { body, paths: paths_of(body) }).collect();
    let bytes: u64 = bodies.iter().map(|body| body.len() as u64).sum();
    let verdicts = tasks.iter().map(|task| task.paths.len()).sum::<usize>() * AGENTS.len();
    println!("compared: {} files, {} agents, {verdicts} verdicts", tasks.len(), AGENTS.len());
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let mut ours = None;
    for peer in PEERS {
        let (mut panics, mut refusals) = (0, 0);
        let reading = super::best_of(rounds, || {
            for task in &tasks {
                let _ = black_box(panic::catch_unwind(|| (peer.read)(black_box(task.body))));
            }
        });
        let answering = super::best_of(rounds, || {
            (panics, refusals) = (0, 0);
            for task in &tasks {
                match panic::catch_unwind(|| (peer.answer)(black_box(task))) {
                    Ok(Some(closed)) => _ = black_box(closed),
                    Ok(None) => refusals += 1,
                    Err(_) => panics += 1,
                }
            }
        });
        let (our_reading, our_answering) = *ours.get_or_insert((reading, answering));
        println!(
            "{}: parse {:.0} MB/s (ours {:.1} times that); parse and answer {:.0} MB/s, {:.2} M verdicts/s (ours {:.1} \
             times that); {panics} panics, {refusals} refusals",
            peer.name,
            super::megabytes(bytes) / reading,
            reading / our_reading,
            super::megabytes(bytes) / answering,
            super::count(verdicts) / answering / 1e6,
            answering / our_answering,
        );
    }
    panic::set_hook(hook);
}

/// Up to ten paths, from the file's own rules in equal distances; `/` where it has none.
fn paths_of(body: &[u8]) -> Vec<String> {
    let file = RobotsTxt::parse(body, Dialect::Rfc9309);
    let rules: Vec<&[u8]> = file.rules().map(|rule| rule.pattern).filter(|pattern| pattern.starts_with(b"/")).collect();
    let distance = rules.len().div_ceil(10).max(1);
    let path = |rule: &&[u8]| String::from_utf8_lossy(rule).replace('*', "x").trim_end_matches('$').to_owned();
    let paths: Vec<String> = rules.iter().step_by(distance).map(path).collect();
    if paths.is_empty() { vec!["/".to_owned()] } else { paths }
}

fn ours(task: &Task<'_>) -> usize {
    let file = RobotsTxt::parse(task.body, Dialect::Rfc9309);
    let agents = AGENTS.map(|agent| file.rules_for(agent));
    let closed = task.paths.iter().map(|path| {
        let by_group = PathByGroup::new(&file, path.as_bytes());
        agents.iter().filter(|rules| !by_group.judge(rules).allowed).count()
    });
    closed.sum()
}

fn texting(task: &Task<'_>) -> Option<usize> {
    let mut closed = 0;
    for agent in AGENTS {
        let file = texting_robots::Robot::new(agent, task.body).ok()?;
        closed += task.paths.iter().filter(|path| !file.allowed(path)).count();
    }
    Some(closed)
}

fn robotxt(task: &Task<'_>) -> usize {
    let files = AGENTS.iter().map(|agent| robotxt::Robots::parse(task.body, *agent));
    files.map(|file| task.paths.iter().filter(|path| !file.is_allowed(path)).count()).sum()
}

fn fast(task: &Task<'_>) -> Option<usize> {
    let file = fast_file(task.body)?;
    let matcher = file.matcher();
    let closed = |agent: &&str| task.paths.iter().filter(|path| !matcher.is_allowed(agent, path)).count();
    Some(AGENTS.iter().map(closed).sum())
}

fn fast_file(body: &[u8]) -> Option<fast_robots::RobotsTxt<'_>> {
    let options = fast_robots::ParseOptions { max_bytes: None };
    fast_robots::RobotsTxt::parse_bytes_with_options(body, options).ok()
}
