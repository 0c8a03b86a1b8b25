//! The surfaces of the bodies of a model, one after the other.

use super::properties::{Integrals, MassProperties, add_integrals};
use crate::collision::Solid;
use crate::error::{Error, Result, positive};
use crate::mesh::ClosedMesh;
use crate::shape::{Primitive, Sphere};
use diffkern::prelude::*;

/// A rigid body: its surface, and what of it touches others.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    mesh: ClosedMesh,
    radius: Option<f64>,
    solid: Option<Solid>,
}

impl Body {
    /// Touched by its vertices.
    pub fn new(mesh: ClosedMesh) -> Body {
        Body { mesh, radius: None, solid: None }
    }

    /// A ball touched by its exact surface. What is seen, and has mass, are triangles with edges of at most `edge` \[m\].
    ///
    /// # Errors
    /// When a length is out of its range, or there would be more than 20 million triangles.
    pub fn ball(radius: f64, edge: f64) -> Result<Body> {
        let radius = positive("radius of the ball", radius)?;
        let mesh = Primitive::Sphere(Sphere { radius }).surface(edge)?;
        Ok(Body { mesh, radius: Some(radius), solid: Some(Solid::Sphere { radius }) })
    }

    /// The same that other bodies touch as this solid in the frame of its surface, where they [touch each other](super::Model::with_contact_between). Without, balls are touched as spheres and all
    /// others by samples of the distance from their surface, 32 along the longest side, between which it is interpolated: edges are rounded by a fraction of that.
    #[must_use]
    pub fn with_solid(self, solid: Solid) -> Body {
        Body { solid: Some(solid), ..self }
    }

    /// Its surface.
    pub fn mesh(&self) -> &ClosedMesh {
        &self.mesh
    }

    /// What others touch.
    pub(super) fn solid(&self) -> Option<&Solid> {
        self.solid.as_ref()
    }

    /// Its radius \[m\], of a ball.
    pub(super) fn radius(&self) -> Option<f64> {
        self.radius
    }

    /// Half the diagonal of the box around it \[m\].
    pub(super) fn extent(&self) -> f64 {
        let [low, high] = self.mesh.bounds().map(Vec3::from_array);
        0.5 * (high - low).norm()
    }

    /// How far its points are from `centre`, at most \[m\].
    pub(super) fn reach(&self, centre: Vec3<f64>) -> f64 {
        let away = |v: &[f64; 3]| (Vec3::from_array(*v) - centre).norm();
        self.radius.unwrap_or_else(|| self.mesh.vertices().iter().map(away).fold(0.0, f64::max))
    }
}

/// In place of the index of a vertex: the centre of mass. Kernels write it as a number.
const CENTRE: u32 = u32::MAX;

/// Points that touch, as kernels take them: from the centre of mass, in the frame of the surface, and their radius \[m\].
#[diff_kernel]
pub fn pack_points<F: Float>(
    vertices: &Array<Vec3<F>>,
    vertex: &Array<u32>,
    owner: &Array<u32>,
    radius: &Array<F>,
    properties: &Array<MassProperties<F>>,
    points: &mut Array<Vec4<F>>,
) {
    let i = ABSOLUTE_POS;
    let mut arm = Vec3::zero();
    if vertex[i] != u32::MAX {
        arm = vertices[vertex[i] as usize] - properties[owner[i]].centre;
    }
    points[i] = Vec4::new(arm.x, arm.y, arm.z, radius[i]);
}

/// All bodies of a model on a device.
#[derive(Clone, Debug)]
pub(super) struct Geometry<F: Float> {
    pub(super) bodies: Vec<Body>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// Positions in the frames of the bodies \[m\], and the body of each vertex.
    pub(super) vertices: Array<Vec3<F>>,
    pub(super) owner: Array<u32>,
    corners: Array<u32>,
    triangle_owner: Array<u32>,
    /// What touches: vertices, or centres with a radius \[m\]; those of one body are neighbours.
    pub(super) points: Points<F>,
}

/// Points of bodies that touch others.
#[derive(Clone, Debug)]
pub(super) struct Points<F: Float> {
    /// Vertices, or `CENTRE`.
    pub(super) vertex: Array<u32>,
    pub(super) owner: Array<u32>,
    pub(super) radius: Array<F>,
    /// For each body its first point, then their number in all.
    pub(super) first: Array<u32>,
    pub(super) counts: Vec<usize>,
    pub(super) groups: Groups,
}

/// Neighbouring points of one body that one thread goes through, at most [`GROUP`].
#[derive(Clone, Debug)]
pub(super) struct Groups {
    /// For each group its first point, then their number in all.
    pub(super) first: Array<u32>,
    /// The body of each.
    pub(super) owner: Array<u32>,
}

/// Most points of a group. Kernels write it as a number.
const GROUP: usize = 8;

impl Groups {
    /// Of bodies with so many points, one after the other.
    fn new(device: &Device, counts: &[usize]) -> Result<Groups> {
        let (mut first, mut owner, mut begin) = (Vec::new(), Vec::new(), 0);
        for (body, &count) in counts.iter().enumerate() {
            for at in (0..count).step_by(GROUP) {
                first.push((begin + at) as u32);
                owner.push(body as u32);
            }
            begin += count;
        }
        first.push(begin as u32);
        Ok(Groups { first: device.array(&first)?, owner: device.array(&owner)? })
    }
}

impl<F: Float> Points<F> {
    /// As kernels take them, of bodies with these surfaces and properties.
    pub(super) fn packed(
        &self,
        vertices: &Array<Vec3<F>>,
        properties: &Array<MassProperties<F>>,
    ) -> diffkern::Result<Array<Vec4<F>>> {
        let packed = vertices.device().uninit(self.vertex.len())?;
        pack_points(packed.len(), vertices, &self.vertex, &self.owner, &self.radius, properties, &packed)?;
        Ok(packed)
    }
}

impl<F: Float> Geometry<F> {
    pub(super) fn new(device: &Device, bodies: &[Body]) -> Result<Geometry<F>> {
        if bodies.is_empty() {
            return Err(Error::invalid("number of bodies", 0, "at least 1"));
        }
        let (mut vertices, mut owner) = (Vec::new(), Vec::new());
        let (mut triangles, mut triangle_owner) = (Vec::new(), Vec::new());
        let (mut point, mut point_owner, mut radius) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = vec![0u32];
        for (k, body) in bodies.iter().enumerate() {
            let (mesh, from, k) = (&body.mesh, vertices.len() as u32, k as u32);
            let count = mesh.vertices().len() as u32;
            vertices.extend(mesh.vertices().iter().map(|v| Vec3::from_array(v.map(F::from_f64))));
            owner.extend((0..count).map(|_| k));
            triangles.extend(mesh.triangles().iter().map(|t| t.map(|i| i + from)));
            triangle_owner.extend(mesh.triangles().iter().map(|_| k));
            match body.radius {
                Some(r) => {
                    point.push(CENTRE);
                    radius.push(F::from_f64(r));
                }
                None => {
                    point.extend(from..from + count);
                    radius.extend((0..count).map(|_| F::zero()));
                }
            }
            point_owner.resize(point.len(), k);
            first.push(point.len() as u32);
        }
        let counts: Vec<usize> = first.windows(2).map(|w| (w[1] - w[0]) as usize).collect();
        let groups = Groups::new(device, &counts)?;
        Ok(Geometry {
            bodies: bodies.to_vec(),
            vertices: device.array(&vertices)?,
            owner: device.array(&owner)?,
            corners: device.array(triangles.as_flattened())?,
            triangle_owner: device.array(&triangle_owner)?,
            points: Points {
                vertex: device.array(&point)?,
                owner: device.array(&point_owner)?,
                radius: device.array(&radius)?,
                first: device.array(&first)?,
                counts,
                groups,
            },
            triangles,
        })
    }

    /// The integrals over the bodies with their vertices at `vertices`.
    pub(super) fn integrals(&self, vertices: &Array<Vec3<F>>) -> diffkern::Result<Array<Integrals<F>>> {
        let integrals = vertices.device().zeros(self.bodies.len())?;
        add_integrals(self.triangles.len(), vertices, &self.corners, &self.triangle_owner, &integrals)?;
        Ok(integrals)
    }
}
