//! Elements with one value of the deformation gradient.

use crate::material::Material;
use diffkern::prelude::*;

/// The edges of a tetrahedron from its first vertex, as columns.
#[diff_fn]
pub fn edges<F: Float>(x: &Array<Vec3<F>>, tets: &Array<u32>, e: usize) -> Mat3<F> {
    let x0 = x[tets[4 * e] as usize];
    Mat3::from_cols(
        x[tets[4 * e + 1] as usize] - x0,
        x[tets[4 * e + 2] as usize] - x0,
        x[tets[4 * e + 3] as usize] - x0,
    )
}

/// Of each tetrahedron the inverse of its edges at rest, `Dm^-1` with the edges from its first vertex as columns, and its volume.
/// `q_e = (mu, lambda, density, volume)`.
#[diff_kernel]
pub fn rest_shape<F: Float>(
    x: &Array<Vec3<F>>,
    tets: &Array<u32>,
    mu: &Array<F>,
    lambda: &Array<F>,
    density: &Array<F>,
    inverse: &mut Array<Mat3<F>>,
    q: &mut Array<Vec4<F>>,
) {
    let e = ABSOLUTE_POS;
    let at_rest: Mat3<F> = edges(x, tets, e);
    inverse[e] = at_rest.inverse();
    let volume = at_rest.determinant() / 6.0;
    q[e] =
        Vec4::new(mu[e.min(mu.len() - 1)], lambda[e.min(lambda.len() - 1)], density[e.min(density.len() - 1)], volume);
}

/// Adds a quarter of the mass of each tetrahedron to its vertices.
#[diff_kernel]
pub fn lump_mass<F: Float>(tets: &Array<u32>, q: &Array<Vec4<F>>, mass: &mut Array<F>) {
    let e = ABSOLUTE_POS;
    let part = q[e].z * q[e].w * 0.25;
    for k in 0..4 {
        mass[tets[4 * e + k] as usize] += part;
    }
}

/// Energy of each tetrahedron, `V psi(F)`; `q_e = (mu, lambda, _, V)`.
#[diff_kernel]
pub fn elastic_energies<F: Float, M: Material>(
    x: &Array<Vec3<F>>,
    tets: &Array<u32>,
    inverse: &Array<Mat3<F>>,
    q: &Array<Vec4<F>>,
    energy: &mut Array<F>,
) {
    let e = ABSOLUTE_POS;
    let now: Mat3<F> = edges(x, tets, e);
    let density: F = M::energy_3d(now * inverse[e], q[e].x, q[e].y);
    energy[e] = density * q[e].w;
}

/// Adds the elastic forces `-V P Dm^-T` to the vertices: `P = tau F^-T` of the Kirchhoff stress, and `F = Ds Dm^-1` of the edges `Ds`, so that they are
/// `-V tau Ds^-T`. `Ds^-1` has a unit: in single precision second derivatives overflow where edges are shorter than some 0.05 mm.
#[diff_kernel]
pub fn elastic_forces<F: Float, M: Material>(
    x: &Array<Vec3<F>>,
    tets: &Array<u32>,
    inverse: &Array<Mat3<F>>,
    q: &Array<Vec4<F>>,
    force: &mut Array<Vec3<F>>,
) {
    let e = ABSOLUTE_POS;
    let (a, b, c, d) =
        (tets[4 * e] as usize, tets[4 * e + 1] as usize, tets[4 * e + 2] as usize, tets[4 * e + 3] as usize);
    let now: Mat3<F> = edges(x, tets, e);
    let tau: Mat3<F> = M::kirchhoff_3d(now * inverse[e], q[e].x, q[e].y);
    let forces = tau * now.inverse().transpose() * (-q[e].w);
    let (fb, fc, fd) = (forces.col(0), forces.col(1), forces.col(2));
    force[a] += -(fb + fc + fd);
    force[b] += fb;
    force[c] += fc;
    force[d] += fd;
}

/// `r = m (y - x - h exp(-h damping) v) - h^2 (f + m g)`, for held vertices `m (y - x - h v)`: zero where `y` is the position after a step of
/// backward Euler.
#[diff_kernel]
pub fn euler_residual<F: Float>(
    y: &Array<Vec3<F>>,
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    force: &Array<Vec3<F>>,
    mass: &Array<F>,
    held: &Array<u32>,
    gravity: &Array<Vec3<F>>,
    damping: &Array<F>,
    residual: &mut Array<Vec3<F>>,
    h: F,
) {
    let i = ABSOLUTE_POS;
    let m = mass[i];
    let mut velocity = v[i];
    let mut r = Vec3::zero();
    if held[i] == 0 {
        velocity = velocity * (-damping[0] * h).exp();
        r = r - (force[i] + gravity[0] * m) * (h * h);
    }
    residual[i] = r + (y[i] - x[i] - velocity * h) * m;
}

/// `y`, of held vertices where they get by their velocity, `x + h v`: so the forces do not depend on where an iteration puts those, and its
/// matrix is symmetric.
#[diff_kernel]
pub fn held_ahead<F: Float>(
    y: &Array<Vec3<F>>,
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    held: &Array<u32>,
    at: &mut Array<Vec3<F>>,
    h: F,
) {
    let i = ABSOLUTE_POS;
    let mut place = y[i];
    if held[i] != 0 {
        place = x[i] + v[i] * h;
    }
    at[i] = place;
}

/// Adds `m/2 |y - x - h exp(-h damping) v - h^2 g|^2` of free vertices: with `h^2` times the other energies, that of which `euler_residual` is
/// the derivative by `y`.
#[diff_kernel]
pub fn inertial_energies<F: Float>(
    y: &Array<Vec3<F>>,
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    mass: &Array<F>,
    held: &Array<u32>,
    gravity: &Array<Vec3<F>>,
    damping: &Array<F>,
    energy: &mut Array<F>,
    h: F,
) {
    let i = ABSOLUTE_POS;
    let mut stored = F::new(0.0);
    if held[i] == 0 {
        let moved = v[i] * ((-damping[0] * h).exp() * h) + gravity[0] * (h * h);
        stored = 0.5 * mass[i] * (y[i] - x[i] - moved).norm_squared();
    }
    energy[i] += stored;
}

/// The end of a step of the implicit midpoint rule, `x+ = 2 y - x` and `v+ = d (2 (y - x) / h - d v)` with the decay `d = exp(-h damping)`, where
/// `y` is the position after half a step of `h`; held vertices keep their velocity.
#[diff_kernel]
pub fn midpoint_end<F: Float>(
    y: &Array<Vec3<F>>,
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    held: &Array<u32>,
    damping: &Array<F>,
    x_next: &mut Array<Vec3<F>>,
    v_next: &mut Array<Vec3<F>>,
    h: F,
) {
    let i = ABSOLUTE_POS;
    let mut velocity = v[i];
    if held[i] == 0 {
        let decay = (-damping[0] * h).exp();
        velocity = ((y[i] - x[i]) * (2.0 / h) - v[i] * decay) * decay;
    }
    x_next[i] = y[i] * 2.0 - x[i];
    v_next[i] = velocity;
}

/// `v+ = (y - x) / h`.
#[diff_kernel]
pub fn mean_velocity<F: Float>(y: &Array<Vec3<F>>, x: &Array<Vec3<F>>, v: &mut Array<Vec3<F>>, h: F) {
    v[ABSOLUTE_POS] = (y[ABSOLUTE_POS] - x[ABSOLUTE_POS]) / h;
}
