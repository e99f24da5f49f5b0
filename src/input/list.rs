//! The targets of a list, held so that millions fit: names in one piece, and a few bytes for each beside it.

use std::sync::Arc;

use anyhow::bail;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

use crate::domain::{Domain, Target};

/// The targets of a list in the order of their first lines.
///
/// # Cost
///
/// A name costs its bytes and 4 more; 4 for its rank, 8 for its weight and 2 for its stratum where the list has such.
#[derive(Debug)]
pub struct TargetList {
    pub(super) name: String,
    pub(super) sha256: [u8; 32],
    pub(super) counts: Counts,
    names: String,
    /// Where each name ends in `names`.
    ends: Vec<u32>,
    /// Shorter than `ends` where the last targets have none; `NO_RANK` where one has none.
    ranks: Vec<u32>,
    /// As `ranks`; not a number where a target has none.
    weights: Vec<f64>,
    /// As `ranks`; places in `strata`.
    stratum_of: Vec<u16>,
    strata: Vec<Arc<str>>,
}

/// How many lines of a list became what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines that gave a target.
    pub accepted: u64,
    /// Lines that named a target again.
    pub duplicates: u64,
    /// Lines that name no host, or say something of it that cannot be read.
    pub rejected: u64,
}

const NO_RANK: u32 = u32::MAX;
const NO_STRATUM: u16 = u16::MAX;

impl TargetList {
    /// The list's own name: that of its file without what follows from the format.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// SHA-256 of the file as it was read, compressed where it is.
    pub fn sha256(&self) -> [u8; 32] {
        self.sha256
    }

    /// How many lines became what.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// How many targets there are.
    #[expect(clippy::len_without_is_empty, reason = "reading an empty list is an error, so no list is empty")]
    pub fn len(&self) -> u32 {
        u32::try_from(self.ends.len()).expect("indexes were counted in 32 bits")
    }

    /// The target at this index.
    ///
    /// # Panics
    ///
    /// Where there are not so many.
    pub fn target(&self, index: u32) -> Target {
        let at = index as usize;
        let stratum = self.stratum_of.get(at).copied().filter(|place| *place != NO_STRATUM);
        Target {
            index,
            domain: Domain::parse(self.name_at(at)).expect("only names that were parsed were put in"),
            rank: self.ranks.get(at).copied().filter(|rank| *rank != NO_RANK),
            weight: self.weights.get(at).copied().filter(|weight| !weight.is_nan()),
            stratum: stratum.map(|place| Arc::clone(&self.strata[usize::from(place)])),
        }
    }

    /// All targets in the list's order.
    pub fn iter(&self) -> impl Iterator<Item = Target> + '_ {
        (0..self.len()).map(|index| self.target(index))
    }

    /// The indexes in the order that this seed stands for, the same for ever.
    ///
    /// Sorted by a mix of seed and index (the finaliser of `SplitMix64`), so that neighbours in the list, which often
    /// share a network, are asked far apart.
    pub fn order(&self, seed: u64) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.len()).collect();
        order.sort_unstable_by_key(|index| (mix(seed, *index), *index));
        order
    }

    /// Where each name is.
    ///
    /// # Cost
    ///
    /// Some ten bytes a target, which are not part of the list.
    pub fn index(&self) -> Index<'_> {
        let hasher = DefaultHashBuilder::default();
        let mut places = HashTable::with_capacity(self.ends.len());
        for index in 0..self.len() {
            let hash = |index: &u32| hasher.hash_one(self.name_at(*index as usize));
            places.insert_unique(hash(&index), index, hash);
        }
        Index { list: self, places, hasher }
    }

    fn name_at(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.names[start as usize..self.ends[at] as usize]
    }
}

/// Finds the targets of a list by their names.
#[derive(Debug)]
pub struct Index<'a> {
    list: &'a TargetList,
    places: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Index<'_> {
    /// The index of the target of this name, given as a lower-case A-label.
    pub fn find(&self, name: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(name);
        self.places.find(hash, |index| self.list.name_at(*index as usize) == name).copied()
    }
}

/// What a line says of its target.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Remarks<'a> {
    pub(super) rank: Option<u32>,
    pub(super) weight: Option<f64>,
    pub(super) stratum: Option<&'a str>,
}

/// A list while it is read: the targets, and where each name is.
pub(super) struct Builder {
    list: TargetList,
    /// Indexes by the hash of their names. The names themselves are compared, so no two are taken for one.
    index_of: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Builder {
    pub(super) fn new(name: String) -> Self {
        let list = TargetList {
            name,
            sha256: [0; 32],
            counts: Counts::default(),
            names: String::new(),
            ends: Vec::new(),
            ranks: Vec::new(),
            weights: Vec::new(),
            stratum_of: Vec::new(),
            strata: Vec::new(),
        };
        Self { list, index_of: HashTable::new(), hasher: DefaultHashBuilder::default() }
    }

    pub(super) fn reject(&mut self) {
        self.list.counts.rejected += 1;
    }

    pub(super) fn counts(&self) -> Counts {
        self.list.counts
    }

    /// Adds a target, or what a further line says of one that is there: the first rank wins, weights add up.
    pub(super) fn add(&mut self, domain: &Domain, remarks: Remarks<'_>) -> anyhow::Result<()> {
        let Self { list, index_of, hasher } = self;
        let hash = hasher.hash_one(domain.as_str());
        if let Some(index) = index_of.find(hash, |index| list.name_at(*index as usize) == domain.as_str()) {
            list.counts.duplicates += 1;
            return list.remark(*index as usize, remarks);
        }
        let at = list.ends.len();
        let (Ok(index), Ok(end)) = (u32::try_from(at), u32::try_from(list.names.len() + domain.as_str().len())) else {
            bail!("the list is too large: its names take more than 4 GiB");
        };
        list.names.push_str(domain.as_str());
        list.ends.push(end);
        list.counts.accepted += 1;
        index_of.insert_unique(hash, index, |index| hasher.hash_one(list.name_at(*index as usize)));
        list.remark(at, remarks)
    }

    pub(super) fn finish(self, sha256: [u8; 32]) -> TargetList {
        let mut list = self.list;
        list.sha256 = sha256;
        list.names.shrink_to_fit();
        list.ends.shrink_to_fit();
        list.ranks.shrink_to_fit();
        list.weights.shrink_to_fit();
        list.stratum_of.shrink_to_fit();
        list
    }
}

impl TargetList {
    fn remark(&mut self, at: usize, remarks: Remarks<'_>) -> anyhow::Result<()> {
        if let Some(rank) = remarks.rank {
            let place = place(&mut self.ranks, at, NO_RANK);
            if *place == NO_RANK {
                *place = rank;
            }
        }
        if let Some(weight) = remarks.weight {
            let place = place(&mut self.weights, at, f64::NAN);
            *place = if place.is_nan() { weight } else { *place + weight };
        }
        if let Some(word) = remarks.stratum {
            let known = self.strata.iter().position(|known| **known == *word);
            let stratum = known.unwrap_or(self.strata.len());
            let Some(number) = u16::try_from(stratum).ok().filter(|number| *number != NO_STRATUM) else {
                bail!("the list has more than {NO_STRATUM} strata");
            };
            if known.is_none() {
                self.strata.push(word.into());
            }
            let place = place(&mut self.stratum_of, at, NO_STRATUM);
            if *place == NO_STRATUM {
                *place = number;
            }
        }
        Ok(())
    }
}

/// The place of a target in a column that grows only as far as it has values.
fn place<T: Clone>(column: &mut Vec<T>, at: usize, nothing: T) -> &mut T {
    if column.len() <= at {
        column.resize(at + 1, nothing);
    }
    &mut column[at]
}

fn mix(seed: u64, index: u32) -> u64 {
    let mut z = seed.wrapping_add((u64::from(index) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
