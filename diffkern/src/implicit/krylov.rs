//! Iterative solvers of linear systems, on the host, over an operator that is only applied.

use super::{Method, SolveOptions};
use crate::error::Result;
use crate::memory::{collect, filled};

/// Applies the matrix of a system.
pub(super) type Apply<'a> = &'a mut dyn FnMut(&[f64]) -> Result<Vec<f64>>;

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// `y += s x`
pub(super) fn add_scaled(y: &mut [f64], s: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += s * x);
}

fn scale(a: &mut [f64], by: f64) {
    a.iter_mut().for_each(|a| *a *= by);
}

fn copy(a: &[f64]) -> Result<Vec<f64>> {
    collect(a.iter().copied())
}

fn residual(apply: Apply<'_>, b: &[f64], x: &[f64]) -> Result<Vec<f64>> {
    let mut r = copy(b)?;
    add_scaled(&mut r, -1.0, &apply(x)?);
    Ok(r)
}

/// Solves `A x = b` from `x = 0`, and checks the residual of what it found.
///
/// # Errors
/// When it does not converge; the message has the residual.
pub(super) fn solve(what: &'static str, options: &SolveOptions, apply: Apply<'_>, b: &[f64]) -> Result<Vec<f64>> {
    let size = norm(b);
    if size == 0.0 {
        return filled(b.len(), 0.0);
    }
    let goal = options.tolerance * size;
    let (x, iterations) = match options.method {
        Method::Cg => cg(apply, b, goal, options.iterations)?,
        Method::Gmres { restart } => gmres(apply, b, goal, options.iterations, restart.max(1))?,
        Method::Minres => minres(apply, b, goal, options.iterations)?,
        Method::BiCgStab => bicgstab(apply, b, goal, options.iterations)?,
        Method::Iterate => richardson(apply, b, goal, options.iterations)?,
    };
    let left = norm(&residual(apply, b, &x)?);
    // Recurrences lose a little of what they claim.
    match left <= 2.0 * goal {
        true => Ok(x),
        false => Err(options.missed(what, iterations, left / size)),
    }
}

type Found = (Vec<f64>, usize);

fn cg(apply: Apply<'_>, b: &[f64], goal: f64, most: usize) -> Result<Found> {
    let (mut x, mut r, mut p) = (filled(b.len(), 0.0)?, copy(b)?, copy(b)?);
    let mut square = dot(&r, &r);
    for k in 0..most {
        if square.sqrt() <= goal {
            return Ok((x, k));
        }
        let image = apply(&p)?;
        let step = square / dot(&p, &image);
        add_scaled(&mut x, step, &p);
        add_scaled(&mut r, -step, &image);
        let next = dot(&r, &r);
        p.iter_mut().zip(&r).for_each(|(p, r)| *p = r + next / square * *p);
        square = next;
    }
    Ok((x, most))
}

/// `x += b - A x`: with `A = I - G` the iteration of a fixed point.
fn richardson(apply: Apply<'_>, b: &[f64], goal: f64, most: usize) -> Result<Found> {
    let mut x = filled(b.len(), 0.0)?;
    for k in 0..most {
        let r = residual(apply, b, &x)?;
        if norm(&r) <= goal {
            return Ok((x, k));
        }
        add_scaled(&mut x, 1.0, &r);
    }
    Ok((x, most))
}

/// Lanczos' method, its tridiagonal matrix made triangular by rotations as it grows; `left` is the residual, with a sign.
fn minres(apply: Apply<'_>, b: &[f64], goal: f64, most: usize) -> Result<Found> {
    let zero = || filled(b.len(), 0.0);
    let (mut x, mut v, mut v_before) = (zero()?, copy(b)?, zero()?);
    let (mut w, mut w_before) = (zero()?, zero()?);
    let (mut beta, mut left) = (norm(b), norm(b));
    let ((mut c, mut s), (mut c_before, mut s_before)) = ((1.0, 0.0), (1.0, 0.0));
    scale(&mut v, 1.0 / beta);
    for k in 0..most {
        if left.abs() <= goal {
            return Ok((x, k));
        }
        let mut next = apply(&v)?;
        let alpha = dot(&v, &next);
        add_scaled(&mut next, -alpha, &v);
        add_scaled(&mut next, -beta, &v_before);
        let below = norm(&next);
        // The column of the tridiagonal matrix, rotated twice; the third rotation takes away what is below the diagonal.
        let (two_above, above) = (s_before * beta, s * alpha + c_before * c * beta);
        let diagonal = c * alpha - c_before * s * beta;
        let length = diagonal.hypot(below);
        if length == 0.0 || !length.is_finite() {
            return Ok((x, k));
        }
        (c_before, s_before, c, s) = (c, s, diagonal / length, below / length);
        let mut direction = copy(&v)?;
        add_scaled(&mut direction, -two_above, &w_before);
        add_scaled(&mut direction, -above, &w);
        scale(&mut direction, 1.0 / length);
        add_scaled(&mut x, c * left, &direction);
        left *= -s;
        (w_before, w) = (w, direction);
        scale(&mut next, if below > 0.0 { 1.0 / below } else { 0.0 });
        (v_before, v, beta) = (v, next, below);
    }
    Ok((x, most))
}

/// Two products an iteration. Where it breaks down, what is there is returned.
fn bicgstab(apply: Apply<'_>, b: &[f64], goal: f64, most: usize) -> Result<Found> {
    let (mut x, mut r, mut p) = (filled(b.len(), 0.0)?, copy(b)?, copy(b)?);
    let mut rho = dot(b, &r);
    for k in 0..most {
        if norm(&r) <= goal {
            return Ok((x, k));
        }
        let v = apply(&p)?;
        let alpha = rho / dot(b, &v);
        if !alpha.is_finite() {
            return Ok((x, k));
        }
        add_scaled(&mut x, alpha, &p);
        add_scaled(&mut r, -alpha, &v);
        if norm(&r) <= goal {
            return Ok((x, k + 1));
        }
        let t = apply(&r)?;
        let omega = dot(&t, &r) / dot(&t, &t);
        if !omega.is_finite() || omega == 0.0 {
            return Ok((x, k + 1));
        }
        add_scaled(&mut x, omega, &r);
        add_scaled(&mut r, -omega, &t);
        let next = dot(b, &r);
        let beta = next / rho * (alpha / omega);
        rho = next;
        add_scaled(&mut p, -omega, &v);
        p.iter_mut().zip(&r).for_each(|(p, r)| *p = r + beta * *p);
    }
    Ok((x, most))
}

fn gmres(apply: Apply<'_>, b: &[f64], goal: f64, most: usize, restart: usize) -> Result<Found> {
    let (mut x, mut used) = (filled(b.len(), 0.0)?, 0);
    while used < most {
        let r = if used == 0 { copy(b)? } else { residual(apply, b, &x)? };
        if norm(&r) <= goal {
            break;
        }
        let (correction, turns) = cycle(apply, &r, goal, restart.min(most - used))?;
        used += turns;
        if norm(&correction) == 0.0 {
            break;
        }
        add_scaled(&mut x, 1.0, &correction);
    }
    Ok((x, used))
}

/// One cycle of GMRES: minimises the residual over a Krylov space, by Arnoldi's method and Givens rotations.
fn cycle(apply: Apply<'_>, r: &[f64], goal: f64, most: usize) -> Result<Found> {
    let start = norm(r);
    let mut basis: Vec<Vec<f64>> = vec![collect(r.iter().map(|x| x / start))?];
    // Columns of the triangle, the rotations that made it, the rotated right-hand side.
    let (mut columns, mut rotations, mut right): (Vec<Vec<f64>>, Vec<(f64, f64)>, _) = (vec![], vec![], vec![start]);
    for k in 0..most {
        let mut v = apply(&basis[k])?;
        let mut column: Vec<f64> = Vec::with_capacity(k + 2);
        for q in &basis {
            let part = dot(q, &v);
            add_scaled(&mut v, -part, q);
            column.push(part);
        }
        let below = norm(&v);
        for (j, (c, s)) in rotations.iter().enumerate() {
            let (a, b) = (column[j], column[j + 1]);
            (column[j], column[j + 1]) = (c * a + s * b, c * b - s * a);
        }
        let length = column[k].hypot(below);
        if length == 0.0 || !length.is_finite() {
            break;
        }
        let (c, s) = (column[k] / length, below / length);
        column[k] = length;
        rotations.push((c, s));
        columns.push(column);
        right.push(-s * right[k]);
        right[k] *= c;
        if right[k + 1].abs() <= goal || below <= f64::EPSILON * length {
            break;
        }
        basis.push(collect(v.iter().map(|x| x / below))?);
    }
    let n = columns.len();
    let mut y = vec![0.0; n];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| columns[j][i] * y[j]).sum();
        y[i] = (right[i] - known) / columns[i][i];
    }
    let mut x = filled(r.len(), 0.0)?;
    basis.iter().zip(&y).for_each(|(q, y)| add_scaled(&mut x, *y, q));
    Ok((x, n.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(a: &[f64]) -> impl FnMut(&[f64]) -> Result<Vec<f64>> + '_ {
        move |x| Ok(a.chunks(x.len()).map(|row| dot(row, x)).collect())
    }

    /// Diagonally dominant; symmetric or not.
    fn matrix(n: usize, skew: f64) -> Vec<f64> {
        let entry = |i: usize, j: usize| match i.cmp(&j) {
            std::cmp::Ordering::Equal => 4.0 + i as f64,
            std::cmp::Ordering::Less => 1.0 / (1.0 + (j - i) as f64) + skew,
            std::cmp::Ordering::Greater => 1.0 / (1.0 + (i - j) as f64) - skew,
        };
        (0..n * n).map(|k| entry(k / n, k % n)).collect()
    }

    #[test]
    fn each_method_solves_what_it_is_for() {
        let n = 24;
        let exact: Vec<f64> = (0..n).map(|k| (k as f64).sin()).collect();
        let ways = [
            (0.0, Method::Cg),
            (0.0, Method::Minres),
            (0.0, Method::BiCgStab),
            (0.3, Method::BiCgStab),
            (0.0, Method::Gmres { restart: 5 }),
            (0.7, Method::Gmres { restart: 30 }),
            (0.7, Method::Gmres { restart: 7 }),
        ];
        for (skew, method) in ways {
            let a = matrix(n, skew);
            let b = times(&a)(&exact).expect("product");
            let options = SolveOptions { tolerance: 1e-12, method, ..SolveOptions::default() };
            let x = solve("test", &options, &mut times(&a), &b).expect("converges");
            let error = x.iter().zip(&exact).fold(0.0f64, |m, (x, e)| m.max((x - e).abs()));
            assert!(error < 1e-10, "{method:?}, skew {skew}: {error:e}");
        }
        // Symmetric, with eigenvalues of both signs.
        let mut indefinite = matrix(n, 0.0);
        (0..n).step_by(2).for_each(|k| indefinite[k * n + k] *= -1.0);
        let b = times(&indefinite)(&exact).expect("product");
        let options = SolveOptions { tolerance: 1e-12, method: Method::Minres, ..SolveOptions::default() };
        let x = solve("test", &options, &mut times(&indefinite), &b).expect("converges");
        assert!(x.iter().zip(&exact).all(|(x, e)| (x - e).abs() < 1e-10));
        let scaled: Vec<f64> = matrix(n, 0.1).iter().map(|x| x / 30.0).collect();
        let b = times(&scaled)(&exact).expect("product");
        let options = SolveOptions { tolerance: 1e-12, method: Method::Iterate, ..SolveOptions::default() };
        let x = solve("test", &options, &mut times(&scaled), &b).expect("converges");
        assert!(x.iter().zip(&exact).all(|(x, e)| (x - e).abs() < 1e-9));
    }

    #[test]
    fn what_does_not_converge_is_an_error_with_the_residual() {
        let a = matrix(24, 0.7);
        let b = vec![1.0; 24];
        for (method, iterations) in [
            (Method::Gmres { restart: 30 }, 3),
            (Method::Iterate, 50),
            (Method::Cg, 50),
            (Method::Minres, 50),
            (Method::BiCgStab, 3),
        ] {
            let options = SolveOptions { method, iterations, ..SolveOptions::default() };
            let message = solve("a system", &options, &mut times(&a), &b).expect_err("too few").to_string();
            assert!(message.contains("a system") && message.contains("residual"), "{message}");
        }
        assert!(solve("singular", &SolveOptions::default(), &mut times(&[0.0; 4]), &[1.0, 0.0]).is_err());
        assert_eq!(solve("zero", &SolveOptions::default(), &mut times(&[0.0; 4]), &[0.0, 0.0]), Ok(vec![0.0; 2]));
    }
}
