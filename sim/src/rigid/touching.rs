//! Points spread over the surfaces of bodies, by which these press on bodies of other models.

use super::kernels::Wrench;
use super::loads::Control;
use super::model::Model;
use super::properties::MassProperties;
use super::solver::Solver;
use super::state::State;
use crate::collision::{Pose, surface_velocity};
use crate::error::Result;
use crate::mesh::{ClosedMesh, Point, centres, cross, divisions, norm, sub};
use diffkern::prelude::*;

/// Where points of the surfaces are \[m\] and how they move \[m/s\]; `weight` are those of the three corners of each.
#[diff_kernel]
pub fn place_spread<F: Float>(
    bodies: &Array<Pose<F>>,
    properties: &Array<MassProperties<F>>,
    vertices: &Array<Vec3<F>>,
    corner: &Array<u32>,
    weight: &Array<Vec3<F>>,
    owner: &Array<u32>,
    place: &mut Array<Vec3<F>>,
    speed: &mut Array<Vec3<F>>,
) {
    let i = ABSOLUTE_POS;
    let b = owner[i] as usize;
    let w = weight[i];
    let first = vertices[corner[3 * i] as usize] * w.x;
    let second = vertices[corner[3 * i + 1] as usize] * w.y;
    let own = first + second + vertices[corner[3 * i + 2] as usize] * w.z;
    let body = bodies[b];
    let at = body.centre + body.rotation.rotate(own - properties[b].centre);
    place[i] = at;
    let moving: Vec3<F> = surface_velocity(body, at);
    speed[i] = moving;
}

/// Adds the normal forces on points to the load of their body, with how the load yields at each \[m/s^2/N\]: what a force there in any direction accelerates it by, at
/// most.
#[diff_kernel]
pub fn load_bodies<F: Float>(
    bodies: &Array<Pose<F>>,
    properties: &Array<MassProperties<F>>,
    place: &Array<Vec3<F>>,
    owner: &Array<u32>,
    normal: &Array<F>,
    load: &mut Array<F>,
    mobility: &mut Array<F>,
) {
    let i = ABSOLUTE_POS;
    let b = owner[i] as usize;
    load[b] += normal[i];
    let arm = bodies[b].rotation.conjugate().rotate(place[i] - bodies[b].centre);
    let inverse = properties[b].inverse;
    // Of a symmetric positive matrix, `[r]^T I^-1 [r]`, no eigenvalue is larger than the trace.
    mobility[i] = 1.0 / properties[b].mass + arm.dot(arm) * inverse.trace() - arm.dot(inverse * arm);
}

/// What the load of the body of each point as friction would accelerate the point by, at most \[m/s^2\].
#[diff_kernel]
pub fn yield_to_load<F: Float>(load: &Array<F>, owner: &Array<u32>, mobility: &Array<F>, yielding: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    yielding[i] = load[owner[i] as usize] * mobility[i];
}

/// Adds forces at places of the world to what acts on the bodies.
#[diff_kernel]
pub fn push_bodies<F: Float>(
    x: &Array<Vec3<F>>,
    place: &Array<Vec3<F>>,
    force: &Array<Vec3<F>>,
    owner: &Array<u32>,
    wrench: &mut Array<Wrench<F>>,
) {
    let i = ABSOLUTE_POS;
    let b = owner[i] as usize;
    let push = force[i];
    wrench[b].force += push;
    wrench[b].torque += (place[i] - x[b]).cross(push);
}

/// Points spread evenly over the surfaces of all bodies of a model. They move with the vertices of the parameters; what each stands for is that of the
/// surfaces of the model.
#[derive(Clone, Debug)]
pub struct SurfacePoints<F: Float> {
    corner: Array<u32>,
    weight: Array<Vec3<F>>,
    owner: Array<u32>,
    /// What each stands for \[m^2\].
    pub(crate) area: Array<F>,
}

impl<F: Float> Model<F> {
    /// Points spread over the surfaces: centres of their triangles, divided into equal ones with edges of at most `edge` \[m\].
    ///
    /// # Errors
    /// When there would be more than a thousand pieces along an edge, or memory is short.
    pub fn surface_points(&self, edge: f64) -> Result<SurfacePoints<F>> {
        crate::error::positive("distance of points on a surface", edge)?;
        let (mut corner, mut weight, mut owner) = (Vec::new(), Vec::new(), Vec::new());
        let (mut area, mut first) = (Vec::new(), 0u32);
        let real = F::from_f64;
        for (k, body) in self.bodies().iter().enumerate() {
            let mesh = body.mesh();
            for t in mesh.triangles() {
                let n = divisions(corners(mesh, *t), edge, "distance of points on a surface")?;
                for [s, u] in centres(n) {
                    corner.extend(t.map(|i| i + first));
                    weight.push(Vec3::from_array([1.0 - s - u, s, u].map(real)));
                    area.push(real(area_of(corners(mesh, *t)) / (n * n) as f64));
                    owner.push(k as u32);
                }
            }
            first += mesh.vertices().len() as u32;
        }
        let device = &self.device;
        Ok(SurfacePoints {
            corner: device.array(&corner)?,
            weight: device.array(&weight)?,
            owner: device.array(&owner)?,
            area: device.array(&area)?,
        })
    }
}

fn corners(mesh: &ClosedMesh, t: [u32; 3]) -> [Point; 3] {
    t.map(|i| mesh.vertices()[i as usize])
}

fn area_of([a, b, c]: [Point; 3]) -> f64 {
    0.5 * norm(cross(sub(b, a), sub(c, a)))
}

impl<F: Float> Solver<F> {
    /// Where points are, and how they move.
    pub(crate) fn spread(&self, state: &State<F>, points: &SurfacePoints<F>) -> diffkern::Result<[Array<Vec3<F>>; 2]> {
        let (SurfacePoints { corner, weight, owner, area }, bodies) = (points, &self.poses(state)?);
        let (n, device) = (area.len(), area.device());
        let (place, speed) = (device.uninit(n)?, device.uninit(n)?);
        place_spread(n, bodies, &self.properties.all, &self.vertices, corner, weight, owner, &place, &speed)?;
        Ok([place, speed])
    }

    /// What friction as large as the normal forces \[N\] on points would accelerate each by, at most \[m/s^2\].
    pub(crate) fn yielding(
        &self,
        state: &State<F>,
        points: &SurfacePoints<F>,
        place: &Array<Vec3<F>>,
        normal: &Array<F>,
    ) -> diffkern::Result<Array<F>> {
        let (n, device, owner, bodies) = (normal.len(), normal.device(), &points.owner, &self.poses(state)?);
        let (load, mobility, yielding) = (device.zeros(state.len())?, device.uninit(n)?, device.uninit(n)?);
        load_bodies(n, bodies, &self.properties.all, place, owner, normal, &load, &mobility)?;
        yield_to_load(n, &load, owner, &mobility, &yielding)?;
        Ok(yielding)
    }

    /// What acts from outside, and forces \[N\] on points at places.
    pub(crate) fn pushed(
        &self,
        state: &State<F>,
        points: &SurfacePoints<F>,
        (place, force): (&Array<Vec3<F>>, &Array<Vec3<F>>),
        outer: Control<F>,
    ) -> diffkern::Result<Control<F>> {
        let wrench = self.model.device.zeros(state.len())?;
        if let Some(outer) = &outer.wrench {
            wrench.copy_from(outer)?;
        }
        push_bodies(place.len(), &state.x, place, force, &points.owner, &wrench)?;
        Ok(Control { wrench: Some(wrench), ..outer })
    }
}
