//! Implicit operations against unrolled ones and finite differences.

use diffkern::implicit::{Method, SolveOptions, fixed_point, linear_solve, root};
use diffkern::prelude::*;
use diffkern::{arith, jvp, reduce, rollout};

use crate::common::{gradient, holds, inner, point, products};

/// `x_next_i = p_i + 0.4 sin(x_i) x_{i+1} + 0.2 p_0 x_{i+2}^2`: not symmetric, a contraction where it is used.
#[diff_kernel]
fn contract<F: Float>(x: &Array<F>, p: &Array<F>, x_next: &mut Array<F>) {
    let (i, n) = (ABSOLUTE_POS, x.len());
    let far = x[(i + 2) % n];
    x_next[i] = p[i] * 0.5 + x[i].sin() * x[(i + 1) % n] * 0.4 + p[0] * far * far * 0.1;
}

/// `y = A(p) x` with a diagonal of `2 + p_i^2` and a neighbour on one side only.
#[diff_kernel]
fn skew<F: Float>(x: &Array<F>, p: &Array<F>, y: &mut Array<F>) {
    let (i, n) = (ABSOLUTE_POS, x.len());
    y[i] = (p[i] * p[i] + 2.0) * x[i] + p[(i + 1) % n].sin() * x[(i + 1) % n] - x[(i + 3) % n] * 0.3;
}

/// A Laplacian with conductances `p^2 + 1`, and a mass: symmetric and positive.
#[diff_kernel]
fn conduct<F: Float>(x: &Array<F>, p: &Array<F>, y: &mut Array<F>) {
    let (i, n) = (ABSOLUTE_POS, x.len());
    let next = (i + 1) % n;
    let flow = (p[i] * p[i] + 1.0) * (x[i] - x[next]);
    y[i] += flow + x[i];
    y[next] -= flow;
}

#[diff_kernel]
fn source<F: Float>(p: &Array<F>, b: &mut Array<F>) {
    b[ABSOLUTE_POS] = p[ABSOLUTE_POS].cos() + p[ABSOLUTE_POS];
}

#[diff_kernel]
fn step<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * 0.9 + x[(ABSOLUTE_POS + 1) % x.len()].sin() * 0.05;
}

const N: usize = 6;

fn close(a: &[f64], b: &[f64], bound: f64, what: &str) {
    let size = inner(b, b).sqrt();
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= bound * size, "{what}: {a} against {b}");
    }
}

fn exactly(method: Method) -> SolveOptions {
    SolveOptions { tolerance: 1e-14, iterations: 500, method }
}

const GMRES: Method = Method::Gmres { restart: 30 };

fn turn(x: &Array<f64>, p: &Array<f64>) -> Result<Array<f64>> {
    let y = x.device().uninit(N)?;
    contract(N, x, p, &y)?;
    Ok(y)
}

fn converged(p: &Array<f64>, method: Method) -> Result<Array<f64>> {
    let (start, q) = (p.device().zeros(N)?, p.clone());
    fixed_point(start, exactly(method), move |x: &Array<f64>| turn(x, &q))
}

/// The same as a root of `x - g(x)`.
fn root_of(p: &Array<f64>, method: Method) -> Result<Array<f64>> {
    root(p.device().zeros(N)?, exactly(method), |x: &Array<f64>| arith::sub(x, &turn(x, p)?))
}

fn unrolled(p: &Array<f64>) -> Result<Array<f64>> {
    let mut x = p.device().zeros(N)?;
    for _ in 0..80 {
        x = turn(&x, p)?;
    }
    Ok(x)
}

fn loss(x: &Array<f64>, p: &Array<f64>) -> Result<Array<f64>> {
    let y = x.device().uninit(N)?;
    step(N, x, &y)?;
    let total = reduce::dot(&y, x)?;
    reduce::sum_into(&reduce::dot(x, p)?, 0.3, &total)?;
    Ok(total)
}

#[test]
fn a_fixed_point_has_the_derivatives_of_its_unrolled_iteration() -> Result<()> {
    let direct = |p: &Array<f64>| loss(&unrolled(p)?, p);
    let along = [point(N), vec![1.0; N]];
    let (exact, hessian) = products(&direct, &point(N), &along)?;
    type Solve = fn(&Array<f64>, Method) -> Result<Array<f64>>;
    let ways: [(Solve, Method); 4] =
        [(converged, GMRES), (converged, Method::Iterate), (root_of, GMRES), (root_of, Method::BiCgStab)];
    for (solve, method) in ways {
        let program = |p: &Array<f64>| loss(&solve(p, method)?, p);
        let (found, second) = products(&program, &point(N), &along)?;
        close(&found, &exact, 1e-12, "gradient");
        for (found, exact) in second.iter().zip(&hessian) {
            close(found, exact, 1e-11, "Hessian");
        }
        holds("fixed point", &program, &point(N))?;
        // Forward mode too.
        let (p, v) = (Device::cpu().array(&point(N))?, Device::cpu().array(&along[1])?);
        let (end, tangents) = jvp(&[&[(p.as_any(), v.as_any())]], || program(&p))?;
        close(&tangents.get(0, &end)?.to_vec()?, &[inner(&exact, &along[1])], 1e-12, "jvp");
    }
    Ok(())
}

/// Only one launch is on the tape, however long the iteration.
#[test]
fn the_iteration_is_not_recorded() -> Result<()> {
    let p = Device::cpu().array(&point(N))?.requires_grad();
    let (long, _) = Tape::record_value(|| loss(&unrolled(&p)?, &p))?;
    let (short, _) = Tape::record_value(|| loss(&converged(&p, GMRES)?, &p))?;
    assert!(short.report().nodes + 79 == long.report().nodes);
    assert!(short.report().bytes_kept < long.report().bytes_kept / 8, "{}{}", short.report(), long.report());
    Ok(())
}

fn solved(p: &Array<f64>, symmetric: bool, method: Method) -> Result<Array<f64>> {
    let (b, q) = (p.device().zeros(N)?, p.clone());
    source(N, p, &b)?;
    linear_solve(b, exactly(method), move |x: &Array<f64>| {
        let y = x.device().zeros(N)?;
        match symmetric {
            true => conduct(N, x, &q, &y)?,
            false => skew(N, x, &q, &y)?,
        }
        Ok(y)
    })
}

#[test]
fn linear_systems_of_both_kinds() -> Result<()> {
    for (symmetric, method) in [
        (true, Method::Cg),
        (true, Method::Minres),
        (true, GMRES),
        (false, GMRES),
        (false, Method::Gmres { restart: 4 }),
        (false, Method::BiCgStab),
    ] {
        let program = |p: &Array<f64>| loss(&solved(p, symmetric, method)?, p);
        holds(&format!("{method:?}"), &program, &point(N))?;
        let exact = gradient(&program, &point(N))?;
        let differences = |k: usize| {
            let at = |h: f64| {
                let mut at = point(N);
                at[k] += h;
                Ok::<_, Error>(program(&Device::cpu().array(&at)?)?.to_vec()?[0])
            };
            let pair = |h: f64| Ok::<_, Error>((at(h)? - at(-h)?) / (2.0 * h));
            Ok::<_, Error>((4.0 * pair(1e-3)? - pair(2e-3)?) / 3.0)
        };
        let numeric = (0..N).map(differences).collect::<Result<Vec<_>>>()?;
        close(&exact, &numeric, 1e-8, "gradient against differences");
        let (p, v) = (Device::cpu().array(&point(N))?, Device::cpu().full(N, 1.0)?);
        let (end, tangents) = jvp(&[&[(p.as_any(), v.as_any())]], || program(&p))?;
        close(&tangents.get(0, &end)?.to_vec()?, &[exact.iter().sum::<f64>()], 1e-12, "jvp");
        // The solution solves.
        let (x, y, b) = (solved(&p, symmetric, method)?, p.device().zeros(N)?, p.device().zeros(N)?);
        if symmetric {
            conduct(N, &x, &p, &y)?
        } else {
            skew(N, &x, &p, &y)?
        };
        source(N, &p, &b)?;
        close(&y.to_vec()?, &b.to_vec()?, 1e-12, "residual");
    }
    Ok(())
}

/// Each step solves for what it adds: with every schedule the same, and that of the unrolled program.
#[test]
fn in_the_steps_of_a_rollout() -> Result<()> {
    let run = |p: &Array<f64>, schedule: Schedule, implicit: bool| {
        let (start, q) = (p.device().zeros(N)?, p.clone());
        start.copy_from(p)?;
        let end = rollout(5, schedule, start, move |x: &Array<f64>, _| {
            let y = x.device().uninit(N)?;
            step(N, x, &y)?;
            let (r, at) = (q.clone(), x.clone());
            // What the iteration reads: the state of the step, and a parameter from outside.
            let shift = move |z: &Array<f64>| {
                let (a, b) = (turn(z, &r)?, z.device().uninit(N)?);
                contract(N, &a, &at, &b)?;
                Ok(b)
            };
            let z = if implicit {
                fixed_point(y.clone(), exactly(GMRES), shift)?
            } else {
                let mut z = y.clone();
                for _ in 0..40 {
                    z = shift(&z)?;
                }
                z
            };
            let next = x.device().uninit(N)?;
            contract(N, &y, &z, &next)?;
            Ok(next)
        })?;
        loss(&end, p)
    };
    let along = [vec![1.0; N]];
    let (exact, hessian) = products(&|p| run(p, Schedule::StoreAll, false), &point(N), &along)?;
    let all = products(&|p| run(p, Schedule::StoreAll, true), &point(N), &along)?;
    close(&all.0, &exact, 1e-11, "gradient");
    close(&all.1[0], &hessian[0], 1e-10, "Hessian");
    for schedule in [Schedule::Checkpoints(1), Schedule::Checkpoints(2), Schedule::Auto] {
        assert_eq!(products(&|p| run(p, schedule, true), &point(N), &along)?, all, "{schedule:?}");
    }
    let (p, v) = (Device::cpu().array(&point(N))?, Device::cpu().full(N, 1.0)?);
    let (end, tangents) = jvp(&[&[(p.as_any(), v.as_any())]], || run(&p, Schedule::StoreAll, true))?;
    close(&tangents.get(0, &end)?.to_vec()?, &[exact.iter().sum::<f64>()], 1e-11, "jvp");
    Ok(())
}

/// The right-hand side is a part of an array that the loss reads as a whole.
#[test]
fn a_right_hand_side_may_be_a_part() -> Result<()> {
    let program = |p: &Array<f64>, copied: bool| {
        let (long, q) = (p.device().zeros(2 * N)?, p.clone());
        source(N, p, &long.slice(2..2 + N)?)?;
        let part = long.slice(2..2 + N)?;
        let b = p.device().uninit(N)?;
        b.copy_from(&part)?;
        let x = linear_solve(if copied { b } else { part }, exactly(GMRES), move |x: &Array<f64>| {
            let y = x.device().zeros(N)?;
            skew(N, x, &q, &y)?;
            Ok(y)
        })?;
        let total = loss(&x, p)?;
        reduce::sum_into(&reduce::dot(&long, &long)?, 1.0, &total)?;
        Ok(total)
    };
    let along = [point(N), vec![1.0; N]];
    let copied = products(&|p| program(p, true), &point(N), &along)?;
    let part = products(&|p| program(p, false), &point(N), &along)?;
    close(&part.0, &copied.0, 1e-13, "gradient");
    part.1.iter().zip(&copied.1).for_each(|(part, copied)| close(part, copied, 1e-12, "Hessian"));
    holds("a part", &|p| program(p, false), &point(N))?;
    let (p, v) = (Device::cpu().array(&point(N))?, Device::cpu().array(&along[1])?);
    let (end, tangents) = jvp(&[&[(p.as_any(), v.as_any())]], || program(&p, false))?;
    close(&tangents.get(0, &end)?.to_vec()?, &[inner(&part.0, &along[1])], 1e-12, "jvp");
    Ok(())
}

#[test]
fn what_does_not_converge_says_so() -> Result<()> {
    let p = Device::cpu().array(&point(N))?.requires_grad();
    let message = |found: Result<Array<f64>>| found.map(|_| ()).expect_err("too few").to_string();
    let few = |q: Array<f64>| {
        let start = q.device().zeros(N)?;
        fixed_point(start, SolveOptions { iterations: 3, ..SolveOptions::default() }, move |x: &Array<f64>| turn(x, &q))
    };
    let text = message(few(p.clone()));
    assert!(text.contains("fixed point: residual") && text.contains("after 3 iterations"), "{text}");
    // The iteration converges from where it starts, the adjoint does not within so few.
    let start = converged(&p, GMRES)?;
    let q = p.clone();
    let (tape, end) = Tape::record_value(|| {
        let options = SolveOptions { iterations: 2, tolerance: 1e-13, method: Method::Gmres { restart: 2 } };
        loss(&fixed_point(start, options, move |x: &Array<f64>| turn(x, &q))?, &p)
    })?;
    let text = tape.backward(&end).expect_err("too few").to_string();
    assert!(text.contains("adjoint of a fixed point: residual"), "{text}");
    let ints = Device::cpu().array(&[1u32])?;
    let refused =
        fixed_point(ints, SolveOptions::default(), |x: &Array<u32>| Ok(x.clone())).expect_err("no reals").to_string();
    assert!(refused.contains("real"), "{refused}");
    Ok(())
}
