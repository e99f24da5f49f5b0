//! Invented robots.txt files that look like the real ones: platform defaults, blocks by name, allowlists, long ones.
//!
//! All wording is our own; paths and directives are those that such files are known for. Touches nothing. Deliberately
//! absent: syntax errors and traps, which belong to the tests of the reader.

use std::fmt::Write as _;

use crate::rehearsal::dice::Dice;

/// What a file is for.
#[derive(Clone, Copy)]
enum Purpose {
    Blog,
    Shop,
    Portal,
    Small,
    SitemapOnly,
    OpenToAll,
    BlocksAi,
    LimitsAi,
    Allowlist,
    Managed,
    Closed,
    Long,
}

/// The mix of files, in parts of a thousand. By name and at the root, about 12 % restrict an AI crawler, and about as
/// many are closed to everybody.
const MIX: &[(usize, Purpose)] = &[
    (230, Purpose::Blog),
    (60, Purpose::Shop),
    (40, Purpose::Portal),
    (300, Purpose::Small),
    (35, Purpose::SitemapOnly),
    (90, Purpose::OpenToAll),
    (80, Purpose::BlocksAi),
    (15, Purpose::LimitsAi),
    (15, Purpose::Allowlist),
    (38, Purpose::Managed),
    (85, Purpose::Closed),
    (12, Purpose::Long),
];

/// AI crawlers, and how many of a thousand files that block any of them name this one.
const AI: &[(&str, usize)] = &[
    ("GPTBot", 930),
    ("CCBot", 850),
    ("Bytespider", 780),
    ("ClaudeBot", 780),
    ("Google-Extended", 720),
    ("anthropic-ai", 520),
    ("ChatGPT-User", 480),
    ("Amazonbot", 450),
    ("PerplexityBot", 420),
    ("Applebot-Extended", 400),
    ("meta-externalagent", 380),
    ("cohere-ai", 300),
    ("FacebookBot", 280),
    ("Diffbot", 260),
    ("omgili", 240),
    ("ImagesiftBot", 200),
    ("Claude-Web", 300),
    ("OAI-SearchBot", 150),
    ("YouBot", 130),
    ("DeepSeekBot", 60),
];

const SEARCH: &[&str] = &["Googlebot", "Bingbot", "DuckDuckBot", "Applebot", "YandexBot", "Baiduspider", "Slurp"];

const PATHS: &[&str] = &[
    "/admin/",
    "/account",
    "/cart",
    "/cgi-bin/",
    "/internal/",
    "/login",
    "/private/",
    "/search",
    "/tmp/",
    "/user/",
    "/*?sort=",
    "/*?session=",
    "/api/",
    "/preview/",
    "/print/",
    "/*.pdf$",
    "/checkout",
    "/wishlist",
    "/test/",
    "/old/",
];

/// Writes the file of a host.
pub(super) fn write(dice: &mut Dice, host: &str) -> String {
    let purpose = dice.weighted(MIX);
    let mut text = String::new();
    match purpose {
        Purpose::Blog => text += "User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n",
        Purpose::Shop => shop(&mut text, dice),
        Purpose::Portal => portal(&mut text),
        Purpose::Small => small(&mut text, dice),
        Purpose::SitemapOnly => return format!("Sitemap: https://{host}/sitemap.xml\n"),
        Purpose::OpenToAll => text += "User-agent: *\nDisallow:\n",
        Purpose::BlocksAi => blocks_ai(&mut text, dice, "Disallow: /\n"),
        Purpose::LimitsAi => blocks_ai(&mut text, dice, "Disallow: /archive/\nDisallow: /members/\nAllow: /\n"),
        Purpose::Allowlist => allowlist(&mut text, dice),
        Purpose::Managed => managed(&mut text, dice),
        Purpose::Closed => text += "# Nothing here is for robots.\nUser-agent: *\nDisallow: /\n",
        Purpose::Long => long(&mut text, dice),
    }
    if dice.per_mille(550) {
        let _ = write!(text, "\nSitemap: https://{host}/sitemap.xml\n");
    }
    // One file in twelve comes from an editor that ends lines the other way.
    if dice.per_mille(80) { text.replace('\n', "\r\n") } else { text }
}

fn shop(text: &mut String, dice: &mut Dice) {
    *text += "# A shop's default: goods may be indexed, errands may not.\nUser-agent: *\n";
    for path in
        ["/admin", "/cart", "/orders", "/checkouts/", "/checkout", "/account", "/collections/*sort_by*", "/search"]
    {
        let _ = writeln!(text, "Disallow: {path}");
    }
    if dice.per_mille(500) {
        *text += "\nUser-agent: AhrefsBot\nCrawl-delay: 10\nDisallow: /cart\n\nUser-agent: Pinterest\nCrawl-delay: 1\n";
    }
}

fn portal(text: &mut String) {
    *text += "# A content system's default: machinery is closed, its style sheets are not.\nUser-agent: *\n";
    for path in ["/core/*.css$", "/core/*.js$", "/profiles/*.png"] {
        let _ = writeln!(text, "Allow: {path}");
    }
    for path in
        ["/core/", "/profiles/", "/README.md", "/admin/", "/node/add/", "/search/", "/user/login", "/user/register"]
    {
        let _ = writeln!(text, "Disallow: {path}");
    }
}

fn small(text: &mut String, dice: &mut Dice) {
    *text += "User-agent: *\n";
    for _ in 0..=dice.below(8) {
        let _ = writeln!(text, "Disallow: {}", dice.one_of(PATHS));
    }
    if dice.per_mille(100) {
        let _ = writeln!(text, "Crawl-delay: {}", 1 + dice.below(10));
    }
}

fn blocks_ai(text: &mut String, dice: &mut Dice, rules: &str) {
    if dice.per_mille(400) {
        *text += "# Robots that train models were not asked to come.\n";
    }
    let mut names: Vec<&str> = AI.iter().filter(|(_, share)| dice.per_mille(*share)).map(|(name, _)| *name).collect();
    if names.is_empty() {
        names.push("GPTBot");
    }
    // Half of such files list all names over one set of rules, half repeat the rules under each.
    let together = dice.per_mille(500);
    for (index, name) in names.iter().enumerate() {
        let _ = writeln!(text, "User-agent: {name}");
        if !together || index + 1 == names.len() {
            *text += rules;
            *text += "\n";
        }
    }
    small(text, dice);
}

fn allowlist(text: &mut String, dice: &mut Dice) {
    *text += "User-agent: *\nDisallow: /\n\n";
    for name in &SEARCH[..2 + dice.below(SEARCH.len() - 1)] {
        let _ = write!(text, "User-agent: {name}\nAllow: /\nDisallow: /private/\n\n");
    }
}

fn managed(text: &mut String, dice: &mut Dice) {
    *text += "# BEGIN managed by the network\n\nUser-agent: *\nContent-Signal: search=yes,ai-train=no\nAllow: /\n\n";
    for (name, _) in AI.iter().filter(|(_, share)| *share >= 380) {
        let _ = write!(text, "User-agent: {name}\nDisallow: /\n\n");
    }
    *text += "# END managed by the network\n\n";
    small(text, dice);
}

fn long(text: &mut String, dice: &mut Dice) {
    for agent in ["*", "Googlebot", "Bingbot"] {
        let _ = writeln!(text, "User-agent: {agent}");
        for number in 0..100 + dice.below(1000) {
            let _ = writeln!(text, "Disallow: {}{number}/", dice.one_of(PATHS).trim_end_matches('$'));
        }
        *text += "\n";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_keep_the_published_shares() {
        let files: Vec<String> =
            (0..5000).map(|index| write(&mut Dice::new(1, &index.to_string(), "text"), "host.example")).collect();
        let share = |test: &dyn Fn(&String) -> bool| files.iter().filter(|file| test(file)).count();
        let named = share(&|file| file.contains("User-agent: GPTBot"));
        assert!((450..850).contains(&named), "GPTBot is named in {named} of 5,000");
        let long = files.iter().map(String::len).max().unwrap();
        assert!((20_000..110_000).contains(&long), "the longest file has {long} bytes");
        assert_eq!(MIX.iter().map(|(share, _)| share).sum::<usize>(), 1000);
    }
}
