//! How far what a material shows is from what was observed, at several levels: widths of blur and numbers of frames.

use super::observed::{Observed, observed};
use crate::program::{Coverage, Linear, Seen, Shot, shots};
use crate::scene::Scene;
use crate::video::Video;
use diffkern::Result;
use diffkern::memory::collect;
use diffkern_optim::dense::NormalEquations;
use diffkern_render::blur::Blur;

/// How a level looks at the videos.
#[derive(Debug, Clone, Copy)]
pub(super) struct LevelOptions {
    /// Standard deviation of the blur \[pixels\].
    pub(super) blur: f64,
    /// Part of the frames, from the first.
    pub(super) frames: f64,
}

impl LevelOptions {
    /// How many of `frames` frames it looks at.
    pub(super) fn seen(&self, frames: usize) -> usize {
        ((self.frames * frames as f64).ceil() as usize).min(frames)
    }
}

/// How far two sets of silhouettes of a frame are apart.
#[derive(Debug, Clone, Default)]
pub(super) struct Apart {
    /// Sum of squared differences.
    pub(super) square: f64,
    /// The same of a shift of all outlines by a pixel.
    pub(super) pixel: f64,
    /// Of what is seen in each \[pixels\].
    pub(super) areas: Vec<f64>,
}

/// What was observed in the first frames, as each level looks at it.
pub(super) struct Misfit {
    levels: Vec<Level>,
}

/// What a level makes of each picture, in the order of [`shots`].
pub(super) struct Level {
    /// Frames that it looks at.
    frames: usize,
    /// None of a picture that it does not look at.
    pictures: Vec<Option<Target>>,
}

/// A picture as a level looks at it.
pub(super) struct Target {
    blur: Blur,
    /// How much each pixel counts, times its difference; all alike where there are none.
    factors: Option<Vec<f64>>,
    /// Whether two numbers after each other make one together.
    pairs: bool,
    /// What the picture should be once it is weighted and blurred.
    seen: Vec<f64>,
    shot: Shot,
}

impl Target {
    /// Weights of the blur along an axis.
    pub(super) fn weights(&self) -> &[f64] {
        self.blur.weights()
    }

    /// Columns.
    pub(super) fn width(&self) -> usize {
        self.blur.width()
    }

    /// How much each pixel counts.
    pub(super) fn factors(&self) -> Option<&[f64]> {
        self.factors.as_deref()
    }

    /// Whether two numbers after each other make one together, once they are weighted.
    pub(super) fn pairs(&self) -> bool {
        self.pairs
    }

    /// What the picture should be once it is weighted and blurred.
    pub(super) fn seen(&self) -> &[f64] {
        &self.seen
    }

    /// A picture, or its derivative, as the level looks at it.
    pub(super) fn of(&self, image: &[f64]) -> Result<Vec<f64>> {
        let weighted = self.factors.as_ref().map(|factors| collect(image.iter().zip(factors).map(|(a, b)| a * b)));
        let blurred = match (weighted.transpose()?, self.pairs) {
            (Some(weighted), true) => self.blur.apply(&collect(weighted.chunks(2).map(|pair| pair.iter().sum()))?),
            (Some(weighted), false) => self.blur.apply(&weighted),
            (None, _) => self.blur.apply(image),
        };
        Ok(blurred?)
    }

    pub(super) fn residual(&self, image: &[f64]) -> Result<Vec<f64>> {
        collect(self.of(image)?.iter().zip(&self.seen).map(|(a, b)| a - b))
    }

    /// What a shift of the picture by a pixel would cost, the mean over both axes.
    pub(super) fn shifted(&self, image: &[f64]) -> Result<f64> {
        Ok(self.shift(&self.of(image)?))
    }

    fn shift(&self, image: &[f64]) -> f64 {
        let by = |step: usize| image.iter().zip(&image[step..]).map(|(a, b)| (b - a).powi(2)).sum::<f64>();
        0.5 * (by(1) + by(self.width()))
    }

    /// Where in the video the picture is, and of a silhouette what a shift of what was observed by a pixel would cost and how much it covers.
    pub(super) fn outline(&self) -> (usize, Option<[f64; 2]>) {
        let is_silhouette = matches!(self.shot.seen, Seen::Silhouette(_));
        (self.shot.frame, is_silhouette.then(|| [self.shift(&self.seen), self.seen.iter().sum()]))
    }

    pub(super) fn square(&self, image: &[f64]) -> Result<f64> {
        Ok(self.residual(image)?.iter().map(|r| r * r).sum())
    }
}

impl Level {
    /// Frames that it looks at.
    pub(super) fn frames(&self) -> usize {
        self.frames
    }

    /// The pictures that it looks at, with their places.
    pub(super) fn targets(&self) -> impl Iterator<Item = (usize, &Target)> {
        self.pictures.iter().enumerate().filter_map(|(place, target)| Some((place, target.as_ref()?)))
    }
}

impl Misfit {
    /// Against the first frames of all that counts, each with its weight.
    ///
    /// # Errors
    /// When memory is short, as of all that follows.
    pub(super) fn new(scene: &Scene, videos: &[Video], weights: &[f64], levels: &[LevelOptions]) -> Result<Self> {
        let frames = weights.len();
        let level = |options: &LevelOptions| -> Result<Level> {
            let seen = options.seen(frames);
            let target = |shot: Shot| -> Result<Option<Target>> {
                if shot.frame >= seen {
                    return Ok(None);
                }
                let blur = match shot.seen {
                    Seen::Silhouette(_) | Seen::Colour(..) => options.blur,
                    Seen::Depth(_) | Seen::Track(_) => 0.0,
                };
                let Observed { values, factors, pairs } =
                    observed(scene, videos, shot)?.weighted(weights[shot.frame])?;
                let blur = Blur::new(blur, shot.size(scene).1);
                let target = Target { blur, factors, pairs, seen: Vec::new(), shot };
                let seen = target.of(&values)?;
                Ok(Some(Target { seen, ..target }))
            };
            Ok(Level { frames: seen, pictures: shots(scene, frames).into_iter().map(target).collect::<Result<_>>()? })
        };
        Ok(Self { levels: levels.iter().map(level).collect::<Result<_>>()? })
    }

    /// Against pictures of a program that shows `lacking` where a better one shows `shown`: what it lacks there is taken to be what it lacks elsewhere.
    pub(super) fn lacking(mut self, shown: &Coverage, lacking: &Coverage) -> Result<Self> {
        for level in &mut self.levels {
            for (place, target) in level.pictures.iter_mut().enumerate() {
                let Some(target) = target else { continue };
                let (shown, lacking) = (target.of(&shown[place])?, target.of(&lacking[place])?);
                target.seen.iter_mut().zip(shown.iter().zip(&lacking)).for_each(|(seen, (a, b))| *seen -= a - b);
            }
        }
        Ok(self)
    }

    /// Levels.
    pub(super) fn len(&self) -> usize {
        self.levels.len()
    }

    /// How far two sets of pictures of `frames` frames are apart, by frames, as the first level looks at their silhouettes.
    pub(super) fn apart(&self, frames: usize, these: &Coverage, those: &Coverage) -> Result<Vec<Apart>> {
        self.between(frames, these, |place, target| target.of(&those[place]))
    }

    /// The same of pictures and of what was observed.
    pub(super) fn off(&self, frames: usize, these: &Coverage) -> Result<Vec<Apart>> {
        self.between(frames, these, |_, target| collect(target.seen.iter().copied()))
    }

    fn between(
        &self,
        frames: usize,
        these: &Coverage,
        other: impl Fn(usize, &Target) -> Result<Vec<f64>>,
    ) -> Result<Vec<Apart>> {
        let mut sums = vec![Apart::default(); frames];
        for (place, target) in self.levels[0].targets() {
            if let Shot { seen: Seen::Silhouette(_), frame } = target.shot {
                let (this, that) = (target.of(&these[place])?, other(place, target)?);
                let sum = &mut sums[frame];
                sum.square += this.iter().zip(&that).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
                sum.pixel += target.shift(&this);
                sum.areas.push(these[place].iter().sum());
            }
        }
        Ok(sums)
    }

    /// Sum of squared differences at `level`.
    pub(super) fn cost(&self, level: usize, images: &Coverage) -> Result<f64> {
        self.levels[level].targets().map(|(place, target)| target.square(&images[place])).sum()
    }

    /// What a level looks at.
    pub(super) fn level(&self, level: usize) -> &Level {
        &self.levels[level]
    }

    /// The costs at every level, without derivatives.
    pub(super) fn costs(&self, images: &Coverage) -> Result<Vec<NormalEquations>> {
        let one = |level: usize| -> Result<NormalEquations> {
            let targets = || self.levels[level].targets();
            Ok(NormalEquations {
                cost: self.cost(level, images)?,
                residuals: targets().map(|(_, target)| target.seen.len()).sum(),
                blocks: targets().count(),
                ..NormalEquations::new(0)
            })
        };
        (0..self.levels.len()).map(one).collect()
    }

    /// Normal equations at every level.
    pub(super) fn normals(&self, linear: &Linear) -> Result<Vec<NormalEquations>> {
        self.levels.iter().map(|level| normal(level, linear)).collect()
    }

    /// Normal equations of the last level, of parts of what is seen in `frames` frames: how many parts there are, and to which a shot belongs.
    pub(super) fn by(
        &self,
        scene: &Scene,
        frames: usize,
        (count, part): (usize, &dyn Fn(Shot) -> usize),
        linear: &Linear,
    ) -> Result<Vec<NormalEquations>> {
        let shots = shots(scene, frames);
        let mut all = vec![NormalEquations::new(linear.derivatives.len()); count];
        let last = self.levels.last().into_iter().flat_map(Level::targets);
        for (place, target) in last {
            add(&mut all[part(shots[place])], target, place, linear)?;
        }
        Ok(all)
    }
}

fn normal(level: &Level, linear: &Linear) -> Result<NormalEquations> {
    let mut normal = NormalEquations::new(linear.derivatives.len());
    for (place, target) in level.targets() {
        add(&mut normal, target, place, linear)?;
    }
    Ok(normal)
}

fn add(normal: &mut NormalEquations, target: &Target, place: usize, linear: &Linear) -> Result<()> {
    let residual = target.residual(&linear.coverage[place])?;
    let derivatives = linear.derivatives.iter().map(|d| target.of(&d[place])).collect::<Result<Vec<_>>>()?;
    normal.add(&residual, &derivatives)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn difference(these: &[f64], those: &[f64]) -> Vec<f64> {
        these.iter().zip(those).map(|(a, b)| a - b).collect()
    }

    /// Silhouettes of a sample beside the same a pixel to the right in one frame and a pixel lower in another; colours, which differ too, do not count.
    #[test]
    #[allow(clippy::unwrap_used)]
    fn silhouettes_are_apart_by_what_they_are_shifted() {
        const FRAMES: usize = 5;
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/jelly_drop_a");
        let mut scene = Scene::read(&folder).unwrap();
        scene.films[0].weights = [1.0, 0.5, 0.0];
        let videos = Video::read(&folder, &scene).unwrap();
        let level = LevelOptions { blur: 2.0, frames: 1.0 };
        let misfit = Misfit::new(&scene, &videos, &[1.0; FRAMES], &[level]).unwrap();
        let width = videos[0].width;
        let shift = |image: &[f64], by: usize| {
            (0..image.len()).map(|k| if k < by { 0.0 } else { image[k - by] }).collect::<Vec<f64>>()
        };
        let shots = shots(&scene, FRAMES);
        let these: Coverage = shots.iter().map(|shot| observed(&scene, &videos, *shot).unwrap().values).collect();
        let other = |(shot, image): (&Shot, &Vec<f64>)| match (shot.seen, shot.frame) {
            (Seen::Silhouette(_), 2) => shift(image, 1),
            (Seen::Silhouette(_), 3) => shift(image, width),
            (Seen::Silhouette(_), _) => image.clone(),
            _ => shift(image, 5),
        };
        let those: Coverage = shots.iter().zip(&these).map(other).collect();
        assert!(shots.len() > FRAMES);
        let apart = misfit.apart(FRAMES, &these, &those).unwrap();
        for frame in [0, 1, 4] {
            assert!(apart[frame].square == 0.0 && apart[frame].pixel > 0.0, "{apart:?}");
        }
        // What a shift costs is the mean over both axes.
        let pixels: f64 = apart[2..4].iter().map(|apart| apart.square / apart.pixel).sum();
        assert!((pixels - 2.0).abs() < 0.05 && apart[2].square != apart[3].square, "{apart:?}");
        let area: f64 = these[0].iter().sum();
        assert_eq!(apart[0].areas, [area]);
        // Pictures that lack what others show cost as much, there, as those, and nothing where these show what was observed.
        let level = LevelOptions { blur: 2.0, frames: 1.0 };
        let other = Misfit::new(&scene, &videos, &[1.0; FRAMES], &[level]).unwrap();
        let own = other.cost(0, &those).unwrap();
        let blank: Coverage = these.iter().map(|image| vec![0.0; image.len()]).collect();
        let lacking = other.lacking(&those, &blank).unwrap();
        assert!(own > 0.0 && (lacking.cost(0, &blank).unwrap() / own - 1.0).abs() < 1e-9);
        let both: Coverage = those.iter().zip(&these).map(|(those, these)| difference(these, those)).collect();
        assert!(lacking.cost(0, &both).unwrap() < 1e-18 * own);
        // What was observed is the first of both.
        let (off, back) = (misfit.off(FRAMES, &those).unwrap(), misfit.apart(FRAMES, &those, &these).unwrap());
        assert!(off.iter().zip(&back).all(|(off, back)| off.square == back.square), "{off:?} {back:?}");
    }
}
