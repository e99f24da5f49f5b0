//! A line of a file by its number, to be shown to a person.

use crate::robots::RobotsTxt;

impl<'a> RobotsTxt<'a> {
    /// The line with this number, from 1, as it stands in the file, without its end.
    pub fn line(&self, number: u32) -> Option<&'a [u8]> {
        let mut rest = self.body();
        for _ in 1..number {
            let end = memchr::memchr2(b'\n', b'\r', rest)?;
            let length = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
            rest = &rest[end + length..];
        }
        let line = &rest[..memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())];
        (number >= 1 && number <= self.line_count()).then_some(line)
    }
}
