//! Points of the surface: where in the cells they are, and which area they stand for.

use super::cells::Cells;
use crate::error::{Error, Result};
use crate::mesh::{ClosedMesh, Inscribed, Point, add, centres, cross, divisions, indices, norm, scale, sub};
use std::collections::BTreeMap;

/// Part of the radius of an inscribed ball that a contact may have, so that on a floor the points next to an edge of a box do not touch with its sides.
const CLEAR: f64 = 0.6;

/// Contacts that a thread carries, all by one cell: their control points are gathered once.
pub(super) const PAIR: usize = 2;

/// Points carried by cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Carried {
    pub(super) cells: Vec<u32>,
    /// Place in the cell, in cells from its lowest corner.
    pub(super) at: Vec<Point>,
}

impl Carried {
    /// Carries a relative point by the cell of `number` that it is in, or the nearest; by the one after the last where it is held.
    pub(super) fn push(&mut self, cells: &Cells, number: &BTreeMap<[usize; 3], u32>, u: Point) -> Result<()> {
        if cells.holds(u) {
            self.cells.push(number.len() as u32);
            self.at.push(u);
            return Ok(());
        }
        // How far it is from the middle of a cell, along the axis where that is most.
        let far = |cell: &[usize; 3]| (0..3).map(|a| (u[a] - cell[a] as f64 - 0.5).abs()).fold(0.0, f64::max);
        let near = indices([3, 3, 3]).filter_map(|o| {
            let cell = [0, 1, 2].map(|a| (u[a].floor() as i64 + o[a] as i64 - 1) as usize);
            number.get_key_value(&cell)
        });
        let Some((cell, k)) = near.min_by(|a, b| far(a.0).total_cmp(&far(b.0))) else {
            let value = format!("{:?} m", cells.absolute(u));
            return Err(Error::invalid(
                "a place of the surface",
                value,
                "one in or next to a cell with a part of the body; use smaller cells",
            ));
        };
        self.cells.push(*k);
        self.at.push(sub(u, cell.map(|k| k as f64)));
        Ok(())
    }
}

/// Where contacts act on a body, in groups of [`PAIR`] of one cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Contacts {
    pub(super) carried: Carried,
    /// What each stands for \[m^2\].
    pub(super) areas: Vec<f64>,
    /// How far inside of the surface each is \[m\].
    pub(super) depths: Vec<f64>,
}

impl Contacts {
    /// On a surface in points at most about half of `edge` apart, and up to `depth` \[m\] inside of it, where a ball of this radius is inside.
    pub(super) fn of(
        surface: &ClosedMesh,
        [edge, depth]: [f64; 2],
        cells: &Cells,
        number: &BTreeMap<[usize; 3], u32>,
    ) -> Result<Contacts> {
        let (inside, mut all) = (Inscribed::new(surface)?, Contacts::default());
        for (at, outward, area) in contact_points(surface, edge)? {
            if !cells.holds(cells.relative(at)) {
                let depth = CLEAR * inside.radius(at, outward, depth / CLEAR);
                all.carried.push(cells, number, cells.relative(sub(at, scale(outward, depth))))?;
                all.areas.push(area);
                all.depths.push(depth);
            }
        }
        Ok(all.by_pairs())
    }

    /// The same by cells, those of each in pairs: the last of a cell is filled up with one that stands for no area.
    fn by_pairs(self) -> Contacts {
        let mut order: Vec<usize> = (0..self.areas.len()).collect();
        order.sort_by_key(|&k| self.carried.cells[k]);
        let mut all = Contacts::default();
        for own in order.chunk_by(|&a, &b| self.carried.cells[a] == self.carried.cells[b]) {
            for place in 0..own.len().next_multiple_of(PAIR) {
                let (k, area) = own.get(place).map_or((own[0], 0.0), |&k| (k, self.areas[k]));
                all.carried.cells.push(self.carried.cells[k]);
                all.carried.at.push(self.carried.at[k]);
                all.areas.push(area);
                all.depths.push(self.depths[k]);
            }
        }
        all
    }
}

/// Points at most about `edge / 2` \[m\] apart on a surface, each with its normal and its area: centres of its triangles, divided into equal ones with edges of at most
/// `edge`. Of a box that stands on a floor those of the sides are above it, while corners would press with the areas of the sides too.
fn contact_points(surface: &ClosedMesh, edge: f64) -> Result<Vec<(Point, Point, f64)>> {
    let mut points = Vec::new();
    for t in surface.triangles() {
        let [a, b, c] = t.map(|i| surface.vertices()[i as usize]);
        let (ab, ac, n) = (sub(b, a), sub(c, a), divisions([a, b, c], edge, "size of the cells")?);
        let normal = cross(ab, ac);
        let (outward, area) = (scale(normal, 1.0 / norm(normal)), 0.5 * norm(normal) / (n * n) as f64);
        points.extend(centres(n).map(|[i, j]| (add(a, add(scale(ab, i), scale(ac, j))), outward, area)));
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fem::lattice::Body;
    use crate::mesh::Pose;
    use crate::shape::{Primitive, Sphere};

    /// Of a ball, whose cells carry odd numbers of contacts, too.
    #[test]
    fn pairs_are_of_one_cell_and_stand_for_the_surface() -> Result<()> {
        let (ball, cell) = (Primitive::Sphere(Sphere { radius: 0.05 }), 0.021);
        let surface = ball.surface(cell)?;
        let Contacts { carried, areas, depths } =
            Body { pose: Pose::at([0.3, 0.1, 0.2]), ..Body::new(ball, cell) }.build()?.contacts;
        assert!(areas.len() == depths.len() && areas.len() == carried.cells.len() && areas.len() == carried.at.len());
        assert!(areas.len().is_multiple_of(PAIR) && areas.contains(&0.0), "some are filled up");
        assert!(carried.cells.chunks(PAIR).all(|pair| pair[0] == pair[1]));
        let of = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|k| surface.vertices()[k as usize]);
            0.5 * norm(cross(sub(b, a), sub(c, a)))
        };
        let (found, expected) = (areas.iter().sum::<f64>(), surface.triangles().iter().map(of).sum::<f64>());
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} m^2, not {expected}");
        Ok(())
    }
}
