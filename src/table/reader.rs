//! Reading parts back: only the columns that are asked for, batch by batch.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context;
use arrow::array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection, RowSelectionPolicy,
};
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData};

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

/// Reads the named top-level columns of chosen rows of one part; `rows` are places in the part, ascending, each once.
///
/// Pages without a chosen row are not unpacked.
pub fn read_rows(
    part: &Path,
    names: &[&str],
    rows: &[u32],
) -> anyhow::Result<impl Iterator<Item = anyhow::Result<RecordBatch>> + use<>> {
    // With the offset index the reader knows which pages hold none of the rows.
    let options = ArrowReaderOptions::new().with_offset_index_policy(PageIndexPolicy::Optional);
    let builder = open_with(part, options)?;
    let all = builder.metadata().file_metadata().num_rows();
    let all = usize::try_from(all).with_context(|| format!("{} has {all} rows", part.display()))?;
    let ranges = rows.iter().map(|row| *row as usize..*row as usize + 1);
    // By default a dense choice is made by unpacking every row and masking: of bodies that is the whole part at once.
    let builder = builder.with_row_selection_policy(RowSelectionPolicy::Selectors);
    batches(part, builder.with_row_selection(RowSelection::from_consecutive_ranges(ranges, all)), names)
}

/// What a part says of itself: its key-value metadata, such as `survey.definition`.
pub fn read_metadata(part: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let builder = open(part)?;
    let pairs = builder.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    Ok(pairs.filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?))).collect())
}

fn open(part: &Path) -> anyhow::Result<ParquetRecordBatchReaderBuilder<File>> {
    open_with(part, ArrowReaderOptions::new())
}

fn open_with(part: &Path, options: ArrowReaderOptions) -> anyhow::Result<ParquetRecordBatchReaderBuilder<File>> {
    let reading = || format!("reading {}", part.display());
    let file = File::open(part).with_context(reading)?;
    ParquetRecordBatchReaderBuilder::try_new_with_options(file, options).with_context(reading)
}

fn open_part(part: &Path, names: &[&str]) -> anyhow::Result<impl Iterator<Item = anyhow::Result<RecordBatch>> + use<>> {
    batches(part, open(part)?, names)
}

fn batches(
    part: &Path,
    builder: ParquetRecordBatchReaderBuilder<File>,
    names: &[&str],
) -> anyhow::Result<impl Iterator<Item = anyhow::Result<RecordBatch>> + use<>> {
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
