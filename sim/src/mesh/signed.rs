//! Signed distances from a surface, sampled on a grid.

use super::closed::ClosedMesh;
use super::inscribed::Inscribed;
use super::vector::{Point, norm, sub};

/// By how much of a spacing the lines along which crossings are counted miss the places of samples, so that they run through no edge of a regular surface.
const ASIDE: [f64; 2] = [3.1e-7, 2.3e-7];

/// Places of samples: the first \[m\], how far they are apart along each axis \[m\], and their number; the last axis runs fastest.
pub(crate) struct Samples {
    pub(crate) first: Point,
    pub(crate) spacing: Point,
    pub(crate) count: [usize; 3],
}

/// Distances \[m\] of the samples from the surface, negative inside, of a size of at most `most`. Each is looked for no
/// farther than its neighbour's reaches, if something is there.
pub(crate) fn signed_distances(mesh: &ClosedMesh, samples: &Samples, most: f64) -> diffkern::Result<Vec<f64>> {
    let (inside, [nx, ny, nz]) = (Inscribed::new(mesh)?, samples.count);
    let mut all: Vec<f64> = diffkern::memory::with_room(nx * ny * nz)?;
    // No farther than a neighbour is, and that is away; but for rounding.
    let beside = |of: f64, axis: usize| (1.0 + 1e-9) * (of.abs() + samples.spacing[axis]);
    for (i, j) in (0..nx).flat_map(|i| (0..ny).map(move |j| (i, j))) {
        let place = |k: usize| {
            let index = [i, j, k].map(|k| k as f64);
            [0, 1, 2].map(|a| samples.first[a] + index[a] * samples.spacing[a])
        };
        let [x, y, _] = place(0);
        let crossed = inside.crossings([x + ASIDE[0] * samples.spacing[0], y + ASIDE[1] * samples.spacing[1]]);
        let mut reach = match (i, j) {
            (0, 0) => most,
            (_, 0) => beside(all[all.len() - ny * nz], 0),
            _ => beside(all[all.len() - nz], 1),
        };
        all.extend((0..nz).map(|k| {
            let at = place(k);
            let mut near = inside.nearest(at, reach.min(most));
            if near.is_none() && reach < most {
                // Far from the origin rounding may hide what is just within reach.
                near = inside.nearest(at, most);
            }
            let away = near.map_or(most, |q| norm(sub(q, at)).min(most));
            reach = beside(away, 2);
            let below = crossed.iter().filter(|&&z| z < at[2]).count();
            if below % 2 == 1 { -away } else { away }
        }));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::shape::{Cuboid, Primitive, Torus};

    /// Against closed forms, of a box whose faces are at samples and of a ring.
    #[test]
    fn distances_have_their_size_and_sign() -> Result<()> {
        let samples = Samples { first: [-0.6, -0.6, -0.4], spacing: [0.1, 0.1, 0.05], count: [13, 13, 17] };
        let half = [0.5, 0.3, 0.2];
        let of_box = |x: Point| {
            let d = [0, 1, 2].map(|a| x[a].abs() - half[a]);
            norm(d.map(|d| d.max(0.0))) + d[0].max(d[1]).max(d[2]).min(0.0)
        };
        let of_ring = |[x, y, z]: Point| f64::hypot(f64::hypot(x, y) - 0.4, z) - 0.15;
        type Case<'a> = (Primitive, &'a dyn Fn(Point) -> f64, f64);
        let bodies: [Case<'_>; 2] = [
            (Primitive::Cuboid(Cuboid { sides: half.map(|h| 2.0 * h) }), &of_box, 1e-12),
            (Primitive::Torus(Torus { radius: 0.4, tube: 0.15 }), &of_ring, 2e-3),
        ];
        for (body, distance, error) in bodies {
            let found = signed_distances(&body.surface(0.05)?, &samples, 0.2)?;
            for (n, d) in found.iter().enumerate() {
                let index = [n / (13 * 17), n / 17 % 13, n % 17];
                let at = [0, 1, 2].map(|a| samples.first[a] + index[a] as f64 * samples.spacing[a]);
                let expected = distance(at).clamp(-0.2, 0.2);
                assert!((d - expected).abs() < error, "{body:?} at {at:?}: {d} instead of {expected}");
            }
        }
        Ok(())
    }
}
