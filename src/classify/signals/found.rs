//! The plain values of the room: a signal as the registry has it, and what was found of it.

use std::borrow::Cow;

use crate::observation::Response;

/// A kind of signal in one place: an entry of the registry.
pub struct Signal {
    /// The stable name, which the table stores; the same wherever the signal stands.
    pub kind: &'static str,
    /// How it is written.
    pub syntax: &'static str,
    /// What it says, in a sentence.
    pub doc: &'static str,
    /// Who defines it, and how settled that is, in a sentence.
    pub status: &'static str,
    /// A text that has it, and what must be found there.
    pub example: Example,
    pub(super) read: Read,
}

impl Place {
    /// The source that the table stores for it.
    pub const fn source(self) -> Source {
        match self {
            Self::Record | Self::Comment => Source::Body,
            Self::Header => Source::Header,
        }
    }
}

impl Signal {
    /// Where it stands.
    pub fn place(&self) -> Place {
        match self.read {
            Read::Record { .. } => Place::Record,
            Read::Comments(_) => Place::Comment,
            Read::Head(_) => Place::Header,
        }
    }
}

crate::words! {
    /// Where a signal stands.
    pub enum Place {
        /// It is a record of the file.
        Record = "record",
        /// It is in the file's comments.
        Comment = "comment",
        /// It is in the head of the response, and says something about that response only.
        Header = "header",
    }
}

/// How a signal is read.
pub(super) enum Read {
    /// From records of the file.
    Record {
        /// Whose keys these are.
        keys: Keys,
        /// Whether it speaks to the agents of its group; else it speaks to all, wherever it stands.
        is_scoped: bool,
        /// Reads a record's key and value.
        read: fn(&[u8], &[u8], &mut Sink<'_>),
    },
    /// From all comments of the file; each statement with the line where it begins.
    Comments(fn(&[u8], &mut Sink<'_>)),
    /// From the head of a response.
    Head(fn(&Response, &mut Sink<'_>)),
}

/// Takes what a signal says, with the line where the reader alone knows it.
pub(super) struct Sink<'s>(pub(super) &'s mut dyn FnMut(Option<u32>, Statement<'_>));

impl Sink<'_> {
    /// Takes a statement that stands where the reader was sent to.
    pub(super) fn say(&mut self, statement: Statement<'_>) {
        self.0(None, statement);
    }

    /// Takes a statement of this line.
    pub(super) fn say_at(&mut self, line: u32, statement: Statement<'_>) {
        self.0(Some(line), statement);
    }
}

/// Keys of records, given in lower case.
pub(super) enum Keys {
    /// These.
    Are(&'static [&'static str]),
    /// All that start with one of these.
    StartWith(&'static [&'static str]),
}

impl Keys {
    #[inline]
    pub(super) fn hold(&self, key: &[u8]) -> bool {
        match self {
            Self::Are(keys) => keys.iter().any(|name| key.eq_ignore_ascii_case(name.as_bytes())),
            Self::StartWith(starts) => starts
                .iter()
                .any(|start| key.get(..start.len()).is_some_and(|key| key.eq_ignore_ascii_case(start.as_bytes()))),
        }
    }
}

/// One thing that a signal says, before its place is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement<'a> {
    /// The path it speaks of, where it names one.
    pub(super) path: Option<Cow<'a, str>>,
    /// The key within the signal.
    pub(super) key: Option<Cow<'a, str>>,
    /// The value, as written.
    pub(super) value: Option<Cow<'a, str>>,
    pub(super) meaning: Meaning,
}

impl<'a> Statement<'a> {
    /// A statement about everything.
    pub(super) fn new(key: Option<Cow<'a, str>>, value: Option<Cow<'a, str>>, meaning: Meaning) -> Self {
        Self { path: None, key, value, meaning }
    }
}

/// Bytes of a file as text; what is no UTF-8 is replaced.
pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// One thing that a signal says, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The kind of signal.
    pub kind: &'static str,
    /// Whom it speaks to.
    pub scope: Scope,
    /// The path it speaks of, where it names one.
    pub path: Option<String>,
    /// The key within the signal.
    pub key: Option<String>,
    /// The value, as written.
    pub value: Option<String>,
    /// The line, from 1, where it stands in a file.
    pub line: Option<u32>,
    /// Where it was found.
    pub source: Source,
    /// What it comes to.
    pub meaning: Meaning,
}

impl Found {
    /// Whether it stands in a file where rules do, and refuses or grants an AI use.
    pub fn is_of_ai(&self) -> bool {
        self.source == Source::Body
            && matches!(self.scope, Scope::Group { .. } | Scope::Orphan)
            && !matches!(self.meaning, Meaning::Neutral | Meaning::Unknown)
    }
}

/// Whom a signal speaks to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The agents of its group.
    Group {
        /// Their tokens in lower case, with commas between them.
        tokens: String,
        /// Whether `*` is one of them.
        is_wildcard: bool,
    },
    /// Nobody: it belongs into a group, and stands before the first one.
    Orphan,
    /// Everybody: it belongs to no group, wherever it stands.
    File,
    /// Whoever got this response, about this response.
    Response,
}

impl Scope {
    /// As the table stores it.
    pub fn text(&self) -> &str {
        match self {
            Self::Group { tokens, .. } => tokens,
            Self::Orphan => "orphan",
            Self::File => "file",
            Self::Response => "response",
        }
    }
}

crate::words! {
    /// Where a signal was found.
    pub enum Source {
        /// In the file.
        Body = "body",
        /// In the head of the response that brought it.
        Header = "header",
    }
}

crate::words! {
    /// What a signal comes to.
    pub enum Meaning {
        /// Training of models is not wanted.
        ReservesTraining = "reserves-training",
        /// AI uses other than training, or all of them, are not wanted.
        ReservesAi = "reserves-ai",
        /// Training of models is granted.
        GrantsTraining = "grants-training",
        /// AI uses other than training, or all of them, are granted.
        GrantsAi = "grants-ai",
        /// It is about something else: search, terms, a price.
        Neutral = "neutral",
        /// It cannot be read as its definition asks, and stays unknown.
        Unknown = "unknown",
    }
}

/// A text that has a signal, and what must be found in it.
pub struct Example {
    /// The status of the response.
    pub status: u16,
    /// Header fields, one a line.
    pub head: &'static str,
    /// The file.
    pub body: &'static str,
    /// Everything that this signal says there, in order.
    pub finds: &'static [Expected],
}

impl Example {
    /// A file.
    pub(super) const fn file(body: &'static str, finds: &'static [Expected]) -> Self {
        Self { status: 200, head: "", body, finds }
    }

    /// A response with these header fields.
    pub(super) const fn head(status: u16, head: &'static str, finds: &'static [Expected]) -> Self {
        Self { status, head, body: "User-agent: *\nDisallow: /private/\n", finds }
    }
}

/// One thing that must be found, as the table stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Whom it speaks to.
    pub scope: &'static str,
    /// The path, where it names one.
    pub path: Option<&'static str>,
    /// The key within the signal.
    pub key: Option<&'static str>,
    /// The value.
    pub value: Option<&'static str>,
    /// The line, in a file.
    pub line: Option<u32>,
}
