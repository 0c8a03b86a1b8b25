//! Numbers for directions: the same for a seed everywhere.

/// SplitMix64 (Steele, Lea, Flood 2014).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Between -1 and 1, and at least 0.1 from 0, so that every component counts.
    pub(super) fn component(&mut self) -> f64 {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        let size = 0.1 + 0.9 * unit;
        if self.next() & 1 == 0 { size } else { -size }
    }
}
