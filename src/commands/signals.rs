//! `survey signals`: AI preferences beside Allow and Disallow, and the classes of policy that follow.

use clap::Args;

use super::registry::{Registry, Shape};
use crate::classify::PolicyClass;
use crate::classify::signals::signals;
use crate::cli::Output;

/// List the signals: kind, where it stands, how it is written, who defines it, and what it says
#[derive(Args, Clone, Debug)]
pub(super) struct SignalsArgs {
    #[command(flatten)]
    shape: Shape,

    /// List the classes of policy instead, and how each is decided from rules and signals
    #[arg(long)]
    policies: bool,
}

pub(super) fn run(args: &SignalsArgs, output: &Output) -> anyhow::Result<()> {
    if args.policies {
        let rows = PolicyClass::ALL.iter().map(|class| vec![class.word().to_owned(), class.doc().to_owned()]);
        return Registry { names: vec!["policy_class", "meaning"], rows: rows.collect() }.print(&args.shape, output);
    }
    let rows = signals().map(|signal| {
        let words = [signal.kind, signal.place().word(), signal.syntax, signal.status, signal.doc];
        words.map(str::to_owned).to_vec()
    });
    let names = vec!["kind", "place", "syntax", "status", "meaning"];
    Registry { names, rows: rows.collect() }.print(&args.shape, output)
}
