//! A gear of tetrahedra.
//!
//! Hexahedra of a polar grid, each cut into six. The directions of the grid are those of the radius, of the angle and of the axis, of a right hand everywhere; the cells before and after
//! a full turn are neighbours as all others are.

use super::block::indices;
use super::closed::ClosedMesh;
use super::kuhn;
use crate::error::{Error, Result, positive};
use diffkern::memory::collect;
use std::f64::consts::TAU;

const TEETH: usize = 12;
/// Cells around the ring: below each tooth one, and one between it and the next.
const SECTORS: usize = 2 * TEETH;
/// Cells along the axis.
const LAYERS: usize = 4;
/// Circles of vertices: of the bore, the root, half way up the teeth, and the tips.
const CIRCLES: usize = 4;

/// A spur gear of 12 teeth and 1,152 tetrahedra around the z axis, from half its thickness below the origin to half above, a tooth on the x axis.
///
/// The gear of gradSim has as many tetrahedra (Jatavallabhula et al., ICLR 2021). 24 sectors of 15 degrees are a ring between bore and root, and
/// every second carries a tooth with flanks along the radius. Circles are chords between the sides of the sectors. All vertices are on the surface.
///
/// ```
/// use diffkern_sim::diffsim::TetMesh;
/// use diffkern_sim::mesh::Gear;
///
/// let gear = Gear { bore: 0.02, root: 0.06, tip: 0.08, thickness: 0.03 };
/// let mesh = TetMesh::new(gear.vertices()?, Gear::tets())?;
/// assert_eq!((mesh.vertices().len(), mesh.tets().len()), (480, 1152));
/// assert_eq!(gear.surface()?.vertices(), mesh.vertices());
/// # Ok::<(), diffkern_sim::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gear {
    /// Radius of the hole \[m\].
    pub bore: f64,
    /// Radius at the feet of the teeth \[m\]; more than that of the bore.
    pub root: f64,
    /// Radius at the tips of the teeth \[m\]; more than that of the root.
    pub tip: f64,
    /// Length along the axis \[m\].
    pub thickness: f64,
}

impl Gear {
    /// Exact volume of the tetrahedra \[m^3\].
    pub fn volume(&self) -> f64 {
        // Twice the area of a triangle from the axis over a chord of a circle.
        let twice = |radius: f64| (TAU / SECTORS as f64).sin() * radius * radius;
        let (ring, tooth) = (twice(self.root) - twice(self.bore), twice(self.tip) - twice(self.root));
        0.5 * self.thickness * (SECTORS as f64 * ring + TEETH as f64 * tooth)
    }

    /// Places of the vertices \[m\].
    ///
    /// # Errors
    /// When a dimension is not positive, a radius is not more than the one inside it, or memory is short.
    pub fn vertices(&self) -> Result<Vec<[f64; 3]>> {
        let bore = positive("bore radius of the gear", self.bore)?;
        let root = beyond("root radius of the gear", self.root, bore)?;
        let tip = beyond("tip radius of the gear", self.tip, root)?;
        let thickness = positive("thickness of the gear", self.thickness)?;
        let radii: [f64; CIRCLES] = [bore, root, 0.5 * (root + tip), tip];
        let place = |[i, j, k]: [usize; 3]| {
            let (sin, cos) = (TAU * (j as f64 - 0.5) / SECTORS as f64).sin_cos();
            [radii[i] * cos, radii[i] * sin, thickness * (k as f64 / LAYERS as f64 - 0.5)]
        };
        Ok(collect(indices([CIRCLES, SECTORS, LAYERS + 1]).map(place))?)
    }

    /// Corners of the tetrahedra, in the order of a right hand: the same for all gears.
    pub fn tets() -> Vec<[u32; 4]> {
        let filled = |&[i, j, _]: &[usize; 3]| i == 0 || j.is_multiple_of(2);
        let cells = indices([CIRCLES - 1, SECTORS, LAYERS]).filter(filled);
        cells.flat_map(|cell| (0..kuhn::TETS).map(move |k| kuhn::tet(cell, k, corner))).collect()
    }

    /// The faces that one tetrahedron alone has, over [`vertices`](Gear::vertices).
    ///
    /// # Errors
    /// When a dimension is not positive, a radius is not more than the one inside it, or so little more that faces have no area; when memory is
    /// short.
    pub fn surface(&self) -> Result<ClosedMesh> {
        ClosedMesh::new(self.vertices()?, boundary(&Gear::tets()))
    }
}

/// `radius` if it is finite and more than the one `inside` it.
fn beyond(what: &str, radius: f64, inside: f64) -> Result<f64> {
    match positive(what, radius)? > inside {
        true => Ok(radius),
        false => Err(Error::invalid(what, radius, format!("more than {inside}, the radius inside it"))),
    }
}

/// Index of a vertex by its circle, the side of a sector and the level; after a full turn it is the first again.
fn corner([i, j, k]: [usize; 3]) -> u32 {
    ((i * SECTORS + j % SECTORS) * (LAYERS + 1) + k) as u32
}

/// The faces that one of the tetrahedra alone has, counter-clockwise seen from outside.
fn boundary(tets: &[[u32; 4]]) -> Vec<[u32; 3]> {
    let key = |face: &[u32; 3]| {
        let mut key = *face;
        key.sort_unstable();
        key
    };
    let sides = |&[a, b, c, d]: &[u32; 4]| [[a, c, b], [a, b, d], [a, d, c], [b, c, d]];
    let mut faces: Vec<[u32; 3]> = tets.iter().flat_map(sides).collect();
    faces.sort_unstable_by_key(key);
    faces.chunk_by(|a, b| key(a) == key(b)).filter(|same| same.len() == 1).flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::vector::{cross, dot, sub};
    use std::collections::HashSet;

    const GEAR: Gear = Gear { bore: 0.02, root: 0.06, tip: 0.083, thickness: 0.03 };

    #[test]
    fn is_filled_by_its_tetrahedra() {
        let (x, tets) = (GEAR.vertices().unwrap(), Gear::tets());
        assert_eq!(tets.len(), 1152);
        let volume = |t: &[u32; 4]| {
            let [a, b, c, d] = t.map(|i| x[i as usize]);
            dot(cross(sub(b, a), sub(c, a)), sub(d, a)) / 6.0
        };
        let volumes: Vec<f64> = tets.iter().map(volume).collect();
        assert!(volumes.iter().all(|&v| v > 0.0), "{volumes:?}");
        // Sectors of a ring between chords.
        let sector = |inner: f64, outer: f64| 0.5 * 15f64.to_radians().sin() * (outer.powi(2) - inner.powi(2));
        let exact = 0.03 * (24.0 * sector(0.02, 0.06) + 12.0 * sector(0.06, 0.083));
        let enclosed = GEAR.surface().unwrap().moments().volume;
        for found in [volumes.iter().sum(), enclosed, GEAR.volume()] {
            assert!((found / exact - 1.0).abs() < 1e-12, "{found} instead of {exact}");
        }
    }

    #[test]
    fn every_vertex_is_of_a_tetrahedron_and_on_the_surface() {
        let (surface, tets) = (GEAR.surface().unwrap(), Gear::tets());
        let all: HashSet<u32> = (0..surface.vertices().len() as u32).collect();
        assert_eq!(all.len(), 480);
        assert_eq!(tets.iter().flatten().copied().collect::<HashSet<_>>(), all);
        assert_eq!(surface.triangles().iter().flatten().copied().collect::<HashSet<_>>(), all);
    }

    #[test]
    fn the_surface_is_closed_with_one_hole_through_it() {
        let surface = GEAR.surface().unwrap();
        // Two a quad: 48 on each of the two ends, 96 on the bore, 96 on tips and between teeth, 192 on flanks.
        assert_eq!(surface.triangles().len(), 2 * (2 * 48 + 96 + 96 + 192));
        let edges = || surface.triangles().iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]);
        let directed: HashSet<(u32, u32)> = edges().collect();
        assert_eq!(directed.len(), edges().count(), "an edge is of two triangles in one direction");
        assert!(directed.iter().all(|&(a, b)| directed.contains(&(b, a))));
        assert_eq!(surface.euler_characteristic(), 0);
    }

    #[test]
    fn dimensions_that_are_no_gear_are_refused_by_name() {
        for (gear, expected) in [
            (Gear { bore: 0.0, ..GEAR }, "bore radius of the gear is 0, expected a positive number"),
            (Gear { bore: f64::NAN, ..GEAR }, "bore radius of the gear is NaN, expected a positive number"),
            (
                Gear { root: 0.02, ..GEAR },
                "root radius of the gear is 0.02, expected more than 0.02, the radius inside it",
            ),
            (Gear { root: -0.06, ..GEAR }, "root radius of the gear is -0.06, expected a positive number"),
            (
                Gear { tip: 0.05, ..GEAR },
                "tip radius of the gear is 0.05, expected more than 0.06, the radius inside it",
            ),
            (Gear { tip: f64::INFINITY, ..GEAR }, "tip radius of the gear is inf, expected a positive number"),
            (Gear { thickness: -1.0, ..GEAR }, "thickness of the gear is -1, expected a positive number"),
        ] {
            assert_eq!(gear.vertices().unwrap_err().to_string(), expected);
            assert_eq!(gear.surface().unwrap_err().to_string(), expected);
        }
    }
}
