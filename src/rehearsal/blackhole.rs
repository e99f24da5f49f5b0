//! A port that loses every connection: its backlog is full, and nobody ever accepts.
//!
//! Linux drops the SYN of a client when the queue of established connections is full (`tcp_conn_request`), so the
//! client hears nothing, as behind a firewall that drops packets. With `listen(0)` one connection fills it.
//!
//! May touch: one loopback port. Deliberately absent: an accept loop that sleeps; the client would see a connection.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time::Duration;

use anyhow::{Context as _, bail};
use socket2::{Domain, Socket, Type};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Long enough for a loopback connection on a busy machine, where it takes some tens of microseconds.
const PATIENCE: Duration = Duration::from_millis(250);

/// The port, and the connections that keep it full.
#[derive(Debug)]
pub(super) struct Blackhole {
    listener: Socket,
    _fillers: Vec<TcpStream>,
}

impl Blackhole {
    /// Opens the port and fills it until a connection is seen to get lost.
    pub(super) async fn open() -> anyhow::Result<Self> {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None).context("making a socket")?;
        listener.bind(&SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0).into()).context("binding the silent port")?;
        listener.listen(0).context("listening on the silent port")?;
        let target = SocketAddr::from((Ipv4Addr::LOCALHOST, port(&listener)?));
        let mut fillers = Vec::new();
        for _ in 0..64 {
            match timeout(PATIENCE, TcpStream::connect(target)).await {
                Ok(connected) => fillers.push(connected.context("filling the silent port")?),
                Err(_) => return Ok(Self { listener, _fillers: fillers }),
            }
        }
        bail!("the silent port still answers after {} connections", fillers.len())
    }

    /// The number of the port.
    pub(super) fn port(&self) -> anyhow::Result<u16> {
        port(&self.listener)
    }
}

/// The port that a socket is bound to.
pub(super) fn port(socket: &Socket) -> anyhow::Result<u16> {
    let address = socket.local_addr().context("asking for a socket's address")?;
    Ok(address.as_socket().context("the socket is no IP socket")?.port())
}
