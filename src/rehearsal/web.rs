//! The hosts of a rehearsal: which names exist, where, and what stands behind them.
//!
//! Touches nothing beyond what its two halves read: [`Told`] (archives and labels) and [`Population`] (invention).
//! Deliberately absent: sockets.

use std::net::Ipv4Addr;

use crate::rehearsal::Source;
use crate::rehearsal::behaviour::{Behaviour, Tls};
use crate::rehearsal::population::Population;
use crate::rehearsal::told::Told;

/// All hosts.
#[derive(Debug)]
pub(super) enum Web {
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
}

impl Web {
    /// Reads the source.
    pub(super) fn load(source: Source, shared: Option<usize>) -> anyhow::Result<Self> {
        Ok(match source {
            Source::Archive(archive) => Self::Told(Told::from_archive(&archive, shared.unwrap_or(0))?),
            Source::Labelled { archive, labels } => {
                Self::Told(Told::from_labels(&archive, &labels, shared.unwrap_or(0))?)
            }
            Source::Population { domains, seed } => {
                // 500 of ten thousand, in proportion on shorter lists, and no more on longer ones.
                let shared = shared.unwrap_or_else(|| 500.min(domains.len().div_ceil(20)));
                Self::Invented(Population::new(domains, seed, shared)?)
            }
        })
    }

    /// What DNS says of a name, given in lower case and without its last dot.
    pub(super) fn existence(&self, name: &str) -> Existence {
        match self {
            Self::Told(told) => told.address(name).map_or(Existence::Missing, Existence::At),
            Self::Invented(population) => population.existence(name),
        }
    }

    /// What a TLS handshake finds at that name; one that does not exist has a good certificate, and no page.
    ///
    /// The same as [`Web::behaviour`] says, without the cost of making a body.
    pub(super) fn tls(&self, name: &str) -> Tls {
        match self {
            Self::Told(told) => told.tls(name),
            Self::Invented(population) => population.tls(name),
        }
    }

    /// What the host of that name does, if it exists.
    pub(super) fn behaviour(&self, name: &str) -> Option<Behaviour> {
        match self {
            Self::Told(told) => told.behaviour(name),
            Self::Invented(population) => population.behaviour(name),
        }
    }
}
