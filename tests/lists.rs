//! Lists in every packing, as people name them on the command line.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch, StringArray, UInt32Array};
use arrow::datatypes::Int32Type;
use parquet::arrow::ArrowWriter;
use rawzip::ZipArchiveWriter;
use survey::snapshot::Snapshot;
use survey::table::read_columns;

use crate::whole::{command, path_of, succeed, world};

/// An archive with one stored file.
fn zip(bytes: &[u8]) -> Vec<u8> {
    let mut archive = ZipArchiveWriter::new(Vec::new());
    let (mut entry, config) = archive.new_file("top-1m.csv").start().unwrap();
    let mut writer = config.wrap(&mut entry);
    writer.write_all(bytes).unwrap();
    let (_, descriptor) = writer.finish().unwrap();
    entry.finish(descriptor).unwrap();
    archive.finish().unwrap()
}

/// `host-1.example` and so on, with their ranks.
fn parquet(names: u32) -> Vec<u8> {
    let hosts: StringArray = (1..=names).map(|rank| Some(format!("host-{rank}.example"))).collect();
    let ranks = UInt32Array::from_iter_values(1..=names);
    let columns = [("rank", Arc::new(ranks) as _), ("host", Arc::new(hosts) as _)];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    file
}

/// `domain outcome`, sorted.
fn outcomes(folder: &Path, name: &str) -> Vec<String> {
    let parts = Snapshot::locate(&path_of(folder, name)).unwrap().parts().unwrap();
    let mut rows = Vec::new();
    for batch in read_columns(&parts, &["domain", "outcome"]) {
        let batch = batch.unwrap();
        let domains = batch.column_by_name("domain").unwrap().as_string::<i32>();
        let outcomes = batch.column_by_name("outcome").unwrap().as_dictionary::<Int32Type>();
        let outcomes = outcomes.downcast_dict::<StringArray>().unwrap();
        rows.extend(
            domains.iter().zip(outcomes).map(|(domain, outcome)| format!("{} {}", domain.unwrap(), outcome.unwrap())),
        );
    }
    rows.sort();
    rows
}

#[test]
fn a_list_as_csv_zip_and_parquet_is_the_same_survey() {
    let world = world(30);
    let folder = world.path();
    fs::write(folder.join("packed-1m.csv.zip"), zip(&fs::read(folder.join("list.csv")).unwrap())).unwrap();
    fs::write(folder.join("columns.parquet"), parquet(30)).unwrap();
    for list in ["list.csv", "packed-1m.csv.zip", "columns.parquet"] {
        succeed(folder, &["--domains", list, "--rehearse", "--no-second-try", "--quiet"]);
    }
    let plain = outcomes(folder, "rehearsals/list");
    assert_eq!(plain.len(), 30);
    assert_eq!(outcomes(folder, "rehearsals/packed-1m"), plain);
    assert_eq!(outcomes(folder, "rehearsals/columns"), plain);
}

#[test]
fn what_is_read_from_its_end_cannot_come_through_a_pipe_and_says_so() {
    let world = world(1);
    for (bytes, what) in [(zip(b"a.example\n"), "a zip archive"), (parquet(1), "Parquet")] {
        // A resolver that nobody answers at, should a list be read against all expectation.
        let arguments = ["--domains", "-", "--resolver", "127.0.0.1:9"];
        let mut child = command(world.path(), &arguments);
        let mut child = child.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains(&format!("standard input: it is {what}")) && error.contains("name a file"), "{error}");
    }
}
