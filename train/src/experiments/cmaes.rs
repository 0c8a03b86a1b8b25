//! Evolution with an adapted covariance.
//!
//! Source: Hansen, The CMA evolution strategy: a tutorial, 2016, with its constants; the path of the length is taken by the Cholesky
//! factor in place of the symmetric root, as in Krause et al., CMA-ES with optimal covariance update and storage complexity, 2016.

use fastrand::Rng;
use std::f64::consts::TAU;

/// A distribution of places, the better ones of which move it.
pub(super) struct Cmaes {
    mean: Vec<f64>,
    sigma: f64,
    /// Row by row.
    covariance: Vec<f64>,
    /// Evolution of the length, and of the mean.
    paths: [Vec<f64>; 2],
    /// Of the better half, the best first; they add up to 1.
    weights: Vec<f64>,
    /// Constants of the tutorial: of both paths, of the two updates of the covariance, and the damping of the length.
    rates: Rates,
    drawn: usize,
    generation: i32,
    rng: Rng,
}

struct Rates {
    effective: f64,
    length: f64,
    damping: f64,
    path: f64,
    one: f64,
    all: f64,
    /// Expected length of a normal vector.
    usual: f64,
}

impl Cmaes {
    /// Around `start`, with a deviation for each coordinate.
    pub(super) fn new(start: &[f64], deviations: &[f64], seed: u64) -> Self {
        let n = start.len();
        let real = n as f64;
        let drawn = 4 + (3.0 * real.ln()).floor() as usize;
        let half = drawn / 2;
        let raw: Vec<f64> = (1..=half).map(|k| (0.5 * (drawn as f64 + 1.0)).ln() - (k as f64).ln()).collect();
        let sum: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|w| w / sum).collect();
        let effective = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
        let length = (effective + 2.0) / (real + effective + 5.0);
        let one = 2.0 / ((real + 1.3).powi(2) + effective);
        let rates = Rates {
            effective,
            length,
            damping: 1.0 + 2.0 * (((effective - 1.0) / (real + 1.0)).sqrt() - 1.0).max(0.0) + length,
            path: (4.0 + effective / real) / (real + 4.0 + 2.0 * effective / real),
            one,
            all: (1.0 - one).min(2.0 * (effective - 2.0 + 1.0 / effective) / ((real + 2.0).powi(2) + effective)),
            usual: real.sqrt() * (1.0 - 1.0 / (4.0 * real) + 1.0 / (21.0 * real * real)),
        };
        let diagonal = |k: usize| if k.is_multiple_of(n + 1) { deviations[k / (n + 1)].powi(2) } else { 0.0 };
        Self {
            mean: start.to_vec(),
            sigma: 1.0,
            covariance: (0..n * n).map(diagonal).collect(),
            paths: [vec![0.0; n], vec![0.0; n]],
            weights,
            rates,
            drawn,
            generation: 0,
            rng: Rng::with_seed(seed),
        }
    }

    /// The longest deviation along a coordinate.
    pub(super) fn longest(&self) -> f64 {
        let n = self.mean.len();
        (0..n).map(|k| self.sigma * self.covariance[k * n + k].max(0.0).sqrt()).fold(0.0, f64::max)
    }

    /// A generation.
    pub(super) fn ask(&mut self) -> Vec<Vec<f64>> {
        let factor = cholesky(&self.covariance, self.mean.len());
        (0..self.drawn).map(|_| self.place(&factor)).collect()
    }

    fn place(&mut self, factor: &[f64]) -> Vec<f64> {
        let n = self.mean.len();
        let z: Vec<f64> = (0..n).map(|_| self.normal()).collect();
        (0..n).map(|i| self.mean[i] + self.sigma * (0..=i).map(|j| factor[i * n + j] * z[j]).sum::<f64>()).collect()
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.rng.f64()).ln()).sqrt() * (TAU * self.rng.f64()).cos()
    }

    /// Moves to the better half of a generation of costs and places.
    pub(super) fn tell(&mut self, mut generation: Vec<(f64, Vec<f64>)>) {
        generation.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let (n, r) = (self.mean.len(), &self.rates);
        let factor = cholesky(&self.covariance, n);
        let steps: Vec<Vec<f64>> = generation
            .iter()
            .take(self.weights.len())
            .map(|(_, place)| place.iter().zip(&self.mean).map(|(x, m)| (x - m) / self.sigma).collect())
            .collect();
        let step: Vec<f64> = (0..n).map(|i| self.weights.iter().zip(&steps).map(|(w, y)| w * y[i]).sum()).collect();
        (0..n).for_each(|i| self.mean[i] += self.sigma * step[i]);
        let whitened = solved(&factor, &step);
        self.generation += 1;
        let [length, path] = &mut self.paths;
        let gain = (r.length * (2.0 - r.length) * r.effective).sqrt();
        length.iter_mut().zip(&whitened).for_each(|(p, z)| *p = (1.0 - r.length) * *p + gain * z);
        let long = length.iter().map(|p| p * p).sum::<f64>().sqrt();
        let settled = (1.0 - (1.0 - r.length).powi(2 * self.generation)).sqrt();
        let steady = if long / settled < (1.4 + 2.0 / (n as f64 + 1.0)) * r.usual { 1.0 } else { 0.0 };
        let gain = steady * (r.path * (2.0 - r.path) * r.effective).sqrt();
        path.iter_mut().zip(&step).for_each(|(p, y)| *p = (1.0 - r.path) * *p + gain * y);
        let stalled = r.one * (1.0 - steady) * r.path * (2.0 - r.path);
        for k in 0..n * n {
            let (i, j) = (k / n, k % n);
            let of_all: f64 = self.weights.iter().zip(&steps).map(|(w, y)| w * y[i] * y[j]).sum();
            self.covariance[k] =
                (1.0 + stalled - r.one - r.all) * self.covariance[k] + r.one * path[i] * path[j] + r.all * of_all;
        }
        self.sigma *= ((r.length / r.damping) * (long / r.usual - 1.0)).min(1.0).exp();
    }
}

/// The lower factor of a symmetric matrix, row by row; a pivot that rounding has made negative is tiny.
fn cholesky(matrix: &[f64], n: usize) -> Vec<f64> {
    let mut factor = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let rest = matrix[i * n + j] - (0..j).map(|k| factor[i * n + k] * factor[j * n + k]).sum::<f64>();
            factor[i * n + j] = if i == j { rest.max(f64::MIN_POSITIVE).sqrt() } else { rest / factor[j * n + j] };
        }
    }
    factor
}

/// `L^-1 b`.
fn solved(factor: &[f64], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut x = b.to_vec();
    for i in 0..n {
        let known: f64 = (0..i).map(|j| factor[i * n + j] * x[j]).sum();
        x[i] = (x[i] - known) / factor[i * n + i];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimum(f: impl Fn(&[f64]) -> f64, start: &[f64], generations: usize) -> Vec<f64> {
        let mut cma = Cmaes::new(start, &vec![0.5; start.len()], 3);
        for _ in 0..generations {
            let drawn = cma.ask().into_iter().map(|x| (f(&x), x)).collect();
            cma.tell(drawn);
        }
        cma.mean
    }

    #[test]
    fn it_finds_the_bottom_of_a_bowl_and_of_a_bent_valley() {
        let x = minimum(|x| (x[0] - 1.0).powi(2) + 1e4 * (x[1] + 2.0).powi(2) + (x[2] * x[0]).powi(2), &[0.0; 3], 250);
        assert!((x[0] - 1.0).abs() < 1e-6 && (x[1] + 2.0).abs() < 1e-6 && x[2].abs() < 1e-6, "{x:?}");
        // Rosenbrock 1960.
        let x = minimum(|x| 100.0 * (x[1] - x[0] * x[0]).powi(2) + (1.0 - x[0]).powi(2), &[-1.2, 1.0], 300);
        assert!((x[0] - 1.0).abs() < 1e-6 && (x[1] - 1.0).abs() < 1e-6, "{x:?}");
        let x = minimum(|x| (x[0] - 0.25).powi(2), &[4.0], 200);
        assert!((x[0] - 0.25).abs() < 1e-6, "{x:?}");
    }
}
