//! The part of the grid that particles can reach in a few steps.
//!
//! Nodes without mass cost time and memory and change nothing, so a rollout runs on a box around the particles. The box
//! is fixed before the rollout, so that a replay repeats it; a particle that leaves it is noticed, and the rollout is run
//! again on the whole grid.

use super::model::{Model, top};
use super::solver::Solver;
use super::state::State;
use crate::error::Result;
use diffkern::prelude::*;

/// Cells around the predicted box.
const MARGIN: f64 = 2.0;

impl<D: Dimension, F: Float> Solver<D, F> {
    /// The same on the nodes around `state` that `time` \[s\] at its top speed can reach.
    pub(super) fn near(&self, state: &State<D, F>, time: f64) -> Result<Self> {
        let model = self.model();
        let positions = state.x.to_vec()?;
        let speed = top(&state.v.to_vec()?.into_iter().map(D::coords::<F>).collect::<Vec<_>>());
        let pull = top(&self.gravity.to_vec()?.into_iter().map(D::coords::<F>).collect::<Vec<_>>());
        let reach = (speed + 0.5 * pull * time) * time + MARGIN * model.grid().dx();
        let (mut first, mut count) = (D::Counts::default(), D::Counts::default());
        for axis in 0..D::AXES {
            let along = |v: &D::Vector<F>| D::coords::<F>(*v).as_ref()[axis];
            let (low, high) = positions
                .iter()
                .map(along)
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
            let (from, to) = model.grid().range(axis, low - reach, high + reach);
            first.as_mut()[axis] = from;
            count.as_mut()[axis] = to - from;
        }
        Ok(self.on(model.part(first, count)?))
    }
}

impl<D: Dimension, F: Float> Model<D, F> {
    /// The same on the box of `count` nodes that starts at node `first` of the grid.
    fn part(&self, first: D::Counts, count: D::Counts) -> Result<Self> {
        let grid = self.grid().part(first, count)?;
        self.clone().with_grid(grid)
    }
}
