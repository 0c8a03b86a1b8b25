//! Gradients from what is sought to what is observed, the covariance of fields, searches at a small size, and the table.

use super::field::{Waves, columns};
use super::fit::{Found, explained};
use super::instance::{Instance, Numbers};
use super::load::Load;
use super::observation::{Observation, Sought, Supervision};
use super::program::{Coordinates, Program};
use super::protocol::{Kind, Prior, Protocol};
use super::row::Row;
use crate::experiments::Bits;
use diffkern::gradcheck::{self, Options};
use diffkern::prelude::*;
use diffkern::{arith, reduce};
use diffkern_optim::dense::NormalEquations;
use std::error::Error as StdError;
use std::path::Path;

type Tested = std::result::Result<(), Box<dyn StdError>>;

/// Coarse lattices, few frames and small pictures.
fn small() -> crate::Result<Protocol> {
    let own = Protocol::own()?;
    let coarse = |kind: &Kind| Kind {
        cells: if kind.name == "ball" { 4 } else { 2 },
        duration: 0.6 * kind.duration,
        ..kind.clone()
    };
    let camera = crate::experiments::View { width: 40, height: 40, ..own.camera.clone() };
    Ok(Protocol { kinds: own.kinds.iter().map(coarse).collect(), frames: 4, camera, ..own })
}

/// The sum of squares of what is seen against what other numbers show: by forward mode along each coordinate and by a tape, against differences and Taylor's remainder.
fn check(supervision: Supervision, sought: Sought, number: usize, seed: u64) -> Tested {
    let protocol = small()?;
    let instance = Instance::draw(&protocol, seed, number);
    let program = Program::<f64>::new(&protocol, &instance, supervision, 1)?;
    let coordinates = Coordinates::new(&protocol, &instance, &program, sought);
    let steps = program.steps(&program.numbers(Numbers { density: 500.0, mu: 1.2e5, lambda: 1.2e5 })?)?;
    let target = program.observe(&program.numbers(instance.truth)?, steps)?;
    let mut rng = fastrand::Rng::with_seed(seed);
    let at: Vec<f64> = coordinates.start().iter().map(|x| x + 0.1 + 0.1 * rng.f64()).collect();
    let value = |at: &[f64]| -> crate::Result<(Array<f64>, super::program::Inputs<f64>)> {
        let inputs = coordinates.inputs(&program, at)?;
        let seen = program.observe(&inputs, steps)?;
        let squares = seen.iter().zip(&target).map(|(a, b)| reduce::squared_norm(&arith::sub(a, b)?));
        let squares = squares.collect::<diffkern::Result<Vec<_>>>()?;
        Ok((arith::scaled_sum(&squares.iter().map(|s| (1.0, s)).collect::<Vec<_>>())?, inputs))
    };
    // By forward mode, along each coordinate.
    let inputs = coordinates.inputs(&program, &at)?;
    let directions = coordinates.directions(&program, &inputs)?;
    let pairs: Vec<Vec<_>> =
        directions.iter().map(|d| d.iter().map(|(x, seed)| (x.as_any(), seed.as_any())).collect()).collect();
    let along: Vec<diffkern::Direction<'_>> = pairs.iter().map(Vec::as_slice).collect();
    let (seen, tangents) = diffkern::jvp(&along, || program.observe(&inputs, steps))?;
    let mut slope = Vec::new();
    for k in 0..at.len() {
        let mut sum = 0.0;
        for (own, other) in seen.iter().zip(&target) {
            let tangent = tangents.get(k, own)?.to_vec()?;
            sum += own
                .to_vec()?
                .iter()
                .zip(other.to_vec()?)
                .zip(tangent)
                .map(|((a, b), d)| 2.0 * (a - b) * d)
                .sum::<f64>();
        }
        slope.push(sum);
    }
    assert!(slope.iter().all(|s| *s != 0.0), "{slope:?}");
    // By a tape.
    let inputs = coordinates.inputs(&program, &at)?;
    let asked = super::program::Inputs {
        mu: inputs.mu.requires_grad(),
        lambda: inputs.lambda.requires_grad(),
        density: inputs.density.requires_grad(),
    };
    let (tape, loss) = Tape::record_value(|| {
        let seen = program.observe(&asked, steps)?;
        let squares = seen.iter().zip(&target).map(|(a, b)| reduce::squared_norm(&arith::sub(a, b)?));
        let squares = squares.collect::<diffkern::Result<Vec<_>>>()?;
        Ok::<_, crate::Error>(arith::scaled_sum(&squares.iter().map(|s| (1.0, s)).collect::<Vec<_>>())?)
    })?;
    tape.backward(&loss)?;
    for (k, direction) in coordinates.directions(&program, &asked)?.iter().enumerate() {
        let mut by_tape = 0.0;
        for (x, seed) in direction {
            by_tape += x.grad()?.to_vec()?.iter().zip(seed.to_vec()?).map(|(g, s)| g * s).sum::<f64>();
        }
        let size = slope.iter().fold(0.0f64, |m, s| m.max(s.abs()));
        assert!((by_tape - slope[k]).abs() < 1e-9 * size, "{k}: {by_tape} by the tape, {} forward", slope[k]);
    }
    let f = |at: &[f64]| -> diffkern::Result<f64> {
        let (value, _) = value(at).map_err(|error| diffkern::Error::Jvp(error.to_string()))?;
        Ok(value.to_vec()?[0])
    };
    let options = Options {
        scales: vec![1.0; at.len()],
        first_step: if supervision == Supervision::Image { 2e-3 } else { 2e-2 },
        directions: 2,
        steps: 5,
        seed,
        detects: 1e-3,
        ..Options::default()
    };
    gradcheck::function(f, &slope, &at, &options)?;
    Ok(())
}

#[test]
fn the_gradient_by_mass_and_moduli_is_exact() -> Tested {
    for (number, supervision) in
        [(0, Supervision::State), (1, Supervision::Image), (2, Supervision::State), (2, Supervision::Image)]
    {
        check(supervision, Sought::Numbers, number, 7 + number as u64)?;
    }
    Ok(())
}

#[test]
fn the_gradient_by_a_field_of_masses_is_exact() -> Tested {
    for (number, supervision) in [(0, Supervision::Image), (1, Supervision::State), (2, Supervision::State)] {
        check(supervision, Sought::Field, number, 17 + number as u64)?;
    }
    Ok(())
}

/// The waves have the covariance of the prior, over many draws, and the columns have it but for what they leave.
#[test]
fn fields_have_the_covariance_of_the_prior() {
    let prior = Prior { deviation: 0.4, length: 0.5 };
    let places = [[0.0; 3], [0.03, 0.02, -0.01], [0.1, -0.05, 0.04], [-0.2, 0.1, 0.0]];
    let exact = |a: [f64; 3], b: [f64; 3]| {
        let square: f64 = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum();
        0.16 * (-0.5 * square / (0.5f64 * 0.3).powi(2)).exp()
    };
    let (draws, mut rng) = (4000, fastrand::Rng::with_seed(5));
    let mut sums = [[0.0; 4]; 4];
    for _ in 0..draws {
        let waves = Waves::draw(prior, 0.3, &mut rng);
        let values = places.map(|x| waves.at(x));
        for a in 0..4 {
            for b in 0..4 {
                sums[a][b] += values[a] * values[b] / f64::from(draws);
            }
        }
    }
    let columns = columns(prior, 0.3, &places);
    for a in 0..4 {
        for b in 0..4 {
            let wanted = exact(places[a], places[b]);
            assert!((sums[a][b] - wanted).abs() < 0.015, "{a} {b}: {} {wanted}", sums[a][b]);
            let found: f64 = columns.iter().map(|c| c[a] * c[b]).sum();
            assert!((found - wanted).abs() < 0.01 * 0.16, "{a} {b}: {found} {wanted}");
        }
    }
}

/// The forces that are borne within a body have no sum, and no moment of their own: a free one is moved by the push alone.
#[test]
fn forces_within_a_free_body_are_balanced() -> Tested {
    let protocol = small()?;
    for number in [1, 2] {
        let mut instance = Instance::draw(&protocol, 3, number);
        instance.acting.push = [0.0; 3];
        let load = Load::of(&protocol, &instance);
        let largest = load.forces.iter().flatten().fold(0.0f64, |m, f| m.max(f.abs()));
        let (mut sum, mut moment) = (Vec3::zero(), Vec3::zero());
        for (x, f) in load.points.iter().zip(&load.forces) {
            let (x, f) = (Vec3::from_array(*x), Vec3::from_array(*f));
            sum += f;
            moment += x.cross(f);
        }
        let count = load.points.len() as f64;
        assert!(sum.norm() < 5e-3 * largest * count, "{number}: {sum:?}");
        assert!(moment.norm() < 5e-3 * largest * count * instance.longest(), "{number}: {moment:?}");
    }
    Ok(())
}

#[test]
fn draws_depend_on_seed_and_number_alone() -> Tested {
    let protocol = Protocol::own()?;
    let draw = |seed, number| {
        let i = Instance::draw(&protocol, seed, number);
        (i.truth, i.start, i.sides, i.acting.stress, i.waves.at([0.01, 0.02, 0.03]))
    };
    assert_eq!(draw(1, 7), draw(1, 7));
    assert!(draw(1, 7) != draw(1, 10) && draw(1, 7) != draw(2, 7));
    for number in 0..30 {
        let (truth, ..) = draw(4, number);
        for (x, (low, high)) in
            [(truth.mu, protocol.mu), (truth.lambda, protocol.lambda), (truth.density, protocol.density)]
        {
            assert!((low..=high).contains(&x), "{x}");
        }
    }
    Ok(())
}

const STATE: Observation = Observation { sought: Sought::Numbers, supervision: Supervision::State, bits: Bits::Float };

/// Where the observation has the lattice and the steps of the search, nothing but rounding is left.
#[test]
fn numbers_are_found_to_rounding_by_the_same_lattice() -> Tested {
    let protocol = Protocol { finer: 1, ..small()? };
    let close = |row: Row, rounding: f64| {
        for error in &row.errors {
            assert!(error.error < rounding && error.determined && error.before > 1e-3, "{row:?}");
        }
    };
    for number in 0..3 {
        close(Row::search_in::<f64>(&protocol, 11, number, STATE)?, 1e-6);
        // What is seen is rounded to 24 bits, and lambda shows least in it.
        close(Row::search(&protocol, 11, number, STATE)?, 5e-5);
    }
    Ok(())
}

/// A search that ends in another valley, or begins where nothing can be simulated, begins elsewhere; one that explains what is seen does not.
#[test]
fn what_is_not_explained_is_sought_from_elsewhere() {
    let broken =
        || crate::Error::Simulator(diffkern_sim::Error::Inverted { what: "cell", index: 1, step: 2, det: -1.0 });
    // From one place, with the residual where that ends; none is a start without a motion.
    let run = |residuals: &[Option<f64>]| {
        let places: Vec<Vec<f64>> = (0..residuals.len()).map(|k| vec![k as f64]).collect();
        let mut begun = 0;
        let found = explained(places[0].clone(), places[1..].to_vec(), 5.0, |start| {
            begun += 1;
            let residual = residuals[start[0] as usize].ok_or_else(broken)?;
            Ok(Found { at: start, iterations: 3, residual, normal: NormalEquations::new(1) })
        });
        (begun, found.ok().map(|found| (found.at[0], found.iterations)))
    };
    assert_eq!(run(&[Some(4.0), Some(1.0)]), (1, Some((0.0, 3))));
    assert_eq!(run(&[Some(9.0), Some(1.0), Some(0.5)]), (2, Some((1.0, 6))));
    assert_eq!(run(&[Some(9.0), Some(7.0), Some(8.0)]), (3, Some((1.0, 9))));
    assert_eq!(run(&[None, Some(1.0)]), (2, Some((1.0, 3))));
    assert_eq!(run(&[Some(9.0), None]), (2, Some((0.0, 3))));
    assert_eq!(run(&[None, None]), (2, None));
    let stopped = explained(vec![0.0], vec![vec![1.0]], 5.0, |_| Err(crate::Error::Interrupted));
    assert!(matches!(stopped, Err(crate::Error::Interrupted)));
}

/// Forces leave the beams whole, however soft: none that pushes along one folds it.
#[test]
fn beams_are_pulled_and_keep_their_shape() -> Tested {
    let protocol = small()?;
    // A soft one, and what folded when it was pushed.
    let instance = Instance::draw(&protocol, 1, 0);
    let program = Program::<f64>::new(&protocol, &instance, Supervision::State, 1)?;
    program.seen(&program.numbers(instance.truth)?)?;
    for number in [0, 1, 3, 4, 6, 7] {
        let stress = Instance::draw(&protocol, 1, number).acting.stress;
        assert!(stress.iter().all(|s| *s > 0.0), "{number}: {stress:?}");
    }
    Ok(())
}

/// Coarse lattices are some percent off what finer ones show.
#[test]
fn a_finer_lattice_is_explained_but_for_the_cells() -> Tested {
    let row = Row::search(&small()?, 11, 1, STATE)?;
    assert!(row.errors.iter().all(|e| e.error < 0.1) && row.errors.iter().any(|e| e.error > 1e-6), "{row:?}");
    Ok(())
}

/// A field is nearer than its mean spread evenly, by a coarser lattice than what is seen was made with.
#[test]
fn a_field_is_found() -> Tested {
    let field = Row::search(&small()?, 11, 1, Observation { sought: Sought::Field, ..STATE })?;
    let error = &field.errors[0];
    assert!(error.even.is_some_and(|even| error.error < 0.5 * even) && error.error < error.before, "{field:?}");
    Ok(())
}

#[test]
fn wrong_protocols_are_refused_with_their_field() -> Tested {
    let text = include_str!("../../experiments/solids.ron");
    for (from, to, expected) in [
        ("mu: (3e4, 1.2e5)", "mu: (3e4, 1.2e4)", "mu: 30000 to 12000, expected positive numbers in order"),
        ("acting: 1.0,", "acting: 1.5,", "acting: 1.5, expected a number above 0, up to 1"),
        ("finer: 2", "finer: 0", "finer: 0, expected at least 1"),
        ("duration: 0.16", "duration: -0.16", "kinds[0].duration: -0.16 s"),
        ("cells: 8", "cells: 8, clamped: true", "a ball that is clamped"),
        ("radius: (0.08, 0.12)", "radius: (0.08, 0.02)", "kinds[2].shape: 0.08 to 0.02 m"),
        ("width: 128", "width: 0", "camera.width: 0, expected 1 to 16384 pixels"),
        ("trust", "trusts", "trusts"),
    ] {
        let changed = text.replacen(from, to, 1);
        let said = Protocol::parse(Path::new("wrong.ron"), &changed).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(said.contains("wrong.ron") && said.contains(expected), "{said}\n{expected}");
    }
    Ok(())
}
