//! Templates: who wrote a file, the site or a platform, a CDN, a plugin, a list that goes round.
//!
//! [`templates()`] is the registry. Each entry is a text that stands in many files, with what it is, who decides the AI
//! rules in it, and an example of each version; the examples are tests, and what a rehearsed host serves. A new entry
//! goes into the table of the file that it belongs to, and nowhere else.
//!
//! | file | what it has |
//! |---|---|
//! | `found.rs` | the plain values: a template, a copy of it in a file, who decided |
//! | `sheet.rs` | what an entry looks at |
//! | `lines.rs` | where lines are, and a body without some of them |
//! | `read.rs` | a file → its templates, what is the site's own, who decided |
//! | `cluster.rs` | a file without what differs between copies: equal hashes are one text |
//! | `cloudflare.rs` | what Cloudflare writes, and what others pass off as that |
//! | `hosted.rs` | platforms that serve the file of each site |
//! | `systems.rs` | content systems that come with a file |
//! | `plugins.rs` | plugins that write into a file |
//! | `vendors.rs` | vendors of whole sites, such as those of US towns |
//! | `lists.rs` | lists that sites copy |
//!
//! One search goes over a file for the marks of all entries; only an entry whose mark is there looks closer. Entries
//! are in order of rank: where a file has several templates the first is the one that the column `template` names.
//! Managed blocks come first and are taken away before the others look, so that each sees what its maker wrote.
//!
//! Pure, and never fails. Deliberately absent: what a server's other headers or addresses tell about its platform.

mod cloudflare;
mod cluster;
mod found;
mod hosted;
mod lines;
mod lists;
mod plugins;
mod read;
mod sheet;
mod systems;
mod vendors;

#[cfg(test)]
mod tests;

pub(super) use cluster::cluster;
pub use found::{Decision, Example, Found, Kind, Template};
pub use read::{Authorship, Templates};

/// The tables of the registry, in order of rank.
const TABLES: &[&[Template]] =
    &[cloudflare::TABLE, hosted::TABLE, vendors::TABLE, systems::TABLE, plugins::TABLE, lists::TABLE];

/// Every template that is known, in order of rank.
pub fn templates() -> impl Iterator<Item = &'static Template> {
    TABLES.iter().copied().flatten()
}
