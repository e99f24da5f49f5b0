//! The same work for each part, shared out to as many threads as there are cores.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Does the work for every number below `count`; what comes out stands in their order.
///
/// After a failure no new work is begun.
pub(super) fn each<T: Send>(count: usize, work: impl Fn(usize) -> anyhow::Result<T> + Sync) -> anyhow::Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let some_work = || -> anyhow::Result<Vec<(usize, T)>> {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return Ok(done);
            }
            done.push((number, work(number).inspect_err(|_| next.store(count, Ordering::Relaxed))?));
        }
    };
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut all: Vec<(usize, T)> = Vec::with_capacity(count);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores.min(count)).map(|_| scope.spawn(some_work)).collect();
        for worker in workers {
            all.extend(worker.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        anyhow::Ok(())
    })?;
    all.sort_by_key(|(number, _)| *number);
    Ok(all.into_iter().map(|(_, done)| done).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_out_stands_in_order_and_a_failure_is_not_lost() {
        assert_eq!(each(100, |number| Ok(number * 2)).unwrap(), (0..100).map(|number| number * 2).collect::<Vec<_>>());
        let error = each(100, |number| if number == 7 { anyhow::bail!("seven") } else { Ok(()) }).unwrap_err();
        assert_eq!(error.to_string(), "seven");
        assert!(each::<()>(0, |_| unreachable!()).unwrap().is_empty());
    }
}
