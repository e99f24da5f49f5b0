//! Breaking prose into lines.

/// Breaks a text at spaces into lines of at most `width` characters; a longer word stands alone.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_ascii_whitespace() {
        match lines.last_mut() {
            Some(line) if characters(line) + 1 + characters(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The width of a text on a terminal, near enough: nothing that is aligned holds wide characters.
pub(super) fn characters(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_long_words_stand_alone() {
        assert_eq!(wrap("a bc  def unbreakable g", 6), ["a bc", "def", "unbreakable", "g"]);
    }
}
