//! The soft silhouette of triangles (Liu 2019) in one kernel, and its gradient by hand.

use diffkern::prelude::*;

use crate::case::{Draw, fixed};

/// Squared distance of a point to a segment.
#[diff_fn]
fn to_segment<F: Float>(p: Vec2<F>, a: Vec2<F>, b: Vec2<F>) -> F {
    let ab = b - a;
    let ap = p - a;
    let t = (ap.dot(ab) / ab.norm_squared()).clamp(0.0, 1.0);
    (ap - ab * t).norm_squared()
}

#[diff_fn]
fn side<F: Float>(p: Vec2<F>, a: Vec2<F>, b: Vec2<F>) -> F {
    (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x)
}

/// Mean of `(S - T)^2` over `n` by `n` pixels of [-1, 1]^2, `S = 1 - exp(-sum of softplus(z))`, with `z` the squared
/// distance to the triangle over `sigma`, positive inside.
#[diff_kernel]
pub fn coverage<F: Float>(v: &Array<Vec2<F>>, faces: &Array<u32>, loss: &mut Array<F>, n: u32, sigma: F, part: F) {
    let pixel = 2.0 / F::cast_from(n);
    let x = (F::cast_from(ABSOLUTE_POS_X as u32) + 0.5) * pixel - 1.0;
    let y = (F::cast_from(ABSOLUTE_POS_Y as u32) + 0.5) * pixel - 1.0;
    let p = Vec2::new(x, y);
    let mut sum = F::new(0.0);
    for t in 0..faces.len() / 3 {
        let (a, b, c) = (v[faces[3 * t]], v[faces[3 * t + 1]], v[faces[3 * t + 2]]);
        let first: F = to_segment(p, a, b);
        let second: F = to_segment(p, b, c);
        let third: F = to_segment(p, c, a);
        let d2 = first.min(second).min(third);
        let ab: F = side(p, a, b);
        let bc: F = side(p, b, c);
        let ca: F = side(p, c, a);
        let inside = (ab > 0.0 && bc > 0.0 && ca > 0.0) || (ab < 0.0 && bc < 0.0 && ca < 0.0);
        let z = select(inside, d2 / sigma, -d2 / sigma);
        sum += z.max(0.0) + (-z.abs()).exp().log1p();
    }
    let covered = 1.0 - (-sum).exp();
    let target = select((x - 0.2) * (x - 0.2) + y * y < 0.36, F::new(1.0), F::new(0.0));
    loss[0] += (covered - target) * (covered - target) * part;
}

/// Four corners, away from the pixels' kinks.
pub fn corners() -> Draw {
    fixed(&[-0.63, -0.52, 0.71, -0.37, -0.29, 0.66, 0.58, 0.83])
}

/// Loss and gradient by the chain rule, pixel by pixel.
pub fn by_hand(v: &[f64], faces: &[[usize; 3]], n: usize, sigma: f64) -> (f64, Vec<f64>) {
    let (mut loss, mut gradient) = (0.0, vec![0.0; v.len()]);
    for pixel in 0..n * n {
        let at = |k: usize| (k as f64 + 0.5) * 2.0 / n as f64 - 1.0;
        let p = [at(pixel % n), at(pixel / n)];
        let mut sum = 0.0;
        // For each triangle the slope of `sum` in its nearest squared distance, and that distance's gradient.
        let mut terms = Vec::new();
        for face in faces {
            let corner = |k: usize| [v[2 * face[k % 3]], v[2 * face[k % 3] + 1]];
            let edges: Vec<_> = (0..3).map(|k| (k, segment(p, corner(k), corner(k + 1)))).collect();
            let &(k, (d2, da, db)) = edges.iter().min_by(|a, b| a.1.0.total_cmp(&b.1.0)).unwrap();
            let crosses: Vec<f64> = (0..3)
                .map(|k| {
                    let (a, b) = (corner(k), corner(k + 1));
                    (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
                })
                .collect();
            let inside = crosses.iter().all(|&c| c > 0.0) || crosses.iter().all(|&c| c < 0.0);
            let sign = if inside { 1.0 } else { -1.0 };
            let z: f64 = sign * d2 / sigma;
            sum += z.max(0.0) + (-z.abs()).exp().ln_1p();
            terms.push((sign / sigma / (1.0 + (-z).exp()), (face[k], da), (face[(k + 1) % 3], db)));
        }
        let target = if (p[0] - 0.2).powi(2) + p[1] * p[1] < 0.36 { 1.0 } else { 0.0 };
        let rest = (-sum).exp();
        let error = 1.0 - rest - target;
        loss += error * error / (n * n) as f64;
        let by_sum = 2.0 * error * rest / (n * n) as f64;
        for (slope, (a, da), (b, db)) in terms {
            for k in 0..2 {
                gradient[2 * a + k] += by_sum * slope * da[k];
                gradient[2 * b + k] += by_sum * slope * db[k];
            }
        }
    }
    (loss, gradient)
}

/// Squared distance, and its gradient by both ends: the foot `a + t (b - a)` moves along the segment only, or stays at
/// an end.
fn segment(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> (f64, [f64; 2], [f64; 2]) {
    let (ab, ap) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let t = ((ap[0] * ab[0] + ap[1] * ab[1]) / (ab[0] * ab[0] + ab[1] * ab[1])).clamp(0.0, 1.0);
    let r = [ap[0] - t * ab[0], ap[1] - t * ab[1]];
    (r[0] * r[0] + r[1] * r[1], r.map(|r| -2.0 * (1.0 - t) * r), r.map(|r| -2.0 * t * r))
}

/// An icosahedron whose 20 faces are each split into four on the unit sphere, turned by 0.3 about x and y, of radius
/// 0.7; seen along z.
fn sphere() -> (Vec<f64>, Vec<[usize; 3]>) {
    let golden = f64::midpoint(1.0, 5f64.sqrt());
    let mut points: Vec<[f64; 3]> = Vec::new();
    for (a, b) in [(1.0, golden), (-1.0, golden), (1.0, -golden), (-1.0, -golden)] {
        points.extend([[0.0, a, b], [a, b, 0.0], [b, 0.0, a]]);
    }
    let unit = |p: [f64; 3]| p.map(|x| x / p.iter().map(|x| x * x).sum::<f64>().sqrt());
    let distance = |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>();
    let near = |points: &[[f64; 3]], a: usize, b: usize| distance(points[a], points[b]) < 4.1;
    let mut coarse = Vec::new();
    for a in 0..12 {
        for b in 0..a {
            coarse.extend(
                (0..b)
                    .filter(|&c| near(&points, a, b) && near(&points, b, c) && near(&points, c, a))
                    .map(|c| [a, b, c]),
            );
        }
    }
    points.iter_mut().for_each(|p| *p = unit(*p));
    let mut faces = Vec::new();
    for face in coarse {
        let middles = [0, 1, 2].map(|k: usize| {
            let (a, b) = (points[face[k]], points[face[(k + 1) % 3]]);
            let middle = unit([0, 1, 2].map(|j: usize| a[j] + b[j]));
            points.iter().position(|&p| distance(p, middle) < 1e-9).unwrap_or_else(|| {
                points.push(middle);
                points.len() - 1
            })
        });
        faces.push(middles);
        faces.extend([0, 1, 2].map(|k: usize| [face[k], middles[k], middles[(k + 2) % 3]]));
    }
    let (s, c) = 0.3f64.sin_cos();
    let seen = |p: [f64; 3]| {
        let (y, z) = (c * p[1] - s * p[2], s * p[1] + c * p[2]);
        [0.7 * (c * p[0] + s * z), 0.7 * y]
    };
    (points.iter().flat_map(|&p| seen(p)).collect(), faces)
}

/// 80 triangles, 24 by 24 pixels: loss and gradient as computed in f64 by JAX 0.10.2.
#[test]
fn a_sphere_of_80_triangles_has_the_reference_gradient() -> Result<()> {
    let (points, faces) = sphere();
    assert_eq!((points.len(), faces.len()), (84, 80));
    let dev = Device::cpu();
    let corners: Vec<Vec2<f64>> = points.chunks(2).map(|p| Vec2::new(p[0], p[1])).collect();
    let flat: Vec<u32> = faces.iter().flatten().map(|&k| k as u32).collect();
    let (v, faces_array) = (dev.array(&corners)?.requires_grad(), dev.array(&flat)?);
    let loss = dev.zeros::<f64>(1)?;
    let tape = Tape::record(|| coverage((24, 24), &v, &faces_array, &loss, 24, 1e-3, 1.0 / 576.0))?;
    tape.backward(&loss)?;
    let gradient: Vec<f64> = v.grad()?.to_vec()?.iter().flat_map(|g| g.to_array()).collect();
    let near = |a: f64, b: f64, tolerance: f64| assert!((a - b).abs() <= tolerance * b.abs(), "{a} {b}");
    near(loss.to_vec()?[0], 0.131664308417, 1e-11);
    near(gradient.iter().map(|g| g * g).sum::<f64>().sqrt(), 0.26215561, 1e-7);
    near(gradient.iter().step_by(2).sum(), -0.623014, 1e-6);
    near(gradient.iter().skip(1).step_by(2).sum(), 0.0607021, 1e-6);
    let (value, expected) = by_hand(&points, &faces, 24, 1e-3);
    near(loss.to_vec()?[0], value, 1e-12);
    let size = expected.iter().fold(0.0f64, |m, g| m.max(g.abs()));
    assert!(gradient.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-11 * size));
    Ok(())
}
