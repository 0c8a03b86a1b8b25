//! Particles sorted by block for the length of a rollout.
//!
//! Neighbours in memory then share nodes, so that each thread adds to few pages and finds them in its cache. The state that
//! comes out is in the order of the one that went in.

use super::blocks::NODES;
use super::occupied::base_nodes;
use super::reorder::{invert_order, reorder, reorder_material};
use super::solver::Solver;
use super::state::State;
use diffkern::ops;
use diffkern::prelude::*;

/// Whether [`Step::advance`](crate::Step::advance) sorts particles by the node that they are at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sorting {
    /// Where it was found to pay: on the CPU, of thousands of particles over sixteen steps or more, if every other one is in
    /// another block than the one before it.
    #[default]
    Auto,
    /// Never.
    Never,
    /// Always.
    Always,
}

const FEW_STEPS: usize = 16;
const FEW_PARTICLES: usize = 4096;

impl Sorting {
    /// Whether to look at the order at all.
    fn considered(self, device: &Device, particles: usize, steps: usize) -> bool {
        match self {
            Sorting::Auto => device.name() == "cpu" && particles >= FEW_PARTICLES && steps >= FEW_STEPS,
            Sorting::Never => false,
            Sorting::Always => true,
        }
    }

    fn pays(self, bases: &Array<u32>) -> diffkern::Result<bool> {
        if self == Sorting::Always {
            return Ok(true);
        }
        let bases = bases.to_vec()?;
        let block = |base: u32| base as usize / NODES;
        let changes = bases.windows(2).filter(|pair| block(pair[0]) != block(pair[1])).count();
        Ok(2 * changes > bases.len())
    }
}

/// Where each particle goes, and where each of the sorted ones goes in the end.
pub(super) struct Order {
    there: Array<u32>,
    back: Array<u32>,
}

impl Order {
    /// The order in which a rollout of so many steps from `state` is best run, if it is another one.
    pub(super) fn of<D: Dimension, F: Float>(
        solver: &Solver<D, F>,
        state: &State<D, F>,
        steps: usize,
    ) -> diffkern::Result<Option<Order>> {
        let (model, n) = (solver.model(), state.len());
        let sorting = model.sorting();
        if !sorting.considered(model.device(), n, steps) {
            return Ok(None);
        }
        let bases = model.device().uninit(n)?;
        base_nodes::<F, D>(n, &state.x, &bases, model.shape())?;
        if !sorting.pays(&bases)? {
            return Ok(None);
        }
        let back = ops::sort(&bases)?.order;
        let there = model.device().uninit(n)?;
        invert_order(n, &back, &there)?;
        Ok(Some(Order { there, back }))
    }

    /// The solver for the sorted particles.
    pub(super) fn solver<D: Dimension, F: Float>(&self, solver: Solver<D, F>) -> diffkern::Result<Solver<D, F>> {
        let packed = solver.model().device().uninit(solver.packed.len())?;
        reorder_material(packed.len(), &solver.packed, &self.there, &packed)?;
        Ok(solver.with_packed(packed))
    }

    /// The state, sorted.
    pub(super) fn apply<D: Dimension, F: Float>(&self, state: &State<D, F>) -> diffkern::Result<State<D, F>> {
        reordered(state, &self.there)
    }

    /// A sorted state as it was ordered before.
    pub(super) fn undo<D: Dimension, F: Float>(&self, state: &State<D, F>) -> diffkern::Result<State<D, F>> {
        reordered(state, &self.back)
    }
}

fn reordered<D: Dimension, F: Float>(state: &State<D, F>, to: &Array<u32>) -> diffkern::Result<State<D, F>> {
    let (device, n) = (state.x.device(), state.len());
    let next =
        State { x: device.uninit(n)?, v: device.uninit(n)?, c: device.uninit(n)?, f: device.uninit(n)?, phase: None };
    let State { x, v, c, f, .. } = state;
    reorder::<F, D>(n, x, v, c, f, to, &next.x, &next.v, &next.c, &next.f)?;
    Ok(next)
}
