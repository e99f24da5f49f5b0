//! What one host does, layer by layer: at the door, in the handshake, to the request.
//!
//! This is the place for a new fault: one variant at the layer where it happens, and the one `match` that acts on it
//! (`Way` in `addresses` and `doors`, [`Tls`] in `authority` and `serve`, [`Reply`] in `http`).
//!
//! Touches nothing. Deliberately absent: which host does what (`told`, `population`), and names that do not exist:
//! they have no behaviour.

use bytes::Bytes;

use crate::rehearsal::http::reason;

/// What one existing host does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Behaviour {
    /// What a connection finds.
    pub(super) way: Way,
    /// What a TLS handshake finds.
    pub(super) tls: Tls,
    /// What a request finds.
    pub(super) reply: Reply,
}

impl Behaviour {
    /// A host in good health that gives this reply over both schemes.
    pub(super) fn open(reply: Reply) -> Self {
        Self { way: Way::Open, tls: Tls::Good, reply }
    }

    /// A host that no request reaches.
    pub(super) fn closed(way: Way) -> Self {
        Self { way, tls: Tls::Good, reply: Reply::Reset }
    }
}

/// What a connection finds at the door. A door is a block of addresses, since it acts before any name is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Both ports listen.
    Open,
    /// Both ports refuse.
    Refuse,
    /// Port 80 listens, port 443 refuses.
    HttpOnly,
    /// Port 443 listens, port 80 refuses.
    HttpsOnly,
    /// Neither port ever answers a SYN.
    Blackhole,
    /// The kernel knows no route to the address.
    Unreachable,
}

/// What a TLS handshake finds, once its `ClientHello` has named the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tls {
    /// A certificate of the announced authority for that name.
    Good,
    /// One whose time is over.
    Expired,
    /// One that its own key signed.
    SelfSigned,
    /// A fatal alert, `handshake_failure`.
    Alert,
}

/// What a request for `/robots.txt` finds; other paths find nothing, those of a course of redirects excepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// A response.
    Respond(Response),
    /// A redirect.
    Redirect(Course),
    /// The request is read and the connection reset.
    Reset,
}

/// Where redirects lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Course {
    /// To `https://www.` and this name.
    Www,
    /// To `https://` and this name without its `www.`
    Apex,
    /// From http to https, which responds.
    Upgrade(Response),
    /// So many redirects on this host, then a response.
    Hops(usize, Response),
    /// From one path to another and back, for ever.
    Loop,
}

/// An HTTP response, before it is framed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Response {
    /// Its status.
    pub(super) status: u16,
    /// Header lines, each with its line end; none of them about framing.
    pub(super) fields: Bytes,
    /// The body.
    pub(super) body: Bytes,
    /// Whether the body goes out in chunks, to who speaks HTTP/1.1.
    pub(super) chunked: bool,
    /// Whether the body goes out compressed, to who says that it may.
    pub(super) gzip: bool,
}

impl Response {
    /// A response with a body of this media type.
    pub(super) fn new(status: u16, media_type: &str, body: impl Into<Bytes>) -> Self {
        let fields = format!("Content-Type: {media_type}\r\n").into();
        Self { status, fields, body: body.into(), chunked: false, gzip: false }
    }

    /// A robots.txt file.
    pub(super) fn file(text: impl Into<Bytes>) -> Self {
        Self::new(200, "text/plain; charset=utf-8", text)
    }

    /// A small page such as servers and their shields show.
    pub(super) fn page(status: u16, host: &str) -> Self {
        let reason = reason(status);
        let body = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{status} {reason}</title></head>\n\
             <body>\n<h1>{reason}</h1>\n<p>This page of {host} was put up for a rehearsal.</p>\n<hr>\n</body>\n</html>\n"
        );
        Self::new(status, "text/html; charset=utf-8", body)
    }
}
