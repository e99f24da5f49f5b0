//! Names → addresses, through hickory used as a plain stub: no cache, no search list, no retries of its own.
//!
//! A and AAAA are asked apart, since asking for both at once mixes up their errors (a SERVFAIL would come back as "no
//! address").

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use anyhow::Context;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts, ServerOrderingStrategy,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::{Name, RData, RecordType};

use super::failure::explain_lookup;
use super::{Fault, Miss};
use crate::observation::{DnsAnswer, DnsAnswers, Failure};
use crate::outcome::Cause;

/// What DNS said of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Resolution {
    /// Its addresses, in the order of the answer.
    pub(crate) ips: Vec<IpAddr>,
    /// The name that the addresses belong to, where the asked name is an alias of it.
    pub(crate) cname: Option<String>,
}

/// What came of looking a name up.
#[derive(Clone, Debug)]
pub(crate) struct Lookup {
    /// The answers, type by type.
    pub(crate) answers: DnsAnswers,
    /// What they come to.
    pub(crate) result: Result<Resolution, Failure>,
}

/// Asks the upstream servers, one query at a time for each name.
#[derive(Clone, Debug)]
pub(crate) struct Resolver {
    resolver: TokioResolver,
    /// Ask for IPv6 addresses also where there are others.
    asks_ipv6: bool,
}

/// One query, retransmissions of the library included.
const QUERY_TIMEOUT: Duration = Duration::from_secs(4);
/// The library retries some errors without counting; this ends any look-up.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

impl Resolver {
    /// Uses the given upstream servers, or the system's where none are given.
    pub(crate) fn new(upstreams: &[SocketAddr], asks_ipv6: bool) -> anyhow::Result<Self> {
        let name_servers = if upstreams.is_empty() {
            let (system, _) = hickory_resolver::system_conf::read_system_conf()
                .context("reading the system's resolver configuration (name servers can be given with --resolver)")?;
            system.name_servers().to_vec()
        } else {
            upstreams.iter().copied().map(name_server).collect()
        };
        let config = ResolverConfig::from_parts(None, Vec::new(), name_servers);
        let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        let options: &mut ResolverOpts = builder.options_mut();
        options.attempts = 0;
        options.timeout = QUERY_TIMEOUT;
        options.cache_size = 0;
        options.num_concurrent_reqs = 1;
        options.edns0 = true;
        options.use_hosts_file = ResolveHosts::Never;
        options.preserve_intermediates = true;
        options.server_ordering_strategy = ServerOrderingStrategy::RoundRobin;
        Ok(Self { resolver: builder.build().context("setting up the resolver")?, asks_ipv6 })
    }

    /// Looks a name up: A, and AAAA only where there is no A or the settings ask for it.
    pub(crate) async fn resolve(&self, host: &str) -> Result<Lookup, Fault> {
        let a = self.settle(host, RecordType::A).await?;
        let is_wanted = match &a {
            Ok(_) => self.asks_ipv6,
            Err(failure) => failure.cause == Cause::DnsNoAddress,
        };
        if !is_wanted {
            return Ok(Lookup { answers: DnsAnswers { a: Some(read(&a)), aaaa: None }, result: a });
        }
        let aaaa = self.settle(host, RecordType::AAAA).await?;
        let answers = DnsAnswers { a: Some(read(&a)), aaaa: Some(read(&aaaa)) };
        let result = match (a, aaaa) {
            (Ok(mut found), Ok(more)) => {
                found.ips.extend(more.ips);
                Ok(found)
            }
            (Ok(found), Err(_)) => Ok(found),
            (Err(_), answer) => answer,
        };
        Ok(Lookup { answers, result })
    }

    async fn settle(&self, host: &str, kind: RecordType) -> Result<Result<Resolution, Failure>, Fault> {
        match self.query(host, kind).await {
            Ok(found) => Ok(Ok(found)),
            Err(Miss::Failure(failure)) => Ok(Err(failure)),
            Err(Miss::Fault(fault)) => Err(fault),
        }
    }

    async fn query(&self, host: &str, kind: RecordType) -> Result<Resolution, Miss> {
        let asked = query_name(host);
        let lookup = tokio::time::timeout(LOOKUP_TIMEOUT, self.resolver.lookup(asked.clone(), kind));
        let lookup = match lookup.await {
            Ok(Ok(lookup)) => lookup,
            Ok(Err(error)) => return Err(explain_lookup(&error)),
            Err(_) => return Err(Miss::Failure(Cause::DnsTimeout.into())),
        };
        let mut resolution = Resolution::default();
        for record in lookup.answers() {
            let ip = match record.data {
                RData::A(ip) => IpAddr::V4(ip.0),
                RData::AAAA(ip) => IpAddr::V6(ip.0),
                _ => continue,
            };
            resolution.ips.push(ip);
            let is_alias = record.name != asked;
            resolution.cname = is_alias.then(|| record.name.to_ascii().trim_end_matches('.').to_ascii_lowercase());
        }
        if resolution.ips.is_empty() {
            return Err(Miss::Failure(Cause::DnsNoAddress.into()));
        }
        Ok(resolution)
    }
}

fn read(answer: &Result<Resolution, Failure>) -> DnsAnswer {
    match answer.as_ref().map_err(|failure| failure.cause) {
        Ok(_) => DnsAnswer::Addresses,
        Err(Cause::DnsNoAddress) => DnsAnswer::NoAddress,
        Err(Cause::DnsNxdomain) => DnsAnswer::Nxdomain,
        Err(Cause::DnsServfail) => DnsAnswer::Servfail,
        Err(Cause::DnsTimeout) => DnsAnswer::Timeout,
        Err(Cause::DnsMalformed) => DnsAnswer::Malformed,
        Err(_) => DnsAnswer::Refused,
    }
}

/// The name as a query has it: absolute, so that no search list applies, its labels as they are.
///
/// The library's own way with text applies IDNA's rules once more, and would refuse names with hyphens at the ends of
/// labels, which exist.
fn query_name(host: &str) -> Name {
    Name::from_labels(host.trim_end_matches('.').split('.').map(str::as_bytes))
        .expect("journeys ask for names whose labels and length fit a query")
}

fn name_server(address: SocketAddr) -> NameServerConfig {
    let at_port = |mut connection: ConnectionConfig| {
        connection.port = address.port();
        connection
    };
    let mut server = NameServerConfig::udp_and_tcp(address.ip());
    server.connections = vec![at_port(ConnectionConfig::udp()), at_port(ConnectionConfig::tcp())];
    server
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_host_name_can_be_asked_for() {
        let long = format!("{}.example", "a".repeat(63));
        for host in ["example.org", "my_shop.example", "_a._b.example", "-a-.example", "xn--bcher-kva.example", &long] {
            let name = query_name(host);
            assert!(name.is_fqdn(), "{host}");
            let labels: Vec<&str> = name.iter().map(|label| str::from_utf8(label).unwrap()).collect();
            assert_eq!(labels.join("."), host);
        }
    }
}
