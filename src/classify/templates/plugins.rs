//! Plugins that write into a file, because somebody chose them for the site.

use super::found::{Decision, Example, Kind, Seen, Template};

pub(super) const TABLE: &[Template] = &[
    Template {
        name: "yoast",
        kind: Kind::Plugin,
        doc: "What the plugin Yoast SEO writes into WordPress's file, between lines that say START and END YOAST BLOCK; \
              its open group for * merges with the site's own.",
        who: "own: as it comes it names nobody; what else stands in the block was set up by the site.",
        examples: &[
            Example {
                decision: Decision::Own,
                ..Example::silent(
                    None,
                    "# START YOAST BLOCK\n# ---\nUser-agent: *\nDisallow:\n\nSitemap: https://example.com/s.xml\n\
                     # END YOAST BLOCK\n",
                )
            },
            Example {
                head: "",
                body: "# START YOAST BLOCK\nUser-agent: *\nDisallow:\n\nUser-agent: GPTBot\nDisallow: /\n\
                       # END YOAST BLOCK\n",
                version: None,
                decision: Decision::Own,
                of_file: Decision::Own,
                own: &["gptbot"],
            },
        ],
        marks: &["# START YOAST BLOCK"],
        read: |sheet| {
            let end = sheet.lines_from_mark().find(|(_, line)| line.trim_ascii() == b"# END YOAST BLOCK");
            let last_line = end.map(|(number, _)| number);
            Some(Seen { last_line, ..Seen::silent(sheet) }.decided(Decision::Own))
        },
    },
    Template {
        name: "block-ai-crawlers",
        kind: Kind::Plugin,
        doc: "The list of the WordPress plugin Block AI Crawlers, known by the comment before it.",
        who: "own: the plugin does nothing else, and somebody chose it.",
        examples: &[Example {
            head: "",
            body: "User-agent: *\nDisallow: /wp-includes/\n\n# Block AI Crawlers - Built-In Rules\n\n\
                   User-agent: AI2Bot\nUser-agent: GPTBot\nDisallow: /\n",
            version: None,
            decision: Decision::Own,
            of_file: Decision::Own,
            own: &["ai2bot", "gptbot"],
        }],
        marks: &["# Block AI Crawlers - Built-In Rules"],
        read: |sheet| Some(Seen::silent(sheet).decided(Decision::Own)),
    },
    Template {
        name: "virtual-robots-txt",
        kind: Kind::Plugin,
        doc: "The file of the WordPress plugin Virtual Robots.txt, known by its first comment.",
        who: "own: the site edits it.",
        examples: &[Example {
            decision: Decision::Own,
            ..Example::silent(
                None,
                "# This virtual robots.txt file was created by the Virtual Robots.txt WordPress plugin\n\
                 User-agent: *\nDisallow: /wp-admin/\n",
            )
        }],
        marks: &["created by the Virtual Robots.txt WordPress plugin"],
        read: |sheet| Some(Seen::silent(sheet).decided(Decision::Own)),
    },
];
