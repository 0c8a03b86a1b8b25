//! Rules over numbers of the host: known functions within known numbers of evaluations, and what is refused.

#![expect(clippy::ptr_arg, reason = "the vector of these objectives is a `Vec<f64>`")]

use diffkern_optim::{
    Ended, Error, Evaluation, Lbfgs, LevenbergMarquardt, NewtonCg, Objective, Result, Rule, Stop, minimise,
    with_products,
};

fn rosenbrock(x: &Vec<f64>) -> Result<(f64, Vec<f64>)> {
    let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
    Ok((a * a + 100.0 * b * b, vec![-2.0 * a - 400.0 * x[0] * b, 200.0 * b]))
}

fn hessian_of_rosenbrock(x: &Vec<f64>, v: &Vec<f64>) -> Result<Vec<f64>> {
    let (xx, xy) = (2.0 - 400.0 * (x[1] - 3.0 * x[0] * x[0]), -400.0 * x[0]);
    Ok(vec![xx * v[0] + xy * v[1], xy * v[0] + 200.0 * v[1]])
}

const START: [f64; 2] = [-1.2, 1.0];

fn at_the_end(x: &[f64]) -> bool {
    (x[0] - 1.0).abs() < 1e-7 && (x[1] - 1.0).abs() < 1e-7
}

#[test]
fn lbfgs_goes_through_the_valley_in_sixty_evaluations() -> Result<()> {
    for memory in [3, 5, 10] {
        let mut x = START.to_vec();
        let found = minimise(&mut Lbfgs::new(memory), &mut rosenbrock, &mut x, &Stop::default())?;
        assert!(found.ended == Ended::Converged && at_the_end(&x) && found.evaluations < 60, "{memory}: {found:?}");
    }
    // Without a memory it follows the gradient, for very long.
    let mut x = START.to_vec();
    let found = minimise(&mut Lbfgs::new(0), &mut rosenbrock, &mut x, &Stop { steps: 200, ..Stop::default() })?;
    assert!(found.ended == Ended::Steps, "{found:?}");
    Ok(())
}

#[test]
fn newton_goes_through_the_valley_in_forty_evaluations() -> Result<()> {
    let mut x = START.to_vec();
    let mut objective = with_products(rosenbrock, hessian_of_rosenbrock);
    let found = minimise(&mut NewtonCg::new(1.0), &mut objective, &mut x, &Stop::default())?;
    assert!(found.ended == Ended::Converged && at_the_end(&x) && found.evaluations < 40, "{found:?}");
    Ok(())
}

/// `f = x_0^2 / 2 + 2 x_1^2` from (1, 1): the gradient is (1, 4), so the first length tried is `1 / sqrt(17)`. There the
/// slope, by hand, is `-4.12 + 65 / 17`, flat enough. Then `s`, `y` and the second direction by the BFGS formula for one pair.
#[test]
fn two_steps_of_lbfgs_by_hand() -> Result<()> {
    let mut bowl = |x: &Vec<f64>| Ok((0.5 * x[0] * x[0] + 2.0 * x[1] * x[1], vec![x[0], 4.0 * x[1]]));
    let mut x = vec![1.0, 1.0];
    let mut lbfgs = Lbfgs::new(5);
    let here = bowl.evaluate(&x)?;
    let stepped = lbfgs.step(&mut x, here, &mut bowl)?;
    let t = 1.0 / 17f64.sqrt();
    let (s, y) = ([-t, -4.0 * t], [-t, -16.0 * t]);
    let first = [1.0 - t, 1.0 - 4.0 * t];
    assert!(stepped.evaluations == 1 && (x[0] - first[0]).abs() + (x[1] - first[1]).abs() < 1e-15, "{x:?}");
    // H = (I - r s y^T) c (I - r y s^T) + r s s^T with r = 1 / s^T y and c = s^T y / y^T y.
    let (r, c) = (1.0 / (s[0] * y[0] + s[1] * y[1]), (s[0] * y[0] + s[1] * y[1]) / (y[0] * y[0] + y[1] * y[1]));
    let g = [first[0], 4.0 * first[1]];
    let sg = s[0] * g[0] + s[1] * g[1];
    let right = [g[0] - r * y[0] * sg, g[1] - r * y[1] * sg].map(|q| c * q);
    let yr = y[0] * right[0] + y[1] * right[1];
    let direction = [0, 1].map(|k| -(right[k] - r * s[k] * yr + r * s[k] * sg));
    let second = [first[0] + direction[0], first[1] + direction[1]];
    let stepped = lbfgs.step(&mut x, stepped.here, &mut bowl)?;
    assert!(
        stepped.evaluations == 1 && (x[0] - second[0]).abs() + (x[1] - second[1]).abs() < 1e-14,
        "{x:?} {second:?}"
    );
    assert_eq!(lbfgs.pairs(), 2);
    Ok(())
}

/// Where the gradient does not change there is no curvature to keep; where it bends down neither.
#[test]
fn pairs_without_curvature_are_left_out() -> Result<()> {
    let mut ramp = |x: &Vec<f64>| Ok((-x[0], vec![-1.0]));
    let (mut x, mut lbfgs) = (vec![0.0], Lbfgs::new(5));
    let here = ramp.evaluate(&x)?;
    let stepped = lbfgs.step(&mut x, here, &mut ramp)?;
    assert!(stepped.taken && lbfgs.pairs() == 0 && x[0] > 1.0);
    let mut hill = |x: &Vec<f64>| Ok((-x[0] * x[0], vec![-2.0 * x[0]]));
    let (mut x, here) = (vec![1.0], hill.evaluate(&vec![1.0])?);
    assert!(lbfgs.step(&mut x, here, &mut hill)?.taken && lbfgs.pairs() == 0);
    Ok(())
}

/// `y = a exp(b t)` through twenty points of a = 2, b = -1, by products with `J^T J` alone.
#[test]
fn least_squares_find_an_exponential() -> Result<()> {
    let t = |k: usize| 0.1 * k as f64;
    let jacobian = move |x: &Vec<f64>, k: usize| [(x[1] * t(k)).exp(), x[0] * t(k) * (x[1] * t(k)).exp()];
    let evaluate = move |x: &Vec<f64>| {
        let residual = |k: usize| x[0] * (x[1] * t(k)).exp() - 2.0 * (-t(k)).exp();
        let gradient = |p: usize| (0..20).map(|k| jacobian(x, k)[p] * residual(k)).sum();
        Ok(((0..20).map(|k| 0.5 * residual(k).powi(2)).sum(), vec![gradient(0), gradient(1)]))
    };
    let product = move |x: &Vec<f64>, v: &Vec<f64>| {
        let along = |k: usize| jacobian(x, k)[0] * v[0] + jacobian(x, k)[1] * v[1];
        Ok([0, 1].map(|p| (0..20).map(|k| jacobian(x, k)[p] * along(k)).sum()).to_vec())
    };
    let mut x = vec![1.0, 0.5];
    let stop = Stop { gradient: 1e-10, steps: 40 };
    let found = minimise(&mut LevenbergMarquardt::default(), &mut with_products(evaluate, product), &mut x, &stop)?;
    assert!(found.ended == Ended::Converged && found.evaluations < 20, "{found:?}");
    assert!((x[0] - 2.0).abs() < 1e-8 && (x[1] + 1.0).abs() < 1e-8, "{x:?}");
    Ok(())
}

/// A first step, undamped, solves a quadratic; damped it is `(G + mu I)^-1 g`, here by hand.
#[test]
fn a_step_of_least_squares_by_hand() -> Result<()> {
    // r = (x_0, 2 x_1): G = diag(1, 4), g = (1, 4) at (1, 1), curvature along g 65 / 17.
    let evaluate = |x: &Vec<f64>| Ok((0.5 * x[0] * x[0] + 2.0 * x[1] * x[1], vec![x[0], 4.0 * x[1]]));
    let mut objective = with_products(evaluate, |_: &Vec<f64>, v: &Vec<f64>| Ok(vec![v[0], 4.0 * v[1]]));
    let (mut x, mut rule) = (vec![1.0, 1.0], LevenbergMarquardt { damping: 0.1, ..LevenbergMarquardt::default() });
    let here = objective.evaluate(&x)?;
    let stepped = rule.step(&mut x, here, &mut objective)?;
    // The first system is solved to half the gradient: one product.
    let mu = 0.1 * 65.0 / 17.0;
    let length = 17.0 / (65.0 + 17.0 * mu);
    assert!((x[0] - (1.0 - length)).abs() < 1e-14 && (x[1] - (1.0 - 4.0 * length)).abs() < 1e-14, "{x:?}");
    assert!(stepped.products == 2 && (rule.damping - 0.02).abs() < 1e-15);
    Ok(())
}

/// The value falls by a fifth of what the model without damping promises: the damping stays. By the damped one it were two fifths.
#[test]
fn the_model_of_least_squares_is_that_without_damping() -> Result<()> {
    let evaluate = |x: &Vec<f64>| Ok((0.2 * x[0], vec![1.0]));
    let mut objective = with_products(evaluate, |_: &Vec<f64>, v: &Vec<f64>| Ok(v.clone()));
    let (mut x, mut rule) = (vec![1.0], LevenbergMarquardt { damping: 100.0, ..LevenbergMarquardt::default() });
    let here = objective.evaluate(&x)?;
    let stepped = rule.step(&mut x, here, &mut objective)?;
    assert!(stepped.taken && (x[0] - (1.0 - 1.0 / 101.0)).abs() < 1e-15 && rule.damping == 100.0, "{x:?}, {rule:?}");
    Ok(())
}

#[test]
fn a_refused_step_leaves_everything_where_it_was() -> Result<()> {
    // The Hessian is said to be a hundred times too small.
    let evaluate = |x: &Vec<f64>| Ok((0.5 * x[0] * x[0], vec![x[0]]));
    let mut objective = with_products(evaluate, |_: &Vec<f64>, v: &Vec<f64>| Ok(vec![0.01 * v[0]]));
    let (mut x, mut newton) = (vec![1.0], NewtonCg::new(50.0));
    let here = objective.evaluate(&x)?;
    let stepped = newton.step(&mut x, here, &mut objective)?;
    assert!(!stepped.taken && !stepped.exhausted && x == [1.0] && stepped.here.value() == 0.5);
    assert!(newton.radius < 50.0);
    let found = minimise(&mut newton, &mut objective, &mut x, &Stop::default())?;
    assert!(found.ended == Ended::Converged, "{found:?}");
    Ok(())
}

/// At a minimum that is not 0 values differ by rounding long before gradients do.
#[test]
fn a_minimum_far_from_zero_is_found_to_the_gradient() -> Result<()> {
    let evaluate = |x: &Vec<f64>| Ok((1e6 + 0.5 * x[0] * x[0] + 5.0 * x[1] * x[1], vec![x[0], 10.0 * x[1]]));
    let mut objective = with_products(evaluate, |_: &Vec<f64>, v: &Vec<f64>| Ok(vec![v[0], 10.0 * v[1]]));
    let stop = Stop { gradient: 1e-9, steps: 100 };
    let (mut x, mut y) = (vec![3.0, 1.0], vec![3.0, 1.0]);
    let found = [
        minimise(&mut Lbfgs::new(5), &mut objective, &mut x, &stop)?,
        minimise(&mut NewtonCg::new(1.0), &mut objective, &mut y, &stop)?,
    ];
    assert!(found.iter().all(|found| found.ended == Ended::Converged), "{found:?}");
    Ok(())
}

/// `10 (x - ln x)` has no value below 0, where a first step would end.
#[test]
fn steps_to_where_there_is_no_value_are_shortened() -> Result<()> {
    let evaluate = |x: &Vec<f64>| Ok((10.0 * (x[0] - x[0].ln()), vec![10.0 - 10.0 / x[0]]));
    let product = |x: &Vec<f64>, v: &Vec<f64>| Ok(vec![10.0 * v[0] / (x[0] * x[0])]);
    let mut objective = with_products(evaluate, product);
    let (mut x, mut y, mut z) = (vec![1.8], vec![3.0], vec![3.0]);
    let mut lbfgs = Lbfgs::new(5);
    lbfgs.first_length = 10.0;
    let found = [
        minimise(&mut lbfgs, &mut objective, &mut x, &Stop::default())?,
        minimise(&mut NewtonCg::new(50.0), &mut objective, &mut y, &Stop::default())?,
        minimise(&mut LevenbergMarquardt::default(), &mut objective, &mut z, &Stop::default())?,
    ];
    assert!(found.iter().all(|found| found.ended == Ended::Converged && found.evaluations < 25), "{found:?}");
    assert!([x, y, z].iter().all(|x| (x[0] - 1.0).abs() < 1e-8));
    Ok(())
}

#[test]
fn what_is_not_finite_or_missing_is_an_error() -> Result<()> {
    let mut x = vec![1.0];
    let mut broken = |_: &Vec<f64>| Ok((f64::NAN, vec![1.0]));
    let error = minimise(&mut Lbfgs::new(5), &mut broken, &mut x, &Stop::default());
    assert!(matches!(error, Err(Error::NotFinite { .. })), "{error:?}");
    let mut steep = |x: &Vec<f64>| Ok((x[0], vec![f64::INFINITY]));
    let error = minimise(&mut NewtonCg::new(1.0), &mut steep, &mut x, &Stop::default());
    assert!(matches!(&error, Err(Error::NotFinite { what, .. }) if what.contains("gradient")), "{error:?}");
    // A closure of value and gradient has no products.
    let mut plain = |x: &Vec<f64>| Ok((x[0] * x[0], vec![2.0 * x[0]]));
    assert_eq!(minimise(&mut NewtonCg::new(1.0), &mut plain, &mut x, &Stop::default()), Err(Error::NoProducts));
    let mut short = |x: &Vec<f64>| Ok((x[0], vec![]));
    let error = minimise(&mut Lbfgs::new(5), &mut short, &mut x, &Stop::default());
    assert!(error.is_err() || error.is_ok_and(|found| found.gradient == 0.0));
    let mut wrong = Lbfgs::new(5);
    wrong.wolfe.curvature = 2.0;
    assert!(matches!(minimise(&mut wrong, &mut plain, &mut x, &Stop::default()), Err(Error::Setting { .. })));
    assert_eq!(x, [1.0]);
    Ok(())
}
