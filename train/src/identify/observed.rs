//! What was observed: the numbers that a picture or a track should show, and how much each of them counts.

use crate::depth::WHITE;
use crate::job::Shown;
use crate::program::{Seen, Shot};
use crate::scene::{Followed, Scene};
use crate::video::{Frame, Video};
use diffkern::Result;
use diffkern::memory::{collect, filled};

/// A coordinate that is off by its standard deviation counts as much as a pixel that is off by this part of white.
const PIXEL: f64 = 0.05;

/// The numbers of a shot.
pub(super) struct Observed {
    pub(super) values: Vec<f64>,
    /// How much each counts, times its difference; all alike where there are none.
    pub(super) factors: Option<Vec<f64>>,
    /// Whether the differences of two numbers after each other make one together.
    pub(super) pairs: bool,
}

impl Observed {
    /// The same, squared differences counting `weight` as much.
    ///
    /// # Errors
    /// When memory is short.
    pub(super) fn weighted(self, weight: f64) -> Result<Self> {
        if weight == 1.0 {
            return Ok(self);
        }
        let mut factors = self.factors.map_or_else(|| filled(self.values.len(), 1.0), Ok)?;
        factors.iter_mut().for_each(|factor| *factor *= weight.sqrt());
        Ok(Self { factors: Some(factors), ..self })
    }

    /// Sum of squared differences from what is shown, as much as each counts.
    pub(super) fn square(&self, shown: &[f64]) -> f64 {
        let factor = |k: usize| self.factors.as_ref().map_or(1.0, |factors| factors[k]);
        let apart = |k: usize| factor(k) * (self.values[k] - shown[k]);
        let each = if self.pairs { 2 } else { 1 };
        (0..self.differences()).map(|k| (each * k..each * (k + 1)).map(apart).sum::<f64>().powi(2)).sum()
    }

    /// How many differences there are.
    pub(super) fn differences(&self) -> usize {
        if self.pairs { self.values.len() / 2 } else { self.values.len() }
    }
}

/// What was observed at a shot.
///
/// # Errors
/// When memory is short, as of all that follows.
pub(super) fn observed(scene: &Scene, videos: &[Video], shot: Shot) -> Result<Observed> {
    match shot.seen {
        Seen::Silhouette(film) => Ok(Observed {
            values: videos[film].frames[shot.frame].coverage()?,
            factors: videos[film].factors(shot.frame, scene.films[film].weights[0])?,
            pairs: false,
        }),
        Seen::Depth(film) => depths(scene, videos, film, shot.frame),
        Seen::Colour(film, channel) => {
            let values = videos[film].frames[shot.frame].channel(channel)?;
            let factors = videos[film].factors(shot.frame, scene.films[film].weights[1])?;
            let mut factors = factors.map_or_else(|| filled(values.len(), 1.0), Ok)?;
            // What is as bright as a picture shows may be brighter.
            factors.iter_mut().zip(&values).filter(|(_, value)| **value >= 1.0).for_each(|(factor, _)| *factor = 0.0);
            Ok(Observed { values, factors: Some(factors), pairs: false })
        }
        Seen::Track(track) => {
            let track = &scene.tracks[track];
            let count = 3 * track.points();
            let (mut values, mut factors) = (filled(count, 0.0)?, filled(count, 0.0)?);
            for row in track.at(shot.frame) {
                let own = 3 * row.point..3 * row.point + 3;
                values[own.clone()].copy_from_slice(&row.at);
                factors[own].fill(PIXEL / track.deviation);
            }
            Ok(Observed { values, factors: Some(factors), pairs: false })
        }
    }
}

/// The depths of a frame. Of a pixel that was measured at `z` \[m\], and is covered by `c` at depths whose mean reciprocal is `s / c`, the difference is
/// `z (c - z s)`: `c` times the difference of the depths, to first order. So it fades where less of the pixel is covered, and has a
/// derivative where silhouettes pass. Measured are pixels that are white in the silhouette: what is behind bodies is not compared.
fn depths(scene: &Scene, videos: &[Video], film: usize, frame: usize) -> Result<Observed> {
    let (own, video) = (&scene.films[film], &videos[film]);
    let Frame { silhouette, depth, .. } = &video.frames[frame];
    let deviation = own.depth.as_ref().map_or(f64::INFINITY, |depth| depth.deviation);
    let counts = video.factors(frame, own.weights[2])?;
    let mut factors = filled(2 * depth.len(), 0.0)?;
    for (k, (&z, white)) in depth.iter().zip(silhouette).enumerate() {
        if z > 0.0 && *white >= WHITE {
            let z = f64::from(z);
            let by = counts.as_ref().map_or(1.0, |counts| counts[k]) * PIXEL / deviation;
            (factors[2 * k], factors[2 * k + 1]) = (by * z, -by * z * z);
        }
    }
    Ok(Observed { values: filled(factors.len(), 0.0)?, factors: Some(factors), pairs: true })
}

/// What a shot shows where nothing happens: an empty picture, and points that stay where they begin.
pub(super) fn nothing(scene: &Scene, shot: Shot) -> Result<Vec<f64>> {
    let (count, _) = shot.size(scene);
    match shot.seen {
        Seen::Silhouette(_) | Seen::Depth(_) | Seen::Colour(..) => filled(count, 0.0),
        Seen::Track(track) => {
            let track = &scene.tracks[track];
            let first = track.measured.iter().flatten().next().map_or([0.0; 3], |row| row.at);
            match &track.of {
                Followed::Points(points) => collect(points.as_flattened().iter().copied()),
                Followed::Centre => collect(first.into_iter()),
            }
        }
    }
}

/// What a run shows at a shot.
pub(super) fn shown(run: &Shown, shot: Shot) -> Result<Vec<f64>> {
    match shot.seen {
        Seen::Silhouette(film) => run.films[film][shot.frame].coverage(),
        // Of pixels that are covered in part it is not known.
        Seen::Depth(film) => {
            let depths = run.films[film][shot.frame].depth.iter().map(|&z| f64::from(z));
            let mut pairs = filled(2 * depths.len(), 0.0)?;
            for (pair, z) in pairs.chunks_mut(2).zip(depths).filter(|(_, z)| *z > 0.0) {
                pair.copy_from_slice(&[1.0, 1.0 / z]);
            }
            Ok(pairs)
        }
        Seen::Colour(film, channel) => run.films[film][shot.frame].channel(channel),
        Seen::Track(track) => collect(run.tracks[track][shot.frame].iter().copied()),
    }
}

/// Mean intersection over union of the silhouettes that are compared, of what `image` gives for each shot; none where there are none.
pub(super) fn agreement(
    videos: &[Video],
    shots: &[Shot],
    mut image: impl FnMut(usize, Shot) -> Result<Vec<f64>>,
) -> Result<Option<f64>> {
    let (mut sum, mut count) = (0.0, 0);
    for (place, shot) in shots.iter().enumerate() {
        if let Seen::Silhouette(film) = shot.seen {
            sum += videos[film].iou(shot.frame, &image(place, *shot)?)?;
            count += 1;
        }
    }
    Ok((count > 0).then(|| sum / f64::from(count)))
}
