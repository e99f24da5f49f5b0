//! Statuses, and bot checks behind some of them.

use super::{FILE, Fault};
use crate::outcome::{Cause, Kind};
use crate::rehearsal::behaviour::{Behaviour, Reply, Response};

pub(super) const TABLE: &[Fault] = &[
    status("status-202", Kind::Rules, "The file, with status 202.", |_| file_with(202)),
    status("status-203", Kind::Rules, "The file, with status 203.", |_| file_with(203)),
    status("status-206", Kind::Rules, "The file, with status 206.", |_| file_with(206)),
    status("status-204", Kind::Empty, "No content, and a status that says so.", |_| file_with(204)),
    status("status-300", Kind::Other3xx, "Status 300.", |host| page(300, host)),
    status("status-304", Kind::Other3xx, "Status 304.", |host| page(304, host)),
    status("status-305", Kind::Other3xx, "Status 305.", |host| page(305, host)),
    status("status-306", Kind::Other3xx, "Status 306.", |host| page(306, host)),
    status("status-400", Kind::Other4xx, "Status 400.", |host| page(400, host)),
    status("status-401", Kind::Refused401, "Status 401.", |host| page(401, host)).plain_too(),
    status("status-402", Kind::Payment402, "Status 402.", |host| page(402, host)).plain_too(),
    status("status-403", Kind::Refused403, "Status 403.", |host| page(403, host)).plain_too(),
    status("status-404", Kind::Absent404, "Status 404.", |host| page(404, host)).plain_too(),
    status("status-405", Kind::Other4xx, "Status 405.", |host| page(405, host)),
    status("status-406", Kind::Other4xx, "Status 406.", |host| page(406, host)),
    status("status-410", Kind::Absent410, "Status 410.", |host| page(410, host)).plain_too(),
    status("status-418", Kind::Other4xx, "Status 418.", |host| page(418, host)).plain_too(),
    status("status-421", Kind::Other4xx, "Status 421.", |host| page(421, host)),
    status("status-423", Kind::Other4xx, "Status 423.", |host| page(423, host)),
    status("status-451", Kind::Refused451, "Status 451.", |host| page(451, host)).plain_too(),
    status("status-499", Kind::Other4xx, "Status 499.", |host| page(499, host)),
    status("status-500", Kind::ServerError, "Status 500.", |host| page(500, host)).plain_too(),
    status("status-501", Kind::ServerError, "Status 501.", |host| page(501, host)),
    status("status-502", Kind::ServerError, "Status 502.", |host| page(502, host)),
    status("status-503", Kind::ServerError, "Status 503.", |host| page(503, host)).plain_too(),
    status("status-504", Kind::ServerError, "Status 504.", |host| page(504, host)),
    status("status-508", Kind::ServerError, "Status 508.", |host| page(508, host)),
    status("status-599", Kind::ServerError, "Status 599.", |host| page(599, host)),
    status("status-600", Kind::ServerError, "Status 600, which is none.", |host| page(600, host)),
    status("status-999", Kind::ServerError, "Status 999, which is none.", |host| page(999, host)),
    status("status-520", Kind::OriginDown, "Status 520, of a CDN.", |host| page(520, host)),
    status("status-521", Kind::OriginDown, "Status 521, of a CDN.", |host| page(521, host)),
    status("status-522", Kind::OriginDown, "Status 522, of a CDN.", |host| page(522, host)).plain_too(),
    status("status-523", Kind::OriginDown, "Status 523, of a CDN.", |host| page(523, host)),
    status("status-524", Kind::OriginDown, "Status 524, of a CDN.", |host| page(524, host)),
    status("status-525", Kind::OriginDown, "Status 525, of a CDN.", |host| page(525, host)),
    status("status-526", Kind::OriginDown, "Status 526, of a CDN.", |host| page(526, host)),
    status("status-530", Kind::OriginDown, "Status 530, of a CDN.", |host| page(530, host)),
    status("status-401-with-file", Kind::Refused401, "Status 401, with the file.", |_| file_with(401)),
    status("status-404-with-file", Kind::Absent404, "Status 404, with the file.", |_| file_with(404)),
    status("status-101", Kind::ServerError, "Status 101: it changes the protocol, which nobody asked for.", |_| {
        let response = Response::new(101, "text/plain", "").with("Upgrade: websocket\r\n");
        Behaviour::open(Reply::Respond(response))
    }),
    Fault::fails("status-199", Cause::HttpEmptyReply, "Status 199, which is interim, and no other.", |host| {
        page(199, host)
    }),
    status("challenge-cloudflare", Kind::Challenge, "Cloudflare's bot check, status 403.", |host| {
        challenge(403, host, "cf-mitigated: challenge\r\n")
    })
    .plain_too(),
    status("challenge-cloudflare-503", Kind::Challenge, "Cloudflare's bot check, status 503.", |host| {
        challenge(503, host, "CF-Mitigated: challenge\r\n")
    }),
    status("challenge-aws", Kind::Challenge, "AWS WAF's bot check, status 202.", |host| {
        challenge(202, host, "x-amzn-waf-action: challenge\r\n")
    }),
    status("challenge-aws-captcha", Kind::Challenge, "AWS WAF's captcha, status 405.", |host| {
        challenge(405, host, "x-amzn-waf-action: captcha\r\n")
    }),
    status("challenge-page-only", Kind::Refused403, "A page that only looks like a bot check.", |_| {
        let body = "<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>\n";
        Behaviour::open(Reply::Respond(Response::new(403, "text/html", body).with("Server: cloudflare\r\n")))
    }),
];

const fn status(name: &'static str, kind: Kind, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    Fault::answers(name, kind, about, act)
}

fn page(status: u16, host: &str) -> Behaviour {
    Behaviour::open(Reply::Respond(Response::page(status, host)))
}

fn file_with(status: u16) -> Behaviour {
    Behaviour::open(Reply::Respond(Response::new(status, "text/plain", FILE)))
}

fn challenge(status: u16, host: &str, field: &str) -> Behaviour {
    Behaviour::open(Reply::Respond(Response::page(status, host).with(field)))
}
