//! Reading parts back: only the columns that are asked for, batch by batch.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context;
use arrow::array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// Reads the named top-level columns of the parts, one batch after another, part by part.
///
/// A column that a part does not have (it is older than the column) is missing from its batches.
pub fn read_columns<'a>(
    parts: &'a [PathBuf],
    names: &'a [&'a str],
) -> impl Iterator<Item = anyhow::Result<RecordBatch>> + 'a {
    parts.iter().flat_map(move |part| match open_part(part, names) {
        Ok(batches) => Box::new(batches) as Box<dyn Iterator<Item = anyhow::Result<RecordBatch>>>,
        Err(error) => Box::new(std::iter::once(Err(error))),
    })
}

fn open_part(part: &Path, names: &[&str]) -> anyhow::Result<impl Iterator<Item = anyhow::Result<RecordBatch>> + use<>> {
    let reading = format!("reading {}", part.display());
    let file = File::open(part).with_context(|| reading.clone())?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).with_context(|| reading.clone())?;
    let wanted = builder
        .schema()
        .fields()
        .iter()
        .enumerate()
        .filter(|(_, field)| names.contains(&field.name().as_str()))
        .map(|(index, _)| index);
    let mask = ProjectionMask::roots(builder.parquet_schema(), wanted);
    let batches = builder.with_projection(mask).with_batch_size(8192).build().with_context(|| reading.clone())?;
    Ok(batches.map(move |batch| batch.with_context(|| reading.clone())))
}
