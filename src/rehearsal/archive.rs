//! Reads what each host of a WARC file answered.
//!
//! May touch: the file it is given. Deliberately absent: anything but the newest response of a host.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

use anyhow::Context as _;
use bytes::Bytes;
use flate2::bufread::MultiGzDecoder;
use warc::{WarcHeader, WarcReader};

use crate::domain::Domain;
use crate::rehearsal::behaviour::Response;

/// The hosts of the archive in order, each with its response; a later record of a host replaces an earlier one.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<(Domain, Response)>> {
    let mut hosts: Vec<(Domain, Response)> = Vec::new();
    let mut positions: HashMap<Domain, usize> = HashMap::new();
    let records = WarcReader::new(open(path)?).iter_raw_records();
    for (number, record) in records.enumerate() {
        let context = || format!("record {} of {}", number + 1, path.display());
        let (header, message) = record.map_err(|error| anyhow::anyhow!("{error}")).with_context(context)?;
        let field = |name| header.as_ref().get(&name).map(|value| String::from_utf8_lossy(value).into_owned());
        if field(WarcHeader::WarcType).as_deref() != Some("response") {
            continue;
        }
        let target = field(WarcHeader::TargetURI).unwrap_or_default();
        let Some(host) = url::Url::parse(target.trim_matches(['<', '>'])).ok().and_then(|url| {
            let host = url.host_str()?;
            Domain::parse(host).ok()
        }) else {
            continue;
        };
        let response = parse(&message.into()).with_context(context)?;
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

/// Opens a file that may be compressed, whatever its name says.
pub(super) fn open(path: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    let file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
    let mut file = BufReader::with_capacity(1 << 20, file);
    let compressed = file.fill_buf().with_context(|| format!("reading {}", path.display()))?.starts_with(&[0x1f, 0x8b]);
    if compressed {
        Ok(Box::new(BufReader::with_capacity(1 << 20, MultiGzDecoder::new(file))))
    } else {
        Ok(Box::new(file))
    }
}

/// Splits a recorded message; its framing is left behind, because the rehearsal frames anew.
fn parse(message: &Bytes) -> anyhow::Result<Response> {
    let mut slots = [httparse::EMPTY_HEADER; 256];
    let mut head = httparse::Response::new(&mut slots);
    let config = {
        let mut config = httparse::ParserConfig::default();
        config.ignore_invalid_headers_in_responses(true).allow_spaces_after_header_name_in_responses(true);
        config
    };
    let status = config.parse_response(&mut head, message).context("reading the recorded head")?;
    let httparse::Status::Complete(end) = status else { anyhow::bail!("the recorded head has no end") };
    let body = message.slice(end..);
    let mut fields = Vec::new();
    for header in head.headers.iter() {
        let is_coding = header.name.eq_ignore_ascii_case("content-encoding");
        // Archives store decoded bodies more often than not, and keep the header all the same.
        if is_framing(header.name) || is_coding && !is_compressed(&body) {
            continue;
        }
        fields.extend_from_slice(header.name.as_bytes());
        fields.extend_from_slice(b": ");
        fields.extend_from_slice(header.value);
        fields.extend_from_slice(b"\r\n");
    }
    let status = head.code.context("the recorded head has no status")?;
    Ok(Response { status, fields: fields.into(), body, chunked: false, gzip: false })
}

fn is_framing(name: &str) -> bool {
    ["content-length", "transfer-encoding", "connection", "keep-alive", "trailer", "upgrade"]
        .iter()
        .any(|framing| name.eq_ignore_ascii_case(framing))
}

fn is_compressed(body: &[u8]) -> bool {
    let mut decoder = MultiGzDecoder::new(body);
    decoder.read(&mut [0; 1]).is_ok() && decoder.header().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framing_is_left_behind_and_the_rest_is_kept() {
        let response = parse(&Bytes::from_static(
            b"HTTP/1.1 503 Busy\r\nServer: a\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\
              Content-Encoding: gzip\r\nX: \xe9\r\n\r\nbody",
        ))
        .unwrap();
        assert_eq!(response.status, 503);
        assert_eq!(response.fields, &b"Server: a\r\nX: \xe9\r\n"[..]);
        assert_eq!(response.body, "body");
    }
}
