//! What the tests share.
#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod block;
pub mod groups;
pub mod kernel;

use diffkern::prelude::*;
#[allow(unused_imports, reason = "each test binary uses a part of it")]
pub(crate) use kernel::check;

/// Reproducible numbers in `[0, 1)`.
pub struct Random(pub u64);

impl Random {
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn vec2(&mut self, low: f64, high: f64) -> Vec2<f64> {
        Vec2::new(self.between(low, high), self.between(low, high))
    }

    pub fn vec3(&mut self, low: f64, high: f64) -> Vec3<f64> {
        Vec3::new(self.between(low, high), self.between(low, high), self.between(low, high))
    }

    pub fn mat2(&mut self, size: f64) -> Mat2<f64> {
        Mat2::from_array(std::array::from_fn(|_| self.between(-size, size)))
    }

    pub fn mat3(&mut self, size: f64) -> Mat3<f64> {
        Mat3::from_array(std::array::from_fn(|_| self.between(-size, size)))
    }

    pub fn many<T>(&mut self, n: usize, mut one: impl FnMut(&mut Random) -> T) -> Vec<T> {
        (0..n).map(|_| one(self)).collect()
    }
}

/// `|a - b| / |b|` over all entries.
pub fn relative(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let difference: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
    (difference / b.iter().map(|b| b * b).sum::<f64>()).sqrt()
}

/// The table of so many blocks whose nodes are stored in a random order, and the list of the blocks in that order.
pub fn shuffled(r: &mut Random, blocks: usize) -> (Vec<u32>, Vec<u32>) {
    let mut list: Vec<u32> = (0..blocks as u32).collect();
    for k in (1..blocks).rev() {
        list.swap(k, r.between(0.0, (k + 1) as f64) as usize);
    }
    let mut table = vec![u32::MAX - 63; blocks + 1];
    list.iter().enumerate().for_each(|(k, &block)| table[block as usize] = 64 * k as u32);
    (table, list)
}
