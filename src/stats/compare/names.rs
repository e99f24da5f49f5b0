//! Texts that many hosts share, each kept once and known by a number.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Texts and their numbers, shared by the threads that read parts.
#[derive(Debug, Default)]
pub(super) struct Names(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    numbers: HashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
}

impl Names {
    /// One thread's way in, which asks the others only about texts that it has not met.
    pub(super) fn reader(&self) -> NamesReader<'_> {
        NamesReader { names: self, met: HashMap::new() }
    }

    /// Every text by its number.
    pub(super) fn texts(&self) -> Vec<Arc<str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).texts.clone()
    }

    fn number(&self, text: &str) -> (Arc<str>, u32) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((text, number)) = known.numbers.get_key_value(text) {
            return (Arc::clone(text), *number);
        }
        let text: Arc<str> = text.into();
        let number = u32::try_from(known.texts.len()).expect("texts fill the memory before their numbers run out");
        known.texts.push(Arc::clone(&text));
        known.numbers.insert(Arc::clone(&text), number);
        (text, number)
    }
}

/// See [`Names::reader`].
pub(super) struct NamesReader<'n> {
    names: &'n Names,
    met: HashMap<Arc<str>, u32>,
}

impl NamesReader<'_> {
    /// The number of a text.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.met.get(text) {
            return *number;
        }
        let (text, number) = self.names.number(text);
        self.met.insert(text, number);
        number
    }
}
