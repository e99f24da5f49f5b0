//! The input is a line with an agent, a space and a path, and then a file.
//!
//! The first byte 1 of the file stands for 16,600 spaces, or a byte 2 for as many letters, so that lines reach the
//! length at which they are cut, which inputs of a few kilobytes do not.

#![no_main]

#[path = "../checks.rs"]
#[allow(dead_code, reason = "each target takes one of the checks")]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
    let (Some(question), Some(file)) = (parts.next(), parts.next()) else { return };
    let mut question = question.splitn(2, |byte| *byte == b' ');
    let (Some(agent), Some(path)) = (question.next(), question.next()) else { return };
    let Ok(agent) = std::str::from_utf8(agent) else { return };
    match file.iter().position(|byte| matches!(byte, 1 | 2)) {
        None => checks::google(file, agent, path),
        Some(place) => {
            let filler = if file[place] == 1 { b' ' } else { b'a' };
            let long = [&file[..place], &[filler; 16_600], &file[place + 1..]].concat();
            checks::google(&long, agent, path);
        }
    }
});
