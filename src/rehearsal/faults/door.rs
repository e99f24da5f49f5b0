//! Hosts that no connection reaches, or only one of two ports.

use super::{Fault, file};
use crate::outcome::{Cause, Kind};
use crate::rehearsal::behaviour::{Behaviour, Reply, Way};

pub(super) const TABLE: &[Fault] = &[
    Fault::fails("connect-refused", Cause::ConnectRefused, "Both ports refuse.", |_| behind(Way::Refuse)),
    Fault::fails("connect-timeout", Cause::ConnectTimeout, "Neither port ever answers.", |_| behind(Way::Blackhole)),
    Fault::fails("connect-unreachable", Cause::ConnectUnreachable, "There is no route to it.", |_| {
        behind(Way::Unreachable)
    }),
    Fault::answers("http-only", Kind::Rules, "Port 443 refuses, port 80 serves a file.", |_| behind(Way::HttpOnly)),
    Fault::answers("https-only", Kind::Rules, "Port 80 refuses, port 443 serves a file.", |_| behind(Way::HttpsOnly)),
    Fault::answers("connect-refused-but-www", Kind::Rules, "It refuses; its name with www. serves a file.", |_| {
        behind(Way::Refuse)
    }),
    Fault::plays_a_part("www.connect-refused-but-www", "It serves a file.", |_| behind(Way::Open)),
    Fault::fails("connect-refused-and-www", Cause::ConnectRefused, "It refuses, with www. and without.", |_| {
        behind(Way::Refuse)
    }),
    Fault::plays_a_part("www.connect-refused-and-www", "Both ports refuse.", |_| behind(Way::Refuse)),
];

fn behind(way: Way) -> Behaviour {
    Behaviour { way, ..Behaviour::open(Reply::Respond(file())) }
}
