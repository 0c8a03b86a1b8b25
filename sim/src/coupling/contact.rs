//! The exchange: points of one model on the surfaces of bodies of finite elements.

use super::params::Params;
use super::points::{ContactPoints, Spread};
use crate::contact::Contact;
use crate::contact::kernels::pack_contacts;
use crate::coupled::{At, Exchange};
use crate::error::{Error, Result, non_negative};
use crate::fem::lattice::{self, Outside, Targets};
use crate::step::Tick;
use diffkern::prelude::*;

/// Part of the longest step that linear theory allows which is taken, as that of contacts of finite elements.
const CAUTION: f64 = 0.3;

/// Points `P` that press on all bodies of a model of finite elements, by a contact by forces whose stiffness is a pressure per depth \[Pa/m\].
#[derive(Clone, Debug)]
pub struct SurfaceContact<F: Float, P> {
    points: P,
    targets: Targets<F>,
    contact: Contact,
    friction: f64,
    width: Array<F>,
    /// Stiffness, damping, width and friction.
    law: Array<Vec4<F>>,
}

impl<F: Float, P> SurfaceContact<F, P> {
    /// Of points with the bodies of a model.
    ///
    /// # Errors
    /// When the contact does not act by forces or a value is out of its range, or memory is short.
    pub fn new(points: P, bodies: &lattice::Model<F>, contact: Contact, friction: f64) -> Result<SurfaceContact<F, P>> {
        contact.check("the contact with a surface")?;
        non_negative("friction of the contact with a surface", friction)?;
        let Some([_, _, width]) = contact.numbers() else {
            let expected = "one by forces, such as `Contact::SmoothPenalty`";
            return Err(Error::invalid("contact with a surface", format!("{contact:?}"), expected));
        };
        let targets = bodies.targets()?;
        let device = targets.device();
        let (width, law) = (device.array(&[F::from_f64(width)])?, device.zeros(1)?);
        let unbound = SurfaceContact { points, targets, contact, friction, width, law };
        let law = unbound.packed(&unbound.params()?)?;
        Ok(SurfaceContact { law, ..unbound })
    }

    /// The parameters as the contact has them.
    ///
    /// # Errors
    /// When memory is short.
    pub fn params(&self) -> Result<Params<F>> {
        let [stiffness, damping, _] = self.contact.numbers().unwrap_or_default();
        let one = |x: f64| self.width.device().array(&[F::from_f64(x)]);
        Ok(Params { stiffness: one(stiffness)?, damping: one(damping)?, friction: one(self.friction)? })
    }

    fn packed(&self, params: &Params<F>) -> Result<Array<Vec4<F>>> {
        let Params { stiffness, damping, friction } = params;
        for (what, array) in [("stiffness", stiffness), ("damping", damping), ("friction", friction)] {
            if array.len() != 1 {
                return Err(Error::invalid(format!("length of {what} of a contact"), array.len(), "1"));
            }
        }
        let law = self.width.device().uninit(1)?;
        pack_contacts(1, stiffness, damping, friction, &self.width, &law)?;
        Ok(law)
    }
}

impl<F: Float, A: ContactPoints<F>> Exchange<A, lattice::Solver<F>> for SurfaceContact<F, A::Points> {
    type Params = Params<F>;

    fn bind(&self, params: &Params<F>) -> Result<Self> {
        Ok(SurfaceContact { law: self.packed(params)?, ..self.clone() })
    }

    fn controls(
        &self,
        a: At<'_, A>,
        b: At<'_, lattice::Solver<F>>,
        (for_a, for_b): (A::Control, lattice::Control<F>),
        tick: Tick,
    ) -> diffkern::Result<(A::Control, lattice::Control<F>)> {
        let (SurfaceContact { points, targets, contact, law, .. }, device) = (self, self.width.device());
        let Spread { place, speed } = a.step.spread(a.state, points)?;
        let (on_points, on_nodes) = (device.zeros(place.len())?, device.zeros(b.state.len())?);
        if let Some(outer) = &for_b.force {
            on_nodes.copy_from(outer)?;
        }
        let yielding = |normal: &Array<F>| a.step.yielding(a.state, points, &place, normal);
        let outside = Outside { place: &place, speed: &speed, area: A::areas(points), yielding: &yielding };
        b.step.press(b.state, targets, &outside, (*contact, law), (&on_points, &on_nodes), tick)?;
        let for_a = a.step.push(a.state, points, &place, &on_points, for_a)?;
        Ok((for_a, lattice::Control { force: Some(on_nodes), ..for_b }))
    }

    /// Less than half of `2 / w`, `w^2` at most the sum of those of the points on springs to what does not move, and of the bodies with all of their surface on
    /// such springs. Damping is not in it.
    fn max_dt(&self, a: At<'_, A>, b: At<'_, lattice::Solver<F>>) -> Result<f64> {
        let stiffness = self.law.to_vec()?[0].x.to_f64();
        let (place, areas) = (a.step.spread(a.state, &self.points)?.place, A::areas(&self.points));
        // Forces in proportion to areas: what a unit of stiffness does.
        let softest = a.step.yielding(a.state, &self.points, &place, areas)?.to_vec()?;
        let softest = softest.iter().map(|s| s.to_f64()).fold(0.0, f64::max);
        Ok(CAUTION * b.step.stable_step_in_contact(stiffness, stiffness * softest)?)
    }
}
