//! Gaussian blur of images on the host.

use diffkern::memory::{collect, filled, with_room};

use crate::error::{Result, same_length};

/// A linear filter of images of so many columns: blur by a Gaussian, so that edges that are apart by more than a pixel still see each other.
///
/// ```
/// use diffkern_render::blur::Blur;
///
/// let step = [0.0, 0.0, 1.0, 1.0];
/// let blurred = Blur::new(1.0, 4).apply(&step)?;
/// assert!(blurred[1] > 0.25 && (blurred[1] + blurred[2] - 1.0).abs() < 1e-12);
/// # Ok::<(), diffkern_render::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Blur {
    kernel: Vec<f64>,
    width: usize,
}

impl Blur {
    /// A Gaussian of standard deviation `sigma` \[pixels\], cut at three of it; none for 0.
    pub fn new(sigma: f64, width: usize) -> Self {
        let reach = (3.0 * sigma).ceil().max(0.0) as i32;
        let bell = |k: i32| if sigma > 0.0 { (-0.5 * (f64::from(k) / sigma).powi(2)).exp() } else { 1.0 };
        let raw: Vec<f64> = (-reach..=reach).map(bell).collect();
        let sum: f64 = raw.iter().sum();
        Self { kernel: raw.iter().map(|k| k / sum).collect(), width }
    }

    /// Weights from one end of the reach to the other.
    pub fn weights(&self) -> &[f64] {
        &self.kernel
    }

    /// Columns of the images.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The blurred image; what lies outside is taken for a continuation of the border.
    ///
    /// # Errors
    /// When memory is short, or the last row is not whole.
    pub fn apply(&self, image: &[f64]) -> Result<Vec<f64>> {
        same_length("image", image.len(), image.len() / self.width.max(1) * self.width)?;
        if self.kernel.len() == 1 || image.is_empty() {
            return Ok(collect(image.iter().copied())?);
        }
        self.down(&self.across(image)?)
    }

    /// Along rows.
    fn across(&self, image: &[f64]) -> Result<Vec<f64>> {
        let reach = self.kernel.len() / 2;
        let mut out = filled(image.len(), 0.0)?;
        let mut wider = with_room(self.width + 2 * reach)?;
        for (row, out) in image.chunks(self.width).zip(out.chunks_mut(self.width)) {
            wider.clear();
            wider.extend(std::iter::repeat_n(row[0], reach));
            wider.extend_from_slice(row);
            wider.extend(std::iter::repeat_n(row[row.len() - 1], reach));
            for (shift, &weight) in self.kernel.iter().enumerate() {
                add(out, weight, &wider[shift..]);
            }
        }
        Ok(out)
    }

    /// Along columns.
    fn down(&self, image: &[f64]) -> Result<Vec<f64>> {
        let reach = self.kernel.len() / 2;
        let mut out = filled(image.len(), 0.0)?;
        let rows: Vec<&[f64]> = image.chunks(self.width).collect();
        for (k, out) in out.chunks_mut(self.width).enumerate() {
            for (shift, &weight) in self.kernel.iter().enumerate() {
                add(out, weight, rows[(k + shift).saturating_sub(reach).min(rows.len() - 1)]);
            }
        }
        Ok(out)
    }
}

/// Adds `weight` times as many of the numbers.
fn add(to: &mut [f64], weight: f64, from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += weight * from);
}
