//! Archives of robots.txt responses (WARC) → captures, one at a time.
//!
//! Framing is the `warc` crate's, decompression flate2's, the HTTP head httparse's. One record is in memory at a time.
//! Reads one file, front to back. Deliberately absent: any opinion on what a capture means, and which of a host's
//! captures counts.

mod payload;

use std::cell::Cell;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::rc::Rc;

use anyhow::Context;
use bytes::Bytes;
use flate2::bufread::MultiGzDecoder;
use jiff::Timestamp;
use url::Url;
use warc::{RawRecordHeader, RawRecordIter, WarcHeader, WarcReader};

use crate::domain::{Domain, NotADomain, Target};
use crate::observation::{BodySource, Ending, Observation, Past, Response};

/// One archived response to a request for `/robots.txt`.
#[derive(Clone, Debug, PartialEq)]
pub struct Capture {
    /// The URL that was asked.
    pub url: String,
    /// Its host, if that is a name that could be surveyed.
    pub host: Result<Domain, NotADomain>,
    /// When it was captured.
    pub captured_at: Timestamp,
    /// The status of the response.
    pub status: u16,
    /// Header fields in order, names in lower case, values with bytes outside ASCII read as Latin-1.
    pub headers: Vec<(String, String)>,
    /// The payload, transfer and content codings undone, cut at the limit.
    pub body: Bytes,
    /// Whether there was more than was kept, here or when it was archived.
    pub is_truncated: bool,
    /// Number of the record in its file, from 1.
    pub record: u64,
}

impl Capture {
    /// The capture as an observation of a target.
    pub fn observe(self, target: Target) -> Observation {
        Observation {
            target,
            capture_index: 0,
            fetched_at: Some(self.captured_at),
            asking: None,
            ending: Ending::Response(self.into_response()),
            body_source: BodySource::Archive,
            past: Past::default(),
        }
    }

    /// The response alone, whatever host it is of.
    pub fn into_response(self) -> Response {
        Response {
            url: self.url,
            status: self.status,
            headers: self.headers,
            body: self.body,
            is_truncated: self.is_truncated,
            wire_bytes: None,
        }
    }
}

/// A record that gave no capture though it should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// Number of the record in its file, from 1.
    pub record: u64,
    /// What is wrong.
    pub reason: DefectReason,
    /// What was found, for a person.
    pub detail: String,
}

impl fmt::Display for Defect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "record {}: {} ({})", self.record, self.reason.doc().trim_end_matches('.'), self.detail)
    }
}

crate::words! {
    /// What is wrong with a record of an archive.
    pub enum DefectReason {
        /// The file ends, or stops making sense, in the middle of a record; what follows is lost.
        Torn = "torn",
        /// The record has no URL that can be read.
        BadUrl = "bad-url",
        /// The record has no date that can be read.
        BadDate = "bad-date",
        /// The record does not hold an HTTP response.
        BadHead = "bad-head",
        /// The payload's coding cannot be undone.
        BadCoding = "bad-coding",
    }
}

/// Opens an archive, plain or gzip, and reads its captures in order, with at most `max_body` bytes of each body.
pub fn read(path: &Path, max_body: usize) -> anyhow::Result<Captures> {
    let opening = || format!("reading the archive {}", path.display());
    let file = File::open(path).with_context(opening)?;
    anyhow::ensure!(!file.metadata().with_context(opening)?.is_dir(), "{}: it is a folder", opening());
    Captures::new(Box::new(BufReader::with_capacity(1 << 20, file)), max_body).with_context(opening)
}

/// The captures of one archive.
pub struct Captures {
    records: RawRecordIter<Counted>,
    consumed: Rc<Cell<u64>>,
    /// Bytes consumed when the last whole record ended.
    whole: u64,
    record: u64,
    skipped: u64,
    max_body: usize,
    has_ended: bool,
}

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

impl Captures {
    fn new(mut file: Box<dyn BufRead>, max_body: usize) -> io::Result<Self> {
        let is_gzip = file.fill_buf()?.starts_with(GZIP_MAGIC);
        let bytes: Box<dyn BufRead> =
            if is_gzip { Box::new(BufReader::with_capacity(1 << 18, MultiGzDecoder::new(file))) } else { file };
        let consumed = Rc::new(Cell::new(0));
        let records = WarcReader::new(Counted { bytes, consumed: Rc::clone(&consumed) }).iter_raw_records();
        Ok(Self { records, consumed, whole: 0, record: 0, skipped: 0, max_body, has_ended: false })
    }

    /// Records so far that are no response for a `/robots.txt`.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The next record; an error that leaves the position unknown is the last thing read.
    fn next_record(&mut self) -> Option<Result<(RawRecordHeader, Vec<u8>), Defect>> {
        if self.has_ended {
            return None;
        }
        self.record += 1;
        // The crate adds to lengths that the file states, and overflows on absurd ones.
        let next = catch_unwind(AssertUnwindSafe(|| self.records.next()));
        let detail = match next {
            Ok(Some(Ok(record))) => {
                self.whole = self.consumed.get();
                return Some(Ok(record));
            }
            Ok(Some(Err(warc::Error::ReadData(error)))) => error.to_string(),
            Ok(Some(Err(error))) => error.to_string(),
            // The crate takes a header that ends with the file for the end of the archive.
            Ok(None) if self.consumed.get() == self.whole => {
                self.has_ended = true;
                return None;
            }
            Ok(None) => "the file ends in a header".to_owned(),
            Err(_) => "an absurd length".to_owned(),
        };
        self.has_ended = true;
        Some(Err(Defect { record: self.record, reason: DefectReason::Torn, detail }))
    }

    /// The capture in a record; nothing where the record is of another kind.
    fn capture(&self, header: &RawRecordHeader, message: Vec<u8>) -> Option<Result<Capture, Defect>> {
        let field = |name| header.as_ref().get(&name).map(|value| String::from_utf8_lossy(value).into_owned());
        if field(WarcHeader::WarcType).as_deref() != Some("response") {
            return None;
        }
        let defect = |reason, detail: String| Some(Err(Defect { record: self.record, reason, detail }));
        let target = field(WarcHeader::TargetURI).unwrap_or_default();
        let Ok(url) = Url::parse(target.trim_matches(['<', '>'])) else {
            return defect(DefectReason::BadUrl, target);
        };
        if url.path() != "/robots.txt" {
            return None;
        }
        let date = field(WarcHeader::Date).unwrap_or_default();
        let Ok(captured_at) = date.parse() else { return defect(DefectReason::BadDate, date) };
        let payload = match payload::read(message, self.max_body) {
            Ok(payload) => payload,
            Err((reason, detail)) => return defect(reason, detail),
        };
        let is_truncated = payload.is_truncated || header.as_ref().contains_key(&WarcHeader::Truncated);
        Some(Ok(Capture {
            host: host_of(&url),
            url: url.into(),
            captured_at,
            status: payload.status,
            headers: payload.headers,
            body: payload.body,
            is_truncated,
            record: self.record,
        }))
    }
}

impl Iterator for Captures {
    type Item = Result<Capture, Defect>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (header, message) = match self.next_record()? {
                Ok(record) => record,
                Err(defect) => return Some(Err(defect)),
            };
            match self.capture(&header, message) {
                None => self.skipped += 1,
                found => return found,
            }
        }
    }
}

fn host_of(url: &Url) -> Result<Domain, NotADomain> {
    if url.port().is_some() {
        return Err(NotADomain::Port);
    }
    Domain::parse(url.host_str().unwrap_or_default())
}

/// Counts what is taken, so that an end in the middle of a record can be told from the end of the archive.
struct Counted {
    bytes: Box<dyn BufRead>,
    consumed: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.bytes.read(buffer)?;
        self.consumed.set(self.consumed.get() + length as u64);
        Ok(length)
    }
}

impl BufRead for Counted {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.bytes.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.consumed.set(self.consumed.get() + amount as u64);
        self.bytes.consume(amount);
    }
}

#[cfg(test)]
mod tests;
