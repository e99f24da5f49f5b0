//! Reads a table that says what befell each host of a list.
//!
//! May touch: the file it is given. Deliberately absent: what the labels mean (`told`).

use std::io::BufRead as _;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};

use crate::domain::Domain;
use crate::input;

/// What befell one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// It gave a file, which the archive holds.
    Text,
    /// It gave a page with this status.
    Html(u16),
    /// It gave nothing, with this status.
    Empty(u16),
    /// It gave no response.
    Net(Mishap),
}

/// Why there was no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mishap {
    Dns,
    Timeout,
    Tls,
    Refused,
    Reset,
    RedirectLoop,
    Unreachable,
    Other,
}

/// The hosts of the table in order; lines whose host is no host name are left out, since no survey asks for them.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<(Domain, Label)>> {
    let mut labels = Vec::new();
    for (index, line) in input::open(path)?.lines().enumerate() {
        let place = || format!("line {} of {}", index + 1, path.display());
        let line = line.with_context(place)?;
        let fields: Vec<&str> = line.trim_end_matches(['\r', '\n']).split('\t').collect();
        if index == 0 {
            ensure!(fields == ["host", "kind", "status", "cause"], "{}: not the header of a table of labels", place());
            continue;
        }
        let [host, kind, status, cause] = fields[..] else { bail!("{}: four fields were expected", place()) };
        let Ok(host) = Domain::parse(host) else { continue };
        labels.push((host, parse(kind, status, cause).with_context(place)?));
    }
    ensure!(!labels.is_empty(), "{} labels no host", path.display());
    Ok(labels)
}

fn parse(kind: &str, status: &str, cause: &str) -> anyhow::Result<Label> {
    let status = || status.parse().with_context(|| format!("{status:?} is no status"));
    Ok(match kind {
        "text" => Label::Text,
        "html" => Label::Html(status()?),
        "empty" => Label::Empty(status()?),
        "net" => Label::Net(match cause {
            "dns" => Mishap::Dns,
            "timeout" => Mishap::Timeout,
            "tls" => Mishap::Tls,
            "refused" => Mishap::Refused,
            "reset" => Mishap::Reset,
            "redirect_loop" => Mishap::RedirectLoop,
            "unreachable" => Mishap::Unreachable,
            "other" => Mishap::Other,
            _ => bail!("{cause:?} is no cause that is known here"),
        }),
        _ => bail!("{kind:?} is no kind that is known here"),
    })
}
