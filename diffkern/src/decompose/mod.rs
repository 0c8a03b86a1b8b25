//! Singular values and polar factors of small matrices, as device functions with derivatives of their own.
//!
//! # Convention
//! `A = U diag(s) Vᵀ` with rotations `U` and `V` (determinant +1 both) and `s₁ ≥ s₂ ≥ |s₃|`: the last singular value has
//! the sign of `det A`. So nothing jumps where an element of a body is turned inside out.
//!
//! # Derivatives
//! With `P = Uᵀ dA V`, each pair of axes is a system of two equations, solved by its sum and its difference:
//! ```text
//! (Uᵀ dU + Vᵀ dV)ᵢⱼ = (Pᵢⱼ + Pⱼᵢ) / (sⱼ - sᵢ)          (Uᵀ dU - Vᵀ dV)ᵢⱼ = (Pᵢⱼ - Pⱼᵢ) / (sᵢ + sⱼ)
//! ```
//! The first is how fast the axes turn, unbounded where two singular values meet; but what does not depend on the choice of
//! the axes, such as `U f(s) Vᵀ`, takes it times `f(sⱼ) - f(sᵢ)`. That quotient needs two different numbers. So adjoints
//! and tangents (and they alone, values are exact) run [`svd2`] and [`svd3`] with singular values moved apart by the
//! square root of the precision, `3e-8` of the largest in f64 and `5e-4` in f32, where they are closer than that: such
//! a gradient is exact to about that number, near and at repeated singular values, for singular values that vanish or have
//! opposite signs too. What does depend on the choice, a single column of `U` say, has no derivative there: the result
//! is finite and means nothing.
//!
//! The polar factors need the second equation alone and are exact everywhere but where `sᵢ + sⱼ = 0`: for a matrix of
//! rank below n - 1, or a reflection of the two shortest axes. There no rotation is nearest, and the derivative is taken
//! as zero.
//!
//! Sources: Papadopoulo and Lourakis, Estimating the Jacobian of the singular value decomposition, 2000; Irving,
//! Teran and Fedkiw, Invertible finite elements, 2004 (the sign); Hestenes, Inversion of matrices by biorthogonalization,
//! 1958 (the one-sided Jacobi iteration).

mod pair;
mod polar_2d;
mod polar_3d;
mod svd_2d;
mod svd_3d;

pub use polar_2d::polar2;
pub use polar_3d::polar3;
pub use svd_2d::{singular_values2, svd2};
pub use svd_3d::{singular_values3, svd3};
