//! W5: the soft silhouette of a sphere, every pixel against every triangle; one kernel whose sum over a run-time loop is
//! used non-linearly after it.

mod icosphere;

use anyhow::{Result, ensure};
use diffkern::prelude::*;
use diffkern::reduce;

use crate::harness::{Sizes, Workload};

/// Width of the blur, of squared distances.
const SIGMA: f64 = 1e-3;

/// Squared distance from the origin to the segment from `a` to `b`.
#[diff_fn]
fn distance_squared<F: Float>(a: Vec2<F>, b: Vec2<F>) -> F {
    let edge = b - a;
    let along = F::clamp(-a.dot(edge) / edge.norm_squared(), 0.0, 1.0);
    let nearest = a + edge * along;
    nearest.norm_squared()
}

/// On which side of the line from `a` to `b` the origin is.
#[diff_fn]
fn side<F: Float>(a: Vec2<F>, b: Vec2<F>) -> F {
    a.x * b.y - a.y * b.x
}

/// Per pixel `(S - T)^2` with `S = 1 - exp(-sum softplus(+-d^2 / sigma))` over all triangles, seen along z; `d` is the
/// distance to the triangle's edges, plus inside.
#[diff_kernel]
fn silhouette_error<F: Float>(
    vertices: &Array<Vec3<F>>,
    triangles: &Array<u32>,
    target: &Array<F>,
    error: &mut Array<F>,
    count: usize,
    pixel: F,
    inv_sigma: F,
) {
    let i = ABSOLUTE_POS;
    let x = (F::cast_from(ABSOLUTE_POS_X) + 0.5) * pixel - 1.0;
    let y = (F::cast_from(ABSOLUTE_POS_Y) + 0.5) * pixel - 1.0;
    let centre = Vec2::new(x, y);
    let mut sum = F::new(0.0);
    for t in 0..count {
        let p = vertices[triangles[3 * t]];
        let q = vertices[triangles[3 * t + 1]];
        let r = vertices[triangles[3 * t + 2]];
        let a = Vec2::new(p.x, p.y) - centre;
        let b = Vec2::new(q.x, q.y) - centre;
        let c = Vec2::new(r.x, r.y) - centre;
        let ab: F = distance_squared(a, b);
        let bc: F = distance_squared(b, c);
        let ca: F = distance_squared(c, a);
        let sa: F = side(a, b);
        let sb: F = side(b, c);
        let sc: F = side(c, a);
        let inside = sa.min(sb).min(sc) > 0.0 || sa.max(sb).max(sc) < 0.0;
        let z = ab.min(bc).min(ca) * select(inside, inv_sigma, -inv_sigma);
        sum += z.max(0.0) + F::ln(1.0 + F::exp(-z.abs()));
    }
    let off = 1.0 - F::exp(-sum) - target[i];
    error[i] = off * off;
}

pub struct Softras {
    device: Device,
    side: usize,
    triangle_count: usize,
    vertices: Array<Vec3<f32>>,
    triangles: Array<u32>,
    target: Array<f32>,
}

impl Softras {
    pub fn new(device: &Device, sizes: Sizes) -> Result<Self> {
        let side = sizes.grid;
        let (points, faces) = icosphere::with_faces(sizes.particles);
        ensure!(faces.len() == sizes.particles, "a sphere has 20, 80, 320, 1280, ... triangles");
        let vertices: Vec<_> =
            points.iter().map(|&p| turned(p).map(|x| (0.7 * x) as f32)).map(Vec3::from_array).collect();
        let at = |k: usize| (k as f64 + 0.5) * 2.0 / side as f64 - 1.0;
        let disc = |i: usize| (at(i % side) - 0.2).powi(2) + at(i / side).powi(2) < 0.36;
        let target: Vec<f32> = (0..side * side).map(|i| f32::from(u8::from(disc(i)))).collect();
        Ok(Softras {
            device: device.clone(),
            side,
            triangle_count: faces.len(),
            vertices: device.array(&vertices)?.requires_grad(),
            triangles: device.array(faces.as_flattened())?,
            target: device.array(&target)?,
        })
    }

    fn run(&self) -> diffkern::Result<Array<f32>> {
        let error = self.device.uninit::<f32>(self.side * self.side)?;
        let (count, pixel) = (self.triangle_count, 2.0 / self.side as f32);
        let domain = (self.side, self.side);
        silhouette_error(
            domain,
            &self.vertices,
            &self.triangles,
            &self.target,
            &error,
            count,
            pixel,
            (1.0 / SIGMA) as f32,
        )?;
        reduce::mean(&error)
    }
}

/// By 0.3 about x, then about y, so that no triangle is seen edge-on.
fn turned([x, y, z]: [f64; 3]) -> [f64; 3] {
    let (sin, cos) = 0.3f64.sin_cos();
    let (y, z) = (cos * y - sin * z, sin * y + cos * z);
    [cos * x + sin * z, y, cos * z - sin * x]
}

impl Workload for Softras {
    fn forward(&self) -> Result<f64> {
        Ok(f64::from(self.run()?.to_vec()?[0]))
    }

    fn forward_backward(&self) -> Result<f64> {
        self.vertices.zero_grad();
        let (tape, loss) = Tape::record_value(|| self.run())?;
        tape.backward(&loss)?;
        Ok(f64::from(loss.to_vec()?[0]))
    }

    fn gradients(&self) -> Result<[Vec<f64>; 2]> {
        let gradient = self.vertices.grad()?.to_vec()?;
        Ok([gradient.iter().flat_map(|v| v.to_array()).map(f64::from).collect(), Vec::new()])
    }
}
