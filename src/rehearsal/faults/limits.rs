//! Servers that ask for fewer requests, and hosts that are well the second time.

use std::time::Duration;

use super::{Fault, file};
use crate::outcome::{Cause, Kind};
use crate::rehearsal::behaviour::{Behaviour, Play, Reply, Response, Then};
use crate::rehearsal::refusal::Wait;

pub(super) const TABLE: &[Fault] = &[
    Fault::answers("limited", Kind::Limited429, "Status 429, and no time.", |host| {
        Behaviour::open(Reply::Respond(Response::page(429, host)))
    })
    .plain_too(),
    Fault::answers("limited-seconds", Kind::Limited429, "Status 429, for a second.", |host| {
        refuses(429, host, Wait::Seconds(1))
    })
    .plain_too(),
    Fault::answers("limited-date", Kind::Limited429, "Status 429, until two seconds from now.", |host| {
        refuses(429, host, Wait::Date(2))
    })
    .plain_too(),
    Fault::answers("limited-odd", Kind::Limited429, "Status 429, for a time that is none.", |host| {
        Behaviour::open(Reply::Respond(Response::page(429, host).with("Retry-After: soon\r\n")))
    }),
    Fault::answers("busy-seconds", Kind::ServerError, "Status 503, for a second.", |host| {
        refuses(503, host, Wait::Seconds(1))
    }),
    Fault::answers("busy-date", Kind::ServerError, "Status 503, until two seconds from now.", |host| {
        refuses(503, host, Wait::Date(2))
    }),
    Fault::answers("limited-hour", Kind::Limited429, "Status 429, for an hour.", |host| {
        refuses(429, host, Wait::Seconds(3600))
    }),
    Fault::fails(
        "limited-hour-neighbour",
        Cause::NotAttemptedLimited,
        "Two slow redirects to an address where another host asked for an hour of peace in the meantime.",
        |_| slowly_to("https://limited-hour-gate.test/robots.txt"),
    ),
    Fault::plays_a_part("limited-hour-gate", "A slow redirect.", |_| {
        slowly_to("https://limited-hour-door.test/robots.txt")
    }),
    Fault::plays_a_part("limited-hour-door", "It stands at the address of limited-hour.", |host| {
        refuses(429, host, Wait::Seconds(3600))
    })
    .beside("limited-hour"),
    Fault::answers("at-first-503", Kind::ServerError, "Status 503 at first, a file from then on.", |host| {
        at_first(Reply::Respond(Response::page(503, host)))
    })
    .unsteady(),
    Fault::fails("at-first-reset", Cause::HttpReset, "A reset at first, a file from then on.", |_| {
        at_first(Reply::Reset)
    })
    .unsteady(),
    Fault::fails("at-first-silent", Cause::HttpTimeout, "Silence at first, a file from then on.", |_| {
        at_first(Reply::Play(Play { bytes: "".into(), then: Then::Hold }))
    })
    .unsteady(),
];

fn refuses(status: u16, host: &str, wait: Wait) -> Behaviour {
    Behaviour::open(Reply::Respond(Response::refusal(status, host, wait)))
}

/// A redirect that takes four seconds: long enough for other hosts to be asked first.
fn slowly_to(location: &str) -> Behaviour {
    let piece = format!("HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
    let then = Then::Repeat { piece: piece.into(), every: Duration::from_secs(4), times: Some(1) };
    Behaviour::open(Reply::Play(Play { bytes: "".into(), then }))
}

fn at_first(reply: Reply) -> Behaviour {
    Behaviour::open(Reply::AtFirst(Box::new(reply), Box::new(Reply::Respond(file()))))
}
