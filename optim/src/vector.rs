//! What optimizers do with parameters, gradients and directions: linear combinations and inner products.

use diffkern::{Array, Float, arith, reduce};

use crate::error::{Error, Result, same_length};

/// Parameters, gradients and directions as a vector: numbers on the host (`Vec<f64>`), or arrays of any device
/// ([`Arrays`]), of which nothing but inner products comes to the host.
pub trait Vector: Sized {
    /// Number of reals.
    fn reals(&self) -> usize;

    /// The inner products of some pairs, with one read from the device for all of them.
    ///
    /// # Errors
    /// When the shapes differ or the device fails.
    fn dots(pairs: &[(&Self, &Self)]) -> Result<Vec<f64>>;

    /// `s a + t b`, a new vector.
    ///
    /// # Errors
    /// As [`Vector::dots`].
    fn combine(s: f64, a: &Self, t: f64, b: &Self) -> Result<Self>;

    /// `s a`, a new vector.
    ///
    /// # Errors
    /// When memory is short or the device fails.
    fn scaled(&self, s: f64) -> Result<Self>;

    /// Zeros of the shape of this one.
    ///
    /// # Errors
    /// When memory is short or the device fails.
    fn zeros(&self) -> Result<Self>;

    /// Writes the elements of another vector over these. Arrays stay the same arrays.
    ///
    /// # Errors
    /// As [`Vector::dots`].
    fn assign(&mut self, value: &Self) -> Result<()>;

    /// Rounding of its reals, relative.
    fn epsilon() -> f64;

    /// A copy of all reals: for a state that goes to a file, nothing else.
    ///
    /// # Errors
    /// When the device fails.
    fn to_host(&self) -> Result<Host>;

    /// A new vector of the shape of this one, with these reals.
    ///
    /// # Errors
    /// When the shapes differ, memory is short or the device fails.
    fn like(&self, host: &Host) -> Result<Self>;

    /// `<self, other>`: one read from the device.
    ///
    /// # Errors
    /// As [`Vector::dots`].
    fn dot(&self, other: &Self) -> Result<f64> {
        Ok(Self::dots(&[(self, other)])?[0])
    }

    /// Euclidean norm: one read from the device.
    ///
    /// # Errors
    /// When the device fails.
    fn norm(&self) -> Result<f64> {
        Ok(self.dot(self)?.sqrt())
    }
}

/// Parameters on a device: some arrays of reals, all on the same one. Vectors and matrices are reals by
/// [`diffkern::arith::components`] or a kernel of the program.
pub type Arrays<F> = Vec<Array<F>>;

/// The reals of a [`Vector`], array by array: what a state is kept as. `f64` holds each `f32`, so nothing is lost.
pub type Host = Vec<Vec<f64>>;

impl Vector for Vec<f64> {
    fn reals(&self) -> usize {
        self.len()
    }

    fn dots(pairs: &[(&Self, &Self)]) -> Result<Vec<f64>> {
        let dot = |(a, b): &(&Self, &Self)| {
            same_length("a vector", b.len(), a.len())?;
            Ok(a.iter().zip(*b).map(|(a, b)| a * b).sum())
        };
        pairs.iter().map(dot).collect()
    }

    fn combine(s: f64, a: &Self, t: f64, b: &Self) -> Result<Self> {
        same_length("a vector", b.len(), a.len())?;
        Ok(a.iter().zip(b).map(|(a, b)| s * a + t * b).collect())
    }

    fn scaled(&self, s: f64) -> Result<Self> {
        Ok(self.iter().map(|a| s * a).collect())
    }

    fn zeros(&self) -> Result<Self> {
        Ok(vec![0.0; self.len()])
    }

    fn assign(&mut self, value: &Self) -> Result<()> {
        same_length("a vector", value.len(), self.len())?;
        self.clone_from(value);
        Ok(())
    }

    fn epsilon() -> f64 {
        f64::EPSILON
    }

    fn to_host(&self) -> Result<Host> {
        Ok(vec![self.clone()])
    }

    fn like(&self, host: &Host) -> Result<Self> {
        same_length("vectors of a state", host.len(), 1)?;
        same_length("numbers of a state", host[0].len(), self.len())?;
        Ok(host[0].clone())
    }
}

impl<F: Float> Vector for Arrays<F> {
    fn reals(&self) -> usize {
        self.iter().map(Array::len).sum()
    }

    fn dots(pairs: &[(&Self, &Self)]) -> Result<Vec<f64>> {
        let products = pairs.iter().map(|(a, b)| inner(a, b)).collect::<Result<Vec<_>>>()?;
        let read = match products.as_slice() {
            [] => Vec::new(),
            [product] => product.to_vec()?,
            [product, ..] => {
                let all = product.device().uninit(products.len())?;
                for (k, product) in products.iter().enumerate() {
                    all.slice(k..=k)?.copy_from(product)?;
                }
                all.to_vec()?
            }
        };
        Ok(read.into_iter().map(Float::to_f64).collect())
    }

    fn combine(s: f64, a: &Self, t: f64, b: &Self) -> Result<Self> {
        same_arrays(b, a)?;
        let (s, t) = (F::from_f64(s), F::from_f64(t));
        a.iter().zip(b).map(|(a, b)| Ok(arith::scaled_sum(&[(s, a), (t, b)])?)).collect()
    }

    fn scaled(&self, s: f64) -> Result<Self> {
        self.iter().map(|a| Ok(arith::scale(a, F::from_f64(s))?)).collect()
    }

    fn zeros(&self) -> Result<Self> {
        self.iter().map(|a| Ok(a.device().zeros(a.len())?)).collect()
    }

    fn assign(&mut self, value: &Self) -> Result<()> {
        same_arrays(value, self)?;
        self.iter().zip(value).try_for_each(|(a, b)| Ok(a.copy_from(b)?))
    }

    fn epsilon() -> f64 {
        // `f32` has no number between 1 and this one.
        match F::from_f64(1.0 + f64::EPSILON) > F::one() {
            true => f64::EPSILON,
            false => f64::from(f32::EPSILON),
        }
    }

    fn to_host(&self) -> Result<Host> {
        self.iter().map(|a| Ok(a.to_vec()?.into_iter().map(Float::to_f64).collect())).collect()
    }

    fn like(&self, host: &Host) -> Result<Self> {
        same_length("arrays of a state", host.len(), self.len())?;
        let array = |(a, numbers): (&Array<F>, &Vec<f64>)| {
            same_length("elements of an array of a state", numbers.len(), a.len())?;
            let numbers: Vec<F> = numbers.iter().map(|x| F::from_f64(*x)).collect();
            Ok(a.device().array(&numbers)?)
        };
        self.iter().zip(host).map(array).collect()
    }
}

/// `<a, b>` on the device, an array of one.
fn inner<F: Float>(a: &Arrays<F>, b: &Arrays<F>) -> Result<Array<F>> {
    if a.is_empty() {
        return Err(Error::Length { what: "arrays of parameters".to_owned(), found: 0, expected: 1 });
    }
    same_arrays(b, a)?;
    let parts = a.iter().zip(b).map(|(a, b)| Ok(reduce::dot(a, b)?)).collect::<Result<Vec<_>>>()?;
    match parts.as_slice() {
        [part] => Ok(part.clone()),
        parts => {
            let terms: Vec<_> = parts.iter().map(|part| (F::one(), part)).collect();
            Ok(arith::scaled_sum(&terms)?)
        }
    }
}

/// As many arrays, each as long.
pub(crate) fn same_arrays<F: Float>(found: &[Array<F>], expected: &[Array<F>]) -> Result<()> {
    same_length("arrays", found.len(), expected.len())?;
    let mut pairs = found.iter().zip(expected).enumerate();
    pairs.try_for_each(|(k, (a, b))| same_length(&format!("elements of array {k}"), a.len(), b.len()))
}
