//! Work whose end is not known: a number that grows.

use std::io::{self, Write};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{BEFORE_FIRST_LINE, BETWEEN_LINES};
use crate::report::{escape, thousands};

/// Shows how much has been done: in a line that moves on a terminal, in a plain line now and then elsewhere.
pub struct Counter {
    what: &'static str,
    display: Display,
    done: u64,
}

enum Display {
    Bar(ProgressBar),
    Lines { next: Instant },
    Silent,
}

/// How often a terminal's line is touched; drawing is bounded by time as well.
const STEP: u64 = 1024;

impl Counter {
    /// Counts things of this kind.
    pub fn new(what: &'static str) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(10);
        let display = if target.is_hidden() {
            Display::Lines { next: Instant::now() + BEFORE_FIRST_LINE }
        } else {
            let style = ProgressStyle::with_template("{spinner} {msg}").expect("the template stands here");
            Display::Bar(ProgressBar::with_draw_target(None, target).with_style(style))
        };
        Self { what, display, done: 0 }
    }

    /// Shows nothing at all.
    pub fn silent() -> Self {
        Self { what: "", display: Display::Silent, done: 0 }
    }

    /// One more is done.
    pub fn tick(&mut self) {
        self.done += 1;
        if !self.done.is_multiple_of(STEP) {
            return;
        }
        let line = format!("{} {}", thousands(self.done), self.what);
        match &mut self.display {
            Display::Bar(bar) => {
                bar.set_message(line);
                bar.tick();
            }
            Display::Lines { next } if Instant::now() >= *next => {
                *next = Instant::now() + BETWEEN_LINES;
                say(&line);
            }
            Display::Lines { .. } | Display::Silent => {}
        }
    }

    /// Says something in a line of its own.
    pub fn note(&self, text: &str) {
        let text = escape(text).to_string();
        match &self.display {
            Display::Bar(bar) => bar.suspend(|| say(&text)),
            Display::Lines { .. } => say(&text),
            Display::Silent => {}
        }
    }

    /// Takes the moving line away.
    pub fn finish(&self) {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

/// A closed standard error is no reason to stop, so failures to write are let go.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
