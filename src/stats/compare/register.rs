//! The hosts of a series of snapshots: when each came in, at which rank, and what was last known of it.

use std::hash::BuildHasher;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};

use super::facts::Host;
use super::levels::Level;

/// Every host that stands in some wave; about sixty bytes each, and one for each agent.
pub(super) struct Register {
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
    names: String,
    ends: Vec<usize>,
    members: Vec<Member>,
    agents: usize,
    /// The last levels that were observed, agent by agent within a host.
    levels: Vec<Level>,
}

/// What is known of one host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// The wave in which it came in.
    pub(super) entry: u16,
    /// Its rank then; 0 where it has none.
    pub(super) rank: u32,
    /// Waves in which it had a verdict.
    pub(super) determinable: u16,
    /// The wave before which it was last met, of those that are gone through now; 0 is none.
    met: u16,
    /// The last answers to the yes-or-no questions; nothing where no verdict was observed yet.
    sets: Option<u8>,
}

impl Register {
    pub(super) fn new(agents: usize) -> Self {
        Self {
            numbers: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            names: String::new(),
            ends: Vec::new(),
            members: Vec::new(),
            agents,
            levels: Vec::new(),
        }
    }

    /// Notes that a wave has a host.
    pub(super) fn enter(&mut self, wave: u16, host: Host<'_>) {
        let Self { numbers, hasher, names, ends, members, .. } = self;
        let name_of = |number: u32| name(names, ends, number);
        let entry = numbers.entry(
            hasher.hash_one(host.name()),
            |number| name_of(*number) == host.name(),
            |number| hasher.hash_one(name_of(*number)),
        );
        let number = match entry {
            Entry::Occupied(entry) => *entry.get() as usize,
            Entry::Vacant(entry) => {
                let number = members.len();
                entry.insert(u32::try_from(number).expect("hosts fill the memory before their numbers run out"));
                names.push_str(host.name());
                ends.push(names.len());
                let rank = host.rank();
                members.push(Member { entry: wave, rank, determinable: 0, met: 0, sets: None });
                number
            }
        };
        let member = &mut members[number];
        // A name that stands twice in a wave counts once.
        if member.met <= wave {
            member.met = wave + 1;
            member.determinable += u16::from(host.is_determinable());
        }
    }

    /// Goes back to the first wave, to go through them once more.
    pub(super) fn rewind(&mut self) {
        self.levels = vec![Level::UNKNOWN; self.members.len() * self.agents];
        for member in &mut self.members {
            member.met = 0;
        }
    }

    /// Meets a host again: what is known of it, its number, and whether the wave before had it too; nothing where it was
    /// met in this wave already.
    pub(super) fn meet(&mut self, wave: u16, host: Host<'_>) -> Option<Met> {
        let Self { numbers, hasher, names, ends, members, .. } = self;
        let is_it = |number: &u32| name(names, ends, *number) == host.name();
        let number = *numbers.find(hasher.hash_one(host.name()), is_it)? as usize;
        let member = &mut members[number];
        if member.met > wave {
            return None;
        }
        let stayed = wave > 0 && member.met == wave;
        member.met = wave + 1;
        Some(Met { number, member: *member, stayed })
    }

    /// Keeps a verdict for later waves.
    pub(super) fn keep(&mut self, number: usize, host: Host<'_>) {
        self.members[number].sets = Some(host.sets());
        self.levels[number * self.agents..(number + 1) * self.agents].copy_from_slice(host.levels());
    }

    /// The last verdict that was kept.
    pub(super) fn kept(&self, number: usize) -> Option<(&[Level], u8)> {
        let sets = self.members[number].sets?;
        Some((&self.levels[number * self.agents..(number + 1) * self.agents], sets))
    }
}

/// See [`Register::meet`].
pub(super) struct Met {
    pub(super) number: usize,
    pub(super) member: Member,
    pub(super) stayed: bool,
}

fn name<'n>(names: &'n str, ends: &[usize], number: u32) -> &'n str {
    let number = number as usize;
    let start = number.checked_sub(1).map_or(0, |before| ends[before]);
    &names[start..ends[number]]
}
