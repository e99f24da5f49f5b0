//! What an unfinished snapshot already holds: read back from its whole parts, never from a position.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

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
    pub(super) fn read(snapshot: &Snapshot, earlier: Option<&Manifest>) -> anyhow::Result<Self> {
        let mut found = Self { done: Done::default(), outcomes: BTreeMap::new(), parts: Vec::new(), next_part: 0 };
        for path in snapshot.parts()? {
            let file = path.file_name().and_then(|name| name.to_str()).context("a part has a plain name")?.to_owned();
            let number = file.strip_prefix("part-").and_then(|rest| rest.strip_suffix(".parquet")?.parse::<u32>().ok());
            let Some(number) = number else { bail!("{} is no part of this program's", path.display()) };
            let before = found.done.len();
            found.read_part(&path)?;
            let rows = found.done.len() - before;
            let known = earlier.and_then(|manifest| manifest.parts.iter().find(|part| part.file == file));
            found.parts.push(match known {
                Some(part) => part.clone(),
                None => measure(&path, file, rows)?,
            });
            found.next_part = found.next_part.max(number + 1);
        }
        if earlier.is_none() && !found.parts.is_empty() {
            bail!("{} holds parts without a manifest, so what they are is not known", snapshot.data().display());
        }
        Ok(found)
    }

    fn read_part(&mut self, path: &Path) -> anyhow::Result<()> {
        let missing = |name| format!("{} has no column {name}", path.display());
        for batch in read_columns(&[path.to_owned()], &["target_index", "capture_index", "outcome"]) {
            let batch = batch?;
            let column = |name| batch.column_by_name(name).with_context(|| missing(name));
            let targets = column("target_index")?;
            let targets = targets.as_primitive_opt::<Int64Type>().with_context(|| missing("target_index"))?;
            let captures = column("capture_index")?;
            let captures = captures.as_primitive_opt::<Int32Type>().with_context(|| missing("capture_index"))?;
            for (target, capture) in targets.values().iter().zip(captures.values()) {
                let row = u32::try_from(*target).ok().zip(u32::try_from(*capture).ok());
                let (target, capture) = row.with_context(|| format!("{}: target {target}", path.display()))?;
                ensure!(self.done.insert(target, capture), "{}: target {target} stands twice", path.display());
            }
            let words = column("outcome")?;
            let words = words.as_dictionary_opt::<Int32Type>().with_context(|| missing("outcome"))?;
            let words = words.downcast_dict::<StringArray>().with_context(|| missing("outcome"))?;
            for word in words.into_iter().flatten() {
                *self.outcomes.entry(word.to_owned()).or_default() += 1;
            }
        }
        Ok(())
    }
}

/// Moves what a killed run left half-written out of the way; it is not read and not deleted.
pub(super) fn put_aside(run: &Path) -> anyhow::Result<()> {
    let torn = run.join("torn");
    for path in durable::entries(&run.join("writing"))? {
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
        fs::rename(&path, &aside).with_context(|| format!("putting {} aside", path.display()))?;
    }
    Ok(())
}

fn measure(path: &Path, file: String, rows: u64) -> anyhow::Result<Part> {
    let reading = || format!("reading {}", path.display());
    let mut hash = HashingSink(Sha256::new());
    let bytes = std::io::copy(&mut File::open(path).with_context(reading)?, &mut hash).with_context(reading)?;
    Ok(Part { file, rows, bytes, sha256: Hex(&hash.0.finalize()).to_string() })
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
