//! Text from outside, made visible: what would steer a terminal, or break a cell of a table, is written as an escape.
//!
//! Touches nothing. Deliberately absent: encodings other than UTF-8, and any other change of a text.

use std::ascii::escape_default;
use std::borrow::Cow;

/// Whether a character does something to the text around it instead of being part of it.
pub fn steers(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Bytes as text that fits a cell: what is no UTF-8 as `\xhh`, characters that steer as `\t` or `\u{h}`.
///
/// ```
/// use survey::text::visible;
/// assert_eq!(visible(b"/a\tb\xff"), "/a\\tb\\xff");
/// ```
pub fn visible(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains(steers) => Cow::Borrowed(text),
        _ => {
            let mut out = String::new();
            for chunk in bytes.utf8_chunks() {
                for letter in chunk.valid().chars() {
                    match letter {
                        '\n' | '\r' | '\t' => out.extend(letter.escape_default()),
                        letter if steers(letter) => out.extend(letter.escape_unicode()),
                        letter => out.push(letter),
                    }
                }
                out.extend(chunk.invalid().iter().copied().flat_map(escape_default).map(char::from));
            }
            Cow::Owned(out)
        }
    }
}
