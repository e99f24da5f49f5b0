//! The run's own account: `manifest.json`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context;
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{Cost, Date, Since, durable};
use crate::table::Provenance;

crate::words! {
    /// How far a snapshot has come.
    pub enum State {
        /// A run is writing it, or was killed while it did.
        Running = "running",
        /// A run was stopped and closed its files; the same command goes on with it.
        Interrupted = "interrupted",
        /// Every target has its row; the snapshot does not change any more.
        Complete = "complete",
    }
}

/// What ran, with what, how it ended and what it left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// How far the snapshot has come.
    pub state: State,
    /// The snapshot's date.
    pub date: Date,
    /// What the run was to do; the same in each of its sessions.
    #[serde(flatten)]
    pub plan: Plan,
    /// The snapshot that its first session went back to; the same in each of them, whatever was made meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Date>,
    /// When the first session began.
    pub started: Timestamp,
    /// When the last session ended in good order.
    pub ended: Option<Timestamp>,
    /// One entry for each time that a run worked on the snapshot.
    pub sessions: Vec<Session>,
    /// Rows in whole parts.
    pub rows: u64,
    /// Rows by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Whole parts in order.
    pub parts: Vec<Part>,
    /// Defects met in an archive, by word.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub defects: BTreeMap<String, u64>,
}

/// What a run is to do: everything that would make rows differ, so it may not change while a snapshot is unfinished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Version of the table's schema: [`SCHEMA_VERSION`](crate::table::SCHEMA_VERSION).
    pub schema_version: i32,
    /// Version of this program: [`TOOL_VERSION`](crate::table::TOOL_VERSION).
    pub tool_version: String,
    /// Version of the parser of robots.txt files.
    pub parser_version: String,
    /// The definition of restriction.
    pub definition: String,
    /// The dialect of the parser.
    pub dialect: String,
    /// SHA-256 of the catalogue of agents, in hexadecimal.
    pub catalogue_sha256: String,
    /// Tokens of the panel's agents, in the order of their columns.
    pub panel: Vec<String>,
    /// The list that is surveyed; nothing where an archive is read.
    pub list: Option<List>,
    /// How it is asked; nothing where nobody is.
    pub settings: Option<Settings>,
    /// Where a rehearsed web takes its answers from; nothing for the real one.
    pub rehearsal: Option<String>,
    /// Archives that are read instead of a list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub archives: Vec<String>,
    /// Which earlier snapshot of the folder it goes back to, as it was asked for.
    #[serde(default)]
    pub since: Since,
    /// The snapshot that is judged again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

/// The list that is surveyed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct List {
    /// Its name.
    pub name: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// Targets it gave.
    pub accepted: u64,
    /// Lines that named a target again.
    pub duplicates: u64,
    /// Lines that name no host; they stand in `rejected.csv`.
    pub rejected: u64,
}

/// How the web is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Milliseconds between two connections to a server.
    pub gap_ms: u64,
    /// Requests in flight at most.
    pub concurrency: u64,
    /// Requests begun a second at most; 0 is no limit.
    pub rate: f64,
    /// Names and blocks of addresses that were not asked.
    #[serde(default)]
    pub exclusions: u64,
    /// Whether targets that failed in passing are tried a second time.
    #[serde(default)]
    pub second_try: bool,
    /// What the `www.` twin of a target is for.
    #[serde(default = "fallback")]
    pub www: String,
    /// Kinds of probes, each with the share of targets that get it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<String>,
    /// Seconds for which a file of the earlier snapshot need not be asked for again; nothing where all are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_age_s: Option<u64>,
    /// Whether IPv6 addresses are asked for also where there are others.
    #[serde(default)]
    pub ipv6: bool,
    /// Decoded bytes of a body that are kept.
    pub max_body: u64,
    /// Whom a site's owner can write to.
    pub contact: Option<String>,
    /// The user agent string sent.
    pub user_agent: String,
    /// The resolver asked.
    pub resolver: String,
    /// Where the survey was made from, in the user's words.
    pub vantage: Option<String>,
}

/// What the twin was for before there was a choice.
fn fallback() -> String {
    "fallback".to_owned()
}

/// One time that a run worked on the snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The command line.
    pub command: Vec<String>,
    /// Seed of the order in which targets were asked; order leaves no mark on rows, so it may differ between sessions.
    pub seed: u64,
    /// When it began.
    pub started: Timestamp,
    /// When it ended in good order.
    pub ended: Option<Timestamp>,
    /// Rows it found in whole parts.
    pub rows_before: u64,
    /// What it cost, where it ended in good order and the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// A whole part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Name of the file in the snapshot's data folder.
    pub file: String,
    /// Its rows.
    pub rows: u64,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
}

impl Manifest {
    /// Reads a manifest; nothing where there is none.
    pub fn read(path: &Path) -> anyhow::Result<Option<Self>> {
        let reading = || format!("reading {}", path.display());
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(reading),
        };
        serde_json::from_slice(&bytes).with_context(reading).map(Some)
    }

    /// Puts the manifest under its name in one step.
    pub(super) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let mut json = serde_json::to_vec_pretty(self).with_context(|| format!("writing {}", path.display()))?;
        json.push(b'\n');
        durable::replace(path, &json)
    }
}

impl Plan {
    /// What each part of a snapshot of this date says of itself.
    pub fn provenance(&self, date: Date) -> Provenance {
        Provenance {
            parser_version: self.parser_version.clone(),
            definition: self.definition.clone(),
            dialect: self.dialect.clone(),
            catalogue_sha256: self.catalogue_sha256.clone(),
            list_sha256: self.list.as_ref().map(|list| list.sha256.clone()),
            date: date.to_string(),
            is_rehearsal: self.rehearsal.is_some(),
        }
    }

    /// Where two plans differ, one line each: `settings.gap_ms: 1000 before, 200 now`.
    pub fn differences(&self, now: &Self) -> Vec<String> {
        let leaves = |plan| {
            let mut leaves = BTreeMap::new();
            flatten("", &serde_json::to_value(plan).expect("a plan is plain data"), &mut leaves);
            leaves
        };
        let (before, now) = (leaves(self), leaves(now));
        let keys: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let shown = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
        keys.into_iter()
            .filter(|key| before.get(*key) != now.get(*key))
            .map(|key| format!("{key}: {} before, {} now", shown(before.get(key)), shown(now.get(key))))
            .collect()
    }
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for State {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        Self::from_word(&word).ok_or_else(|| serde::de::Error::custom(format!("{word:?} is no state of a snapshot")))
    }
}

/// The leaves of a JSON value under their dotted names; what is null is not there.
fn flatten(name: &str, value: &Value, leaves: &mut BTreeMap<String, Value>) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (key, value) in fields {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                flatten(&name, value, leaves);
            }
        }
        _ => {
            leaves.insert(name.to_owned(), value.clone());
        }
    }
}
