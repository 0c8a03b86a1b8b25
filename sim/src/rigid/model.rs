//! Bodies and what surrounds them: the constant part.

use super::between::Neighbours;
use super::geometry::{Body, Geometry};
use super::impact::{Impacts, Impulse, Pairs};
use super::joints::{Joint, Joints};
use super::kernels::{launch, start};
use super::params::{Mass, Params};
use super::properties::{MassProperties, from_density, from_mass, with_inertia};
use super::springs::{Spring, Springs};
use super::state::State;
use crate::collision::Pose;
use crate::contact::{Collider, Contact, Obstacles};
use crate::error::{Error, Result, positive};
use crate::vertices::one_or;
use diffkern::prelude::*;

/// Friction of contacts by forces per sliding speed, up to Coulomb's, unless the parameters say otherwise \[N s/m\].
const GRIP: f64 = 1e3;

/// How bodies are turned in a step. Both move centres of mass by semi-implicit Euler: `v+ = v + h (f / m + g)`, `x+ = x + h v+`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrator {
    /// By the angular momentum, which is exact without torque, and a midpoint step on the rotation group: second order.
    #[default]
    Midpoint,
    /// By the angular velocity in the frame of the body, as gradSim's engine does: first order.
    BodyFrame,
}

/// The constant part of rigid bodies: their number, surfaces and method, and the colliders around them.
#[derive(Clone, Debug)]
pub struct Model<F: Float> {
    pub(super) device: Device,
    pub(super) geometry: Geometry<F>,
    pub(super) dt: f64,
    pub(super) integrator: Integrator,
    pub(super) obstacles: Option<Obstacles<F>>,
    pub(super) impacts: Option<Impacts>,
    pub(super) pairs: Option<Pairs<F>>,
    pub(super) joints: Option<Joints<F>>,
    pub(super) neighbours: Option<Neighbours<F>>,
    pub(super) springs: Option<Springs<F>>,
}

impl<F: Float> Model<F> {
    /// `bodies` that touch `colliders`, in steps of `dt` \[s\].
    ///
    /// # Errors
    /// When there is no body, the contact of a collider does not act by forces, or a value is out of its range.
    pub fn new(device: &Device, bodies: &[Body], dt: f64, colliders: &[Collider]) -> Result<Model<F>> {
        positive("time step", dt)?;
        for (k, collider) in colliders.iter().enumerate() {
            if collider.contact.numbers().is_none() {
                let expected = "one by forces, as those that act on velocities are of grid nodes and vertices";
                let what = format!("contact of collider {k}");
                return Err(Error::invalid(what, format!("{:?}", collider.contact), expected));
            }
        }
        Ok(Model {
            device: device.clone(),
            geometry: Geometry::new(device, bodies)?,
            dt,
            integrator: Integrator::default(),
            obstacles: (!colliders.is_empty()).then(|| Obstacles::new(device, colliders)).transpose()?,
            impacts: None,
            pairs: None,
            joints: None,
            neighbours: None,
            springs: None,
        })
    }

    /// The same with bodies that press on each other by forces, with Coulomb's coefficient `friction`: the points of each, vertices or the centre of a ball, in the
    /// [solid](Body::with_solid) of each other. An edge that meets an edge with no vertex near is not seen: divide long triangles. Solids stay as they are here, so that vertices of the
    /// surfaces are no parameters then.
    ///
    /// # Errors
    /// When there are less than two bodies, the contact does not act by forces, a value is out of its range, or memory is short.
    pub fn with_contact_between(self, contact: Contact, friction: f64) -> Result<Model<F>> {
        let neighbours = Neighbours::new(&self.device, &self.geometry.bodies, contact, friction)?;
        Ok(Model { neighbours: Some(neighbours), ..self })
    }

    /// The same with springs between points of the bodies, or of bodies and the world. A step may change their lengths at rest, see [`Control`](super::Control).
    ///
    /// # Errors
    /// When there is no spring, both ends are of one body, or a value is out of its range.
    pub fn with_springs(self, springs: &[Spring]) -> Result<Model<F>> {
        let springs = Springs::new(&self.device, springs, self.geometry.bodies.len())?;
        Ok(Model { springs: Some(springs), ..self })
    }

    /// The same with bodies that bounce off planes by impulses. They are turned by [`Integrator::Midpoint`].
    ///
    /// # Errors
    /// When there is no plane, a value is out of its range, or bodies are turned in another way.
    pub fn with_impacts(self, impacts: Impacts) -> Result<Model<F>> {
        impacts.check()?;
        self.without_joints("planes to bounce off")?;
        match self.integrator {
            Integrator::Midpoint => Ok(Model { impacts: Some(impacts), ..self }),
            Integrator::BodyFrame => Err(Error::invalid("integrator of bodies with impacts", "BodyFrame", "Midpoint")),
        }
    }

    /// The same with bodies turned in another way; without impacts and joints.
    #[must_use]
    pub fn with_integrator(self, integrator: Integrator) -> Model<F> {
        Model { integrator, impacts: None, joints: None, ..self }
    }

    /// The same with balls that bounce off each other with this coefficient of restitution, without friction. Of collisions in one step each
    /// is as if the others were not.
    ///
    /// # Errors
    /// When there are less than two balls, or the coefficient is not between 0 and 1.
    pub fn with_pairs(self, restitution: f64, impulse: Impulse) -> Result<Model<F>> {
        self.without_joints("balls that collide")?;
        let radii: Vec<_> = self.geometry.bodies.iter().map(Body::radius).collect();
        let balls = radii.iter().flatten().count();
        if balls < 2 {
            return Err(Error::invalid("number of balls that may collide", balls, "at least 2"));
        }
        if !(0.0..=1.0).contains(&restitution) {
            return Err(Error::invalid("restitution of balls", restitution, "0 to 1"));
        }
        let pairs = Pairs::new(&self.device, &radii, restitution, impulse == Impulse::Naive)?;
        Ok(Model { pairs: Some(pairs), ..self })
    }

    fn without_joints(&self, what: &str) -> Result<()> {
        match self.joints {
            None => Ok(()),
            Some(_) => Err(Error::invalid(what, "of bodies with joints", "none: they touch by forces")),
        }
    }

    /// The same with bodies in chains of joints, at the end of each step closed by so many `iterations`, see [`joints`](super::joints). Forces act on bodies with joints, impacts and
    /// collisions do not.
    ///
    /// # Errors
    /// When there is no joint or iteration, a body has more than two joints, chains are closed, a value is out of its range, or bodies bounce or are turned in another way than
    /// [`Integrator::Midpoint`].
    pub fn with_joints(self, joints: &[Joint], iterations: usize) -> Result<Model<F>> {
        let other = [
            (self.impacts.is_some(), "bodies with impacts"),
            (self.pairs.is_some(), "balls that collide"),
            (self.integrator != Integrator::Midpoint, "bodies that are not turned by `Midpoint`"),
        ];
        if let Some((_, what)) = other.into_iter().find(|(is, _)| *is) {
            return Err(Error::invalid("joints", format!("of {what}"), "bodies that touch by forces"));
        }
        let joints = Joints::new(&self.device, joints, self.geometry.bodies.len(), iterations)?;
        Ok(Model { joints: Some(joints), ..self })
    }

    /// The bodies.
    pub fn bodies(&self) -> &[Body] {
        &self.geometry.bodies
    }

    /// The colliders on the device: from them come the default parameters of their contacts.
    pub fn obstacles(&self) -> Option<&Obstacles<F>> {
        self.obstacles.as_ref()
    }

    /// Parameters of bodies of one density \[kg/m^3\] with the surfaces of the model, under `gravity` \[m/s^2\]; contacts as the colliders
    /// have them.
    ///
    /// # Errors
    /// When memory is short.
    pub fn params(&self, density: f64, gravity: [f64; 3]) -> Result<Params<F>> {
        let one = |x: f64| self.device.array(&[F::from_f64(x)]);
        Ok(Params {
            mass: Mass::Density(one(density)?),
            inertia: None,
            vertices: self.geometry.vertices.clone(),
            gravity: self.device.array(&[Vec3::from_array(gravity.map(F::from_f64))])?,
            contact: self.obstacles.as_ref().map(|o| o.contacts(&self.device)).transpose()?,
            grip: one(GRIP)?,
            pairs: self.pairs.as_ref().map(|p| one(p.restitution)).transpose()?,
            impact: self.impacts.as_ref().map(|i| i.params(&self.device)).transpose()?,
            joints: self.joints.as_ref().map(|j| j.params(&self.device)).transpose()?,
            between: self.neighbours.as_ref().map(Neighbours::params).transpose()?,
            springs: self.springs.as_ref().map(Springs::params).transpose()?,
        })
    }

    /// Mass, centre and inertia of each body; differentiable in the parameters.
    ///
    /// # Errors
    /// When a parameter has the wrong length.
    pub fn properties(&self, params: &Params<F>) -> Result<Array<MassProperties<F>>> {
        let (n, vertices) = (self.geometry.bodies.len(), params.vertices.len());
        if vertices != self.geometry.vertices.len() {
            let expected = format!("{}, as in the surfaces", self.geometry.vertices.len());
            return Err(Error::invalid("length of surface.vertices", vertices, expected));
        }
        let integrals = self.geometry.integrals(&params.vertices)?;
        let properties = self.device.uninit(n)?;
        match &params.mass {
            Mass::Density(density) => {
                one_or("material.density", density.len(), n, "body")?;
                from_density(n, &integrals, density, &properties)?;
            }
            Mass::Total(mass) => {
                one_or("mass", mass.len(), n, "body")?;
                from_mass(n, &integrals, mass, &properties)?;
            }
        }
        let Some(inertia) = &params.inertia else { return Ok(properties) };
        if inertia.len() != n {
            return Err(Error::invalid("length of inertia", inertia.len(), format!("{n}, one a body")));
        }
        let changed = self.device.uninit(n)?;
        with_inertia(n, &properties, inertia, &changed)?;
        Ok(changed)
    }

    /// The state of bodies whose surfaces are at `poses` and move with them; differentiable in both.
    ///
    /// # Errors
    /// When the number of poses is not that of the bodies, or a parameter has the wrong length.
    pub fn start(&self, params: &Params<F>, poses: &Array<Pose<F>>) -> Result<State<F>> {
        let (n, properties, dev) = (self.geometry.bodies.len(), self.properties(params)?, &self.device);
        if poses.len() != n {
            return Err(Error::invalid("number of poses", poses.len(), format!("{n}, one a body")));
        }
        let state = State { x: dev.uninit(n)?, q: dev.uninit(n)?, v: dev.uninit(n)?, l: dev.uninit(n)? };
        start(n, poses, &properties, &state.x, &state.q, &state.v, &state.l)?;
        Ok(state)
    }

    /// The state of bodies whose surfaces are at `poses`, whose centres of mass move as `motion` says: velocity \[m/s\] and angular velocity
    /// \[rad/s\], six numbers a body. Velocities are those of the time `since` \[s\]: with minus half a step, they lie halfway between
    /// positions, which makes motion under constant forces exact, resting and sliding on a plane included. Differentiable in parameters
    /// and `motion`.
    ///
    /// # Errors
    /// When the number of poses or of motions is not that of the bodies, or a parameter has the wrong length.
    pub fn launch(
        &self,
        params: &Params<F>,
        poses: &Array<Pose<F>>,
        motion: &Array<F>,
        since: f64,
    ) -> Result<State<F>> {
        let (n, properties, dev) = (self.geometry.bodies.len(), self.properties(params)?, &self.device);
        for (what, len, each) in [("poses", poses.len(), 1), ("numbers of motions", motion.len(), 6)] {
            if len != each * n {
                return Err(Error::invalid(format!("number of {what}"), len, format!("{}, {each} a body", each * n)));
            }
        }
        if params.gravity.len() != 1 {
            return Err(Error::invalid("length of gravity", params.gravity.len(), "1"));
        }
        let state = State { x: dev.uninit(n)?, q: dev.uninit(n)?, v: dev.uninit(n)?, l: dev.uninit(n)? };
        let (State { x, q, v, l }, since) = (&state, F::from_f64(since));
        launch(n, poses, motion, &properties, &params.gravity, x, q, v, l, since)?;
        Ok(state)
    }
}
