//! Requests for fewer requests: `Retry-After` in both of its forms (RFC 9110, section 10.2.3).
//!
//! May touch: the wall clock, since a date is one form. Deliberately absent: memory of who was refused; who asks again
//! too early is found in the log.

use jiff::Timestamp;
use jiff::fmt::rfc2822::{self, DateTimePrinter};

use crate::rehearsal::behaviour::Response;
use crate::rehearsal::dice::Dice;

/// How long is asked for, and in which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// So many seconds.
    Seconds(u32),
    /// Until the second in which so many seconds are over.
    Date(u32),
}

impl Response {
    /// A page that asks for fewer requests.
    pub(super) fn refusal(status: u16, host: &str, wait: Wait) -> Self {
        let value = match wait {
            Wait::Seconds(seconds) => seconds.to_string(),
            Wait::Date(seconds) => http_date(Timestamp::now() + jiff::SignedDuration::from_secs(seconds.into())),
        };
        Self::page(status, host).with(&format!("Retry-After: {value}\r\n"))
    }
}

/// The refusal of a host at an address that many share, if it is one of so many of a thousand that are refused.
pub(super) fn of_shared(seed: u64, host: &str, per_mille: usize) -> Option<Response> {
    let mut dice = Dice::new(seed, host, "refusing");
    dice.per_mille(per_mille).then(|| {
        let wait = dice.one_of(&[Wait::Seconds(1), Wait::Seconds(2), Wait::Date(1), Wait::Date(2)]);
        Response::refusal(429, host, wait)
    })
}

/// What the log says of a response that asks for fewer requests: the seconds from now on, to the millisecond.
pub(super) fn note(response: &Response) -> Option<String> {
    if !matches!(response.status, 429 | 503) {
        return None;
    }
    let fields = str::from_utf8(&response.fields).ok()?;
    let mut pairs = fields.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = pairs.find(|(name, _)| name.eq_ignore_ascii_case("retry-after"))?;
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u32>() {
        return Some(format!("retry-after {seconds}"));
    }
    let left = rfc2822::parse(value).ok()?.timestamp().duration_since(Timestamp::now());
    Some(format!("retry-after {}.{:03}", left.as_secs(), left.subsec_millis()))
}

/// A time as header fields have it (RFC 9110, section 5.6.7).
pub(super) fn http_date(time: Timestamp) -> String {
    DateTimePrinter::new().timestamp_to_rfc9110_string(&time).expect("a time of this century has a date")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_sent_and_noted() {
        let seconds = Response::refusal(429, "a.example", Wait::Seconds(2));
        assert_eq!(note(&seconds).as_deref(), Some("retry-after 2"));
        let dated = Response::refusal(503, "a.example", Wait::Date(90));
        let left: f64 = note(&dated).unwrap().strip_prefix("retry-after ").unwrap().parse().unwrap();
        assert!((88.0..=90.0).contains(&left), "{left}");
        assert_eq!(note(&Response::page(429, "a.example")), None);
    }

    #[test]
    fn a_host_is_refused_always_or_never() {
        let refused = |host: &str| of_shared(1, host, 100).is_some();
        let names: Vec<String> = (0..2000).map(|index| format!("host-{index}.example")).collect();
        let count = names.iter().filter(|name| refused(name)).count();
        assert!((150..250).contains(&count), "{count}");
        assert!(names.iter().all(|name| refused(name) == refused(name)));
        assert!(!names.iter().any(|name| of_shared(1, name, 0).is_some()));
    }
}
