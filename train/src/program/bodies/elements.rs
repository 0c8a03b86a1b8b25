//! Bodies by finite elements.

use super::super::colliders::{at, moving};
use super::super::inputs::{launch_free, stiffness_of_contact};
use super::super::material::Properties;
use super::super::setup::{self, GridOptions};
use super::place::Origin;
use super::{Mean, Numbers, Sites, Solver, State};
use crate::error::{Error, Result};
use crate::job::Values;
use crate::scene::{Quantity, Scene, Target};
use diffkern::prelude::*;
use diffkern_render::Mesh;
use diffkern_sim::Step as _;
use diffkern_sim::contact::{Collider, Contact, Contacts};
use diffkern_sim::fem::lattice::{
    self, BodyContact, Changes, Clamp, Params, Relaxation, Surfaces, contact_stiffness, floor,
};
use diffkern_sim::mesh::ClosedMesh;
use diffkern_sim::scene::{BodyShape, BodySpec, ElasticScene, ElasticSpec};
use std::ops::Range;

pub(super) fn spec(scene: &Scene, take: usize, known: &Values, options: &GridOptions) -> ElasticSpec {
    let cell = setup::spacing(scene, options.cells);
    // As stiff as that of the stiffest body that may be tried, for which the steps are to be stable.
    let moduli = (0..scene.bodies.len()).map(|body| setup::lame(scene, known, body).map(|[_, high]| high));
    let hardest = moduli.max_by(|a, b| p_wave(*a).total_cmp(&p_wave(*b)));
    let contact = hardest.map_or(Contact::Separating, |[mu, lambda]| floor(mu, lambda, cell));
    let clamp = |clamp: &crate::scene::Clamp| match clamp.above {
        true => Clamp::above(clamp.axis, clamp.plane),
        false => Clamp::below(clamp.axis, clamp.plane),
    };
    ElasticSpec {
        bodies: (0..scene.bodies.len()).map(|body| setup::body_spec(scene, take, known, body, options.room)).collect(),
        law: scene.bodies[0].material.law,
        gravity: setup::gravity(scene, known),
        colliders: (0..scene.colliders.len()).map(|of| rough(scene, known, of, contact)).collect(),
        friction: scene.friction_between(),
        clamps: scene.clamp.iter().map(clamp).collect(),
        frame_rate: scene.frame_rate,
        cell,
        ..ElasticSpec::default()
    }
}

/// P-wave modulus \[Pa\].
fn p_wave([mu, lambda]: [f64; 2]) -> f64 {
    lambda + 2.0 * mu
}

/// A collider as rough and as fast as it may be, which the steps are to stand.
fn rough(scene: &Scene, known: &Values, of: usize, contact: Contact) -> Collider {
    let collider = &scene.colliders[of];
    let friction =
        collider.friction().map_or(0.0, |_| setup::range(scene, known, Target::new(of, Quantity::Friction))[1]);
    setup::fastest(scene, known, of, collider.rigid(contact)).with_friction(friction)
}

/// Bodies in their lattices.
pub(crate) struct Elements<F: Float> {
    device: Device,
    pub(super) scene: ElasticScene<F>,
    /// 1 for control points that move freely.
    free: Array<u32>,
    /// The body of each control point, and of each cell.
    body_of: [Array<u32>; 2],
    centres: Array<Vec3<F>>,
    origin: Origin<F>,
    /// The collider of each obstacle; none without any.
    colliders: Option<Array<u32>>,
    /// Stiffness of contacts by the P-wave modulus of each body \[1/m\], and the share of a cell in it where cells have moduli of their own.
    stiffness: [Array<F>; 2],
    fixed_steps: bool,
    /// The bodies with loads.
    loaded: Option<Array<u32>>,
    /// Whether they may be viscous: else nothing of it is computed.
    viscous: bool,
    /// Of each body whether it has faces with edges between them.
    faceted: Vec<bool>,
    /// By what is searched for.
    changes: Changes,
}

/// A solver with the numbers of a run.
pub(crate) struct Course<F: Float> {
    solver: lattice::Solver<F>,
    steps_per_frame: usize,
    changes: Changes,
}

impl<F: Float> Course<F> {
    /// The state at `frame`, from that at the frame before.
    pub(super) fn to_frame(&self, state: &lattice::State<F>, frame: usize) -> diffkern_sim::Result<lattice::State<F>> {
        let (first, steps) = ((frame - 1) * self.steps_per_frame, self.steps_per_frame);
        let (state, fallen) = self.solver.fall(state, first, steps, self.changes)?;
        match steps - fallen {
            0 => Ok(state),
            left => self.solver.advance(&state, first + fallen, left, Schedule::Auto),
        }
    }
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
        let mut elastic = spec.build::<F>(device)?;
        let loads = loads(scene, take);
        elastic.model = elastic.model.with_loads(&loads).map_err(|error| match loads.first() {
            Some((body, at)) => {
                let problem = format!("{at:?} m cannot carry a load, expected a point on or in the body: {error}");
                Error::scene(format!("bodies.{}.load.at", scene.bodies[*body].name), problem)
            }
            None => error.into(),
        })?;
        let bodies = &elastic.bodies;
        let free: Vec<u32> =
            bodies.bodies().iter().flat_map(|b| (0..b.rest().len()).map(|k| u32::from(b.is_free(k)))).collect();
        let centre = |body: &BodySpec| Vec3::from_array(body.shape.centre().map(F::from_f64));
        let centres: Vec<_> = spec.bodies.iter().map(centre).collect();
        let colliders: Vec<u32> = (0..scene.colliders.len() as u32).collect();
        let numbers = |range: &dyn Fn(usize) -> Range<usize>| -> Vec<u32> {
            (0..spec.bodies.len()).flat_map(|k| vec![k as u32; range(k).len()]).collect()
        };
        let whole = contact_stiffness(0.0, 1.0, spec.cell);
        let shares = |of: &dyn Fn(usize) -> f64| {
            let shares: Vec<F> = (0..spec.bodies.len()).map(|k| F::from_f64(of(k))).collect();
            device.array(&shares)
        };
        Ok(Self {
            device: device.clone(),
            free: device.array(&free)?,
            body_of: [device.array(&numbers(&|k| bodies.nodes(k)))?, device.array(&numbers(&|k| bodies.cells(k)))?],
            centres: device.array(&centres)?,
            origin: Origin::of(scene, take, device)?,
            colliders: (!colliders.is_empty()).then(|| device.array(&colliders)).transpose()?,
            stiffness: [shares(&|_| whole)?, shares(&|k| whole / bodies.cells(k).len() as f64)?],
            loaded: match loads.is_empty() {
                true => None,
                false => Some(device.array(&loads.iter().map(|(body, _)| *body as u32).collect::<Vec<_>>())?),
            },
            fixed_steps: options.fixed_steps,
            viscous: spec.bodies.iter().any(|body| body.viscosity[1] > 0.0),
            faceted: spec.bodies.iter().map(|body| matches!(body.shape, BodyShape::Block { .. })).collect(),
            changes: match scene.unknowns.iter().any(|r| matches!(r.target.quantity, Quantity::AngularVelocity(_))) {
                true => Changes::Any,
                false => Changes::Alike,
            },
            scene: elastic,
        })
    }

    pub(super) fn sites(&self) -> Result<Sites> {
        let bodies = &self.scene.bodies;
        let at: Vec<_> = bodies.bodies().iter().flat_map(|body| body.cell_centres().iter().copied()).collect();
        Ok(Sites { body_of: self.body_of[1].to_vec()?, at })
    }

    pub(super) fn mesh(&self) -> Result<Mesh> {
        let bodies = &self.scene.bodies;
        let mut sides = Vec::new();
        for (body, faceted) in bodies.bodies().iter().zip(&self.faceted) {
            let mesh = body.mesh();
            sides.extend(mesh.triangles().iter().map(|t| if *faceted { side(mesh, t) } else { 0 }));
        }
        let vertices = bodies.vertices(bodies.bodies().len()).end;
        Ok(Mesh::with_sides(bodies.triangles().collect(), &sides, vertices)?)
    }

    /// Edge of a cell of the first body \[m\]; those of the others are about as long.
    pub(super) fn spacing(&self) -> f64 {
        self.scene.bodies.bodies()[0].cell_size().iter().product::<f64>().cbrt()
    }

    /// Number of cells.
    pub(super) fn count(&self) -> usize {
        self.body_of[1].len()
    }

    /// The body that an error is about.
    pub(super) fn blamed(&self, error: &diffkern_sim::Error) -> Option<usize> {
        use diffkern_sim::Error::{Inverted, NotFinite};
        let bodies = &self.scene.bodies;
        let all = 0..bodies.bodies().len();
        match error {
            Inverted { index, .. } => all.into_iter().find(|&k| bodies.cells(k).contains(index)),
            NotFinite { index, .. } => all.into_iter().find(|&k| bodies.nodes(k).contains(index)),
            _ => None,
        }
    }

    /// The body of each vertex.
    pub(super) fn body_of_vertex(&self) -> Vec<u32> {
        let bodies = &self.scene.bodies;
        (0..bodies.bodies().len()).flat_map(|k| vec![k as u32; bodies.vertices(k).len()]).collect()
    }

    /// The centre of volume of a body, by weights of all control points.
    pub(super) fn centre(&self, body: usize) -> Result<Mean> {
        let bodies = &self.scene.bodies;
        let mut weights = diffkern::memory::filled(self.scene.state.len(), 0.0)?;
        let (own, offset) = bodies.bodies()[body].centre_weights();
        weights[bodies.nodes(body)].copy_from_slice(&own);
        Ok(Mean { weights, offset })
    }

    /// Adds the stiffness of contact of each body, times `scale`.
    fn contact_stiffness(&self, mu: &Array<F>, lambda: &Array<F>, scale: f64) -> diffkern::Result<Array<F>> {
        let factor = &self.stiffness[usize::from(mu.len().max(lambda.len()) > 1)];
        stiffness_of_contact(&self.device, [mu, lambda], &self.body_of[1], factor, |_| scale)
    }

    /// What bodies do to each other, and what colliders do to each, is as stiff beside them whatever they are made of.
    fn surfaces(&self, mu: &Array<F>, lambda: &Array<F>) -> Result<Option<Surfaces<F>>> {
        match &self.scene.params.surfaces {
            None => Ok(None),
            Some(surfaces) => Ok(Some(Surfaces {
                stiffness: self.contact_stiffness(mu, lambda, BodyContact::STIFFER)?,
                support: self.contact_stiffness(mu, lambda, 1.0)?,
                ..surfaces.clone()
            })),
        }
    }

    pub(super) fn bind(&self, numbers: Numbers<'_, F>) -> Result<(Solver<F>, State<F>)> {
        let Numbers {
            properties,
            gravity,
            damping,
            branches,
            load,
            motion,
            place,
            collider_motion,
            friction,
            restitution: _,
        } = numbers;
        let Properties { mu, lambda, density, viscosity } = properties;
        let start = &self.scene.state;
        let surfaces = self.surfaces(&mu, &lambda)?;
        let contact = match (self.scene.model.obstacles(), &self.colliders) {
            (Some(obstacles), Some(of)) => {
                // What the floor gives way is a part of a cell of this body, whatever it is made of. Several bodies have a factor each.
                let stiffness = match surfaces {
                    Some(_) => self.device.array(&[F::from_f64(1.0)])?,
                    None => self.contact_stiffness(&mu, &lambda, 1.0)?,
                };
                let contacts = obstacles.contacts(&self.device)?;
                let poses = moving(&contacts.poses, of, collider_motion)?;
                Some(Contacts { stiffness, friction: at(friction, of)?, poses, ..contacts })
            }
            (None, _) | (_, None) => None,
        };
        let v = self.device.uninit(start.len())?;
        launch_free(start.len(), &start.x, &self.free, &self.body_of[0], &self.centres, motion, &v)?;
        let viscosity = self.viscous.then_some(viscosity);
        // One number of the only body stands for all of it.
        let spread = |numbers: &Array<F>, body_of: &Array<u32>| match numbers.len() {
            1 => Ok(numbers.clone()),
            _ => at(numbers, body_of),
        };
        let damping = spread(damping, &self.body_of[0])?;
        let relaxation = match &start.memory {
            None => None,
            Some(_) => {
                let [modulus, time] = branches.map(|numbers| spread(numbers, &self.body_of[1]));
                Some(Relaxation { modulus: modulus?, time: time? })
            }
        };
        let loads = self.loaded.as_ref().map(|of| at(load, of)).transpose()?;
        let fibres = None;
        let params =
            Params { mu, lambda, density, viscosity, relaxation, fibres, damping, loads, gravity, contact, surfaces };
        // Rigid motions leave what is remembered as it is.
        let start = lattice::State { x: self.origin.moved(&start.x, &self.body_of[0], place)?, v, ..start.clone() };
        let (model, steps_per_frame) = match self.fixed_steps {
            true => (self.scene.model.clone(), self.scene.steps_per_frame),
            false => self.scene.for_material(&params)?,
        };
        let course = Course { solver: model.solver(&params, &start)?, steps_per_frame, changes: self.changes };
        Ok((Solver::Fem(Box::new(course)), State::Fem(start)))
    }
}

/// Bodies with loads, by their numbers, and the points of those at the start of a take: they move with their bodies from that of the first.
fn loads(scene: &Scene, take: usize) -> Vec<(usize, [f64; 3])> {
    let bodies = scene.bodies.iter().enumerate();
    let own = bodies.filter_map(|(k, body)| {
        let [first, here] = [0, take].map(|take| body.starts[take].shape.placed().1);
        body.load.map(|load| (k, here.apply(first.apply_inverse(load.at))))
    });
    own.collect()
}

/// The side of a block that a triangle is on.
fn side(mesh: &ClosedMesh, triangle: &[u32; 3]) -> u32 {
    let [a, b, c] = triangle.map(|k| mesh.vertices()[k as usize]);
    let (u, v): ([f64; 3], [f64; 3]) = ([0, 1, 2].map(|k| b[k] - a[k]), [0, 1, 2].map(|k| c[k] - a[k]));
    let normal = [0, 1, 2].map(|k| u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]);
    let axis = (0..3).fold(0, |most, k| if normal[k].abs() > normal[most].abs() { k } else { most });
    2 * axis as u32 + u32::from(normal[axis] > 0.0)
}
