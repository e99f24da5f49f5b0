//! The input is a question (`question.rs`), put to the dialect `google`.

#![no_main]

#[path = "../checks.rs"]
#[allow(dead_code, reason = "each target takes one of the checks")]
mod checks;
#[path = "../question.rs"]
mod question;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| question::ask(survey::robots::Dialect::Google, bytes));
