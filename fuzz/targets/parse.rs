//! The input is a file.

#![no_main]

#[path = "../checks.rs"]
#[allow(dead_code, reason = "each target takes one of the checks")]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::parse(bytes));
