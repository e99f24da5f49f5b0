//! Rows → one whole part file.
//!
//! # Memory
//!
//! [`Table::write_part`] takes the rows by value and lets go of them piece by piece as they are encoded: a piece holds
//! at most 8 MiB of rows plus one row, and a row group is closed at 64 MiB of rows, so what the encoder adds to the
//! caller's rows is one piece, its Arrow copy, and compressed pages that replace rows already dropped.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use sha2::{Digest, Sha256};

use crate::classify::Row;
use crate::classify::row::NamedAgent;
use crate::classify::signals::Found;
use crate::table::Column;

/// Version of the table's schema; it moves when a column is added, renamed or changes its meaning.
pub const SCHEMA_VERSION: i32 = 3;

/// Version of this program.
pub const TOOL_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Rows are encoded in pieces of at most this many bytes, plus one row.
const PIECE_BYTES: usize = 8 << 20;

/// Rows of a piece; enough for the encoder to be at full speed.
const PIECE_ROWS: usize = 2_048;

/// Rows of a row group, in bytes before compression.
const ROW_GROUP_BYTES: usize = 64 << 20;

/// Rows of a row group.
const ROW_GROUP_ROWS: usize = 20_000;

/// Where a part's rows come from, written into each part's key-value metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// Version of the parser of robots.txt files.
    pub parser_version: String,
    /// The definition of restriction that the verdict columns follow.
    pub definition: String,
    /// The dialect of the parser.
    pub dialect: String,
    /// SHA-256 of the catalogue of agents, in hexadecimal.
    pub catalogue_sha256: String,
    /// SHA-256 of the list, in hexadecimal; nothing where an archive was read.
    pub list_sha256: Option<String>,
    /// The snapshot's date.
    pub date: String,
    /// Whether the web was a rehearsal, and the data therefore invented.
    pub is_rehearsal: bool,
}

/// The table of one snapshot: its columns for one panel, and what its parts say of themselves.
pub struct Table {
    columns: Vec<Column>,
    schema: SchemaRef,
    provenance: Provenance,
}

/// What a part came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Rows in it.
    pub rows: u64,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of the file.
    pub sha256: [u8; 32],
}

impl Table {
    /// The table for these columns; two columns of one name are an error, since no reader could tell them apart.
    pub fn new(columns: Vec<Column>, provenance: Provenance) -> anyhow::Result<Self> {
        let mut names: Vec<&str> = columns.iter().map(|column| column.name.as_ref()).collect();
        names.sort_unstable();
        if let Some((name, _)) = names.iter().zip(names.iter().skip(1)).find(|(name, next)| name == next) {
            anyhow::bail!("two columns are named {name}; two agents of the panel differ in punctuation only");
        }
        let schema = Arc::new(Schema::new(columns.iter().map(Column::field).collect::<Vec<_>>()));
        Ok(Self { columns, schema, provenance })
    }

    /// The Arrow schema, with each column's documentation.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The rows as one record batch, in their order.
    pub fn batch(&self, rows: &[Row]) -> anyhow::Result<RecordBatch> {
        let rows: Vec<&Row> = rows.iter().collect();
        let arrays = self.columns.iter().map(|column| column.array(&rows)).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), arrays).context("turning rows into columns")
    }

    /// Writes the rows, sorted by target, as a new file at `path`, and syncs it to the disk.
    ///
    /// A file already there is an error. On failure a torn file may stay at `path`; it is the caller's to judge.
    pub fn write_part(&self, path: &Path, number: u32, mut rows: Vec<Row>) -> anyhow::Result<Written> {
        let writing = || format!("writing {}", path.display());
        // In place: a row comes once, so that a stable sort's copy of all rows would keep nothing in order.
        rows.sort_unstable_by_key(|row| (row.observation.target.index, row.observation.capture_index));

        let file = File::create_new(path).with_context(writing)?;
        let hashed = Hashed { file, sha256: Sha256::new(), bytes: 0 };
        let schema = Arc::clone(&self.schema);
        let mut encoder = ArrowWriter::try_new(BufWriter::new(hashed), schema, Some(self.properties(number)?))
            .with_context(writing)?;
        let mut written = 0;
        let mut group_bytes = 0;
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let mut piece = Vec::new();
            let mut piece_bytes = 0;
            while piece.len() < PIECE_ROWS
                && let Some(row) = rows.next_if(|row| piece.is_empty() || piece_bytes + weight(row) <= PIECE_BYTES)
            {
                piece_bytes += weight(&row);
                piece.push(row);
            }
            if group_bytes > 0 && group_bytes + piece_bytes > ROW_GROUP_BYTES {
                encoder.flush().with_context(writing)?;
                group_bytes = 0;
            }
            encoder.write(&self.batch(&piece)?).with_context(writing)?;
            group_bytes += piece_bytes;
            written += piece.len() as u64;
        }
        let buffered = encoder.into_inner().with_context(writing)?;
        let hashed = buffered.into_inner().map_err(io::IntoInnerError::into_error).with_context(writing)?;
        hashed.file.sync_all().with_context(writing)?;
        Ok(Written { rows: written, bytes: hashed.bytes, sha256: hashed.sha256.finalize().into() })
    }

    fn properties(&self, part: u32) -> anyhow::Result<WriterProperties> {
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3).context("choosing the compression")?))
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .set_sorting_columns(Some(vec![SortingColumn { column_idx: 0, descending: false, nulls_first: false }]))
            .set_key_value_metadata(Some(self.metadata(part)));
        for field in self.schema.fields() {
            let path = ColumnPath::from(field.name().as_str());
            match field.data_type() {
                // Bodies and hashes hardly repeat within a part: a dictionary would be built and thrown away.
                arrow::datatypes::DataType::Binary => {
                    properties = properties
                        .set_column_dictionary_enabled(path.clone(), false)
                        .set_column_statistics_enabled(path, EnabledStatistics::None);
                }
                arrow::datatypes::DataType::FixedSizeBinary(_) => {
                    properties = properties.set_column_dictionary_enabled(path, false);
                }
                _ => {}
            }
        }
        Ok(properties.build())
    }

    fn metadata(&self, part: u32) -> Vec<KeyValue> {
        let provenance = &self.provenance;
        let pair = |key: &str, value: &str| KeyValue::new(format!("survey.{key}"), value.to_owned());
        let mut pairs = vec![
            pair("schema_version", &SCHEMA_VERSION.to_string()),
            pair("tool_version", TOOL_VERSION),
            pair("parser_version", &provenance.parser_version),
            pair("definition", &provenance.definition),
            pair("dialect", &provenance.dialect),
            pair("catalogue_sha256", &provenance.catalogue_sha256),
            pair("date", &provenance.date),
            pair("rehearsal", &provenance.is_rehearsal.to_string()),
            pair("part", &part.to_string()),
        ];
        pairs.extend(provenance.list_sha256.as_deref().map(|sha256| pair("list_sha256", sha256)));
        pairs
    }
}

/// What a row holds in memory, about: the measure by which buffers of rows are bounded.
pub fn weight(row: &Row) -> usize {
    let mut bytes = size_of::<Row>();
    if let Some(response) = row.observation.response() {
        bytes += response.body.len();
        bytes += response.headers.iter().map(|(name, value)| 48 + name.len() + value.len()).sum::<usize>();
    }
    if let Some(asking) = &row.observation.asking {
        bytes += asking.hops.iter().map(|hop| size_of_val(hop) + hop.url.len()).sum::<usize>();
    }
    if let Some(reading) = &row.reading {
        bytes += reading.sitemaps.iter().map(|value| 24 + value.len()).sum::<usize>();
        bytes += reading.other_records.iter().map(|(key, _)| 32 + key.len()).sum::<usize>();
        bytes += reading.named_agents.iter().map(named_weight).sum::<usize>();
    }
    if let Some(signals) = &row.signals {
        bytes += signals.iter().map(signal_weight).sum::<usize>();
    }
    if let Some(judgement) = &row.judgement {
        bytes += size_of_val(judgement.panel.as_slice());
    }
    bytes
}

fn named_weight(agent: &NamedAgent) -> usize {
    size_of_val(agent) + agent.token.len() + agent.as_written.len()
}

fn signal_weight(signal: &Found) -> usize {
    let texts = [&signal.path, &signal.key, &signal.value];
    let texts: usize = texts.iter().filter_map(|text| text.as_ref()).map(String::len).sum();
    size_of_val(signal) + signal.scope.text().len() + texts
}

/// A file that hashes and counts what is written to it.
struct Hashed {
    file: File,
    sha256: Sha256,
    bytes: u64,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.sha256.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
