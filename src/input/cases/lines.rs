//! Lines of text, numbered, each whole or with its fault.

use std::io::BufRead;

use anyhow::Context;

use crate::input::intake::beginning;
use crate::input::read::MAX_LINE;
use crate::input::source::{Length, read_line};
use crate::input::{LineFault, Reason, Rejected};

/// Lines numbered from 1; blank ones and those that start with `#` are passed over.
pub(super) struct Lines {
    pub(super) source: Box<dyn BufRead>,
    pub(super) number: u64,
    first: Option<Result<String, Rejected>>,
}

impl Lines {
    /// Reads the first line, which may be a header; it comes again unless it is taken.
    pub(super) fn new(source: Box<dyn BufRead>) -> anyhow::Result<Self> {
        let mut lines = Self { source, number: 0, first: None };
        lines.first = lines.read()?;
        Ok(lines)
    }

    /// The first line, if it could be read.
    pub(super) fn first(&self) -> Option<&str> {
        self.first.as_ref()?.as_ref().ok().map(String::as_str)
    }

    /// Takes the first line away, since it is a header.
    pub(super) fn without_header(self) -> Self {
        Self { first: None, ..self }
    }

    /// Reads each line, with its number where that fails.
    pub(super) fn map<T: 'static>(
        mut self,
        mut read: impl FnMut(&str) -> Result<T, Reason> + 'static,
    ) -> Box<dyn Iterator<Item = anyhow::Result<Result<T, Rejected>>>> {
        Box::new(std::iter::from_fn(move || {
            let line = match self.first.take() {
                Some(first) => first,
                None => match self.read() {
                    Ok(line) => line?,
                    Err(error) => return Some(Err(error)),
                },
            };
            Some(Ok(line.and_then(|line| read(&line).map_err(|reason| reject(self.number, line.as_bytes(), reason)))))
        }))
    }

    fn read(&mut self) -> anyhow::Result<Option<Result<String, Rejected>>> {
        let mut line = Vec::new();
        loop {
            let length = read_line(self.source.as_mut(), &mut line, MAX_LINE);
            let Some(length) = length.with_context(|| format!("after line {}", self.number))? else { return Ok(None) };
            self.number += 1;
            if self.number == 1 && line.starts_with(b"\xef\xbb\xbf") {
                line.drain(..3);
            }
            if line.trim_ascii().is_empty() || line.starts_with(b"#") {
                continue;
            }
            let fault = match (length, str::from_utf8(&line)) {
                (Length::Cut, _) => LineFault::LineTooLong,
                (Length::Whole, Err(_)) => LineFault::NotUtf8,
                (Length::Whole, Ok(text)) => return Ok(Some(Ok(text.to_owned()))),
            };
            return Ok(Some(Err(reject(self.number, &line, Reason::Line(fault)))));
        }
    }
}

/// A line that gave nothing.
pub(super) fn reject(line: u64, text: &[u8], reason: Reason) -> Rejected {
    Rejected { line, text: beginning(text), reason }
}
