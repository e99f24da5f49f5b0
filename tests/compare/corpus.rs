//! Three waves of real files (`../shared/corpora`), read from their archives as three snapshots of one list.

#![expect(clippy::print_stderr, reason = "counts are printed")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde_json::Value;
use sha2::{Digest, Sha256};
use warc::{WarcHeader, WarcReader};

use crate::whole::{succeed, world};

const WAVES: [&str; 3] = ["2023-06-24", "2024-06-29", "2024-12-28"];

#[test]
fn between_two_waves_the_changed_hosts_are_those_whose_recorded_bodies_differ() {
    let Some(shared) = corpora() else { return };
    let world = world(1);
    let folder = world.path();
    for (archive, date) in [(0, WAVES[0]), (1, WAVES[1]), (2, WAVES[2]), (2, "2024-12-29")] {
        let archive = shared.join(format!("gov-{}.robotstxt.warc.gz", WAVES[archive]));
        let archive = archive.to_str().unwrap();
        succeed(folder, &["ingest", archive, "--name", "gov", "--date", date, "--quiet", "--json"]);
    }
    let changed = |old: &str, new: &str| {
        let (old, new) = (format!("snapshots/gov@{old}"), format!("snapshots/gov@{new}"));
        let csv = succeed(folder, &["diff", &old, &new, "--format", "csv"]);
        let mut hosts: BTreeMap<String, String> = BTreeMap::new();
        for record in csv::Reader::from_reader(csv.as_bytes()).records() {
            let record = record.unwrap();
            hosts.insert(record[0].to_owned(), record[1].to_owned());
        }
        hosts
    };
    assert_eq!(changed("2024-12-28", "2024-12-29"), BTreeMap::new(), "an unchanged wave");

    let recorded: Vec<HashMap<String, [u8; 32]>> = WAVES.iter().map(|wave| hashes(&shared, wave)).collect();
    for (earlier, later) in [(0, 1), (1, 2), (0, 2)] {
        let found = changed(WAVES[earlier], WAVES[later]);
        let is_in_both = |cause: &String| !cause.starts_with("only-");
        let differ: BTreeSet<&String> =
            found.iter().filter(|(_, cause)| is_in_both(cause)).map(|(host, _)| host).collect();
        let (one, other) = (&recorded[earlier], &recorded[later]);
        let expected: BTreeSet<&String> = one
            .iter()
            .filter(|(host, hash)| other.get(*host).is_some_and(|other| other != *hash))
            .map(|(host, _)| host)
            .collect();
        assert!(expected.len() > 1000, "only {} hosts differ", expected.len());
        assert_eq!(differ, expected, "{} to {}", WAVES[earlier], WAVES[later]);
        let only = |cause: &str| found.values().filter(|other| other.as_str() == cause).count();
        assert_eq!(only("only-before"), one.keys().filter(|host| !other.contains_key(*host)).count());
        assert_eq!(only("only-after"), other.keys().filter(|host| !one.contains_key(*host)).count());
        let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
        for cause in found.values() {
            *causes.entry(cause).or_default() += 1;
        }
        eprintln!("corpus: {} to {}: {} hosts of both differ: {causes:?}", WAVES[earlier], WAVES[later], differ.len());
    }

    let trend: Value = serde_json::from_str(&succeed(folder, &["trend", "snapshots/gov", "--json"])).unwrap();
    // On bytes, GPTBot's full or mostly closed hosts by name rise from 0 to 26 to 55 (definitions.md).
    let by_name: Vec<u64> = trend["answers"]["trend"]["agents"]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["agent"] == "GPTBot")
        .map(|row| row["closed_by_name"]["numerator"].as_u64().unwrap())
        .collect();
    assert_eq!(by_name, [0, 26, 55, 55]);
}

/// The bodies that the archive holds, by host, cut as a survey would cut them.
fn hashes(shared: &Path, wave: &str) -> HashMap<String, [u8; 32]> {
    let path = shared.join(format!("gov-{wave}.robotstxt.warc.gz"));
    let reader = WarcReader::new(BufReader::new(MultiGzDecoder::new(File::open(path).unwrap())));
    let mut hashes = HashMap::new();
    for record in reader.iter_records() {
        let record = record.unwrap();
        let Some(uri) = record.header(WarcHeader::TargetURI) else { continue };
        let host = uri.split('/').nth(2).unwrap().to_owned();
        if host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            continue;
        }
        let head = memchr::memmem::find(record.body(), b"\r\n\r\n").unwrap();
        let body = &record.body()[head + 4..];
        hashes.insert(host, Sha256::digest(&body[..body.len().min(512 << 10)]).into());
    }
    hashes
}

fn corpora() -> Option<PathBuf> {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.join("shared/corpora");
    if corpora.is_dir() {
        return Some(corpora);
    }
    eprintln!("skipped: {} is absent, so no waves were compared", corpora.display());
    None
}
