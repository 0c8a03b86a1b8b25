//! Newton-CG on Hessian-vector products of a tape: the same steps as with the Hessian by hand.

use diffkern::prelude::*;
use diffkern_optim::{Arrays, Ended, NewtonCg, Result, Stop, Taped, minimise, with_products};

/// Rosenbrock's function in `n` dimensions.
#[diff_kernel]
fn valley<F: Float>(x: &Array<F>, loss: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let (a, b) = (1.0 - x[i], x[i + 1] - x[i] * x[i]);
    loss[0] += a * a + 100.0 * b * b;
}

#[test]
fn a_valley_is_gone_through_by_products_of_the_tape() -> Result<()> {
    // From one end of a long valley to the other, a link at a time.
    for (n, most) in [(2, 40), (50, 250)] {
        let start: Vec<f64> = (0..n).map(|k| if k % 2 == 0 { -1.2 } else { 1.0 }).collect();
        let mut x: Arrays<f64> = vec![Device::cpu().array(&start)?];
        let mut objective = Taped::new(|x: &[Array<f64>]| {
            let loss = x[0].device().zeros(1)?;
            valley(x[0].len() - 1, &x[0], &loss)?;
            Ok(loss)
        });
        let found = minimise(&mut NewtonCg::new(1.0), &mut objective, &mut x, &Stop::default())?;
        assert!(found.ended == Ended::Converged && found.evaluations < most, "{found:?}");
        if n == 2 {
            let x = x[0].to_vec()?;
            assert!((x[0] - 1.0).abs() < 1e-8 && (x[1] - 1.0).abs() < 1e-8, "{x:?}");
            assert_eq!(found.evaluations, by_hand()?);
        }
    }
    Ok(())
}

/// Evaluations on the host.
fn by_hand() -> Result<usize> {
    let evaluate = |x: &Vec<f64>| {
        let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
        Ok((a * a + 100.0 * b * b, vec![-2.0 * a - 400.0 * x[0] * b, 200.0 * b]))
    };
    let product = |x: &Vec<f64>, v: &Vec<f64>| {
        let (xx, xy) = (2.0 - 400.0 * (x[1] - 3.0 * x[0] * x[0]), -400.0 * x[0]);
        Ok(vec![xx * v[0] + xy * v[1], xy * v[0] + 200.0 * v[1]])
    };
    let mut x = vec![-1.2, 1.0];
    let mut objective = with_products(evaluate, product);
    Ok(minimise(&mut NewtonCg::new(1.0), &mut objective, &mut x, &Stop::default())?.evaluations)
}
