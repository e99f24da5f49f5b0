//! Whether our own machine and its network are well: what a failure must be compared with before it is believed.
//!
//! A machine without time to spare, a resolver that has gone silent and a link that is down all look like the world
//! timing out. So a time-out counts only if the machine had the time, and silence only if somebody else was heard.
//!
//! Reads the clock. Deliberately absent: the network; who is asked, and what follows from it, is `network`'s to say.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// What is known of our own machine and network.
#[derive(Debug)]
pub(crate) struct Health {
    start: Instant,
    /// When a name was last resolved, or found not to exist, in milliseconds since the start, plus one; 0 for never.
    resolved: AtomicU64,
    /// When a server last answered, refused a connection included.
    answered: AtomicU64,
    /// By how many milliseconds the ticker was late, in all.
    late: AtomicU64,
}

/// The ticker's interval.
const TICK: Duration = Duration::from_millis(50);
/// A tick that is late by less is what schedulers and timers do.
const TOLERANCE: Duration = Duration::from_millis(50);

impl Health {
    pub(crate) fn new() -> Self {
        let zero = AtomicU64::default;
        Self { start: Instant::now(), resolved: zero(), answered: zero(), late: zero() }
    }

    /// Measures for ever by how much a task that sleeps is woken too late.
    pub(crate) async fn watch(&self) {
        loop {
            let due = Instant::now() + TICK;
            sleep_until(due).await;
            let late = due.elapsed();
            if late > TOLERANCE {
                self.late.fetch_add(milliseconds(late), Ordering::Relaxed);
            }
        }
    }

    /// By how much sleeping tasks were woken too late so far, in all.
    pub(crate) fn lateness(&self) -> Duration {
        Duration::from_millis(self.late.load(Ordering::Relaxed))
    }

    /// Whether a time limit that passed between `since` and now says nothing, because for an eighth of that time our
    /// machine was too busy to look; `lateness` is what it was at `since`.
    pub(crate) fn was_starved(&self, since: Instant, lateness: Duration) -> bool {
        self.lateness().saturating_sub(lateness) >= (since.elapsed() / 8).max(TOLERANCE)
    }

    /// A name was resolved, or found not to exist.
    pub(crate) fn note_resolved(&self) {
        self.note(&self.resolved);
    }

    /// A server answered.
    pub(crate) fn note_answered(&self) {
        self.note(&self.answered);
    }

    /// Whether any name was resolved, or found not to exist, since then.
    pub(crate) fn has_resolved_since(&self, since: Instant) -> bool {
        self.is_after(&self.resolved, since)
    }

    /// Whether anybody at all was heard since then.
    pub(crate) fn has_heard_since(&self, since: Instant) -> bool {
        self.is_after(&self.resolved, since) || self.is_after(&self.answered, since)
    }

    fn note(&self, stamp: &AtomicU64) {
        stamp.fetch_max(milliseconds(self.start.elapsed()) + 1, Ordering::Relaxed);
    }

    fn is_after(&self, stamp: &AtomicU64, since: Instant) -> bool {
        stamp.load(Ordering::Relaxed) > milliseconds(since.saturating_duration_since(self.start)) + 1
    }
}

fn milliseconds(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_what_was_heard_later_counts() {
        let health = Health::new();
        let pass = || tokio::time::advance(Duration::from_millis(10));
        pass().await;
        health.note_answered();
        pass().await;
        let since = Instant::now();
        assert!(!health.has_heard_since(since), "that was before");
        pass().await;
        health.note_answered();
        assert!(health.has_heard_since(since) && !health.has_resolved_since(since));
        health.note_resolved();
        assert!(health.has_resolved_since(since));
    }

    #[tokio::test(start_paused = true)]
    async fn a_machine_that_is_woken_late_was_starved_and_one_in_time_was_not() {
        let health = Health::new();
        let since = Instant::now();
        tokio::select! {
            () = health.watch() => unreachable!("it watches for ever"),
            () = tokio::time::sleep(Duration::from_secs(8)) => {}
        }
        assert_eq!(health.lateness(), Duration::ZERO);
        assert!(!health.was_starved(since, Duration::ZERO));

        let mut watching = Box::pin(health.watch());
        assert!(futures::poll!(&mut watching).is_pending());
        tokio::time::advance(TICK + Duration::from_millis(1500)).await;
        assert!(futures::poll!(&mut watching).is_pending());
        assert_eq!(health.lateness(), Duration::from_millis(1500));
        assert!(health.was_starved(since, Duration::ZERO));
        assert!(!health.was_starved(since, health.lateness()), "not since it was last read");
    }
}
