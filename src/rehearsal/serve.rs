//! Conversations: accepts connections, speaks TLS where asked to, reads one request, answers, and writes it down.
//!
//! May touch: the connections it accepts; a peer that is not loopback is dropped unheard. Deliberately absent: what is
//! answered (`http`, `behaviour`, `conditional`, `play`) and which certificate is shown (`authority`).

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::server::Acceptor;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::LazyConfigAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::rehearsal::behaviour::Response;
use crate::rehearsal::conditional;
use crate::rehearsal::handshake::Handshakes;
use crate::rehearsal::http::{self, Answer, HEAD_LIMIT, Request, Scheme};
use crate::rehearsal::log::{Channel, Entry, Log};
use crate::rehearsal::play::{After, deliver, perform};
use crate::rehearsal::refusal;
use crate::rehearsal::web::Web;

/// A conversation that lasts longer is given up, so that a survey that forgets a connection costs no descriptor for ever.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long to wait after a failed accept: without descriptors it fails at once, again and again.
const RESPITE: Duration = Duration::from_millis(20);

/// What every conversation needs.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) web: Arc<Web>,
    pub(super) tls: Handshakes,
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
    match answer(&mut stream, Scheme::Http, entry, stage).await? {
        After::Close | After::Leave => stream.shutdown().await,
        After::Reset => reset(&stream),
    }
}

async fn speak_tls(stream: TcpStream, entry: &mut Entry, stage: &Stage) -> io::Result<()> {
    let start = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
    let name = start.client_hello().server_name().unwrap_or_default().to_ascii_lowercase();
    entry.host(&name);
    let tls = stage.web.tls(&name);
    if let Some(play) = tls.instead() {
        let mut stream = start.io;
        let after = perform(&mut stream, &play, entry).await?;
        entry.note(tls.word());
        return match after {
            After::Close | After::Leave => stream.shutdown().await,
            After::Reset => reset(&stream),
        };
    }
    let mut stream = start.into_stream(stage.tls.config(tls)).await?;
    match answer(&mut stream, Scheme::Https, entry, stage).await? {
        After::Close => stream.shutdown().await,
        After::Leave => stream.get_mut().0.shutdown().await,
        After::Reset => reset(stream.get_ref().0),
    }
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
    let reply = stage.web.reply(&request.host);
    if reply.is_none() {
        entry.note("no such host");
    }
    match http::answer(reply.as_ref(), &request, scheme) {
        Answer::Respond(response) => {
            let response = conditional::settle(response, &request);
            if let Some(note) = refusal::note(&response) {
                entry.note(note);
            }
            send(stream, &response, Some(&request), entry).await?;
            Ok(After::Close)
        }
        Answer::Play(play) => {
            if let Some(status) = http::status_of(&play.bytes) {
                entry.status(status);
            }
            perform(stream, &play, entry).await
        }
        Answer::Reset => {
            entry.note("reset");
            entry.end();
            Ok(After::Reset)
        }
    }
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
    let (mut message, body) = http::frame(response, request);
    message.extend_from_slice(&body);
    deliver(stream, &message, entry).await
}

/// Makes the coming close a reset: with no time to linger, the kernel sends RST instead of FIN.
fn reset(stream: &TcpStream) -> io::Result<()> {
    SockRef::from(stream).set_linger(Some(Duration::ZERO))
}
