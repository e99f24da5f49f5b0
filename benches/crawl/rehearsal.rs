//! `survey rehearse` in a process of its own, ended with this one.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use survey::crawl::Door;
use survey::domain::Domain;
use survey::rehearsal::Announcement;

use crate::bare::Job;

pub(crate) struct Rehearsal {
    child: Child,
    pub(crate) announcement: Announcement,
}

/// The same hosts through both doors.
pub(crate) struct Jobs {
    pub(crate) https: Vec<Job>,
    pub(crate) http: Vec<Job>,
}

impl Rehearsal {
    pub(crate) fn start(arguments: &[PathBuf]) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_survey"))
            .arg("rehearse")
            .args(arguments)
            .arg("--until-stdin-closes")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no pipe")?).read_line(&mut line)?;
        Ok(Self { child, announcement: serde_json::from_str(&line)? })
    }

    pub(crate) fn doors(&self) -> Result<Vec<Door>, Box<dyn Error>> {
        let doors = self.announcement.doors.iter();
        let doors = doors.map(|door| Ok(Door { block: door.block.parse()?, http: door.http, https: door.https }));
        doors.collect()
    }

    pub(crate) fn roots(&self) -> Result<RootCertStore, Box<dyn Error>> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.announcement.ca_pem.as_bytes())?)?;
        Ok(roots)
    }

    /// The sockets of all hosts that have some, found beforehand.
    pub(crate) fn resolve(&self, domains: &[Domain]) -> Result<Jobs, Box<dyn Error>> {
        let mut server = NameServerConfig::udp(self.announcement.dns.ip());
        for connection in &mut server.connections {
            connection.port = self.announcement.dns.port();
        }
        let config = ResolverConfig::from_parts(None, Vec::new(), vec![server]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let addresses: Vec<(String, IpAddr)> = runtime.block_on(async {
            let builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
            let resolver = builder.build()?;
            let mut found = Vec::new();
            for domain in domains {
                if let Ok(answer) = resolver.ipv4_lookup(format!("{domain}.")).await {
                    let first = answer.answers().iter().find_map(|record| record.data.ip_addr());
                    found.extend(first.map(|ip| (domain.to_string(), ip)));
                }
            }
            Ok::<_, Box<dyn Error>>(found)
        })?;
        // The door that most hosts live behind is the open one; behind the others they refuse or lose connections, and
        // would measure nothing. The first door that holds an address is its own, as it is for the crawl.
        let doors = self.doors()?;
        let door_of = |ip: &IpAddr| doors.iter().position(|door| door.block.contains(ip));
        let behind = |place: usize| addresses.iter().filter(move |(_, ip)| door_of(ip) == Some(place));
        let open = (0..doors.len()).max_by_key(|place| behind(*place).count()).ok_or("no doors")?;
        let jobs = |port| -> Vec<Job> {
            behind(open).map(|(host, ip)| Job { host: host.clone(), address: SocketAddr::new(*ip, port) }).collect()
        };
        let jobs = Jobs { https: jobs(doors[open].https), http: jobs(doors[open].http) };
        if jobs.https.is_empty() { Err("no host has an address and a door".into()) } else { Ok(jobs) }
    }
}

impl Drop for Rehearsal {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        if let Err(error) = self.child.wait() {
            let _ = writeln!(std::io::stderr(), "waiting for the rehearsal: {error}");
        }
    }
}
