//! Where the files come from: a snapshot, or an archive.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use crate::classify::outcome_of;
use crate::input::unsurveyed_host;
use crate::input::warc::{self, Defect};
use crate::outcome::Outcome;
use crate::robots::Dialect;
use crate::snapshot::{Hosts, Place};

/// Where the files of hosts come from.
#[derive(Clone, Debug)]
pub enum Files {
    /// A snapshot.
    Snapshot {
        /// Its hosts.
        hosts: Hosts,
        /// Whether a host that is no target is answered by a target whose file finally came from it.
        follow_final_host: bool,
    },
    /// An archive of responses; the first capture of a host counts.
    Archive {
        /// The WARC file.
        path: PathBuf,
        /// Bytes of a body that are kept.
        max_body: usize,
    },
}

/// A file as it was found for one of the wanted hosts.
pub(super) struct Found<'f> {
    pub(super) outcome: Outcome,
    pub(super) body: &'f [u8],
    pub(super) is_truncated: bool,
}

/// Takes what was found for the wanted host of that number.
type Take<'t> = dyn FnMut(usize, Found<'_>) -> anyhow::Result<()> + 't;

impl Files {
    /// Reads the files of the wanted hosts, each once, in whatever order; hosts that are not there are passed over.
    pub(super) fn read(
        &self,
        wanted: &[&str],
        dialect: Dialect,
        defects: &mut Vec<Defect>,
        take: &mut Take<'_>,
    ) -> anyhow::Result<()> {
        match self {
            Self::Snapshot { hosts, follow_final_host } => read_snapshot(hosts, *follow_final_host, wanted, take),
            Self::Archive { path, max_body } => {
                let mut missing: HashMap<&str, usize> = wanted.iter().copied().zip(0..).collect();
                defects.clear();
                for capture in warc::read(path, *max_body)? {
                    let capture = match capture {
                        Ok(capture) => capture,
                        Err(defect) => {
                            defects.push(defect);
                            continue;
                        }
                    };
                    let host = match &capture.host {
                        Ok(domain) => Cow::Borrowed(domain.as_str()),
                        Err(_) => Cow::Owned(unsurveyed_host(&capture.url)),
                    };
                    let Some(number) = missing.remove(host.as_ref()) else { continue };
                    let response = capture.into_response();
                    let outcome = outcome_of(&response, dialect);
                    take(number, Found { outcome, body: &response.body, is_truncated: response.is_truncated })?;
                }
                Ok(())
            }
        }
    }
}

fn read_snapshot(hosts: &Hosts, follow_final_host: bool, wanted: &[&str], take: &mut Take<'_>) -> anyhow::Result<()> {
    // Two hosts may be answered by one row.
    let mut places: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
    for (number, host) in wanted.iter().enumerate() {
        let place = hosts.find(host).or_else(|| hosts.find_final(host).filter(|_| follow_final_host));
        if let Some(place) = place {
            places.entry(place).or_default().push(number);
        }
    }
    let in_order: Vec<Place> = places.keys().copied().collect();
    hosts.read(&in_order, &mut |place, stored| {
        for number in &places[&place] {
            let found = Found { outcome: stored.outcome, body: &stored.body, is_truncated: stored.is_truncated };
            take(*number, found)?;
        }
        Ok(())
    })
}
