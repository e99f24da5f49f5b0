//! A table of host, agent and path.

use std::io::BufRead;
use std::sync::Arc;

use anyhow::bail;

use super::lines::Lines;
use super::{Case, Cases, find_header, read_host, read_weight};
use crate::input::{LineFault, Reason};

/// Where the fields of a table of cases stand.
#[derive(Clone, Copy)]
struct Places {
    host: usize,
    agent: usize,
    path: usize,
    weight: Option<usize>,
}

pub(super) fn open(source: Box<dyn BufRead>, weight_column: Option<&str>) -> anyhow::Result<Cases> {
    let mut lines = Lines::new(source)?;
    let mut places = Places { host: 0, agent: 1, path: 2, weight: None };
    let header = lines.first().and_then(|line| find_header(line.split('\t'), &["host", "agent", "path"]));
    if let Some(header) = header {
        let [host, agent, path] = header.wanted;
        let weight = weight_column.map(|name| header.find(name)).transpose()?;
        places = Places { host, agent, path, weight };
        lines = lines.without_header();
    } else if let Some(name) = weight_column {
        bail!("it has no header with host, agent and path, so no column {name:?} of weights");
    }
    let mut last_agent = None;
    Ok(lines.map(move |line| read_case(line, places, &mut last_agent)))
}

/// Reads one line; `last_agent` keeps equal names in one place, since tables ask the same agent again and again.
fn read_case(line: &str, places: Places, last_agent: &mut Option<Arc<str>>) -> Result<Case, Reason> {
    let fields: Vec<&str> = line.split('\t').collect();
    let field = |place: usize| fields.get(place).copied().ok_or(Reason::Line(LineFault::NoColumn));
    let (host, agent, path) = (field(places.host)?.trim(), field(places.agent)?.trim(), field(places.path)?);
    if agent.is_empty() {
        return Err(Reason::Line(LineFault::NoColumn));
    }
    let weight = read_weight(places.weight.map(field).transpose()?)?;
    let host = read_host(host)?;
    let agent = match last_agent {
        Some(last) if **last == *agent => Arc::clone(last),
        _ => Arc::clone(last_agent.insert(agent.into())),
    };
    let path = if path.is_empty() { "/" } else { path };
    if !path.starts_with('/') {
        return Err(Reason::Line(LineFault::BadPath));
    }
    Ok(Case { host, agent, path: path.into(), weight })
}
