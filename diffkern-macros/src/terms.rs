//! The terms that the components of a product of vectors or matrices are sums of.

use diffkern_ir::{BinaryOp, Ty};

/// A term of one component of a product: the components of the factors, and whether it is subtracted.
pub type Term = (usize, usize, bool);

/// The terms of every component of `a op c`, where `op` is bilinear and has more than one component; else none. `a`: the
/// type of the first factor.
pub fn product_terms(op: BinaryOp, a: Ty) -> Vec<Vec<Term>> {
    let n = match a {
        Ty::Vec(n) | Ty::Mat(n) => n as usize,
        _ => 1,
    };
    let square = |f: &dyn Fn(usize, usize) -> Vec<Term>| (0..n * n).map(|k| f(k / n, k % n)).collect();
    match op {
        BinaryOp::Scale => (0..a.components()).map(|k| vec![(k, 0, false)]).collect(),
        BinaryOp::MulElem => (0..n).map(|k| vec![(k, k, false)]).collect(),
        BinaryOp::Cross => [(1, 2), (2, 0), (0, 1)].map(|(i, j)| vec![(i, j, false), (j, i, true)]).into(),
        BinaryOp::MatVec => (0..n).map(|i| (0..n).map(|j| (i * n + j, j, false)).collect()).collect(),
        BinaryOp::MatMul => square(&|i, j| (0..n).map(|k| (i * n + k, k * n + j, false)).collect()),
        BinaryOp::Outer => square(&|i, j| vec![(i, j, false)]),
        _ => Vec::new(),
    }
}
