//! Sites that name our own product token in their robots.txt and close themselves to it: they are not asked again.
//!
//! They stand in `opted-out.txt` in the list's folder, one name a line, for everybody to read and to correct; a name
//! that is taken out is asked again.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use jiff::Timestamp;

use crate::classify::Row;
use crate::domain::Domain;

/// The name by which robots.txt files can speak to this program, in lower case.
const TOKEN: &str = "robots-survey";

/// The list, and the file that it grows in.
pub(super) struct OptedOut {
    path: PathBuf,
    names: HashSet<Domain>,
    file: Option<File>,
}

impl OptedOut {
    /// Reads the list of a folder, which need not have one.
    pub(super) fn read(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join("opted-out.txt");
        let reading = || format!("reading who opted out of surveys, {}", path.display());
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error).with_context(reading),
        };
        let mut names = HashSet::new();
        for (number, line) in text.lines().enumerate() {
            let entry = line.split('#').next().unwrap_or_default().trim();
            if entry.is_empty() {
                continue;
            }
            let Ok(name) = Domain::parse(entry) else {
                bail!("{}, line {}: {entry:?} is no host name", path.display(), number + 1);
            };
            names.insert(name);
        }
        Ok(Self { path, names, file: None })
    }

    /// Who is on it.
    pub(super) fn names(&self) -> impl ExactSizeIterator<Item = &Domain> {
        self.names.iter()
    }

    /// Takes note of a row whose file closes the site to us.
    pub(super) fn note(&mut self, row: &Row) -> anyhow::Result<()> {
        let domain = &row.observation.target.domain;
        if !closes_itself_to_us(row) || !self.names.insert(domain.clone()) {
            return Ok(());
        }
        let writing = || format!("noting down who opted out of surveys, {}", self.path.display());
        if self.file.is_none() {
            let mut file = OpenOptions::new().append(true).create(true).open(&self.path).with_context(writing)?;
            if file.metadata().with_context(writing)?.len() == 0 {
                file.write_all(HEADER.as_bytes()).with_context(writing)?;
            }
            self.file = Some(file);
        }
        let file = self.file.as_mut().expect("it was just opened");
        let seen = row.observation.fetched_at.unwrap_or(Timestamp::UNIX_EPOCH).strftime("%F");
        file.write_all(format!("{domain}  # its robots.txt closed itself to {TOKEN}, {seen}\n").as_bytes())
            .with_context(writing)
    }
}

const HEADER: &str = "# Hosts whose robots.txt names this survey and closes the site to it. They are not asked again; take a\n\
                      # line out to ask once more.\n";

fn closes_itself_to_us(row: &Row) -> bool {
    row.reading.as_ref().is_some_and(|reading| {
        let ours = reading.named_agents.iter().find(|agent| agent.token == TOKEN);
        // Whatever "restricted" means in this run: neither the root nor a path that no rule names is open.
        ours.is_some_and(|agent| !agent.root_allowed && !agent.unnamed_allowed)
    })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::classify::{Catalogue, Classifier, DEFINITIONS};
    use crate::domain::Target;
    use crate::observation::{BodySource, Ending, Observation, Past, Response};
    use crate::robots::Dialect;

    fn row(domain: &str, body: &'static str) -> Row {
        let response = Response {
            url: format!("https://{domain}/robots.txt"),
            status: 200,
            headers: Vec::new(),
            body: Bytes::from_static(body.as_bytes()),
            is_truncated: false,
            wire_bytes: None,
        };
        let domain = Domain::parse(domain).unwrap();
        Classifier::new(Catalogue::embedded(), &DEFINITIONS[0], Dialect::Rfc9309).classify(Observation {
            target: Target { index: 0, domain, rank: None, weight: None, stratum: None },
            capture_index: 0,
            fetched_at: Some("2026-12-04T00:00:00Z".parse().unwrap()),
            asking: None,
            ending: Ending::Response(response),
            body_source: BodySource::Fetched,
            past: Past::default(),
        })
    }

    #[test]
    fn who_names_us_and_closes_everything_is_remembered_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut list = OptedOut::read(folder.path()).unwrap();
        for _ in 0..2 {
            list.note(&row("away.example", "User-agent: Robots-Survey\nDisallow: /\n")).unwrap();
        }
        list.note(&row("part.example", "User-agent: robots-survey\nDisallow: /private/\n")).unwrap();
        list.note(&row("all.example", "User-agent: *\nDisallow: /\n")).unwrap();
        let again = OptedOut::read(folder.path()).unwrap();
        assert_eq!(again.names().map(Domain::as_str).collect::<Vec<_>>(), ["away.example"]);
        let text = fs::read_to_string(folder.path().join("opted-out.txt")).unwrap();
        assert!(
            text.ends_with("away.example  # its robots.txt closed itself to robots-survey, 2026-12-04\n"),
            "{text}"
        );
    }

    #[test]
    fn a_line_that_is_no_name_is_an_error_that_says_where() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("opted-out.txt"), "# who\naway.example\nnot a name\n").unwrap();
        let error = OptedOut::read(folder.path()).err().unwrap().to_string();
        assert!(error.contains("opted-out.txt, line 3: \"not a name\""), "{error}");
    }
}
