//! Cases → answers: what the files of a snapshot or archive say, for millions of hosts, agents and paths.
//!
//! Cases are read in chunks that fit in memory. For each chunk the files of its hosts are read once, each is parsed
//! once, and the answers leave in the order of the cases. So memory does not grow with their number, and cases may come
//! from a pipe.
//!
//! * [`Files`]: where the files come from.
//! * [`check`]: the work; [`Settings`] and [`Chunk`] say how, [`Tally`] what it came to.
//! * [`Sink`]: what takes the answers; [`Answers`]: of them as TSV, CSV or Parquet.
//! * [`Summary`]: the share closed for each host and agent.
//!
//! Reads the files that it is given and writes where it is told. Deliberately absent: the network, and verdicts of its
//! own; those are [`crate::classify`]'s.

mod chunk;
mod files;
mod summary;
mod write;

pub use chunk::{Answer, Chunk, Settings, Sink, Tally, check};
pub use files::Files;
pub use summary::{Share, Summary};
pub use write::{Answers, Format};
