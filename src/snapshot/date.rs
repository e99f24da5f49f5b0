//! The name of a snapshot in its folder: a day, and a time of day where the day was surveyed again.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil;
use jiff::tz::Offset;
use serde::{Deserialize, Serialize};

/// The date of a snapshot: `2026-11-30`, or `2026-11-30T140533` for a further one on the same day.
///
/// Ordered as the snapshots were begun. No colons, since it names folders on any file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Date {
    day: civil::Date,
    time: Option<civil::Time>,
}

impl Date {
    /// The day of this moment, in UTC.
    pub fn of(now: Timestamp) -> Self {
        Self { day: Offset::UTC.to_datetime(now).date(), time: None }
    }

    /// The same day, with the time of day of this moment, in UTC.
    #[must_use]
    pub fn again(self, now: Timestamp) -> Self {
        let time = Offset::UTC.to_datetime(now).time();
        let whole = time.with().subsec_nanosecond(0).build().expect("zero nanoseconds are in range");
        Self { day: self.day, time: Some(whole) }
    }

    /// The day alone.
    pub fn day(self) -> civil::Date {
        self.day
    }
}

impl fmt::Display for Date {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.day)?;
        match self.time {
            Some(time) => write!(formatter, "T{:02}{:02}{:02}", time.hour(), time.minute(), time.second()),
            None => Ok(()),
        }
    }
}

/// The text is no date of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no date such as 2026-11-30 or 2026-11-30T140533")]
pub struct NotADate(String);

impl FromStr for Date {
    type Err = NotADate;

    fn from_str(text: &str) -> Result<Self, NotADate> {
        let no_date = || NotADate(text.to_owned());
        let (day, time) = match text.split_once('T') {
            Some((day, time)) => (day, Some(clock(time).ok_or_else(no_date)?)),
            None => (text, None),
        };
        // Only the spelling that is written, so that one snapshot has one name.
        let spelled = day.len() == 10 && day.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let day = day.parse().ok().filter(|_| spelled).ok_or_else(no_date)?;
        Ok(Self { day, time })
    }
}

impl TryFrom<String> for Date {
    type Error = NotADate;

    fn try_from(text: String) -> Result<Self, NotADate> {
        text.parse()
    }
}

impl From<Date> for String {
    fn from(date: Date) -> Self {
        date.to_string()
    }
}

fn clock(text: &str) -> Option<civil::Time> {
    if text.len() != 6 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    civil::Time::new(text[..2].parse().ok()?, text[2..4].parse().ok()?, text[4..].parse().ok()?, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_come_back_from_their_names_in_order() {
        let now: Timestamp = "2026-11-30T14:05:33.25Z".parse().unwrap();
        let first = Date::of(now);
        let second = first.again(now);
        assert_eq!(first.to_string(), "2026-11-30");
        assert_eq!(second.to_string(), "2026-11-30T140533");
        assert_eq!(second.to_string().parse(), Ok(second));
        assert!(first < second && second < "2026-12-01".parse().unwrap());
    }

    #[test]
    fn other_spellings_are_no_dates() {
        for text in
            ["", "2026", "2026-13-01", "20261130", "2026-11-30T", "2026-11-30T14:05", "2026-11-30T256000", "rfc"]
        {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
    }
}
