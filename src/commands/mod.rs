//! stub
pub mod rehearse;
