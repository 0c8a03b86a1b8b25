//! What the bodies do to each other at a state: forces that sum to nothing, and so do their torques.

use crate::scene::{DT, State, Step};
use diffkern::prelude::*;
use diffkern_sim::{At, Exchange as _, Step as _};

/// Sum of forces and of torques about the origin, by the sum of their sizes.
#[derive(Default)]
struct Balance {
    sums: [Vec3<f64>; 2],
    sizes: [f64; 2],
}

impl Balance {
    fn add(&mut self, force: Vec3<f64>, torque: Vec3<f64>) {
        self.sums = [self.sums[0] + force, self.sums[1] + torque];
        self.sizes = [self.sizes[0] + force.norm(), self.sizes[1] + torque.norm()];
    }

    fn add_all(&mut self, places: &[Vec3<f64>], forces: &[Vec3<f64>]) {
        places.iter().zip(forces).for_each(|(x, f)| self.add(*f, x.cross(*f)));
    }

    /// How far both contacts are from opposite forces, relative to them; nothing where nothing touches.
    fn relative(&self) -> f64 {
        let off = |k: usize| if self.sizes[k] > 0.0 { self.sums[k].norm() / self.sizes[k] } else { 0.0 };
        off(0).max(off(1))
    }
}

pub fn unbalanced(step: &Step, (chest, (net, block)): &State) -> Result<f64> {
    let tick = step.tick(0);
    let soft = || At { step: &step.b.b, state: block };
    // Finite elements take their forces after half a drift.
    let (x, v) = (block.x.to_vec()?, block.v.to_vec()?);
    let middle: Vec<_> = x.iter().zip(v).map(|(x, v)| *x + v * (0.5 * DT)).collect();
    let nothing = || Error::other("no forces");

    let (on_box, on_block) =
        step.exchange.0.controls(At { step: &step.a, state: chest }, soft(), Default::default(), tick)?;
    let mut above = Balance::default();
    let wrench = on_box.wrench.ok_or_else(nothing)?.to_vec()?[0];
    above.add(wrench.force, wrench.torque + chest.x.to_vec()?[0].cross(wrench.force));
    above.add_all(&middle, &on_block.force.ok_or_else(nothing)?.to_vec()?);

    let (on_net, on_block) =
        step.b.exchange.controls(At { step: &step.b.a, state: net }, soft(), Default::default(), tick)?;
    let mut below = Balance::default();
    below.add_all(&net.x.to_vec()?, &on_net.force.ok_or_else(nothing)?.to_vec()?);
    below.add_all(&middle, &on_block.force.ok_or_else(nothing)?.to_vec()?);
    Ok(above.relative().max(below.relative()))
}
