//! Extra looks and the canary, through the whole program.

use std::path::Path;

use serde_json::Value;

use crate::whole::{fail, succeed, world};

/// The row of the noise floor for this kind of probe: looks, and of them those that found another outcome.
fn noise(summary: &Value, kind: &str) -> (u64, u64) {
    let noise = &summary["answers"]["noise"]["noise"];
    let rows = noise["rows"].as_array().expect("there were probes");
    let row = rows.iter().find(|row| row["kind"] == kind).unwrap_or_else(|| panic!("no {kind} in {noise}"));
    (row["looks"]["numerator"].as_u64().unwrap(), row["outcome"]["numerator"].as_u64().unwrap())
}

fn survey(folder: &Path, more: &[&str]) -> Value {
    let mut arguments = vec!["--domains", "list.csv", "--rehearse", "--json", "--quiet"];
    arguments.extend(more);
    serde_json::from_str(&succeed(folder, &arguments)).unwrap()
}

#[test]
fn probes_find_no_noise_where_there_is_none_and_another_authority_where_there_is_one() {
    let folder = world(200);
    let limits = ["--connect-timeout", "2s", "--no-second-try"];
    let probes = ["--probe", "repeat=100%,identity=0.5", "--www", "probe"];
    let summary = survey(folder.path(), &[&limits[..], &probes[..]].concat());
    let (looks, otherwise) = noise(&summary, "repeat");
    assert_eq!((looks, otherwise), (200, 0));
    let (looks, otherwise) = noise(&summary, "identity");
    assert!((60..140).contains(&looks) && otherwise == 0, "{looks}, {otherwise}");
    let (looks, otherwise) = noise(&summary, "authority");
    assert!(looks > 30 && otherwise > 5, "{looks}, {otherwise}");
}

#[test]
fn a_run_without_probes_has_no_noise_floor() {
    let folder = world(20);
    let summary = survey(folder.path(), &["--connect-timeout", "2s", "--no-second-try"]);
    assert!(!summary.to_string().contains("noise floor"));
}

#[test]
fn a_resolver_that_denies_the_canary_is_not_surveyed_through() {
    let folder = world(20);
    let error = fail(folder.path(), &["--domains", "list.csv", "--rehearse", "--canary", "nowhere.example"]);
    assert!(error.contains("dns-nxdomain for nowhere.example, which exists"), "{error}");
}
