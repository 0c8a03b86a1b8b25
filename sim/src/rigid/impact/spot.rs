//! Where bodies touch planes in an impact, and how they resist impulses there.

use super::plane::Wall;
use super::time::{Near, gap_after, near_gap};
use crate::collision::Pose;
use crate::rigid::properties::MassProperties;
use diffkern::prelude::*;

/// How a body resists impulses, along the axes of the world.
#[diff_struct]
pub struct Mobility<F> {
    /// Reciprocal of the mass \[1/kg\].
    pub linear: F,
    /// Inverse of the inertia \[1/(kg m^2)\].
    pub angular: Mat3<F>,
}

/// A point of a body at a plane.
#[diff_struct]
pub struct Spot<F> {
    /// From the centre of mass, along the axes of the world \[m\].
    pub arm: Vec3<F>,
    /// Of the plane.
    pub normal: Vec3<F>,
    /// Effective mass, the inverse of `K` with `K j = j / m + (J (r x j)) x r` \[kg\].
    pub mass: Mat3<F>,
    /// `n . K n` \[1/kg\].
    pub across: F,
    /// Reciprocal of the trace of `K` along the plane \[kg\]: by so much a sweep relaxes sliding.
    pub along: F,
    /// Coefficient of restitution: zero where the approach is slow.
    pub restitution: F,
    /// Coulomb's coefficient.
    pub friction: F,
}

/// What is near enough to touch.
#[diff_struct]
pub struct Look<F> {
    /// How far ahead gaps are looked at \[s\].
    pub ahead: F,
    /// Gap up to which a point touches then.
    pub near: Near<F>,
    /// Speed of approach up to which nothing bounces \[m/s\].
    pub rest_speed: F,
}

/// Of bodies turned as they are.
#[diff_kernel]
pub fn mobilities<F: Float>(
    bodies: &Array<Pose<F>>,
    properties: &Array<MassProperties<F>>,
    mobility: &mut Array<Mobility<F>>,
) {
    let b = ABSOLUTE_POS;
    let r = bodies[b].rotation.to_mat3();
    let angular = r * properties[b].inverse * r.transpose();
    mobility[b] = Mobility { linear: 1.0 / properties[b].mass, angular };
}

/// `K j`, the velocity \[m/s\] that the impulse `j` \[N s\] gives to the point at `arm`.
#[diff_fn]
pub fn velocity_by<F: Float>(mobility: Mobility<F>, arm: Vec3<F>, j: Vec3<F>) -> Vec3<F> {
    j * mobility.linear + (mobility.angular * arm.cross(j)).cross(arm)
}

/// Each point of each body against each plane, and which of them touch; `bodies` move as they do before the impact.
#[diff_kernel]
pub fn find_spots<F: Float>(
    bodies: &Array<Pose<F>>,
    mobility: &Array<Mobility<F>>,
    points: &Array<Vec4<F>>,
    owner: &Array<u32>,
    walls: &Array<Wall<F>>,
    hit: &Array<u32>,
    spots: &mut Array<Spot<F>>,
    active: &mut Array<u32>,
    look: Look<F>,
) {
    let k = ABSOLUTE_POS;
    let (point, wall) = (points[k / walls.len()], walls[k % walls.len()]);
    let b = owner[k / walls.len()] as usize;
    let (body, n) = (bodies[b], wall.normal);
    let at: Vec2<F> = gap_after(body, point, n, wall.offset, look.ahead);
    let mut touches = 0u32;
    let mut spot = Spot {
        arm: Vec3::zero(),
        normal: n,
        mass: Mat3::identity(),
        across: F::new(1.0),
        along: F::new(1.0),
        restitution: F::new(0.0),
        friction: F::new(0.0),
    };
    let limit: F = near_gap(look.near, body.centre, n, wall.offset);
    if hit[b] == 1 && at.x <= limit {
        touches = 1;
        let arm = body.rotation.rotate(Vec3::new(point.x, point.y, point.z)) - n * point.w;
        let kx: Vec3<F> = velocity_by(mobility[b], arm, Vec3::new(1.0, 0.0, 0.0));
        let ky: Vec3<F> = velocity_by(mobility[b], arm, Vec3::new(0.0, 1.0, 0.0));
        let kz: Vec3<F> = velocity_by(mobility[b], arm, Vec3::new(0.0, 0.0, 1.0));
        let matrix = Mat3::from_cols(kx, ky, kz);
        let across = n.dot(matrix * n);
        let approach = -n.dot(body.velocity + body.spin.cross(arm));
        spot = Spot {
            arm,
            normal: n,
            mass: matrix.inverse(),
            across,
            along: 1.0 / (matrix.trace() - across),
            restitution: select(approach > look.rest_speed, wall.restitution, F::new(0.0)),
            friction: wall.friction,
        };
    }
    spots[k] = spot;
    active[k] = touches;
}
