//! Bytes → lines → records.
//!
//! Three facts of the whole file are looked up first, each at the speed of memory: whether it has a CR, a NUL, and
//! bytes outside ASCII. Most files have none of them, and their lines are spared the question.

use memchr::{memchr, memchr2};

use crate::robots::Dialect;
use crate::robots::keys::{Key, google_key, key_of};
use crate::robots::oddities::Oddity;

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
    let has_nul = memchr(0, body).is_some();
    let has_cr = memchr(b'\r', body).is_some();
    let mut line = 0;
    let mut at = mark_length(body);
    if at > 0 {
        records.note(Oddity::Bom, 1);
    }
    while at < body.len() {
        line += 1;
        let end = if has_cr { memchr2(b'\n', b'\r', &body[at..]) } else { memchr(b'\n', &body[at..]) };
        let end = end.map_or(body.len(), |length| at + length);
        Line { body, dialect, number: line }.read(at, end, has_nul, records);
        at = end + 1;
        if has_cr && body.get(end) == Some(&b'\r') {
            if body.get(at) == Some(&b'\n') {
                at += 1;
            } else {
                records.note(Oddity::CrOnly, line);
            }
        }
    }
    line
}

/// Bytes of the mark at the start, which is skipped as far as it is there: a lone EF or EF BB goes too.
fn mark_length(body: &[u8]) -> usize {
    body.iter().zip(b"\xef\xbb\xbf").take_while(|(byte, mark)| byte == mark).count()
}

#[derive(Clone, Copy)]
struct Line<'a> {
    body: &'a [u8],
    dialect: Dialect,
    number: u32,
}

impl Line<'_> {
    #[inline]
    fn read(self, start: usize, end: usize, has_nul: bool, records: &mut impl Records) {
        let mut start = start;
        let mut end = end;
        if end - start > LONGEST_LINE || has_nul {
            end = self.cut(start, end, records);
        }
        while start < end && is_space(self.body[start]) {
            start += 1;
        }
        let text = &self.body[start..end];
        match text {
            [] | [b'#', ..] => {}
            [b'D' | b'd', ..] if has_key(text, b"disallow") => {
                records.rule(Key::Disallow, self.value(start + 9, end), self.number);
            }
            [b'A' | b'a', ..] if has_key(text, b"allow") => {
                records.rule(Key::Allow, self.value(start + 6, end), self.number);
            }
            [b'U' | b'u', ..] if has_key(text, b"user-agent") => {
                records.user_agent(self.value(start + 11, end), self.number);
            }
            _ => self.read_other(start, end, records),
        }
    }

    /// A line that does not start with a key of RFC 9309 and its colon.
    fn read_other(self, start: usize, end: usize, records: &mut impl Records) {
        let line = self.value(start, end);
        let text = line.of(self.body);
        let (key, value) = match memchr(b':', text) {
            Some(colon) => {
                let colon = line.start as usize + colon;
                (self.trimmed(start, colon), self.trimmed(colon + 1, line.end as usize))
            }
            None => match self.two_words(line) {
                Some((key, value)) if google_key(key.of(self.body)) != Key::Other => {
                    records.note(Oddity::MissingColon, self.number);
                    if self.dialect == Dialect::Rfc9309 {
                        return;
                    }
                    (key, value)
                }
                _ => return,
            },
        };
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

    /// Where the line ends for this dialect, if it is too long or has a NUL.
    #[cold]
    fn cut(self, start: usize, end: usize, records: &mut impl Records) -> usize {
        let mut cut = end;
        if end - start > LONGEST_LINE {
            records.note(Oddity::LongLine, self.number);
            cut = start + LONGEST_LINE;
        }
        if let Some(nul) = memchr(0, &self.body[start..end]) {
            records.note(Oddity::Nul, self.number);
            cut = cut.min(start + nul);
        }
        match self.dialect {
            Dialect::Google => cut,
            Dialect::Rfc9309 => end,
        }
    }

    /// What stands between two places, without a comment and the white space around.
    #[inline]
    fn value(self, start: usize, end: usize) -> Span {
        let end = memchr(b'#', &self.body[start..end]).map_or(end, |length| start + length);
        self.trimmed(start, end)
    }

    #[inline]
    fn trimmed(self, mut start: usize, mut end: usize) -> Span {
        while start < end && is_space(self.body[start]) {
            start += 1;
        }
        while start < end && is_space(self.body[end - 1]) {
            end -= 1;
        }
        Span { start: count(start), end: count(end) }
    }

    /// The two words of a line that has exactly two, parted by spaces and tabs.
    fn two_words(self, line: Span) -> Option<(Span, Span)> {
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

/// Whether a text starts with a key (given in lower case), in any case, and a colon right behind it.
#[inline]
fn has_key(text: &[u8], key: &[u8]) -> bool {
    text.get(key.len()) == Some(&b':') && text[..key.len()].eq_ignore_ascii_case(key)
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
