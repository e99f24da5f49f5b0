//! Conversations: accepts connections, speaks TLS where asked to, reads one request, answers, and writes it down.
//!
//! May touch: the connections it accepts; a peer that is not loopback is dropped unheard. Deliberately absent: what is
//! answered (`http`, `behaviour`) and which certificate is shown (`authority`).

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use rustls::server::Acceptor;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::LazyConfigAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::rehearsal::behaviour::{Response, Tls};
use crate::rehearsal::http::{self, HEAD_LIMIT, Request, Scheme};
use crate::rehearsal::log::{Channel, Entry, Log};
use crate::rehearsal::web::Web;

/// A conversation that lasts longer is given up, so that a survey that forgets a connection costs no descriptor for ever.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long to wait after a failed accept: without descriptors it fails at once, again and again.
const RESPITE: Duration = Duration::from_millis(20);

/// A fatal alert, `handshake_failure`, as a TLS record (RFC 8446, sections 5.1 and 6).
const ALERT: [u8; 7] = [21, 3, 3, 0, 2, 2, 40];

/// The last piece of a response: small enough to be handed to the kernel in one go.
const LAST_PIECE: usize = 16 * 1024;

/// What every conversation needs.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) web: Arc<Web>,
    pub(super) tls: Arc<ServerConfig>,
    pub(super) log: Log,
    pub(super) stopping: CancellationToken,
    pub(super) tasks: TaskTracker,
}

impl Stage {
    /// Starts a task that ends with the rehearsal.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let stopping = self.stopping.clone();
        self.tasks.spawn(async move {
            // Whether it ended or was ended does not matter to anybody.
            let _ = stopping.run_until_cancelled(work).await;
        });
    }
}

/// Accepts connections for ever.
pub(super) async fn accept(listener: TcpListener, scheme: Scheme, stage: Arc<Stage>) {
    let channel = match scheme {
        Scheme::Http => Channel::Http,
        Scheme::Https => Channel::Https,
    };
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            sleep(RESPITE).await;
            continue;
        };
        let Ok(local) = stream.local_addr() else { continue };
        if !peer.ip().is_loopback() {
            continue;
        }
        let entry = stage.log.enter(channel, local.ip(), peer.port());
        stage.spawn(converse(stream, scheme, entry, Arc::clone(&stage)));
    }
}

async fn converse(stream: TcpStream, scheme: Scheme, mut entry: Entry, stage: Arc<Stage>) {
    // Answers are written whole, and a delayed last segment would be a delay of our own making.
    let _ = stream.set_nodelay(true);
    let talk = async {
        match scheme {
            Scheme::Http => speak_plain(stream, &mut entry, &stage).await,
            Scheme::Https => speak_tls(stream, &mut entry, &stage).await,
        }
    };
    match timeout(PATIENCE, talk).await {
        Ok(Ok(())) => {}
        Ok(Err(_)) => entry.note("broken off"),
        Err(_) => entry.note("given up"),
    }
}

async fn speak_plain(mut stream: TcpStream, entry: &mut Entry, stage: &Stage) -> io::Result<()> {
    if answer(&mut stream, Scheme::Http, entry, stage).await? == After::Reset {
        return reset(&stream);
    }
    stream.shutdown().await
}

async fn speak_tls(stream: TcpStream, entry: &mut Entry, stage: &Stage) -> io::Result<()> {
    let start = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
    let name = start.client_hello().server_name().unwrap_or_default().to_ascii_lowercase();
    entry.host(&name);
    if stage.web.tls(&name) == Tls::Alert {
        entry.note("alert");
        let mut stream = start.io;
        entry.end();
        stream.write_all(&ALERT).await?;
        return stream.shutdown().await;
    }
    let mut stream = start.into_stream(Arc::clone(&stage.tls)).await?;
    if answer(&mut stream, Scheme::Https, entry, stage).await? == After::Reset {
        return reset(stream.get_ref().0);
    }
    stream.shutdown().await
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    Close,
    Reset,
}

async fn answer<S>(stream: &mut S, scheme: Scheme, entry: &mut Entry, stage: &Stage) -> io::Result<After>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let request = match read_head(stream).await? {
        Head::Request(request) => request,
        Head::Silence => {
            entry.note("no request");
            return Ok(After::Close);
        }
        Head::Bad(status) => {
            entry.note("no HTTP request");
            send(stream, &Response::page(status, "this host"), None, entry).await?;
            return Ok(After::Close);
        }
    };
    entry.host(&request.host);
    entry.path(request.path.as_str());
    let behaviour = stage.web.behaviour(&request.host);
    if behaviour.is_none() {
        entry.note("no such host");
    }
    let Some(response) = http::answer(behaviour.as_ref(), &request, scheme) else {
        entry.note("reset");
        entry.end();
        return Ok(After::Reset);
    };
    send(stream, &response, Some(&request), entry).await?;
    Ok(After::Close)
}

enum Head {
    Request(Request),
    Silence,
    Bad(u16),
}

async fn read_head<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<Head> {
    let mut bytes = Vec::with_capacity(1024);
    loop {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(if bytes.is_empty() { Head::Silence } else { Head::Bad(400) });
        }
        match http::parse(&bytes) {
            Ok(Some(request)) => return Ok(Head::Request(request)),
            Ok(None) if bytes.len() < HEAD_LIMIT => {}
            Ok(None) => return Ok(Head::Bad(431)),
            Err(_) => return Ok(Head::Bad(400)),
        }
    }
}

async fn send<S>(stream: &mut S, response: &Response, request: Option<&Request>, entry: &mut Entry) -> io::Result<()>
where
    S: AsyncWrite + Unpin,
{
    entry.status(response.status);
    let (mut head, body) = http::frame(response, request);
    // Head and the end of a small body leave in one write. What comes before the last piece is sent, and taken by the
    // peer, before the end is marked (see `log`).
    let (first, last) = body.split_at(body.len().saturating_sub(LAST_PIECE));
    if !first.is_empty() {
        stream.write_all(&head).await?;
        stream.write_all(first).await?;
        stream.flush().await?;
        head.clear();
    }
    head.extend_from_slice(last);
    entry.end();
    stream.write_all(&head).await?;
    stream.flush().await
}

/// Makes the coming close a reset: with no time to linger, the kernel sends RST instead of FIN.
fn reset(stream: &TcpStream) -> io::Result<()> {
    SockRef::from(stream).set_linger(Some(Duration::ZERO))
}
