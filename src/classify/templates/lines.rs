//! Where the lines of a body are, and a body without some of them.
//!
//! Lines are counted as the reader of files counts them: LF, CR and CRLF end one.

use std::ops::{Range, RangeInclusive};

/// The ranges of the lines from a line's start on, without their ends.
pub(super) fn lines(body: &[u8], start: usize) -> impl Iterator<Item = Range<usize>> + use<'_> {
    let mut at = start;
    std::iter::from_fn(move || {
        let rest = body.get(at..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let line = at..at + length;
        at = line.end + if rest[length..].starts_with(b"\r\n") { 2 } else { 1 };
        Some(line)
    })
}

/// The number of the line in which a byte stands, from 1.
pub(super) fn line_at(body: &[u8], at: usize) -> u32 {
    let ends = memchr::memchr2_iter(b'\n', b'\r', &body[..at]);
    let count = ends.filter(|end| !(body[*end] == b'\r' && body.get(end + 1) == Some(&b'\n'))).count();
    u32::try_from(count).unwrap_or(u32::MAX - 1) + 1
}

/// The body with nothing but spaces in some of its lines: all others keep their numbers and places.
pub(super) fn without(body: &[u8], mut gone: Vec<RangeInclusive<u32>>) -> Vec<u8> {
    gone.sort_unstable_by_key(|range| *range.start());
    let mut gone = gone.into_iter().peekable();
    let mut last_gone = 0;
    let mut rest = body.to_vec();
    for (number, line) in (1..).zip(lines(body, 0)) {
        while let Some(range) = gone.next_if(|range| *range.start() <= number) {
            last_gone = last_gone.max(*range.end());
        }
        if number <= last_gone {
            rest[line].fill(b' ');
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::robots::{Dialect, RobotsTxt};

    #[test]
    fn lines_are_blanked_and_the_others_stay_where_they_are() {
        assert_eq!(without(b"a\r\nbc\rd\n\ne", vec![3..=3, 2..=2]), b"a\r\n  \r \n\ne");
        assert_eq!(without(b"a\nb", vec![2..=9, 2..=2]), b"a\n ");
        assert_eq!(without(b"", vec![1..=1]), b"");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn lines_are_those_of_the_reader(body in "(\n|\r|\r\n|a|b:c){0,30}") {
            let body = body.as_bytes();
            let file = RobotsTxt::parse(body, Dialect::Rfc9309);
            let found: Vec<&[u8]> = lines(body, 0).map(|line| &body[line]).collect();
            let expected: Vec<&[u8]> = (1..=file.line_count()).map(|number| file.line(number).unwrap()).collect();
            prop_assert_eq!(found, expected);
            for (number, line) in (1..).zip(lines(body, 0)) {
                prop_assert_eq!(line_at(body, line.start), number);
                prop_assert_eq!(line_at(body, line.end), number);
            }
        }
    }
}
