//! `survey agents`: the catalogue of agents.

use std::path::PathBuf;

use clap::Args;

use super::judging::load_catalogue;
use super::registry::{Registry, Shape, print};
use crate::classify::agents::EMBEDDED;
use crate::cli::Output;

/// List the agents: token, operator, purpose, and whether it has columns of its own and counts as AI
#[derive(Args, Clone, Debug)]
pub(super) struct AgentsArgs {
    #[command(flatten)]
    shape: Shape,

    /// A catalogue to list instead of the built-in one
    #[arg(long, value_name = "FILE")]
    agents: Option<PathBuf>,

    /// Print the built-in catalogue as the file it is, to be edited and given with --agents
    #[arg(long, conflicts_with_all = ["agents", "markdown", "json"])]
    toml: bool,
}

pub(super) fn run(args: &AgentsArgs, output: &Output) -> anyhow::Result<()> {
    if args.toml {
        return print(EMBEDDED);
    }
    let catalogue = load_catalogue(args.agents.as_deref())?;
    let yes = |flag: bool, word: &str| if flag { word.to_owned() } else { String::new() };
    let rows = catalogue.agents().iter().map(|agent| {
        vec![
            agent.token.clone(),
            agent.operator.clone(),
            agent.purpose.word().to_owned(),
            yes(agent.ai, "ai"),
            yes(agent.panel, "panel"),
            agent.source.clone(),
        ]
    });
    let names = vec!["token", "operator", "purpose", "ai", "panel", "source"];
    Registry { names, rows: rows.collect() }.print(&args.shape, output)
}
