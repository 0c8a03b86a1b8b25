//! Losses between an image and a target, as arrays of one element.
//!
//! All are normalised by the number of pixels or by coverage, so a loss at another resolution has the same scale and,
//! coverage being exact, the same optimum.
//!
//! ```
//! use diffkern::prelude::*;
//! use diffkern_render::loss;
//!
//! let device = Device::cpu();
//! let (image, target) = (device.array(&[1.0, 0.5, 0.0, 0.0])?.requires_grad(), device.array(&[1.0, 1.0, 0.0, 0.0])?);
//! let (tape, loss) = Tape::record_value(|| loss::l2(&image, &target))?;
//! tape.backward(&loss)?;
//! assert_eq!((loss.to_vec()?, image.grad()?.to_vec()?), (vec![0.0625], vec![0.0, -0.25, 0.0, 0.0]));
//! # Ok::<(), Error>(())
//! ```

use diffkern::prelude::*;

use crate::error::{Result, same_length};

/// Pixels that one thread adds up before it touches the total.
const RUN: u32 = 256;

/// Adds `scale * (image - target)^2` over a run of pixels.
#[diff_kernel]
pub fn add_squares<F: Float>(image: &Array<F>, target: &Array<F>, total: &mut Array<F>, scale: F, run: u32) {
    let lo = ABSOLUTE_POS * (run as usize);
    let hi = (lo + run as usize).min(image.len());
    let mut sum = F::new(0.0);
    for i in lo..hi {
        let d = image[i] - target[i];
        sum += d * d;
    }
    total[0] += scale * sum;
}

/// Adds `scale * |image - target|^2` over a run of colours.
#[diff_kernel]
pub fn add_color_squares<F: Float>(
    image: &Array<Vec3<F>>,
    target: &Array<Vec3<F>>,
    total: &mut Array<F>,
    scale: F,
    run: u32,
) {
    let lo = ABSOLUTE_POS * (run as usize);
    let hi = (lo + run as usize).min(image.len());
    let mut sum = F::new(0.0);
    for i in lo..hi {
        let d = image[i] - target[i];
        sum += d.dot(d);
    }
    total[0] += scale * sum;
}

/// Adds `image*target`, `image^2` and `target^2` over a run of pixels.
#[diff_kernel]
pub fn add_overlap<F: Float>(image: &Array<F>, target: &Array<F>, sums: &mut Array<F>, run: u32) {
    let lo = ABSOLUTE_POS * (run as usize);
    let hi = (lo + run as usize).min(image.len());
    let mut both = F::new(0.0);
    let mut own = F::new(0.0);
    let mut other = F::new(0.0);
    for i in lo..hi {
        both += image[i] * target[i];
        own += image[i] * image[i];
        other += target[i] * target[i];
    }
    sums[0] += both;
    sums[1] += own;
    sums[2] += other;
}

/// Adds `scale * (1 - both / (own + other - both))`; adds nothing when both images are empty.
#[diff_kernel]
pub fn add_tanimoto<F: Float>(sums: &Array<F>, total: &mut Array<F>, scale: F) {
    let either = sums[1] + sums[2] - sums[0];
    if either > 0.0 {
        total[ABSOLUTE_POS] += scale * (1.0 - sums[0] / either);
    }
}

/// `weight * (image - target)` per pixel.
#[diff_kernel]
pub fn difference<F: Float>(image: &Array<F>, target: &Array<F>, residual: &mut Array<F>, weight: F) {
    let i = ABSOLUTE_POS;
    residual[i] = (image[i] - target[i]) * weight;
}

/// `weight * (image - target)` per colour.
#[diff_kernel]
pub fn color_difference<F: Float>(
    image: &Array<Vec3<F>>,
    target: &Array<Vec3<F>>,
    residual: &mut Array<Vec3<F>>,
    weight: F,
) {
    let i = ABSOLUTE_POS;
    residual[i] = (image[i] - target[i]) * weight;
}

/// Mean squared difference of two images.
///
/// # Errors
/// Images of different lengths.
pub fn l2<F: Float>(image: &Array<F>, target: &Array<F>) -> Result<Array<F>> {
    let total = image.device().zeros::<F>(1)?;
    l2_into(image, target, 1.0, &total)?;
    Ok(total)
}

/// Adds `weight` times the mean squared difference to `total`, an array of one element.
///
/// # Errors
/// Images of different lengths.
pub fn l2_into<F: Float>(image: &Array<F>, target: &Array<F>, weight: f64, total: &Array<F>) -> Result<()> {
    let scale = prepare(image.len(), target.len(), total, weight)?;
    Ok(add_squares(runs(image.len()), image, target, total, F::from_f64(scale), RUN)?)
}

/// Mean over the pixels of the squared distance of two colours.
///
/// # Errors
/// Images of different lengths.
pub fn l2_color<F: Float>(image: &Array<Vec3<F>>, target: &Array<Vec3<F>>) -> Result<Array<F>> {
    let total = image.device().zeros::<F>(1)?;
    l2_color_into(image, target, 1.0, &total)?;
    Ok(total)
}

/// Adds `weight` times [`l2_color`] to `total`, an array of one element.
///
/// # Errors
/// Images of different lengths.
pub fn l2_color_into<F: Float>(
    image: &Array<Vec3<F>>,
    target: &Array<Vec3<F>>,
    weight: f64,
    total: &Array<F>,
) -> Result<()> {
    let scale = prepare(image.len(), target.len(), total, weight)?;
    Ok(add_color_squares(runs(image.len()), image, target, total, F::from_f64(scale), RUN)?)
}

/// The Jaccard distance of two coverage images, one minus intersection over union, in Tanimoto's form
/// `1 - sum(a t) / sum(a^2 + t^2 - a t)`.
///
/// For images of zeros and ones that is the usual value. Unlike `sum(a t) / sum(a + t - a t)` it is zero exactly where
/// the images are equal, fractional pixels included, so pixels on the outline do not shift the optimum; and it is
/// smooth. Its gradient vanishes when image and target are disjoint: see [`crate::pyramid`].
///
/// # Errors
/// Images of different lengths.
pub fn jaccard<F: Float>(coverage: &Array<F>, target: &Array<F>) -> Result<Array<F>> {
    let total = coverage.device().zeros::<F>(1)?;
    jaccard_into(coverage, target, 1.0, &total)?;
    Ok(total)
}

/// Adds `weight` times [`jaccard`] to `total`, an array of one element.
///
/// # Errors
/// Images of different lengths.
pub fn jaccard_into<F: Float>(coverage: &Array<F>, target: &Array<F>, weight: f64, total: &Array<F>) -> Result<()> {
    prepare(coverage.len(), target.len(), total, weight)?;
    let sums = coverage.device().zeros::<F>(3)?;
    add_overlap(runs(coverage.len()), coverage, target, &sums, RUN)?;
    Ok(add_tanimoto(1, &sums, total, F::from_f64(weight))?)
}

/// `weight * (image - target)` per pixel, for Gauss-Newton.
///
/// # Errors
/// Images of different lengths.
pub fn residual<F: Float>(image: &Array<F>, target: &Array<F>, weight: f64) -> Result<Array<F>> {
    same_length("image", image.len(), target.len())?;
    let residual = image.device().zeros::<F>(image.len())?;
    difference(image.len(), image, target, &residual, F::from_f64(weight))?;
    Ok(residual)
}

/// `weight * (image - target)` per colour, for Gauss-Newton.
///
/// # Errors
/// Images of different lengths.
pub fn residual_color<F: Float>(
    image: &Array<Vec3<F>>,
    target: &Array<Vec3<F>>,
    weight: f64,
) -> Result<Array<Vec3<F>>> {
    same_length("image", image.len(), target.len())?;
    let residual = image.device().zeros::<Vec3<F>>(image.len())?;
    color_difference(image.len(), image, target, &residual, F::from_f64(weight))?;
    Ok(residual)
}

fn runs(pixels: usize) -> usize {
    pixels.div_ceil(RUN as usize)
}

/// Checks the lengths; returns the weight of one pixel.
fn prepare<F: Float>(image: usize, target: usize, total: &Array<F>, weight: f64) -> Result<f64> {
    same_length("image", image, target)?;
    same_length("total of the loss", total.len(), 1)?;
    Ok(weight / image.max(1) as f64)
}
