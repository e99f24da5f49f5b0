//! What an unfinished snapshot already holds: read back from its whole parts, never from a position.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use arrow::array::{AsArray, StringArray};
use arrow::datatypes::{Int32Type, Int64Type};
use sha2::{Digest, Sha256};

use super::{Done, Manifest, Part, Snapshot, durable};
use crate::classify::row::Hex;
use crate::table::read_columns;

/// What an unfinished snapshot already holds.
pub(super) struct Found {
    pub(super) done: Done,
    pub(super) outcomes: BTreeMap<String, u64>,
    pub(super) parts: Vec<Part>,
    pub(super) next_part: u32,
}

impl Found {
    /// Reads the whole parts back; the manifest may be one part behind them.
    ///
    /// A part that is not what the manifest says of it, or that nobody speaks of and cannot be read, is torn: it is put
    /// aside, and its targets count as not asked.
    pub(super) fn read(snapshot: &Snapshot, run: &Path, earlier: Option<&Manifest>) -> anyhow::Result<Self> {
        let mut found = Self { done: Done::default(), outcomes: BTreeMap::new(), parts: Vec::new(), next_part: 0 };
        let paths = snapshot.parts()?;
        if earlier.is_none() && !paths.is_empty() {
            bail!("{} holds parts without a manifest, so what they are is not known", snapshot.data().display());
        }
        for path in paths {
            let file = path.file_name().and_then(|name| name.to_str()).context("a part has a plain name")?.to_owned();
            let number = file.strip_prefix("part-").and_then(|rest| rest.strip_suffix(".parquet")?.parse::<u32>().ok());
            let Some(number) = number else { bail!("{} is no part of this program's", path.display()) };
            found.next_part = found.next_part.max(number + 1);
            let known = earlier.and_then(|manifest| manifest.parts.iter().find(|part| part.file == file));
            let (bytes, sha256) = measure(&path)?;
            let is_known = known.is_some_and(|part| part.bytes == bytes && part.sha256 == sha256);
            let rows = match read_part(&path) {
                Ok(rows) if is_known || known.is_none() => rows,
                Err(error) if is_known => return Err(error),
                _ => {
                    put_aside_part(&path, run)?;
                    continue;
                }
            };
            found.take(&path, &rows)?;
            found.parts.push(Part { file, rows: rows.len() as u64, bytes, sha256 });
        }
        for part in earlier.into_iter().flat_map(|manifest| &manifest.parts) {
            if !snapshot.data().join(&part.file).is_file() {
                tracing::warn!(
                    "{} of {snapshot} is not there any more; its {} targets are asked again",
                    part.file,
                    part.rows
                );
            }
        }
        Ok(found)
    }

    fn take(&mut self, path: &Path, rows: &[StoredRow]) -> anyhow::Result<()> {
        for StoredRow { target, capture, outcome } in rows {
            ensure!(self.done.insert(*target, *capture), "{}: target {target} stands twice", path.display());
            match self.outcomes.get_mut(outcome) {
                Some(count) => *count += 1,
                None => drop(self.outcomes.insert(outcome.clone(), 1)),
            }
        }
        Ok(())
    }
}

/// What is read back of a row.
struct StoredRow {
    target: u32,
    capture: u32,
    outcome: String,
}

fn read_part(path: &Path) -> anyhow::Result<Vec<StoredRow>> {
    let missing = |name| format!("{} has no column {name}", path.display());
    let mut rows = Vec::new();
    for batch in read_columns(&[path.to_owned()], &["target_index", "capture_index", "outcome"]) {
        let batch = batch?;
        let column = |name| batch.column_by_name(name).with_context(|| missing(name));
        let targets = column("target_index")?;
        let targets = targets.as_primitive_opt::<Int64Type>().with_context(|| missing("target_index"))?;
        let captures = column("capture_index")?;
        let captures = captures.as_primitive_opt::<Int32Type>().with_context(|| missing("capture_index"))?;
        let words = column("outcome")?;
        let words = words.as_dictionary_opt::<Int32Type>().with_context(|| missing("outcome"))?;
        let words = words.downcast_dict::<StringArray>().with_context(|| missing("outcome"))?;
        for ((target, capture), word) in targets.values().iter().zip(captures.values()).zip(words) {
            let row = u32::try_from(*target).ok().zip(u32::try_from(*capture).ok());
            let (target, capture) = row.with_context(|| format!("{}: target {target}", path.display()))?;
            let outcome = word.with_context(|| format!("{}: target {target} without outcome", path.display()))?;
            rows.push(StoredRow { target, capture, outcome: outcome.to_owned() });
        }
    }
    Ok(rows)
}

/// Moves what a killed run left half-written out of the way; it is not read and not deleted.
pub(super) fn put_aside(run: &Path) -> anyhow::Result<()> {
    for path in durable::entries(&run.join("writing"))? {
        set_aside(&path, run)?;
    }
    Ok(())
}

fn put_aside_part(path: &Path, run: &Path) -> anyhow::Result<()> {
    let aside = set_aside(path, run)?;
    tracing::warn!(
        "{} is torn: it is not what was written; it is kept as {}, and its targets are asked again",
        path.display(),
        aside.display()
    );
    Ok(())
}

fn set_aside(path: &Path, run: &Path) -> anyhow::Result<PathBuf> {
    let torn = run.join("torn");
    durable::create_folder(&torn)?;
    let name = path.file_name().context("an entry of a folder has a name")?;
    let mut aside = torn.join(name);
    let mut again = 1;
    while aside.exists() {
        again += 1;
        let mut name = name.to_owned();
        name.push(format!(".{again}"));
        aside = torn.join(name);
    }
    fs::rename(path, &aside).with_context(|| format!("putting {} aside", path.display()))?;
    Ok(aside)
}

/// Size and SHA-256 of a file.
fn measure(path: &Path) -> anyhow::Result<(u64, String)> {
    let reading = || format!("reading {}", path.display());
    let mut hash = HashingSink(Sha256::new());
    let bytes = std::io::copy(&mut File::open(path).with_context(reading)?, &mut hash).with_context(reading)?;
    Ok((bytes, Hex(&hash.0.finalize()).to_string()))
}

struct HashingSink(Sha256);

impl std::io::Write for HashingSink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
