//! Hosts that do what an archive, or an archive and a table of labels, says of them.
//!
//! Touches nothing beyond the files it reads through `archive` and `labels`. Deliberately absent: invention. A name
//! that no line holds does not exist, `www.` twins included.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::path::Path;

use anyhow::Context as _;
use bytes::Bytes;

use crate::domain::Domain;
use crate::rehearsal::addresses::{Plan, SHARED, sharing};
use crate::rehearsal::archive;
use crate::rehearsal::behaviour::{Behaviour, Course, HANDSHAKE_FAILURE, Reply, Response, Tls, Way};
use crate::rehearsal::labels::{self, Label, Mishap};

/// Every host, with its address and what it does.
#[derive(Debug, Default)]
pub(super) struct Told(HashMap<Box<str>, (Ipv4Addr, Behaviour)>);

impl Told {
    /// Each host answers as it is recorded.
    pub(super) fn from_archive(archive: &Path, shared: usize) -> anyhow::Result<Self> {
        let hosts = archive::read(archive)?;
        let told = hosts.into_iter().map(|(host, response)| (host, Some(Behaviour::open(Reply::Respond(response)))));
        Self::place(told.collect(), shared)
    }

    /// Each host does as its label says.
    pub(super) fn from_labels(archive: &Path, labels: &Path, shared: usize) -> anyhow::Result<Self> {
        let recorded: HashMap<Domain, Response> = archive::read(archive)?.into_iter().collect();
        let mut told = Vec::new();
        for (host, label) in labels::read(labels)? {
            let behaviour = obey(&host, label, &recorded).with_context(|| {
                format!("{} labels {host} as text, and {} does not hold it", labels.display(), archive.display())
            });
            let missing = matches!(label, Label::Net(Mishap::Dns));
            told.push((host, if missing { None } else { Some(behaviour?) }));
        }
        Self::place(told, shared)
    }

    /// The address of a name, if it exists.
    pub(super) fn address(&self, name: &str) -> Option<Ipv4Addr> {
        self.0.get(name).map(|(address, _)| *address)
    }

    /// What a TLS handshake finds.
    pub(super) fn tls(&self, name: &str) -> Tls {
        self.0.get(name).map_or(Tls::Good, |(_, behaviour)| behaviour.tls)
    }

    /// What a host does.
    pub(super) fn behaviour(&self, name: &str) -> Option<Behaviour> {
        self.0.get(name).map(|(_, behaviour)| behaviour.clone())
    }

    fn place(told: Vec<(Domain, Option<Behaviour>)>, shared: usize) -> anyhow::Result<Self> {
        let ways: Vec<Option<Way>> =
            told.iter().map(|(_, behaviour)| behaviour.as_ref().map(|behaviour| behaviour.way)).collect();
        let sharing = sharing(&ways, shared);
        let mut plan = Plan::default();
        let mut hosts = HashMap::with_capacity(told.len());
        for ((host, behaviour), shares) in told.into_iter().zip(sharing) {
            let Some(behaviour) = behaviour else { continue };
            let address = if shares { SHARED } else { plan.place(behaviour.way)? };
            hosts.insert(host.as_str().into(), (address, behaviour));
        }
        Ok(Self(hosts))
    }
}

/// What a label makes a host do; nothing where the archive lacks the file that it promises, or the name is to be
/// missing.
fn obey(host: &Domain, label: Label, recorded: &HashMap<Domain, Response>) -> Option<Behaviour> {
    Some(match label {
        Label::Text => Behaviour::open(Reply::Respond(recorded.get(host)?.clone())),
        Label::Html(status) => Behaviour::open(Reply::Respond(Response::page(status, host.as_str()))),
        Label::Empty(status) => Behaviour::open(Reply::Respond(Response::new(status, "text/plain", Bytes::new()))),
        Label::Net(Mishap::Dns) => return None,
        Label::Net(Mishap::Timeout) => Behaviour::closed(Way::Blackhole),
        Label::Net(Mishap::Tls) => {
            Behaviour { way: Way::HttpsOnly, tls: Tls::Alert(HANDSHAKE_FAILURE), ..Behaviour::open(Reply::Reset) }
        }
        Label::Net(Mishap::Reset) => Behaviour::open(Reply::Reset),
        Label::Net(Mishap::RedirectLoop) => Behaviour::open(Reply::Redirect(Course::Loop)),
        Label::Net(Mishap::Unreachable) => Behaviour::closed(Way::Unreachable),
        // What "other" was is not recorded; it ends at the door, as most of what has no name of its own does.
        Label::Net(Mishap::Refused | Mishap::Other) => Behaviour::closed(Way::Refuse),
    })
}
