//! Stored rows, judged again: the same bytes under another catalogue, definition or dialect, offline.
//!
//! # Memory
//!
//! A batch of rows for each thread and a few that wait, whatever the snapshot's size.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use super::Grounds;
use super::observed::{COLUMNS, Recalled, recall};
use crate::classify::{Classifier, Look, Row};
use crate::table::read_columns;

/// Judges every row of these parts again and gives it to `take`, which is called by this thread alone.
///
/// Rows of one part come in their order; parts are shared out to as many threads as there are cores, so theirs mingle.
///
/// Under the same catalogue, definition and dialect the rows have the same columns as the stored ones.
pub fn rejudge(
    parts: &[PathBuf],
    classifier: &Classifier,
    take: &mut dyn FnMut(Row) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let next_part = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel::<anyhow::Result<Vec<Row>>>(cores);
        for _ in 0..cores.min(parts.len()) {
            let (sender, next_part) = (sender.clone(), &next_part);
            scope.spawn(move || {
                while let Some(part) = parts.get(next_part.fetch_add(1, Ordering::Relaxed)) {
                    for rows in rejudge_part(part, classifier) {
                        // Nobody takes any more once something has failed.
                        if sender.send(rows).is_err() {
                            return;
                        }
                    }
                }
            });
        }
        drop(sender);
        receiver.into_iter().try_for_each(|rows| rows?.into_iter().try_for_each(&mut *take))
    })
}

/// Judges the rows of one part again, batch by batch, in their order.
pub fn rejudge_part<'a>(
    part: &'a PathBuf,
    classifier: &'a Classifier,
) -> impl Iterator<Item = anyhow::Result<Vec<Row>>> + 'a {
    let grounds = Grounds::of_part(part);
    let (is_same, failure) = match grounds {
        Ok(grounds) => (grounds == Some(Grounds::of(classifier)), None),
        Err(error) => (false, Some(Err(error))),
    };
    // A part that cannot be opened says so once.
    let batches = if failure.is_some() { &[][..] } else { slice::from_ref(part) };
    let rows = read_columns(batches, COLUMNS).map(move |batch| judge(&batch?, part, classifier, is_same));
    failure.into_iter().chain(rows)
}

fn judge(
    batch: &arrow::array::RecordBatch,
    part: &Path,
    classifier: &Classifier,
    is_same: bool,
) -> anyhow::Result<Vec<Row>> {
    let judge = |recalled: Recalled| {
        let Recalled { observation, looks, .. } = recalled;
        let mut row = classifier.classify(observation);
        row.looks = looks;
        if !is_same {
            let sha256 = row.body.as_ref().map(|body| body.sha256);
            row.looks.iter_mut().for_each(|look| forget(look, sha256));
        }
        row
    };
    Ok(recall(batch, part)?.into_iter().map(judge).collect())
}

/// The bytes of an extra look are not kept, so whether they would now be judged as the row's is known only where they
/// are the same.
fn forget(look: &mut Look, sha256: Option<[u8; 32]>) {
    if look.has_changed_verdicts.is_some() {
        look.has_changed_verdicts = (look.body_sha256.is_some() && look.body_sha256 == sha256).then_some(false);
    }
}
