//! A table of answers: TSV, CSV or Parquet, with the same columns.

use std::io::Write;
use std::sync::Arc;

use anyhow::Context;
use arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray, StringDictionaryBuilder};
use arrow::datatypes::Int32Type;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::Answer;
use crate::classify::row::Restriction;
use crate::input::Case;
use crate::robots::By;
use crate::text::visible;

crate::words! {
    /// How answers are written.
    pub enum Format {
        /// Tab-separated, never quoted; what would break or steer as `\t`, `\xhh` or `\u{h}`.
        Tsv = "tsv",
        /// Comma-separated, quoted where needed; escapes as in TSV.
        Csv = "csv",
        /// Parquet, paths as they were given.
        Parquet = "parquet",
    }
}

/// A table of answers that is being written.
pub struct Answers {
    writer: Writer,
    with_restriction: bool,
}

type Out = Box<dyn Write + Send>;

enum Writer {
    Text(Box<csv::Writer<Out>>),
    Parquet { arrow: Box<ArrowWriter<Out>>, rows: Vec<(Case, Answer)> },
}

const NAMES: [&str; 8] = ["host", "agent", "path", "verdict", "line", "rule", "group", "outcome"];
const RESTRICTION: &str = "restriction";
/// Rows of a batch of Parquet.
const BATCH_ROWS: usize = 64 << 10;

impl Answers {
    /// Begins a table; with `with_restriction` the level of the agent on the host is one more column.
    pub fn new(format: Format, with_restriction: bool, out: Out) -> anyhow::Result<Self> {
        let writer = match format {
            Format::Tsv => Writer::text(b'\t', csv::QuoteStyle::Never, with_restriction, out)?,
            Format::Csv => Writer::text(b',', csv::QuoteStyle::Necessary, with_restriction, out)?,
            Format::Parquet => {
                let level = ZstdLevel::try_new(3).context("choosing the compression")?;
                let properties = WriterProperties::builder().set_compression(Compression::ZSTD(level)).build();
                let schema = batch(&[], with_restriction)?.schema();
                let arrow = ArrowWriter::try_new(out, schema, Some(properties)).context(WRITING)?;
                Writer::Parquet { arrow: Box::new(arrow), rows: Vec::new() }
            }
        };
        Ok(Self { writer, with_restriction })
    }

    /// Adds a row.
    pub fn push(&mut self, case: &Case, answer: &Answer) -> anyhow::Result<()> {
        match &mut self.writer {
            Writer::Text(csv) => {
                let cell = |text| visible(str::as_bytes(text));
                let line = answer.line.to_string();
                let (host, agent, path) = (cell(&case.host), cell(&case.agent), cell(&case.path));
                let rule = answer.rule.as_deref().unwrap_or_default();
                let group = answer.group.map_or("", By::word);
                let cells = [&host, &agent, &path, answer.verdict.word(), &line, rule, group, answer.outcome_word()];
                let restriction = answer.restriction.map_or("", Restriction::word);
                csv.write_record(cells.into_iter().chain(self.with_restriction.then_some(restriction))).context(WRITING)
            }
            Writer::Parquet { arrow, rows } => {
                rows.push((case.clone(), answer.clone()));
                if rows.len() < BATCH_ROWS {
                    return Ok(());
                }
                arrow.write(&batch(&std::mem::take(rows), self.with_restriction)?).context(WRITING)
            }
        }
    }

    /// Ends the table.
    pub fn finish(self) -> anyhow::Result<()> {
        match self.writer {
            Writer::Text(mut csv) => csv.flush().context(WRITING),
            Writer::Parquet { mut arrow, rows } => {
                arrow.write(&batch(&rows, self.with_restriction)?).context(WRITING)?;
                arrow.into_inner().context(WRITING)?.flush().context(WRITING)
            }
        }
    }
}

const WRITING: &str = "writing answers";

impl Writer {
    fn text(delimiter: u8, quotes: csv::QuoteStyle, with_restriction: bool, out: Out) -> anyhow::Result<Self> {
        let mut csv = csv::WriterBuilder::new().delimiter(delimiter).quote_style(quotes).from_writer(out);
        csv.write_record(NAMES.into_iter().chain(with_restriction.then_some(RESTRICTION))).context(WRITING)?;
        Ok(Self::Text(Box::new(csv)))
    }
}

/// The rows as a batch; an empty one has the schema of all.
fn batch(rows: &[(Case, Answer)], with_restriction: bool) -> anyhow::Result<RecordBatch> {
    let words = |word: &dyn Fn(&Case, &Answer) -> Option<String>| -> ArrayRef {
        let mut builder = StringDictionaryBuilder::<Int32Type>::new();
        for (case, answer) in rows {
            builder.append_option(word(case, answer));
        }
        Arc::new(builder.finish())
    };
    let texts = |text: &dyn Fn(&(Case, Answer)) -> Option<&str>| -> ArrayRef {
        Arc::new(rows.iter().map(text).collect::<StringArray>())
    };
    let lines: Int32Array = rows.iter().map(|(_, answer)| i32::try_from(answer.line).ok()).collect();
    let mut columns: Vec<(&str, ArrayRef, bool)> = vec![
        (NAMES[0], texts(&|(case, _)| Some(&case.host)), false),
        (NAMES[1], words(&|case, _| Some(case.agent.to_string())), false),
        (NAMES[2], texts(&|(case, _)| Some(&case.path)), false),
        (NAMES[3], words(&|_, answer| Some(answer.verdict.to_string())), false),
        (NAMES[4], Arc::new(lines), true),
        (NAMES[5], texts(&|(_, answer)| answer.rule.as_deref()), true),
        (NAMES[6], words(&|_, answer| answer.group.map(|group| group.to_string())), true),
        (NAMES[7], words(&|_, answer| Some(answer.outcome_word().to_owned())), false),
    ];
    if with_restriction {
        columns.push((RESTRICTION, words(&|_, answer| answer.restriction.map(|level| level.to_string())), true));
    }
    RecordBatch::try_from_iter_with_nullable(columns).context("turning answers into columns")
}
