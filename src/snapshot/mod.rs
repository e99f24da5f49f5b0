//! A run's folder: what ran, what it left, and how it goes on after anything.
//!
//! ```text
//! snapshots/top10k/                           Folder: one list
//!   data/date=2026-11-30/part-00000.parquet     nothing but whole parts below data/
//!   runs/2026-11-30/manifest.json               Manifest: what ran, with what, how it ended
//!   runs/2026-11-30/rejected.csv                RejectedWriter: input lines that were not surveyed
//!   runs/2026-11-30/writing/                    files that are not whole yet
//!   runs/2026-11-30/torn/                       files that a killed run left so; kept, never read
//!   runs/2026-11-30/lock                        held while a run writes
//! ```
//!
//! * [`Folder`] is the folder of one list, [`Date`] names a snapshot in it, [`Snapshot`] finds one to read.
//! * [`Manifest`] is the run's own account; its [`Plan`] is what may not change while a snapshot is unfinished.
//! * [`Hosts`] finds what a snapshot stored for a host, [`Stored`] is that.
//! * [`Since`] says which earlier snapshot a run goes back to, [`Earlier`] is what that holds of each target.
//! * [`rejudge`] judges what a snapshot stored again; [`Grounds`] is what its verdicts rest on so far.
//! * [`SnapshotWriter`] writes one: parts are the journal, so a run may be killed at any instruction and started again.
//!
//! May touch files, and a monotonic clock to bound what a crash can cost. Deliberately absent: the choice between
//! `snapshots/` and `rehearsals/` (the shell's), the time of day (an argument), and any deletion of data.

mod cost;
mod date;
mod done;
mod durable;
mod earlier;
mod fields;
mod folder;
mod grounds;
mod manifest;
mod observed;
mod rejected;
mod rejudge;
mod resume;
mod since;
mod stored;
mod writer;

pub use cost::Cost;
pub use date::{Date, NotADate};
pub use done::Done;
pub use earlier::{Earlier, Kinds, Wanted};
pub use folder::{Folder, Snapshot};
pub use grounds::Grounds;
pub use manifest::{List, Manifest, Part, Plan, Session, Settings, State};
pub use rejected::RejectedWriter;
pub use rejudge::{rejudge, rejudge_part};
pub use since::Since;
pub use stored::{Hosts, Place, Stored};
pub use writer::{Limits, SnapshotWriter};
