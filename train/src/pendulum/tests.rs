//! The reader, the motion against Lagrange's equations, gradients, and a search on swings that the simulator made.

use super::arms::{ALL, Arms, Constants, GRAVITY, LOWER_CENTRE, MASSES, Motion, SLIP, START, arm_angles, place_arms};
use super::projected::Projected;
use super::recording::{Segment, of, read};
use super::search::{Swings, whole};
use super::study::AUTHORS;
use crate::npz::Numbers;
use diffkern::prelude::*;
use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::path::{Path, PathBuf};

type Tested = std::result::Result<(), Box<dyn StdError>>;

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/pendulum/pendulum.npz")
}

/// Arms unlike those of the authors, with friction of both kinds.
const TRUTH: Constants = Constants {
    length: 0.181,
    centre: 0.1,
    inertia: [4.9e-4, 1.15e-3],
    viscous: [2.9e-4, 6e-5],
    dry: [2.3e-4, 1.4e-4],
};
const STARTS: [[f64; START]; 3] = [[2.4, 3.6, 1.5, -2.0], [3.5, 2.9, -3.0, 4.0], [2.9, 2.6, 0.6, 2.5]];

#[test]
fn swings_are_read_and_wrong_ones_are_refused() -> Tested {
    let recording = read(&sample())?;
    assert_eq!((recording.fitted.len(), recording.judged.len(), recording.dt), (26, 4, 0.004));
    assert!((recording.judged[0][0][0] - 3.1552343).abs() < 1e-6, "{:?}", recording.judged[0][0]);
    let swings = |shape: &[usize]| Numbers { shape: shape.into(), values: vec![3.0; shape.iter().product()] };
    let good = BTreeMap::from([
        ("dt_s".to_owned(), Numbers { shape: vec![], values: vec![0.01] }),
        ("double_id".to_owned(), swings(&[2, 20, 4])),
        ("double_vad".to_owned(), swings(&[1, 30, 4])),
    ]);
    assert_eq!(of(Path::new("a.npz"), &good)?.judged[0].len(), 30);
    let mut broken = swings(&[2, 20, 4]);
    broken.values[4 * 23 + 1] = f64::NAN;
    let cases = [
        (
            "dt_s",
            Numbers { shape: vec![], values: vec![0.1] },
            "dt_s: [0.1], expected one time above 0 and up to 0.02 s",
        ),
        ("double_id", swings(&[2, 20, 6]), "double_id: shape [2, 20, 6], expected swings, samples, and 4 numbers each"),
        ("double_vad", swings(&[1, 19, 4]), "double_vad: 1 swings of 19 samples, expected at least one of 20"),
        ("double_id", broken, "double_id: NaN in swing 1, sample 3, expected finite numbers"),
    ];
    for (name, numbers, expected) in cases {
        let mut arrays = good.clone();
        arrays.insert(name.to_owned(), numbers);
        let said = of(Path::new("a.npz"), &arrays).map(drop).map_err(|e| e.to_string());
        assert!(said.as_ref().is_err_and(|s| s.contains(expected)), "{said:?}\n{expected}");
    }
    let mut arrays = good;
    arrays.remove("double_vad");
    assert!(of(Path::new("a.npz"), &arrays).is_err_and(|e| e.to_string().contains("double_vad: there is no such")));
    Ok(())
}

#[test]
fn kernels_have_right_gradients() -> diffkern::Result<()> {
    let (device, n) = (Device::cpu(), 6);
    let constants = device.array(&TRUTH.to_array().map(|x| x + 0.3))?;
    let starts = device.array(&STARTS.concat())?;
    let (viscous, dry) = (device.zeros(n)?, device.zeros(n)?);
    let (parent, child) = (device.zeros(n)?, device.zeros(n)?);
    let (poses, inertia) = (device.zeros(n)?, device.zeros(n)?);
    place_arms::gradcheck(3, &constants, &starts, &poses, &inertia, &parent, &child, &viscous, &dry, 0.7)?;
    let q = device.array(&[Quat::new(0.3, 0.1, -0.8, 0.2), Quat::new(-0.4, 0.2, -0.6, 0.1)])?;
    arm_angles::gradcheck(2, &q, &device.zeros(2)?)?;
    Ok(())
}

/// Lagrange's equations of two arms in a plane: angles from the upright, then rates.
fn rates(c: &Constants, [a, b, u, w]: [f64; 4]) -> [f64; 4] {
    let ([m, n], [p, q]) = (MASSES, c.inertia);
    let (first, across, second) = (
        m * c.centre * c.centre + p + n * c.length * c.length,
        n * c.length * LOWER_CENTRE,
        n * LOWER_CENTRE.powi(2) + q,
    );
    let rub = |joint: usize, w: f64| c.viscous[joint] * w + c.dry[joint] * w / w.hypot(SLIP);
    let (upper, lower) = (rub(0, u), rub(1, w - u));
    let (sin, cos) = (a - b).sin_cos();
    let f = -across * sin * w * w + (m * c.centre + n * c.length) * GRAVITY * a.sin() - upper + lower;
    let g = across * sin * u * u + n * LOWER_CENTRE * GRAVITY * b.sin() - lower;
    let det = first * second - (across * cos).powi(2);
    [u, w, (second * f - across * cos * g) / det, (first * g - across * cos * f) / det]
}

/// By Runge and Kutta, in steps of 0.1 ms.
fn exact(c: &Constants, mut x: [f64; 4], seconds: f64) -> [f64; 2] {
    let h = 1e-4;
    let add = |x: [f64; 4], k: [f64; 4], by: f64| std::array::from_fn(|i| x[i] + by * k[i]);
    for _ in 0..(seconds / h).round() as usize {
        let k = rates(c, x);
        let l = rates(c, add(x, k, 0.5 * h));
        let m = rates(c, add(x, l, 0.5 * h));
        let n = rates(c, add(x, m, h));
        x = std::array::from_fn(|i| x[i] + h / 6.0 * (k[i] + 2.0 * l[i] + 2.0 * m[i] + n[i]));
    }
    [x[0], x[1]]
}

/// Rigid bodies with joints move as Lagrange's equations say: without friction to second order in the step, the half step back to the first velocities included;
/// with friction to first.
#[test]
fn arms_move_as_the_equations_of_a_double_pendulum() -> Tested {
    let smooth = Constants { viscous: [0.0; 2], dry: [0.0; 2], ..TRUTH };
    for (constants, rate, most) in [(smooth, 1.9, 1e-4), (TRUTH, 0.9, 3e-4)] {
        let off = |finer: usize| -> std::result::Result<f64, Box<dyn StdError>> {
            let end = Arms::new(3, 126, 0.004, finer)?.motion(constants, &STARTS)?;
            let apart = |s: usize| {
                let there = exact(&constants, STARTS[s], 0.5);
                (end[125][s][0] - there[0]).hypot(end[125][s][1] - there[1])
            };
            Ok((0..3).map(apart).fold(0.0, f64::max))
        };
        let (coarse, fine) = (off(1)?, off(2)?);
        assert!(coarse < most && (coarse / fine).log2() > rate, "{coarse:e}, {fine:e} of {constants:?}");
    }
    Ok(())
}

#[test]
fn angles_have_their_gradient_by_constants_and_starts() -> Tested {
    let arms = Arms::new(3, 60, 0.004, 1)?;
    let by: Vec<usize> = (0..ALL).collect();
    for seed in [1, 2, 3] {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut draw = || random.f64() - 0.5;
        let of_constants: Vec<f64> = TRUTH.to_array().iter().map(|x| x * draw()).collect();
        let of_starts: [f64; START] = std::array::from_fn(|_| 0.3 * draw());
        let weights: Vec<f64> = (0..360).map(|_| draw()).collect();
        let of = |m: &Motion| m.iter().flatten().flatten().zip(&weights).map(|(x, w)| x * w).sum::<f64>();
        let linear = arms.linearise(TRUTH, &STARTS, &by)?;
        let along = of_constants.iter().chain(&of_starts);
        let slope: f64 = linear.derivatives.iter().zip(along).map(|(d, a)| of(d) * a).sum();
        let here = of(&linear.motion);
        let left = |h: f64| -> crate::Result<f64> {
            let there = Constants::from_array(std::array::from_fn(|k| TRUTH.to_array()[k] + h * of_constants[k]));
            let starts = STARTS.map(|start| std::array::from_fn(|k| start[k] + h * of_starts[k]));
            Ok((of(&arms.motion(there, &starts)?) - here - h * slope).abs())
        };
        let (coarse, fine) = (left(2e-3)?, left(1e-3)?);
        assert!((coarse / fine).log2() > 1.9, "seed {seed}: {coarse:e}, {fine:e}");
    }
    Ok(())
}

/// What is left beside the start, and the start that goes with a change, against the equations of all unknowns at once.
#[test]
fn the_best_start_is_that_of_all_unknowns_at_once() -> Tested {
    for seed in [1, 2, 3] {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut column = || -> Vec<f64> { (0..12).map(|_| random.f64() - 0.5).collect() };
        let (residual, constants, start) = (column(), vec![column(), column()], std::array::from_fn(|_| column()));
        let projected = Projected::new(residual.clone(), constants.clone(), start.clone()).ok_or("no start")?;
        let mut part = diffkern_optim::dense::NormalEquations::new(2);
        part.add(&projected.residual, &projected.derivatives)?;
        let change = part.minimum().ok_or("no minimum")?;
        let mut all = diffkern_optim::dense::NormalEquations::new(6);
        all.add(&residual, &[constants, start.to_vec()].concat())?;
        let expected = all.minimum().ok_or("no minimum")?;
        let found = [change.clone(), projected.start(&change).to_vec()].concat();
        let apart = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-9, "seed {seed}: {found:?}, {expected:?}");
        let mut same = start.clone();
        same[2] = same[1].clone();
        assert!(Projected::new(residual, Vec::new(), same).is_none());
    }
    Ok(())
}

#[test]
fn swings_that_were_made_up_are_explained() -> Tested {
    let motion = Arms::new(3, 100, 0.004, 1)?.motion(TRUTH, &STARTS)?;
    let mut random = fastrand::Rng::with_seed(5);
    let segments: Vec<Segment> = (0..3)
        .map(|s| {
            let mut swing: Segment = motion.iter().map(|sample| [sample[s][0], sample[s][1], 0.0, 0.0]).collect();
            // The first rates are off, as those that were measured.
            swing[0] = std::array::from_fn(|k| STARTS[s][k] + if k < 2 { 0.0 } else { 0.1 * (random.f64() - 0.5) });
            swing
        })
        .collect();
    let swings = Swings::new(&segments, usize::MAX, 0.004, 1)?;
    let by: Vec<usize> = (0..ALL).collect();
    let place = swings.search(AUTHORS, swings.measured(), &by, &mut || Ok(()))?;
    for (k, (found, truth)) in place.at.to_array().into_iter().zip(TRUTH.to_array()).enumerate() {
        assert!((found / truth - 1.0).abs() < 1e-4, "{k}: {found} instead of {truth}");
    }
    for (found, truth) in place.starts.iter().zip(&STARTS) {
        assert!((0..START).all(|k| (found[k] - truth[k]).abs() < 1e-4), "{found:?} instead of {truth:?}");
    }
    let gradient = whole(&place.normals)?.gradient;
    assert!(gradient.iter().all(|g| g.is_finite()) && place.cost < 1e-8, "{} rad^2", place.cost);
    // Starts alone, with the right constants.
    let starts = swings.starts(TRUTH, swings.measured())?;
    let worst = starts.iter().flatten().zip(STARTS.as_flattened()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-6, "{worst:e}");
    Ok(())
}

/// The constants of the table, on the swings that come with the source: no more than 0.0042 rad, which is what those of the authors leave.
#[test]
fn the_table_says_what_its_constants_do() -> Tested {
    let table: serde_json::Value = serde_json::from_str(include_str!("../../../docs/tables/pendulum.json"))?;
    let recording = read(&sample())?;
    let swings = Swings::new(&recording.judged, usize::MAX, recording.dt, 1)?;
    let mut medians = Vec::new();
    for found in table["found"].as_array().ok_or("no rows")? {
        let constants: Constants = serde_json::from_value(found["constants"].clone())?;
        let errors = swings.errors(&swings.arms.motion(constants, &swings.measured())?);
        let said: Vec<f64> = serde_json::from_value(found["judged"][0]["errors"].clone())?;
        assert!(errors.iter().zip(&said).all(|(a, b)| (a - b).abs() < 1e-6), "{errors:?}, {said:?}");
        let mut sorted = errors;
        sorted.sort_by(f64::total_cmp);
        medians.push(0.5 * (sorted[1] + sorted[2]));
    }
    assert!(medians.len() == 3 && (medians[0] - 0.0042).abs() < 1e-4 && medians[2] <= 0.0042, "{medians:?}");
    Ok(())
}
