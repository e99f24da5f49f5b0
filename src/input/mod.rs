//! Lists → targets, archives → observations, tables of questions → cases.
//!
//! Reads files and standard input, front to back, once. Deliberately absent: the network, robots.txt syntax, and any
//! writing; what is rejected goes to the caller.
//!
//! * [`read_list`]: any of the usual lists of domains, text or Parquet, packed or not, recognised by content.
//! * [`TargetList`]: what it gave, in about 30 bytes a domain.
//! * [`CaseSource`]: tables of host, agent and path, and lists of URLs, to be asked about.
//! * [`warc`]: archived responses.

mod cases;
mod columns;
mod intake;
mod list;
mod read;
mod rows;
mod source;
mod unzip;
pub mod warc;

pub use cases::{Case, CaseSource, Cases, unsurveyed_host};
pub use list::{Counts, Index, TargetList};
pub use read::{LineFault, ListOptions, Reason, Rejected, read_list};

pub use source::open;

#[cfg(test)]
mod tests;
