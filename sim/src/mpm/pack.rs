//! What the kernels read of parameters that are shared: one vector a particle and two a half-space, packed once a rollout.

use diffkern::prelude::*;

/// `packed_i = (V0 mu, V0 lambda, V0 eta, V0 density)`; an array of one element stands for all particles.
#[diff_kernel]
pub fn pack_material<F: Float>(
    mu: &Array<F>,
    lambda: &Array<F>,
    viscosity: &Array<F>,
    density: &Array<F>,
    volume: &Array<F>,
    packed: &mut Array<Vec4<F>>,
) {
    let i = ABSOLUTE_POS;
    let scale = volume[i.min(volume.len() - 1)];
    let a = mu[i.min(mu.len() - 1)];
    let b = lambda[i.min(lambda.len() - 1)];
    let c = viscosity[i.min(viscosity.len() - 1)];
    let d = density[i.min(density.len() - 1)];
    packed[i] = Vec4::new(a, b, c, d) * scale;
}

/// The half-spaces with what they do: half-space `k` is `(normal, offset)` and `(stiffness * area, slip speed, friction, 0)`, of `planes` with a
/// stiffness of one; one coefficient, one stiffness stands for all of them.
#[diff_kernel]
pub fn pack_half_spaces<F: Float>(
    planes: &Array<Vec4<F>>,
    friction: &Array<F>,
    stiffness: &Array<F>,
    packed: &mut Array<Vec4<F>>,
) {
    let k = ABSOLUTE_POS;
    let law = planes[2 * k + 1];
    packed[2 * k] = planes[2 * k];
    let pressed = law.x * stiffness[k.min(stiffness.len() - 1)];
    packed[2 * k + 1] = Vec4::new(pressed, law.y, friction[k.min(friction.len() - 1)], 0.0);
}
