//! What a kernel is run on: values, tangents and adjoint seeds for a seed.

use crate::ast::{ARRAYS, PLAIN, Ty, Use};
use crate::random::Random;

/// Elements of every array.
pub const LEN: usize = 7;

/// Threads, fewer than elements: the kernel leaves some alone.
pub const DOMAIN: usize = 5;

/// Arguments of a kernel, scalars of all elements in a row.
#[derive(Clone, Debug)]
pub struct Case {
    /// Values by array; integers as reals.
    pub values: Vec<Vec<f64>>,
    /// Tangents by array, empty for integers.
    pub dots: Vec<Vec<f64>>,
    /// Adjoints of the arrays after the launch, empty for integers.
    pub bars: Vec<Vec<f64>>,
    /// The parameter `s`.
    pub scalar: f64,
    /// The parameter `n`.
    pub count: u32,
}

/// The case of `seed`.
pub fn case(seed: u64) -> Case {
    let mut rng = Random::new(seed ^ 0x5EED);
    let mut case = Case { values: Vec::new(), dots: Vec::new(), bars: Vec::new(), scalar: 0.0, count: 0 };
    let (plain, of_structs) = ARRAYS.split_at(PLAIN);
    case.draw(&mut rng, plain);
    case.scalar = rng.within(0.3, 1.4);
    case.count = rng.below(5) as u32;
    case.draw(&mut rng, of_structs);
    case
}

impl Case {
    fn draw(&mut self, rng: &mut Random, arrays: &[(&str, Ty, Use)]) {
        for (_, ty, _) in arrays {
            let len = LEN * ty.components();
            if *ty == Ty::U32 {
                self.values.push((0..len).map(|_| rng.below(11) as f64).collect());
                self.dots.push(Vec::new());
                self.bars.push(Vec::new());
            } else {
                self.values.push((0..len).map(|_| rng.within(-1.7, 1.9)).collect());
                self.dots.push((0..len).map(|_| rng.within(-1.0, 1.0)).collect());
                self.bars.push((0..len).map(|_| rng.within(-1.0, 1.0)).collect());
            }
        }
    }
}
