//! What a run has cost this machine so far, as Linux tells it; elsewhere nothing is said.

use std::fs;

use serde::{Deserialize, Serialize};

/// Processor time and memory of this process, the rehearsal's not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Milliseconds of processor time, user and system, over all threads.
    pub cpu_ms: u64,
    /// The most memory that was resident, in bytes.
    pub peak_memory: u64,
}

impl Cost {
    /// Reads it from `/proc` (proc(5)).
    pub(super) fn so_far() -> Option<Self> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        // The name in brackets may hold anything; user and system time are the 14th and 15th field, in ticks of 10 ms.
        let ticks = stat.rsplit(')').next()?.split_ascii_whitespace().skip(11).take(2);
        let ticks: u64 = ticks.map(str::parse::<u64>).sum::<Result<_, _>>().ok()?;
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kibibytes: u64 = peak.split_ascii_whitespace().next()?.parse().ok()?;
        Some(Self { cpu_ms: ticks * 10, peak_memory: kibibytes * 1024 })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn memory_that_was_touched_counts() {
        let before = Cost::so_far().unwrap();
        let touched = std::hint::black_box(vec![1_u8; 64 << 20]);
        let after = Cost::so_far().unwrap();
        assert!(after.peak_memory >= touched.len() as u64 && after.peak_memory >= before.peak_memory);
        assert!(after.cpu_ms >= before.cpu_ms);
    }
}
