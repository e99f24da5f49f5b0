//! Every way to fail that loopback can produce, surveyed by the whole program: each fault host has the word it must.
//!
//! # The large A/A, by hand
//!
//! Two surveys of one web must say the same of each host, whatever the order of their requests. Over 20,000 names,
//! which takes some minutes:
//!
//! ```sh
//! seq -f 'host-%.0f.example' 20000 > names.txt
//! survey --domains names.txt --rehearse --seed 1 --out a
//! survey --domains names.txt --rehearse --seed 1 --out b
//! duckdb -c "select a.domain, a.outcome, b.outcome
//!            from 'a/names/data/**/*.parquet' a join 'b/names/data/**/*.parquet' b using (target_index)
//!            where a.outcome <> b.outcome or a.body_sha256 is distinct from b.body_sha256"
//! ```
//!
//! The seed is also that of the order; to let the orders differ, serve the web apart with `survey rehearse`. No row must
//! come back, hosts whose behaviour counts excepted (`unsteady` in `src/rehearsal/faults`): they are in no population.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::path::Path;

use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::DataType;
use survey::outcome::{Cause, Outcome};
use survey::rehearsal::faults;
use survey::snapshot::Snapshot;
use survey::table::read_columns;

use crate::whole::{path_of, succeed, world};

/// Words that no host can bring about, and why.
const BEYOND_A_HOST: &[(Cause, &str)] = &[
    (Cause::OptedOut, "the asker's --exclude decides it"),
    (Cause::NotAttemptedDeadline, "the asker's --deadline decides it"),
];

/// Waits end soon, and still far beyond what a busy machine takes for what does not wait.
const LIMITS: &[&str] =
    &["--connect-timeout", "3s", "--read-timeout", "3s", "--total-timeout", "8s", "--no-second-try", "--quiet"];

#[test]
fn every_fault_host_gets_its_word() {
    let world = world(1);
    let folder = world.path();
    let list = succeed(folder, &["rehearse", "--faults"]);
    assert!(list.starts_with("domain,expected,about\n"), "{list}");
    fs::write(folder.join("faults.csv"), list).unwrap();
    succeed(folder, &[&["--domains", "faults.csv", "--rehearse", "--seed", "1"], LIMITS].concat());
    let seen = outcomes(folder, "rehearsals/faults");

    let hosts = faults();
    assert_eq!(seen.len(), hosts.len(), "the list was not read as it was written");
    let has_v6 = TcpListener::bind("[::1]:0").is_ok();
    let mut table = String::new();
    let mut unequal = Vec::new();
    for host in &hosts {
        let (expected, seen) = (host.expected.word(), &seen[&host.name]);
        let is_possible = has_v6 || host.name != "dns-v6-only.test";
        let is_equal = *expected == seen.0;
        let line = format!("{:32} {expected:24} {:24} {}", host.name, seen.0, seen.1);
        let _ = writeln!(table, "{} {line}", if is_equal { ' ' } else { '!' });
        if is_possible && !is_equal {
            unequal.push(line);
        }
    }
    {
        println!("{table}{} rows, {} equal, {} unequal", hosts.len(), hosts.len() - unequal.len(), unequal.len());
    }
    assert!(unequal.is_empty(), "host, expected, seen:\n{}", unequal.join("\n"));
}

#[test]
fn every_word_is_expected_of_a_host_or_beyond_one() {
    let expected: BTreeSet<Outcome> = faults().iter().map(|host| host.expected).collect();
    let beyond: BTreeSet<Outcome> = BEYOND_A_HOST.iter().map(|(cause, _)| Outcome::Failure(*cause)).collect();
    assert!(expected.is_disjoint(&beyond));
    let missing: Vec<&str> =
        Outcome::all().filter(|word| !expected.contains(word) && !beyond.contains(word)).map(Outcome::word).collect();
    assert!(missing.is_empty(), "no fault host brings about {missing:?}");
}

#[test]
fn two_surveys_of_one_population_say_the_same() {
    let world = world(600);
    let folder = world.path();
    let mut both = Vec::new();
    for out in ["a", "b"] {
        let arguments = ["--domains", "list.csv", "--rehearse", "--seed", "7", "--out", out];
        succeed(folder, &[&arguments, LIMITS].concat());
        both.push(outcomes(folder, &format!("{out}/list")));
    }
    let differing: Vec<_> = both[0].iter().filter(|(name, seen)| both[1][*name].0 != seen.0).collect();
    assert_eq!(both[0].len(), 600);
    assert!(differing.is_empty(), "{differing:?}");
    let words: BTreeSet<&str> = both[0].values().map(|(word, _)| word.as_str()).collect();
    assert!(words.len() > 15, "few ways to fail were met: {words:?}");
}

/// The outcome of each domain of a snapshot, and what stands behind it.
fn outcomes(folder: &Path, snapshot: &str) -> BTreeMap<String, (String, String)> {
    let parts = Snapshot::locate(&path_of(folder, snapshot)).unwrap().parts().unwrap();
    let mut outcomes = BTreeMap::new();
    for batch in read_columns(&parts, &["domain", "outcome", "failure_detail"]) {
        let batch = batch.unwrap();
        let column = |name: &str| cast(batch.column_by_name(name).unwrap(), &DataType::Utf8).unwrap();
        let columns = [column("domain"), column("outcome"), column("failure_detail")];
        let [names, words, details] = columns.each_ref().map(AsArray::as_string::<i32>);
        for ((name, word), detail) in names.iter().zip(words).zip(details) {
            let word = word.unwrap().to_owned();
            outcomes.insert(name.unwrap().to_owned(), (word, detail.unwrap_or_default().to_owned()));
        }
    }
    outcomes
}
