//! Losses: their optimum does not depend on the resolution, and the pyramid sees a target that does not overlap.
#![allow(clippy::unwrap_used)] // a helper that fails is a test that fails

mod common;

use common::*;
use diffkern::{Array, Device, Tape, Vec3};
use diffkern_render::{Renderer, Result, loss, pyramid};

type Loss = fn(&Array<f64>, &Array<f64>, usize) -> Result<Array<f64>>;

const LOSSES: [(&str, Loss); 3] = [
    ("l2", |a, b, _| loss::l2(a, b)),
    ("jaccard", |a, b, _| loss::jaccard(a, b)),
    ("pyramid", |a, b, size| pyramid::l2(a, b, size, size)),
];

fn image(vertices: &[V], mesh: &diffkern_render::Mesh, size: usize) -> Array<f64> {
    let device = Device::cpu();
    let renderer = Renderer::new(&device, mesh).unwrap();
    let camera = front_camera(size).params(&device).unwrap();
    renderer.silhouette(&upload(&device, vertices), &camera).unwrap().coverage
}

fn disc_image(centre: [f64; 2], radius: f64, size: usize) -> Array<f64> {
    let (mesh, vertices) = disc(centre, radius, 96);
    image(&vertices, &mesh, size)
}

fn value(loss: &Array<f64>) -> f64 {
    loss.to_vec().unwrap()[0]
}

/// Golden section search for the minimum of a function with one.
fn minimum(f: impl Fn(f64) -> f64, mut lo: f64, mut hi: f64, tolerance: f64) -> f64 {
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    let (mut a, mut b) = (hi - golden * (hi - lo), lo + golden * (hi - lo));
    let (mut fa, mut fb) = (f(a), f(b));
    while hi - lo > tolerance {
        if fa < fb {
            (hi, b, fb) = (b, a, fa);
            a = hi - golden * (hi - lo);
            fa = f(a);
        } else {
            (lo, a, fa) = (a, b, fb);
            b = lo + golden * (hi - lo);
            fb = f(b);
        }
    }
    0.5 * (lo + hi)
}

#[test]
fn the_right_answer_is_the_optimum_at_every_resolution() {
    for (name, loss) in LOSSES {
        for size in [64, 128, 256] {
            let target = disc_image([0.12, -0.05], 0.4, size);
            let f = |radius: f64| value(&loss(&disc_image([0.12, -0.05], radius, size), &target, size).unwrap());
            assert_eq!(f(0.4), 0.0, "{name} at {size} px");
            let found = minimum(f, 0.36, 0.45, 1e-5);
            assert!((found - 0.4).abs() < 2e-5, "{name} at {size} px: radius {found} for 0.4");
        }
    }
}

#[test]
fn a_shape_that_cannot_fit_has_one_optimum_at_every_resolution() {
    let (mesh, mut vertices) = block([-0.5, 0.0, -0.25], [0.5, 0.01, 0.25], 1);
    // Turned, so that no edge runs along the pixels.
    vertices.iter_mut().for_each(|v| *v = Vec3::new(0.96 * v.x - 0.28 * v.z, v.y, 0.28 * v.x + 0.96 * v.z));
    for (name, loss) in LOSSES {
        let best = [64, 128, 256].map(|size| {
            let target = image(&vertices, &mesh, size);
            minimum(|r| value(&loss(&disc_image([0.02, 0.01], r, size), &target, size).unwrap()), 0.25, 0.5, 1e-4)
        });
        println!("{name}: radii {best:?}");
        // Misfit is not realisable, so pixels shift the optimum, by less than 0.2 px and with the square of their size.
        let [coarse, middle] = [best[0], best[1]].map(|r| (r / best[2] - 1.0).abs());
        assert!(coarse < 1.5e-2 && middle < 4e-3, "{name}: radii {best:?}");
    }
}

fn image_of_zeros(size: usize) -> Array<f64> {
    Device::cpu().zeros(size * size).unwrap()
}

/// Gradient of the loss to a translation of the disc.
fn pull(loss: Loss, centre: [f64; 2], target: &Array<f64>, size: usize) -> [f64; 2] {
    let device = Device::cpu();
    let (mesh, vertices) = disc(centre, 0.12, 48);
    let vertices = upload(&device, &vertices).requires_grad();
    let renderer = Renderer::new(&device, &mesh).unwrap();
    let camera = front_camera(size).params(&device).unwrap();
    let (tape, total) =
        Tape::record_value(|| loss(&renderer.silhouette(&vertices, &camera)?.coverage, target, size)).unwrap();
    tape.backward(&total).unwrap();
    let sum = vertices.grad().unwrap().to_vec().unwrap().into_iter().fold(Vec3::zero(), |a: V, b| a + b);
    [sum.x, sum.z]
}

#[test]
fn the_pyramid_pulls_towards_a_target_that_does_not_overlap() {
    let size = 64;
    for goal in [[0.6, 0.55], [-0.7, 0.1], [0.0, -0.65]] {
        let target = disc_image(goal, 0.12, size);
        for from in [[-0.6, -0.6], [0.6, -0.1], [0.1, 0.05], [-0.1, 0.7]] {
            let [dx, dy] = [goal[0] - from[0], goal[1] - from[1]];
            let [px, py] = pull(LOSSES[2].1, from, &target, size);
            let cosine = -(px * dx + py * dy) / (px.hypot(py) * dx.hypot(dy));
            println!("from {from:?} to {goal:?}: cosine {cosine:.3}, size {:.2e}", px.hypot(py));
            assert!(cosine > 0.8, "from {from:?} to {goal:?}: cosine {cosine}");
            // L2 alone pulls as if there were no target.
            if dx.hypot(dy) > 0.3 {
                let empty = image_of_zeros(size);
                let [with, without] = [&target, &empty].map(|t| pull(LOSSES[0].1, from, t, size));
                assert!((with[0] - without[0]).abs() + (with[1] - without[1]).abs() < 1e-15);
            }
        }
    }
}

#[test]
fn the_pyramid_falls_all_the_way() {
    let size = 64;
    let target = disc_image([0.6, 0.5], 0.15, size);
    let at = |s: f64| value(&pyramid::l2(&disc_image([s, s - 0.1], 0.15, size), &target, size, size).unwrap());
    let values: Vec<f64> = (0..25).map(|k| at(-0.6 + 0.05 * f64::from(k))).collect();
    assert!(values.windows(2).all(|w| w[1] < w[0]), "{values:?}");
}

#[test]
fn residuals_are_weighted_differences_and_lengths_are_checked() {
    let device = Device::cpu();
    let a = device.array(&[0.5, 0.75]).unwrap();
    let b = device.array(&[0.25, 1.0]).unwrap();
    assert_eq!(loss::residual(&a, &b, 2.0).unwrap().to_vec().unwrap(), [0.5, -0.5]);
    assert_eq!(value(&loss::l2(&a, &b).unwrap()), 0.0625);
    let short = device.array(&[0.25]).unwrap();
    let message = loss::l2(&a, &short).unwrap_err().to_string();
    assert_eq!(message, "image is 2 pixels; expected 1 pixels");
}
