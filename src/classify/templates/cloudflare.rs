//! What Cloudflare writes into the files of sites behind it, and what others pass off as that.
//!
//! Its blocks stand between marks, before the site's own file. A block's `User-agent: *` with `Allow: /` merges with the
//! site's own group for `*`, where it ties with a `Disallow: /` and wins.

use std::borrow::Cow;

use super::found::{Decision, Example, Kind, Seen, Template};
use super::sheet::Sheet;
use crate::robots::{Dialect, RobotsTxt};

/// How the line begins with which a managed block does, whoever's it is.
const BEGIN: &str = "# BEGIN ";

const MANAGED: &str = "cloudflare managed content";

const SYNC: &str = "cloudflare bot preference sync";

const POLICY: &str = "As a condition of accessing this website, you agree to abide by the";

pub(super) const TABLE: &[Template] = &[
    Template {
        name: "cloudflare-managed",
        kind: Kind::ManagedBlock,
        doc: "Cloudflare's managed block against AI training, between lines that say BEGIN and END Cloudflare Managed \
              content. Versions: 2025-07 without Content-Signal, 2025-09 with it, 2026-07 with its key use.",
        who: "switch: it is turned on for a zone; unknown where the head cannot tell whether Cloudflare sent it.",
        examples: &[
            Example {
                head: "Server: cloudflare\nCF-RAY: 8f0a1b2c3d4e5f60-FRA\n",
                body: "# BEGIN Cloudflare Managed content\nUser-agent: CCBot\nDisallow: /\n\nUser-agent: GPTBot\n\
                       Disallow: /\n# END Cloudflare Managed Content\n\nUser-agent: *\nDisallow: /private/\n",
                version: Some("2025-07"),
                decision: Decision::Switch,
                of_file: Decision::Switch,
                own: &[],
            },
            Example {
                head: "CF-RAY: 8f0a1b2c3d4e5f60-FRA\n",
                body: "# BEGIN Cloudflare Managed content\n\nUser-Agent: *\nContent-signal: search=yes, ai-train=no\n\
                       Allow: /\n\nUser-agent: ClaudeBot\nDisallow: /\n\n# END Cloudflare Managed Content\n\
                       User-agent: *\nDisallow: /\n\nUser-agent: AhrefsBot\nDisallow: /\n",
                version: Some("2025-09"),
                decision: Decision::Switch,
                of_file: Decision::Switch,
                own: &["ahrefsbot"],
            },
            Example {
                head: "Server: cloudflare\n",
                body: "# BEGIN Cloudflare Managed content\n\nUser-agent: *\n\
                       Content-Signal: search=yes,ai-train=no,use=reference\nAllow: /\n\nUser-agent: GPTBot\n\
                       Disallow: /\n\n# END Cloudflare Managed Content\n\nUser-agent: GPTBot\nAllow: /open/\n",
                version: Some("2026-07"),
                decision: Decision::Switch,
                of_file: Decision::Own,
                own: &["gptbot"],
            },
            Example::decided(
                Some("2026-07"),
                Decision::Unknown,
                "# BEGIN Cloudflare Managed content\nUser-agent: *\nContent-Signal: ai-train=no,use=reference\nAllow: /\n\
                 # END Cloudflare Managed Content\n",
            ),
        ],
        marks: &[BEGIN],
        read: |sheet| {
            let block = Block::find(sheet, MANAGED)?;
            (!block.is_copied(sheet)).then(|| block.seen(sheet).version(block.version()))
        },
    },
    Template {
        name: "cloudflare-bot-preference-sync",
        kind: Kind::ManagedBlock,
        doc: "Cloudflare's block that says in robots.txt what the zone's AI bot policies are, between lines that say \
              BEGIN and END Cloudflare Bot Preference Sync.",
        who: "switch: it follows the policies that are set for a zone; unknown where the head cannot tell whether \
              Cloudflare sent it.",
        examples: &[Example {
            head: "Server: cloudflare\n",
            body: "# BEGIN Cloudflare Bot Preference Sync\n\nUser-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n\n\
                   # END Cloudflare Bot Preference Sync\n\nUser-agent: *\nDisallow: /private/\n",
            version: None,
            decision: Decision::Switch,
            of_file: Decision::Switch,
            own: &[],
        }],
        marks: &[BEGIN],
        read: |sheet| {
            let block = Block::find(sheet, SYNC)?;
            (!block.is_copied(sheet)).then(|| block.seen(sheet))
        },
    },
    Template {
        name: "cloudflare-policy",
        kind: Kind::ManagedBlock,
        doc: "Cloudflare's comment on content signals alone, which zones without a file get: no group, no preference, as \
              good as no file.",
        who: "none: it only explains words.",
        examples: &[Example::silent(
            None,
            "# As a condition of accessing this website, you agree to abide by the following\n# content signals:\n",
        )],
        marks: &[POLICY],
        read: |sheet| {
            let says_nothing = sheet.file.groups().is_empty() && !sheet.file.has_known_record();
            says_nothing.then(|| Seen { last_line: Some(sheet.file.line_count()), ..Seen::silent(sheet) })
        },
    },
    Template {
        name: "managed-block",
        kind: Kind::ManagedBlock,
        doc: "The block of another CDN or hoster, between lines that say BEGIN and END NAME Managed content; the version \
              is the name.",
        who: "unknown: vendors differ, and few of them name AI agents.",
        examples: &[Example {
            head: "",
            body: "# BEGIN example.host Managed content\nUser-agent: MJ12bot\nDisallow: /\n\
                   # END example.host Managed content\nUser-agent: dotbot\nDisallow: /\n",
            version: Some("example.host"),
            decision: Decision::Unknown,
            of_file: Decision::None,
            own: &["dotbot"],
        }],
        marks: &[BEGIN],
        read: |sheet| {
            let name = sheet.lines_from_mark().find_map(|(_, line)| vendor(line))?;
            let block = Block::find(sheet, &format!("{name} managed content"))?;
            let seen = Seen { line: block.first, last_line: Some(block.last?), ..Seen::silent(sheet) };
            Some(seen.decided(Decision::Unknown).version(name))
        },
    },
    Template {
        name: "cloudflare-copied",
        kind: Kind::Copied,
        doc: "Cloudflare's marks in a file that it did not send, or around lines that it does not write: somebody copied \
              them, or lost one. The version is the block that was copied.",
        who: "own: who copies a block wants what it says.",
        examples: &[
            Example {
                head: "Server: nginx\n",
                body: "# BEGIN Cloudflare Managed content\nUser-agent: GPTBot\nDisallow: /\n\
                       # END Cloudflare Managed Content\n",
                version: Some("managed"),
                decision: Decision::Own,
                of_file: Decision::Own,
                own: &["gptbot"],
            },
            Example {
                head: "Server: cloudflare\n",
                body: "# BEGIN Cloudflare Bot Preference Sync\nUser-agent: GPTBot\nDisallow: /blog/\n\
                       # END Cloudflare Bot Preference Sync\n",
                version: Some("bot-preference-sync"),
                decision: Decision::Own,
                of_file: Decision::Own,
                own: &["gptbot"],
            },
        ],
        marks: &[BEGIN],
        read: |sheet| {
            let of = |name: &str, version: &'static str| {
                let block = Block::find(sheet, name).filter(|block| block.is_copied(sheet))?;
                Some(Seen { line: block.first, ..Seen::silent(sheet) }.decided(Decision::Own).version(version))
            };
            of(MANAGED, "managed").or_else(|| of(SYNC, "bot-preference-sync"))
        },
    },
];

/// What stands between two marks.
struct Block {
    first: u32,
    /// The line of the second mark, if there is one.
    last: Option<u32>,
    /// The lines between them.
    text: Vec<u8>,
}

impl Block {
    fn find(sheet: &Sheet<'_>, name: &str) -> Option<Self> {
        let is_mark = |line: &[u8], word: &str| {
            let rest = line.trim_ascii().strip_prefix(b"#").map(<[u8]>::trim_ascii_start);
            let rest = rest.and_then(|rest| rest.get(..word.len()).map(|start| (start, &rest[word.len()..])));
            rest.is_some_and(|(start, rest)| {
                start.eq_ignore_ascii_case(word.as_bytes()) && rest.trim_ascii().eq_ignore_ascii_case(name.as_bytes())
            })
        };
        let mut lines = sheet.lines_from_mark();
        let (first, _) = lines.find(|(_, line)| is_mark(line, "BEGIN"))?;
        let mut text = Vec::new();
        for (number, line) in lines {
            if is_mark(line, "END") {
                return Some(Self { first, last: Some(number), text });
            }
            text.extend_from_slice(line);
            text.push(b'\n');
        }
        Some(Self { first, last: None, text })
    }

    /// Whether it cannot be Cloudflare's: another server sent it, or there are lines that Cloudflare does not write.
    fn is_copied(&self, sheet: &Sheet<'_>) -> bool {
        let inside = RobotsTxt::parse(&self.text, Dialect::Rfc9309);
        let is_foreign = inside.records().any(|record| !record.key.eq_ignore_ascii_case(b"content-signal"))
            || inside.rules().any(|rule| rule.pattern != b"/" && !rule.pattern.is_empty());
        self.last.is_none() || is_foreign || sender(sheet) == Sender::Other
    }

    fn version(&self) -> Cow<'static, str> {
        let inside = RobotsTxt::parse(&self.text, Dialect::Rfc9309);
        let mut signals = inside.records().map(|record| record.value.to_ascii_lowercase());
        match signals.next() {
            None => "2025-07".into(),
            Some(value) if memchr::memmem::find(&value, b"use=").is_some() => "2026-07".into(),
            Some(_) => "2025-09".into(),
        }
    }

    fn seen(&self, sheet: &Sheet<'_>) -> Seen {
        let decision = if sender(sheet) == Sender::Cloudflare { Decision::Switch } else { Decision::Unknown };
        Seen { line: self.first, last_line: self.last, ..Seen::silent(sheet) }.decided(decision)
    }
}

/// Who sent a response, by its head.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sender {
    Cloudflare,
    Other,
    /// The head does not say, or is not at hand.
    Unknown,
}

fn sender(sheet: &Sheet<'_>) -> Sender {
    let server = sheet.header("server").map(str::trim);
    if sheet.header("cf-ray").is_some() || server.is_some_and(|server| server.eq_ignore_ascii_case("cloudflare")) {
        Sender::Cloudflare
    } else if server.is_some() {
        Sender::Other
    } else {
        Sender::Unknown
    }
}

/// Whose managed block a line begins, in lower case, if it is not Cloudflare's.
fn vendor(line: &[u8]) -> Option<String> {
    const LONGEST: usize = 40;
    let name = line.trim_ascii().strip_prefix(BEGIN.as_bytes())?.to_ascii_lowercase();
    let name = name.strip_suffix(b"managed content")?.trim_ascii();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b' ');
    let is_short = (1..=LONGEST).contains(&name.len()) && name.iter().all(is_name);
    (is_short && name != b"cloudflare").then(|| String::from_utf8_lossy(name).into_owned())
}

/// The nine tokens that the managed block names in 2026, the last of which it did not in 2025.
const NAMED: &[&str] = &[
    "Amazonbot",
    "Applebot-Extended",
    "Bytespider",
    "CCBot",
    "ClaudeBot",
    "Google-Extended",
    "GPTBot",
    "meta-externalagent",
    "CloudflareBrowserRenderingCrawler",
];

/// The managed block's list without its marks, as a content system or a person copied it.
pub(super) const LIST: Template = Template {
    name: "cloudflare-list",
    kind: Kind::Copied,
    doc: "The eight or nine tokens of Cloudflare's managed block, each shut out, and no other AI agent that is, without \
          the marks; some content systems offer it.",
    who: "own: somebody copied it, or chose it.",
    examples: &[Example {
        head: "",
        body: "User-agent: *\nAllow: /\n\nUser-agent: Amazonbot\nUser-agent: Applebot-Extended\nUser-agent: Bytespider\n\
               User-agent: CCBot\nUser-agent: ClaudeBot\nUser-agent: Google-Extended\nUser-agent: GPTBot\n\
               User-agent: meta-externalagent\nDisallow: /\n",
        version: Some("8"),
        decision: Decision::Own,
        of_file: Decision::Own,
        own: &[
            "amazonbot",
            "applebot-extended",
            "bytespider",
            "ccbot",
            "claudebot",
            "google-extended",
            "gptbot",
            "meta-externalagent",
        ],
    }],
    marks: &["Applebot-Extended"],
    read: |sheet| {
        let shut_out = sheet.shut_out();
        let is_in = |name: &[u8], list: &[&str]| list.iter().any(|listed| name.eq_ignore_ascii_case(listed.as_bytes()));
        let of_2025 = shut_out.iter().filter(|token| is_in(token.name, &NAMED[..8])).count();
        let is_it = of_2025 == 8 && shut_out.iter().all(|token| is_in(token.name, NAMED));
        is_it.then(|| Seen::silent(sheet).decided(Decision::Own).version(if shut_out.len() == 8 { "8" } else { "9" }))
    },
};
