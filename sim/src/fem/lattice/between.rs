//! Contact of the bodies of a model with each other.

use super::assembly::Assembly;
use super::grid::Grid;
use super::press::{Rub, beneath, pack_surfaces, press, reactions};
use super::targets::{Found, Targets};
use super::{WIDTH, contact_stiffness};
use crate::contact::{SLIP_SPEED, SmoothPenalty};
use crate::error::{Error, Result, non_negative, positive};
use crate::params::parameters;
use crate::step::Tick;
use crate::vertices::one_or;
use diffkern::prelude::*;

/// What happens where bodies touch each other: a [`SmoothPenalty`], of two bodies that of their surfaces in series, and Coulomb friction.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyContact {
    /// Pressure per depth \[Pa/m\] of the surface of each body.
    pub stiffness: Vec<f64>,
    /// Depth up to which each stiffens \[m\].
    pub width: Vec<f64>,
    /// Coulomb's coefficient, where they rub at all.
    pub friction: Option<f64>,
}

impl BodyContact {
    /// How much stiffer the surface of a body is for another than for a [floor](super::floor): what it gives way is not undone by where contacts act, as what is inside of
    /// one body is outside of the other.
    pub const STIFFER: f64 = 2.0;

    /// Of bodies with these Lamé parameters \[Pa\], in cells of their size, without friction.
    ///
    /// # Errors
    /// When there is not one pair of parameters for each body.
    pub fn of(bodies: &Assembly, lame: &[[f64; 2]]) -> Result<BodyContact> {
        let cells: Vec<f64> = bodies.bodies().iter().map(|b| b.cell_size().iter().product::<f64>().cbrt()).collect();
        if cells.len() != lame.len() {
            let expected = format!("{}, one a body", cells.len());
            return Err(Error::invalid("number of pairs of Lamé parameters", lame.len(), expected));
        }
        let stiff = |(&h, &[mu, lambda]): (&f64, &[f64; 2])| BodyContact::STIFFER * contact_stiffness(mu, lambda, h);
        Ok(BodyContact {
            stiffness: cells.iter().zip(lame).map(stiff).collect(),
            width: cells.iter().map(|h| WIDTH * h).collect(),
            friction: None,
        })
    }

    /// The same with friction.
    #[must_use]
    pub fn with_friction(self, friction: f64) -> BodyContact {
        BodyContact { friction: Some(friction), ..self }
    }

    fn check(&self, bodies: usize) -> Result<()> {
        for (what, values) in [("stiffness", &self.stiffness), ("width", &self.width)] {
            if values.len() != bodies {
                let value = format!("{} values", values.len());
                return Err(Error::invalid(format!("{what} of surfaces"), value, format!("{bodies}, one a body")));
            }
            values.iter().try_for_each(|&v| positive(&format!("{what} of a surface"), v).map(drop))?;
        }
        self.friction.map_or(Ok(()), |mu| non_negative("friction between bodies", mu).map(drop))
    }
}

/// What may be identified of the surfaces of bodies. "Per body" arrays hold one element for all or one for each.
#[derive(Clone, Debug)]
pub struct Surfaces<F: Float> {
    /// Pressure per depth in contact with other bodies \[Pa/m\], per body; of two the two in series.
    pub stiffness: Array<F>,
    /// Factor of what colliders do to a body, per body: they should be as stiff as [`floor`](super::floor) has them for it.
    pub support: Array<F>,
    /// Coulomb's coefficient of bodies with each other, per body; of two their mean. Without it nothing is computed of it.
    pub friction: Option<Array<F>>,
}

parameters! {
    impl [F: Float] for Surfaces<F> {
        stiffness: "surface.stiffness", "Pa/m", Positive;
        support: "surface.support", "", Positive;
        [friction: "surface.friction", "", NonNegative;]
    }
}

/// The constant part.
#[derive(Clone, Debug)]
pub(super) struct Between<F: Float> {
    spec: BodyContact,
    targets: Targets<F>,
    /// The body of each place of contact.
    pub(super) owner: Array<u32>,
    width: Array<F>,
    /// How far inside of the surface places of contact are at most \[m\].
    reach: f64,
}

/// With its parameters.
#[derive(Clone, Debug)]
pub(super) struct BoundBetween<F: Float> {
    between: Between<F>,
    laws: Array<Vec4<F>>,
    rough: bool,
    density: Array<F>,
    behind: Array<F>,
}

/// Places of contact in a step.
pub(super) struct Places<'a, F: Float> {
    pub(super) grid: &'a Grid<F>,
    /// Of the control points.
    pub(super) x: &'a Array<Vec3<F>>,
    pub(super) v: &'a Array<Vec3<F>>,
    /// Of the places.
    pub(super) place: &'a Array<Vec3<F>>,
    pub(super) speed: &'a Array<Vec3<F>>,
}

impl<F: Float> Between<F> {
    /// Between bodies with layers of these depths \[m\].
    pub(super) fn new(device: &Device, bodies: &Assembly, depths: &[f64], contact: &BodyContact) -> Result<Between<F>> {
        contact.check(bodies.bodies().len())?;
        let all = 0..bodies.bodies().len();
        let owners: Vec<u32> = all.flat_map(|k| vec![k as u32; bodies.contacts(k).len()]).collect();
        Ok(Between {
            targets: Targets::new(device, bodies, depths, |k| bodies.contacts(k))?,
            owner: device.array(&owners)?,
            width: device.array(&contact.width.iter().map(|&w| F::from_f64(w)).collect::<Vec<_>>())?,
            spec: contact.clone(),
            reach: bodies.bodies().iter().flat_map(|body| body.contacts.depths.iter().copied()).fold(0.0, f64::max),
        })
    }

    /// The parameters as the contact has them.
    pub(super) fn surfaces(&self, device: &Device) -> Result<Surfaces<F>> {
        let stiffness: Vec<F> = self.spec.stiffness.iter().map(|&k| F::from_f64(k)).collect();
        Ok(Surfaces {
            stiffness: device.array(&stiffness)?,
            support: device.array(&[F::from_f64(1.0)])?,
            friction: self.spec.friction.map(|mu| device.array(&[F::from_f64(mu)])).transpose()?,
        })
    }

    /// With parameters, the density of the cells, and the mass behind the places of contact.
    pub(super) fn bind(
        &self,
        surfaces: &Surfaces<F>,
        density: &Array<F>,
        behind: &Array<F>,
    ) -> Result<BoundBetween<F>> {
        let (bodies, device) = (self.targets.len(), self.owner.device());
        let Surfaces { stiffness, support, friction } = surfaces;
        let given = [("surface.stiffness", stiffness), ("surface.support", support)].into_iter();
        for (what, array) in given.chain(friction.iter().map(|f| ("surface.friction", f))) {
            one_or(what, array.len(), bodies, "body")?;
        }
        let (laws, smooth) = (device.uninit(bodies)?, device.zeros(1)?);
        pack_surfaces(bodies, stiffness, &self.width, friction.as_ref().unwrap_or(&smooth), &laws)?;
        let (density, behind) = (density.clone(), behind.clone());
        Ok(BoundBetween { between: self.clone(), laws, rough: friction.is_some(), density, behind })
    }
}

impl<F: Float> BoundBetween<F> {
    /// Adds the tractions on all places to `traction`, and what they do to the bodies that these touch to `force`; hands `(gradient, distance)` of the places from each body to `touched`.
    pub(super) fn add(
        &self,
        at: &Places<'_, F>,
        traction: &Array<Vec3<F>>,
        force: &Array<Vec3<F>>,
        tick: Tick,
        mut touched: impl FnMut(&Array<Vec4<F>>) -> diffkern::Result<()>,
    ) -> diffkern::Result<()> {
        let (Between { targets, owner, .. }, device) = (&self.between, at.x.device());
        let Places { grid, x, v, place, speed } = at;
        let (n, rows) = (place.len(), &grid.rows);
        targets.each(x, rows, place, self.between.reach, |Found { target, cell, foot, slope }| {
            touched(&slope)?;
            let (under, mass) = match self.rough {
                true => {
                    let (under, mass) = (device.uninit(n)?, device.uninit(n)?);
                    beneath(n, v, rows, &cell, &foot, &self.density, &self.behind, &under, &mass, target.depth)?;
                    (under, mass)
                }
                // Nothing rubs: no matter what it slides by.
                false => ((*speed).clone(), self.behind.clone()),
            };
            let [dt, slip] = [tick.dt, SLIP_SPEED].map(F::from_f64);
            let (reaction, rub) = (device.uninit(n)?, Rub { body: target.touched.body, dt, slip });
            let (radius, laws) = (&grid.depths, &self.laws);
            press::<F, SmoothPenalty>(n, speed, &under, &mass, &slope, radius, owner, laws, traction, &reaction, rub)?;
            reactions(n, &reaction, &grid.areas, rows, &cell, &foot, force)
        })
    }

    /// The largest stiffness that the surface of each body meets \[Pa/m\]: of two bodies, which may move against each other, twice that of their contact.
    pub(super) fn stiffnesses(&self) -> Result<Vec<f64>> {
        let own: Vec<f64> = self.laws.to_vec()?.iter().map(|q| q.x.to_f64()).collect();
        let most = |(k, a): (usize, &f64)| {
            let others = own.iter().enumerate().filter(|(j, _)| *j != k);
            others.map(|(_, b)| 2.0 * a * b / (a + b)).fold(0.0, f64::max)
        };
        Ok(own.iter().enumerate().map(most).collect())
    }

    /// Whether bodies rub.
    pub(super) fn has_friction(&self) -> bool {
        self.rough
    }
}
