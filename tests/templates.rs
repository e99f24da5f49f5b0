//! Every template of the registry, planted on hosts of a rehearsal and found again in the rows; and the corpora's counts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use serde_json::Value;
use survey::classify::templates::{Decision, Example, Template, templates};
use survey::classify::{Catalogue, Classifier, DEFINITIONS};
use survey::domain::Target;
use survey::input::warc;
use survey::robots::Dialect;
use survey::snapshot::Snapshot;
use survey::table::read_columns;

use crate::whole::{path_of, succeed, world};

/// What a row must hold: template, version, decision of the file, the site's own tokens.
type Stored = (String, Option<String>, String, Vec<String>);

struct Planted {
    name: String,
    head: String,
    body: String,
    expected: Stored,
    /// Whether a crawler that no group names is shut out, by the whole file and by the file without managed blocks.
    is_closed: Option<(bool, bool)>,
}

#[test]
fn rows_hold_what_was_planted() {
    let world = world(1);
    let folder = world.path();
    let hosts = population();
    write_archive(&folder.join("planted.warc"), &hosts);
    let list: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    fs::write(folder.join("planted.txt"), list.join("\n")).unwrap();
    let arguments =
        ["--domains", "planted.txt", "--rehearse", "planted.warc", "--date", "2026-01-02", "--quiet", "--json"];
    let summary: Value = serde_json::from_str(&succeed(folder, &arguments)).unwrap();

    let rows = stored(&path_of(folder, "rehearsals/planted"));
    assert_eq!(rows.len(), hosts.len());
    let (mut by_template, mut by_decision) = (BTreeMap::new(), BTreeMap::new());
    for host in &hosts {
        let (row, levels) = &rows[&host.name];
        assert_eq!(*row, host.expected, "{}\n{}\n{}", host.name, host.head, host.body);
        if let Some((whole, rest)) = host.is_closed {
            assert_eq!(*levels, (whole, rest), "{}", host.name);
        }
        *by_template.entry(row.0.clone()).or_insert(0) += 1;
        *by_decision.entry(row.2.clone()).or_insert(0) += 1;
    }
    // The summary counts each of them, and nothing else.
    by_template.remove("none");
    assert_eq!(counted(&summary, "templates", "template"), by_template);
    assert_eq!(counted(&summary, "decisions", "decision"), by_decision);
}

/// The hosts of each row of a section of the answer.
fn counted(summary: &Value, section: &str, key: &str) -> BTreeMap<String, u64> {
    let rows = summary["answers"]["templates"][section]["rows"].as_array().unwrap();
    let row = |row: &Value| (row[key].as_str().unwrap().to_owned(), row["hosts"]["numerator"].as_u64().unwrap());
    rows.iter().map(row).filter(|(_, hosts)| *hosts > 0).collect()
}

/// Each example of each template, managed blocks before a file that is closed, and files that nobody else wrote.
fn population() -> Vec<Planted> {
    let mut hosts = Vec::new();
    for template in templates() {
        for (number, example) in template.examples.iter().enumerate() {
            hosts.push(plant(&format!("{}-{number}", template.name), template, example));
        }
    }
    // A managed group for `*` opens what the site closes; where there is none, the site's own is heard.
    for (name, is_closed) in [("cloudflare-managed", (false, true)), ("cloudflare-bot-preference-sync", (true, true))] {
        let template = templates().find(|template| template.name == name).unwrap();
        let example =
            template.examples.iter().find(|example| example.of_file.word() == "switch" && example.own.is_empty());
        let mut host = plant(&format!("{name}-closed"), template, example.unwrap());
        let (block, _) = host.body.split_once("User-agent: *\nDisallow: /private/").unwrap();
        let opens = if is_closed.0 { "" } else { "User-agent: *\nAllow: /\n" };
        host.body = block.replacen("content\n", &format!("content\n{opens}"), 1) + "User-agent: *\nDisallow: /\n";
        host.is_closed = Some(is_closed);
        hosts.push(host);
    }
    for (name, body, decision, own) in [
        ("own", "User-agent: GPTBot\nUser-agent: Zao\nDisallow: /\n", "own", &["gptbot", "zao"][..]),
        ("signal", "User-agent: *\nContent-Signal: ai-train=no\nDisallow: /x/\n", "own", &[]),
        ("nobody", "User-agent: *\nDisallow: /x/\n", "none", &[]),
    ] {
        let own = own.iter().map(|token| (*token).to_owned()).collect();
        let expected = ("none".to_owned(), None, decision.to_owned(), own);
        let name = format!("{name}.example");
        hosts.push(Planted { name, head: String::new(), body: body.to_owned(), expected, is_closed: None });
    }
    hosts
}

fn plant(name: &str, template: &Template, example: &Example) -> Planted {
    let own = example.own.iter().map(|token| (*token).to_owned()).collect();
    let version = example.version.map(str::to_owned);
    Planted {
        name: format!("{name}.example"),
        head: example.head.replace('\n', "\r\n"),
        body: example.body.to_owned(),
        expected: (template.name.to_owned(), version, example.of_file.word().to_owned(), own),
        is_closed: None,
    }
}

fn write_archive(path: &Path, hosts: &[Planted]) {
    let mut archive = String::new();
    for Planted { name, head, body, .. } in hosts {
        let message = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n{head}\r\n{body}");
        let _ = write!(
            archive,
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://{name}/robots.txt\r\n\
             WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:test:{name}>\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{message}\r\n\r\n",
            message.len()
        );
    }
    fs::write(path, archive).unwrap();
}

/// What the rows of a snapshot hold, and whether `*` is shut out with and without managed blocks.
fn stored(snapshot: &str) -> BTreeMap<String, (Stored, (bool, bool))> {
    const COLUMNS: [&str; 7] = [
        "domain",
        "template",
        "template_version",
        "decision",
        "unnamed_restriction",
        "unmanaged_unnamed_restriction",
        "own_named_agents",
    ];
    let parts = Snapshot::locate(snapshot).unwrap().parts().unwrap();
    let mut rows = BTreeMap::new();
    for batch in read_columns(&parts, &COLUMNS) {
        let batch: RecordBatch = batch.unwrap();
        let own = batch.column_by_name("own_named_agents").unwrap().as_list::<i32>();
        let texts: Vec<ArrayRef> = COLUMNS[..6]
            .iter()
            .map(|name| cast(batch.column_by_name(name).unwrap(), &DataType::Utf8).unwrap())
            .collect();
        for row in 0..batch.num_rows() {
            let text = |column: usize| {
                let column = texts[column].as_string::<i32>();
                column.is_valid(row).then(|| column.value(row).to_owned())
            };
            let own = own.value(row).as_string::<i32>().iter().map(|token| token.unwrap().to_owned()).collect();
            let is_closed = |column: usize| text(column).as_deref() == Some("full");
            let stored = (text(1).unwrap(), text(2), text(3).unwrap(), own);
            rows.insert(text(0).unwrap(), (stored, (is_closed(4), is_closed(5))));
        }
    }
    rows
}

/// Templates, decisions and namings of real files are those that were counted by other means.
///
/// `scripts/count-templates.py` counts them all again, in every corpus. Where the corpora are absent this says so and
/// passes.
#[test]
fn who_wrote_real_files_is_what_was_counted() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("shared/corpora");
    let path = shared.join("gov-2024-06-29.robotstxt.warc.gz");
    if !path.exists() {
        eprintln!("{} is not here: nothing is counted", path.display());
        return;
    }
    let classifier = Classifier::new(Catalogue::embedded(), &DEFINITIONS[0], Dialect::Rfc9309);
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for (capture, index) in warc::read(&path, 512 << 10).unwrap().zip(0..) {
        let capture = capture.unwrap();
        let domain = capture.host.clone().unwrap();
        let row =
            classifier.classify(capture.observe(Target { index, domain, rank: None, weight: None, stratum: None }));
        let mut count = |word: String| *counts.entry(word).or_default() += 1;
        let Some(authorship) = &row.authorship else {
            count("no verdict".to_owned());
            continue;
        };
        count(format!("decision {}", authorship.decision));
        authorship.found.iter().for_each(|found| count(format!("template {}", found.template)));
        let first = authorship.found.first().map_or("none", |found| found.template);
        let named = row.reading.iter().flat_map(|reading| &reading.named_agents);
        for agent in named.filter(|agent| matches!(agent.token.as_str(), "ccbot" | "gptbot")) {
            let by = if authorship.decision == Decision::Own { "own" } else { first };
            count(format!("{} {}, {by}", agent.token, agent.restriction));
        }
    }
    let counts: Vec<String> = counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
    insta::assert_snapshot!(counts.join("\n"), @r"
    16 ccbot full, own
    1 ccbot full, squarespace
    360 ccbot partial, govoffice
    89 ccbot partial, squarespace
    593 decision default
    7891 decision none
    75 decision own
    1 decision switch
    25 gptbot full, own
    1 gptbot full, squarespace
    89 gptbot partial, squarespace
    58 no verdict
    2 template blogger
    2060 template civicplus
    1081 template drupal
    146 template five-let-in
    360 template govoffice
    155 template joomla
    90 template squarespace
    22 template virtual-robots-txt
    189 template wix
    1122 template wordpress
    6 template wordpress-com
    598 template yoast
    ");
}
