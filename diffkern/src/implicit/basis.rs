//! Orthonormal vectors of one length, on the device.

use diffkern_macros::diff_kernel;

use crate::array::Array;
use crate::error::{Error, Result};
use crate::float::Float;

/// Vectors that lie in one array.
const TOGETHER: usize = 10;

/// Part `b` of `<q_j, v>`, of the elements from `b * size` on, for position `j * parts + b`. Four at a time, since an addition waits for
/// the one before.
#[diff_kernel]
fn partial_products<F: Float>(q: &Array<F>, v: &Array<F>, sums: &mut Array<F>, parts: usize, size: usize) {
    let (j, b, n) = (ABSOLUTE_POS / parts, ABSOLUTE_POS % parts, v.len());
    let lo = b * size;
    let hi = (lo + size).min(n);
    let mut sum = F::new(0.0);
    let quads = (hi - lo) / 4;
    for quad in 0..quads {
        let e = lo + 4 * quad;
        let at = j * n + e;
        sum += (q[at] * v[e] + q[at + 1] * v[e + 1]) + (q[at + 2] * v[e + 2] + q[at + 3] * v[e + 3]);
    }
    for e in lo + 4 * quads..hi {
        sum += q[j * n + e] * v[e];
    }
    sums[ABSOLUTE_POS] = sum;
}

#[diff_kernel]
fn add_up<F: Float>(sums: &Array<F>, h: &mut Array<F>, parts: usize) {
    let mut sum = F::new(0.0);
    for b in 0..parts {
        sum += sums[ABSOLUTE_POS * parts + b];
    }
    h[ABSOLUTE_POS] = sum;
}

/// `v += sign sum_j h_j q_j`
#[diff_kernel]
fn combine<F: Float>(q: &Array<F>, h: &Array<F>, sign: F, v: &mut Array<F>) {
    let n = v.len();
    let mut sum = F::new(0.0);
    let quads = h.len() / 4;
    for quad in 0..quads {
        let j = 4 * quad;
        let at = j * n + ABSOLUTE_POS;
        sum += (q[at] * h[j] + q[at + n] * h[j + 1]) + (q[at + 2 * n] * h[j + 2] + q[at + 3 * n] * h[j + 3]);
    }
    for j in 4 * quads..h.len() {
        sum += q[j * n + ABSOLUTE_POS] * h[j];
    }
    v[ABSOLUTE_POS] += sum * sign;
}

/// Vectors `q_0, q_1, ..`, to which more are added.
pub(super) struct Basis<F: Float> {
    chunks: Vec<Array<F>>,
    /// Elements of a vector.
    n: usize,
    len: usize,
}

impl<F: Float> Basis<F> {
    /// With its first vector.
    pub(super) fn new(first: &Array<F>) -> Result<Basis<F>> {
        let mut basis = Basis { chunks: Vec::new(), n: first.len(), len: 0 };
        basis.push(first)?;
        Ok(basis)
    }

    pub(super) fn push(&mut self, q: &Array<F>) -> Result<()> {
        let (n, at) = (self.n, self.len % TOGETHER);
        if at == 0 {
            let size = n.checked_mul(TOGETHER).filter(|&size| u32::try_from(size).is_ok());
            let size = size.ok_or_else(|| {
                Error::Invalid(format!(
                    "GMRES: {TOGETHER} vectors of {n} reals are one array, at most {} fit",
                    u32::MAX
                ))
            })?;
            self.chunks.push(q.device().uninit(size)?);
        }
        self.len += 1;
        self.chunks[(self.len - 1) / TOGETHER].slice(at * n..(at + 1) * n)?.copy_from(q)
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn last(&self) -> Result<Array<F>> {
        let (chunk, at) = ((self.len - 1) / TOGETHER, (self.len - 1) % TOGETHER);
        self.chunks[chunk].slice(at * self.n..(at + 1) * self.n)
    }

    /// The chunks with the elements of an array that has one for each vector.
    fn with<'a>(&'a self, h: &'a Array<F>) -> impl Iterator<Item = Result<(&'a Array<F>, Array<F>)>> {
        self.chunks.iter().enumerate().map(|(c, chunk)| {
            let from = c * TOGETHER;
            Ok((chunk, h.slice(from..self.len.min(from + TOGETHER))?))
        })
    }

    /// `h = Q^T v`, then `v -= Q h`: classical Gram and Schmidt, a few launches for all vectors.
    fn project(&self, v: &Array<F>) -> Result<Array<F>> {
        let device = v.device();
        let h = device.uninit(self.len)?;
        let size = (self.n as f64).sqrt().ceil().max(64.0) as usize;
        let parts = self.n.div_ceil(size);
        for pair in self.with(&h) {
            let (q, h) = pair?;
            let sums = device.uninit(h.len() * parts)?;
            partial_products(sums.len(), q, v, &sums, parts, size)?;
            add_up(h.len(), &sums, &h, parts)?;
        }
        self.add(&h, -1.0, v)?;
        Ok(h)
    }

    /// Makes `v` orthogonal to all: what it had of each. Twice, which is enough (Giraud, Langou and Rozložník 2005).
    pub(super) fn orthogonalise(&self, v: &Array<F>) -> Result<Array<F>> {
        let (first, rest) = (self.project(v)?, self.project(v)?);
        crate::arith::add_scaled(&rest, F::one(), &first)?;
        Ok(first)
    }

    /// `v += sign sum_j h_j q_j`
    pub(super) fn add(&self, h: &Array<F>, sign: f64, v: &Array<F>) -> Result<()> {
        self.with(h).try_for_each(|pair| {
            let (q, h) = pair?;
            combine(self.n, q, &h, F::from_f64(sign), v)
        })
    }
}
