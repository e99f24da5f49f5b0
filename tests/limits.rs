//! A machine that is too small: few files may be open. A run is then slower, or ends with a message; it is never wrong.
//!
//! The web is one and the same for all runs, with a process and limits of its own, so that what differs is the survey.

#![expect(clippy::unwrap_used, reason = "clippy's exception for tests stops at the functions that tests call")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use arrow::array::{AsArray, StringArray};
use arrow::datatypes::{Int32Type, Int64Type};
use survey::domain::Domain;
use survey::rehearsal::{Rehearsal, Settings, Source};
use survey::snapshot::Snapshot;
use survey::table::read_columns;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::whole::{command, path_of, world};

const NAMES: u32 = 300;

/// A web of all the names of the world's list, announced in `web.json`; it ends with this value.
struct Web {
    world: TempDir,
    _rehearsal: Rehearsal,
    _runtime: Runtime,
}

impl Web {
    fn start() -> Self {
        let world = world(NAMES);
        let runtime = Runtime::new().unwrap();
        let domains = (1..=NAMES).map(|rank| Domain::parse(&format!("host-{rank}.example")).unwrap()).collect();
        let source = Source::Population { domains, seed: 1 };
        let rehearsal = runtime.block_on(Rehearsal::start(source, Settings::default())).unwrap();
        let announcement = serde_json::to_string(rehearsal.announcement()).unwrap();
        fs::write(world.path().join("web.json"), announcement).unwrap();
        Self { world, _rehearsal: rehearsal, _runtime: runtime }
    }

    fn folder(&self) -> &Path {
        self.world.path()
    }
}

const ARGUMENTS: &str = "--domains list.csv --no-second-try --connect-timeout 4s --read-timeout 4s --total-timeout 10s";

/// A survey of the list, under a name of its own, that may have so many files open.
fn start(folder: &Path, name: &str, rehearse: &str, files: Option<u32>) -> Child {
    let limit = files.map_or_else(String::new, |files| format!("ulimit -n {files}; "));
    let survey = format!("{limit}exec \"$0\" {ARGUMENTS} --rehearse {rehearse} --name {name}");
    let mut shell = Command::new("sh");
    shell.current_dir(folder).args(["-c", &survey, env!("CARGO_BIN_EXE_survey")]);
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn run(folder: &Path, name: &str, rehearse: &str, files: Option<u32>) -> Output {
    start(folder, name, rehearse, files).wait_with_output().unwrap()
}

#[track_caller]
fn succeed(output: &Output) -> String {
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{log}");
    log
}

/// What was seen of each target: `outcome status requests`.
fn outcomes(folder: &Path, name: &str) -> BTreeMap<i64, String> {
    let parts = Snapshot::locate(&path_of(folder, &format!("rehearsals/{name}"))).unwrap().parts().unwrap();
    let mut outcomes = BTreeMap::new();
    for batch in read_columns(&parts, &["target_index", "outcome", "hops"]) {
        let batch = batch.unwrap();
        let column = |name: &str| batch.column_by_name(name).unwrap();
        let words = column("outcome").as_dictionary::<Int32Type>();
        let words = words.downcast_dict::<StringArray>().unwrap();
        let hops = column("hops").as_list::<i32>();
        for ((index, word), hops) in
            column("target_index").as_primitive::<Int64Type>().values().iter().zip(words).zip(hops.iter())
        {
            let requests = hops.map_or(0, |hops| hops.len());
            let former = outcomes.insert(*index, format!("{} {requests}", word.unwrap()));
            assert_eq!(former, None, "target {index} twice");
        }
    }
    assert!(outcomes.keys().copied().eq(0..i64::from(NAMES)));
    outcomes
}

#[test]
fn with_sixty_open_files_a_survey_sees_what_it_sees_with_thousands() {
    let web = Web::start();
    succeed(&run(web.folder(), "full", "@web.json", None));
    let full = outcomes(web.folder(), "full");
    for (name, rehearse, files) in [("few", "@web.json", 60), ("fewest", "@web.json", 32), ("both", "--seed 1", 60)] {
        let log = succeed(&run(web.folder(), name, rehearse, Some(files)));
        assert!(log.contains(&format!("only {files} files may be open, so")), "{log}");
        assert!(!log.contains("pausing"), "what is under way was to fit: {log}");
        assert_eq!(outcomes(web.folder(), name), full, "{name}");
    }
}

#[test]
fn a_limit_that_no_survey_fits_into_is_an_error_and_leaves_nothing() {
    let world = world(1);
    for files in [10, 15, 20] {
        let output = run(world.path(), "none", "", Some(files));
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{log}");
        assert!(log.contains(&format!("only {files} files may be open")) && log.contains("ulimit -n"), "{log}");
    }
    assert!(!world.path().join("rehearsals").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn files_that_run_out_on_the_way_cost_time_or_end_the_run_but_never_make_an_outcome() {
    let web = Web::start();
    let folder = web.folder();
    succeed(&run(folder, "full", "@web.json", None));
    let survey = start(folder, "robbed", "@web.json", None);
    let limit = |files: &str| {
        let (pid, limit) = (survey.id().to_string(), format!("--nofile={files}"));
        Command::new("prlimit").args(["--pid", &pid, &limit]).status().unwrap()
    };
    // Into the middle of the first look-ups and requests; the soft limit only, so that it may rise again.
    std::thread::sleep(Duration::from_millis(300));
    assert!(limit("14:").success(), "prlimit of util-linux lowers the limit");
    std::thread::sleep(Duration::from_secs(3));
    limit("4000:");
    let output = survey.wait_with_output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    eprintln!("limits: {} pauses, then {}", log.matches("pausing").count(), output.status);
    if !output.status.success() {
        assert!(log.contains("Too many open files"), "{log}");
        let again = format!("{ARGUMENTS} --rehearse @web.json --name robbed");
        let again: Vec<&str> = again.split(' ').collect();
        succeed(&command(folder, &again).output().unwrap());
    }
    assert_eq!(outcomes(folder, "robbed"), outcomes(folder, "full"));
}
