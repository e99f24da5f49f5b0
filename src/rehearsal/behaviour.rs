//! What one host does, layer by layer: to the look-up, at the door, in the handshake, to the request.
//!
//! This is the place for a new way to fail: one variant at the layer where it happens, and the one `match` that acts on
//! it ([`Lookup`] in `zone`, [`Way`] in `addresses` and `doors`, [`Tls`] in `authority` and `handshake`, [`Reply`] in
//! `http`). Most need none: a [`Play`] is any bytes with any end.
//!
//! Touches nothing. Deliberately absent: which host does what (`told`, `population`, `faults`).

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use bytes::Bytes;

use crate::rehearsal::http::reason;

/// What one existing host does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Behaviour {
    /// What a query for its name finds.
    pub(super) lookup: Lookup,
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
        Self { lookup: Lookup::Own, way: Way::Open, tls: Tls::Good, reply }
    }

    /// A host that no request reaches.
    pub(super) fn closed(way: Way) -> Self {
        Self { lookup: Lookup::Own, way, tls: Tls::Good, reply: Reply::Reset }
    }
}

/// What a query finds; other types than A and AAAA find no record, unless all types fail alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// The host's own address.
    Own,
    /// Its own address, so much later.
    Slow(Duration),
    /// It, the end of so many aliases.
    Aliases(u8),
    /// An alias of a name without an address, with this response code.
    AliasOnly(u16),
    /// These instead.
    Addresses(&'static [Place]),
    /// Its own address once, and another from then on.
    Rebind(Ipv4Addr),
    /// Its own address over TCP; over UDP the answer is cut short and says so.
    CutOverUdp,
    /// No address.
    NoData,
    /// This response code.
    Code(u16),
    /// This response code for A, no record of any other type.
    CodeForA(u16),
    /// No answer.
    Silence,
    /// An answer with this damage.
    Damaged(Damage),
}

/// One address in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The host's own.
    Own,
    /// Another.
    At(IpAddr),
}

/// What is wrong with a DNS message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    /// It ends in the middle of the question.
    Cut,
    /// It counts more answers than it holds.
    Counts,
    /// Nothing but its identifier makes sense.
    Noise,
    /// A compressed name points to itself.
    Pointer,
    /// An address has three bytes.
    ShortAddress,
    /// Its identifier is not that of the query.
    OtherId,
    /// Its question is not that of the query.
    OtherQuestion,
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
    /// One whose issuer is an intermediate authority, which is sent along.
    Chained,
    /// One whose issuer is an intermediate authority, which is not sent along.
    LeafOnly,
    /// One whose time is over.
    Expired,
    /// One whose time has not come.
    NotYet,
    /// One for another name.
    OtherName,
    /// One that its own key signed.
    SelfSigned,
    /// One of an authority that nobody knows.
    UnknownIssuer,
    /// A good one, and proof of another key than its own.
    WrongKey,
    /// A good one, over TLS 1.2 only.
    Old,
    /// A good one, and the wish to see the client's.
    AsksForCertificate,
    /// A fatal alert of this number.
    Alert(u8),
    /// An HTTP response in the clear.
    Plain,
    /// A record that no handshake begins with.
    Noise,
    /// Half a record.
    Half,
    /// The end of the connection.
    Close,
    /// A reset.
    Reset,
    /// Nothing.
    Silence,
}

/// `handshake_failure` (RFC 8446, section 6).
pub(super) const HANDSHAKE_FAILURE: u8 = 40;

/// What a request for `/robots.txt` finds; other paths find nothing, those of a course of redirects excepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// A response.
    Respond(Response),
    /// A redirect.
    Redirect(Course),
    /// The request is read and the connection reset.
    Reset,
    /// What no server in good health says.
    Play(Play),
    /// The first request finds the one, all later ones the other.
    AtFirst(Box<Self>, Box<Self>),
}

/// Bytes as they are, and what comes after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Play {
    pub(super) bytes: Bytes,
    pub(super) then: Then,
}

/// What comes after the bytes of a [`Play`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// The end of the connection, said in due form.
    Close,
    /// The end of the connection, without TLS's word for it.
    Leave,
    /// A reset.
    Reset,
    /// Nothing: the connection stays open.
    Hold,
    /// The same piece again and again, with this pause, so often or for ever; then the end of the connection.
    Repeat {
        /// What is sent.
        piece: Bytes,
        /// The pause before each.
        every: Duration,
        /// How often; nothing is for ever.
        times: Option<u32>,
    },
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
    /// To ever new paths of this host.
    Endless,
    /// To this location, in which `{host}` stands for this name; what it leads to on this host is the response.
    Once {
        /// The redirect's status.
        status: u16,
        /// The location as it is sent.
        location: String,
        /// What other paths than `/robots.txt` find.
        response: Response,
    },
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

    /// The same with these header lines too, each with its line end.
    pub(super) fn with(mut self, fields: &str) -> Self {
        self.fields = [&self.fields[..], fields.as_bytes()].concat().into();
        self
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
