//! Fault hosts: names under `.test` that answer with the fault that they are called after, whatever the source.
//!
//! `NAME.test` shows the fault to whom asks as a survey does, https first; where it makes sense over http as well,
//! `plain-NAME.test` refuses port 443 and shows it there. Each layer has a file of its own with a table of rows: a name,
//! the outcome that a survey must give it, a sentence, and the behaviour.
//!
//! Touches nothing. Deliberately absent: words that no host can bring about (the owner's wish not to be asked, a run's
//! deadline), and hosts that fail in two ways.

mod body;
mod content;
mod dns;
mod door;
mod head;
mod length;
mod limits;
mod redirect;
mod status;
mod tls;

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::LazyLock;

use anyhow::Context as _;

use crate::outcome::{Cause, Kind, Outcome};
use crate::rehearsal::addresses::fault as address_at;
use crate::rehearsal::behaviour::{Behaviour, Response, Way};
use crate::rehearsal::web::Existence;

/// A host that answers by its name, in every rehearsal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultHost {
    /// Its name.
    pub name: String,
    /// What a survey must say of it.
    pub expected: Outcome,
    /// What it does.
    pub about: String,
    /// Whether it always does the same; another counts how often it was asked.
    pub is_steady: bool,
}

/// Every fault host that is there to be surveyed.
pub fn faults() -> Vec<FaultHost> {
    let hosts = all().filter_map(|fault| {
        let expected = fault.expected?;
        let sides = if fault.is_plain_too { &[Side::Usual, Side::Plain][..] } else { &[Side::Usual] };
        Some(sides.iter().map(move |side| FaultHost {
            name: fault.host(*side),
            expected,
            about: match side {
                Side::Usual => fault.about.to_owned(),
                Side::Plain => format!("Over http only: {}", fault.about),
            },
            is_steady: fault.is_steady,
        }))
    });
    hosts.flatten().collect()
}

/// One row of the registry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    /// Its name without `.test`.
    name: &'static str,
    /// What a survey must say of it; nothing where it only plays a part in another host's fault.
    expected: Option<Outcome>,
    about: &'static str,
    is_plain_too: bool,
    is_steady: bool,
    /// The fault host at whose address it stands.
    beside: Option<&'static str>,
    act: fn(&str) -> Behaviour,
}

impl Fault {
    /// A host from which a survey gets an answer.
    const fn answers(name: &'static str, kind: Kind, about: &'static str, act: fn(&str) -> Behaviour) -> Self {
        let expected = Some(Outcome::Answer(kind));
        Self { name, expected, about, is_plain_too: false, is_steady: true, beside: None, act }
    }

    /// A host from which a survey gets none.
    const fn fails(name: &'static str, cause: Cause, about: &'static str, act: fn(&str) -> Behaviour) -> Self {
        let expected = Some(Outcome::Failure(cause));
        Self { name, expected, about, is_plain_too: false, is_steady: true, beside: None, act }
    }

    /// A host that other hosts lead to.
    const fn plays_a_part(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Self {
        Self { name, expected: None, about, is_plain_too: false, is_steady: true, beside: None, act }
    }

    /// The same over http alone, at `plain-NAME.test`.
    const fn plain_too(self) -> Self {
        Self { is_plain_too: true, ..self }
    }

    /// It counts how often it is asked.
    const fn unsteady(self) -> Self {
        Self { is_steady: false, ..self }
    }

    /// It shares the address of another.
    const fn beside(self, other: &'static str) -> Self {
        Self { beside: Some(other), ..self }
    }

    /// Whether it always does the same.
    #[cfg(test)]
    pub(super) const fn is_steady(&self) -> bool {
        self.is_steady
    }

    /// What a host of any name does that has this fault.
    pub(super) fn behaviour(&self, host: &str) -> Behaviour {
        (self.act)(host)
    }

    fn host(&self, side: Side) -> String {
        let prefix = if side == Side::Plain { "plain-" } else { "" };
        format!("{prefix}{}.test", self.name)
    }
}

/// Which of the two hosts of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Usual,
    Plain,
}

const TABLES: &[&[Fault]] = &[
    dns::TABLE,
    door::TABLE,
    tls::TABLE,
    head::TABLE,
    length::TABLE,
    body::TABLE,
    content::TABLE,
    status::TABLE,
    limits::TABLE,
    redirect::TABLE,
];

fn all() -> impl Iterator<Item = &'static Fault> {
    TABLES.iter().copied().flatten()
}

/// The row of this name.
pub(super) fn find(name: &str) -> Option<&'static Fault> {
    static ROWS: LazyLock<HashMap<&str, &Fault>> = LazyLock::new(|| all().map(|fault| (fault.name, fault)).collect());
    ROWS.get(name).copied()
}

/// Every fault host with its address.
#[derive(Debug)]
pub(super) struct Faults(HashMap<Box<str>, (Ipv4Addr, Side, &'static Fault)>);

impl Faults {
    /// Gives each its address.
    pub(super) fn place() -> anyhow::Result<Self> {
        let mut hosts: HashMap<Box<str>, _> = HashMap::new();
        let mut taken: HashMap<Option<u8>, u16> = HashMap::new();
        for fault in all() {
            for side in [Side::Usual, Side::Plain] {
                if side == Side::Plain && !fault.is_plain_too {
                    continue;
                }
                let way = behave(fault, side, fault.name).way;
                let position = taken.entry(way.block()).or_default();
                let address = match fault.beside {
                    Some(other) => {
                        let beside = hosts.get(format!("{other}.test").as_str()).map(|(address, _, _)| *address);
                        beside.with_context(|| format!("{} stands beside nobody", fault.name))?
                    }
                    None => address_at(way, *position)?,
                };
                *position += 1;
                hosts.insert(fault.host(side).into(), (address, side, fault));
            }
        }
        Ok(Self(hosts))
    }

    /// What DNS says of a name, if it is a fault host's or would be its `www.` twin.
    pub(super) fn existence(&self, name: &str) -> Option<Existence> {
        if let Some((address, _, _)) = self.0.get(name) {
            return Some(Existence::of(self.behaviour(name)?.lookup, *address));
        }
        // A population that lists fault hosts must not invent twins that answer in their place.
        let apex = name.strip_prefix("www.")?;
        self.0.contains_key(apex).then_some(Existence::Missing)
    }

    /// What a host does, if it is a fault host.
    pub(super) fn behaviour(&self, name: &str) -> Option<Behaviour> {
        self.0.get(name).map(|(_, side, fault)| behave(fault, *side, name))
    }
}

fn behave(fault: &Fault, side: Side, host: &str) -> Behaviour {
    let usual = fault.behaviour(host);
    match side {
        Side::Usual => usual,
        Side::Plain => Behaviour { way: Way::HttpOnly, ..usual },
    }
}

/// The file of hosts whose fault is not in the file.
const FILE: &str = "User-agent: *\nDisallow: /private/\n";

/// A response with that file.
fn file() -> Response {
    Response::file(FILE)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::domain::Domain;

    #[test]
    fn every_name_is_a_host_name_of_its_own_and_says_what_it_does() {
        let hosts = faults();
        assert!(hosts.len() >= 100, "{}", hosts.len());
        let names: BTreeSet<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        assert_eq!(names.len(), hosts.len());
        for host in &hosts {
            assert_eq!(Domain::parse(&host.name).unwrap().as_str(), host.name);
            assert!(host.about.ends_with('.') && !host.about.contains('"'), "{}: {}", host.name, host.about);
        }
    }

    #[test]
    fn only_those_that_stand_beside_another_share_an_address() {
        let web = Faults::place().unwrap();
        let mut seen = BTreeSet::new();
        for (name, (address, _, fault)) in &web.0 {
            let may_share = fault.beside.is_some() || behave(fault, Side::Usual, name).way == Way::Unreachable;
            assert!(may_share || seen.insert(*address), "{name} at {address}");
        }
        assert!(web.behaviour("nobody.test").is_none());
    }
}
