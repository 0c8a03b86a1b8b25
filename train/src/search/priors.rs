//! What pulls a search beside the data: what is known beforehand, and on the coarse grid common values of Poisson's ratios, which
//! that grid cannot tell.

use super::parametrisation::Parametrisation;
use super::row::Kind;
use super::state::{Stage, State};
use diffkern_optim::dense::NormalEquations;

/// Common values of Poisson's ratios: centre and width of the pull.
const POISSON: [f64; 2] = [0.3, 0.2];

/// A squared residual with a weight.
struct Pull {
    residual: f64,
    /// By each coordinate.
    derivatives: Vec<f64>,
    weight: f64,
}

/// All that pulls, with its weights, wherever the search goes.
pub(crate) struct Priors<'a> {
    coordinates: &'a Parametrisation,
    /// Of Poisson's ratios, in units of the cost.
    poisson: f64,
    /// Of what is known beforehand: the variance of the residuals.
    known: f64,
}

impl<'a> Priors<'a> {
    /// As they are for the place where the search is.
    pub(super) fn here(coordinates: &'a Parametrisation, state: &State) -> Self {
        let poisson = if state.stage == Stage::Coarse { state.pull } else { 0.0 };
        let known = match coordinates.has_priors() {
            true => state.normals.get(state.level).map_or(0.0, weight),
            false => 0.0,
        };
        Self { coordinates, poisson, known }
    }

    /// What is known beforehand alone, beside the residuals of an answer.
    pub(crate) fn known(coordinates: &'a Parametrisation, normal: &NormalEquations) -> Self {
        Self { coordinates, poisson: 0.0, known: weight(normal) }
    }

    fn pulls(&self, at: &[f64]) -> Vec<Pull> {
        let kinds = self.coordinates.kinds();
        let [center, width] = POISSON;
        let ratio = |k: usize| Pull {
            residual: (at[k] - center) / width,
            derivatives: (0..at.len()).map(|other| if other == k { 1.0 / width } else { 0.0 }).collect(),
            weight: self.poisson,
        };
        let ratios = (0..kinds.len()).filter(|&k| kinds[k] == Kind::Poisson && self.poisson > 0.0).map(ratio);
        let known = self.coordinates.priors(at).into_iter();
        let known = known.map(|(residual, derivatives)| Pull { residual, derivatives, weight: self.known });
        ratios.chain(known).collect()
    }

    /// What they add to the cost.
    pub(crate) fn cost(&self, at: &[f64]) -> f64 {
        self.pulls(at).iter().map(|pull| pull.weight * pull.residual * pull.residual).sum()
    }

    /// The normal equations with them, of the coordinates and of what else there is after these.
    pub(crate) fn added(&self, normal: &NormalEquations, at: &[f64]) -> diffkern_optim::Result<NormalEquations> {
        let mut both = normal.clone();
        for Pull { residual, mut derivatives, weight } in self.pulls(at) {
            derivatives.resize(both.parameters(), 0.0);
            both.add_prior(residual, &derivatives, weight)?;
        }
        Ok(both)
    }

    /// The slope of their cost by each coordinate.
    pub(super) fn gradient(&self, at: &[f64]) -> Vec<f64> {
        self.sum(at, |pull| pull.residual)
    }

    /// The curvature of their cost, without that of the map to the values, times a direction.
    pub(super) fn product(&self, at: &[f64], direction: &[f64]) -> Vec<f64> {
        self.sum(at, |pull| pull.derivatives.iter().zip(direction).map(|(j, d)| j * d).sum())
    }

    fn sum(&self, at: &[f64], factor: impl Fn(&Pull) -> f64) -> Vec<f64> {
        let mut sum = vec![0.0; at.len()];
        for pull in self.pulls(at) {
            let factor = 2.0 * pull.weight * factor(&pull);
            sum.iter_mut().zip(&pull.derivatives).for_each(|(sum, j)| *sum += factor * j);
        }
        sum
    }
}

/// Variance that rounding to 16 bits leaves in a pixel.
const ROUNDING: f64 = 1.0 / (12.0 * 65_535.0 * 65_535.0);

/// The weight of what is known beforehand beside these residuals: their variance; where no parameter shows in them their mean square.
fn weight(normal: &NormalEquations) -> f64 {
    normal.variance().unwrap_or_else(|| normal.mean_square()).max(ROUNDING)
}
