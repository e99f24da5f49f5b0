//! What a person sees while it works: bars on a terminal, a plain line now and then elsewhere, or nothing.
//!
//! [`Progress`] is told [`Counts`] and [`note`](Progress::note)s and never asked: callers need not know whether anybody
//! looks. It writes to standard error only, so that results on standard output stay clean.
//!
//! May touch the vocabulary of outcomes and the report's way with numbers and foreign text. Deliberately absent:
//! counting, async, and any say in what the work does.

mod counter;
mod pace;

use std::cmp::Reverse;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

pub use self::counter::Counter;

use crate::outcome::OutcomeClass;
use crate::progress::pace::{Pace, about, elapsed, per_second};
use crate::report::{escape, thousands};

/// How far the work has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Hosts to survey in all, those of an earlier, interrupted run included.
    pub listed: u64,
    /// Hosts with a row.
    pub done: u64,
    /// Hosts whose address is being looked up.
    pub resolving: u64,
    /// Hosts whose look-up has ended with an address.
    pub resolved: u64,
    /// Hosts that wait for their server's turn.
    pub waiting: u64,
    /// Hosts that are being asked.
    pub in_flight: u64,
    /// Rows by class of outcome.
    pub by_class: ByClass,
}

/// A number for each class of outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByClass([u64; OutcomeClass::ALL.len()]);

impl ByClass {
    /// Counts one more row of a class.
    pub fn count(&mut self, class: OutcomeClass) {
        self.0[class as usize] += 1;
    }

    /// The rows of a class.
    pub fn rows(&self, class: OutcomeClass) -> u64 {
        self.0[class as usize]
    }
}

/// Shows how far the work has come, to whoever looks.
pub struct Progress(Option<Mutex<Shown>>);

impl Progress {
    /// Bars where standard error is a terminal, a plain line every ten seconds where it is not.
    pub fn new() -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(10);
        let display =
            if target.is_hidden() { Display::Lines(Box::new(io::stderr())) } else { Display::Bars(Bars::new(target)) };
        Self::with_display(display)
    }

    /// Shows nothing at all.
    pub fn silent() -> Self {
        Self(None)
    }

    /// Takes note of the state of the work; cheap enough to be called after every row.
    pub fn update(&self, counts: &Counts) {
        self.with_shown(|shown| shown.update(counts, Instant::now()));
    }

    /// Says something in a line of its own, above the bars.
    pub fn note(&self, text: &str) {
        self.with_shown(|shown| shown.display.say(&escape(text).to_string()));
    }

    /// Takes the bars away and says how it went, by the last counts it was told.
    pub fn finish(&self) {
        self.with_shown(|shown| shown.finish(Instant::now()));
    }

    fn with_display(display: Display) -> Self {
        Self(Some(Mutex::new(Shown::new(display, Instant::now()))))
    }

    fn with_shown(&self, show: impl FnOnce(&mut Shown)) {
        if let Some(shown) = &self.0 {
            // A panic while drawing leaves at worst an old line on the screen.
            let mut shown: MutexGuard<'_, Shown> = shown.lock().unwrap_or_else(PoisonError::into_inner);
            show(&mut shown);
        }
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

const BETWEEN_DRAWINGS: Duration = Duration::from_millis(100);
const BEFORE_FIRST_LINE: Duration = Duration::from_secs(2);
const BETWEEN_LINES: Duration = Duration::from_secs(10);

struct Shown {
    display: Display,
    counts: Counts,
    pace: Pace,
    start: Instant,
    next: Instant,
}

enum Display {
    Bars(Bars),
    Lines(Box<dyn Write + Send>),
}

impl Shown {
    fn new(display: Display, now: Instant) -> Self {
        let next = match display {
            Display::Bars(_) => now,
            Display::Lines(_) => now + BEFORE_FIRST_LINE,
        };
        Self { display, counts: Counts::default(), pace: Pace::default(), start: now, next }
    }

    fn update(&mut self, counts: &Counts, now: Instant) {
        self.counts = *counts;
        self.pace.sample(counts.done, now);
        if now < self.next {
            return;
        }
        match &self.display {
            Display::Bars(bars) => {
                bars.draw(counts, &self.pace);
                self.next = now + BETWEEN_DRAWINGS;
            }
            Display::Lines(_) => {
                let parts = [extent(counts, &self.pace), stages(counts), tally(&counts.by_class)];
                self.display.say(&parts.map(|part| part.join(", ")).join("; "));
                self.next = now + BETWEEN_LINES;
            }
        }
    }

    fn finish(&mut self, now: Instant) {
        if let Display::Bars(bars) = &self.display {
            bars.clear();
        }
        let Counts { listed, done, by_class, .. } = &self.counts;
        let took = now.saturating_duration_since(self.start);
        let pace = self.pace.overall(*done, took).map_or_else(String::new, |rate| format!(" ({})", per_second(rate)));
        let [done, listed] = [done, listed].map(|hosts| thousands(*hosts));
        let tally = tally(by_class).join(", ");
        self.display.say(&format!("{done} of {listed} done after {}{pace}: {tally}", elapsed(took)));
    }
}

impl Display {
    /// A closed standard error is no reason to stop a survey, so failures to write are let go.
    fn say(&mut self, line: &str) {
        let _ = match self {
            Self::Bars(bars) => bars.all.println(line),
            Self::Lines(out) => writeln!(out, "{line}").and_then(|()| out.flush()),
        };
    }
}

/// Three lines: how far, where the hosts are, what came of them.
struct Bars {
    all: MultiProgress,
    extent: ProgressBar,
    stages: ProgressBar,
    tally: ProgressBar,
}

impl Bars {
    fn new(target: ProgressDrawTarget) -> Self {
        let all = MultiProgress::with_draw_target(target);
        let line = |template: &str| {
            let style = ProgressStyle::with_template(template).expect("the templates stand below");
            all.add(ProgressBar::new(0).with_style(style.progress_chars("━╸─")))
        };
        let extent = line("{bar:20} {wide_msg}");
        let stages = line("{wide_msg}");
        let tally = line("{wide_msg}");
        Self { all, extent, stages, tally }
    }

    fn draw(&self, counts: &Counts, pace: &Pace) {
        self.extent.set_length(counts.listed);
        self.extent.set_position(counts.done);
        self.extent.set_message(extent(counts, pace).join(GAP));
        self.stages.set_message(stages(counts).join(GAP));
        self.tally.set_message(tally(&counts.by_class).join(GAP));
    }

    fn clear(&self) {
        for bar in [&self.extent, &self.stages, &self.tally] {
            bar.finish_and_clear();
        }
    }
}

/// Between the parts of a line on a terminal.
const GAP: &str = "   ";

fn extent(counts: &Counts, pace: &Pace) -> Vec<String> {
    let Counts { listed, done, .. } = counts;
    let percent = (done * 100).checked_div(*listed).unwrap_or(100);
    let mut parts = vec![format!("{} of {} done ({percent}%)", thousands(*done), thousands(*listed))];
    parts.extend(pace.rate.map(per_second));
    parts.extend(pace.time_left(listed.saturating_sub(*done)).map(|left| format!("{} left", about(left))));
    parts
}

fn stages(counts: &Counts) -> Vec<String> {
    let Counts { resolving, resolved, waiting, in_flight, .. } = counts;
    let stages = [("resolving", resolving), ("resolved", resolved), ("waiting", waiting), ("in flight", in_flight)];
    stages.map(|(stage, hosts)| format!("{stage} {}", thousands(*hosts))).to_vec()
}

/// The classes that occur, the most frequent first.
fn tally(by_class: &ByClass) -> Vec<String> {
    let mut classes: Vec<(u64, &OutcomeClass)> =
        OutcomeClass::ALL.iter().map(|class| (by_class.rows(*class), class)).filter(|(rows, _)| *rows > 0).collect();
    classes.sort_by_key(|(rows, _)| Reverse(*rows));
    if classes.is_empty() {
        return vec!["no host done yet".to_owned()];
    }
    classes.into_iter().map(|(rows, class)| format!("{class} {}", thousands(rows))).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// What was written, shared with the test.
    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Paper {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    fn counts(done: u64) -> Counts {
        let mut counts = Counts {
            listed: 9_997,
            done,
            resolving: 40,
            resolved: 2 * done,
            waiting: 1_530,
            in_flight: 298,
            ..Counts::default()
        };
        (0..done).for_each(|row| {
            counts.by_class.count(if row % 3 == 0 { OutcomeClass::ServerError } else { OutcomeClass::Readable });
        });
        counts
    }

    #[test]
    fn where_there_is_no_terminal_lines_come_now_and_then_and_at_the_end() {
        let paper = Paper::default();
        let start = Instant::now();
        let mut shown = Shown::new(Display::Lines(Box::new(paper.clone())), start);
        for tenth in 0..240 {
            shown.update(&counts(tenth * 18), start + Duration::from_millis(tenth * 100));
        }
        shown.finish(start + Duration::from_secs(24));
        insta::assert_snapshot!(paper.text(), @r"
        360 of 9,997 done (3%), 180 a second; resolving 40, resolved 720, waiting 1,530, in flight 298; readable 240, server-error 120
        2,160 of 9,997 done (21%), 180 a second, less than a minute left; resolving 40, resolved 4,320, waiting 1,530, in flight 298; readable 1,440, server-error 720
        3,960 of 9,997 done (39%), 180 a second, less than a minute left; resolving 40, resolved 7,920, waiting 1,530, in flight 298; readable 2,640, server-error 1,320
        4,302 of 9,997 done after 24 s (179 a second): readable 2,868, server-error 1,434
        ");
    }

    #[test]
    fn a_note_cannot_steer_the_terminal() {
        let paper = Paper::default();
        let progress = Progress::with_display(Display::Lines(Box::new(paper.clone())));
        progress.note("bad list \u{1b}[2J\n");
        assert_eq!(paper.text(), "bad list \\u{1b}[2J\\n\n");
    }

    #[test]
    fn silence_is_silence() {
        let progress = Progress::silent();
        progress.update(&Counts::default());
        progress.note("nobody hears this");
        progress.finish();
    }
}
