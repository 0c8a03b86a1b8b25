//! How stiff is each spring of a sheet, and how was it thrown? A field by the adjoint of a simulation, three numbers from a video.
//!
//! `cargo run --release -p examples --example sheet -- 40`: a sheet of 40 by 40 vertices; without a number a small one, for the tests.

mod field;
mod scene;
mod video;

use diffkern::prelude::*;
use scene::Scene;
use std::time::Instant;

fn main() -> Result<()> {
    let n = std::env::args().find_map(|a| a.parse().ok()).filter(|n| (4..1000).contains(n)).unwrap_or(12);
    let scene = Scene::new(n);
    println!("{n} x {n} vertices, {} springs", scene.springs.len());

    let begin = Instant::now();
    let found = field::recover(&scene, 40 + 4 * n)?;
    let mut errors: Vec<f64> =
        found.to_vec()?.iter().zip(scene.hidden()).map(|(a, b)| (a - b).exp_m1().abs()).collect();
    errors.sort_by(f64::total_cmp);
    let part = |p: usize| 100.0 * errors[p * errors.len() / 100];
    let seconds = begin.elapsed().as_secs_f64();
    println!("stiffness: {:.2} % off in the median, {:.2} % at 90 %, {seconds:.1} s", part(50), part(90));

    let begin = Instant::now();
    let throw = video::recover(&scene, &found)?;
    let apart = throw.iter().zip(video::THROW).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    println!("velocity: {throw:.4?} m/s, {apart:.1e} m/s off, {:.1} s", begin.elapsed().as_secs_f64());
    assert!(part(50) < 1.0 && apart < 0.02, "{} %, {apart} m/s", part(50));
    Ok(())
}
