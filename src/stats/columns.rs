//! Typed views of a batch's columns, whoever wrote the file.
//!
//! Words may be dictionary-encoded, as our writer has them, or plain text, as other tools write them; flags may be
//! booleans or what casts to them. A column that is not there is [`Absence::NotInSnapshot`] in every row, an empty cell
//! is [`Absence::NotKnown`]. Only a column of a wholly different type is an error.

use std::collections::HashMap;
use std::ops::Range;

use anyhow::Context;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, OffsetSizeTrait, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::DataType;

use crate::outcome::{Outcome, OutcomeClass};
use crate::stats::answer::Absence;

/// A column of words: each distinct word once, and its number in every row.
pub(super) struct Words {
    values: Vec<String>,
    codes: Codes,
}

enum Codes {
    Stored(Vec<Option<usize>>),
    NoColumn,
}

impl Words {
    pub(super) fn read(batch: &RecordBatch, name: &str) -> anyhow::Result<Self> {
        let Some(array) = batch.column_by_name(name) else {
            return Ok(Self { values: Vec::new(), codes: Codes::NoColumn });
        };
        Self::of(array).with_context(|| format!("column {name} is {}, which holds no words", array.data_type()))
    }

    fn of(array: &ArrayRef) -> anyhow::Result<Self> {
        match array.as_any_dictionary_opt() {
            Some(dictionary) if dictionary.values().is_empty() => Ok(Self::nulls(array.len())),
            Some(dictionary) => Self::from_plain(dictionary.values()).map(|distinct| {
                let keys = dictionary.normalized_keys();
                distinct.behind((0..array.len()).map(|row| (!array.is_null(row)).then(|| keys[row])))
            }),
            None => Self::from_plain(array),
        }
    }

    pub(super) fn is_present(&self) -> bool {
        matches!(self.codes, Codes::Stored(_))
    }

    /// The word of a row.
    pub(super) fn word(&self, row: usize) -> Result<&str, Absence> {
        self.code(row).map(|code| self.values[code].as_str())
    }

    /// The number of a row's word, the same in all rows of the batch that have the word.
    pub(super) fn code(&self, row: usize) -> Result<usize, Absence> {
        match &self.codes {
            Codes::Stored(codes) => codes[row].ok_or(Absence::NotKnown),
            Codes::NoColumn => Err(Absence::NotInSnapshot),
        }
    }

    /// Every row's word in a closed vocabulary; each distinct word is looked up once.
    pub(super) fn decode<T: Copy>(&self, rows: usize, from_word: impl Fn(&str) -> Option<T>) -> Vec<Option<T>> {
        let meanings: Vec<Option<T>> = self.values.iter().map(|word| from_word(word)).collect();
        (0..rows).map(|row| self.code(row).ok().and_then(|code| meanings[code])).collect()
    }

    fn nulls(rows: usize) -> Self {
        Self { values: Vec::new(), codes: Codes::Stored(vec![None; rows]) }
    }

    fn from_plain(array: &ArrayRef) -> anyhow::Result<Self> {
        anyhow::ensure!(
            matches!(array.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null),
            "not text"
        );
        let array = cast(array, &DataType::Utf8)?;
        let mut values = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        let codes = array
            .as_string::<i32>()
            .iter()
            .map(|word| {
                word.map(|word| {
                    *known.entry(word).or_insert_with(|| {
                        values.push(word.to_owned());
                        values.len() - 1
                    })
                })
            })
            .collect();
        Ok(Self { values, codes: Codes::Stored(codes) })
    }

    /// Takes `self` for the values of a dictionary and `keys` for its rows.
    fn behind(self, keys: impl Iterator<Item = Option<usize>>) -> Self {
        let codes = keys.map(|key| key.and_then(|key| self.code(key).ok())).collect();
        Self { values: self.values, codes: Codes::Stored(codes) }
    }
}

/// A column of yes and no.
pub(super) struct Flags(Option<BooleanArray>);

impl Flags {
    pub(super) fn read(batch: &RecordBatch, name: &str) -> anyhow::Result<Self> {
        let Some(array) = batch.column_by_name(name) else { return Ok(Self(None)) };
        let flags = cast(array, &DataType::Boolean)
            .with_context(|| format!("column {name} is {}, which holds no flags", array.data_type()))?;
        Ok(Self(Some(flags.as_boolean().clone())))
    }

    pub(super) fn is_present(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn flag(&self, row: usize) -> Option<bool> {
        let flags = self.0.as_ref()?;
        flags.is_valid(row).then(|| flags.value(row))
    }
}

/// The columns of words that [`Classes`] needs.
pub(super) const CLASS_COLUMNS: [&str; 2] = ["outcome_class", "outcome"];

/// The class of every row's outcome, taken from the outcome where the file has no column of classes.
pub(super) struct Classes {
    classes: Vec<Option<OutcomeClass>>,
    is_present: bool,
}

impl Classes {
    pub(super) fn read(batch: &RecordBatch) -> anyhow::Result<Self> {
        let rows = batch.num_rows();
        let stored = Words::read(batch, "outcome_class")?;
        if stored.is_present() {
            return Ok(Self { classes: stored.decode(rows, OutcomeClass::from_word), is_present: true });
        }
        let outcomes = Words::read(batch, "outcome")?;
        let class = |word: &str| Outcome::from_word(word).map(Outcome::class);
        Ok(Self { classes: outcomes.decode(rows, class), is_present: outcomes.is_present() })
    }

    pub(super) fn is_present(&self) -> bool {
        self.is_present
    }

    /// The rows for which an HTTP response came.
    pub(super) fn answered(&self) -> impl Iterator<Item = usize> {
        let is_answered = |class: &Option<OutcomeClass>| class.is_some_and(OutcomeClass::is_answered);
        self.classes.iter().enumerate().filter(move |(_, class)| is_answered(class)).map(|(row, _)| row)
    }

    /// The rows for which a restriction can be stated.
    pub(super) fn determinable(&self) -> impl Iterator<Item = usize> {
        let is_determinable = |class: &Option<OutcomeClass>| class.is_some_and(OutcomeClass::is_determinable);
        self.classes.iter().enumerate().filter(move |(_, class)| is_determinable(class)).map(|(row, _)| row)
    }
}

/// The stored word of a row's class, or that of its outcome's class where the file has no column of classes.
pub(super) fn class_word(classes: &Words, outcomes: &Words, row: usize) -> Result<String, Absence> {
    if classes.is_present() {
        return classes.word(row).map(str::to_owned);
    }
    let outcome = Outcome::from_word(outcomes.word(row)?).ok_or(Absence::NotKnown)?;
    Ok(outcome.class().word().to_owned())
}

/// The words that the items of a nested column have under one name.
pub(super) struct ListedWords {
    /// Which items are a row's; nothing where the row has no list.
    rows: Vec<Option<Range<usize>>>,
    words: Option<Words>,
}

impl ListedWords {
    pub(super) fn read(batch: &RecordBatch, column: &str, field: &str) -> anyhow::Result<Self> {
        let nothing = Self { rows: vec![None; batch.num_rows()], words: None };
        let Some(array) = batch.column_by_name(column) else { return Ok(nothing) };
        let (rows, items) = match array.data_type() {
            DataType::List(_) => lists::<i32>(array),
            DataType::LargeList(_) => lists::<i64>(array),
            DataType::Null => return Ok(nothing),
            other => anyhow::bail!("column {column} is {other}, which holds no lists"),
        };
        let words = items.as_struct_opt().and_then(|items| items.column_by_name(field));
        let words = words.with_context(|| format!("items of column {column} have no field {field}"))?;
        let words = Words::of(words).with_context(|| format!("{column}.{field} holds no words"))?;
        Ok(Self { rows, words: Some(words) })
    }

    pub(super) fn is_present(&self) -> bool {
        self.words.is_some()
    }

    /// The items of a row.
    pub(super) fn items(&self, row: usize) -> Option<Range<usize>> {
        self.rows[row].clone()
    }

    /// The word of an item.
    pub(super) fn word(&self, item: usize) -> Option<&str> {
        self.words.as_ref()?.word(item).ok()
    }
}

/// The items of each row, and the items.
fn lists<O: OffsetSizeTrait>(array: &ArrayRef) -> (Vec<Option<Range<usize>>>, &ArrayRef) {
    let lists = array.as_list::<O>();
    let ends = lists.value_offsets();
    let range = |row: usize| ends[row].as_usize()..ends[row + 1].as_usize();
    ((0..lists.len()).map(|row| lists.is_valid(row).then(|| range(row))).collect(), lists.values())
}

/// Whether the rows of a list column hold at least one item; none does where there is no such column.
pub(super) fn non_empty_lists(batch: &RecordBatch, name: &str) -> anyhow::Result<Vec<bool>> {
    let Some(array) = batch.column_by_name(name) else { return Ok(vec![false; batch.num_rows()]) };
    let holds_some = |row| {
        if array.is_null(row) {
            return Some(false);
        }
        let length = match array.data_type() {
            DataType::List(_) => array.as_list::<i32>().value_length(row).unsigned_abs() as usize,
            DataType::LargeList(_) => array.as_list::<i64>().value(row).len(),
            DataType::Null => 0,
            _ => return None,
        };
        Some(length > 0)
    };
    (0..batch.num_rows())
        .map(holds_some)
        .collect::<Option<_>>()
        .with_context(|| format!("column {name} is {}, which holds no lists", array.data_type()))
}

/// Whether a column stood in some, all or none of the batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Presence {
    with: bool,
    without: bool,
}

impl Presence {
    pub(super) fn note(&mut self, is_present: bool) {
        self.with |= is_present;
        self.without |= !is_present;
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.with |= other.with;
        self.without |= other.without;
    }

    /// Whether no batch had it; where there was no batch at all, nothing is missing.
    pub(super) fn is_missing(self) -> bool {
        self.without && !self.with
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{DictionaryArray, Int32Array, LargeStringArray, StringArray, StringViewArray};
    use arrow::datatypes::Int32Type;

    use super::*;

    #[track_caller]
    fn check(array: ArrayRef) {
        let batch = RecordBatch::try_from_iter_with_nullable([("word", array, true)]).unwrap();
        let words = Words::read(&batch, "word").unwrap();
        let read: Vec<_> = (0..batch.num_rows()).map(|row| words.word(row)).collect();
        assert_eq!(read, [Ok("full"), Err(Absence::NotKnown), Ok("none"), Ok("full")]);
        assert_eq!(words.code(0), words.code(3));
    }

    #[test]
    fn words_read_alike_in_every_layout() {
        let words = [Some("full"), None, Some("none"), Some("full")];
        check(Arc::new(StringArray::from(words.to_vec())));
        check(Arc::new(LargeStringArray::from(words.to_vec())));
        check(Arc::new(StringViewArray::from(words.to_vec())));
        check(Arc::new(words.into_iter().collect::<DictionaryArray<Int32Type>>()));
    }

    #[test]
    fn a_null_among_a_dictionarys_values_is_not_known() {
        let values = StringArray::from(vec![Some("full"), None, Some("none")]);
        let keys = Int32Array::from(vec![0, 1, 2, 0]);
        check(Arc::new(DictionaryArray::new(keys, Arc::new(values))));
    }

    #[test]
    fn a_dictionary_of_nulls_has_no_values() {
        let array: DictionaryArray<Int32Type> = [None::<&str>, None].into_iter().collect();
        let batch = RecordBatch::try_from_iter_with_nullable([("word", Arc::new(array) as ArrayRef, true)]).unwrap();
        assert_eq!(Words::read(&batch, "word").unwrap().word(1), Err(Absence::NotKnown));
        assert_eq!(Words::read(&batch, "other").unwrap().word(1), Err(Absence::NotInSnapshot));
    }

    #[test]
    fn a_column_of_another_type_is_an_error_that_names_it() {
        let array: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
        let batch = RecordBatch::try_from_iter([("outcome", array)]).unwrap();
        let error = Words::read(&batch, "outcome").err().unwrap();
        assert_eq!(error.to_string(), "column outcome is Int32, which holds no words");
    }
}
