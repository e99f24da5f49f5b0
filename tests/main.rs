//! The map of the integration tests: one module per room or promise.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its world fails")]

mod check;
mod compare;
mod dial;
mod explain;
mod faults;
mod fuzz;
mod layers;
mod limits;
mod lists;
mod oracle;
mod probes;
mod rehearsal;
mod signals;
mod since;
mod snapshot;
mod whole;
