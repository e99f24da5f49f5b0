//! Small snapshots made up on the spot: who was asked, and what came.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use survey::classify::{Catalogue, Classifier, Definition, Row};
use survey::domain::{Domain, Target};
use survey::observation::{BodySource, Ending, Failure, Observation, Past, Response};
use survey::outcome::Cause;
use survey::robots::{Dialect, PARSER_VERSION};
use survey::snapshot::{Folder, Limits, Plan, Since, SnapshotWriter};
use survey::table::{SCHEMA_VERSION, TOOL_VERSION};

/// What came when a host was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// A file, with status 200.
    File(String),
    /// Another status, with a page.
    Status(u16, String),
    /// No answer.
    Failed(Cause),
}

pub(crate) fn classifier(definition: &str) -> Classifier {
    let definition = Definition::named(definition).expect("a test names a definition of the registry");
    Classifier::new(Catalogue::embedded(), definition, Dialect::Rfc9309)
}

pub(crate) fn judge(classifier: &Classifier, index: u32, host: &str, seen: &Seen) -> Row {
    let response = |status: u16, text: &str| {
        Ending::Response(Response {
            url: format!("https://{host}/robots.txt"),
            status,
            headers: vec![("content-type".to_owned(), "text/plain".to_owned())],
            body: Bytes::copy_from_slice(text.as_bytes()),
            is_truncated: false,
            wire_bytes: None,
        })
    };
    let ending = match seen {
        Seen::File(text) => response(200, text),
        Seen::Status(status, text) => response(*status, text),
        Seen::Failed(cause) => Ending::Failure(Failure::from(*cause)),
    };
    classifier.classify(Observation {
        target: Target {
            index,
            domain: Domain::parse(host).expect("a test names a host"),
            rank: Some(index * 700 + 1),
            weight: None,
            stratum: None,
        },
        capture_index: 0,
        fetched_at: None,
        asking: None,
        ending,
        body_source: BodySource::Archive,
        past: Past::default(),
    })
}

/// Opens a snapshot of that date; parts of `rows` rows.
pub(crate) fn open(folder: &Path, date: &str, classifier: &Classifier, rows: usize) -> SnapshotWriter {
    let catalogue = classifier.catalogue();
    let plan = Plan {
        schema_version: SCHEMA_VERSION,
        tool_version: TOOL_VERSION.to_owned(),
        parser_version: PARSER_VERSION.to_owned(),
        definition: classifier.definition().name.to_owned(),
        dialect: classifier.dialect().word().to_owned(),
        catalogue_sha256: survey::classify::row::Hex(&catalogue.sha256()).to_string(),
        panel: catalogue.panel().map(|agent| agent.token.clone()).collect(),
        list: None,
        settings: None,
        rehearsal: None,
        archives: vec!["made up".to_owned()],
        since: Since::Never,
        parent: None,
    };
    let date = date.parse().expect("a test gives a date");
    let now = "2026-11-30T14:05:33Z".parse().expect("a point in time");
    let writer = SnapshotWriter::open(&Folder::new(folder), date, plan, Vec::new(), 0, now);
    let limits = Limits { rows, bytes: 64 << 20, age: Duration::from_secs(3600) };
    writer.expect("a new snapshot can be opened").with_limits(limits)
}
