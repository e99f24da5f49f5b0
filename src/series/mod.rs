//! A survey that is repeated: when its next run is due, and what a scheduler must be told to start it.
//!
//! * [`Every`] is how often, [`At`] at which time of the day, week or month.
//! * [`Step::of`] decides, from two clocks and the last run, whether to run now or to sleep; [`repeat()`] obeys it.
//! * [`Job`] is a command line to be started by others; [`Job::systemd`], [`Job::crontab`] and [`Job::kubernetes`] say it
//!   in their languages, or say why they cannot.
//!
//! Touches nothing but tokio's clock, to sleep; the time of day is an argument. Deliberately absent: what a run does, and
//! any word that would be nearly right: a span that a scheduler cannot keep, or a text that it would read otherwise, is
//! an error.

mod at;
mod crontab;
mod due;
mod every;
mod job;
mod kubernetes;
mod repeat;
mod systemd;

pub use at::{At, NoTime};
pub use due::{Moment, Past, Step};
pub use every::{Every, NoSpan};
pub use job::Job;
pub use kubernetes::Cluster;
pub use repeat::{Ending, News, repeat};
pub use systemd::Units;
