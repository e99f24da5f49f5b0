//! The parser with which the figures of Consent in Crisis were made: its faults are part of the definition.
//!
//! Source: `parse_robots.py` of the Data Provenance Initiative at commit 257a063 (2024), which stayed in use until
//! after the paper. It is Python, so that lines end and are trimmed as there.

use std::collections::HashMap;

use super::cic;
use crate::classify::row::Restriction;

#[derive(Default)]
struct Values<'t> {
    allow: Vec<&'t [u8]>,
    disallow: Vec<&'t [u8]>,
}

/// Reads a file: the level of each agent by its name, case as written; else that of `*`; else none.
pub(super) fn read(body: &[u8]) -> super::LevelByName {
    // A CRLF ends one line; as two ends it would end the group as well.
    let text = String::from_utf8_lossy(body).replace("\r\n", "\n");
    let mut agents: HashMap<&str, Values<'_>> = HashMap::new();
    let mut current = None;
    for line in text.split(ends_line).map(|line| line.trim_matches(is_white)) {
        let value = |key| line.strip_prefix(key).map(|value: &str| value.trim_matches(is_white));
        if let Some(agent) = value("User-agent:") {
            agents.entry(agent).or_default();
            current = Some(agent);
        } else if line.is_empty() || line.starts_with('#') {
            current = None;
        } else if let Some(values) = current.and_then(|agent| agents.get_mut(agent)) {
            if let Some(path) = value("Allow:") {
                values.allow.push(path.as_bytes());
            } else if let Some(path) = value("Disallow:") {
                values.disallow.push(path.as_bytes());
            }
        }
    }
    let levels =
        agents.into_iter().map(|(agent, values)| (agent.to_owned(), cic::level(values.allow, values.disallow)));
    let levels: HashMap<String, Restriction> = levels.collect();
    Box::new(move |agent| {
        let own = levels.get(String::from_utf8_lossy(agent).as_ref());
        *own.or_else(|| levels.get("*")).unwrap_or(&Restriction::None)
    })
}

/// What ends a line for Python's `str.splitlines`, apart from CRLF.
const fn ends_line(letter: char) -> bool {
    matches!(letter, '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What Python's `str.strip` takes away.
fn is_white(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '\x1c'..='\x1f')
}
