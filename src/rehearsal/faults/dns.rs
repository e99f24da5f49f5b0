//! Names that do not resolve, or resolve oddly.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use super::{Fault, file};
use crate::outcome::{Cause, Kind};
use crate::rehearsal::behaviour::{Behaviour, Damage, Lookup, Place, Reply};

const FORMERR: u16 = 1;
const SERVFAIL: u16 = 2;
const NXDOMAIN: u16 = 3;
const NOTIMP: u16 = 4;
const REFUSED: u16 = 5;

pub(super) const TABLE: &[Fault] = &[
    Fault::fails("dns-nxdomain", Cause::DnsNxdomain, "The name does not exist.", |_| at(Lookup::Code(NXDOMAIN))),
    Fault::fails("dns-nodata", Cause::DnsNoAddress, "The name exists and has no record.", |_| at(Lookup::NoData)),
    Fault::fails("dns-servfail", Cause::DnsServfail, "The resolver says SERVFAIL.", |_| at(Lookup::Code(SERVFAIL))),
    Fault::fails("dns-servfail-for-a", Cause::DnsServfail, "SERVFAIL for A, no record for AAAA.", |_| {
        at(Lookup::CodeForA(SERVFAIL))
    }),
    Fault::fails("dns-refused", Cause::DnsRefused, "The resolver says REFUSED.", |_| at(Lookup::Code(REFUSED))),
    Fault::fails("dns-notimp", Cause::DnsRefused, "The resolver says NOTIMP.", |_| at(Lookup::Code(NOTIMP))),
    Fault::fails("dns-formerr", Cause::DnsRefused, "The resolver says FORMERR.", |_| at(Lookup::Code(FORMERR))),
    Fault::fails("dns-silent", Cause::DnsTimeout, "The resolver says nothing.", |_| at(Lookup::Silence)),
    Fault::fails("dns-cut", Cause::DnsMalformed, "The answer ends in the middle of its question.", |_| {
        at(Lookup::Damaged(Damage::Cut))
    }),
    Fault::fails("dns-counts", Cause::DnsMalformed, "The answer counts more records than it holds.", |_| {
        at(Lookup::Damaged(Damage::Counts))
    }),
    Fault::fails("dns-noise", Cause::DnsMalformed, "The answer is noise behind the right identifier.", |_| {
        at(Lookup::Damaged(Damage::Noise))
    }),
    Fault::fails("dns-pointer", Cause::DnsMalformed, "A compressed name in the answer points to itself.", |_| {
        at(Lookup::Damaged(Damage::Pointer))
    }),
    Fault::fails("dns-short-address", Cause::DnsMalformed, "The address in the answer has three bytes.", |_| {
        at(Lookup::Damaged(Damage::ShortAddress))
    }),
    // Somebody else's guess at an answer; the right one may still come, so there is nothing to do but to wait for it.
    Fault::fails("dns-other-id", Cause::DnsTimeout, "All answers belong to another query, by identifier.", |_| {
        at(Lookup::Damaged(Damage::OtherId))
    }),
    Fault::fails("dns-other-question", Cause::DnsTimeout, "All answers belong to another query, by question.", |_| {
        at(Lookup::Damaged(Damage::OtherQuestion))
    }),
    Fault::answers("dns-slow", Kind::Rules, "The answer takes a second.", |_| at(Lookup::Slow(Duration::from_secs(1)))),
    Fault::answers("dns-cut-over-udp", Kind::Rules, "The answer is whole over TCP only.", |_| at(Lookup::CutOverUdp)),
    Fault::answers("dns-alias", Kind::Rules, "The name is an alias.", |_| at(Lookup::Aliases(1))),
    Fault::answers("dns-aliases", Kind::Rules, "The name is an alias of an alias, six times over.", |_| {
        at(Lookup::Aliases(6))
    }),
    Fault::fails("dns-alias-nxdomain", Cause::DnsNxdomain, "The name is an alias of one that does not exist.", |_| {
        at(Lookup::AliasOnly(NXDOMAIN))
    }),
    Fault::fails("dns-alias-nodata", Cause::DnsNoAddress, "The name is an alias of one without an address.", |_| {
        at(Lookup::AliasOnly(0))
    }),
    Fault::plays_a_part("nowhere.dns-alias-nodata", "The name exists and has no record.", |_| at(Lookup::NoData)),
    private("dns-private-10", "Its only address is in 10.0.0.0/8.", |_| addresses(const { &[v4(10, 1, 2, 3)] })),
    private("dns-private-172", "Its only address is in 172.16.0.0/12.", |_| {
        addresses(const { &[v4(172, 31, 255, 1)] })
    }),
    private("dns-private-192", "Its only address is in 192.168.0.0/16.", |_| {
        addresses(const { &[v4(192, 168, 1, 1)] })
    }),
    private("dns-metadata", "Its only address is that of cloud metadata, 169.254.169.254.", |_| {
        addresses(const { &[v4(169, 254, 169, 254)] })
    }),
    private("dns-carrier", "Its only address is in 100.64.0.0/10.", |_| addresses(const { &[v4(100, 64, 0, 1)] })),
    private("dns-multicast", "Its only address is in 224.0.0.0/4.", |_| addresses(const { &[v4(224, 0, 0, 251)] })),
    private("dns-documentation", "Its only address is in 203.0.113.0/24.", |_| {
        addresses(const { &[v4(203, 0, 113, 7)] })
    }),
    private("dns-zero", "Its only address is 0.0.0.0.", |_| addresses(const { &[v4(0, 0, 0, 0)] })),
    private("dns-broadcast", "Its only address is 255.255.255.255.", |_| {
        addresses(const { &[v4(255, 255, 255, 255)] })
    }),
    private("dns-many-private", "All of its addresses are private.", |_| {
        addresses(const { &[v4(10, 0, 0, 1), v4(192, 168, 0, 1), v4(169, 254, 169, 254), LINK_LOCAL] })
    }),
    private("dns-link-local", "Its only address is fe80::1.", |_| addresses(const { &[LINK_LOCAL] })),
    private("dns-unique-local", "Its only address is fc00::1.", |_| {
        addresses(const { &[v6([0xfc00, 0, 0, 0, 0, 0, 0, 1])] })
    }),
    private("dns-mapped", "Its only address is ::ffff:10.0.0.1.", |_| {
        addresses(const { &[v6([0, 0, 0, 0, 0, 0xffff, 0x0a00, 1])] })
    }),
    private("dns-documentation-v6", "Its only address is 2001:db8::1.", |_| {
        addresses(const { &[v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1])] })
    }),
    Fault::answers("dns-private-first", Kind::Rules, "A private address comes first, a good one second.", |_| {
        addresses(const { &[v4(10, 1, 2, 3), Place::Own] })
    }),
    Fault::answers("dns-private-second", Kind::Rules, "A good address comes first, a private one second.", |_| {
        addresses(const { &[Place::Own, v4(10, 1, 2, 3)] })
    }),
    Fault::answers("dns-v6-only", Kind::Rules, "Its only address is ::1.", |_| {
        addresses(const { &[v6([0, 0, 0, 0, 0, 0, 0, 1])] })
    }),
    Fault::answers("dns-rebind", Kind::Rules, "Its address is good when first asked for, and private later.", |_| {
        at(Lookup::Rebind(Ipv4Addr::new(10, 1, 2, 3)))
    })
    .unsteady(),
    Fault::plays_a_part("rebind", "Its address is good when first asked for, and private later.", |_| {
        at(Lookup::Rebind(Ipv4Addr::new(10, 1, 2, 3)))
    })
    .unsteady(),
    Fault::answers("dns-nxdomain-but-www", Kind::Rules, "Only the name with www. exists.", |_| {
        at(Lookup::Code(NXDOMAIN))
    }),
    Fault::plays_a_part("www.dns-nxdomain-but-www", "It serves a file.", |_| at(Lookup::Own)),
    Fault::answers("dns-nodata-but-www", Kind::Rules, "Only the name with www. has an address.", |_| {
        at(Lookup::NoData)
    }),
    Fault::plays_a_part("www.dns-nodata-but-www", "It serves a file.", |_| at(Lookup::Own)),
];

const LINK_LOCAL: Place = v6([0xfe80, 0, 0, 0, 0, 0, 0, 1]);

const fn private(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    Fault::fails(name, Cause::DnsPrivate, about, act)
}

fn at(lookup: Lookup) -> Behaviour {
    Behaviour { lookup, ..Behaviour::open(Reply::Respond(file())) }
}

fn addresses(places: &'static [Place]) -> Behaviour {
    at(Lookup::Addresses(places))
}

const fn v4(a: u8, b: u8, c: u8, d: u8) -> Place {
    Place::At(IpAddr::V4(Ipv4Addr::new(a, b, c, d)))
}

const fn v6(s: [u16; 8]) -> Place {
    Place::At(IpAddr::V6(Ipv6Addr::new(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7])))
}
