//! `--since` and `--max-age`: from what was typed to what the crawl remembers of targets.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::cli::parse_duration;
use crate::crawl::{CrawlError, Remembers};
use crate::exclusions::Exclusions;
use crate::input::TargetList;
use crate::observation::{Observation, Response, Validators};
use crate::report::thousands;
use crate::snapshot::{Date, Earlier, Folder, Kinds, Plan, Since, SnapshotWriter, Wanted};

/// What is taken from an earlier snapshot.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What an earlier snapshot is good for")]
pub(super) struct SinceArgs {
    /// The snapshot of the folder to go back to: auto (the latest complete one from before this one's date), never, or a
    /// date
    ///
    /// A host whose answer came with an entity tag or a date of change is asked with it, and sends its file only if that has
    /// changed; else the bytes are taken from the earlier snapshot, and the column `body_source` says `not-modified`. How
    /// long a host has been unreachable, and its last good file, are known from there too.
    #[arg(long, value_name = "auto|never|DATE", default_value = "auto")]
    pub(super) since: Since,

    /// Do not ask at all for a file that the earlier snapshot has seen within this time; 24h where no time is given
    /// (RFC 9309, section 2.4)
    ///
    /// Such rows are copies, and the column `body_source` says `fresh`. Off by default: a daily series would copy itself.
    #[arg(long, value_name = "SPAN", num_args = 0..=1, default_missing_value = "24h", value_parser = parse_duration)]
    max_age: Option<Duration>,
}

impl SinceArgs {
    /// Seconds for which a file need not be asked for again.
    pub(super) fn max_age_s(&self) -> anyhow::Result<Option<u64>> {
        if self.since == Since::Never && self.max_age.is_some() {
            bail!("--max-age takes files from an earlier snapshot, and --since never allows none");
        }
        Ok(self.max_age.map(|age| age.as_secs()))
    }
}

/// Reads the earlier snapshot that a run of this plan and date goes back to, if it goes back to any.
///
/// Before the run's own folder is there, so that one that cannot be read leaves no trace of the run.
pub(super) fn go_back(
    folder: &Folder,
    date: Date,
    plan: &Plan,
    list: &TargetList,
    now: Timestamp,
) -> anyhow::Result<Option<Arc<Earlier>>> {
    let Some(snapshot) = SnapshotWriter::find_earlier(folder, date, plan)? else { return Ok(None) };
    let settings = plan.settings.as_ref().context("a survey's plan has settings")?;
    let index = list.index();
    let max_age = settings.max_age_s.map(|seconds| SignedDuration::from_secs(seconds.try_into().unwrap_or(i64::MAX)));
    let wanted = Wanted {
        targets: list.len(),
        index_of: &|name| index.find(name),
        max_body: usize::try_from(settings.max_body).unwrap_or(usize::MAX),
        fresh_from: max_age.map(|age| now.checked_sub(age).unwrap_or(Timestamp::MIN)),
        now,
    };
    Earlier::read(&snapshot, folder.root(), &wanted).map(Arc::new).map(Some)
}

/// Says what the earlier snapshot is good for.
pub(super) fn describe(earlier: &Earlier) -> String {
    let Kinds { fresh, conditional } = earlier.counts();
    let (fresh, conditional) = (thousands(fresh), thousands(conditional));
    format!("an earlier snapshot is at hand: {conditional} targets are asked with a condition, {fresh} not at all")
}

impl Remembers for Earlier {
    fn validators(&self, target: u32, url: &str) -> anyhow::Result<Option<Validators>> {
        self.validators(target, url)
    }

    fn answer(&self, target: u32) -> anyhow::Result<Response> {
        self.answer(target)?.context("the answer of a target with validators is not kept")
    }
}

/// Whether a target's file is taken from the earlier snapshot without asking; who must not be asked is told so instead.
pub(super) fn is_fresh(earlier: &Earlier, list: &TargetList, exclusions: &Exclusions, index: u32) -> bool {
    earlier.is_fresh(index) && !exclusions.hold_name(list.target(index).domain.as_str())
}

/// Sends the observations of targets that need not be asked, until it is told to stop.
pub(super) async fn send_fresh(
    earlier: &Earlier,
    list: &TargetList,
    fresh: impl Iterator<Item = u32>,
    sink: &mpsc::Sender<Observation>,
    stop: &CancellationToken,
) -> anyhow::Result<()> {
    for index in fresh {
        if stop.is_cancelled() {
            break;
        }
        let observation = earlier.observe_fresh(list.target(index))?;
        sink.send(observation).await.map_err(|_| CrawlError::SinkClosed)?;
    }
    Ok(())
}
