//! Input lines that were not surveyed: `rejected.csv` with line, text and reason.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::durable;

/// Characters of a rejected line that are kept; enough to find it, and no more of what may be garbage.
const KEPT: usize = 200;

/// Writes `rejected.csv`; it has its final name once [`finish`](Self::finish) returns.
pub struct RejectedWriter {
    csv: csv::Writer<File>,
    fresh: PathBuf,
    path: PathBuf,
}

impl RejectedWriter {
    pub(super) fn create(fresh: PathBuf, path: PathBuf) -> anyhow::Result<Self> {
        let file = File::create(&fresh).with_context(|| writing(&fresh))?;
        let mut csv = csv::Writer::from_writer(file);
        csv.write_record(["line", "text", "reason"]).with_context(|| writing(&fresh))?;
        Ok(Self { csv, fresh, path })
    }

    /// Adds a line of the input, from 1, with the word that says why it was not surveyed.
    pub fn push(&mut self, line: u64, text: &str, reason: &str) -> anyhow::Result<()> {
        let record = [&line.to_string(), &readable(text), reason];
        self.csv.write_record(record).with_context(|| writing(&self.fresh))
    }

    /// Syncs the file and gives it its final name.
    pub fn finish(self) -> anyhow::Result<()> {
        let Self { csv, fresh, path } = self;
        let file = csv.into_inner().map_err(csv::IntoInnerError::into_error).with_context(|| writing(&fresh))?;
        file.sync_all().with_context(|| writing(&fresh))?;
        drop(file);
        durable::publish(&fresh, &path)
    }
}

/// Control characters escaped, the end cut, so that any line is safe to look at.
fn readable(text: &str) -> String {
    let mut readable = String::new();
    for (place, c) in text.chars().enumerate() {
        if place == KEPT {
            readable.push('…');
            break;
        }
        if c.is_control() { readable.extend(c.escape_default()) } else { readable.push(c) }
    }
    readable
}

fn writing(path: &Path) -> String {
    format!("writing {}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garbage_becomes_short_and_printable() {
        assert_eq!(readable("exam\u{7}ple\t\u{1b}[31m, \"x\""), "exam\\u{7}ple\\t\\u{1b}[31m, \"x\"");
        assert_eq!(readable(&"ä".repeat(1000)).chars().count(), KEPT + 1);
    }
}
