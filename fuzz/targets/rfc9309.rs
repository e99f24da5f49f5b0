//! The input is a question (`question.rs`), put to the dialect `rfc9309`.

#![no_main]

#[path = "../checks.rs"]
#[allow(dead_code, reason = "each target takes one of the checks")]
mod checks;
#[path = "../question.rs"]
mod question;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| question::ask(survey::robots::Dialect::Rfc9309, bytes));
