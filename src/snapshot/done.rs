//! Which targets already stand in whole parts.

use std::collections::BTreeSet;

/// A set of rows by target and capture: one bit for each target, so that a million targets take 125 KB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Bit `index % 64` of word `index / 64`: capture 0 of the target.
    targets: Vec<u64>,
    /// Further captures, which only archives have.
    captures: BTreeSet<(u32, u32)>,
    len: u64,
}

impl Done {
    /// Whether the target's row is there.
    pub fn contains(&self, target_index: u32) -> bool {
        self.contains_capture(target_index, 0)
    }

    /// Whether the row of this capture of the target is there.
    pub fn contains_capture(&self, target_index: u32, capture_index: u32) -> bool {
        if capture_index > 0 {
            return self.captures.contains(&(target_index, capture_index));
        }
        let (word, bit) = place(target_index);
        self.targets.get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// How many rows there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a row; whether it was new.
    pub(super) fn insert(&mut self, target_index: u32, capture_index: u32) -> bool {
        let is_new = if capture_index > 0 {
            self.captures.insert((target_index, capture_index))
        } else {
            let (word, bit) = place(target_index);
            if word >= self.targets.len() {
                self.targets.resize(word + 1, 0);
            }
            let is_new = self.targets[word] & bit == 0;
            self.targets[word] |= bit;
            is_new
        };
        self.len += u64::from(is_new);
        is_new
    }
}

fn place(target_index: u32) -> (usize, u64) {
    (target_index as usize / 64, 1 << (target_index % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_new_once() {
        let mut done = Done::default();
        for (target, capture) in [(0, 0), (63, 0), (64, 0), (1_000_000, 0), (64, 3)] {
            assert!(!done.contains_capture(target, capture));
            assert!(done.insert(target, capture));
            assert!(!done.insert(target, capture));
            assert!(done.contains_capture(target, capture));
        }
        assert_eq!(done.len(), 5);
        assert!(!done.contains(1) && !done.contains(u32::MAX) && !done.contains_capture(64, 1));
    }
}
