//! What a snapshot's verdicts rest on: two snapshots may be compared only where it is the same.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::classify::Classifier;
use crate::classify::row::Hex;
use crate::robots::PARSER_VERSION;
use crate::table::read_metadata;

/// What verdicts rest on besides the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grounds {
    /// The definition of restriction.
    pub definition: String,
    /// The dialect of the parser.
    pub dialect: String,
    /// SHA-256 of the catalogue of agents, in hexadecimal.
    pub catalogue_sha256: String,
    /// Version of the parser.
    pub parser_version: String,
}

impl Grounds {
    /// What this classifier's verdicts rest on.
    pub fn of(classifier: &Classifier) -> Self {
        Self {
            definition: classifier.definition().name.to_owned(),
            dialect: classifier.dialect().word().to_owned(),
            catalogue_sha256: Hex(&classifier.catalogue().sha256()).to_string(),
            parser_version: PARSER_VERSION.to_owned(),
        }
    }

    /// What the verdicts of a part rest on; nothing where it does not say, as files that others made.
    pub fn of_part(part: &Path) -> anyhow::Result<Option<Self>> {
        let metadata = read_metadata(part)?;
        let value = |key: &str| metadata.get(&format!("survey.{key}")).cloned();
        let values = (value("definition"), value("dialect"), value("catalogue_sha256"), value("parser_version"));
        let (Some(definition), Some(dialect), Some(catalogue_sha256), Some(parser_version)) = values else {
            return Ok(None);
        };
        Ok(Some(Self { definition, dialect, catalogue_sha256, parser_version }))
    }

    /// What the verdicts of all parts rest on; parts that disagree are an error.
    pub fn of_parts(parts: &[PathBuf]) -> anyhow::Result<Option<Self>> {
        let first = parts.first().context("there is no part yet")?;
        let grounds = Self::of_part(first)?;
        for part in &parts[1..] {
            ensure!(
                Self::of_part(part)? == grounds,
                "{} and {} were judged differently",
                first.display(),
                part.display()
            );
        }
        Ok(grounds)
    }

    /// Where they differ from others, in words; empty where they are the same.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        let mut compare = |what: &str, mine: &str, theirs: &str| {
            if mine != theirs {
                differences.push(format!("{what} {mine} and {theirs}"));
            }
        };
        compare("definition", &self.definition, &other.definition);
        compare("dialect", &self.dialect, &other.dialect);
        compare("catalogue", short(&self.catalogue_sha256), short(&other.catalogue_sha256));
        compare("parser version", &self.parser_version, &other.parser_version);
        differences
    }
}

/// As a note has it: `definition rfc, dialect rfc9309, catalogue 0123456789ab, parser version 2`.
impl fmt::Display for Grounds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { definition, dialect, catalogue_sha256, parser_version } = self;
        let catalogue = short(catalogue_sha256);
        write!(
            formatter,
            "definition {definition}, dialect {dialect}, catalogue {catalogue}, parser version {parser_version}"
        )
    }
}

/// Enough of a hash to tell catalogues apart.
fn short(sha256: &str) -> &str {
    sha256.get(..12).unwrap_or(sha256)
}
