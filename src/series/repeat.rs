//! The series itself: one run after the other, in one process.

use jiff::SignedDuration;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{Every, Moment, Past, Step};

/// How a run ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Its snapshot is complete.
    Finished,
    /// Somebody asked it to stop.
    Stopped,
}

/// What happened in a series.
#[derive(Debug)]
pub enum News<'a> {
    /// A run failed; it is tried again after this time.
    Failed(&'a anyhow::Error, SignedDuration),
    /// A run took longer than the period, so that a slot passed while it went on.
    Overran,
    /// The next run begins after this time.
    Waits(SignedDuration),
}

/// Runs at once unless the last run says otherwise, and then whenever a run is due, until it is asked to stop.
///
/// Runs follow one another, so there is never a second one while one goes on. A run that fails is reported and tried
/// again: a fault of one night must not end a series of years without a sound.
pub async fn repeat(
    every: Every,
    mut past: Option<Past>,
    clocks: impl Fn() -> Moment,
    stop: &CancellationToken,
    mut run: impl AsyncFnMut() -> anyhow::Result<Ending>,
    mut tell: impl FnMut(News<'_>),
) {
    while !stop.is_cancelled() {
        let now = clocks();
        if let Step::Sleep(span) = Step::of(every, past.as_ref(), now) {
            tokio::select! {
                () = stop.cancelled() => {}
                () = sleep(span) => {}
            }
            continue;
        }
        // A run that is tried again keeps its beginning, so that its next slot stays where it was.
        let tried = past.filter(|past| !past.is_finished);
        let began = tried.map(|past| past.began).filter(|began| now.since(*began) < every.slot(began.wall, 1));
        let began = began.unwrap_or(now);
        let ended = run().await;
        let last = Past { began, ended: clocks(), is_finished: ended.is_ok() };
        let rest = last.rest(every);
        match &ended {
            Ok(Ending::Stopped) => return,
            Ok(Ending::Finished) if last.ended.since(began) > every.slot(began.wall, 1) => tell(News::Overran),
            Ok(Ending::Finished) => {}
            Err(error) => tell(News::Failed(error, rest)),
        }
        if ended.is_ok() {
            tell(News::Waits(rest));
        }
        past = Some(last);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::time::Duration;

    use anyhow::bail;
    use jiff::Timestamp;
    use tokio::time::Instant;

    use super::*;

    /// A world whose clocks the test sets; it keeps the hour, by the wall clock, at which each run began.
    struct World {
        zero: Instant,
        /// How far the wall clock is before the steady one, in hours.
        ahead: Cell<i64>,
        begun: RefCell<Vec<i64>>,
        told: RefCell<Vec<String>>,
        stop: CancellationToken,
    }

    impl World {
        fn new() -> Self {
            Self {
                zero: Instant::now(),
                ahead: Cell::new(0),
                begun: RefCell::default(),
                told: RefCell::default(),
                stop: CancellationToken::new(),
            }
        }

        fn now(&self) -> Moment {
            let steady = SignedDuration::try_from(self.zero.elapsed()).unwrap();
            let zero: Timestamp = "2026-11-30T03:00:00Z".parse().unwrap();
            Moment { wall: zero + steady + SignedDuration::from_hours(self.ahead.get()), steady }
        }

        fn hour(&self) -> i64 {
            let zero: Timestamp = "2026-11-30T03:00:00Z".parse().unwrap();
            (self.now().wall.duration_since(zero).as_secs() + 1800).div_euclid(3600)
        }

        /// Runs a weekly series; each run does what the next of `runs` says, and the last one asks it to stop.
        async fn weekly(&self, mut runs: Vec<Run>) {
            runs.reverse();
            let run = async || {
                self.begun.borrow_mut().push(self.hour());
                let run = runs.pop().unwrap();
                if runs.is_empty() {
                    self.stop.cancel();
                }
                match run {
                    Takes(hours) => sleep(hour(hours)).await,
                    Fails(hours) => {
                        sleep(hour(hours)).await;
                        bail!("no space left")
                    }
                    ClockSet(hours) => self.ahead.set(self.ahead.get() + hours),
                }
                Ok(Ending::Finished)
            };
            let tell = |news: News<'_>| {
                let text = match news {
                    News::Failed(error, rest) => format!("{error}, again in {rest:#}"),
                    News::Overran => "overran".to_owned(),
                    News::Waits(_) => return,
                };
                self.told.borrow_mut().push(format!("{}: {text}", self.hour()));
            };
            repeat(Every::Week, None, || self.now(), &self.stop, run, tell).await;
        }

        /// After so many hours of the steady clock the wall clock is set, or has gone on without it.
        async fn set_after(&self, hours: u64, ahead: i64) {
            sleep(hour(hours)).await;
            self.ahead.set(self.ahead.get() + ahead);
        }

        fn begun(&self) -> Vec<i64> {
            self.begun.borrow().clone()
        }
    }

    enum Run {
        Takes(u64),
        Fails(u64),
        ClockSet(i64),
    }
    use Run::{ClockSet, Fails, Takes};

    fn hour(hours: u64) -> Duration {
        Duration::from_secs(hours * 3600)
    }

    #[tokio::test(start_paused = true)]
    async fn a_series_keeps_its_hour() {
        let world = World::new();
        world.weekly(vec![Takes(5), Takes(100), Takes(1), Takes(0)]).await;
        assert_eq!(world.begun(), [0, 168, 336, 504]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_night_of_four_weeks_costs_the_runs_of_that_time_and_is_followed_by_one_at_once() {
        let world = World::new();
        tokio::join!(world.weekly(vec![Takes(5), Takes(5), Takes(5)]), world.set_after(20, 4 * 168));
        assert_eq!(world.begun(), [0, 20 + 4 * 168, 20 + 5 * 168]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_overrun_run_is_followed_by_the_next_slot_and_never_joined_by_a_second() {
        let world = World::new();
        world.weekly(vec![Takes(200), Takes(5), Takes(5)]).await;
        assert_eq!(world.begun(), [0, 336, 504]);
        assert_eq!(*world.told.borrow(), ["200: overran"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_set_back_or_forward_skips_no_run() {
        let back = World::new();
        tokio::join!(back.weekly(vec![Takes(5), Takes(5), Takes(5)]), back.set_after(20, -1000));
        assert_eq!(back.begun(), [0, 168 - 1000, 336 - 1000]);

        let forward = World::new();
        tokio::join!(forward.weekly(vec![Takes(5), Takes(5), Takes(5)]), forward.set_after(20, 1000));
        assert_eq!(forward.begun(), [0, 1020, 1188]);

        let during = World::new();
        during.weekly(vec![ClockSet(1000), Takes(5), Takes(5)]).await;
        assert_eq!(during.begun(), [0, 1008, 1176], "the week's slots go on from the run's beginning");
        let during = World::new();
        during.weekly(vec![ClockSet(-1000), Takes(5), Takes(5)]).await;
        assert_eq!(during.begun(), [0, 168 - 1000, 336 - 1000]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_run_is_told_and_tried_again_and_moves_no_slot() {
        let world = World::new();
        world.weekly(vec![Fails(2), Fails(0), Takes(5), Takes(5)]).await;
        assert_eq!(world.begun(), [0, 2, 3, 168], "two hours, and two pauses of a quarter");
        assert_eq!(*world.told.borrow(), ["2: no space left, again in 15m", "2: no space left, again in 15m"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_that_fails_for_a_week_gives_way_to_the_next() {
        let world = World::new();
        let mut runs: Vec<Run> = (0..7).map(|_| Fails(24)).collect();
        runs.extend([Takes(5), Takes(5)]);
        world.weekly(runs).await;
        // Six tries begin within the week, the seventh at 145.5 hours ends with hour 169.5 and so after the slot.
        let begun = world.begun();
        assert_eq!(begun[..7], [0, 24, 49, 73, 97, 121, 146]);
        assert_eq!(begun[8] - begun[7], 168, "{begun:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn asked_to_stop_it_wakes_and_ends() {
        let world = World::new();
        let stopping = async {
            sleep(hour(30)).await;
            world.stop.cancel();
        };
        let runs = async || {
            world.begun.borrow_mut().push(world.hour());
            Ok(Ending::Finished)
        };
        tokio::join!(repeat(Every::Week, None, || world.now(), &world.stop, runs, |_| {}), stopping);
        assert_eq!((world.begun(), world.hour()), (vec![0], 30));

        let stopped = World::new();
        let runs = async || Ok(Ending::Stopped);
        repeat(Every::Week, None, || stopped.now(), &stopped.stop, runs, |_| {}).await;
        assert_eq!(stopped.hour(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_series_that_is_started_again_waits_for_its_slot() {
        let world = World::new();
        let now = world.now();
        let began = now.back_at(now.wall - SignedDuration::from_hours(100));
        let ended = now.back_at(now.wall - SignedDuration::from_hours(90));
        let runs = async || {
            world.begun.borrow_mut().push(world.hour());
            Ok(Ending::Stopped)
        };
        let past = Past { began, ended, is_finished: true };
        repeat(Every::Week, Some(past), || world.now(), &world.stop, runs, |_| {}).await;
        assert_eq!(world.begun(), [68]);
    }
}
