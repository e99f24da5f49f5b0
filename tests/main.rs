//! The map of the integration tests: one module per room or promise.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its world fails")]

mod check;
mod dial;
mod explain;
mod fuzz;
mod layers;
mod limits;
mod lists;
mod oracle;
mod rehearsal;
mod snapshot;
mod whole;
