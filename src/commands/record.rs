//! The one writer of a run: it takes observations, judges them, and owns every batch, tally and file.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, anyhow};
use tokio::sync::{mpsc, watch};

use super::opted_out::OptedOut;
use crate::classify::Classifier;
use crate::observation::Observation;
use crate::progress::ByClass;
use crate::snapshot::SnapshotWriter;

/// Observations that the writer takes together.
const LOT: usize = 64;
/// How long the writer rests after a lot that was not full, so that it is not woken for each row; the channel holds what
/// comes meanwhile.
const REST: Duration = Duration::from_millis(5);

/// Rows that the writer has taken.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) rows: u64,
    pub(super) by_class: ByClass,
}

/// The writer at work on a thread of its own, so that a slow disk slows the crawl and nothing else.
pub(super) struct Recording {
    thread: JoinHandle<anyhow::Result<Recorded>>,
}

/// The writer when no more observations come.
pub(super) struct Recorded {
    pub(super) writer: SnapshotWriter,
    /// What the classifier's first panic said, and how many there were; their targets have no row.
    pub(super) panics: Option<(String, u64)>,
}

impl Recording {
    /// Starts to take observations, until their sender is dropped.
    pub(super) fn start(
        mut writer: SnapshotWriter,
        classifier: Classifier,
        mut opted_out: Option<OptedOut>,
        mut source: mpsc::Receiver<Observation>,
        tally: watch::Sender<Tally>,
    ) -> anyhow::Result<Self> {
        let work = move || {
            let mut panics: Option<(String, u64)> = None;
            let mut lot = Vec::with_capacity(LOT);
            while source.blocking_recv_many(&mut lot, LOT) > 0 {
                let is_full = lot.len() == LOT;
                for observation in lot.drain(..) {
                    let domain = observation.target.domain.clone();
                    let Ok(row) = catch_unwind(AssertUnwindSafe(|| classifier.classify(observation))) else {
                        tracing::error!("a defect of this program cost {domain} its row");
                        panics.get_or_insert_with(|| (domain.to_string(), 0)).1 += 1;
                        continue;
                    };
                    if let Some(opted_out) = &mut opted_out {
                        opted_out.note(&row)?;
                    }
                    let class = row.outcome.class();
                    writer.push(row)?;
                    tally.send_modify(|tally| {
                        tally.rows += 1;
                        tally.by_class.count(class);
                    });
                }
                if !is_full {
                    thread::sleep(REST);
                }
            }
            Ok(Recorded { writer, panics })
        };
        let thread = thread::Builder::new().name("writer".to_owned()).spawn(work).context("starting the writer")?;
        Ok(Self { thread })
    }

    /// Waits until everything that was sent is taken.
    ///
    /// # Deadlocks
    ///
    /// Blocks until the sender of observations is dropped.
    pub(super) fn join(self) -> anyhow::Result<Recorded> {
        self.thread.join().map_err(|_| anyhow!("the writer panicked; whole parts are kept"))?
    }
}
