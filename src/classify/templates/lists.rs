//! Lists of crawlers that sites copy.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::cloudflare;
use super::found::{Decision, Example, Kind, Seen, Template};
use super::sheet::Sheet;
use crate::classify::Catalogue;

pub(super) const TABLE: &[Template] = &[
    Template {
        name: "ai-robots-txt",
        kind: Kind::Copied,
        doc: "The list of the project ai.robots.txt. The version is the month whose list is most like the copy, by when \
              the project took each name up; a copy shares at least three quarters of all names with it.",
        who: "own: somebody copied it.",
        examples: &[Example {
            head: "",
            body: "User-agent: Amazonbot\nUser-agent: anthropic-ai\nUser-agent: Applebot-Extended\n\
                   User-agent: Bytespider\nUser-agent: CCBot\nUser-agent: ChatGPT-User\nUser-agent: Claude-Web\n\
                   User-agent: ClaudeBot\nUser-agent: cohere-ai\nUser-agent: Diffbot\nUser-agent: FacebookBot\n\
                   User-agent: Google-Extended\nUser-agent: GPTBot\nUser-agent: ImagesiftBot\nUser-agent: omgili\n\
                   User-agent: omgilibot\nUser-agent: PerplexityBot\nUser-agent: YouBot\nDisallow: /\n",
            version: Some("2024-06"),
            decision: Decision::Own,
            of_file: Decision::Own,
            own: &[
                "amazonbot",
                "anthropic-ai",
                "applebot-extended",
                "bytespider",
                "ccbot",
                "chatgpt-user",
                "claude-web",
                "claudebot",
                "cohere-ai",
                "diffbot",
                "facebookbot",
                "google-extended",
                "gptbot",
                "imagesiftbot",
                "omgili",
                "omgilibot",
                "perplexitybot",
                "youbot",
            ],
        }],
        marks: &["anthropic-ai"],
        read: ai_robots_txt,
    },
    cloudflare::LIST,
];

/// What two lists of names must have in common to be copies: of four names in either, three in both.
const LIKE: f64 = 0.75;

/// Each name of the project's list in lower case, with the month in which it came, in the order of months.
static NAMES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let catalogue = Catalogue::embedded();
    let listed = catalogue.agents().iter().filter(|agent| !agent.control);
    let mut names: Vec<(String, String)> =
        listed.filter_map(|agent| Some((agent.first_listed.clone()?, agent.token.to_ascii_lowercase()))).collect();
    names.sort_unstable();
    names
});

fn ai_robots_txt(sheet: &Sheet<'_>) -> Option<Seen> {
    let shut_out = sheet.shut_out();
    let copy: BTreeSet<Vec<u8>> = shut_out.iter().map(|token| token.name.to_ascii_lowercase()).collect();
    let mut best = (LIKE, None);
    let (mut listed, mut in_both) = (0_u32, 0_u32);
    for of_month in NAMES.chunk_by(|one, other| one.0 == other.0) {
        listed += u32::try_from(of_month.len()).unwrap_or(u32::MAX);
        let found = of_month.iter().filter(|(_, name)| copy.contains(name.as_bytes())).count();
        in_both += u32::try_from(found).unwrap_or(u32::MAX);
        let in_either = u32::try_from(copy.len()).unwrap_or(u32::MAX).saturating_add(listed) - in_both;
        let likeness = f64::from(in_both) / f64::from(in_either);
        // The last of several months that are as good: nothing in the copy is younger.
        if likeness >= best.0 {
            best = (likeness, Some(&of_month[0].0));
        }
    }
    let month = best.1?;
    let line = shut_out.iter().map(|token| token.line).min()?;
    Some(Seen { line, ..Seen::silent(sheet) }.decided(Decision::Own).version(month.clone()))
}
