//! Row ↔ Parquet: the registry of columns, the writer, the reader.
//!
//! * [`columns()`] is the registry: every column of the snapshot's table in its order, each with a name, a sentence and a
//!   function over [`Row`](crate::classify::Row). Schema, documentation in the files and `survey columns` come from it.
//! * [`Table`] turns rows into record batches and whole part files; [`Written`] says what a part came to.
//! * [`read_columns`] reads chosen columns back, from parts of any age, [`read_rows`] of chosen rows only;
//!   [`read_metadata`] what a part says of itself.
//! * [`describe()`] is the data dictionary as text, Markdown or JSON.
//!
//! May touch files, one part at a time, at paths it is given. Deliberately absent: folders, names of parts, durability
//! (all [`crate::snapshot`]'s), and any way back from a file to a [`Row`](crate::classify::Row): statistics read columns.

mod column;
mod columns;
mod describe;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use column::Column;
pub use columns::columns;
pub use describe::{Description, Format, describe};
pub use reader::{read_columns, read_metadata, read_rows};
pub use writer::{Provenance, SCHEMA_VERSION, TOOL_VERSION, Table, Written, weight};
