//! Doubt, against a name server that lies, fails or falls silent as it is told to.

use std::net::{Ipv4Addr, SocketAddr};

use hickory_resolver::proto::op::{Message, ResponseCode};
use hickory_resolver::proto::rr::rdata::A;
use hickory_resolver::proto::rr::{RData, Record};
use tokio::net::UdpSocket;

use super::*;
use crate::crawl::canary::{self, Lie};
use crate::crawl::{FetchSettings, Reach, public_roots};

/// What the name server says of a name; nothing where it is silent.
#[derive(Clone, Copy)]
enum Says {
    Address,
    Code(ResponseCode),
    Nothing,
}

async fn name_server(says: fn(&str) -> Says) -> SocketAddr {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut buffer = [0; 1500];
        while let Ok((length, peer)) = socket.recv_from(&mut buffer).await {
            let query = Message::from_vec(&buffer[..length]).unwrap();
            let question = query.queries[0].clone();
            let name = question.name.to_ascii().trim_end_matches('.').to_owned();
            let mut reply = Message::response(query.metadata.id, query.metadata.op_code);
            reply.add_queries([question.clone()]);
            match says(&name) {
                Says::Nothing => continue,
                Says::Code(code) => reply.metadata.response_code = code,
                Says::Address => {
                    let address = RData::A(A(Ipv4Addr::LOCALHOST));
                    reply.add_answer(Record::from_rdata(question.name, 60, address));
                }
            }
            socket.send_to(&reply.to_vec().unwrap(), peer).await.unwrap();
        }
    });
    address
}

async fn resolver(says: fn(&str) -> Says) -> Resolver {
    Resolver::new(&[name_server(says).await], false).unwrap()
}

async fn network(says: fn(&str) -> Says) -> Network {
    let second = std::time::Duration::from_secs(1);
    let settings = FetchSettings {
        user_agent: "test".to_owned(),
        other_user_agent: "test".to_owned(),
        from: None,
        max_body: 1024,
        connect_timeout: second,
        read_timeout: second,
        total_timeout: second,
    };
    let reach = Arc::new(Reach::Rehearsal(Vec::new()));
    let fetcher = Fetcher::new(settings, reach, public_roots()).unwrap();
    Network::new(resolver(says).await, fetcher, Arc::new(Health::new()))
}

async fn settle(network: &Network, name: &str) -> Result<Result<(), Cause>, Fault> {
    let lookup = network.resolve(name).await?;
    Ok(lookup.result.map(|_| ()).map_err(|failure| failure.cause))
}

const NXDOMAIN: Says = Says::Code(ResponseCode::NXDomain);
const SERVFAIL: Says = Says::Code(ResponseCode::ServFail);

#[tokio::test]
async fn a_resolver_that_filters_or_rewrites_is_caught() {
    let names = Names::default();
    let honest = resolver(|name| if name == "must.example" { Says::Address } else { NXDOMAIN }).await;
    assert_eq!(canary::check(&honest, "must.example", &names).await, Ok(()));
    let filtering = resolver(|_| NXDOMAIN).await;
    let lie = canary::check(&filtering, "must.example", &names).await;
    assert_eq!(lie, Err(Lie::Filtered { name: "must.example".to_owned(), cause: Cause::DnsNxdomain }));
    let rewriting = resolver(|_| Says::Address).await;
    let lie = canary::check(&rewriting, "must.example", &names).await;
    assert!(matches!(lie, Err(Lie::Rewritten { .. })), "{lie:?}");
}

#[tokio::test]
async fn a_name_that_fails_alone_fails_by_itself() {
    let network = network(|name| match name {
        "broken.example" => SERVFAIL,
        "silent.example" => Says::Nothing,
        _ => NXDOMAIN,
    })
    .await;
    assert_eq!(settle(&network, "broken.example").await, Ok(Err(Cause::DnsServfail)));
    assert_eq!(settle(&network, "silent.example").await, Ok(Err(Cause::DnsTimeout)));
    assert_eq!(settle(&network, "gone.example").await, Ok(Err(Cause::DnsNxdomain)));
}

#[tokio::test]
async fn a_resolver_that_fails_for_every_name_is_a_fault_of_ours() {
    let broken = network(|_| SERVFAIL).await;
    assert_eq!(settle(&broken, "any.example").await, Err(Fault::SilentResolver));
    let silent = network(|_| Says::Nothing).await;
    assert_eq!(settle(&silent, "any.example").await, Err(Fault::SilentResolver));
}

#[tokio::test]
async fn a_name_server_that_is_not_there_is_a_fault_of_ours() {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = socket.local_addr().unwrap();
    drop(socket);
    let mut network = network(|_| NXDOMAIN).await;
    network.resolver = Resolver::new(&[address], false).unwrap();
    assert!(settle(&network, "any.example").await.is_err());
}
