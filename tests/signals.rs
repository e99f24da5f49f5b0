//! Every signal of the registry, planted on hosts of a rehearsal and found again in the rows; and the corpora's counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use arrow::array::{Array, AsArray, RecordBatch, StructArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int32Type};
use serde_json::Value;
use survey::classify::signals::{Expected, Place, Signal, Signals, signals};
use survey::classify::{Catalogue, Classifier, DEFINITIONS};
use survey::domain::Target;
use survey::input::warc;
use survey::robots::{Dialect, RobotsTxt};
use survey::snapshot::Snapshot;
use survey::table::read_columns;

use crate::whole::{path_of, succeed, world};

/// One row of the column `signals`: kind, scope, path, key, value, line, source.
type Stored = (String, String, Option<String>, Option<String>, Option<String>, Option<i32>, String);

/// A host of the rehearsal: what it sends, and what its row must hold.
struct Planted {
    name: String,
    status: u16,
    head: String,
    body: String,
    expected: Vec<Stored>,
}

#[test]
fn rows_hold_what_was_planted() {
    let world = world(1);
    let folder = world.path();
    let hosts = population();
    write_archive(&folder.join("planted.warc"), &hosts);
    let list: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    fs::write(folder.join("planted.txt"), list.join("\n")).unwrap();
    let arguments =
        ["--domains", "planted.txt", "--rehearse", "planted.warc", "--date", "2026-01-02", "--quiet", "--json"];
    let summary: Value = serde_json::from_str(&succeed(folder, &arguments)).unwrap();

    let rows = stored(&path_of(folder, "rehearsals/planted"));
    assert_eq!(rows.len(), hosts.len());
    let mut expected: BTreeMap<(String, &str), BTreeSet<&str>> = BTreeMap::new();
    for host in &hosts {
        assert_eq!(rows[&host.name], host.expected, "{}\n{}\n{}", host.name, host.head, host.body);
        for (kind, .., source) in &host.expected {
            let place = if source == "header" { "head" } else { "file" };
            expected.entry((kind.clone(), place)).or_default().insert(&host.name);
        }
    }
    // The summary counts each of them, and nothing else.
    let counted = summary["answers"]["signals"]["kinds"]["rows"].as_array().unwrap();
    assert_eq!(counted.len(), expected.len(), "{counted:#?}");
    for row in counted {
        let key = (row["kind"].as_str().unwrap().to_owned(), row["source"].as_str().unwrap());
        assert_eq!(row["hosts"]["numerator"], expected[&key].len(), "{key:?}");
    }
}

/// Each signal alone, each in the file beside every one in the head, and some that say nothing.
fn population() -> Vec<Planted> {
    let is_hint = |signal: &&Signal| signal.place() == Place::Header;
    let (hints, files): (Vec<&Signal>, Vec<&Signal>) = signals().partition(is_hint);
    let mut hosts = vec![plant("nothing", None, &[]), plant("nothing-either", None, &[])];
    for (number, hint) in hints.iter().enumerate() {
        hosts.push(plant(&format!("hint-{number}"), None, &[hint]));
    }
    let common: Vec<&Signal> = hints.iter().copied().filter(|hint| hint.example.status == 200).collect();
    for (number, file) in files.iter().enumerate() {
        hosts.push(plant(&format!("file-{number}"), Some(file), &[]));
        hosts.push(plant(&format!("both-{number}"), Some(file), &common));
        for (other, hint) in common.iter().enumerate() {
            hosts.push(plant(&format!("pair-{number}-{other}"), Some(file), &[hint]));
        }
    }
    hosts
}

fn plant(name: &str, file: Option<&Signal>, hints: &[&Signal]) -> Planted {
    let found = |signal: &Signal, source: &str| {
        let text = |text: Option<&str>| text.map(str::to_owned);
        let stored = |one: &Expected| {
            let line = one.line.map(|line| i32::try_from(line).unwrap());
            let (path, key, value) = (text(one.path), text(one.key), text(one.value));
            (signal.kind.to_owned(), one.scope.to_owned(), path, key, value, line, source.to_owned())
        };
        signal.example.finds.iter().map(stored).collect::<Vec<_>>()
    };
    let mut expected: Vec<Stored> = file.map_or_else(Vec::new, |file| found(file, "body"));
    expected.extend(hints.iter().flat_map(|hint| found(hint, "header")));
    Planted {
        name: format!("{name}.example"),
        status: hints.first().map_or(200, |hint| hint.example.status),
        head: hints.iter().map(|hint| hint.example.head.replace('\n', "\r\n")).collect(),
        body: file.map_or("User-agent: *\nDisallow: /private/\n", |file| file.example.body).to_owned(),
        expected,
    }
}

fn write_archive(path: &Path, hosts: &[Planted]) {
    let mut archive = String::new();
    for Planted { name, status, head, body, .. } in hosts {
        let message = format!("HTTP/1.1 {status} X\r\nContent-Type: text/plain\r\n{head}\r\n{body}");
        let _ = write!(
            archive,
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://{name}/robots.txt\r\n\
             WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:test:{name}>\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{message}\r\n\r\n",
            message.len()
        );
    }
    fs::write(path, archive).unwrap();
}

/// The signals of each domain of a snapshot.
fn stored(snapshot: &str) -> BTreeMap<String, Vec<Stored>> {
    let parts = Snapshot::locate(snapshot).unwrap().parts().unwrap();
    let mut rows = BTreeMap::new();
    for batch in read_columns(&parts, &["domain", "signals"]) {
        let batch: RecordBatch = batch.unwrap();
        let domains = batch.column_by_name("domain").unwrap().as_string::<i32>();
        let lists = batch.column_by_name("signals").unwrap().as_list::<i32>();
        for (row, domain) in domains.iter().enumerate() {
            let items = if lists.is_valid(row) { items(lists.value(row).as_struct()) } else { Vec::new() };
            rows.insert(domain.unwrap().to_owned(), items);
        }
    }
    rows
}

fn items(items: &StructArray) -> Vec<Stored> {
    let text = |name: &str, row: usize| {
        let column = cast(items.column_by_name(name).unwrap(), &DataType::Utf8).unwrap();
        let column = column.as_string::<i32>();
        column.is_valid(row).then(|| column.value(row).to_owned())
    };
    let lines = items.column_by_name("line").unwrap().as_primitive::<Int32Type>();
    let item = |row| {
        let line = lines.is_valid(row).then(|| lines.value(row));
        let [kind, scope, source] = ["kind", "scope", "source"].map(|name| text(name, row).unwrap());
        (kind, scope, text("path", row), text("key", row), text("value", row), line, source)
    };
    (0..items.len()).map(item).collect()
}

/// Signals by kind, other keys, oddities of grouping and classes of policy, of real files from before there were many.
///
/// `cargo test -- --nocapture real_files` prints the counts. Where the corpora are absent it says so and passes.
#[test]
fn real_files_from_before_the_signals_have_none() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("shared/corpora");
    let classifier = Classifier::new(Catalogue::embedded(), &DEFINITIONS[0], Dialect::Rfc9309);
    for corpus in ["gov-2023-06-24", "gov-2024-06-29", "gov-2024-12-28", "top1m-2017"] {
        let path = shared.join(format!("{corpus}.robotstxt.warc.gz"));
        if !path.exists() {
            eprintln!("{} is not here: nothing is counted", path.display());
            continue;
        }
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for (capture, index) in warc::read(&path, 512 << 10).unwrap().zip(0..) {
            let Ok(capture) = capture else { continue };
            let Ok(domain) = capture.host.clone() else { continue };
            let row =
                classifier.classify(capture.observe(Target { index, domain, rank: None, weight: None, stratum: None }));
            let mut seen: BTreeSet<String> = BTreeSet::new();
            seen.insert("files".to_owned());
            seen.insert(format!("outcome {}", row.outcome.word()));
            let signals = row.signals.iter().flatten().map(|found| format!("signal {} {}", found.kind, found.source));
            seen.extend(signals);
            if let Some(reading) = &row.reading {
                seen.extend(reading.other_records.iter().map(|(key, _)| format!("key {}", key.escape_default())));
                seen.extend(reading.oddities.iter().map(|oddity| format!("oddity {oddity}")));
            }
            if let Some(stance) = &row.stance {
                seen.insert(format!("policy {}", stance.policy));
                seen.insert(format!("access {}", stance.access));
                seen.insert(format!("use {}", stance.usage));
            }
            for word in seen {
                *counts.entry(word).or_default() += 1;
            }
        }
        let mut table: Vec<(&String, &u32)> = counts.iter().collect();
        table.sort_by_key(|(word, count)| (word.split(' ').next().map(str::to_owned), std::cmp::Reverse(**count)));
        for (word, count) in table.iter().filter(|(word, count)| !word.starts_with("key ") || **count > 1) {
            eprintln!("{corpus}\t{count}\t{word}");
        }
        let singles = table.iter().filter(|(word, count)| word.starts_with("key ") && **count == 1).count();
        eprintln!("{corpus}\t{singles}\tkeys in one file each");
        let signals: Vec<_> = table.iter().filter(|(word, _)| word.starts_with("signal ")).collect();
        assert!(signals.is_empty(), "{corpus}: {signals:?}");
    }
}

/// The cheap look at comments must not lose what the reading would find.
#[test]
fn a_reservation_is_found_wherever_it_stands_in_a_long_file() {
    let filler = "# Nothing of interest here.\nUser-agent: x\nDisallow: /y\n";
    for before in [0, 1, 50, 1_000] {
        let text = format!("{}# AI training is prohibited.\n{}", filler.repeat(before), filler.repeat(10));
        let found = Signals::of_file(&RobotsTxt::parse(text.as_bytes(), Dialect::Rfc9309)).found;
        let lines: Vec<Option<u32>> = found.iter().map(|found| found.line).collect();
        assert_eq!(lines, [Some(3 * u32::try_from(before).unwrap() + 1)]);
    }
}
