//! The client alone, with no guard before it.

use std::io::{Read, Seek};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tracing::level_filters::LevelFilter;

use super::*;
use crate::crawl::Door;

fn fetcher(block: &str, http: u16) -> Fetcher {
    let settings = FetchSettings {
        user_agent: "test".to_owned(),
        other_user_agent: "test".to_owned(),
        from: None,
        max_body: 1000,
        connect_timeout: Duration::from_secs(20),
        read_timeout: Duration::from_secs(20),
        total_timeout: Duration::from_secs(20),
    };
    let reach = Reach::Rehearsal(vec![Door { block: block.parse().unwrap(), http, https: http }]);
    Fetcher::new(settings, Arc::new(reach), crate::crawl::public_roots()).unwrap()
}

fn plain<'a>(url: &'a Url, ip: &str) -> Request<'a> {
    Request { url, ip: ip.parse().unwrap(), identity: Identity::Usual, validators: None }
}

/// Asks for a URL while the name that it may have is pinned to loopback; shows how it ended and who was dialled.
async fn ask(fetcher: &Fetcher, url: &str, pinned: &str) -> (Result<u16, Failure>, Vec<String>) {
    let mut log = tempfile::tempfile().unwrap();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::DEBUG)
        .with_writer(Arc::new(log.try_clone().unwrap()))
        .with_ansi(false)
        .with_target(true)
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let exchange = fetcher.ask(plain(&Url::parse(url).unwrap(), pinned)).await.unwrap();
    let mut text = String::new();
    log.rewind().unwrap();
    log.read_to_string(&mut text).unwrap();
    let dials = text.lines().filter_map(|line| line.split_once("hyper_util::client::legacy::connect::http: "));
    (exchange.result.map(|response| response.status), dials.map(|(_, dial)| dial.to_owned()).collect())
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn in_a_rehearsal_what_no_guard_refuses_is_refused_by_the_kernel_and_logged() {
    let fetcher = fetcher("127.0.0.0/8", 9);
    for (literal, dialled) in [
        ("198.51.100.7", "198.51.100.7:80"),
        ("3325256711", "198.51.100.7:80"),
        ("0xc6.063.25607", "198.51.100.7:80"),
        ("198.51.100.7.", "198.51.100.7:80"),
        ("%31%398.51.100.7", "198.51.100.7:80"),
        ("10.0.0.1", "10.0.0.1:80"),
        ("169.254.169.254", "169.254.169.254:80"),
        ("[::ffff:198.51.100.7]", "[::ffff:198.51.100.7]:80"),
        ("[64:ff9b::a00:1]", "[64:ff9b::a00:1]:80"),
        ("[2001:db8::7]", "[2001:db8::7]:80"),
        ("[fd00::1]", "[fd00::1]:80"),
    ] {
        let (result, dials) = ask(&fetcher, &format!("http://{literal}/robots.txt"), "127.0.0.1").await;
        let failure = result.unwrap_err();
        // Had a packet left, there would be silence or an answer; "unreachable" is the kernel's refusal to try.
        assert_eq!(failure.cause, Cause::ConnectUnreachable, "{literal}: {failure:?}");
        assert_eq!(dials, [format!("connecting to {dialled}")], "{literal}");
    }
}

#[tokio::test]
async fn a_name_is_dialled_at_its_pinned_address_of_either_family_and_nowhere_else() {
    for (listen, block) in [("127.0.0.1:0", "127.0.0.0/8"), ("[::1]:0", "::1/128")] {
        let Ok(listener) = TcpListener::bind(listen).await else {
            eprintln!("{listen} cannot be listened at here, so nothing was tried there");
            continue;
        };
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, peer) = listener.accept().await.unwrap();
            assert!(peer.ip().is_loopback());
            let mut request = [0; 1000];
            let _ = stream.read(&mut request).await.unwrap();
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
        });
        let fetcher = fetcher(block, address.port());
        let (result, dials) = ask(&fetcher, "http://localhost.example/robots.txt", &address.ip().to_string()).await;
        assert_eq!(result.map_err(|failure| failure.cause), Ok(204));
        assert_eq!(dials, [format!("connecting to {address}"), format!("connected to {address}")]);
    }
}

#[tokio::test]
async fn a_condition_is_sent_as_its_validators_were_received() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 2000];
        let length = stream.read(&mut request).await.unwrap();
        // What a 304 says of a body is about the one that it stands for.
        let answer = "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\nContent-Encoding: br\r\n\r\n";
        stream.write_all(answer.as_bytes()).await.unwrap();
        request[..length].to_vec()
    });
    let date = "Mon, 30 Nov 2026 00:00:00 GMT".to_owned();
    let known = Validators { etag: Some("W/\"caf\u{e9}\"".to_owned()), last_modified: Some(date) };
    let url = Url::parse("http://a.example/robots.txt").unwrap();
    let request = Request { validators: Some(&known), ..plain(&url, "127.0.0.1") };
    let exchange = fetcher("127.0.0.0/8", address.port()).ask(request).await.unwrap();
    let response = exchange.result.unwrap();
    assert_eq!((exchange.condition, response.status, response.wire_bytes), (Condition::Sent, 304, Some(0)));
    let request = String::from_utf8_lossy(&serving.await.unwrap()).into_owned();
    assert!(request.contains("if-none-match: W/\"caf\u{fffd}\"\r\n"), "{request}");
    assert!(request.contains("if-modified-since: Mon, 30 Nov 2026 00:00:00 GMT\r\n"), "{request}");
}
