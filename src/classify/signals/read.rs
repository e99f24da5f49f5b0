//! A file's records and comments, a response's head → what was found.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::found::{Found, Read, Scope, Signal, Sink, Source, Statement, text};
use super::{Stated, signals};
use crate::observation::Response;
use crate::robots::{Record, RobotsTxt};

/// Statements that are kept of one file or head; all of them count in what they come to ([`Stated`]).
pub const MOST_SIGNALS: usize = 256;

/// Bytes of a scope's tokens, about; a group may name thousands.
pub const LONGEST_SCOPE: usize = 2_048;

/// What was found in one place, and what it comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signals {
    /// The first [`MOST_SIGNALS`] statements, by line.
    pub found: Vec<Found>,
    /// Whether there were more.
    pub is_cut: bool,
    /// What all of them come to.
    pub stated: Stated,
}

impl Signals {
    /// Reads a file, which must have been read by RFC 9309.
    pub fn of_file(file: &RobotsTxt<'_>) -> Self {
        let mut signals = Self::of_records(file);
        for signal in super::signals() {
            if let Read::Comments(read) = signal.read {
                read(
                    file.body(),
                    &mut Sink(&mut |line, statement| {
                        signals.take(signal, line, Source::Body, statement, |_| Scope::File);
                    }),
                );
            }
        }
        // Comments came last; where nothing was found this costs nothing.
        signals.found.sort_by_key(|found| found.line);
        signals
    }

    /// Reads the records of a file: all in it that depends on where its groups end.
    pub(crate) fn of_records(file: &RobotsTxt<'_>) -> Self {
        let mut found = Self::default();
        let groups = Groups { file, tokens: OnceCell::new() };
        for record in file.records() {
            let reader = signals().find_map(|signal| match &signal.read {
                Read::Record { keys, is_scoped, read } if keys.hold(record.key) => Some((signal, *is_scoped, *read)),
                _ => None,
            });
            let Some((signal, is_scoped, read)) = reader else { continue };
            read(
                record.key,
                record.value,
                &mut Sink(&mut |_, statement| {
                    found.take(signal, Some(record.line), Source::Body, statement, |has_room| {
                        if is_scoped { groups.scope(&record, has_room) } else { Scope::File }
                    });
                }),
            );
        }
        found
    }

    /// Reads the head of a response.
    pub fn of_head(response: &Response) -> Self {
        let mut found = Self::default();
        for signal in signals() {
            if let Read::Head(read) = signal.read {
                read(
                    response,
                    &mut Sink(&mut |_, statement| {
                        found.take(signal, None, Source::Header, statement, |_| Scope::Response);
                    }),
                );
            }
        }
        found
    }

    /// Takes a statement; `scope` is told whether it will be kept, or only counted.
    fn take(
        &mut self,
        signal: &Signal,
        line: Option<u32>,
        source: Source,
        statement: Statement<'_>,
        scope: impl FnOnce(bool) -> Scope,
    ) {
        let has_room = self.found.len() < MOST_SIGNALS;
        let Statement { path, key, value, meaning } = statement;
        let owned = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
        let found = Found {
            kind: signal.kind,
            scope: scope(has_room),
            path: owned(path),
            key: owned(key),
            value: owned(value),
            line,
            source,
            meaning,
        };
        self.stated.take(&found);
        if has_room {
            self.found.push(found);
        } else {
            self.is_cut = true;
        }
    }
}

/// Whom the records of a file speak to, by their groups.
struct Groups<'f, 'a> {
    file: &'f RobotsTxt<'a>,
    /// The tokens of each group; looked up once, and only if a record asks.
    tokens: OnceCell<Vec<Vec<&'a [u8]>>>,
}

impl Groups<'_, '_> {
    /// The scope of a record; without the names of the tokens where it will not be kept.
    fn scope(&self, record: &Record<'_>, is_kept: bool) -> Scope {
        let Some(group) = record.group else { return Scope::Orphan };
        let number = u32::try_from(group).unwrap_or(u32::MAX);
        let is_wildcard = self.file.rules_for_unnamed().groups().binary_search(&number).is_ok();
        Scope::Group { tokens: if is_kept { self.names(group) } else { String::new() }, is_wildcard }
    }

    /// The tokens of a group, as many as fit, and how many do not.
    fn names(&self, group: usize) -> String {
        let mut names = String::new();
        let tokens = &self.tokens.get_or_init(|| tokens_by_group(self.file))[group];
        for (place, token) in tokens.iter().enumerate() {
            if names.len() > LONGEST_SCOPE {
                names.extend([" and ", &(tokens.len() - place).to_string(), " more"]);
                break;
            }
            if place > 0 {
                names.push_str(", ");
            }
            names.extend(text(token).chars().take(LONGEST_SCOPE).map(|letter| letter.to_ascii_lowercase()));
        }
        names
    }
}

fn tokens_by_group<'a>(file: &RobotsTxt<'a>) -> Vec<Vec<&'a [u8]>> {
    let mut by_group = vec![Vec::new(); file.groups().len()];
    for token in file.tokens() {
        for group in file.set(token.set).groups() {
            by_group[*group as usize].push(token.name);
        }
    }
    by_group
}
