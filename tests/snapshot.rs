//! A snapshot survives anything: killed, torn, refused, gone on with; each target stands in it once.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use bytes::Bytes;
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use survey::classify::Row;
use survey::classify::row::{
    AgentVerdict, BodyFacts, By, Charset, Comparison, Judgement, NamedAgent, Reading, Restriction,
};
use survey::domain::{Domain, Target};
use survey::observation::{
    Asking, Authority, BodySource, DnsAnswers, Ending, Failure, Hop, HttpVersion, Observation, Past, Response,
    TlsVerdict, TlsVersion,
};
use survey::outcome::{Cause, Kind, Outcome};
use survey::robots::Oddity;
use survey::snapshot::{Date, Folder, Limits, List, Manifest, Plan, Settings, Since, Snapshot, SnapshotWriter, State};
use survey::table::{SCHEMA_VERSION, TOOL_VERSION, read_columns};

#[test]
fn a_snapshot_of_several_parts_holds_each_target_once() {
    let folder = TestFolder::new();
    let mut writer = folder.open(plan(25)).unwrap();
    let mut rejected = writer.rejected().unwrap();
    rejected.push(3, "exa mple.org", "character").unwrap();
    rejected.finish().unwrap();
    for index in (0..25).rev() {
        writer.push(row(index)).unwrap();
    }
    let manifest = writer.finish(later()).unwrap();

    let snapshot = Snapshot::locate(folder.path().to_str().unwrap()).unwrap();
    assert_eq!(targets(&snapshot), (0..25).collect::<Vec<_>>());
    assert_eq!(manifest.state, State::Complete);
    assert_eq!(manifest.rows, 25);
    assert_eq!(manifest.outcomes.into_iter().collect::<Vec<_>>(), [("dns-nxdomain".into(), 12), ("rules".into(), 13)]);
    let parts: Vec<(&str, u64)> = manifest.parts.iter().map(|part| (part.file.as_str(), part.rows)).collect();
    assert_eq!(parts, [("part-00000.parquet", 10), ("part-00001.parquet", 10), ("part-00002.parquet", 5)]);
    let rejected = fs::read_to_string(folder.run().join("rejected.csv")).unwrap();
    assert_eq!(rejected, "line,text,reason\n3,exa mple.org,character\n");
    assert_eq!(names(&folder.run()), ["lock", "manifest.json", "rejected.csv", "writing"]);
    assert!(names(&folder.run().join("writing")).is_empty());
}

#[test]
fn the_manifest_comes_back_as_it_was_written() {
    let folder = TestFolder::new();
    let mut writer = folder.open(plan(1)).unwrap();
    writer.add_defects([("cut".to_owned(), 2)]);
    writer.push(row(0)).unwrap();
    let written = writer.finish(later()).unwrap();
    let snapshot = Folder::new(folder.path()).snapshot(date());
    assert_eq!(snapshot.manifest().unwrap(), Some(written.clone()));

    let text = fs::read_to_string(folder.run().join("manifest.json")).unwrap();
    assert!(text.starts_with("{\n  \"state\": \"complete\",\n  \"date\": \"2026-11-30\",\n"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["list"]["name"], "top10k");
    assert_eq!(json["sessions"][0]["seed"], 7);
    assert_eq!(written.parts[0].sha256.len(), 64);
}

#[test]
fn an_interrupted_snapshot_goes_on_where_whole_parts_end() {
    let folder = TestFolder::new();
    let mut writer = folder.open(plan(30)).unwrap();
    (0..12).for_each(|index| writer.push(row(index)).unwrap());
    assert_eq!(writer.interrupt(later()).unwrap().state, State::Interrupted);
    assert!(Snapshot::locate(folder.path().to_str().unwrap()).unwrap_err().to_string().contains("@2026-11-30"));

    let mut writer = folder.open(plan(30)).unwrap();
    assert_eq!(writer.done().len(), 12);
    for index in 0..30 {
        if !writer.done().contains(index) {
            writer.push(row(index)).unwrap();
        }
    }
    let manifest = writer.finish(later()).unwrap();
    assert_eq!(manifest.sessions.len(), 2);
    assert_eq!(manifest.sessions[1].rows_before, 12);
    assert_eq!(manifest.rows, 30);
    assert_eq!(targets(&Folder::new(folder.path()).snapshot(date())), (0..30).collect::<Vec<_>>());
}

#[test]
fn a_killed_snapshot_loses_only_what_waited() {
    let folder = TestFolder::new();
    let mut writer = folder.open(plan(30)).unwrap();
    (0..25).for_each(|index| writer.push(row(index)).unwrap());
    let before = Manifest::read(&folder.run().join("manifest.json")).unwrap().unwrap();
    assert_eq!((before.state, before.rows), (State::Running, 20));
    drop(writer);
    // As if killed between the renaming of a part and the writing of the manifest.
    let behind = fs::read_to_string(folder.run().join("manifest.json")).unwrap();
    let mut behind: serde_json::Value = serde_json::from_str(&behind).unwrap();
    behind["parts"].as_array_mut().unwrap().pop();
    fs::write(folder.run().join("manifest.json"), behind.to_string()).unwrap();

    let writer = folder.open(plan(30)).unwrap();
    assert_eq!(writer.done().len(), 20);
    assert_eq!(writer.manifest().parts, before.parts);
    assert_eq!(writer.manifest().outcomes, before.outcomes);
}

#[test]
fn torn_files_are_put_aside_and_kept() {
    let folder = TestFolder::new();
    for round in ["first", "second"] {
        let writer = folder.open(plan(30)).unwrap();
        drop(writer);
        fs::create_dir_all(folder.run().join("writing")).unwrap();
        fs::write(folder.run().join("writing/part-00000.parquet"), round).unwrap();
    }
    let mut writer = folder.open(plan(30)).unwrap();
    (0..10).for_each(|index| writer.push(row(index)).unwrap());
    writer.interrupt(later()).unwrap();
    let torn = folder.run().join("torn");
    assert_eq!(names(&torn), ["part-00000.parquet", "part-00000.parquet.2"]);
    assert_eq!(fs::read_to_string(torn.join("part-00000.parquet")).unwrap(), "first");
    assert_eq!(targets(&Folder::new(folder.path()).snapshot(date())), (0..10).collect::<Vec<_>>());
}

#[test]
fn a_complete_date_is_refused_and_again_makes_another() {
    let folder = TestFolder::new();
    let complete = folder.complete(2);
    let error = folder.open(plan(2)).err().unwrap().to_string();
    assert!(error.contains("2026-11-30 is complete"), "{error}");
    assert!(error.contains(folder.path().to_str().unwrap()), "{error}");
    assert!(error.contains("--again") && error.contains("--date"), "{error}");
    assert_eq!(Folder::new(folder.path()).snapshot(date()).manifest().unwrap(), Some(complete));

    let list = Folder::new(folder.path());
    assert_eq!(list.date_for(None, false, &plan(2), now()).unwrap(), date());
    let again = list.date_for(None, true, &plan(2), now()).unwrap();
    assert_eq!(again.to_string(), "2026-11-30T140533");
    let writer = SnapshotWriter::open(&list, again, plan(2), Vec::new(), 1, now()).unwrap();
    drop(writer);
    // The same command, later that day, goes on with the one that was killed.
    assert_eq!(list.date_for(None, true, &plan(2), later()).unwrap(), again);
    assert_eq!(list.date_for(None, false, &plan(3), later()).unwrap(), date());
}

#[test]
fn other_settings_are_refused_with_the_difference() {
    let folder = TestFolder::new();
    drop(folder.open(plan(30)).unwrap());
    let mut other = plan(30);
    other.settings.as_mut().unwrap().gap_ms = 200;
    other.rehearsal = None;
    let error = folder.open(other).err().unwrap().to_string();
    assert!(error.contains("settings.gap_ms: 1000 before, 200 now"), "{error}");
    assert!(error.contains("rehearsal: \"seeded\" before, nothing now"), "{error}");
}

#[test]
fn two_runs_do_not_write_one_snapshot() {
    let folder = TestFolder::new();
    let writer = folder.open(plan(1)).unwrap();
    let error = folder.open(plan(1)).err().unwrap().to_string();
    assert!(error.starts_with("another run is writing "), "{error}");
    drop(writer);
    folder.open(plan(1)).unwrap();
}

#[test]
fn a_second_row_and_a_missing_row_are_errors() {
    let folder = TestFolder::new();
    let mut writer = folder.open(plan(3)).unwrap();
    writer.push(row(0)).unwrap();
    assert!(writer.push(row(0)).unwrap_err().to_string().contains("target 0 (host-0.example) has a second row"));
    writer.push(row(1)).unwrap();
    let error = writer.finish(later()).unwrap_err().to_string();
    assert!(error.contains("has 2 rows for the list's 3 targets"), "{error}");
    let manifest = Folder::new(folder.path()).snapshot(date()).manifest().unwrap().unwrap();
    assert_eq!(manifest.state, State::Interrupted);
}

#[test]
fn an_unwritable_folder_is_a_clear_error() {
    let folder = TestFolder::new();
    fs::write(folder.path().join("file"), "").unwrap();
    let list = Folder::new(folder.path().join("file/top10k"));
    let error = SnapshotWriter::open(&list, date(), plan(1), Vec::new(), 1, now()).err().unwrap();
    assert!(format!("{error:#}").contains("file/top10k"), "{error:#}");
    assert_eq!(names(folder.path()), ["file"]);
}

#[test]
fn a_part_that_cannot_be_placed_leaves_whole_parts_alone() {
    let folder = TestFolder::new();
    let mut writer = folder.open(plan(30)).unwrap();
    (0..10).for_each(|index| writer.push(row(index)).unwrap());
    let data = folder.path().join("data");
    fs::rename(&data, folder.path().join("away")).unwrap();
    fs::write(&data, "").unwrap();
    let error = (10..20).try_for_each(|index| writer.push(row(index))).unwrap_err();
    assert!(format!("{error:#}").contains("creating the folder"), "{error:#}");
    drop(writer);

    fs::remove_file(&data).unwrap();
    fs::rename(folder.path().join("away"), &data).unwrap();
    let writer = folder.open(plan(30)).unwrap();
    assert_eq!(writer.done().len(), 10);
    assert_eq!(names(&folder.run().join("torn")), ["part-00001.parquet"]);
}

#[test]
fn snapshots_are_found_by_each_of_their_names() {
    let folder = TestFolder::new();
    folder.complete(2);
    let root = folder.path().to_str().unwrap();
    let data = folder.path().join("data/date=2026-11-30");
    for name in [root.to_owned(), format!("{root}@2026-11-30"), data.to_str().unwrap().to_owned()] {
        let snapshot = Snapshot::locate(&name).unwrap();
        assert_eq!(snapshot.data(), data, "{name}");
        assert_eq!(snapshot.date(), Some(date()), "{name}");
        assert!(snapshot.manifest().unwrap().is_some(), "{name}");
    }
    // Parts alone, moved anywhere, are a snapshot too.
    let loose = folder.path().join("loose");
    fs::create_dir(&loose).unwrap();
    fs::copy(data.join("part-00000.parquet"), loose.join("x.parquet")).unwrap();
    let snapshot = Snapshot::locate(loose.to_str().unwrap()).unwrap();
    assert_eq!(snapshot.manifest().unwrap(), None);
    assert_eq!(targets(&snapshot), [0, 1]);

    for name in ["nowhere", "nowhere@2026-11-30", &format!("{root}@2026-12-01"), &format!("{root}@rfc")] {
        assert!(Snapshot::locate(name).is_err(), "{name}");
    }
}

#[test]
fn documentation_survives_in_the_files() {
    let folder = TestFolder::new();
    folder.complete(2);
    let snapshot = Folder::new(folder.path()).snapshot(date());
    let parts = snapshot.parts().unwrap();
    let batch = read_columns(&parts, &["target_index", "hops", "body"]).next().unwrap().unwrap();
    let schema = batch.schema();
    assert_eq!(schema.fields().len(), 3);
    for field in schema.fields() {
        assert!(field.metadata()["doc"].ends_with('.'), "{field:?}");
    }
    let arrow::datatypes::DataType::List(element) = schema.field_with_name("hops").unwrap().data_type() else {
        panic!()
    };
    let arrow::datatypes::DataType::Struct(fields) = element.data_type() else { panic!() };
    assert!(fields.iter().all(|field| field.metadata()["doc"].ends_with('.')));
}

/// Writes what `scripts/check-readers.py` can be tried on.
#[test]
#[ignore = "writes into the folder that SURVEY_TEST_SNAPSHOT names"]
fn a_snapshot_for_other_readers() {
    let root = std::env::var_os("SURVEY_TEST_SNAPSHOT").expect("SURVEY_TEST_SNAPSHOT names a folder");
    // Small parts, large ones of several row groups, and a second snapshot of one day.
    let snapshots = [
        ("2026-11-30", 25u32, limits()),
        ("2026-12-07", 40_000, Limits { rows: 30_000, ..Limits::default() }),
        ("2026-12-07T140533", 3, limits()),
    ];
    for (date, targets, limits) in snapshots {
        let folder = Folder::new(&root);
        let writer = SnapshotWriter::open(&folder, date.parse().unwrap(), plan(targets.into()), Vec::new(), 7, now());
        let mut writer = writer.unwrap().with_limits(limits);
        (0..targets).for_each(|index| writer.push(row(index)).unwrap());
        writer.finish(later()).unwrap();
    }
}

const BODY: &[u8] = b"User-agent: GPTBot\nDisallow: /\n";

struct TestFolder(tempfile::TempDir);

impl TestFolder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self) -> std::path::PathBuf {
        self.path().join("runs/2026-11-30")
    }

    fn open(&self, plan: Plan) -> anyhow::Result<SnapshotWriter> {
        let command = vec!["survey".to_owned(), "--domains".to_owned(), "top10k.txt".to_owned()];
        let writer = SnapshotWriter::open(&Folder::new(self.path()), date(), plan, command, 7, now())?;
        Ok(writer.with_limits(limits()))
    }

    fn complete(&self, targets: u32) -> Manifest {
        let mut writer = self.open(plan(targets.into())).unwrap();
        (0..targets).for_each(|index| writer.push(row(index)).unwrap());
        writer.finish(later()).unwrap()
    }
}

fn limits() -> Limits {
    Limits { rows: 10, bytes: 1 << 20, age: Duration::from_secs(3600) }
}

fn date() -> Date {
    "2026-11-30".parse().unwrap()
}

fn now() -> Timestamp {
    "2026-11-30T14:05:33.25Z".parse().unwrap()
}

fn later() -> Timestamp {
    "2026-11-30T15:00:00Z".parse().unwrap()
}

fn plan(accepted: u64) -> Plan {
    Plan {
        schema_version: SCHEMA_VERSION,
        tool_version: TOOL_VERSION.to_owned(),
        parser_version: "1".to_owned(),
        definition: "rfc".to_owned(),
        dialect: "rfc9309".to_owned(),
        catalogue_sha256: "cc".to_owned(),
        panel: vec!["GPTBot".to_owned(), "CCBot".to_owned()],
        list: Some(List { name: "top10k".to_owned(), sha256: "11".to_owned(), accepted, duplicates: 0, rejected: 1 }),
        settings: Some(Settings {
            gap_ms: 1000,
            concurrency: 300,
            rate: 200.0,
            exclusions: 0,
            second_try: true,
            www: "fallback".to_owned(),
            probes: Vec::new(),
            max_age_s: None,
            ipv6: false,
            max_body: 512 << 10,
            contact: Some("https://example.org/survey".to_owned()),
            user_agent: "robots-survey/0.1.0 (+https://example.org/survey)".to_owned(),
            resolver: "system".to_owned(),
            vantage: None,
        }),
        rehearsal: Some("seeded".to_owned()),
        archives: Vec::new(),
        since: Since::Never,
        parent: None,
    }
}

/// A readable file for even targets, a name that does not exist for odd ones.
fn row(index: u32) -> Row {
    let domain_name = format!("host-{index}.example");
    let domain = Domain::parse(&domain_name).unwrap();
    let target = Target { index, domain, rank: Some(index + 1), weight: None, stratum: None };
    let is_there = index.is_multiple_of(2);
    let ending = if is_there {
        Ending::Response(Response {
            url: format!("https://{domain_name}/robots.txt"),
            status: 200,
            headers: vec![("content-type".to_owned(), "text/plain".to_owned())],
            body: Bytes::from_static(BODY),
            is_truncated: false,
            wire_bytes: Some(26),
        })
    } else {
        Ending::Failure(Failure::from(Cause::DnsNxdomain))
    };
    Row {
        observation: Observation {
            target,
            capture_index: 0,
            fetched_at: is_there.then(now),
            asking: Some(asking(is_there, &domain_name)),
            ending,
            body_source: BodySource::Fetched,
            past: Past::default(),
        },
        outcome: if is_there { Outcome::Answer(Kind::Rules) } else { Outcome::Failure(Cause::DnsNxdomain) },
        body: is_there.then_some(BodyFacts {
            sha256: Sha256::digest(BODY).into(),
            is_html: false,
            charset: Charset::Ascii,
        }),
        reading: is_there.then(reading),
        judgement: is_there.then(|| Judgement {
            unnamed_restriction: Restriction::None,
            unnamed_root_allowed: true,
            panel: vec![verdict(), verdict()],
            core_training_stricter: true,
            any_ai: true,
            any_ai_named: true,
        }),
        signals: is_there.then(Vec::new),
        stance: None,
        looks: Vec::new(),
    }
}

fn asking(is_there: bool, domain: &str) -> Asking {
    let hop = Hop {
        url: format!("https://{domain}/robots.txt"),
        ip: Some("192.0.2.1".parse().unwrap()),
        status: Some(200),
        failure: None,
        tls_verdict: Some(TlsVerdict::Verified),
        tls_version: Some(TlsVersion::Tls13),
        http_version: Some(HttpVersion::Http11),
        elapsed: Duration::from_millis(12),
    };
    Asking {
        elapsed: Duration::from_millis(34),
        hops: if is_there { vec![hop.clone(), hop] } else { Vec::new() },
        authority: is_there.then_some(Authority::HttpsApex),
        resolved_ips: if is_there { vec!["192.0.2.1".parse().unwrap()] } else { Vec::new() },
        dns_cname: None,
        dns: DnsAnswers::default(),
        probes: Vec::new(),
    }
}

fn reading() -> Reading {
    let agent = NamedAgent {
        token: "gptbot".to_owned(),
        as_written: "GPTBot".to_owned(),
        restriction: Restriction::Full,
        root_allowed: false,
        unnamed_allowed: false,
        allow_rules: 0,
        disallow_rules: 1,
        crawl_delay_s: None,
        line: 1,
    };
    Reading {
        line_count: 2,
        sitemaps: vec!["https://example.org/sitemap.xml".to_owned()],
        oddities: vec![Oddity::ALL[0]],
        other_records: vec![("host".to_owned(), 2)],
        named_agents: vec![agent.clone(), agent],
        ..Reading::default()
    }
}

fn verdict() -> AgentVerdict {
    AgentVerdict {
        restriction: Restriction::Full,
        by: By::Named,
        vs_unnamed: Comparison::Stricter,
        root_allowed: false,
    }
}

fn targets(snapshot: &Snapshot) -> Vec<i64> {
    let mut targets = Vec::new();
    for batch in read_columns(&snapshot.parts().unwrap(), &["target_index"]) {
        targets.extend_from_slice(batch.unwrap().column(0).as_primitive::<Int64Type>().values());
    }
    targets.sort_unstable();
    targets
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
