//! Asked again gently: the second survey of a web sends conditions, and costs the web less than the first.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use arrow::util::display::{ArrayFormatter, FormatOptions};
use serde_json::Value;
use survey::snapshot::Snapshot;
use survey::table::read_columns;

use crate::whole::{fail, path_of, succeed, world};

/// Waits end soon.
const LIMITS: &[&str] =
    &["--connect-timeout", "2s", "--read-timeout", "2s", "--total-timeout", "6s", "--no-second-try", "--quiet"];

fn survey(folder: &Path, date: &str, more: &[&str]) -> Value {
    let arguments = ["--domains", "list.csv", "--rehearse", "--json", "--date", date];
    serde_json::from_str(&succeed(folder, &[&arguments, LIMITS, more].concat())).unwrap()
}

fn refused(folder: &Path, date: &str, more: &[&str]) -> String {
    fail(folder, &[&["--domains", "list.csv", "--rehearse", "--date", date], LIMITS, more].concat())
}

type Rows = BTreeMap<String, Vec<Option<String>>>;

/// These columns of each domain's row, as text.
fn rows(folder: &Path, date: &str, columns: &[&str]) -> Rows {
    let names = [&["domain"], columns].concat();
    let snapshot = Snapshot::locate(&path_of(folder, &format!("rehearsals/list@{date}"))).unwrap();
    let options = FormatOptions::default().with_types_info(false);
    let mut rows = Rows::new();
    for batch in read_columns(&snapshot.parts().unwrap(), &names) {
        let batch = batch.unwrap();
        let arrays: Vec<_> = names.iter().map(|name| batch.column_by_name(name).unwrap()).collect();
        let formatters: Vec<_> =
            arrays.iter().map(|array| ArrayFormatter::try_new(array.as_ref(), &options).unwrap()).collect();
        for row in 0..batch.num_rows() {
            let cell = |column: usize| arrays[column].is_valid(row).then(|| formatters[column].value(row).to_string());
            rows.insert(cell(0).unwrap(), (1..names.len()).map(cell).collect());
        }
    }
    rows
}

/// The row of the statistic of sources: hosts, those asked again plainly, and how many of these had other bytes.
fn source(summary: &Value, source: &str) -> (u64, u64, u64) {
    let rows = summary["answers"]["sources"]["sources"]["rows"].as_array().expect("some bytes are not fetched");
    let row = rows.iter().find(|row| row["source"] == source).unwrap_or_else(|| panic!("no {source} in {rows:?}"));
    let number = |cell: &str| row[cell]["numerator"].as_u64().unwrap_or(0);
    (number("hosts"), number("checked"), number("other_bytes"))
}

/// How many requests the web answered with this status, and how many it got in all, by its own log.
fn answered(folder: &Path, date: &str, status: &str) -> (usize, usize) {
    let log = folder.join(format!("rehearsals/list/runs/{date}/rehearsal.csv"));
    let requests: Vec<String> = csv::Reader::from_path(log)
        .unwrap()
        .records()
        .map(Result::unwrap)
        .filter(|record| record[2].starts_with("http"))
        .map(|record| record[7].to_owned())
        .collect();
    (requests.iter().filter(|seen| *seen == status).count(), requests.len())
}

/// What must be the same in both surveys.
const SAME: &[&str] = &[
    "outcome",
    "status",
    "authority",
    "final_url",
    "etag",
    "last_modified",
    "body_sha256",
    "is_truncated",
    "named_agents",
    "unnamed_restriction",
    "policy_class",
    "agent_gptbot",
    "agent_gptbot_by",
    "agent_ccbot",
    "signals",
    "body",
];

#[test]
fn a_repeat_asks_with_conditions_and_moves_a_fraction_of_the_bytes() {
    let world = world(600);
    let folder = world.path();
    let first = survey(folder, "2026-01-02", &[]);
    assert!(first["answers"]["sources"]["sources"].is_null(), "all of the first was fetched");
    let second = survey(folder, "2026-01-09", &["--probe", "unconditional=20%"]);

    let facts = ["etag", "last_modified", "outcome_class", "wire_bytes", "body_source", "body_bytes", "status"];
    let (before, after) = (rows(folder, "2026-01-02", &facts), rows(folder, "2026-01-09", &facts));
    let bytes = |row: &[Option<String>]| row[3].as_ref().map_or(0, |bytes| bytes.parse::<u64>().unwrap());
    let (mut offered, mut unchanged, mut moved) = (0, 0, (0, 0));
    for (domain, row) in before.iter().filter(|(_, row)| row[0].is_some() || row[1].is_some()) {
        offered += 1;
        unchanged += usize::from(after[domain][4].as_deref() == Some("not-modified"));
        moved = (moved.0 + bytes(row), moved.1 + bytes(&after[domain]));
    }
    assert!(offered > 250, "{offered}");
    assert!(unchanged * 10 >= offered * 9, "{unchanged} of {offered}");
    assert!(moved.1 * 10 < moved.0, "{moved:?}");
    eprintln!("{unchanged} of {offered} hosts with validators were not modified; bytes of their bodies: {moved:?}");
    let (hosts, checked, other) = source(&second, "not-modified");
    assert_eq!(usize::try_from(hosts).unwrap(), unchanged);
    assert_eq!(answered(folder, "2026-01-09", "304").0, unchanged, "the web says otherwise");
    assert!(checked * 10 > hosts && checked * 3 < hosts && other == 0, "{checked} of {hosts}, {other}");

    assert_eq!(rows(folder, "2026-01-02", SAME), rows(folder, "2026-01-09", SAME));
    let csv = ["diff", "rehearsals/list@2026-01-02", "rehearsals/list@2026-01-09", "--format", "csv"];
    assert_eq!(succeed(folder, &csv).lines().count(), 1, "only the header");
    let manifest = fs::read_to_string(folder.join("rehearsals/list/runs/2026-01-09/manifest.json")).unwrap();
    assert!(manifest.contains("\"since\": \"auto\"") && manifest.contains("\"earlier\": \"2026-01-02\""), "{manifest}");

    // Each snapshot holds all of its bytes, so that the next one goes back to it alone.
    fs::remove_dir_all(folder.join("rehearsals/list/data/date=2026-01-02")).unwrap();
    survey(folder, "2026-01-16", &[]);
    assert_eq!(rows(folder, "2026-01-16", SAME), rows(folder, "2026-01-09", SAME));
    assert_eq!(answered(folder, "2026-01-16", "304").0, unchanged);
}

#[test]
fn never_asks_plainly_and_a_date_names_the_snapshot() {
    let world = world(60);
    let folder = world.path();
    survey(folder, "2026-01-02", &[]);
    survey(folder, "2026-01-09", &["--since", "never"]);
    assert_eq!(answered(folder, "2026-01-09", "304").0, 0);
    survey(folder, "2026-01-16", &["--since", "2026-01-02"]);
    assert!(answered(folder, "2026-01-16", "304").0 > 10);
    for (since, complaint) in [
        ("2026-01-03", "there is no snapshot"),
        ("2026-01-23", "--since 2026-01-23 is not before 2026-01-23"),
        ("yesterday", "is no date"),
    ] {
        let arguments = ["--domains", "list.csv", "--rehearse", "--date", "2026-01-23", "--since", since];
        let output = crate::whole::run(folder, &arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(complaint), "{since}: {error}");
    }
    let error = refused(folder, "2026-01-23", &["--since", "never", "--max-age"]);
    assert!(error.contains("--max-age"), "{error}");
    assert!(!folder.join("rehearsals/list/runs/2026-01-23").exists(), "a refusal left a trace");
}

#[test]
fn a_validator_that_lies_is_found_by_asking_without_a_condition() {
    let world = world(40);
    let folder = world.path();
    let mut list = fs::read_to_string(folder.join("list.csv")).unwrap();
    write!(list, "\n41,validator-lies.test\n42,status-304.test").unwrap();
    fs::write(folder.join("list.csv"), list).unwrap();
    survey(folder, "2026-01-02", &[]);
    let summary = survey(folder, "2026-01-09", &["--probe", "unconditional=100%"]);
    let (hosts, checked, other) = source(&summary, "not-modified");
    assert_eq!((checked, other), (hosts, 1), "of {hosts}");
    let facts = ["body_source", "body_sha256", "probes", "outcome"];
    let (before, after) = (rows(folder, "2026-01-02", &facts), rows(folder, "2026-01-09", &facts));
    let liar = &after["validator-lies.test"];
    assert_eq!(liar[0].as_deref(), Some("not-modified"));
    assert_eq!(liar[1], before["validator-lies.test"][1], "a probe is never the answer");
    let probe = liar[2].as_ref().unwrap();
    assert!(probe.contains("unconditional") && probe.contains("verdicts_changed: true"), "{probe}");
    // Without a condition a 304 is an answer that tells nothing.
    assert_eq!(after["status-304.test"][3].as_deref(), Some("other-3xx"));
}

#[test]
fn what_is_younger_than_the_maximum_age_is_not_asked_for() {
    let world = world(120);
    let folder = world.path();
    survey(folder, "2026-01-02", &[]);
    let facts = ["outcome_class", "body_source", "attempts", "fetched_at", "confirmed_at", "wire_bytes"];
    let before = rows(folder, "2026-01-02", &facts);
    let summary = survey(folder, "2026-01-09", &["--max-age"]);
    let after = rows(folder, "2026-01-09", &facts);
    let is_file = |row: &[Option<String>]| matches!(row[0].as_deref(), Some("readable" | "empty"));
    let mut fresh = 0;
    for (domain, row) in &after {
        let is_fresh = row[1].as_deref() == Some("fresh");
        fresh += u64::from(is_fresh);
        if is_fresh {
            assert!(is_file(&before[domain]), "{domain}: {row:?}");
            assert_eq!((row[2].as_deref(), row[5].as_deref()), (Some("0"), Some("0")), "{domain}");
            assert_eq!((&row[3], &row[4]), (&before[domain][3], &before[domain][4]), "{domain}");
        }
    }
    assert!(fresh > 50, "{fresh}");
    assert_eq!(source(&summary, "fresh").0, fresh);
    let same = ["outcome", "body_sha256", "body", "named_agents", "agent_gptbot"];
    assert_eq!(rows(folder, "2026-01-02", &same), rows(folder, "2026-01-09", &same));
    let (all, less) = (answered(folder, "2026-01-02", "").1, answered(folder, "2026-01-09", "").1);
    assert!(less + usize::try_from(fresh).unwrap() <= all, "{less} requests, {all} before");
    // Older than a nanosecond is everything.
    survey(folder, "2026-01-16", &["--max-age", "1s"]);
    let again = rows(folder, "2026-01-16", &["body_source"]);
    assert!(again.values().all(|row| row[0].as_deref() != Some("fresh")));
}

#[test]
fn a_run_goes_on_with_the_same_earlier_snapshot_or_not_at_all() {
    let world = world(60);
    let folder = world.path();
    survey(folder, "2026-01-02", &[]);
    survey(folder, "2026-01-16", &[]);
    // As if it had been stopped, and a snapshot from between had come about meanwhile.
    let path = folder.join("rehearsals/list/runs/2026-01-16/manifest.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    manifest["state"] = "interrupted".into();
    fs::write(&path, manifest.to_string()).unwrap();
    survey(folder, "2026-01-09", &[]);
    let error = refused(folder, "2026-01-16", &["--since", "never"]);
    assert!(error.contains("since: \"auto\" before, \"never\" now"), "{error}");
    let error = refused(folder, "2026-01-16", &["--max-age", "1h"]);
    assert!(error.contains("settings.max_age_s: nothing before, 3600 now"), "{error}");
    survey(folder, "2026-01-16", &[]);
    let manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!((&manifest["state"], &manifest["earlier"]), (&"complete".into(), &"2026-01-02".into()));
}

#[test]
fn an_earlier_snapshot_that_is_not_whole_is_an_error_that_names_the_file() {
    let world = world(60);
    let folder = world.path();
    survey(folder, "2026-01-02", &[]);
    let part = folder.join("rehearsals/list/data/date=2026-01-02/part-00000.parquet");
    let whole = fs::read(&part).unwrap();
    let mut flipped = whole.clone();
    // The last page is one of bodies, since theirs is the last column; its bytes begin with the mark of Zstandard.
    let page = whole.windows(4).rposition(|bytes| bytes == [0x28, 0xb5, 0x2f, 0xfd]).unwrap();
    flipped[page + 200] ^= 0xff;
    for damaged in [Some(&whole[..whole.len() / 2]), Some(&flipped[..]), None] {
        match damaged {
            Some(bytes) => fs::write(&part, bytes).unwrap(),
            None => fs::remove_file(&part).unwrap(),
        }
        let error = refused(folder, "2026-01-09", &[]);
        assert!(error.contains("part-00000.parquet") && error.contains("--since never"), "{error}");
        assert!(!folder.join("rehearsals/list/runs/2026-01-09").exists(), "it left a trace");
    }
    survey(folder, "2026-01-09", &["--since", "never"]);
}

#[test]
fn a_host_that_fails_is_remembered_with_its_last_good_file() {
    let world = world(1);
    let folder = world.path();
    let record = |host: &str, body: &str| {
        let block = format!("HTTP/1.1 200 OK\r\n\r\n{body}");
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:0>\r\nWARC-Date: 2024-06-29T00:00:00Z\r\n\
             WARC-Target-URI: http://{host}/robots.txt\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    let rules = "User-agent: *\nDisallow: /x\n";
    let archive = ["a.example", "b.example", "c.example"].map(|host| record(host, rules)).concat();
    fs::write(folder.join("web.warc"), archive).unwrap();
    fs::write(folder.join("list.csv"), "1,a.example\n2,b.example\n3,c.example\n").unwrap();
    let labels = ["a.example\ttext\t200\t", "b.example\tnet\t\trefused", "c.example\thtml\t404\t"];
    fs::write(folder.join("failing.tsv"), format!("host\tkind\tstatus\tcause\n{}\n", labels.join("\n"))).unwrap();
    let arguments = ["--domains", "list.csv", "--json", "--rehearse", "web.warc"];
    let wave = |date: &str, labels: &[&str]| {
        succeed(folder, &[&arguments, LIMITS, &["--date", date], labels].concat());
        rows(folder, date, &["fetched_at", "body_sha256", "unreachable_since", "last_good_at", "last_good_sha256"])
    };
    let good = wave("2026-01-02", &[]);
    for row in good.values() {
        assert_eq!((&row[2], &row[3], &row[4]), (&None, &row[0], &row[1]), "its own file is its last good one");
    }
    let failing = wave("2026-01-09", &["--labels", "failing.tsv"]);
    let still = wave("2026-01-16", &["--labels", "failing.tsv"]);
    let (first, then, now) = (&good["b.example"], &failing["b.example"], &still["b.example"]);
    assert!(now[0] > then[0] && then[1].is_none(), "{then:?} {now:?}");
    assert_eq!((&then[2], &then[3], &then[4]), (&then[0], &first[0], &first[1]));
    assert_eq!((&now[2], &now[3], &now[4]), (&then[0], &first[0], &first[1]));
    assert_eq!(still["c.example"][2..], [None, None, None], "the server says that there is no file any more");
    let back = wave("2026-01-23", &[]);
    assert_eq!((&back["b.example"][2], &back["b.example"][3]), (&None, &back["b.example"][0]));
}
