//! Reproducible inputs.

use diffkern::prelude::*;

/// Numbers from a seed.
pub struct Random(pub u64);

impl Random {
    /// Between two numbers.
    pub fn between<F: Float>(&mut self, low: f64, high: f64) -> F {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let unit = (self.0 >> 11) as f64 / (1u64 << 53) as f64;
        F::from_f64(low + (high - low) * unit)
    }

    pub fn vec2<F: Float>(&mut self, low: f64, high: f64) -> Vec2<F> {
        Vec2::new(self.between(low, high), self.between(low, high))
    }

    pub fn vec3<F: Float>(&mut self, low: f64, high: f64) -> Vec3<F> {
        Vec3::new(self.between(low, high), self.between(low, high), self.between(low, high))
    }

    /// Entries between `-size` and `size`.
    pub fn mat2<F: Float>(&mut self, size: f64) -> Mat2<F> {
        Mat2::from_array(std::array::from_fn(|_| self.between(-size, size)))
    }

    /// Entries between `-size` and `size`.
    pub fn mat3<F: Float>(&mut self, size: f64) -> Mat3<F> {
        Mat3::from_array(std::array::from_fn(|_| self.between(-size, size)))
    }

    /// An array of `n` elements whose gradient is asked for.
    pub fn array<T: Element<Scalar: Float>>(
        &mut self,
        device: &Device,
        n: usize,
        one: impl Fn(&mut Random) -> T,
    ) -> Result<Array<T>> {
        let elements: Vec<T> = (0..n).map(|_| one(self)).collect();
        Ok(device.array(&elements)?.requires_grad())
    }
}
