//! What particles do to the nodes of a phase: stress and the push of penalties, as accelerations and their slopes.

use crate::material::{Material, kirchhoff};
use crate::mpm::p2g::ParticleStep;
use crate::mpm::penalty::penalty_force;
use diffkern::prelude::*;

/// Slope of the acceleration by the stress, `-4/dx^2 V0 tau (I + H)^-T / m` \[1/s^2\]: with it [`scatter_affine`](super::scatter)
/// gives the nodes minus the derivative of the elastic energy by where they are.
///
/// `h` is the gradient of the displacement since the phase began, at the substep before `h_before`; `f` the deformation gradient of
/// then; `packed` as in [`particles_to_grid`](crate::mpm::p2g). With the [bulk viscosity](crate::fem::bulk) of the coefficient `bulk` and the length `dx`.
#[diff_kernel(dims(2, 3))]
pub fn stress_slope<F: Float, M: Material, const D: usize>(
    h: &Array<Matrix<F, D>>,
    h_before: &Array<Matrix<F, D>>,
    f: &Array<Matrix<F, D>>,
    packed: &Array<Vec4<F>>,
    slope: &mut Array<Matrix<F, D>>,
    step: ParticleStep<F>,
    bulk: F,
) {
    let i = ABSOLUTE_POS;
    let q = packed[i];
    let moved = h[i];
    let stretched = Matrix::<F, D>::identity() + moved;
    let back = stretched.inverse();
    let rate = (moved - h_before[i]) * back * (1.0 / step.dt);
    let now = stretched * f[i];
    let j = now.determinant();
    let closing = (j * rate.trace()).min(0.0);
    let flat = (1.0 - j / 0.9).max(0.0);
    let shock = bulk * q.w * (flat * closing) * (flat * closing) / (step.grid.inv_dx * step.grid.inv_dx);
    let elastic: Matrix<F, D> = kirchhoff::<F, M, D>(now, rate, q);
    let tau = elastic - Matrix::<F, D>::identity() * shock;
    slope[i] = tau * back.transpose() * (-4.0 * step.grid.inv_dx * step.grid.inv_dx / q.w);
}

/// Acceleration by penalty contacts with half-spaces, of a particle that has moved by `shift` from `x`, by `shift_before` a substep ago;
/// `packed` and `planes` as in [`particles_to_grid`](crate::mpm::p2g). It touches `wider` \[m\] farther away than `planes` have it; an array of
/// one element stands for all particles.
#[diff_kernel(dims(2, 3))]
pub fn penalty_push<F: Float, const D: usize>(
    x: &Array<Vector<F, D>>,
    shift: &Array<Vector<F, D>>,
    shift_before: &Array<Vector<F, D>>,
    packed: &Array<Vec4<F>>,
    planes: &Array<Vec4<F>>,
    wider: &Array<F>,
    push: &mut Array<Vector<F, D>>,
    step: ParticleStep<F>,
) {
    let i = ABSOLUTE_POS;
    let mass = packed[i].w;
    let at = x[i] + shift[i];
    let v = (shift[i] - shift_before[i]) * (1.0 / step.dt);
    let more = wider[i.min(wider.len() - 1)];
    let mut sum = Vector::<F, D>::zero();
    for k in 0..step.touching_end {
        if (step.touching >> k) & 1 == 1 {
            let p = 2 * k as usize;
            let plane = Vec4::new(planes[p].x, planes[p].y, planes[p].z, planes[p].w + more);
            let force: Vector<F, D> = penalty_force::<F, D>(at, v, plane, planes[p + 1], step.dt / mass);
            sum = sum + force;
        }
    }
    push[i] = sum * (1.0 / mass);
}

/// Where a particle is and how fast, from its shifts.
#[diff_kernel(dims(2, 3))]
pub fn shifted<F: Float, const D: usize>(
    x: &Array<Vector<F, D>>,
    shift: &Array<Vector<F, D>>,
    shift_before: &Array<Vector<F, D>>,
    y: &mut Array<Vector<F, D>>,
    v: &mut Array<Vector<F, D>>,
    dt: F,
) {
    let i = ABSOLUTE_POS;
    y[i] = x[i] + shift[i];
    v[i] = (shift[i] - shift_before[i]) * (1.0 / dt);
}

/// Deformation gradient `(I + H) F` and velocity gradient `L (I + H)^-1` of a particle, `l` the velocity gradient by where nodes were.
#[diff_kernel(dims(2, 3))]
pub fn deformed<F: Float, const D: usize>(
    h: &Array<Matrix<F, D>>,
    l: &Array<Matrix<F, D>>,
    f: &Array<Matrix<F, D>>,
    f_next: &mut Array<Matrix<F, D>>,
    c_next: &mut Array<Matrix<F, D>>,
) {
    let i = ABSOLUTE_POS;
    let stretched = Matrix::<F, D>::identity() + h[i];
    f_next[i] = stretched * f[i];
    c_next[i] = l[i] * stretched.inverse();
}
