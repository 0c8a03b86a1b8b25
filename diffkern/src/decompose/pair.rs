//! What the decompositions of both sizes have in common: pairs of axes.

use crate::float::Float;
use crate::macros::diff_fn;

/// Cosine and sine of the rotation that makes two columns orthogonal, by their squares and their product.
#[diff_fn]
pub fn rotation<F: Float>(aa: F, bb: F, ab: F) -> (F, F) {
    let d = bb - aa;
    let root = (d * d + 4.0 * ab * ab).sqrt();
    let below = select(d >= 0.0, d + root, d - root);
    let t = select(below == 0.0, 0.0, 2.0 * ab / select(below == 0.0, 1.0, below));
    let c = 1.0 / (1.0 + t * t).sqrt();
    (c, c * t)
}

/// Solves a pair: half of `(p + q) / (sⱼ - sᵢ) ± (p - q) / (sᵢ + sⱼ)`; nothing where a denominator vanishes. The transpose
/// of the system is the system, so adjoints use it as well.
#[diff_fn]
pub fn pair<F: Float>(si: F, sj: F, p: F, q: F) -> (F, F) {
    let (d, e) = (sj - si, si + sj);
    let turn = select(d == 0.0, 0.0, 0.5 * (p + q) / select(d == 0.0, 1.0, d));
    let twist = select(e == 0.0, 0.0, 0.5 * (p - q) / select(e == 0.0, 1.0, e));
    (turn + twist, turn - twist)
}

/// `x / (sᵢ + sⱼ)`; nothing where no rotation is nearest.
#[diff_fn]
pub fn twist<F: Float>(si: F, sj: F, x: F) -> F {
    let e = si + sj;
    let none = e <= 1e-30;
    select(none, 0.0, x / select(none, 1.0, e))
}

/// By how much singular values are kept apart: the root of the precision times the largest, `s`.
#[diff_fn]
pub fn gap<F: Float>(s: F) -> F {
    // 2^24 + 1 has no f32. The product keeps it from being computed before the type is known.
    let odd = F::cast_from(16777217u32 + u32::cast_from(s * 0.0)) - 16777216.0;
    (s * select(odd > 0.5, 2.9802322387695312e-8, 4.8828125e-4)).max(1e-30)
}
