//! What the search moves in.
//!
//! Shear modulus and second Lamé parameter are a curved valley together: a video shows Young's modulus well and
//! Poisson's ratio hardly. So a search for both moves in `(ln E, nu)`, where the valley is straight, and keeps the
//! values inside the box of their ranges. A search for one moves in its logarithm.

use crate::error::{Error, Result};
use crate::job::{IdentifyOptions, Values};
use crate::scene::{Name, Range, Scene};
use diffkern_optim::dense::Bounds;

/// Longest step of `ln E` or the logarithm of a parameter, and of `nu`.
const TRUST: [f64; 2] = [1.0, 0.2];
/// And of the viscosity, as a part of its room.
const TRUST_VISCOSITY: f64 = 0.3;
/// Least viscosity beside the scene's, as a part of its room: below zero by what the transfers between particles and grid
/// dissipate anyway.
const LEAST_VISCOSITY: f64 = -0.1;
/// Poisson's ratios to look at on the fine grid.
const AROUND: [f64; 4] = [0.15, 0.23, 0.31, 0.39];
/// Poisson's ratios to look at first.
const SPREAD: [f64; 3] = [0.15, 0.27, 0.39];
/// Their number.
pub(super) const RATIOS: usize = SPREAD.len();

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

/// `[mu, lambda]` \[Pa\] and the viscosity that the scene does not know of \[Pa s\].
pub(super) type Material = [f64; 3];

/// The map between the search's coordinates and a material: those of the elastic parameters, then the viscosity.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Coordinates {
    elastic: Elastic,
    /// Viscosity at 1 of the last coordinate \[Pa s\].
    room: f64,
}

#[derive(Debug, Clone, PartialEq)]
enum Elastic {
    /// `[ln E, nu]`, with the ranges of `mu` and `lambda`.
    Both([[f64; 2]; 2]),
    /// Logarithm of the parameter with this index, its range, and the value of the other.
    One(usize, [f64; 2], f64),
}

impl Coordinates {
    /// For what is unknown, and at most `room` of viscosity \[Pa s\].
    pub(super) fn new(scene: &Scene, options: &IdentifyOptions, room: f64) -> Result<Self> {
        Ok(Self { elastic: Elastic::new(scene, options)?, room })
    }

    /// Viscosity at 1 of the last coordinate \[Pa s\].
    pub(super) fn room(&self) -> f64 {
        self.room
    }

    /// Where one elastic parameter is searched for alone: its index, and the value of the other \[Pa\].
    pub(super) fn known(&self) -> Option<(usize, f64)> {
        match self.elastic {
            Elastic::Both(_) => None,
            Elastic::One(which, _, other) => Some((which, other)),
        }
    }

    /// Number of elastic parameters that are searched for.
    pub(super) fn elastic(&self) -> usize {
        self.elastic.len()
    }

    /// Whether Poisson's ratio is one of them, the second.
    pub(super) fn has_poisson(&self) -> bool {
        self.elastic.len() == 2
    }

    /// The material at `at`, inside the ranges; Young's modulus is kept if it can be.
    pub(super) fn values(&self, at: &[f64]) -> Material {
        let [mu, lambda] = self.elastic.values(at);
        [mu, lambda, self.room * at[self.elastic.len()].clamp(LEAST_VISCOSITY, 1.0)]
    }

    /// Where a material lies.
    pub(super) fn at(&self, [mu, lambda, viscosity]: Material) -> Vec<f64> {
        let mut at = self.elastic.at([mu, lambda]);
        at.push(viscosity / self.room);
        at
    }

    /// The nearest point whose values are inside the ranges.
    pub(super) fn inside(&self, at: &[f64]) -> Vec<f64> {
        self.at(self.values(at))
    }

    /// Per coordinate, the derivative of the material by it.
    pub(super) fn tangents(&self, [mu, lambda, _]: Material) -> Vec<Material> {
        let elastic = self.elastic.tangents([mu, lambda]);
        elastic.into_iter().map(|[by_mu, by_lambda]| [by_mu, by_lambda, 0.0]).chain([[0.0, 0.0, self.room]]).collect()
    }

    /// Standard deviation of the logarithm of the elastic parameter with index `which`, from the covariance of the
    /// first coordinates.
    pub(super) fn deviation(&self, values: Material, covariance: &[f64], which: usize) -> f64 {
        let slope = self.tangents(values).into_iter().map(|t| t[which] / values[which]);
        let slope: Vec<f64> = slope.take(covariance.len().isqrt()).collect();
        let n = slope.len();
        let variance: f64 = (0..n * n).map(|k| slope[k / n] * covariance[k] * slope[k % n]).sum();
        variance.max(0.0).sqrt()
    }

    /// Coordinates that an answer at `at` leaves free: the viscosity is not at its end.
    pub(super) fn free(&self, at: &[f64]) -> usize {
        self.elastic.len() + usize::from(at[self.elastic.len()] > LEAST_VISCOSITY)
    }

    /// Box around all that the ranges allow, with or without viscosity.
    pub(super) fn bounds(&self, viscous: bool) -> Bounds {
        let mut bounds = self.elastic.bounds();
        let (low, high) = if viscous { (LEAST_VISCOSITY, 1.0) } else { (0.0, 0.0) };
        bounds.low.push(low);
        bounds.high.push(high);
        bounds.trust.push(TRUST_VISCOSITY);
        bounds
    }

    /// Points spread over the ranges, without viscosity: `count` of the first coordinate, each with some of the second
    /// where there is one.
    pub(super) fn spread(&self, count: usize) -> Vec<Vec<f64>> {
        let bounds = self.elastic.bounds();
        let share = |k: usize| (k as f64 + 0.5) / count as f64;
        let first = |k: usize| bounds.low[0] + share(k) * (bounds.high[0] - bounds.low[0]);
        let seconds = |k: usize| match self.elastic {
            Elastic::Both(_) => SPREAD.iter().map(|&nu| self.inside(&[first(k), nu, 0.0])).collect(),
            Elastic::One(..) => vec![vec![first(k), 0.0]],
        };
        (0..count).flat_map(seconds).collect()
    }

    /// A point, and where Poisson's ratio is searched for other ratios with the same Young's modulus.
    pub(super) fn around(&self, at: &[f64]) -> Vec<Vec<f64>> {
        let ratios = AROUND.iter().filter(|_| self.has_poisson());
        let other = |&nu: &f64| self.inside(&[&[at[0], nu], &at[2..]].concat());
        std::iter::once(at.to_vec()).chain(ratios.map(other)).collect()
    }

    /// The unknowns by name.
    pub(super) fn named(&self, [mu, lambda, _]: Material) -> Values {
        Values::from([(Name::Mu, mu), (Name::Lambda, lambda)])
    }
}

impl Elastic {
    fn new(scene: &Scene, options: &IdentifyOptions) -> Result<Self> {
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

    fn len(&self) -> usize {
        match self {
            Self::Both(_) => 2,
            Self::One(..) => 1,
        }
    }

    fn values(&self, at: &[f64]) -> [f64; 2] {
        match self {
            Self::Both(ranges) => into_box(at[0].exp(), at[1], ranges),
            Self::One(which, [low, high], other) => {
                let mut values = [*other; 2];
                values[*which] = at[0].exp().clamp(*low, *high);
                values
            }
        }
    }

    fn at(&self, values: [f64; 2]) -> Vec<f64> {
        match self {
            Self::Both(_) => vec![young(values).ln(), poisson(values)],
            Self::One(which, ..) => vec![values[*which].ln()],
        }
    }

    fn tangents(&self, values: [f64; 2]) -> Vec<[f64; 2]> {
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

    fn bounds(&self) -> Bounds {
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

    const BOTH: Coordinates =
        Coordinates { elastic: Elastic::Both([[1500.0, 25_000.0], [1500.0, 60_000.0]]), room: 40.0 };

    #[test]
    fn there_and_back() {
        for [mu, lambda] in [[8086.6, 14_007.9], [1500.0, 1500.0], [25_000.0, 60_000.0], [20_000.0, 1600.0]] {
            let values = [mu, lambda, 3.0];
            let back = BOTH.values(&BOTH.at(values));
            assert!(back.iter().zip(values).all(|(b, v)| (b / v - 1.0).abs() < 1e-9), "{back:?}");
        }
    }

    #[test]
    fn the_box_is_kept_and_with_it_youngs_modulus() {
        let e = 45_000.0f64;
        for nu in [0.01, 0.03, 0.2, 0.45, 0.49] {
            let [mu, lambda, viscosity] = BOTH.values(&[e.ln(), nu, 0.25]);
            assert_eq!(viscosity, 10.0);
            assert!((1500.0..=25_000.0).contains(&mu) && (1500.0..=60_000.0).contains(&lambda));
            assert!((young([mu, lambda]) / e - 1.0).abs() < 1e-9, "nu {nu}: {mu} {lambda}");
        }
        assert_eq!(BOTH.values(&[20.0, 0.3, 0.0]), [25_000.0, 60_000.0, 0.0]);
        assert_eq!(BOTH.values(&[5.0, 0.3, 2.0]), [1500.0, 1500.0, 40.0]);
    }

    #[test]
    fn tangents_are_derivatives() {
        let values = [9000.0, 15_000.0, 4.0];
        let at = BOTH.at(values);
        for (k, tangent) in BOTH.tangents(values).iter().enumerate() {
            let moved = |by: f64| {
                let mut to = at.clone();
                to[k] += by;
                BOTH.values(&to)
            };
            let (up, down) = (moved(1e-6), moved(-1e-6));
            for i in 0..3 {
                let slope = (up[i] - down[i]) / 2e-6;
                assert!((slope - tangent[i]).abs() <= 1e-6 * tangent[i].abs(), "{slope} {}", tangent[i]);
            }
        }
    }
}
