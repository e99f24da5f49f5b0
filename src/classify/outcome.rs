//! A response → what it turned out to be: its status, its headers and the first look at its bytes.

use crate::observation::Response;
use crate::outcome::Kind;
use crate::robots::RobotsTxt;

/// What a response turned out to be; `file` is its body, read.
pub(super) fn kind_of(response: &Response, file: &RobotsTxt<'_>) -> Kind {
    if is_challenge(response) {
        return Kind::Challenge;
    }
    match response.status {
        200..=299 => kind_of_content(file),
        300..=399 => Kind::Other3xx,
        401 => Kind::Refused401,
        402 => Kind::Payment402,
        403 => Kind::Refused403,
        404 => Kind::Absent404,
        410 => Kind::Absent410,
        429 => Kind::Limited429,
        451 => Kind::Refused451,
        400..=499 => Kind::Other4xx,
        520..=530 => Kind::OriginDown,
        // RFC 9110, section 15: a status outside 100 to 599 is treated as a 5xx. One below 200 is never an answer.
        _ => Kind::ServerError,
    }
}

/// What the content of a success is.
pub(super) fn kind_of_content(file: &RobotsTxt<'_>) -> Kind {
    let body = file.body();
    if is_html(body) {
        Kind::Html
    } else if file.has_rules() {
        Kind::Rules
    } else if file.has_known_record() {
        Kind::NoRules
    } else if says_nothing(body) {
        Kind::Empty
    } else if body.iter().any(|byte| is_binary_data(*byte)) {
        Kind::Binary
    } else {
        Kind::NoDirectives
    }
}

/// Whether a body starts like a page.
pub(super) fn is_html(body: &[u8]) -> bool {
    let text = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let start = text.iter().position(|byte| !is_white(*byte)).unwrap_or(text.len());
    let starts_with = |tag: &[u8]| text[start..].get(..tag.len()).is_some_and(|at| at.eq_ignore_ascii_case(tag));
    starts_with(b"<!doctype html") || starts_with(b"<html")
}

/// Whether there is nothing but white space and comments.
fn says_nothing(body: &[u8]) -> bool {
    let text = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let mut lines = text.split(|byte| matches!(byte, b'\n' | b'\r'));
    lines.all(|line| line.iter().find(|byte| !is_white(**byte)).is_none_or(|first| *first == b'#'))
}

/// A bot check, by the headers that its vendors document.
///
/// Cloudflare: `cf-mitigated: challenge`. AWS WAF: `x-amzn-waf-action: challenge` or `captcha`.
fn is_challenge(response: &Response) -> bool {
    let is_one_of = |name, words: &[&str]| {
        response.header(name).is_some_and(|value| words.iter().any(|word| value.trim().eq_ignore_ascii_case(word)))
    };
    is_one_of("cf-mitigated", &["challenge"]) || is_one_of("x-amzn-waf-action", &["challenge", "captcha"])
}

/// A binary data byte of the WHATWG MIME Sniffing Standard.
const fn is_binary_data(byte: u8) -> bool {
    matches!(byte, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f)
}

const fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::robots::Dialect;

    #[track_caller]
    fn check(status: u16, headers: &[(&str, &str)], body: &[u8], expected: Kind) {
        let response = Response {
            url: "https://example.com/robots.txt".into(),
            status,
            headers: headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            body: Bytes::copy_from_slice(body),
            is_truncated: false,
            wire_bytes: None,
        };
        assert_eq!(kind_of(&response, &RobotsTxt::parse(body, Dialect::Rfc9309)), expected);
    }

    #[test]
    fn content_decides_where_the_status_is_a_success() {
        check(200, &[], b"User-agent: *\nDisallow: /x", Kind::Rules);
        check(203, &[], b"User-agent: *\nDisallow:", Kind::NoRules);
        check(200, &[], b"Sitemap: https://example.com/s.xml", Kind::NoRules);
        check(200, &[], b"Disallow: /x", Kind::NoRules);
        check(200, &[], b"", Kind::Empty);
        check(204, &[], b"\xef\xbb\xbf \r\n# nothing\r # more\n", Kind::Empty);
        check(200, &[], b"\xef\xbb\xbf\n <!DOCTYPE HTML><p>User-agent: *\n", Kind::Html);
        check(200, &[], b"<HTML>", Kind::Html);
        check(200, &[], b"Not found: /robots.txt", Kind::NoDirectives);
        check(200, &[], b"\x89PNG\r\n\x1a\n\0\0", Kind::Binary);
        check(200, &[], b"User-agent: *\nDisallow: /\0", Kind::Rules);
    }

    #[test]
    fn the_status_decides_else() {
        check(404, &[], b"User-agent: *\nDisallow: /", Kind::Absent404);
        check(410, &[], b"", Kind::Absent410);
        check(401, &[], b"", Kind::Refused401);
        check(402, &[], b"", Kind::Payment402);
        check(403, &[], b"<html>", Kind::Refused403);
        check(418, &[], b"", Kind::Other4xx);
        check(429, &[], b"", Kind::Limited429);
        check(451, &[], b"", Kind::Refused451);
        check(304, &[], b"", Kind::Other3xx);
        check(503, &[], b"", Kind::ServerError);
        check(522, &[], b"", Kind::OriginDown);
        check(999, &[], b"", Kind::ServerError);
        check(99, &[], b"", Kind::ServerError);
    }

    #[test]
    fn a_challenge_is_known_by_documented_headers_only() {
        check(403, &[("cf-mitigated", "challenge")], b"", Kind::Challenge);
        check(202, &[("x-amzn-waf-action", "challenge")], b"", Kind::Challenge);
        check(405, &[("x-amzn-waf-action", "captcha")], b"", Kind::Challenge);
        check(403, &[("server", "cloudflare")], b"<title>Just a moment...</title>", Kind::Refused403);
    }
}
