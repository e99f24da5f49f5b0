//! When the next run is due: pure, by two clocks.
//!
//! The wall clock goes on while a machine sleeps, and may be set; the steady clock cannot be set, and stands still while
//! the machine sleeps. So a span is over when either says so: a clock that is set back delays nothing, a night's sleep
//! hides nothing. The price is one early run where the wall clock is set forward, never a second one.
//!
//! Slots are counted from the beginning of the last run. A slot that passed while nobody ran (the machine slept) is due
//! at once, and one run stands for all such slots. A slot that passed while the last run was still going on is not:
//! that run looked at the web at that very time, so the next run waits for the next slot, and servers get their rest.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::Every;

/// A moment on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// What the calendar says.
    pub wall: Timestamp,
    /// Since any fixed moment, on a clock that nobody can set.
    pub steady: SignedDuration,
}

/// The last run of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Past {
    /// When it began; where it failed and was tried again, when the first try began.
    pub began: Moment,
    /// When it ended.
    pub ended: Moment,
    /// Whether it is done; a run that failed is tried again.
    pub is_finished: bool,
}

/// What a series does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It begins a run.
    Run,
    /// It sleeps for this long at most, and looks at the clocks again.
    Sleep(Duration),
}

/// How long a failed run is left alone before it is tried again.
pub(super) const PAUSE: SignedDuration = SignedDuration::from_mins(15);
/// The longest sleep: what it takes at most to see that the machine has slept, or that a clock was set.
const GLANCE: SignedDuration = SignedDuration::from_secs(30);

impl Moment {
    /// How long ago an earlier moment was, by the clock that says more.
    #[must_use]
    pub fn since(self, earlier: Self) -> SignedDuration {
        let wall = self.wall.duration_since(earlier.wall);
        wall.max(self.steady.saturating_sub(earlier.steady)).max(SignedDuration::ZERO)
    }

    /// The moment that the wall clock showed, or this one where that is still to come.
    #[must_use]
    pub fn back_at(self, wall: Timestamp) -> Self {
        let wall = wall.min(self.wall);
        Self { wall, steady: self.steady.saturating_sub(self.wall.duration_since(wall)) }
    }
}

impl Past {
    /// A run of another process, as its wall clock saw it.
    pub fn finished(began: Timestamp, ended: Timestamp, now: Moment) -> Self {
        Self { began: now.back_at(began.min(ended)), ended: now.back_at(ended), is_finished: true }
    }

    /// A run of another process that was cut off; it is gone on with at once.
    pub fn cut_off(began: Timestamp, now: Moment) -> Self {
        let began = now.back_at(began);
        Self { began, ended: now.back_at(now.wall - PAUSE), is_finished: false }
    }

    /// From the end of the last run to the beginning of the next.
    pub fn rest(&self, every: Every) -> SignedDuration {
        let took = self.ended.since(self.began);
        let rest = every.slot(self.began.wall, next_slot(every, self.began.wall, took)).saturating_sub(took);
        if self.is_finished { rest } else { rest.min(PAUSE) }
    }
}

/// The number of the first slot that is not over after this time.
fn next_slot(every: Every, began: Timestamp, took: SignedDuration) -> u32 {
    let shortest = every.at_least().as_nanos().max(1);
    // Months are no shorter than the shortest, so this is never behind by less than the slot that is looked for.
    let most = u32::try_from(took.as_nanos().div_euclid(shortest)).unwrap_or(u32::MAX - 1) + 1;
    let (mut low, mut high) = (1, most);
    while low < high {
        let middle = low + (high - low) / 2;
        if every.slot(began, middle) < took {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

impl Step {
    /// Decides from the last run, if there was one, and the clocks.
    pub fn of(every: Every, past: Option<&Past>, now: Moment) -> Self {
        let Some(past) = past else { return Self::Run };
        let left = past.rest(every).saturating_sub(now.since(past.ended));
        match Duration::try_from(left.min(GLANCE)) {
            Ok(sleep) if !sleep.is_zero() => Self::Sleep(sleep),
            _ => Self::Run,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hours on both clocks.
    fn at(wall: i64, steady: i64) -> Moment {
        let zero: Timestamp = "2026-11-30T03:00:00Z".parse().unwrap();
        Moment { wall: zero + SignedDuration::from_hours(wall), steady: SignedDuration::from_hours(steady) }
    }

    fn run(began: (i64, i64), ended: (i64, i64)) -> Past {
        Past { began: at(began.0, began.1), ended: at(ended.0, ended.1), is_finished: true }
    }

    #[track_caller]
    fn rest(every: &str, past: Past) -> i64 {
        past.rest(every.parse().unwrap()).as_hours()
    }

    #[track_caller]
    fn is_due(every: &str, past: &Past, now: Moment) -> bool {
        matches!(Step::of(every.parse().unwrap(), Some(past), now), Step::Run)
    }

    #[test]
    fn the_first_run_is_due_at_once() {
        assert_eq!(Step::of(Every::Week, None, at(0, 0)), Step::Run);
    }

    #[test]
    fn the_next_run_begins_a_period_after_the_last_one_began() {
        let past = run((0, 0), (5, 5));
        assert_eq!(rest("7d", past), 163);
        assert!(!is_due("7d", &past, at(167, 167)) && is_due("7d", &past, at(168, 168)));
        assert_eq!(Step::of(Every::Week, Some(&past), at(6, 6)), Step::Sleep(Duration::from_secs(30)));
        let nearly = Moment { wall: at(168, 0).wall - SignedDuration::from_secs(2), ..at(0, 168) };
        let nearly = Moment { steady: nearly.steady - SignedDuration::from_secs(2), ..nearly };
        assert_eq!(Step::of(Every::Week, Some(&past), nearly), Step::Sleep(Duration::from_secs(2)));
    }

    #[test]
    fn after_a_sleep_of_the_machine_one_run_stands_for_all_missed_ones() {
        // The steady clock stood still for four weeks.
        let past = run((0, 0), (5, 5));
        let woken = at(4 * 168, 6);
        assert!(is_due("7d", &past, woken));
        let next = run((4 * 168, 6), (4 * 168 + 5, 11));
        assert_eq!(rest("7d", next), 163);
        assert!(!is_due("7d", &next, at(4 * 168 + 6, 12)));
    }

    #[test]
    fn a_slot_that_passes_while_a_run_goes_on_is_passed_over() {
        let nine_days = run((0, 0), (216, 216));
        assert_eq!(rest("7d", nine_days), 120);
        assert_eq!(rest("7d", run((0, 0), (168, 168))), 0, "one that ends with its period is followed at once");
        assert_eq!(rest("7d", run((0, 0), (169, 169))), 167);
        assert_eq!(rest("monthly", run((0, 0), (40 * 24, 40 * 24))), (61 - 40) * 24);
    }

    #[test]
    fn a_run_through_which_the_machine_slept_has_taken_that_time_too() {
        assert_eq!(rest("7d", run((0, 0), (216, 3))), 120);
    }

    #[test]
    fn a_clock_that_is_set_back_delays_nothing() {
        let past = run((0, 0), (5, 5));
        assert!(!is_due("7d", &past, at(-10_000, 167)) && is_due("7d", &past, at(-10_000, 168)));
        // Set back while it ran, and set right again after it.
        let past = run((0, 0), (-10_000, 5));
        assert!(!is_due("7d", &past, at(-9_900, 105)));
        assert!(is_due("7d", &past, at(168, 168)));
    }

    #[test]
    fn a_clock_that_is_set_forward_brings_one_early_run_and_no_second() {
        let past = run((0, 0), (5, 5));
        assert!(is_due("7d", &past, at(10_000, 6)));
        let early = run((10_000, 6), (10_005, 11));
        assert!(!is_due("7d", &early, at(10_006, 12)) && is_due("7d", &early, at(10_168, 174)));
        // And back again to what it was: the steady clock knows.
        assert!(!is_due("7d", &early, at(150, 150)) && is_due("7d", &early, at(174, 174)));
    }

    #[test]
    fn a_clock_that_is_wrong_only_while_a_run_goes_on_cannot_stop_the_series() {
        let past = run((0, 0), (87_600, 5));
        assert!(past.rest(Every::Week) <= SignedDuration::from_hours(168));
        assert!(is_due("7d", &past, at(174, 174)));
    }

    #[test]
    fn a_failed_run_is_tried_again_after_a_pause() {
        let past = Past { is_finished: false, ..run((0, 0), (5, 5)) };
        assert_eq!(past.rest(Every::Week), PAUSE);
        let late = Past { is_finished: false, ..run((0, 0), (168, 168)) };
        assert_eq!(late.rest(Every::Week), SignedDuration::ZERO);
    }

    #[test]
    fn a_run_of_another_process_is_known_by_the_wall_clock_only() {
        let now = at(100, 1);
        assert_eq!(now.back_at(at(90, 0).wall), at(90, -9));
        assert_eq!(now.back_at(at(300, 0).wall), now, "a run that is still to come ends now at the latest");
        let past = Past::finished(at(80, 0).wall, at(90, 0).wall, now);
        assert_eq!((past, rest("7d", past)), (run((80, -19), (90, -9)), 158));
        for began in [0, 99, 100] {
            assert!(is_due("7d", &Past::cut_off(at(began, 0).wall, now), now));
        }
    }
}
