//! A box.

use super::solid::{Solid, affordable, pieces};
use crate::error::{Result, positive};
use crate::mesh::{ClosedMesh, Point, norm, quads};
use std::collections::HashMap;
use std::f64::consts::SQRT_2;

/// A box around the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuboid {
    /// Lengths along x, y and z \[m\].
    pub sides: [f64; 3],
}

impl Solid for Cuboid {
    fn check(&self) -> Result<()> {
        let mut axes = ['x', 'y', 'z'].into_iter().zip(self.sides);
        axes.try_for_each(|(axis, side)| positive(&format!("side of the box along {axis}"), side).map(drop))
    }

    fn volume(&self) -> f64 {
        self.sides.iter().product()
    }

    fn second(&self) -> [f64; 3] {
        self.sides.map(|side| self.volume() * side * side / 12.0)
    }

    fn level(&self, x: Point) -> f64 {
        let beyond = [0, 1, 2].map(|a| x[a].abs() - 0.5 * self.sides[a]);
        let inside = beyond.iter().fold(f64::NEG_INFINITY, |m, &d| m.max(d)).min(0.0);
        norm(beyond.map(|d| d.max(0.0))) + inside
    }

    fn extent(&self) -> Point {
        self.sides.map(|side| 0.5 * side)
    }

    fn surface(&self, edge: f64) -> Result<ClosedMesh> {
        let counts = self.sides.map(|side| pieces(side, edge / SQRT_2));
        let [x, y, z] = counts;
        affordable(4.0 * (x * y + y * z + z * x), edge)?;
        let sizes = counts.map(|n| n as usize + 1);
        let (mut vertices, mut triangles, mut number) = (Vec::new(), Vec::new(), HashMap::new());
        let mut vertex = |at: [usize; 3]| {
            *number.entry(at).or_insert_with(|| {
                vertices.push([0, 1, 2].map(|a| (at[a] as f64 / counts[a] - 0.5) * self.sides[a]));
                vertices.len() as u32 - 1
            })
        };
        for side in 0..6 {
            for quad in quads(side, sizes) {
                let [a, b, c, d] = quad.map(&mut vertex);
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        Ok(ClosedMesh::trusted(vertices, triangles))
    }
}
