//! Constants by some swings, and how far others are from where these say that they go.

use super::arms::{ALL, Constants};
use super::recording::Recording;
use super::search::{LOW, Place, Swings, whole};
use crate::error::Result;
use crate::identify::SIGMAS;
use serde::Serialize;

/// The constants of those who measured, without dry friction.
///
/// Source: Kaheman et al., arXiv 2205.06231, estimated parameters of the double pendulum.
pub(super) const AUTHORS: Constants = Constants {
    length: 0.172719204,
    centre: 0.108565215,
    inertia: [4.37529430e-4, 1.26882939e-3],
    viscous: [2.37142783e-4, 1.00000019e-5],
    dry: [0.0; 2],
};
/// How long the beginning of a swing is that its start is taken from \[s\].
pub(super) const EARLY: f64 = 0.1;
/// Evaluations that a study takes in the mean, for progress alone.
const EXPECTED: f64 = 24.0;

/// From where a swing is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Begin {
    /// From its first sample as it was measured.
    Measured,
    /// From the start that is best for its beginning.
    Early,
    /// From the start that is best for all of it.
    Whole,
}

/// How far swings that were not fitted are from where constants say that they go.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// From where they were simulated.
    pub begin: Begin,
    /// Of each swing, the root of the mean square over all samples and both angles \[rad\].
    pub errors: Vec<f64>,
    /// Their median and mean \[rad\].
    pub median: f64,
    /// The mean \[rad\].
    pub mean: f64,
}

/// Constants, and how good they are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// Whose, or with what friction.
    pub name: String,
    /// The constants.
    pub constants: Constants,
    /// 95 % intervals of those that were sought, in the order of [`Constants::to_array`], by the jackknife over swings.
    pub intervals: Vec<Option<[f64; 2]>>,
    /// Root of the mean square over the fitted swings, each from its best start \[rad\].
    pub fitted: f64,
    /// Evaluations with derivatives.
    pub evaluations: usize,
    /// On the others, one for each way to begin.
    pub judged: Vec<Judged>,
}

/// All that a table says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Study {
    /// Time from sample to sample \[s\].
    pub dt: f64,
    /// Number of swings that were fitted, and of their samples.
    pub fitted: [usize; 2],
    /// Those of the others.
    pub judged: [usize; 2],
    /// The authors' constants, then what was found with viscous friction alone, then with dry friction too.
    pub found: Vec<Found>,
    /// By how much an error from the first sample changes at most with half the step \[rad\].
    pub step: f64,
}

impl Study {
    /// `tell` gets the part that is done.
    ///
    /// # Errors
    /// When a simulation fails or `tell` ends it.
    pub fn new(recording: &Recording, tell: &mut dyn FnMut(f64) -> Result<()>) -> Result<Self> {
        let Recording { dt, fitted, judged } = recording;
        let all = Swings::new(fitted, usize::MAX, *dt, 1)?;
        let early = (EARLY / dt).round() as usize + 1;
        let others = Others {
            early: Swings::new(judged, early.max(3), *dt, 1)?,
            whole: Swings::new(judged, usize::MAX, *dt, 1)?,
        };
        let mut done = 0.0;
        let mut count = || {
            done += 1.0;
            tell((done / EXPECTED).min(0.99))
        };
        let still = all.search(AUTHORS, all.starts(AUTHORS, all.measured())?, &[], &mut count)?;
        let by: Vec<usize> = (0..ALL).collect();
        let viscous = all.search(AUTHORS, still.starts.clone(), &by[..6], &mut count)?;
        let dry = all.search(viscous.at, viscous.starts.clone(), &by, &mut count)?;
        let finer = Swings::new(judged, usize::MAX, *dt, 2)?;
        let coarse = others.whole.errors(&others.whole.arms.motion(dry.at, &others.whole.measured())?);
        let fine = finer.errors(&finer.arms.motion(dry.at, &finer.measured())?);
        let step = coarse.iter().zip(&fine).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let samples = |swings: &[Vec<[f64; 4]>]| [swings.len(), swings.first().map_or(0, Vec::len)];
        let residuals = (2 * fitted.len() * samples(fitted)[1]) as f64;
        let ends = [
            ("authors", still, 0),
            ("found, viscous friction", viscous, 6),
            ("found, viscous and dry friction", dry, ALL),
        ];
        let found = ends.into_iter().map(|(name, place, by)| found(name, &place, by, residuals, &others));
        Ok(Self {
            dt: *dt,
            fitted: samples(fitted),
            judged: samples(judged),
            found: found.collect::<Result<_>>()?,
            step,
        })
    }
}

/// Swings to judge on: their beginnings, and all of them.
struct Others<'a> {
    early: Swings<'a>,
    whole: Swings<'a>,
}

fn found(name: &str, place: &Place, by: usize, residuals: f64, others: &Others<'_>) -> Result<Found> {
    let measured = others.whole.measured();
    let mut judged = Vec::new();
    for begin in [Begin::Measured, Begin::Early, Begin::Whole] {
        let starts = match begin {
            Begin::Measured => measured.clone(),
            Begin::Early => others.early.starts(place.at, measured.clone())?,
            Begin::Whole => others.whole.starts(place.at, measured.clone())?,
        };
        let errors = others.whole.errors(&others.whole.arms.motion(place.at, &starts)?);
        let (median, mean) = (median(&errors), errors.iter().sum::<f64>() / errors.len() as f64);
        judged.push(Judged { begin, errors, median, mean });
    }
    let x = place.at.to_array();
    // What a bound holds does not scatter; nothing is negative.
    let free: Vec<usize> = (0..by).filter(|&k| x[k] > LOW[k]).collect();
    let normals: Vec<_> = place.normals.iter().map(|normal| normal.only(&free)).collect();
    let covariance = if free.is_empty() { None } else { whole(&normals)?.jackknife(&normals)? };
    let interval = |k: usize| {
        let at = free.iter().position(|&own| own == k)?;
        let wide = SIGMAS * covariance.as_ref()?[at * free.len() + at].max(0.0).sqrt();
        Some([(x[k] - wide).max(LOW[k]), x[k] + wide])
    };
    Ok(Found {
        name: name.into(),
        constants: place.at,
        intervals: (0..ALL).map(interval).collect(),
        fitted: (place.cost / residuals).sqrt(),
        evaluations: place.evaluations,
        judged,
    })
}

/// The mean of the middle two where their number is even.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    0.5 * (sorted[(n - 1) / 2] + sorted[n / 2])
}
