//! The DNS server of the web, over UDP and TCP, with hickory's messages.
//!
//! May touch: one port on 127.0.0.1. Deliberately absent: truncation (every answer fits into 512 bytes), other types
//! than A (they exist nowhere: NODATA), zones (one SOA record speaks for all negative answers).

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use hickory_resolver::proto::op::{Edns, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_resolver::proto::rr::rdata::{A, SOA};
use hickory_resolver::proto::rr::{DNSClass, Name, RData, Record, RecordType};
use socket2::SockRef;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::time::{sleep, timeout};

use crate::rehearsal::log::{Channel, Entry};
use crate::rehearsal::serve::Stage;
use crate::rehearsal::web::{Existence, Web};

const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const TTL: u32 = 60;
const PATIENCE: Duration = Duration::from_secs(10);
const RESPITE: Duration = Duration::from_millis(20);

/// What our answers would fit into (DNS flag day 2020).
const PAYLOAD: u16 = 1232;

/// The same port twice.
#[derive(Debug)]
pub(super) struct Sockets {
    pub(super) udp: UdpSocket,
    pub(super) tcp: TcpListener,
    address: SocketAddr,
}

impl Sockets {
    /// Finds a port that is free for both.
    pub(super) async fn open() -> anyhow::Result<Self> {
        for _ in 0..32 {
            let udp = UdpSocket::bind((LOCAL, 0)).await.context("binding the DNS server")?;
            let address = udp.local_addr().context("asking for the DNS server's address")?;
            // Hundreds of queries may come at once; a lost one costs the survey a retry. The kernel may grant less.
            let _ = SockRef::from(&udp).set_recv_buffer_size(4 << 20);
            if let Ok(tcp) = TcpListener::bind(address).await {
                return Ok(Self { udp, tcp, address });
            }
        }
        bail!("no port is free for UDP and TCP alike")
    }

    /// Where the server listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Answers datagrams for ever.
pub(super) async fn serve_udp(socket: UdpSocket, stage: Arc<Stage>) {
    let mut buffer = [0; 4096];
    loop {
        let Ok((length, peer)) = socket.recv_from(&mut buffer).await else {
            // An ICMP error of an earlier answer, or no memory: either way, the next one may be well.
            sleep(RESPITE).await;
            continue;
        };
        let mut entry = stage.log.enter(Channel::DnsUdp, LOCAL, peer.port());
        if let Some(answer) = answer(&buffer[..length], &stage.web, &mut entry) {
            let _ = socket.send_to(&answer, peer).await;
        }
    }
}

/// Accepts connections for ever.
pub(super) async fn serve_tcp(listener: TcpListener, stage: Arc<Stage>) {
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            sleep(RESPITE).await;
            continue;
        };
        let entry = stage.log.enter(Channel::DnsTcp, LOCAL, peer.port());
        let worker = Arc::clone(&stage);
        stage.spawn(async move {
            // A peer that leaves in the middle is its own business; its row tells of it.
            let _ = converse(stream, entry, peer, &worker).await;
        });
    }
}

async fn converse(mut stream: TcpStream, entry: Entry, peer: SocketAddr, stage: &Stage) -> io::Result<()> {
    // The first query takes over the row of the connection, so that a connection without one has a row too.
    let mut waiting = Some(entry);
    loop {
        let read = async {
            let length = stream.read_u16().await?;
            let mut query = vec![0; length.into()];
            stream.read_exact(&mut query).await?;
            Ok::<_, io::Error>(query)
        };
        let Ok(Ok(query)) = timeout(PATIENCE, read).await else {
            if let Some(mut entry) = waiting {
                entry.note("no query");
            }
            return Ok(());
        };
        let mut entry = waiting.take().unwrap_or_else(|| stage.log.enter(Channel::DnsTcp, LOCAL, peer.port()));
        let Some(answer) = answer(&query, &stage.web, &mut entry) else { return Ok(()) };
        let mut framed = u16::try_from(answer.len()).map_err(io::Error::other)?.to_be_bytes().to_vec();
        framed.extend_from_slice(&answer);
        entry.end();
        stream.write_all(&framed).await?;
    }
}

/// The answer to a message, or nothing if it is none that deserves one.
fn answer(bytes: &[u8], web: &Web, entry: &mut Entry) -> Option<Vec<u8>> {
    let Ok(query) = Message::from_vec(bytes) else {
        entry.note("no DNS message");
        return None;
    };
    if query.metadata.message_type != MessageType::Query {
        entry.note("not a query");
        return None;
    }
    let mut reply = Message::response(query.metadata.id, query.metadata.op_code);
    reply.metadata.authoritative = true;
    reply.metadata.recursion_available = true;
    reply.metadata.recursion_desired = query.metadata.recursion_desired;
    if query.edns.is_some() {
        let mut edns = Edns::new();
        edns.set_max_payload(PAYLOAD);
        reply.set_edns(edns);
    }
    reply.add_queries(query.queries.iter().cloned());
    reply.metadata.response_code = match &query.queries[..] {
        _ if query.metadata.op_code != OpCode::Query => ResponseCode::NotImp,
        [question] => settle(question, web, entry, &mut reply),
        _ => ResponseCode::FormErr,
    };
    entry.status(u16::from(reply.metadata.response_code));
    reply.to_vec().ok()
}

fn settle(question: &Query, web: &Web, entry: &mut Entry, reply: &mut Message) -> ResponseCode {
    let mut name = question.name.to_ascii().to_ascii_lowercase();
    name.truncate(name.trim_end_matches('.').len());
    entry.host(&name);
    entry.path(question.query_type.to_string());
    if question.query_class != DNSClass::IN {
        return ResponseCode::Refused;
    }
    let existence = web.existence(&name);
    if let (Existence::At(address), RecordType::A) = (existence, question.query_type) {
        reply.add_answer(Record::from_rdata(question.name.clone(), TTL, RData::A(A(address))));
        return ResponseCode::NoError;
    }
    // RFC 2308: what a negative answer is worth stands in a SOA record of the authority section.
    let soa = SOA::new(Name::root(), Name::root(), 1, 3600, 600, 86_400, 60);
    reply.add_authority(Record::from_rdata(Name::root(), TTL, RData::SOA(soa)));
    if existence == Existence::Missing { ResponseCode::NXDomain } else { ResponseCode::NoError }
}
