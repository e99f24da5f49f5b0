//! What the DNS server says of a name, with hickory's messages, and what damage some of them have.
//!
//! Touches nothing. Deliberately absent: other types than A and AAAA (they exist nowhere: NODATA), zones (one SOA
//! record speaks for all negative answers).

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use hickory_resolver::proto::op::{Edns, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_resolver::proto::rr::rdata::{A, AAAA, CNAME, SOA};
use hickory_resolver::proto::rr::{DNSClass, Name, RData, Record, RecordType};

use crate::rehearsal::behaviour::{Damage, Lookup, Place};
use crate::rehearsal::log::Entry;
use crate::rehearsal::web::{Existence, Web};

const TTL: u32 = 60;

/// What our answers would fit into (DNS flag day 2020).
const PAYLOAD: u16 = 1232;

/// How a query came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    Udp,
    Tcp,
}

/// What a query is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Nothing,
    Now(Vec<u8>),
    Later(Duration, Vec<u8>),
}

/// The answer to a message, or nothing if it is none that deserves one.
pub(super) fn answer(bytes: &[u8], transport: Transport, web: &Web, entry: &mut Entry) -> Said {
    let Ok(query) = Message::from_vec(bytes) else {
        entry.note("no DNS message");
        return Said::Nothing;
    };
    if query.metadata.message_type != MessageType::Query {
        entry.note("not a query");
        return Said::Nothing;
    }
    let mut reply = Message::response(query.metadata.id, query.metadata.op_code);
    reply.metadata.authoritative = true;
    reply.metadata.recursion_available = true;
    reply.metadata.recursion_desired = query.metadata.recursion_desired;
    if query.edns.is_some() {
        let mut edns = Edns::new();
        edns.set_max_payload(PAYLOAD);
        reply.set_edns(edns);
    }
    reply.add_queries(query.queries.iter().cloned());
    let lookup = match &query.queries[..] {
        _ if query.metadata.op_code != OpCode::Query => Lookup::Code(ResponseCode::NotImp.into()),
        [question] => settle(question, transport, web, entry, &mut reply),
        _ => Lookup::Code(ResponseCode::FormErr.into()),
    };
    if let Lookup::Code(code) = lookup {
        reply.metadata.response_code = code.into();
    }
    entry.status(u16::from(reply.metadata.response_code));
    let Ok(bytes) = reply.to_vec() else { return Said::Nothing };
    match lookup {
        Lookup::Silence => {
            entry.note("silence");
            Said::Nothing
        }
        Lookup::Slow(delay) => Said::Later(delay, bytes),
        Lookup::Damaged(damage) => Said::Now(damage.done_to(bytes)),
        _ => Said::Now(bytes),
    }
}

/// Fills the reply; what is left to do to it, or instead of it, is given back.
fn settle(question: &Query, transport: Transport, web: &Web, entry: &mut Entry, reply: &mut Message) -> Lookup {
    let mut name = question.name.to_ascii().to_ascii_lowercase();
    name.truncate(name.trim_end_matches('.').len());
    entry.host(&name);
    entry.path(question.query_type.to_string());
    if question.query_class != DNSClass::IN {
        return Lookup::Code(ResponseCode::Refused.into());
    }
    let (lookup, own) = match web.existence(&name) {
        Existence::At(address) => (Lookup::Own, address),
        Existence::Bare => (Lookup::NoData, Ipv4Addr::UNSPECIFIED),
        Existence::Missing => (Lookup::Code(ResponseCode::NXDomain.into()), Ipv4Addr::UNSPECIFIED),
        Existence::Odd(lookup, address) => (lookup, address),
    };
    let is_a = question.query_type == RecordType::A;
    match lookup {
        Lookup::CutOverUdp if transport == Transport::Udp => reply.metadata.truncation = true,
        Lookup::Own | Lookup::Slow(_) | Lookup::Damaged(_) | Lookup::CutOverUdp if is_a => {
            add(reply, &question.name, own.into());
        }
        Lookup::Rebind(later) if is_a => {
            let address = if web.turn(&format!("{name} A")) == 0 { own } else { later };
            add(reply, &question.name, address.into());
        }
        Lookup::Aliases(length) if is_a => {
            let mut alias = question.name.clone();
            for step in 1..=length {
                alias = add_alias(reply, &alias, &format!("alias-{step}.{name}."));
            }
            add(reply, &alias, own.into());
        }
        Lookup::AliasOnly(code) => {
            add_alias(reply, &question.name, &format!("nowhere.{name}."));
            return Lookup::Code(code);
        }
        Lookup::Addresses(places) => {
            let at = |place: &Place| match place {
                Place::Own => IpAddr::V4(own),
                Place::At(address) => *address,
            };
            let wanted = |address: &IpAddr| match question.query_type {
                RecordType::A => address.is_ipv4(),
                RecordType::AAAA => address.is_ipv6(),
                _ => false,
            };
            for address in places.iter().map(at).filter(wanted) {
                add(reply, &question.name, address);
            }
        }
        Lookup::CodeForA(code) if is_a => return Lookup::Code(code),
        _ => {}
    }
    if reply.answers.is_empty() && !reply.metadata.truncation {
        // RFC 2308: what a negative answer is worth stands in a SOA record of the authority section.
        let soa = SOA::new(Name::root(), Name::root(), 1, 3600, 600, 86_400, 60);
        reply.add_authority(Record::from_rdata(Name::root(), TTL, RData::SOA(soa)));
    }
    lookup
}

fn add(reply: &mut Message, name: &Name, address: IpAddr) {
    let data = match address {
        IpAddr::V4(address) => RData::A(A(address)),
        IpAddr::V6(address) => RData::AAAA(AAAA(address)),
    };
    reply.add_answer(Record::from_rdata(name.clone(), TTL, data));
}

/// Adds an alias, and gives its target; a target that is too long for a name is left out.
fn add_alias(reply: &mut Message, name: &Name, target: &str) -> Name {
    let Ok(target) = Name::from_ascii(target) else { return name.clone() };
    reply.add_answer(Record::from_rdata(name.clone(), TTL, RData::CNAME(CNAME(target.clone()))));
    target
}

impl Damage {
    /// A message with this damage; the first answer's name is compressed to two bytes, as hickory writes it.
    fn done_to(self, mut bytes: Vec<u8>) -> Vec<u8> {
        const HEADER: usize = 12;
        // The question's name, its end, its type and its class.
        let name = bytes[HEADER..].iter().position(|byte| *byte == 0).unwrap_or(0);
        let answer = HEADER + name + 5;
        match self {
            Self::Cut => bytes.truncate(HEADER + name / 2),
            Self::Counts => bytes[6..8].copy_from_slice(&200_u16.to_be_bytes()),
            Self::Noise => bytes[2..].fill(0xff),
            Self::Pointer if answer + 2 <= bytes.len() => {
                let itself = u16::try_from(answer).unwrap_or(0) | 0xc000;
                bytes[answer..answer + 2].copy_from_slice(&itself.to_be_bytes());
            }
            // Name, type, class and TTL take ten bytes; then comes the length.
            Self::ShortAddress if answer + 12 <= bytes.len() => {
                bytes[answer + 10..answer + 12].copy_from_slice(&[0, 3]);
            }
            Self::OtherId => bytes[0] ^= 0xff,
            Self::OtherQuestion => bytes[HEADER + 1] = b'#',
            Self::Pointer | Self::ShortAddress => {}
        }
        bytes
    }
}
