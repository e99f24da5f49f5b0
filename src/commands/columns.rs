//! `survey columns`: the data dictionary of the snapshot's table.

use clap::Args;

use super::judging::{load_catalogue, panel};
use super::registry::print;
use crate::cli::Output;
use crate::table::{Format, columns, describe};

/// List the columns of a snapshot: name, type and meaning
#[derive(Args, Clone, Debug)]
pub(super) struct ColumnsArgs {
    /// Print a Markdown table
    #[arg(long, conflicts_with = "json")]
    markdown: bool,

    /// A catalogue of agents whose panel decides the agents' columns [default: the built-in one]
    #[arg(long, value_name = "FILE")]
    agents: Option<std::path::PathBuf>,
}

pub(super) fn run(args: &ColumnsArgs, output: &Output) -> anyhow::Result<()> {
    let catalogue = load_catalogue(args.agents.as_deref())?;
    let format = match (output.json, args.markdown) {
        (true, _) => Format::Json,
        (false, true) => Format::Markdown,
        (false, false) => Format::Text,
    };
    print(&describe(&columns(&panel(&catalogue)), format))
}
