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
    let exchange = fetcher.ask(&Url::parse(url).unwrap(), pinned.parse().unwrap(), Identity::Usual).await.unwrap();
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
