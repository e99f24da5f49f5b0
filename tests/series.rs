//! Surveys that are repeated, and surveys that are killed: each snapshot has each target once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use arrow::array::{Array, AsArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use survey::domain::Domain;
use survey::rehearsal::{Rehearsal, Settings, Source};
use survey::snapshot::{Folder, Snapshot, State};
use survey::table::read_columns;
use tempfile::TempDir;

use crate::whole::{command, fail, succeed, world};

#[test]
fn a_series_makes_a_snapshot_of_each_run_until_it_is_interrupted() {
    let world = world(30);
    let series = ["--domains", "list.csv", "--rehearse", "--every", "2s", "--gap", "1ms", "--no-second-try"];
    let child = command(world.path(), &series).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let list = Folder::new(world.path().join("rehearsals/list"));
    wait_until(|| list.dates().unwrap().len() >= 3);
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{log}");
    assert!(log.contains("the next run begins at 20"), "{log}");
    let dates = list.dates().unwrap();
    let manifests: Vec<_> = dates.iter().map(|date| list.snapshot(*date).manifest().unwrap().unwrap()).collect();
    let complete: Vec<_> = manifests.iter().filter(|manifest| manifest.state == State::Complete).collect();
    assert!(complete.len() + 1 >= dates.len() && complete.len() >= 2, "only the last may be cut off: {dates:?}");
    assert!(complete.iter().all(|manifest| manifest.rows == 30));
    for (one, next) in manifests.iter().zip(&manifests[1..]) {
        let apart = next.started.duration_since(one.started).as_secs_f64();
        assert!((1.9..20.0).contains(&apart), "{apart} s from one beginning to the next");
    }
}

#[test]
fn a_series_whose_first_run_cannot_begin_ends_and_says_why() {
    let world = world(3);
    let folder = world.path();
    let series = |more: &[&str]| fail(folder, &[&["--rehearse", "--every", "7d"], more].concat());
    assert!(series(&["--domains", "none.csv"]).contains("none.csv"));
    assert!(series(&["--domains", "list.csv", "--out", "list.csv"]).contains("list.csv"));
    assert!(series(&["--domains", "-"]).contains("must be a file"));
    let often = fail(folder, &["--domains", "list.csv", "--every", "10m"]);
    assert!(often.contains("too often"), "{often}");
}

#[test]
fn a_schedule_is_printed_or_written_and_replaces_nothing() {
    let world = world(3);
    let folder = world.path();
    let schedule = ["schedule", "--every", "weekly", "--domains", "list.csv", "--contact", "you@example.org"];
    let printed = succeed(folder, &schedule);
    assert!(printed.contains("# /etc/systemd/system/survey-list.timer\n"), "{printed}");
    assert!(printed.contains("Persistent=true\nRandomizedDelaySec=60min\n"), "{printed}");
    assert!(printed.contains("--contact=you@example.org"), "{printed}");
    let into = [&schedule[..], &["--into", "units", "--user", "me"]].concat();
    assert_eq!(succeed(folder, &into), "");
    assert!(fs::read_to_string(folder.join("units/survey-list.service")).unwrap().contains("\nUser=me\n"));
    assert!(fail(folder, &into).contains("survey-list.service"));

    let error = fail(folder, &["schedule", "--every", "10d", "--domains", "list.csv"]);
    assert!(error.contains("every 10 days") && error.contains("--every SPAN"), "{error}");
    let error = fail(folder, &["schedule", "--every", "weekly", "--domains", "none.csv"]);
    assert!(error.contains("none.csv"), "{error}");
}

/// Names in the list that is killed through.
const NAMES: u32 = 500;

/// A web that outlives the surveys of it.
struct Web {
    world: TempDir,
    _rehearsal: Rehearsal,
    _runtime: tokio::runtime::Runtime,
}

impl Web {
    fn start() -> Self {
        let world = world(NAMES);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let domains = (1..=NAMES).map(|rank| Domain::parse(&format!("host-{rank}.example")).unwrap()).collect();
        let source = Source::Population { domains, seed: 3 };
        let rehearsal = runtime.block_on(Rehearsal::start(source, Settings::default())).unwrap();
        fs::write(world.path().join("web.json"), serde_json::to_string(rehearsal.announcement()).unwrap()).unwrap();
        Self { world, _rehearsal: rehearsal, _runtime: runtime }
    }

    fn survey(&self, name: &str) -> Command {
        self.survey_with(name, &["--date", "2026-01-02"])
    }

    fn survey_with(&self, name: &str, more: &[&str]) -> Command {
        let line = "--domains list.csv --rehearse @web.json --gap 20ms --no-second-try --part-age 100ms \
                    --connect-timeout 3s --read-timeout 3s --total-timeout 6s --quiet --name";
        let words: Vec<&str> = line.split(' ').chain([name]).chain(more.iter().copied()).collect();
        let mut survey = command(self.world.path(), &words);
        survey.stdout(Stdio::null()).stderr(Stdio::piped());
        survey
    }

    fn snapshot(&self, name: &str) -> Snapshot {
        Folder::new(self.world.path().join("rehearsals").join(name)).snapshot("2026-01-02".parse().unwrap())
    }
}

#[test]
fn a_survey_killed_at_five_moments_ends_as_one_that_nobody_disturbed() {
    let web = Web::start();
    assert!(web.survey("calm").output().unwrap().status.success());
    let run = web.snapshot("killed").run().unwrap().to_owned();
    let data = web.snapshot("killed").data().to_owned();
    let parts = || files(&data).len();
    // At first sight of a part that is not whole, of a manifest that is not, and of the first, second, third further part.
    let half_a_part =
        || files(&run.join("writing")).iter().any(|path| path.extension().is_some_and(|e| e == "parquet"));
    let half_a_manifest = || run.join("manifest.json.new").exists();
    let mut before = 0;
    for moment in 0..5 {
        let mut child = web.survey("killed").spawn().unwrap();
        let began = Instant::now();
        while child.try_wait().unwrap().is_none() && began.elapsed() < Duration::from_secs(60) {
            let is_it = match moment {
                0 => half_a_part(),
                1 => half_a_manifest(),
                _ => parts() > before,
            };
            if is_it {
                break;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        before = parts();
    }
    let sessions = web.snapshot("killed").manifest().unwrap().unwrap();
    assert!(sessions.state == State::Running && sessions.sessions.len() >= 4, "the run ended before it was killed");
    let last = web.survey("killed").output().unwrap();
    assert!(last.status.success(), "{}", String::from_utf8_lossy(&last.stderr));
    assert_eq!(web.snapshot("killed").manifest().unwrap().unwrap().state, State::Complete);
    let (killed, calm) = (rows(&web.snapshot("killed")), rows(&web.snapshot("calm")));
    assert_eq!(killed.len(), NAMES as usize);
    let differing: Vec<_> = calm.iter().filter(|(name, seen)| killed.get(*name) != Some(seen)).collect();
    assert!(differing.is_empty(), "{differing:?}");
}

#[test]
fn a_survey_that_was_cut_off_too_long_ago_is_left_aloud_and_gone_on_with_by_its_date() {
    let web = Web::start();
    let mut first = web.survey("left").spawn().unwrap();
    wait_until(|| web.snapshot("left").parts().is_ok_and(|parts| !parts.is_empty()));
    first.kill().unwrap();
    first.wait().unwrap();

    let other = web.survey_with("left", &["--resume-within", "1ms"]).output().unwrap();
    let said = String::from_utf8_lossy(&other.stderr);
    assert!(other.status.success(), "{said}");
    assert!(said.contains("left@2026-01-02 is unfinished") && said.contains("--date 2026-01-02 goes on"), "{said}");
    let list = Folder::new(web.world.path().join("rehearsals/left"));
    assert_eq!(list.dates().unwrap().len(), 2);
    assert_eq!(web.snapshot("left").manifest().unwrap().unwrap().sessions.len(), 1);

    let named = web.survey_with("left", &["--resume-within", "1ms", "--date", "2026-01-02"]).output().unwrap();
    assert!(named.status.success());
    assert_eq!(web.snapshot("left").manifest().unwrap().unwrap().sessions.len(), 2);
    assert_eq!(rows(&web.snapshot("left")).len(), NAMES as usize);
}

#[test]
fn a_second_survey_of_one_snapshot_ends_at_once_and_harms_nothing() {
    let web = Web::start();
    let mut first = web.survey("locked").spawn().unwrap();
    wait_until(|| web.snapshot("locked").manifest().is_ok_and(|manifest| manifest.is_some()));
    let second = web.survey("locked").output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&second.stderr).contains("another run is writing"));
    assert!(first.wait().unwrap().success());
    assert_eq!(rows(&web.snapshot("locked")).len(), NAMES as usize);
}

/// What was seen of each domain, as one text; a domain has one row.
fn rows(snapshot: &Snapshot) -> BTreeMap<String, String> {
    let mut rows = BTreeMap::new();
    let columns = ["domain", "outcome", "body_sha256", "agent_gptbot", "unnamed_restriction"];
    for batch in read_columns(&snapshot.parts().unwrap(), &columns) {
        let batch = batch.unwrap();
        let text = |name: &str| cast(batch.column_by_name(name).unwrap(), &DataType::Utf8).unwrap();
        let hashes = batch.column_by_name("body_sha256").unwrap().as_fixed_size_binary();
        let [names, outcomes, verdicts, unnamed] =
            ["domain", "outcome", "agent_gptbot", "unnamed_restriction"].map(text);
        for row in 0..batch.num_rows() {
            let value = |array: &dyn Array| {
                let array = array.as_string::<i32>();
                if array.is_valid(row) { array.value(row).to_owned() } else { "-".to_owned() }
            };
            let hash = hashes.is_valid(row).then(|| hashes.value(row));
            let seen = format!("{} {} {} {hash:?}", value(&outcomes), value(&verdicts), value(&unnamed));
            let former = rows.insert(value(&names), seen);
            assert_eq!(former, None, "row {row} stands twice");
        }
    }
    rows
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect()
}

fn signal(child: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
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
