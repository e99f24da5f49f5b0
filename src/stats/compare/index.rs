//! The hosts of a snapshot, found by name: a table of places, the names staying where they were read.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context;
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};

use super::facts::{Facts, Host};

/// The hosts of all parts of a snapshot; where a name stands twice its first row counts.
pub(super) struct Index {
    parts: Vec<Facts>,
    places: HashTable<(u32, u32)>,
    hasher: DefaultHashBuilder,
    /// One bit a row: whether somebody asked for it.
    asked_for: Vec<Vec<AtomicU64>>,
}

impl Index {
    /// Takes the facts of all parts, in their order.
    pub(super) fn new(parts: Vec<Facts>) -> anyhow::Result<Self> {
        let hosts = parts.iter().map(Facts::len).sum();
        let hasher = DefaultHashBuilder::default();
        let mut places = HashTable::with_capacity(hosts);
        let bits = |facts: &Facts| (0..facts.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let asked_for = parts.iter().map(bits).collect();
        for (part, facts) in parts.iter().enumerate() {
            for host in facts.hosts() {
                let place = (u32::try_from(part).context("too many parts")?, u32::try_from(host.at)?);
                let name_at = |place: &(u32, u32)| host_at(&parts, *place).name();
                let entry = places.entry(
                    hasher.hash_one(host.name()),
                    |other| name_at(other) == host.name(),
                    |other| hasher.hash_one(name_at(other)),
                );
                if let Entry::Vacant(entry) = entry {
                    entry.insert(place);
                }
            }
        }
        Ok(Self { parts, places, hasher, asked_for })
    }

    /// How many hosts there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Finds a host and its part, and remembers that it was asked for; nothing where that was so before.
    pub(super) fn take(&self, name: &str) -> Found<'_> {
        let is_it = |place: &(u32, u32)| host_at(&self.parts, *place).name() == name;
        let Some(place) = self.places.find(self.hasher.hash_one(name), is_it) else { return Found::Nobody };
        let bit = 1 << (place.1 % 64);
        let before = self.asked_for[place.0 as usize][place.1 as usize / 64].fetch_or(bit, Ordering::Relaxed);
        if before & bit != 0 {
            return Found::Taken;
        }
        Found::Host { part: place.0, host: host_at(&self.parts, *place) }
    }

    /// The hosts that nobody asked for.
    pub(super) fn left(&self) -> impl Iterator<Item = (u32, Host<'_>)> {
        self.places.iter().filter_map(|place| {
            let word = self.asked_for[place.0 as usize][place.1 as usize / 64].load(Ordering::Relaxed);
            (word & 1 << (place.1 % 64) == 0).then(|| (place.0, host_at(&self.parts, *place)))
        })
    }
}

/// What [`Index::take`] found.
pub(super) enum Found<'i> {
    /// No host of that name.
    Nobody,
    /// The host, but not for the first time: its name stands twice among those who ask.
    Taken,
    /// The host.
    Host {
        /// The number of its part.
        part: u32,
        /// What is known of it.
        host: Host<'i>,
    },
}

fn host_at(parts: &[Facts], place: (u32, u32)) -> Host<'_> {
    Host { facts: &parts[place.0 as usize], at: place.1 as usize }
}
