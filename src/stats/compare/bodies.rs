//! Bodies of chosen rows, read back part by part; of most only the digest of their rules is kept.

use std::path::PathBuf;

use anyhow::{Context, ensure};
use arrow::array::{Array, AsArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;

use super::changes::Place;
use super::parallel;
use crate::table::read_rows;

/// Reads the bodies at these places, which ascend, and gives what `look` makes of each, in their order.
///
/// `look` gets the body and whether more was on offer; a row without a body gets an empty one.
///
/// # Cost
///
/// Pages without a chosen row are not unpacked; parts are read by as many threads as there are cores.
pub(super) fn look_at<T: Send>(
    parts: &[PathBuf],
    places: &[Place],
    look: impl Fn(&[u8], bool) -> T + Sync,
) -> anyhow::Result<Vec<T>> {
    let by_part: Vec<&[Place]> = places.chunk_by(|one, other| one.part == other.part).collect();
    let seen = parallel::each(by_part.len(), |number| {
        let places = by_part[number];
        let path = &parts[places[0].part as usize];
        let rows: Vec<u32> = places.iter().map(|place| place.row).collect();
        let mut seen = Vec::with_capacity(rows.len());
        for batch in read_rows(path, &["body", "is_truncated"], &rows)? {
            let batch = batch?;
            let column =
                |name| batch.column_by_name(name).with_context(|| format!("{} has no column {name}", path.display()));
            let bodies = cast(column("body")?, &DataType::Binary)?;
            let bodies = bodies.as_binary::<i32>();
            let truncated = cast(column("is_truncated")?, &DataType::Boolean)?;
            let truncated = truncated.as_boolean();
            seen.extend((0..batch.num_rows()).map(|row| {
                let body = if bodies.is_valid(row) { bodies.value(row) } else { b"" };
                look(body, truncated.is_valid(row) && truncated.value(row))
            }));
        }
        ensure!(seen.len() == rows.len(), "{} has other rows than it had", path.display());
        Ok(seen)
    })?;
    Ok(seen.into_iter().flatten().collect())
}
