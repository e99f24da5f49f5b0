//! Servers that ask for fewer requests: status 429 or 503, perhaps with a time (RFC 9110, section 10.2.3).

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;

use super::fetch::Exchange;
use crate::outcome::Cause;

/// What a connection told of its server's patience.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// No answer came, for a reason that says nothing about its patience.
    Nothing,
    /// The server did not take the connection, let it stall or cut it off.
    Broken,
    /// An answer; a 403 is one, and no request for fewer.
    Answer,
    /// The server asks for fewer requests, and to be left alone for so long if it says so.
    Refusal(Option<Duration>),
}

impl Heard {
    /// What an exchange tells.
    pub(crate) fn of(exchange: &Exchange) -> Self {
        match &exchange.result {
            Err(failure) if failure.cause.is_transient() || failure.cause == Cause::ConnectRefused => Self::Broken,
            Err(_) => Self::Nothing,
            Ok(response) if matches!(response.status, 429 | 503) => {
                Self::Refusal(response.header("retry-after").and_then(|value| read(value, exchange.sent_at)))
            }
            Ok(_) => Self::Answer,
        }
    }
}

/// Reads the value: seconds, or a date, which is compared with the time of the request. One that is over is no time.
fn read(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that no integer holds is longer than any patience.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX / 2)));
    }
    let date = rfc2822::parse(value).ok()?.timestamp();
    Duration::try_from(date.duration_since(now)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let now: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        assert_eq!(read("120", now), Some(Duration::from_secs(120)));
        assert_eq!(read(" 0 ", now), Some(Duration::ZERO));
        assert_eq!(read("Mon, 30 Nov 2026 12:01:30 GMT", now), Some(Duration::from_secs(90)));
        assert_eq!(read("Mon, 30 Nov 2026 11:59:00 GMT", now), None, "it is over");
        assert!(read("99999999999999999999999", now).unwrap() > Duration::from_secs(1 << 40));
        for odd in ["", "soon", "-5", "1.5", "2026-11-30"] {
            assert_eq!(read(odd, now), None, "{odd}");
        }
    }
}
