//! The rehearsal as a child process, or one that already runs: the same code and the same sockets as a real run, and no
//! one is disturbed.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, bail, ensure};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::crawl::{Door, Reach};
use crate::rehearsal::Announcement;

/// A running rehearsal; one that was started here ends with this value, and with this process however that ends.
pub(super) struct Rehearsed {
    child: Option<Child>,
    announcement: Announcement,
}

/// What a rehearsal is made from.
pub(super) struct Script<'a> {
    /// A WARC file, or `@` and a file with the announcement of a rehearsal that runs already; without one a population
    /// is invented for the list.
    pub(super) source: Option<&'a Path>,
    /// A table of labels beside the WARC.
    pub(super) labels: Option<&'a Path>,
    /// The list that is surveyed.
    pub(super) list: &'a Path,
    /// Another seed invents another web.
    pub(super) seed: u64,
    /// How many hosts share one address.
    pub(super) shared: Option<usize>,
    /// Where every query and connection is written down.
    pub(super) log: PathBuf,
}

impl Rehearsed {
    /// Starts the child and waits until all its doors stand open.
    pub(super) async fn start(script: &Script<'_>) -> anyhow::Result<Self> {
        if let Some(file) = script.source.and_then(announced_in) {
            ensure!(
                script.labels.is_none() && script.shared.is_none(),
                "a rehearsal that runs already has its own labels and addresses"
            );
            return Self::join(file).with_context(|| format!("joining the rehearsal announced in {}", file.display()));
        }
        let program = std::env::current_exe().context("finding this program, to rehearse with it")?;
        let mut command = Command::new(program);
        command.arg("rehearse").arg("--until-stdin-closes").arg("--log").arg(&script.log);
        match script.source {
            Some(source) => command.arg("--source").arg(source),
            None if script.list == Path::new("-") => {
                bail!("a rehearsal reads the list too, so it must be a file, not standard input")
            }
            None => command.arg("--domains").arg(script.list).arg("--seed").arg(script.seed.to_string()),
        };
        if let Some(labels) = script.labels {
            command.arg("--labels").arg(labels);
        }
        if let Some(shared) = script.shared {
            command.arg("--shared").arg(shared.to_string());
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        // Ctrl-C is for the survey; the rehearsal must stay until the last request in flight is answered.
        command.process_group(0);
        let mut child = command.spawn().context("starting the rehearsal")?;
        let stdout = child.stdout.take().expect("standard output was asked to be a pipe");
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).await.context("waiting for the rehearsal")?;
        if line.is_empty() {
            let status = child.wait().await.context("waiting for the rehearsal")?;
            bail!("the rehearsal ended before it began ({status})");
        }
        let announcement = serde_json::from_str(&line).context("reading what the rehearsal announced")?;
        Ok(Self { child: Some(child), announcement })
    }

    /// Takes part in a rehearsal that somebody else started, and will end.
    fn join(announcement: &Path) -> anyhow::Result<Self> {
        let announcement: Announcement = serde_json::from_str(&std::fs::read_to_string(announcement)?)?;
        ensure!(announcement.dns.ip().is_loopback(), "its name server {} is not on loopback", announcement.dns);
        Ok(Self { child: None, announcement })
    }

    /// Where names are looked up.
    pub(super) fn dns(&self) -> std::net::SocketAddr {
        self.announcement.dns
    }

    /// The only places that the crawl may contact.
    pub(super) fn reach(&self) -> anyhow::Result<Reach> {
        let doors = self.announcement.doors.iter().map(|door| {
            let block = door.block.parse().with_context(|| format!("the rehearsal's block {}", door.block))?;
            Ok(Door { block, http: door.http, https: door.https })
        });
        Ok(Reach::Rehearsal(doors.collect::<anyhow::Result<_>>()?))
    }

    /// The only authority that certificates are verified against.
    pub(super) fn roots(&self) -> anyhow::Result<RootCertStore> {
        let mut roots = RootCertStore::empty();
        let certificate = CertificateDer::from_pem_slice(self.announcement.ca_pem.as_bytes())
            .context("reading the rehearsal's certificate authority")?;
        roots.add(certificate).context("trusting the rehearsal's certificate authority")?;
        Ok(roots)
    }

    /// Lets the child finish its log and end.
    pub(super) async fn stop(self) -> anyhow::Result<()> {
        let Some(mut child) = self.child else { return Ok(()) };
        drop(child.stdin.take());
        let status = child.wait().await.context("waiting for the rehearsal to end")?;
        if !status.success() {
            bail!("the rehearsal failed ({status})");
        }
        Ok(())
    }
}

/// The file after `@`.
pub(super) fn announced_in(source: &Path) -> Option<&Path> {
    source.to_str()?.strip_prefix('@').map(Path::new)
}
