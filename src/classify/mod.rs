//! Observation → row: what was seen, judged.

pub mod agents;
pub mod row;

pub use agents::{Agent, Catalogue};
pub use row::Row;
