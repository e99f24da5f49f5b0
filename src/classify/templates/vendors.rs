//! Vendors that build whole sites, most of them for US towns and counties.

use super::found::{Decision, Example, Kind, Seen, Template};
use crate::robots::Verb;

pub(super) const TABLE: &[Template] = &[
    Template {
        name: "civicplus",
        kind: Kind::Platform,
        doc: "The file of CivicPlus, known by the path of its editor; it shuts out Baiduspider and Yandex.",
        who: "none: it names no AI agent.",
        examples: &[Example::silent(
            None,
            "User-agent: Baiduspider\nDisallow: /\nUser-agent: Yandex\nDisallow: /\nUser-agent: *\n\
             Disallow: /activedit\nDisallow: /admin\nUser-agent: Siteimprove\nCrawl-delay: 20\n",
        )],
        marks: &["/activedit"],
        read: |sheet| {
            const NAMED: &[&str] =
                &["Baiduspider", "Yandex", "Siteimprove", "Siteimprovebot", "Siteimprovebot-crawler"];
            sheet.disallows(&["/activedit"]).then(|| Seen::silent(sheet).naming(sheet, NAMED))
        },
    },
    Template {
        name: "govoffice",
        kind: Kind::Platform,
        doc: "The file of GovOffice, known by the paths of its guest book and designs: closed to all but a few search \
              engines and archives. Versions: 2024 lets CCBot in as an archive, 2023 does not name it.",
        who: "default: the vendor added CCBot for all of its sites in one year, and lets it in.",
        examples: &[
            Example::silent(
                Some("2023"),
                "User-agent: Googlebot\nDisallow: /admin/\nDisallow: /manager/\nDisallow: /*Design*\n\
                 Disallow: /*GUESTBOOK*\n\nUser-agent: *\nDisallow: /\n",
            ),
            Example::decided(
                Some("2024"),
                Decision::Default,
                "User-agent: Googlebot\nDisallow: /admin/\nDisallow: /manager/\nDisallow: /*Design*\n\
                 Disallow: /*GUESTBOOK*\n\nUser-agent: CCBot\nDisallow: /admin/\nDisallow: /manager/\n\n\
                 User-agent: *\nDisallow: /\n",
            ),
        ],
        marks: &["/*GUESTBOOK*"],
        read: |sheet| {
            const NAMED: &[&str] = &["Googlebot", "MSNBot", "ia_archiver", "archive.org_bot", "W3C-checklink"];
            if !sheet.disallows(&["/admin/", "/manager/", "/*Design*", "/*GUESTBOOK*"]) {
                return None;
            }
            let seen = Seen::silent(sheet).naming(sheet, NAMED);
            let lets_in = sheet.is_given("CCBot", &[(Verb::Disallow, "/admin/"), (Verb::Disallow, "/manager/")]);
            Some(if lets_in {
                seen.naming(sheet, &["CCBot"]).decided(Decision::Default).version("2024")
            } else {
                seen.version("2023")
            })
        },
    },
    Template {
        name: "five-let-in",
        kind: Kind::Platform,
        doc: "Googlebot, Bingbot, FacebookBot, LinkedInBot/1.0 and Twitterbot let in, all else shut out: one text on more \
              than a hundred sites of US towns, whose vendor it does not name.",
        who: "default: FacebookBot stands among those that make previews of links.",
        examples: &[Example::decided(
            None,
            Decision::Default,
            "User-agent: Googlebot\nAllow: /\n\nUser-agent: Bingbot\nAllow: /\n\nUser-agent: FacebookBot\nAllow: /\n\n\
             User-agent: LinkedInBot/1.0\nAllow: /\n\nUser-agent: Twitterbot\nAllow: /\n\nUser-agent: *\nDisallow: /\n",
        )],
        marks: &["LinkedInBot/1.0"],
        read: |sheet| {
            const NAMED: &[&str] = &["Googlebot", "Bingbot", "FacebookBot", "LinkedInBot/1.0", "Twitterbot"];
            let is_it =
                NAMED.iter().all(|token| sheet.is_given(token, &[(Verb::Allow, "/")])) && sheet.disallows(&["/"]);
            is_it.then(|| Seen::silent(sheet).naming(sheet, NAMED).decided(Decision::Default))
        },
    },
];
