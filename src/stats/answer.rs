//! What a statistic says: sections of typed cells, free of any format.
//!
//! A share can only be stated as a [`Rate`], and a rate cannot exist without its denominator's name and size. What is
//! not there is a cell too ([`Absence`]), so that nothing unknown is ever shown as a zero.

use std::borrow::Cow;

crate::words! {
    /// Which hosts a rate is a share of.
    pub enum Denominator {
        /// Every accepted line of the list.
        Listed = "listed",
        /// Hosts that have an address.
        Resolved = "resolved",
        /// Hosts from which an HTTP response came.
        Answered = "answered",
        /// Hosts whose robots.txt was read and holds groups or other known records.
        Readable = "readable",
        /// Hosts for which a restriction can be stated: the file was read, says nothing, or does not exist.
        Determinable = "determinable",
        /// Hosts that were looked at once more.
        Probed = "probed",
        /// Hosts of which both looks brought a body.
        BodiesCompared = "bodies-compared",
        /// Hosts of which both looks brought verdicts.
        VerdictsCompared = "verdicts-compared",
        /// Hosts of which a body is stored.
        WithBody = "with-body",
        /// Hosts whose server said that nothing has changed since an earlier snapshot.
        NotModified = "not-modified",
        /// Hosts that stand in at least one of two snapshots.
        InEither = "in-either",
        /// Hosts that stand in both of two snapshots.
        InBoth = "in-both",
        /// The balanced panel of two snapshots: hosts that are determinable in both.
        Panel = "panel",
        /// Hosts that were at the level of the row in the earlier of two snapshots.
        AtThisLevel = "at-level",
        /// Hosts of the panel of which both snapshots say what signals there are.
        SignalsRecorded = "signals-recorded",
        /// Hosts with a verdict in a wave of a series: determinable then, or by an earlier verdict where those are carried.
        WithVerdict = "with-verdict",
        /// The balanced panel of a series: hosts that are determinable in every wave.
        Balanced = "balanced",
    }
}

crate::words! {
    /// Why a cell has no value.
    pub enum Absence {
        /// The snapshot has no such column: it is older, or was made by others.
        NotInSnapshot = "not-in-snapshot",
        /// The question cannot be asked of an archive, which holds no network facts.
        NotInArchive = "not-in-archive",
        /// The rows leave it empty.
        NotKnown = "not-known",
    }
}

impl Absence {
    /// The words that stand in the place of the value, for people.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::NotInSnapshot => "not in this snapshot",
            Self::NotInArchive => "not applicable to an archive",
            Self::NotKnown => "not known",
        }
    }
}

crate::words! {
    /// Where a section is shown.
    pub enum Depth {
        /// In the summary at the end of a run, and wherever details are.
        Summary = "summary",
        /// In reports only.
        Detail = "detail",
    }
}

/// What one statistic says about a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The statistic's name.
    pub name: &'static str,
    /// Its parts, in reading order.
    pub sections: Vec<Section>,
}

/// One table of an answer, with the words that a reader needs beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// The stable key.
    pub name: &'static str,
    /// The title, for people.
    pub title: &'static str,
    /// One sentence that says what is counted.
    pub caption: Cow<'static, str>,
    /// Where it is shown.
    pub depth: Depth,
    /// Whether the figures rest on verdicts, so that the definition must be named beside them.
    pub is_judged: bool,
    /// The figures.
    pub body: Body,
    /// What the words mean, what was left out.
    pub notes: Vec<Cow<'static, str>>,
}

/// The figures of a section, or why there are none.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Rows under columns; every row has one cell per column.
    Table {
        /// The columns.
        columns: Vec<Column>,
        /// The rows.
        rows: Vec<Row>,
    },
    /// The snapshot does not have what it takes.
    Missing {
        /// The columns that are not in the snapshot.
        columns: Vec<Cow<'static, str>>,
    },
}

/// One column of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The stable key.
    pub name: &'static str,
    /// The title, for people; within the group's title where there is one.
    pub title: &'static str,
    /// The title that neighbouring columns share.
    pub group: Option<&'static str>,
}

impl Column {
    /// A column that stands alone.
    pub const fn new(name: &'static str, title: &'static str) -> Self {
        Self { name, title, group: None }
    }

    /// A column under a title that it shares with its neighbours.
    pub const fn grouped(name: &'static str, group: &'static str, title: &'static str) -> Self {
        Self { name, title, group: Some(group) }
    }
}

/// One row of a section.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// How deep it stands inside the rows above it: what is inside is counted there too.
    pub level: usize,
    /// One cell per column.
    pub cells: Vec<Cell>,
}

impl Row {
    /// A row that stands inside no other.
    pub fn new(cells: Vec<Cell>) -> Self {
        Self { level: 0, cells }
    }

    /// A row whose hosts are counted in a row above it too.
    pub fn inside(cells: Vec<Cell>) -> Self {
        Self { level: 1, cells }
    }
}

/// One value of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A stable word, or a token.
    Word(Cow<'static, str>),
    /// A stable word with a wording for people.
    Labelled {
        /// The word.
        word: &'static str,
        /// The wording.
        label: &'static str,
    },
    /// A text for people.
    Text(Cow<'static, str>),
    /// A share.
    Rate(Rate),
    /// There is no value.
    Absent(Absence),
    /// There is nothing to say in this place.
    Blank,
}

impl From<Rate> for Cell {
    fn from(rate: Rate) -> Self {
        Self::Rate(rate)
    }
}

impl From<Result<String, Absence>> for Cell {
    fn from(word: Result<String, Absence>) -> Self {
        word.map_or_else(Self::Absent, |word| Self::Word(word.into()))
    }
}

/// A share, which is never stated without what it is a share of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    numerator: u64,
    denominator: Denominator,
    size: u64,
}

impl Rate {
    /// States that `numerator` of `size` hosts of this kind have the property.
    ///
    /// # Panics
    ///
    /// When more have it than there are: a count was taken outside its denominator, and a wrong figure is worse than
    /// none.
    pub fn new(numerator: u64, denominator: Denominator, size: u64) -> Self {
        assert!(numerator <= size, "{numerator} of {size} {denominator} hosts");
        Self { numerator, denominator, size }
    }

    /// The hosts that have the property.
    pub const fn numerator(self) -> u64 {
        self.numerator
    }

    /// What they are a share of.
    pub const fn denominator(self) -> Denominator {
        self.denominator
    }

    /// How many hosts that is.
    pub const fn size(self) -> u64 {
        self.size
    }

    /// The share, from 0 to 1; nothing where the denominator is empty.
    #[expect(clippy::cast_precision_loss, reason = "host counts stay far below 2^53")]
    pub fn share(self) -> Option<f64> {
        (self.size > 0).then(|| self.numerator as f64 / self.size as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_nothing_is_not_zero() {
        assert_eq!(Rate::new(0, Denominator::Answered, 0).share(), None);
        assert_eq!(Rate::new(1, Denominator::Answered, 4).share(), Some(0.25));
    }

    #[test]
    #[should_panic(expected = "5 of 4 listed hosts")]
    fn more_than_all_is_a_bug() {
        Rate::new(5, Denominator::Listed, 4);
    }
}
