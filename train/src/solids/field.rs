//! Gaussian fields: one to draw truths from, and coordinates for what is sought, both of the same covariance.

use super::protocol::Prior;
use crate::experiments::normal;
use fastrand::Rng;
use std::f64::consts::TAU;

/// Waves that a field is a sum of.
const WAVES: usize = 256;
/// Part of the variance that coordinates may leave out.
const LEFT: f64 = 1e-3;
/// Most coordinates.
const MOST: usize = 40;

/// A field as a sum of waves of random directions, lengths and phases (Rahimi and Recht 2007): its covariance is that of the prior but for what a finite number of
/// waves leaves.
#[derive(Debug, Clone)]
pub(super) struct Waves {
    waves: Vec<([f64; 3], f64)>,
    amplitude: f64,
}

impl Waves {
    /// Of a body whose longest side is `size` \[m\].
    pub(super) fn draw(prior: Prior, size: f64, rng: &mut Rng) -> Self {
        let l = prior.length * size;
        let directions: Vec<[f64; 3]> = (0..WAVES).map(|_| [0; 3].map(|_| normal(rng) / l)).collect();
        let waves = directions.into_iter().map(|k| (k, TAU * rng.f64())).collect();
        Self { waves, amplitude: prior.deviation * (2.0 / WAVES as f64).sqrt() }
    }

    /// The field at a place at rest \[m\].
    pub(super) fn at(&self, x: [f64; 3]) -> f64 {
        let wave = |(k, phase): &([f64; 3], f64)| (k[0] * x[0] + k[1] * x[1] + k[2] * x[2] + phase).cos();
        self.amplitude * self.waves.iter().map(wave).sum::<f64>()
    }
}

/// Columns `c` such that `sum c c^T` is the covariance of the prior at these places \[m\]: with coordinates that are normal and of variance 1 their sum is the field.
/// By pivots (Harbrecht, Peters, Schneider 2012), as many as leave a thousandth of the variance.
pub(super) fn columns(prior: Prior, size: f64, places: &[[f64; 3]]) -> Vec<Vec<f64>> {
    let (l, variance) = (prior.length * size, prior.deviation * prior.deviation);
    let covariance = |a: [f64; 3], b: [f64; 3]| {
        let square: f64 = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum();
        variance * (-0.5 * square / (l * l)).exp()
    };
    let mut left = vec![variance; places.len()];
    let mut columns: Vec<Vec<f64>> = Vec::new();
    while columns.len() < MOST && left.iter().sum::<f64>() > LEFT * variance * places.len() as f64 {
        let Some((pivot, _)) = left.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)) else { break };
        let root = left[pivot].sqrt();
        let column: Vec<f64> = (0..places.len())
            .map(|i| {
                let known: f64 = columns.iter().map(|c| c[i] * c[pivot]).sum();
                (covariance(places[i], places[pivot]) - known) / root
            })
            .collect();
        left.iter_mut().zip(&column).for_each(|(left, c)| *left = (*left - c * c).max(0.0));
        columns.push(column);
    }
    columns
}
