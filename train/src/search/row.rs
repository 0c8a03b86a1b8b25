//! Coordinates of one unknown, or of two that belong together.

use crate::program::Physics;
use crate::scene::document::Transform;
use crate::scene::{Pair, Quantity, Target};

/// Longest step of `ln E` or the logarithm of a parameter, and of `nu`.
const TRUST: [f64; 2] = [1.0, 0.2];
/// Of a share of a range, and of its logit.
const TRUST_SHARE: f64 = 0.3;
const TRUST_LOGIT: f64 = 1.5;
/// Logits beyond which a value is at the end of its range.
const LOGIT: f64 = 8.0;

/// Young's modulus \[Pa\].
pub(crate) fn young([mu, lambda]: [f64; 2]) -> f64 {
    mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu)
}

/// Poisson's ratio.
pub(crate) fn poisson([mu, lambda]: [f64; 2]) -> f64 {
    lambda / (2.0 * (lambda + mu))
}

/// What a coordinate is; how long its steps are depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Young's modulus or an elastic parameter, by its logarithm if nothing else is asked for.
    Stiffness,
    /// Poisson's ratio.
    Poisson,
    /// That of anything else.
    Other,
    /// Viscosity beside the scene's, as a share of its room.
    Viscosity,
}

/// An unknown, or two that belong together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Row {
    /// `[ln E, nu]` of what has this `mu` and this `lambda`, with their ranges.
    Elastic([Target; 2], [[f64; 2]; 2]),
    /// A parameter, its range, and its coordinate.
    One(Target, [f64; 2], Map),
}

/// What the coordinate of a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Map {
    /// The value.
    Value,
    /// Its logarithm.
    Log,
    /// Its share of the range.
    Share,
    /// The logarithm of the distance from the lower end of the range over that from the upper one.
    Logit,
}

impl Map {
    /// As a scene asks for it.
    pub(super) fn of(quantity: Quantity, transform: Transform) -> Self {
        let value = if quantity == Quantity::Poisson { Self::Value } else { Self::Share };
        match transform {
            Transform::Auto if quantity.is_positive() => Self::Log,
            Transform::Auto | Transform::Linear => value,
            Transform::Log => Self::Log,
            Transform::Logit => Self::Logit,
        }
    }

    /// Least, greatest and longest step.
    fn bounds(self, [low, high]: [f64; 2]) -> [f64; 3] {
        match self {
            Self::Value => [low, high, TRUST[1]],
            Self::Log => [low.ln(), high.ln(), TRUST[0]],
            Self::Share => [0.0, 1.0, TRUST_SHARE],
            Self::Logit => [-LOGIT, LOGIT, TRUST_LOGIT],
        }
    }

    fn value(self, at: f64, [low, high]: [f64; 2]) -> f64 {
        match self {
            Self::Value => at.clamp(low, high),
            Self::Log => at.exp().clamp(low, high),
            Self::Share => low + (high - low) * at.clamp(0.0, 1.0),
            Self::Logit => low + (high - low) / (1.0 + (-at.clamp(-LOGIT, LOGIT)).exp()),
        }
    }

    fn at(self, value: f64, [low, high]: [f64; 2]) -> f64 {
        match self {
            Self::Value => value,
            Self::Log => value.ln(),
            Self::Share => (value - low) / (high - low),
            // Beyond an end of the range it is at that end.
            Self::Logit => {
                let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
                (share / (1.0 - share)).ln().clamp(-LOGIT, LOGIT)
            }
        }
    }

    /// Derivative of the value by the coordinate.
    fn slope(self, value: f64, [low, high]: [f64; 2]) -> f64 {
        match self {
            Self::Value => 1.0,
            Self::Log => value,
            Self::Share => high - low,
            Self::Logit => (value - low) * (high - value) / (high - low),
        }
    }
}

impl Row {
    pub(super) fn kinds(&self) -> &'static [Kind] {
        match self {
            Self::Elastic(..) => &[Kind::Stiffness, Kind::Poisson],
            Self::One(target, _, map) => match (target.quantity, map) {
                (Quantity::Mu | Quantity::Lambda | Quantity::Young, _) => &[Kind::Stiffness],
                (_, Map::Value) => &[Kind::Poisson],
                (_, Map::Log | Map::Share | Map::Logit) => &[Kind::Other],
            },
        }
    }

    /// The coordinate of a stiffness that lies at a share of its range: of logarithms.
    pub(super) fn stiffness(&self, share: f64) -> f64 {
        match self {
            Self::Elastic(..) => {
                let [low, high, _] = self.bounds()[0];
                low + share * (high - low)
            }
            Self::One(_, [low, high], map) => map.at(low * (high / low).powf(share), [*low, *high]),
        }
    }

    /// Least, greatest and longest step of each coordinate.
    pub(super) fn bounds(&self) -> Vec<[f64; 3]> {
        match self {
            Self::Elastic(_, [[mu0, mu1], [la0, la1]]) => vec![
                [young([*mu0, *la0]).ln(), young([*mu1, *la1]).ln(), TRUST[0]],
                [poisson([*mu1, *la0]), poisson([*mu0, *la1]), TRUST[1]],
            ],
            Self::One(_, range, map) => vec![map.bounds(*range)],
        }
    }

    pub(super) fn put(&self, at: &[f64], into: &mut Physics) {
        match self {
            Self::Elastic([of_mu, of_lambda], ranges) => {
                let [mu, lambda] = into_box(at[0].exp(), at[1], ranges);
                (into[*of_mu], into[*of_lambda]) = (mu, lambda);
            }
            Self::One(target, range, map) => into[*target] = map.value(at[0], *range),
        }
    }

    pub(super) fn at(&self, from: &Physics) -> Vec<f64> {
        match self {
            Self::Elastic(targets, _) => {
                let values = targets.map(|target| from[target]);
                vec![young(values).ln(), poisson(values)]
            }
            Self::One(target, range, map) => vec![map.at(from[*target], *range)],
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
            Self::One(target, range, map) => vec![vec![(*target, map.slope(at[*target], *range))]],
        }
    }

    /// Raises stiffnesses by a factor.
    pub(super) fn stiffen(&self, factor: f64, values: &mut Physics) {
        match self {
            Self::Elastic(targets, _) => targets.iter().for_each(|target| values[*target] *= factor),
            Self::One(target, ..) if self.kinds() == [Kind::Stiffness] => values[*target] *= factor,
            Self::One(..) => {}
        }
    }
}

/// Both elastic parameters of what has one of them.
pub(super) fn elastic(one: Target) -> [Target; 2] {
    [Quantity::Mu, Quantity::Lambda].map(|quantity| Target { quantity, ..one })
}

fn into_box(young: f64, poisson: f64, [mu_range, lambda_range]: &[[f64; 2]; 2]) -> [f64; 2] {
    let clamp = |x: f64, range: &[f64; 2]| x.clamp(range[0], range[1]);
    let [mu, lambda] = Pair::Engineering.lame([young, poisson.clamp(-0.9, 0.4999)]);
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

    #[test]
    fn every_map_goes_there_and_back_with_its_slope() {
        let range = [2.0, 7.0];
        for map in [Map::Value, Map::Log, Map::Share, Map::Logit] {
            let [low, high, _] = map.bounds(range);
            for value in [2.1, 3.3, 6.8] {
                let at = map.at(value, range);
                assert!(low < at && at < high, "{map:?}: {at}");
                assert!((map.value(at, range) - value).abs() < 1e-12, "{map:?}");
                let slope = (map.value(at + 1e-6, range) - map.value(at - 1e-6, range)) / 2e-6;
                assert!((slope - map.slope(value, range)).abs() < 1e-8 * slope, "{map:?}: {slope}");
            }
            // What is beyond the range is brought back.
            let [below, above] = [map.value(low - 3.0, range), map.value(high + 3.0, range)];
            assert!((below - 2.0).abs() < 2e-3 && (above - 7.0).abs() < 2e-3, "{map:?}: {below} {above}");
            assert!([0.5, 2.0, 7.0, 9.5].iter().all(|value| map.at(*value, range).is_finite()), "{map:?}");
        }
    }

    #[test]
    fn a_scene_chooses_the_map() {
        let of = Map::of;
        assert_eq!([Quantity::Young, Quantity::Density].map(|q| of(q, Transform::Auto)), [Map::Log; 2]);
        assert_eq!(of(Quantity::Poisson, Transform::Auto), Map::Value);
        assert_eq!(of(Quantity::Gravity(1), Transform::Auto), Map::Share);
        assert_eq!(of(Quantity::Mu, Transform::Linear), Map::Share);
        assert_eq!(of(Quantity::Viscosity, Transform::Log), Map::Log);
        assert_eq!(of(Quantity::Friction, Transform::Logit), Map::Logit);
    }
}
