//! What bodies do to each other where a place of one is in the matter of another: law, friction, and the forces on both.

use super::stencil::spline_values;
use super::touch::placed;
use crate::contact::{ContactModel, sharp_coulomb_3d, stopping_coulomb_3d};
use diffkern::prelude::*;

/// Of the matter of the body at each place near it: its velocity, and the mass by area that friction may stop between it and what is `behind` the place. Half of
/// it, as each of two bodies has places that touch the other.
#[diff_kernel]
pub fn beneath<F: Float>(
    v: &Array<Vec3<F>>,
    rows: &Array<u32>,
    cell: &Array<u32>,
    foot: &Array<Vec3<F>>,
    density: &Array<F>,
    behind: &Array<F>,
    speed: &mut Array<Vec3<F>>,
    mass: &mut Array<F>,
    depth: F,
) {
    let i = ABSOLUTE_POS;
    let found = cell[i];
    let mut u = Vec3::zero();
    let mut half = F::new(1.0);
    if found != u32::MAX {
        let c = found as usize;
        let (at, _x, _y, _z): (Vec3<F>, Vec3<F>, Vec3<F>, Vec3<F>) = placed(v, rows, c, foot[i]);
        u = at;
        let own = density[c.min(density.len() - 1)] * depth;
        half = 0.5 * own * behind[i] / (own + behind[i]);
    }
    speed[i] = u;
    mass[i] = half;
}

/// `packed_k = (stiffness, 0, width, friction)` of body `k`; arrays of one element stand for all.
#[diff_kernel]
pub fn pack_surfaces<F: Float>(
    stiffness: &Array<F>,
    width: &Array<F>,
    friction: &Array<F>,
    packed: &mut Array<Vec4<F>>,
) {
    let k = ABSOLUTE_POS;
    packed[k] =
        Vec4::new(stiffness[k.min(stiffness.len() - 1)], F::new(0.0), width[k], friction[k.min(friction.len() - 1)]);
}

/// Adds the traction \[Pa\] on each place that has come nearer to the body than its `radius`, and gives the opposite, on the body. The law is that of both surfaces in
/// series, half of it for each direction.
#[diff_kernel]
pub fn press<F: Float, L: ContactModel>(
    speed: &Array<Vec3<F>>,
    beneath: &Array<Vec3<F>>,
    mass: &Array<F>,
    slope: &Array<Vec4<F>>,
    radius: &Array<F>,
    owner: &Array<u32>,
    surfaces: &Array<Vec4<F>>,
    traction: &mut Array<Vec3<F>>,
    reaction: &mut Array<Vec3<F>>,
    rub: Rub<F>,
) {
    let i = ABSOLUTE_POS;
    let mut total = Vec3::zero();
    let at = slope[i];
    let gap = at.w - radius[i];
    if gap < 0.0 {
        let a = surfaces[owner[i] as usize];
        let b = surfaces[rub.body as usize];
        let q = Vec4::new(0.5 * a.x * b.x / (a.x + b.x), F::new(0.0), a.z + b.z, F::new(0.0));
        let push: F = L::force(gap, F::new(0.0), q);
        let normal = Vec3::new(at.x, at.y, at.z);
        let stretch = normal.dot(normal).sqrt();
        let n = normal / stretch;
        let u = speed[i] - beneath[i];
        let slide = u - n * u.dot(n);
        let grip = 0.5 * (a.w + b.w) * push * stretch;
        let friction: Vec3<F> = sharp_coulomb_3d(slide, grip, rub.slip, rub.dt / mass[i]);
        total = normal * push - friction;
    }
    traction[i] += total;
    reaction[i] = -total;
}

/// Of the matter of the body at each point of another model: its velocity, and the mass by area that friction may stop.
#[diff_kernel]
pub fn beneath_points<F: Float>(
    v: &Array<Vec3<F>>,
    rows: &Array<u32>,
    cell: &Array<u32>,
    foot: &Array<Vec3<F>>,
    density: &Array<F>,
    speed: &mut Array<Vec3<F>>,
    mass: &mut Array<F>,
    depth: F,
) {
    let i = ABSOLUTE_POS;
    let found = cell[i];
    let mut u = Vec3::zero();
    let mut own = F::new(1.0);
    if found != u32::MAX {
        let c = found as usize;
        let (at, _x, _y, _z): (Vec3<F>, Vec3<F>, Vec3<F>, Vec3<F>) = placed(v, rows, c, foot[i]);
        u = at;
        own = density[c.min(density.len() - 1)] * depth;
    }
    speed[i] = u;
    mass[i] = own;
}

/// How each point of another model slides \[m/s\], and the normal force \[N\] on it: the law of the distance of the matter at the point from the surface at rest,
/// and of its rate.
#[diff_kernel]
pub fn press_points<F: Float, L: ContactModel>(
    speed: &Array<Vec3<F>>,
    beneath: &Array<Vec3<F>>,
    slope: &Array<Vec4<F>>,
    area: &Array<F>,
    laws: &Array<Vec4<F>>,
    slide: &mut Array<Vec3<F>>,
    load: &mut Array<F>,
) {
    let i = ABSOLUTE_POS;
    let at = slope[i];
    let normal = Vec3::new(at.x, at.y, at.z);
    let square = normal.dot(normal);
    let mut sliding = Vec3::zero();
    let mut push = F::new(0.0);
    // Of what is far away there is no normal.
    if square > 0.0 {
        let u = speed[i] - beneath[i];
        let rate = normal.dot(u);
        let pressure: F = L::force(at.w, rate, laws[0]);
        push = pressure * square.sqrt() * area[i];
        sliding = u - normal * (rate / square);
    }
    slide[i] = sliding;
    load[i] = push;
}

/// Adds the force \[N\] on each point, of its normal force and Coulomb friction, and gives the opposite on the body by area \[Pa\]. Friction as large as the normal forces would
/// accelerate points by `yielding` \[m/s^2\] at most, and the matter by what its `mass` by area says: in a step it stops what slides, and never turns it round.
#[diff_kernel]
pub fn rub_points<F: Float>(
    slide: &Array<Vec3<F>>,
    load: &Array<F>,
    slope: &Array<Vec4<F>>,
    area: &Array<F>,
    mass: &Array<F>,
    yielding: &Array<F>,
    laws: &Array<Vec4<F>>,
    force: &mut Array<Vec3<F>>,
    reaction: &mut Array<Vec3<F>>,
    rub: Rub<F>,
) {
    let i = ABSOLUTE_POS;
    let mut total = Vec3::zero();
    if load[i] > 0.0 {
        let at = slope[i];
        let normal = Vec3::new(at.x, at.y, at.z);
        let friction = laws[0].w;
        let s = slide[i];
        let stop = friction * (yielding[i] + load[i] / (area[i] * mass[i])) * rub.dt;
        let held: Vec3<F> = stopping_coulomb_3d(s, friction * load[i], rub.slip, stop);
        total = normal * (load[i] / normal.dot(normal).sqrt()) - held;
    }
    force[i] += total;
    reaction[i] = -total / area[i];
}

/// The body that is touched and the numbers of a step.
#[diff_struct]
pub struct Rub<F> {
    /// Number of the body.
    pub body: u32,
    /// Time step \[s\].
    pub dt: F,
    /// Speed below which friction fades \[m/s\].
    pub slip: F,
}

/// Adds the tractions on the matter at places near the body, times their areas, to the forces on its control points.
#[diff_kernel]
pub fn reactions<F: Float>(
    reaction: &Array<Vec3<F>>,
    area: &Array<F>,
    rows: &Array<u32>,
    cell: &Array<u32>,
    foot: &Array<Vec3<F>>,
    force: &mut Array<Vec3<F>>,
) {
    let i = ABSOLUTE_POS;
    let found = cell[i];
    let whole = reaction[i] * area[i];
    if found != u32::MAX {
        let first = 9 * found as usize;
        let s = foot[i];
        let wx: Vec3<F> = spline_values(s.x);
        let wy: Vec3<F> = spline_values(s.y);
        let wz: Vec3<F> = spline_values(s.z);
        #[unroll]
        for a in 0..3 {
            #[unroll]
            for b in 0..3 {
                let row = rows[first + 3 * a + b] as usize;
                let part = whole * (wx[a] * wy[b]);
                force[row] += part * wz.x;
                force[row + 1] += part * wz.y;
                force[row + 2] += part * wz.z;
            }
        }
    }
}

/// Adds the traction by colliders on each place times the factor of its body; arrays of one element stand for all.
#[diff_kernel]
pub fn supported<F: Float>(
    traction: &Array<Vec3<F>>,
    factor: &Array<F>,
    owner: &Array<u32>,
    total: &mut Array<Vec3<F>>,
) {
    let i = ABSOLUTE_POS;
    total[i] += traction[i] * factor[(owner[i] as usize).min(factor.len() - 1)];
}
