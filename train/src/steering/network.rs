//! A small network that sees a robot and moves its springs.

use super::scene::normal;
use crate::error::Result;
use diffkern::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// Two layers of `tanh`: from sines of time, what moves and the goal to the springs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Sines of time, their phases even over a turn.
    pub waves: usize,
    /// Their angular frequency \[rad/s\].
    pub frequency: f64,
    /// Units between both layers.
    pub hidden: usize,
    /// By what places and velocities are multiplied before the first layer.
    pub sensing: f64,
    /// A place that the network sees \[m\]: of a robot of springs relative to the middle of all points.
    pub goal: (f64, f64),
    /// Weights of both layers begin normal, with this over `sqrt((inputs + outputs) / 2)` as their deviation.
    pub weights: (f64, f64),
}

/// A layer, `scale tanh(W y + b)`: of `weights` first `W` row by row, each row with its `b` after it, from `first` on.
#[diff_kernel]
pub fn layer<F: Float>(y: &Array<F>, weights: &Array<F>, out: &mut Array<F>, scale: F, first: u32) {
    let i = ABSOLUTE_POS;
    let row = first as usize + i * (y.len() + 1);
    let mut sum = weights[row + y.len()];
    for k in 0..y.len() {
        sum += weights[row + k] * y[k];
    }
    out[i] = sum.tanh() * scale;
}

impl Network {
    /// Counts by their fields.
    pub(super) fn counts(&self) -> [(&'static str, usize); 2] {
        [("waves", self.waves), ("hidden", self.hidden)]
    }

    /// Weights of both layers from which a search begins; biases are zero.
    pub(super) fn begin(&self, inputs: usize, outputs: usize, rng: &mut fastrand::Rng) -> Vec<f64> {
        let mut layer = |inputs: usize, outputs: usize, scale: f64| -> Vec<f64> {
            let deviation = scale * (2.0 / (inputs + outputs) as f64).sqrt();
            let row = (0..outputs).map(|_| {
                let weights: Vec<f64> = (0..inputs).map(|_| deviation * normal(rng)).collect();
                [weights, vec![0.0]].concat()
            });
            row.collect::<Vec<_>>().concat()
        };
        let (hidden, (first, second)) = (self.hidden, self.weights);
        [layer(inputs, hidden, first), layer(hidden, outputs, second)].concat()
    }

    /// The sines at a time \[s\].
    pub(super) fn waves(&self, device: &Device, time: f64) -> Result<Array<f64>> {
        let wave = |k: usize| (self.frequency * time + TAU * k as f64 / self.waves as f64).sin();
        Ok(device.array(&(0..self.waves).map(wave).collect::<Vec<_>>())?)
    }

    /// What the second layer gives, times `scale`.
    pub(super) fn outputs(
        &self,
        weights: &Array<f64>,
        inputs: &Array<f64>,
        outputs: usize,
        scale: f64,
    ) -> Result<Array<f64>> {
        let (hidden, device) = (self.hidden, inputs.device());
        let (between, out) = (device.uninit(hidden)?, device.uninit(outputs)?);
        layer(hidden, inputs, weights, &between, 1.0, 0)?;
        layer(outputs, &between, weights, &out, scale, (hidden * (inputs.len() + 1)) as u32)?;
        Ok(out)
    }
}
