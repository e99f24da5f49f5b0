//! The one file in a zip archive, unpacked as it is read and checked at its end.
//!
//! Lists come so from Tranco, Umbrella and Majestic: stored or deflated, one file in an archive. What else a zip archive
//! can hold is refused by name.

use std::fs::File;
use std::io::{self, BufReader, Read};

use anyhow::{Context, bail, ensure};
use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, Crc32, RECOMMENDED_BUFFER_SIZE, RangeReader, ZipArchive, ZipVerification};

/// Files of an archive that a refusal names.
const NAMED: usize = 5;

/// Opens the archive's only file.
pub(super) fn open(archive: File) -> anyhow::Result<Box<dyn Read>> {
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let archive = ZipArchive::from_file(archive, &mut buffer).context("it is no whole zip archive")?;
    let damaged = "the zip archive is damaged";

    let (mut records, mut files, mut names, mut found) = (0, 0, Vec::new(), None);
    let mut entries = archive.entries(&mut buffer);
    while let Some(entry) = entries.next_entry().context(damaged)? {
        records += 1;
        if entry.is_dir() {
            continue;
        }
        files += 1;
        let path = entry.file_path();
        let name = String::from_utf8_lossy(path.as_ref()).into_owned();
        if names.len() < NAMED {
            names.push(format!("{name} ({} bytes)", entry.uncompressed_size_hint()));
        }
        found = Some((name, entry.flags().is_encrypted(), entry.compression_method(), entry.wayfinder()));
    }
    ensure!(records == archive.entries_hint(), "{damaged}: it lists {records} of {} files", archive.entries_hint());
    let Some((name, is_encrypted, method, wayfinder)) = found else { bail!("the zip archive holds no file") };
    if files > 1 {
        let others = if files > names.len() { ", and more" } else { "" };
        bail!(
            "the zip archive holds {files} files, and a list is one: {}{others}; unpack the one that is meant",
            names.join(", ")
        );
    }
    // AES stands where the method should.
    if is_encrypted || method == CompressionMethod::AES {
        bail!("{name}, in the zip archive, is encrypted");
    }

    let entry = archive.get_entry(wayfinder).context(damaged)?;
    let (expected, (start, end)) = (entry.reader().claim_verifier(), entry.compressed_data_range());
    let packed = RangeReader::new(archive.into_inner(), start..end);
    let bytes: Box<dyn Read> = match method {
        CompressionMethod::STORE => Box::new(packed),
        CompressionMethod::DEFLATE => Box::new(DeflateDecoder::new(BufReader::with_capacity(1 << 16, packed))),
        method => bail!("{name}, in the zip archive, is packed by {method}; stored and deflated files are read"),
    };
    Ok(Box::new(Checked { bytes, length: 0, crc: Crc32::new(), expected }))
}

/// Bytes whose number and checksum are known beforehand.
struct Checked {
    bytes: Box<dyn Read>,
    length: u64,
    crc: Crc32,
    expected: ZipVerification,
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.bytes.read(buffer)?;
        self.length += length as u64;
        self.crc.update(&buffer[..length]);
        let is_end = length == 0 && !buffer.is_empty();
        if is_end || self.length > self.expected.uncompressed_size {
            let seen = ZipVerification { crc: self.crc.checksum(), uncompressed_size: self.length };
            self.expected.valid(seen).map_err(|reason| {
                io::Error::new(io::ErrorKind::InvalidData, format!("the zip archive is damaged: {reason}"))
            })?;
        }
        Ok(length)
    }
}
