//! How files are judged, from what was typed to the classifier and to what a snapshot says of itself.

use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow, ensure};

use crate::classify::definitions::{DEFINITIONS, Definition};
use crate::classify::row::Hex;
use crate::classify::{Catalogue, Classifier};
use crate::cli::Judging;
use crate::robots::{Dialect, PARSER_VERSION};
use crate::snapshot::{Plan, Since};
use crate::table::{SCHEMA_VERSION, TOOL_VERSION};

/// Reads catalogue, definition and dialect.
pub(super) fn classifier(judging: &Judging) -> anyhow::Result<Classifier> {
    let definition = find_definition(&judging.definition)?;
    let dialect = judging.dialect.as_deref().map(find_dialect).transpose()?;
    let dialect = dialect.unwrap_or_else(|| definition.usual_dialect());
    ensure!(
        definition.takes(dialect),
        "the definition {} reads files in the dialect {} only, not in {dialect}",
        definition.name,
        definition.usual_dialect()
    );
    Ok(Classifier::new(load_catalogue(judging.agents.as_deref())?, definition, dialect))
}

/// Finds a definition by its name.
pub(super) fn find_definition(name: &str) -> anyhow::Result<&'static Definition> {
    Definition::named(name).ok_or_else(|| {
        let names: Vec<&str> = DEFINITIONS.iter().map(|definition| definition.name).collect();
        anyhow!("there is no definition {name:?}; there are {}", names.join(", "))
    })
}

/// Finds a dialect by its word.
pub(super) fn find_dialect(word: &str) -> anyhow::Result<Dialect> {
    Dialect::from_word(word).ok_or_else(|| {
        let words: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.word()).collect();
        anyhow!("there is no dialect {word:?}; there are {}", words.join(", "))
    })
}

/// Reads a catalogue of agents, or takes the built-in one.
pub(super) fn load_catalogue(file: Option<&Path>) -> anyhow::Result<Catalogue> {
    let Some(file) = file else { return Ok(Catalogue::embedded()) };
    let text = fs::read_to_string(file).with_context(|| format!("reading the catalogue {}", file.display()))?;
    Ok(Catalogue::parse(&text, &file.display().to_string())?)
}

/// The part of a snapshot's plan that says how files are judged.
pub(super) fn plan(classifier: &Classifier) -> Plan {
    let catalogue = classifier.catalogue();
    Plan {
        schema_version: SCHEMA_VERSION,
        tool_version: TOOL_VERSION.to_owned(),
        parser_version: PARSER_VERSION.to_owned(),
        definition: classifier.definition().name.to_owned(),
        dialect: classifier.dialect().word().to_owned(),
        catalogue_sha256: Hex(&catalogue.sha256()).to_string(),
        panel: panel(catalogue),
        list: None,
        settings: None,
        rehearsal: None,
        archives: Vec::new(),
        since: Since::Never,
        parent: None,
    }
}

/// Tokens of the agents that have columns of their own, in the columns' order.
pub(super) fn panel(catalogue: &Catalogue) -> Vec<String> {
    catalogue.panel().map(|agent| agent.token.clone()).collect()
}
