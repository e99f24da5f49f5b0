//! Signals: AI preferences that stand beside Allow and Disallow.
//!
//! [`signals()`] is the registry. Each entry is a kind of signal in one place (the file, or the head of the response),
//! with the syntax that it reads and an example with what must be found in it; the example is a test, the text that
//! `survey signals` prints, and what a rehearsed host serves. An entry says what is written. What it means for the
//! columns is said in one word by [`Meaning`], so that a new entry needs no other change: it goes into the table of the
//! file that it belongs to, and nowhere else.
//!
//! | file | what it reads |
//! |---|---|
//! | `found.rs` | the plain values: what was found, where, for whom |
//! | `read.rs` | a file's records and comments, a response's head → what was found |
//! | `stated.rs` | what was found → what it comes to |
//! | `content_signal.rs` | Content-Signal |
//! | `content_usage.rs` | Content-Usage of AIPREF |
//! | `training.rs` | `DisallowAITraining` and its kin |
//! | `license.rs` | License of RSL, and links to a licence |
//! | `prose.rs` | reservations in the words of comments |
//! | `head.rs` | what only a response's head can hold |
//!
//! Records are those of the grammar of RFC 9309, whatever the dialect of the verdicts: to Google's parser
//! `DisallowAITraining` is a misspelt Disallow, and still it was said. Every key that no entry reads is counted as it
//! stands, in the column `other_records`.
//!
//! Pure, and never fails. Deliberately absent: verdicts, and any guess at what an unknown value might have meant.

mod content_signal;
mod content_usage;
mod found;
mod head;
mod license;
mod prose;
mod read;
mod stated;
mod training;

#[cfg(test)]
mod tests;

pub use content_usage::drafts_of;
pub use found::{Example, Expected, Found, Meaning, Place, Scope, Signal, Source};
pub use read::{LONGEST_SCOPE, MOST_SIGNALS, Signals};
pub use stated::{ContentSignal, Reuse, Stated, Usage, Wishes};

/// The tables of the registry, in the order in which they are printed.
const TABLES: &[&[Signal]] =
    &[content_signal::TABLE, content_usage::TABLE, training::TABLE, license::TABLE, prose::TABLE, head::TABLE];

/// Every signal that is read, by kind and place.
pub fn signals() -> impl Iterator<Item = &'static Signal> {
    TABLES.iter().copied().flatten()
}
