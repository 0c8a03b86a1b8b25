//! Arithmetic on arrays: what is refused, what it costs, and the gradient of a program that has no kernel of its own. Values
//! and gradients by hand, tangents, second derivatives and devices are in the table of exactness (`exact/arithmetic.rs`).

use diffkern::gradcheck::{Options, devices, function};
use diffkern::prelude::*;
use diffkern::{arith, reduce};

/// `|u * x - y|^2 / 2 + s <x, y>`, `u` the first half of the numbers and `x` the second, `y` of both.
fn program(numbers: &Array<f64>) -> Result<Array<f64>> {
    let half = numbers.len() / 2;
    let (u, x) = (numbers.slice(..half)?, numbers.slice(half..)?);
    let y = arith::scaled_sum(&[(0.3, &u), (-1.2, &x)])?;
    let misfit = arith::sub(&arith::multiply(&u, &x)?, &y)?;
    let factor = arith::scale(&reduce::sum(&u)?, 0.2)?;
    let turned = arith::scale_by(&arith::add(&x, &y)?, &factor)?;
    arith::scaled_sum(&[(0.5, &reduce::squared_norm(&misfit)?), (0.7, &reduce::dot(&turned, &y)?)])
}

#[test]
fn a_program_of_arithmetic_alone_has_its_gradient() -> Result<()> {
    let at: Vec<f64> = (0..14).map(|k| (1.3 * f64::from(k)).cos() + 0.2).collect();
    let x = Device::cpu().array(&at)?.requires_grad();
    let (tape, loss) = Tape::record_value(|| program(&x))?;
    tape.backward(&loss)?;
    let value = |at: &[f64]| Ok(program(&Device::cpu().array(at)?)?.to_vec()?[0]);
    let report = function(value, &x.grad()?.to_vec()?, &at, &Options::default())?;
    assert!(report.taylor_rate > 1.9 && report.taylor_rate_without < 1.5, "{report}");
    Ok(())
}

/// A sum of two is one launch, of five four of them.
#[test]
fn a_scaled_sum_takes_a_launch_less_than_it_has_terms() -> Result<()> {
    let x = Device::cpu().array(&[1.0, 2.0])?.requires_grad();
    for n in 2..6 {
        let (tape, sum) = Tape::record_value(|| arith::scaled_sum(&vec![(1.5, &x); n]))?;
        assert_eq!(tape.report().launches, n - 1);
        assert_eq!(sum.to_vec()?, [1.5 * n as f64, 3.0 * n as f64]);
    }
    Ok(())
}

#[test]
fn lengths_that_differ_are_named_with_the_operation() -> Result<()> {
    let dev = Device::cpu();
    let (two, three) = (dev.array(&[1.0, 2.0])?, dev.array(&[1.0, 2.0, 3.0])?);
    let refused = [
        ("add", arith::add(&two, &three).err(), (3, 2)),
        ("sub", arith::sub(&two, &three).err(), (3, 2)),
        ("multiply", arith::multiply(&two, &three).err(), (2, 3)),
        ("scaled_sum", arith::scaled_sum(&[(1.0, &two), (1.0, &two), (2.0, &three)]).err(), (3, 2)),
        ("add_scaled", arith::add_scaled(&two, 1.0, &three).err(), (2, 3)),
        ("scale_by", arith::scale_by(&two, &three).err(), (3, 1)),
        ("dot", reduce::dot(&two, &three).err(), (3, 2)),
        ("from_components", arith::from_components::<Vec2<f64>>(&three).err(), (3, 4)),
        ("sum_into", reduce::sum_into(&two, 1.0, &three).err(), (3, 1)),
    ];
    for (operation, error, (found, expected)) in refused {
        let expected = Error::Length { what: operation, found, expected };
        assert_eq!(error, Some(expected));
    }
    let none = arith::scaled_sum::<f64>(&[]).map(|_| ()).map_err(|error| error.to_string());
    assert!(none.is_err_and(|message| message.contains("scaled_sum: no term")));
    // In place onto itself: the launch refuses it.
    assert!(matches!(arith::add_scaled(&two, 1.0, &two), Err(Error::Argument { .. })));
    Ok(())
}

#[test]
fn arrays_of_two_devices_are_named_with_the_operation() -> Result<()> {
    for dev in devices()? {
        let (here, there) = (Device::cpu().array(&[1.0f32])?, dev.array(&[1.0f32])?);
        let refused = [
            ("add", arith::add(&here, &there).err()),
            ("multiply", arith::multiply(&there, &here).err()),
            ("scale_by", arith::scale_by(&here, &there).err()),
            ("dot", reduce::dot(&here, &there).err()),
        ];
        for (operation, error) in refused {
            let named = matches!(&error, Some(Error::DeviceMismatch { what, .. }) if *what == operation);
            assert!(named, "{operation}: {error:?}");
        }
    }
    Ok(())
}

/// Nothing to do, and nothing wrong with it.
#[test]
fn empty_arrays_have_empty_sums() -> Result<()> {
    let none = Device::cpu().zeros::<Vec3<f32>>(0)?;
    assert!(arith::add(&none, &none)?.is_empty() && arith::components(&none)?.is_empty());
    assert_eq!(reduce::squared_norm(&none)?.to_vec()?, [0.0]);
    Ok(())
}
