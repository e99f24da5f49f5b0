//! Chance that is a pure function of a seed, a name and a question.
//!
//! Touches nothing. Deliberately not a crate's generator: the same seed must give the same web after any upgrade.

/// A sequence of draws that depends on nothing but how it was made.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    /// Dice for one question about one name; other questions about it are drawn independently.
    pub(super) fn new(seed: u64, name: &str, question: &str) -> Self {
        // FNV-1a gathers the text, SplitMix64 (below) spreads it.
        let mut state = 0xcbf2_9ce4_8422_2325_u64 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for byte in name.bytes().chain([0]).chain(question.bytes()) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Self(state)
    }

    /// The next 64 bits (`SplitMix64`; Steele, Lea and Flood 2014).
    pub(super) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; the bias of the remainder is far below anything a share could show.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).expect("usize is at most 64 bits wide");
        usize::try_from(self.roll() % bound.max(1)).expect("it is below a usize")
    }

    /// True in so many of a thousand cases.
    pub(super) fn per_mille(&mut self, share: usize) -> bool {
        self.below(1000) < share
    }

    /// One of the choices, all alike.
    pub(super) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// One of the choices by weight.
    pub(super) fn weighted<T: Copy>(&mut self, choices: &[(usize, T)]) -> T {
        let total: usize = choices.iter().map(|(weight, _)| weight).sum();
        let mut left = self.below(total);
        for (weight, choice) in choices {
            if left < *weight {
                return *choice;
            }
            left -= weight;
        }
        unreachable!("the draw is below the sum of the weights")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_question_is_answered_alike_and_another_is_not() {
        let draw = |seed, name, question| Dice::new(seed, name, question).roll();
        assert_eq!(draw(1, "example.com", "kind"), draw(1, "example.com", "kind"));
        assert_ne!(draw(1, "example.com", "kind"), draw(2, "example.com", "kind"));
        assert_ne!(draw(1, "example.com", "kind"), draw(1, "example.org", "kind"));
        assert_ne!(draw(1, "example.com", "kind"), draw(1, "example.com", "text"));
    }

    #[test]
    fn weights_are_kept() {
        let heavy = (0..10_000)
            .filter(|index| Dice::new(0, &index.to_string(), "weight").weighted(&[(900, true), (100, false)]))
            .count();
        assert!((8_800..9_200).contains(&heavy), "{heavy}");
    }

    /// A change here changes every rehearsal: old logs and figures could not be repeated.
    #[test]
    fn the_sequence_is_pinned() {
        let mut dice = Dice::new(7, "example.com", "kind");
        insta::assert_snapshot!(format!("{} {}", dice.below(1000), dice.below(1000)), @"978 513");
    }
}
