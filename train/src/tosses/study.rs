//! The constants by some tosses, and how far others are from where these say that they go.

use super::claims::{Claims, Spread};
use super::cube::Constants;
use super::misfit::{Windows, distances, errors, losses};
use super::recording::Toss;
use super::search::{SECANT, Sample, Slope, mean, whole};
use crate::error::{Error, Result};
use diffkern_optim::dense::NormalEquations;
use serde::Serialize;

/// Frames after the first touch that windows may have; none for all.
pub(super) const HORIZONS: [Option<usize>; 4] = [Some(10), Some(20), Some(40), None];
/// The constants of those who measured, by their two papers.
pub(super) const AUTHORS: [Constants; 2] =
    [Constants { mu: 0.18, e: 0.125, s: 1.0 }, Constants { mu: 0.15, e: 0.125, s: 1.0 }];
/// Standard deviations to either side that hold 95 %.
const SIGMAS: f64 = 1.96;

/// Errors of poses over windows: of each toss the mean over its frames, of these mean and median.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PoseErrors {
    /// Frames after the first touch; none for all.
    pub horizon: Option<usize>,
    /// Mean and median distance of the centre \[m\].
    pub position: [f64; 2],
    /// Mean and median angle \[rad\].
    pub rotation: [f64; 2],
}

/// How often a derivative by forward mode does not say which way a loss goes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Useless {
    /// Frames after the first touch.
    pub horizon: Option<usize>,
    /// Of each constant: part of the tosses where the sign is another than that of a difference over a finite change, or the size
    /// differs by a factor of more than two.
    pub part: [f64; 3],
}

/// The errors of constants over all windows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// Whose.
    pub name: String,
    /// The constants.
    pub constants: Constants,
    /// One for each horizon.
    pub errors: Vec<PoseErrors>,
}

/// All that a table says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Study {
    /// Numbers of the tosses that were fitted: first, last, how many.
    pub train: [usize; 3],
    /// Those of the others.
    pub test: [usize; 3],
    /// What the first ones show by themselves.
    pub claims: Claims,
    /// What the same tosses show where they are simulated with the constants that were found.
    pub simulated: Claims,
    /// For each horizon: of constants fitted to one half of the first tosses over that horizon, the distance of corners of the other half by
    /// that with the authors' constants, the mean over all horizons.
    pub validation: Vec<(Option<usize>, f64)>,
    /// The horizon chosen.
    pub horizon: Option<usize>,
    /// What was found.
    pub found: Constants,
    /// 95 % intervals of friction, restitution and scale, by the jackknife over tosses.
    pub intervals: Option<[[f64; 2]; 3]>,
    /// How often tangents are useless, of the first tosses at the authors' constants.
    pub useless: Vec<Useless>,
    /// Errors on the other tosses.
    pub judged: Vec<Judged>,
}

impl Study {
    /// `tell` gets the part that is done.
    ///
    /// # Errors
    /// When a simulation fails or `tell` ends it.
    pub fn new(train: &[Toss], test: &[Toss], tell: &mut dyn FnMut(f64) -> Result<()>) -> Result<Self> {
        let claims = Claims::of(train);
        let fall = if claims.fall.count > 0 { claims.fall.median } else { super::cube::GRAVITY };
        let halves = [0, 1].map(|half| train.iter().skip(half).step_by(2).cloned().collect::<Vec<_>>());
        let samples = [Sample::new(&halves[0], fall)?, Sample::new(&halves[1], fall)?];
        let (all, other) = (Sample::new(train, fall)?, Sample::new(test, fall)?);
        let mut validation = Vec::new();
        let mut at = [AUTHORS[0]; 2];
        for (k, horizon) in HORIZONS.into_iter().enumerate() {
            let mut ratios = Vec::new();
            for (half, at) in at.iter_mut().enumerate() {
                let (fitted, left) = (&samples[half], &samples[1 - half]);
                // From what fewer frames say: over many frames the loss has too many valleys.
                *at = fitted.search(*at, &fitted.windows(horizon), Slope::Secant)?.at;
                for horizon in HORIZONS {
                    let windows = left.windows(horizon);
                    ratios.push(corners(left, *at, &windows)? / corners(left, AUTHORS[0], &windows)?);
                }
            }
            validation.push((horizon, mean(&ratios)));
            tell(0.15 * (k + 1) as f64)?;
        }
        let best = (0..HORIZONS.len()).min_by(|&a, &b| validation[a].1.total_cmp(&validation[b].1)).unwrap_or(0);
        let horizon = HORIZONS[best];
        let mut place = all.search(AUTHORS[0], &all.windows(HORIZONS[0]), Slope::Secant)?;
        for &horizon in &HORIZONS[1..=best] {
            place = all.search(place.at, &all.windows(horizon), Slope::Secant)?;
        }
        tell(0.8)?;
        let simulated = Claims::of(&made(&all, place.at)?);
        let mut judged = Vec::new();
        let names = ["authors, contact-nets", "authors, dair_pll", "found"];
        for (name, constants) in names.into_iter().zip([AUTHORS[0], AUTHORS[1], place.at]) {
            let errors = HORIZONS.iter().map(|&h| pose_errors(&other, constants, h)).collect::<Result<_>>()?;
            judged.push(Judged { name: name.into(), constants, errors });
        }
        tell(0.9)?;
        let useless = HORIZONS[..3].iter().map(|&h| useless(&all, h)).collect::<Result<_>>()?;
        tell(1.0)?;
        Ok(Self {
            train: numbers(train),
            test: numbers(test),
            claims,
            simulated,
            validation,
            horizon,
            found: place.at,
            intervals: intervals(&place.normals, place.at)?,
            useless,
            judged,
        })
    }
}

/// The tosses of a sample as they are simulated.
fn made(sample: &Sample<'_>, at: Constants) -> Result<Vec<Toss>> {
    let motion = sample.motion(at, &sample.windows(None))?;
    let of = |(b, toss): (usize, &Toss)| {
        let frames = || motion[..toss.len()].iter().map(|frame| frame[b]);
        let position = frames().map(|there| there.x.to_array()).collect();
        let rotation = frames().map(|there| [there.q.w, there.q.x, there.q.y, there.q.z]).collect();
        Toss { position, rotation, ..toss.clone() }
    };
    Ok(sample.tosses.iter().enumerate().map(of).collect())
}

fn numbers(tosses: &[Toss]) -> [usize; 3] {
    [tosses.first().map_or(0, |t| t.id), tosses.last().map_or(0, |t| t.id), tosses.len()]
}

/// The mean distance of corners \[m\]: the root of the mean square over the eight, over frames and tosses the mean.
fn corners(sample: &Sample<'_>, at: Constants, windows: &Windows) -> Result<f64> {
    Ok(mean(&distances(sample.tosses, windows, &sample.motion(at, windows)?)))
}

fn pose_errors(sample: &Sample<'_>, at: Constants, horizon: Option<usize>) -> Result<PoseErrors> {
    let windows = sample.windows(horizon);
    let each = errors(sample.tosses, &windows, &sample.motion(at, &windows)?);
    let of = |k: usize| {
        let spread = Spread::of(each.iter().map(|one| one[k]).collect());
        [spread.mean[0], spread.median]
    };
    Ok(PoseErrors { horizon, position: of(0), rotation: of(1) })
}

fn intervals(normals: &[NormalEquations], at: Constants) -> Result<Option<[[f64; 2]; 3]>> {
    let covariance = whole(normals)?.jackknife(normals)?;
    let x = at.to_array();
    Ok(covariance.map(|c| {
        std::array::from_fn(|k| {
            let wide = SIGMAS * c[4 * k].max(0.0).sqrt();
            [(x[k] - wide).max(0.0), x[k] + wide]
        })
    }))
}

fn useless(sample: &Sample<'_>, horizon: Option<usize>) -> Result<Useless> {
    let (at, windows) = (AUTHORS[0], sample.windows(horizon));
    let normals = sample.place(at, &windows, Slope::Tangent)?.normals;
    let mut part = [0.0; 3];
    for (k, part) in part.iter_mut().enumerate() {
        let beside = |by: f64| -> Result<Vec<f64>> {
            let mut x = at.to_array();
            x[k] += by * SECANT[k];
            Ok(losses(sample.tosses, &windows, &sample.motion(Constants::from_array(x), &windows)?))
        };
        let (after, before) = (beside(1.0)?, beside(-1.0)?);
        let differs = |(normal, (a, b)): (&NormalEquations, (&f64, &f64))| {
            // Of the loss: twice the gradient of the half that normal equations have.
            let (tangent, secant) = (2.0 * normal.gradient[k], (a - b) / (2.0 * SECANT[k]));
            !(tangent * secant > 0.0 && (0.5..=2.0).contains(&(tangent / secant)))
        };
        let count = normals.iter().zip(after.iter().zip(&before)).filter(|&pair| differs(pair)).count();
        *part = count as f64 / normals.len().max(1) as f64;
    }
    Ok(Useless { horizon, part })
}

/// Those of `all` whose number is in a range.
///
/// # Errors
/// When there are fewer than two, or they are not measured at the same distances in time.
pub(super) fn within(all: &[Toss], range: &std::ops::Range<usize>, option: &str) -> Result<Vec<Toss>> {
    let found: Vec<Toss> = all.iter().filter(|toss| range.contains(&toss.id)).cloned().collect();
    let (first, last) = (all.first().map_or(0, |t| t.id), all.last().map_or(0, |t| t.id));
    if found.len() < 2 {
        let (start, end, count) = (range.start, range.end, found.len());
        let problem =
            format!("{start}..{end} holds {count} tosses, expected at least 2 of those from {first} to {last}");
        return Err(Error::argument(option, problem));
    }
    let dt = found[0].dt;
    if let Some(toss) = found.iter().find(|toss| (toss.dt / dt - 1.0).abs() > 1e-3) {
        let problem =
            format!("toss {} has frames {} s apart, expected {dt} s, as toss {}", toss.id, toss.dt, found[0].id);
        return Err(Error::argument(option, problem));
    }
    Ok(found)
}
