//! A list in a Parquet file: the columns that a header of text would name, batch by batch.
//!
//! Text may be strings of any width, bytes, or a dictionary of them; ranks and weights may be numbers of any kind, or
//! text. An empty or missing rank, weight or stratum is none, as in CSV; a row without a host is rejected.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Context, Error, bail};
use arrow::array::{Array, ArrayRef, AsArray, Float64Array, LargeStringArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use arrow::util::display::array_value_to_string;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::columns::{DOMAIN_NAMES, Places};
use super::intake::{Intake, Said};
use super::list::TargetList;
use super::read::{LineFault, ListOptions, Reason, read_rank, read_weight};
use super::source::sha256;

/// Reads the rows of a file; the number of a rejected one is its place among all, from 1.
pub(super) fn read(mut file: File, options: &ListOptions, mut intake: Intake<'_>) -> anyhow::Result<TargetList> {
    let sha256 = sha256(&mut file)?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).context("it is no whole Parquet file")?;
    let names: Vec<String> = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
    let Some(places) = Places::find(&names, options.weight_column.as_deref())? else {
        bail!("none of its columns is called {}; they are {}", DOMAIN_NAMES.join(", "), names.join(", "));
    };
    let Places { domain, rank, weight, stratum } = places;
    let wanted = [Some(domain), rank, weight, stratum].into_iter().flatten();
    let mask = ProjectionMask::roots(builder.parquet_schema(), wanted);
    let mut number = 0;
    let mut batches = builder.with_projection(mask).build()?;
    // A page damaged in some ways makes the library panic; to the person it is a damaged file all the same.
    let mut next = || match catch_unwind(AssertUnwindSafe(|| batches.next())) {
        Ok(batch) => batch.transpose().map_err(Error::from),
        Err(_) => bail!("it is damaged"),
    };
    while let Some(batch) = next().with_context(|| format!("after row {number}"))? {
        let columns = Columns::open(&batch, places)?;
        for row in 0..batch.num_rows() {
            number += 1;
            let taken = match columns.said(row) {
                Ok(said) => intake.take(said)?,
                Err(reason) => Err(reason),
            };
            if let Err(reason) = taken {
                intake.reject(number, show(&batch, row).as_bytes(), reason);
            }
        }
    }
    intake.finish(sha256)
}

/// The columns of one batch that say something of hosts.
struct Columns {
    host: Texts,
    rank: Option<Numbers>,
    weight: Option<Numbers>,
    stratum: Option<Texts>,
}

impl Columns {
    /// Takes the columns of a batch that holds these and no others, in the order of the file.
    fn open(batch: &RecordBatch, places: Places) -> anyhow::Result<Self> {
        let Places { domain, rank, weight, stratum } = places;
        let mut kept: Vec<usize> = [Some(domain), rank, weight, stratum].into_iter().flatten().collect();
        kept.sort_unstable();
        kept.dedup();
        let column = |place: usize| {
            batch.column(kept.binary_search(&place).expect("every place is kept and sorted among the others"))
        };
        Ok(Self {
            host: Texts::open(column(domain))?,
            rank: rank.map(|place| Numbers::open(column(place))).transpose().context("reading the ranks")?,
            weight: weight.map(|place| Numbers::open(column(place))).transpose().context("reading the weights")?,
            stratum: stratum.map(|place| Texts::open(column(place))).transpose().context("reading the strata")?,
        })
    }

    fn said(&self, row: usize) -> Result<Said<'_>, Reason> {
        let host = self.host.get(row)?.ok_or(Reason::Line(LineFault::NoColumn))?;
        let rank = self.rank.as_ref().map_or(Ok(None), |ranks| ranks.rank(row));
        let weight = self.weight.as_ref().map_or(Ok(None), |weights| weights.weight(row));
        let stratum = self.stratum.as_ref().map_or(Ok(None), |strata| strata.get(row))?;
        Ok(Said { host, rank, weight, stratum })
    }
}

/// A column read as text.
struct Texts {
    texts: LargeStringArray,
    /// The column itself where it holds bytes, which may be no text.
    bytes: Option<ArrayRef>,
}

impl Texts {
    fn open(column: &ArrayRef) -> anyhow::Result<Self> {
        let texts = cast(column, &DataType::LargeUtf8)?.as_string::<i64>().clone();
        let bytes = column.data_type().is_binary().then(|| ArrayRef::clone(column));
        Ok(Self { texts, bytes })
    }

    fn get(&self, row: usize) -> Result<Option<&str>, Reason> {
        if self.texts.is_valid(row) {
            return Ok(Some(self.texts.value(row).trim()).filter(|text| !text.is_empty()));
        }
        match &self.bytes {
            Some(bytes) if bytes.is_valid(row) => Err(Reason::Line(LineFault::NotUtf8)),
            _ => Ok(None),
        }
    }
}

/// A column of numbers, or of texts that should be.
enum Numbers {
    Texts(Texts),
    Numbers(Float64Array),
}

impl Numbers {
    fn open(column: &ArrayRef) -> anyhow::Result<Self> {
        let kind = match column.data_type() {
            DataType::Dictionary(_, values) => values,
            kind => kind,
        };
        if kind.is_string() || kind.is_binary() {
            return Ok(Self::Texts(Texts::open(column)?));
        }
        Ok(Self::Numbers(cast(column, &DataType::Float64)?.as_primitive::<Float64Type>().clone()))
    }

    fn rank(&self, row: usize) -> Result<Option<u32>, Reason> {
        match self {
            Self::Texts(texts) => texts.get(row)?.map(read_rank).transpose(),
            // A whole number is written without a point, so that the text tells whether it is one.
            Self::Numbers(numbers) => {
                numbers.is_valid(row).then(|| read_rank(&numbers.value(row).to_string())).transpose()
            }
        }
    }

    fn weight(&self, row: usize) -> Result<Option<f64>, Reason> {
        match self {
            Self::Texts(texts) => texts.get(row)?.map(read_weight).transpose(),
            Self::Numbers(numbers) => Ok(numbers.is_valid(row).then(|| numbers.value(row))),
        }
    }
}

/// A row for a person, as CSV would have it.
fn show(batch: &RecordBatch, row: usize) -> String {
    let fields = batch.columns().iter().map(|column| array_value_to_string(column, row).unwrap_or_default());
    fields.collect::<Vec<_>>().join(",")
}
