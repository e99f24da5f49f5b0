//! Text from outside, made safe for a terminal.

use std::fmt;

use crate::text::steers;

/// Shows text from outside so that it cannot steer the terminal: list names, words of files, messages of servers.
///
/// Control characters, and characters that reorder or hide text, are written as escapes; all else stays.
///
/// ```
/// use survey::report::escape;
/// assert_eq!(escape("top\u{1b}[2J").to_string(), "top\\u{1b}[2J");
/// ```
pub const fn escape(text: &str) -> Escaped<'_> {
    Escaped(text)
}

/// See [`escape`].
#[derive(Clone, Copy, Debug)]
pub struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((at, steering)) = rest.char_indices().find(|(_, letter)| steers(*letter)) {
            formatter.write_str(&rest[..at])?;
            match steering {
                '\n' | '\r' | '\t' => write!(formatter, "{}", steering.escape_default())?,
                _ => write!(formatter, "{}", steering.escape_unicode())?,
            }
            rest = &rest[at + steering.len_utf8()..];
        }
        formatter.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_text_stays_as_it_is() {
        assert_eq!(escape("größte-seiten \\ 日本.csv").to_string(), "größte-seiten \\ 日本.csv");
    }

    #[test]
    fn a_list_name_cannot_clear_the_screen_or_turn_text_around() {
        assert_eq!(escape("a\u{1b}]0;x\u{7}b\r\n").to_string(), "a\\u{1b}]0;x\\u{7}b\\r\\n");
        assert_eq!(escape("a\u{202e}b\u{9b}c").to_string(), "a\\u{202e}b\\u{9b}c");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_control_character_is_left(text in any::<String>()) {
            prop_assert!(!escape(&text).to_string().chars().any(char::is_control));
        }
    }
}
