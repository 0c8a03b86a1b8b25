//! Points of other models that press on the bodies.

use super::model::{Model, Solver};
use super::press::{Rub, beneath_points, press_points, reactions, rub_points};
use super::stability::surface_depth;
use super::state::State;
use super::targets::{Found, Targets};
use crate::contact::{Contact, SLIP_SPEED, with_contact};
use crate::error::Result;
use crate::step::Tick;
use diffkern::prelude::*;

/// Points of another model in a step.
pub(crate) struct Outside<'a, F: Float> {
    /// Where they are \[m\].
    pub(crate) place: &'a Array<Vec3<F>>,
    /// How they move \[m/s\].
    pub(crate) speed: &'a Array<Vec3<F>>,
    /// What each stands for \[m^2\].
    pub(crate) area: &'a Array<F>,
    /// By the normal forces on them \[N\], what friction as large would accelerate each by \[m/s^2\], at most.
    pub(crate) yielding: &'a dyn Fn(&Array<F>) -> diffkern::Result<Array<F>>,
}

impl<F: Float> Model<F> {
    /// The bodies as points of other models meet them.
    pub(crate) fn targets(&self) -> Result<Targets<F>> {
        let depths: Vec<f64> = self.assembly().bodies().iter().map(surface_depth).collect();
        Targets::new(self.device(), self.assembly(), &depths, |_| 0..0)
    }
}

impl<F: Float> Solver<F> {
    /// Adds the forces \[N\] of a contact on points to `on_points`, and the opposite on the control points to `force`. They are those at the middle of
    /// the drift, where the step takes its forces; `laws` has stiffness \[Pa/m\], damping, width and friction.
    pub(crate) fn press(
        &self,
        state: &State<F>,
        targets: &Targets<F>,
        points: &Outside<'_, F>,
        (contact, laws): (Contact, &Array<Vec4<F>>),
        (on_points, force): (&Array<Vec3<F>>, &Array<Vec3<F>>),
        tick: Tick,
    ) -> diffkern::Result<()> {
        let (x, device, rows) = (self.middle(state, tick)?, state.x.device(), &self.grid().rows);
        let (Outside { place, speed, area, yielding }, n) = (points, points.place.len());
        targets.each(&x, rows, place, contact.reach(), |Found { target, cell, foot, slope }| {
            let (under, mass) = (device.uninit(n)?, device.uninit(n)?);
            beneath_points(n, &state.v, rows, &cell, &foot, &self.params().density, &under, &mass, target.depth)?;
            let (slide, load, reaction) = (device.uninit(n)?, device.uninit(n)?, device.uninit(n)?);
            with_contact!(contact, L => press_points::<F, L>(n, speed, &under, &slope, area, laws, &slide, &load)?);
            let [dt, slip] = [tick.dt, SLIP_SPEED].map(F::from_f64);
            let (yielding, rub) = (&yielding(&load)?, Rub { body: target.touched.body, dt, slip });
            rub_points(n, &slide, &load, &slope, area, &mass, yielding, laws, on_points, &reaction, rub)?;
            reactions(n, &reaction, area, rows, &cell, &foot, force)
        })
    }

    /// The longest stable step where all of the surface is on springs of a stiffness \[Pa/m\] to things whose own square of the frequency on them
    /// is `square` \[1/s^2\].
    pub(crate) fn stable_step_in_contact(&self, stiffness: f64, square: f64) -> Result<f64> {
        let all = self.fastest(|_| stiffness)?;
        Ok(all.into_iter().map(|f| f.and(square).stable_step()).fold(f64::INFINITY, f64::min))
    }
}
