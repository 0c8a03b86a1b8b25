//! Contact of bodies with each other by forces: points of each in the solid of the other, both ways.

use super::contact::contact_push;
use super::geometry::{Body, Points};
use super::kernels::Wrench;
use super::properties::MassProperties;
use crate::collision::{Pose, SdfGrid, Solid, Solids, surface_velocity};
use crate::contact::kernels::pack_contacts;
use crate::contact::{Contact, ContactModel, with_contact};
use crate::error::{Error, Result, non_negative};
use crate::params::parameters;
use diffkern::prelude::*;
use std::sync::Arc;

/// Samples along the longest side of a body that is touched as its surface is.
const SAMPLES: f64 = 32.0;

/// What may be identified of the contact of bodies with each other, one element each.
#[derive(Clone, Debug)]
pub struct Between<F: Float> {
    /// Force per depth at a point \[N/m\], of [`Hertz`](crate::contact::Hertz) \[N/m^(3/2)\].
    pub stiffness: Array<F>,
    /// Damping by the speed of approach \[s/m\], of [`KelvinVoigt`](crate::contact::KelvinVoigt) \[N s/m\].
    pub damping: Array<F>,
    /// Coulomb's coefficient.
    pub friction: Array<F>,
}

parameters! {
    impl [F: Float] for Between<F> {
        stiffness: "between.stiffness", "N/m", NonNegative;
        damping: "between.damping", "s/m", NonNegative;
        friction: "between.friction", "", NonNegative;
    }
}

/// Poses of the frames of the surfaces, from those about the centres of mass.
#[diff_kernel]
pub fn surface_poses<F: Float>(
    bodies: &Array<Pose<F>>,
    properties: &Array<MassProperties<F>>,
    frames: &mut Array<Pose<F>>,
) {
    let b = ABSOLUTE_POS;
    let body = bodies[b];
    let origin = body.centre - body.rotation.rotate(properties[b].centre);
    let moving: Vec3<F> = surface_velocity(body, origin);
    frames[b] = Pose { centre: origin, velocity: moving, ..body };
}

/// Which solid the points of the other bodies are in.
#[diff_struct]
pub struct Pressed {
    /// Number of the body.
    pub body: u32,
    /// 1 where it is a ball: of two balls the centre of the first counts as a point, not that of the second too.
    pub ball: u32,
}

/// Adds force and torque on the bodies whose points are at `x`, and the opposite on the body that they press; `gap_i = (normal, gap)` of the solid of that.
#[diff_kernel]
pub fn press_body<F: Float, L: ContactModel>(
    x: &Array<Vec3<F>>,
    owner: &Array<u32>,
    radius: &Array<F>,
    bodies: &Array<Pose<F>>,
    gap: &Array<Vec4<F>>,
    law: &Array<Vec4<F>>,
    grip: &Array<F>,
    wrench: &mut Array<Wrench<F>>,
    pressed: Pressed,
) {
    let i = ABSOLUTE_POS;
    let b = owner[i];
    let mut counts = b != pressed.body;
    if pressed.ball == 1 && radius[i] > 0.0 && b > pressed.body {
        counts = false;
    }
    if counts {
        let at = gap[i];
        let n = Vec3::new(at.x, at.y, at.z);
        let surface = x[i] - n * radius[i];
        let (body, other) = (bodies[b as usize], bodies[pressed.body as usize]);
        let own: Vec3<F> = surface_velocity(body, surface);
        let moving: Vec3<F> = surface_velocity(other, surface);
        let touch = Vec4::new(n.x, n.y, n.z, at.w - radius[i]);
        let force: Vec3<F> = contact_push::<F, L>(touch, own - moving, law[0], grip[0]);
        wrench[b as usize].force += force;
        wrench[b as usize].torque += (surface - body.centre).cross(force);
        wrench[pressed.body as usize].force += -force;
        wrench[pressed.body as usize].torque += (other.centre - surface).cross(force);
    }
}

/// The constant part.
#[derive(Clone, Debug)]
pub(super) struct Neighbours<F: Float> {
    solids: Solids<F>,
    balls: Vec<bool>,
    contact: Contact,
    friction: f64,
    width: Array<F>,
}

impl<F: Float> Neighbours<F> {
    pub(super) fn new(device: &Device, bodies: &[Body], contact: Contact, friction: f64) -> Result<Neighbours<F>> {
        contact.check("the contact between bodies")?;
        non_negative("friction between bodies", friction)?;
        let Some([_, _, width]) = contact.numbers() else {
            let expected = "one by forces, such as `Contact::HuntCrossley`";
            return Err(Error::invalid("contact between bodies", format!("{contact:?}"), expected));
        };
        if bodies.len() < 2 {
            return Err(Error::invalid("number of bodies that may touch each other", bodies.len(), "at least 2"));
        }
        let solids = bodies.iter().map(touched).collect::<Result<Vec<_>>>()?;
        for (k, solid) in solids.iter().enumerate() {
            solid.check(&format!("the solid of body {k}"))?;
        }
        Ok(Neighbours {
            solids: Solids::new(device, &solids.iter().collect::<Vec<_>>())?,
            balls: bodies.iter().map(|body| body.radius().is_some()).collect(),
            contact,
            friction,
            width: device.array(&[F::from_f64(width)])?,
        })
    }

    /// The parameters as the contact has them.
    pub(super) fn params(&self) -> Result<Between<F>> {
        let [stiffness, damping, _] = self.contact.numbers().unwrap_or_default();
        let one = |x: f64| self.width.device().array(&[F::from_f64(x)]);
        Ok(Between { stiffness: one(stiffness)?, damping: one(damping)?, friction: one(self.friction)? })
    }

    /// With these parameters.
    pub(super) fn bind(&self, params: &Between<F>) -> Result<BoundNeighbours<F>> {
        let Between { stiffness, damping, friction } = params;
        for (what, array) in [("stiffness", stiffness), ("damping", damping), ("friction", friction)] {
            if array.len() != 1 {
                return Err(Error::invalid(format!("length of between.{what}"), array.len(), "1"));
            }
        }
        let law = self.width.device().uninit(1)?;
        pack_contacts(1, stiffness, damping, friction, &self.width, &law)?;
        Ok(BoundNeighbours { neighbours: self.clone(), law })
    }
}

/// What others touch of a body: the solid that it says, or samples of the distance from its surface.
fn touched(body: &Body) -> Result<Solid> {
    match body.solid() {
        Some(solid) => Ok(solid.clone()),
        None => {
            let [low, high] = body.mesh().bounds();
            let longest = (0..3).map(|a| high[a] - low[a]).fold(0.0, f64::max);
            Ok(Solid::Grid(Arc::new(SdfGrid::of(body.mesh(), longest / SAMPLES)?)))
        }
    }
}

/// The same with its parameters: stiffness, damping, width and friction.
#[derive(Clone, Debug)]
pub(super) struct BoundNeighbours<F: Float> {
    neighbours: Neighbours<F>,
    law: Array<Vec4<F>>,
}

impl<F: Float> BoundNeighbours<F> {
    /// Stiffness of the contact at a point \[N/m\].
    pub(super) fn stiffness(&self) -> Result<f64> {
        Ok(self.law.to_vec()?[0].x.to_f64())
    }

    /// Adds what the bodies with these points, at `x`, do to each other.
    pub(super) fn add_forces(
        &self,
        points: &Points<F>,
        x: &Array<Vec3<F>>,
        (bodies, properties): (&Array<Pose<F>>, &Array<MassProperties<F>>),
        grip: &Array<F>,
        wrench: &Array<Wrench<F>>,
    ) -> diffkern::Result<()> {
        let (Neighbours { solids, balls, contact, .. }, Points { owner, radius, .. }) = (&self.neighbours, points);
        let frames = bodies.device().uninit(bodies.len())?;
        surface_poses(bodies.len(), bodies, properties, &frames)?;
        for (k, &ball) in balls.iter().enumerate() {
            let gap = solids.gaps(k, x, &frames)?;
            let pressed = Pressed { body: k as u32, ball: u32::from(ball) };
            with_contact!(*contact, L => {
                press_body::<F, L>(x.len(), x, owner, radius, bodies, &gap, &self.law, grip, wrench, pressed)?;
            });
        }
        Ok(())
    }
}
