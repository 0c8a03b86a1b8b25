//! Products with the Gauss-Newton matrix `J^T M J`: tangents forwards, weighted, and back as adjoints.

use super::Tape;
use super::bars::Shape;
use super::dots::Dots;
use super::hvp::Products;
use super::second::forward;
use crate::array::AnyArray;
use crate::error::{Error, Result};
use crate::kernel::ScalarTy;
use crate::memory;
use crate::tangent::{Direction, Tangents};

/// How the outputs of a program are weighted, the `M` of `J^T M J`: symmetric and without negative eigenvalues.
#[derive(Clone, Copy)]
pub enum Metric<'a> {
    /// The identity: a sum of squares, halved.
    Identity,
    /// A weight for each scalar of the outputs: arrays of the shapes of the outputs.
    Diagonal(&'a [&'a AnyArray]),
    /// `M` times a tangent of the outputs: takes and gives one array per output. For the Hessian of a convex loss by
    /// the outputs, for example.
    Map(&'a dyn Fn(&[AnyArray]) -> Result<Vec<AnyArray>>),
}

impl std::fmt::Debug for Metric<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Metric::Identity => "Identity",
            Metric::Diagonal(_) => "Diagonal(..)",
            Metric::Map(_) => "Map(..)",
        })
    }
}

impl Metric<'_> {
    fn apply(&self, tangents: &[AnyArray]) -> Result<Vec<AnyArray>> {
        match self {
            Metric::Identity => Ok(tangents.to_vec()),
            Metric::Diagonal(weights) => {
                if weights.len() != tangents.len() {
                    return Err(Error::Length { what: "weights", found: weights.len(), expected: tangents.len() });
                }
                weights.iter().zip(tangents).map(|(weight, tangent)| scaled(weight, tangent)).collect()
            }
            Metric::Map(map) => {
                let weighted = map(tangents)?;
                if weighted.len() != tangents.len() {
                    return Err(Error::Length { what: "metric", found: weighted.len(), expected: tangents.len() });
                }
                Ok(weighted)
            }
        }
    }
}

/// The product by scalars.
fn scaled(weight: &AnyArray, tangent: &AnyArray) -> Result<AnyArray> {
    let shape = |a: &AnyArray| (a.elem(), a.scalar(), a.len());
    if shape(weight) != shape(tangent) || weight.device() != tangent.device() {
        return Err(Error::Tape(format!("weights {weight:?} do not have the shape of the output {tangent:?}")));
    }
    let (weights, numbers) = (scalars(weight)?, scalars(tangent)?);
    let products = memory::collect(weights.iter().zip(&numbers).map(|(w, x)| w * x))?;
    upload(tangent, &products)
}

/// The scalars of a real array, on the host.
fn scalars(array: &AnyArray) -> Result<Vec<f64>> {
    let (at, size) = array.byte_range();
    let mut bytes = memory::filled(size, 0u8)?;
    array.device().download(&array.buffer(), at, &mut bytes)?;
    let mut scalars = memory::with_room(bytes.len() / array.scalar().bytes())?;
    decode(array.scalar(), &bytes, &mut scalars);
    Ok(scalars)
}

/// Appends the reals of type `scalar` that these bytes are.
fn decode(scalar: ScalarTy, bytes: &[u8], reals: &mut Vec<f64>) {
    match scalar {
        ScalarTy::F64 => reals.extend(bytes.as_chunks::<8>().0.iter().map(|&word| f64::from_ne_bytes(word))),
        _ => reals.extend(bytes.as_chunks::<4>().0.iter().map(|&word| f64::from(f32::from_ne_bytes(word)))),
    }
}

/// The bytes of these reals as ones of type `scalar`.
fn encode(scalar: ScalarTy, reals: &[f64]) -> Result<Vec<u8>> {
    let mut bytes = memory::with_room(reals.len() * scalar.bytes())?;
    match scalar {
        ScalarTy::F64 => reals.iter().for_each(|x| bytes.extend(x.to_ne_bytes())),
        _ => reals.iter().for_each(|&x| bytes.extend((x as f32).to_ne_bytes())),
    }
    Ok(bytes)
}

/// A whole array like `like` with these scalars.
fn upload(like: &AnyArray, scalars: &[f64]) -> Result<AnyArray> {
    let bytes = encode(like.scalar(), scalars)?;
    let buffer = like.device().alloc(bytes.len())?;
    like.device().upload(&buffer, 0, &bytes)?;
    Ok(AnyArray::over(like.device(), like.scalar(), like.elem(), like.len() as u32, buffer))
}

impl Tape {
    /// Products of `J^T M J` with several directions, where `J` is the derivative of `outputs` by the arrays that asked
    /// for a gradient: the Hessian of a least-squares loss without what the curvature of the program adds.
    ///
    /// ```
    /// # use diffkern::Metric;
    /// # use diffkern::prelude::*;
    /// # #[diff_kernel]
    /// # fn square<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    /// #     y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * x[ABSOLUTE_POS];
    /// # }
    /// let dev = Device::cpu();
    /// let (x, y) = (dev.array(&[1.0, 2.0])?.requires_grad(), dev.uninit(2)?);
    /// let tape = Tape::record(|| square(2, &x, &y))?;
    /// let v = dev.array(&[1.0, 1.0])?;
    /// let products = tape.gauss_newton(&[y.as_any()], Metric::Identity, &[&[(x.as_any(), v.as_any())]])?;
    /// assert_eq!(products.get(0, &x)?.to_vec()?, [4.0, 16.0]); // J is diagonal: 2 and 4
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// One walk forwards with all tangents (rollouts that recompute run their steps once more), and one `backward` per
    /// direction. It needs no feature and no second derivatives.
    ///
    /// # Errors
    /// As [`Tape::hvp`], and when an output depends on no array that asked for a gradient.
    pub fn gauss_newton(
        &self,
        outputs: &[&AnyArray],
        metric: Metric<'_>,
        directions: &[Direction<'_>],
    ) -> Result<Products> {
        let mut products = Vec::new();
        for tangents in self.tangents(outputs, directions)? {
            let weighted = metric.apply(&tangents)?;
            let seeds: Vec<_> = outputs.iter().copied().zip(&weighted).collect();
            let mut bars = self.seeded(&seeds)?;
            self.nodes.iter().rev().try_for_each(|node| node.backward(&mut bars))?;
            products.push(bars);
        }
        Ok(Products::collect(self, None, products))
    }

    /// The matrix `V^T J^T M J V`, row by row, for few directions `V`: its entries are products of tangents, nothing
    /// walks back.
    ///
    /// # Errors
    /// As [`Tape::gauss_newton`].
    pub fn gauss_newton_matrix(
        &self,
        outputs: &[&AnyArray],
        metric: Metric<'_>,
        directions: &[Direction<'_>],
    ) -> Result<Vec<f64>> {
        let numbers = |arrays: &[AnyArray]| -> Result<Vec<f64>> {
            Ok(arrays.iter().map(scalars).collect::<Result<Vec<_>>>()?.concat())
        };
        let (mut plain, mut weighted) = (Vec::new(), Vec::new());
        for tangents in self.tangents(outputs, directions)? {
            weighted.push(numbers(&metric.apply(&tangents)?)?);
            plain.push(numbers(&tangents)?);
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        Ok(plain.iter().flat_map(|a| weighted.iter().map(|b| dot(a, b))).collect())
    }

    /// By direction, the tangent of each output at the end of the program.
    fn tangents(&self, outputs: &[&AnyArray], directions: &[Direction<'_>]) -> Result<Vec<Vec<AnyArray>>> {
        self.ready("gauss_newton")?;
        if let Some(output) = outputs.iter().find(|output| !self.tracked.contains(&output.id())) {
            return Err(Error::Tape(format!(
                "output {} does not depend on any array that requires a gradient",
                output.label()
            )));
        }
        let mut dots = self.moved(directions)?;
        forward(&self.nodes, &mut dots, false)?;
        dots.iter().map(|dots| outputs.iter().map(|output| tangent(dots, output)).collect()).collect()
    }
}

/// The tangent of the elements of `output`.
fn tangent(dots: &Dots, output: &AnyArray) -> Result<AnyArray> {
    let (shape, device) = (Shape::of(output), output.device());
    let (at, bytes) = shape.byte_range();
    let buffer = device.alloc_zeroed(bytes)?;
    if let Some(dot) = dots.get(&shape) {
        device.copy(&dot, at, &buffer, 0, bytes)?;
    }
    Ok(AnyArray::over(device, output.scalar(), output.elem(), output.len() as u32, buffer))
}
