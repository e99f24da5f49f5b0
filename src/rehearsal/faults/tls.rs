//! Handshakes that fail, certificates that nobody should trust, and ends without a word.
//!
//! Port 80 refuses where the handshake fails, so that the failure is the outcome.

use bytes::Bytes;

use super::{FILE, Fault, file};
use crate::outcome::{Cause, Kind};
use crate::rehearsal::behaviour::{Behaviour, HANDSHAKE_FAILURE, Play, Reply, Then, Tls, Way};

pub(super) const TABLE: &[Fault] = &[
    alert("tls-alert-handshake-failure", "A fatal alert: handshake_failure.", |_| finds(Tls::Alert(HANDSHAKE_FAILURE))),
    alert("tls-alert-protocol-version", "A fatal alert: protocol_version.", |_| finds(Tls::Alert(70))),
    alert("tls-alert-unrecognized-name", "A fatal alert: unrecognized_name.", |_| finds(Tls::Alert(112))),
    alert("tls-alert-internal-error", "A fatal alert: internal_error.", |_| finds(Tls::Alert(80))),
    alert("tls-alert-no-protocol", "A fatal alert: no_application_protocol.", |_| finds(Tls::Alert(120))),
    alert("tls-alert-access-denied", "A fatal alert: access_denied.", |_| finds(Tls::Alert(49))),
    alert("tls-alert-unknown", "A fatal alert whose number has no name.", |_| finds(Tls::Alert(199))),
    alert("tls-asks-for-certificate", "It demands a certificate of the client.", |_| finds(Tls::AsksForCertificate)),
    Fault::fails("tls-plain", Cause::TlsNotTls, "Port 443 speaks HTTP in the clear.", |_| finds(Tls::Plain)),
    broken("tls-close", "It closes after the ClientHello.", |_| finds(Tls::Close)),
    broken("tls-reset", "It resets after the ClientHello.", |_| finds(Tls::Reset)),
    broken("tls-noise", "It answers the ClientHello with a record that holds no message.", |_| finds(Tls::Noise)),
    broken("tls-half", "It closes in the middle of its first record.", |_| finds(Tls::Half)),
    broken("tls-wrong-key", "It cannot prove that the certificate is its own.", |_| finds(Tls::WrongKey)),
    Fault::fails("tls-silent", Cause::TlsTimeout, "It says nothing after the ClientHello.", |_| finds(Tls::Silence)),
    Fault::answers("tls-alert-but-http", Kind::Rules, "Port 443 sends an alert, port 80 serves a file.", |_| {
        Behaviour { way: Way::Open, ..finds(Tls::Alert(HANDSHAKE_FAILURE)) }
    }),
    Fault::answers("tls-plain-but-http", Kind::Rules, "Port 443 speaks no TLS, port 80 serves a file.", |_| {
        Behaviour { way: Way::Open, ..finds(Tls::Plain) }
    }),
    read("tls-expired", "The certificate's time is over.", |_| finds(Tls::Expired)),
    read("tls-not-yet", "The certificate's time has not come.", |_| finds(Tls::NotYet)),
    read("tls-other-name", "The certificate is for another name.", |_| finds(Tls::OtherName)),
    read("tls-self-signed", "The certificate is signed by its own key.", |_| finds(Tls::SelfSigned)),
    read("tls-unknown-issuer", "The certificate is signed by an unknown authority.", |_| finds(Tls::UnknownIssuer)),
    read("tls-leaf-only", "The intermediate certificate is missing.", |_| finds(Tls::LeafOnly)),
    read("tls-chained", "The intermediate certificate is sent along.", |_| finds(Tls::Chained)),
    read("tls-1-2", "It speaks TLS 1.2 and no later version.", |_| finds(Tls::Old)),
    read("tls-unclean-end", "The connection ends without close_notify, after a body of the stated length.", |_| {
        leaves(&format!("Content-Length: {}\r\n", FILE.len()), FILE)
    }),
    read("tls-unclean-end-in-chunks", "The connection ends without close_notify, after the last chunk.", |_| {
        leaves("Transfer-Encoding: chunked\r\n", &format!("{:x}\r\n{FILE}\r\n0\r\n\r\n", FILE.len()))
    }),
    read(
        "tls-unclean-end-of-body",
        "A body without a stated length ends without close_notify; it is kept, as one that may go on.",
        |_| leaves("", FILE),
    ),
];

const fn alert(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    Fault::fails(name, Cause::TlsAlert, about, act)
}

const fn broken(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    Fault::fails(name, Cause::TlsProtocol, about, act)
}

const fn read(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    Fault::answers(name, Kind::Rules, about, act)
}

fn finds(tls: Tls) -> Behaviour {
    Behaviour { way: Way::HttpsOnly, tls, ..Behaviour::open(Reply::Respond(file())) }
}

fn leaves(fields: &str, body: &str) -> Behaviour {
    let message = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n{fields}\r\n{body}");
    Behaviour::open(Reply::Play(Play { bytes: Bytes::from(message), then: Then::Leave }))
}
