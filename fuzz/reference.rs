//! A parser and a matcher to compare with: written from the rules of each dialect, not from the parser.
//!
//! They are slow on purpose, and look at one byte after the other. Decisions by number are those of the notes on Google's
//! parser.

use survey::robots::{Decision, Dialect, Verb};

/// What Google's parser keeps of a line (decision 3).
pub(crate) const LONGEST_LINE: usize = 16_663;

/// The octets that a rule counts for a path as the dialect compares it, if it matches.
pub(crate) fn octets(dialect: Dialect, verb: Verb, pattern: &[u8], path: &[u8]) -> Option<usize> {
    let escaped = compared_pattern(dialect, pattern);
    if matches(&escaped, path) {
        return Some(escaped.len());
    }
    // Decision 15: `.../index.htm*` once more as `.../$`, Allow only.
    if dialect == Dialect::Google && verb == Verb::Allow {
        let slash = escaped.iter().rposition(|byte| *byte == b'/')?;
        if escaped[slash..].starts_with(b"/index.htm") {
            let folder = [&escaped[..=slash], b"$"].concat();
            return matches(&folder, path).then_some(folder.len());
        }
    }
    None
}

/// One octet of a URL or a pattern, as it is written: raw or as `%xx`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    Raw(u8),
    Escaped(u8),
}

fn written(text: &[u8]) -> Vec<Written> {
    let mut octets = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let hex = text.get(at + 1..at + 3).filter(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        if let (b'%', Some(hex)) = (text[at], hex) {
            let hex = std::str::from_utf8(hex).expect("hexadecimal digits are ASCII");
            octets.push(Written::Escaped(u8::from_str_radix(hex, 16).expect("both are digits")));
            at += 3;
        } else {
            octets.push(Written::Raw(text[at]));
            at += 1;
        }
    }
    octets
}

/// Writes `%XX`.
fn escape(octet: u8, text: &mut Vec<u8>) {
    text.extend(format!("%{octet:02X}").bytes());
}

fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || b"-._~".contains(&octet)
}

/// A pattern as a dialect compares it (decision 13; section 2.2.2 of the RFC).
fn compared_pattern(dialect: Dialect, pattern: &[u8]) -> Vec<u8> {
    let octets = written(pattern);
    let mut compared = Vec::new();
    for (place, octet) in octets.iter().enumerate() {
        match (dialect, *octet) {
            (Dialect::Rfc9309, Written::Escaped(octet)) if is_unreserved(octet) => compared.push(octet),
            (_, Written::Escaped(octet) | Written::Raw(octet @ 0x80..)) => escape(octet, &mut compared),
            // Only at the end is it special; elsewhere it is the character, written as in a path.
            (Dialect::Rfc9309, Written::Raw(b'$')) if place + 1 < octets.len() => escape(b'$', &mut compared),
            (_, Written::Raw(octet)) => compared.push(octet),
        }
    }
    compared
}

/// A path as a dialect compares it.
pub(crate) fn compared_path(dialect: Dialect, path: &[u8]) -> Vec<u8> {
    if dialect == Dialect::Google {
        return path.to_vec();
    }
    let mut compared = Vec::new();
    for octet in written(path) {
        match octet {
            Written::Escaped(octet) if is_unreserved(octet) => compared.push(octet),
            Written::Escaped(octet) | Written::Raw(octet @ (b'*' | b'$' | 0x80..)) => escape(octet, &mut compared),
            Written::Raw(octet) => compared.push(octet),
        }
    }
    compared
}

/// Whether a pattern matches from the start: `*` is any run, `$` at the end is the path's end.
///
/// After each octet of the pattern, `reached[n]` says whether it can stand for the first `n` octets of the path.
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    for (place, octet) in pattern.iter().enumerate() {
        match octet {
            b'$' if place + 1 == pattern.len() => return reached[path.len()],
            b'*' => {
                for length in 1..reached.len() {
                    reached[length] |= reached[length - 1];
                }
            }
            _ => {
                for length in (1..reached.len()).rev() {
                    reached[length] = reached[length - 1] && path[length - 1] == *octet;
                }
                reached[0] = false;
                if !reached.contains(&true) {
                    return false;
                }
            }
        }
    }
    true
}

/// A group of the reference: the names on its user-agent lines, and its rules.
#[derive(Default)]
pub(crate) struct Group {
    names: Vec<Vec<u8>>,
    rules: Vec<(Verb, Vec<u8>, u32)>,
}

pub(crate) fn verdict(dialect: Dialect, groups: &[Group], agent: &str, path: &[u8]) -> Decision {
    let path = compared_path(dialect, path);
    let best = |verb: Verb| {
        let mut best: Option<(usize, u32)> = None;
        let own = own(dialect, groups, agent.as_bytes());
        for (_, pattern, line) in own.into_iter().flat_map(|group| &group.rules).filter(|rule| rule.0 == verb) {
            // Decision 12: the longest decides, the first of them among equals.
            if let Some(octets) = octets(dialect, verb, pattern, &path)
                && best.is_none_or(|(longest, _)| octets > longest)
            {
                best = Some((octets, *line));
            }
        }
        // The line of an empty rule is named by Google's parser alone.
        best.filter(|(octets, _)| *octets > 0 || dialect == Dialect::Google)
    };
    if dialect == Dialect::Rfc9309 && path == b"/robots.txt" {
        return Decision { allowed: true, line: 0 };
    }
    match (best(Verb::Allow), best(Verb::Disallow)) {
        (None, None) => Decision { allowed: true, line: 0 },
        // Allow wins ties; length 0 decides nothing.
        (Some((allow, line)), Some((disallow, _))) if allow >= disallow => Decision { allowed: true, line },
        (_, Some((disallow, line))) => Decision { allowed: disallow == 0, line },
        (Some((_, line)), None) => Decision { allowed: true, line },
    }
}

/// Decision 11: all groups that name the agent, `*` where none does.
fn own<'g>(dialect: Dialect, groups: &'g [Group], agent: &[u8]) -> Vec<&'g Group> {
    let with = |is_name: &dyn Fn(&[u8]) -> bool| -> Vec<&'g Group> {
        groups.iter().filter(|group| group.names.iter().any(|name| is_name(name))).collect()
    };
    let star = || with(&|name| name == b"*");
    if agent == b"*" {
        return star();
    }
    // Decision 9: the name that is asked for is compared as it stands.
    let mut own = with(&|name| name.eq_ignore_ascii_case(agent));
    if own.is_empty() && dialect == Dialect::Rfc9309 {
        let is_same_head = |name: &[u8]| head(name).eq_ignore_ascii_case(head(agent));
        own = with(&is_same_head);
    }
    if own.is_empty() { star() } else { own }
}

/// What of a name is compared where no whole name matches: the part before a `/`, if that can be a name.
fn head(name: &[u8]) -> &[u8] {
    let Some(slash) = name.iter().position(|byte| *byte == b'/') else { return name };
    let mut head = &name[..slash];
    while let [before @ .., last] = head
        && is_white(*last)
    {
        head = before;
    }
    if matches!(head, b"" | b"*") { name } else { head }
}

pub(crate) fn groups(dialect: Dialect, bytes: &[u8]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut is_run = false;
    for (line, number) in lines(dialect, bytes).iter().zip(1..) {
        let Some((key, value)) = record(dialect, line) else { continue };
        let key = key.to_ascii_lowercase();
        // Decision 7: by prefix, in some spellings; whole, in one, for the RFC.
        let is = |spellings: &[&str]| match dialect {
            Dialect::Google => spellings.iter().any(|spelling| key.starts_with(spelling.as_bytes())),
            Dialect::Rfc9309 => key == spellings[0].as_bytes(),
        };
        let verb = if is(&["user-agent", "useragent", "user agent"]) {
            // Decision 10: only an Allow or Disallow ends a run.
            if !is_run {
                groups.push(Group::default());
            }
            is_run = true;
            let names = &mut groups.last_mut().expect("one was pushed if there was none").names;
            names.extend(name(dialect, value));
            continue;
        } else if is(&["allow"]) {
            Verb::Allow
        } else if is(&["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"]) {
            Verb::Disallow
        } else {
            continue;
        };
        is_run = false;
        if let Some(group) = groups.last_mut() {
            group.rules.push((verb, value.to_vec(), number));
        }
    }
    groups
}

/// Decisions 1 to 4: the mark, the ends of lines, and for Google what is kept of a line.
fn lines(dialect: Dialect, bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut at = 0;
    for mark in [0xef, 0xbb, 0xbf] {
        if bytes.get(at) != Some(&mark) {
            break;
        }
        at += 1;
    }
    let mut lines = vec![Vec::new()];
    while at < bytes.len() {
        match bytes[at] {
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => {
                lines.push(Vec::new());
                at += 1;
            }
            b'\n' | b'\r' => lines.push(Vec::new()),
            byte => lines.last_mut().expect("there is always one").push(byte),
        }
        at += 1;
    }
    for line in lines.iter_mut().filter(|_| dialect == Dialect::Google) {
        line.truncate(LONGEST_LINE);
        if let Some(nul) = line.iter().position(|byte| *byte == 0) {
            line.truncate(nul);
        }
    }
    lines
}

/// Decisions 5 and 6: the comment, the white space, key and value.
fn record(dialect: Dialect, line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = trim(line.split(|byte| *byte == b'#').next().unwrap_or_default());
    let (key, value) = if let Some(colon) = line.iter().position(|byte| *byte == b':') {
        (&line[..colon], &line[colon + 1..])
    } else if dialect == Dialect::Google {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let words: Vec<&[u8]> = line.split(is_blank).filter(|word| !word.is_empty()).collect();
        let [key, value] = words.as_slice() else { return None };
        (*key, *value)
    } else {
        return None;
    };
    Some((trim(key), trim(value))).filter(|(key, _)| !key.is_empty())
}

/// Decision 8: whom a user-agent value names; the whole value, for the RFC.
fn name(dialect: Dialect, value: &[u8]) -> Option<Vec<u8>> {
    let end = match (dialect, value) {
        (Dialect::Rfc9309, _) => value.len(),
        (Dialect::Google, [b'*']) => 1,
        (Dialect::Google, [b'*', next, ..]) if is_white(*next) => 1,
        (Dialect::Google, _) => {
            let is_of_alphabet = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-');
            value.iter().position(|byte| !is_of_alphabet(byte)).unwrap_or(value.len())
        }
    };
    Some(value[..end].to_vec()).filter(|name| !name.is_empty())
}

const fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

pub(crate) fn trim(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !is_white(*byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !is_white(*byte)).map_or(start, |last| last + 1);
    &text[start..end]
}
