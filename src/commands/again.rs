//! Which snapshots are compared, and which of them must be judged again first.

use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use clap::Args;

use super::judging::{find_definition, find_dialect, load_catalogue, panel};
use crate::classify::{Classifier, Definition};
use crate::report::Heading;
use crate::robots::Dialect;
use crate::snapshot::{Grounds, Snapshot, State};
use crate::stats::{Source, Tracked};
use crate::table::read_metadata;

/// How snapshots are judged for a comparison.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How files are judged")]
pub(super) struct AgainArgs {
    /// Agents by their tokens, with commas between; `all` for the panel's [default: ten well-known ones]
    ///
    /// A crawler that no group names (*) is looked at besides, always.
    #[arg(long, value_name = "TOKENS", value_delimiter = ',')]
    agents: Vec<String>,

    /// What "restricted" means; snapshots that were judged otherwise are judged again from their bodies
    #[arg(long, value_name = "NAME")]
    definition: Option<String>,

    /// How robots.txt is read, rfc9309 or google; the same holds
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,

    /// A catalogue of agents to judge with instead of the built-in one
    #[arg(long, value_name = "FILE")]
    catalogue: Option<PathBuf>,
}

/// One snapshot, opened.
pub(super) struct Opened {
    pub(super) name: String,
    pub(super) parts: Vec<PathBuf>,
    grounds: Option<Grounds>,
    is_rehearsal: bool,
    is_complete: bool,
}

/// Snapshots that may be compared.
pub(super) struct Comparable {
    pub(super) snapshots: Vec<Opened>,
    pub(super) tracked: Tracked,
    pub(super) dialect: Dialect,
    pub(super) heading: Heading,
    pub(super) notes: Vec<String>,
    classifier: Option<Classifier>,
}

impl Opened {
    pub(super) fn open(snapshot: &Snapshot) -> anyhow::Result<Self> {
        let name = snapshot.to_string();
        let parts = snapshot.parts()?;
        let first = parts.first().with_context(|| format!("{name} has no part yet"))?;
        let is_rehearsal = read_metadata(first)?.get("survey.rehearsal").is_some_and(|word| word == "true");
        let grounds = Grounds::of_parts(&parts).with_context(|| format!("reading {name}"))?;
        let is_complete = snapshot.manifest()?.is_none_or(|manifest| manifest.state == State::Complete);
        Ok(Self { name, parts, grounds, is_rehearsal, is_complete })
    }
}

impl Comparable {
    /// Sees to it that all are judged alike, and says what that takes.
    pub(super) fn new(snapshots: Vec<Opened>, args: &AgainArgs) -> anyhow::Result<Self> {
        let last = snapshots.last().context("there is nothing to compare")?;
        let is_rehearsal = last.is_rehearsal;
        if let Some(other) = snapshots.iter().find(|other| other.is_rehearsal != is_rehearsal) {
            bail!(
                "of {} and {} one is a rehearsal: invented answers say nothing about real ones",
                other.name,
                last.name
            );
        }
        let mut notes: Vec<String> = snapshots
            .iter()
            .filter(|snapshot| !snapshot.is_complete)
            .map(|snapshot| {
                format!("{} is unfinished: hosts that are not in it yet count as not listed.", snapshot.name)
            })
            .collect();
        let is_asked = args.definition.is_some() || args.dialect.is_some() || args.catalogue.is_some();
        let strangers = snapshots.iter().find(|other| other.grounds != last.grounds);
        if let Some(other) = strangers {
            let differences = match (&other.grounds, &last.grounds) {
                (Some(one), Some(two)) => one.differences(two).join(", "),
                _ => "one does not say how".to_owned(),
            };
            notes.push(format!("{} and {} were judged differently: {differences}.", other.name, last.name));
        }
        let classifier = if is_asked || strangers.is_some() { Some(classifier(last, args)?) } else { None };
        let target = classifier.as_ref().map(Grounds::of);
        if let Some(target) = &target {
            for snapshot in snapshots.iter().filter(|snapshot| snapshot.grounds.as_ref() != Some(target)) {
                notes.push(format!("{} is judged again from its bodies by {target}.", snapshot.name));
            }
        }
        let grounds = target.or_else(|| last.grounds.clone());
        let dialect = grounds.as_ref().and_then(|grounds| Dialect::from_word(&grounds.dialect));
        if grounds.is_none() {
            notes.push(
                "No snapshot says by which definition it was judged; their verdicts are taken as they stand.".into(),
            );
        }
        let definition = grounds.as_ref().map_or("not stated", |grounds| grounds.definition.as_str());
        let heading = Heading {
            list: String::new(),
            date: String::new(),
            definition: definition.to_owned(),
            definition_says: Definition::named(definition).map_or_else(String::new, |known| known.doc.to_owned()),
            dialect: grounds.as_ref().map_or("not stated", |grounds| grounds.dialect.as_str()).to_owned(),
            is_rehearsal,
        };
        let tracked = tracked(args, classifier.as_ref())?;
        let dialect = dialect.unwrap_or(Dialect::Rfc9309);
        Ok(Self { snapshots, tracked, dialect, heading, notes, classifier })
    }

    /// The rows of each snapshot, in their order.
    pub(super) fn sources(&self) -> Vec<Source<'_>> {
        let target = self.classifier.as_ref().map(Grounds::of);
        self.snapshots
            .iter()
            .map(|snapshot| Source {
                parts: &snapshot.parts,
                again: self.classifier.as_ref().filter(|_| snapshot.grounds != target),
            })
            .collect()
    }
}

/// As the last snapshot was judged, as far as nothing else is asked for, with the built-in catalogue.
fn classifier(last: &Opened, args: &AgainArgs) -> anyhow::Result<Classifier> {
    let stored = |word: fn(&Grounds) -> &str| last.grounds.as_ref().map(word);
    let definition = args.definition.as_deref().or_else(|| stored(|grounds| &grounds.definition)).unwrap_or("rfc");
    let definition = find_definition(definition)?;
    let asked = args.dialect.as_deref().map(find_dialect).transpose()?;
    let stored_dialect = stored(|grounds| &grounds.dialect).map(find_dialect).transpose()?;
    let usual =
        stored_dialect.filter(|dialect| definition.takes(*dialect)).unwrap_or_else(|| definition.usual_dialect());
    let dialect = asked.unwrap_or(usual);
    ensure!(
        definition.takes(dialect),
        "the definition {} does not read files in the dialect {dialect}",
        definition.name
    );
    Ok(Classifier::new(load_catalogue(args.catalogue.as_deref())?, definition, dialect))
}

/// The agents that are looked at.
fn tracked(args: &AgainArgs, classifier: Option<&Classifier>) -> anyhow::Result<Tracked> {
    if args.agents.is_empty() {
        return Ok(Tracked::well_known());
    }
    if args.agents.iter().any(|token| token.eq_ignore_ascii_case("all")) {
        let embedded = if classifier.is_none() { Some(load_catalogue(None)?) } else { None };
        let catalogue = classifier.map(Classifier::catalogue).or(embedded.as_ref());
        let catalogue = catalogue.expect("it is the classifier's, or else embedded");
        return Ok(Tracked::new(&panel(catalogue)));
    }
    for token in &args.agents {
        let is_plain = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
        ensure!(is_plain, "{token:?} is no agent's token");
    }
    Ok(Tracked::new(&args.agents))
}
