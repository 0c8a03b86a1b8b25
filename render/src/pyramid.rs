//! Losses over a pyramid of blurred, halved images: a gradient also where image and target do not overlap.
//!
//! Each level is the one before it under the binomial filter (1, 3, 3, 1)/8 in both directions, every second pixel
//! kept; outside the image is zero. At level `l` an object is spread over some `2^l` pixels, so two objects up to about
//! `2^(l+1)` pixels apart overlap there and the loss decreases as they approach.

use diffkern::prelude::*;

use crate::error::{Result, same_length};
use crate::loss;

/// One image of the pyramid.
#[derive(Clone, Debug)]
pub struct Level<F: Float> {
    /// Row by row from the top left.
    pub pixels: Array<F>,
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// Blurs and keeps every second pixel; domain (half width, half height).
#[diff_kernel]
pub fn reduce<F: Float>(image: &Array<F>, half: &mut Array<F>, width: u32, height: u32) {
    let left = 2 * ABSOLUTE_POS_X;
    let top = 2 * ABSOLUTE_POS_Y;
    let mut sum = F::new(0.0);
    for j in 0..4 {
        for i in 0..4 {
            // One more than the pixel's column and row, which start at -1.
            let column = left + i;
            let row = top + j;
            if column > 0 && column <= (width as usize) && row > 0 && row <= (height as usize) {
                let wi = select(i == 0 || i == 3, F::new(0.125), F::new(0.375));
                let wj = select(j == 0 || j == 3, F::new(0.125), F::new(0.375));
                sum += wi * wj * image[(row - 1) * (width as usize) + column - 1];
            }
        }
    }
    half[ABSOLUTE_POS] = sum;
}

/// The image and its reductions down to one pixel in the shorter direction.
///
/// # Errors
/// When the image has another length than `width * height`.
pub fn levels<F: Float>(image: &Array<F>, width: usize, height: usize) -> Result<Vec<Level<F>>> {
    same_length("image", image.len(), width * height)?;
    let mut levels = vec![Level { pixels: image.clone(), width, height }];
    while let Some(fine) = levels.last().filter(|level| level.width.min(level.height) > 1) {
        let (width, height) = (fine.width.div_ceil(2), fine.height.div_ceil(2));
        let pixels = image.device().zeros::<F>(width * height)?;
        reduce((width, height), &fine.pixels, &pixels, fine.width as u32, fine.height as u32)?;
        levels.push(Level { pixels, width, height });
    }
    Ok(levels)
}

/// Sum over the levels `l` of `2^l` times the mean squared difference.
///
/// # Errors
/// When an image has another length than `width * height`.
pub fn l2<F: Float>(image: &Array<F>, target: &Array<F>, width: usize, height: usize) -> Result<Array<F>> {
    let total = image.device().zeros::<F>(1)?;
    l2_into(image, target, (width, height), 1.0, &total)?;
    Ok(total)
}

/// Adds `weight` times [`l2`] to `total`, an array of one element.
///
/// # Errors
/// When an image has another length than `width * height`.
pub fn l2_into<F: Float>(
    image: &Array<F>,
    target: &Array<F>,
    (width, height): (usize, usize),
    weight: f64,
    total: &Array<F>,
) -> Result<()> {
    let mut scale = weight;
    for (a, b) in levels(image, width, height)?.iter().zip(&levels(target, width, height)?) {
        loss::l2_into(&a.pixels, &b.pixels, scale, total)?;
        scale *= 2.0;
    }
    Ok(())
}
