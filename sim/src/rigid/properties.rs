//! Mass, centre and inertia of bodies as functions of their surface and density.

use diffkern::prelude::*;

/// Integrals over a body of density one, about the origin of its frame.
#[diff_struct]
pub struct Integrals<F> {
    /// Volume \[m^3\].
    pub volume: F,
    /// Of `x` \[m^4\].
    pub first: Vec3<F>,
    /// Of `x x^T` \[m^5\].
    pub second: Mat3<F>,
}

/// What of a body resists forces and torques.
#[diff_struct]
pub struct MassProperties<F> {
    /// Mass \[kg\].
    pub mass: F,
    /// Centre of mass, in the frame of the surface \[m\].
    pub centre: Vec3<F>,
    /// Inertia about the centre of mass, along the axes of that frame \[kg m^2\].
    pub inertia: Mat3<F>,
    /// The inverse of the inertia \[1/(kg m^2)\].
    pub inverse: Mat3<F>,
}

impl<F: Float> MassProperties<F> {
    /// An upper bound of the largest angular acceleration by a torque of one newton metre \[1/(kg m^2)\]: no eigenvalue of a symmetric matrix is larger than its root of the sum of
    /// squares, or than the largest sum of a row.
    pub(super) fn turning(&self) -> f64 {
        let entries = self.inverse.to_array().map(|x| x.to_f64().abs());
        let row = |k: usize| entries[k] + entries[k + 3] + entries[k + 6];
        let squares = entries.iter().map(|x| x * x).sum::<f64>().sqrt();
        squares.min(row(0).max(row(1)).max(row(2)))
    }

    /// An upper bound of what a force of one newton accelerates the point by at which it acts, so far from the centre of mass \[1/kg\].
    pub(super) fn compliance(&self, arm: f64) -> f64 {
        1.0 / self.mass.to_f64() + arm * arm * self.turning()
    }
}

/// What a step reads of the properties of bodies by itself: an adjoint gives back a whole element of each array that its kernel reads.
#[derive(Clone, Debug)]
pub(super) struct Properties<F: Float> {
    pub(super) all: Array<MassProperties<F>>,
    pub(super) mass: Array<F>,
    pub(super) inverse: Array<Mat3<F>>,
}

impl<F: Float> Properties<F> {
    pub(super) fn of(all: Array<MassProperties<F>>) -> diffkern::Result<Properties<F>> {
        let (n, device) = (all.len(), all.device());
        let (mass, inverse) = (device.uninit(n)?, device.uninit(n)?);
        divide_properties(n, &all, &mass, &inverse)?;
        Ok(Properties { all, mass, inverse })
    }
}

/// Masses and inverse inertias by themselves.
#[diff_kernel]
pub fn divide_properties<F: Float>(
    properties: &Array<MassProperties<F>>,
    mass: &mut Array<F>,
    inverse: &mut Array<Mat3<F>>,
) {
    let b = ABSOLUTE_POS;
    mass[b] = properties[b].mass;
    inverse[b] = properties[b].inverse;
}

/// Adds what each triangle contributes to the integrals of its body, `owner` \[triangle\]: those of the tetrahedron that it makes
/// with the origin. With the corners `a`, `b`, `c`, `d = a . (b x c)` and `s = a + b + c` these are `d / 6`, `d s / 24` and
/// `d (a a^T + b b^T + c c^T + s s^T) / 120`.
#[diff_kernel]
pub fn add_integrals<F: Float>(
    vertices: &Array<Vec3<F>>,
    triangles: &Array<u32>,
    owner: &Array<u32>,
    integrals: &mut Array<Integrals<F>>,
) {
    let t = ABSOLUTE_POS;
    let a = vertices[triangles[3 * t] as usize];
    let b = vertices[triangles[3 * t + 1] as usize];
    let c = vertices[triangles[3 * t + 2] as usize];
    let s = a + b + c;
    let d = a.dot(b.cross(c));
    let body = owner[t] as usize;
    integrals[body].volume += d / 6.0;
    integrals[body].first += s * (d / 24.0);
    integrals[body].second += (a.outer(a) + b.outer(b) + c.outer(c) + s.outer(s)) * (d / 120.0);
}

/// Of a body of this density: `C' = C - V x x^T` about the centre `x`, `I = density (tr(C') 1 - C')`.
#[diff_fn]
pub fn of_density<F: Float>(integrals: Integrals<F>, density: F) -> MassProperties<F> {
    let centre = integrals.first / integrals.volume;
    let second = integrals.second - centre.outer(centre) * integrals.volume;
    let trace = second.trace();
    let inertia = (Mat3::from_diagonal(Vec3::splat(trace)) - second) * density;
    MassProperties { mass: density * integrals.volume, centre, inertia, inverse: inertia.inverse() }
}

/// Of bodies by their densities \[kg/m^3\], one for all or one for each.
#[diff_kernel]
pub fn from_density<F: Float>(
    integrals: &Array<Integrals<F>>,
    density: &Array<F>,
    properties: &mut Array<MassProperties<F>>,
) {
    let b = ABSOLUTE_POS;
    let result: MassProperties<F> = of_density(integrals[b], density[b.min(density.len() - 1)]);
    properties[b] = result;
}

/// Of bodies by their masses \[kg\], which are spread evenly: one for all or one for each.
#[diff_kernel]
pub fn from_mass<F: Float>(
    integrals: &Array<Integrals<F>>,
    mass: &Array<F>,
    properties: &mut Array<MassProperties<F>>,
) {
    let b = ABSOLUTE_POS;
    let result: MassProperties<F> = of_density(integrals[b], mass[b.min(mass.len() - 1)] / integrals[b].volume);
    properties[b] = result;
}

/// The same bodies with other inertias \[kg m^2\], one for each.
#[diff_kernel]
pub fn with_inertia<F: Float>(
    properties: &Array<MassProperties<F>>,
    inertia: &Array<Mat3<F>>,
    changed: &mut Array<MassProperties<F>>,
) {
    let b = ABSOLUTE_POS;
    let given = inertia[b];
    changed[b] = MassProperties { inertia: given, inverse: given.inverse(), ..properties[b] };
}
