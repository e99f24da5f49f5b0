//! What each host of a WARC file answered, ready to be sent again.
//!
//! Deliberately absent: reading the file (`input`), and anything but the newest response of a host.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Context as _;

use crate::domain::Domain;
use crate::input::warc::{self, Capture};
use crate::rehearsal::behaviour::Response;

/// Bytes of a body that are sent again; more than any survey keeps.
const MAX_BODY: usize = 64 << 20;

/// The hosts of the archive in order, each with its response; a later record of a host replaces an earlier one.
///
/// A defect ends the reading: a host left out in silence would come back as a name that does not exist.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<(Domain, Response)>> {
    let mut hosts: Vec<(Domain, Response)> = Vec::new();
    let mut positions: HashMap<Domain, usize> = HashMap::new();
    for capture in warc::read(path, MAX_BODY)? {
        let capture =
            capture.map_err(|defect| anyhow::anyhow!("{defect}")).with_context(|| path.display().to_string())?;
        // Not a name that a survey could ask for.
        let Ok(host) = capture.host.clone() else { continue };
        let response = answer(capture);
        if let Some(position) = positions.get(&host) {
            hosts[*position].1 = response;
        } else {
            positions.insert(host.clone(), hosts.len());
            hosts.push((host, response));
        }
    }
    anyhow::ensure!(!hosts.is_empty(), "{} holds no response of any host", path.display());
    Ok(hosts)
}

/// The recorded response; its framing and codings are left behind, because the rehearsal frames anew.
fn answer(capture: Capture) -> Response {
    let mut fields = Vec::new();
    for (name, value) in capture.headers.iter().filter(|(name, _)| !FRAMING.contains(&name.as_str())) {
        fields.extend_from_slice(name.as_bytes());
        fields.extend_from_slice(b": ");
        // Values were read as Latin-1, so each character is the byte that it was.
        fields.extend(value.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap_or(b'?')));
        fields.extend_from_slice(b"\r\n");
    }
    Response { status: capture.status, fields: fields.into(), body: capture.body, chunked: false, gzip: false }
}

const FRAMING: &[&str] =
    &["connection", "content-encoding", "content-length", "keep-alive", "trailer", "transfer-encoding", "upgrade"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framing_is_left_behind_and_the_rest_is_kept() {
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let response = answer(Capture {
            url: "https://a.example/robots.txt".to_owned(),
            host: Domain::parse("a.example"),
            captured_at: jiff::Timestamp::UNIX_EPOCH,
            status: 503,
            headers: vec![
                field("server", "a"),
                field("content-length", "99"),
                field("transfer-encoding", "chunked"),
                field("content-encoding", "gzip"),
                field("x", "\u{e9}"),
            ],
            body: "body".into(),
            is_truncated: false,
            record: 1,
        });
        assert_eq!(response.status, 503);
        assert_eq!(response.fields, &b"server: a\r\nx: \xe9\r\n"[..]);
        assert_eq!(response.body, "body");
    }
}
