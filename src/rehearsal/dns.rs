//! The DNS server of the web, over UDP and TCP.
//!
//! May touch: one port on 127.0.0.1. Deliberately absent: what is answered (`zone`).

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use socket2::SockRef;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::time::{sleep, timeout};

use crate::rehearsal::log::{Channel, Entry};
use crate::rehearsal::serve::Stage;
use crate::rehearsal::zone::{self, Said, Transport};

const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const PATIENCE: Duration = Duration::from_secs(10);
const RESPITE: Duration = Duration::from_millis(20);

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
    let socket = Arc::new(socket);
    let mut buffer = [0; 4096];
    loop {
        let Ok((length, peer)) = socket.recv_from(&mut buffer).await else {
            // An ICMP error of an earlier answer, or no memory: either way, the next one may be well.
            sleep(RESPITE).await;
            continue;
        };
        let mut entry = stage.log.enter(Channel::DnsUdp, LOCAL, peer.port());
        match zone::answer(&buffer[..length], Transport::Udp, &stage.web, &mut entry) {
            Said::Nothing => {}
            Said::Now(answer) => {
                let _ = socket.send_to(&answer, peer).await;
            }
            Said::Later(delay, answer) => {
                let socket = Arc::clone(&socket);
                stage.spawn(async move {
                    sleep(delay).await;
                    let _ = socket.send_to(&answer, peer).await;
                });
            }
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
        let answer = match zone::answer(&query, Transport::Tcp, &stage.web, &mut entry) {
            Said::Nothing => return Ok(()),
            Said::Now(answer) => answer,
            Said::Later(delay, answer) => {
                sleep(delay).await;
                answer
            }
        };
        let mut framed = u16::try_from(answer.len()).map_err(io::Error::other)?.to_be_bytes().to_vec();
        framed.extend_from_slice(&answer);
        entry.end();
        stream.write_all(&framed).await?;
    }
}
