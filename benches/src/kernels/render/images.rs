//! Compositing, losses and the pyramid: kernels over the pixels of an image.

use diffkern::prelude::*;
use diffkern_render::loss::{add_color_squares, add_overlap, add_squares, add_tanimoto, color_difference, difference};
use diffkern_render::pyramid::{reduce, smooth};
use diffkern_render::raster::composite;

use crate::kernels::random::Random;
use crate::kernels::{Kernel, Size};

/// Pixels that one thread adds up.
const RUN: usize = 256;

struct Images<F: Float> {
    pixels: usize,
    side: u32,
    /// Threads of the kernels that add up.
    runs: usize,
    run: u32,
    image: Array<F>,
    target: Array<F>,
    picture: Array<Vec3<F>>,
    goal: Array<Vec3<F>>,
    layers: Array<Vec4<F>>,
    background: Array<Vec3<F>>,
    sums: Array<F>,
    sums_next: Array<F>,
    total: Array<F>,
    color: Array<Vec3<F>>,
    coverage: Array<F>,
    /// Sides and pixels of the halved and of the blurred image.
    half_side: usize,
    half: Array<F>,
    blurred_side: usize,
    blurred: Array<F>,
}

fn images<F: Float>(d: &Device, size: Size) -> Result<Images<F>> {
    let side = size.pick(128, 7);
    let (pixels, run) = (side * side, size.pick(RUN, 16));
    let (half_side, blurred_side) = (side / 2 + 4, side + 4);
    let mut r = Random(7);
    Ok(Images {
        pixels,
        side: side as u32,
        runs: pixels.div_ceil(run),
        run: run as u32,
        image: r.array(d, pixels, |r| r.between(0.1, 0.9))?,
        target: r.array(d, pixels, |r| r.between(0.1, 0.9))?,
        picture: r.array(d, pixels, |r| r.vec3(0.1, 0.9))?,
        goal: r.array(d, pixels, |r| r.vec3(0.1, 0.9))?,
        layers: r.array(d, pixels, |r| {
            Vec4::new(r.between(0.0, 0.5), r.between(0.0, 0.5), r.between(0.0, 0.5), r.between(0.1, 0.9))
        })?,
        background: r.array(d, 1, |r| r.vec3(0.1, 0.9))?,
        sums: d.array(&[2.0, 3.0, 4.0].map(F::from_f64))?.requires_grad(),
        sums_next: d.zeros(3)?,
        total: d.zeros(1)?,
        color: d.zeros(pixels)?,
        coverage: d.zeros(pixels)?,
        half_side,
        half: d.zeros(half_side * half_side)?,
        blurred_side,
        blurred: d.zeros(blurred_side * blurred_side)?,
    })
}

pub fn kernels() -> Vec<Kernel> {
    vec![
        kernel!(composite: images => |i| "pixels" i.pixels, (
            i.pixels, &i.layers, &i.background, &i.color, &i.coverage,
        ), writes [i.color => Vec3::new(1.0, 1.0, 1.0), i.coverage => 1.0]),
        kernel!(add_squares: images => |i| "pixels" i.pixels, (
            i.runs, &i.image, &i.target, &i.total, 0.3, i.run,
        ), writes [i.total => 1.0]),
        kernel!(add_color_squares: images => |i| "pixels" i.pixels, (
            i.runs, &i.picture, &i.goal, &i.total, 0.3, i.run,
        ), writes [i.total => 1.0]),
        kernel!(add_overlap: images => |i| "pixels" i.pixels, (
            i.runs, &i.image, &i.target, &i.sums_next, i.run,
        ), writes [i.sums_next => 1.0]),
        kernel!(add_tanimoto: images => |i| "losses" 1, (1, &i.sums, &i.total, 0.7), writes [i.total => 1.0]),
        kernel!(difference: images => |i| "pixels" i.pixels, (
            i.pixels, &i.image, &i.target, &i.coverage, 0.7,
        ), writes [i.coverage => 1.0]),
        kernel!(color_difference: images => |i| "pixels" i.pixels, (
            i.pixels, &i.picture, &i.goal, &i.color, 0.7,
        ), writes [i.color => Vec3::new(1.0, 1.0, 1.0)]),
        kernel!(reduce: images => |i| "pixels" i.pixels, (
            (i.half_side, i.half_side), &i.image, &i.half, i.side, i.side,
        ), writes [i.half => 1.0]),
        kernel!(smooth: images => |i| "pixels" i.pixels, (
            (i.blurred_side, i.blurred_side), &i.image, &i.blurred, i.side, i.side,
        ), writes [i.blurred => 1.0]),
    ]
}
