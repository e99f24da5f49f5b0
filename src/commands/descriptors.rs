//! How many files may be open, and how much may be under way so that they suffice.
//!
//! A look-up or request that finds no descriptor is asked again and costs time only; a part or manifest that finds none
//! ends the run. So what is under way is kept below the limit, beside the files that are open already (whoever started
//! the survey may have left some) and those that will be.

use anyhow::{Context, ensure};

use crate::crawl::Limits;

/// Files that a run opens beside those that are open when its crawl starts, at once: 2 were seen (a part or the manifest,
/// and a folder to be synced), and a connection may be closed a little after its request has ended.
const LATER: usize = 8;
/// Files that a run opens between its start and its crawl, at once: 4 were seen, with a rehearsal as a child.
const SOON: usize = 4;
/// A look-up may hold two sockets while it is retransmitted.
const LOOKUP: usize = 2;

/// Raises the limit of open files as far as it goes; one that is too low for any survey is an error.
pub(super) fn raise() -> anyhow::Result<usize> {
    let limit = rlimit::increase_nofile_limit(u64::MAX).context("reading the limit of open files")?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let needed = open() + SOON + LATER + LOOKUP + 1;
    ensure!(
        limit >= needed,
        "only {limit} files may be open, and a survey needs {needed} at least; `ulimit -n` shows and changes the limit"
    );
    Ok(limit)
}

/// Lowers what may be under way to what fits into the limit now.
pub(super) fn fit(limits: &mut Limits, limit: usize) {
    let spare = limit.saturating_sub(open() + LATER);
    let (in_flight, resolving) = share(spare, limits.in_flight, limits.resolving);
    if (in_flight, resolving) != (limits.in_flight, limits.resolving) {
        tracing::warn!(
            "only {limit} files may be open, so {in_flight} requests and {resolving} look-ups are in flight at most"
        );
    }
    (limits.in_flight, limits.resolving) = (in_flight, resolving);
}

/// Requests and look-ups for so many descriptors, in the proportion in which they are wanted, one of each at least.
fn share(spare: usize, in_flight: usize, resolving: usize) -> (usize, usize) {
    let wanted = in_flight + LOOKUP * resolving;
    if wanted <= spare {
        return (in_flight, resolving);
    }
    let fewer = (spare * in_flight / wanted).max(1);
    (fewer, (spare.saturating_sub(fewer) / LOOKUP).clamp(1, resolving))
}

/// Files that this process has open, the one that tells it included.
fn open() -> usize {
    // Both Linux and macOS have the folder; elsewhere this is what a run had when it was counted.
    std::fs::read_dir("/dev/fd").map_or(14, Iterator::count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_fits_into_what_is_spare_and_is_no_more_than_wanted() {
        assert_eq!(share(10_000, 300, 256), (300, 256));
        assert_eq!(share(812, 300, 256), (300, 256));
        for spare in 0..812 {
            let (in_flight, resolving) = share(spare, 300, 256);
            assert!((1..=300).contains(&in_flight) && (1..=256).contains(&resolving), "{spare}");
            assert!(in_flight + LOOKUP * resolving <= spare.max(1 + LOOKUP), "{spare}: {in_flight}, {resolving}");
        }
        assert_eq!(share(41, 300, 256), (15, 13));
        assert_eq!(share(41, 1, 256), (1, 20));
    }

    #[test]
    fn open_files_are_counted() {
        // The three standard streams and the folder itself.
        assert!(open() >= 4);
    }
}
