//! What a coverage image is: exact areas, whatever the filter, the triangulation and the tiles.
#![allow(clippy::unwrap_used)] // a helper that fails is a test that fails

mod common;

use common::*;
use diffkern::{Device, Vec3};
use diffkern_render::{Mesh, Renderer};

fn coverage(mesh: &Mesh, vertices: &[V], size: usize, filter: u32) -> Vec<f64> {
    let device = Device::cpu();
    let renderer = Renderer::<f64>::new(&device, mesh).unwrap().with_filter_width(filter).unwrap();
    let camera = front_camera(size).params(&device).unwrap();
    renderer.silhouette(&upload(&device, vertices), &camera).unwrap().coverage.to_vec().unwrap()
}

fn area(image: &[f64]) -> f64 {
    image.iter().sum()
}

#[test]
fn disc_has_its_area_at_every_resolution_and_filter_width() {
    let n = 400;
    let (mesh, vertices) = disc([0.11, -0.07], 0.5, n);
    let polygon = 0.5 * f64::from(n) * 0.25 * (std::f64::consts::TAU / f64::from(n)).sin();
    for size in [64, 128, 256] {
        for filter in [1, 2, 3, 5] {
            let found = area(&coverage(&mesh, &vertices, size, filter)) * pixel(size).powi(2);
            assert!((found / polygon - 1.0).abs() < 1e-10, "{size} px, filter {filter}: {found} for {polygon}");
        }
    }
}

/// A tilted square as strips: `n` by `n` cells with a jittered interior.
fn square(n: u32) -> (Mesh, Vec<V>) {
    let mut random = Random(7);
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for j in 0..=n {
        for i in 0..=n {
            let inside = |k: u32| k > 0 && k < n;
            let mut at = |k: u32| {
                f64::from(k) / f64::from(n)
                    + if inside(i) && inside(j) { 0.3 / f64::from(n) * random.next() } else { 0.0 }
            };
            let (s, t) = (at(i), at(j));
            vertices.push(Vec3::new(0.9 * s - 0.4 - 0.2 * t, 0.3 * s, 0.15 * s + 0.7 * t - 0.35));
        }
    }
    for j in 0..n {
        for i in 0..n {
            let a = j * (n + 1) + i;
            triangles.extend([[a, a + 1, a + n + 2], [a, a + n + 2, a + n + 1]]);
        }
    }
    (Mesh::smooth(triangles, vertices.len()).unwrap(), vertices)
}

#[test]
fn two_or_two_hundred_triangles_make_the_same_image() {
    let (coarse, fine) = (square(1), square(10));
    assert_eq!((coarse.0.triangles().len(), fine.0.triangles().len()), (2, 200));
    for filter in [1, 3] {
        let (a, b) = (coverage(&coarse.0, &coarse.1, 64, filter), coverage(&fine.0, &fine.1, 64, filter));
        let worst = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-12, "filter {filter}: pixels differ by {worst}");
    }
}

#[test]
fn nothing_jumps_where_an_object_crosses_pixels_and_tiles() {
    let (mesh, vertices) = disc([0.0, 0.0], 0.2, 48);
    let render = |pixels: f64| {
        let moved: Vec<V> =
            vertices.iter().map(|v| *v + Vec3::new(pixels * pixel(64), 0.0, 0.37 * pixels * pixel(64))).collect();
        coverage(&mesh, &moved, 64, 1)
    };
    let step = 1e-3;
    let mut before = render(0.0);
    let total = area(&before);
    for k in 1..120 {
        // Coarse strides over two tiles, each ended by a small step whose effect is bounded by its length.
        let at = 0.13 * f64::from(k);
        before.clone_from(&render(at));
        let after = render(at + step);
        let worst = before.iter().zip(&after).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 2.0 * step, "a step of {step} px at {at} px changes a pixel by {worst}");
        assert!((area(&after) - total).abs() < 1e-9, "area {} at {at} px, {total} at first", area(&after));
    }
    // Whole tiles away the same pixels come back.
    let (a, b) = (render(0.0), render(8.0));
    let rows = (8.0f64 * 0.37) % 1.0;
    assert!(rows > 0.0 && (area(&a) - area(&b)).abs() < 1e-9);
}

/// Largest difference of a pixel from the mean over the same pixel of an image with sixteen times the resolution.
fn worst_against_supersampled(mesh: &Mesh, vertices: &[V]) -> f64 {
    let (image, fine) = (coverage(mesh, vertices, 32, 1), coverage(mesh, vertices, 512, 1));
    let mean = |i: usize| {
        let (x, y) = (i % 32 * 16, i / 32 * 16);
        (0..256).map(|k| fine[(y + k / 16) * 512 + x + k % 16]).sum::<f64>() / 256.0
    };
    image.iter().enumerate().map(|(i, found)| (found - mean(i)).abs()).fold(0.0, f64::max)
}

#[test]
fn coverage_is_what_supersampling_converges_to() {
    let (mesh, mut vertices) = block([-0.3, -0.4, -0.35], [0.35, 0.3, 0.4], 3);
    for v in &mut vertices {
        *v = Vec3::new(0.8 * v.x - 0.6 * v.y, 0.6 * v.x + 0.8 * v.y + 0.3 * v.z, v.z + 0.2 * v.x - 0.3 * v.y);
    }
    let convex = worst_against_supersampled(&mesh, &vertices);
    assert!(convex < 1e-9, "{convex}");
    // Where two outlines of one body cross inside a pixel, the sum of their shares is a little more than their union.
    let (mesh, vertices) = bumpy_sphere([0.05, 0.0, 0.02], 0.5, 10);
    let folded = worst_against_supersampled(&mesh, &vertices);
    assert!(folded < 0.08, "{folded}");
}

#[test]
fn a_hidden_layer_changes_nothing() {
    let (front, front_vertices) = bumpy_sphere([0.0, -1.0, 0.0], 0.5, 8);
    let (back, back_vertices) = bumpy_sphere([0.0, 1.0, 0.0], 0.3, 8);
    let offset = front_vertices.len() as u32;
    let triangles = front.triangles().iter().copied().chain(back.triangles().iter().map(|t| t.map(|v| v + offset)));
    let vertices: Vec<V> = front_vertices.iter().chain(&back_vertices).copied().collect();
    let both = Mesh::smooth(triangles.collect(), vertices.len()).unwrap();
    let (a, b) = (coverage(&front, &front_vertices, 64, 1), coverage(&both, &vertices, 64, 1));
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn single_precision_agrees() {
    let device = Device::cpu();
    let (mesh, vertices) = bumpy_sphere([0.05, 0.0, 0.02], 0.5, 12);
    let image = coverage(&mesh, &vertices, 96, 1);
    let narrow: Vec<Vec3<f32>> = vertices.iter().map(|v| Vec3::new(v.x as f32, v.y as f32, v.z as f32)).collect();
    let renderer = Renderer::<f32>::new(&device, &mesh).unwrap();
    let camera = front_camera(96).params(&device).unwrap();
    let single = renderer.silhouette(&device.array(&narrow).unwrap(), &camera).unwrap().coverage.to_vec().unwrap();
    let worst = image.iter().zip(&single).map(|(a, b)| (a - f64::from(*b)).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-4, "{worst}");
}

#[test]
fn unusable_vertices_are_named() {
    let device = Device::cpu();
    let (mesh, mut vertices) = disc([0.0, 0.0], 0.2, 8);
    let renderer = Renderer::<f64>::new(&device, &mesh).unwrap();
    let camera = front_camera(16).params(&device).unwrap();
    let message = |v: &[V]| renderer.silhouette(&upload(&device, v), &camera).unwrap_err().to_string();
    vertices[3].y = -4.5;
    assert!(message(&vertices).starts_with("vertex 3 is at depth -0.5 m"), "{}", message(&vertices));
    vertices[3].y = f64::NAN;
    assert!(message(&vertices).starts_with("vertex 3 projects to pixel (NaN"), "{}", message(&vertices));
    assert!(message(&vertices[1..]).contains("8 positions for 9 vertices"), "{}", message(&vertices[1..]));
}
