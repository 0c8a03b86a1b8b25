//! The background grid: where its nodes are, and how they are numbered.

use super::blocks::side;
use crate::error::{Error, Result, positive};
use diffkern::Dimension;

/// A regular grid of nodes; the last axis runs fastest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid<D: Dimension> {
    origin: D::Coords,
    dx: f64,
    nodes: D::Counts,
}

impl<D: Dimension> Grid<D> {
    /// A grid with its first node at `origin` \[m\], node distance `dx` \[m\], and so many nodes an axis.
    ///
    /// # Errors
    /// When `dx` is not positive, the origin not finite, an axis has fewer than 4 nodes, or there are more than 2^31.
    pub fn new(origin: D::Coords, dx: f64, nodes: D::Counts) -> Result<Grid<D>> {
        positive("dx of the grid", dx)?;
        if let Some(o) = origin.as_ref().iter().find(|o| !o.is_finite()) {
            return Err(Error::invalid("origin of the grid", o, "finite numbers"));
        }
        if let Some(n) = nodes.as_ref().iter().find(|&&n| n < 4) {
            return Err(Error::invalid("nodes of a grid axis", n, "at least 4"));
        }
        let total = nodes.as_ref().iter().try_fold(1usize, |t, &n| t.checked_mul(n));
        match total {
            Some(t) if t <= i32::MAX as usize => Ok(Grid { origin, dx, nodes }),
            _ => Err(Error::invalid("nodes of the grid", format!("{nodes:?}"), "at most 2^31 in all")),
        }
    }

    /// Position of the first node \[m\].
    pub fn origin(&self) -> D::Coords {
        self.origin
    }

    /// Distance of neighbours \[m\].
    pub fn dx(&self) -> f64 {
        self.dx
    }

    /// Nodes an axis.
    pub fn nodes(&self) -> D::Counts {
        self.nodes
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.as_ref().iter().product()
    }

    /// Whether it has no nodes; it always has.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Nodes an axis, as kernels take them.
    pub(crate) fn counts(&self) -> [u32; 3] {
        let mut counts = [1; 3];
        counts.iter_mut().zip(self.nodes.as_ref()).for_each(|(c, &n)| *c = n as u32);
        counts
    }

    /// Position of node `index` \[m\].
    pub fn position(&self, index: usize) -> D::Coords {
        let mut at = self.origin;
        let mut rest = index;
        for (a, &n) in at.as_mut().iter_mut().zip(self.nodes.as_ref()).rev() {
            *a += (rest % n) as f64 * self.dx;
            rest /= n;
        }
        at
    }

    /// Blocks along x, y and z, as kernels take them: those of the plane along y and z.
    pub(crate) fn block_counts(&self) -> [u32; 3] {
        let mut counts = [1; 3];
        let last = counts.iter_mut().rev().zip(self.nodes.as_ref().iter().rev());
        last.for_each(|(c, &n)| *c = n.div_ceil(side::<D>()) as u32);
        counts
    }

    /// Number of blocks, those at the end of an axis counted whole.
    pub(crate) fn block_count(&self) -> usize {
        self.block_counts().iter().map(|&n| n as usize).product()
    }

    /// Position of place `place` in block `block` \[m\], which is beyond the grid where the grid ends within the block.
    pub(crate) fn position_in_block(&self, block: usize, place: usize) -> D::Coords {
        let mut at = self.origin;
        let (mut block, mut place) = (block, place);
        for (a, &n) in at.as_mut().iter_mut().zip(self.nodes.as_ref()).rev() {
            let blocks = n.div_ceil(side::<D>());
            *a += (block % blocks * side::<D>() + place % side::<D>()) as f64 * self.dx;
            block /= blocks;
            place /= side::<D>();
        }
        at
    }

    /// Smallest and largest coordinate on `axis` at which a particle has all its nodes \[m\].
    pub fn carried(&self, axis: usize) -> (f64, f64) {
        let (o, n) = (self.origin.as_ref()[axis], self.nodes.as_ref()[axis] as f64);
        (o + 0.5 * self.dx, o + (n - 1.5) * self.dx)
    }

    /// First and past-the-end node on `axis` of the stencils of particles between `low` and `high` \[m\], at least 4
    /// nodes.
    pub(crate) fn range(&self, axis: usize, low: f64, high: f64) -> (usize, usize) {
        let (o, n) = (self.origin.as_ref()[axis], self.nodes.as_ref()[axis]);
        let base = |x: f64| ((x - o) / self.dx - 0.5).floor().clamp(0.0, n as f64) as usize;
        let from = base(low).min(n - 4);
        (from, (base(high) + 3).clamp(from + 4, n))
    }

    /// The box of `count` nodes that starts at node `first`.
    pub(crate) fn part(&self, first: D::Counts, count: D::Counts) -> Result<Grid<D>> {
        let mut origin = self.origin;
        origin.as_mut().iter_mut().zip(first.as_ref()).for_each(|(o, &k)| *o += k as f64 * self.dx);
        Grid::new(origin, self.dx, count)
    }
}
