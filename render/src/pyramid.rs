//! Losses over a pyramid of blurred, halved images: a gradient also where image and target do not overlap.
//!
//! Each level is the one before it under a binomial filter of eight taps in both directions, every second pixel
//! kept, with a border so that nothing of the image is lost. A loss looks at the levels of `image - target` through the
//! filter (1, 4, 6, 4, 1)/16. Filters this wide are needed: with four taps and no second filter the square of an
//! object's own blurred image changes by some 10 % with its place between coarse pixels, more than the target's pull.
//!
//! ```
//! use diffkern::prelude::*;
//! use diffkern_render::pyramid;
//!
//! // Apart by four pixels: without the coarser levels no gradient would say in which direction.
//! let device = Device::cpu();
//! let (mut a, mut b) = (vec![0.0; 64], vec![0.0; 64]);
//! (a[8 * 3 + 1], b[8 * 3 + 5]) = (1.0, 1.0);
//! let image = device.array(&a)?.requires_grad();
//! let (tape, loss) = Tape::record_value(|| pyramid::l2(&image, &device.array(&b)?, 8, 8))?;
//! tape.backward(&loss)?;
//! let slope = image.grad()?.to_vec()?;
//! assert!(slope[8 * 3 + 2] < slope[8 * 3]); // brighter on the side of the target
//! # Ok::<(), Error>(())
//! ```
//!
//! At level `l` an object is spread over some `2^(l+1)` pixels; the coarsest level spans the image.

use diffkern::prelude::*;

use crate::error::{Result, same_length};
use crate::loss::{l2_into as add_l2, residual};

/// One image of the pyramid.
#[derive(Clone, Debug)]
pub struct Level<F: Float> {
    /// Row by row from the top left.
    pub pixels: Array<F>,
    /// Pixels per row, border included.
    pub width: usize,
    /// Rows, border included.
    pub height: usize,
}

/// Weight of the `k`-th of eight taps of the binomial filter (1, 7, 21, 35, 35, 21, 7, 1)/128.
#[diff_fn]
pub fn binomial<F: Float>(k: usize) -> F {
    let outer = select(k == 0 || k == 7, F::new(0.0078125), F::new(0.0546875));
    let inner = select(k == 2 || k == 5, F::new(0.1640625), F::new(0.2734375));
    select(k < 2 || k > 5, outer, inner)
}

/// Blurs, keeps every second pixel and adds a border of two or three; domain (width / 2 + 4, height / 2 + 4).
#[diff_kernel]
pub fn reduce<F: Float>(image: &Array<F>, half: &mut Array<F>, width: u32, height: u32) {
    let columns = width as usize;
    let rows = height as usize;
    let mut sum = F::new(0.0);
    for j in 0..8 {
        for i in 0..8 {
            // Seven more than the fine pixel, which starts at -7.
            let column = 2 * ABSOLUTE_POS_X + i;
            let row = 2 * ABSOLUTE_POS_Y + j;
            if column >= 7 && column < columns + 7 && row >= 7 && row < rows + 7 {
                let wi: F = binomial::<F>(i);
                let wj: F = binomial::<F>(j);
                sum += wi * wj * image[(row - 7) * columns + column - 7];
            }
        }
    }
    half[ABSOLUTE_POS] = sum;
}

/// Blurs by (1, 4, 6, 4, 1)/16 and adds a border of two; domain (width + 4, height + 4).
#[diff_kernel]
pub fn smooth<F: Float>(image: &Array<F>, blurred: &mut Array<F>, width: u32, height: u32) {
    let columns = width as usize;
    let rows = height as usize;
    let mut sum = F::new(0.0);
    for j in 0..5 {
        for i in 0..5 {
            let column = ABSOLUTE_POS_X + i;
            let row = ABSOLUTE_POS_Y + j;
            if column >= 4 && column < columns + 4 && row >= 4 && row < rows + 4 {
                let wi = select(i == 2, F::new(0.375), select(i == 1 || i == 3, F::new(0.25), F::new(0.0625)));
                let wj = select(j == 2, F::new(0.375), select(j == 1 || j == 3, F::new(0.25), F::new(0.0625)));
                sum += wi * wj * image[(row - 4) * columns + column - 4];
            }
        }
    }
    blurred[ABSOLUTE_POS] = sum;
}

/// The image and its reductions, down to the level whose pixels are as large as the image.
///
/// # Errors
/// When the image has another length than `width * height`.
pub fn levels<F: Float>(image: &Array<F>, width: usize, height: usize) -> Result<Vec<Level<F>>> {
    same_length("image", image.len(), width * height)?;
    let mut levels = vec![Level { pixels: image.clone(), width, height }];
    let mut extent = width.max(height);
    while let Some(fine) = levels.last().filter(|_| extent > 1) {
        let (width, height) = (fine.width / 2 + 4, fine.height / 2 + 4);
        let pixels = image.device().zeros::<F>(width * height)?;
        reduce((width, height), &fine.pixels, &pixels, fine.width as u32, fine.height as u32)?;
        levels.push(Level { pixels, width, height });
        extent = extent.div_ceil(2);
    }
    Ok(levels)
}

/// The sum over the levels `l` of `4^l` times the mean squared difference of the smoothed level.
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
    let device = image.device();
    let difference = residual(image, target, 1.0)?;
    for (l, level) in levels(&difference, width, height)?.into_iter().enumerate() {
        let (w, h) = (level.width + 4, level.height + 4);
        let blurred = device.zeros::<F>(w * h)?;
        smooth((w, h), &level.pixels, &blurred, level.width as u32, level.height as u32)?;
        // A pixel of level l stands for 4^l pixels of the image; the border belongs to none.
        let pixels = (width * height) as f64 / 4f64.powi(l as i32);
        let scale = weight * 4f64.powi(l as i32) * (w * h) as f64 / pixels;
        add_l2(&blurred, &device.zeros::<F>(w * h)?, scale, total)?;
    }
    Ok(())
}
