//! Redirects: those that lead to a file, and those that lead nowhere or must not be followed.
//!
//! Deliberately absent: `localhost`. A resolver library may know it without asking (RFC 6761, section 6.3), as 127.0.0.1,
//! and that is within a rehearsal's reach.

use super::{Fault, file};
use crate::outcome::{Cause, Kind};
use crate::rehearsal::behaviour::{Behaviour, Course, Reply, Response};

pub(super) const TABLE: &[Fault] = &[
    leads("redirect-301", "Status 301, to another path.", |_| once(301, MOVED)),
    leads("redirect-302", "Status 302, to another path.", |_| once(302, MOVED)),
    leads("redirect-303", "Status 303, to another path.", |_| once(303, MOVED)),
    leads("redirect-307", "Status 307, to another path.", |_| once(307, MOVED)),
    leads("redirect-308", "Status 308, to another path.", |_| once(308, MOVED)),
    leads("redirect-relative", "To a path relative to the file's.", |_| to("moved/robots.txt")).plain_too(),
    leads("redirect-query", "To a query.", |_| to("?again")).plain_too(),
    leads("redirect-protocol-relative", "To the same scheme.", |_| to("//{host}/moved/robots.txt")).plain_too(),
    leads("redirect-capitals", "To scheme and host in capitals.", |_| to("HTTPS://RULES.TEST/robots.txt")),
    leads("redirect-fragment", "To a URL with a fragment.", |_| to("/moved/robots.txt#top")),
    leads("redirect-credentials", "To a URL with credentials, which are not sent.", |_| {
        to("https://user:secret@{host}/moved/robots.txt")
    }),
    leads("redirect-unicode", "To a path of raw UTF-8.", |_| to("/b\u{fc}cher/robots.txt")),
    leads("redirect-default-port", "To a URL that names its scheme's own port.", |_| {
        to("https://{host}:443/moved/robots.txt")
    }),
    leads("redirect-space", "To a URL with white space around it.", |_| to(" \t/moved/robots.txt \t")),
    leads("redirect-odd-path", "To a path with every odd character.", |_| to("/moved/|^`{}[]<>\\'~!$&()*+,;=%zz")),
    leads("redirect-8-kb", "To a URL of 8 KB.", |_| to(&format!("/{}", "long/".repeat(1600)))),
    leads("redirect-to-www", "To its name with www.", |_| Behaviour::open(Reply::Redirect(Course::Www))),
    Fault::plays_a_part("www.redirect-to-www", "It serves a file.", |_| Behaviour::open(Reply::Respond(file()))),
    leads("redirect-upgrade", "From http to https.", |_| Behaviour::open(Reply::Redirect(Course::Upgrade(file())))),
    leads("redirect-downgrade", "From https to http.", |_| to("http://http-only.test/robots.txt")),
    leads("redirect-other-site", "To another host.", |_| to("https://rules.test/robots.txt")).plain_too(),
    leads("hops-1", "One redirect.", |_| hops(1)),
    leads("hops-2", "Two redirects.", |_| hops(2)),
    leads("hops-3", "Three redirects.", |_| hops(3)),
    leads("hops-4", "Four redirects.", |_| hops(4)),
    leads("hops-5", "Five redirects.", |_| hops(5)),
    stops("hops-6", Cause::RedirectLimit, "Six redirects.", |_| hops(6)),
    stops("redirect-endless", Cause::RedirectLimit, "Redirects to ever new paths.", |_| {
        Behaviour::open(Reply::Redirect(Course::Endless))
    })
    .plain_too(),
    stops("loop", Cause::RedirectLoop, "To another path and back.", |_| Behaviour::open(Reply::Redirect(Course::Loop))),
    stops("loop-self", Cause::RedirectLoop, "To itself.", |_| to("/robots.txt")).plain_too(),
    stops("loop-fragment", Cause::RedirectLoop, "To itself, with a fragment.", |_| to("/robots.txt#again")),
    stops("redirect-no-location", Cause::RedirectNoLocation, "To nowhere: no location.", |host| {
        Behaviour::open(Reply::Respond(Response::page(302, host)))
    })
    .plain_too(),
    // An empty reference is the URL itself (RFC 3986, section 4.4).
    stops("redirect-empty-location", Cause::RedirectLoop, "To an empty location, which is itself.", |_| to("")),
    bad("redirect-bad-host", "To a host that no URL can have.", |_| to("https://exa mple/robots.txt")),
    bad("redirect-bad-port", "To a port that does not exist.", |_| to("https://rules.test:99999/robots.txt")),
    bad("redirect-bad-bracket", "To half an IPv6 address.", |_| to("http://[::1/robots.txt")),
    bad("redirect-no-host", "To a URL without a host.", |_| to("https://")),
    bad("redirect-long-label", "To a host with a label of 64 bytes.", |_| {
        to(&format!("https://{}.test/robots.txt", "x".repeat(64)))
    }),
    bad("redirect-dots", "To a host with an empty label.", |_| to("https://rules..test/robots.txt")),
    bad("redirect-70-kb", "To a URL of 70 KB.", |_| to(&format!("/{}", "long/".repeat(14_000)))),
    to_ip("redirect-to-ip", "To an IPv4 address.", |_| to("http://127.10.0.5/robots.txt")),
    to_ip("redirect-to-ip-decimal", "To an IPv4 address as one number.", |_| to("http://2131361797/robots.txt")),
    to_ip("redirect-to-ip-hex", "To an IPv4 address in hexadecimal.", |_| to("http://0x7f0a0005/robots.txt")),
    to_ip("redirect-to-ip-octal", "To an IPv4 address in octal.", |_| to("http://0177.012.0.05/robots.txt")),
    to_ip("redirect-to-ip-short", "To an IPv4 address with two parts left out.", |_| to("http://127.5/robots.txt")),
    to_ip("redirect-to-ip-dot", "To an IPv4 address with a dot at its end.", |_| to("http://127.10.0.5./robots.txt")),
    to_ip("redirect-to-ip-wide", "To an IPv4 address in full-width digits.", |_| {
        to("http://\u{ff11}\u{ff12}\u{ff17}.10.0.5/robots.txt")
    }),
    to_ip("redirect-to-ip-escaped", "To an IPv4 address in percent-encoding.", |_| {
        to("http://%3127.10.0.5/robots.txt")
    }),
    to_ip("redirect-to-ip-v6", "To an IPv6 address.", |_| to("http://[::1]/robots.txt")),
    to_ip("redirect-to-ip-mapped", "To an IPv4 address inside an IPv6 one.", |_| {
        to("http://[::ffff:127.10.0.5]/robots.txt")
    }),
    to_ip("redirect-to-metadata", "To cloud metadata.", |_| to("http://169.254.169.254/latest/meta-data/")),
    to_private("redirect-to-private", "To a name with a private address.", |_| {
        to("https://dns-private-10.test/robots.txt")
    })
    .plain_too(),
    to_private("redirect-to-private-v6", "To a name with a private IPv6 address.", |_| {
        to("https://dns-unique-local.test/robots.txt")
    }),
    // One look-up decides and is the one that is dialled; a second one would find the private address.
    leads("redirect-to-rebind", "To a name whose address is good once, and private later.", |_| {
        to("https://rebind.test/robots.txt")
    })
    .unsteady(),
    other_port("redirect-port-8080", "To port 8080.", |_| to("http://{host}:8080/robots.txt")),
    other_port("redirect-port-22", "To port 22.", |_| to("https://{host}:22/robots.txt")),
    other_port("redirect-port-80-tls", "To https at port 80.", |_| to("https://{host}:80/robots.txt")),
    other_scheme("redirect-ftp", "To ftp.", |_| to("ftp://{host}/robots.txt")),
    other_scheme("redirect-file", "To a file of the asker.", |_| to("file:///etc/passwd")),
    other_scheme("redirect-javascript", "To a script.", |_| to("javascript:alert(1)")),
    other_scheme("redirect-data", "To data.", |_| to("data:text/plain,User-agent:%20*")),
    other_scheme("redirect-gopher", "To gopher.", |_| to("gopher://{host}:70/robots.txt")),
    stops("redirect-to-nxdomain", Cause::DnsNxdomain, "To a name that does not exist.", |_| {
        to("https://dns-nxdomain.test/robots.txt")
    }),
    // Such a name can be looked up, so that is what decides.
    stops("redirect-to-odd-name", Cause::DnsNxdomain, "To a name with braces, which does not exist.", |_| {
        to("https://a{b}c.test/robots.txt")
    }),
    stops("redirect-to-servfail", Cause::DnsServfail, "To a name that cannot be looked up.", |_| {
        to("https://dns-servfail.test/robots.txt")
    }),
    stops("redirect-to-refused", Cause::ConnectRefused, "To a host that refuses.", |_| {
        to("https://connect-refused.test/robots.txt")
    }),
    stops("redirect-to-timeout", Cause::ConnectTimeout, "To a host that never answers.", |_| {
        to("https://connect-timeout.test/robots.txt")
    }),
    stops("redirect-to-silent", Cause::HttpTimeout, "To a host that falls silent.", |_| {
        to("https://http-silent.test/robots.txt")
    }),
    stops("redirect-to-alert", Cause::TlsAlert, "To a host that ends handshakes.", |_| {
        to("https://tls-alert-handshake-failure.test/robots.txt")
    }),
    Fault::answers("redirect-to-404", Kind::Absent404, "To a page that is not there.", |_| {
        to("https://status-404.test/robots.txt")
    }),
    Fault::answers("redirect-to-page", Kind::Html, "To a page.", |_| to("https://html.test/robots.txt")),
];

const MOVED: &str = "/moved/robots.txt";

const fn leads(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    Fault::answers(name, Kind::Rules, about, act)
}

const fn stops(name: &'static str, cause: Cause, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    Fault::fails(name, cause, about, act)
}

const fn bad(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    stops(name, Cause::RedirectBadLocation, about, act)
}

const fn to_ip(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    stops(name, Cause::RedirectToIp, about, act)
}

const fn to_private(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    stops(name, Cause::RedirectToPrivate, about, act)
}

const fn other_port(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    stops(name, Cause::RedirectOtherPort, about, act)
}

const fn other_scheme(name: &'static str, about: &'static str, act: fn(&str) -> Behaviour) -> Fault {
    stops(name, Cause::RedirectOtherScheme, about, act)
}

fn hops(count: usize) -> Behaviour {
    Behaviour::open(Reply::Redirect(Course::Hops(count, file())))
}

fn to(location: &str) -> Behaviour {
    once(302, location)
}

fn once(status: u16, location: &str) -> Behaviour {
    Behaviour::open(Reply::Redirect(Course::Once { status, location: location.to_owned(), response: file() }))
}
