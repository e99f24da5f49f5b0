//! `survey definitions`: what "restricted" can mean.

use clap::Args;

use super::registry::{Registry, Shape};
use crate::classify::definitions::DEFINITIONS;
use crate::cli::Output;

/// List the definitions of restriction: name, whom it counts, how it reads a file, who uses it, and what it counts
#[derive(Args, Clone, Debug)]
pub(super) struct DefinitionsArgs {
    #[command(flatten)]
    shape: Shape,
}

pub(super) fn run(args: &DefinitionsArgs, output: &Output) -> anyhow::Result<()> {
    let rows = DEFINITIONS.iter().map(|definition| {
        let inherits = if definition.inherits { "inherits *" } else { "named only" };
        vec![
            definition.name.to_owned(),
            inherits.to_owned(),
            definition.parser.word().to_owned(),
            definition.source.to_owned(),
            definition.doc.to_owned(),
        ]
    });
    let names = vec!["definition", "scope", "parser", "source", "meaning"];
    Registry { names, rows: rows.collect() }.print(&args.shape, output)
}
