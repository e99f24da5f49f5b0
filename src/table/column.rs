//! One column: its name, its sentence, and the typed function that finds its value.
//!
//! The fields of nested lists are columns too, over the list's items; so one enum of cells and one way to build an
//! array serve the whole table.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, DictionaryArray, FixedSizeBinaryArray, Float64Array, Int32Array, Int64Array,
    ListArray, StringArray, StructArray, TimestampMillisecondArray, new_null_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field, FieldRef, Int32Type, TimeUnit};
use jiff::Timestamp;

use crate::classify::Row;

/// One column of the table, or one field of a nested list's items.
pub struct Column<T: 'static = Row> {
    /// Its name, a public contract.
    pub name: Cow<'static, str>,
    /// What it means, in one or two sentences; it travels in the file.
    pub doc: Cow<'static, str>,
    /// Whether it has a value in every row.
    pub required: bool,
    pub(super) cell: Cell<T>,
}

impl<T> Column<T> {
    /// A column that may be null: not known, or not reached.
    pub(super) const fn new(name: &'static str, doc: &'static str, cell: Cell<T>) -> Self {
        Self { name: Cow::Borrowed(name), doc: Cow::Borrowed(doc), required: false, cell }
    }

    /// A column with a value in every row.
    pub(super) const fn required(name: &'static str, doc: &'static str, cell: Cell<T>) -> Self {
        Self { name: Cow::Borrowed(name), doc: Cow::Borrowed(doc), required: true, cell }
    }

    /// The Arrow field, its documentation under the metadata key `doc`.
    pub fn field(&self) -> Field {
        documented(&self.name, self.cell.data_type(), !self.required, &self.doc)
    }

    /// The column's values for these rows, in their order.
    pub(super) fn array(&self, rows: &[&T]) -> ArrayRef {
        self.cell.array(rows)
    }
}

/// Where a column's value comes from; the variant is its type.
///
/// Numbers are signed throughout: unsigned ones wrap or turn into decimals in common readers.
pub(super) enum Cell<T: 'static> {
    /// Text as received.
    Text(fn(&T) -> Option<Cow<'_, str>>),
    /// A word of a small vocabulary, stored as a dictionary.
    Word(fn(&T) -> Option<&str>),
    /// A whole number.
    I32(fn(&T) -> Option<i32>),
    /// A whole number that may be large.
    I64(fn(&T) -> Option<i64>),
    /// A number.
    F64(fn(&T) -> Option<f64>),
    /// Yes or no.
    Flag(fn(&T) -> Option<bool>),
    /// A point in time, to the millisecond.
    Time(fn(&T) -> Option<Timestamp>),
    /// A SHA-256.
    Sha(fn(&T) -> Option<&[u8; 32]>),
    /// Bytes as received.
    Bytes(fn(&T) -> Option<&[u8]>),
    /// A list of texts.
    Texts(fn(&T) -> Option<Vec<Cow<'_, str>>>),
    /// A list of words.
    Words(fn(&T) -> Option<Vec<&str>>),
    /// A list of items with fields of their own.
    Items(&'static dyn Items<T>),
    /// A word about the agent at this place of the panel.
    PanelWord(usize, fn(&T, usize) -> Option<&'static str>),
    /// Yes or no about the agent at this place of the panel.
    PanelFlag(usize, fn(&T, usize) -> Option<bool>),
    /// The column is in the schema, and nothing fills it yet.
    Absent(Kind),
}

/// The types of columns that hold no items with fields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Word,
    I32,
    I64,
    F64,
    Flag,
    Time,
    Sha,
    Bytes,
    Texts,
    Words,
}

impl Kind {
    /// The type as the data dictionary writes it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Word => "word",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F64 => "f64",
            Self::Flag => "bool",
            Self::Time => "timestamp ms UTC",
            Self::Sha => "fixed 32",
            Self::Bytes => "binary",
            Self::Texts => "list of text",
            Self::Words => "list of word",
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Text => DataType::Utf8,
            Self::Word => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            Self::I32 => DataType::Int32,
            Self::I64 => DataType::Int64,
            Self::F64 => DataType::Float64,
            Self::Flag => DataType::Boolean,
            Self::Time => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
            Self::Sha => DataType::FixedSizeBinary(32),
            Self::Bytes => DataType::Binary,
            Self::Texts => DataType::List(element(Self::Text.data_type())),
            Self::Words => DataType::List(element(Self::Word.data_type())),
        }
    }
}

impl<T> Cell<T> {
    /// The type, or nothing where the cell holds items with fields.
    pub(super) fn kind(&self) -> Option<Kind> {
        Some(match self {
            Self::Text(_) => Kind::Text,
            Self::Word(_) | Self::PanelWord(..) => Kind::Word,
            Self::I32(_) => Kind::I32,
            Self::I64(_) => Kind::I64,
            Self::F64(_) => Kind::F64,
            Self::Flag(_) | Self::PanelFlag(..) => Kind::Flag,
            Self::Time(_) => Kind::Time,
            Self::Sha(_) => Kind::Sha,
            Self::Bytes(_) => Kind::Bytes,
            Self::Texts(_) => Kind::Texts,
            Self::Words(_) => Kind::Words,
            Self::Absent(kind) => *kind,
            Self::Items(_) => return None,
        })
    }

    fn data_type(&self) -> DataType {
        match self {
            Self::Items(items) => DataType::List(element(items.data_type())),
            _ => self.kind().expect("only items have no kind").data_type(),
        }
    }

    fn array(&self, rows: &[&T]) -> ArrayRef {
        let rows = rows.iter().copied();
        match self {
            Self::Text(text) => Arc::new(rows.map(text).collect::<StringArray>()),
            Self::Word(word) => Arc::new(rows.map(word).collect::<DictionaryArray<Int32Type>>()),
            Self::PanelWord(place, word) => {
                Arc::new(rows.map(|row| word(row, *place)).collect::<DictionaryArray<Int32Type>>())
            }
            Self::I32(number) => Arc::new(rows.map(number).collect::<Int32Array>()),
            Self::I64(number) => Arc::new(rows.map(number).collect::<Int64Array>()),
            Self::F64(number) => Arc::new(rows.map(number).collect::<Float64Array>()),
            Self::Flag(flag) => Arc::new(rows.map(flag).collect::<BooleanArray>()),
            Self::PanelFlag(place, flag) => Arc::new(rows.map(|row| flag(row, *place)).collect::<BooleanArray>()),
            Self::Time(time) => {
                let times = rows.map(|row| time(row).map(Timestamp::as_millisecond));
                Arc::new(times.collect::<TimestampMillisecondArray>().with_timezone("UTC"))
            }
            Self::Sha(sha) => Arc::new(
                FixedSizeBinaryArray::try_from_sparse_iter_with_size(rows.map(sha), 32)
                    .expect("every value has 32 bytes by its type"),
            ),
            Self::Bytes(bytes) => Arc::new(rows.map(bytes).collect::<BinaryArray>()),
            Self::Texts(texts) => {
                list(rows.map(texts), Kind::Text.data_type(), |texts| Arc::new(StringArray::from_iter_values(texts)))
            }
            Self::Words(words) => list(rows.map(words), Kind::Word.data_type(), |words| {
                Arc::new(words.into_iter().collect::<DictionaryArray<Int32Type>>())
            }),
            Self::Items(items) => items.array(&mut rows.into_iter()),
            Self::Absent(kind) => new_null_array(&kind.data_type(), rows.len()),
        }
    }
}

/// Items with fields of their own, the type of the item forgotten.
pub(super) trait Items<T>: Sync {
    /// The fields of an item: name, type and documentation.
    fn fields(&self) -> Vec<Field>;

    /// Each field as the data dictionary shows it: name, type word, whether it always has a value, sentence.
    fn described(&self) -> Vec<(&'static str, &'static str, bool, &'static str)>;

    /// The lists of these rows.
    fn array(&self, rows: &mut dyn ExactSizeIterator<Item = &T>) -> ArrayRef;

    /// The type of one item.
    fn data_type(&self) -> DataType {
        DataType::Struct(self.fields().into())
    }
}

/// The items of a nested column: where they stand in a row, and their fields.
pub(super) struct ItemsOf<T: 'static, U: 'static> {
    pub(super) items: fn(&T) -> Option<&[U]>,
    pub(super) fields: &'static [Column<U>],
}

impl<T: 'static, U: 'static + Sync> Items<T> for ItemsOf<T, U> {
    fn fields(&self) -> Vec<Field> {
        self.fields.iter().map(Column::field).collect()
    }

    fn described(&self) -> Vec<(&'static str, &'static str, bool, &'static str)> {
        let described = |field: &'static Column<U>| {
            let kind = field.cell.kind().expect("lists are nested once only");
            (field.name.as_ref(), kind.word(), field.required, field.doc.as_ref())
        };
        self.fields.iter().map(described).collect()
    }

    fn array(&self, rows: &mut dyn ExactSizeIterator<Item = &T>) -> ArrayRef {
        let lists = rows.map(|row| (self.items)(row).map(|items| items.iter().collect()));
        list(lists, self.data_type(), |items: Vec<&U>| {
            let arrays = self.fields.iter().map(|field| field.array(&items)).collect();
            Arc::new(StructArray::new(Items::fields(self).into(), arrays, None))
        })
    }
}

/// Lays lists end to end and builds the array of their elements once.
fn list<V>(
    lists: impl Iterator<Item = Option<Vec<V>>>,
    element_type: DataType,
    elements: impl FnOnce(Vec<V>) -> ArrayRef,
) -> ArrayRef {
    let mut all = Vec::new();
    let mut lengths = Vec::new();
    let mut known = Vec::new();
    for values in lists {
        known.push(values.is_some());
        let values = values.unwrap_or_default();
        lengths.push(values.len());
        all.extend(values);
    }
    let offsets = OffsetBuffer::from_lengths(lengths);
    Arc::new(ListArray::new(element(element_type), offsets, elements(all), Some(NullBuffer::from(known))))
}

/// The field of a list's elements; readers expect the name `element` (Parquet's rule for lists).
fn element(data_type: DataType) -> FieldRef {
    Arc::new(documented("element", data_type, false, "One element of the list."))
}

fn documented(name: &str, data_type: DataType, nullable: bool, doc: &str) -> Field {
    Field::new(name, data_type, nullable).with_metadata(HashMap::from([("doc".to_owned(), doc.to_owned())]))
}
