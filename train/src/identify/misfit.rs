//! How far the pictures of a material are from the video's, at several levels: widths of blur and numbers of frames.

use super::blur::Blur;
use super::forward::{Coverage, Linear};
use crate::video::Video;
use diffkern::Result;
use diffkern::memory::collect;
use diffkern_optim::dense::NormalEquations;

/// How a level looks at the video.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    /// Standard deviation of the blur \[pixels\].
    pub(super) blur: f64,
    /// Part of the frames, from the first.
    pub(super) frames: f64,
}

impl Look {
    /// How many of `frames` frames it looks at.
    pub(super) fn seen(&self, frames: usize) -> usize {
        ((self.frames * frames as f64).ceil() as usize).min(frames)
    }
}

/// The silhouettes of the video's first frames, as each level looks at them.
pub(super) struct Misfit {
    levels: Vec<Level>,
}

/// One of them: its blur, and the frames that it looks at, blurred.
pub(super) struct Level(Blur, Coverage);

impl Level {
    /// Weights of the blur along an axis.
    pub(super) fn weights(&self) -> &[f64] {
        self.0.weights()
    }

    /// Columns of the frames.
    pub(super) fn width(&self) -> usize {
        self.0.width()
    }

    /// What the pictures should be once blurred.
    pub(super) fn targets(&self) -> &Coverage {
        &self.1
    }
}

impl Misfit {
    /// Against the first `frames` frames.
    ///
    /// # Errors
    /// When memory is short, as of all that follows.
    pub(super) fn new(video: &Video, frames: usize, looks: &[Look]) -> Result<Self> {
        let level = |look: &Look| -> Result<Level> {
            let blur = Blur::new(look.blur, video.width);
            let targets = (0..look.seen(frames)).map(|k| blur.apply(&video.frames[k].coverage()?));
            let targets = targets.collect::<Result<_>>()?;
            Ok(Level(blur, targets))
        };
        Ok(Self { levels: looks.iter().map(level).collect::<Result<_>>()? })
    }

    /// Frames that `level` looks at.
    pub(super) fn frames(&self, level: usize) -> usize {
        self.levels[level].1.len()
    }

    /// Sum of squared differences at `level`.
    pub(super) fn cost(&self, level: usize, images: &Coverage) -> Result<f64> {
        let Level(blur, targets) = &self.levels[level];
        let square = |(image, target): (&Vec<f64>, &Vec<f64>)| -> Result<f64> {
            Ok(blur.apply(image)?.iter().zip(target).map(|(a, b)| (a - b) * (a - b)).sum())
        };
        images.iter().zip(targets).map(square).sum()
    }

    /// Mean squared difference at `level`.
    pub(super) fn mean(&self, level: usize, images: &Coverage) -> Result<f64> {
        let pixels: usize = images.iter().map(Vec::len).sum();
        Ok(self.cost(level, images)? / pixels.max(1) as f64)
    }

    /// What a level looks at.
    pub(super) fn level(&self, level: usize) -> &Level {
        &self.levels[level]
    }

    /// The costs at every level, without derivatives.
    pub(super) fn costs(&self, images: &Coverage) -> Result<Vec<NormalEquations>> {
        let one = |level: usize| -> Result<NormalEquations> {
            Ok(NormalEquations {
                cost: self.cost(level, images)?,
                residuals: images.iter().take(self.frames(level)).map(Vec::len).sum(),
                blocks: self.frames(level),
                ..NormalEquations::new(0)
            })
        };
        (0..self.levels.len()).map(one).collect()
    }

    /// Normal equations at every level.
    pub(super) fn normals(&self, linear: &Linear) -> Result<Vec<NormalEquations>> {
        self.levels.iter().map(|level| normal(level, linear)).collect()
    }
}

fn normal(Level(blur, targets): &Level, linear: &Linear) -> Result<NormalEquations> {
    let mut normal = NormalEquations::new(linear.derivatives.len());
    for (k, (image, target)) in linear.coverage.iter().zip(targets).enumerate() {
        let residual = collect(blur.apply(image)?.iter().zip(target).map(|(a, b)| a - b))?;
        let derivatives = linear.derivatives.iter().map(|d| blur.apply(&d[k])).collect::<Result<Vec<_>>>()?;
        normal.add(&residual, &derivatives)?;
    }
    Ok(normal)
}
