//! Iterative solvers of linear systems over an operator that is only applied. Vectors and what they are multiplied by stay on
//! the device; every ten iterations the host asks how far they are.

use std::cell::Cell;

use super::basis::Basis;
use super::scalars::{add_by, quotient, root, rotated, turn_by};
use super::vectors::with_real;
use super::{Method, Solver};
use crate::arith;
use crate::array::{AnyArray, Array};
use crate::error::Result;
use crate::float::Float;
use crate::reduce;
use crate::tape::context::quietly;

/// Iterations between two questions.
const EVERY: usize = 10;
/// How often what a recurrence has lost is solved for, at most.
const REFINEMENTS: usize = 3;

/// What was found, and after how many iterations.
type Found<F> = (Array<F>, usize);

thread_local! {
    /// How often this thread has waited for numbers, for tests.
    static READS: Cell<usize> = const { Cell::new(0) };
}

fn read<F: Float>(numbers: &Array<F>) -> Result<Vec<f64>> {
    READS.set(READS.get() + 1);
    Ok(numbers.to_vec()?.into_iter().map(F::to_f64).collect())
}

fn norm<F: Float>(a: &Array<F>) -> Result<f64> {
    Ok(read(&reduce::squared_norm(a)?)?[0].sqrt())
}

fn norms_of<F: Float, const N: usize>(vectors: [&AnyArray; N]) -> Result<[f64; N]> {
    let squares = vectors[0].device().uninit::<F>(N)?;
    for (k, vector) in vectors.into_iter().enumerate() {
        squares.slice(k..k + 1)?.copy_from(&reduce::squared_norm(&Array::<F>::try_from(vector.clone())?)?)?;
    }
    let found = read(&squares)?;
    Ok(std::array::from_fn(|k| found[k].sqrt()))
}

/// The Euclidean norms of vectors, which come to the host together.
pub(super) fn norms<const N: usize>(vectors: [&AnyArray; N]) -> Result<[f64; N]> {
    with_real!(vectors[0].scalar(), F => quietly(|| norms_of::<F, N>(vectors)))
}

fn copy<F: Float>(a: &Array<F>) -> Result<Array<F>> {
    arith::scale(a, F::one())
}

fn zero<F: Float>(like: &Array<F>) -> Result<Array<F>> {
    like.device().zeros(like.len())
}

/// What multiplies a vector by a matrix, or solves with one nearly.
type Multiply<'a, F> = dyn Fn(&Array<F>) -> Result<Array<F>> + 'a;

/// `A x = b`, with an approximate inverse `M` of `A`, the identity if there is none.
struct System<'a, F: Float> {
    apply: &'a mut dyn FnMut(&Array<F>) -> Result<Array<F>>,
    inverse: Option<&'a Multiply<'a, F>>,
    b: &'a Array<F>,
    /// The norm of `b`.
    size: f64,
    /// The norm of a residual that is small enough.
    goal: f64,
    most: usize,
}

impl<F: Float> System<'_, F> {
    /// `A x`
    fn times(&mut self, x: &Array<F>) -> Result<Array<F>> {
        (self.apply)(x)
    }

    /// `M r`, which may be `r` itself.
    fn nearly(&self, r: &Array<F>) -> Result<Array<F>> {
        self.inverse.map_or_else(|| Ok(r.clone()), |inverse| inverse(r))
    }

    /// `A M y`
    fn both(&mut self, y: &Array<F>) -> Result<Array<F>> {
        let x = self.nearly(y)?;
        self.times(&x)
    }

    fn residual(&mut self, x: &Array<F>) -> Result<Array<F>> {
        arith::sub(self.b, &self.times(x)?)
    }

    /// The residual and its norm.
    fn left(&mut self, x: &Array<F>) -> Result<(Array<F>, f64)> {
        let residual = self.residual(x)?;
        let left = norm(&residual)?;
        Ok((residual, left))
    }

    /// Whether nothing is left to be done, or nothing can be.
    fn ends(&self, left: f64) -> bool {
        left <= self.goal || !left.is_finite()
    }

    fn solve(&mut self, method: Method) -> Result<Found<F>> {
        match method {
            Method::Cg => cg(self),
            Method::Gmres { restart } => gmres(self, restart.max(1)),
            Method::Minres => minres(self),
            Method::BiCgStab => bicgstab(self),
            Method::Iterate => richardson(self),
        }
    }
}

/// Solves `A x = b` from `x = 0`, where `apply` gives `A x` in an array of its own, and checks the residual of what it found.
/// The approximate inverse of the solver is one of `A`, or of `A^T` where `transposed`.
///
/// # Errors
/// When it does not converge; the message has the residual.
pub(super) fn solve(
    what: &'static str,
    (solver, transposed): (&Solver, bool),
    apply: &mut dyn FnMut(&AnyArray) -> Result<AnyArray>,
    b: &AnyArray,
) -> Result<AnyArray> {
    solver.preconditioner.as_ref().map_or(Ok(()), |preconditioner| preconditioner.check(b))?;
    with_real!(b.scalar(), F => {
        let mut apply = |x: &Array<F>| Array::<F>::try_from(apply(x.as_any())?);
        let b = Array::<F>::try_from(b.clone())?;
        quietly(|| Ok(solved(what, (solver, transposed), &mut apply, &b)?.as_any().clone()))
    })
}

fn solved<F: Float>(
    what: &'static str,
    (solver, transposed): (&Solver, bool),
    apply: &mut dyn FnMut(&Array<F>) -> Result<Array<F>>,
    b: &Array<F>,
) -> Result<Array<F>> {
    let (options, size) = (&solver.options, norm(b)?);
    if size == 0.0 {
        return zero(b);
    }
    let inverse = solver.preconditioner.as_ref().map(|nearly| move |r: &Array<F>| nearly.apply(r, transposed));
    let inverse = inverse.as_ref().map(|inverse| inverse as &Multiply<'_, F>);
    let goal = options.tolerance * size;
    let mut system = System { apply, inverse, b, size, goal, most: options.iterations };
    let (x, mut iterations) = system.solve(options.method)?;
    let (mut residual, mut left) = system.left(&x)?;
    // Recurrences lose a little of what they claim; more of systems of high condition, whose residual is then solved for.
    for _ in 0..REFINEMENTS {
        if left <= 2.0 * goal || !left.is_finite() {
            break;
        }
        let mut rest = System { apply: &mut *system.apply, inverse, b: &residual, size: left, goal, most: system.most };
        let (more, taken) = rest.solve(options.method)?;
        arith::add_scaled(&more, F::one(), &x)?;
        let (further, now) = system.left(&x)?;
        iterations += taken;
        let slow = now.is_nan() || now > 0.5 * left;
        (residual, left) = (further, now);
        if slow {
            break;
        }
    }
    match left <= 2.0 * goal {
        true => Ok(x),
        false => Err(options.missed(what, iterations, left / size)),
    }
}

/// Whether iteration `k` is one after which the host asks.
fn asks(k: usize) -> bool {
    k > 0 && k.is_multiple_of(EVERY)
}

/// `M` is symmetric and positive, too.
fn cg<F: Float>(system: &mut System<'_, F>) -> Result<Found<F>> {
    let (x, r) = (zero(system.b)?, copy(system.b)?);
    let p = copy(&system.nearly(&r)?)?;
    let mut rho = reduce::dot(&r, &p)?;
    for k in 0..system.most {
        if asks(k) && system.ends(norm(&r)?) {
            return Ok((x, k));
        }
        let image = system.times(&p)?;
        let step = quotient(&rho, &reduce::dot(&p, &image)?)?;
        add_by(&p, 1.0, &step, &x)?;
        add_by(&image, -1.0, &step, &r)?;
        let z = system.nearly(&r)?;
        let next = reduce::dot(&r, &z)?;
        turn_by(&z, &quotient(&next, &rho)?, &p)?;
        rho = next;
    }
    Ok((x, system.most))
}

/// `x += M (b - A x)`: with `A = I - G` the iteration of a fixed point.
fn richardson<F: Float>(system: &mut System<'_, F>) -> Result<Found<F>> {
    let x = zero(system.b)?;
    for k in 0..system.most {
        let r = system.residual(&x)?;
        if asks(k) && system.ends(norm(&r)?) {
            return Ok((x, k));
        }
        arith::add_scaled(&system.nearly(&r)?, F::one(), &x)?;
    }
    Ok((x, system.most))
}

/// Lanczos' method, its tridiagonal matrix made triangular by rotations as it grows. With `M`, which is symmetric and positive, its
/// vectors `p` are orthogonal in the inner product `p^T M p`, and `z = M p` (Elman, Silvester and Wathen 2014, algorithm 4.1).
fn minres<F: Float>(system: &mut System<'_, F>) -> Result<Found<F>> {
    let b = system.b;
    let (x, mut p_before, mut w, mut w_before) = (zero(b)?, zero(b)?, zero(b)?, zero(b)?);
    let z = system.nearly(b)?;
    let start = match system.inverse {
        None => system.size,
        Some(_) => read(&reduce::dot(b, &z)?)?[0].sqrt(),
    };
    if !start.is_finite() {
        return Ok((x, 0));
    }
    let unit = F::from_f64(1.0 / start);
    let (mut p, mut z) = (arith::scale(b, unit)?, arith::scale(&z, unit)?);
    let mut beta = b.device().array(&[F::from_f64(start)])?;
    let mut turned = b.device().array(&[1.0, 0.0, 1.0, 0.0, start].map(F::from_f64))?;
    for k in 0..system.most {
        if asks(k) {
            // The recurrence has the norm of the residual that `M` makes.
            let left = match system.inverse {
                None => read(&turned.slice(4..5)?)?[0].abs(),
                Some(_) => norm(&system.residual(&x)?)?,
            };
            if system.ends(left) {
                return Ok((x, k));
            }
        }
        let next = system.times(&z)?;
        let alpha = reduce::dot(&z, &next)?;
        add_by(&p, -1.0, &alpha, &next)?;
        add_by(&p_before, -1.0, &beta, &next)?;
        let z_next = system.nearly(&next)?;
        let below = root(&reduce::dot(&next, &z_next)?)?;
        let (now, factors) = rotated((&alpha, &beta, &below), &turned)?;
        let unscaled = copy(&z)?;
        add_by(&w_before, -1.0, &factors.slice(0..1)?, &unscaled)?;
        add_by(&w, -1.0, &factors.slice(1..2)?, &unscaled)?;
        let direction = arith::scale_by(&unscaled, &factors.slice(2..3)?)?;
        add_by(&direction, 1.0, &factors.slice(3..4)?, &x)?;
        let inverse = inverse(&below)?;
        (w_before, w, p_before) = (w, direction, p);
        (p, z) = (arith::scale_by(&next, &inverse)?, arith::scale_by(&z_next, &inverse)?);
        (beta, turned) = (below, now);
    }
    Ok((x, system.most))
}

/// `1 / a`, 0 where `a` is: Lanczos' and Arnoldi's methods end where the space has no further vector.
fn inverse<F: Float>(a: &Array<F>) -> Result<Array<F>> {
    quotient(&a.device().full(1, F::one())?, a)
}

/// Two products an iteration, of `A M`. Where a factor would be infinite it is 0, which starts anew.
fn bicgstab<F: Float>(system: &mut System<'_, F>) -> Result<Found<F>> {
    let b = system.b;
    let (y, r, p) = (zero(b)?, copy(b)?, copy(b)?);
    let mut rho = reduce::dot(b, &r)?;
    for k in 0..system.most {
        if asks(k) && system.ends(norm(&r)?) {
            return Ok((system.nearly(&y)?, k));
        }
        let v = system.both(&p)?;
        let alpha = quotient(&rho, &reduce::dot(b, &v)?)?;
        add_by(&p, 1.0, &alpha, &y)?;
        add_by(&v, -1.0, &alpha, &r)?;
        let t = system.both(&r)?;
        let omega = quotient(&reduce::dot(&t, &r)?, &reduce::squared_norm(&t)?)?;
        add_by(&r, 1.0, &omega, &y)?;
        add_by(&t, -1.0, &omega, &r)?;
        let next = reduce::dot(b, &r)?;
        let beta = arith::multiply(&quotient(&next, &rho)?, &quotient(&alpha, &omega)?)?;
        rho = next;
        add_by(&v, -1.0, &omega, &p)?;
        turn_by(&r, &beta, &p)?;
    }
    Ok((system.nearly(&y)?, system.most))
}

fn gmres<F: Float>(system: &mut System<'_, F>, restart: usize) -> Result<Found<F>> {
    let (x, mut used) = (zero(system.b)?, 0);
    let (mut r, mut left) = (copy(system.b)?, system.size);
    while used < system.most && !system.ends(left) {
        let (better, turns) = cycle(system, (&r, left), restart.min(system.most - used), &x)?;
        used += turns;
        if !better {
            break;
        }
        r = system.residual(&x)?;
        left = norm(&r)?;
    }
    Ok((x, used))
}

/// One cycle of GMRES: minimises the residual over a Krylov space of `A M`, by Arnoldi's method and Givens
/// rotations. Adds what it
/// found to `x`, if anything.
fn cycle<F: Float>(
    system: &mut System<'_, F>,
    (r, start): (&Array<F>, f64),
    most: usize,
    x: &Array<F>,
) -> Result<(bool, usize)> {
    let mut basis = Basis::new(&arith::scale(r, F::from_f64(1.0 / start))?)?;
    let mut triangle = Triangle::new(start);
    let rows = most + 1;
    let entries = r.device().zeros::<F>(rows * most)?;
    for k in 0..most {
        let v = system.both(&basis.last()?)?;
        let column = k * rows;
        entries.slice(column..column + k + 1)?.copy_from(&basis.orthogonalise(&v)?)?;
        let below = root(&reduce::squared_norm(&v)?)?;
        entries.slice(column + k + 1..column + k + 2)?.copy_from(&below)?;
        basis.push(&arith::scale_by(&v, &inverse(&below)?)?)?;
        if asks(k + 1) || k + 1 == most {
            let from = triangle.columns.len();
            let found = read(&entries.slice(from * rows..(k + 1) * rows)?)?;
            let mut columns = found.chunks(rows).enumerate();
            if columns.any(|(j, column)| triangle.add(&column[..from + j + 2], system.goal)) {
                break;
            }
        }
    }
    let y = triangle.solved();
    let mut factors: Vec<F> = y.iter().copied().map(F::from_f64).collect();
    factors.resize(basis.len(), F::zero());
    let sum = zero(x)?;
    basis.add(&r.device().array(&factors)?, 1.0, &sum)?;
    arith::add_scaled(&system.nearly(&sum)?, F::one(), x)?;
    Ok((y.iter().any(|y| *y != 0.0), y.len().max(1)))
}

/// The least squares problem of a cycle: columns of the triangle, the rotations that made it, the rotated right-hand side.
struct Triangle {
    columns: Vec<Vec<f64>>,
    rotations: Vec<(f64, f64)>,
    right: Vec<f64>,
}

impl Triangle {
    fn new(start: f64) -> Triangle {
        Triangle { columns: Vec::new(), rotations: Vec::new(), right: vec![start] }
    }

    /// Adds a column of the Hessenberg matrix; whether that was the last one.
    fn add(&mut self, column: &[f64], goal: f64) -> bool {
        let k = self.columns.len();
        let mut column = column.to_vec();
        for (j, (c, s)) in self.rotations.iter().enumerate() {
            let (a, b) = (column[j], column[j + 1]);
            (column[j], column[j + 1]) = (c * a + s * b, c * b - s * a);
        }
        let below = column[k + 1];
        let length = column[k].hypot(below);
        if length == 0.0 || !length.is_finite() {
            return true;
        }
        let (c, s) = (column[k] / length, below / length);
        column[k] = length;
        self.rotations.push((c, s));
        self.columns.push(column);
        self.right.push(-s * self.right[k]);
        self.right[k] *= c;
        self.right[k + 1].abs() <= goal || below <= f64::EPSILON * length
    }

    fn solved(&self) -> Vec<f64> {
        let n = self.columns.len();
        let mut y = vec![0.0; n];
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|j| self.columns[j][i] * y[j]).sum();
            y[i] = (self.right[i] - known) / self.columns[i][i];
        }
        y
    }
}

#[cfg(test)]
mod tests;
