//! Which earlier snapshot of its folder a run goes back to.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};

use super::{Date, Folder, NotADate, Plan, Snapshot, State};

/// Which earlier snapshot a run goes back to, as it was asked for: `auto`, `never`, or a date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Since {
    /// The latest complete one before its own date, if there is one.
    Auto,
    /// None.
    #[default]
    Never,
    /// The one of this date.
    Date(Date),
}

impl Since {
    /// Finds the snapshot that a run of this plan and date goes back to.
    ///
    /// Only a survey of the same web counts: archives tell nothing of conditions, and invented answers nothing of real
    /// ones.
    pub(super) fn find(self, folder: &Folder, date: Date, plan: &Plan) -> anyhow::Result<Option<Snapshot>> {
        let is_rehearsal = plan.rehearsal.is_some();
        match self {
            Self::Never => Ok(None),
            Self::Auto => folder.latest_before(date, is_rehearsal),
            Self::Date(earlier) => {
                ensure!(earlier < date, "--since {earlier} is not before {date}, the date of this snapshot");
                let snapshot = folder.snapshot(earlier);
                let manifest = snapshot.manifest()?.with_context(|| format!("there is no snapshot {snapshot}"))?;
                ensure!(manifest.state == State::Complete, "{snapshot} is unfinished; --since needs a complete one");
                ensure!(
                    manifest.plan.settings.is_some() && manifest.plan.rehearsal.is_some() == is_rehearsal,
                    "{snapshot} is no survey of the same web: an archive, or one of the two is a rehearsal"
                );
                Ok(Some(snapshot))
            }
        }
    }
}

impl fmt::Display for Since {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => formatter.write_str("auto"),
            Self::Never => formatter.write_str("never"),
            Self::Date(date) => date.fmt(formatter),
        }
    }
}

impl FromStr for Since {
    type Err = NotADate;

    fn from_str(text: &str) -> Result<Self, NotADate> {
        match text {
            "auto" => Ok(Self::Auto),
            "never" => Ok(Self::Never),
            date => date.parse().map(Self::Date),
        }
    }
}

impl TryFrom<String> for Since {
    type Error = NotADate;

    fn try_from(text: String) -> Result<Self, NotADate> {
        text.parse()
    }
}

impl From<Since> for String {
    fn from(since: Since) -> Self {
        since.to_string()
    }
}
