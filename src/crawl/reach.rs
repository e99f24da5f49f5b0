//! Whom the crawl may contact, and through which door.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::exclusions::Exclusions;

/// The addresses that may be contacted and the ports that stand for 80 and 443 there.
///
/// Every connection is decided here, after the look-up and before the dialling, and the address that was decided on is
/// the one that is dialled: there is no second look-up, hence no rebinding between the two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Public addresses, at the ports their schemes have.
    Internet,
    /// Loopback only, through the doors that a rehearsal opened.
    Rehearsal(Vec<Door>),
}

/// Whom the crawl may contact, and who of those asked not to be.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    pub(crate) reach: Reach,
    pub(crate) exclusions: Exclusions,
}

/// The ports that stand for 80 and 443 in one block of a rehearsal's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Door {
    /// The addresses behind the door.
    pub block: IpNet,
    /// The port that stands for 80.
    pub http: u16,
    /// The port that stands for 443.
    pub https: u16,
}

impl Reach {
    /// Whether this address may be contacted at all.
    pub fn allows(&self, ip: IpAddr) -> bool {
        match self {
            Self::Internet => is_public(ip),
            Self::Rehearsal(doors) => ip.is_loopback() && doors.iter().any(|door| door.block.contains(&ip)),
        }
    }

    /// The socket to dial for an address that may be contacted, and nothing for any other.
    pub(crate) fn dial(&self, ip: IpAddr, is_https: bool) -> Option<SocketAddr> {
        if !self.allows(ip) {
            return None;
        }
        match self {
            Self::Internet => Some(SocketAddr::new(ip, if is_https { 443 } else { 80 })),
            Self::Rehearsal(doors) => {
                let door = doors.iter().find(|door| door.block.contains(&ip))?;
                Some(SocketAddr::new(ip, if is_https { door.https } else { door.http }))
            }
        }
    }
}

/// Whether an address is one of the public Internet's, by the special-purpose registries (RFC 6890 and successors).
///
/// IPv6 addresses that carry an IPv4 address (mapped, compatible, NAT64, 6to4) are public only if that one is.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => !SPECIAL_V4.iter().any(|block| block.contains(&ip)),
        IpAddr::V6(ip) => match embedded_v4(ip) {
            Some(inner) => is_public(IpAddr::V4(inner)),
            None => GLOBAL_V6.contains(&ip) && !SPECIAL_V6.iter().any(|block| block.contains(&ip)),
        },
    }
}

/// The IPv4 address inside `::ffff:0:0/96`, `::/96`, `64:ff9b::/96` or `2002::/16`.
fn embedded_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let parts = ip.segments();
    let pack = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match parts {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
            Some(pack(high, low))
        }
        _ => None,
    }
}

const fn v4(a: u8, b: u8, c: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, 0), prefix)
}

const fn v6(a: u16, b: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), prefix)
}

const SPECIAL_V4: &[Ipv4Net] = &[
    v4(0, 0, 0, 8),
    v4(10, 0, 0, 8),
    v4(100, 64, 0, 10),
    v4(127, 0, 0, 8),
    v4(169, 254, 0, 16),
    v4(172, 16, 0, 12),
    v4(192, 0, 0, 24),
    v4(192, 0, 2, 24),
    v4(192, 88, 99, 24),
    v4(192, 168, 0, 16),
    v4(198, 18, 0, 15),
    v4(198, 51, 100, 24),
    v4(203, 0, 113, 24),
    v4(224, 0, 0, 4),
    v4(240, 0, 0, 4),
];
const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 3);
/// Documentation twice, and what the IETF keeps for protocols (Teredo, benchmarking, ORCHID).
const SPECIAL_V6: &[Ipv6Net] = &[v6(0x2001, 0xdb8, 32), v6(0x2001, 0, 23), v6(0x3fff, 0, 20)];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ip: &str, public: bool) {
        assert_eq!(Reach::Internet.allows(ip.parse().unwrap()), public, "{ip}");
    }

    #[test]
    fn private_and_special_addresses_are_not_contacted_in_any_spelling() {
        for ip in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.168.1.1",
            "198.19.0.1",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "2001:db8::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::a00:1",
            "2002:7f00:1::",
            "2002:c0a8:101::1",
            "2001:0:1::1",
            "2001:2::1",
            "2001:10::1",
        ] {
            check(ip, false);
        }
    }

    #[test]
    fn public_addresses_are_contacted() {
        for ip in ["8.8.8.8", "172.32.0.1", "192.0.1.1", "2606:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8"] {
            check(ip, true);
        }
    }

    #[test]
    fn a_rehearsal_reaches_its_own_blocks_of_loopback_and_nothing_else() {
        let door = |block: &str, http, https| Door { block: block.parse().unwrap(), http, https };
        let reach = Reach::Rehearsal(vec![door("127.200.0.0/16", 1, 2), door("127.0.0.0/8", 3, 4)]);
        assert_eq!(reach.dial("127.200.0.9".parse().unwrap(), true), Some("127.200.0.9:2".parse().unwrap()));
        assert_eq!(reach.dial("127.3.0.9".parse().unwrap(), false), Some("127.3.0.9:3".parse().unwrap()));
        assert_eq!(reach.dial("8.8.8.8".parse().unwrap(), false), None);
        assert_eq!(reach.dial("10.0.0.1".parse().unwrap(), false), None);
        let wide = Reach::Rehearsal(vec![door("0.0.0.0/0", 1, 2)]);
        assert_eq!(wide.dial("192.168.0.1".parse().unwrap(), false), None);
    }
}
