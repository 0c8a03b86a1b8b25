//! What the search moves in.
//!
//! Shear modulus and second Lamé parameter are a curved valley together: a video shows Young's modulus well and
//! Poisson's ratio hardly. So a search for both of a body moves in `(ln E, nu)`, where the valley is straight, and keeps the
//! values inside the box of their ranges. A search for one moves in its logarithm, as for a density; of anything else in
//! shares of its range. The scene may ask for another coordinate.

use super::row::{Kind, Map, Row, elastic};
use crate::error::{Error, Result};
use crate::job::{IdentifyOptions, Simulator, Values};
use crate::program::{Physics, middle};
use crate::scene::document::Transform;
use crate::scene::{Name, Prior, Quantity, Range, Scene, Target};
use diffkern_optim::dense::Bounds;

/// Longest step of the viscosity, as a part of its room.
const TRUST_VISCOSITY: f64 = 0.3;
/// Least viscosity beside the scene's by MPM, as a part of its room: below zero by what the transfers between particles and grid
/// dissipate anyway. Finite elements dissipate nothing.
const LEAST_VISCOSITY: f64 = -0.1;
/// Poisson's ratios to look at on the fine grid.
const AROUND: [f64; 4] = [0.15, 0.23, 0.31, 0.39];
/// Changes of the logarithm of a stiffness to look at there, where a run is so cheap: the coarse grid is off by as much on a body that bounces.
const NEARBY: [f64; 4] = [-0.24, -0.12, 0.12, 0.24];
/// With more parameters than this they are not.
const MANY: usize = 3;
/// Poisson's ratios to look at first.
const SPREAD: [f64; 3] = [0.15, 0.27, 0.39];
/// Most stiffnesses that are looked at one after the other: of more, such as those of a field, the spread of all is the start.
const FEW: usize = 4;
/// Most unknowns that are no stiffness of which each is looked at, whether it has any influence.
const WATCHED: usize = 8;
/// Shares of a range to look at first, of what is looked at by itself.
const SHARES: [f64; 4] = [0.1, 0.3, 0.7, 0.9];

/// The map between the search's coordinates and the numbers of a run: those of the unknowns, then the viscosity beside the
/// scene's, unless the viscosity of a body or its damping by mass is one of the unknowns: one motion hardly tells two losses apart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parametrisation {
    /// What is known.
    base: Physics,
    rows: Vec<Row>,
    /// Viscosity at 1 of the last coordinate \[Pa s\], where there is one.
    room: Option<f64>,
    /// Least value of that coordinate.
    least: f64,
    /// Whether runs on the final grid are so cheap that more of them may be looked at.
    cheap: bool,
    /// Parameters that are told while the search runs.
    told: Vec<(Name, Target)>,
    /// What is known of unknowns beforehand.
    priors: Vec<(Target, Prior)>,
}

impl Parametrisation {
    /// For what is unknown, and at most `room` of viscosity \[Pa s\], if any is to be fitted along.
    pub(crate) fn new(scene: &Scene, options: &IdentifyOptions, room: impl Into<Option<f64>>) -> Result<Self> {
        let target = |name: &Name| scene.target(name).map_err(|problem| Error::argument("unknowns", problem));
        let targets = options.unknowns.iter().map(target).collect::<Result<Vec<_>>>()?;
        let found = |target: Target| -> Result<&Range> {
            scene.range(target).ok_or_else(|| {
                Error::argument("unknowns", format!("{} has no range in the scene", scene.name_of(target)))
            })
        };
        let range = |target: Target| found(target).map(|range| [range.min, range.max]);
        // A modulus that varies and one that does not have no ratio.
        let alike = |of: usize| scene.cut(of, Quantity::Mu) == scene.cut(of, Quantity::Lambda);
        let free = |target: &Target| {
            targets.contains(target) && scene.range(*target).is_some_and(|range| range.transform == Transform::Auto)
        };
        let both = |one: Target| alike(one.of) && elastic(one).iter().all(free);
        let (mut first, mut rest) = (Vec::new(), Vec::new());
        for &target in &targets {
            match target.quantity {
                Quantity::Mu if both(target) => {
                    let [mu, lambda] = elastic(target);
                    first.push(Row::Elastic([mu, lambda], [range(mu)?, range(lambda)?]));
                }
                Quantity::Lambda if both(target) => {}
                quantity => {
                    let row = Row::One(target, range(target)?, Map::of(quantity, found(target)?.transform));
                    if quantity.is_elastic() { first.push(row) } else { rest.push(row) }
                }
            }
        }
        first.append(&mut rest);
        if first.is_empty() {
            return Err(Error::argument("unknowns", "none, expected at least one parameter to find"));
        }
        let loss = |target: &Target| matches!(target.quantity, Quantity::Viscosity | Quantity::Damping);
        let room = room.into().filter(|_| options.simulator != Simulator::Rigid && !targets.iter().any(loss));
        let others = targets.iter().copied().filter(|target| !target.quantity.is_elastic());
        let told: Vec<(Name, Target)> =
            scene.elastic().chain(others).map(|target| (scene.name_of(target), target)).collect();
        let priors = targets.iter().filter_map(|target| Some((*target, scene.range(*target)?.prior?))).collect();
        Ok(Self {
            base: Physics::of(scene, &options.fixed),
            rows: first,
            room,
            least: match options.simulator {
                Simulator::Mpm => LEAST_VISCOSITY,
                Simulator::Fem | Simulator::Tlmpm | Simulator::Rigid => 0.0,
            },
            cheap: options.simulator == Simulator::Fem && told.len() <= MANY,
            told,
            priors,
        })
    }

    /// Viscosity at 1 of the last coordinate \[Pa s\], if it is one.
    pub(crate) fn room(&self) -> Option<f64> {
        self.room
    }

    /// The unknowns, each with the place of its first coordinate.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (usize, &Row)> {
        self.rows.iter().scan(0, |next, row| {
            let at = *next;
            *next += row.kinds().len();
            Some((at, row))
        })
    }

    /// The name of what a coordinate is of alone.
    pub(crate) fn name(&self, k: usize) -> Option<&Name> {
        let target = self.rows().find_map(|(first, row)| match row {
            Row::One(target, ..) if first == k => Some(*target),
            Row::One(..) | Row::Elastic(..) => None,
        })?;
        self.told.iter().find(|(_, told)| *told == target).map(|(name, _)| name)
    }

    /// What is known.
    pub(crate) fn base(&self) -> &Physics {
        &self.base
    }

    /// What each coordinate is.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        let viscosity = self.room.map(|_| Kind::Viscosity);
        self.rows.iter().flat_map(Row::kinds).copied().chain(viscosity).collect()
    }

    /// The numbers at `at`, inside the ranges; Young's moduli are kept if they can be.
    pub(crate) fn values(&self, at: &[f64]) -> Physics {
        let mut values = self.base.clone();
        self.rows().for_each(|(k, row)| row.put(&at[k..], &mut values));
        if let (Some(room), Some(last)) = (self.room, at.last()) {
            values.extra = room * last.clamp(self.least, 1.0);
        }
        values
    }

    /// Where numbers lie.
    pub(crate) fn at(&self, values: &Physics) -> Vec<f64> {
        let viscosity = self.room.map(|room| values.extra / room);
        self.rows.iter().flat_map(|row| row.at(values)).chain(viscosity).collect()
    }

    /// The nearest point whose values are inside the ranges.
    pub(crate) fn inside(&self, at: &[f64]) -> Vec<f64> {
        self.at(&self.values(at))
    }

    /// Per coordinate, the derivative of the numbers by it.
    pub(crate) fn tangents(&self, at: &Physics) -> Vec<Physics> {
        let of = |moved: Vec<(Target, f64)>| {
            let mut tangent = at.zeroed();
            moved.into_iter().for_each(|(target, by)| tangent[target] = by);
            tangent
        };
        let viscosity = self.room.map(|extra| at.zeroed().with_extra(extra));
        self.rows.iter().flat_map(|row| row.tangents(at)).map(of).chain(viscosity).collect()
    }

    /// Standard deviation of a parameter, of its logarithm where values differ by factors, from the covariance of the first
    /// coordinates.
    pub(crate) fn deviation(&self, values: &Physics, covariance: &[f64], target: Target) -> f64 {
        self.combined(values, covariance, &[(target, 1.0)])
    }

    /// The same of a sum of parameters, or of their logarithms, each times a factor.
    pub(crate) fn combined(&self, values: &Physics, covariance: &[f64], sum: &[(Target, f64)]) -> f64 {
        let size = |target: Target| if target.quantity.is_positive() { values[target] } else { 1.0 };
        let along = |t: Physics| sum.iter().map(|(target, by)| by * t[*target] / size(*target)).sum();
        let slope: Vec<f64> = self.tangents(values).into_iter().map(along).take(covariance.len().isqrt()).collect();
        let n = slope.len();
        // What does not show has an infinite variance, and no part in what does not depend on it.
        let moves = |k: &usize| slope[k / n] != 0.0 && slope[k % n] != 0.0;
        let variance: f64 = (0..n * n).filter(moves).map(|k| slope[k / n] * covariance[k] * slope[k % n]).sum();
        variance.max(0.0).sqrt()
    }

    /// What is known beforehand as residuals: how many standard deviations each of those values is away, with the derivative of
    /// that by each coordinate.
    pub(crate) fn priors(&self, at: &[f64]) -> Vec<(f64, Vec<f64>)> {
        if self.priors.is_empty() {
            return Vec::new();
        }
        let values = self.values(at);
        let tangents = self.tangents(&values);
        let one = |(target, prior): &(Target, Prior)| {
            let (value, is_positive) = (values[*target], target.quantity.is_positive());
            let size = if is_positive { value } else { 1.0 };
            let slopes = tangents.iter().map(|tangent| tangent[*target] / (size * prior.deviation)).collect();
            (prior.away(value, is_positive), slopes)
        };
        self.priors.iter().map(one).collect()
    }

    /// Of each coordinate whether something is known beforehand of what it is of alone.
    pub(crate) fn has_prior(&self) -> Vec<bool> {
        let known = |row: &Row| match row {
            Row::One(target, ..) => self.priors.iter().any(|(known, _)| known == target),
            Row::Elastic(..) => false,
        };
        let rows = self.rows.iter().flat_map(|row| vec![known(row); row.kinds().len()]);
        rows.chain(self.room.map(|_| false)).collect()
    }

    /// Whether anything is known beforehand.
    pub(crate) fn has_priors(&self) -> bool {
        !self.priors.is_empty()
    }

    /// Coordinates that an answer at `at` leaves free: the viscosity is not at its end.
    pub(crate) fn free(&self, at: &[f64]) -> usize {
        let held = self.room.is_some() && at.last().is_some_and(|last| *last <= self.least);
        at.len() - usize::from(held)
    }

    /// How far an answer may well be off along each coordinate: a twentieth of a stiffness, 0.02 of a Poisson's ratio, else a fiftieth of what the ranges
    /// allow.
    pub(crate) fn doubt(&self) -> Vec<f64> {
        let Bounds { low, high, .. } = self.bounds(true);
        let of = |(k, kind): (usize, Kind)| match kind {
            Kind::Stiffness => 0.05,
            Kind::Poisson => 0.02,
            Kind::Other | Kind::Viscosity => 0.02 * (high[k] - low[k]),
        };
        self.kinds().into_iter().enumerate().map(of).collect()
    }

    /// Box around all that the ranges allow, with or without viscosity.
    pub(crate) fn bounds(&self, viscous: bool) -> Bounds {
        let (low, high) = if viscous { (self.least, 1.0) } else { (0.0, 0.0) };
        let viscosity = self.room.map(|_| [low, high, TRUST_VISCOSITY]);
        let all: Vec<[f64; 3]> = self.rows.iter().flat_map(Row::bounds).chain(viscosity).collect();
        let column = |k: usize| all.iter().map(|row| row[k]).collect();
        Bounds { low: column(0), high: column(1), trust: column(2) }
    }

    /// Where to begin: as given, else the middle of the ranges; no viscosity beside the scene's.
    pub(crate) fn initial(&self, options: &IdentifyOptions) -> Physics {
        let mut values = self.base.clone();
        let mut put = |target: Target, range: [f64; 2]| {
            let name = self.told.iter().find(|(_, told)| *told == target).map(|(name, _)| name);
            let given = name.and_then(|name| options.start.get(name)).copied();
            values[target] = given.unwrap_or_else(|| middle(target.quantity, range));
        };
        for row in &self.rows {
            match row {
                Row::Elastic(targets, ranges) => targets.iter().zip(ranges).for_each(|(t, r)| put(*t, *r)),
                Row::One(target, range, _) => put(*target, *range),
            }
        }
        values
    }

    /// Points spread over the ranges, without viscosity: `count` of all stiffnesses, each with some Poisson's ratios where those
    /// are searched for. The rest is as at `from`. None without a stiffness.
    pub(crate) fn spread(&self, from: &[f64], count: usize) -> Vec<Vec<f64>> {
        let kinds = self.kinds();
        let has = |kind: Kind| kinds.contains(&kind);
        let point = |stiffness: f64, nu: f64| {
            let mut at = from.to_vec();
            for (first, row) in self.rows() {
                for (k, kind) in row.kinds().iter().enumerate() {
                    match kind {
                        Kind::Stiffness => at[first + k] = row.stiffness(stiffness),
                        Kind::Poisson => at[first + k] = nu,
                        Kind::Other | Kind::Viscosity => {}
                    }
                }
            }
            if let (Some(_), Some(last)) = (self.room, at.last_mut()) {
                *last = 0.0;
            }
            self.inside(&at)
        };
        let ratios = if has(Kind::Poisson) { &SPREAD[..] } else { &SPREAD[..1] };
        let shares = (0..count).map(|k| (k as f64 + 0.5) / count as f64);
        let pairs = shares.flat_map(|share| ratios.iter().map(move |&nu| (share, nu)));
        pairs.filter(|_| has(Kind::Stiffness)).map(|(s, n)| point(s, n)).collect()
    }

    /// Coordinates to look along one after the other: where no stiffness is searched for all, and of a few stiffnesses each, as those of several bodies, which a spread of all
    /// together leaves alike, may be far from each other.
    pub(crate) fn to_look_along(&self) -> Vec<usize> {
        let kinds = self.kinds();
        let of = |wanted: &dyn Fn(Kind) -> bool| (0..kinds.len()).filter(|&k| wanted(kinds[k])).collect::<Vec<_>>();
        let stiffnesses = of(&|kind| kind == Kind::Stiffness);
        match stiffnesses.len() {
            0 => of(&|kind| kind != Kind::Viscosity),
            2..=FEW => stiffnesses,
            _ => Vec::new(),
        }
    }

    /// Coordinates whose influence is looked at before a search: of a few that are no stiffness all of which nothing is known beforehand.
    pub(crate) fn to_watch(&self) -> Vec<usize> {
        let others = self.rows().filter_map(|(k, row)| match row {
            Row::One(target, ..) if row.kinds() == [Kind::Other] => Some((k, *target)),
            Row::One(..) | Row::Elastic(..) => None,
        });
        let unknown = |target: Target| self.priors.iter().all(|(known, _)| *known != target);
        let others: Vec<usize> = others.filter(|(_, target)| unknown(*target)).map(|(k, _)| k).collect();
        if others.len() <= WATCHED { others } else { Vec::new() }
    }

    /// A point, and others with coordinate `k` elsewhere in its range.
    pub(crate) fn along(&self, from: &[f64], k: usize) -> Vec<Vec<f64>> {
        let bounds = self.bounds(false);
        let other = |share: f64| {
            let mut at = from.to_vec();
            at[k] = bounds.low[k] + share * (bounds.high[k] - bounds.low[k]);
            self.inside(&at)
        };
        std::iter::once(from.to_vec()).chain(SHARES.map(other)).collect()
    }

    /// How many points a scan looks at that looks at `count` stiffnesses.
    pub(crate) fn scanned(&self, count: usize) -> usize {
        let (middle, watched) = (self.bounds(false).low, self.to_watch().len());
        1 + if watched > 0 { 1 + 2 * watched } else { 0 }
            + self.spread(&middle, count).len()
            + self.to_look_along().len() * (1 + SHARES.len())
    }

    /// A point, and where Poisson's ratios are searched for other ratios of one body with the same Young's modulus.
    pub(crate) fn around(&self, at: &[f64]) -> Vec<Vec<f64>> {
        let kinds = self.kinds();
        let ratios = (0..kinds.len()).filter(|&k| kinds[k] == Kind::Poisson);
        let other = |k: usize, nu: f64| {
            let mut other = at.to_vec();
            other[k] = nu;
            self.inside(&other)
        };
        std::iter::once(at.to_vec()).chain(ratios.flat_map(|k| AROUND.map(|nu| other(k, nu)))).collect()
    }

    /// A point with other moduli, where runs are so cheap that more of them may be looked at: by finite elements of one material.
    pub(crate) fn farther(&self, at: &[f64]) -> Vec<Vec<f64>> {
        NEARBY.iter().filter(|_| self.cheap).filter_map(|&by| self.stiffer(at, by)).collect()
    }

    /// The same point with stiffnesses raised by `by` of their logarithms; none if there are none.
    pub(crate) fn stiffer(&self, at: &[f64], by: f64) -> Option<Vec<f64>> {
        let mut values = self.values(at);
        self.rows.iter().for_each(|row| row.stiffen(by.exp(), &mut values));
        self.kinds().contains(&Kind::Stiffness).then(|| self.inside(&self.at(&values)))
    }

    /// Elastic parameters and unknowns by name.
    pub(crate) fn named(&self, values: &Physics) -> Values {
        self.told.iter().map(|(name, target)| (name.clone(), values[*target])).collect()
    }
}

#[cfg(test)]
mod tests;
