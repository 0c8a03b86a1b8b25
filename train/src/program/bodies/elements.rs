//! A body by finite elements.

use super::super::inputs::{floor_stiffness, launch_free, to_particles};
use super::super::material::Properties;
use super::super::setup::{self, GridOptions};
use super::{Numbers, Sites, Solver, State};
use crate::error::Result;
use crate::job::Values;
use crate::scene::{Quantity, Scene, Target};
use diffkern::memory::collect;
use diffkern::prelude::*;
use diffkern_render::Mesh;
use diffkern_sim::contact::{Collider, Contact, Contacts};
use diffkern_sim::fem::lattice::{Clamp, Params, contact_stiffness, floor};
use diffkern_sim::scene::{BodyShape, ElasticScene, ElasticSpec};
use diffkern_sim::vertices::VertexState;

pub(super) fn spec(scene: &Scene, take: usize, known: &Values, options: &GridOptions) -> ElasticSpec {
    let cell = setup::spacing(scene, options.cells);
    let [mu, lambda] = setup::lame(scene, known, 0);
    // As stiff as that of the stiffest body that may be tried, for which the steps are to be stable.
    let contact = floor(mu[1], lambda[1], cell);
    let clamp = |clamp: &crate::scene::Clamp| match clamp.above {
        true => Clamp::above(clamp.axis, clamp.plane),
        false => Clamp::below(clamp.axis, clamp.plane),
    };
    ElasticSpec {
        body: setup::body_spec(scene, take, known, 0, options.room),
        law: scene.bodies[0].material.law,
        gravity: setup::gravity(scene, known),
        colliders: (0..scene.colliders.len()).map(|of| rough(scene, known, of, contact)).collect(),
        clamps: scene.clamp.iter().map(clamp).collect(),
        frame_rate: scene.frame_rate,
        cell,
    }
}

/// A collider as rough as it may be, which the steps are to stand.
fn rough(scene: &Scene, known: &Values, of: usize, contact: Contact) -> Collider {
    let collider = &scene.colliders[of];
    let friction =
        collider.friction().map_or(0.0, |_| setup::range(scene, known, Target::new(of, Quantity::Friction))[1]);
    collider.rigid(contact).with_friction(friction)
}

/// One body in its lattice.
pub(crate) struct Elements<F: Float> {
    device: Device,
    pub(super) scene: ElasticScene<F>,
    /// 1 for control points that move freely.
    free: Array<u32>,
    centre: Array<Vec3<F>>,
    /// The collider of each obstacle; none without any.
    colliders: Option<Array<u32>>,
    /// Stiffness of contacts by the P-wave modulus of the body \[1/m\].
    stiffness: F,
    fixed_steps: bool,
    /// Whether it may be viscous: else nothing of it is computed.
    viscous: bool,
    /// Whether it has faces with edges between them.
    faceted: bool,
}

impl<F: Float> Elements<F> {
    pub(super) fn new(
        scene: &Scene,
        take: usize,
        known: &Values,
        options: &GridOptions,
        device: &Device,
    ) -> Result<Self> {
        let spec = spec(scene, take, known, options);
        let elastic = spec.build::<F>(device)?;
        let points = elastic.state.len();
        let free: Vec<u32> = collect((0..points).map(|k| u32::from(elastic.body.is_free(k))))?;
        let centre = Vec3::from_array(spec.body.shape.centre().map(F::from_f64));
        let colliders: Vec<u32> = (0..scene.colliders.len() as u32).collect();
        Ok(Self {
            device: device.clone(),
            free: device.array(&free)?,
            centre: device.array(&[centre])?,
            colliders: (!colliders.is_empty()).then(|| device.array(&colliders)).transpose()?,
            stiffness: F::from_f64(contact_stiffness(0.0, 1.0, spec.cell)),
            fixed_steps: options.fixed_steps,
            viscous: spec.body.viscosity[1] > 0.0,
            faceted: matches!(spec.body.shape, BodyShape::Block { .. }),
            scene: elastic,
        })
    }

    pub(super) fn sites(&self) -> Result<Sites> {
        let at: Vec<_> = collect(self.scene.body.cell_centres().iter().copied())?;
        Ok(Sites { body_of: diffkern::memory::filled(at.len(), 0)?, at })
    }

    pub(super) fn mesh(&self) -> Result<Mesh> {
        let mesh = self.scene.body.mesh();
        let side = |triangle: &[u32; 3]| -> u32 {
            let [a, b, c] = triangle.map(|k| mesh.vertices()[k as usize]);
            let (u, v): ([f64; 3], [f64; 3]) = ([0, 1, 2].map(|k| b[k] - a[k]), [0, 1, 2].map(|k| c[k] - a[k]));
            let normal = [0, 1, 2].map(|k| u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]);
            let axis = (0..3).fold(0, |most, k| if normal[k].abs() > normal[most].abs() { k } else { most });
            2 * axis as u32 + u32::from(normal[axis] > 0.0)
        };
        let sides: Vec<u32> = collect(mesh.triangles().iter().map(|t| if self.faceted { side(t) } else { 0 }))?;
        Ok(Mesh::with_sides(collect(mesh.triangles().iter().copied())?, &sides, mesh.vertices().len())?)
    }

    pub(super) fn bind(&self, numbers: Numbers<'_, F>) -> Result<(Solver<F>, State<F>)> {
        let Numbers { properties, gravity, motion, friction } = numbers;
        let Properties { mu, lambda, density, viscosity } = properties;
        let start = &self.scene.state;
        let contact = match (self.scene.model.obstacles(), &self.colliders) {
            (Some(obstacles), Some(of)) => {
                // What the floor gives way is a part of a cell of this body, whatever it is made of.
                let stiffness = self.device.zeros(1)?;
                let n = mu.len().max(lambda.len());
                floor_stiffness(n, &mu, &lambda, &stiffness, self.stiffness * F::from_f64(1.0 / n as f64))?;
                let coefficients = self.device.uninit(of.len())?;
                to_particles(of.len(), friction, of, &coefficients)?;
                Some(Contacts { stiffness, friction: coefficients, ..obstacles.contacts(&self.device)? })
            }
            (None, _) | (_, None) => None,
        };
        let v = self.device.uninit(start.len())?;
        launch_free(start.len(), &start.x, &self.free, &self.centre, motion, &v)?;
        let viscosity = self.viscous.then_some(viscosity);
        let params = Params { mu, lambda, density, viscosity, gravity, contact, ..self.scene.params.clone() };
        let start = VertexState { x: start.x.clone(), v };
        let (model, steps) = match self.fixed_steps {
            true => (self.scene.model.clone(), self.scene.steps_per_frame),
            false => self.scene.for_material(&params)?,
        };
        Ok((Solver::Fem(model.solver(&params, &start)?, steps), State::Fem(start)))
    }
}
