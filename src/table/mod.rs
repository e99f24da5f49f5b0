//! Row ↔ Parquet: the registry of columns, the writer, the reader.

mod reader;

pub use reader::read_columns;
