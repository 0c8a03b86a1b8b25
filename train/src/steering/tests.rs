//! Gradients of kernels and of whole scenes, what tells the twins apart, and searches.

use super::billiards::{Billiards, Table, shoot, squared_miss};
use super::descent::Descent;
use super::plan::{Kind, catalogue, find};
use super::robot::{Robot, Walk, behind, land, layer, middle, sense};
use super::scene::{Scene, Twin};
use diffkern::prelude::*;
use std::error::Error as StdError;
use std::path::Path;

type Tested = std::result::Result<(), Box<dyn StdError>>;

const TWINS: [Twin; 2] = [Twin::TimeOfImpact, Twin::Naive];

fn billiards() -> std::result::Result<Billiards, Box<dyn StdError>> {
    match find(Path::new("billiards"))?.ok_or("no billiards")?.plan.scene {
        Kind::Billiards(game) => Ok(game),
        Kind::Robot(_) => Err("a robot".into()),
    }
}

fn robot() -> std::result::Result<Robot, Box<dyn StdError>> {
    match find(Path::new("spring_robot"))?.ok_or("no robot")?.plan.scene {
        Kind::Robot(robot) => Ok(robot),
        Kind::Billiards(_) => Err("a game".into()),
    }
}

#[test]
fn kernels_have_right_gradients() -> diffkern::Result<()> {
    let device = Device::cpu();
    let mut random = fastrand::Rng::with_seed(3);
    let mut many = |n: usize| -> Vec<f64> { (0..n).map(|_| 2.0 * random.f64() - 1.0).collect() };
    let vectors = |x: Vec<f64>| -> Vec<Vec3<f64>> { x.chunks_exact(3).map(|c| Vec3::new(c[0], c[1], c[2])).collect() };
    let (shot, rest) = (device.array(&many(4))?, device.array(&vectors(many(9)))?);
    shoot::gradcheck(3, &shot, &rest, &device.zeros(3)?, &device.zeros(3)?)?;
    let goal = device.array(&vectors(many(3)))?;
    squared_miss::gradcheck(1, &rest, &goal, &device.zeros(1)?)?;
    let (x, v) = (device.array(&vectors(many(9)))?, device.array(&vectors(many(9)))?);
    middle::gradcheck(1, &x, &device.zeros(1)?)?;
    let (centre, waves) = (device.array(&vectors(many(3)))?, device.array(&many(4))?);
    sense::gradcheck(18, &x, &v, &centre, &waves, &goal, &device.zeros(18)?, 0.7)?;
    let (y, weights) = (device.array(&many(4))?, device.array(&many(3 + 2 * 5))?);
    layer::gradcheck(2, &y, &weights, &device.zeros(2)?, 0.8, 3)?;
    behind::gradcheck(1, &x, &device.zeros(1)?)?;
    // In the air, on the way into the ground, in it and sinking, in it and rising.
    let places = [[0.1, 0.2, 0.9], [0.3, -0.1, 0.42], [-0.2, 0.3, 0.1], [0.5, 0.1, 0.2]];
    let speeds = [[0.4, 0.3, -0.5], [0.7, 0.2, -0.9], [0.3, -0.6, -0.4], [-0.3, 0.2, 0.8]];
    let of = |rows: [[f64; 3]; 4]| device.array(&rows.map(Vec3::from_array));
    let (x, v) = (of(places)?, of(speeds)?);
    for at_time in [0, 1] {
        land::gradcheck(4, &x, &v, &device.zeros(4)?, &device.zeros(4)?, 0.4, 0.45, 0.1, at_time)?;
    }
    Ok(())
}

/// Taylor's remainder of a scene along a direction, over the change of the value itself: rates of both.
fn rates(scene: &dyn Scene, at: &[f64], seed: u64, step: f64) -> std::result::Result<[f64; 2], Box<dyn StdError>> {
    let mut random = fastrand::Rng::with_seed(seed);
    let along: Vec<f64> = at.iter().map(|_| random.f64() - 0.5).collect();
    let here = scene.evaluate(at)?;
    let slope: f64 = here.gradient.iter().zip(&along).map(|(g, a)| g * a).sum();
    let left = |h: f64| -> std::result::Result<[f64; 2], Box<dyn StdError>> {
        let there: Vec<f64> = at.iter().zip(&along).map(|(x, a)| x + h * a).collect();
        let change = scene.evaluate(&there)?.loss - here.loss;
        Ok([(change - h * slope).abs(), change.abs()])
    };
    let (coarse, fine) = (left(step)?, left(0.5 * step)?);
    Ok([0, 1].map(|k| (coarse[k] / fine[k]).log2()))
}

/// Of both twins: the gradient is that of the motion as it is computed.
#[test]
fn scenes_have_the_gradient_of_what_they_compute() -> Tested {
    let (game, robot) = (Billiards { steps: 700, ..billiards()? }, Robot { steps: 60, ..robot()? });
    for seed in [1, 2, 3] {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (shot, weights) = (game.begin(&mut rng), robot.begin(&mut rng));
        for twin in TWINS {
            let [rate, value] = rates(&Table::new(&game, twin)?, &shot, seed, 2e-6)?;
            assert!(rate > 1.9 && (value - 1.0).abs() < 0.1, "billiards, {twin:?}, seed {seed}: {rate}, {value}");
            let [rate, value] = rates(&Walk::new(&robot, twin)?, &weights, seed, 2e-6)?;
            assert!(rate > 1.9 && (value - 1.0).abs() < 0.1, "robot, {twin:?}, seed {seed}: {rate}, {value}");
        }
    }
    Ok(())
}

/// Two balls in a line: where the second ends moves with where the first begins, as it is hit the earlier the nearer that is: by `(1 + e) / 2`. For whole steps it does not move but
/// from one step to the next.
#[test]
fn the_naive_twin_does_not_see_when_balls_meet() -> Tested {
    let game =
        Billiards { rows: 1, from: (0.1, 0.5), velocity: (0.3, 0.0), goal: (5.0, 0.5), steps: 900, ..billiards()? };
    let slope = |twin: Twin| -> std::result::Result<f64, Box<dyn StdError>> {
        let there = Table::new(&game, twin)?.evaluate(&[0.1, 0.5, 0.3, 0.0])?;
        // Of the squared distance along the line.
        Ok(-there.gradient[0] / (2.0 * there.outcome))
    };
    let (right, naive) = (slope(Twin::TimeOfImpact)?, slope(Twin::Naive)?);
    assert!((right - 0.9).abs() < 1e-9 && naive.abs() < 1e-9, "{right}, {naive}");
    Ok(())
}

/// What falls freely comes to rest on the ground, at its height with impacts at their time.
#[test]
fn a_robot_that_falls_comes_to_rest_on_the_ground() -> Tested {
    let mut robot = Robot { steps: 400, slow: 1e-4, ..robot()? };
    robot.points.iter_mut().for_each(|p| p.1 += 0.05);
    let weights = Device::cpu().zeros(robot.begin(&mut fastrand::Rng::with_seed(1)).len())?;
    for (twin, depth) in [(Twin::TimeOfImpact, 1e-6), (Twin::Naive, 5e-3)] {
        let end = Walk::new(&robot, twin)?.walked(&weights)?;
        let feet = [0, 2].map(|k| end.x.to_vec().map(|x| x[k].z));
        for foot in feet {
            let foot = foot?;
            assert!(foot <= 0.1 + 1e-6 && foot >= 0.1 - depth, "{twin:?}: {foot}");
        }
    }
    Ok(())
}

#[test]
fn searches_keep_the_best_controls() -> Tested {
    let game = Billiards { steps: 600, ..billiards()? };
    let table = Table::new(&game, Twin::TimeOfImpact)?;
    let start = game.begin(&mut fastrand::Rng::with_seed(4));
    for descent in [Descent::Monotone { first: 0.02, grow: 2.0, shrink: 0.3 }, Descent::Steady { first: 0.01 }] {
        let found = descent.run(&table, start.clone(), 8, &mut || Ok(()))?;
        assert!(found.curve.len() == 9 && found.best <= found.curve[0], "{:?}", found.curve);
        assert!((table.evaluate(&found.controls)?.outcome - found.best).abs() < 1e-12);
        let best = found.curve.iter().copied().fold(f64::INFINITY, f64::min);
        assert!((best - found.best).abs() < 1e-12, "{best} and {}", found.best);
    }
    Ok(())
}

#[test]
fn plans_in_the_program_are_right_and_wrong_ones_are_refused() -> Tested {
    assert_eq!(catalogue()?.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(), ["billiards", "spring_robot"]);
    assert!(find(Path::new("rigid"))?.is_none());
    let text = include_str!("../../experiments/billiards.ron");
    let file = std::env::temp_dir().join(format!("diffkern-steering-{}.ron", std::process::id()));
    for (from, to, expected) in [
        ("radius: 0.03", "radius: 0.0", "scene.radius: 0, expected a positive number"),
        ("restitution: 0.8", "restitution: 1.8", "scene.restitution: 1.8, expected 0 to 1"),
        ("seeds: 5", "seeds: 0", "seeds: 0, expected 1 to 10000"),
        ("shrink: 0.3", "shrink: 1.3", "expected a positive first step"),
        ("goal: (0.9, 0.75)", "gaol: (0.9, 0.75)", "gaol"),
    ] {
        assert!(text.contains(from), "{from}");
        std::fs::write(&file, text.replacen(from, to, 1))?;
        let said = find(&file).map(drop).map_err(|e| e.to_string());
        assert!(said.as_ref().is_err_and(|s| s.contains(expected)), "{said:?}\n{expected}");
    }
    Ok(std::fs::remove_file(&file)?)
}
