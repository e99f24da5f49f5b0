//! Files that are there whole or not at all, also after a power cut.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Puts `bytes` under `path` in one step: written beside it, synced, renamed.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let mut name = path.file_name().expect("a file that is replaced has a name").to_owned();
    name.push(".new");
    let fresh = path.with_file_name(name);
    let writing = || format!("writing {}", fresh.display());
    let mut file = File::create(&fresh).with_context(writing)?;
    file.write_all(bytes).with_context(writing)?;
    file.sync_all().with_context(writing)?;
    drop(file);
    publish(&fresh, path)
}

/// Renames a synced file to its final name, and makes the name last.
pub(super) fn publish(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::rename(from, to).with_context(|| format!("renaming {} to {}", from.display(), to.display()))?;
    sync_folder(to.parent().expect("a file has a folder"))
}

/// Creates a folder and those above it, and makes the last name last.
pub(super) fn create_folder(path: &Path) -> anyhow::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(path).with_context(|| format!("creating the folder {}", path.display()))?;
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => sync_folder(parent),
        None => Ok(()),
    }
}

/// The entries of a folder, sorted by name; none where there is no such folder.
pub(super) fn entries(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let listing = || format!("listing the folder {}", folder.display());
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(listing),
    };
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.with_context(listing)?.path());
    }
    paths.sort();
    Ok(paths)
}

/// A rename is only durable once its folder is synced; elsewhere than on Unix a folder cannot be opened for it.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> anyhow::Result<()> {
    let syncing = || format!("syncing the folder {}", folder.display());
    File::open(folder).with_context(syncing)?.sync_all().with_context(syncing)
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> anyhow::Result<()> {
    Ok(())
}
