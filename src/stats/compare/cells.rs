//! Columns of a batch that hold neither words nor flags (those are [`crate::stats::columns`]'s), whoever wrote the file.

use std::sync::Arc;

use anyhow::Context;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};

/// The rows that are a target's first capture.
pub(super) fn first_captures(batch: &RecordBatch) -> anyhow::Result<Vec<usize>> {
    let captures = integers(batch, "capture_index")?;
    Ok((0..batch.num_rows()).filter(|row| captures[*row].unwrap_or(0) == 0).collect())
}

/// Items of a column of lists, each as one text: the named fields joined, or the item itself where none is named.
pub(super) struct Items {
    lists: Option<ArrayRef>,
    fields: Vec<StringArray>,
}

impl Items {
    pub(super) fn read(batch: &RecordBatch, name: &str, fields: &[&str]) -> anyhow::Result<Self> {
        let Some(lists) = batch.column_by_name(name) else { return Ok(Self { lists: None, fields: Vec::new() }) };
        let no_lists = || format!("column {name} is {}, which holds no lists", lists.data_type());
        let values = lists.as_list_opt::<i32>().with_context(no_lists)?.values();
        let as_text = |array: &ArrayRef| anyhow::Ok(cast(array, &DataType::Utf8)?.as_string::<i32>().clone());
        let fields = if fields.is_empty() {
            vec![as_text(values).with_context(no_lists)?]
        } else {
            let items = values.as_struct_opt().with_context(no_lists)?;
            let field =
                |field: &&str| as_text(items.column_by_name(field).with_context(|| format!("{name} has no {field}"))?);
            fields.iter().map(field).collect::<anyhow::Result<_>>()?
        };
        Ok(Self { lists: Some(Arc::clone(lists)), fields })
    }

    /// The items of a row; nothing where it has no list.
    pub(super) fn of(&self, row: usize) -> Option<impl Iterator<Item = String> + '_> {
        let lists = self.lists.as_ref()?.as_list::<i32>();
        if lists.is_null(row) {
            return None;
        }
        let offset = |at: usize| usize::try_from(lists.value_offsets()[at]).expect("offsets are not negative");
        let text = |item: usize| {
            let fields =
                self.fields.iter().filter(move |field| field.is_valid(item)).map(move |field| field.value(item));
            fields.collect::<Vec<_>>().join("\u{0}")
        };
        Some((offset(row)..offset(row + 1)).map(text))
    }
}

/// A column of texts; nothing where there is no such column.
pub(super) fn texts(batch: &RecordBatch, name: &str) -> anyhow::Result<Option<StringArray>> {
    let Some(column) = batch.column_by_name(name) else { return Ok(None) };
    let texts = cast(column, &DataType::Utf8).with_context(|| format!("column {name} is {}", column.data_type()))?;
    Ok(Some(texts.as_string::<i32>().clone()))
}

/// A column of whole numbers, null in every row where there is no such column.
pub(super) fn integers(batch: &RecordBatch, name: &str) -> anyhow::Result<Vec<Option<i64>>> {
    let Some(column) = batch.column_by_name(name) else { return Ok(vec![None; batch.num_rows()]) };
    let numbers = cast(column, &DataType::Int64).with_context(|| format!("column {name} is {}", column.data_type()))?;
    Ok(numbers.as_primitive::<Int64Type>().iter().collect())
}

/// The first halves of a column of hashes, null in every row where there is no such column.
pub(super) fn hashes(batch: &RecordBatch, name: &str) -> anyhow::Result<Vec<Option<[u8; 16]>>> {
    let Some(column) = batch.column_by_name(name) else { return Ok(vec![None; batch.num_rows()]) };
    let hashes = cast(column, &DataType::Binary).with_context(|| format!("column {name} is {}", column.data_type()))?;
    let half = |hash: Option<&[u8]>| hash.and_then(|hash| hash.get(..16)?.try_into().ok());
    Ok(hashes.as_binary::<i32>().iter().map(half).collect())
}
