//! A rigid box lands on a soft block that lies on springs: three solvers, one tape, one gradient to all their parameters, and the momentum that they
//! exchange. Writes `out/landing.png`.
//!
//! `cargo run --release -p examples --example landing -- 2`: two seconds; without a number a short fall, for the tests.

mod scene;
mod exchanged;
mod picture;

use diffkern::prelude::*;
use scene::{DT, PARAMETERS, Scene};
use std::time::Instant;

/// Relative step of the differences, of short runs and of long ones: these are bent more, and their small slopes larger.
const STEPS: [f64; 2] = [1e-5, 1e-6];
/// How far the gradient may be from the differences.
const ALLOWED: f64 = 1e-5;
/// Parts of the run at whose beginnings it is drawn, of twenty; its end is too.
const DRAWN: [usize; 5] = [0, 1, 2, 3, 4];

fn main() -> Result<()> {
    let seconds = std::env::args().find_map(|a| a.parse().ok()).filter(|s| (0.05..10.0).contains(s)).unwrap_or(0.15);
    let scene = Scene::new()?;
    let steps = (seconds / DT).round() as usize;
    let values = PARAMETERS.map(|(_, _, value)| value);
    let value = |values: &[f64]| -> Result<f64> {
        let (_, end) = scene.run(&scene.arrays(values)?, (1, steps), |_, _| Ok(()))?;
        Ok(scene.score(&end)?.to_vec()?[0])
    };

    let (mut frames, mut part, mut unbalanced) = (Vec::new(), 0, 0.0f64);
    let (step, end) = scene.run(&scene.arrays(&values)?, (20, steps), |step, state| {
        if DRAWN.contains(&part) {
            frames.push(picture::frame(&scene, step, state)?);
        }
        unbalanced = unbalanced.max(exchanged::unbalanced(step, state)?);
        part += 1;
        Ok(())
    })?;
    frames.push(picture::frame(&scene, &step, &end)?);
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../out/landing.png");
    picture::write(&frames, &file)?;
    println!("wrote {}", file.display());
    println!("forces and torques of both sides, sums by sizes: {unbalanced:.1e} at most");

    let begin = Instant::now();
    let at = value(&values)?;
    println!("{steps} steps of {DT} s: score {at:.6}, {:.2} s", begin.elapsed().as_secs_f64());

    let begin = Instant::now();
    let unknown: Vec<_> = scene.arrays(&values)?.into_iter().map(Array::requires_grad).collect();
    let (tape, score) = Tape::record_value(|| {
        let (_, end) = scene.run(&unknown, (1, steps), |_, _| Ok(()))?;
        scene.score(&end)
    })?;
    tape.backward(&score)?;
    println!("one gradient to all parameters: {:.2} s", begin.elapsed().as_secs_f64());

    println!("{:28} {:>14} {:>14} {:>9}", "by", "gradient", "differences", "apart");
    let mut worst = 0.0f64;
    for (k, (name, unit, value_k)) in PARAMETERS.iter().enumerate() {
        let slope = unknown[k].grad()?.to_vec()?[0];
        let moved = |by: f64| {
            let mut there = values;
            there[k] += by;
            value(&there)
        };
        // Of fourth order: `f' = (8 (f(h) - f(-h)) - (f(2 h) - f(-2 h))) / (12 h)`.
        let h = STEPS[usize::from(seconds > 0.5)] * value_k.abs().max(0.1);
        let seen = (8.0 * (moved(h)? - moved(-h)?) - (moved(2.0 * h)? - moved(-2.0 * h)?)) / (12.0 * h);
        let apart = (slope - seen).abs() / slope.abs();
        worst = worst.max(apart);
        println!("{name:28} {slope:14.6e} {seen:14.6e} {apart:9.1e}  per {unit}");
    }
    println!("farthest apart: {worst:.1e}");
    assert!(unbalanced < 1e-12, "forces are not opposite: {unbalanced:e}");
    assert!(worst < ALLOWED, "a derivative is off by {worst:e}");
    Ok(())
}
