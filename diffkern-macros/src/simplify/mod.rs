//! Removes what nobody reads and computes once what is written twice.
//!
//! Real arithmetic keeps its bits: constants are folded where the result is exact in `f32` too, and the only rules
//! with a real operand are those that hold for every value (`x * 1`, `x / 1`, `-(-x)`), and `x + 0`, which may turn the
//! sign of a zero.

use diffkern_ir::Func;

mod dead;
mod fold;
mod rewrite;
#[cfg(test)]
mod tests;

/// Folds constants, merges equal values, and removes dead statements, results, carried values and stacks.
pub fn simplify(func: &mut Func) {
    // A second round sees what the first has removed: branches and loops that became empty or constant.
    for _ in 0..2 {
        fold::fold(func);
        dead::remove(func);
    }
}
