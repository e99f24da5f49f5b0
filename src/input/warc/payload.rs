//! An archived HTTP message → status, headers and decoded body.
//!
//! Many archives store bodies with their codings undone and keep the headers all the same, so a header alone is not
//! believed: a body that does not look coded is taken as it stands.

use std::io::Read;

use bytes::Bytes;
use flate2::bufread::MultiGzDecoder;
use httparse::{ParserConfig, Status};

use super::{DefectReason, GZIP_MAGIC};

pub(super) struct Payload {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
    pub(super) is_truncated: bool,
}

const MAX_HEADERS: usize = 512;

/// Reads a message, with at most `max_body` bytes of its decoded body.
pub(super) fn read(message: Vec<u8>, max_body: usize) -> Result<Payload, (DefectReason, String)> {
    let message = Bytes::from(message);
    let mut slots = vec![httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut head = httparse::Response::new(&mut slots);
    let mut config = ParserConfig::default();
    config
        .ignore_invalid_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true);
    let end = match config.parse_response(&mut head, &message) {
        Ok(Status::Complete(end)) => end,
        Ok(Status::Partial) => return Err((DefectReason::BadHead, "it has no end".to_owned())),
        Err(error) => return Err((DefectReason::BadHead, error.to_string())),
    };
    let Some(status) = head.code else { return Err((DefectReason::BadHead, "it has no status".to_owned())) };
    let latin1 = |bytes: &[u8]| bytes.iter().copied().map(char::from).collect();
    let headers: Vec<(String, String)> =
        head.headers.iter().map(|header| (header.name.to_ascii_lowercase(), latin1(header.value))).collect();
    let says = |name: &str, coding: &str| {
        let mut values = headers.iter().filter(|(key, _)| key == name);
        values.any(|(_, value)| value.to_ascii_lowercase().contains(coding))
    };

    let mut body = message.slice(end..);
    if says("transfer-encoding", "chunked")
        && let Some(whole) = join_chunks(&body)
    {
        body = whole.into();
    }
    if says("content-encoding", "gzip") && body.starts_with(GZIP_MAGIC) {
        // One byte beyond the limit tells whether there is more; nothing further is unpacked.
        let mut unpacked = Vec::new();
        let limit = u64::try_from(max_body).unwrap_or(u64::MAX).saturating_add(1);
        let unpacking = MultiGzDecoder::new(&body[..]).take(limit).read_to_end(&mut unpacked);
        unpacking.map_err(|error| (DefectReason::BadCoding, format!("gzip: {error}")))?;
        body = unpacked.into();
    }
    let is_truncated = body.len() > max_body;
    body.truncate(max_body);
    Ok(Payload { status, headers, body, is_truncated })
}

/// The data of a chunked body; nothing where it is not one.
fn join_chunks(body: &[u8]) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    let mut rest = body;
    loop {
        let Ok(Status::Complete((start, length))) = httparse::parse_chunk_size(rest) else { return None };
        let length = usize::try_from(length).ok()?;
        if length == 0 {
            return Some(data);
        }
        let end = start.checked_add(length)?;
        data.extend_from_slice(rest.get(start..end)?);
        rest = rest.get(end..)?.strip_prefix(b"\r\n")?;
    }
}
