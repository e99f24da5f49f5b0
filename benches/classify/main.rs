//! How fast files are read and judged, on one core: `cargo bench --bench classify`.
//!
//! Reads the corpus `top1m-2017` where it is (`../shared`), else as many files made up here; prints what it measured.

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::fmt::Write as _;
use std::fs::File;
use std::hint::black_box;
use std::io::BufReader;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use flate2::read::MultiGzDecoder;
use survey::classify::{Catalogue, Classifier, DEFINITIONS};
use survey::robots::{Dialect, RobotsTxt};
use warc::{WarcHeader, WarcReader};

fn main() {
    let (source, bodies) = corpus().map_or_else(|| ("made up", made_up()), |bodies| ("top1m-2017", bodies));
    let bytes: u64 = bodies.iter().map(|body| body.len() as u64).sum();
    let classifier = Classifier::new(Catalogue::embedded(), &DEFINITIONS[0], Dialect::Rfc9309);
    println!(
        "{source}: {} files, {:.1} MB; catalogue of {} agents",
        bodies.len(),
        megabytes(bytes),
        classifier.catalogue().agents().len()
    );
    let parse = |dialect| {
        for body in &bodies {
            black_box(RobotsTxt::parse(black_box(body), dialect).groups().len());
        }
    };
    let judge = || {
        for body in &bodies {
            let file = RobotsTxt::parse(black_box(body), Dialect::Rfc9309);
            black_box(classifier.judge(&file).agents.len());
        }
    };
    print("parse, rfc9309", bodies.len(), bytes, || parse(Dialect::Rfc9309));
    print("parse, google", bodies.len(), bytes, || parse(Dialect::Google));
    print("parse + verdicts for the whole catalogue", bodies.len(), bytes, judge);
    for (name, body) in hostile() {
        let start = Instant::now();
        black_box(classifier.judge_bytes(&body));
        println!("hostile, {name}, {} bytes: {:.1} ms", body.len(), start.elapsed().as_secs_f64() * 1e3);
    }

    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group(format!("classify/{source}"));
    group.throughput(Throughput::Bytes(bytes)).sample_size(10).measurement_time(Duration::from_secs(3));
    group.bench_function("parse-rfc9309", |bencher| bencher.iter(|| parse(Dialect::Rfc9309)));
    group.bench_function("parse-google", |bencher| bencher.iter(|| parse(Dialect::Google)));
    group.bench_function("parse-and-judge-catalogue", |bencher| bencher.iter(judge));
    group.finish();
    criterion.final_summary();
}

/// The best of several rounds: other work on the machine can only add to a round.
fn print(what: &str, files: usize, bytes: u64, round: impl Fn()) {
    let times = (0..7).map(|_| {
        let start = Instant::now();
        round();
        start.elapsed()
    });
    let best = times.min().unwrap_or_default().as_secs_f64();
    println!("{what}: {:.0} MB/s, {:.0} files/s", megabytes(bytes) / best, count(files) / best);
}

fn megabytes(bytes: u64) -> f64 {
    f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / 1e6
}

fn count(files: usize) -> f64 {
    f64::from(u32::try_from(files).unwrap_or(u32::MAX))
}

fn corpus() -> Option<Vec<Vec<u8>>> {
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
fn made_up() -> Vec<Vec<u8>> {
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
fn hostile() -> Vec<(&'static str, Vec<u8>)> {
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
    vec![
        ("pairs, disallow longer", fill(any, &|n| format!("Allow: /a{n}\nDisallow: /a{n}*\n"))),
        ("pairs, allow longer", fill(any, &|n| format!("Disallow: /a{n}\nAllow: /a{n}*\n"))),
        ("pairs behind a star", fill(any, &|n| format!("Disallow: /*a{n}\nAllow: /*a{n}*\n"))),
        ("8,000 stars a pattern", fill(any, &|_| format!("Disallow: /{}\n", "*a".repeat(8_000)))),
        ("many stars", fill(any, &|_| "Disallow: /*a*b*c*d$\nAllow: /*a*b*c*d$\n".into())),
        ("one agent again and again", fill("", &|_| "User-agent: GPTBot\n".into())),
        ("many groups of one agent", fill("", &|_| "User-agent: GPTBot\nDisallow: /x\n".into())),
        ("many agents", fill("", &|n| format!("User-agent: a{n}/1\n"))),
        ("many agents with a long group in common", {
            let mut text = String::new();
            for number in 0..5_000 {
                let _ = writeln!(text, "User-agent: a{number}");
            }
            for number in 0..15_000 {
                let _ = writeln!(text, "Disallow: /{number}");
            }
            for number in 0..5_000 {
                let _ = writeln!(text, "User-agent: a{number}\nAllow: /");
            }
            text.into_bytes()
        }),
        ("one line", [b"User-agent: *\nDisallow: /".to_vec(), vec![b'a'; SIZE]].concat()),
        ("colons", fill("", &|n| format!("k{n}:\n"))),
        ("percent signs", fill(any, &|n| format!("Disallow: /%e3%{n}%%%2\n"))),
    ]
}
