//! Where snapshots are: the folder of a list, and one snapshot in it.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use jiff::Timestamp;

use super::{Date, Manifest, Plan, State, durable};

/// The folder of one list: all its snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// The folder at this path, whether it is there yet or not.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Its path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The snapshot of this date, whether it is there yet or not.
    pub fn snapshot(&self, date: Date) -> Snapshot {
        Snapshot {
            name: format!("{}@{date}", self.root.display()),
            data: self.root.join("data").join(format!("date={date}")),
            run: Some((self.root.join("runs").join(date.to_string()), date)),
        }
    }

    /// Dates with a manifest, oldest first.
    pub fn dates(&self) -> anyhow::Result<Vec<Date>> {
        let mut dates = Vec::new();
        for run in durable::entries(&self.root.join("runs"))? {
            let date: Option<Date> = run.file_name().and_then(|name| name.to_str()?.parse().ok());
            dates.extend(date.filter(|_| run.join("manifest.json").is_file()));
        }
        dates.sort_unstable();
        Ok(dates)
    }

    /// The latest complete snapshot.
    pub fn latest(&self) -> anyhow::Result<Option<Snapshot>> {
        self.last(|manifest| manifest.state == State::Complete)
    }

    /// The latest complete snapshot from before this date that was surveyed, in rehearsal or not.
    pub fn latest_before(&self, date: Date, is_rehearsal: bool) -> anyhow::Result<Option<Snapshot>> {
        self.last(|manifest| {
            let plan = &manifest.plan;
            let is_alike = plan.settings.is_some() && plan.rehearsal.is_some() == is_rehearsal;
            manifest.state == State::Complete && manifest.date < date && is_alike
        })
    }

    /// The date that a run with this plan writes.
    ///
    /// The date asked for; else that of the latest unfinished snapshot of the same plan, so that the same command goes on
    /// with it; else the day of `now`. With `again`, a day that already has a snapshot gets the time of day too.
    pub fn date_for(&self, asked: Option<Date>, again: bool, plan: &Plan, now: Timestamp) -> anyhow::Result<Date> {
        let goes_on = |manifest: &Manifest| {
            let is_asked = asked.is_none_or(|asked| asked.day() == manifest.date.day());
            manifest.state != State::Complete && is_asked && manifest.plan == *plan
        };
        if (asked.is_none() || again)
            && let Some(unfinished) = self.last(goes_on)?
        {
            return unfinished.date().context("a snapshot of a list's folder has a date");
        }
        let date = asked.unwrap_or_else(|| Date::of(now));
        Ok(if again && self.dates()?.contains(&date) { date.again(now) } else { date })
    }

    fn last(&self, wanted: impl Fn(&Manifest) -> bool) -> anyhow::Result<Option<Snapshot>> {
        for date in self.dates()?.into_iter().rev() {
            let snapshot = self.snapshot(date);
            if snapshot.manifest()?.is_some_and(|manifest| wanted(&manifest)) {
                return Ok(Some(snapshot));
            }
        }
        Ok(None)
    }
}

/// One snapshot: where its parts are, and the folder of its run where that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    name: String,
    data: PathBuf,
    run: Option<(PathBuf, Date)>,
}

impl Snapshot {
    /// Finds a snapshot as people name it: a list's folder (its latest complete one), `FOLDER@DATE`, or the path of a
    /// date's data folder.
    pub fn locate(text: &str) -> anyhow::Result<Self> {
        let path = Path::new(text);
        if path.join("runs").is_dir() || path.join("data").is_dir() {
            let folder = Folder::new(path);
            if let Some(snapshot) = folder.latest()? {
                return Ok(snapshot);
            }
            match folder.dates()?.last() {
                Some(date) => bail!("{text} has no complete snapshot; the unfinished one is {text}@{date}"),
                None => bail!("{text} has no snapshot"),
            }
        }
        if path.is_dir() {
            let snapshot = Self::at(path);
            if snapshot.parts()?.is_empty() {
                bail!("{text} is neither a list's folder nor a folder of parts");
            }
            return Ok(snapshot);
        }
        let Some((root, date)) = text.rsplit_once('@') else { bail!("there is no folder {text}") };
        let folder = Folder::new(root);
        let date: Date = date.parse().with_context(|| format!("looking for the snapshot {text}"))?;
        let snapshot = folder.snapshot(date);
        if !snapshot.data.is_dir() && snapshot.manifest()?.is_none() {
            let dates: Vec<String> = folder.dates()?.iter().map(Date::to_string).collect();
            let known = if dates.is_empty() { "no snapshot".to_owned() } else { dates.join(", ") };
            bail!("{root} has no snapshot of {date}; it has {known}");
        }
        Ok(snapshot)
    }

    /// The folder of its parts, to be opened as one data set.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Its date, where its run is known.
    pub fn date(&self) -> Option<Date> {
        self.run.as_ref().map(|(_, date)| *date)
    }

    /// Its whole parts in order.
    pub fn parts(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut parts = durable::entries(&self.data)?;
        parts.retain(|path| path.extension().is_some_and(|extension| extension == "parquet"));
        Ok(parts)
    }

    /// The run's account; nothing where the parts were found without it.
    pub fn manifest(&self) -> anyhow::Result<Option<Manifest>> {
        match &self.run {
            Some((run, _)) => Manifest::read(&run.join("manifest.json")),
            None => Ok(None),
        }
    }

    /// The folder of its run, where that is known.
    pub fn run(&self) -> Option<&Path> {
        self.run.as_ref().map(|(run, _)| run.as_path())
    }

    /// A folder of parts: a date of a list's folder where it lies in one, else parts that others made.
    fn at(data: &Path) -> Self {
        let day = data.file_name().and_then(|name| name.to_str()?.strip_prefix("date=")?.parse().ok());
        let list = data.parent().filter(|parent| parent.ends_with("data")).and_then(Path::parent);
        match (day, list) {
            (Some(day), Some(list)) => Self { data: data.to_owned(), ..Folder::new(list).snapshot(day) },
            _ => Self { name: data.display().to_string(), data: data.to_owned(), run: None },
        }
    }
}

/// As people name it.
impl fmt::Display for Snapshot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.name)
    }
}
