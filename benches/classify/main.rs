//! How fast files are read and judged, on one core: `cargo bench --bench classify`.
//!
//! Reads the corpus `top1m-2017` where it is (`../shared`), else as many files made up here; prints what it measured:
//! reading alone, reading and judging for all agents of the catalogue, the same with signals and then with templates,
//! whole rows, hostile files one by one, and the same work done by other crates. With `--test` all of it once, over a few files.

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

mod files;
mod peers;

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use criterion::{Criterion, Throughput};
use survey::classify::signals::Signals;
use survey::classify::templates::Templates;
use survey::classify::{Catalogue, Classifier, DEFINITIONS};
use survey::domain::{Domain, Target};
use survey::observation::{BodySource, Ending, Observation, Response};
use survey::robots::{Dialect, RobotsTxt};

fn main() {
    let is_test = std::env::args().any(|argument| argument == "--test");
    let corpus = files::corpus().map(|bodies| ("top1m-2017", bodies));
    let (source, mut bodies) = corpus.unwrap_or_else(|| ("made up", files::made_up()));
    let rounds = if is_test { 1 } else { 7 };
    if is_test {
        bodies.truncate(200);
    }
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
    let judge_and_read = |has_templates: bool| {
        for body in &bodies {
            let file = RobotsTxt::parse(black_box(body), Dialect::Rfc9309);
            black_box(classifier.judge(&file).agents.len());
            // A page is judged here, as it always was, but no survey looks for signals or templates in it.
            if !body.trim_ascii_start().starts_with(b"<") {
                black_box(Signals::of_file(&file).found.len());
                if has_templates {
                    black_box(Templates::of_file(&file, &[]).found.len());
                }
            }
        }
    };
    let observations: Vec<Observation> = bodies.iter().map(|body| observation(body)).collect();
    let whole_rows = || {
        for observation in &observations {
            black_box(classifier.classify(observation.clone()).outcome);
        }
    };
    print(rounds, "parse, rfc9309", bodies.len(), bytes, || parse(Dialect::Rfc9309));
    print(rounds, "parse, google", bodies.len(), bytes, || parse(Dialect::Google));
    print(rounds, "parse + verdicts for the whole catalogue", bodies.len(), bytes, judge);
    print(rounds, "the same, and the signals of each that is no page", bodies.len(), bytes, || judge_and_read(false));
    print(rounds, "the same, and its templates", bodies.len(), bytes, || judge_and_read(true));
    print(rounds, "whole rows: all of that, hashes, and who decided", bodies.len(), bytes, whole_rows);
    for (name, body) in files::hostile() {
        let best = best_of(rounds, || {
            black_box(classifier.judge_bytes(&body));
        });
        let signals = best_of(rounds, || {
            black_box(Signals::of_file(&RobotsTxt::parse(&body, Dialect::Rfc9309)));
        });
        let seen = observation(&body);
        let row = best_of(rounds, || {
            black_box(classifier.classify(seen.clone()));
        });
        let (best, signals, row) = (best * 1e3, signals * 1e3, row * 1e3);
        let length = body.len();
        println!("hostile, {name}, {length} bytes: {best:.1} ms; reading and signals {signals:.1}, whole row {row:.1}");
    }
    peers::compare(&bodies, rounds.min(3));

    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group(format!("classify/{source}"));
    group.throughput(Throughput::Bytes(bytes)).sample_size(10).measurement_time(Duration::from_secs(3));
    group.bench_function("parse-rfc9309", |bencher| bencher.iter(|| parse(Dialect::Rfc9309)));
    group.bench_function("parse-google", |bencher| bencher.iter(|| parse(Dialect::Google)));
    group.bench_function("parse-and-judge-catalogue", |bencher| bencher.iter(judge));
    group.finish();
    criterion.final_summary();
}

/// A body as a server that sends it with status 200 is observed.
fn observation(body: &[u8]) -> Observation {
    let response = Response {
        url: "https://example.com/robots.txt".to_owned(),
        status: 200,
        headers: vec![("server".to_owned(), "cloudflare".to_owned())],
        body: Bytes::copy_from_slice(body),
        is_truncated: false,
        wire_bytes: None,
    };
    let domain = Domain::parse("example.com").expect("it is a name");
    Observation {
        target: Target { index: 0, domain, rank: None, weight: None, stratum: None },
        capture_index: 0,
        fetched_at: None,
        asking: None,
        ending: Ending::Response(response),
        body_source: BodySource::Fetched,
    }
}

fn print(rounds: usize, what: &str, files: usize, bytes: u64, round: impl FnMut()) {
    let best = best_of(rounds, round);
    println!("{what}: {:.0} MB/s, {:.0} files/s", megabytes(bytes) / best, count(files) / best);
}

/// The seconds of the best of several rounds: other work on the machine can only add to a round.
fn best_of(rounds: usize, mut round: impl FnMut()) -> f64 {
    let times = (0..rounds).map(|_| {
        let start = Instant::now();
        round();
        start.elapsed()
    });
    times.min().unwrap_or_default().as_secs_f64()
}

fn megabytes(bytes: u64) -> f64 {
    f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / 1e6
}

fn count(files: usize) -> f64 {
    f64::from(u32::try_from(files).unwrap_or(u32::MAX))
}
