//! What an author may write in more than one way: names, imports, attributes, tuples, arguments by value.

#![expect(clippy::unwrap_used, reason = "tests")]
#![deny(warnings)]

mod laws;
mod names;
mod values;

use diffkern::prelude::*;

/// `n` numbers in (0.3, 1.7).
pub fn numbers(n: usize) -> Array<f64> {
    let some: Vec<f64> = (0..n).map(|k| 1.0 + 0.7 * ((k * 13 + 1) as f64).sin()).collect();
    Device::cpu().array(&some).unwrap()
}
