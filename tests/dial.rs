//! Whom the survey dials, by the log of its dialler, where sites try every trick to have it dial inside.
//!
//! The log stands below everything that decides (`hyper_util::client::legacy::connect::http`, which opens the sockets),
//! and in a rehearsal each socket is bound to loopback: an address that the guard let through would stand in the log,
//! and the kernel would refuse it (`src/crawl/fetch/tests.rs` sees it do so).

#![expect(clippy::unwrap_used, reason = "clippy's exception for tests stops at the functions that tests call")]

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::fs;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::Path;
use std::time::Duration;

use arrow::array::{AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int32Type};
use hickory_resolver::proto::op::Message;
use hickory_resolver::proto::rr::rdata::{A, AAAA};
use hickory_resolver::proto::rr::{RData, Record, RecordType};
use survey::rehearsal::{Rehearsal, Settings, Source};
use survey::snapshot::Snapshot;
use survey::table::read_columns;
use tokio::runtime::Runtime;

use crate::whole::{command, path_of};

/// Spellings of addresses, as a Location may have them.
const LITERALS: &[&str] = &[
    "http://10.0.0.1/robots.txt",
    "https://10.0.0.1:8443/",
    "http://167772161/",
    "http://0xa000001/",
    "http://0xA.0.0x0.1/",
    "http://012.0.0.01/",
    "http://10.1/",
    "http://10.0.0.1./",
    "http://%31%30.0.0.1/",
    "http://\u{ff11}\u{ff10}.0.0.1/",
    "http://10\u{3002}0.0.1/",
    "http://public.example@10.0.0.1/",
    "http://public.example:80@10.0.0.1/",
    "//10.0.0.1/",
    "http:\\\\10.0.0.1\\",
    "http://169.254.169.254/latest/meta-data/",
    "http://198.51.100.7/",
    "http://224.0.0.1/",
    "http://[::ffff:10.0.0.1]/",
    "http://[::ffff:c633:6407]/",
    "http://[64:ff9b::a00:1]/",
    "http://[2002:a00:1::]/",
    "http://[fe80::1]/",
    "http://[fd00::1]/",
    "http://[2001:db8::1]/",
    "http://127.0.0.1/",
    "http://[::1]/",
];

/// Addresses that names may resolve to: one or more of each special block, and one of the public Internet.
const INSIDE: &[&str] = &[
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.251",
    "255.255.255.255",
    "::",
    "::ffff:10.0.0.1",
    "::10.0.0.1",
    "64:ff9b::a00:1",
    "2001::1",
    "2001:db8::1",
    "2002:a00:1::1",
    "fc00::1",
    "fe80::1",
    "ff02::fb",
    "192.31.196.1",
];

/// Answers for the names whose addresses are a trick, and passes all other queries on.
struct Lies {
    socket: UdpSocket,
    truth: SocketAddr,
    asked: HashMap<String, u32>,
}

impl Lies {
    fn tell(mut self) {
        let upstream = UdpSocket::bind("127.0.0.1:0").unwrap();
        upstream.connect(self.truth).unwrap();
        upstream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut buffer = [0; 4096];
        while let Ok((length, peer)) = self.socket.recv_from(&mut buffer) {
            let query = Message::from_vec(&buffer[..length]).unwrap();
            upstream.send(&buffer[..length]).unwrap();
            let length = upstream.recv(&mut buffer).unwrap();
            let mut reply = Message::from_vec(&buffer[..length]).unwrap();
            self.twist(&query, &mut reply);
            self.socket.send_to(&reply.to_vec().unwrap(), peer).unwrap();
        }
    }

    fn twist(&mut self, query: &Message, reply: &mut Message) {
        let question = &query.queries[0];
        let name = question.name.to_ascii().trim_end_matches('.').to_ascii_lowercase();
        let host = name.split('.').next().unwrap();
        let add = |reply: &mut Message, ip: IpAddr| match (ip, question.query_type) {
            (IpAddr::V4(ip), RecordType::A) => {
                reply.answers.insert(0, Record::from_rdata(question.name.clone(), 60, RData::A(A(ip))));
            }
            (IpAddr::V6(ip), RecordType::AAAA) => {
                reply.answers.insert(0, Record::from_rdata(question.name.clone(), 60, RData::AAAA(AAAA(ip))));
            }
            _ => {}
        };
        if let Some(number) = host.strip_prefix("inside-") {
            reply.answers.clear();
            add(reply, INSIDE[number.parse::<usize>().unwrap()].parse().unwrap());
        }
        if host == "mixed" {
            add(reply, "10.0.0.1".parse().unwrap());
        }
        if host == "rebind" && question.query_type == RecordType::A {
            let times = self.asked.entry(name).or_default();
            *times += 1;
            if *times > 1 {
                reply.answers.clear();
                add(reply, "10.0.0.1".parse().unwrap());
            }
        }
    }
}

/// Each host of the little web, and where it redirects to.
fn hosts() -> BTreeMap<String, Option<String>> {
    let mut hosts = BTreeMap::new();
    for (number, literal) in LITERALS.iter().enumerate() {
        hosts.insert(format!("literal-{number}.example"), Some((*literal).to_owned()));
    }
    for number in 0..INSIDE.len() {
        hosts.insert(format!("inside-{number}.example"), None);
        hosts.insert(format!("to-{number}.example"), Some(format!("https://inside-{number}.example/robots.txt")));
    }
    hosts.insert("plain.example".to_owned(), None);
    hosts.insert("mixed.example".to_owned(), None);
    // Asked twice by each journey: here, and where it redirects to.
    hosts.insert("rebind.example".to_owned(), Some("/elsewhere".to_owned()));
    hosts.insert("to-rebind.example".to_owned(), Some("http://rebind.example/robots.txt".to_owned()));
    hosts
}

fn write_archive(path: &Path) {
    let mut archive = String::new();
    for (host, location) in hosts() {
        let message = match location {
            Some(location) => format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\n\r\n"),
            None => "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /\n".to_owned(),
        };
        write!(
            archive,
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://{host}/robots.txt\r\n\
             WARC-Date: 2024-06-29T00:00:00Z\r\nWARC-Record-ID: <urn:test:{host}>\r\nContent-Length: {}\r\n\r\n\
             {message}\r\n\r\n",
            message.len()
        )
        .unwrap();
    }
    fs::write(path, archive).unwrap();
}

/// Each domain's outcome, and the addresses of all requests.
fn seen(folder: &Path) -> (BTreeMap<String, String>, Vec<IpAddr>) {
    let parts = Snapshot::locate(&path_of(folder, "rehearsals/hosts")).unwrap().parts().unwrap();
    let (mut outcomes, mut ips) = (BTreeMap::new(), Vec::new());
    for batch in read_columns(&parts, &["domain", "outcome", "hops"]) {
        let batch = batch.unwrap();
        let column = |name: &str| batch.column_by_name(name).unwrap();
        let words = column("outcome").as_dictionary::<Int32Type>();
        let words = words.downcast_dict::<StringArray>().unwrap();
        let domains = column("domain").as_string::<i32>();
        outcomes.extend(
            domains.iter().zip(words).map(|(domain, word)| (domain.unwrap().to_owned(), word.unwrap().to_owned())),
        );
        let hops = column("hops").as_list::<i32>().values();
        let hop_ips = cast(hops.as_struct().column_by_name("ip").unwrap(), &DataType::Utf8).unwrap();
        ips.extend(hop_ips.as_string::<i32>().iter().flatten().map(|ip| ip.parse::<IpAddr>().unwrap()));
    }
    (outcomes, ips)
}

#[test]
fn not_one_connection_leaves_for_an_address_inside_whatever_sites_try() {
    let world = tempfile::tempdir().unwrap();
    let folder = world.path();
    let names: Vec<String> = hosts().into_keys().collect();
    fs::write(folder.join("hosts.txt"), names.join("\n")).unwrap();
    write_archive(&folder.join("web.warc"));
    let runtime = Runtime::new().unwrap();
    let source = Source::Archive(folder.join("web.warc"));
    let web = runtime.block_on(Rehearsal::start(source, Settings::default())).unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut announcement = web.announcement().clone();
    let lies = Lies { truth: announcement.dns, asked: HashMap::new(), socket: socket.try_clone().unwrap() };
    announcement.dns = socket.local_addr().unwrap();
    fs::write(folder.join("web.json"), serde_json::to_string(&announcement).unwrap()).unwrap();
    // It ends with the process.
    std::thread::spawn(|| lies.tell());

    let arguments = ["--domains", "hosts.txt", "--rehearse", "@web.json", "--no-second-try", "--log-level", "debug"];
    let output = command(folder, &arguments).output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{log}");

    let dialled: Vec<SocketAddr> =
        log.lines().filter_map(|line| line.split_once("connecting to ")?.1.parse().ok()).collect();
    let outside: Vec<_> = dialled.iter().filter(|address| !address.ip().is_loopback()).collect();
    assert!(outside.is_empty(), "{outside:?}");
    let (mut outcomes, mut hops) = seen(folder);
    let mut dialled: Vec<IpAddr> = dialled.iter().map(SocketAddr::ip).collect();
    dialled.sort_unstable();
    hops.sort_unstable();
    assert_eq!(dialled, hops, "the log and the table know of the same connections");

    assert_eq!(outcomes.len(), names.len());
    // The first look-up of all gets the good answer, and only who made it may use it; whose it is is the order's choice.
    let rebound = ["rebind.example", "to-rebind.example"].map(|domain| outcomes.remove(domain).unwrap());
    assert!(
        rebound == ["absent-404", "redirect-to-private"] || rebound == ["dns-private", "absent-404"],
        "{rebound:?}"
    );
    for (domain, outcome) in outcomes {
        let expected = match domain.split('-').next().unwrap() {
            "literal" => "redirect-to-ip",
            "inside" => "dns-private",
            "to" => "redirect-to-private",
            _ => "rules",
        };
        assert_eq!(outcome, expected, "{domain}");
    }
}
