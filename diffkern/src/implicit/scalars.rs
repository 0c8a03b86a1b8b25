//! What iterative solvers calculate on the device, so that nothing of it has to come to the host: numbers in arrays of one
//! element, and vectors with such factors.

use diffkern_macros::diff_kernel;

use crate::array::Array;
use crate::error::Result;
use crate::float::Float;

#[diff_kernel]
fn quotients<F: Float>(a: &Array<F>, b: &Array<F>, q: &mut Array<F>) {
    let d = b[ABSOLUTE_POS];
    let safe = select(d == 0.0, 1.0, d);
    q[ABSOLUTE_POS] = select(d == 0.0, 0.0, a[ABSOLUTE_POS] / safe);
}

#[diff_kernel]
fn roots<F: Float>(a: &Array<F>, r: &mut Array<F>) {
    r[ABSOLUTE_POS] = a[ABSOLUTE_POS].sqrt();
}

#[diff_kernel]
fn accumulate_by<F: Float>(x: &Array<F>, s: &Array<F>, sign: F, y: &mut Array<F>) {
    y[ABSOLUTE_POS] += x[ABSOLUTE_POS] * (s[0] * sign);
}

#[diff_kernel]
fn turn<F: Float>(r: &Array<F>, s: &Array<F>, p: &mut Array<F>) {
    p[ABSOLUTE_POS] = r[ABSOLUTE_POS] + s[0] * p[ABSOLUTE_POS];
}

/// A turn of MINRES: `before` and `now` are `(c, s, c_before, s_before, left)`, the last two rotations and the residual, `factors`
/// what the vectors are multiplied by.
#[diff_kernel]
fn rotate<F: Float>(
    alpha: &Array<F>,
    beta: &Array<F>,
    below: &Array<F>,
    before: &Array<F>,
    now: &mut Array<F>,
    factors: &mut Array<F>,
) {
    let i = ABSOLUTE_POS;
    let c = before[5 * i];
    let s = before[5 * i + 1];
    let c_before = before[5 * i + 2];
    let s_before = before[5 * i + 3];
    let left = before[5 * i + 4];
    let diagonal = c * alpha[i] - c_before * s * beta[i];
    let length = (diagonal * diagonal + below[i] * below[i]).sqrt();
    let safe = select(length == 0.0, 1.0, length);
    let inverse = select(length == 0.0, 0.0, 1.0 / safe);
    let c_next = diagonal * inverse;
    let s_next = below[i] * inverse;
    now[5 * i] = c_next;
    now[5 * i + 1] = s_next;
    now[5 * i + 2] = c;
    now[5 * i + 3] = s;
    now[5 * i + 4] = -s_next * left;
    factors[4 * i] = s_before * beta[i];
    factors[4 * i + 1] = s * alpha[i] + c_before * c * beta[i];
    factors[4 * i + 2] = inverse;
    factors[4 * i + 3] = c_next * left;
}

/// `a / b`, 0 where `b` is 0, as in an iteration that goes on after it has converged.
pub(super) fn quotient<F: Float>(a: &Array<F>, b: &Array<F>) -> Result<Array<F>> {
    let q = a.device().uninit(1)?;
    quotients(1, a, b, &q)?;
    Ok(q)
}

pub(super) fn root<F: Float>(a: &Array<F>) -> Result<Array<F>> {
    let r = a.device().uninit(1)?;
    roots(1, a, &r)?;
    Ok(r)
}

/// `y += sign s x`
pub(super) fn add_by<F: Float>(x: &Array<F>, sign: f64, s: &Array<F>, y: &Array<F>) -> Result<()> {
    accumulate_by(y.len(), x, s, F::from_f64(sign), y)
}

/// `p = r + s p`
pub(super) fn turn_by<F: Float>(r: &Array<F>, s: &Array<F>, p: &Array<F>) -> Result<()> {
    turn(p.len(), r, s, p)
}

/// The rotations and the residual of MINRES after a turn, and the factors of two vectors above the diagonal, of the new
/// direction, and of the direction in the solution.
pub(super) fn rotated<F: Float>(
    (alpha, beta, below): (&Array<F>, &Array<F>, &Array<F>),
    before: &Array<F>,
) -> Result<(Array<F>, Array<F>)> {
    let device = alpha.device();
    let (now, factors) = (device.uninit(5)?, device.uninit(4)?);
    rotate(1, alpha, beta, below, before, &now, &factors)?;
    Ok((now, factors))
}
