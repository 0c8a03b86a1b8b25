//! Depth of planes, of one before another, and of what is seen from the side.
#![allow(clippy::unwrap_used)] // a helper that fails is a test that fails

mod common;

use common::*;
use diffkern::{Device, Vec3};
use diffkern_render::{Camera, DepthMap, Mesh, Renderer};

fn depths(mesh: &Mesh, vertices: &[V], camera: &Camera) -> (Vec<f64>, Vec<f64>) {
    let device = Device::cpu();
    let renderer = Renderer::new(&device, mesh).unwrap();
    let map = renderer.depth(&upload(&device, vertices), &camera.params(&device).unwrap()).unwrap();
    let DepthMap { coverage, inverse, width, height } = map;
    assert_eq!((width, height), (camera.width, camera.height));
    (coverage.to_vec().unwrap(), inverse.to_vec().unwrap())
}

/// A square of two triangles about `centre`, its sides along `u` and `v`, seen from where `u x v` points.
fn square(centre: V, u: V, v: V) -> Vec<V> {
    vec![centre - u - v, centre + u - v, centre + u + v, centre - u + v]
}

const TWO: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];

#[test]
fn a_tilted_plane_has_its_depth_along_the_axis_at_the_middle_of_every_pixel() {
    let camera = front_camera(40);
    let (centre, u, v) = (Vec3::new(0.1, 0.3, -0.05), Vec3::new(0.8, 0.5, 0.1), Vec3::new(-0.1, 0.3, 0.7));
    let mesh = Mesh::flat(TWO.to_vec(), 4).unwrap();
    let (coverage, inverse) = depths(&mesh, &square(centre, u, v), &camera);
    let normal = u.cross(v);
    let mut whole = 0;
    for (k, (covered, inverse)) in coverage.iter().zip(&inverse).enumerate() {
        if *covered < 1.0 - 1e-12 {
            continue;
        }
        whole += 1;
        // The camera is at (0, -4, 0) and looks along y: a ray with a unit of depth.
        let at = |pixel: usize| 2.0 * 0.25f64.tan() * ((pixel as f64 + 0.5) / 40.0 - 0.5);
        let ray = Vec3::new(at(k % 40), 1.0, -at(k / 40));
        let depth = normal.dot(centre - Vec3::new(0.0, -4.0, 0.0)) / normal.dot(ray);
        assert!((covered / inverse - depth).abs() < 1e-12 * depth, "pixel {k}: {} and {depth}", covered / inverse);
    }
    assert!(whole > 200, "{whole}");
}

#[test]
fn what_is_behind_does_not_show() {
    let camera = front_camera(32);
    let (u, v) = (Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 0.0, 1.0));
    let mut vertices = square(Vec3::new(0.0, 1.0, 0.0), u * 2.0, v * 2.0);
    vertices.extend(square(Vec3::new(0.0, -1.0, 0.0), u * 0.31, v * 0.31));
    let triangles = TWO.iter().copied().chain(TWO.map(|t| t.map(|k| k + 4))).collect();
    let (coverage, inverse) = depths(&Mesh::flat(triangles, 8).unwrap(), &vertices, &camera);
    let depth = |k: usize| coverage[k] / inverse[k];
    assert!((depth(16 * 32 + 16) - 3.0).abs() < 1e-12 && (depth(33) - 5.0).abs() < 1e-12);
    // Between them pixels show both, and nothing else.
    assert!((0..coverage.len()).all(|k| coverage[k] == 0.0 || (3.0 - 1e-9..5.0 + 1e-9).contains(&depth(k))));
}
