//! Conditional requests (RFC 9110, section 13): a file that the asker has already is not sent again.
//!
//! Touches nothing. Deliberately absent: doubt. Whether a validator tells the truth is the host's affair.

use std::borrow::Cow;

use bytes::Bytes;

use crate::rehearsal::behaviour::Response;
use crate::rehearsal::http::Request;

/// The response to a request, its condition considered.
///
/// A date must be the same, as nginx has it by default: one that is later is no proof.
pub(super) fn settle(response: Response, request: &Request) -> Response {
    let is_known = match (&request.if_none_match, &request.if_modified_since) {
        _ if response.status != 200 => false,
        (Some(tags), _) => field(&response, "etag").is_some_and(|tag| holds(tags, &tag)),
        (None, Some(date)) => field(&response, "last-modified").is_some_and(|known| known == date.trim()),
        (None, None) => false,
    };
    if !is_known {
        return response;
    }
    let fields = String::from_utf8_lossy(&response.fields).into_owned();
    let is_sent = |line: &&str| {
        line.split_once(':').is_some_and(|(name, _)| SENT.iter().any(|known| name.eq_ignore_ascii_case(known)))
    };
    let fields: Vec<&str> = fields.split_inclusive('\n').filter(is_sent).collect();
    Response { status: 304, fields: fields.concat().into(), body: Bytes::new(), chunked: false, gzip: false }
}

/// Fields that a 304 has where the whole response would (RFC 9110, section 15.4.5), and the date.
const SENT: &[&str] = &["cache-control", "content-location", "date", "etag", "expires", "last-modified", "vary"];

fn field<'a>(response: &'a Response, name: &str) -> Option<Cow<'a, str>> {
    let line = response.fields.split(|byte| *byte == b'\n').find_map(|line| {
        let (key, value) = line.split_at(line.iter().position(|byte| *byte == b':')?);
        key.eq_ignore_ascii_case(name.as_bytes()).then_some(&value[1..])
    })?;
    Some(String::from_utf8_lossy(line.trim_ascii()))
}

/// Whether one of the tags is this one, by the weak comparison.
fn holds(tags: &str, tag: &str) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    tags.trim() == "*" || tags.split(',').any(|one| opaque(one) == opaque(tag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rehearsal::http::parse;

    #[track_caller]
    fn check(response: &Response, condition: &str, status: u16) {
        let request = format!("GET /robots.txt HTTP/1.1\r\nHost: a.example\r\n{condition}\r\n\r\n");
        let settled = settle(response.clone(), &parse(request.as_bytes()).unwrap().unwrap());
        assert_eq!(settled.status, status, "{condition}");
        if status == 304 {
            let fields = String::from_utf8(settled.fields.to_vec()).unwrap();
            assert!(settled.body.is_empty() && !fields.contains("Content-Type"), "{fields}");
            assert!(fields.contains("ETag") || fields.contains("Last-Modified"), "{fields}");
        }
    }

    #[test]
    fn a_file_is_not_sent_to_who_has_it() {
        let tagged = Response::file("x").with("ETag: \"1\"\r\n");
        check(&tagged, "If-None-Match: \"1\"", 304);
        check(&tagged, "If-None-Match: \"0\", W/\"1\"", 304);
        check(&tagged, "If-None-Match: \"2\"", 200);
        check(&tagged, "If-Modified-Since: Mon, 30 Nov 2026 00:00:00 GMT", 200);
        let dated = Response::file("x").with("Last-Modified: Mon, 30 Nov 2026 00:00:00 GMT\r\n");
        check(&dated, "If-Modified-Since: Mon, 30 Nov 2026 00:00:00 GMT", 304);
        check(&dated, "If-Modified-Since: Tue, 01 Dec 2026 00:00:00 GMT", 200);
        check(&dated, "If-None-Match: \"1\"\r\nIf-Modified-Since: Mon, 30 Nov 2026 00:00:00 GMT", 200);
        check(&Response::page(404, "a.example").with("ETag: \"1\"\r\n"), "If-None-Match: \"1\"", 404);
        check(&Response::file("x"), "If-None-Match: \"1\"", 200);
    }
}
