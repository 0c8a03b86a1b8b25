//! Elements with one value of the deformation gradient.

use crate::material::Material;
use diffkern::prelude::*;

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
    let x0 = x[tets[4 * e] as usize];
    let edges = Mat3::from_cols(
        x[tets[4 * e + 1] as usize] - x0,
        x[tets[4 * e + 2] as usize] - x0,
        x[tets[4 * e + 3] as usize] - x0,
    );
    inverse[e] = edges.inverse();
    let volume = edges.determinant() / 6.0;
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

/// Adds the elastic forces `-V P Dm^-T` to the vertices, `P = tau F^-T` of the Kirchhoff stress.
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
    let x0 = x[a];
    let rest = inverse[e];
    let f = Mat3::from_cols(x[b] - x0, x[c] - x0, x[d] - x0) * rest;
    let tau: Mat3<F> = M::kirchhoff_3d(f, q[e].x, q[e].y);
    let forces = tau * f.inverse().transpose() * rest.transpose() * (-q[e].w);
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

/// `v+ = (y - x) / h`.
#[diff_kernel]
pub fn mean_velocity<F: Float>(y: &Array<Vec3<F>>, x: &Array<Vec3<F>>, v: &mut Array<Vec3<F>>, h: F) {
    v[ABSOLUTE_POS] = (y[ABSOLUTE_POS] - x[ABSOLUTE_POS]) / h;
}
