//! How servers are asked: identity, pace and limits, from what was typed to what the crawl takes.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;

use super::probing::{self, Sampled};
use super::rehearsed::Rehearsed;
use crate::cli::{parse_duration, parse_size};
use crate::crawl::{self, FetchSettings, Limits, Memory, Pace, Reach, Www, public_roots};
use crate::domain::Domain;
use crate::exclusions::Exclusions;

/// How many servers are asked.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How servers are asked")]
pub(super) struct AskingArgs {
    #[command(flatten)]
    asker: AskerArgs,

    /// From the end of one connection to a server to the start of the next [default: 1s; in a rehearsal 50ms]
    ///
    /// A server with over 256 names of the list is asked ten times as often, over four connections, where its address
    /// is published as a CDN's or hoster's; elsewhere twice as often, and up to five times as it stays in good health.
    #[arg(long, value_name = "SPAN", value_parser = parse_duration)]
    gap: Option<Duration>,

    /// Requests in flight at most, whatever the servers
    #[arg(long, value_name = "N", default_value = "300")]
    concurrency: NonZeroUsize,

    /// Requests started a second at most, whatever the servers; 0 for no limit [default: 200; in a rehearsal 0]
    #[arg(long, value_name = "N")]
    rate: Option<u32>,

    /// Try each target once only; by default one that failed in passing (time-out, reset, 5xx, 429, SERVFAIL) is tried
    /// again after ten minutes, or at the end
    #[arg(long)]
    no_second_try: bool,

    /// Look at a share of the targets once more: repeat (the same later), authority (the www. twin, or the name without
    /// it), identity (another honest user agent), unconditional (without its condition, where a 304 gave the answer);
    /// may be given several times [default: unconditional=2%]
    ///
    /// What a probe finds stands in the column `probes` and is never the answer. The same names are drawn in each wave.
    #[arg(long, value_name = "KIND=SHARE", value_delimiter = ',')]
    probe: Vec<Sampled>,

    /// What the www. twin of a name is for: fallback (its answer counts where the name itself has no address or does
    /// not answer), probe (it is looked at where the name gave a page, no file or a failure), never
    #[arg(long, value_name = "WORD", default_value = "fallback", value_parser = parse_www)]
    www: Www,

    /// Start nothing after this time; what was not attempted is recorded as that
    #[arg(long, value_name = "SPAN", value_parser = parse_duration)]
    deadline: Option<Duration>,
}

/// Who asks, whom for addresses, and how much is taken.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How servers are asked")]
pub(super) struct AskerArgs {
    /// A URL or mail address where the owner of a server can reach you; sent with every request
    ///
    /// Without it the survey warns, says so in the manifest, and goes at half the pace.
    #[arg(long, env = "SURVEY_CONTACT", value_name = "URL|MAIL")]
    contact: Option<Contact>,

    /// Bytes of a file that are kept; RFC 9309 asks for at least 500 KiB
    #[arg(long, value_name = "SIZE", default_value = "512KiB", value_parser = parse_size)]
    max_body: NonZeroUsize,

    /// How long a connection may take to open, TLS handshake included
    #[arg(long, value_name = "SPAN", default_value = "8s", value_parser = parse_duration)]
    connect_timeout: Duration,

    /// How long a server may be silent once it is connected
    #[arg(long, value_name = "SPAN", default_value = "8s", value_parser = parse_duration)]
    read_timeout: Duration,

    /// How long a request may take in all
    #[arg(long, value_name = "SPAN", default_value = "20s", value_parser = parse_duration)]
    total_timeout: Duration,

    /// Name servers to ask instead of the system's
    #[arg(long, value_name = "IP[:PORT]", value_delimiter = ',', value_parser = parse_upstream)]
    resolver: Vec<SocketAddr>,

    /// Ask for IPv6 addresses of names that have IPv4 ones too; without it, only of those that have none
    #[arg(long)]
    ipv6: bool,

    /// A name that must exist, looked up at start and every five minutes beside one that cannot, to catch resolvers
    /// that filter or rewrite; none to trust the resolver [default: example.com; in a rehearsal none]
    #[arg(long, value_name = "NAME")]
    canary: Option<String>,

    /// Who is not asked: a host name (with all below it), address or block of addresses a line
    ///
    /// Applied to the list, to what names resolve to and to each redirect; such targets are recorded as opted-out.
    #[arg(long, value_name = "FILE")]
    exclude: Option<PathBuf>,
}

/// How a survey asks, decided.
#[derive(Clone, Debug)]
pub(super) struct Asking {
    pub(super) contact: Option<Contact>,
    pub(super) fetch: FetchSettings,
    pub(super) pace: Pace,
    pub(super) limits: Limits,
    /// Starts a second; nothing where there is no limit.
    pub(super) rate: Option<f64>,
    pub(super) upstreams: Vec<SocketAddr>,
    pub(super) asks_ipv6: bool,
    pub(super) canary: Option<String>,
    pub(super) probes: Vec<Sampled>,
    pub(super) exclusions: Exclusions,
}

/// Reserved by IANA, and has addresses (RFC 2606, section 3).
const CANARY: &str = "example.com";
const GAP: Duration = Duration::from_secs(1);
const REHEARSED_GAP: Duration = Duration::from_millis(50);
const RATE: u32 = 200;
/// Look-ups a second that a resolver is asked for at most; public ones throttle at about twice this.
const LOOKUPS_A_SECOND: u32 = 500;
const LOOKUPS_IN_FLIGHT: usize = 256;
const PER_NETWORK: usize = 8;
const WAITING: usize = 100_000;
const SECOND_TRY: Duration = Duration::from_secs(10 * 60);
const BACKOFF: Duration = Duration::from_secs(60);
const REHEARSED_BACKOFF: Duration = Duration::from_secs(1);
/// A server that wants to be left alone for longer is not asked again in the same run.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

impl AskerArgs {
    /// Decides how to ask a single host: as a survey of one target would by default.
    pub(super) fn decide(self, is_rehearsal: bool) -> anyhow::Result<Asking> {
        AskingArgs {
            asker: self,
            gap: None,
            concurrency: NonZeroUsize::MIN,
            rate: None,
            no_second_try: true,
            probe: Vec::new(),
            www: Www::Fallback,
            deadline: None,
        }
        .decide(is_rehearsal)
    }
}

impl AskingArgs {
    /// Decides how to ask. Without a contact the pace is halved: nobody can tell us that we disturb.
    pub(super) fn decide(self, is_rehearsal: bool) -> anyhow::Result<Asking> {
        let AskerArgs {
            contact,
            max_body,
            connect_timeout,
            read_timeout,
            total_timeout,
            resolver,
            ipv6,
            canary,
            exclude,
        } = self.asker;
        let slowness = if contact.is_none() && !is_rehearsal { 2 } else { 1 };
        let gap = self.gap.unwrap_or(if is_rehearsal { REHEARSED_GAP } else { GAP }) * slowness;
        let rate = self.rate.unwrap_or(if is_rehearsal { 0 } else { RATE });
        let interval = match rate {
            0 => Duration::ZERO,
            rate => Duration::from_secs(1) / rate * slowness,
        };
        let lookup_interval = if is_rehearsal { Duration::ZERO } else { Duration::from_secs(1) / LOOKUPS_A_SECOND };
        let backoff = if is_rehearsal { REHEARSED_BACKOFF } else { BACKOFF };
        let version = env!("CARGO_PKG_VERSION");
        let user_agent = match &contact {
            Some(contact) => format!("robots-survey/{version} (+{contact})"),
            None => format!("robots-survey/{version}"),
        };
        let other_user_agent = match &contact {
            Some(contact) => format!("Mozilla/5.0 (compatible; robots-survey/{version}; +{contact})"),
            None => format!("Mozilla/5.0 (compatible; robots-survey/{version})"),
        };
        let canary = match canary.as_deref() {
            Some("none") => None,
            Some(name) => Some(Domain::parse(name).with_context(|| format!("the canary {name:?}"))?.to_string()),
            None => (!is_rehearsal).then(|| CANARY.to_owned()),
        };
        let from = match &contact {
            Some(Contact::Mail(mail)) => Some(mail.clone()),
            _ => None,
        };
        Ok(Asking {
            contact,
            fetch: FetchSettings {
                user_agent,
                other_user_agent,
                from,
                max_body: max_body.get(),
                connect_timeout,
                read_timeout,
                total_timeout,
            },
            pace: Pace { gap, interval, per_network: PER_NETWORK, backoff, patience: PATIENCE },
            limits: Limits {
                in_flight: self.concurrency.get(),
                resolving: LOOKUPS_IN_FLIGHT,
                lookup_interval,
                waiting: WAITING,
                www: self.www,
                second_try: (!self.no_second_try).then_some(SECOND_TRY),
                deadline: self.deadline,
            },
            rate: (!interval.is_zero()).then(|| interval.as_secs_f64().recip()),
            upstreams: resolver,
            asks_ipv6: ipv6,
            canary,
            probes: self.probe,
            exclusions: exclude.as_deref().map_or_else(|| Ok(Exclusions::default()), read_exclusions)?,
        })
    }
}

fn read_exclusions(path: &Path) -> anyhow::Result<Exclusions> {
    let reading = || format!("reading who is not to be asked, {}", path.display());
    let text = std::fs::read_to_string(path).with_context(reading)?;
    Exclusions::parse(&text).with_context(reading)
}

impl Asking {
    /// Says that nobody can reach whoever asks.
    pub(super) fn warn_if_anonymous(&self) {
        if self.contact.is_none() {
            tracing::warn!(
                "no contact is given (--contact or SURVEY_CONTACT), so nobody can tell you that you disturb; going on \
                 at half the pace"
            );
        }
    }

    /// What the crawl takes; a rehearsal is the only place that it may then contact.
    pub(super) fn settings(self, rehearsed: Option<&Rehearsed>, seed: u64) -> anyhow::Result<crawl::Settings> {
        let (upstreams, reach, roots) = match rehearsed {
            Some(rehearsed) => (vec![rehearsed.dns()], rehearsed.reach()?, rehearsed.roots()?),
            None => (self.upstreams, Reach::Internet, public_roots()),
        };
        let Self { fetch, pace, limits, asks_ipv6, canary, probes, exclusions, .. } = self;
        let probing = probing::plan(&probes, limits.www, seed);
        Ok(crawl::Settings {
            fetch,
            pace,
            limits,
            probing,
            memory: Memory::NONE,
            upstreams,
            asks_ipv6,
            canary,
            reach,
            exclusions,
            roots,
        })
    }
}

/// Where the owner of a server can reach whoever runs the survey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Contact {
    Url(String),
    Mail(String),
}

impl std::str::FromStr for Contact {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        if text.chars().any(|c| !c.is_ascii_graphic() || matches!(c, '(' | ')' | '<' | '>' | '"' | '\\')) {
            bail!("a contact goes into a header, so it is plain ASCII without white space, quotes and brackets");
        }
        if let Ok(url) = url::Url::parse(text) {
            match url.scheme() {
                "http" | "https" => return Ok(Self::Url(text.to_owned())),
                "mailto" => return url.path().parse(),
                _ => bail!("a contact is an http or https URL, or a mail address"),
            }
        }
        match text.split_once('@') {
            Some((local, domain)) if !local.is_empty() && domain.contains('.') && !domain.contains('@') => {
                Ok(Self::Mail(text.to_owned()))
            }
            _ => bail!("a contact is an http or https URL, or a mail address"),
        }
    }
}

impl fmt::Display for Contact {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => formatter.write_str(url),
            Self::Mail(mail) => write!(formatter, "mailto:{mail}"),
        }
    }
}

fn parse_www(text: &str) -> anyhow::Result<Www> {
    Www::from_word(text).with_context(|| {
        let words: Vec<&str> = Www::ALL.iter().map(|www| www.word()).collect();
        format!("expected one of {}", words.join(", "))
    })
}

fn parse_upstream(text: &str) -> anyhow::Result<SocketAddr> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(address);
    }
    let ip: IpAddr = text.parse().context("expected an IP address, with a port if it is not 53: 127.0.0.1:5353")?;
    Ok(SocketAddr::new(ip, 53))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(contact: Option<&str>) -> AskingArgs {
        let asker = AskerArgs {
            contact: contact.map(|text| text.parse().unwrap()),
            max_body: NonZeroUsize::new(512 << 10).unwrap(),
            connect_timeout: Duration::from_secs(8),
            read_timeout: Duration::from_secs(8),
            total_timeout: Duration::from_secs(20),
            resolver: Vec::new(),
            ipv6: false,
            canary: None,
            exclude: None,
        };
        AskingArgs {
            asker,
            gap: None,
            concurrency: NonZeroUsize::new(300).unwrap(),
            rate: None,
            no_second_try: false,
            probe: Vec::new(),
            www: Www::Fallback,
            deadline: None,
        }
    }

    #[test]
    fn a_run_with_a_contact_identifies_itself() {
        let asking = args(Some("you@example.org")).decide(false).unwrap();
        let expected = format!("robots-survey/{} (+mailto:you@example.org)", env!("CARGO_PKG_VERSION"));
        assert_eq!(asking.fetch.user_agent, expected);
        assert_eq!(asking.fetch.from.as_deref(), Some("you@example.org"));
        assert_eq!((asking.pace.gap, asking.pace.interval), (Duration::from_secs(1), Duration::from_millis(5)));
        let asking = args(Some("https://example.org/survey")).decide(false).unwrap();
        assert!(asking.fetch.user_agent.ends_with("(+https://example.org/survey)"));
        assert_eq!(asking.fetch.from, None);
    }

    #[test]
    fn a_run_without_a_contact_goes_at_half_the_pace() {
        let asking = args(None).decide(false).unwrap();
        assert_eq!((asking.pace.gap, asking.pace.interval), (Duration::from_secs(2), Duration::from_millis(10)));
        assert_eq!(asking.rate, Some(100.0));
    }

    #[test]
    fn a_rehearsal_needs_no_contact_and_keeps_a_short_gap() {
        let asking = args(None).decide(true).unwrap();
        assert_eq!((asking.pace.gap, asking.pace.interval), (Duration::from_millis(50), Duration::ZERO));
    }

    #[test]
    fn a_contact_that_could_break_a_header_is_refused() {
        for text in ["", "me", "me@here", "a b@example.org", "x@example.org\r\nEvil: 1", "ftp://example.org", "a@b@c.d"]
        {
            assert!(text.parse::<Contact>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_name_server_may_leave_its_port_out() {
        assert_eq!(parse_upstream("9.9.9.9").unwrap(), "9.9.9.9:53".parse().unwrap());
        assert_eq!(parse_upstream("127.0.0.1:5353").unwrap(), "127.0.0.1:5353".parse().unwrap());
        assert_eq!(parse_upstream("::1").unwrap(), "[::1]:53".parse().unwrap());
        assert!(parse_upstream("dns.example").is_err());
    }
}
