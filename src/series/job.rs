//! A command line that somebody else is to start, and when.

use anyhow::{Context, bail, ensure};
use jiff::SignedDuration;

use super::at::Day;
use super::{At, Every};

/// A survey for a scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The list's name, as people read it.
    pub name: String,
    /// How often.
    pub every: Every,
    /// At which time; Monday, the first of the month where it names no day.
    pub at: At,
    /// The program.
    pub program: String,
    /// Its arguments, one word each.
    pub arguments: Vec<String>,
    /// The folder that it runs in.
    pub folder: String,
}

/// When, in fields that every scheduler has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slots {
    /// At this minute of these hours of each day: the first, and the hours from one to the next.
    Hours {
        first: u16,
        step: u16,
    },
    Day,
    /// From Sunday, 0.
    Week(u16),
    /// From 1 to 28.
    Month(u16),
}

impl Job {
    /// The latest that a run begins after its time where a scheduler spreads them; never over the end of a UTC day, so
    /// that two runs do not share a date.
    pub fn spread(every: Every, at: At) -> SignedDuration {
        let most = match every {
            Every::Day => 30,
            Every::Week | Every::Month => 60,
            Every::Span(span) => span.as_mins() / 12,
        };
        SignedDuration::from_mins(most.min(i64::from(at.minutes_left()) - 1))
    }

    /// How old an unfinished snapshot may be that a run goes on with: less than the time between two runs.
    pub fn patience(every: Every, at: At) -> SignedDuration {
        let shortest = every.at_least() - Self::spread(every, at) * 2 - SignedDuration::from_mins(10);
        shortest.min(SignedDuration::from_hours(7 * 24))
    }

    /// A name of lower-case letters, digits and single hyphens, at most 52 of them: what systemd and Kubernetes take.
    pub fn unit(&self) -> String {
        let mut unit = String::from("survey");
        for word in self.name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
            unit.push('-');
            unit.push_str(&word.to_ascii_lowercase());
        }
        // A CronJob's name leaves room for what is put behind it in its jobs' names.
        unit.truncate(52);
        unit.truncate(unit.trim_end_matches('-').len());
        unit
    }

    /// When it runs, or why no table of times can say so.
    pub(super) fn slots(&self) -> anyhow::Result<Slots> {
        let in_one_process = "`survey --every SPAN` repeats in one process and keeps any span";
        Ok(match (self.every, self.at.day) {
            (Every::Day, None) => Slots::Day,
            (Every::Week, None) => Slots::Week(1),
            (Every::Week, Some(Day::OfWeek(day))) => Slots::Week(day),
            (Every::Month, None) => Slots::Month(1),
            (Every::Month, Some(Day::OfMonth(day))) => Slots::Month(day),
            (Every::Span(span), None) => {
                let hours = u16::try_from(span.as_hours()).unwrap_or(u16::MAX);
                let is_whole = SignedDuration::from_hours(hours.into()) == span;
                if !is_whole || hours == 0 || 24 % hours > 0 {
                    bail!(
                        "a table of times cannot say {}: it knows times of the day, the week and the month, and this \
                         span begins anew with none of them; {in_one_process}",
                        self.every
                    );
                }
                Slots::Hours { first: self.at.hour % hours, step: hours }
            }
            (every, Some(_)) => bail!("the time {} names a day that {every} does not have", self.at),
        })
    }

    /// The five fields of cron.
    pub(super) fn cron_fields(&self) -> anyhow::Result<String> {
        let At { hour, minute, .. } = self.at;
        Ok(match self.slots()? {
            Slots::Hours { step: 1, .. } => format!("{minute} * * * *"),
            Slots::Hours { first, step } => {
                let hours: Vec<String> = (first..24).step_by(step.into()).map(|hour| hour.to_string()).collect();
                format!("{minute} {} * * *", hours.join(","))
            }
            Slots::Day => format!("{minute} {hour} * * *"),
            Slots::Week(day) => format!("{minute} {hour} * * {day}"),
            Slots::Month(day) => format!("{minute} {hour} {day} * *"),
        })
    }

    /// All words of the command line, none of which can be read as more than one line or as nothing visible.
    pub(super) fn words(&self) -> anyhow::Result<Vec<&str>> {
        let words: Vec<&str> =
            std::iter::once(self.program.as_str()).chain(self.arguments.iter().map(String::as_str)).collect();
        for word in words.iter().copied().chain([self.folder.as_str(), self.name.as_str()]) {
            ensure!(
                !word.chars().any(is_unprintable),
                "{word:?} holds a control character or a line break, which this program writes into no timetable"
            );
        }
        let program = words.first().context("a command line has a program")?;
        ensure!(!program.is_empty() && !program.starts_with('-'), "{program:?} is no program");
        Ok(words)
    }
}

/// Control characters, and the line breaks and marks that some readers treat as such.
fn is_unprintable(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::series) fn job(every: &str, at: &str, arguments: &[&str]) -> Job {
        Job {
            name: "top 10k".to_owned(),
            every: every.parse().unwrap(),
            at: at.parse().unwrap(),
            program: "/usr/local/bin/survey".to_owned(),
            arguments: arguments.iter().copied().map(str::to_owned).collect(),
            folder: "/srv/surveys".to_owned(),
        }
    }

    #[test]
    fn cron_fields_say_each_span_that_they_can() {
        for (every, at, fields) in [
            ("daily", "03:05", "5 3 * * *"),
            ("24h", "23:59", "59 23 * * *"),
            ("7d", "03:00", "0 3 * * 1"),
            ("weekly", "sun 03:00", "0 3 * * 0"),
            ("monthly", "15 00:00", "0 0 15 * *"),
            ("6h", "08:30", "30 2,8,14,20 * * *"),
            ("1h", "08:30", "30 * * * *"),
            ("12h", "13:00", "0 1,13 * * *"),
        ] {
            assert_eq!(job(every, at, &[]).cron_fields().unwrap(), fields, "{every} at {at}");
        }
    }

    #[test]
    fn a_span_that_no_table_of_times_has_is_refused() {
        for every in ["14d", "3d", "5h", "36h", "90m", "30m", "10s", "6h 1s"] {
            let error = job(every, "03:00", &[]).cron_fields().unwrap_err().to_string();
            assert!(error.contains("survey --every SPAN"), "{every}: {error}");
        }
        for (every, at) in [("daily", "mon 03:00"), ("weekly", "15 03:00"), ("monthly", "mon 03:00"), ("6h", "1 03:00")]
        {
            assert!(job(every, at, &[]).cron_fields().is_err(), "{every} at {at}");
        }
    }

    #[test]
    fn runs_are_spread_within_their_day_and_go_on_only_with_their_own_snapshot() {
        let minutes = |every: &str, at: &str| {
            let (every, at) = (every.parse().unwrap(), at.parse().unwrap());
            (Job::spread(every, at).as_mins(), Job::patience(every, at).as_mins())
        };
        assert_eq!(minutes("weekly", "03:00"), (60, 7 * 24 * 60 - 130));
        assert_eq!(minutes("daily", "03:00"), (30, 24 * 60 - 70));
        assert_eq!(minutes("daily", "23:50"), (9, 24 * 60 - 28));
        assert_eq!(minutes("daily", "23:59"), (0, 24 * 60 - 10));
        assert_eq!(minutes("1h", "03:00"), (5, 40));
        assert_eq!(minutes("monthly", "03:00"), (60, 7 * 24 * 60));
    }

    #[test]
    fn unit_names_are_plain() {
        let named = |name: &str| Job { name: name.to_owned(), ..job("daily", "03:00", &[]) }.unit();
        assert_eq!(named("Top_10k (2026).v1"), "survey-top-10k-2026-v1");
        assert_eq!(named("ä"), "survey");
        assert_eq!(named(&"x".repeat(99)).len(), 52);
        assert_eq!(named(&format!("{} y", "x".repeat(44))), format!("survey-{}", "x".repeat(44)));
    }

    #[test]
    fn a_word_with_a_line_break_is_refused() {
        for word in ["a\nb", "a\rb", "a\u{7f}", "a\u{2028}b", "\u{85}"] {
            assert!(job("daily", "03:00", &[word]).words().is_err(), "{word:?}");
        }
        assert!(Job { program: "-x".to_owned(), ..job("daily", "03:00", &[]) }.words().is_err());
    }
}
