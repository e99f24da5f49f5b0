//! Path patterns: percent-encoding (RFC 9309, section 2.2.2) and the special characters (section 2.2.3).
//!
//! A pattern is compared as it stands in the file as far as its bytes are plain; only what follows the first special
//! byte is normalised, into a buffer, so that a rule that does not match costs a few bytes of comparison.

use std::borrow::Cow;

use memchr::memmem;

use crate::robots::Dialect;

/// The octets of the normalised pattern, if it matches the (normalised) path from its first octet on.
pub(super) fn match_length(dialect: Dialect, pattern: &[u8], path: &[u8]) -> Option<u32> {
    let mut at = 0;
    loop {
        match pattern.get(at) {
            None => return Some(length(at)),
            Some(&byte) if is_special(byte) => break,
            Some(byte) if path.get(at) == Some(byte) => at += 1,
            Some(_) => return None,
        }
    }
    let rest = normalised_pattern(dialect, &pattern[at..]);
    matches(&rest, &path[at..]).then(|| length(at + rest.len()))
}

/// Google's second look at an Allow for `.../index.htm*` that does not match: as `.../$`, with that shorter length.
pub(super) fn index_match_length(pattern: &[u8], path: &[u8]) -> Option<u32> {
    let folder = folder_of_index(pattern)?;
    matches(&folder, path).then(|| length(folder.len()))
}

/// The pattern `.../$` for `.../index.htm*`.
pub(super) fn folder_of_index(pattern: &[u8]) -> Option<Vec<u8>> {
    let slash = memchr::memrchr(b'/', pattern)?;
    if !pattern[slash..].starts_with(b"/index.htm") {
        return None;
    }
    let mut folder = normalised_pattern(Dialect::Google, &pattern[..=slash]).into_owned();
    folder.push(b'$');
    Some(folder)
}

/// A pattern as it is compared and measured.
pub(super) fn normalised_pattern(dialect: Dialect, pattern: &[u8]) -> Cow<'_, [u8]> {
    let last = pattern.len().saturating_sub(1);
    let is_plain = |(at, byte): (usize, &u8)| match byte {
        b'%' | 0x80.. => false,
        b'$' => at == last || dialect == Dialect::Google,
        _ => true,
    };
    if pattern.iter().enumerate().all(is_plain) {
        return Cow::Borrowed(pattern);
    }
    let mut out = Vec::with_capacity(pattern.len() + 16);
    let mut at = 0;
    while at < pattern.len() {
        match pattern[at] {
            b'%' => at += push_escape(dialect, &pattern[at..], &mut out),
            // A `$` that does not end the pattern is an ordinary character, written like one in the path.
            b'$' if at != last && dialect == Dialect::Rfc9309 => push_encoded(b'$', &mut out),
            byte @ 0x80.. => push_encoded(byte, &mut out),
            byte => out.push(byte),
        }
        at += 1;
    }
    Cow::Owned(out)
}

/// A path as it is compared: with the equivalences of RFC 9309, section 2.2.2; as it stands for Google's parser.
pub(super) fn normalised_path(dialect: Dialect, path: &[u8]) -> Cow<'_, [u8]> {
    if dialect == Dialect::Google || !path.iter().any(|byte| is_special(*byte)) {
        return Cow::Borrowed(path);
    }
    let mut out = Vec::with_capacity(path.len() + 16);
    let mut at = 0;
    while at < path.len() {
        match path[at] {
            b'%' => at += push_escape(dialect, &path[at..], &mut out),
            // Section 2.2.3: `%2A` and `%24` in a rule stand for these characters of a path.
            byte @ (b'*' | b'$' | 0x80..) => push_encoded(byte, &mut out),
            byte => out.push(byte),
        }
        at += 1;
    }
    Cow::Owned(out)
}

/// Whether a normalised pattern matches a path from its first octet on.
///
/// # Cost
///
/// Each part between stars is searched from where the one before it was found: linear in pattern × path at worst.
pub(super) fn matches(pattern: &[u8], path: &[u8]) -> bool {
    let (pattern, is_anchored) = match pattern.strip_suffix(b"$") {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let Some(star) = memchr::memchr(b'*', pattern) else {
        return if is_anchored { path == pattern } else { path.starts_with(pattern) };
    };
    let Some(mut rest) = path.strip_prefix(&pattern[..star]) else { return false };
    let mut pattern = &pattern[star + 1..];
    while let Some(star) = memchr::memchr(b'*', pattern) {
        let Some(end) = find(rest, &pattern[..star]) else { return false };
        rest = &rest[end..];
        pattern = &pattern[star + 1..];
    }
    if is_anchored { rest.ends_with(pattern) } else { find(rest, pattern).is_some() }
}

/// Where the first occurrence of a part ends.
fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    match part {
        [] => Some(0),
        [byte] => memchr::memchr(*byte, text).map(|at| at + 1),
        _ if part.len() > text.len() => None,
        _ => memmem::find(text, part).map(|at| at + part.len()),
    }
}

/// Appends what `%xx` at the start of `text` is compared as; the bytes consumed beyond the `%`.
fn push_escape(dialect: Dialect, text: &[u8], out: &mut Vec<u8>) -> usize {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let digits = (text.get(1).and_then(digit), text.get(2).and_then(digit));
    let (Some(high), Some(low)) = digits else {
        out.push(b'%');
        return 0;
    };
    let byte = high << 4 | low;
    let is_unreserved = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    if is_unreserved && dialect == Dialect::Rfc9309 {
        out.push(byte);
    } else {
        push_encoded(byte, out);
    }
    2
}

fn push_encoded(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

/// Bytes that are not compared as they stand, or that stand for others.
const fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'$' | b'%' | 0x80..)
}

fn length(octets: usize) -> u32 {
    u32::try_from(octets).unwrap_or(u32::MAX)
}
