//! HTTP/1.1 as the web speaks it: one request for each connection, read with httparse, answered by host and path.
//!
//! Touches nothing: bytes in, bytes out; sockets are the business of `serve`. Deliberately absent: keep-alive, request
//! bodies, and what becomes of a condition (`conditional`).

use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::rehearsal::behaviour::{Course, Play, Reply, Response};

/// The largest request head that is read.
pub(super) const HEAD_LIMIT: usize = 16 * 1024;

const FILE: &str = "/robots.txt";

/// Which port was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    /// The one that stands for 80.
    Http,
    /// The one that stands for 443.
    Https,
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// The host, in lower case, without port and last dot.
    pub(super) host: String,
    /// Path and query.
    pub(super) path: String,
    method: Method,
    accepts_gzip: bool,
    accepts_chunks: bool,
    /// The tags of which none is wanted again.
    pub(super) if_none_match: Option<String>,
    /// What has not changed since this date is not wanted again.
    pub(super) if_modified_since: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Fetch,
    Head,
    Other,
}

/// Reads a request head: nothing while it is incomplete, an error if it never will be one.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<Request>, httparse::Error> {
    let mut slots = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Request::new(&mut slots);
    if head.parse(bytes)?.is_partial() {
        return Ok(None);
    }
    let field = |name: &str| {
        let found = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        found.map(|header| String::from_utf8_lossy(header.value)).unwrap_or_default()
    };
    let host = field("host").to_ascii_lowercase();
    let host = host.split(':').next().unwrap_or_default();
    Ok(Some(Request {
        host: host.strip_suffix('.').unwrap_or(host).to_owned(),
        path: head.path.unwrap_or("/").to_owned(),
        method: match head.method {
            Some("GET") => Method::Fetch,
            Some("HEAD") => Method::Head,
            _ => Method::Other,
        },
        accepts_gzip: field("accept-encoding")
            .split(',')
            .any(|coding| coding.split(';').next().is_some_and(|name| name.trim().eq_ignore_ascii_case("gzip"))),
        accepts_chunks: head.version == Some(1),
        if_none_match: Some(field("if-none-match").into_owned()).filter(|value| !value.is_empty()),
        if_modified_since: Some(field("if-modified-since").into_owned()).filter(|value| !value.is_empty()),
    }))
}

/// What a request finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// A response.
    Respond(Response),
    /// What no server in good health says.
    Play(Play),
    /// A reset.
    Reset,
}

/// What a host makes of a request; there is no host where nothing is given.
pub(super) fn answer(reply: Option<&Reply>, request: &Request, scheme: Scheme) -> Answer {
    let Some(reply) = reply else {
        return Answer::Respond(Response::page(421, &request.host));
    };
    if request.method == Method::Other {
        return Answer::Respond(Response::page(405, &request.host));
    }
    let (host, path) = (request.host.as_str(), request.path.as_str());
    Answer::Respond(match reply {
        Reply::Reset => return Answer::Reset,
        Reply::Play(play) => return Answer::Play(play.clone()),
        // The first request was counted by who keeps count.
        Reply::AtFirst(_, then) => return answer(Some(then), request, scheme),
        Reply::Respond(response) if path == FILE => response.clone(),
        Reply::Redirect(course) => follow(course, host, path, scheme),
        Reply::Respond(_) => Response::page(404, host),
    })
}

fn follow(course: &Course, host: &str, path: &str, scheme: Scheme) -> Response {
    let at_file = path == FILE;
    match course {
        Course::Www if at_file => redirect(301, &format!("https://www.{host}{FILE}")),
        Course::Apex if at_file => {
            redirect(301, &format!("https://{}{FILE}", host.strip_prefix("www.").unwrap_or(host)))
        }
        Course::Upgrade(response) if at_file => match scheme {
            Scheme::Http => redirect(308, &format!("https://{host}{FILE}")),
            Scheme::Https => response.clone(),
        },
        Course::Hops(hops, response) => {
            let done = if at_file { Some(0) } else { hop(path) };
            match done {
                Some(done) if done == *hops => response.clone(),
                Some(done) if done < *hops => redirect(302, &format!("https://{host}/hop/{}{FILE}", done + 1)),
                _ => Response::page(404, host),
            }
        }
        Course::Loop if at_file => redirect(302, &format!("https://{host}/again{FILE}")),
        Course::Loop => redirect(302, &format!("https://{host}{FILE}")),
        Course::Endless => redirect(302, &format!("/hop/{}{FILE}", hop(path).unwrap_or(0) + 1)),
        Course::Once { status, location, .. } if at_file => redirect(*status, &location.replace("{host}", host)),
        Course::Once { response, .. } => response.clone(),
        Course::Www | Course::Apex | Course::Upgrade(_) => Response::page(404, host),
    }
}

/// The bytes of a response: its head, and its body as it is framed for this request.
pub(super) fn frame(response: &Response, request: Option<&Request>) -> (Vec<u8>, Bytes) {
    let status = response.status;
    let mut head = format!("HTTP/1.1 {status} {}\r\nConnection: close\r\n", reason(status)).into_bytes();
    head.extend_from_slice(&response.fields);
    // RFC 9112, section 6.3: these end with their head.
    let has_body = !matches!(status, 100..=199 | 204 | 304);
    let mut body = if has_body { response.body.clone() } else { Bytes::new() };
    if response.gzip && has_body && request.is_some_and(|request| request.accepts_gzip) {
        body = compress(&body);
        head.extend_from_slice(b"Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n");
    }
    if response.chunked && has_body && request.is_some_and(|request| request.accepts_chunks) {
        body = chunks(&body);
        head.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
    } else if has_body {
        head.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
    }
    head.extend_from_slice(b"\r\n");
    if request.is_some_and(|request| request.method == Method::Head) {
        body = Bytes::new();
    }
    (head, body)
}

/// The status of a message that may be no response at all.
pub(super) fn status_of(message: &[u8]) -> Option<u16> {
    let digits = message.strip_prefix(b"HTTP/1.")?.get(2..5)?;
    str::from_utf8(digits).ok()?.parse().ok()
}

/// The usual phrase of a status.
pub(super) fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        410 => "Gone",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    }
}

fn redirect(status: u16, location: &str) -> Response {
    let fields = format!("Location: {location}\r\nContent-Type: text/html\r\n").into();
    Response { status, fields, body: Bytes::new(), chunked: false, gzip: false }
}

/// The number in `/hop/3/robots.txt`.
fn hop(path: &str) -> Option<usize> {
    path.strip_prefix("/hop/")?.strip_suffix(FILE)?.parse().ok()
}

fn compress(body: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).expect("a vector takes every byte");
    encoder.finish().expect("a vector takes every byte").into()
}

fn chunks(body: &[u8]) -> Bytes {
    let mut framed = Vec::with_capacity(body.len() + 64);
    for piece in body.chunks(4096) {
        framed.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        framed.extend_from_slice(piece);
        framed.extend_from_slice(b"\r\n");
    }
    framed.extend_from_slice(b"0\r\n\r\n");
    framed.into()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::MultiGzDecoder;

    use super::*;

    fn ask(path: &str) -> Request {
        let text = format!("GET {path} HTTP/1.1\r\nHost: Example.COM:8080\r\nAccept-Encoding: br, gzip;q=0.5\r\n\r\n");
        parse(text.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn a_head_is_read_whole_or_not_at_all() {
        assert_eq!(parse(b"GET / HTTP/1.1\r\nHost: a.b\r\n"), Ok(None));
        assert!(parse(b"\x16\x03\x01 what is this").is_err());
        assert_eq!(ask("/robots.txt").host, "example.com");
        assert!(ask("/robots.txt").accepts_gzip);
    }

    #[test]
    fn hops_are_counted_down_and_end_in_the_response() {
        let file = Response::file("done");
        let reply = Reply::Redirect(Course::Hops(2, file.clone()));
        let at = |path: &str| match answer(Some(&reply), &ask(path), Scheme::Https) {
            Answer::Respond(response) => response,
            other => panic!("{other:?}"),
        };
        let fields = |response: &Response| String::from_utf8(response.fields.to_vec()).unwrap();
        assert!(fields(&at("/robots.txt")).starts_with("Location: https://example.com/hop/1/robots.txt\r\n"));
        assert!(fields(&at("/hop/1/robots.txt")).starts_with("Location: https://example.com/hop/2/robots.txt\r\n"));
        assert_eq!(at("/hop/2/robots.txt"), file);
        assert_eq!(at("/hop/3/robots.txt").status, 404);
    }

    #[test]
    fn a_compressed_body_in_chunks_is_the_same_body() {
        let text = "Disallow: /private/\n".repeat(5000);
        let response = Response { chunked: true, gzip: true, ..Response::file(text.clone()) };
        let (head, body) = frame(&response, Some(&ask("/robots.txt")));
        let head = String::from_utf8(head).unwrap();
        assert!(head.contains("Content-Encoding: gzip\r\n") && head.contains("Transfer-Encoding: chunked\r\n"));
        let (mut left, mut whole) = (&body[..], Vec::new());
        while let httparse::Status::Complete((start, length)) = httparse::parse_chunk_size(left).unwrap() {
            let end = start + usize::try_from(length).unwrap();
            whole.extend_from_slice(&left[start..end]);
            assert_eq!(&left[end..end + 2], b"\r\n");
            left = &left[end + 2..];
            if length == 0 {
                break;
            }
        }
        assert!(left.is_empty());
        let mut plain = String::new();
        MultiGzDecoder::new(&whole[..]).read_to_string(&mut plain).unwrap();
        assert_eq!(plain, text);
        let (head, body) = frame(&response, None);
        assert!(String::from_utf8(head).unwrap().contains("Content-Length: 100000\r\n") && body == text);
    }

    #[test]
    fn a_status_without_a_body_has_no_framing_either() {
        let (head, body) = frame(&Response::new(204, "text/plain", "never sent"), None);
        assert!(body.is_empty());
        assert!(!String::from_utf8(head).unwrap().contains("Content-Length"));
    }
}
