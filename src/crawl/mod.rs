//! Target → observation over the network: politely, many at once, each target exactly once.
//!
//! ```text
//! targets -> look up -> wait for the server's turn -> ask -> next step, or done -> sink
//!               ^_____________________________________________|
//! ```
//!
//! One loop owns the schedule and starts everything (`run`). Looking up and asking have separate permits; a target
//! that waits for its server's turn holds none. A request's permit is held until the sink has accepted the
//! observation, so a slow disk slows the crawl and memory stays flat.
//!
//! Touches the network and the clock, and nothing else. Deliberately absent: robots.txt syntax, agents, files.
//!
//! * [`Settings`]: everything that a run decides beforehand.
//! * `run`: the loop.
//! * `window`: how many requests may be in flight, pure.
//! * `journey`: the way of one target, pure.
//! * [`Memory`]: what is remembered of targets, to ask them with a condition.
//! * [`Probing`]: which targets are looked at once more, and how.
//! * `schedule`: politeness as a value, pure.
//! * `reach`: whom the crawl may contact.
//! * `refusal`: servers that ask for fewer requests.
//! * `network`, `health`: which failures are to be believed.
//! * `resolve`, `fetch`, `tls`, `body`: one look-up, one request.
//! * `failure`: library errors → causes and faults.

mod body;
mod canary;
mod failure;
mod fetch;
mod health;
mod journey;
mod memory;
mod network;
mod probing;
mod reach;
mod refusal;
mod resolve;
mod run;
mod schedule;
mod tls;
mod window;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rustls::RootCertStore;
use thiserror::Error;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

pub use self::canary::Lie;
pub use self::failure::Fault;
pub use self::fetch::FetchSettings;
pub use self::memory::{Memory, Remembers};
pub use self::probing::{Probing, Www};
pub use self::reach::{Door, Reach};
pub use self::refusal::Heard;
pub use self::schedule::{GIANT, Pace, Schedule, Server, Span, Turn};
pub use self::tls::public_roots;

use self::fetch::Fetcher;
use self::health::Health;
use self::network::{Names, Network};
use self::reach::Guard;
use self::resolve::Resolver;
use self::run::Crawl;
use crate::domain::Target;
use crate::exclusions::Exclusions;
use crate::observation::{Failure, Observation};

/// Everything that a crawl decides beforehand.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How requests are made.
    pub fetch: FetchSettings,
    /// How gently servers are asked.
    pub pace: Pace,
    /// How much may be under way.
    pub limits: Limits,
    /// Which targets are looked at once more.
    pub probing: Probing,
    /// What is remembered of targets.
    pub memory: Memory,
    /// Upstream name servers; none means the system's.
    pub upstreams: Vec<SocketAddr>,
    /// Ask for IPv6 addresses also where there are others.
    pub asks_ipv6: bool,
    /// A name that must exist, asked for at start and now and then beside one that cannot; nothing to trust the resolver.
    pub canary: Option<String>,
    /// Whom the crawl may contact.
    pub reach: Reach,
    /// Who of those asked not to be.
    pub exclusions: Exclusions,
    /// Whom certificates are verified against.
    pub roots: RootCertStore,
}

/// How much may be under way at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests in flight.
    pub in_flight: usize,
    /// Look-ups in flight.
    pub resolving: usize,
    /// From one look-up's start to the next; zero for no limit.
    pub lookup_interval: Duration,
    /// Targets that wait for their server's turn. Above it no new target is taken.
    pub waiting: usize,
    /// What the `www.` twin of a target is for.
    pub www: Www,
    /// How long after a transient failure its target is tried once more, or at the end of the crawl where that comes
    /// first; nothing for a single try.
    pub second_try: Option<Duration>,
    /// After this time nothing is started any more; what was not attempted is observed as that.
    pub deadline: Option<Duration>,
}

/// How far a crawl has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pulse {
    /// Look-ups in flight.
    pub resolving: usize,
    /// Targets whose own name was looked up.
    pub resolved: u64,
    /// Targets waiting for their server's turn.
    pub waiting: usize,
    /// Requests in flight.
    pub in_flight: usize,
    /// Targets whose observation was accepted.
    pub done: u64,
    /// Times that a fault of this machine made the crawl pause.
    pub faults: u64,
    /// Targets that will be tried a second time.
    pub late: usize,
    /// The line that decides how long the crawl takes at least, once enough names are resolved to tell.
    pub longest_line: Option<LongestLine>,
}

/// Targets that share one server, so that the gap between them bounds the time of the whole crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestLine {
    /// The server; of an IPv6 one the first address of its /64.
    pub server: IpAddr,
    /// How many targets wait for it.
    pub targets: usize,
    /// What their gaps come to.
    pub at_least: Duration,
}

/// How a crawl that could end in order ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every target was observed.
    Complete,
    /// The caller asked it to stop; what was in flight was finished.
    Stopped,
}

/// Why a crawl could not go on.
#[derive(Debug, Error)]
pub enum CrawlError {
    /// Our own machine cannot do the work; nothing was written for the targets that met the fault.
    #[error(
        "this machine has a fault that does not pass ({fault}: {}); the targets that met it have no row, and the same \
         command goes on with them",
        fault.doc()
    )]
    Fault {
        /// The fault.
        fault: Fault,
    },
    /// The resolver cannot be believed; what was written since it was last checked may be wrong.
    #[error("{lie}; rows written in the last five minutes of a run may be wrong for it")]
    Resolver {
        /// What it did.
        lie: Lie,
    },
    /// What is remembered of targets cannot be read; those that it was wanted for have no row.
    #[error("what is remembered of targets cannot be read; those that were to be asked have no row")]
    Memory(#[source] anyhow::Error),
    /// A task panicked; its target has no row.
    #[error("a defect of this program cost {count} targets their row: {first}")]
    Panic {
        /// How many targets.
        count: usize,
        /// What the first panic said.
        first: String,
    },
    /// Whoever accepts observations has gone.
    #[error("observations are no longer accepted")]
    SinkClosed,
}

/// A look-up that brought nothing.
#[derive(Debug)]
pub(crate) enum Miss {
    /// The target's doing.
    Failure(Failure),
    /// Our own machine's doing; the same is asked again later.
    Fault(Fault),
}

/// Crawls the targets and sends one observation each to the sink.
///
/// Stops taking targets when `stop` is cancelled, finishes the requests in flight and abandons those that wait; an
/// abandoned target has no observation, so a resumed run asks it.
///
/// # Deadlocks
///
/// The sink must be drained by another thread or task; the crawl waits for it, permits in hand.
pub async fn crawl(
    targets: impl Iterator<Item = Target>,
    settings: Settings,
    sink: mpsc::Sender<Observation>,
    pulse: &watch::Sender<Pulse>,
    stop: &CancellationToken,
) -> anyhow::Result<End> {
    let reach = Arc::new(settings.reach.clone());
    let guard = Arc::new(Guard { reach: settings.reach, exclusions: settings.exclusions });
    let health = Arc::new(Health::new());
    let resolver = Resolver::new(&settings.upstreams, settings.asks_ipv6)?;
    let names = Names::default();
    if let Some(existing) = &settings.canary {
        canary::check(&resolver, existing, &names).await?;
    }
    let watching = async {
        match &settings.canary {
            Some(existing) => canary::watch(&resolver, existing, &names).await,
            None => std::future::pending().await,
        }
    };
    let fetcher = Fetcher::new(settings.fetch, reach, settings.roots)?;
    let web = Network::new(resolver.clone(), fetcher, Arc::clone(&health));
    let crawl = Crawl::new(web, guard, (settings.pace, settings.limits), (settings.probing, settings.memory), sink);
    tokio::select! {
        end = crawl.run(targets, pulse, stop) => Ok(end?),
        lie = watching => Err(CrawlError::Resolver { lie }.into()),
        () = health.watch() => unreachable!("it watches for ever"),
    }
}
