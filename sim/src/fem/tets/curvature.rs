//! Second derivatives of the elastic energy, made positive semidefinite: for the directions of a descent, never for a gradient. None of these
//! kernels has one by positions and materials.

use super::kernels::edges;
use crate::material::Principal;
use diffkern::prelude::*;

/// The positive part of a symmetric matrix: half of it and its polar factor of no negative eigenvalue.
#[diff_fn]
pub fn positive_part<F: Float>(a: Mat3<F>) -> Mat3<F> {
    let (_u, s, v): (Mat3<F>, Vec3<F>, Mat3<F>) = svd3(a);
    let magnitude = v * Mat3::from_diagonal(Vec3::new(s.x, s.y, s.z.abs())) * v.transpose();
    (a + a.transpose() + magnitude * 2.0) * 0.25
}

/// `over / under`, `close` where `under` is next to nothing beside `size`; at least 0.
#[diff_fn]
pub fn eigenvalue<F: Float>(over: F, under: F, size: F, close: F) -> F {
    let far = under.abs() > size * 1e-4;
    select(far, over / select(far, under, 1.0), close).max(0.0)
}

/// The positive part of the second derivative of the energy of a tetrahedron, by `F = U diag(s) V^T`.
#[diff_struct]
pub struct Modes<F> {
    /// The axes `U`.
    pub u: Mat3<F>,
    /// The axes `V`.
    pub v: Mat3<F>,
    /// The block among the stretches, times the volume \[J\].
    pub stretch: Mat3<F>,
    /// The eigenvalues of the flips of the pairs of axes (y, z), (z, x) and (x, y), times the volume \[J\].
    pub flip: Vec3<F>,
    /// Those of the twists.
    pub twist: Vec3<F>,
}

/// The modes of each tetrahedron; `q_e = (mu, lambda, _, V)`.
#[diff_kernel]
pub fn elastic_modes<F: Float, M: Principal>(
    x: &Array<Vec3<F>>,
    tets: &Array<u32>,
    inverse: &Array<Mat3<F>>,
    q: &Array<Vec4<F>>,
    modes: &mut Array<Modes<F>>,
) {
    let e = ABSOLUTE_POS;
    let now: Mat3<F> = edges(x, tets, e);
    let (u, s, v): (Mat3<F>, Vec3<F>, Mat3<F>) = svd3(detach(now * inverse[e]));
    let material = detach(q[e]);
    let t: Vec3<F> = M::stresses(s, material.x, material.y);
    let a: Mat3<F> = M::stiffness(s, material.x, material.y);
    let positive: Mat3<F> = positive_part(a);
    let size = s.x;
    let flips = Vec3::new(
        eigenvalue(t.y - t.z, s.y - s.z, size, a[(1, 1)] - a[(1, 2)]),
        eigenvalue(t.z - t.x, s.z - s.x, size, a[(2, 2)] - a[(2, 0)]),
        eigenvalue(t.x - t.y, s.x - s.y, size, a[(0, 0)] - a[(0, 1)]),
    );
    let none = F::new(0.0);
    let twists = Vec3::new(
        eigenvalue(t.y + t.z, s.y + s.z, size, none),
        eigenvalue(t.z + t.x, s.z + s.x, size, none),
        eigenvalue(t.x + t.y, s.x + s.y, size, none),
    );
    modes[e] = Modes { u, v, stretch: positive * material.w, flip: flips * material.w, twist: twists * material.w };
}

/// Change of the first Piola-Kirchhoff stress, times the volume, for a change `d` of the deformation gradient.
#[diff_fn]
pub fn stress_change<F: Float>(d: Mat3<F>, modes: Modes<F>) -> Mat3<F> {
    let d = modes.u.transpose() * d * modes.v;
    let along = modes.stretch * Vec3::new(d[(0, 0)], d[(1, 1)], d[(2, 2)]);
    let even =
        Vec3::new(d[(1, 2)] + d[(2, 1)], d[(2, 0)] + d[(0, 2)], d[(0, 1)] + d[(1, 0)]).mul_elem(modes.flip) * 0.5;
    let odd =
        Vec3::new(d[(1, 2)] - d[(2, 1)], d[(2, 0)] - d[(0, 2)], d[(0, 1)] - d[(1, 0)]).mul_elem(modes.twist) * 0.5;
    let change = Mat3::new(
        along.x,
        even.z + odd.z,
        even.y - odd.y,
        even.z - odd.z,
        along.y,
        even.x + odd.x,
        even.y + odd.y,
        even.x - odd.x,
        along.z,
    );
    modes.u * change * modes.v.transpose()
}

/// Adds the product of the positive parts with displacements `d`, zero of held vertices.
#[diff_kernel]
pub fn elastic_products<F: Float>(
    d: &Array<Vec3<F>>,
    tets: &Array<u32>,
    inverse: &Array<Mat3<F>>,
    modes: &Array<Modes<F>>,
    product: &mut Array<Vec3<F>>,
) {
    let e = ABSOLUTE_POS;
    let change: Mat3<F> = edges(d, tets, e);
    let stress: Mat3<F> = stress_change(change * inverse[e], modes[e]);
    let forces = stress * inverse[e].transpose();
    let (fb, fc, fd) = (forces.col(0), forces.col(1), forces.col(2));
    product[tets[4 * e] as usize] += -(fb + fc + fd);
    product[tets[4 * e + 1] as usize] += fb;
    product[tets[4 * e + 2] as usize] += fc;
    product[tets[4 * e + 3] as usize] += fd;
}

/// Adds the blocks on the diagonal of the matrix of these products.
#[diff_kernel]
pub fn elastic_blocks<F: Float>(
    tets: &Array<u32>,
    inverse: &Array<Mat3<F>>,
    modes: &Array<Modes<F>>,
    blocks: &mut Array<Mat3<F>>,
) {
    let e = ABSOLUTE_POS;
    let (rest, element) = (inverse[e], modes[e]);
    let (b, c, d) = (rest.row(0), rest.row(1), rest.row(2));
    for corner in 0..4 {
        // Derivative of the deformation gradient by a component of the vertex: a row of this, the others zero.
        let mut g = -(b + c + d);
        if corner == 1 {
            g = b;
        } else if corner == 2 {
            g = c;
        } else if corner == 3 {
            g = d;
        }
        let x = Vec3::new(F::new(1.0), F::new(0.0), F::new(0.0));
        let y = Vec3::new(F::new(0.0), F::new(1.0), F::new(0.0));
        let z = Vec3::new(F::new(0.0), F::new(0.0), F::new(1.0));
        let by_x: Mat3<F> = stress_change(x.outer(g), element);
        let by_y: Mat3<F> = stress_change(y.outer(g), element);
        let by_z: Mat3<F> = stress_change(z.outer(g), element);
        blocks[tets[4 * e + corner] as usize] += Mat3::from_cols(by_x * g, by_y * g, by_z * g);
    }
}

/// `m d + h^2 (elastic + contact d)`, of held vertices `m d`.
#[diff_kernel]
pub fn implicit_product<F: Float>(
    d: &Array<Vec3<F>>,
    elastic: &Array<Vec3<F>>,
    contact: &Array<Mat3<F>>,
    mass: &Array<F>,
    held: &Array<u32>,
    product: &mut Array<Vec3<F>>,
    h: F,
) {
    let i = ABSOLUTE_POS;
    let mut sum = d[i] * mass[i];
    if held[i] == 0 {
        sum = sum + (elastic[i] + contact[i] * d[i]) * (h * h);
    }
    product[i] = sum;
}

/// The blocks on its diagonal.
#[diff_kernel]
pub fn implicit_blocks<F: Float>(
    elastic: &Array<Mat3<F>>,
    contact: &Array<Mat3<F>>,
    mass: &Array<F>,
    held: &Array<u32>,
    blocks: &mut Array<Mat3<F>>,
    h: F,
) {
    let i = ABSOLUTE_POS;
    let mut block = Mat3::identity() * mass[i];
    if held[i] == 0 {
        block = block + (elastic[i] + contact[i]) * (h * h);
    }
    blocks[i] = block;
}
