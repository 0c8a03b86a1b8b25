//! Gaussian blur of frames on the host, so that edges that are apart by more than a pixel still see each other.

use diffkern::Result;
use diffkern::memory::{collect, filled};

/// A linear filter of images of `width` columns: blur by `sigma` pixels, or none for 0.
#[derive(Debug, Clone)]
pub(super) struct Blur {
    kernel: Vec<f64>,
    width: usize,
}

impl Blur {
    /// A Gaussian of standard deviation `sigma` \[pixels\], cut at three of it.
    pub(super) fn new(sigma: f64, width: usize) -> Self {
        let reach = (3.0 * sigma).ceil().max(0.0) as i32;
        let bell = |k: i32| if sigma > 0.0 { (-0.5 * (f64::from(k) / sigma).powi(2)).exp() } else { 1.0 };
        let raw: Vec<f64> = (-reach..=reach).map(bell).collect();
        let sum: f64 = raw.iter().sum();
        Self { kernel: raw.iter().map(|k| k / sum).collect(), width }
    }

    /// Weights from one end of the reach to the other.
    pub(super) fn weights(&self) -> &[f64] {
        &self.kernel
    }

    /// Columns of the images.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The blurred image; what lies outside is taken for a continuation of the border.
    ///
    /// # Errors
    /// When memory is short.
    pub(super) fn apply(&self, image: &[f64]) -> Result<Vec<f64>> {
        if self.kernel.len() == 1 {
            return collect(image.iter().copied());
        }
        let height = image.len() / self.width.max(1);
        let across = self.pass(image, (self.width, 1), (height, self.width))?;
        self.pass(&across, (height, self.width), (self.width, 1))
    }

    /// Along one axis; both axes as (length, stride).
    fn pass(
        &self,
        image: &[f64],
        (length, stride): (usize, usize),
        (lines, apart): (usize, usize),
    ) -> Result<Vec<f64>> {
        let reach = self.kernel.len() / 2;
        let mut out = filled(image.len(), 0.0)?;
        for line in 0..lines {
            let at = |k: usize| line * apart + k * stride;
            for k in 0..length {
                let tap = |(j, weight): (usize, &f64)| {
                    let source = (k + j).saturating_sub(reach).min(length - 1);
                    weight * image[at(source)]
                };
                out[at(k)] = self.kernel.iter().enumerate().map(tap).sum();
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_sum_and_spreads_evenly() {
        let mut image = vec![0.0; 21 * 17];
        image[8 * 21 + 10] = 1.0;
        let blurred = Blur::new(2.0, 21).apply(&image).unwrap();
        assert!((blurred.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((blurred[8 * 21 + 7] - blurred[11 * 21 + 10]).abs() < 1e-15);
    }

    #[test]
    fn without_width_changes_nothing() {
        let image = vec![0.25, 0.5, 1.0, 0.0];
        assert_eq!(Blur::new(0.0, 2).apply(&image).unwrap(), image);
    }

    #[test]
    fn a_constant_stays_constant_up_to_the_border() {
        let blurred = Blur::new(1.5, 8).apply(&[0.7; 64]).unwrap();
        assert!(blurred.iter().all(|v| (v - 0.7).abs() < 1e-12));
    }
}
