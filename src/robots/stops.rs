//! Where a body is to be looked at: at LF and CR, which end lines, and at NUL, which some readers stop at.
//!
//! Lines are too short for a search each: starting and stopping it takes most of the time. So 64 bytes are looked at
//! at once, and make a word with a bit for each. It is written so that the compiler turns it into vector instructions
//! of any processor; there is no branch in it.

/// Bytes looked at at once.
const BLOCK: usize = 64;

/// Finds the stops of a body, from its start to its end.
pub(super) struct Stops<'a> {
    body: &'a [u8],
    /// Where the block begins that has been looked at.
    block: usize,
    /// Its stops, the first byte lowest.
    found: u64,
}

impl<'a> Stops<'a> {
    pub(super) fn new(body: &'a [u8]) -> Self {
        Self { body, block: 0, found: stops_of(body) }
    }

    /// The first stop from `start` on, or the end of the body; asked with rising starts.
    #[inline]
    pub(super) fn next_from(&mut self, start: usize) -> usize {
        while start >= self.block + BLOCK {
            self.look_on();
        }
        self.found &= u64::MAX << (start - self.block);
        while self.found == 0 {
            if self.body.len() - self.block <= BLOCK {
                return self.body.len();
            }
            self.look_on();
        }
        self.block + self.found.trailing_zeros() as usize
    }

    /// Looks at the next block.
    #[inline]
    fn look_on(&mut self) {
        self.block += BLOCK;
        self.found = stops_of(&self.body[self.block..]);
    }
}

/// The stops among the first bytes of a text, a bit for each.
#[inline]
fn stops_of(text: &[u8]) -> u64 {
    if let Some(block) = text.first_chunk() {
        return stops_of_block(block);
    }
    // Filled up with what is no stop.
    let mut block = [b' '; BLOCK];
    block[..text.len()].copy_from_slice(text);
    stops_of_block(&block)
}

#[inline]
fn stops_of_block(block: &[u8; BLOCK]) -> u64 {
    let mut bits = [0; BLOCK];
    for (at, (bit, byte)) in bits.iter_mut().zip(block).enumerate() {
        *bit = if matches!(byte, 0 | b'\n' | b'\r') { 1_u8 << (at % 8) } else { 0 };
    }
    let (eights, _) = bits.as_chunks::<8>();
    eights.iter().rev().fold(0, |stops, eight| {
        // The highest byte of this product is the sum of all eight, and each of them has a bit of its own.
        let sum = u64::from_le_bytes(*eight).wrapping_mul(u64::from_ne_bytes([1; 8])) >> 56;
        stops << 8 | sum
    })
}
