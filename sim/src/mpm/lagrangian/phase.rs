//! What is kept from step to step of a phase.

use diffkern::AnyArray;
use diffkern::prelude::*;

/// The nodes of a phase, and what particles were at its beginning. A [`State`](crate::mpm::State) has one between steps of
/// [`Transfer::Lagrangian`](crate::mpm::Transfer::Lagrangian); a state without one begins a phase.
#[derive(Clone, Debug)]
pub struct Phase<D: Dimension, F: Float> {
    /// Positions \[m\] and deformation gradients of the particles at the beginning.
    pub(super) x: Array<D::Vector<F>>,
    pub(super) f: Array<D::Matrix<F>>,
    /// What particles have moved since then \[m\], and the gradient of that.
    pub(super) shift: Array<D::Vector<F>>,
    pub(super) h: Array<D::Matrix<F>>,
    /// Velocities \[m/s\] and displacements \[m\] of the nodes.
    pub(super) u: Array<D::Vector<F>>,
    pub(super) d: Array<D::Vector<F>>,
    /// Forces on the nodes \[N\] and their masses \[kg\].
    pub(super) forces: Array<D::Homogeneous<F>>,
    /// Where the nodes were at the beginning \[m\].
    pub(super) places: Array<D::Vector<F>>,
    /// See [`Active`](crate::mpm::blocks::Active).
    pub(super) table: Array<u32>,
}

impl<D: Dimension, F: Float> Phase<D, F> {
    pub(in crate::mpm) fn arrays(&self) -> Vec<AnyArray> {
        let Phase { x, f, shift, h, u, d, forces, places, table } = self;
        let arrays = [
            x.as_any(),
            f.as_any(),
            shift.as_any(),
            h.as_any(),
            u.as_any(),
            d.as_any(),
            forces.as_any(),
            places.as_any(),
            table.as_any(),
        ];
        arrays.map(AnyArray::clone).to_vec()
    }

    /// Of arrays as [`Phase::arrays`] has them; none where there are no more of them.
    pub(in crate::mpm) fn of(mut arrays: impl Iterator<Item = AnyArray>) -> Option<Self> {
        fn next<T: Element>(arrays: &mut impl Iterator<Item = AnyArray>) -> Option<Array<T>> {
            Array::try_from(arrays.next()?).ok()
        }
        let a = &mut arrays;
        Some(Phase {
            x: next(a)?,
            f: next(a)?,
            shift: next(a)?,
            h: next(a)?,
            u: next(a)?,
            d: next(a)?,
            forces: next(a)?,
            places: next(a)?,
            table: next(a)?,
        })
    }

    pub(super) fn particles<T: Element>(&self) -> diffkern::Result<Array<T>> {
        self.x.device().uninit(self.x.len())
    }

    pub(super) fn nodes<T: Element>(&self) -> diffkern::Result<Array<T>> {
        self.u.device().uninit(self.u.len())
    }
}
