//! Liu et al. (IMC 2025): every path that is written in the file, judged by Google's matcher.
//!
//! Their paths come from a search of the text, comments included, so that a file can be partly restricted by a path
//! that no rule holds.

use super::Question;
use crate::classify::row::Restriction;
use crate::classify::witnesses::some_of_paths_differ;
use crate::path::path_of_url;

pub(super) fn judge(question: &mut Question<'_, '_>) -> Restriction {
    let allowed = question.root_allowed;
    let rules = question.rules;
    let paths = question.written_paths.get_or_init(|| written_paths(rules.file().body()).map(asked_path).collect());
    let some_differ =
        question.unnamed_allowed != allowed || some_of_paths_differ(rules, allowed, paths, question.budget);
    match (allowed, some_differ) {
        (_, true) => Restriction::Partial,
        (true, false) => Restriction::None,
        (false, false) => Restriction::Full,
    }
}

/// What the study takes for the paths of a file.
fn written_paths(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    body.split(|byte| *byte == b'\n').filter_map(written_path)
}

/// The second word of a line that holds `allow: `, in any case and anywhere; of one that holds `allow:`, what stands
/// between its first and its second colon. One `$` at the end is no part of the path.
fn written_path(line: &[u8]) -> Option<&[u8]> {
    let holds = |key: &[u8]| line.windows(key.len()).any(|part| part.eq_ignore_ascii_case(key));
    let path = if holds(b"allow: ") {
        line.split(|byte| matches!(byte, b' ' | b'\t'..=b'\r')).filter(|word| !word.is_empty()).nth(1)
    } else if holds(b"allow:") {
        line.split(|byte| *byte == b':').nth(1)
    } else {
        None
    }?;
    Some(path.strip_suffix(b"$").unwrap_or(path))
}

/// The study appends a path as it stands to a host.
fn asked_path(written: &[u8]) -> Vec<u8> {
    path_of_url(&[b"https://example.com", written].concat()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_from_the_text_whatever_the_parser_makes_of_it() {
        let text =
            "Disallow: /a$\nDISALLOW:  /b \nDisallow:/c\r\n# disallow: /d e\nallow : /no\nDisallow:\nx allow: /e";
        let paths: Vec<_> = written_paths(text.as_bytes()).map(String::from_utf8_lossy).collect();
        assert_eq!(paths, ["/a", "/b", "/c\r", "disallow:", "", "allow:"]);
    }
}
