//! `survey outcomes`: the closed list of what can happen when a host is asked.

use clap::Args;

use super::registry::{Registry, Shape};
use crate::cli::Output;
use crate::outcome::Outcome;

/// List the outcomes: each word, its class, what a crawler derives from it, and its exact cause
#[derive(Args, Clone, Debug)]
pub(super) struct OutcomesArgs {
    #[command(flatten)]
    shape: Shape,
}

pub(super) fn run(args: &OutcomesArgs, output: &Output) -> anyhow::Result<()> {
    let rows = Outcome::all().map(|outcome| {
        let words =
            [outcome.word(), outcome.class().word(), outcome.effect_rfc().word(), outcome.effect_google().word()];
        words.into_iter().chain([outcome.doc()]).map(str::to_owned).collect()
    });
    let names = vec!["outcome", "class", "effect_rfc", "effect_google", "meaning"];
    Registry { names, rows: rows.collect() }.print(&args.shape, output)
}
