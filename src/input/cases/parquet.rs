//! A column of URLs in a Parquet file.

use std::fs::File;

use anyhow::Context;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::check_weight;
use super::lines::reject;
use super::urls::{Located, Names, Urls, locate};
use crate::input::{LineFault, Reason, Rejected};

/// Opens the file; the "line" of a row is its number, from 1.
pub(super) fn open(file: File, names: &Names<'_>) -> anyhow::Result<Urls> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
    let columns: Vec<&str> = builder.schema().fields().iter().map(|field| field.name().as_str()).collect();
    let find = |name: &str| {
        let found = columns.iter().position(|column| *column == name);
        found.with_context(|| format!("it has no column {name:?}; its columns are {}", columns.join(", ")))
    };
    let wanted = std::iter::once(find(names.url)?).chain(names.weight.map(find).transpose()?);
    let mask = ProjectionMask::roots(builder.parquet_schema(), wanted);
    let (url, weight) = (names.url.to_owned(), names.weight.map(str::to_owned));
    let mut above = 0;
    let rows = builder.with_projection(mask).build()?.flat_map(move |batch| {
        let items = batch
            .context("reading rows")
            .and_then(|batch| read_batch(&batch, &url, weight.as_deref(), above))
            .map_or_else(|error| vec![Err(error)], |items| items.into_iter().map(Ok).collect());
        above += items.len() as u64;
        items
    });
    Ok(Box::new(rows))
}

fn read_batch(
    batch: &RecordBatch,
    url: &str,
    weight: Option<&str>,
    above: u64,
) -> anyhow::Result<Vec<Result<Located, Rejected>>> {
    let urls = column(batch, url, &DataType::Utf8)?;
    let urls = urls.as_string::<i32>();
    let weights = weight.map(|name| column(batch, name, &DataType::Float64)).transpose()?;
    let weights = weights.as_ref().map(AsArray::as_primitive::<Float64Type>);
    let rows = (0..batch.num_rows()).map(|row| {
        let text = if urls.is_valid(row) { urls.value(row) } else { "" };
        let weight = match weights {
            None => Some(1.0),
            Some(weights) => weights.is_valid(row).then(|| weights.value(row)).and_then(check_weight),
        };
        let located = weight.ok_or(Reason::Line(LineFault::BadWeight)).and_then(|weight| locate(text, weight));
        located.map_err(|reason| reject(above + row as u64 + 1, text.as_bytes(), reason))
    });
    Ok(rows.collect())
}

fn column(batch: &RecordBatch, name: &str, wanted: &DataType) -> anyhow::Result<ArrayRef> {
    let column = batch.column_by_name(name).with_context(|| format!("there is no column {name:?}"))?;
    cast(column, wanted).with_context(|| format!("reading the column {name:?} as {wanted}"))
}
