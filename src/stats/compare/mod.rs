//! Snapshots side by side: what changed between two, and how a series of them went.
//!
//! * [`Source`]: the rows of one snapshot, as they are stored or judged again
//! * [`Tracked`]: the agents that are looked at
//! * [`diff`]: two snapshots, host by host → [`Diff`]
//! * [`changed_lines`]: the lines of two files that differ, for hosts of a diff
//! * [`trend`]: all snapshots of a folder → answers
//!
//! Snapshots that were judged differently are not compared; whoever calls sees to it that one [`Source`] or both are
//! judged again. What a snapshot does not record is said to be so, and never taken for a change.

mod bodies;
mod cause;
mod cells;
mod changes;
mod diff;
mod facts;
mod index;
mod levels;
mod lines;
mod names;
mod parallel;
mod register;
mod sections;
mod source;
mod tally;
mod trend;
mod turnover;

pub use cause::{Cause, Direction};
pub use changes::{Change, Step, Turn};
pub use diff::{Diff, diff};
pub use lines::{Line, LineChange, changed_lines};
pub use source::{Source, Tracked};
pub use trend::{Missing, Wave, trend};
