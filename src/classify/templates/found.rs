//! The plain values of the room: a template as the registry has it, and a copy of it that was found in a file.

use std::borrow::Cow;

use super::sheet::Sheet;

crate::words! {
    /// How a template comes into a file.
    pub enum Kind {
        /// A CDN or hoster puts it before or after what the site itself serves.
        ManagedBlock = "managed-block",
        /// A hosted platform or a content system serves it as the site's file, or as the start of one.
        Platform = "platform",
        /// A plugin that somebody chose for the site writes it.
        Plugin = "plugin",
        /// Somebody copied it from elsewhere.
        Copied = "copied",
    }
}

crate::words! {
    /// Who decided the AI rules: groups that name an agent of the set ai-v1, and signals that refuse or grant an AI use.
    pub enum Decision {
        /// The site: at least one of them stands outside managed blocks and templates, or in a list that it copied.
        Own = "own",
        /// Whoever runs the site, with a switch of the platform or CDN, which wrote the rules.
        Switch = "switch",
        /// The platform: they came with it, and nobody was asked.
        Default = "default",
        /// Nobody: there are none.
        None = "none",
        /// A template wrote them, and it is not known at whose wish.
        Unknown = "unknown",
    }
}

/// A template: an entry of the registry.
pub struct Template {
    /// The stable name, which the table stores.
    pub name: &'static str,
    /// How it comes into a file.
    pub kind: Kind,
    /// What it is and how it is known, in a sentence or two.
    pub doc: &'static str,
    /// Who decides the AI rules in it, and where that is known from, in a sentence.
    pub who: &'static str,
    /// Texts that have it, one for each version, and what must be found there.
    pub examples: &'static [Example],
    /// Texts of which a copy has at least one, case as written. None of them may overlap with another in a file.
    pub(super) marks: &'static [&'static str],
    /// Looks closer at a file that has a mark.
    pub(super) read: fn(&Sheet<'_>) -> Option<Seen>,
}

/// A text that has a template, and what must be found in it.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Header fields of the response, one a line.
    pub head: &'static str,
    /// The file.
    pub body: &'static str,
    /// The version that must be found.
    pub version: Option<&'static str>,
    /// Who decides in that version.
    pub decision: Decision,
    /// Who decided the AI rules of the whole file.
    pub of_file: Decision,
    /// The tokens that are the site's own.
    pub own: &'static [&'static str],
}

impl Example {
    /// A template that says nothing about AI, in a file that does not either.
    pub(super) const fn silent(version: Option<&'static str>, body: &'static str) -> Self {
        Self { head: "", body, version, decision: Decision::None, of_file: Decision::None, own: &[] }
    }

    /// A template that decides as said, and the whole file with it.
    pub(super) const fn decided(version: Option<&'static str>, decision: Decision, body: &'static str) -> Self {
        Self { head: "", body, version, decision, of_file: decision, own: &[] }
    }
}

/// What an entry makes of a file.
pub(super) struct Seen {
    pub(super) version: Option<Cow<'static, str>>,
    pub(super) decision: Decision,
    /// The last line of a block.
    pub(super) last_line: Option<u32>,
    /// The line where it shows, or where the block begins.
    pub(super) line: u32,
    /// User-agent lines that the template wrote; of a managed block all are its own.
    pub(super) agent_lines: Vec<u32>,
}

impl Seen {
    /// A template that has nothing about AI in it.
    pub(super) fn silent(sheet: &Sheet<'_>) -> Self {
        Self { version: None, decision: Decision::None, last_line: None, line: sheet.line(), agent_lines: Vec::new() }
    }

    /// The same, in this version.
    pub(super) fn version(mut self, version: impl Into<Cow<'static, str>>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// The same, whose AI rules are decided so.
    pub(super) fn decided(mut self, decision: Decision) -> Self {
        self.decision = decision;
        self
    }

    /// The same, with the first lines that name these tokens.
    pub(super) fn naming(mut self, sheet: &Sheet<'_>, tokens: &[&str]) -> Self {
        self.agent_lines.extend(tokens.iter().filter_map(|token| sheet.names(token)));
        self
    }
}

/// A copy of a template in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The template's name.
    pub template: &'static str,
    /// How it came into the file.
    pub kind: Kind,
    /// Its version, where there are several.
    pub version: Option<Cow<'static, str>>,
    /// Who decides the AI rules in it.
    pub decision: Decision,
    /// The line where it shows, or where the block begins, from 1.
    pub line: u32,
    /// The last line, where it is a block.
    pub last_line: Option<u32>,
}
