//! Platforms that serve the robots.txt of each site that they host.

use super::found::{Decision, Example, Kind, Seen, Template};
use super::sheet::Sheet;
use crate::robots::Verb;

pub(super) const TABLE: &[Template] = &[
    Template {
        name: "squarespace",
        kind: Kind::Platform,
        doc: "Squarespace's file, known by its first comment; sites cannot edit it. Versions: no-ai without AI agents; \
              ai-off-N, where N of them stand in one stack with *; ai-on-N, where they have a group of their own that \
              shuts them out.",
        who: "default for ai-off-N, which is what a site has that was never asked; switch for ai-on-N, a box that \
              somebody ticked.",
        examples: &[
            Example::silent(
                Some("no-ai"),
                "# Squarespace Robots Txt\nUser-agent: AdsBot-Google\nUser-agent: *\nDisallow: /config\n",
            ),
            Example::decided(
                Some("ai-off-2"),
                Decision::Default,
                "# Squarespace Robots Txt\nUser-agent: GPTBot\nUser-agent: CCBot\nUser-agent: AdsBot-Google\n\
                 User-agent: *\nDisallow: /config\nDisallow: /search\n",
            ),
            Example::decided(
                Some("ai-on-2"),
                Decision::Switch,
                "# Squarespace Robots Txt\nUser-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n\n\
                 User-agent: AdsBot-Google\nUser-agent: *\nDisallow: /config\nDisallow: /search\n",
            ),
        ],
        marks: &["# Squarespace Robots Txt"],
        read: squarespace,
    },
    Template {
        name: "wix",
        kind: Kind::Platform,
        doc: "Wix's file, known by paths of its galleries and by its last comment, which says how to edit it. Versions: \
              2024 closes links to light boxes to Googlebot, 2023 does not yet.",
        who: "none: PetalBot, which it shuts out, is a search engine's.",
        examples: &[
            Example::silent(
                Some("2023"),
                "User-agent: *\nAllow: /\n\nUser-agent: AdsBot-Google-Mobile\nUser-agent: AdsBot-Google\n\
                 Disallow: /pro-gallery-webapp/v1/galleries/*\n\nUser-agent: PetalBot\nDisallow: /\n",
            ),
            Example::silent(
                Some("2024"),
                "User-agent: *\nAllow: /\nUser-agent: Googlebot\nDisallow: *?lightbox=\n\nUser-agent: AdsBot-Google\n\
                 Disallow: /pro-gallery-webapp/v1/galleries/*\n\nUser-agent: dotbot\nCrawl-delay: 10\n",
            ),
        ],
        marks: &["/pro-gallery-webapp/v1/galleries/", "SEO Tools > Robots.txt Editor"],
        read: |sheet| {
            const NAMED: &[&str] =
                &["Googlebot", "AdsBot-Google-Mobile", "AdsBot-Google", "PetalBot", "dotbot", "AhrefsBot"];
            let version = if sheet.has("lightbox=") { "2024" } else { "2023" };
            Some(Seen::silent(sheet).naming(sheet, NAMED).version(version))
        },
    },
    Template {
        name: "shopify",
        kind: Kind::Platform,
        doc: "Shopify's file. Versions: 1, known by its first comment; 2 (late 2025), by the address for robots in a \
              boxed policy on agents; 3 (2026), by the address of its protocol for agents.",
        who: "none: its groups name no AI agent; what it says of agents it says in prose. Signals in it are the shop's.",
        examples: &[
            Example::silent(
                Some("1"),
                "# we use Shopify as our ecommerce platform\nUser-agent: *\nDisallow: /admin\nDisallow: /cart\n\n\
                 User-agent: adsbot-google\nDisallow: /checkouts/\n\nUser-agent: Nutch\nDisallow: /\n",
            ),
            Example::silent(
                Some("2"),
                "# we use Shopify as our ecommerce platform\n# Contact: bots@shopify.com\nUser-agent: *\n\
                 Disallow: /checkout\n",
            ),
            Example {
                head: "",
                body: "# Agents: POST /api/ucp/mcp, see /.well-known/ucp\nUser-agent: *\n\
                       Content-Signal: ai-train=no\nAllow: /\nDisallow: /checkouts/\nDisallow: /sf_*\n",
                version: Some("3"),
                decision: Decision::None,
                of_file: Decision::Own,
                own: &[],
            },
        ],
        marks: &["we use Shopify as our ecommerce platform", "bots@shopify.com", "/api/ucp/mcp"],
        read: |sheet| {
            const NAMED: &[&str] = &["adsbot-google", "Nutch", "AhrefsBot", "AhrefsSiteAudit", "MJ12bot", "Pinterest"];
            let is_shop = ["/checkout", "/checkouts/", "/cart", "/cart/"].iter().any(|path| sheet.disallows(&[path]));
            let version = match (sheet.has("/api/ucp/mcp"), sheet.has("bots@shopify.com")) {
                (true, _) => "3",
                (false, true) => "2",
                (false, false) => "1",
            };
            is_shop.then(|| Seen::silent(sheet).naming(sheet, NAMED).version(version))
        },
    },
    Template {
        name: "wordpress-com",
        kind: Kind::Platform,
        doc: "WordPress.com's file, known by its first comment, which offers a stream of new posts. The version 2023 \
              shuts out GPTBot, CCBot and SentiBot, as the platform did for all in 2023.",
        who: "default for 2023. Other AI agents in it count as the site's own: which of them a switch of the platform \
              has put there is not known.",
        examples: &[
            Example::silent(
                None,
                "# If you are regularly crawling WordPress.com sites, please use our firehose instead.\n\
                 User-agent: *\nDisallow: /wp-login.php\nDisallow: /mshots/v1/\n",
            ),
            Example::decided(
                Some("2023"),
                Decision::Default,
                "# If you are regularly crawling WordPress.com sites, please use our firehose instead.\n\
                 User-agent: GPTBot\nDisallow: /\n\nUser-agent: CCBot\nDisallow: /\n\nUser-agent: SentiBot\n\
                 Disallow: /\n\nUser-agent: *\nDisallow: /mshots/v1/\n",
            ),
        ],
        marks: &["If you are regularly crawling WordPress.com sites"],
        read: |sheet| {
            const SHUT_OUT: &[&str] = &["GPTBot", "CCBot", "SentiBot"];
            let seen = Seen::silent(sheet).naming(sheet, &["IRLbot"]);
            let is_of_2023 = SHUT_OUT.iter().all(|token| sheet.is_given(token, &[(Verb::Disallow, "/")]));
            Some(if is_of_2023 {
                seen.naming(sheet, SHUT_OUT).decided(Decision::Default).version("2023")
            } else {
                seen
            })
        },
    },
    Template {
        name: "blogger",
        kind: Kind::Platform,
        doc: "Blogger's file: all is open to Mediapartners-Google, and /search is closed to the rest.",
        who: "none: it names no AI agent.",
        examples: &[Example::silent(
            None,
            "User-agent: Mediapartners-Google\nDisallow:\n\nUser-agent: *\nDisallow: /search\nAllow: /\n",
        )],
        marks: &["Mediapartners-Google"],
        read: |sheet| {
            const OLD: &[(Verb, &str)] = &[(Verb::Disallow, "/search"), (Verb::Allow, "/")];
            const NEW: &[(Verb, &str)] = &[OLD[0], (Verb::Disallow, "/share-widget"), OLD[1]];
            let is_blog =
                sheet.is_given("Mediapartners-Google", &[]) && (sheet.is_given("*", OLD) || sheet.is_given("*", NEW));
            is_blog.then(|| Seen::silent(sheet).naming(sheet, &["Mediapartners-Google"]))
        },
    },
];

fn squarespace(sheet: &Sheet<'_>) -> Option<Seen> {
    let of_all = sheet.token("*")?;
    if !sheet.disallows(&["/config"]) {
        return None;
    }
    // The AI agents are those that stand in one stack with GPTBot, whatever the year's list.
    let ai = sheet.token("GPTBot");
    let (version, decision) = match &ai {
        Some(ai) if ai.set == of_all.set => ("ai-off", Decision::Default),
        Some(ai) if sheet.has_rules(ai, &[(Verb::Disallow, "/")]) => ("ai-on", Decision::Switch),
        // With GPTBot in a third place somebody stands between Squarespace and us.
        _ => ("no-ai", Decision::None),
    };
    let ai = ai.filter(|_| decision != Decision::None).map(|ai| ai.set);
    let tokens = || sheet.file.tokens().filter(|token| token.set == of_all.set || Some(token.set) == ai);
    let is_ads = |name: &[u8]| name.get(..6).is_some_and(|start| start.eq_ignore_ascii_case(b"adsbot"));
    let count = tokens().filter(|token| Some(token.set) == ai && token.name != b"*" && !is_ads(token.name)).count();
    // The list grows with the years, on all sites at once.
    let version = if ai.is_some() { format!("{version}-{count}") } else { version.to_owned() };
    let agent_lines = tokens().map(|token| token.line).collect();
    Some(Seen { agent_lines, ..Seen::silent(sheet) }.decided(decision).version(version))
}
