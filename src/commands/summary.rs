//! The summary that a run ends with, read back from the snapshot it wrote.

use std::io::{self, BufWriter, Write};

use anyhow::Context;

use crate::classify::definitions::Definition;
use crate::cli::Output;
use crate::report::{Format, Heading, write};
use crate::snapshot::{Manifest, Snapshot};
use crate::stats::summarise;

/// Prints what a complete snapshot says.
pub(super) fn print(snapshot: &Snapshot, list: &str, manifest: &Manifest, output: &Output) -> anyhow::Result<()> {
    let answers = summarise(&snapshot.parts()?)?;
    let definition = Definition::named(&manifest.plan.definition);
    let heading = Heading {
        list: list.to_owned(),
        date: manifest.date.to_string(),
        definition: manifest.plan.definition.clone(),
        definition_says: definition.map_or_else(String::new, |definition| definition.doc.to_owned()),
        dialect: manifest.plan.dialect.clone(),
        is_rehearsal: manifest.plan.rehearsal.is_some(),
    };
    let format = if output.json { Format::Json } else { Format::Summary };
    let mut out = BufWriter::new(io::stdout().lock());
    write(format, &heading, &answers, &mut out)
        .and_then(|()| out.flush())
        .context("writing the summary to standard output")
}
