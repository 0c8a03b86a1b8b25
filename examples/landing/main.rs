//! A rigid box lands on a soft block that lies on springs: three solvers, one tape, one gradient to all their parameters, and the momentum that they
//! exchange. Writes `out/landing.png`.
//!
//! `cargo run --release -p examples --example landing -- 2`: two seconds; without a number a short fall, for the tests.

mod picture;
mod scene;

use diffkern::prelude::*;
use scene::{DT, PARAMETERS, Scene};
use std::time::Instant;

/// Relative steps of the differences.
const STEPS: [f64; 4] = [1e-4, 1e-5, 1e-6, 1e-7];

fn main() -> Result<()> {
    let seconds = std::env::args().find_map(|a| a.parse().ok()).filter(|s| (0.05..10.0).contains(s)).unwrap_or(0.18);
    let scene = Scene::new()?;
    let steps = (seconds / DT).round() as usize;
    let values = PARAMETERS.map(|(_, _, value)| value);
    let value = |values: &[f64]| -> Result<f64> {
        let (_, end) = scene.run(&scene.arrays(values)?, (1, steps), |_, _| Ok(()))?;
        Ok(scene.score(&end)?.to_vec()?[0])
    };

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
        let difference = |step: f64| -> Result<f64> {
            let h = step * value_k.abs().max(0.1);
            Ok((moved(h)? - moved(-h)?) / (2.0 * h))
        };
        let all = STEPS.iter().map(|&s| difference(s)).collect::<Result<Vec<_>>>()?;
        // Where two neighbours agree best, neither truncation nor rounding counts.
        let plateau = all.windows(2).min_by(|a, b| (a[0] - a[1]).abs().total_cmp(&(b[0] - b[1]).abs()));
        let seen = plateau.map_or(f64::NAN, |pair| pair[1]);
        let apart = (slope - seen).abs() / slope.abs();
        worst = worst.max(apart);
        println!("{name:28} {slope:14.6e} {seen:14.6e} {apart:9.1e}  per {unit}");
    }
    println!("farthest apart: {worst:.1e}");
    Ok(())
}
