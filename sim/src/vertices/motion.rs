//! The part of an explicit step that all bodies made of vertices share.

use super::kernels::{accelerate, drift};
use super::state::VertexState;
use crate::contact::{BoundObstacles, Vertices};
use crate::error::{Error, Result};
use crate::step::Tick;
use diffkern::prelude::*;

/// Masses, forces from outside and contacts of vertices.
#[derive(Clone, Debug)]
pub(crate) struct Motion<F: Float> {
    /// Of all vertices, or of each \[kg\].
    pub(crate) mass: Array<F>,
    /// 1 for vertices that keep their velocity.
    pub(crate) held: Array<u32>,
    pub(crate) gravity: Array<Vec3<F>>,
    pub(crate) damping: Array<F>,
    pub(crate) obstacles: Option<BoundObstacles<F>>,
}

impl<F: Float> Motion<F> {
    /// Refuses arrays of the wrong length.
    pub(crate) fn checked(self, vertices: usize) -> Result<Motion<F>> {
        one_or("mass", self.mass.len(), vertices, "vertex")?;
        for (what, len) in [("gravity", self.gravity.len()), ("damping", self.damping.len())] {
            if len != 1 {
                return Err(Error::invalid(format!("length of {what}"), len, "1"));
            }
        }
        Ok(self)
    }

    /// The state after `tick` under these inner forces, to which contacts add.
    pub(crate) fn step(
        &self,
        state: &VertexState<F>,
        force: &Array<Vec3<F>>,
        tick: Tick,
    ) -> diffkern::Result<VertexState<F>> {
        let (device, n, dt) = (state.x.device(), state.len(), F::from_f64(tick.dt));
        if let Some(obstacles) = &self.obstacles {
            let at = Vertices { x: &state.x, v: &state.v, mass: &self.mass };
            obstacles.add_forces(&at, force, tick)?;
        }
        let v = device.uninit(n)?;
        accelerate(n, &state.v, force, &self.mass, &self.held, &self.gravity, &self.damping, &v, dt)?;
        let v = match &self.obstacles {
            Some(obstacles) => obstacles.project(&state.x, v, &self.held, tick)?,
            None => v,
        };
        let x = device.uninit(n)?;
        drift(n, &state.x, &v, &x, dt)?;
        Ok(VertexState { x, v })
    }
}

/// Refuses an array that has neither one element nor one for each of `count`.
pub(crate) fn one_or(what: &str, len: usize, count: usize, each: &str) -> Result<()> {
    match len == 1 || len == count {
        true => Ok(()),
        false => Err(Error::invalid(format!("length of {what}"), len, format!("1 or {count}, one a {each}"))),
    }
}

/// 1 for each of these vertices, 0 for the others.
pub(crate) fn held(device: &Device, vertices: usize, indices: &[u32]) -> Result<Array<u32>> {
    let mut held = vec![0; vertices];
    for &index in indices {
        match held.get_mut(index as usize) {
            Some(slot) => *slot = 1,
            None => return Err(Error::invalid("held vertex", index, format!("an index below {vertices}"))),
        }
    }
    Ok(device.array(&held)?)
}
