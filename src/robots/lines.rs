//! Bytes → lines → records.
//!
//! Branches that go wrong are what reading costs: lines are short and of many kinds. So the ends of lines, the white
//! space before a line and the keys are each looked at in whole words, and colons and comments are searched across
//! lines, so that lines without them (most of a page of HTML) need no search at all.

use memchr::memchr;

use crate::robots::Dialect;
use crate::robots::keys::{Key, google_key, key_of};
use crate::robots::oddities::Oddity;
use crate::robots::stops::Stops;

/// Bytes of a line that Google's parser keeps.
const LONGEST_LINE: usize = 16_663;

/// A range of the body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Span {
    pub(super) fn of(self, body: &[u8]) -> &[u8] {
        &body[self.start as usize..self.end as usize]
    }

    pub(super) const fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// Takes the records of a file, in order.
pub(super) trait Records {
    fn user_agent(&mut self, value: Span, line: u32);
    fn rule(&mut self, key: Key, value: Span, line: u32);
    fn other(&mut self, key: Span, value: Span, line: u32);
    fn note(&mut self, oddity: Oddity, line: u32);
}

/// Reads a body; the number of its lines.
pub(super) fn read(body: &[u8], dialect: Dialect, records: &mut impl Records) -> u32 {
    let mut at = mark_length(body);
    if at > 0 {
        records.note(Oddity::Bom, 1);
    }
    let mut stops = Stops::new(body);
    let mut lines = Lines { body, dialect, number: 0, hash: Next::of(b'#', body), colon: Next::of(b':', body) };
    while at < body.len() {
        lines.number += 1;
        let stop = stops.next_from(at);
        let mut end = stop;
        while body.get(end) == Some(&0) {
            end = stops.next_from(end + 1);
        }
        let is_odd = stop < end || end - at > LONGEST_LINE;
        let cut = if is_odd { lines.cut(at, stop, end, records) } else { end };
        lines.read(at, cut, records);
        at = end + 1;
        if body.get(end) == Some(&b'\r') {
            if body.get(at) == Some(&b'\n') {
                at += 1;
            } else {
                records.note(Oddity::CrOnly, lines.number);
            }
        }
    }
    lines.number
}

/// Bytes of the mark at the start, which is skipped as far as it is there: a lone EF or EF BB goes too.
fn mark_length(body: &[u8]) -> usize {
    body.iter().zip(b"\xef\xbb\xbf").take_while(|(byte, mark)| byte == mark).count()
}

/// Where a byte stands next. It is searched across lines and only when the place known has been passed.
struct Next {
    byte: u8,
    /// The place known, or the end of the body; nothing stands between it and the place that was asked for.
    at: usize,
}

impl Next {
    fn of(byte: u8, body: &[u8]) -> Self {
        Self { byte, at: memchr(byte, body).unwrap_or(body.len()) }
    }

    /// The first place from `start` on, or the end of the body; asked with rising starts.
    #[inline]
    fn at_or_after(&mut self, start: usize, body: &[u8]) -> usize {
        if self.at < start {
            self.at = memchr(self.byte, &body[start..]).map_or(body.len(), |length| start + length);
        }
        self.at
    }
}

/// The reading of a body, at one of its lines.
struct Lines<'a> {
    body: &'a [u8],
    dialect: Dialect,
    number: u32,
    hash: Next,
    colon: Next,
}

impl Lines<'_> {
    /// Reads the line between two places.
    #[inline]
    fn read(&mut self, start: usize, end: usize, records: &mut impl Records) {
        // A blank line takes the way of a line without key and colon: a branch of its own would often go wrong.
        let first = self.after_spaces(start, end);
        let is_like_key = self.body.get(first).is_some_and(|first| starts_like_key(*first));
        if !is_like_key && self.colon.at_or_after(first, self.body) >= end {
            return;
        }
        let end = self.hash.at_or_after(first, self.body).min(end);
        let text = &self.body[first..end];
        // Most lines that begin with a letter of a key have it in its right spelling, with the colon right behind.
        if is_like_key {
            if let Some(rest) = after_key(text, *b"disallow") {
                return records.rule(Key::Disallow, self.trimmed(end - rest, end), self.number);
            }
            if let Some(rest) = after_key(text, *b"allow") {
                return records.rule(Key::Allow, self.trimmed(end - rest, end), self.number);
            }
            if let Some(rest) = after_key(text, *b"user-agent") {
                return records.user_agent(self.trimmed(end - rest, end), self.number);
            }
        }
        let colon = self.colon.at_or_after(first, self.body);
        if colon < end {
            self.read_record(self.trimmed(first, colon), self.trimmed(colon + 1, end), records);
        } else {
            self.read_without_colon(first, end, records);
        }
    }

    /// Where the white space at the start of a line ends, eight bytes at a time: pages of HTML are deeply indented.
    #[inline]
    fn after_spaces(&self, start: usize, end: usize) -> usize {
        let mut at = start;
        while at < end {
            let Some(word) = self.body[at..].first_chunk() else {
                return at + self.body[at..end].iter().take_while(|byte| is_space(**byte)).count();
            };
            let spaces = spaces_of(*word);
            at += spaces;
            if spaces < word.len() {
                break;
            }
        }
        at.min(end)
    }

    /// A line without a colon: Google's parser takes two words for key and value.
    fn read_without_colon(&self, start: usize, end: usize, records: &mut impl Records) {
        if google_key(&self.body[start..end]) == Key::Other {
            return;
        }
        if let Some((key, value)) = self.two_words(self.trimmed(start, end))
            && google_key(key.of(self.body)) != Key::Other
        {
            records.note(Oddity::MissingColon, self.number);
            if self.dialect == Dialect::Google {
                self.read_record(key, value, records);
            }
        }
    }

    fn read_record(&self, key: Span, value: Span, records: &mut impl Records) {
        if key.is_empty() {
            return;
        }
        let (found, is_misspelt) = key_of(key.of(self.body), self.dialect);
        if is_misspelt {
            records.note(Oddity::MisspeltKey, self.number);
        }
        match found {
            Key::UserAgent => records.user_agent(value, self.number),
            Key::Allow | Key::Disallow => records.rule(found, value, self.number),
            Key::Other => records.other(key, value, self.number),
        }
    }

    /// Where a line that is too long, or holds a NUL where it stops, ends for this dialect.
    #[cold]
    fn cut(&self, start: usize, stop: usize, end: usize, records: &mut impl Records) -> usize {
        let mut cut = stop;
        if end - start > LONGEST_LINE {
            records.note(Oddity::LongLine, self.number);
            cut = cut.min(start + LONGEST_LINE);
        }
        if stop < end {
            records.note(Oddity::Nul, self.number);
        }
        match self.dialect {
            Dialect::Google => cut,
            Dialect::Rfc9309 => end,
        }
    }

    #[inline]
    fn trimmed(&self, mut start: usize, mut end: usize) -> Span {
        while start < end && is_space(self.body[start]) {
            start += 1;
        }
        while start < end && is_space(self.body[end - 1]) {
            end -= 1;
        }
        Span { start: count(start), end: count(end) }
    }

    /// The two words of a line that has exactly two, parted by spaces and tabs.
    fn two_words(&self, line: Span) -> Option<(Span, Span)> {
        let text = line.of(self.body);
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let gap = text.iter().position(is_blank)?;
        let second = gap + text[gap..].iter().position(|byte| !is_blank(byte))?;
        if text[second..].iter().any(is_blank) {
            return None;
        }
        let start = line.start as usize;
        Some((self.trimmed(start, start + gap), self.trimmed(start + second, line.end as usize)))
    }
}

/// Whether this byte begins user-agent, allow or disallow, in any spelling.
#[inline]
const fn starts_like_key(byte: u8) -> bool {
    matches!(byte.to_ascii_lowercase(), b'a' | b'd' | b'u')
}

/// How many bytes follow a key (given in lower case), in any case, and a colon right behind it.
#[inline]
fn after_key<const N: usize>(text: &[u8], key: [u8; N]) -> Option<usize> {
    let (start, rest) = text.split_first_chunk::<N>()?;
    // All of a key is compared at once: a branch at each byte costs more than the bytes.
    let differ = start.iter().zip(key).fold(0, |differ, (byte, key)| differ | (byte.to_ascii_lowercase() ^ key));
    (differ == 0 && rest.first() == Some(&b':')).then(|| rest.len() - 1)
}

/// How many of these bytes are white space before the first that is none.
#[inline]
fn spaces_of(word: [u8; 8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = ONES * 0x80;
    let word = u64::from_le_bytes(word);
    // A sum sets the high bit of each byte whose low bits are beyond a bound, and carries nothing into the next one.
    let lows = word & !HIGHS;
    let is_control = (lows + ONES * (0x80 - 0x09)) & !(lows + ONES * (0x80 - 0x0e));
    let is_other_than_blank = (lows ^ (ONES * 0x20)) + ONES * 0x7f;
    let others = (word | is_other_than_blank & !is_control) & HIGHS;
    (others.trailing_zeros() / 8) as usize
}

/// White space of ASCII; no-break and zero-width spaces are not.
#[inline]
pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Offsets and counts fit: [`RobotsTxt::parse`](crate::robots::RobotsTxt::parse) reads less than 4 GiB.
#[expect(clippy::cast_possible_truncation, reason = "the body is cut below u32::MAX bytes before it is read")]
#[inline]
pub(super) const fn count(bytes: usize) -> u32 {
    bytes as u32
}
