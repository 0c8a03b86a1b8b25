//! Relaxation: a Maxwell branch beside the elastic solid, a spring and a dashpot in series.
//!
//! The branch is a network whose links break and form anew without stress, at the rate `1 / T` (Green, Tobolsky 1946): its Kirchhoff stress is `G (F A F^T - I)`,
//! where `A` follows `A' = (C^-1 - A) / T`, `C = F^T F`. Deformed and held, it has `G (F F^T - I)` at first, of which `exp(-t / T)` is left after the time `t`;
//! small vibrations of the circular frequency `w` meet the shear modulus `mu + G i w T / (1 + i w T)`. The energy by volume at rest, `G/2 (tr(C A) - 3 - ln det(C A))`, never
//! grows in a body that is held, and `A` stays positive.
//!
//! What flows is `A - I`, which is as small as strains are: in single precision a part of a millionth of `A` would be lost in its rounding. In a step of the length `h` the stress is that at its middle. Where `C` is taken as constant in the step, `A` there and at the end are
//! `C^-1 + (A - C^-1) exp(-h / (2 T))` and the same with `exp(-h / T)`: both errors are of second order, and no step is too long for a short `T`.

use crate::params::parameters;
use diffkern::prelude::*;

/// Parameters of the Maxwell branch; arrays "per cell" hold one element for all or one for each.
#[derive(Clone, Debug)]
pub struct Relaxation<F: Float> {
    /// Shear modulus of the branch `G` \[Pa\], per cell: what the solid is stiffer by when it is deformed fast.
    pub modulus: Array<F>,
    /// Relaxation time `T` \[s\], per cell.
    pub time: Array<F>,
}

parameters! {
    impl [F: Float] for Relaxation<F> {
        modulus: "material.relaxation.modulus", "Pa", NonNegative;
        time: "material.relaxation.time", "s", Positive;
    }
}

/// `A - I` of a branch without stress: `A = C^-1`.
#[diff_kernel]
pub fn settle<F: Float>(f: &Array<Mat3<F>>, memory: &mut Array<Mat3<F>>) {
    let i = ABSOLUTE_POS;
    let inverse = f[i].inverse();
    memory[i] = inverse * inverse.transpose() - Mat3::identity();
}

/// Adds the first Piola stress of the branch times volume, `V G F (A - C^-1)`, at the middle of a step, and takes `memory = A - I` to its end;
/// `branch = (V G, 1 / T)` of each point.
#[diff_kernel]
pub fn relax<F: Float>(
    f: &Array<Mat3<F>>,
    memory: &Array<Mat3<F>>,
    branch: &Array<Vec2<F>>,
    p: &mut Array<Mat3<F>>,
    next: &mut Array<Mat3<F>>,
    dt: F,
) {
    let i = ABSOLUTE_POS;
    let half = 0.5 * dt * branch[i].y;
    let keep = (-half).exp();
    // `1 - exp(-2 half)`, with all digits where it is small.
    let lost = half.tanh() * (1.0 + keep * keep);
    let inverse = f[i].inverse();
    let strained = memory[i] - (inverse * inverse.transpose() - Mat3::identity());
    p[i] += f[i] * strained * (branch[i].x * keep);
    next[i] = memory[i] - strained * lost;
}
