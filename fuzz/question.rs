//! What the targets `google` and `rfc9309` ask: a line with an agent, a space and a path, and then a file.
//!
//! The first byte 1 of the file stands for 16,600 spaces, or a byte 2 for as many letters, so that lines reach the
//! length at which Google's parser cuts them, which inputs of a few kilobytes do not.

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
        Some(place) => {
            let filler = if file[place] == 1 { b' ' } else { b'a' };
            let long = [&file[..place], &[filler; 16_600], &file[place + 1..]].concat();
            checks::verdict(dialect, &long, agent, path);
        }
    }
}
