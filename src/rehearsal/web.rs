//! The hosts of a rehearsal: which names exist, where, and what stands behind them.
//!
//! Touches nothing beyond what its parts read: [`Faults`] (hosts that fail by name), [`Told`] (archives and labels) and
//! [`Population`] (invention). Deliberately absent: sockets.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::{Mutex, PoisonError};

use crate::rehearsal::Source;
use crate::rehearsal::addresses::SHARED;
use crate::rehearsal::behaviour::{Behaviour, Lookup, Reply, Tls};
use crate::rehearsal::faults::Faults;
use crate::rehearsal::population::Population;
use crate::rehearsal::refusal;
use crate::rehearsal::told::Told;

/// All hosts.
#[derive(Debug)]
pub(super) struct Web {
    faults: Faults,
    hosts: Hosts,
    seed: u64,
    /// How many of a thousand hosts at the shared address ask for fewer requests.
    refusing: usize,
    /// How often those few were asked whose answer depends on it.
    turns: Mutex<HashMap<Box<str>, u32>>,
}

#[derive(Debug)]
enum Hosts {
    /// They do what is written about them.
    Told(Told),
    /// They do what a seed makes of their names.
    Invented(Population),
}

/// What DNS says of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existence {
    /// It has this address.
    At(Ipv4Addr),
    /// It exists and has no address.
    Bare,
    /// It does not exist.
    Missing,
    /// It has this address, and what DNS says of it is another matter.
    Odd(Lookup, Ipv4Addr),
}

impl Existence {
    /// What DNS says of a host at this address.
    pub(super) fn of(lookup: Lookup, address: Ipv4Addr) -> Self {
        if lookup == Lookup::Own { Self::At(address) } else { Self::Odd(lookup, address) }
    }
}

impl Web {
    /// Reads the source.
    pub(super) fn load(source: Source, shared: Option<usize>, refusing: usize) -> anyhow::Result<Self> {
        let mut web = Self {
            faults: Faults::place()?,
            hosts: Hosts::Told(Told::default()),
            seed: 1,
            refusing,
            turns: Mutex::default(),
        };
        web.hosts = match source {
            Source::Archive(archive) => Hosts::Told(Told::from_archive(&archive, shared.unwrap_or(0))?),
            Source::Labelled { archive, labels } => {
                Hosts::Told(Told::from_labels(&archive, &labels, shared.unwrap_or(0))?)
            }
            Source::Population { domains, seed } => {
                web.seed = seed;
                // 500 of ten thousand, in proportion on shorter lists, and no more on longer ones.
                let shared = shared.unwrap_or_else(|| 500.min(domains.len().div_ceil(20)));
                Hosts::Invented(Population::new(domains, seed, shared)?)
            }
        };
        Ok(web)
    }

    /// What DNS says of a name, given in lower case and without its last dot.
    pub(super) fn existence(&self, name: &str) -> Existence {
        self.faults.existence(name).unwrap_or_else(|| match &self.hosts {
            Hosts::Told(told) => told.address(name).map_or(Existence::Missing, Existence::At),
            Hosts::Invented(population) => population.existence(name),
        })
    }

    /// What a TLS handshake finds at that name; one that does not exist has a good certificate, and no page.
    ///
    /// The same as [`Web::behaviour`] says, without the cost of making a body.
    pub(super) fn tls(&self, name: &str) -> Tls {
        self.faults.behaviour(name).map_or_else(
            || match &self.hosts {
                Hosts::Told(told) => told.tls(name),
                Hosts::Invented(population) => population.tls(name),
            },
            |behaviour| behaviour.tls,
        )
    }

    /// What a request finds at the host of that name, if it exists; asking counts where it matters.
    pub(super) fn reply(&self, name: &str) -> Option<Reply> {
        let behaviour = self.behaviour(name)?;
        if self.refusing > 0
            && self.existence(name) == Existence::At(SHARED)
            && let Some(refusal) = refusal::of_shared(self.seed, name, self.refusing)
        {
            return Some(Reply::Respond(refusal));
        }
        match behaviour.reply {
            Reply::AtFirst(first, _) if self.turn(name) == 0 => Some(*first),
            Reply::AtFirst(_, then) => Some(*then),
            reply => Some(reply),
        }
    }

    /// How often this was asked for before.
    pub(super) fn turn(&self, question: &str) -> u32 {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = turns.entry(question.into()).or_default();
        *turn += 1;
        *turn - 1
    }

    fn behaviour(&self, name: &str) -> Option<Behaviour> {
        self.faults.behaviour(name).or_else(|| match &self.hosts {
            Hosts::Told(told) => told.behaviour(name),
            Hosts::Invented(population) => population.behaviour(name),
        })
    }
}
