//! Columns of a stored batch by name and type, whoever wrote them; one that is not there is null in every row.

use std::ops::Range;
use std::sync::Arc;

use anyhow::{Context, bail};
use arrow::array::{Array, ArrayRef, AsArray, ListArray, RecordBatch, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type, TimeUnit};

/// The types that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Integer,
    Number,
    Flag,
    Millis,
    Bytes,
    Sha,
}

/// Columns, or the fields of a list's items, each under its name.
pub(super) struct Fields(Vec<(&'static str, ArrayRef)>);

impl Fields {
    pub(super) fn of_batch(batch: &RecordBatch, wanted: &'static [(&'static str, Kind)]) -> anyhow::Result<Self> {
        Self::of(|name| batch.column_by_name(name), wanted, batch.num_rows())
    }

    fn of<'a>(
        find: impl Fn(&str) -> Option<&'a ArrayRef>,
        wanted: &'static [(&'static str, Kind)],
        rows: usize,
    ) -> anyhow::Result<Self> {
        let typed = |(name, kind): &(&'static str, Kind)| {
            let Some(array) = find(name) else { return Ok((*name, new_null_array(&kind.data_type(), rows))) };
            let array = read_as(array, *kind).with_context(|| format!("column {name} is {}", array.data_type()))?;
            Ok((*name, array))
        };
        wanted.iter().map(typed).collect::<anyhow::Result<_>>().map(Self)
    }

    fn find(&self, name: &str, row: usize) -> Option<&ArrayRef> {
        let (_, array) = self.0.iter().find(|(known, _)| *known == name).expect("only fields that were asked for");
        array.is_valid(row).then_some(array)
    }

    pub(super) fn text(&self, name: &str, row: usize) -> Option<&str> {
        Some(self.find(name, row)?.as_string::<i32>().value(row))
    }

    pub(super) fn integer(&self, name: &str, row: usize) -> Option<i64> {
        Some(self.find(name, row)?.as_primitive::<Int64Type>().value(row))
    }

    /// A number that cannot be negative, of whatever size it is kept in.
    pub(super) fn count<N: TryFrom<i64>>(&self, name: &str, row: usize) -> anyhow::Result<Option<N>> {
        let Some(number) = self.integer(name, row) else { return Ok(None) };
        match N::try_from(number) {
            Ok(count) => Ok(Some(count)),
            Err(_) => bail!("{name} is {number}"),
        }
    }

    pub(super) fn number(&self, name: &str, row: usize) -> Option<f64> {
        Some(self.find(name, row)?.as_primitive::<Float64Type>().value(row))
    }

    pub(super) fn flag(&self, name: &str, row: usize) -> Option<bool> {
        Some(self.find(name, row)?.as_boolean().value(row))
    }

    pub(super) fn bytes(&self, name: &str, row: usize) -> Option<&[u8]> {
        let array = self.find(name, row)?;
        Some(match array.as_fixed_size_binary_opt() {
            Some(hashes) => hashes.value(row),
            None => array.as_binary::<i32>().value(row),
        })
    }
}

/// A column of lists, and the fields of their items.
pub(super) struct Lists {
    lists: Option<ListArray>,
    /// Of all items, list after list.
    pub(super) fields: Fields,
}

impl Lists {
    /// Lists of items with fields of their own.
    pub(super) fn of_items(
        batch: &RecordBatch,
        name: &str,
        wanted: &'static [(&'static str, Kind)],
    ) -> anyhow::Result<Self> {
        let Some(lists) = lists(batch, name)? else { return Ok(Self { lists: None, fields: Fields(Vec::new()) }) };
        let items = Arc::clone(lists.values());
        let Some(items) = items.as_struct_opt() else { bail!("column {name} holds {}", items.data_type()) };
        let fields = Fields::of(|field| items.column_by_name(field), wanted, items.len())
            .with_context(|| format!("items of the column {name}"))?;
        Ok(Self { lists: Some(lists), fields })
    }

    /// Lists of texts; their one field has no name.
    pub(super) fn of_texts(batch: &RecordBatch, name: &str) -> anyhow::Result<Self> {
        let Some(lists) = lists(batch, name)? else { return Ok(Self { lists: None, fields: Fields(Vec::new()) }) };
        let texts = read_as(lists.values(), Kind::Text).with_context(|| format!("items of the column {name}"))?;
        Ok(Self { lists: Some(lists), fields: Fields(vec![("", texts)]) })
    }

    /// Where the items of a row stand; nothing where it has no list.
    pub(super) fn items(&self, row: usize) -> Option<Range<usize>> {
        let lists = self.lists.as_ref().filter(|lists| lists.is_valid(row))?;
        let offset = |at: usize| usize::try_from(lists.value_offsets()[at]).expect("offsets are not negative");
        Some(offset(row)..offset(row + 1))
    }
}

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Self::Text => DataType::Utf8,
            // A time that was cast to a number of milliseconds is one.
            Self::Integer | Self::Millis => DataType::Int64,
            Self::Number => DataType::Float64,
            Self::Flag => DataType::Boolean,
            Self::Bytes => DataType::Binary,
            Self::Sha => DataType::FixedSizeBinary(32),
        }
    }
}

fn read_as(array: &ArrayRef, kind: Kind) -> anyhow::Result<ArrayRef> {
    let wanted = kind.data_type();
    if array.data_type() == &wanted {
        return Ok(Arc::clone(array));
    }
    let array = match kind {
        Kind::Millis => &cast(array, &DataType::Timestamp(TimeUnit::Millisecond, None))?,
        _ => array,
    };
    Ok(cast(array, &wanted)?)
}

fn lists(batch: &RecordBatch, name: &str) -> anyhow::Result<Option<ListArray>> {
    let Some(array) = batch.column_by_name(name) else { return Ok(None) };
    match array.as_list_opt::<i32>() {
        Some(lists) => Ok(Some(lists.clone())),
        None => bail!("column {name} is {}, which holds no lists", array.data_type()),
    }
}
