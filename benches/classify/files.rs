//! What is read: the corpus, files made up, hostile files.

use std::fmt::Write as _;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use survey::classify::Catalogue;
use warc::{WarcHeader, WarcReader};

/// The bodies of `top1m-2017`, if it is there.
pub(crate) fn corpus() -> Option<Vec<Vec<u8>>> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.join("shared");
    let file = File::open(shared.join("corpora/top1m-2017.robotstxt.warc.gz")).ok()?;
    let mut bodies = Vec::new();
    for record in WarcReader::new(BufReader::new(MultiGzDecoder::new(file))).iter_records() {
        let record = record.ok()?;
        if record.header(WarcHeader::TargetURI).is_some() {
            let head = memchr::memmem::find(record.body(), b"\r\n\r\n")?;
            bodies.push(record.body()[head + 4..].to_vec());
        }
    }
    Some(bodies)
}

/// Files of the shapes that are common: a few rules, a content system's default, AI blocks by name, long lists.
pub(crate) fn made_up() -> Vec<Vec<u8>> {
    let short =
        "User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n\nSitemap: https://e.com/s.xml\n";
    let mut named = String::new();
    for agent in Catalogue::embedded().agents().iter().take(30) {
        let _ = writeln!(named, "User-agent: {}", agent.token);
    }
    named += "Disallow: /\n\nUser-agent: *\nDisallow: /search\n";
    let mut long = String::from("# all of it\r\nUser-agent: *\r\n");
    for number in 0..400 {
        let _ = write!(long, "Disallow: /catalogue/{number}/*?page=\r\n");
    }
    let kinds = [short, short, short, &named, &long];
    kinds.iter().cycle().take(10_000).map(|text| text.as_bytes().to_vec()).collect()
}

/// Files of 512 KiB that a careless reader takes minutes for.
pub(crate) fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    const SIZE: usize = 512 * 1024;
    let fill = |start: &str, line: &dyn Fn(usize) -> String| {
        let mut text = String::from(start);
        for number in 0.. {
            let line = line(number);
            if text.len() + line.len() > SIZE {
                break;
            }
            text += &line;
        }
        text.into_bytes()
    };
    let any = "User-agent: *\n";
    let lines = |count: usize, line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
    vec![
        ("pairs, disallow longer", fill(any, &|n| format!("Allow: /a{n}\nDisallow: /a{n}*\n"))),
        ("pairs, allow longer", fill(any, &|n| format!("Disallow: /a{n}\nAllow: /a{n}*\n"))),
        ("pairs behind a star", fill(any, &|n| format!("Disallow: /*a{n}\nAllow: /*a{n}*\n"))),
        ("8,000 stars a pattern", fill(any, &|_| format!("Disallow: /{}\n", "*a".repeat(8_000)))),
        ("many stars", fill(any, &|_| "Disallow: /*a*b*c*d$\nAllow: /*a*b*c*d$\n".into())),
        ("one agent again and again", fill("", &|_| "User-agent: GPTBot\n".into())),
        ("many groups of one agent", fill("", &|_| "User-agent: GPTBot\nDisallow: /x\n".into())),
        ("many agents", fill("", &|n| format!("User-agent: a{n}/1\n"))),
        ("a group for each of many agents", fill("", &|n| format!("User-agent: a{n}\nDisallow: /{n}\n"))),
        (
            "heads of a few agents",
            fill("", &|n| format!("User-agent: {}/{n}\nDisallow: /{n}\n", ["GPTBot", "CCBot"][n % 2])),
        ),
        ("many agents with a long group in common", {
            let named = lines(5_000, &|n| format!("User-agent: a{n}\n"));
            let group = lines(15_000, &|n| format!("Disallow: /{n}\n"));
            let others = lines(5_000, &|n| format!("User-agent: a{n}\nAllow: /\n"));
            [named, group, others].concat().into_bytes()
        }),
        ("chain of prefixes", fill(any, &|n| format!("Disallow: /{}\n", "a".repeat(n)))),
        ("one rule again and again", fill(any, &|_| "Disallow: /x\n".into())),
        (
            "stars and a long path",
            fill(&format!("{any}Disallow: /{}\n", "abc".repeat(300)), &|_| "Disallow: /*a*b*c*d$\n".into()),
        ),
        ("many different stars", fill(any, &|n| format!("Disallow: /*a*b*c*d{n}$\nAllow: /*a*b*c*d{n}$\n"))),
        ("one line of stars", [b"User-agent: *\nDisallow: /".to_vec(), vec![b'*'; SIZE]].concat()),
        ("one line of percent signs", [b"User-agent: *\nDisallow: /".to_vec(), vec![b'%'; SIZE]].concat()),
        ("slashes", vec![b'/'; SIZE]),
        ("line ends", vec![b'\n'; SIZE]),
        ("NULs", vec![0; SIZE]),
        ("one line", [b"User-agent: *\nDisallow: /".to_vec(), vec![b'a'; SIZE]].concat()),
        ("many signals in a group of many agents", {
            let named = lines(20_000, &|n| format!("User-agent: {n}\n"));
            (named + &lines(8_000, &|n| format!("Content-Signal: k{n}=yes,ai-train=no\n"))).into_bytes()
        }),
        ("signals in as many groups", fill("", &|n| format!("User-agent: {n}\nContent-Signal: a=b\nAllow: /\n"))),
        (
            "one dictionary of many labels",
            [b"User-agent: *\nContent-Usage: a=b".to_vec(), lines(80_000, &|n| format!(",a{n}")).into_bytes()].concat(),
        ),
        ("a long story about training", fill("", &|n| format!("# The {n}th train of AI may not data mine.\n"))),
        ("comments without an end of sentence", fill("", &|_| "# ai training reserved\n".into())),
        (
            "many agents in a platform's stack",
            fill("# Squarespace Robots Txt\nDisallow: /config\n", &|n| match n {
                0 => "User-agent: *\nDisallow: /config\nUser-agent: GPTBot\n".into(),
                _ => format!("User-agent: {n}\n"),
            }),
        ),
        ("managed blocks in each other", fill("", &|_| "# BEGIN Cloudflare Managed content\nUser-agent: x\n".into())),
        ("marks of many templates", fill("", &|n| format!("Disallow: /wp-admin/admin-ajax.php/node/add/{n}/ghost/\n"))),
        ("colons", fill("", &|n| format!("k{n}:\n"))),
        ("percent signs", fill(any, &|n| format!("Disallow: /%e3%{n}%%%2\n"))),
    ]
}
