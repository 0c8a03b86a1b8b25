//! The camera and the projection of vertices.

use diffkern::prelude::*;
use diffkern_render::camera::{camera_frame, project};
use diffkern_render::lens::{distort, expose};

use crate::kernels::random::Random;
use crate::kernels::{Kernel, Size};

/// A camera four metres before some vertices.
struct View<F: Float> {
    vertices: usize,
    half: F,
    position: Array<Vec3<F>>,
    look_at: Array<Vec3<F>>,
    up: Array<Vec3<F>>,
    fov: Array<F>,
    frame: Array<Mat3<F>>,
    frame_next: Array<Mat3<F>>,
    x: Array<Vec3<F>>,
    projected: Array<Vec3<F>>,
    /// Places in pixels, and colours.
    pixels: Array<Vec3<F>>,
    lens: Array<F>,
    exposure: Array<F>,
}

fn view<F: Float>(d: &Device, size: Size) -> Result<View<F>> {
    let vertices = size.pick(4_096, 20);
    let one = |v: [f64; 3]| Ok::<_, Error>(d.array(&[Vec3::from_array(v.map(F::from_f64))])?.requires_grad());
    let (position, look_at, up) = (one([0.3, -4.0, 0.2])?, one([0.1, 0.2, -0.1])?, one([0.1, 0.0, 1.0])?);
    let frame = d.zeros::<Mat3<F>>(1)?;
    camera_frame(1, &position, &look_at, &up, &frame)?;
    Ok(View {
        vertices,
        half: F::from_f64(64.0),
        position,
        look_at,
        up,
        fov: d.array(&[F::from_f64(0.5)])?.requires_grad(),
        frame: frame.requires_grad(),
        frame_next: d.zeros(1)?,
        x: Random(1).array(d, vertices, |r| r.vec3(-1.0, 1.0))?,
        projected: d.zeros(vertices)?,
        pixels: Random(2).array(d, vertices, |r| r.vec3(10.0, 110.0))?,
        lens: d.array(&[-0.2, 0.1, -0.03, 0.01, -0.02].map(F::from_f64))?.requires_grad(),
        exposure: d.array(&[F::from_f64(1.2)])?.requires_grad(),
    })
}

pub fn kernels() -> Vec<Kernel> {
    vec![
        kernel!(camera_frame: view => |v| "cameras" 1, (
            1, &v.position, &v.look_at, &v.up, &v.frame_next,
        ), writes [v.frame_next => Mat3::identity()]),
        kernel!(project: view => |v| "vertices" v.vertices, (
            v.vertices, &v.x, &v.position, &v.frame, &v.fov, &v.projected, v.half, v.half,
        ), writes [v.projected => Vec3::new(1.0, 1.0, 1.0)]),
        kernel!(distort: view => |v| "vertices" v.vertices, (
            v.vertices, &v.pixels, &v.fov, &v.lens, &v.projected, v.half, v.half,
        ), writes [v.projected => Vec3::new(1.0, 1.0, 1.0)]),
        kernel!(expose: view => |v| "pixels" v.vertices, (
            v.vertices, &v.pixels, &v.exposure, &v.projected,
        ), writes [v.projected => Vec3::new(1.0, 1.0, 1.0)]),
    ]
}
