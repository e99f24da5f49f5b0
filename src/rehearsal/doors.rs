//! The ports of the web, and which block of addresses is found behind which.
//!
//! May touch: ports on every local address, since all of 127.0.0.0/8 must be reachable; who accepts (`serve`) drops
//! every peer that is not loopback. Deliberately absent: anything that depends on a name. A door acts before one is
//! known.

use std::net::{Ipv4Addr, SocketAddrV4};

use anyhow::Context as _;
use socket2::{Domain, Socket, Type};
use tokio::net::TcpListener;

use crate::rehearsal::Door;
use crate::rehearsal::behaviour::Way;
use crate::rehearsal::blackhole::{self, Blackhole};

/// A survey may open hundreds of connections at once; none of them may get lost where it should be accepted.
const BACKLOG: i32 = 4096;

/// All ports, bound.
#[derive(Debug)]
pub(super) struct Doors {
    http: Socket,
    https: Socket,
    held: Held,
    ports: Ports,
}

/// Sockets that nobody reads from and that must stay open.
#[derive(Debug)]
pub(super) struct Held {
    // Bound and never listening: the kernel answers each SYN with a reset, and gives the port to nobody else.
    _refusing: Socket,
    _blackhole: Blackhole,
}

#[derive(Debug)]
struct Ports {
    http: u16,
    https: u16,
    refusing: u16,
    silent: u16,
}

impl Doors {
    /// Binds every port.
    pub(super) async fn open() -> anyhow::Result<Self> {
        let (http, https, refusing) = (bind()?, bind()?, bind()?);
        let blackhole = Blackhole::open().await?;
        let ports = Ports {
            http: blackhole::port(&http)?,
            https: blackhole::port(&https)?,
            refusing: blackhole::port(&refusing)?,
            silent: blackhole.port()?,
        };
        Ok(Self { http, https, held: Held { _refusing: refusing, _blackhole: blackhole }, ports })
    }

    /// What a survey must know: the first door whose block holds an address counts, so the widest block is last.
    pub(super) fn announce(&self) -> Vec<Door> {
        let Ports { http, https, refusing, silent } = self.ports;
        let mut doors = Vec::new();
        for (way, http, https) in [
            (Way::Refuse, refusing, refusing),
            (Way::HttpOnly, http, refusing),
            (Way::HttpsOnly, refusing, https),
            (Way::Blackhole, silent, silent),
        ] {
            let block = way.block().expect("every failing way with a door has a block");
            doors.push(Door { block: format!("127.{block}.0.0/16"), http, https });
        }
        doors.push(Door { block: "127.0.0.0/8".into(), http, https });
        doors
    }

    /// The two listeners, listening from now on, and what must be held.
    pub(super) fn into_parts(self) -> anyhow::Result<(TcpListener, TcpListener, Held)> {
        Ok((listen(self.http)?, listen(self.https)?, self.held))
    }
}

fn bind() -> anyhow::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).context("making a socket")?;
    socket.bind(&SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0).into()).context("binding a port")?;
    Ok(socket)
}

fn listen(socket: Socket) -> anyhow::Result<TcpListener> {
    socket.listen(BACKLOG).context("listening")?;
    socket.set_nonblocking(true).context("making a listener asynchronous")?;
    TcpListener::from_std(socket.into()).context("making a listener asynchronous")
}
