//! `survey check` as people run it: over the oracle's cases from archives, and over a snapshot.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use arrow::array::{AsArray, StringArray};
use arrow::datatypes::Int32Type;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use survey::check::{Answer, Chunk, Files, Settings, Sink, check};
use survey::classify::{Catalogue, Classifier, DEFINITIONS, Verdict};
use survey::input::{Case, CaseSource, Rejected};
use survey::robots::Dialect;
use survey::snapshot::Snapshot;
use tempfile::TempDir;

use crate::oracle::{gunzip, shared};
use crate::whole::{command, fail, run, succeed, world};

#[test]
fn the_oracles_cases_are_answered_from_the_archives_line_by_line() {
    let Some(shared) = shared() else { return };
    let world = world(1);
    let (mut compared, mut unknown) = (0, BTreeMap::<String, u32>::new());
    for corpus in ["gov-2024-06-29", "top1m-2017"] {
        let archive = shared.join(format!("corpora/{corpus}.robotstxt.warc.gz"));
        let cases = shared.join(format!("oracle/{corpus}.paths.tsv.gz"));
        let (archive, cases) = (archive.to_str().unwrap(), cases.to_str().unwrap());
        let google = ["check", archive, "--cases", cases, "--dialect", "google", "--max-body", "64MiB", "--quiet"];
        let answers = succeed(world.path(), &google);
        let expected = gunzip(Path::new(cases));
        let mut answers = answers.lines();
        assert_eq!(answers.next().unwrap(), "host\tagent\tpath\tverdict\tline\trule\tgroup\toutcome");
        for expected in expected.lines().filter(|line| !line.starts_with('#')) {
            let answer: Vec<&str> = answers.next().unwrap().split('\t').collect();
            let expected: Vec<&str> = expected.split('\t').collect();
            assert_eq!(answer[..3], expected[..3]);
            if answer[3] == "unknown" {
                *unknown.entry(answer[7].to_owned()).or_default() += 1;
                continue;
            }
            compared += 1;
            let verdict = if expected[3] == "A" { "allow" } else { "disallow" };
            assert_eq!((answer[3], answer[4]), (verdict, expected[4]), "{corpus} {answer:?}");
        }
        assert_eq!(answers.next(), None);
    }
    eprintln!("check: {compared} cases equal the oracle, line included; without a verdict by outcome: {unknown:?}");
    assert!(compared > 100_000, "only {compared} compared");
}

/// A snapshot of forty hosts and the folder it is in.
fn surveyed() -> TempDir {
    let world = world(40);
    succeed(world.path(), &["--domains", "list.csv", "--rehearse", "--date", "2026-01-02", "--quiet"]);
    world
}

/// Two agents and three paths for each host and for two that were not surveyed, in an order that visits all again.
fn table() -> String {
    let mut table = vec!["host\tagent\tpath\ttokens".to_owned()];
    for path in ["/", "/private/x", "/robots.txt"] {
        for number in 0..42 {
            for agent in ["GPTBot", "Googlebot"] {
                table.push(format!("host-{number}.example\t{agent}\t{path}\t{}", number + 1));
            }
        }
    }
    table.join("\n")
}

#[derive(Default)]
struct Heard(Vec<(Case, Answer)>);

impl Sink for Heard {
    fn answer(&mut self, case: &Case, answer: &Answer) -> anyhow::Result<()> {
        self.0.push((case.clone(), answer.clone()));
        Ok(())
    }

    fn reject(&mut self, rejected: &Rejected) -> anyhow::Result<()> {
        panic!("{rejected:?}")
    }
}

#[test]
fn how_many_cases_are_held_at_once_changes_no_answer() {
    let world = surveyed();
    let snapshot = Snapshot::locate(world.path().join("rehearsals/list").to_str().unwrap()).unwrap();
    let files = Files::Snapshot { hosts: snapshot.hosts().unwrap(), follow_final_host: false };
    let path = world.path().join("cases.tsv");
    fs::write(&path, table()).unwrap();
    let answers = |chunk| {
        let classifier = Classifier::new(Catalogue::embedded(), &DEFINITIONS[0], Dialect::Rfc9309);
        let cases = CaseSource::Table { path: path.clone(), weight_column: None }.open().unwrap();
        let mut heard = Heard::default();
        let settings = Settings { classifier, with_restriction: true, chunk };
        check(cases, &files, &settings, &mut heard).unwrap();
        heard.0
    };
    let whole = answers(Chunk::default());
    assert_eq!(whole.len(), 3 * 42 * 2);
    assert!(whole.iter().any(|(_, answer)| answer.verdict == Verdict::Disallow && answer.rule.is_some()));
    for chunk in
        [Chunk { cases: 1, bytes: 1 << 20 }, Chunk { cases: 7, bytes: 1 << 20 }, Chunk { cases: 100, bytes: 90 }]
    {
        assert_eq!(answers(chunk), whole, "{chunk:?}");
    }
}

#[test]
fn a_host_that_was_not_surveyed_is_unknown_and_never_allowed() {
    let world = surveyed();
    fs::write(
        world.path().join("urls"),
        "https://elsewhere.example/x\nhttps://host-9.example:8443/x\nhost-9.example/x\n",
    )
    .unwrap();
    let arguments = ["check", "rehearsals/list", "--urls", "urls", "--agent", "GPTBot", "--quiet"];
    let answers = succeed(world.path(), &arguments);
    let lines: Vec<&str> = answers.lines().collect();
    assert_eq!(lines[1], "elsewhere.example\tGPTBot\t/x\tunknown\t0\t\t\tnot-in-snapshot");
    assert_eq!(lines[2], "host-9.example:8443\tGPTBot\t/x\tunknown\t0\t\t\tnot-in-snapshot");
    assert!(lines[3].starts_with("host-9.example\tGPTBot\t/x\t") && !lines[3].contains("unknown"), "{answers}");
}

#[test]
fn answers_are_the_same_in_each_format_and_a_summary_counts_them() {
    let world = surveyed();
    let folder = world.path();
    fs::write(folder.join("cases.tsv"), table()).unwrap();
    let base = ["check", "rehearsals/list@2026-01-02", "--cases", "cases.tsv", "--definition", "rfc", "--quiet"];
    let with = |more: &[&str]| succeed(folder, &[&base[..], more].concat());
    let tsv = with(&[]);
    let csv = with(&["--format", "csv"]);
    assert_eq!(csv.replace(',', "\t"), tsv);
    assert!(tsv.starts_with("host\tagent\tpath\tverdict\tline\trule\tgroup\toutcome\trestriction\n"), "{tsv}");

    let summary = ["--format", "parquet", "--output", "a.parquet", "--summary", "--json", "--weight-column", "tokens"];
    let summary: Value = serde_json::from_str(&with(&summary)).unwrap();
    let file = fs::File::open(folder.join("a.parquet")).unwrap();
    let rows: Vec<Vec<String>> = ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap()
        .flat_map(|batch| {
            let batch = batch.unwrap();
            let words = |name: &str| {
                let column = batch.column_by_name(name).unwrap().as_dictionary::<Int32Type>();
                let words = column.downcast_dict::<StringArray>().unwrap();
                words.into_iter().map(|word| word.unwrap_or_default().to_owned()).collect::<Vec<_>>()
            };
            let (hosts, verdicts, levels) =
                (batch.column(0).as_string::<i32>(), words("verdict"), words("restriction"));
            let rows = hosts.iter().zip(verdicts).zip(levels);
            rows.map(|((host, verdict), level)| vec![host.unwrap().to_owned(), verdict, level]).collect::<Vec<_>>()
        })
        .collect();
    let expected = tsv.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        vec![cells[0].to_owned(), cells[3].to_owned(), cells[8].to_owned()]
    });
    assert!(rows.iter().cloned().eq(expected));

    let gptbot = &summary["agents"][0];
    assert_eq!((&gptbot["agent"], &gptbot["cases"]), (&"GPTBot".into(), &126.into()));
    let of_gptbot = tsv.lines().filter(|line| line.contains("\tGPTBot\t"));
    let weight = |verdict: &str| {
        let lines = of_gptbot.clone().filter(|line| line.contains(&format!("\t{verdict}\t")));
        lines.map(|line| line["host-".len()..line.find('.').unwrap()].parse::<f64>().unwrap() + 1.0).sum::<f64>()
    };
    assert_eq!(gptbot["disallowed_weight"].as_f64(), Some(weight("disallow")));
    assert_eq!(gptbot["determinable_weight"].as_f64(), Some(weight("disallow") + weight("allow")));
    assert_eq!(gptbot["weight"].as_f64(), Some(3.0 * f64::from((1..=42).sum::<i32>())));
    assert_eq!(gptbot["share_closed"].as_f64(), Some(weight("disallow") / (weight("disallow") + weight("allow"))));
    let nowhere = summary["hosts"].as_array().unwrap().iter().find(|row| row["host"] == "host-41.example").unwrap();
    assert_eq!((&nowhere["unknown"], &nowhere["share_closed"]), (&3.into(), &Value::Null));
}

#[test]
fn the_host_whose_file_it_finally_was_is_answered_on_request_only() {
    let world = world(1);
    let folder = world.path();
    fs::write(folder.join("names"), "redirect-1.test\nplain.example\n").unwrap();
    let list: Vec<String> = (1..=300).map(|number| format!("host-{number}.example")).collect();
    fs::write(folder.join("list"), list.join("\n")).unwrap();
    succeed(folder, &["--domains", "list", "--rehearse", "--date", "2026-01-02", "--quiet"]);
    let snapshot = Snapshot::locate(folder.join("rehearsals/list").to_str().unwrap()).unwrap();
    let hosts = snapshot.hosts().unwrap();
    let moved = list.iter().map(|host| format!("www.{host}")).find(|www| hosts.find_final(www).is_some()).unwrap();
    fs::write(folder.join("urls"), format!("https://{moved}/\n")).unwrap();
    let base = ["check", "rehearsals/list", "--urls", "urls", "--agent", "GPTBot", "--quiet"];
    assert!(succeed(folder, &base).contains("not-in-snapshot"));
    let followed = succeed(folder, &[&base[..], &["--follow-final-host"]].concat());
    assert!(
        followed.lines().nth(1).unwrap().starts_with(&moved) && !followed.contains("not-in-snapshot"),
        "{followed}"
    );
}

#[test]
fn a_line_that_is_no_case_is_told_with_its_number_and_costs_nothing_else() {
    let world = surveyed();
    let folder = world.path();
    let cases = "host-9.example\tGPTBot\t/\na b\tGPTBot\t/\nhost-9.example\n";
    fs::write(folder.join("cases.tsv"), cases).unwrap();
    let base = ["check", "rehearsals/list", "--cases", "cases.tsv"];
    let output = run(folder, &base);
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cases.tsv, line 2: ") && said.contains("cases.tsv, line 3: "), "{said}");
    assert!(said.contains("1 cases: ") && said.contains("2 lines rejected"), "{said}");
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 2);
    succeed(folder, &[&base[..], &["--rejected", "no.csv"]].concat());
    let rejected = fs::read_to_string(folder.join("no.csv")).unwrap();
    assert_eq!(rejected, "line,text,reason\n2,a b\tGPTBot\t/,character\n3,host-9.example,no-column\n");
}

#[test]
fn a_reader_that_has_had_enough_is_no_failure() {
    let world = surveyed();
    let cases: Vec<String> = (0..200_000).map(|number| format!("host-9.example\tGPTBot\t/{number}")).collect();
    fs::write(world.path().join("cases.tsv"), cases.join("\n")).unwrap();
    for format in ["tsv", "csv"] {
        let arguments = ["check", "rehearsals/list", "--cases", "cases.tsv", "--format", format];
        let mut child =
            command(world.path(), &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(!String::from_utf8_lossy(&output.stderr).contains("error"), "{output:?}");
    }
}

#[test]
fn cases_may_come_from_a_pipe() {
    let world = surveyed();
    let arguments = ["check", "rehearsals/list", "--cases", "-", "--quiet"];
    let mut child = command(world.path(), &arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"host-9.example\tGPTBot\t/\nhost-8.example\tGPTBot\t/\n").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 3);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let world = surveyed();
    let folder = world.path();
    fs::write(folder.join("cases.tsv"), "host-9.example\tGPTBot\t/\n").unwrap();
    let base = ["check", "rehearsals/list", "--cases", "cases.tsv"];
    let refused = |more: &[&str]| fail(folder, &[&base[..], more].concat());
    assert!(refused(&["--format", "parquet"]).contains("--output"));
    assert!(refused(&["--definition", "imc25", "--dialect", "rfc9309"]).contains("imc25"));
    assert!(refused(&["--weight-column", "tokens"]).contains("tokens"));
    assert!(refused(&["--output", "cases.tsv"]).contains("cases.tsv"));
    assert!(fs::read_to_string(folder.join("cases.tsv")).unwrap().contains("GPTBot"), "nothing was emptied");
    assert!(fail(folder, &["check", "nowhere", "--cases", "cases.tsv"]).contains("nowhere"));
}
