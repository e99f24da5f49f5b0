//! The log: one CSV line for every DNS query and every connection that was accepted.
//!
//! May touch: the file it is given. A thread of its own owns the file; everybody else sends rows. A row is sent when
//! its [`Entry`] is dropped, so a conversation that dies leaves its line too. Deliberately absent: connections that
//! the kernel refuses or loses by itself, since no process sees them.
//!
//! Times are milliseconds since the log was opened, on a monotonic clock. `opened_ms` is when the connection was
//! accepted. `closed_ms` is when the server saw the peer's end, or began to hand over its own last bytes: a peer cannot
//! have ended earlier than that, so a pause measured from there to the next `opened_ms` is never shorter than the
//! pause that the peer kept, and a busy machine raises no false alarm.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::net::IpAddr;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context as _;

/// The columns.
const HEADER: [&str; 9] = ["opened_ms", "closed_ms", "kind", "local", "peer_port", "host", "path", "status", "note"];

/// What a line of the log is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Channel {
    /// A DNS query over UDP.
    DnsUdp,
    /// A DNS query over TCP, or a connection that brought none.
    DnsTcp,
    /// A connection to the port that stands for 80.
    Http,
    /// A connection to the port that stands for 443.
    Https,
}

impl Channel {
    /// The word in column `kind`.
    const fn word(self) -> &'static str {
        match self {
            Self::DnsUdp => "dns-udp",
            Self::DnsTcp => "dns-tcp",
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// Where rows are sent; without a file it costs next to nothing.
#[derive(Clone, Debug)]
pub(super) struct Log {
    start: Instant,
    rows: Option<Sender<Row>>,
}

/// Opens the log, and the thread that writes it; the thread ends when the last sender is gone.
pub(super) fn open(path: Option<&Path>) -> anyhow::Result<(Log, Option<JoinHandle<anyhow::Result<()>>>)> {
    let start = Instant::now();
    let Some(path) = path else { return Ok((Log { start, rows: None }, None)) };
    let file = File::create(path).with_context(|| format!("creating the log {}", path.display()))?;
    let mut csv = csv::Writer::from_writer(BufWriter::new(file));
    csv.write_record(HEADER)?;
    csv.flush().with_context(|| format!("writing the log {}", path.display()))?;
    let (rows, inbox) = channel();
    let context = format!("writing the log {}", path.display());
    let writer = std::thread::Builder::new()
        .name("log".into())
        .spawn(move || write(csv, &inbox).context(context))
        .context("starting the writer of the log")?;
    Ok((Log { start, rows: Some(rows) }, Some(writer)))
}

impl Log {
    /// Begins a row; it is written when the entry is dropped.
    pub(super) fn enter(&self, channel: Channel, local: IpAddr, peer_port: u16) -> Entry {
        let row = Row {
            opened: self.start.elapsed(),
            closed: None,
            channel,
            local,
            peer_port,
            host: String::new(),
            path: String::new(),
            status: None,
            note: Cow::Borrowed(""),
        };
        Entry { log: self.clone(), row: Some(row) }
    }
}

/// One conversation while it lasts.
#[derive(Debug)]
pub(super) struct Entry {
    log: Log,
    row: Option<Row>,
}

impl Entry {
    /// Which host was asked for.
    pub(super) fn host(&mut self, host: &str) {
        host.clone_into(&mut self.row().host);
    }

    /// Which path was asked for; for DNS the type of record.
    pub(super) fn path(&mut self, path: impl Into<String>) {
        self.row().path = path.into();
    }

    /// What was answered: an HTTP status, or a DNS response code.
    pub(super) fn status(&mut self, status: u16) {
        self.row().status = Some(status);
    }

    /// What else is worth knowing.
    pub(super) fn note(&mut self, note: impl Into<Cow<'static, str>>) {
        self.row().note = note.into();
    }

    /// Marks the end as now, unless it was marked before.
    pub(super) fn end(&mut self) {
        let now = self.log.start.elapsed();
        self.row().closed.get_or_insert(now);
    }

    fn row(&mut self) -> &mut Row {
        self.row.as_mut().expect("the row leaves only when the entry is dropped")
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.end();
        if let (Some(rows), Some(row)) = (&self.log.rows, self.row.take()) {
            // A writer that is gone has reported why; there is nobody else to tell.
            let _ = rows.send(row);
        }
    }
}

#[derive(Debug)]
struct Row {
    opened: Duration,
    closed: Option<Duration>,
    channel: Channel,
    local: IpAddr,
    peer_port: u16,
    host: String,
    path: String,
    status: Option<u16>,
    note: Cow<'static, str>,
}

impl Row {
    fn fields(&self) -> [String; 9] {
        [
            milliseconds(self.opened),
            milliseconds(self.closed.unwrap_or(self.opened)),
            self.channel.word().to_owned(),
            self.local.to_string(),
            self.peer_port.to_string(),
            self.host.clone(),
            self.path.clone(),
            self.status.map(|status| status.to_string()).unwrap_or_default(),
            self.note.clone().into_owned(),
        ]
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{}.{:03}", time.as_millis(), time.subsec_micros() % 1000)
}

/// Writes rows as they come, and flushes whenever there is a pause, so that even a killed rehearsal leaves most of them.
fn write(mut csv: csv::Writer<BufWriter<File>>, inbox: &Receiver<Row>) -> anyhow::Result<()> {
    let mut dirty = false;
    loop {
        match inbox.recv_timeout(Duration::from_millis(200)) {
            Ok(row) => {
                csv.write_record(row.fields())?;
                dirty = true;
            }
            Err(RecvTimeoutError::Timeout) if dirty => {
                csv.flush()?;
                dirty = false;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    csv.into_inner().map_err(|error| anyhow::anyhow!("{error}"))?.flush()?;
    Ok(())
}
