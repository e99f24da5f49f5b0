//! Bytes → lines → records.
//!
//! A line is read from its start: where it begins with a key, one search finds the end of the value, and nothing is
//! looked at twice. Lines are short, so that the first words are searched here, eight bytes at a time, before `memchr`
//! is worth its call. Files with a NUL and lines beyond the limit take the slow way, line end first.

use memchr::{memchr, memchr2, memchr3};

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
    let mut number = 0;
    let mut at = mark_length(body);
    if at > 0 {
        records.note(Oddity::Bom, 1);
    }
    while at < body.len() {
        number += 1;
        let line = Line { body, dialect, number };
        let end = if has_nul {
            let end = find(body, at, [b'\n', b'\r', b'\n']);
            line.read_slowly(at, end, records);
            end
        } else {
            line.read(at, records)
        };
        at = end + 1;
        if body.get(end) == Some(&b'\r') {
            if body.get(at) == Some(&b'\n') {
                at += 1;
            } else {
                records.note(Oddity::CrOnly, number);
            }
        }
    }
    number
}

/// Where the first of three bytes stands, or the end of the body.
#[inline]
fn find(body: &[u8], start: usize, bytes: [u8; 3]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    let wanted = bytes.map(|byte| ONES * u64::from(byte));
    let mut at = start;
    for _ in 0..6 {
        let Some(word) = body.get(at..).and_then(<[u8]>::first_chunk::<8>) else { break };
        let word = u64::from_le_bytes(*word);
        // The lowest bit that stands is exact: a byte that equals is zero after the exclusive or.
        let mut hits = 0;
        for byte in wanted {
            let difference = word ^ byte;
            hits |= difference.wrapping_sub(ONES) & !difference;
        }
        hits &= HIGHS;
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let [one, two, three] = bytes;
    memchr3(one, two, three, &body[at..]).map_or(body.len(), |length| at + length)
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
    /// Reads the line that starts here; where it ends. There is no NUL in it.
    #[inline]
    fn read(self, start: usize, records: &mut impl Records) -> usize {
        let mut first = start;
        while matches!(self.body.get(first), Some(b' ' | b'\t' | 0x0b | 0x0c)) {
            first += 1;
        }
        let text = &self.body[first..];
        let (key, colon) = match text {
            [] | [b'\n' | b'\r', ..] => return first,
            [b'#', ..] => return self.end(start, first, records),
            [b'D' | b'd', ..] if has_key(text, b"disallow") => (Key::Disallow, first + 8),
            [b'A' | b'a', ..] if has_key(text, b"allow") => (Key::Allow, first + 5),
            [b'U' | b'u', ..] if has_key(text, b"user-agent") => (Key::UserAgent, first + 10),
            _ => {
                let colon = find(self.body, first, [b':', b'\n', b'\r']);
                if self.body.get(colon) != Some(&b':') || memchr(b'#', &self.body[first..colon]).is_some() {
                    let end = self.end(start, colon, records);
                    if end - start <= LONGEST_LINE {
                        self.read_other(first, end, records);
                    }
                    return end;
                }
                (Key::Other, colon)
            }
        };
        let value_end = find(self.body, colon + 1, [b'\n', b'\r', b'#']);
        let end = if self.body.get(value_end) == Some(&b'#') {
            find(self.body, value_end, [b'\n', b'\r', b'\n'])
        } else {
            value_end
        };
        if end - start > LONGEST_LINE {
            self.read_slowly(start, end, records);
            return end;
        }
        let value = self.trimmed(colon + 1, value_end);
        match key {
            Key::UserAgent => records.user_agent(value, self.number),
            Key::Allow | Key::Disallow => records.rule(key, value, self.number),
            Key::Other => self.read_record(self.trimmed(first, colon), value, records),
        }
        end
    }

    /// Where the line ends, searched from within; a line that is too long is read on the way.
    #[inline]
    fn end(self, start: usize, from: usize, records: &mut impl Records) -> usize {
        let end = find(self.body, from, [b'\n', b'\r', b'\n']);
        if end - start > LONGEST_LINE {
            self.read_slowly(start, end, records);
        }
        end
    }

    /// Reads a line that may have a NUL or be too long.
    fn read_slowly(self, start: usize, end: usize, records: &mut impl Records) {
        let end = self.cut(start, end, records);
        let line = self.trimmed(start, end);
        if !line.is_empty() {
            self.read_other(line.start as usize, end, records);
        }
    }

    /// A line of any kind, from its first character that is not white.
    fn read_other(self, start: usize, end: usize, records: &mut impl Records) {
        let text = &self.body[start..end];
        match memchr2(b':', b'#', text) {
            Some(at) if text[at] == b':' => {
                let colon = start + at;
                self.read_record(self.trimmed(start, colon), self.value(colon + 1, end), records);
            }
            comment => self.read_without_colon(start, comment.map_or(end, |at| start + at), records),
        }
    }

    /// A line without a colon: Google's parser takes two words for key and value.
    fn read_without_colon(self, start: usize, end: usize, records: &mut impl Records) {
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

    fn read_record(self, key: Span, value: Span, records: &mut impl Records) {
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

    /// Where the line ends for this dialect.
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
