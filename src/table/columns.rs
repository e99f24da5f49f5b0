//! The registry of columns: the whole table in its order, one file a section.
//!
//! Every column stands in the schema from the first version on, and is null until its step is built, so that old and
//! new parts read together. Names and types are a public contract; a test pins them.

mod asking;
mod body;
mod panel;
mod provenance;
mod reading;
mod signals;
mod target;

use crate::table::Column;

/// Every column of the table in its order, for a panel of agents given by their tokens.
///
/// The panel is part of the schema: each of its agents has four columns.
pub fn columns(panel: &[String]) -> Vec<Column> {
    let mut columns = Vec::new();
    columns.extend(target::columns());
    columns.extend(asking::columns());
    columns.extend(body::facts());
    columns.extend(reading::columns());
    columns.extend(panel::columns(panel));
    columns.extend(signals::columns());
    columns.extend(provenance::columns(panel));
    // Last, so that nobody pays for the bytes who does not ask for them.
    columns.push(body::bytes());
    columns
}

/// A count for a column: signed, and held at the largest value rather than wrapped.
fn count(number: impl TryInto<i32>) -> i32 {
    number.try_into().unwrap_or(i32::MAX)
}

/// A large count for a column: signed, and held at the largest value rather than wrapped.
fn large(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
