//! Gradient descent, Adam and AdamW over arrays: their first steps by hand, and a fit.

use diffkern::prelude::*;
use diffkern_optim::{Adam, Arrays, Ended, Error, Group, Result, Rule, Sgd, Stop, Taped, minimise};

fn arrays(numbers: &[&[f64]]) -> Result<Arrays<f64>> {
    numbers.iter().map(|x| Ok(Device::cpu().array(x)?)).collect()
}

fn numbers(x: &Arrays<f64>) -> Result<Vec<Vec<f64>>> {
    x.iter().map(|x| Ok(x.to_vec()?)).collect()
}

fn near(found: &Arrays<f64>, expected: &[&[f64]]) -> Result<()> {
    let found = numbers(found)?;
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!(a.len() == b.len() && a.iter().zip(*b).all(|(a, b)| (a - b).abs() <= 1e-14), "{a:?}, by hand {b:?}");
    }
    Ok(())
}

/// `v = 0.9 v + g`: 2 and 0.9 2 + 4; the second array with its own rate, scale and decay.
#[test]
fn two_steps_of_momentum_by_hand() -> Result<()> {
    let x = arrays(&[&[1.0], &[10.0]])?;
    let groups = vec![Group::new(0.1), Group::new(0.5).with_scale(2.0).with_decay(0.01)];
    let mut sgd = Sgd::new(groups).with_momentum(0.9);
    sgd.update(&x, &arrays(&[&[2.0], &[1.0]])?)?;
    // The second: y = 5, g = 2 + 0.01 5 = 2.05, y = 5 - 0.5 2.05 = 3.975.
    near(&x, &[&[0.8], &[7.95]])?;
    sgd.update(&x, &arrays(&[&[4.0], &[0.0]])?)?;
    // g = 0.03975, v = 0.9 2.05 + 0.03975 = 1.88475, y = 3.975 - 0.942375 = 3.032625.
    near(&x, &[&[0.8 - 0.1 * 5.8], &[6.06525]])
}

#[test]
fn two_steps_with_the_gradient_ahead_by_hand() -> Result<()> {
    let x = arrays(&[&[1.0]])?;
    let mut sgd = Sgd::new(vec![Group::new(0.1)]).with_momentum(0.5).with_nesterov();
    sgd.update(&x, &arrays(&[&[2.0]])?)?;
    near(&x, &[&[1.0 - 0.1 * (2.0 + 0.5 * 2.0)]])?;
    sgd.update(&x, &arrays(&[&[1.0]])?)?;
    // v = 0.5 2 + 1.
    near(&x, &[&[0.7 - 0.1 * (1.0 + 0.5 * 2.0)]])
}

/// The moments by hand, with their corrections; the first step is the rate in units of the scale.
#[test]
fn two_steps_of_adam_by_hand() -> Result<()> {
    let x = arrays(&[&[1.0], &[50.0]])?;
    let mut adam = Adam::new(vec![Group::new(0.1), Group::new(0.1).with_scale(100.0)]);
    adam.epsilon = 1e-15;
    adam.update(&x, &arrays(&[&[1e-3], &[-1e5]])?)?;
    let found = numbers(&x)?;
    assert!((found[0][0] - 0.9).abs() < 1e-11 && (found[1][0] - 60.0).abs() < 1e-11, "{found:?}");
    adam.update(&x, &arrays(&[&[3e-3], &[-1e5]])?)?;
    let (m, v) = (0.9 * 1e-4 + 0.1 * 3e-3, 0.999 * 1e-9 + 0.001 * 9e-6);
    let size = f64::sqrt(v / (1.0 - 0.999 * 0.999));
    let step = 0.1 * (m / (1.0 - 0.9 * 0.9)) / size;
    let found = numbers(&x)?;
    assert!((found[0][0] - (0.9 - step)).abs() < 1e-11 && (found[1][0] - 70.0).abs() < 1e-9, "{found:?}, {step}");
    Ok(())
}

/// Without a gradient, a decoupled decay shrinks by `1 - rate decay`; in the gradient it is a step of the rate's length.
#[test]
fn the_decay_of_adamw_is_decoupled() -> Result<()> {
    let group = Group::new(0.1).with_scale(2.0).with_decay(0.5);
    let gradient = arrays(&[&[0.0]])?;
    let (x, coupled) = (arrays(&[&[8.0]])?, arrays(&[&[8.0]])?);
    Adam::decoupled(vec![group]).update(&x, &gradient)?;
    near(&x, &[&[8.0 * (1.0 - 0.1 * 0.5)]])?;
    Adam::new(vec![group]).update(&coupled, &gradient)?;
    assert!((numbers(&coupled)?[0][0] - (8.0 - 0.1 * 2.0)).abs() < 1e-8, "{coupled:?}");
    // With one, the step beside it is Adam's own.
    let (x, plain) = (arrays(&[&[8.0]])?, arrays(&[&[8.0]])?);
    let gradient = arrays(&[&[3.0]])?;
    Adam::decoupled(vec![group]).update(&x, &gradient)?;
    Adam::new(vec![Group { decay: 0.0, ..group }]).update(&plain, &gradient)?;
    near(&x, &[&[numbers(&plain)?[0][0] - 0.05 * 8.0]])
}

/// `(x_0 - 1)^2 + 1e-3 (x_1 - 50)^2 / 2`, with scales that know it.
fn bowl<F: Float>(x: &[Array<F>]) -> diffkern::Result<Array<F>> {
    let square = |x: &Array<F>, to: f64| {
        let target = x.device().full(x.len(), F::from_f64(to))?;
        diffkern::reduce::squared_norm(&diffkern::arith::sub(x, &target)?)
    };
    let (near, far) = (square(&x[0], 1.0)?, square(&x[1], 50.0)?);
    diffkern::arith::scaled_sum(&[(F::one(), &near), (F::from_f64(5e-4), &far)])
}

#[test]
fn a_bowl_whose_axes_differ_is_found() -> Result<()> {
    let groups = vec![Group::new(0.1), Group::new(0.1).with_scale(100.0)];
    let stop = Stop { gradient: 1e-7, steps: 3000 };
    let start = || arrays(&[&[3.0], &[-200.0]]);
    let (mut x, mut y, mut z) = (start()?, start()?, start()?);
    let found = [
        minimise(&mut Sgd::new(groups.clone()).with_momentum(0.5), &mut Taped::new(bowl), &mut x, &stop)?,
        minimise(
            &mut Sgd::new(groups.clone()).with_momentum(0.5).with_nesterov(),
            &mut Taped::new(bowl),
            &mut y,
            &stop,
        )?,
    ];
    assert!(found.iter().all(|found| found.ended == Ended::Converged && found.steps < 400), "{found:?}");
    // Adam's steps do not shrink by themselves: a schedule.
    let (mut adam, mut objective) = (Adam::new(groups), Taped::new(bowl));
    let mut here = diffkern_optim::Objective::evaluate(&mut objective, &z)?;
    for k in 0..1500 {
        adam.groups.iter_mut().for_each(|group| group.rate = 0.1 / (1.0 + 0.01 * f64::from(k)));
        here = adam.step(&mut z, here, &mut objective)?.here;
    }
    for x in [x, y, z] {
        let x = numbers(&x)?;
        assert!((x[0][0] - 1.0).abs() < 1e-5 && (x[1][0] - 50.0).abs() < 1e-2, "{x:?}");
    }
    Ok(())
}

#[test]
fn what_cannot_be_a_step_is_refused_and_changes_nothing() -> Result<()> {
    let x = arrays(&[&[1.0, 2.0], &[3.0]])?;
    let gradient = arrays(&[&[1.0, 1.0], &[1.0]])?;
    let refused = |error: Result<()>, part: &str| {
        let message = error.map_err(|error| error.to_string());
        assert!(message.as_ref().is_err_and(|message| message.contains(part)), "{message:?} without `{part}`");
    };
    let one = || Adam::new(vec![Group::new(0.1)]);
    let bad = arrays(&[&[1.0, 1.0], &[f64::NAN]])?;
    assert!(matches!(one().update(&x, &bad), Err(Error::NotFinite { step: 0, .. })));
    refused(one().update(&x, &bad), "gradient by array 1 is NaN");
    refused(one().update(&x, &arrays(&[&[1.0, 1.0]])?), "arrays: 1 where 2 are needed");
    refused(one().update(&x, &arrays(&[&[1.0], &[1.0]])?), "elements of array 0: 1 where 2 are needed");
    let rated = |rate: f64| Sgd::new(vec![Group::new(rate)]).update(&x, &gradient);
    refused(rated(f64::NAN), "the rate is NaN, expected a finite number");
    refused(rated(f64::INFINITY), "the rate is inf");
    refused(rated(-1.0), "the rate is -1");
    refused(Sgd::new(vec![Group::new(0.1); 3]).update(&x, &gradient), "groups: 3 where 2 are needed");
    refused(Sgd::new(vec![Group::new(0.1).with_scale(0.0)]).update(&x, &gradient), "the scale is 0");
    refused(Sgd::new(vec![Group::new(0.1)]).with_momentum(1.0).update(&x, &gradient), "the momentum is 1");
    let mut adam = one();
    adam.beta[1] = 1.0;
    refused(adam.update(&x, &gradient), "a factor of the moments is 1");
    near(&x, &[&[1.0, 2.0], &[3.0]])
}
