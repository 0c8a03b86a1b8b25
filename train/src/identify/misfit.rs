//! How far the pictures of a material are from the video's, at several widths of blur.

use super::blur::Blur;
use super::forward::{Coverage, Linear};
use crate::optim::Normal;
use crate::video::Video;

/// The silhouettes of the video's first frames, blurred by each width.
pub(super) struct Misfit {
    levels: Vec<(Blur, Coverage)>,
}

impl Misfit {
    /// Against the first `frames` frames, blurred by each of `sigmas` \[pixels\], wide to narrow.
    pub(super) fn new(video: &Video, frames: usize, sigmas: &[f64]) -> Self {
        let real = |k: usize| video.frames[k].silhouette.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>();
        let level = |&sigma: &f64| {
            let blur = Blur::new(sigma, video.width);
            let targets = (0..frames).map(|k| blur.apply(&real(k))).collect();
            (blur, targets)
        };
        Self { levels: sigmas.iter().map(level).collect() }
    }

    /// Sum of squared differences at `level`.
    pub(super) fn cost(&self, level: usize, images: &Coverage) -> f64 {
        let (blur, targets) = &self.levels[level];
        let square = |(image, target): (&Vec<f64>, &Vec<f64>)| -> f64 {
            blur.apply(image).iter().zip(target).map(|(a, b)| (a - b) * (a - b)).sum()
        };
        images.iter().zip(targets).map(square).sum()
    }

    /// Mean squared difference at `level`.
    pub(super) fn mean(&self, level: usize, images: &Coverage) -> f64 {
        let pixels: usize = images.iter().map(Vec::len).sum();
        self.cost(level, images) / pixels.max(1) as f64
    }

    /// Normal equations at every level.
    pub(super) fn normals(&self, linear: &Linear) -> Vec<Normal> {
        self.levels.iter().map(|level| normal(level, linear)).collect()
    }
}

fn normal((blur, targets): &(Blur, Coverage), linear: &Linear) -> Normal {
    let mut normal = Normal::new(linear.derivatives.len());
    for (k, (image, target)) in linear.coverage.iter().zip(targets).enumerate() {
        let residual: Vec<f64> = blur.apply(image).iter().zip(target).map(|(a, b)| a - b).collect();
        let derivatives: Vec<Vec<f64>> = linear.derivatives.iter().map(|d| blur.apply(&d[k])).collect();
        normal.add(&residual, &derivatives);
    }
    normal
}
