//! Reading parts back: only the columns that are asked for, batch by batch.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context;
use arrow::array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::ParquetMetaData;

/// Rows of a batch, at most.
const BATCH_ROWS: usize = 8192;

/// Bytes of a batch, about: bodies make rows heavy, and whoever reads them should not have to hold thousands.
const BATCH_BYTES: i64 = 16 << 20;

/// Reads the named top-level columns of the parts, one batch after another, part by part.
///
/// A column that a part does not have (it is older than the column) is missing from its batches. Files that others made
/// are read as well as our own.
pub fn read_columns<'a>(
    parts: &'a [PathBuf],
    names: &'a [&'a str],
) -> impl Iterator<Item = anyhow::Result<RecordBatch>> + 'a {
    parts.iter().flat_map(move |part| match open_part(part, names) {
        Ok(batches) => Box::new(batches) as Box<dyn Iterator<Item = anyhow::Result<RecordBatch>>>,
        Err(error) => Box::new(std::iter::once(Err(error))),
    })
}

/// What a part says of itself: its key-value metadata, such as `survey.definition`.
pub fn read_metadata(part: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let builder = open(part)?;
    let pairs = builder.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    Ok(pairs.filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?))).collect())
}

fn open(part: &Path) -> anyhow::Result<ParquetRecordBatchReaderBuilder<File>> {
    let reading = || format!("reading {}", part.display());
    let file = File::open(part).with_context(reading)?;
    ParquetRecordBatchReaderBuilder::try_new(file).with_context(reading)
}

fn open_part(part: &Path, names: &[&str]) -> anyhow::Result<impl Iterator<Item = anyhow::Result<RecordBatch>> + use<>> {
    let builder = open(part)?;
    let wanted = builder
        .schema()
        .fields()
        .iter()
        .enumerate()
        .filter(|(_, field)| names.contains(&field.name().as_str()))
        .map(|(index, _)| index);
    let mask = ProjectionMask::roots(builder.parquet_schema(), wanted);
    let batch_rows = batch_rows(builder.metadata(), &mask);
    let reading = format!("reading {}", part.display());
    let batches = builder.with_projection(mask).with_batch_size(batch_rows).build().with_context(|| reading.clone())?;
    Ok(batches.map(move |batch| batch.with_context(|| reading.clone())))
}

/// As many rows as come to [`BATCH_BYTES`] on average, in the part's heaviest row group.
fn batch_rows(metadata: &ParquetMetaData, mask: &ProjectionMask) -> usize {
    let row_bytes = metadata.row_groups().iter().map(|group| {
        let columns = group.columns().iter().enumerate().filter(|(leaf, _)| mask.leaf_included(*leaf));
        columns.map(|(_, column)| column.uncompressed_size()).sum::<i64>() / group.num_rows().max(1)
    });
    let heaviest = row_bytes.max().unwrap_or(0).max(1);
    usize::try_from(BATCH_BYTES / heaviest).map_or(1, |rows| rows.clamp(1, BATCH_ROWS))
}
