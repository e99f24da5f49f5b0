//! The ports of the web, and which block of addresses is found behind which.
//!
//! May touch: ports on every local address, since all of 127.0.0.0/8 must be reachable; who accepts (`serve`) drops
//! every peer that is not loopback. Deliberately absent: anything that depends on a name. A door acts before one is
//! known.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

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
    /// The same pair on `::1`, where this machine has it.
    six: Option<(Socket, Socket)>,
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
    six: Option<(u16, u16)>,
}

impl Doors {
    /// Binds every port.
    pub(super) async fn open() -> anyhow::Result<Self> {
        let every = || bind(Ipv4Addr::UNSPECIFIED.into());
        let (http, https, refusing) = (every()?, every()?, every()?);
        let one = || bind(Ipv6Addr::LOCALHOST.into());
        let six = one().and_then(|http| Ok((http, one()?))).ok();
        let blackhole = Blackhole::open().await?;
        let ports = Ports {
            http: blackhole::port(&http)?,
            https: blackhole::port(&https)?,
            refusing: blackhole::port(&refusing)?,
            silent: blackhole.port()?,
            six: match &six {
                Some((http, https)) => Some((blackhole::port(http)?, blackhole::port(https)?)),
                None => None,
            },
        };
        Ok(Self { http, https, six, held: Held { _refusing: refusing, _blackhole: blackhole }, ports })
    }

    /// What a survey must know: the first door whose block holds an address counts, so wider blocks come later.
    pub(super) fn announce(&self) -> Vec<Door> {
        let Ports { http, https, refusing, silent, six } = self.ports;
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
        doors.extend(six.map(|(http, https)| Door { block: "::1/128".into(), http, https }));
        doors
    }

    /// The listeners of either scheme, listening from now on, and what must be held.
    pub(super) fn into_parts(self) -> anyhow::Result<(Vec<TcpListener>, Vec<TcpListener>, Held)> {
        let (mut http, mut https) = (vec![listen(self.http)?], vec![listen(self.https)?]);
        if let Some(six) = self.six {
            http.push(listen(six.0)?);
            https.push(listen(six.1)?);
        }
        Ok((http, https, self.held))
    }
}

fn bind(address: IpAddr) -> anyhow::Result<Socket> {
    let address = SocketAddr::new(address, 0);
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).context("making a socket")?;
    socket.bind(&address.into()).context("binding a port")?;
    Ok(socket)
}

fn listen(socket: Socket) -> anyhow::Result<TcpListener> {
    socket.listen(BACKLOG).context("listening")?;
    socket.set_nonblocking(true).context("making a listener asynchronous")?;
    TcpListener::from_std(socket.into()).context("making a listener asynchronous")
}
