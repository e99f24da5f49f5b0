//! A file or standard input as plain bytes: decompressed by content, hashed as it was read.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, ensure};
use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};

/// The bytes of a list, and the hash of the file that they come from.
pub(super) struct Source {
    pub(super) bytes: Box<dyn BufRead>,
    hash: Rc<RefCell<Sha256>>,
}

/// Opens a table or list as text, unpacked by content; standard input for `-`.
pub fn open(path: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    Ok(Source::open(path)?.bytes)
}

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

impl Source {
    /// Opens a file, or standard input for `-`.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        if path == Path::new("-") {
            return Self::new(Box::new(io::stdin())).context("reading standard input");
        }
        let opening = || format!("reading {}", path.display());
        let file = File::open(path).with_context(opening)?;
        ensure!(!file.metadata().with_context(opening)?.is_dir(), "{}: it is a folder", opening());
        Self::new(Box::new(file)).with_context(opening)
    }

    /// Wraps a stream, gzip (of any number of members) and Zstandard unpacked.
    pub(super) fn new(stream: Box<dyn Read>) -> io::Result<Self> {
        let hash = Rc::new(RefCell::new(Sha256::new()));
        let mut raw = BufReader::with_capacity(1 << 16, Hashed { stream, hash: Rc::clone(&hash) });
        let start = raw.fill_buf()?;
        let bytes: Box<dyn BufRead> = if start.starts_with(GZIP_MAGIC) {
            Box::new(BufReader::new(MultiGzDecoder::new(raw)))
        } else if start.starts_with(ZSTD_MAGIC) {
            Box::new(BufReader::new(zstd::Decoder::with_buffer(raw)?))
        } else {
            Box::new(raw)
        };
        Ok(Self { bytes, hash })
    }

    /// SHA-256 of everything that was read from the file.
    pub(super) fn sha256(&self) -> [u8; 32] {
        self.hash.borrow().clone().finalize().into()
    }
}

struct Hashed {
    stream: Box<dyn Read>,
    hash: Rc<RefCell<Sha256>>,
}

impl Read for Hashed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.stream.read(buffer)?;
        self.hash.borrow_mut().update(&buffer[..length]);
        Ok(length)
    }
}

/// Reads one line without its end; what goes beyond `limit` is passed over and said.
///
/// Nothing at the end of the stream. A line ends at LF; a CR before it is dropped.
pub(super) fn read_line(source: &mut dyn BufRead, line: &mut Vec<u8>, limit: usize) -> io::Result<Option<Length>> {
    line.clear();
    let mut length = Length::Whole;
    let mut has_begun = false;
    loop {
        let available = match source.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            if !has_begun {
                return Ok(None);
            }
            break;
        }
        has_begun = true;
        let end = memchr::memchr(b'\n', available);
        let piece = &available[..end.unwrap_or(available.len())];
        let room = limit - line.len();
        if piece.len() > room {
            length = Length::Cut;
        }
        line.extend_from_slice(&piece[..piece.len().min(room)]);
        let used = piece.len() + usize::from(end.is_some());
        source.consume(used);
        if end.is_some() {
            break;
        }
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(Some(length))
}

/// Whether a line was read whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// All of it.
    Whole,
    /// Its beginning only.
    Cut,
}
