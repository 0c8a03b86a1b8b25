//! A ring.

use super::Shape;
use diffkern::prelude::*;

/// All points within `size.y` of the circle of radius `size.x` about z. On that circle the normal is zero, and on the axis its part
/// across it, which jumps there. A tube that is thicker than the ring closes the hole: then the nearest point of the surface is, for
/// some points inside, one of the two tips on the axis, and distance and normal have a kink at `z = 0` between them.
#[derive(Clone, Copy, Debug)]
pub struct Torus;

#[diff_impl]
impl Shape for Torus {
    fn distance<F: Float>(x: Vec3<F>, size: Vec3<F>) -> Vec4<F> {
        let square = x.x * x.x + x.y * x.y;
        let mut r = F::new(0.0);
        let mut out = Vec2::new(F::new(0.0), F::new(0.0));
        if square > 0.0 {
            r = square.sqrt();
            out = Vec2::new(x.x / r, x.y / r);
        }
        let u = r - size.x;
        let from_circle = u * u + x.z * x.z;
        let mut result = Vec4::new(F::new(0.0), F::new(0.0), F::new(0.0), -size.y);
        if from_circle > 0.0 {
            let d = from_circle.sqrt();
            // The nearest point of the tube around this part of the circle is beyond the axis: no part of the surface.
            if size.x * d + size.y * u < 0.0 {
                let tip = (size.y * size.y - size.x * size.x).sqrt();
                let h = x.z - select(x.z < 0.0, -tip, tip);
                let l = (square + h * h).sqrt();
                result = Vec4::new(-x.x / l, -x.y / l, -h / l, -l);
            } else {
                result = Vec4::new(out.x * u / d, out.y * u / d, x.z / d, d - size.y);
            }
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    /// Distance of the nearest of `n * n` points of the surface, without those beyond the axis; negative inside.
    fn nearest(x: Vec3<f64>, ring: f64, tube: f64, n: usize) -> f64 {
        let mut least = f64::INFINITY;
        for (a, b) in (0..n * n).map(|k| (k / n, k % n)) {
            let ((s, c), (sin, cos)) = ((a as f64 * TAU / n as f64).sin_cos(), (b as f64 * TAU / n as f64).sin_cos());
            let r = ring + tube * c;
            if r >= 0.0 {
                least = least.min((x - Vec3::new(r * cos, r * sin, tube * s)).norm());
            }
        }
        let inside = (x.x.hypot(x.y) - ring).hypot(x.z) < tube;
        if inside { -least } else { least }
    }

    /// A ring, its tube, and how far from the origin points are to be: the last are those whose nearest point may be a tip.
    const RINGS: [(f64, f64, f64); 4] = [(0.5, 0.2, 1.0), (0.3, 0.28, 1.0), (0.25, 0.4, 1.0), (0.25, 0.4, 0.3)];

    /// Points of a spiral through the ball of this radius.
    fn points(radius: f64) -> impl Iterator<Item = Vec3<f64>> {
        (0..60).map(move |k| {
            let (t, z) = (2.4 * f64::from(k), (1.7 * f64::from(k)).sin());
            let r = ((0.9 * f64::from(k)).cos().abs() * (1.0 - z * z)).sqrt();
            Vec3::new(r * t.cos(), r * t.sin(), 0.8 * z) * radius
        })
    }

    #[test]
    fn distances_are_those_of_points_of_the_surface() {
        let n = 400;
        for (ring, tube, radius) in RINGS {
            // Half a diagonal of the samples, whose error is of second order but where the surface has an edge.
            let off = TAU * (ring + tube) / n as f64;
            for x in points(radius) {
                let at = Torus::distance(x, Vec3::new(ring, tube, 0.0));
                let sampled = nearest(x, ring, tube, n);
                assert!((at.w - sampled).abs() < off, "{x:?}: {} instead of {sampled}", at.w);
                assert!(at.w * sampled >= 0.0 || at.w.abs() < off);
            }
        }
    }

    #[test]
    fn normals_are_the_slope_of_the_distance() {
        let h = 1e-6;
        for (ring, tube, radius) in RINGS {
            let size = Vec3::new(ring, tube, 0.0);
            for x in points(radius) {
                let at = Torus::distance(x, size);
                let slope = |d: Vec3<f64>| {
                    (Torus::distance(x + d * h, size).w - Torus::distance(x - d * h, size).w) / (2.0 * h)
                };
                let found = Vec3::new(at.x, at.y, at.z);
                let expected = Vec3::new(
                    slope(Vec3::new(1.0, 0.0, 0.0)),
                    slope(Vec3::new(0.0, 1.0, 0.0)),
                    slope(Vec3::new(0.0, 0.0, 1.0)),
                );
                assert!((found - expected).norm() < 1e-7, "{x:?}: {found:?} instead of {expected:?}");
                assert!((found.norm() - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn where_no_direction_is_known_the_normal_has_none() {
        let size = Vec3::new(0.5, 0.2, 0.0);
        assert_eq!(Torus::distance(Vec3::new(0.0, 0.5, 0.0), size).to_array(), [0.0, 0.0, 0.0, -0.2]);
        let above = Torus::distance(Vec3::new(0.0, 0.0, 1.2), size).to_array();
        let expected = [0.0, 0.0, 1.2 / 1.3, 1.3 - 0.2];
        assert!(above.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{above:?}");
    }
}
