//! Approximate inverses, with which iterative solvers need fewer products.

use diffkern_macros::diff_kernel;

use super::SolveOptions;
use crate::array::{AnyArray, Array};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::float::Float;
use crate::kernel::ElemTy;
use crate::math::{Mat2, Mat3};
use crate::tape::context::quietly;

/// A square matrix on the diagonal of a system: `f32` or `f64` for one of 1 by 1, [`Mat2`] or [`Mat3`] of reals.
pub trait Block: Element {
    /// Rows.
    #[doc(hidden)]
    const SIZE: usize;

    #[doc(hidden)]
    fn invert(blocks: &Array<Self>, inverses: &Array<Self>) -> Result<()>;
}

macro_rules! block {
    ($kernel:ident, $size:literal, |$F:ident, $a:ident| $block:ty, $inverse:expr, $([$($generic:tt)*] $own:ty),+) => {
        #[diff_kernel]
        fn $kernel<$F: Float>(blocks: &Array<$block>, inverses: &mut Array<$block>) {
            let $a = blocks[ABSOLUTE_POS];
            inverses[ABSOLUTE_POS] = $inverse;
        }

        $(impl<$($generic)*> Block for $own {
            const SIZE: usize = $size;

            fn invert(blocks: &Array<Self>, inverses: &Array<Self>) -> Result<()> {
                $kernel(blocks.len(), blocks, inverses)
            }
        })+
    };
}

block!(invert_1, 1, |F, a| F, 1.0 / a, [] f32, [] f64);
block!(invert_2, 2, |F, a| Mat2<F>, a.inverse(), [F: Float] Mat2<F>);
block!(invert_3, 3, |F, a| Mat3<F>, a.inverse(), [F: Float] Mat3<F>);

/// `z = B r`, or `B^T r` where `stride_row` is that of the columns, with blocks of `size` rows on the diagonal of `B`.
#[diff_kernel]
fn times_blocks<F: Float>(
    blocks: &Array<F>,
    r: &Array<F>,
    z: &mut Array<F>,
    size: usize,
    stride_row: usize,
    stride_column: usize,
) {
    let row = ABSOLUTE_POS % size;
    let first = ABSOLUTE_POS - row;
    let mut sum = F::new(0.0);
    for column in 0..size {
        sum += blocks[first * size + row * stride_row + column * stride_column] * r[first + column];
    }
    z[ABSOLUTE_POS] = sum;
}

/// An approximate inverse of the matrices of an implicit operation, `A` of a linear system, `dr/dx` of a root, `I - dg/dx` of a
/// fixed point: those of its derivatives are solved with it, or with its transpose, too. It changes how many products a solution
/// takes, not the solution, and has no gradient.
///
/// ```
/// use diffkern::implicit::{Method, Preconditioner, SolveOptions, linear_solve};
/// use diffkern::prelude::*;
///
/// #[diff_kernel]
/// fn scale<F: Float>(x: &Array<F>, d: &Array<F>, y: &mut Array<F>) {
///     y[ABSOLUTE_POS] = d[ABSOLUTE_POS] * x[ABSOLUTE_POS];
/// }
///
/// let dev = Device::cpu();
/// let (d, b) = (dev.array(&[2.0, 4000.0])?, dev.array(&[6.0, 4.0])?);
/// let options = SolveOptions { method: Method::Cg, ..SolveOptions::default() };
/// let solver = options.preconditioned(Preconditioner::block_diagonal(&d)?);
/// let x = linear_solve(b, solver, |x: &Array<f64>| {
///     let y = dev.uninit(2)?;
///     scale(2, x, &d, &y)?;
///     Ok(y)
/// })?;
/// assert!((x.to_vec()?[1] - 0.001).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Preconditioner {
    /// Of reals, block by block.
    inverses: AnyArray,
    size: usize,
}

impl Preconditioner {
    /// The inverses of the blocks on the diagonal (Jacobi's method by blocks): the reals of the state one after the other, array by
    /// array, fall into groups of as many as a block has rows. Symmetric and positive for [`Method::Cg`](super::Method::Cg) and
    /// [`Method::Minres`](super::Method::Minres), which find nothing otherwise. A block without an inverse lets no solve
    /// converge, which is an error then.
    ///
    /// # Errors
    /// When memory is short or the device fails.
    pub fn block_diagonal<B: Block>(blocks: &Array<B>) -> Result<Preconditioner> {
        let inverses = blocks.device().uninit(blocks.len())?;
        quietly(|| B::invert(blocks, &inverses))?;
        let any = inverses.as_any();
        let reals = u32::try_from(blocks.len() * B::SIZE * B::SIZE)
            .map_err(|_| Error::Invalid(format!("block_diagonal: {} blocks have too many reals", blocks.len())))?;
        let inverses = AnyArray::over(any.device(), any.scalar(), ElemTy::Real, reals, any.buffer());
        Ok(Preconditioner { inverses, size: B::SIZE })
    }

    /// Whether it is one for vectors like this.
    pub(super) fn check(&self, vector: &AnyArray) -> Result<()> {
        let rows = self.inverses.len() / self.size;
        let kind = |array: &AnyArray| (array.scalar(), array.device().clone());
        match rows == vector.len() && kind(&self.inverses) == kind(vector) {
            true => Ok(()),
            false => Err(Error::Invalid(format!(
                "preconditioner: it is for {rows} reals of {} on {}, the state has {} of {} on {}",
                self.inverses.scalar().name(),
                self.inverses.device().name(),
                vector.len(),
                vector.scalar().name(),
                vector.device().name()
            ))),
        }
    }

    /// Its product with `r`, or that of its transpose.
    pub(super) fn apply<F: Float>(&self, r: &Array<F>, transposed: bool) -> Result<Array<F>> {
        let z = r.device().uninit(r.len())?;
        let blocks = Array::<F>::try_from(self.inverses.clone())?;
        let (row, column) = if transposed { (1, self.size) } else { (self.size, 1) };
        times_blocks(r.len(), &blocks, r, &z, self.size, row, column)?;
        Ok(z)
    }
}

/// How an implicit operation is solved: options, and a [`Preconditioner`] or none.
#[derive(Clone, Debug)]
pub struct Solver {
    /// How far and by which method.
    pub options: SolveOptions,
    /// With which approximate inverse.
    pub preconditioner: Option<Preconditioner>,
}

impl Solver {
    pub(super) fn checked(self) -> Result<Solver> {
        self.options.check()?;
        Ok(self)
    }
}

impl From<SolveOptions> for Solver {
    fn from(options: SolveOptions) -> Solver {
        Solver { options, preconditioner: None }
    }
}

impl SolveOptions {
    /// These options, with an approximate inverse.
    pub fn preconditioned(self, preconditioner: Preconditioner) -> Solver {
        Solver { options: self, preconditioner: Some(preconditioner) }
    }
}
