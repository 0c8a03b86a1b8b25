//! Surfaces of revolution about z.

use super::solid::affordable;
use crate::error::Result;
use crate::mesh::ClosedMesh;
use std::f64::consts::{SQRT_2, TAU};

/// Steps of a profile are this much shorter than the longest edge, since a diagonal belongs to two steps.
pub(super) const STEP: f64 = 1.0 / SQRT_2;

/// What a profile of radius and height becomes.
pub(super) enum Ends {
    /// The first and last point lie on the axis.
    Poles,
    /// The last point is followed by the first.
    Ring,
}

/// The profile, which has the body on its left, turned about z. Its points are at most `STEP edge` apart.
pub(super) fn revolve(profile: &[[f64; 2]], ends: Ends, edge: f64) -> Result<ClosedMesh> {
    let widest = profile.iter().map(|p| p[0]).fold(0.0, f64::max);
    let around = (TAU * widest / (STEP * edge)).ceil().max(4.0);
    affordable(2.0 * around * profile.len() as f64, edge)?;
    let around = around as usize;
    let turned = |[r, z]: [f64; 2]| {
        (0..around).map(move |j| {
            let (sin, cos) = (TAU * j as f64 / around as f64).sin_cos();
            [r * cos, r * sin, z]
        })
    };
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    let circles = match ends {
        Ends::Poles => &profile[1..profile.len() - 1],
        Ends::Ring => profile,
    };
    circles.iter().for_each(|&p| vertices.extend(turned(p)));
    let at = |circle: usize, j: usize| (circle % circles.len() * around + j % around) as u32;
    let bands = match ends {
        Ends::Poles => circles.len() - 1,
        Ends::Ring => circles.len(),
    };
    for (k, j) in (0..bands * around).map(|n| (n / around, n % around)) {
        let [a, b, c, d] = [at(k, j), at(k, j + 1), at(k + 1, j + 1), at(k + 1, j)];
        triangles.extend([[a, b, c], [a, c, d]]);
    }
    if let (Ends::Poles, [[_, bottom], .., [_, top]]) = (ends, profile) {
        let (first, last) = (vertices.len() as u32, circles.len() - 1);
        vertices.extend([[0.0, 0.0, *bottom], [0.0, 0.0, *top]]);
        for j in 0..around {
            triangles.extend([[first, at(0, j + 1), at(0, j)], [first + 1, at(last, j), at(last, j + 1)]]);
        }
    }
    Ok(ClosedMesh::trusted(vertices, triangles))
}
