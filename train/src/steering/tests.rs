//! Gradients of kernels and of whole scenes, what tells the twins apart, and searches.

use super::billiards::{Billiards, Table, shoot, squared_miss};
use super::descent::Descent;
use super::markdown;
use super::network::layer;
use super::plan::{Kind, catalogue, find};
use super::rigid_robot::{March, RigidRobot, actuate, decay, distance, sense_bodies};
use super::robot::{Robot, Walk, behind, land, middle, sense};
use super::scene::{Evaluated, Scene, Twin};
use super::study::Study;
use super::triangle::{Growth, Triangle, area_miss};
use diffkern::prelude::*;
use diffkern_sim::collision::Pose;
use std::error::Error as StdError;
use std::path::Path;

type Tested = std::result::Result<(), Box<dyn StdError>>;

const TWINS: [Twin; 2] = [Twin::TimeOfImpact, Twin::Naive];

type Found<T> = std::result::Result<T, Box<dyn StdError>>;

/// The scene of a name.
fn scene_of(name: &str) -> Found<Kind> {
    Ok(find(Path::new(name))?.ok_or("no such scene")?.plan.scene)
}

fn billiards() -> Found<Billiards> {
    let Kind::Billiards(game) = scene_of("billiards")? else { return Err("another scene".into()) };
    Ok(game)
}

fn robot() -> Found<Robot> {
    let Kind::Robot(robot) = scene_of("spring_robot")? else { return Err("another scene".into()) };
    Ok(robot)
}

fn rigid_robot() -> Found<RigidRobot> {
    let Kind::RigidRobot(robot) = scene_of("rigid_robot")? else { return Err("another scene".into()) };
    Ok(robot)
}

fn triangle() -> Found<Triangle> {
    let Kind::Triangle(triangle) = scene_of("three_springs")? else { return Err("another scene".into()) };
    Ok(triangle)
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
    area_miss::gradcheck(1, &x, &device.zeros(1)?, 0.2)?;
    distance::gradcheck(1, &x, &goal, &device.zeros(1)?)?;
    decay::gradcheck(3, &x, &v, &device.zeros(3)?, &device.zeros(3)?, 0.7)?;
    actuate::gradcheck(4, &device.array(&many(2))?, &device.array(&many(2))?, &device.zeros(4)?)?;
    let vector = |x: &[f64]| Vec3::new(x[0], x[1], x[2]);
    let pose = |c: &[f64]| Pose {
        centre: vector(c),
        rotation: Quat::from_rotation_vector(vector(&c[3..])),
        velocity: vector(&c[6..]),
        spin: vector(&c[9..]),
    };
    let bodies = device.array(&many(36).chunks_exact(12).map(pose).collect::<Vec<_>>())?;
    sense_bodies::gradcheck(24, &bodies, &waves, &goal, &device.zeros(24)?, 0.7)?;
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
fn rates(scene: &dyn Scene, at: &[f64], seed: u64, step: f64) -> Found<[f64; 2]> {
    let mut random = fastrand::Rng::with_seed(seed);
    let along: Vec<f64> = at.iter().map(|_| random.f64() - 0.5).collect();
    let here = scene.evaluate(at)?;
    let slope: f64 = here.gradient.iter().zip(&along).map(|(g, a)| g * a).sum();
    let left = |h: f64| -> Found<[f64; 2]> {
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
    let plates = RigidRobot { steps: 150, ..rigid_robot()? };
    for seed in [1, 2, 3] {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (shot, weights, steps) = (game.begin(&mut rng), robot.begin(&mut rng), plates.begin(&mut rng));
        for twin in TWINS {
            let [rate, value] = rates(&Table::new(&game, twin)?, &shot, seed, 2e-6)?;
            assert!(rate > 1.9 && (value - 1.0).abs() < 0.1, "billiards, {twin:?}, seed {seed}: {rate}, {value}");
            let [rate, value] = rates(&Walk::new(&robot, twin)?, &weights, seed, 2e-6)?;
            assert!(rate > 1.9 && (value - 1.0).abs() < 0.1, "robot, {twin:?}, seed {seed}: {rate}, {value}");
            let [rate, value] = rates(&March::new(&plates, twin)?, &steps, seed, 2e-6)?;
            assert!(rate > 1.9 && (value - 1.0).abs() < 0.1, "plates, {twin:?}, seed {seed}: {rate}, {value}");
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
    let slope = |twin: Twin| -> Found<f64> {
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
    assert_eq!(
        catalogue()?.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(),
        ["billiards", "spring_robot", "rigid_robot", "three_springs"]
    );
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

/// Gradient of the program as it is computed, near where searches begin and near where they end.
#[test]
fn three_springs_have_the_gradient_of_what_they_compute() -> Tested {
    let triangle = triangle()?;
    let growth = Growth::new(&triangle)?;
    for seed in [1, 2, 3] {
        let begun = triangle.begin(&mut fastrand::Rng::with_seed(seed));
        for longer in [0.0, 0.6] {
            let rest: Vec<f64> = begun.iter().map(|length| length + longer).collect();
            let [rate, value] = rates(&growth, &rest, seed, 1e-4)?;
            assert!(rate > 1.9 && (value - 1.0).abs() < 0.1, "{longer} m longer, seed {seed}: {rate}, {value}");
        }
    }
    Ok(())
}

/// Stiff springs come to rest at their rest lengths: sides of 0.3, 0.4 and 0.5 m have an area of 0.06 m^2, a fifth more than a goal of 0.05 m^2.
#[test]
fn a_triangle_comes_to_rest_at_its_rest_lengths() -> Tested {
    let triangle = Triangle { stiffness: 1000.0, steps: 3000, goal: 0.05, ..triangle()? };
    let found = Growth::new(&triangle)?.evaluate(&[0.3, 0.4, 0.5])?;
    assert!((found.outcome - 20.0).abs() < 1e-6 && (found.loss - 1e-4).abs() < 1e-10, "{found:?}");
    Ok(())
}

/// The point at the wall leans on it from the first step to the last, and no other comes near: there is no impact whose time could matter.
#[test]
fn one_point_alone_is_at_the_wall() -> Tested {
    let rest = Device::cpu().array(&[0.87, 1.115, 1.055])?;
    let x = Growth::new(&triangle()?)?.grown(&rest)?.x.to_vec()?;
    assert!(x[2].x >= 0.4 && x[2].x < 0.4 + 1e-4 && x[0].x < 0.3 && x[1].x < 0.3, "{x:?}");
    Ok(())
}

#[test]
fn three_springs_reach_their_area_within_twenty_evaluations() -> Tested {
    let named = find(Path::new("three_springs"))?.ok_or("no springs")?;
    let study = Study::new(&named.name, &named.plan, &mut |_| Ok(()))?;
    assert!(named.plan.iterations == 20 && study.curves.len() == 5, "{}", study.curves.len());
    for curve in &study.curves {
        assert!(curve.best < 0.01 && curve.outcome[0] > 90.0, "seed {}: {} %", curve.seed, curve.best);
    }
    // Without impacts the table has neither their column nor their sentence.
    let text = markdown::text(&study);
    assert!(text.contains("\n| seed | after 0 |") && !text.contains("impacts"), "{text}");
    Ok(())
}

#[test]
fn triangles_without_a_meaning_are_refused() -> Tested {
    let right = triangle()?;
    let cases = [
        (Triangle { goal: 0.0, ..right.clone() }, "goal"),
        (Triangle { steps: 0, ..right.clone() }, "steps"),
        (Triangle { friction: -0.1, ..right.clone() }, "friction"),
        (Triangle { points: [(0.1, 0.1), (0.2, 0.2), (0.3, 0.3)], ..right.clone() }, "points"),
        (Triangle { wall: 0.39, ..right.clone() }, "wall"),
        (Triangle { scatter: 0.1, ..right.clone() }, "scatter"),
    ];
    assert_eq!(right.check(), Ok(()));
    for (wrong, expected) in cases {
        let refused = wrong.check();
        assert!(matches!(&refused, Err((field, _)) if *field == expected), "{expected}: {refused:?}");
    }
    Ok(())
}

/// Plates that fall come to rest on the ground, their corners in its plane, and stay in the plane of their corners.
#[test]
fn plates_that_fall_come_to_rest_on_the_ground() -> Tested {
    let mut robot = RigidRobot { steps: 1000, ..rigid_robot()? };
    robot.plates.iter_mut().for_each(|plate| plate.at.1 += 0.02);
    let weights = Device::cpu().zeros(robot.begin(&mut fastrand::Rng::with_seed(1)).len())?;
    for twin in TWINS {
        let end = March::new(&robot, twin)?.marched(&weights)?;
        let (x, q, v, l) = (end.x.to_vec()?, end.q.to_vec()?, end.v.to_vec()?, end.l.to_vec()?);
        for (b, plate) in robot.plates.iter().enumerate() {
            let corners = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)];
            let height =
                |(s, t): (f64, f64)| (x[b] + q[b].rotate(Vec3::new(s * plate.half.0, 0.0, t * plate.half.1))).z;
            let lowest = corners.into_iter().map(height).fold(f64::INFINITY, f64::min);
            assert!(lowest > 0.1 - 2e-3 && (b == 0 || lowest < 0.1 + 2e-3), "{twin:?}, plate {b}: {lowest}");
            assert!(
                x[b].y == 0.0 && v[b].y == 0.0 && l[b].x == 0.0 && l[b].z == 0.0,
                "{twin:?}: {:?}, {:?}",
                v[b],
                l[b]
            );
        }
    }
    Ok(())
}

/// Its loss is no number.
struct Nowhere;

impl Scene for Nowhere {
    fn evaluate(&self, controls: &[f64]) -> crate::error::Result<Evaluated> {
        Ok(Evaluated { loss: f64::NAN, gradient: controls.to_vec(), outcome: 0.0 })
    }
}

#[test]
fn unstable_steps_and_losses_that_are_no_numbers_are_refused() -> Tested {
    let refused = |scene: crate::error::Result<()>| scene.map_err(|e| e.to_string());
    let stiff = Robot { stiffness: 1e6, ..robot()? };
    let said = refused(Walk::new(&stiff, Twin::Naive).map(drop));
    assert!(said.as_ref().is_err_and(|s| s.contains("scene.step: 0.004 s, expected at most")), "{said:?}");
    let mut loose = rigid_robot()?;
    loose.ties[0].damping = 20.0;
    let said = refused(March::new(&loose, Twin::Naive).map(drop));
    assert!(said.as_ref().is_err_and(|s| s.contains("scene.step: 0.001 s, expected at most")), "{said:?}");
    let long = Triangle { step: 0.5, ..triangle()? };
    let said = refused(Growth::new(&long).map(drop));
    assert!(said.as_ref().is_err_and(|s| s.contains("scene.step: 0.5 s, expected at most")), "{said:?}");
    let run = Descent::Steady { first: 0.1 }.run(&Nowhere, vec![0.1], 3, &mut || Ok(()));
    let said = refused(run.map(drop));
    assert!(said.as_ref().is_err_and(|s| s.contains("the loss is NaN where the search begins")), "{said:?}");
    Ok(())
}

#[test]
fn robots_without_a_meaning_are_refused() -> Tested {
    let right = rigid_robot()?;
    assert_eq!(right.check(), Ok(()));
    let with = |change: &dyn Fn(&mut RigidRobot)| {
        let mut wrong = right.clone();
        change(&mut wrong);
        wrong.check().map_err(|(field, problem)| format!("{field}: {problem}"))
    };
    let said = [
        (with(&|r| r.springs[1].plates = (0, 3)), "springs: (0, 3), expected two of the 3 plates"),
        (with(&|r| r.ties[0].plates = (2, 2)), "ties: (2, 2)"),
        (with(&|r| r.springs.clear()), "springs: 0"),
        (with(&|r| r.plates[0].half.1 = 0.0), "plates: 0"),
        (with(&|r| r.density = f64::NAN), "density: NaN"),
        (with(&|r| r.damping = -1.0), "damping: -1"),
        (with(&|r| r.springs[0].actuation = 1.0), "springs: actuation of 1"),
        (with(&|r| r.ties[1].stiffness = 0.0), "ties: stiffness of 0"),
        (with(&|r| r.ties[1].damping = f64::NAN), "ties: NaN"),
        (with(&|r| r.restitution = 1.2), "restitution: 1.2"),
        (with(&|r| r.network.goal.1 = f64::INFINITY), "network: inf"),
    ];
    for (refused, expected) in said {
        assert!(refused.as_ref().is_err_and(|s| s.starts_with(expected)), "{refused:?}\n{expected}");
    }
    Ok(())
}
