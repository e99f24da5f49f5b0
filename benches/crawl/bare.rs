//! The bound: epoll, rustls and httparse, one thread, addresses known beforehand, nothing kept.
//!
//! It opens a new connection for each host, verifies the certificate and reads the answer to its end. There is no DNS,
//! no politeness, no time limit, no decompression, no parser of robots.txt, no table.

use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};

/// One request to make.
pub(crate) struct Job {
    pub(crate) host: String,
    pub(crate) address: SocketAddr,
}

/// Asks every host over HTTPS or HTTP, so many at a time; returns how many answered with an HTTP response.
pub(crate) fn run(jobs: &[Job], roots: Option<RootCertStore>, in_flight: usize) -> Result<usize, Box<dyn Error>> {
    let tls = roots.map(tls_config).transpose()?;
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(1024);
    let mut slots: Vec<Option<Connection>> = (0..in_flight).map(|_| None).collect();
    let mut free: Vec<usize> = (0..in_flight).collect();
    let mut waiting = jobs.iter();
    let (mut open, mut answered) = (0, 0);
    loop {
        while let Some(slot) = free.pop() {
            let Some(job) = waiting.next() else {
                free.push(slot);
                break;
            };
            let mut connection = Connection::open(job, tls.as_ref())?;
            poll.registry().register(&mut connection.stream, Token(slot), Interest::READABLE | Interest::WRITABLE)?;
            slots[slot] = Some(connection);
            open += 1;
        }
        if open == 0 {
            return Ok(answered);
        }
        poll.poll(&mut events, None)?;
        for event in &events {
            let slot = event.token().0;
            let Some(connection) = &mut slots[slot] else { continue };
            if let Progress::Done { has_answered } = connection.go_on() {
                answered += usize::from(has_answered);
                slots[slot] = None;
                free.push(slot);
                open -= 1;
            }
        }
    }
}

fn tls_config(roots: RootCertStore) -> Result<Arc<ClientConfig>, rustls::Error> {
    let mut provider = aws_lc_rs::default_provider();
    provider.kx_groups =
        vec![aws_lc_rs::kx_group::X25519, aws_lc_rs::kx_group::SECP256R1, aws_lc_rs::kx_group::SECP384R1];
    let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(rustls::ALL_VERSIONS)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.resumption = rustls::client::Resumption::disabled();
    Ok(Arc::new(config))
}

struct Connection {
    stream: TcpStream,
    tls: Option<ClientConnection>,
    request: Vec<u8>,
    sent: usize,
    answer: Vec<u8>,
}

enum Progress {
    Waiting,
    Done { has_answered: bool },
}

impl Connection {
    fn open(job: &Job, tls: Option<&Arc<ClientConfig>>) -> Result<Self, Box<dyn Error>> {
        let request = format!(
            "GET /robots.txt HTTP/1.1\r\nhost: {}\r\nuser-agent: bare\r\naccept: */*\r\naccept-encoding: gzip\r\n\
             connection: close\r\n\r\n",
            job.host
        );
        let tls = match tls {
            Some(config) => Some(ClientConnection::new(Arc::clone(config), ServerName::try_from(job.host.clone())?)?),
            None => None,
        };
        Ok(Self {
            stream: TcpStream::connect(job.address)?,
            tls,
            request: request.into_bytes(),
            sent: 0,
            answer: Vec::new(),
        })
    }

    /// Does what can be done without waiting; edge-triggered, so until nothing can.
    fn go_on(&mut self) -> Progress {
        match self.try_go_on() {
            Ok(true) | Err(ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof) => self.finish(),
            Ok(false) | Err(ErrorKind::WouldBlock | ErrorKind::NotConnected) => Progress::Waiting,
            Err(_) => Progress::Done { has_answered: false },
        }
    }

    /// Whether the peer has said everything.
    fn try_go_on(&mut self) -> Result<bool, ErrorKind> {
        let Some(tls) = &mut self.tls else {
            while self.sent < self.request.len() {
                self.sent += self.stream.write(&self.request[self.sent..]).map_err(|error| error.kind())?;
            }
            return read_all(&mut self.stream, &mut self.answer);
        };
        loop {
            while tls.wants_write() {
                tls.write_tls(&mut self.stream).map_err(|error| error.kind())?;
            }
            if !tls.is_handshaking() && self.sent == 0 {
                tls.writer().write_all(&self.request).map_err(|error| error.kind())?;
                self.sent = self.request.len();
                continue;
            }
            if tls.read_tls(&mut self.stream).map_err(|error| error.kind())? == 0 {
                return Ok(true);
            }
            tls.process_new_packets().map_err(|_| ErrorKind::InvalidData)?;
            match read_all(&mut tls.reader(), &mut self.answer) {
                Ok(true) => return Ok(true),
                Ok(false) | Err(ErrorKind::WouldBlock) => {}
                Err(kind) => return Err(kind),
            }
        }
    }

    fn finish(&self) -> Progress {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut response = httparse::Response::new(&mut headers);
        let has_answered = response.parse(&self.answer).is_ok_and(|status| status.is_complete());
        Progress::Done { has_answered }
    }
}

/// Reads what is there; true at the end.
fn read_all(from: &mut impl Read, into: &mut Vec<u8>) -> Result<bool, ErrorKind> {
    let mut buffer = [0; 16 * 1024];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(true),
            Ok(length) => into.extend_from_slice(&buffer[..length]),
            Err(error) => return Err(error.kind()),
        }
    }
}
