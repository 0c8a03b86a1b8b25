//! A rollout that the tests put into losses of Burn.

use diffkern::prelude::*;
use diffkern::rollout;

pub const STEPS: usize = 24;

/// A symplectic Euler step of a damped pendulum: angle and speed, with a torque for each step.
#[diff_kernel]
pub fn swing<F: Float>(now: &Array<F>, torque: &Array<F>, next: &mut Array<F>, step: usize, dt: F) {
    let speed = now[1] + (torque[step] - now[0].sin() - 0.1 * now[1]) * dt;
    next[0] = now[0] + speed * dt;
    next[1] = speed;
}

/// The state after all steps, within checkpoints.
pub fn pendulum<F: Float + Element>(start: &Array<F>, torque: &Array<F>) -> Result<Array<F>> {
    let torque = torque.clone();
    rollout(STEPS, Schedule::Auto, start.clone(), move |now, step| {
        let next = now.device().zeros(2)?;
        swing(1, now, &torque, &next, step, F::new(0.1))?;
        Ok(next)
    })
}

pub fn start() -> Vec<f64> {
    vec![0.7, -0.3]
}

pub fn torque() -> Vec<f64> {
    (0..STEPS).map(|k| (0.4 * k as f64).sin()).collect()
}
