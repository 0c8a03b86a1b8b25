//! Each method on small dense matrices: solutions, products, questions of the host, errors.

use super::super::{Preconditioner, SolveOptions};
use super::*;
use crate::device::Device;
use crate::math::Mat2;

fn product(a: &[f64], x: &[f64]) -> Vec<f64> {
    a.chunks(x.len()).map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

fn times(a: &[f64]) -> impl FnMut(&Array<f64>) -> Result<Array<f64>> + '_ {
    move |x| x.device().array(&product(a, &x.to_vec()?))
}

fn on_cpu(b: &[f64]) -> Array<f64> {
    Device::cpu().array(b).expect("memory")
}

fn found(options: &SolveOptions, a: &[f64], b: &[f64]) -> Result<Vec<f64>> {
    let solver = Solver::from(*options);
    solved("a system", (&solver, false), &mut times(a), &on_cpu(b))?.to_vec()
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
    let mut indefinite = matrix(n, 0.0);
    (0..n).step_by(2).for_each(|k| indefinite[k * n + k] *= -1.0);
    let scaled: Vec<f64> = matrix(n, 0.1).iter().map(|x| x / 30.0).collect();
    let ways = [
        (matrix(n, 0.0), Method::Cg),
        (matrix(n, 0.0), Method::Minres),
        (indefinite, Method::Minres),
        (matrix(n, 0.0), Method::BiCgStab),
        (matrix(n, 0.3), Method::BiCgStab),
        (matrix(n, 0.0), Method::Gmres { restart: 5 }),
        (matrix(n, 0.7), Method::Gmres { restart: 30 }),
        (matrix(n, 0.7), Method::Gmres { restart: 7 }),
        (scaled, Method::Iterate),
    ];
    for (a, method) in ways {
        let options = SolveOptions { tolerance: 1e-12, method, ..SolveOptions::default() };
        let mut products: usize = 0;
        READS.set(0);
        let mut apply = |x: &Array<f64>| {
            products += 1;
            x.device().array(&product(&a, &x.to_vec()?))
        };
        let solver = Solver::from(options);
        let x = solved("a system", (&solver, false), &mut apply, &on_cpu(&product(&a, &exact))).expect("converges");
        let error = x.to_vec().expect("read").iter().zip(&exact).fold(0.0f64, |m, (x, e)| m.max((x - e).abs()));
        assert!(error < 1e-10, "{method:?}: {error:e}");
        // Before and after, every ten iterations, and once a cycle.
        let cycles = if let Method::Gmres { restart } = method { 2 * products.div_ceil(restart) } else { 0 };
        assert!(READS.get() <= 2 + products / EVERY + cycles, "{method:?}: {} of {products}", READS.get());
    }
}

/// Blocks of two on the diagonal between 1 and 1e6, which a block-diagonal inverse takes away; not symmetric but for the methods
/// that need it.
#[test]
fn blocks_on_the_diagonal_save_products() {
    let n = 40;
    for (method, skew) in [
        (Method::Cg, 0.0),
        (Method::Minres, 0.0),
        (Method::Gmres { restart: 40 }, 0.4),
        (Method::BiCgStab, 0.4),
        (Method::Iterate, 0.02),
    ] {
        let mut a = matrix(n, skew);
        let scale = |i: usize| 10f64.powf(6.0 * (i / 2) as f64 / (n / 2) as f64);
        (0..n * n).for_each(|k| a[k] *= 0.05 * (scale(k / n) * scale(k % n)).sqrt());
        for i in (0..n).step_by(2) {
            for (at, part) in
                [(i * n + i, 1.0), (i * n + i + 1, 0.6 + skew), (i * n + n + i, 0.6 - skew), (i * n + n + i + 1, 2.0)]
            {
                a[at] += part * scale(i);
            }
        }
        let blocks: Vec<Mat2<f64>> = (0..n)
            .step_by(2)
            .map(|i| Mat2::new(a[i * n + i], a[i * n + i + 1], a[i * n + n + i], a[i * n + n + i + 1]))
            .collect();
        let blocks = Device::cpu().array(&blocks).expect("memory");
        let exact: Vec<f64> = (0..n).map(|k| (k as f64).cos()).collect();
        let transpose: Vec<f64> = (0..n * n).map(|k| a[k % n * n + k / n]).collect();
        for (a, transposed) in [(&a, false), (&transpose, true)] {
            let b = on_cpu(&product(a, &exact));
            let count = |preconditioned: bool| {
                let mut products = 0;
                let mut apply = |x: &Array<f64>| {
                    products += 1;
                    x.device().array(&product(a, &x.to_vec()?))
                };
                let options = SolveOptions { tolerance: 1e-10, iterations: 400, method };
                let solver = match preconditioned {
                    true => options.preconditioned(Preconditioner::block_diagonal(&blocks).expect("memory")),
                    false => Solver::from(options),
                };
                let x = solved("a system", (&solver, transposed), &mut apply, &b).map(|x| x.to_vec().expect("read"));
                (x, products)
            };
            let ((x, with), (_, without)) = (count(true), count(false));
            let error = x.expect("converges").iter().zip(&exact).fold(0.0f64, |m, (x, e)| m.max((x - e).abs()));
            assert!(error < 1e-5, "{method:?}: {error:e}");
            assert!(2 * with < without, "{method:?}: {with} products, {without} without");
        }
    }
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
        let message = found(&options, &a, &b).expect_err("too few").to_string();
        assert!(message.contains("a system") && message.contains("residual"), "{message}");
    }
    assert!(found(&SolveOptions::default(), &[0.0; 4], &[1.0, 0.0]).is_err());
    assert_eq!(found(&SolveOptions::default(), &[0.0; 4], &[0.0, 0.0]), Ok(vec![0.0; 2]));
}
