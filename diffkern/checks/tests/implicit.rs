//! Roots as one operation: values, gradients and tangents against an iteration on the tape, for every linear method, in rollouts;
//! and what is refused.

use diffkern::implicit::{
    Method, Preconditioner, SolveOptions, Solver, fixed_point, linear_solve, root, root_after, root_at,
};
use diffkern::prelude::*;
use diffkern::{Schedule, jvp, reduce, rollout};

/// A step of backward Euler for a chain of springs of unit length, of which the first vertex hangs at the origin: the residual
/// is the gradient of `|x - ahead|^2 + sum k_i (|d_i| - 1)^2 / 2 + 0.1 |d_i|^4`, `d_i = x_i - x_(i-1)`.
#[diff_kernel]
fn chain<F: Float>(x: &Array<Vec2<F>>, ahead: &Array<Vec2<F>>, k: &Array<F>, r: &mut Array<Vec2<F>>) {
    let i = ABSOLUTE_POS;
    let mut before = Vec2::new(F::new(0.0), F::new(0.0));
    if i > 0 {
        before = x[i - 1];
    }
    let d = x[i] - before;
    let length = d.norm();
    let force = d * (k[i] * (1.0 - 1.0 / length) + 0.4 * length * length);
    r[i] += force + (x[i] - ahead[i]) * 2.0;
    if i > 0 {
        r[i - 1] -= force;
    }
}

/// `r_i = x_i^3 + p_i x_i - x_(i+1) + 1`, not symmetric.
#[diff_kernel]
fn cubic<F: Float>(x: &Array<F>, p: &Array<F>, r: &mut Array<F>) {
    let (i, n) = (ABSOLUTE_POS, x.len());
    r[i] = x[i] * x[i] * x[i] + p[i] * x[i] * 3.0 - x[(i + 1) % n] + 1.0;
}

#[diff_kernel]
fn none<F: Float>(x: &Array<F>, r: &mut Array<F>) {
    r[ABSOLUTE_POS] = x[ABSOLUTE_POS] * x[ABSOLUTE_POS] + 1.0;
}

const N: usize = 7;
const GMRES: Method = Method::Gmres { restart: 30 };

fn exactly(method: Method) -> SolveOptions {
    SolveOptions { tolerance: 1e-13, iterations: 200, method }
}

type Points = Array<Vec2<f64>>;

fn residual(x: &Points, ahead: &Points, k: &Array<f64>) -> Result<Points> {
    let r = x.device().zeros(N)?;
    chain(N, x, ahead, k, &r)?;
    Ok(r)
}

fn points(seed: usize) -> Vec<Vec2<f64>> {
    let part = |n: usize| 0.2 * ((7 * seed + 3 * n) as f64).sin();
    (0..N).map(|n| Vec2::new(0.9 * (n + 1) as f64 + part(n), part(n + 50) - 0.3)).collect()
}

fn stiffness(seed: usize) -> Vec<f64> {
    (0..N).map(|n| 1.1 + 0.5 * ((seed + 2 * n) as f64).cos()).collect()
}

/// Gradient descent, every turn on the tape.
fn descended(ahead: &Points, k: &Array<f64>) -> Result<Points> {
    let mut x = ahead.clone();
    for _ in 0..400 {
        x = diffkern::arith::scaled_sum(&[(1.0, &x), (-0.1, &residual(&x, ahead, k)?)])?;
    }
    Ok(x)
}

fn found(ahead: &Points, k: &Array<f64>, method: Method) -> Result<Points> {
    found_by(ahead, k, exactly(method))
}

fn found_by(ahead: &Points, k: &Array<f64>, solver: impl Into<Solver>) -> Result<Points> {
    let start = ahead.device().array(&points(9))?;
    root(start, solver, |x: &Points| residual(x, ahead, k))
}

/// By some descent with the parameters themselves and a look at its numbers, then by Newton's method with another solver.
fn guided(ahead: &Points, k: &Array<f64>) -> Result<Points> {
    let search = |x: &Points| {
        let mut x = x.clone();
        for _ in 0..5 {
            x = diffkern::arith::scaled_sum(&[(1.0, &x), (-0.1, &residual(&x, ahead, k)?)])?;
        }
        assert!(x.to_vec()?.iter().all(|x| x.norm().is_finite()));
        Ok((x, exactly(Method::Cg).preconditioned(blocks(ahead.device())?)))
    };
    root_after(ahead.device().array(&points(9))?, search, |x: &Points| residual(x, ahead, k))
}

/// Symmetric and positive, nowhere near the blocks of the matrix.
fn blocks(device: &Device) -> Result<Preconditioner> {
    let blocks = (0..N).map(|n| Mat2::new(6.0 + n as f64, 0.7, 0.7, 9.0 - 0.5 * n as f64)).collect::<Vec<Mat2<f64>>>();
    Preconditioner::block_diagonal(&device.array(&blocks)?)
}

fn loss(x: &Points) -> Result<Array<f64>> {
    let weights = x.device().array(&points(5))?;
    reduce::dot(x, &weights)
}

/// Value, gradient to `ahead` and `k`.
fn gradient(seed: usize, solve: impl Fn(&Points, &Array<f64>) -> Result<Points>) -> Result<Vec<f64>> {
    let dev = Device::cpu();
    let ahead = dev.array(&points(seed))?.requires_grad();
    let k = dev.array(&stiffness(seed))?.requires_grad();
    let (tape, loss) = Tape::record_value(|| loss(&solve(&ahead, &k)?))?;
    tape.backward(&loss)?;
    let mut all = loss.to_vec()?;
    all.extend(ahead.grad()?.to_vec()?.iter().flat_map(|v| [v.x, v.y]));
    all.extend(k.grad()?.to_vec()?);
    Ok(all)
}

fn close(found: &[f64], exact: &[f64], bound: f64, what: &str) {
    assert_eq!(found.len(), exact.len());
    let size = exact.iter().map(|x| x * x).sum::<f64>().sqrt();
    for (a, b) in found.iter().zip(exact) {
        assert!((a - b).abs() <= bound * size, "{what}: {a} against {b}");
    }
}

#[test]
fn a_root_has_the_gradients_of_the_iteration_that_leads_there() -> Result<()> {
    for seed in 1..4 {
        let exact = gradient(seed, descended)?;
        for method in [GMRES, Method::Gmres { restart: 4 }, Method::Cg, Method::Minres, Method::BiCgStab] {
            let by_newton = gradient(seed, |ahead, k| found(ahead, k, method))?;
            close(&by_newton, &exact, 1e-10, &format!("{method:?}"));
            let preconditioned =
                gradient(seed, |ahead, k| found_by(ahead, k, exactly(method).preconditioned(blocks(ahead.device())?)))?;
            close(&preconditioned, &exact, 1e-10, &format!("{method:?}, preconditioned"));
        }
        // As found by the caller, without a trace of how.
        let given = gradient(seed, |ahead, k| {
            let x = ahead.device().array(&descended(&ahead.detached()?, &k.detached()?)?.to_vec()?)?;
            root_at(x, exactly(GMRES), |x: &Points| residual(x, ahead, k))
        })?;
        close(&given, &exact, 1e-10, "root_at");
        close(&gradient(seed, guided)?, &exact, 1e-10, "root_after");
    }
    Ok(())
}

#[test]
fn tangents_of_a_root() -> Result<()> {
    let exact = gradient(2, descended)?;
    let dev = Device::cpu();
    let (ahead, k) = (dev.array(&points(2))?, dev.array(&stiffness(2))?);
    let (ahead_dot, k_dot) = (dev.array(&points(7))?, dev.array(&stiffness(8))?);
    let both = [(ahead.as_any(), ahead_dot.as_any()), (k.as_any(), k_dot.as_any())];
    let (value, tangents) = jvp(&[&both, &both[1..]], || loss(&found(&ahead, &k, Method::Cg)?))?;
    let along: Vec<f64> = points(7).iter().flat_map(|v| [v.x, v.y]).chain(stiffness(8)).collect();
    let product = |from: usize| along[from..].iter().zip(&exact[1 + from..]).map(|(a, b)| a * b).sum::<f64>();
    for (direction, from) in [(0, 0), (1, 2 * N)] {
        let found = tangents.get(direction, &value)?.to_vec()?;
        close(&found, &[product(from)], 1e-10, "tangent");
    }
    Ok(())
}

/// Nothing but the residual is on the tape, once.
#[test]
fn the_search_is_not_recorded() -> Result<()> {
    let dev = Device::cpu();
    let (ahead, k) = (dev.array(&points(1))?.requires_grad(), dev.array(&stiffness(1))?);
    for solve in [|ahead: &Points, k: &Array<f64>| found(ahead, k, GMRES), guided] {
        let (tape, _) = Tape::record_value(|| solve(&ahead, &k))?;
        assert_eq!(tape.report().nodes, 1, "{}", tape.report());
    }
    Ok(())
}

/// Several implicit steps, replayed from few states: as with every step kept, and as by descent.
#[test]
fn roots_in_a_rollout() -> Result<()> {
    let steps = |schedule: Schedule, method: Option<Method>| {
        gradient(3, |start, k| {
            let (start, k) = (start.clone(), k.clone());
            rollout(5, schedule, start, move |x: &Points, _: usize| match method {
                Some(method) => found(x, &k, method),
                None => descended(x, &k),
            })
        })
    };
    let exact = steps(Schedule::StoreAll, None)?;
    for schedule in [Schedule::StoreAll, Schedule::Checkpoints(2)] {
        close(&steps(schedule, Some(Method::Minres))?, &exact, 1e-9, "rollout");
    }
    Ok(())
}

/// `y = A x`, tridiagonal, not symmetric.
#[diff_kernel]
fn rows<F: Float>(x: &Array<F>, d: &Array<F>, y: &mut Array<F>) {
    let (i, n) = (ABSOLUTE_POS, x.len());
    y[i] = d[i] * x[i] - 0.6 * x[(i + 1) % n] - 0.2 * x[(i + n - 1) % n];
}

/// `d x = A x - b` leads from one form to the others: a linear system, a fixed point and a root have one solution and one gradient,
/// in both precisions, with an inverse of the diagonal or none.
#[test]
fn three_forms_of_one_equation() -> Result<()> {
    fn both<F: Float + diffkern::implicit::Block>(bound: f64) -> Result<()> {
        let dev = Device::cpu();
        let n = 9;
        let reals = |at: f64| (0..n).map(|i| F::from_f64(2.3 + (at + 1.7 * i as f64).sin())).collect::<Vec<F>>();
        let (d, b) = (dev.array(&reals(1.0))?.requires_grad(), dev.array(&reals(5.0))?.requires_grad());
        let (weights, one) = (dev.array(&reals(8.0))?, F::one());
        let product = |x: &Array<F>| {
            let y = dev.uninit(n)?;
            rows(n, x, &d, &y)?;
            Ok(y)
        };
        let misfit = |x: &Array<F>| diffkern::arith::sub(&product(x)?, &b);
        let improved = |x: &Array<F>| diffkern::arith::scaled_sum(&[(one, x), (F::from_f64(-0.25), &misfit(x)?)]);
        let options = SolveOptions { tolerance: bound / 100.0, iterations: 500, method: Method::Gmres { restart: 20 } };
        let mut first: Option<Vec<f64>> = None;
        for preconditioned in [false, true] {
            for form in 0..3 {
                let solver = match preconditioned {
                    true => options.preconditioned(Preconditioner::block_diagonal(&d.detached()?)?),
                    false => options.into(),
                };
                let (tape, loss) = Tape::record_value(|| {
                    let x = match form {
                        0 => linear_solve(b.clone(), solver, product)?,
                        1 => root(dev.zeros(n)?, solver, misfit)?,
                        _ => fixed_point(dev.zeros(n)?, solver, improved)?,
                    };
                    reduce::dot(&x, &weights)
                })?;
                d.zero_grad();
                b.zero_grad();
                tape.backward(&loss)?;
                let mut found: Vec<f64> = vec![loss.to_vec()?[0].to_f64()];
                found.extend(d.grad()?.to_vec()?.into_iter().chain(b.grad()?.to_vec()?).map(F::to_f64));
                let exact = first.get_or_insert_with(|| found.clone());
                close(&found, exact, bound, &format!("form {form}, preconditioned: {preconditioned}"));
            }
        }
        Ok(())
    }
    both::<f64>(1e-9)?;
    both::<f32>(1e-4)
}

/// One preconditioner is for one state.
#[test]
fn a_preconditioner_of_another_size_is_refused() -> Result<()> {
    let dev = Device::cpu();
    let solver = SolveOptions::default().preconditioned(Preconditioner::block_diagonal(&dev.full(4, 2.0)?)?);
    let error = linear_solve(dev.full(3, 1.0)?, solver, |x: &Array<f64>| diffkern::arith::scale(x, 2.0)).unwrap_err();
    assert!(error.to_string().contains("it is for 4 reals of f64 on cpu, the state has 3"), "{error}");
    Ok(())
}

/// From far away, where full steps would leave the valley, and of a system that is not symmetric.
#[test]
fn steps_are_shortened_until_they_help() -> Result<()> {
    let dev = Device::cpu();
    let p = dev.array(&[0.7, 1.2, 0.5, 0.9])?.requires_grad();
    for (start, method) in [(0.01, GMRES), (40.0, Method::BiCgStab), (-30.0, GMRES)] {
        let solve = |p: &Array<f64>| {
            root(dev.full(4, start)?, exactly(method), |x: &Array<f64>| {
                let r = dev.uninit(4)?;
                cubic(4, x, p, &r)?;
                Ok(r)
            })
        };
        let (tape, x) = Tape::record_value(|| solve(&p))?;
        let (found, values) = (x.to_vec()?, p.to_vec()?);
        for i in 0..4 {
            let left = found[i].powi(3) + 3.0 * values[i] * found[i] - found[(i + 1) % 4] + 1.0;
            assert!(left.abs() < 1e-12, "{left:e}");
        }
        p.zero_grad();
        tape.backward_from(&[(x.as_any(), dev.full(4, 1.0)?.as_any())])?;
        for (i, slope) in p.grad()?.to_vec()?.into_iter().enumerate() {
            let sum = |h: f64| {
                let mut moved = values.clone();
                moved[i] += h;
                Ok::<f64, Error>(solve(&dev.array(&moved)?)?.to_vec()?.iter().sum())
            };
            let difference = (sum(1e-4)? - sum(-1e-4)?) / 2e-4;
            assert!((slope - difference).abs() < 1e-7, "{slope} against {difference}");
        }
    }
    Ok(())
}

#[test]
fn what_has_no_root_or_another_shape_is_an_error() -> Result<()> {
    let dev = Device::cpu();
    let search = |start: f64| {
        root(dev.full(3, start)?, SolveOptions::default(), |x: &Array<f64>| {
            let r = dev.uninit(3)?;
            none(3, x, &r)?;
            Ok(r)
        })
    };
    for start in [2.0, 0.0, f64::NAN] {
        let error = search(start).unwrap_err();
        assert!(matches!(error, Error::NotConverged { .. }), "{start}: {error}");
    }
    let short = |x: &Array<f64>| {
        let r = dev.uninit(2)?;
        none(2, &x.slice(0..2)?, &r)?;
        Ok(r)
    };
    for error in [root(dev.full(3, 1.0)?, exactly(GMRES), short), root_at(dev.full(3, 1.0)?, exactly(GMRES), short)] {
        let error = error.unwrap_err();
        assert!(error.to_string().contains("shapes must stay"), "{error}");
    }
    Ok(())
}
