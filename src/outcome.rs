//! What happened when a target was asked: one word of a closed list for every row.
//!
//! [`Cause`] is the part that a crawl can see without reading the file; [`Outcome`] adds what takes a look at the
//! status and the bytes. Both come with their class, their sentence and the effect that a crawler of each school
//! derives ([`Effect`]).
//!
//! Touches nothing. Deliberately absent: local faults (no descriptors, no ports, a starved processor). They have no
//! word here, because they are never a target's outcome.

crate::words! {
    /// Why no HTTP response could be taken as the target's answer.
    pub enum Cause {
        /// More than five redirects in a row (RFC 9309, section 2.3.1.2).
        RedirectLimit = "redirect-limit",
        /// A redirect led to a URL of the same chain.
        RedirectLoop = "redirect-loop",
        /// A redirect status without a Location header.
        RedirectNoLocation = "redirect-no-location",
        /// A Location that is no URL.
        RedirectBadLocation = "redirect-bad-location",
        /// A redirect to an IP literal, in any spelling; not followed.
        RedirectToIp = "redirect-to-ip",
        /// A redirect to a name whose addresses are private or special; not followed.
        RedirectToPrivate = "redirect-to-private",
        /// A redirect to a port other than its scheme's own (80, 443); not followed.
        RedirectOtherPort = "redirect-other-port",
        /// A redirect to a scheme other than http and https; not followed.
        RedirectOtherScheme = "redirect-other-scheme",
        /// The name does not exist (RCODE 3).
        DnsNxdomain = "dns-nxdomain",
        /// The name exists and has no address record.
        DnsNoAddress = "dns-no-address",
        /// The resolver answered SERVFAIL.
        DnsServfail = "dns-servfail",
        /// The resolver answered REFUSED, or another error code.
        DnsRefused = "dns-refused",
        /// No answer came from the resolver in time.
        DnsTimeout = "dns-timeout",
        /// The answer was no DNS message that could be read.
        DnsMalformed = "dns-malformed",
        /// All addresses of the name are private or special; not contacted.
        DnsPrivate = "dns-private",
        /// The server refused the TCP connection.
        ConnectRefused = "connect-refused",
        /// The network or the host was reported unreachable.
        ConnectUnreachable = "connect-unreachable",
        /// The TCP connection did not open in time.
        ConnectTimeout = "connect-timeout",
        /// The server ended the TLS handshake with an alert.
        TlsAlert = "tls-alert",
        /// What came on the TLS port was not TLS.
        TlsNotTls = "tls-not-tls",
        /// The TLS handshake broke: closed, reset, or against the protocol.
        TlsProtocol = "tls-protocol",
        /// The TLS handshake did not end in time.
        TlsTimeout = "tls-timeout",
        /// What came back was not HTTP.
        HttpNotHttp = "http-not-http",
        /// A response header could not be read.
        HttpBadHeader = "http-bad-header",
        /// The response head was larger than the limit, or had too many fields.
        HttpHeadTooLarge = "http-head-too-large",
        /// The stated length of the body contradicts itself or is no number.
        HttpBadLength = "http-bad-length",
        /// The connection was closed before a whole response head had come.
        HttpEmptyReply = "http-empty-reply",
        /// The connection was reset while a response was awaited or read.
        HttpReset = "http-reset",
        /// The body ended before its stated length.
        HttpShortBody = "http-short-body",
        /// The body could not be decompressed.
        HttpBadEncoding = "http-bad-encoding",
        /// The response did not come, or stalled, beyond the time limit.
        HttpTimeout = "http-timeout",
        /// The body kept coming, but too slowly to end within the time limit.
        HttpTooSlow = "http-too-slow",
        /// The owner asked not to be surveyed.
        OptedOut = "opted-out",
        /// Not asked, because its server had asked for fewer requests.
        NotAttemptedLimited = "not-attempted-limited",
        /// Not asked, because the run's deadline came first.
        NotAttemptedDeadline = "not-attempted-deadline",
    }
}

impl Cause {
    /// Whether it may be otherwise a little later: what took too long, was cut off, or failed at the resolver.
    pub const fn is_transient(self) -> bool {
        matches!(
            self,
            Self::DnsServfail
                | Self::DnsRefused
                | Self::DnsTimeout
                | Self::ConnectTimeout
                | Self::TlsTimeout
                | Self::HttpEmptyReply
                | Self::HttpReset
                | Self::HttpShortBody
                | Self::HttpTimeout
                | Self::HttpTooSlow
        )
    }

    /// The class of the word.
    pub const fn class(self) -> OutcomeClass {
        match self {
            Self::RedirectLimit
            | Self::RedirectLoop
            | Self::RedirectNoLocation
            | Self::RedirectBadLocation
            | Self::RedirectToIp
            | Self::RedirectToPrivate
            | Self::RedirectOtherPort
            | Self::RedirectOtherScheme => OutcomeClass::Redirect,
            Self::DnsNxdomain
            | Self::DnsNoAddress
            | Self::DnsServfail
            | Self::DnsRefused
            | Self::DnsTimeout
            | Self::DnsMalformed
            | Self::DnsPrivate => OutcomeClass::Dns,
            Self::ConnectRefused | Self::ConnectUnreachable | Self::ConnectTimeout => OutcomeClass::Connect,
            Self::TlsAlert | Self::TlsNotTls | Self::TlsProtocol | Self::TlsTimeout => OutcomeClass::Tls,
            Self::HttpNotHttp
            | Self::HttpBadHeader
            | Self::HttpHeadTooLarge
            | Self::HttpBadLength
            | Self::HttpEmptyReply
            | Self::HttpReset
            | Self::HttpShortBody
            | Self::HttpBadEncoding
            | Self::HttpTimeout
            | Self::HttpTooSlow => OutcomeClass::Http,
            Self::OptedOut | Self::NotAttemptedLimited | Self::NotAttemptedDeadline => OutcomeClass::Policy,
        }
    }
}

crate::words! {
    /// What an HTTP response turned out to be.
    pub enum Kind {
        /// A file with at least one Allow or Disallow rule in a group.
        Rules = "rules",
        /// A file with groups but no rules, or with other known records only.
        NoRules = "no-rules",
        /// Nothing, white space or comments only; a CDN's policy-only text counts here too.
        Empty = "empty",
        /// A page: the body starts, after BOM and white space, with `<!doctype html` or `<html`, in any case.
        Html = "html",
        /// Text without a single known record.
        NoDirectives = "no-directives",
        /// Bytes that are no text, without a single known record.
        Binary = "binary",
        /// Status 404.
        Absent404 = "absent-404",
        /// Status 410.
        Absent410 = "absent-410",
        /// Status 401.
        Refused401 = "refused-401",
        /// Status 403.
        Refused403 = "refused-403",
        /// Status 451.
        Refused451 = "refused-451",
        /// Status 402.
        Payment402 = "payment-402",
        /// A bot check instead of the file, whatever its status.
        Challenge = "challenge",
        /// Any other status from 400 to 499.
        Other4xx = "other-4xx",
        /// Status 429.
        Limited429 = "limited-429",
        /// Status 500 to 599 other than a CDN's 520 to 530, or no valid status (RFC 9110, section 15).
        ServerError = "server-error",
        /// A CDN's status 520 to 530: it could not reach the site's own server.
        OriginDown = "origin-down",
        /// Another status from 300 to 399, which is no redirect that could be followed.
        Other3xx = "other-3xx",
    }
}

impl Kind {
    /// The class of the word.
    pub const fn class(self) -> OutcomeClass {
        match self {
            Self::Rules | Self::NoRules => OutcomeClass::Readable,
            Self::Empty => OutcomeClass::Empty,
            Self::Html | Self::NoDirectives | Self::Binary => OutcomeClass::NotRobots,
            Self::Absent404 | Self::Absent410 => OutcomeClass::Absent,
            Self::Refused401
            | Self::Refused403
            | Self::Refused451
            | Self::Payment402
            | Self::Challenge
            | Self::Other4xx => OutcomeClass::Refused,
            Self::Limited429 => OutcomeClass::Limited,
            Self::ServerError | Self::OriginDown => OutcomeClass::ServerError,
            Self::Other3xx => OutcomeClass::Redirect,
        }
    }
}

/// What happened when a target was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// A response came, and this is what it was.
    Answer(Kind),
    /// No response could be taken as the answer.
    Failure(Cause),
}

impl Outcome {
    /// Every outcome, in the order of the registry.
    pub fn all() -> impl Iterator<Item = Self> {
        let answers = Kind::ALL.iter().copied().map(Self::Answer);
        answers.chain(Cause::ALL.iter().copied().map(Self::Failure))
    }

    /// The stored word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Answer(kind) => kind.word(),
            Self::Failure(cause) => cause.word(),
        }
    }

    /// What the word stands for.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Answer(kind) => kind.doc(),
            Self::Failure(cause) => cause.doc(),
        }
    }

    /// The outcome with this stored word.
    pub fn from_word(word: &str) -> Option<Self> {
        Kind::from_word(word).map(Self::Answer).or_else(|| Cause::from_word(word).map(Self::Failure))
    }

    /// The class of the word.
    pub const fn class(self) -> OutcomeClass {
        match self {
            Self::Answer(kind) => kind.class(),
            Self::Failure(cause) => cause.class(),
        }
    }

    /// What a crawler that follows RFC 9309 to the letter derives (sections 2.3.1.2 to 2.3.1.4).
    pub const fn effect_rfc(self) -> Effect {
        match self.class() {
            OutcomeClass::Readable => Effect::ByRules,
            OutcomeClass::Empty
            | OutcomeClass::NotRobots
            | OutcomeClass::Absent
            | OutcomeClass::Refused
            | OutcomeClass::Limited => Effect::AllowAll,
            OutcomeClass::Redirect if matches!(self, Self::Failure(Cause::RedirectLimit)) => Effect::AllowAll,
            OutcomeClass::Redirect
            | OutcomeClass::ServerError
            | OutcomeClass::Dns
            | OutcomeClass::Connect
            | OutcomeClass::Tls
            | OutcomeClass::Http => Effect::DisallowAll,
            OutcomeClass::Policy => Effect::Unknown,
        }
    }

    /// What a crawler that follows Google's documentation derives: 429 counts as a server error, redirects that lead
    /// nowhere as no file.
    pub const fn effect_google(self) -> Effect {
        match self.class() {
            OutcomeClass::Readable => Effect::ByRules,
            OutcomeClass::Empty
            | OutcomeClass::NotRobots
            | OutcomeClass::Absent
            | OutcomeClass::Refused
            | OutcomeClass::Redirect => Effect::AllowAll,
            OutcomeClass::Limited
            | OutcomeClass::ServerError
            | OutcomeClass::Dns
            | OutcomeClass::Connect
            | OutcomeClass::Tls
            | OutcomeClass::Http => Effect::DisallowForNow,
            OutcomeClass::Policy => Effect::Unknown,
        }
    }
}

crate::words! {
    /// The class of an outcome; denominators are made of classes.
    pub enum OutcomeClass {
        /// A robots.txt file with groups or other known records.
        Readable = "readable",
        /// A file that says nothing.
        Empty = "empty",
        /// A success status with something that is no robots.txt.
        NotRobots = "not-robots",
        /// There is no file.
        Absent = "absent",
        /// The server refuses to show it.
        Refused = "refused",
        /// The server asks for fewer requests.
        Limited = "limited",
        /// The server, or the one behind the CDN, failed.
        ServerError = "server-error",
        /// Redirects that led to no file.
        Redirect = "redirect",
        /// The name did not resolve.
        Dns = "dns",
        /// No TCP connection.
        Connect = "connect",
        /// No TLS connection.
        Tls = "tls",
        /// No complete HTTP response.
        Http = "http",
        /// Our own policy kept us from asking.
        Policy = "policy",
    }
}

impl OutcomeClass {
    /// Whether a restriction can be stated: the file was read, says nothing, or does not exist.
    pub const fn is_determinable(self) -> bool {
        matches!(self, Self::Readable | Self::Empty | Self::Absent)
    }

    /// Whether nothing could be learned of the file (RFC 9309, section 2.3.1.4): the server or the network failed, or the
    /// server asked for fewer requests, which Google counts among its errors.
    pub const fn is_unreachable(self) -> bool {
        matches!(self, Self::Limited | Self::ServerError | Self::Dns | Self::Connect | Self::Tls | Self::Http)
    }

    /// Whether an HTTP response came; redirects that led nowhere are responses too.
    pub const fn is_answered(self) -> bool {
        !matches!(self, Self::Dns | Self::Connect | Self::Tls | Self::Http | Self::Policy)
    }
}

crate::words! {
    /// What a crawler may do, as one school derives it from an outcome.
    pub enum Effect {
        /// The rules of the file decide.
        ByRules = "by-rules",
        /// Everything may be fetched.
        AllowAll = "allow-all",
        /// Nothing may be fetched.
        DisallowAll = "disallow-all",
        /// Nothing may be fetched until a later try succeeds.
        DisallowForNow = "disallow-for-now",
        /// We did not ask, so nothing is known.
        Unknown = "unknown",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn words_are_unique_and_come_back() {
        let mut seen = BTreeSet::new();
        for outcome in Outcome::all() {
            assert!(seen.insert(outcome.word()), "{} stands twice", outcome.word());
            assert_eq!(Outcome::from_word(outcome.word()), Some(outcome));
            assert!(outcome.doc().ends_with('.'), "{}", outcome.word());
        }
    }

    /// Stored words are a public contract: a change here breaks every reader's queries.
    #[test]
    fn the_vocabulary_is_pinned() {
        let mut text = String::new();
        for class in OutcomeClass::ALL {
            let words: Vec<&str> =
                Outcome::all().filter(|outcome| outcome.class() == *class).map(Outcome::word).collect();
            text.extend([class.word(), ": ", &words.join(" "), "\n"]);
        }
        insta::assert_snapshot!(text, @r"
        readable: rules no-rules
        empty: empty
        not-robots: html no-directives binary
        absent: absent-404 absent-410
        refused: refused-401 refused-403 refused-451 payment-402 challenge other-4xx
        limited: limited-429
        server-error: server-error origin-down
        redirect: other-3xx redirect-limit redirect-loop redirect-no-location redirect-bad-location redirect-to-ip redirect-to-private redirect-other-port redirect-other-scheme
        dns: dns-nxdomain dns-no-address dns-servfail dns-refused dns-timeout dns-malformed dns-private
        connect: connect-refused connect-unreachable connect-timeout
        tls: tls-alert tls-not-tls tls-protocol tls-timeout
        http: http-not-http http-bad-header http-head-too-large http-bad-length http-empty-reply http-reset http-short-body http-bad-encoding http-timeout http-too-slow
        policy: opted-out not-attempted-limited not-attempted-deadline
        ");
    }

    #[test]
    fn rfc9309_2_3_1_effects_follow_the_status() {
        assert_eq!(Outcome::Answer(Kind::Refused403).effect_rfc(), Effect::AllowAll);
        assert_eq!(Outcome::Answer(Kind::ServerError).effect_rfc(), Effect::DisallowAll);
        assert_eq!(Outcome::Answer(Kind::Limited429).effect_rfc(), Effect::AllowAll);
        assert_eq!(Outcome::Answer(Kind::Limited429).effect_google(), Effect::DisallowForNow);
        assert_eq!(Outcome::Failure(Cause::RedirectLimit).effect_rfc(), Effect::AllowAll);
        assert_eq!(Outcome::Failure(Cause::RedirectLoop).effect_rfc(), Effect::DisallowAll);
        assert_eq!(Outcome::Failure(Cause::DnsNxdomain).effect_google(), Effect::DisallowForNow);
    }
}
