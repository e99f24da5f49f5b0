//! How fast it goes and how long it will take, no more precise than that can be known.

use std::time::{Duration, Instant};

/// The recent rate, exponentially smoothed: what happened a quarter of a minute ago weighs about a third.
#[derive(Default)]
pub(super) struct Pace {
    first: Option<Sample>,
    last: Option<Sample>,
    /// Hosts a second, once it is known.
    pub(super) rate: Option<f64>,
}

#[derive(Clone, Copy)]
struct Sample {
    at: Instant,
    done: u64,
}

const MEMORY: Duration = Duration::from_secs(15);
const BETWEEN_SAMPLES: Duration = Duration::from_secs(1);
const BEFORE_GUESSING: Duration = Duration::from_secs(3);

impl Pace {
    /// Takes note of how many are done; the first note sets the zero, so that a resumed run has its own rate.
    pub(super) fn sample(&mut self, done: u64, at: Instant) {
        let sample = Sample { at, done };
        self.first.get_or_insert(sample);
        let last = *self.last.get_or_insert(sample);
        let passed = at.saturating_duration_since(last.at);
        if passed < BETWEEN_SAMPLES {
            return;
        }
        let recent = as_f64(done.saturating_sub(last.done)) / passed.as_secs_f64();
        let weight = 1.0 - (-passed.as_secs_f64() / MEMORY.as_secs_f64()).exp();
        self.rate = Some(self.rate.map_or(recent, |rate| rate + weight * (recent - rate)));
        self.last = Some(sample);
    }

    /// How long the rest takes at this rate; nothing while that is anybody's guess.
    pub(super) fn time_left(&self, rest: u64) -> Option<Duration> {
        let known_for = self.last?.at.saturating_duration_since(self.first?.at);
        let seconds = as_f64(rest) / self.rate?;
        if known_for < BEFORE_GUESSING { None } else { Duration::try_from_secs_f64(seconds).ok() }
    }

    /// The rate of the whole run; nothing where it was too short for one.
    pub(super) fn overall(&self, done: u64, took: Duration) -> Option<f64> {
        let done = as_f64(done.saturating_sub(self.first?.done));
        (took >= BETWEEN_SAMPLES).then(|| done / took.as_secs_f64())
    }
}

#[expect(clippy::cast_precision_loss, reason = "host counts stay far below 2^53")]
fn as_f64(hosts: u64) -> f64 {
    hosts as f64
}

/// A rate, for people.
pub(super) fn per_second(rate: f64) -> String {
    if rate < 9.95 { format!("{rate:.1} a second") } else { format!("{rate:.0} a second") }
}

/// A time to come, no more precise than it can be known.
pub(super) fn about(time: Duration) -> String {
    let seconds = time.as_secs();
    let minutes = seconds.div_ceil(60);
    match seconds {
        0..10 => "a few seconds".to_owned(),
        10..50 => "less than a minute".to_owned(),
        50..600 => format!("about {minutes} min"),
        600..5_400 => format!("about {} min", minutes.next_multiple_of(5)),
        5_400..129_600 => format!("about {} h", seconds.div_ceil(3_600)),
        _ => format!("about {} days", seconds.div_ceil(86_400)),
    }
}

/// A time that has passed.
pub(super) fn elapsed(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resumed_run_has_a_rate_of_its_own() {
        let start = Instant::now();
        let mut pace = Pace::default();
        pace.sample(5_000, start);
        pace.sample(5_010, start + Duration::from_secs(5));
        assert_eq!(pace.rate, Some(2.0));
        assert_eq!(pace.time_left(100), Some(Duration::from_secs(50)));
        assert_eq!(pace.overall(5_010, Duration::from_secs(5)), Some(2.0));
    }

    #[test]
    fn a_stalled_run_promises_nothing() {
        let start = Instant::now();
        let mut pace = Pace::default();
        pace.sample(0, start);
        pace.sample(0, start + Duration::from_secs(5));
        assert_eq!(pace.time_left(100), None);
    }

    #[test]
    fn the_rate_follows_a_change_within_a_minute() {
        let start = Instant::now();
        let mut pace = Pace::default();
        let mut done = 0;
        for second in 0..120 {
            done += if second < 60 { 200 } else { 20 };
            pace.sample(done, start + Duration::from_secs(second));
        }
        let rate = pace.rate.unwrap();
        assert!((20.0..30.0).contains(&rate), "{rate}");
    }

    #[test]
    fn times_to_come_are_never_more_precise_than_they_can_be() {
        let about = [3, 45, 61, 599, 601, 4_000, 7_201, 200_000].map(|seconds| about(Duration::from_secs(seconds)));
        let words = [
            "a few seconds",
            "less than a minute",
            "about 2 min",
            "about 10 min",
            "about 15 min",
            "about 70 min",
            "about 3 h",
            "about 3 days",
        ];
        assert_eq!(about, words);
    }
}
