//! Tricks by which a site could make the survey contact what it must not (in `run/tests.rs`: the way of a target).

use std::net::{Ipv4Addr, Ipv6Addr};

use bytes::Bytes;
use ipnet::IpNet;
use proptest::prelude::*;

use super::*;
use crate::crawl::Reach;
use crate::exclusions::Exclusions;

fn guard() -> Guard {
    Guard { reach: Reach::Internet, exclusions: Exclusions::default() }
}

fn begin() -> Box<Journey> {
    let domain = Domain::parse("a.example").unwrap();
    let target = Target { index: 0, domain, rank: None, weight: None, stratum: None };
    Journey::begin(target, Www::Fallback, Instant::now(), Timestamp::UNIX_EPOCH)
}

fn resolved(journey: Box<Journey>, ips: &[IpAddr]) -> Step {
    let result = Ok(Resolution { ips: ips.to_vec(), cname: None });
    journey.resolved(Lookup { answers: DnsAnswers::default(), result }, &guard(), Instant::now())
}

/// Whom the step asks; panics unless it asks.
#[track_caller]
fn asked(step: Step) -> (Box<Journey>, IpAddr) {
    match step {
        Step::Ask(journey, ip) => (journey, ip),
        step => panic!("nobody is asked: {step:?}"),
    }
}

/// How the step ends the journey; nothing where it goes on.
fn end(step: &Step) -> Option<Cause> {
    match step {
        Step::Done(observation) => observation.failure().map(|failure| failure.cause),
        Step::Resolve(_) | Step::Ask(..) => None,
    }
}

fn answer(journey: Box<Journey>, result: Result<Response, Failure>) -> Step {
    let hop = Hop {
        url: journey.url().to_string(),
        ip: None,
        status: result.as_ref().ok().map(|response| response.status),
        failure: result.as_ref().err().map(|failure| failure.cause),
        tls_verdict: None,
        tls_version: None,
        http_version: None,
        elapsed: std::time::Duration::ZERO,
    };
    let exchange = Exchange { sent_at: Timestamp::UNIX_EPOCH, hop, result, condition: Condition::None };
    journey.answered(exchange, &guard(), Instant::now())
}

fn redirect(journey: Box<Journey>, to: &str) -> Step {
    // As header values are read: a character for each byte.
    let location = to.bytes().map(char::from).collect();
    let response = Response {
        url: journey.url().to_string(),
        status: 302,
        headers: vec![("location".to_owned(), location)],
        body: Bytes::new(),
        is_truncated: false,
        wire_bytes: Some(0),
    };
    answer(journey, Ok(response))
}

const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(9, 9, 9, 9));

/// Where a redirect of `https://a.example/robots.txt` ends without a further look-up or request.
#[track_caller]
fn check(location: &str, expected: Cause) {
    let (journey, _) = asked(resolved(begin(), &[PUBLIC]));
    assert_eq!(end(&redirect(journey, location)), Some(expected), "{location:?}");
}

#[test]
fn an_ip_literal_in_any_spelling_is_not_asked() {
    for location in [
        "http://10.0.0.1/",
        "//10.0.0.1/robots.txt",
        "https://10.0.0.1:8443/",
        "http://167772161/",
        "http://0xa000001/",
        "http://0XA.0x0.0X0.0x1/",
        "http://012.0.0.01/",
        "http://01200000001/",
        "http://00000012.0.0.1/",
        "http://10.1/",
        "http://10.0.1/",
        "http://0xa.1/",
        "http://10.0.0.1./",
        "http://%31%30.0.0.1/",
        "http://10%2e0%2E0.1/",
        "http://\u{ff11}\u{ff10}.\u{ff10}.\u{ff10}.\u{ff11}/",
        "http://10\u{3002}0\u{ff0e}0\u{ff61}1/",
        "http://\u{2460}\u{24ea}.0.0.1/",
        "http://1\u{ad}0.0.0.1/",
        "http://%ef%bc%91%ef%bc%90.0.0.1/",
        "http://public@10.0.0.1/",
        "http://public.example:80@10.0.0.1/",
        "http://public.example%40@10.0.0.1/",
        "http://a@b@10.0.0.1/",
        "http:\\\\10.0.0.1\\",
        "http:/10.0.0.1/",
        "http:10.0.0.1",
        "  http://10.0.0.1/  ",
        "ht\ttp://1\t0.0.0.1/",
        "http://0/",
        "http://0x/",
        "http://127.1/",
        "http://2130706433/",
        "http://017700000001/",
        "http://8.8.8.8/",
        "http://[::1]/",
        "http://[::]/",
        "http://[0:0:0:0:0:0:0:1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://[::FFFF:a00:1]/",
        "http://[::10.0.0.1]/",
        "http://[64:ff9b::a00:1]/",
        "http://[fe80::1]/",
        "http://public@[::1]:443/",
        "http://%5b::1]/",
    ] {
        // A bracket in code is no bracket: that one is no host at all.
        let expected = if location.contains("%5b") { Cause::RedirectBadLocation } else { Cause::RedirectToIp };
        check(location, expected);
    }
}

#[test]
fn what_almost_is_an_ip_literal_is_no_host() {
    for location in [
        "http://10.0.0.256/",
        "http://4294967296/",
        "http://0x100000000/",
        "http://1.2.3.4.5/",
        "http://256.1/",
        "http://10.0.0.08/",
        "http://example.127/",
        "http://a.0x7f/",
        "http://[::1/",
        "http://::1/",
        "http://[fe80::1%25eth0]/",
        "http://[::ffff:10.0.0.1.]/",
        "http://10.0.0.1%00/",
        "http://10.0.0.1%2fa.example/",
        "http://public.example:80:80@/",
    ] {
        check(location, Cause::RedirectBadLocation);
    }
}

/// The registries of special addresses (RFC 6890 and its successors), written down apart from the guard's own list.
const SPECIAL: &[&str] = &[
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "::1/128",
    "::/128",
    "64:ff9b:1::/48",
    "100::/64",
    "100:0:0:1::/64",
    "2001::/32",
    "2001:2::/48",
    "2001:10::/28",
    "2001:db8::/32",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
];

/// An address of a special block, alone or inside an IPv6 address.
fn special() -> impl Strategy<Value = IpAddr> {
    (prop::sample::select(SPECIAL), any::<u128>(), 0..5_u8).prop_map(|(block, bits, wrapping)| {
        match block.parse::<IpNet>().unwrap() {
            IpNet::V6(block) => {
                let inside = block.network().to_bits() | (bits & block.hostmask().to_bits());
                Ipv6Addr::from_bits(inside).into()
            }
            IpNet::V4(block) => {
                let low = u32::try_from(bits >> 96).unwrap();
                let inside = u128::from(block.network().to_bits() | (low & block.hostmask().to_bits()));
                match wrapping {
                    0 => Ipv4Addr::from_bits(u32::try_from(inside).unwrap()).into(),
                    1 => Ipv6Addr::from_bits(0xffff << 32 | inside).into(),
                    2 => Ipv6Addr::from_bits(inside).into(),
                    3 => Ipv6Addr::from_bits(0x0064_ff9b << 96 | inside).into(),
                    _ => Ipv6Addr::from_bits(0x2002 << 112 | inside << 80 | bits >> 64).into(),
                }
            }
        }
    })
}

/// An address as a URL may spell it: some parts joined, each in one of three bases, some characters in code.
fn spelling() -> impl Strategy<Value = (u32, String)> {
    let bases = prop::collection::vec(0..4_u8, 4);
    let codes = prop::collection::vec(any::<bool>(), 64);
    (any::<u32>(), 1..=4_usize, bases, codes, any::<bool>(), "([a-z.]{1,8}(:[a-z0-9]{0,4})?@)?").prop_map(
        |(address, parts, bases, in_code, has_dot, user)| {
            let bytes = address.to_be_bytes();
            let last = bytes[parts - 1..].iter().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
            let numbers = bytes[..parts - 1].iter().map(|byte| u32::from(*byte)).chain([last]);
            let shown = numbers.zip(bases).map(|(number, base)| match base {
                0 => format!("0{number:o}"),
                1 => format!("0x{number:x}"),
                2 => format!("0X000{number:X}"),
                _ => number.to_string(),
            });
            let plain = shown.collect::<Vec<_>>().join(".") + if has_dot { "." } else { "" };
            let text = plain
                .bytes()
                .zip(in_code)
                .map(|(byte, is_coded)| if is_coded { format!("%{byte:02x}") } else { char::from(byte).to_string() });
            (address, format!("http://{user}{}/robots.txt", text.collect::<String>()))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn names_that_resolve_inside_are_not_asked(ips in prop::collection::vec(special(), 1..5)) {
        prop_assert_eq!(end(&resolved(begin(), &ips)), Some(Cause::DnsPrivate));
        let (journey, _) = asked(resolved(begin(), &[PUBLIC]));
        let Step::Resolve(journey) = redirect(journey, "https://inside.example/") else { panic!("a name is looked up") };
        prop_assert_eq!(end(&resolved(journey, &ips)), Some(Cause::RedirectToPrivate));
    }

    #[test]
    fn of_several_addresses_only_a_public_one_is_asked(mut ips in prop::collection::vec(special(), 0..5), at in 0..5_usize) {
        ips.insert(at.min(ips.len()), PUBLIC);
        prop_assert_eq!(asked(resolved(begin(), &ips)).1, PUBLIC);
    }

    #[test]
    fn any_spelling_of_an_address_is_an_ip_literal((address, location) in spelling()) {
        let (journey, _) = asked(resolved(begin(), &[PUBLIC]));
        prop_assert_eq!(end(&redirect(journey, &location)), Some(Cause::RedirectToIp), "{} {}", Ipv4Addr::from_bits(address), location);
    }

    #[test]
    fn no_location_leads_to_anything_but_a_name(location in "(https?:)?[/\\\\]{0,3}[0-9a-fx.:@%\\[\\]]{0,24}(/.{0,8})?") {
        let (journey, _) = asked(resolved(begin(), &[PUBLIC]));
        match redirect(journey, &location) {
            Step::Done(_) => {}
            Step::Resolve(journey) => prop_assert!(journey.host().parse::<IpAddr>().is_err(), "{location}"),
            Step::Ask(journey, ip) => prop_assert_eq!((journey.host(), ip), ("a.example", PUBLIC)),
        }
    }
}

#[test]
fn a_name_is_looked_up_once_so_that_a_second_answer_has_no_say() {
    // After a failure, at the other scheme; behind a redirect, at another path: the address stays the first one.
    let (journey, first) = asked(resolved(begin(), &[PUBLIC]));
    let (journey, second) = asked(answer(journey, Err(Cause::ConnectRefused.into())));
    assert_eq!((journey.url().as_str(), second), ("http://a.example/robots.txt", first));
    let (journey, third) = asked(redirect(journey, "/elsewhere"));
    assert_eq!(third, first);
    // By way of another name and back.
    let Step::Resolve(journey) = redirect(journey, "http://b.example/") else { panic!("b.example is new") };
    let (journey, _) = asked(resolved(journey, &["9.9.9.10".parse().unwrap()]));
    let (_, last) = asked(redirect(journey, "http://A.EXAMPLE/third"));
    assert_eq!(last, first);
}

#[test]
fn a_second_try_looks_up_again_and_is_guarded_again() {
    let (journey, _) = asked(resolved(begin(), &[PUBLIC]));
    let Step::Done(earlier) = answer(journey, Err(Cause::HttpTimeout.into())) else { panic!("a time-out ends it") };
    let journey = Journey::begin_again(earlier, Www::Fallback, Instant::now(), Timestamp::UNIX_EPOCH);
    assert_eq!(end(&resolved(journey, &["10.0.0.1".parse().unwrap()])), Some(Cause::DnsPrivate));
}
