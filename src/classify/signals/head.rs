//! What only the head of a response can hold: hints about that response, and not about the site.
//!
//! Many servers add such fields to everything, robots.txt included, which makes them cheap to see here; that the pages
//! have them too is not known.

use std::borrow::Cow;

use super::found::{Example, Expected, Meaning, Read, Signal, Sink, Statement};
use crate::observation::Response;

pub(super) const TABLE: &[Signal] = &[
    Signal {
        kind: "tdm-reservation",
        syntax: "tdm-reservation: 1",
        doc: "Rights of text and data mining are reserved (1), or are not (0).",
        status: "TDMRep, a final report of a W3C community group.",
        example: Example::head(200, "TDM-Reservation: 1\n", &[hint(None, "1")]),
        read: Read::Head(|response, sink| {
            for value in fields(response, "tdm-reservation") {
                // Any other value is as good as none.
                let meaning = match value.trim() {
                    "1" => Meaning::ReservesAi,
                    "0" => Meaning::GrantsAi,
                    _ => Meaning::Unknown,
                };
                sink.say(Statement::new(None, Some(Cow::Borrowed(value.trim())), meaning));
            }
        }),
    },
    Signal {
        kind: "tdm-policy",
        syntax: "tdm-policy: https://example.com/policy.json",
        doc: "Where the policy stands under which text and data mining may be had.",
        status: "TDMRep, a final report of a W3C community group.",
        example: Example::head(
            200,
            "TDM-Policy: https://example.com/policy.json\n",
            &[hint(None, "https://example.com/policy.json")],
        ),
        read: Read::Head(|response, sink| {
            for value in fields(response, "tdm-policy") {
                sink.say(Statement::new(None, Some(Cow::Borrowed(value.trim())), Meaning::Neutral));
            }
        }),
    },
    Signal {
        kind: "x-robots-tag",
        syntax: "X-Robots-Tag: [agent: ]noai, noimageai",
        doc: "The response may not become part of a data set for AI; the key is the agent that is spoken to.",
        status: "A convention of 2022 (DeviantArt), read by img2dataset.",
        example: Example::head(
            200,
            "X-Robots-Tag: noindex, noai\nX-Robots-Tag: mybot: noimageai\n",
            &[hint(None, "noai"), hint(Some("mybot"), "noimageai")],
        ),
        read: Read::Head(robots_tags),
    },
    Signal {
        kind: "price",
        syntax: "status 402, crawler-price: USD 0.01",
        doc: "What a crawler is asked to pay for the response; the key is the field. A price is no opt-out.",
        status: "Vendors: crawler-price of Cloudflare's pay per crawl, payment-required of x402.",
        example: Example::head(402, "Crawler-Price: USD 0.01\n", &[hint(Some("crawler-price"), "USD 0.01")]),
        read: Read::Head(|response, sink| {
            for name in ["crawler-price", "payment-required"] {
                // With another status such a field is no price of this response.
                for value in fields(response, name).filter(|_| response.status == 402) {
                    sink.say(Statement::new(
                        Some(Cow::Borrowed(name)),
                        Some(Cow::Borrowed(value.trim())),
                        Meaning::Neutral,
                    ));
                }
            }
        }),
    },
];

const fn hint(key: Option<&'static str>, value: &'static str) -> Expected {
    Expected { scope: "response", path: None, key, value: Some(value), line: None }
}

fn fields<'r>(response: &'r Response, name: &'static str) -> impl Iterator<Item = &'r str> {
    response.headers.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
}

fn robots_tags(response: &Response, sink: &mut Sink<'_>) {
    for field in fields(response, "x-robots-tag") {
        let mut agent = None;
        for rule in field.split(',').map(str::trim) {
            let rule = match rule.split_once(':') {
                // An agent in front speaks for all that follow; some rules have a colon of their own.
                Some((name, rule)) if !has_value(name.trim_end()) => {
                    agent = Some(name.trim_end());
                    rule.trim_start()
                }
                _ => rule,
            };
            if let Some(meaning) = robots_rule(rule) {
                sink.say(Statement::new(agent.map(Cow::Borrowed), Some(Cow::Borrowed(rule)), meaning));
            }
        }
    }
}

/// Whether a colon after this name belongs to a rule.
fn has_value(name: &str) -> bool {
    ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"]
        .iter()
        .any(|rule| name.eq_ignore_ascii_case(rule))
}

/// What a rule says of AI, if it does.
fn robots_rule(rule: &str) -> Option<Meaning> {
    let is = |name: &str| rule.eq_ignore_ascii_case(name);
    if is("noai") || is("noimageai") || is("disallowaitraining") {
        Some(Meaning::ReservesTraining)
    } else if is("allowaitraining") {
        Some(Meaning::GrantsTraining)
    } else if rule.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("noai")) {
        // draft-canel-robots-ai-control-01: any name that starts so.
        Some(Meaning::ReservesAi)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use crate::classify::signals::tests::said_by_head;

    #[track_caller]
    fn check(name: &str, field: &str, expected: &[&str]) {
        assert_eq!(said_by_head(200, &[(name, field)]), expected, "{name}: {field}");
    }

    #[test]
    fn tdmrep_knows_one_and_zero() {
        check("tdm-reservation", "1", &["tdm-reservation | response | - | - | 1 | - | reserves-ai"]);
        check("tdm-reservation", " 0 ", &["tdm-reservation | response | - | - | 0 | - | grants-ai"]);
        for odd in ["yes", "2", "", "1, 1", "\"1\"", "01"] {
            check("tdm-reservation", odd, &[&format!("tdm-reservation | response | - | - | {odd} | - | unknown")]);
        }
        check("tdm-policy", "https://e.com/p", &["tdm-policy | response | - | - | https://e.com/p | - | neutral"]);
    }

    #[test]
    fn robots_tags_are_heard_where_they_speak_of_ai() {
        let tag = |key: &str, value: &str, meaning: &str| {
            format!("x-robots-tag | response | - | {key} | {value} | - | {meaning}")
        };
        check(
            "x-robots-tag",
            "noai, noimageai",
            &[&tag("-", "noai", "reserves-training"), &tag("-", "noimageai", "reserves-training")],
        );
        check("x-robots-tag", "NoAI", &[&tag("-", "NoAI", "reserves-training")]);
        check("x-robots-tag", "noindex,nofollow , noarchive", &[]);
        check("x-robots-tag", "googlebot: noindex, noai", &[&tag("googlebot", "noai", "reserves-training")]);
        check(
            "x-robots-tag",
            "unavailable_after: 25 Jun 2030 15:00:00 PST, noai",
            &[&tag("-", "noai", "reserves-training")],
        );
        check("x-robots-tag", "max-snippet:-1,noai", &[&tag("-", "noai", "reserves-training")]);
        check("x-robots-tag", "noAIinput", &[&tag("-", "noAIinput", "reserves-ai")]);
        check("x-robots-tag", "noa\u{e9}i, noair\u{e9}, all", &[&tag("-", "noair\u{e9}", "reserves-ai")]);
        check("x-robots-tag", "", &[]);
    }

    #[test]
    fn a_price_is_one_where_the_response_asks_for_payment() {
        let price = |field: &str, value: &str| format!("price | response | - | {field} | {value} | - | neutral");
        let said = |status, field| said_by_head(status, &[(field, " USD 0.01")]);
        assert_eq!(said(402, "crawler-price"), [price("crawler-price", "USD 0.01")]);
        assert_eq!(said(402, "payment-required"), [price("payment-required", "USD 0.01")]);
        for (status, field) in [(200, "crawler-price"), (403, "crawler-price"), (402, "price"), (402, "retry-after")] {
            assert!(said(status, field).is_empty(), "{status} {field}");
        }
    }
}
