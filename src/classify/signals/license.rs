//! License: a pointer to terms in machine-readable form (RSL 1.0).
//!
//! The record belongs to no group, wherever it stands, and there may be several. Only an absolute URL points to terms;
//! `License: MIT` is kept and points to nothing. The terms themselves are another file, which is not asked for here.

use std::borrow::Cow;

use url::Url;

use super::found::{Example, Expected, Keys, Meaning, Read, Signal, Sink, Statement, text};
use crate::observation::Response;

/// The name of the signal.
pub(super) const KIND: &str = "license";

pub(super) const TABLE: &[Signal] = &[
    Signal {
        kind: KIND,
        syntax: "License: https://example.com/license.xml",
        doc: "Where the terms of use stand, for all of the site.",
        status: "RSL 1.0, a recommendation of 2025-11.",
        example: Example::file(
            "License: https://example.com/license.xml\nUser-agent: *\nDisallow: /x\nlicense: MIT\n",
            &[
                Expected {
                    scope: "file",
                    path: None,
                    key: None,
                    value: Some("https://example.com/license.xml"),
                    line: Some(1),
                },
                Expected { scope: "file", path: None, key: None, value: Some("MIT"), line: Some(4) },
            ],
        ),
        read: Read::Record {
            keys: Keys::Are(&["license"]),
            is_scoped: false,
            read: |_, value, sink| point(None, text(value), sink),
        },
    },
    Signal {
        kind: KIND,
        syntax: "Link: <https://example.com/license.xml>; rel=\"license\"; type=\"application/rsl+xml\"",
        doc: "Where the terms of one response stand.",
        status: "RSL 1.0 and RFC 8288.",
        example: Example::head(
            200,
            "Link: <https://a.example/x>; rel=next, <https://a.example/l.xml>; rel=\"license\"; type=\"application/rsl+xml\"\n",
            &[Expected {
                scope: "response",
                path: None,
                key: Some("application/rsl+xml"),
                value: Some("https://a.example/l.xml"),
                line: None,
            }],
        ),
        read: Read::Head(from_head),
    },
];

fn point(kind: Option<Cow<'_, str>>, target: Cow<'_, str>, sink: &mut Sink<'_>) {
    let is_absolute = Url::parse(&target).is_ok_and(|url| url.has_host());
    let meaning = if is_absolute { Meaning::Neutral } else { Meaning::Unknown };
    sink.say(Statement::new(kind, Some(target), meaning));
}

fn from_head(response: &Response, sink: &mut Sink<'_>) {
    for (_, field) in response.headers.iter().filter(|(name, _)| name == "link") {
        for link in links(field) {
            if link.is_license {
                // A relative target is relative to the URL of the response.
                let target = Url::parse(&response.url).and_then(|base| base.join(link.target));
                let target = target.map_or(Cow::Borrowed(link.target), |url| Cow::Owned(url.into()));
                point(link.media_type, target, sink);
            }
        }
    }
}

/// A link of a Link field (RFC 8288, section 3).
#[derive(Debug, Default)]
struct Link<'f> {
    target: &'f str,
    is_license: bool,
    media_type: Option<Cow<'f, str>>,
}

/// The links of one field; what does not fit the grammar ends the reading of the field, without guesses.
fn links(field: &str) -> Vec<Link<'_>> {
    let mut links = Vec::new();
    let mut rest = field;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let Some((target, after)) = rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) else { return links };
        rest = after;
        let mut link = Link { target: target.trim(), ..Link::default() };
        let mut has_relation = false;
        while let Some(parameters) = rest.trim_start().strip_prefix(';') {
            let (name, value, after) = parameter(parameters);
            rest = after;
            // Of several relations only the first counts (section 3.3).
            if name.eq_ignore_ascii_case("rel") && !has_relation {
                has_relation = true;
                link.is_license = value.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("license"));
            } else if name.eq_ignore_ascii_case("type") && link.media_type.is_none() {
                link.media_type = Some(value);
            }
        }
        links.push(link);
    }
}

/// The first parameter of a list of them: its name, its value without quotes, and what comes after it.
fn parameter(text: &str) -> (&str, Cow<'_, str>, &str) {
    let text = text.trim_start();
    let end = text.find(['=', ';', ',']).unwrap_or(text.len());
    let (name, rest) = (text[..end].trim_end(), &text[end..]);
    let Some(value) = rest.strip_prefix('=').map(str::trim_start) else { return (name, Cow::Borrowed(""), rest) };
    let Some(quoted) = value.strip_prefix('"') else {
        let end = value.find([';', ',']).unwrap_or(value.len());
        return (name, Cow::Borrowed(value[..end].trim_end()), &value[end..]);
    };
    let mut plain = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (name, Cow::Owned(plain), &quoted[at + 1..]),
            '\\' => plain.extend(letters.next().map(|(_, letter)| letter)),
            letter => plain.push(letter),
        }
    }
    (name, Cow::Owned(plain), "")
}

#[cfg(test)]
mod tests {
    use crate::classify::signals::tests::{said, said_by_head};

    #[test]
    fn a_record_speaks_to_everybody_and_points_to_terms_if_it_is_a_url() {
        let cases: &[(&str, &[&str])] = &[
            ("License: https://e.com/l.xml", &["license | file | - | - | https://e.com/l.xml | 2 | neutral"]),
            ("LICENSE :\thttps://other.example/l", &["license | file | - | - | https://other.example/l | 2 | neutral"]),
            (
                "License: https://e.com/a\nLicense: https://e.com/b",
                &[
                    "license | file | - | - | https://e.com/a | 2 | neutral",
                    "license | file | - | - | https://e.com/b | 3 | neutral",
                ],
            ),
            // A fragment is a comment.
            ("License: https://e.com/l#terms", &["license | file | - | - | https://e.com/l | 2 | neutral"]),
            ("License: /license.xml", &["license | file | - | - | /license.xml | 2 | unknown"]),
            ("License: CC BY 4.0", &["license | file | - | - | CC BY 4.0 | 2 | unknown"]),
            ("License: mailto:a@e.com", &["license | file | - | - | mailto:a@e.com | 2 | unknown"]),
            ("License:", &["license | file | - | - |  | 2 | unknown"]),
            ("# License: https://e.com/l.xml", &[]),
            ("Licence: https://e.com/l.xml", &[]),
            // Third parties' inventions stay unknown records.
            ("Permits: ai-train\nProhibits: ai-input", &[]),
        ];
        for (lines, expected) in cases {
            assert_eq!(said(&format!("User-agent: *\n{lines}\nDisallow: /y\n")), *expected, "{lines}");
        }
    }

    #[test]
    fn a_link_is_a_licence_by_its_first_relation() {
        let cases: &[(&str, &[&str])] = &[
            ("<https://e.com/l>; rel=license", &["license | response | - | - | https://e.com/l | - | neutral"]),
            (
                "<https://e.com/l> ; type=a/b ; REL = \"next License\"",
                &["license | response | - | a/b | https://e.com/l | - | neutral"],
            ),
            ("</l.xml>; rel=license", &["license | response | - | - | https://example.com/l.xml | - | neutral"]),
            // Commas and semicolons in a target or in quotes part nothing.
            (
                "<https://e.com/a,b;c>; title=\"x, <y>; rel=license\\\"\"; rel=license",
                &["license | response | - | - | https://e.com/a,b;c | - | neutral"],
            ),
            (
                "<https://e.com/1>; rel=license,<https://e.com/2>;rel=license",
                &[
                    "license | response | - | - | https://e.com/1 | - | neutral",
                    "license | response | - | - | https://e.com/2 | - | neutral",
                ],
            ),
            ("<https://e.com/l>; rel=next; rel=license", &[]),
            ("<https://e.com/l>; title=\"rel=license\"", &[]),
            ("<https://e.com/l>; rel=licensed", &[]),
            ("https://e.com/l; rel=license", &[]),
            ("<https://e.com/l; rel=license", &[]),
            ("<https://e.com/l>; rel=\"license", &["license | response | - | - | https://e.com/l | - | neutral"]),
            ("", &[]),
        ];
        for (field, expected) in cases {
            assert_eq!(said_by_head(200, &[("link", field)]), *expected, "{field}");
        }
    }
}
