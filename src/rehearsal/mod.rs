//! A web on loopback (DNS, HTTP, HTTPS) that answers by host name.
//!
//! It serves the tests, the benches and a person's first run: the same code and the same sockets as a real survey, and
//! no one is disturbed. What a host does is a function of its name and of a [`Source`]: an archive, an archive with a
//! table of labels, or a seeded population; whatever the source, the names of [`faults`] answer too, each with the
//! fault that it is called after. Every host has an address of its own in 127.0.0.0/8 unless the settings
//! say that hosts share one. Its own log proves from the other side what a survey did.
//!
//! May touch: sockets on 127.0.0.0/8 and `::1`, the archive, the table and the log that it is given. Needs no privileges: ports
//! are whatever was free, and the [`Announcement`] says which. Deliberately absent: anything the survey's crawl room
//! defines (the announcement is the whole contract), keep-alive, and tricks: a refused connection is refused by
//! the kernel, a silent one is lost by the kernel, a reset one is reset by the kernel.
//!
//! * [`Source`]: which hosts there are, and what they do.
//! * [`Settings`]: how many share an address, where the log goes.
//! * [`Rehearsal`]: the running web; it ends when dropped or stopped.
//! * [`Announcement`], [`Door`]: what a survey must know to enter.
//! * [`faults`], [`FaultHost`]: the registry of fault hosts.

mod addresses;
mod archive;
mod authority;
mod behaviour;
mod blackhole;
mod conditional;
mod dice;
mod dns;
mod doors;
mod faults;
mod handshake;
mod http;
mod labels;
mod log;
mod play;
mod population;
mod rare;
mod refusal;
mod robots_texts;
mod serve;
mod told;
mod web;
mod zone;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::domain::Domain;
pub use crate::rehearsal::faults::{FaultHost, faults};

/// Which hosts there are, and what they do.
#[derive(Clone, Debug)]
pub enum Source {
    /// Each host of a WARC file answers with its recorded response.
    Archive(PathBuf),
    /// The hosts of a table of labels: those that had a file answer from the archive, the others do what befell them.
    Labelled {
        /// The WARC file.
        archive: PathBuf,
        /// The table: `host`, `kind`, `status`, `cause`, separated by tabs.
        labels: PathBuf,
    },
    /// Invented behaviour in realistic shares, a pure function of seed and name.
    Population {
        /// The hosts.
        domains: Vec<Domain>,
        /// Another seed, another web.
        seed: u64,
    },
}

/// How the web is set up, whatever its source.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// How many hosts share one address; nothing leaves it to the source (an archive: none; a population: 500 of ten
    /// thousand, and in proportion on shorter lists).
    pub shared: Option<usize>,
    /// Of how many of a thousand hosts that share it the shared address asks for fewer requests, with status 429.
    pub refusing: usize,
    /// Where every query and connection is written down, as CSV.
    pub log: Option<PathBuf>,
}

/// What a survey must know to enter: one line of JSON on standard output when everything listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    /// The DNS server, over UDP and TCP.
    pub dns: SocketAddr,
    /// Which ports stand for 80 and 443 of an address; the first door whose block holds the address counts.
    pub doors: Vec<Door>,
    /// The certificate authority that signed the good certificates, as PEM.
    pub ca_pem: String,
}

/// The ports behind which a block of addresses is found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Door {
    /// The addresses, as a CIDR block: `127.200.0.0/16`.
    pub block: String,
    /// The port that stands for 80.
    pub http: u16,
    /// The port that stands for 443.
    pub https: u16,
}

/// A running web; it ends when this value is dropped, or tidily by [`Rehearsal::stop`].
#[derive(Debug)]
pub struct Rehearsal {
    announcement: Announcement,
    stopping: CancellationToken,
    tasks: TaskTracker,
    writer: Option<std::thread::JoinHandle<anyhow::Result<()>>>,
    // Sockets that no task owns: the port that refuses and the one that loses everything.
    _doors: doors::Held,
}

impl Rehearsal {
    /// Reads the source, opens every door, and returns once all of them stand open.
    ///
    /// # Cost
    ///
    /// An archive is held in memory whole. Filling the backlog of the port that loses connections takes a moment.
    pub async fn start(source: Source, settings: Settings) -> anyhow::Result<Self> {
        let (shared, refusing) = (settings.shared, settings.refusing);
        let web = tokio::task::spawn_blocking(move || web::Web::load(source, shared, refusing))
            .await
            .context("the source could not be read to its end")??;
        let (log, writer) = log::open(settings.log.as_deref())?;
        let doors = doors::Doors::open().await?;
        let dns = dns::Sockets::open().await?;
        let web = Arc::new(web);
        let authority = authority::Authority::new(Arc::clone(&web))?;

        let announcement =
            Announcement { dns: dns.address(), doors: doors.announce(), ca_pem: authority.pem().to_owned() };
        let stopping = CancellationToken::new();
        let tasks = TaskTracker::new();
        let stage = Arc::new(serve::Stage {
            web,
            tls: handshake::Handshakes::new(&authority)?,
            log,
            stopping: stopping.clone(),
            tasks: tasks.clone(),
        });
        let (http, https, held) = doors.into_parts()?;
        for listener in http {
            stage.spawn(serve::accept(listener, http::Scheme::Http, Arc::clone(&stage)));
        }
        for listener in https {
            stage.spawn(serve::accept(listener, http::Scheme::Https, Arc::clone(&stage)));
        }
        stage.spawn(dns::serve_udp(dns.udp, Arc::clone(&stage)));
        stage.spawn(dns::serve_tcp(dns.tcp, Arc::clone(&stage)));
        tasks.close();
        Ok(Self { announcement, stopping, tasks, writer, _doors: held })
    }

    /// What a survey must know to enter.
    pub fn announcement(&self) -> &Announcement {
        &self.announcement
    }

    /// Ends every conversation, closes the doors and finishes the log.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        self.stopping.cancel();
        self.tasks.wait().await;
        let Some(writer) = self.writer.take() else { return Ok(()) };
        tokio::task::spawn_blocking(|| writer.join())
            .await
            .context("waiting for the log")?
            .map_err(|_| anyhow::anyhow!("the writer of the log panicked"))?
    }
}

impl Drop for Rehearsal {
    fn drop(&mut self) {
        self.stopping.cancel();
    }
}
