//! `survey` measures what the web's robots.txt files ask of crawlers, above all of AI crawlers.
//!
//! # The map
//!
//! Rooms stand in reading order. Imports point upwards in this list only, from a room to those before it; a test keeps
//! it so (`tests/layers.rs`).
//!
//! | room | what it is |
//! |---|---|
//! | [`words`](mod@words) | closed vocabularies: variant, stored word, sentence |
//! | [`text`] | text from outside, made visible |
//! | [`domain`] | a host name parsed once, and its place in a list |
//! | [`exclusions`] | who asked not to be surveyed |
//! | [`fronts`] | published addresses behind which many sites stand |
//! | [`path`] | the path of a URL |
//! | [`outcome`] | what happened when a target was asked: one word of a closed list |
//! | [`observation`] | what was seen, kept apart from what it means |
//! | [`robots`] | bytes → the file's groups, rules and facts (RFC 9309); agent choice; path match |
//! | [`classify`] | observation → row: agents, definitions, verdicts |
//! | [`input`] | lists → targets, archives → observations |
//! | [`crawl`] | target → observation over the network: resolve, schedule, fetch, failure |
//! | [`table`] | row ↔ Parquet: the registry of columns, writer, reader |
//! | [`snapshot`] | a run's folder: manifest, parts, resume |
//! | [`rehearsal`] | a web on loopback (DNS, HTTP, HTTPS) that answers by host name |
//! | [`check`] | cases → answers: what files say of millions of hosts, agents and paths |
//! | [`stats`] | snapshot → answers: the registry of statistics |
//! | [`report`] | answer → text and JSON |
//! | [`series`] | a survey that is repeated: when it is due, and what a scheduler must be told |
//! | [`progress`] | what a person sees while it works |
//! | [`cli`] | the command line |
//! | [`commands`] | one file per command; may know everyone, nobody knows it |
//!
//! # The rules of the house
//!
//! * A target's failure is a value in a column; only the program's own failure is an error.
//! * A local fault (no descriptors, no ports, a starved processor) is neither; it is never written as an outcome.
//! * `crawl` knows no robots.txt syntax, no agent, no Parquet. `classify` does not know where bytes came from. `stats`
//!   reads the table, so that it works on snapshots of any age.
//! * Agents, definitions, outcomes, columns and statistics are registries: one table of small values with a name, a
//!   sentence and a function. Schema, help and the data dictionary come from them.

pub mod text;
pub mod words;

pub mod domain;
pub mod exclusions;
pub mod fronts;
pub mod observation;
pub mod outcome;
pub mod path;

pub mod classify;
pub mod robots;

pub mod crawl;
pub mod input;
pub mod rehearsal;
pub mod snapshot;
pub mod table;

pub mod check;
pub mod report;
pub mod series;
pub mod stats;

pub mod cli;
pub mod commands;
pub mod progress;
