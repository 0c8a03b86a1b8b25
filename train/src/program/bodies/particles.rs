//! Bodies by the material point method.

use super::super::colliders::Colliders;
use super::super::inputs::{launch, stiffness_of_contact};
use super::super::material::Properties;
use super::super::setup::{self, GridOptions};
use super::place::Origin;
use super::{Mean, Numbers, Sites, Solver, State};
use crate::error::{Error, Result};
use crate::job::Values;
use crate::scene::{Quantity, Scene, Target};
use diffkern::memory::collect;
use diffkern::prelude::*;
use diffkern_render::Mesh;
use diffkern_sim::mpm;
use diffkern_sim::scene::BodiesScene;

/// Bodies of any number on one grid.
pub(crate) struct Particles<F: Float> {
    device: Device,
    pub(super) scene: BodiesScene<F>,
    /// The body of each particle.
    body_of: Array<u32>,
    centres: Array<Vec3<F>>,
    origin: Origin<F>,
    colliders: Colliders,
    /// Stiffness of half-spaces and of colliders by the P-wave modulus of each particle \[1/m, m\]; none where it is that of the hardest material.
    floor: Option<[Array<F>; 2]>,
}

impl<F: Float> Particles<F> {
    pub(super) fn new(
        scene: &Scene,
        take: usize,
        known: &Values,
        options: &GridOptions,
        device: &Device,
    ) -> Result<Self> {
        // A job may give a value that the scene does not have.
        let damped = |body: &usize| setup::range(scene, known, Target::new(*body, Quantity::Damping))[1] > 0.0;
        if let Some(body) = (0..scene.bodies.len()).find(damped) {
            let field = format!("bodies.{}.material.damping", scene.bodies[body].name);
            return Err(Error::scene(field, "MPM has no damping by mass yet, expected 0, or --simulator fem"));
        }
        let spec = setup::spec(scene, take, known, options);
        setup::thick_enough(scene, spec.plan()?.dx)?;
        let mut bodies = spec.build::<F>(device)?;
        let floor = setup::floor_by_modulus(options, spec.spacing).map(|floor| -> Result<_> {
            // A collider acts on each particle, for its part of the surface: that of a whole one.
            let whole = bodies.volumes.to_vec()?.into_iter().map(Float::to_f64).fold(0.0, f64::max);
            let one = |number: f64| device.array(&[F::from_f64(number)]);
            Ok([one(floor)?, one(floor * whole.powf(2.0 / 3.0))?])
        });
        let floor = floor.transpose()?;
        bodies.model = bodies.model.with_node_limit(options.nodes);
        let centres: Vec<_> = bodies.centres.iter().map(|c| Vec3::from_array(c.map(F::from_f64))).collect();
        Ok(Self {
            device: device.clone(),
            body_of: device.array(&bodies.body_of)?,
            centres: device.array(&centres)?,
            origin: Origin::of(scene, take, device)?,
            colliders: Colliders::of(scene, device)?,
            floor,
            scene: bodies,
        })
    }

    pub(super) fn sites(&self) -> Result<Sites> {
        let x = self.scene.state.x.to_vec()?;
        let at = collect(x.into_iter().map(|x| x.to_array().map(Float::to_f64)))?;
        Ok(Sites { at, body_of: collect(self.scene.body_of.iter().copied())? })
    }

    pub(super) fn mesh(&self) -> Result<Mesh> {
        let surface = &self.scene.surface;
        Ok(Mesh::with_sides(surface.triangles.clone(), &surface.sides, surface.vertex_count())?)
    }

    /// The body that an error is about.
    pub(super) fn blamed(&self, error: &diffkern_sim::Error) -> Option<usize> {
        use diffkern_sim::Error::{Inverted, NotFinite, Outside, TooFast};
        let particle = match error {
            Inverted { index, .. } | NotFinite { index, .. } => *index,
            Outside { particle, .. } | TooFast { particle, .. } => *particle,
            _ => return None,
        };
        self.scene.body_of.get(particle).map(|body| *body as usize)
    }

    /// The shares of its particles in the volume of a body.
    pub(super) fn centre(&self, body: usize) -> Result<Mean> {
        let volumes = self.scene.volumes.to_vec()?;
        let of = |(k, own): (usize, &u32)| match *own as usize == body {
            true => volumes[k % volumes.len()].to_f64(),
            false => 0.0,
        };
        let parts: Vec<f64> = collect(self.scene.body_of.iter().enumerate().map(of))?;
        let whole: f64 = parts.iter().sum();
        Ok(Mean { weights: collect(parts.iter().map(|part| part / whole))?, offset: [0.0; 3] })
    }

    /// The mean P-wave modulus of the particles times a factor.
    fn stiffness(&self, mu: &Array<F>, lambda: &Array<F>, factor: &Array<F>) -> diffkern::Result<Array<F>> {
        stiffness_of_contact(&self.device, [mu, lambda], &self.body_of, factor, |n| 1.0 / n as f64)
    }

    pub(super) fn bind(&self, numbers: Numbers<'_, F>) -> Result<(Solver<F>, State<F>)> {
        let Numbers {
            properties: Properties { mu, lambda, density, viscosity },
            gravity,
            motion,
            place,
            collider_motion,
            friction,
            restitution: _,
            damping: _,
            load: _,
            branches: _,
        } = numbers;
        let particles = self.scene.state.len();
        let mut contact = self.colliders.contacts(&self.scene.model, friction, collider_motion)?;
        let mut stiffness = None;
        if let Some([half_spaces, others]) = &self.floor {
            if !self.scene.model.half_spaces().is_empty() {
                stiffness = Some(self.stiffness(&mu, &lambda, half_spaces)?);
            }
            if let Some(contacts) = &mut contact {
                contacts.stiffness = self.stiffness(&mu, &lambda, others)?;
            }
        }
        let params = mpm::Params {
            mu,
            lambda,
            density,
            viscosity,
            gravity: gravity.clone(),
            friction: self.colliders.half_spaces(friction)?,
            stiffness,
            contact,
            ..self.scene.params(&self.device)?
        };
        // The steps of APIC place velocities halfway between positions; starting them half a step early makes the flight exact to
        // second order in the time step.
        let back = F::from_f64(match self.scene.model.transfer() {
            mpm::Transfer::Apic => -0.5 * self.scene.model.dt(),
            mpm::Transfer::Lagrangian { .. } => 0.0,
        });
        let start = &self.scene.state;
        let (v, c) = (self.device.uninit(particles)?, self.device.uninit(particles)?);
        launch(particles, &start.x, &self.body_of, &self.centres, motion, &gravity, &v, &c, back)?;
        let x = self.origin.moved(&start.x, &self.body_of, place)?;
        let solver = self.scene.model.solver(&params, particles)?;
        Ok((
            Solver::Mpm(Box::new(solver), self.scene.steps_per_frame),
            State::Mpm(mpm::State { x, v, c, ..start.clone() }),
        ))
    }
}
