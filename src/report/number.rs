//! Numbers as people read them.

/// A count with a comma between thousands.
///
/// ```
/// assert_eq!(survey::report::thousands(1_234_567), "1,234,567");
/// ```
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share from 0 to 1 in percent, with one decimal.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_stand_between_thousands_only() {
        let counts = [0, 999, 1_000, 123_456, 1_000_000].map(thousands);
        assert_eq!(counts, ["0", "999", "1,000", "123,456", "1,000,000"]);
    }

    #[test]
    fn percentages_have_one_decimal() {
        assert_eq!([0.0, 0.12345, 1.0].map(percent), ["0.0%", "12.3%", "100.0%"]);
    }
}
