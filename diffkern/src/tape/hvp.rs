//! Hessian-vector products over a whole tape.

use super::bars::{Bars, Shape};
use super::dots::Dots;
use super::ledger::Kept;
use super::second::{forward, second};
use super::{Tape, context, one};
use crate::array::{AnyArray, Array};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::ids::IdMap;
use crate::launch::observers::{self, Roles};
use crate::tangent::{Direction, Tangents, named_twice, twice};

/// What [`Tape::hvp`] and [`Tape::gauss_newton`] return: a gradient and products of a matrix with some directions, each
/// with a part for every array of the tape that asked for a gradient.
#[derive(Debug)]
pub struct Products {
    by_id: IdMap<Parts>,
}

#[derive(Debug)]
struct Parts {
    gradient: Option<AnyArray>,
    /// One per direction; none where it is zero.
    products: Vec<Option<AnyArray>>,
}

impl Products {
    pub(super) fn collect(tape: &Tape, mut bars: Option<Bars>, mut products: Vec<Bars>) -> Products {
        let array = |leaf: &AnyArray, kept: Option<Kept>| {
            let whole =
                |kept: Kept| (leaf.device(), leaf.scalar(), leaf.elem(), leaf.base_len(), kept.buffer().clone());
            kept.map(whole).map(|(device, scalar, elem, len, buffer)| AnyArray::over(device, scalar, elem, len, buffer))
        };
        let parts = |(&id, leaf): (&u64, &AnyArray)| {
            let gradient = array(leaf, bars.as_mut().and_then(|bars| bars.take(id)));
            let products = products.iter_mut().map(|bars| array(leaf, bars.take(id))).collect();
            (id, Parts { gradient, products })
        };
        Products { by_id: tape.leaves.iter().map(parts).collect() }
    }

    /// The product with direction `k`, its part for `array`: zero where the array has no influence.
    ///
    /// # Errors
    /// When there is no such direction, or the tape does not know the array as one that asked for a gradient.
    pub fn get<T: Element>(&self, k: usize, array: &Array<T>) -> Result<Array<T>> {
        Array::try_from(self.get_any(k, array.as_any())?)
    }

    /// The same for an array whose type is known at run time only.
    ///
    /// # Errors
    /// As [`Products::get`].
    pub fn get_any(&self, k: usize, array: &AnyArray) -> Result<AnyArray> {
        let parts = self.parts(array)?;
        let count = parts.products.len();
        let product = parts.products.get(k).ok_or_else(|| Error::Tape(format!("direction {k} of {count}")))?;
        of(array, product.as_ref())
    }

    /// The gradient, its part for `array`; it comes along at no cost. Zero after [`Tape::gauss_newton`].
    ///
    /// # Errors
    /// When the tape does not know the array as one that asked for a gradient.
    pub fn gradient<T: Element>(&self, array: &Array<T>) -> Result<Array<T>> {
        Array::try_from(of(array.as_any(), self.parts(array.as_any())?.gradient.as_ref())?)
    }

    fn parts(&self, array: &AnyArray) -> Result<&Parts> {
        self.by_id.get(&array.id()).ok_or_else(|| unknown(array))
    }
}

fn unknown(array: &AnyArray) -> Error {
    Error::Tape(format!(
        "{} did not take part in the recording as one that requires a gradient; call `requires_grad` on it before",
        array.label()
    ))
}

/// The elements of the view `array` out of the derivative of the whole array.
fn of(array: &AnyArray, whole: Option<&AnyArray>) -> Result<AnyArray> {
    let ((at, bytes), device) = (array.byte_range(), array.device());
    let buffer = device.alloc_zeroed(bytes)?;
    if let Some(whole) = whole {
        device.copy(&whole.buffer(), at, &buffer, 0, bytes)?;
    }
    Ok(AnyArray::over(device, array.scalar(), array.elem(), array.len() as u32, buffer))
}

impl Tape {
    /// Products of the Hessian of `loss` with several directions, each a list of arrays with what they move by. The
    /// Hessian is that by all arrays that asked for a gradient; arrays that a direction does not name do not move.
    ///
    #[cfg_attr(feature = "second-order", doc = "```")]
    #[cfg_attr(not(feature = "second-order"), doc = "```ignore")]
    /// # use diffkern::prelude::*;
    /// # #[diff_kernel]
    /// # fn sum_of_cubes<F: Float>(x: &Array<F>, loss: &mut Array<F>) {
    /// #     let v = x[ABSOLUTE_POS];
    /// #     loss[0] += v * v * v;
    /// # }
    /// # fn main() -> Result<()> {
    /// # let dev = Device::cpu();
    /// let x = dev.array(&[1.0, 2.0])?.requires_grad();
    /// let v = dev.array(&[1.0, 10.0])?;
    /// let loss = dev.zeros::<f64>(1)?;
    /// let tape = Tape::record(|| sum_of_cubes(x.len(), &x, &loss))?;
    /// let products = tape.hvp(&loss, &[&[(x.as_any(), v.as_any())]])?;
    /// assert_eq!(products.get(0, &x)?.to_vec()?, [6.0, 120.0]);
    /// assert_eq!(products.gradient(&x)?.to_vec()?, [3.0, 12.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Needs the feature `second-order`. Forward over reverse: exact, one-sided at kinks like the gradient itself. Leaves
    /// [`Array::grad`] alone. The tape keeps no more for it while it records. Each call carries the tangents through the
    /// tape, one launch of a tangent per launch and direction, and walks back once with one launch of an adjoint's tangent
    /// per launch and direction; it needs as many bytes as the tape keeps, per direction. A rollout that recomputes does
    /// so in its schedule, with tangents beside each kept state, and a rollout within a budget stays there: it keeps
    /// fewer states, and forgets the tapes of its steps where these no longer fit.
    ///
    /// # Errors
    /// As [`Tape::backward`]; when a direction does not fit its array or names one that did not ask for a gradient before
    /// the recording; without the feature `second-order`; when a rollout's budget is too small for the tangents.
    pub fn hvp<T: Element>(&self, loss: &Array<T>, directions: &[Direction<'_>]) -> Result<Products> {
        self.hvp_from(&[(loss.as_any(), &one(loss.as_any())?)], directions)
    }

    /// The same for several outputs, each with the derivative of the loss by its elements, as constants: the Hessian is
    /// that of the sum of their products.
    ///
    /// # Errors
    /// As [`Tape::hvp`], and when a seed does not have the shape of its output.
    pub fn hvp_from(&self, seeds: &[(&AnyArray, &AnyArray)], directions: &[Direction<'_>]) -> Result<Products> {
        self.ready("hvp")?;
        let mut bars = self.seeded(seeds)?;
        let mut dots = self.moved(directions)?;
        let trails = forward(&self.nodes, &mut dots, true)?;
        drop(dots);
        let mut bar_dots: Vec<Bars> = directions.iter().map(|_| Bars::new(&self.ledger)).collect();
        second(&self.nodes, trails, &mut bars, &mut bar_dots)?;
        Ok(Products::collect(self, Some(bars), bar_dots))
    }

    pub(super) fn ready(&self, what: &str) -> Result<()> {
        if context::is_recording() || context::is_stepping() || observers::is_played(Roles::TANGENTS) {
            return Err(Error::Tape(format!("`{what}` inside a recording, a rollout or `jvp`; leave it first")));
        }
        Ok(())
    }

    /// Adjoints that are the seeds.
    pub(super) fn seeded(&self, seeds: &[(&AnyArray, &AnyArray)]) -> Result<Bars> {
        let mut bars = Bars::new(&self.ledger);
        for (output, seed) in seeds {
            self.check_seed(output, seed)?;
            bars.add_part(&Shape::of(output), &seed.buffer(), seed.byte_range().0)?;
        }
        Ok(bars)
    }

    /// Tangents that are the directions.
    pub(super) fn moved(&self, directions: &[Direction<'_>]) -> Result<Vec<Dots>> {
        let moved = |direction: &Direction<'_>| {
            let mut dots = Dots::new(&self.ledger);
            if let Some(array) = named_twice(direction) {
                return Err(Error::Tape(twice(array)));
            }
            for (array, by) in *direction {
                if !self.leaves.contains_key(&array.id()) {
                    return Err(unknown(array));
                }
                let shape = |a: &AnyArray| (a.elem(), a.scalar(), a.len());
                if shape(array) != shape(by) || array.device() != by.device() {
                    return Err(Error::Tape(format!(
                        "{by:?} is not a direction for {array:?}: shape, type and device must agree"
                    )));
                }
                dots.write(&Shape::of(array), Some((&by.buffer(), by.byte_range().0)))?;
            }
            Ok(dots)
        };
        directions.iter().map(moved).collect()
    }
}
