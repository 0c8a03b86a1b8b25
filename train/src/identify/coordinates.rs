//! What the search moves in.
//!
//! Shear modulus and second Lamé parameter are a curved valley together: a video shows Young's modulus well and
//! Poisson's ratio hardly. So a search for both moves in `(ln E, nu)`, where the valley is straight, and keeps the
//! values inside the box of their ranges. A search for one moves in its logarithm.

use crate::error::{Error, Result};
use crate::job::{IdentifyOptions, Values};
use crate::optim::Bounds;
use crate::scene::{Name, Range, Scene};

/// Longest step of `ln E` or the logarithm of a parameter, and of `nu`.
const TRUST: [f64; 2] = [1.0, 0.2];
/// Poisson's ratios to look at first.
const SPREAD: [f64; 3] = [0.1, 0.25, 0.4];

/// Young's modulus \[Pa\].
pub(super) fn young([mu, lambda]: [f64; 2]) -> f64 {
    mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu)
}

/// Poisson's ratio.
pub(super) fn poisson([mu, lambda]: [f64; 2]) -> f64 {
    lambda / (2.0 * (lambda + mu))
}

/// `(mu, lambda)` \[Pa\].
fn lame(young: f64, poisson: f64) -> [f64; 2] {
    [young / (2.0 * (1.0 + poisson)), young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))]
}

/// The map between the search's coordinates and `[mu, lambda]`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Coordinates {
    /// `[ln E, nu]`, with the ranges of `mu` and `lambda`.
    Both([[f64; 2]; 2]),
    /// Logarithm of the parameter with this index, its range, and the value of the other.
    One(usize, [f64; 2], f64),
}

impl Coordinates {
    /// For what is unknown.
    pub(super) fn new(scene: &Scene, options: &IdentifyOptions) -> Result<Self> {
        let range = |name: Name| -> Result<[f64; 2]> {
            let found: Option<&Range> = scene.unknowns.iter().find(|range| range.name == name);
            found
                .map(|range| [range.min, range.max])
                .ok_or_else(|| Error::argument("unknowns", format!("{name} has no range in the scene")))
        };
        let known = |name: Name| {
            let value = options.fixed.get(&name).copied();
            value.ok_or_else(|| Error::argument("fixed", format!("no value for {name}, expected one in Pa")))
        };
        match options.unknowns.as_slice() {
            [Name::Mu] => Ok(Self::One(0, range(Name::Mu)?, known(Name::Lambda)?)),
            [Name::Lambda] => Ok(Self::One(1, range(Name::Lambda)?, known(Name::Mu)?)),
            names if names.len() == 2 => Ok(Self::Both([range(Name::Mu)?, range(Name::Lambda)?])),
            names => Err(Error::argument("unknowns", format!("{} given, expected mu, lambda or both", names.len()))),
        }
    }

    /// Number of coordinates.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Both(_) => 2,
            Self::One(..) => 1,
        }
    }

    /// `[mu, lambda]` at `at`, inside their ranges; Young's modulus is kept if it can be.
    pub(super) fn values(&self, at: &[f64]) -> [f64; 2] {
        match self {
            Self::Both(ranges) => into_box(at[0].exp(), at[1], ranges),
            Self::One(which, [low, high], other) => {
                let mut values = [*other; 2];
                values[*which] = at[0].exp().clamp(*low, *high);
                values
            }
        }
    }

    /// Where `[mu, lambda]` lies.
    pub(super) fn at(&self, values: [f64; 2]) -> Vec<f64> {
        match self {
            Self::Both(_) => vec![young(values).ln(), poisson(values)],
            Self::One(which, ..) => vec![values[*which].ln()],
        }
    }

    /// The nearest point whose values are inside the ranges.
    pub(super) fn inside(&self, at: &[f64]) -> Vec<f64> {
        self.at(self.values(at))
    }

    /// Per coordinate, the derivative of `[mu, lambda]` by it.
    pub(super) fn tangents(&self, values: [f64; 2]) -> Vec<[f64; 2]> {
        let [mu, lambda] = values;
        match self {
            Self::Both(_) => {
                let nu = poisson(values);
                let by_nu = [-mu / (1.0 + nu), lambda * (1.0 / nu - 1.0 / (1.0 + nu) + 2.0 / (1.0 - 2.0 * nu))];
                vec![[mu, lambda], by_nu]
            }
            Self::One(which, ..) => {
                let mut by = [0.0; 2];
                by[*which] = values[*which];
                vec![by]
            }
        }
    }

    /// Standard deviation of the logarithm of the parameter with index `which`, from the covariance of the coordinates.
    pub(super) fn deviation(&self, values: [f64; 2], covariance: &[f64], which: usize) -> f64 {
        let slope: Vec<f64> = self.tangents(values).iter().map(|t| t[which] / values[which]).collect();
        let n = slope.len();
        let variance: f64 = (0..n * n).map(|k| slope[k / n] * covariance[k] * slope[k % n]).sum();
        variance.max(0.0).sqrt()
    }

    /// Box around all that the ranges allow.
    pub(super) fn bounds(&self) -> Bounds {
        match self {
            Self::Both([[mu0, mu1], [la0, la1]]) => Bounds {
                low: vec![young([*mu0, *la0]).ln(), poisson([*mu1, *la0])],
                high: vec![young([*mu1, *la1]).ln(), poisson([*mu0, *la1])],
                trust: TRUST.to_vec(),
            },
            Self::One(_, [low, high], _) => {
                Bounds { low: vec![low.ln()], high: vec![high.ln()], trust: vec![TRUST[0]] }
            }
        }
    }

    /// Points spread over the ranges: `count` of the first coordinate, each with some of the second where there is one.
    pub(super) fn spread(&self, count: usize) -> Vec<Vec<f64>> {
        let bounds = self.bounds();
        let share = |k: usize| (k as f64 + 0.5) / count as f64;
        let first = |k: usize| bounds.low[0] + share(k) * (bounds.high[0] - bounds.low[0]);
        let seconds = |k: usize| match self {
            Self::Both(_) => SPREAD.iter().map(|&nu| self.inside(&[first(k), nu])).collect(),
            Self::One(..) => vec![vec![first(k)]],
        };
        (0..count).flat_map(seconds).collect()
    }

    /// The values by name.
    pub(super) fn named(&self, [mu, lambda]: [f64; 2]) -> Values {
        Values::from([(Name::Mu, mu), (Name::Lambda, lambda)])
    }
}

fn into_box(young: f64, poisson: f64, [mu_range, lambda_range]: &[[f64; 2]; 2]) -> [f64; 2] {
    let clamp = |x: f64, range: &[f64; 2]| x.clamp(range[0], range[1]);
    let [mu, lambda] = lame(young, poisson.clamp(-0.9, 0.4999));
    let (mu_in, lambda_in) = (clamp(mu, mu_range), clamp(lambda, lambda_range));
    if (mu_in, lambda_in) == (mu, lambda) {
        return [mu, lambda];
    }
    // mu that gives Young's modulus with this lambda: 2 mu^2 + (3 lambda - E) mu - E lambda = 0.
    let b = 3.0 * lambda_in - young;
    let mu = clamp(0.25 * ((b * b + 8.0 * young * lambda_in).sqrt() - b), mu_range);
    // And lambda that gives it with that mu, which only lies between mu's limits E/3 and E/2.
    let lambda = if young <= 2.0 * mu {
        lambda_range[0]
    } else if young >= 3.0 * mu {
        lambda_range[1]
    } else {
        clamp(mu * (young - 2.0 * mu) / (3.0 * mu - young), lambda_range)
    };
    [mu, lambda]
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Coordinates = Coordinates::Both([[1500.0, 25_000.0], [1500.0, 60_000.0]]);

    #[test]
    fn there_and_back() {
        for values in [[8086.6, 14_007.9], [1500.0, 1500.0], [25_000.0, 60_000.0], [20_000.0, 1600.0]] {
            let back = BOTH.values(&BOTH.at(values));
            assert!((back[0] / values[0] - 1.0).abs() < 1e-9 && (back[1] / values[1] - 1.0).abs() < 1e-9, "{back:?}");
        }
    }

    #[test]
    fn the_box_is_kept_and_with_it_youngs_modulus() {
        let e = 45_000.0f64;
        for nu in [0.01, 0.03, 0.2, 0.45, 0.49] {
            let [mu, lambda] = BOTH.values(&[e.ln(), nu]);
            assert!((1500.0..=25_000.0).contains(&mu) && (1500.0..=60_000.0).contains(&lambda));
            assert!((young([mu, lambda]) / e - 1.0).abs() < 1e-9, "nu {nu}: {mu} {lambda}");
        }
        assert_eq!(BOTH.values(&[20.0, 0.3]), [25_000.0, 60_000.0]);
        assert_eq!(BOTH.values(&[5.0, 0.3]), [1500.0, 1500.0]);
    }

    #[test]
    fn tangents_are_derivatives() {
        let values = [9000.0, 15_000.0];
        let at = BOTH.at(values);
        for (k, tangent) in BOTH.tangents(values).iter().enumerate() {
            let moved = |by: f64| {
                let mut to = at.clone();
                to[k] += by;
                BOTH.values(&to)
            };
            let (up, down) = (moved(1e-6), moved(-1e-6));
            for i in 0..2 {
                let slope = (up[i] - down[i]) / 2e-6;
                assert!((slope / tangent[i] - 1.0).abs() < 1e-6, "{slope} {}", tangent[i]);
            }
        }
    }
}
