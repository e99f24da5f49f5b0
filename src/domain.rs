//! What is surveyed: a host name that has been parsed once, and its place in a list.
//!
//! A [`Domain`] can only be made by [`Domain::parse`], so everything downstream may trust it: lower-case A-labels, at
//! least one dot, no port, no address, no trailing dot. URLs and list syntax are the business of [`crate::input`].
//!
//! Touches nothing. Deliberately absent: public suffixes, DNS, and any opinion on whether the name exists.

use std::borrow::Cow;
use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;
use std::sync::Arc;

use idna::AsciiDenyList;
use idna::uts46::{DnsLength, Hyphens, Uts46};

/// A host name: lower-case A-labels joined by dots, at least two of them, 253 bytes at most.
///
/// Underscores are kept, since such hosts exist and answer. Leading and trailing hyphens are kept for the same reason.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Domain(Box<str>);

impl Domain {
    /// Reads a host name as people write it: any case, Unicode or A-labels, perhaps with a trailing dot.
    ///
    /// Mapping to A-labels follows UTS #46 as browsers use it (non-transitional, underscores and hyphens anywhere).
    pub fn parse(text: &str) -> Result<Self, NotADomain> {
        if text.chars().any(char::is_control) {
            return Err(NotADomain::ControlCharacter);
        }
        if text.starts_with('[') || text.parse::<Ipv6Addr>().is_ok() {
            return Err(NotADomain::IpLiteral);
        }
        if text.contains(':') {
            return Err(NotADomain::Port);
        }
        let ascii = to_a_labels(text)?;
        let name = ascii.strip_suffix('.').unwrap_or(&ascii);
        if name.is_empty() {
            return Err(NotADomain::Empty);
        }
        if ends_in_a_number(name) {
            return Err(NotADomain::IpLiteral);
        }
        for label in name.split('.') {
            if label.is_empty() {
                return Err(NotADomain::EmptyLabel);
            }
            if label.len() > 63 {
                return Err(NotADomain::LabelTooLong);
            }
            if !label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
                return Err(NotADomain::Character);
            }
        }
        if name.len() > 253 {
            return Err(NotADomain::NameTooLong);
        }
        if !name.contains('.') {
            return Err(NotADomain::NoDot);
        }
        Ok(Self(name.into()))
    }

    /// The name, as it is stored and asked for.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The `www.` twin, or nothing where the name already starts so or would grow too long.
    pub fn www(&self) -> Option<Self> {
        if self.0.starts_with("www.") || self.0.len() + 4 > 253 {
            return None;
        }
        Some(Self(format!("www.{}", self.0).into()))
    }

    /// The name that differs by `www.` alone: the twin, or of a twin the name without it where that is one.
    pub fn twin(&self) -> Option<Self> {
        match self.0.strip_prefix("www.") {
            Some(apex) => Self::parse(apex).ok(),
            None => self.www(),
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Domain({})", self.0)
    }
}

impl FromStr for Domain {
    type Err = NotADomain;

    fn from_str(text: &str) -> Result<Self, NotADomain> {
        Self::parse(text)
    }
}

crate::words! {
    /// Why a piece of text is no host name that could be surveyed.
    pub enum NotADomain {
        /// Nothing stands there.
        Empty = "empty",
        /// It holds a control character.
        ControlCharacter = "control-character",
        /// It is an IP address, in any spelling that a browser would take for one.
        IpLiteral = "ip-literal",
        /// It names a port; robots.txt of another port speaks for another authority (RFC 9309, section 2.3).
        Port = "port",
        /// Two dots follow each other, or the name starts with one.
        EmptyLabel = "empty-label",
        /// A label is longer than 63 bytes (RFC 1035, section 2.3.4).
        LabelTooLong = "label-too-long",
        /// The name is longer than 253 bytes.
        NameTooLong = "name-too-long",
        /// It has no dot, so it is a suffix or a local name.
        NoDot = "no-dot",
        /// It holds a character that no host name has.
        Character = "character",
        /// It is no valid internationalised name (UTS #46).
        Idna = "idna",
    }
}

impl std::error::Error for NotADomain {}

/// One thing to survey: a host name and what its list says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Position among the accepted lines of the input, from 0; unique in a snapshot.
    pub index: u32,
    /// Whom to ask.
    pub domain: Domain,
    /// Rank in the list; for CrUX the bucket.
    pub rank: Option<u32>,
    /// Weight of the target: tokens, traffic.
    pub weight: Option<f64>,
    /// Stratum of the list, a word of the list's own (`head`, `random`).
    pub stratum: Option<Arc<str>>,
}

/// Maps to lower-case A-labels; the common all-ASCII name without `xn--` skips the tables.
fn to_a_labels(text: &str) -> Result<Cow<'_, str>, NotADomain> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.');
    if text.bytes().all(plain) && !text.contains("xn--") {
        return Ok(Cow::Borrowed(text));
    }
    if text.is_ascii() && !text.to_ascii_lowercase().contains("xn--") {
        return Ok(Cow::Owned(text.to_ascii_lowercase()));
    }
    Uts46::new()
        .to_ascii(text.as_bytes(), AsciiDenyList::URL, Hyphens::Allow, DnsLength::Ignore)
        .map_err(|_| NotADomain::Idna)
}

/// The WHATWG URL rule for "this is an IPv4 address": the last label is a number, decimal or hexadecimal.
fn ends_in_a_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let hexadecimal = last.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    hexadecimal || (!last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, NotADomain>) {
        let parsed = Domain::parse(text);
        assert_eq!(parsed.as_ref().map(Domain::as_str), expected.as_ref().copied(), "{text:?}");
    }

    #[test]
    fn a_name_is_lower_cased_and_loses_its_trailing_dot() {
        check("Example.ORG", Ok("example.org"));
        check("example.org.", Ok("example.org"));
    }

    #[test]
    fn unicode_becomes_a_labels() {
        check("bücher.example", Ok("xn--bcher-kva.example"));
        check("BÜCHER.example", Ok("xn--bcher-kva.example"));
        check("XN--BCHER-KVA.example", Ok("xn--bcher-kva.example"));
        check("faß.de", Ok("xn--fa-hia.de"));
        check("例え。テスト", Ok("xn--r8jz45g.xn--zckzah"));
    }

    #[test]
    fn underscores_and_odd_hyphens_are_kept() {
        check("_dmarc.example.org", Ok("_dmarc.example.org"));
        check("my_shop.example.org", Ok("my_shop.example.org"));
        check("-a-.example.org", Ok("-a-.example.org"));
        check("r3---sn-abc.example.org", Ok("r3---sn-abc.example.org"));
    }

    #[test]
    fn what_is_no_host_name_says_why() {
        check("", Err(NotADomain::Empty));
        check(".", Err(NotADomain::Empty));
        check("localhost", Err(NotADomain::NoDot));
        check("a..b", Err(NotADomain::EmptyLabel));
        check(".example.org", Err(NotADomain::EmptyLabel));
        check("example.org..", Err(NotADomain::EmptyLabel));
        check(&format!("{}.org", "a".repeat(64)), Err(NotADomain::LabelTooLong));
        check(&format!("{}org", "abcdefg.".repeat(32)), Err(NotADomain::NameTooLong));
        check("example.org:8080", Err(NotADomain::Port));
        check("exa mple.org", Err(NotADomain::Character));
        check("*.example.org", Err(NotADomain::Character));
        check("exam\u{7}ple.org", Err(NotADomain::ControlCharacter));
        check("xn--a\u{fc}.org", Err(NotADomain::Idna));
    }

    #[test]
    fn addresses_are_refused_in_every_spelling() {
        for text in [
            "127.0.0.1",
            "174.132.145.94",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "1.2.3.4.",
            "::1",
            "[::1]",
            "2001:db8::1",
        ] {
            check(text, Err(NotADomain::IpLiteral));
        }
    }

    #[test]
    fn the_www_twin_exists_once() {
        let domain = Domain::parse("example.org").unwrap();
        let twin = domain.www().unwrap();
        assert_eq!(twin.as_str(), "www.example.org");
        assert_eq!(twin.www(), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text_parses_or_says_why_and_parsing_again_changes_nothing(text in "\\PC{0,80}") {
            if let Ok(domain) = Domain::parse(&text) {
                prop_assert_eq!(Domain::parse(domain.as_str()), Ok(domain.clone()));
                prop_assert!(domain.as_str().len() <= 253);
            }
        }
    }
}
