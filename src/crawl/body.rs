//! A body as it arrives: decompressed while it streams, cut at a limit on the decoded bytes.
//!
//! The limit is on what comes out, so a megabyte that unpacks to a gigabyte costs the limit and no more.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;

use crate::observation::Failure;
use crate::outcome::Cause;

/// The bytes of one body, so far.
#[derive(Debug)]
pub(crate) struct Body {
    decoder: Decoder,
    wire_bytes: u64,
}

#[derive(Debug)]
enum Decoder {
    Identity(Capped),
    Gzip(Box<MultiGzDecoder<Capped>>),
}

impl Body {
    /// Starts a body with the response's headers (names in lower case); a coding that nobody asked for is a failure.
    ///
    /// Some servers name the body's character set where a coding should stand. That is no coding.
    pub(crate) fn new(headers: &[(String, String)], limit: usize) -> Result<Self, Failure> {
        let capped = Capped { kept: Vec::new(), limit, has_overflowed: false };
        let encodings = headers
            .iter()
            .filter(|(name, _)| name == "content-encoding")
            .flat_map(|(_, value)| value.split(','))
            .map(str::trim)
            .filter(|value| !value.is_empty() && !is_no_coding(value));
        let decoder = match encodings.collect::<Vec<_>>()[..] {
            [] => Decoder::Identity(capped),
            [one] if one.eq_ignore_ascii_case("gzip") || one.eq_ignore_ascii_case("x-gzip") => {
                Decoder::Gzip(Box::new(MultiGzDecoder::new(capped)))
            }
            ref others => {
                let detail = format!("content-encoding {}", others.join(", ").to_ascii_lowercase());
                return Err(Failure { cause: Cause::HttpBadEncoding, detail: Some(detail) });
            }
        };
        Ok(Self { decoder, wire_bytes: 0 })
    }

    /// Takes the next piece from the wire.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Result<(), Failure> {
        self.wire_bytes += chunk.len() as u64;
        let written = match &mut self.decoder {
            Decoder::Identity(capped) => capped.write_all(chunk),
            Decoder::Gzip(gzip) => gzip.write_all(chunk),
        };
        match written {
            Err(error) if !self.is_full() => Err(bad_gzip(&error)),
            _ => Ok(()),
        }
    }

    /// Whether more came than is kept, so that the rest need not be read.
    pub(crate) fn is_full(&self) -> bool {
        match &self.decoder {
            Decoder::Identity(capped) => capped.has_overflowed,
            Decoder::Gzip(gzip) => gzip.get_ref().has_overflowed,
        }
    }

    /// Bytes taken from the wire.
    pub(crate) fn wire_bytes(&self) -> u64 {
        self.wire_bytes
    }

    /// The decoded bytes that were kept, and whether there were more.
    pub(crate) fn finish(self) -> Result<(Vec<u8>, bool), Failure> {
        let capped = match self.decoder {
            Decoder::Identity(capped) => capped,
            // Empty bodies are sent with the header too, and are no compressed stream at all.
            Decoder::Gzip(gzip) if self.wire_bytes == 0 => return Ok((Vec::new(), gzip.get_ref().has_overflowed)),
            Decoder::Gzip(mut gzip) => {
                if let Err(error) = gzip.try_finish()
                    && !gzip.get_ref().has_overflowed
                {
                    return Err(bad_gzip(&error));
                }
                std::mem::take(gzip.get_mut())
            }
        };
        Ok((capped.kept, capped.has_overflowed))
    }
}

/// Whether a value of Content-Encoding leaves the bytes as they are: `identity`, or the name of a character set, none
/// of which is the name of a coding (RFC 9110, section 8.4.1).
fn is_no_coding(value: &str) -> bool {
    const CHARACTER_SETS: [&str; 5] = ["utf", "iso-8859", "windows-125", "us-ascii", "ascii"];
    let value = value.to_ascii_lowercase();
    value == "identity" || CHARACTER_SETS.iter().any(|name| value.starts_with(name))
}

fn bad_gzip(error: &io::Error) -> Failure {
    Failure { cause: Cause::HttpBadEncoding, detail: Some(format!("gzip: {error}")) }
}

/// Keeps bytes up to a limit and fails on the first one beyond it.
#[derive(Debug, Default)]
struct Capped {
    kept: Vec<u8>,
    limit: usize,
    has_overflowed: bool,
}

impl Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.limit - self.kept.len();
        if room == 0 && !bytes.is_empty() {
            self.has_overflowed = true;
            return Err(io::Error::other("the limit of the body is reached"));
        }
        let taken = room.min(bytes.len());
        self.kept.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[track_caller]
    fn check(encoding: Option<&str>, wire: &[u8], limit: usize, expected: Result<(&[u8], bool), Cause>) {
        let headers: Vec<_> =
            encoding.iter().map(|value| ("content-encoding".to_owned(), (*value).to_owned())).collect();
        for piece in [1, 7, 4096] {
            let read = Body::new(&headers, limit).and_then(|mut body| {
                for chunk in wire.chunks(piece) {
                    body.push(chunk)?;
                    if body.is_full() {
                        break;
                    }
                }
                body.finish()
            });
            let read = read.as_ref().map(|(bytes, cut)| (&bytes[..], *cut)).map_err(|failure| failure.cause);
            assert_eq!(read, expected, "{encoding:?} in pieces of {piece}");
        }
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn plain_and_compressed_bodies_come_out_alike() {
        check(None, b"User-agent: *", 100, Ok((b"User-agent: *", false)));
        check(Some("gzip"), &gzip(b"User-agent: *"), 100, Ok((b"User-agent: *", false)));
        check(Some("X-GZIP"), &gzip(b"User-agent: *"), 100, Ok((b"User-agent: *", false)));
        for none in ["identity", "UTF-8", "utf8", "ISO-8859-1", "windows-1252", ", "] {
            check(Some(none), b"User-agent: *", 100, Ok((b"User-agent: *", false)));
        }
        check(Some("utf-8, gzip"), &gzip(b"User-agent: *"), 100, Ok((b"User-agent: *", false)));
        check(Some("gzip"), b"", 100, Ok((b"", false)));
        check(None, b"", 100, Ok((b"", false)));
    }

    #[test]
    fn the_limit_is_on_the_decoded_bytes_and_the_cut_is_said() {
        check(None, b"0123456789", 10, Ok((b"0123456789", false)));
        check(None, b"0123456789", 9, Ok((b"012345678", true)));
        check(Some("gzip"), &gzip(b"0123456789"), 10, Ok((b"0123456789", false)));
        check(Some("gzip"), &gzip(b"0123456789"), 9, Ok((b"012345678", true)));
        let bomb = gzip(&vec![b'a'; 50_000_000]);
        check(Some("gzip"), &bomb, 1000, Ok((&[b'a'; 1000], true)));
    }

    #[test]
    fn what_cannot_be_decoded_is_no_body() {
        check(Some("gzip"), b"User-agent: *", 100, Err(Cause::HttpBadEncoding));
        check(Some("gzip"), &gzip(b"User-agent: *")[..20], 100, Err(Cause::HttpBadEncoding));
        check(Some("br"), b"User-agent: *", 100, Err(Cause::HttpBadEncoding));
        check(Some("gzip, gzip"), b"", 100, Err(Cause::HttpBadEncoding));
    }
}
