//! How often.

use std::fmt;
use std::str::FromStr;

use jiff::tz::Offset;
use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};

/// How often a survey is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// Once a day: `daily`, `1d`, `24h`.
    Day,
    /// Once a week: `weekly`, `7d`, `1w`.
    Week,
    /// Once a calendar month: `monthly`.
    Month,
    /// After any other span: `6h`, `14d`.
    Span(SignedDuration),
}

const DAY: SignedDuration = SignedDuration::from_hours(24);
const WEEK: SignedDuration = SignedDuration::from_hours(7 * 24);

impl Every {
    /// The `number`-th slot after a run that began at this moment; the first follows one period later.
    ///
    /// A month is as long as the calendar says, in UTC; days have 24 hours.
    pub fn slot(self, began: Timestamp, number: u32) -> SignedDuration {
        let times = i32::try_from(number).unwrap_or(i32::MAX);
        match self {
            Self::Day => DAY.saturating_mul(times),
            Self::Week => WEEK.saturating_mul(times),
            Self::Span(span) => span.saturating_mul(times),
            Self::Month => {
                let day = Offset::UTC.to_datetime(began);
                let slot = Span::new().try_months(times).and_then(|months| day.checked_add(months));
                // Only past the year 9999.
                slot.map_or(SignedDuration::MAX, |slot| slot.duration_since(day))
            }
        }
    }

    /// The shortest time between two slots.
    pub fn at_least(self) -> SignedDuration {
        match self {
            Self::Day => DAY,
            Self::Week => WEEK,
            Self::Month => DAY.saturating_mul(28),
            Self::Span(span) => span,
        }
    }
}

impl fmt::Display for Every {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Day => formatter.write_str("every day"),
            Self::Week => formatter.write_str("every week"),
            Self::Month => formatter.write_str("every month"),
            Self::Span(span) if span.as_secs() % DAY.as_secs() == 0 => {
                write!(formatter, "every {} days", span.as_secs() / DAY.as_secs())
            }
            Self::Span(span) => write!(formatter, "every {span:#}"),
        }
    }
}

/// The text does not say how often.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is none of daily, weekly, monthly, or a span such as 7d or 6h")]
pub struct NoSpan(String);

impl FromStr for Every {
    type Err = NoSpan;

    fn from_str(text: &str) -> Result<Self, NoSpan> {
        match text {
            "daily" => return Ok(Self::Day),
            "weekly" => return Ok(Self::Week),
            "monthly" => return Ok(Self::Month),
            _ => {}
        }
        let span: Option<Span> = text.parse().ok();
        let span = span.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()).ok());
        match span.filter(SignedDuration::is_positive).ok_or_else(|| NoSpan(text.to_owned()))? {
            DAY => Ok(Self::Day),
            WEEK => Ok(Self::Week),
            span => Ok(Self::Span(span)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_one_meaning_however_it_is_written() {
        for (text, every) in [("daily", Every::Day), ("1d", Every::Day), ("24h", Every::Day), ("weekly", Every::Week)] {
            assert_eq!(text.parse(), Ok(every), "{text}");
        }
        for text in ["7d", "1w", "168h", "6d 24h"] {
            assert_eq!(text.parse(), Ok(Every::Week), "{text}");
        }
        assert_eq!("monthly".parse(), Ok(Every::Month));
        assert_eq!("14d".parse::<Every>().unwrap().to_string(), "every 14 days");
        assert_eq!("6h".parse::<Every>().unwrap().to_string(), "every 6h");
    }

    #[test]
    fn what_is_no_span_is_refused() {
        for text in ["", "7", "0d", "-7d", "yearly", "1mo", "1y", "often"] {
            assert!(text.parse::<Every>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_month_is_as_long_as_the_calendar_says() {
        let slot = |began: &str, number| Every::Month.slot(began.parse().unwrap(), number).as_hours() / 24;
        assert_eq!([1, 2, 12].map(|number| slot("2027-01-15T03:00:00Z", number)), [31, 59, 365]);
        assert_eq!(slot("2027-01-31T03:00:00Z", 1), 28);
    }
}
