//! Which address a host has: by position, so that no two hosts meet by accident.
//!
//! 127.0.0.0/16 belongs to the DNS server, 127.1.0.1 to the hosts that share. Hosts that listen stand in 127.16.0.0 to
//! 127.103.255.255, their `www.` twins 88 blocks further up, and each failing way in a /16 of its own from 127.200.0.0
//! on. Fault hosts that listen have 127.192.0.0 to 127.199.255.255 to themselves, the others the last address of each
//! /24 in the block of their way. Neighbours in the list stand in different /24s, because a polite survey counts those too.
//!
//! Touches nothing. Deliberately absent: hashing (two names could meet), and IPv6: it has one loopback address only.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use anyhow::ensure;

use crate::rehearsal::behaviour::Way;

/// The address of all hosts that share one.
pub(super) const SHARED: Ipv4Addr = Ipv4Addr::new(127, 1, 0, 1);

/// The broadcast address of loopback: the kernel answers `ENETUNREACH` to a connect before any packet exists.
const UNREACHABLE: Ipv4Addr = Ipv4Addr::new(127, 255, 255, 255);

/// The /16s of fault hosts that listen.
const FAULTS_FIRST: u8 = 192;
const FAULT_BLOCKS: u8 = 8;

const OPEN_FIRST: u8 = 16;
const OPEN_BLOCKS: u8 = 88;

impl Way {
    /// The /16 of a way that has one of its own: its second byte.
    pub(super) const fn block(self) -> Option<u8> {
        match self {
            Self::Refuse => Some(200),
            Self::HttpOnly => Some(201),
            Self::HttpsOnly => Some(202),
            Self::Blackhole => Some(203),
            Self::Open | Self::Unreachable => None,
        }
    }
}

/// Hands out addresses, one after the other.
#[derive(Debug, Default)]
pub(super) struct Plan {
    open: usize,
    blocks: BTreeMap<u8, usize>,
}

impl Plan {
    /// The next address behind which hosts go this way.
    pub(super) fn place(&mut self, way: Way) -> anyhow::Result<Ipv4Addr> {
        let (first, blocks, taken) = match (way, way.block()) {
            (Way::Unreachable, _) => return Ok(UNREACHABLE),
            (_, Some(block)) => (block, 1, self.blocks.entry(block).or_default()),
            (_, None) => (OPEN_FIRST, OPEN_BLOCKS, &mut self.open),
        };
        let networks = usize::from(blocks) * 256;
        let (network, host) = (*taken % networks, *taken / networks + 1);
        ensure!(host <= 254, "more hosts than addresses: {} {way:?} hosts", *taken);
        *taken += 1;
        let byte = |number: usize| u8::try_from(number).expect("it was taken modulo 256 or bounded above");
        Ok(Ipv4Addr::new(127, first + byte(network / 256), byte(network % 256), byte(host)))
    }
}

/// The address of the fault host at this position among those that go this way.
pub(super) fn fault(way: Way, position: u16) -> anyhow::Result<Ipv4Addr> {
    let [high, low] = position.to_be_bytes();
    Ok(match (way, way.block()) {
        (Way::Unreachable, _) => UNREACHABLE,
        (_, Some(block)) => {
            ensure!(high == 0, "more {way:?} fault hosts than addresses for them");
            Ipv4Addr::new(127, block, low, 255)
        }
        (_, None) => {
            ensure!(high < FAULT_BLOCKS, "more fault hosts than addresses for them");
            Ipv4Addr::new(127, FAULTS_FIRST + high, low, 1)
        }
    })
}

/// The address of the `www.` twin of a host that listens at `address`.
pub(super) fn twin(address: Ipv4Addr) -> Ipv4Addr {
    let [a, b, c, d] = address.octets();
    if b == SHARED.octets()[1] { address } else { Ipv4Addr::new(a, b + OPEN_BLOCKS, c, d) }
}

/// Which of the hosts share the one address: `wanted` of those that listen, spread evenly over the list.
pub(super) fn sharing(ways: &[Option<Way>], wanted: usize) -> Vec<bool> {
    let open = ways.iter().filter(|way| **way == Some(Way::Open)).count();
    let mut seen = 0;
    ways.iter()
        .map(|way| {
            if *way != Some(Way::Open) {
                return false;
            }
            // The count of sharers among the first `n` is floor(n * wanted / open).
            let (before, after) = (seen * wanted / open, (seen + 1) * wanted / open);
            seen += 1;
            after > before
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_hosts_meet_and_neighbours_stand_in_different_networks() {
        let mut plan = Plan::default();
        let mut seen = HashSet::new();
        let mut before = None;
        for position in 0..100_000 {
            let way = if position % 50 == 0 { Way::Refuse } else { Way::Open };
            let address = plan.place(way).unwrap();
            assert!(seen.insert(address), "{address} twice");
            assert_ne!(before, Some(address.octets()[..3].to_vec()));
            before = Some(address.octets()[..3].to_vec());
            if way == Way::Open {
                assert!(seen.insert(twin(address)), "the twin of {address} meets another");
            }
        }
        assert!(seen.iter().all(|address| address.is_loopback() && ![0, 1, 255].contains(&address.octets()[1])));
        for position in 0..=255 {
            for way in [Way::Open, Way::Refuse, Way::HttpOnly, Way::HttpsOnly, Way::Blackhole] {
                assert!(seen.insert(fault(way, position).unwrap()), "a fault host meets another");
            }
        }
    }

    #[test]
    fn exactly_so_many_share_and_none_that_fails() {
        let ways: Vec<_> = (0..1000).map(|index| (index % 3 != 0).then_some(Way::Open)).collect();
        for wanted in [0, 1, 50, 500] {
            let sharing = sharing(&ways, wanted);
            assert_eq!(sharing.iter().filter(|shares| **shares).count(), wanted);
            assert!(sharing.iter().zip(&ways).all(|(shares, way)| !shares || way.is_some()));
        }
    }

    #[test]
    fn a_full_block_is_an_error_and_not_a_second_tenant() {
        let mut plan = Plan::default();
        for _ in 0..256 * 254 {
            plan.place(Way::Refuse).unwrap();
        }
        assert!(plan.place(Way::Refuse).is_err());
    }
}
