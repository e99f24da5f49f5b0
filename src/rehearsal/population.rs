//! Invented hosts in realistic shares: what a host does is a pure function of the seed and its name.
//!
//! Shares follow what is published about the top million (63 % serve a file; a seventh of the files restrict an AI
//! crawler by name) and what befell the surveys whose failures are known by cause: of the some 15,000 hosts of each wave
//! of the .gov corpus, 0.3 to 0.7 % refused, 0.3 to 0.4 % reset, 0.3 to 0.5 % failed in TLS, 0.3 % were unreachable and
//! 0.1 % sent their visitor in circles. How each such share divides among single faults is our own guess. Failures that
//! cost a survey its patience are kept below one in a hundred, so that a rehearsal ends soon.
//!
//! Touches nothing. Deliberately absent: the words of the files (`robots_texts`), and memory of what was answered:
//! behaviour is made anew for each request, so a million hosts cost a name and an address each.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use bytes::Bytes;
use jiff::Timestamp;

use crate::domain::Domain;
use crate::rehearsal::addresses::{Plan, SHARED, sharing, twin};
use crate::rehearsal::behaviour::{Behaviour, Course, HANDSHAKE_FAILURE, Reply, Response, Tls, Way};
use crate::rehearsal::dice::Dice;
use crate::rehearsal::faults;
use crate::rehearsal::rare::{FAULTS, FAULTS_OF};
use crate::rehearsal::refusal::http_date;
use crate::rehearsal::robots_texts;
use crate::rehearsal::web::Existence;

/// What kind of host a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// It serves a robots.txt file.
    File,
    /// It does so over http only.
    HttpOnly,
    /// It does so with a certificate that is expired, or that nobody vouches for.
    BadCertificate(Tls),
    /// It does so over http, and ends TLS handshakes with an alert.
    Alert,
    /// It ends TLS handshakes with an alert, and sends everybody from http to https.
    AlertUpgrade,
    /// It sends everybody to its `www.` twin.
    ToWww,
    /// It sends everybody through so many redirects of its own, then serves a file.
    Hops(usize),
    /// Its redirects lead in a circle.
    Loop,
    /// Its redirect does not say where to.
    NoLocation,
    /// It serves an empty file.
    Empty,
    /// It serves a page, with this status.
    Page(u16),
    /// It has no name, and nor has its twin.
    NoName,
    /// It has no name, but its `www.` twin serves a file.
    NoNameButWww,
    /// It has a name and no address, but its `www.` twin serves a file.
    NoAddressButWww,
    /// It refuses connections.
    Refuse,
    /// It resets connections once the request is read.
    Reset,
    /// It never answers a SYN.
    Blackhole,
    /// It does as the fault host of this name does.
    Fault(&'static str),
}

/// The mix of those that have no rare fault, in parts of a thousand.
const MIX: &[(usize, Kind)] = &[
    (560, Kind::File),
    (8, Kind::HttpOnly),
    (7, Kind::BadCertificate(Tls::Expired)),
    (7, Kind::BadCertificate(Tls::SelfSigned)),
    (5, Kind::Alert),
    (3, Kind::AlertUpgrade),
    (40, Kind::ToWww),
    (6, Kind::Hops(1)),
    (4, Kind::Hops(2)),
    (2, Kind::Hops(5)),
    (2, Kind::Hops(6)),
    (4, Kind::Loop),
    (2, Kind::NoLocation),
    (25, Kind::Empty),
    (45, Kind::Page(200)),
    (3, Kind::Page(202)),
    (135, Kind::Page(404)),
    (3, Kind::Page(410)),
    (55, Kind::Page(403)),
    (4, Kind::Page(401)),
    (1, Kind::Page(451)),
    (3, Kind::Page(429)),
    (6, Kind::Page(500)),
    (3, Kind::Page(502)),
    (6, Kind::Page(503)),
    (2, Kind::Page(521)),
    (24, Kind::NoName),
    (6, Kind::NoNameButWww),
    (4, Kind::NoAddressButWww),
    (12, Kind::Refuse),
    (7, Kind::Reset),
    (6, Kind::Blackhole),
];

/// All invented hosts.
#[derive(Debug)]
pub(super) struct Population {
    seed: u64,
    places: HashMap<Box<str>, Ipv4Addr>,
}

impl Population {
    /// Gives each domain its address.
    pub(super) fn new(domains: Vec<Domain>, seed: u64, shared: usize) -> anyhow::Result<Self> {
        let ways: Vec<Option<Way>> =
            domains.iter().map(|domain| kind(seed, domain.as_str()).way(domain.as_str())).collect();
        let sharing = sharing(&ways, shared);
        let mut plan = Plan::default();
        let mut places = HashMap::with_capacity(domains.len());
        for ((domain, way), shares) in domains.into_iter().zip(ways).zip(sharing) {
            // A host without a way of its own still holds a place among the open ones: its twin's is counted from it.
            let address = if shares { SHARED } else { plan.place(way.unwrap_or(Way::Open))? };
            places.insert(domain.as_str().into(), address);
        }
        Ok(Self { seed, places })
    }

    /// What DNS says of a name.
    pub(super) fn existence(&self, name: &str) -> Existence {
        if let Some(address) = self.places.get(name) {
            return match kind(self.seed, name) {
                Kind::NoName | Kind::NoNameButWww => Existence::Missing,
                Kind::NoAddressButWww => Existence::Bare,
                Kind::Fault(fault) => Existence::of(fail(fault, name).lookup, *address),
                _ => Existence::At(*address),
            };
        }
        match self.twin_of(name) {
            Some((apex, address)) if has_twin(self.seed, apex) => Existence::At(twin(address)),
            _ => Existence::Missing,
        }
    }

    /// What a TLS handshake finds; twins are in good health.
    pub(super) fn tls(&self, name: &str) -> Tls {
        if self.places.contains_key(name) { kind(self.seed, name).tls(name) } else { Tls::Good }
    }

    /// What the host of that name does, if it exists.
    pub(super) fn behaviour(&self, name: &str) -> Option<Behaviour> {
        if self.places.contains_key(name) {
            return behave(self.seed, name);
        }
        let (apex, _) = self.twin_of(name)?;
        has_twin(self.seed, apex).then(|| behave_as_twin(self.seed, apex))
    }

    /// The listed apex of a `www.` name that is not listed itself.
    fn twin_of<'a>(&self, name: &'a str) -> Option<(&'a str, Ipv4Addr)> {
        let apex = name.strip_prefix("www.")?;
        self.places.get(apex).map(|address| (apex, *address))
    }
}

impl Kind {
    /// What a connection finds; nothing where the name leads to no address.
    fn way(self, name: &str) -> Option<Way> {
        match self {
            Self::NoName | Self::NoNameButWww | Self::NoAddressButWww => None,
            Self::Refuse => Some(Way::Refuse),
            Self::HttpOnly => Some(Way::HttpOnly),
            Self::Blackhole => Some(Way::Blackhole),
            Self::Fault(fault) => Some(fail(fault, name).way),
            _ => Some(Way::Open),
        }
    }

    /// What a TLS handshake finds.
    fn tls(self, name: &str) -> Tls {
        match self {
            Self::BadCertificate(tls) => tls,
            Self::Alert | Self::AlertUpgrade => Tls::Alert(HANDSHAKE_FAILURE),
            Self::Fault(fault) => fail(fault, name).tls,
            _ => Tls::Good,
        }
    }
}

/// What kind of host a listed name is.
pub(super) fn kind(seed: u64, name: &str) -> Kind {
    if let Some(fault) = rare_fault(seed, name) {
        return Kind::Fault(fault);
    }
    let kind = Dice::new(seed, name, "kind").weighted(MIX);
    // A name that starts with `www.` has no twin to send anybody to.
    match kind {
        Kind::ToWww if name.starts_with("www.") => Kind::File,
        Kind::NoNameButWww | Kind::NoAddressButWww if name.starts_with("www.") => Kind::NoName,
        _ => kind,
    }
}

/// The rare fault that a listed name has, if it is one of the few.
fn rare_fault(seed: u64, name: &str) -> Option<&'static str> {
    let mut left = Dice::new(seed, name, "fault").below(FAULTS_OF);
    for (share, fault) in FAULTS {
        if left < *share {
            return Some(fault);
        }
        left -= share;
    }
    None
}

/// Whether the `www.` twin of a listed name exists.
fn has_twin(seed: u64, apex: &str) -> bool {
    if apex.starts_with("www.") {
        return false;
    }
    match kind(seed, apex) {
        Kind::ToWww | Kind::NoNameButWww | Kind::NoAddressButWww => true,
        Kind::File | Kind::Empty | Kind::Page(_) => Dice::new(seed, apex, "www").per_mille(850),
        // Blocks of failing hosts have no room for twins, and a twin that fails too would only cost time.
        _ => false,
    }
}

fn behave(seed: u64, name: &str) -> Option<Behaviour> {
    let kind = kind(seed, name);
    let file = || file(seed, name);
    let reply = match kind {
        Kind::NoName | Kind::NoNameButWww | Kind::NoAddressButWww => return None,
        Kind::File if Dice::new(seed, name, "upgrade").per_mille(700) => Reply::Redirect(Course::Upgrade(file())),
        Kind::File | Kind::HttpOnly | Kind::BadCertificate(_) | Kind::Alert => Reply::Respond(file()),
        Kind::AlertUpgrade => Reply::Redirect(Course::Upgrade(file())),
        Kind::ToWww => Reply::Redirect(Course::Www),
        Kind::Hops(hops) => Reply::Redirect(Course::Hops(hops, file())),
        Kind::Loop => Reply::Redirect(Course::Loop),
        Kind::NoLocation => Reply::Respond(Response::page(302, name)),
        Kind::Empty => Reply::Respond(Response::file(Bytes::new())),
        Kind::Page(status) => Reply::Respond(Response::page(status, name)),
        Kind::Refuse | Kind::Reset | Kind::Blackhole => Reply::Reset,
        Kind::Fault(fault) => return Some(fail(fault, name)),
    };
    Some(Behaviour { way: kind.way(name)?, tls: kind.tls(name), ..Behaviour::open(reply) })
}

/// What a host does that has the fault of this name.
fn fail(fault: &str, host: &str) -> Behaviour {
    faults::find(fault).expect("a test looks up every fault of the mix").behaviour(host)
}

fn behave_as_twin(seed: u64, apex: &str) -> Behaviour {
    match kind(seed, apex) {
        Kind::ToWww | Kind::NoNameButWww | Kind::NoAddressButWww => Behaviour::open(Reply::Respond(file(seed, apex))),
        _ if Dice::new(seed, apex, "twin").per_mille(500) => Behaviour::open(Reply::Redirect(Course::Apex)),
        _ => behave(seed, apex).unwrap_or_else(|| Behaviour::open(Reply::Respond(file(seed, apex)))),
    }
}

/// The file of a host, and how it is sent: some in chunks, some compressed, most with a validator.
fn file(seed: u64, name: &str) -> Response {
    let mut dice = Dice::new(seed, name, "sending");
    let (chunked, gzip) = (dice.per_mille(200), dice.per_mille(300));
    let text = robots_texts::write(&mut Dice::new(seed, name, "text"), name);
    let response = match Dice::new(seed, name, "validator").below(1000) {
        0..600 => Response::file(text).with(&format!("ETag: {}\r\n", tag(seed, name))),
        600..800 => Response::file(text).with(&format!("Last-Modified: {}\r\n", date(seed, name))),
        _ => Response::file(text),
    };
    Response { chunked, gzip, ..response }
}

/// A tag of the file; of a tenth a weak one.
fn tag(seed: u64, name: &str) -> String {
    let mut dice = Dice::new(seed, name, "tag");
    let weak = if dice.per_mille(100) { "W/" } else { "" };
    format!("{weak}\"{:016x}\"", dice.roll())
}

/// A date of the file, in the ten years before this was written.
fn date(seed: u64, name: &str) -> String {
    let seconds = 1_450_000_000 + Dice::new(seed, name, "date").below(300_000_000);
    let seconds = i64::try_from(seconds).expect("it is below two thousand million");
    http_date(Timestamp::from_second(seconds).expect("it is a date of this century"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_mix_adds_up_and_costs_little_patience() {
        assert_eq!(MIX.iter().map(|(share, _)| share).sum::<usize>(), 1000);
        let silent: usize = MIX.iter().filter(|(_, kind)| *kind == Kind::Blackhole).map(|(share, _)| share).sum();
        let waits: usize = FAULTS.iter().filter(|(_, name)| is_wait(name)).map(|(share, _)| share).sum();
        assert!(10 * silent + waits < FAULTS_OF / 100, "{silent} of 1,000 and {waits} of 10,000");
    }

    #[test]
    fn every_rare_fault_is_there_and_steady() {
        for (_, name) in FAULTS {
            assert!(faults::find(name).unwrap_or_else(|| panic!("there is no fault {name}")).is_steady(), "{name}");
        }
    }

    #[test]
    fn shares_of_a_population_are_those_of_the_mix() {
        let mut counts = BTreeMap::new();
        for index in 0..100_000 {
            *counts.entry(kind(3, &format!("host-{index}.example"))).or_insert(0_usize) += 1;
        }
        let seen = |kind: &Kind| counts.get(kind).copied().unwrap_or(0);
        for (share, fault) in FAULTS {
            let (seen, expected) = (seen(&Kind::Fault(fault)), share * 10);
            assert!(seen.abs_diff(expected) <= expected / 5 + 30, "{fault}: {seen} of 100,000, expected {expected}");
        }
        let others = FAULTS_OF - FAULTS.iter().map(|(share, _)| share).sum::<usize>();
        for (share, kind) in MIX {
            let (seen, expected) = (seen(kind), share * others / 100);
            assert!(seen.abs_diff(expected) <= expected / 5 + 30, "{kind:?}: {seen} of 100,000, expected {expected}");
        }
    }

    #[test]
    fn a_seed_decides_everything_and_another_seed_decides_otherwise() {
        let domains = || (0..300).map(|index| Domain::parse(&format!("host-{index}.example")).unwrap()).collect();
        let web = |seed| Population::new(domains(), seed, 0).unwrap();
        let (one, again, other) = (web(1), web(1), web(2));
        let names: Vec<String> = (0..300).map(|index| format!("www.host-{index}.example")).collect();
        for name in names.iter().flat_map(|name| [&name[4..], name]) {
            assert_eq!(one.existence(name), again.existence(name));
            assert_eq!(one.behaviour(name), again.behaviour(name));
        }
        let differing = names.iter().filter(|name| one.behaviour(name) != other.behaviour(name)).count();
        assert!(differing > 100, "{differing}");
    }

    /// Whether a survey learns of the fault by waiting.
    fn is_wait(name: &str) -> bool {
        use crate::outcome::{Cause, Outcome};
        let hosts = faults();
        let host = hosts.iter().find(|host| host.name == format!("{name}.test")).unwrap();
        matches!(
            host.expected,
            Outcome::Failure(
                Cause::DnsTimeout | Cause::ConnectTimeout | Cause::TlsTimeout | Cause::HttpTimeout | Cause::HttpTooSlow
            )
        )
    }
}
