//! A body, and what the cells of its lattice have of it.

use super::cells::{Cells, Clamp};
use super::numbering::{Numbering, numbered};
use super::quadrature::{CellPart, cell_parts};
use super::shape::mean_shape;
use super::state::State;
use super::surface::{Carried, Contacts};
use crate::error::{Error, Result};
use crate::mesh::{ClosedMesh, Point, Pose, add, cross, flat_axes, flat_ends, scale, sub};
use crate::shape::{Primitive, Shape};
use diffkern::prelude::*;
use std::collections::BTreeMap;

/// A body of any shape in a lattice of cells, as plain data.
///
/// The lattice lies along the axes of the shape's own frame, so that a body has the same cells however it is turned by its pose; of a surface with flat faces, which neither
/// [`corner`](Body::corner) nor clamps lay, along these. Cells fit a box, and other bodies from one flat end to the other; else bodies are cut from cubes.
///
/// ```
/// use diffkern_sim::fem::lattice::Body;
/// use diffkern_sim::mesh::Pose;
/// use diffkern_sim::shape::{Primitive, Sphere};
///
/// let ball = Primitive::Sphere(Sphere { radius: 0.1 });
/// let cut = Body { pose: Pose::at([0.0, 0.0, 0.5]), ..Body::new(ball, 0.05) }.build()?; // four cells across
/// assert!((cut.volume() / ball.moments()?.volume - 1.0).abs() < 1e-6);
/// # Ok::<(), diffkern_sim::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// What it is.
    pub shape: Shape,
    /// Edge of a cell \[m\], of a box about.
    pub cell: f64,
    /// Where it is and how it is turned.
    pub pose: Pose,
    /// A corner of a cell in the frame of the shape \[m\]. Without it cells lie symmetrically about the body.
    pub corner: Option<[f64; 3]>,
    /// What holds it, in the frame of the shape.
    pub clamps: Vec<Clamp>,
}

/// A body cut into cells.
#[derive(Clone, Debug, PartialEq)]
pub struct CutBody {
    pub(super) size: Point,
    cells: Cells,
    pose: Pose,
    pub(super) numbering: Numbering,
    pub(super) parts: Vec<CellPart>,
    pub(super) mesh: ClosedMesh,
    /// The vertices of `mesh`.
    pub(super) vertices: Carried,
    pub(super) contacts: Contacts,
    /// Control points at rest \[m\], in the world.
    rest: Vec<Point>,
    /// Centres of the parts of the body in the cells \[m\], in the world.
    cell_centres: Vec<Point>,
    /// Centre of mass \[m\], in the world.
    centre: Point,
    /// Volume of the whole body, held or free \[m^3\], and its centre \[m\].
    whole: (f64, Point),
}

impl Body {
    /// A body where its shape is, free, in cells of edge `cell` \[m\].
    pub fn new(shape: impl Into<Shape>, cell: f64) -> Body {
        Body { shape: shape.into(), cell, pose: Pose::default(), corner: None, clamps: Vec::new() }
    }

    /// Cuts it. The volume in cells is the body's to rounding, or for a clamp that of what is free; so is its centre.
    ///
    /// # Errors
    /// As [`Primitive::surface`](crate::shape::Primitive::surface) and [`read`](crate::mesh::read); when the cells are too large for the
    /// body, twice the volume of which over its surface, the thickness of a plate, is less than two fifths of a cell; or a clamp is out of place.
    pub fn build(&self) -> Result<CutBody> {
        self.pose.check()?;
        crate::error::positive("size of the cells", self.cell)?;
        let filling = self.shape.enclosing(0.25 * self.cell)?;
        thick_enough(&filling, self.cell)?;
        let (filling, pose) = self.laid(filling);
        let fits = match &self.shape {
            Shape::Primitive(primitive) => [matches!(primitive, Primitive::Cuboid(_)); 3],
            Shape::Mesh(_) | Shape::File { .. } if self.clamps.is_empty() => flat_ends(&filling),
            Shape::Mesh(_) | Shape::File { .. } => [false; 3],
        };
        let cells = Cells::about(fits, filling.bounds(), self.cell, self.corner, &self.clamps)?;
        let parts = cell_parts(&cells.pieces(&filling)?)?;
        let surface = |edge: f64| match &self.shape {
            Shape::Primitive(primitive) => primitive.surface(edge),
            Shape::Mesh(_) | Shape::File { .. } => Ok(filling.clone()),
        };
        let mesh = surface(0.5 * self.cell)?;
        let number: BTreeMap<_, _> = parts.iter().enumerate().map(|(k, p)| (p.cell, k as u32)).collect();
        let mut vertices = Carried::default();
        mesh.vertices().iter().try_for_each(|&v| vertices.push(&cells, &number, cells.relative(v)))?;
        let contacts =
            Contacts::of(&surface(self.cell)?, [CONTACT_EDGE * self.cell, super::DEPTH * self.cell], &cells, &number)?;
        let held = [&vertices, &contacts.carried].iter().any(|c| c.cells.contains(&(parts.len() as u32)));
        let indices: Vec<_> = parts.iter().map(|p| p.cell).collect();
        let numbering = numbered(&indices, &cells.planes, held);
        let placed = |u: Point| pose.apply(cells.absolute(u));
        let rest = numbering.nodes.iter().map(|&u| placed(u)).collect();
        let volume: f64 = parts.iter().map(|p| p.volume).sum();
        let part_centre = |p: &CellPart| placed(add(p.cell.map(|k| k as f64), p.centre));
        let cell_centres: Vec<Point> = parts.iter().map(part_centre).collect();
        let moments = cell_centres.iter().zip(&parts).map(|(&x, p)| scale(x, p.volume / volume));
        let centre = moments.fold([0.0; 3], add);
        let whole = filling.moments();
        Ok(CutBody {
            size: cells.size,
            pose,
            whole: (whole.volume, pose.apply(whole.centroid)),
            centre,
            cell_centres,
            numbering,
            parts,
            mesh: mesh.moved(1.0, &pose),
            vertices,
            contacts,
            rest,
            cells,
        })
    }
}

impl Body {
    /// A surface of it in the frame of the lattice, and where that frame is.
    fn laid(&self, surface: ClosedMesh) -> (ClosedMesh, Pose) {
        let free = self.corner.is_none() && self.clamps.is_empty();
        let turned = match &self.shape {
            Shape::Mesh(_) | Shape::File { .. } if free => flat_axes(&surface),
            _ => None,
        };
        match turned {
            None => (surface, self.pose),
            Some(turned) => {
                let back = Pose { rotation: scale(turned, -1.0), ..Pose::default() };
                (surface.moved(1.0, &back), self.pose.after(turned))
            }
        }
    }
}

/// Longest edge in cells of the triangles at whose centres contacts act: that of a square of a cell in two triangles.
const CONTACT_EDGE: f64 = 1.5;

/// Least thickness in cells.
const THINNEST: f64 = 0.4;

/// Refuses bodies of which eight points a cell do not see the bending.
fn thick_enough(body: &ClosedMesh, cell: f64) -> Result<()> {
    let thickness = 2.0 * body.moments().volume / body.area();
    match thickness >= THINNEST * cell {
        true => Ok(()),
        false => Err(Error::invalid(
            "thickness of the body, twice its volume over its surface [m],",
            thickness,
            format!("at least two fifths of a cell, {}: smaller cells", THINNEST * cell),
        )),
    }
}

impl CutBody {
    /// Number of cells with a part of the body.
    pub fn cells(&self) -> usize {
        self.parts.len()
    }

    /// Volume of what is in the cells \[m^3\].
    pub fn volume(&self) -> f64 {
        self.parts.iter().map(|p| p.volume).sum::<f64>() * self.size.iter().product::<f64>()
    }

    /// Its centre of mass \[m\], of uniform density.
    pub fn centre(&self) -> [f64; 3] {
        self.centre
    }

    /// Positions of the control points at rest \[m\].
    pub fn rest(&self) -> &[[f64; 3]] {
        &self.rest
    }

    /// Centres at rest \[m\] of the parts of the body in the cells: where parameters by cell are.
    pub fn cell_centres(&self) -> &[[f64; 3]] {
        &self.cell_centres
    }

    /// Edges of a cell \[m\].
    pub fn cell_size(&self) -> [f64; 3] {
        self.size
    }

    /// The centre of mass of the whole body as it moves, what is held included, of uniform density: the weight of each control point, and
    /// what is added \[m\].
    pub fn centre_weights(&self) -> (Vec<f64>, [f64; 3]) {
        let mut weights = vec![0.0; self.rest.len()];
        let whole: f64 = self.size.iter().product::<f64>() / self.whole.0;
        for (k, part) in self.parts.iter().enumerate() {
            for (n, (mean, _)) in mean_shape(&part.points).into_iter().enumerate() {
                weights[self.numbering.rows[9 * k + n / 3] as usize + n % 3] += part.volume * whole * mean;
            }
        }
        let free: f64 = weights.iter().sum();
        (weights, sub(self.whole.1, scale(self.centre, free)))
    }

    /// Whether a control point moves freely: those next to a clamp are tied or held.
    pub fn is_free(&self, point: usize) -> bool {
        self.numbering.ties[point] as usize == point
    }

    /// Points in or on the body at rest \[m\], in the world, as places in cells.
    pub(super) fn carriers(&self, points: &[Point]) -> Result<Carried> {
        let number: BTreeMap<_, _> = self.parts.iter().enumerate().map(|(k, p)| (p.cell, k as u32)).collect();
        let mut carried = Carried::default();
        for &x in points {
            let u = self.cells.relative(self.pose.apply_inverse(x));
            if self.cells.holds(u) && !self.has_held() {
                let expected = "one of the free part";
                return Err(Error::invalid("a point of the body", format!("{x:?} m"), expected));
            }
            carried.push(&self.cells, &number, u)?;
        }
        Ok(carried)
    }

    /// A place \[m\] in the world, of the body at rest, in its own frame.
    pub(super) fn own(&self, x: Point) -> Point {
        self.pose.apply_inverse(x)
    }

    /// A place in cells in its own frame \[m\].
    pub(super) fn absolute(&self, u: Point) -> Point {
        self.cells.absolute(u)
    }

    /// Whether there are control points that stand for what is held.
    pub(super) fn has_held(&self) -> bool {
        self.numbering.rows.len() > 9 * self.parts.len()
    }

    /// Its surface at rest.
    pub fn mesh(&self) -> &ClosedMesh {
        &self.mesh
    }

    /// At rest but for a rigid motion of the free part: `velocity` \[m/s\] of the centre of mass and `spin` \[rad/s\] about it.
    ///
    /// # Errors
    /// When memory is short.
    pub fn state<F: Float>(&self, device: &Device, velocity: [f64; 3], spin: [f64; 3]) -> Result<State<F>> {
        State::new(device, &self.rest, &self.speeds(velocity, spin))
    }

    /// Velocities \[m/s\] of the control points in a rigid motion of the free part.
    pub(super) fn speeds(&self, velocity: Point, spin: Point) -> Vec<Point> {
        let moving = |x: Point| add(velocity, cross(spin, sub(x, self.centre)));
        self.rest.iter().enumerate().map(|(k, &x)| if self.is_free(k) { moving(x) } else { [0.0; 3] }).collect()
    }
}
