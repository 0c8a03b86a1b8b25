//! Activation: fibres of a muscle that pull.

use diffkern::prelude::*;

/// Adds the first Piola stress of active fibres times volume, `V a (F m) m^T`: a tension along the fibre, of `a |m|^2` \[Pa\] by stretch and area at rest; its
/// energy is `a/2 |F m|^2`. Fibres `m` and activations `a` are per cell, one element for all or one for each; a cell has eight stress points, `q = (_, _, _, V)`.
#[diff_kernel]
pub fn contract<F: Float>(
    f: &Array<Mat3<F>>,
    q: &Array<Vec4<F>>,
    fibre: &Array<Vec3<F>>,
    activation: &Array<F>,
    p: &mut Array<Mat3<F>>,
) {
    let i = ABSOLUTE_POS;
    let c = i / 8;
    let m = fibre[c.min(fibre.len() - 1)];
    p[i] += (f[i] * m).outer(m) * (q[i].w * activation[c.min(activation.len() - 1)]);
}
