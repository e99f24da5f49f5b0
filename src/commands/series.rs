//! `survey --domains LIST --every SPAN`: one survey after the other, in one process.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{bail, ensure};
use clap::Args;
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::survey::{self, Before, INTERRUPTED, SurveyArgs, look_before, watch_signals};
use crate::cli::Output;
use crate::progress::Progress;
use crate::series::{Ending, Every, Moment, News, Past, repeat};

/// The series that a survey is a part of.
#[derive(Args, Clone, Debug)]
pub(super) struct SeriesArgs {
    /// Survey again and again in this process: daily, weekly, monthly, or a span such as 7d, from the beginning of a run
    /// to that of the next
    ///
    /// Each run is a snapshot of its own date, and reads list and catalogue anew. Started again, it waits for its next
    /// slot or goes on with the run that was cut off. A slot that passed while the machine slept or was off is made up
    /// for at once, by one run; one that passed while a run still went on is passed over. A run that fails is reported
    /// and tried again a quarter of an hour later. It ends on Ctrl-C or SIGTERM. (`survey schedule` has systemd, cron or
    /// Kubernetes do it instead.)
    #[arg(long, value_name = "SPAN", conflicts_with = "date")]
    pub(super) every: Option<Every>,
}

/// Asking the real web more often than this is no survey.
const OFTEN: SignedDuration = SignedDuration::from_hours(1);

pub(super) async fn run(every: Every, mut args: SurveyArgs, output: &Output) -> anyhow::Result<ExitCode> {
    ensure!(
        args.rehearse.is_some() || every.at_least() >= OFTEN,
        "{every} is too often: servers are not asked again within an hour"
    );
    ensure!(!reads_standard_input(&args), "a series reads the list before each run, so it must be a file");
    args.destination.again = true;
    args.resume_within.get_or_insert(Duration::try_from(every.at_least())?);

    let zero = Instant::now();
    let clocks = || Moment {
        wall: Timestamp::now(),
        steady: SignedDuration::try_from(zero.elapsed()).unwrap_or(SignedDuration::MAX),
    };
    // What is wrong at the start is said to the person who is still there.
    let before = look_before(&args)?;
    let past = match before {
        Before { unfinished: Some((manifest, true)), .. } => {
            bail!("another run is writing the snapshot of {}", manifest.date)
        }
        Before { unfinished: Some((manifest, false)), .. } => Some(Past::cut_off(manifest.started, clocks())),
        Before { complete: Some(manifest), .. } => {
            Some(Past::finished(manifest.started, manifest.ended.unwrap_or(manifest.started), clocks()))
        }
        Before { complete: None, .. } => None,
    };
    let stop = CancellationToken::new();
    let watching = tokio::spawn(watch_signals(stop.clone()));
    let progress = if output.quiet { Progress::silent() } else { Progress::new() };
    if let Some(past) = past.filter(|past| past.is_finished) {
        note_wait(&progress, past.rest(every).saturating_sub(clocks().since(past.ended)));
    }
    let mut has_begun = past.is_some();
    let mut never_begun = None;
    let one = async || {
        let ended = survey::run(args.clone(), output, Some(&stop)).await;
        match ended {
            Ok(ExitCode::SUCCESS) => {}
            Ok(_) => return Ok(Ending::Stopped),
            Err(error) if has_begun || look_before(&args)?.unfinished.is_some() => {
                has_begun = true;
                return Err(error);
            }
            Err(error) => {
                never_begun = Some(error);
                return Ok(Ending::Stopped);
            }
        }
        has_begun = true;
        Ok(Ending::Finished)
    };
    let tell = |news: News<'_>| match news {
        News::Failed(error, rest) => {
            super::complain(error);
            tracing::warn!("the run failed; the series goes on, and it is tried again in {rest:#}");
        }
        News::Overran => tracing::warn!("the run took longer than {every} allows, so a slot passed while it went on"),
        News::Waits(rest) => note_wait(&progress, rest),
    };
    repeat(every, past, clocks, &stop, one, tell).await;
    watching.abort();
    match never_begun {
        Some(error) => Err(error),
        None => Ok(ExitCode::from(INTERRUPTED)),
    }
}

/// Whether the list comes from standard input, which can be read once only.
pub(super) fn reads_standard_input(args: &SurveyArgs) -> bool {
    args.domains.as_deref().is_some_and(|path| path.as_os_str() == "-")
}

fn note_wait(progress: &Progress, rest: SignedDuration) {
    if rest.is_positive()
        && let Ok(due) = Timestamp::now().checked_add(rest)
    {
        progress.note(&format!("the next run begins at {}", due.strftime("%F %R UTC")));
    }
}
