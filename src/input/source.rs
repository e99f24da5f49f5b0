//! A file or standard input as plain bytes: unpacked by content, hashed as it was read; or found to be Parquet.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, bail, ensure};
use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};

use super::unzip;

/// The bytes of a list, and the hash of the file that they come from.
pub(super) struct Source {
    pub(super) bytes: Box<dyn BufRead>,
    hash: Rc<RefCell<Sha256>>,
}

/// What a file holds.
pub(super) enum Opened {
    /// Text.
    Text(Source),
    /// A Parquet file, from its start.
    Parquet(File),
}

/// Opens a table or list as text, unpacked by content; standard input for `-`.
pub fn open(path: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    Ok(Source::open(path)?.bytes)
}

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const PARQUET_MAGIC: &[u8] = b"PAR1";
/// Of an archive that holds something, and of an empty one.
const ZIP_MAGICS: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

impl Opened {
    /// Opens a file, or standard input for `-`.
    ///
    /// Zip and Parquet are read from their ends, so that they are looked for in regular files only.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Text(Source::new(Box::new(io::stdin())).context("reading standard input")?));
        }
        let opening = || format!("reading {}", path.display());
        let mut file = File::open(path).with_context(opening)?;
        let metadata = file.metadata().with_context(opening)?;
        ensure!(!metadata.is_dir(), "{}: it is a folder", opening());
        if metadata.is_file() {
            let mut start = Vec::new();
            file.by_ref().take(4).read_to_end(&mut start).with_context(opening)?;
            file.rewind().with_context(opening)?;
            let has_extension = |name: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(name));
            if start.starts_with(PARQUET_MAGIC) || has_extension("parquet") {
                return Ok(Self::Parquet(file));
            }
            if is_zip(&start) || has_extension("zip") {
                return Ok(Self::Text(Source::of_zip(file).with_context(opening)?));
            }
        }
        Ok(Self::Text(Source::new(Box::new(file)).with_context(opening)?))
    }
}

impl Source {
    /// Opens a file as text, or standard input for `-`.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        match Opened::open(path)? {
            Opened::Text(source) => Ok(source),
            Opened::Parquet(_) => bail!("reading {}: it is a Parquet file, and text is wanted here", path.display()),
        }
    }

    /// Wraps a stream, gzip (of any number of members) and Zstandard unpacked.
    pub(super) fn new(stream: Box<dyn Read>) -> anyhow::Result<Self> {
        let hash = Rc::new(RefCell::new(Sha256::new()));
        let raw = Box::new(Hashed { stream, hash: Rc::clone(&hash) });
        Ok(Self { bytes: unpack(raw)?, hash })
    }

    /// The one file in an archive; the hash is the archive's.
    fn of_zip(mut file: File) -> anyhow::Result<Self> {
        let hash = Rc::new(RefCell::new(hash(&mut file)?));
        Ok(Self { bytes: unpack(unzip::open(file)?)?, hash })
    }

    /// SHA-256 of everything that was read from the file.
    pub(super) fn sha256(&self) -> [u8; 32] {
        self.hash.borrow().clone().finalize().into()
    }
}

/// SHA-256 of a whole file, which is then at its start again.
pub(super) fn sha256(file: &mut File) -> io::Result<[u8; 32]> {
    Ok(hash(file)?.finalize().into())
}

fn hash(file: &mut File) -> io::Result<Sha256> {
    let mut hash = Sha256::new();
    file.rewind()?;
    let mut bytes = BufReader::with_capacity(1 << 16, &mut *file);
    loop {
        let piece = bytes.fill_buf()?;
        if piece.is_empty() {
            break;
        }
        hash.update(piece);
        let length = piece.len();
        bytes.consume(length);
    }
    file.rewind()?;
    Ok(hash)
}

fn is_zip(start: &[u8]) -> bool {
    ZIP_MAGICS.iter().any(|magic| start.starts_with(magic))
}

fn unpack(stream: Box<dyn Read>) -> anyhow::Result<Box<dyn BufRead>> {
    let mut raw = BufReader::with_capacity(1 << 16, stream);
    let start = raw.fill_buf()?;
    let found = if is_zip(start) { "a zip archive" } else { "Parquet" };
    if is_zip(start) || start.starts_with(PARQUET_MAGIC) {
        bail!("it is {found}, which is read from its end: name a file, not standard input, a pipe or an archive of it");
    }
    if start.starts_with(GZIP_MAGIC) {
        return Ok(Box::new(BufReader::new(MultiGzDecoder::new(raw))));
    }
    if start.starts_with(ZSTD_MAGIC) {
        return Ok(Box::new(BufReader::new(zstd::Decoder::with_buffer(raw)?)));
    }
    Ok(Box::new(raw))
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
