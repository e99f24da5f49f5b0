//! The input is a pattern, a line end, and a path.

#![no_main]

#[path = "../checks.rs"]
#[allow(dead_code, reason = "each target takes one of the checks")]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
    if let (Some(pattern), Some(path)) = (parts.next(), parts.next()) {
        checks::matcher(pattern, path);
    }
});
