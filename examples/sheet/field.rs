//! One stiffness for each spring, from the positions of all vertices at some times.

use crate::scene::Scene;
use diffkern::prelude::*;
use diffkern::{arith, reduce};
use diffkern_optim::{Arrays, Lbfgs, Stop, Taped, minimise};

const FRAMES: usize = 20;
/// Weight of the bends of the field, against squares of millimetres.
const SMOOTH: f64 = 3.0;
const THROW: [f64; 3] = [0.6, 0.3, -1.5];

/// How far the middle of three in a row is from the mean of the others, twice.
#[diff_kernel]
fn bend<F: Float>(x: &Array<F>, rows: &Array<u32>, out: &mut Array<F>) {
    let k = 3 * ABSOLUTE_POS;
    out[ABSOLUTE_POS] = x[rows[k] as usize] - 2.0 * x[rows[k + 1] as usize] + x[rows[k + 2] as usize];
}

/// Logarithms of the stiffnesses that explain what the hidden ones do with a quarter of the time step.
pub fn recover(scene: &Scene, steps: usize) -> Result<Array<f64>> {
    let throw = scene.device.array(&[Vec3::from_array(THROW)])?;
    let mut seen = Vec::new();
    scene.run(&scene.device.array(&scene.hidden())?, &throw, (scene.dt() / 4.0, FRAMES), |_, state| {
        seen.push(state.x.clone());
        Ok(())
    })?;
    let rows = scene.device.array(&scene.rows())?;
    // A millimetre counts as one.
    let mut loss = Taped::new(|logarithms: &[Array<f64>]| {
        let mut apart = Vec::new();
        scene.run(&logarithms[0], &throw, (scene.dt(), FRAMES), |frame, state| {
            apart.push(reduce::squared_norm(&arith::sub(&state.x, &seen[frame])?)?);
            Ok(())
        })?;
        let bent = scene.device.uninit(rows.len() / 3)?;
        bend(bent.len(), &logarithms[0], &rows, &bent)?;
        let bent = reduce::squared_norm(&bent)?;
        let apart = apart.iter().map(|d| (0.5e6, d));
        arith::scaled_sum(&apart.chain([(SMOOTH, &bent)]).collect::<Vec<_>>())
    });
    let mut found: Arrays<f64> = vec![scene.device.zeros(scene.springs.len())?];
    let end = minimise(&mut Lbfgs::new(20), &mut loss, &mut found, &Stop { gradient: 1e-4, steps })?;
    let vertices = (scene.positions.len() * FRAMES) as f64;
    println!("{} evaluations, misfit and bends of {:.1e} mm", end.evaluations, (2.0 * end.value / vertices).sqrt());
    Ok(found.swap_remove(0))
}
