//! (stub)

pub mod rehearse;
