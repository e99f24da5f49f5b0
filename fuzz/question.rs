//! What the targets `google` and `rfc9309` ask: a line with an agent, a space and a path, and then a file.
//!
//! The first byte 1 of the file stands for spaces, or a byte 2 for letters, up to about the length at which Google's
//! parser cuts the line, which inputs of a few kilobytes do not reach; the byte behind says how much room is left.

use survey::robots::Dialect;

use crate::checks;

pub(crate) fn ask(dialect: Dialect, input: &[u8]) {
    let mut parts = input.splitn(2, |byte| *byte == b'\n');
    let (Some(question), Some(file)) = (parts.next(), parts.next()) else { return };
    let mut question = question.splitn(2, |byte| *byte == b' ');
    let (Some(agent), Some(path)) = (question.next(), question.next()) else { return };
    let Ok(agent) = std::str::from_utf8(agent) else { return };
    match file.iter().position(|byte| matches!(byte, 1 | 2)) {
        None => checks::verdict(dialect, file, agent, path),
        Some(place) => checks::verdict(dialect, &stretched(file, place), agent, path),
    }
}

fn stretched(file: &[u8], place: usize) -> Vec<u8> {
    let (before, after) = (&file[..place], &file[place + 1..]);
    let start = before.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(0, |end| end + 1);
    let room = after.first().map_or(0, |byte| usize::from(byte % 16));
    let length = checks::LONGEST_LINE.saturating_sub(place - start + room);
    let filler = if file[place] == 1 { b' ' } else { b'a' };
    [before, &vec![filler; length], after.get(1..).unwrap_or_default()].concat()
}
