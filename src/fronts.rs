//! Published addresses behind which many sites stand: content delivery networks and hosters.
//!
//! The table is `inputs/fronts.toml`, built in: facts, each with the operator's own page and the day it was seen. It
//! serves the column `front`, and a polite crawl, which may ask such an address more often than a single machine.
//!
//! Touches nothing. Deliberately absent: guesses from names of hosts or from headers, and any operator that does not
//! publish where it serves from.

use std::net::IpAddr;
use std::sync::LazyLock;

use ipnet::IpNet;
use serde::Deserialize;

/// One operator's published addresses.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Front {
    /// Its word in the column `front`.
    pub name: String,
    /// What stands there.
    pub about: String,
    /// Where the operator publishes it.
    pub source: String,
    /// The day on which it was seen there, as `YYYY-MM-DD`.
    pub seen: String,
    /// The addresses.
    pub prefixes: Vec<IpNet>,
}

/// All of them.
pub fn fronts() -> &'static [Front] {
    static FRONTS: LazyLock<Vec<Front>> = LazyLock::new(|| {
        let table: Table = toml::from_str(include_str!("../inputs/fronts.toml")).expect("a test reads the same table");
        table.front
    });
    &FRONTS
}

/// The front that an address belongs to.
pub fn front_of(ip: IpAddr) -> Option<&'static Front> {
    fronts().iter().find(|front| front.prefixes.iter().any(|prefix| prefix.contains(&ip)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    front: Vec<Front>,
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_front_says_where_it_comes_from_and_no_two_overlap() {
        let mut names = HashSet::new();
        let mut seen: Vec<IpNet> = Vec::new();
        for front in fronts() {
            assert!(names.insert(&front.name), "{} stands twice", front.name);
            assert!(front.source.starts_with("https://") && front.about.ends_with('.'), "{}", front.name);
            assert!(front.seen.parse::<jiff::civil::Date>().is_ok(), "{}", front.name);
            for prefix in &front.prefixes {
                assert_eq!(*prefix, prefix.trunc(), "{prefix} has bits beyond its length");
                assert!(!seen.iter().any(|other| other.contains(prefix) || prefix.contains(other)), "{prefix}");
                seen.push(*prefix);
            }
        }
    }

    #[test]
    fn an_address_has_the_front_that_published_it() {
        let name = |ip: &str| front_of(ip.parse().unwrap()).map(|front| front.name.as_str());
        assert_eq!(name("104.16.0.1"), Some("cloudflare"));
        assert_eq!(name("2606:4700::6810:1"), Some("cloudflare"));
        assert_eq!(name("151.101.1.6"), Some("fastly"));
        assert_eq!(name("185.199.108.153"), Some("github-pages"));
        assert_eq!(name("185.199.108.1"), None);
        assert_eq!(name("127.0.0.1"), None);
    }
}
