//! The room's promises, case by case: RFC 9309 with its sections, Google's dialect, and public bug reports.
//!
//! In the files of the cases `|` stands for a line end.

use super::*;

mod facts;
mod properties;
mod reports;
mod rfc9309;

/// A file in which `|` is a line end.
fn file(text: &str) -> Vec<u8> {
    text.replace('|', "\n").into_bytes()
}

#[track_caller]
fn check_in(dialect: Dialect, body: &[u8], agent: &str, path: &str, allowed: bool) {
    let robots = RobotsTxt::parse(body, dialect);
    let rules = robots.rules_for(agent);
    let decision = rules.judge(path.as_bytes());
    assert_eq!(decision.allowed, allowed, "{dialect} {:?} {agent} {path}", String::from_utf8_lossy(body));
    let by_index = rules.index().judge(path.as_bytes());
    assert_eq!(by_index.allowed, allowed, "by index: {dialect} {:?} {path}", String::from_utf8_lossy(body));
}

/// Both dialects say the same.
#[track_caller]
fn check(text: &str, agent: &str, path: &str, allowed: bool) {
    check_in(Dialect::Rfc9309, &file(text), agent, path, allowed);
    check_in(Dialect::Google, &file(text), agent, path, allowed);
}

/// The dialects differ on purpose (allowed under `rfc9309`, under `google`).
#[track_caller]
fn check_apart(text: &str, agent: &str, path: &str, rfc9309: bool, google: bool) {
    check_in(Dialect::Rfc9309, &file(text), agent, path, rfc9309);
    check_in(Dialect::Google, &file(text), agent, path, google);
}

#[track_caller]
fn check_odd(text: &[u8], expected: &[Oddity]) {
    let robots = RobotsTxt::parse(text, Dialect::Rfc9309);
    let found: Vec<Oddity> = robots.oddities().map(|finding| finding.oddity).collect();
    assert_eq!(found, expected, "{:?}", String::from_utf8_lossy(text));
}
