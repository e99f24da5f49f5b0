//! The input is a line of paths, with spaces between them, and a file.

#![no_main]

#[path = "../checks.rs"]
#[allow(dead_code, reason = "each target takes one of the checks")]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
    if let (Some(paths), Some(file)) = (parts.next(), parts.next()) {
        let paths: Vec<&[u8]> = paths.split(|byte| *byte == b' ').take(8).collect();
        checks::agree(file, &paths);
    }
});
