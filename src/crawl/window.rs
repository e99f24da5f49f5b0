//! How many requests may be in flight: few at first, more while our own machine keeps up.
//!
//! Thousands of connections opened at one moment wait for our own processor, and their time limits pass meanwhile. So a
//! crawl starts with as many handshakes as its cores can take and grows from there; when a task that sleeps is woken
//! too late, it shrinks.

use std::time::Duration;

use tokio::time::Instant;

/// The number of requests that may be in flight.
#[derive(Debug)]
pub(crate) struct Window {
    size: usize,
    least: usize,
    most: usize,
    next: Instant,
    /// The machine's lateness when it was last read.
    lateness: Duration,
}

/// Handshakes that a core takes on at one moment without any of them waiting long.
const HANDSHAKES_PER_CORE: usize = 32;
/// How often the size is adjusted.
const STEP: Duration = Duration::from_secs(1);
/// Lateness within a step that makes the window shrink.
const LATE: Duration = Duration::from_millis(250);

impl Window {
    /// A window of at most that size, on a machine of so many cores.
    pub(crate) fn new(most: usize, cores: usize, now: Instant) -> Self {
        let least = most.min(HANDSHAKES_PER_CORE * cores);
        Self { size: least, least, most, next: now + STEP, lateness: Duration::ZERO }
    }

    /// How many requests may be in flight.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Takes note of the machine's lateness so far and of how many requests are in flight, once a second.
    pub(crate) fn adjust(&mut self, lateness: Duration, in_flight: usize, now: Instant) {
        if now < self.next {
            return;
        }
        self.next = now + STEP;
        let late = lateness.saturating_sub(self.lateness);
        self.lateness = lateness;
        if late >= LATE {
            self.size = (self.size * 7 / 10).max(self.least);
        } else if in_flight >= self.size {
            self.size = (self.size + self.size.div_ceil(10)).min(self.most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_while_it_is_full_and_shrinks_while_the_machine_is_late() {
        let start = Instant::now();
        let mut window = Window::new(300, 2, start);
        let mut now = start;
        let mut step = |window: &mut Window, lateness, in_flight| {
            now += STEP;
            window.adjust(Duration::from_millis(lateness), in_flight, now);
            window.size()
        };
        assert_eq!(window.size(), 64);
        assert_eq!(step(&mut window, 0, 10), 64, "nobody needs more");
        assert_eq!(step(&mut window, 0, 64), 71);
        for _ in 0..20 {
            let full = window.size();
            step(&mut window, 0, full);
        }
        assert_eq!(window.size(), 300);
        assert_eq!(step(&mut window, 400, 300), 210);
        assert_eq!(step(&mut window, 400, 210), 231, "it has recovered");
        for second in 2..10 {
            step(&mut window, 400 * second, 300);
        }
        assert_eq!(window.size(), 64, "never below what the cores can take");
    }

    #[test]
    fn it_is_never_wider_than_asked_for() {
        assert_eq!(Window::new(10, 8, Instant::now()).size(), 10);
        assert_eq!(Window::new(1, 1, Instant::now()).size(), 1);
    }
}
