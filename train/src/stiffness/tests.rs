//! Gradients of the kernels and of the whole program, and a search at a small size.

use super::block::{Block, Frames};
use super::kernels::{misfits, moduli};
use super::protocol::Protocol;
use super::study::Study;
use diffkern::gradcheck::{self, Options};
use diffkern::prelude::*;
use diffkern::{arith, reduce};
use std::error::Error as StdError;
use std::path::Path;

type Tested = std::result::Result<(), Box<dyn StdError>>;

/// Four cells of 24 elements for a short time.
fn small() -> crate::Result<Protocol> {
    let own = Protocol::own()?;
    Ok(Protocol { cells: [1, 2, 2], sides: [0.05, 0.08, 0.09], duration: 0.03, frames: 6, ..own })
}

fn logarithms(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| 11.0 + 1.2 * rng.f64()).collect()
}

#[test]
fn kernels_have_right_gradients() -> Tested {
    let device = Device::cpu();
    let x = device.array(&logarithms(7, 1))?;
    moduli::gradcheck(7, &x, &device.zeros(7)?, &device.zeros(7)?, 3e-5, 7e-5)?;
    let mut rng = fastrand::Rng::with_seed(2);
    let mut places = || (0..5).map(|_| Vec3::new(rng.f64(), rng.f64(), rng.f64())).collect::<Vec<_>>();
    let (place, seen) = (device.array(&places())?, device.array(&places())?);
    misfits::gradcheck(5, &place, &seen, &device.zeros(15)?, 1.7)?;
    Ok(())
}

/// Half the sum of all squares: by a tape, against differences and Taylor's remainder, over several draws.
#[test]
fn the_gradient_by_every_modulus_is_exact() -> Tested {
    let (protocol, device) = (small()?, Device::cpu());
    let block = Block::new(&protocol)?;
    for seed in [3, 4, 5] {
        let seen: Frames = block.observe(&block.array(&logarithms(block.elements, seed))?)?;
        let noise = [2e-3, 3e-3, 4e-3];
        let value = |x: &Array<f64>| {
            let squares = block
                .residuals(x, &seen, noise)?
                .iter()
                .map(reduce::squared_norm)
                .collect::<diffkern::Result<Vec<_>>>()?;
            arith::scaled_sum(&squares.iter().map(|s| (1.0, s)).collect::<Vec<_>>())
        };
        let at = logarithms(block.elements, seed + 10);
        let x = device.array(&at)?.requires_grad();
        let (tape, found) = Tape::record_value(|| value(&x))?;
        tape.backward(&found)?;
        let slope = x.grad()?.to_vec()?;
        assert!(slope.iter().all(|s| *s != 0.0), "{slope:?}");
        // By forward mode, as the search takes it; the prior weighs nothing here.
        let normal = block.normal(&at, &seen, noise, [0.0, 1e9])?;
        let largest = slope.iter().fold(0.0f64, |m, s| m.max(s.abs()));
        for (a, b) in slope.iter().zip(&normal.gradient) {
            assert!((a - 2.0 * b).abs() < 1e-9 * largest, "{a} by the tape, {} forward", 2.0 * b);
        }
        let f = |x: &[f64]| -> diffkern::Result<f64> { Ok(value(&device.array(x)?)?.to_vec()?[0]) };
        let options = Options {
            scales: vec![1.0; at.len()],
            first_step: 2e-2,
            directions: 3,
            steps: 5,
            seed,
            detects: 1e-3,
            ..Options::default()
        };
        gradcheck::function(f, &slope, &at, &options)?;
    }
    Ok(())
}

#[test]
fn moduli_are_found_from_noisy_places() -> Tested {
    let mut values = Vec::new();
    let mut tell = |_: usize, value: f64| {
        values.push(value);
        Ok(())
    };
    let study = Study::new(&small()?, 1, &mut tell)?;
    let (errors, guessed) = (study.errors(), study.guessed());
    assert_eq!((errors.len(), study.truth.len()), (24, 24));
    let middle = |sorted: &[f64]| 0.5 * (sorted[11] + sorted[12]);
    assert!(middle(&errors) < 0.05 && middle(&guessed) > 0.15, "{errors:?}\n{guessed:?}");
    // The noise is explained, and no more than it.
    assert!(study.misfit > 0.5 && study.misfit < 1.3, "{}", study.misfit);
    assert!(values.windows(2).all(|pair| pair[1] <= pair[0]) && values.len() > 2, "{values:?}");
    let again = Study::new(&small()?, 1, &mut |_, _| Ok(()))?;
    assert_eq!((again.truth, again.found), (study.truth, study.found));
    Ok(())
}

#[test]
fn a_motion_that_is_not_finite_is_an_error_with_the_field_to_change() -> Tested {
    let shaken = Protocol { acceleration: 2e7, ..small()? };
    let said = Study::new(&shaken, 1, &mut |_, _| Ok(())).map_err(|e| (e.exit_code(), e.to_string()));
    let expected = "acceleration: 20000000 m/s^2, with which the motion along x is not finite";
    assert!(said.as_ref().is_err_and(|(code, s)| *code == 1 && s.starts_with(expected)), "{said:?}");
    Ok(())
}

#[test]
fn wrong_protocols_are_refused_with_their_field() -> Tested {
    let text = include_str!("../../experiments/stiffness_field.ron");
    for (from, to, expected) in [
        ("poisson: 0.3", "poisson: 0.5", "poisson: 0.5, expected a number above -1 and below 0.5"),
        ("(5e4, 2e5)", "(5e4, 5e4)", "young: 50000 to 50000 Pa"),
        ("noise: 0.001", "noise: 0.0", "noise: 0, expected a positive number"),
        ("frames: 20", "frames: 0", "frames: 0, expected 1 to 1000"),
        ("(3, 4, 7)", "(0, 4, 7)", "cells: [0, 4, 7], expected at least 1 along each axis"),
        ("(3, 4, 7)", "(300, 400, 700)", "expected at most 8 GiB, by fewer cells or frames"),
        ("(0.12, 0.16,", "(0.12, -0.16,", "sides: [0.12, -0.16, 0.28] m, expected positive lengths"),
        ("density", "densty", "densty"),
    ] {
        let changed = text.replacen(from, to, 1);
        let said = Protocol::parse(Path::new("wrong.ron"), &changed).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(said.contains("wrong.ron") && said.contains(expected), "{said}\n{expected}");
    }
    Ok(())
}
