//! What a kernel is run on: values, tangents and adjoint seeds for a seed.

use crate::ast::{ARRAYS, Ty};
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
    for (_, ty, _) in ARRAYS {
        let len = LEN * ty.components();
        if ty == Ty::U32 {
            case.values.push((0..len).map(|_| rng.below(11) as f64).collect());
            case.dots.push(Vec::new());
            case.bars.push(Vec::new());
        } else {
            case.values.push((0..len).map(|_| rng.within(-1.7, 1.9)).collect());
            case.dots.push((0..len).map(|_| rng.within(-1.0, 1.0)).collect());
            case.bars.push((0..len).map(|_| rng.within(-1.0, 1.0)).collect());
        }
    }
    case.scalar = rng.within(0.3, 1.4);
    case.count = rng.below(5) as u32;
    case
}
