//! What this process and its children have used, as Linux tells it (proc(5)).

use std::error::Error;
use std::fs;
use std::time::Duration;

/// User and system time of this process, all threads.
pub(crate) fn cpu() -> Result<Duration, Box<dyn Error>> {
    ticks(11)
}

/// User and system time of children that have ended.
pub(crate) fn children_cpu() -> Result<Duration, Box<dyn Error>> {
    ticks(13)
}

/// Resident memory in bytes now.
pub(crate) fn resident() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.split_ascii_whitespace().next().ok_or("no figure")?.parse::<u64>()? * 1024)
}

/// Two fields of the process's account, counted from the one behind its name, in ticks of 10 ms.
fn ticks(first: usize) -> Result<Duration, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit(')').next().ok_or("no fields")?.split_whitespace();
    let ticks: u64 = fields.skip(first).take(2).map(str::parse::<u64>).sum::<Result<_, _>>()?;
    Ok(Duration::from_millis(ticks * 10))
}
