//! The lines of two files that differ.

use std::collections::HashMap;
use std::path::PathBuf;

use similar::{Algorithm, ChangeTag, capture_diff_slices};

use super::bodies::look_at;
use super::changes::{Change, Place};
use crate::outcome::{Outcome, OutcomeClass};
use crate::text::visible;

/// One line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: u32,
    /// What stands there, made visible.
    pub text: String,
}

/// A line that only one of the two files has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineChange {
    /// It stands in the earlier file only.
    Removed(Line),
    /// It stands in the later file only.
    Added(Line),
}

/// Hosts whose files are held in memory at once.
const BLOCK: usize = 1000;

/// Lines of which all pairs are few enough to look for the shortest difference.
const PAIRS: usize = 16 << 20;

/// The lines that differ, for each of these hosts, in the order of the files; those of white space are left out.
///
/// `before` and `after` are the parts of the two snapshots. A host without a file in one of them has all lines of the
/// other one.
pub fn changed_lines(
    before: &[PathBuf],
    after: &[PathBuf],
    changes: &[&Change],
) -> anyhow::Result<Vec<Vec<LineChange>>> {
    let mut all = Vec::with_capacity(changes.len());
    for block in changes.chunks(BLOCK) {
        let earlier = files(before, block.iter().map(|change| (change.outcomes.0, change.places.0)))?;
        let later = files(after, block.iter().map(|change| (change.outcomes.1, change.places.1)))?;
        all.extend(earlier.iter().zip(&later).map(|(earlier, later)| differences(earlier, later)));
    }
    Ok(all)
}

/// The files of hosts in their order; what came instead of a file is none.
fn files(
    parts: &[PathBuf],
    hosts: impl ExactSizeIterator<Item = (Option<Outcome>, Option<Place>)>,
) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut files = vec![Vec::new(); hosts.len()];
    let is_file = |outcome: Outcome| matches!(outcome.class(), OutcomeClass::Readable | OutcomeClass::Empty);
    let mut places: Vec<(Place, usize)> = hosts
        .enumerate()
        .filter_map(|(number, (outcome, place))| Some((place.filter(|_| outcome.is_some_and(is_file))?, number)))
        .collect();
    places.sort_unstable();
    let in_order: Vec<Place> = places.iter().map(|(place, _)| *place).collect();
    for (body, (_, number)) in look_at(parts, &in_order, |body, _| body.to_vec())?.into_iter().zip(places) {
        files[number] = body;
    }
    Ok(files)
}

/// The lines that differ between two files.
fn differences(before: &[u8], after: &[u8]) -> Vec<LineChange> {
    let (before, after) = (lines(before), lines(after));
    let start = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let ends = before[start..].iter().rev().zip(after[start..].iter().rev());
    let end = ends.take_while(|(one, other)| one == other).count();
    let (removed, added) = (&before[start..before.len() - end], &after[start..after.len() - end]);
    let number = |at: usize| u32::try_from(start + at + 1).unwrap_or(u32::MAX);
    let line = |at: usize, text: &[u8]| Line { number: number(at), text: visible(text).into_owned() };

    let mut changes = Vec::new();
    if removed.len().saturating_mul(added.len()) <= PAIRS {
        let ops = capture_diff_slices(Algorithm::Myers, removed, added);
        for change in ops.iter().flat_map(|op| op.iter_changes(removed, added)) {
            match change.tag() {
                ChangeTag::Equal => {}
                ChangeTag::Delete => {
                    changes.push(LineChange::Removed(line(change.old_index().unwrap_or(0), change.value())));
                }
                ChangeTag::Insert => {
                    changes.push(LineChange::Added(line(change.new_index().unwrap_or(0), change.value())));
                }
            }
        }
    } else {
        changes.extend(surplus(removed, added).map(|(at, text)| LineChange::Removed(line(at, text))));
        changes.extend(surplus(added, removed).map(|(at, text)| LineChange::Added(line(at, text))));
    }
    changes.retain(|change| {
        let (LineChange::Removed(line) | LineChange::Added(line)) = change;
        !line.text.trim().is_empty()
    });
    changes
}

/// The lines that stand among the others fewer times, wherever.
fn surplus<'l>(lines: &[&'l [u8]], others: &[&[u8]]) -> impl Iterator<Item = (usize, &'l [u8])> {
    let mut left: HashMap<&[u8], usize> = HashMap::new();
    for line in others {
        *left.entry(line).or_default() += 1;
    }
    let mut surplus = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        match left.get_mut(line) {
            Some(count) if *count > 0 => *count -= 1,
            _ => surplus.push((at, *line)),
        }
    }
    surplus.into_iter()
}

/// Lines that end with CR, LF or both, trimmed at their end, so that another way to end lines is no change.
fn lines(body: &[u8]) -> Vec<&[u8]> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let mut lines = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        lines.push(rest[..end].trim_ascii_end());
        let ending = if rest[end..].starts_with(b"\r\n") { 2 } else { usize::from(end < rest.len()) };
        rest = &rest[end + ending..];
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str, expected: &str) {
        let shown = |change: &LineChange| match change {
            LineChange::Removed(Line { number, text }) => format!("-{number} {text}\n"),
            LineChange::Added(Line { number, text }) => format!("+{number} {text}\n"),
        };
        let text: String = differences(before.as_bytes(), after.as_bytes()).iter().map(shown).collect();
        assert_eq!(text, expected);
    }

    #[test]
    fn lines_that_differ_have_their_numbers() {
        check("a\nb\nc\n", "a\r\nx\r\nc\r\n", "-2 b\n+2 x\n");
        check("", "User-agent: GPTBot\n\nDisallow: /", "+1 User-agent: GPTBot\n+3 Disallow: /\n");
        check("a\nb", "a\nb\n\n  \n", "");
        check("a\n\u{1b}[2J\n", "a\n", "-2 \\u{1b}[2J\n");
        check("\u{feff}a\rb\r", "a\nb\n", "");
    }

    #[test]
    fn files_too_different_are_compared_line_by_line_wherever_they_stand() {
        let before: String = (0..5000).map(|line| ["old ", &line.to_string(), "\n"].concat()).collect();
        let after: String = (0..5000).rev().map(|line| ["old ", &line.to_string(), "\n"].concat()).collect();
        check(&before, &after, "");
        check(&before, &(after + "new\n"), "+5001 new\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_file_does_not_differ_from_itself(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(differences(&body, &body).is_empty());
        }
    }
}
