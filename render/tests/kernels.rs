//! Every kernel: its gradient by the dot-product identity and finite differences in f64, and the same values, gradient and
//! tangent on every device as on the CPU in f32.
#![allow(clippy::unwrap_used)] // a helper that fails is a test that fails

mod common;

use common::*;
use diffkern::{Array, Device, Mat3, Tape, Vec3, Vec4};
use diffkern_render::Mesh;
use diffkern_render::bin::bin;
use diffkern_render::camera::{camera_frame, project};
use diffkern_render::depth::{inverse_depths, split_depths};
use diffkern_render::loss::{add_color_squares, add_overlap, add_squares, add_tanimoto, color_difference, difference};
use diffkern_render::pyramid::{reduce, smooth};
use diffkern_render::raster::{composite, rasterize};
use diffkern_render::shade::{gather_normals, lambert, turn_to_camera};
use diffkern_render::silhouette::silhouette;

macro_rules! check {
    ($kernel:ident, $($arg:expr),*) => {
        $kernel::gradcheck($($arg),*).unwrap();
        // Of the CPU alone, and most of what there is to compile: once is enough.
        #[cfg(not(any(feature = "wgpu", feature = "wgpu-spirv", feature = "cuda")))]
        $kernel::lanecheck($($arg),*).unwrap();
        #[cfg(any(feature = "wgpu", feature = "wgpu-spirv", feature = "cuda"))]
        for device in diffkern::gradcheck::devices().unwrap() {
            $kernel::devicecheck(&device, $($arg),*).unwrap();
        }
    };
}

fn scalars(device: &Device, seed: u64, n: usize) -> Array<f64> {
    let mut random = Random(seed);
    device.array(&(0..n).map(|_| 0.5 + 0.4 * random.next()).collect::<Vec<_>>()).unwrap()
}

fn vectors(device: &Device, seed: u64, n: usize) -> Array<V> {
    let mut random = Random(seed);
    device.array(&(0..n).map(|_| random.vec(0.4) + Vec3::new(0.5, 0.5, 0.5)).collect::<Vec<_>>()).unwrap()
}

fn corners(mesh: &Mesh) -> Vec<u32> {
    mesh.triangles().iter().zip(mesh.groups()).flat_map(|(t, g)| t.iter().chain(g)).copied().collect()
}

#[test]
fn camera_kernels() {
    let d = Device::cpu();
    let one = |v: [f64; 3]| d.array(&[Vec3::from_array(v)]).unwrap();
    let (position, look_at, up) = (one([0.3, -4.0, 0.2]), one([0.1, 0.2, -0.1]), one([0.1, 0.0, 1.0]));
    let frame = d.zeros::<Mat3<f64>>(1).unwrap();
    check!(camera_frame, 1, &position, &look_at, &up, &frame);
    camera_frame(1, &position, &look_at, &up, &frame).unwrap();
    let fov = d.array(&[0.5]).unwrap();
    let x = vectors(&d, 1, 20);
    let projected = d.zeros::<V>(20).unwrap();
    check!(project, 20, &x, &position, &frame, &fov, &projected, 16.0, 12.0);
}

/// A bumpy sphere in pixels of an image of 20 by 18, with its bins.
struct Scene {
    projected: Array<V>,
    corners: Array<u32>,
    start: Array<u32>,
    list: Array<u32>,
    tiles_x: u32,
    most: u32,
    groups: usize,
}

fn scene(d: &Device, filter: f64, two_sided: bool) -> Scene {
    let (mut mesh, vertices) = bumpy_sphere([0.0; 3], 1.0, 5);
    if two_sided {
        mesh = mesh.two_sided();
    }
    let projected: Vec<V> = vertices.iter().map(|v| Vec3::new(9.7 + 7.3 * v.x, 8.9 - 7.3 * v.z, 3.0 + v.y)).collect();
    let host: Vec<[f64; 3]> = projected.iter().map(|p| p.to_array()).collect();
    let bins = bin(&host, &mesh, (20, 18), filter, 0.1).unwrap();
    Scene {
        projected: d.array(&projected).unwrap(),
        corners: d.array(&corners(&mesh)).unwrap(),
        start: d.array(&bins.start).unwrap(),
        list: d.array(&bins.list).unwrap(),
        tiles_x: bins.tiles_x,
        most: bins.most,
        groups: mesh.group_vertex().len(),
    }
}

#[test]
fn silhouette_kernel() {
    let d = Device::cpu();
    for filter in [1.0, 3.0] {
        let s = scene(&d, filter, false);
        let out = d.zeros::<f64>(20 * 18).unwrap();
        check!(silhouette, (20, 18), &s.projected, &s.corners, &s.start, &s.list, &out, filter, s.tiles_x, false);
    }
}

/// Edges along rows and columns: no quotient of the coverage may depend on the slope of an edge.
#[test]
fn silhouette_and_raster_kernels_on_a_square_along_the_axes() {
    let d = Device::cpu();
    let mesh = Mesh::flat(vec![[0, 2, 1], [0, 3, 2]], 4).unwrap();
    let host = [[3.3, 2.2, 4.0], [9.6, 2.2, 4.0], [9.6, 8.7, 4.0], [3.3, 8.7, 4.0]];
    let bins = bin(&host, &mesh, (12, 10), 1.0, 0.1).unwrap();
    let projected = upload(&d, &host.map(Vec3::from_array));
    let (corners, colors) = (d.array(&corners(&mesh)).unwrap(), vectors(&d, 3, 6));
    let (start, list) = (d.array(&bins.start).unwrap(), d.array(&bins.list).unwrap());
    let coverage = d.zeros::<f64>(120).unwrap();
    silhouette((12, 10), &projected, &corners, &start, &list, &coverage, 1.0, 2, false).unwrap();
    assert!((coverage.to_vec().unwrap().iter().sum::<f64>() - 6.3 * 6.5).abs() < 1e-12);
    check!(silhouette, (12, 10), &projected, &corners, &start, &list, &coverage, 1.0, 2, false);
    let pixels = d.zeros::<Vec4<f64>>(120).unwrap();
    check!(rasterize, (12, 10), &projected, &corners, &colors, &start, &list, &pixels, 1.0, 2, bins.most, false);
}

#[test]
fn raster_kernels() {
    let d = Device::cpu();
    for (filter, two_sided) in [(1.0, false), (2.0, false), (1.0, true)] {
        let s = scene(&d, filter, two_sided);
        let colors = vectors(&d, 3, s.groups);
        let pixels = d.zeros::<Vec4<f64>>(20 * 18).unwrap();
        check!(
            rasterize,
            (20, 18),
            &s.projected,
            &s.corners,
            &colors,
            &s.start,
            &s.list,
            &pixels,
            filter,
            s.tiles_x,
            s.most,
            two_sided
        );
    }
    let pixels = d.array(&[Vec4::new(0.2, 0.3, 0.4, 0.5), Vec4::new(0.1, 0.7, 0.0, 0.9)]).unwrap();
    let (color, coverage) = (d.zeros::<V>(2).unwrap(), d.zeros::<f64>(2).unwrap());
    check!(composite, 2, &pixels, &vectors(&d, 4, 1), &color, &coverage);
}

#[test]
fn depth_kernels() {
    let d = Device::cpu();
    let (mesh, vertices) = drop_block(2);
    let (groups, vertex) = (mesh.group_vertex().len(), d.array(mesh.group_vertex()).unwrap());
    let projected = upload(&d, &vertices.iter().map(|v| *v + Vec3::new(0.0, 0.0, 1.0)).collect::<Vec<_>>());
    check!(inverse_depths, groups, &projected, &vertex, &d.zeros::<V>(groups).unwrap());
    let pixels = d.array(&[Vec4::new(0.2, 0.3, 0.4, 0.5), Vec4::new(0.1, 0.7, 0.0, 0.9)]).unwrap();
    check!(split_depths, 2, &pixels, &d.zeros::<f64>(2).unwrap(), &d.zeros::<f64>(2).unwrap());
}

#[test]
fn shading_kernels() {
    let d = Device::cpu();
    let (mesh, vertices) = drop_block(2);
    let x = upload(&d, &vertices);
    let groups = mesh.group_vertex().len();
    let normals = d.zeros::<V>(groups).unwrap();
    let corner = d.array(&corners(&mesh)).unwrap();
    check!(gather_normals, mesh.triangles().len(), &x, &corner, &normals);
    let normal = vectors(&d, 5, groups);
    let vertex = d.array(mesh.group_vertex()).unwrap();
    let turned = d.zeros::<V>(groups).unwrap();
    check!(turn_to_camera, groups, &normal, &x, &vertex, &vectors(&d, 6, 1), &turned);
    let colors = d.zeros::<V>(groups).unwrap();
    for per_vertex in [false, true] {
        let albedo = vectors(&d, 7, if per_vertex { vertices.len() } else { 1 });
        let (direction, intensity, ambient) = (vectors(&d, 8, 1), scalars(&d, 9, 1), scalars(&d, 10, 1));
        check!(lambert, groups, &normal, &vertex, &albedo, &direction, &intensity, &ambient, &colors, per_vertex);
        let (direction, intensity) = (vectors(&d, 12, 3), scalars(&d, 13, 3));
        check!(lambert, groups, &normal, &vertex, &albedo, &direction, &intensity, &ambient, &colors, per_vertex);
    }
}

#[test]
fn loss_kernels() {
    let d = Device::cpu();
    let (image, target) = (scalars(&d, 1, 50), scalars(&d, 2, 50));
    let (picture, goal) = (vectors(&d, 3, 50), vectors(&d, 4, 50));
    let total = d.zeros::<f64>(1).unwrap();
    check!(add_squares, 4, &image, &target, &total, 0.3, 16);
    check!(add_color_squares, 4, &picture, &goal, &total, 0.3, 16);
    let sums = d.zeros::<f64>(3).unwrap();
    check!(add_overlap, 4, &image, &target, &sums, 16);
    check!(add_tanimoto, 1, &d.array(&[2.0, 3.0, 4.0]).unwrap(), &total, 0.7);
    check!(difference, 50, &image, &target, &d.zeros::<f64>(50).unwrap(), 0.7);
    check!(color_difference, 50, &picture, &goal, &d.zeros::<V>(50).unwrap(), 0.7);
    check!(reduce, (9, 6), &image, &d.zeros::<f64>(54).unwrap(), 10, 5);
    check!(smooth, (14, 9), &image, &d.zeros::<f64>(126).unwrap(), 10, 5);
}

/// A vertex on the corner of four pixels, edges through corners: the branches of the coverage meet there with one
/// derivative, but not with one second derivative, so the differences are first order.
#[test]
fn raster_kernels_on_corners_of_pixels() {
    let d = Device::cpu();
    let mesh = Mesh::flat(vec![[0, 2, 1], [0, 3, 2], [0, 4, 3], [0, 1, 4]], 5).unwrap();
    let host = [[6.0, 5.0, 4.0], [2.0, 3.0, 4.0], [9.7, 2.2, 4.0], [10.0, 8.0, 4.0], [2.3, 7.7, 4.0]];
    let bins = bin(&host, &mesh, (12, 10), 1.0, 0.1).unwrap();
    let (corners, colors) = (d.array(&corners(&mesh)).unwrap(), vectors(&d, 3, 12));
    let (start, list) = (d.array(&bins.start).unwrap(), d.array(&bins.list).unwrap());
    let (target, goal) = (scalars(&d, 1, 120), vectors(&d, 2, 120));
    let value = |projected: &Array<V>| {
        let (coverage, pixels) = (d.zeros::<f64>(120)?, d.zeros::<Vec4<f64>>(120)?);
        silhouette((12, 10), projected, &corners, &start, &list, &coverage, 1.0, 2, false)?;
        rasterize((12, 10), projected, &corners, &colors, &start, &list, &pixels, 1.0, 2, bins.most, false)?;
        let (color, again) = (d.zeros::<V>(120)?, d.zeros::<f64>(120)?);
        composite(120, &pixels, &vectors(&d, 4, 1), &color, &again)?;
        let total = diffkern_render::loss::l2(&coverage, &target)?;
        diffkern_render::loss::l2_color_into(&color, &goal, 1.0, &total)?;
        diffkern_render::Result::Ok(total)
    };
    let at = upload(&d, &host.map(Vec3::from_array)).requires_grad();
    let (tape, loss) = Tape::record_value(|| value(&at)).unwrap();
    tape.backward(&loss).unwrap();
    let gradient: Vec<f64> = at.grad().unwrap().to_vec().unwrap().into_iter().flat_map(Vec3::to_array).collect();
    for (k, analytic) in gradient.into_iter().enumerate() {
        let moved = |h: f64| {
            let mut moved = host;
            moved[k / 3][k % 3] += h;
            value(&upload(&d, &moved.map(Vec3::from_array))).unwrap().to_vec().unwrap()[0]
        };
        let numeric = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        assert!((analytic - numeric).abs() < 1e-6, "vertex {}, component {}: {analytic}, {numeric}", k / 3, k % 3);
    }
}
