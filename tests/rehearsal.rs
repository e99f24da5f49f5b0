//! The loopback web, from the outside: real DNS messages, real connections, real TLS.

#![expect(clippy::unwrap_used, reason = "clippy's exception for tests stops at the functions that tests call")]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::proto::op::{Edns, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{AlertDescription, CertificateError, ClientConfig, RootCertStore};
use survey::domain::Domain;
use survey::rehearsal::{Announcement, Rehearsal, Settings, Source};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// Hosts of the little archive that most tests use, and the labels of those that are not in it.
const FILES: &[(&str, &str)] = &[
    ("plain.example", "User-agent: *\nDisallow: /private/\n"),
    ("www.twin.example", "User-agent: GPTBot\nDisallow: /\n"),
    ("under_score.example", "User-agent: *\nDisallow:\n"),
];

const LABELS: &str = "host\tkind\tstatus\tcause\n\
    plain.example\ttext\t200\t\n\
    www.twin.example\ttext\t200\t\n\
    under_score.example\ttext\t200\t\n\
    174.132.145.94\tnet\t\ttimeout\n\
    page.example\thtml\t200\t\n\
    absent.example\thtml\t404\t\n\
    nowhere.example\thtml\t301\t\n\
    empty.example\tempty\t200\t\n\
    twin.example\tnet\t\tdns\n\
    silent.example\tnet\t\ttimeout\n\
    alert.example\tnet\t\ttls\n\
    refused.example\tnet\t\trefused\n\
    reset.example\tnet\t\treset\n\
    loop.example\tnet\t\tredirect_loop\n\
    unreachable.example\tnet\t\tunreachable\n\
    other.example\tnet\t\tother\n";

#[tokio::test]
async fn a_recorded_host_answers_with_its_recorded_bytes_over_both_schemes() {
    let web = Web::labelled().await;
    for (host, body) in FILES {
        for answer in [web.http(host).await.unwrap(), web.https(host).await.unwrap()] {
            assert_eq!((answer.status, answer.body.as_str()), (200, *body), "{host}");
            assert_eq!(answer.field("x-recorded"), Some("yes"), "{host}");
            assert_eq!(answer.field("content-length"), Some(body.len().to_string().as_str()), "{host}");
            assert_eq!(answer.field("connection"), Some("close"), "{host}");
        }
    }
}

#[tokio::test]
async fn an_archive_alone_holds_the_hosts_of_its_records_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let archive = write_archive(folder.path());
    let web = Web::start(Source::Archive(archive), Settings::default()).await;
    assert_eq!(web.https("plain.example").await.unwrap().body, FILES[0].1);
    assert_eq!(web.ask("www.plain.example", RecordType::A).await.metadata.response_code, ResponseCode::NXDomain);
    assert_eq!(web.ask("page.example", RecordType::A).await.metadata.response_code, ResponseCode::NXDomain);
}

#[tokio::test]
async fn labels_give_pages_and_empty_files_their_status() {
    let web = Web::labelled().await;
    for (host, status) in [("page.example", 200), ("absent.example", 404), ("nowhere.example", 301)] {
        let answer = web.https(host).await.unwrap();
        assert_eq!(answer.status, status, "{host}");
        assert!(answer.body.starts_with("<!DOCTYPE html>"), "{host}");
        assert_eq!(answer.field("location"), None, "{host}");
    }
    let empty = web.https("empty.example").await.unwrap();
    assert_eq!((empty.status, empty.body.as_str()), (200, ""));
}

#[tokio::test]
async fn dns_answers_as_a_resolver_would_over_udp_and_tcp() {
    let web = Web::labelled().await;
    for transport in [Transport::Udp, Transport::Tcp] {
        let good = web.ask_over(transport, "Plain.EXAMPLE.", RecordType::A).await;
        assert_eq!(good.queries[0].name.to_ascii(), "Plain.EXAMPLE.");
        assert_eq!(good.answers[0].name.to_ascii(), "Plain.EXAMPLE.");
        assert!(matches!(good.answers[0].data, RData::A(address) if address.0.is_loopback()));
        assert!(good.metadata.authoritative && good.metadata.recursion_available);
        assert!(good.edns.is_some());

        let missing = web.ask_over(transport, "twin.example.", RecordType::A).await;
        assert_eq!(missing.metadata.response_code, ResponseCode::NXDomain);
        assert!(matches!(missing.authorities[0].data, RData::SOA(_)));

        let nodata = web.ask_over(transport, "plain.example.", RecordType::AAAA).await;
        assert_eq!(nodata.metadata.response_code, ResponseCode::NoError);
        assert!(nodata.answers.is_empty() && matches!(nodata.authorities[0].data, RData::SOA(_)));
    }
}

#[tokio::test]
async fn a_refusing_host_refuses_on_both_ports() {
    let web = Web::labelled().await;
    for host in ["refused.example", "other.example"] {
        for port in [80, 443] {
            assert_eq!(
                web.connect(host, port).await.unwrap_err().kind(),
                ErrorKind::ConnectionRefused,
                "{host}:{port}"
            );
        }
    }
}

#[tokio::test]
async fn a_silent_host_does_not_connect() {
    let web = Web::labelled().await;
    for port in [80, 443] {
        // As many as a survey would have on their way at once: none of them may find a place in the backlog.
        for _ in 0..5 {
            let outcome = timeout(Duration::from_millis(300), web.connect("silent.example", port)).await;
            assert!(outcome.is_err(), "port {port}: {outcome:?}");
        }
    }
}

#[tokio::test]
async fn an_unreachable_host_is_unreachable() {
    let web = Web::labelled().await;
    let error = web.connect("unreachable.example", 443).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NetworkUnreachable);
}

#[tokio::test]
async fn a_resetting_host_resets_after_the_request() {
    let web = Web::labelled().await;
    assert_eq!(web.http("reset.example").await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(web.https("reset.example").await.unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_host_without_tls_sends_an_alert_and_refuses_port_80() {
    let web = Web::labelled().await;
    let error = tls_error(&web.https("alert.example").await.unwrap_err()).unwrap();
    assert_eq!(error, rustls::Error::AlertReceived(AlertDescription::HandshakeFailure));
    assert_eq!(web.http("alert.example").await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
}

#[tokio::test]
async fn a_loop_of_redirects_comes_back_to_where_it_began() {
    let web = Web::labelled().await;
    let mut seen = HashSet::new();
    let mut url = "https://loop.example/robots.txt".to_owned();
    while seen.insert(url.clone()) {
        url = web.follow(&url).await.field("location").unwrap().to_owned();
    }
    assert_eq!(seen.len(), 2);
}

#[tokio::test]
async fn hosts_share_an_address_only_when_told() {
    let hosts: Vec<String> = (0..400).map(|index| format!("host-{index}.example")).collect();
    for (shared, expected) in [(Some(0), 0), (Some(50), 50), (None, 20)] {
        let web = Web::population(&hosts, 5, shared).await;
        let mut tenants: BTreeMap<Ipv4Addr, usize> = BTreeMap::new();
        for host in &hosts {
            for address in [web.address(host).await, web.address(&format!("www.{host}")).await].into_iter().flatten() {
                // Hosts at addresses where nothing listens may have them in common.
                if address.is_loopback() && address != Ipv4Addr::new(127, 255, 255, 255) {
                    *tenants.entry(address).or_default() += 1;
                }
            }
        }
        let (crowded, alone): (Vec<_>, Vec<_>) = tenants.into_iter().partition(|(_, hosts)| *hosts > 1);
        assert_eq!(crowded.len(), usize::from(expected > 0), "{crowded:?}");
        assert!(crowded.iter().all(|(_, hosts)| (expected..=2 * expected).contains(hosts)), "{crowded:?}");
        let networks: HashSet<_> = alone.iter().map(|(address, _)| address.octets()[..3].to_vec()).collect();
        assert!(networks.len() + 40 > alone.len(), "{} networks for {} hosts", networks.len(), alone.len());
    }
}

#[tokio::test]
async fn a_population_answers_in_realistic_shares() {
    let hosts: Vec<String> = (0..300).map(|index| format!("site-{index}.example")).collect();
    let web = Web::population(&hosts, 11, None).await;
    let mut words: BTreeMap<&str, usize> = BTreeMap::new();
    for host in &hosts {
        *words.entry(web.describe(host).await).or_default() += 1;
    }
    let count = |word: &str| words.get(word).copied().unwrap_or(0);
    assert!((150..230).contains(&(count("file") + count("redirect"))), "{words:?}");
    assert!((25..65).contains(&count("404")), "{words:?}");
    assert!((6..36).contains(&count("403")), "{words:?}");
    assert!((3..24).contains(&count("no address")), "{words:?}");
    assert!(count("page") > 0 && count("empty") > 0, "{words:?}");
}

#[tokio::test]
async fn invented_detours_lead_to_a_file() {
    let hosts: Vec<String> = (0..400).map(|index| format!("detour-{index}.example")).collect();
    let web = Web::population(&hosts, 2, Some(0)).await;
    let (mut to_www, mut hops, mut plain_only, mut twins) = (0, 0, 0, 0);
    for host in &hosts {
        match web.https(host).await {
            Ok(answer) if answer.field("location") == Some(&format!("https://www.{host}/robots.txt")) => {
                to_www += 1;
                assert_eq!(web.https(&format!("www.{host}")).await.unwrap().status, 200, "{host}");
            }
            Ok(answer) if answer.field("location").is_some_and(|location| location.contains("/hop/1/")) => hops += 1,
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                if let Ok(answer) = web.http(host).await {
                    plain_only += 1;
                    assert_eq!(answer.status, 200, "{host}");
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if let Ok(answer) = web.https(&format!("www.{host}")).await {
                    twins += 1;
                    assert_eq!(answer.status, 200, "{host}");
                }
            }
            Ok(_) | Err(_) => {}
        }
    }
    assert!(to_www > 4 && hops > 0 && plain_only > 0 && twins > 0, "{to_www} {hops} {plain_only} {twins}");
}

#[tokio::test]
async fn one_seed_gives_one_web() {
    let hosts: Vec<String> = (0..60).map(|index| format!("again-{index}.example")).collect();
    let (first, second) = (Web::population(&hosts, 3, None).await, Web::population(&hosts, 3, None).await);
    for host in &hosts {
        assert_eq!(first.address(host).await, second.address(host).await, "{host}");
        assert_eq!(first.describe(host).await, second.describe(host).await, "{host}");
        assert_eq!(
            first.https(host).await.ok().map(|a| a.body),
            second.https(host).await.ok().map(|a| a.body),
            "{host}"
        );
    }
}

#[tokio::test]
async fn invented_certificates_fail_as_they_are_meant_to_and_the_file_is_there_all_the_same() {
    let hosts: Vec<String> = (0..700).map(|index| format!("cert-{index}.example")).collect();
    let web = Web::population(&hosts, 1, Some(0)).await;
    let mut verdicts: BTreeMap<String, usize> = BTreeMap::new();
    for host in &hosts {
        let Err(error) = web.https(host).await else { continue };
        let Some(error) = tls_error(&error) else { continue };
        let word = match error {
            rustls::Error::InvalidCertificate(CertificateError::ExpiredContext { .. }) => "expired",
            rustls::Error::InvalidCertificate(_) => "unknown",
            rustls::Error::AlertReceived(_) => "alert",
            // Worse things happen than a bad certificate.
            _ => continue,
        };
        *verdicts.entry(word.into()).or_default() += 1;
        // The http door of such hosts works, leads back to https, or refuses where the handshake is the fault.
        match web.http(host).await {
            Ok(plain) => assert!(matches!(plain.status, 200 | 308), "{host}: {}", plain.status),
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionRefused, "{host}"),
        }
    }
    assert_eq!(verdicts.len(), 3, "{verdicts:?}");
    assert!(verdicts.values().all(|count| (1..40).contains(count)), "{verdicts:?}");
}

#[tokio::test]
async fn the_log_has_a_row_for_every_query_and_connection() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.csv");
    let settings = Settings { log: Some(log.clone()), ..Settings::default() };
    let web = Web::start(labelled(folder.path()), settings).await;
    web.https("plain.example").await.unwrap();
    web.http("absent.example").await.unwrap();
    web.https("alert.example").await.unwrap_err();
    web.http("reset.example").await.unwrap_err();
    drop(web.connect("page.example", 443).await.unwrap());
    let mut open = web.connect("page.example", 80).await.unwrap();
    open.write_all(b"GET /robots.txt HTTP/1.1\r\n").await.unwrap();
    web.ask_over(Transport::Tcp, "plain.example.", RecordType::A).await;
    web.rehearsal.stop().await.unwrap();
    drop(open);

    let text = fs::read_to_string(&log).unwrap();
    assert!(text.starts_with("opened_ms,closed_ms,kind,local,peer_port,host,path,status,note\n"));
    let rows: Vec<HashMap<&str, String>> = rows(&text);
    let find = |kind: &str, host: &str| {
        let mut found = rows.iter().filter(|row| row["kind"] == kind && row["host"] == host);
        found.next().unwrap_or_else(|| panic!("no {kind} row for {host:?} in\n{text}")).clone()
    };
    assert_eq!(find("https", "plain.example")["status"], "200");
    assert_eq!(find("https", "plain.example")["path"], "/robots.txt");
    assert_eq!(find("http", "absent.example")["status"], "404");
    assert_eq!(find("https", "alert.example")["note"], "alert");
    assert_eq!(find("http", "reset.example")["note"], "reset");
    assert_eq!(find("dns-tcp", "plain.example")["status"], "0");
    assert_eq!(find("dns-udp", "plain.example")["path"], "A");
    // One was accepted and said nothing, one was in the middle of its request when everything ended.
    assert_eq!(rows.iter().filter(|row| row["kind"] == "https" && row["host"].is_empty()).count(), 1);
    assert_eq!(rows.iter().filter(|row| row["kind"] == "http" && row["host"].is_empty()).count(), 1);
    for row in &rows {
        let time = |column: &str| row[column].parse::<f64>().unwrap();
        assert!(time("opened_ms") <= time("closed_ms"), "{row:?}");
        assert!(row["local"].parse::<IpAddr>().unwrap().is_loopback() && row["peer_port"] != "0", "{row:?}");
    }
}

#[tokio::test]
async fn fault_hosts_answer_whatever_the_source() {
    let hosts = vec!["host.example".to_owned()];
    for web in [Web::labelled().await, Web::population(&hosts, 1, None).await] {
        assert_eq!(web.https("status-418.test").await.unwrap().status, 418);
        assert_eq!(web.http("plain-status-418.test").await.unwrap().status, 418);
        assert_eq!(web.https("plain-status-418.test").await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
        let servfail = web.ask("dns-servfail.test", RecordType::A).await;
        assert_eq!(servfail.metadata.response_code, ResponseCode::ServFail);
        assert_eq!(web.address("www.dns-servfail.test").await, None);
    }
}

#[tokio::test]
async fn the_shared_address_asks_some_for_fewer_requests_and_the_log_says_for_how_long() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.csv");
    let hosts: Vec<String> = (0..60).map(|index| format!("site-{index}.example")).collect();
    let domains = hosts.iter().map(|host| Domain::parse(host).unwrap()).collect();
    let settings = Settings { shared: Some(60), refusing: 500, log: Some(log.clone()) };
    let web = Web::start(Source::Population { domains, seed: 1 }, settings).await;
    let mut refused = HashSet::new();
    for host in &hosts {
        if web.address(host).await != Some(Ipv4Addr::new(127, 1, 0, 1)) {
            continue;
        }
        if let Ok(answer) = web.http(host).await
            && answer.status == 429
            && answer.field("retry-after").is_some()
        {
            assert_eq!(web.http(host).await.unwrap().status, 429, "{host} is refused always or never");
            refused.insert(host.clone());
        }
    }
    web.rehearsal.stop().await.unwrap();
    assert!((10..50).contains(&refused.len()), "{} of 60", refused.len());
    let text = fs::read_to_string(&log).unwrap();
    let rows = rows(&text);
    let noted: Vec<f64> = rows
        .iter()
        .filter(|row| row["status"] == "429" && refused.contains(&row["host"]))
        .map(|row| row["note"].strip_prefix("retry-after ").unwrap().parse().unwrap())
        .collect();
    assert_eq!(noted.len(), 2 * refused.len());
    assert!(noted.iter().all(|seconds| (0.0..=2.0).contains(seconds)), "{noted:?}");
    let in_seconds = noted.iter().filter(|seconds| seconds.fract() == 0.0).count();
    assert!(in_seconds > 0 && in_seconds < noted.len(), "both forms: {noted:?}");
}

#[tokio::test]
async fn a_source_that_is_none_is_an_error_with_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let archive = write_archive(folder.path());
    let labels = folder.path().join("bad.tsv");
    for (text, complaint) in [
        ("host,kind\n", "line 1"),
        ("host\tkind\tstatus\tcause\na.example\tnet\t\tsunspots\n", "line 2"),
        ("host\tkind\tstatus\tcause\na.example\ttext\t200\t\n", "a.example"),
    ] {
        fs::write(&labels, text).unwrap();
        let source = Source::Labelled { archive: archive.clone(), labels: labels.clone() };
        let error = Rehearsal::start(source, Settings::default()).await.unwrap_err();
        assert!(format!("{error:#}").contains(complaint), "{error:#}");
    }
}

/// A rehearsal, and the eyes of a survey.
struct Web {
    rehearsal: Rehearsal,
    tls: TlsConnector,
}

#[derive(Clone, Copy)]
enum Transport {
    Udp,
    Tcp,
}

#[derive(Debug)]
struct Answer {
    status: u16,
    fields: Vec<(String, String)>,
    body: String,
}

impl Answer {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

impl Web {
    async fn start(source: Source, settings: Settings) -> Self {
        let rehearsal = Rehearsal::start(source, settings).await.unwrap();
        // What a survey reads is a line of JSON, so the tests read that too.
        let line = serde_json::to_string(rehearsal.announcement()).unwrap();
        let announcement: Announcement = serde_json::from_str(&line).unwrap();
        assert_eq!(&announcement, rehearsal.announcement());
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(announcement.ca_pem.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_root_certificates(roots).with_no_client_auth();
        Self { rehearsal, tls: Arc::new(config).into() }
    }

    async fn labelled() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::start(labelled(folder.path()), Settings::default()).await
    }

    async fn population(hosts: &[String], seed: u64, shared: Option<usize>) -> Self {
        let domains = hosts.iter().map(|host| Domain::parse(host).unwrap()).collect();
        Self::start(Source::Population { domains, seed }, Settings { shared, ..Settings::default() }).await
    }

    async fn ask(&self, name: &str, kind: RecordType) -> Message {
        self.ask_over(Transport::Udp, &format!("{name}."), kind).await
    }

    async fn ask_over(&self, transport: Transport, name: &str, kind: RecordType) -> Message {
        let mut message = Message::new(77, MessageType::Query, OpCode::Query);
        message.add_query(Query::query(Name::from_ascii(name).unwrap(), kind)).set_edns(Edns::new());
        let query = message.to_vec().unwrap();
        let server = self.rehearsal.announcement().dns;
        let mut answer = vec![0; 2048];
        let length = match transport {
            Transport::Udp => {
                let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
                socket.send_to(&query, server).await.unwrap();
                socket.recv(&mut answer).await.unwrap()
            }
            Transport::Tcp => {
                let mut stream = TcpStream::connect(server).await.unwrap();
                stream.write_u16(query.len().try_into().unwrap()).await.unwrap();
                stream.write_all(&query).await.unwrap();
                let length = stream.read_u16().await.unwrap().into();
                stream.read_exact(&mut answer[..length]).await.unwrap()
            }
        };
        let answer = Message::from_vec(&answer[..length]).unwrap();
        assert_eq!(answer.metadata.id, 77);
        answer
    }

    /// The address that DNS gives, if it answers and the answer can be read.
    async fn address(&self, name: &str) -> Option<Ipv4Addr> {
        let mut message = Message::new(78, MessageType::Query, OpCode::Query);
        message.add_query(Query::query(Name::from_ascii(name).unwrap(), RecordType::A));
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.send_to(&message.to_vec().unwrap(), self.rehearsal.announcement().dns).await.unwrap();
        let mut answer = vec![0; 2048];
        let length = timeout(Duration::from_secs(3), socket.recv(&mut answer)).await.ok()?.unwrap();
        let answer = Message::from_vec(&answer[..length]).ok()?;
        answer.answers.iter().find_map(|record| match record.data {
            RData::A(address) => Some(address.0),
            _ => None,
        })
    }

    /// Connects as the survey's dialler does: the port is that of the first door whose block holds the address.
    async fn connect(&self, host: &str, port: u16) -> std::io::Result<TcpStream> {
        let Some(address) = self.address(host).await else { return Err(ErrorKind::NotFound.into()) };
        let doors = &self.rehearsal.announcement().doors;
        // No door leads to a private address.
        let Some(door) = doors.iter().find(|door| holds(&door.block, address)) else {
            return Err(ErrorKind::AddrNotAvailable.into());
        };
        let port = if port == 443 { door.https } else { door.http };
        let stream = TcpStream::connect(SocketAddr::from((address, port))).await?;
        // The request follows the handshake's last flight; Nagle would hold it back until that is acknowledged.
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    async fn http(&self, host: &str) -> std::io::Result<Answer> {
        exchange(self.connect(host, 80).await?, host, "/robots.txt").await
    }

    async fn https(&self, host: &str) -> std::io::Result<Answer> {
        self.https_at(host, "/robots.txt").await
    }

    async fn https_at(&self, host: &str, path: &str) -> std::io::Result<Answer> {
        let connecting = timeout(Duration::from_millis(300), self.connect(host, 443));
        let stream = connecting.await.map_err(|_| ErrorKind::TimedOut)??;
        let name = ServerName::try_from(host.to_owned()).unwrap();
        exchange(self.tls.connect(name, stream).await?, host, path).await
    }

    async fn follow(&self, url: &str) -> Answer {
        let (host, path) = url.strip_prefix("https://").unwrap().split_once('/').unwrap();
        self.https_at(host, &format!("/{path}")).await.unwrap()
    }

    async fn describe(&self, host: &str) -> &'static str {
        if self.address(host).await.is_none() {
            return "no address";
        }
        match self.https(host).await {
            Err(_) => "failure",
            Ok(answer) => match answer.status {
                200 if answer.body.is_empty() => "empty",
                200 if answer.body.contains("<html") => "page",
                200 => "file",
                301 | 302 | 308 => "redirect",
                403 => "403",
                404 => "404",
                _ => "other",
            },
        }
    }
}

async fn exchange<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, host: &str, path: &str) -> std::io::Result<Answer> {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await?;
    stream.flush().await?;
    let mut bytes = Vec::new();
    // Some hosts fall silent, and some never end.
    let mut most = stream.take(4 << 20);
    timeout(Duration::from_secs(1), most.read_to_end(&mut bytes)).await.map_err(|_| ErrorKind::TimedOut)??;
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").ok_or(ErrorKind::InvalidData)?;
    let mut lines = head.split("\r\n");
    let status =
        lines.next().unwrap().split(' ').nth(1).and_then(|word| word.parse().ok()).ok_or(ErrorKind::InvalidData)?;
    let fields = lines.filter_map(|line| line.split_once(": "));
    let fields = fields.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    Ok(Answer { status, fields, body: body.to_owned() })
}

fn holds(block: &str, address: Ipv4Addr) -> bool {
    let (network, length) = block.split_once('/').unwrap();
    let Ok(network) = network.parse::<Ipv4Addr>() else { return false };
    let shift = 32 - length.parse::<u32>().unwrap();
    u32::from(network) >> shift == u32::from(address) >> shift
}

fn tls_error(error: &std::io::Error) -> Option<rustls::Error> {
    error.get_ref()?.downcast_ref::<rustls::Error>().cloned()
}

fn labelled(folder: &Path) -> Source {
    let labels = folder.join("labels.tsv");
    fs::write(&labels, LABELS).unwrap();
    Source::Labelled { archive: write_archive(folder), labels }
}

fn write_archive(folder: &Path) -> std::path::PathBuf {
    let mut archive = Vec::new();
    for (host, body) in FILES {
        // The recorded length is wrong on purpose: what is sent must be framed anew.
        let message = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Recorded: yes\r\nContent-Length: 9\r\n\r\n{body}"
        );
        let record = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://{host}/robots.txt\r\n\
             WARC-Date: 2024-06-29T00:00:00Z\r\nWARC-Record-ID: <urn:test:{host}>\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{message}\r\n\r\n",
            message.len()
        );
        archive.extend_from_slice(record.as_bytes());
    }
    let path = folder.join("files.warc");
    fs::write(&path, archive).unwrap();
    path
}

fn rows(text: &str) -> Vec<HashMap<&str, String>> {
    let (header, body) = text.split_once('\n').unwrap();
    let columns: Vec<&str> = header.split(',').collect();
    let row = |line: &str| columns.iter().copied().zip(line.split(',').map(str::to_owned)).collect();
    body.lines().map(row).collect()
}
