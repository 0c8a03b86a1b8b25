//! Volume, centre and second moments.

use super::vector::{Point, add, cross, dot, scale, sub};

/// The moments of a body up to the second, of uniform density.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Volume \[m^3\].
    pub volume: f64,
    /// Centre of mass \[m\].
    pub centroid: [f64; 3],
    /// `S_ij = integral of (x - c)_i (x - c)_j` \[m^5\]; the tensor of inertia is `density (tr(S) I - S)`.
    pub second: [[f64; 3]; 3],
}

impl Moments {
    /// The moments of `volumes` \[m^3\] concentrated at `positions` \[m\].
    pub fn of_points(positions: &[[f64; 3]], volumes: &[f64]) -> Moments {
        let weighted = || positions.iter().zip(volumes);
        let volume: f64 = volumes.iter().sum();
        let first = weighted().fold([0.0; 3], |sum, (&x, &v)| add(sum, scale(x, v)));
        let centroid = scale(first, 1.0 / volume);
        let mut second = [[0.0; 3]; 3];
        for (&x, &v) in weighted() {
            add_outer(&mut second, sub(x, centroid), v);
        }
        Moments { volume, centroid, second }
    }

    /// Of what triangles enclose: the sum over the tetrahedra that they make with a point, whose moments are exact.
    pub(super) fn enclosed(vertices: &[Point], triangles: &[[u32; 3]], near: Point) -> Moments {
        let (mut volume, mut first, mut second) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
        for t in triangles {
            let corners = t.map(|i| sub(vertices[i as usize], near));
            let [a, b, c] = corners;
            let v = dot(a, cross(b, c)) / 6.0;
            let sum = add(add(a, b), c);
            volume += v;
            first = add(first, scale(sum, 0.25 * v));
            corners.into_iter().chain([sum]).for_each(|p| add_outer(&mut second, p, v / 20.0));
        }
        let from_near = scale(first, 1.0 / volume);
        add_outer(&mut second, from_near, -volume);
        Moments { volume, centroid: add(near, from_near), second }
    }
}

/// Adds `weight p p^T`.
fn add_outer(to: &mut [[f64; 3]; 3], p: Point, weight: f64) {
    for (row, pi) in to.iter_mut().zip(p) {
        for (s, pj) in row.iter_mut().zip(p) {
            *s += weight * pi * pj;
        }
    }
}
