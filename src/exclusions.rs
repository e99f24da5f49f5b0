//! Who asked not to be surveyed: host names with all below them, and addresses.
//!
//! A list that cannot be read whole is refused whole: an entry that is passed over would be somebody who is asked
//! against their will.
//!
//! Touches nothing. Deliberately absent: files, and any say in what becomes of those who are on the list.

use std::collections::HashSet;
use std::net::IpAddr;

use ipnet::IpNet;
use thiserror::Error;

use crate::domain::Domain;

/// The names and addresses that are not asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exclusions {
    names: HashSet<Box<str>>,
    /// Hosts that spoke for themselves alone, not for what is below them.
    hosts: HashSet<Box<str>>,
    blocks: Vec<IpNet>,
}

/// A line that is neither a name nor an address.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}: {text:?} is no host name, address or block of addresses; nothing is asked with half a list")]
pub struct NotAnExclusion {
    /// Its number, from 1.
    pub line: usize,
    /// What stands there.
    pub text: String,
}

impl Exclusions {
    /// Reads a list: one name, address or block (CIDR) a line; what follows a `#` is a comment.
    ///
    /// A name stands for itself and everything below it, with or without a leading dot or `*.`; a name of one label for
    /// a whole top-level domain.
    pub fn parse(text: &str) -> Result<Self, NotAnExclusion> {
        let mut exclusions = Self::default();
        for (number, line) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
            let entry = line.split('#').next().unwrap_or_default().trim();
            if !entry.is_empty() && !exclusions.add(entry) {
                return Err(NotAnExclusion { line: number + 1, text: entry.to_owned() });
            }
        }
        Ok(exclusions)
    }

    /// Adds a name with all below it.
    pub fn add_name(&mut self, name: &Domain) {
        self.names.insert(name.as_str().into());
    }

    /// Adds a single host, without what is below it.
    pub fn add_host(&mut self, name: &Domain) {
        self.hosts.insert(name.as_str().into());
    }

    /// Whether a host is on the list, by its own name or one above it.
    pub fn hold_name(&self, host: &str) -> bool {
        if self.hosts.contains(host) {
            return true;
        }
        if self.names.is_empty() {
            return false;
        }
        let above = std::iter::successors(Some(host), |name| name.split_once('.').map(|(_, above)| above));
        above.into_iter().any(|name| self.names.contains(name))
    }

    /// Whether an address is on the list.
    pub fn hold_address(&self, ip: IpAddr) -> bool {
        self.blocks.iter().any(|block| block.contains(&ip))
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.names.len() + self.hosts.len() + self.blocks.len()
    }

    /// Whether nobody is on the list.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn add(&mut self, entry: &str) -> bool {
        if let Ok(block) = entry.parse::<IpNet>().or_else(|_| entry.parse::<IpAddr>().map(IpNet::from)) {
            self.blocks.push(block.trunc());
            return true;
        }
        let name = entry.strip_prefix("*.").or_else(|| entry.strip_prefix('.')).unwrap_or(entry);
        // A single label is no host of a survey, but may be excluded with all below it.
        let Ok(below) = Domain::parse(&format!("below.{name}")) else { return false };
        self.names.insert(below.as_str()["below.".len()..].into());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_everything_below_it_and_nothing_beside_it() {
        let exclusions =
            Exclusions::parse("\u{feff}example.com\n*.B\u{fc}cher.example # wrote to us\n\n.gov\n").unwrap();
        for host in ["example.com", "www.example.com", "a.b.example.com", "x.xn--bcher-kva.example", "nasa.gov"] {
            assert!(exclusions.hold_name(host), "{host}");
        }
        for host in ["notexample.com", "example.org", "example.com.org", "com"] {
            assert!(!exclusions.hold_name(host), "{host}");
        }
        assert_eq!(exclusions.len(), 3);
    }

    #[test]
    fn addresses_come_alone_or_in_blocks() {
        let exclusions = Exclusions::parse("192.0.2.0/24\n198.51.100.7\n2001:db8::/32").unwrap();
        for ip in ["192.0.2.255", "198.51.100.7", "2001:db8::1"] {
            assert!(exclusions.hold_address(ip.parse().unwrap()), "{ip}");
        }
        for ip in ["192.0.3.0", "198.51.100.8", "2001:db9::1"] {
            assert!(!exclusions.hold_address(ip.parse().unwrap()), "{ip}");
        }
    }

    #[test]
    fn half_a_list_is_no_list() {
        let error = Exclusions::parse("example.com\nhttps://example.org/\n").unwrap_err();
        assert_eq!((error.line, error.text.as_str()), (2, "https://example.org/"));
        for odd in ["192.0.2.0/33", "a b", "example..com", "*"] {
            assert!(Exclusions::parse(odd).is_err(), "{odd}");
        }
    }
}
