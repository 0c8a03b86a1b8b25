//! Coordinates of one unknown, or of two that belong together.

use crate::program::Physics;
use crate::scene::{Quantity, Target};

/// Longest step of `ln E` or the logarithm of a parameter, and of `nu`.
const TRUST: [f64; 2] = [1.0, 0.2];
/// Of a share of a range.
const TRUST_SHARE: f64 = 0.3;

/// Young's modulus \[Pa\].
pub(crate) fn young([mu, lambda]: [f64; 2]) -> f64 {
    mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu)
}

/// Poisson's ratio.
pub(crate) fn poisson([mu, lambda]: [f64; 2]) -> f64 {
    lambda / (2.0 * (lambda + mu))
}

/// `(mu, lambda)` \[Pa\].
fn lame(young: f64, poisson: f64) -> [f64; 2] {
    [young / (2.0 * (1.0 + poisson)), young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))]
}

/// What a coordinate is; how long its steps are depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Logarithm of Young's modulus or of an elastic parameter.
    Stiffness,
    /// Poisson's ratio.
    Poisson,
    /// Logarithm of a density, or a share of a range.
    Other,
    /// Viscosity beside the scene's, as a share of its room.
    Viscosity,
}

/// An unknown, or two that belong together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Row {
    /// `[ln E, nu]` of what has this `mu` and this `lambda`, with their ranges.
    Elastic([Target; 2], [[f64; 2]; 2]),
    /// Logarithm of a parameter, and its range.
    Log(Target, [f64; 2]),
    /// Share of the range of a parameter.
    Share(Target, [f64; 2]),
}

impl Row {
    pub(super) fn kinds(&self) -> &'static [Kind] {
        match self {
            Self::Elastic(..) => &[Kind::Stiffness, Kind::Poisson],
            Self::Log(target, _) => match target.quantity {
                Quantity::Mu | Quantity::Lambda => &[Kind::Stiffness],
                _ => &[Kind::Other],
            },
            Self::Share(..) => &[Kind::Other],
        }
    }

    /// Least, greatest and longest step of each coordinate.
    pub(super) fn bounds(&self) -> Vec<[f64; 3]> {
        match self {
            Self::Elastic(_, [[mu0, mu1], [la0, la1]]) => vec![
                [young([*mu0, *la0]).ln(), young([*mu1, *la1]).ln(), TRUST[0]],
                [poisson([*mu1, *la0]), poisson([*mu0, *la1]), TRUST[1]],
            ],
            Self::Log(_, [low, high]) => vec![[low.ln(), high.ln(), TRUST[0]]],
            Self::Share(..) => vec![[0.0, 1.0, TRUST_SHARE]],
        }
    }

    pub(super) fn put(&self, at: &[f64], into: &mut Physics) {
        match self {
            Self::Elastic([of_mu, of_lambda], ranges) => {
                let [mu, lambda] = into_box(at[0].exp(), at[1], ranges);
                (into[*of_mu], into[*of_lambda]) = (mu, lambda);
            }
            Self::Log(target, [low, high]) => into[*target] = at[0].exp().clamp(*low, *high),
            Self::Share(target, [low, high]) => into[*target] = low + (high - low) * at[0].clamp(0.0, 1.0),
        }
    }

    pub(super) fn at(&self, from: &Physics) -> Vec<f64> {
        match self {
            Self::Elastic(targets, _) => {
                let values = targets.map(|target| from[target]);
                vec![young(values).ln(), poisson(values)]
            }
            Self::Log(target, _) => vec![from[*target].ln()],
            Self::Share(target, [low, high]) => vec![(from[*target] - low) / (high - low)],
        }
    }

    /// Per coordinate, the derivatives of what it moves.
    pub(super) fn tangents(&self, at: &Physics) -> Vec<Vec<(Target, f64)>> {
        match self {
            Self::Elastic([of_mu, of_lambda], _) => {
                let (of_mu, of_lambda) = (*of_mu, *of_lambda);
                let [mu, lambda] = [at[of_mu], at[of_lambda]];
                let nu = poisson([mu, lambda]);
                let by_nu = [-mu / (1.0 + nu), lambda * (1.0 / nu - 1.0 / (1.0 + nu) + 2.0 / (1.0 - 2.0 * nu))];
                vec![vec![(of_mu, mu), (of_lambda, lambda)], vec![(of_mu, by_nu[0]), (of_lambda, by_nu[1])]]
            }
            Self::Log(target, _) => vec![vec![(*target, at[*target])]],
            Self::Share(target, [low, high]) => vec![vec![(*target, high - low)]],
        }
    }
}

/// Both elastic parameters of what has one of them.
pub(super) fn elastic(one: Target) -> [Target; 2] {
    [Quantity::Mu, Quantity::Lambda].map(|quantity| Target { quantity, ..one })
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
