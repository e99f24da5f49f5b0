//! From library errors to causes and faults: the only place in the program that looks inside them.
//!
//! Errors are told apart by downcasting along the chain of sources; at each I/O error the walk also looks at what that
//! error wraps, since TLS errors hide there. Text is compared only where a library hides the type, with a test for
//! each such case (the chains were measured against reqwest 0.13.5, hyper 1.12 and hickory 0.26).

use std::error::Error;
use std::io;

use hickory_resolver::net::{DnsError, NetError, NoRecords};
use hickory_resolver::proto::op::ResponseCode;

use super::Miss;
use crate::observation::Failure;
use crate::outcome::Cause;

crate::words! {
    /// A fault of our own machine; never a target's outcome.
    pub enum Fault {
        /// The process or the system has no file descriptor left (EMFILE, ENFILE).
        NoDescriptors = "no-descriptors",
        /// No local port or address is left (EADDRNOTAVAIL, EADDRINUSE).
        NoPorts = "no-ports",
        /// The kernel has no buffers or memory left (ENOBUFS, ENOMEM).
        NoBuffers = "no-buffers",
        /// The resolver library had no connection to any upstream.
        NoResolver = "no-resolver",
        /// The resolver no longer answers, or no longer reaches the world: not even for other names.
        SilentResolver = "silent-resolver",
        /// Nobody was heard any more, whoever was asked: the link is down.
        NoNetwork = "no-network",
        /// The processor was too busy to notice answers in time.
        Starved = "starved",
        /// Permission to open a connection was denied on this machine (EPERM, EACCES).
        Forbidden = "forbidden",
    }
}

/// How far a request had come when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The TCP connection is being opened.
    Connect,
    /// The connection is open and TLS is being spoken.
    Tls,
    /// The request was sent; the response's head is awaited.
    Head,
    /// The body is being read.
    Body,
}

/// Explains an error of the HTTP client.
pub(crate) fn explain_request(error: &(dyn Error + 'static), phase: Phase) -> Result<Failure, Fault> {
    let mut phase = phase;
    for link in chain(error) {
        if let Some(error) = link.downcast_ref::<rustls::Error>() {
            return Ok(explain_tls(error));
        }
        if link.is::<rustls::pki_types::InvalidDnsNameError>() {
            let detail = Some("the name cannot stand in a TLS handshake".to_owned());
            return Ok(Failure { cause: Cause::TlsProtocol, detail });
        }
        if let Some(error) = link.downcast_ref::<io::Error>() {
            if let Some(fault) = local_fault(error) {
                return Err(fault);
            }
            if let Some(cause) = explain_io(error, phase) {
                return Ok(Failure { cause, detail: None });
            }
        }
        let text = link.to_string();
        if text == "operation timed out" || text == "deadline has elapsed" {
            return Ok(timed_out(phase).into());
        }
        if let Some(failure) = explain_http_text(&text) {
            return Ok(failure);
        }
        // hyper-util says "tcp connect error" where the connection never opened, whatever the phase looked like.
        if text.starts_with("tcp connect error") {
            phase = Phase::Connect;
        }
    }
    let cause = match phase {
        Phase::Connect => Cause::ConnectUnreachable,
        Phase::Tls => Cause::TlsProtocol,
        Phase::Head | Phase::Body => Cause::HttpNotHttp,
    };
    Ok(Failure { cause, detail: Some(chain(error).last().map_or_else(String::new, ToString::to_string)) })
}

/// Whether TLS ended without its `close_notify`, as many servers' does.
///
/// Where nothing else says how long the body is, whether that was its end cannot be known (RFC 8446, section 6.1).
pub(crate) fn is_unclean_end(error: &(dyn Error + 'static)) -> bool {
    chain(error)
        .any(|link| link.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof))
}

/// The word for a time limit that passed in this phase.
pub(crate) fn timed_out(phase: Phase) -> Cause {
    match phase {
        Phase::Connect => Cause::ConnectTimeout,
        Phase::Tls => Cause::TlsTimeout,
        Phase::Head | Phase::Body => Cause::HttpTimeout,
    }
}

/// Explains an error of the resolver.
pub(crate) fn explain_lookup(error: &NetError) -> Miss {
    let (cause, detail) = match error {
        NetError::Dns(DnsError::NoRecordsFound(NoRecords { response_code, .. })) => {
            return explain_code(*response_code);
        }
        NetError::Dns(DnsError::ResponseCode(code)) => return explain_code(*code),
        NetError::Timeout => (Cause::DnsTimeout, None),
        NetError::Busy | NetError::NoConnections => return Miss::Fault(Fault::NoResolver),
        NetError::Io(error) => match local_fault(error) {
            Some(fault) => return Miss::Fault(fault),
            None if error.kind() == io::ErrorKind::TimedOut => (Cause::DnsTimeout, None),
            None => (Cause::DnsRefused, Some(format!("{:?}", error.kind()))),
        },
        NetError::Proto(error) => (Cause::DnsMalformed, Some(error.to_string())),
        error => (Cause::DnsMalformed, Some(error.to_string())),
    };
    Miss::Failure(Failure { cause, detail })
}

fn explain_code(code: ResponseCode) -> Miss {
    let cause = match code {
        ResponseCode::NoError => Cause::DnsNoAddress,
        ResponseCode::NXDomain => Cause::DnsNxdomain,
        ResponseCode::ServFail => Cause::DnsServfail,
        _ => Cause::DnsRefused,
    };
    let is_plain =
        matches!(code, ResponseCode::NoError | ResponseCode::NXDomain | ResponseCode::ServFail | ResponseCode::Refused);
    Miss::Failure(Failure { cause, detail: (!is_plain).then(|| code.to_string()) })
}

/// An error and its sources, outermost first, each I/O error followed by what it wraps.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let here = next?;
        next = match here.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => here.source(),
        };
        Some(here)
    })
}

fn local_fault(error: &io::Error) -> Option<Fault> {
    // Numbers of Linux and, where they differ, of macOS: EMFILE, ENFILE; EADDRINUSE, EADDRNOTAVAIL; ENOBUFS, ENOMEM;
    // EPERM, EACCES.
    match (error.raw_os_error()?, cfg!(target_os = "macos")) {
        (23 | 24, _) => Some(Fault::NoDescriptors),
        (98 | 99, false) | (48 | 49, true) => Some(Fault::NoPorts),
        (105, false) | (55, true) | (12, _) => Some(Fault::NoBuffers),
        (1 | 13, _) => Some(Fault::Forbidden),
        _ => None,
    }
}

fn explain_io(error: &io::Error, phase: Phase) -> Option<Cause> {
    use io::ErrorKind;
    Some(match (error.kind(), phase) {
        (ErrorKind::TimedOut, _) => timed_out(phase),
        (ErrorKind::ConnectionRefused, _) => Cause::ConnectRefused,
        (ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown, _) => {
            Cause::ConnectUnreachable
        }
        (ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe, Phase::Connect) => {
            Cause::ConnectRefused
        }
        (
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::NotConnected
            | ErrorKind::UnexpectedEof,
            Phase::Tls,
        ) => Cause::TlsProtocol,
        (
            ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe | ErrorKind::NotConnected,
            _,
        ) => Cause::HttpReset,
        (ErrorKind::UnexpectedEof, Phase::Head) => Cause::HttpEmptyReply,
        (ErrorKind::UnexpectedEof, Phase::Body) => Cause::HttpShortBody,
        _ => return None,
    })
}

fn explain_tls(error: &rustls::Error) -> Failure {
    let (cause, detail) = match error {
        rustls::Error::AlertReceived(alert) => (Cause::TlsAlert, format!("{alert:?}")),
        rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType) => {
            (Cause::TlsNotTls, "InvalidContentType".to_owned())
        }
        error => (Cause::TlsProtocol, error.to_string()),
    };
    Failure { cause, detail: Some(detail) }
}

/// hyper hides the kinds of its parse errors; these are the texts of version 1.12.
fn explain_http_text(text: &str) -> Option<Failure> {
    // One text for each way in which a chunk's size, or what must stand around the chunk, can be wrong.
    let starts = [
        ("Invalid chunk ", Cause::HttpBadLength),
        ("invalid chunk ", Cause::HttpBadLength),
        ("chunk extensions ", Cause::HttpBadLength),
        ("chunk trailers ", Cause::HttpHeadTooLarge),
        ("Invalid trailer ", Cause::HttpBadHeader),
        ("Invalid header ", Cause::HttpBadHeader),
    ];
    if let Some((start, cause)) = starts.into_iter().find(|(start, _)| text.starts_with(start)) {
        let detail = if start.contains("chunk") { text.to_ascii_lowercase() } else { "in a trailer".to_owned() };
        return Some(Failure { cause, detail: Some(detail) });
    }
    let cause = match text {
        "connection closed before message completed" => Cause::HttpEmptyReply,
        "invalid HTTP version parsed" | "invalid HTTP status-code parsed" => Cause::HttpNotHttp,
        "invalid HTTP header parsed" => Cause::HttpBadHeader,
        "message head is too large" => Cause::HttpHeadTooLarge,
        "invalid content-length parsed"
        | "invalid transfer-encoding parsed"
        | "unexpected transfer-encoding parsed" => Cause::HttpBadLength,
        // Listed names make URLs that the client takes, so one that it does not take came from a redirect.
        "Parsed Url is not a valid Uri" => Cause::RedirectBadLocation,
        "end of file before message length reached" | "unexpected EOF during chunk size line" => Cause::HttpShortBody,
        _ => return None,
    };
    Some(Failure { cause, detail: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: impl Error + 'static, phase: Phase, expected: Result<Cause, Fault>) {
        assert_eq!(explain_request(&error, phase).map(|failure| failure.cause), expected);
    }

    #[test]
    fn a_fault_of_our_own_is_never_a_cause() {
        for (number, fault) in [(24, Fault::NoDescriptors), (23, Fault::NoDescriptors), (12, Fault::NoBuffers)] {
            for phase in [Phase::Connect, Phase::Tls, Phase::Head, Phase::Body] {
                check(io::Error::from_raw_os_error(number), phase, Err(fault));
                check(io::Error::other(io::Error::from_raw_os_error(number)), phase, Err(fault));
            }
        }
        assert!(matches!(explain_lookup(&NetError::NoConnections), Miss::Fault(Fault::NoResolver)));
    }

    #[test]
    fn a_tls_error_is_found_two_wrappers_deep() {
        let alert = rustls::Error::AlertReceived(rustls::AlertDescription::HandshakeFailure);
        check(io::Error::other(io::Error::other(alert)), Phase::Tls, Ok(Cause::TlsAlert));
        let plain = rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType);
        check(io::Error::other(plain), Phase::Tls, Ok(Cause::TlsNotTls));
    }

    #[test]
    fn a_name_that_tls_cannot_carry_is_a_failure_of_tls() {
        let error = rustls::pki_types::ServerName::try_from("-a.example").unwrap_err();
        check(io::Error::other(error), Phase::Connect, Ok(Cause::TlsProtocol));
    }

    #[test]
    fn the_same_error_has_the_word_of_its_phase() {
        let reset = || io::Error::from(io::ErrorKind::ConnectionReset);
        check(reset(), Phase::Tls, Ok(Cause::TlsProtocol));
        check(reset(), Phase::Head, Ok(Cause::HttpReset));
        check(reset(), Phase::Body, Ok(Cause::HttpReset));
        let timeout = || io::Error::from(io::ErrorKind::TimedOut);
        check(timeout(), Phase::Connect, Ok(Cause::ConnectTimeout));
        check(timeout(), Phase::Tls, Ok(Cause::TlsTimeout));
        check(timeout(), Phase::Head, Ok(Cause::HttpTimeout));
    }

    #[test]
    fn a_chunk_that_does_not_add_up_has_a_bad_length() {
        for text in
            ["Invalid chunk size line: missing size digit", "invalid chunk size: overflow", "Invalid chunk body CR"]
        {
            let error = io::Error::new(io::ErrorKind::InvalidInput, text);
            check(io::Error::other(error), Phase::Body, Ok(Cause::HttpBadLength));
        }
        let cut = io::Error::new(io::ErrorKind::UnexpectedEof, "unexpected EOF during chunk size line");
        check(cut, Phase::Body, Ok(Cause::HttpShortBody));
    }

    #[test]
    fn a_trailer_is_judged_as_a_head_is() {
        let error = |text: &str| io::Error::new(io::ErrorKind::InvalidInput, text);
        check(error("Invalid trailer end LF"), Phase::Body, Ok(Cause::HttpBadHeader));
        check(error("chunk trailers bytes over limit"), Phase::Body, Ok(Cause::HttpHeadTooLarge));
    }

    #[test]
    fn servfail_and_no_address_stay_apart() {
        let word = |code| match explain_code(code) {
            Miss::Failure(failure) => failure.cause.word(),
            Miss::Fault(fault) => fault.word(),
        };
        assert_eq!(word(ResponseCode::NXDomain), "dns-nxdomain");
        assert_eq!(word(ResponseCode::NoError), "dns-no-address");
        assert_eq!(word(ResponseCode::ServFail), "dns-servfail");
        assert_eq!(word(ResponseCode::Refused), "dns-refused");
        assert_eq!(word(ResponseCode::NotImp), "dns-refused");
        assert_eq!(word(ResponseCode::FormErr), "dns-refused");
    }
}
