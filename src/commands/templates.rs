//! `survey templates`: texts that stand in many files, and who decides the AI rules in them.

use clap::Args;

use super::registry::{Registry, Shape};
use crate::classify::templates::{Decision, templates};
use crate::cli::Output;

/// List the templates: texts of platforms, CDNs, plugins and lists, how each is known, and who decides its AI rules
#[derive(Args, Clone, Debug)]
pub(super) struct TemplatesArgs {
    #[command(flatten)]
    shape: Shape,

    /// List instead who can have decided the AI rules of a file
    #[arg(long)]
    decisions: bool,
}

pub(super) fn run(args: &TemplatesArgs, output: &Output) -> anyhow::Result<()> {
    if args.decisions {
        let rows = Decision::ALL.iter().map(|decision| vec![decision.word().to_owned(), decision.doc().to_owned()]);
        return Registry { names: vec!["decision", "meaning"], rows: rows.collect() }.print(&args.shape, output);
    }
    let rows = templates().map(|template| {
        let words = [template.name, template.kind.word(), template.who, template.doc];
        words.map(str::to_owned).to_vec()
    });
    Registry { names: vec!["template", "kind", "decision", "meaning"], rows: rows.collect() }.print(&args.shape, output)
}
