//! The whole program as people run it: the binary, its exit codes, and what it leaves.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use survey::snapshot::Snapshot;
use survey::table::read_columns;
use tempfile::TempDir;

/// A folder to run in, with a list of a few hundred names in it.
pub(crate) fn world(names: u32) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = (1..=names).map(|rank| format!("{rank},host-{rank}.example")).collect();
    fs::write(folder.path().join("list.csv"), lines.join("\n")).unwrap();
    folder
}

pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_survey"));
    command.current_dir(folder).args(arguments).env_remove("SURVEY_CONTACT").stdin(Stdio::null());
    command
}

pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

#[track_caller]
pub(crate) fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs what must fail with exit code 1, and gives what it said.
#[track_caller]
pub(crate) fn fail(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?} printed a result");
    String::from_utf8(output.stderr).unwrap()
}

/// How often each target has a row.
fn rows(snapshot: &str) -> BTreeMap<i64, u32> {
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;
    let mut rows = BTreeMap::new();
    for batch in read_columns(&Snapshot::locate(snapshot).unwrap().parts().unwrap(), &["target_index"]) {
        let batch = batch.unwrap();
        for index in batch.column(0).as_primitive::<Int64Type>().values() {
            *rows.entry(*index).or_default() += 1;
        }
    }
    rows
}

pub(crate) fn path_of(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

#[test]
fn a_rehearsed_survey_writes_a_row_for_each_target_and_a_summary() {
    let world = world(300);
    let folder = world.path();
    let list = "# a comment\n5000,host-1.example\n5001,no host\n5002,10.0.0.1\nalone\n";
    let whole = format!("{list}{}", fs::read_to_string(folder.join("list.csv")).unwrap());
    fs::write(folder.join("list.csv"), whole).unwrap();
    let json = succeed(folder, &["--domains", "list.csv", "--rehearse", "--date", "2026-01-02", "--json", "--quiet"]);
    let summary: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(summary["is_rehearsal"], Value::Bool(true), "{summary:#}");

    let rows = rows(&path_of(folder, "rehearsals/list"));
    assert!(rows.into_iter().eq((0..300).map(|index| (index, 1))));
    let run = folder.join("rehearsals/list/runs/2026-01-02");
    let manifest: Value = serde_json::from_slice(&fs::read(run.join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["state"], "complete");
    assert_eq!(manifest["list"]["accepted"], 300);
    assert_eq!(manifest["list"]["duplicates"], 1);
    assert_eq!(manifest["list"]["rejected"], 3);
    let rejected = fs::read_to_string(run.join("rejected.csv")).unwrap();
    assert_eq!(
        rejected,
        "line,text,reason\n3,\"5001,no host\",character\n4,\"5002,10.0.0.1\",ip-literal\n5,alone,no-column\n"
    );
    assert!(fs::read_dir(run.join("writing")).unwrap().next().is_none(), "something was left half-written");

    let error = fail(folder, &["--domains", "list.csv", "--rehearse", "--date", "2026-01-02"]);
    assert!(error.contains("complete") && error.contains("--again"), "{error}");
}

#[test]
fn an_interrupted_survey_exits_130_and_the_same_command_finishes_it() {
    let world = world(400);
    let folder = world.path();
    let arguments = ["--domains", "list.csv", "--rehearse", "--date", "2026-01-02", "--gap", "1s", "--shared", "20"];
    let child = command(folder, &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Twenty names share a server and wait a second for each other, so the run is far from its end when stopped.
    let log = folder.join("rehearsals/list/runs/2026-01-02/rehearsal.csv");
    wait_until(|| fs::read_to_string(&log).is_ok_and(|text| text.lines().count() > 100));
    let child = interrupt(child);
    assert_eq!(child.status.code(), Some(130));
    let snapshot = path_of(folder, "rehearsals/list@2026-01-02");
    let before = rows(&snapshot);
    assert!(!before.is_empty() && before.len() < 400, "{}", before.len());

    let other = fail(folder, &["--domains", "list.csv", "--rehearse", "--date", "2026-01-02", "--gap", "1ms"]);
    assert!(other.contains("gap_ms: 1000 before, 1 now"), "{other}");
    let faster = ["--domains", "list.csv", "--rehearse", "--date", "2026-01-02", "--gap", "1s", "--shared", "20"];
    succeed(folder, &faster);
    assert!(rows(&snapshot).into_iter().eq((0..400).map(|index| (index, 1))));
}

#[test]
fn a_killed_survey_loses_and_doubles_nothing() {
    let world = world(300);
    let folder = world.path();
    let arguments = ["--domains", "list.csv", "--rehearse", "--date", "2026-01-02"];
    for lines in [50, 150] {
        let mut child = command(folder, &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let log = folder.join("rehearsals/list/runs/2026-01-02/rehearsal.csv");
        wait_until(|| fs::read_to_string(&log).is_ok_and(|text| text.lines().count() > lines));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    succeed(folder, &arguments);
    assert!(rows(&path_of(folder, "rehearsals/list")).into_iter().eq((0..300).map(|index| (index, 1))));
}

#[test]
fn bad_input_says_which_file_and_line_and_leaves_nothing() {
    let world = world(3);
    let folder = world.path();
    fs::write(folder.join("empty.txt"), "").unwrap();
    fs::write(folder.join("garbage.txt"), "foo\n\u{1b}[2Jbar\n").unwrap();
    fs::write(folder.join("cut.warc"), "WARC/1.0\r\nWARC-Type: resp").unwrap();
    let toml = succeed(folder, &["agents", "--toml"]);
    fs::write(folder.join("twice.toml"), toml.replacen("token = \"ClaudeBot\"", "token = \"gptbot\"", 1)).unwrap();
    fs::write(folder.join("fun.toml"), toml.replacen("purpose = \"training\"", "purpose = \"fun\"", 1)).unwrap();

    let survey = |list: &str| fail(folder, &["--domains", list, "--rehearse"]);
    assert!(survey("missing.txt").contains("missing.txt"));
    assert!(survey("empty.txt").contains("empty.txt: it is empty"));
    let garbage = survey("garbage.txt");
    assert!(garbage.contains("garbage.txt") && garbage.contains("line 1: \"foo\" (no-dot)"), "{garbage}");
    assert!(!garbage.contains('\u{1b}'), "text from outside reached the terminal: {garbage:?}");
    let with = |agents: &str| fail(folder, &["--domains", "list.csv", "--rehearse", "--agents", agents]);
    assert!(
        with("twice.toml").contains("twice.toml, line") && with("twice.toml").contains("duplicate token \"gptbot\"")
    );
    assert!(with("fun.toml").contains("fun.toml, line") && with("fun.toml").contains("unknown purpose \"fun\""));
    let ingest = fail(folder, &["ingest", "cut.warc"]);
    assert!(ingest.contains("cut.warc"), "{ingest}");
    let out = fail(folder, &["--domains", "list.csv", "--rehearse", "--out", "list.csv"]);
    assert!(out.contains("list.csv"), "{out}");
    assert!(!folder.join("rehearsals").exists() && !folder.join("snapshots").exists());
}

#[test]
fn ingest_gives_the_rows_of_an_archive_and_lists_what_is_torn() {
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
    let mut archive =
        record("a.example", "User-agent: GPTBot\nDisallow: /\n") + &record("b.example", "") + &record("10.0.0.1", "");
    archive += &record("c.example", "User-agent: *\nDisallow: /\n")[..200];
    fs::write(folder.join("wave.warc"), archive).unwrap();
    let text = succeed(folder, &["ingest", "wave.warc"]);
    assert!(text.contains("Survey of wave, 2024-06-29"), "{text}");
    assert_eq!(rows(&path_of(folder, "snapshots/wave")).len(), 2);
    let rejected = fs::read_to_string(folder.join("snapshots/wave/runs/2024-06-29/rejected.csv")).unwrap();
    let reasons: Vec<&str> = rejected.lines().skip(1).filter_map(|line| line.rsplit(',').next()).collect();
    assert_eq!(reasons, ["ip-literal", "torn"]);
}

#[test]
fn the_registries_print_as_text_markdown_and_json() {
    let world = world(1);
    for registry in ["agents", "columns", "definitions", "outcomes", "signals"] {
        assert!(succeed(world.path(), &[registry]).lines().count() >= 4, "{registry}");
        assert!(succeed(world.path(), &[registry, "--markdown"]).starts_with("| "), "{registry}");
        let json: Value = serde_json::from_str(&succeed(world.path(), &[registry, "--json"])).unwrap();
        assert!(json.as_array().is_some_and(|rows| rows.len() >= 4), "{registry}");
    }
    let columns = succeed(world.path(), &["columns"]);
    assert!(columns.contains("agent_gptbot_vs_unnamed") && columns.contains("agent_bingbot"), "{columns}");
}

#[test]
fn wrong_usage_exits_2() {
    let world = world(1);
    for arguments in [&["--rehearse"][..], &["--domains", "list.csv", "agents"], &["--nonsense"], &["ingest"]] {
        assert_eq!(run(world.path(), arguments).status.code(), Some(2), "{arguments:?}");
    }
}

/// Sends SIGINT and waits.
fn interrupt(child: Child) -> Output {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
    child.wait_with_output().unwrap()
}

/// Waits for something that another process does; gives up after a minute.
#[track_caller]
fn wait_until(happened: impl Fn() -> bool) {
    for _ in 0..1200 {
        if happened() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it did not happen within a minute");
}
