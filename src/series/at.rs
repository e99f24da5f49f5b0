//! At which time.

use std::fmt;
use std::str::FromStr;

/// A time of day, with a day of the week or month where one was given: `03:00`, `mon 03:00`, `15 03:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    pub(super) day: Option<Day>,
    pub(super) hour: u16,
    pub(super) minute: u16,
}

/// A day of the week or of the month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Day {
    /// From Sunday, 0.
    OfWeek(u16),
    /// From 1 to 28, so that each month has it.
    OfMonth(u16),
}

pub(super) const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

impl At {
    /// Minutes until the day is over.
    pub(super) fn minutes_left(self) -> u16 {
        24 * 60 - (60 * self.hour + self.minute)
    }
}

impl fmt::Display for At {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.day {
            Some(Day::OfWeek(day)) => write!(formatter, "{} ", WEEKDAYS[usize::from(day)])?,
            Some(Day::OfMonth(day)) => write!(formatter, "{day} ")?,
            None => {}
        }
        write!(formatter, "{:02}:{:02}", self.hour, self.minute)
    }
}

/// The text is no time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no time such as 03:00, \"mon 03:00\" or \"15 03:00\" (a day from 1 to 28)")]
pub struct NoTime(String);

impl FromStr for At {
    type Err = NoTime;

    fn from_str(text: &str) -> Result<Self, NoTime> {
        read(text).ok_or_else(|| NoTime(text.to_owned()))
    }
}

fn read(text: &str) -> Option<At> {
    let (day, time) = match text.trim().rsplit_once(' ') {
        Some((day, time)) => (Some(read_day(day.trim())?), time),
        None => (None, text.trim()),
    };
    let (hour, minute) = time.split_once(':')?;
    let (hour, minute) = (number(hour)?, number(minute)?);
    (hour < 24 && minute < 60).then_some(At { day, hour, minute })
}

fn read_day(text: &str) -> Option<Day> {
    let weekday = WEEKDAYS.iter().position(|weekday| weekday.eq_ignore_ascii_case(text));
    if let Some(weekday) = weekday.and_then(|weekday| u16::try_from(weekday).ok()) {
        return Some(Day::OfWeek(weekday));
    }
    number(text).filter(|day| (1..=28).contains(day)).map(Day::OfMonth)
}

/// Two digits at most, and nothing else.
fn number(text: &str) -> Option<u16> {
    let is_plain = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_and_without_a_day() {
        for (text, shown) in [("3:00", "03:00"), ("mon 03:05", "Mon 03:05"), ("28 23:59", "28 23:59")] {
            assert_eq!(text.parse::<At>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn what_no_clock_or_calendar_has_each_time_is_refused() {
        for text in ["", "3", "24:00", "03:60", "31 03:00", "0 03:00", "monday 03:00", "+3:00", "03:00 mon"] {
            assert!(text.parse::<At>().is_err(), "{text}");
        }
    }
}
