//! One body of a scene, as plain data.

use crate::error::{Error, Result, non_negative, positive};
use crate::mesh::{BlockLattice, Carried, ClosedMesh, Pose, read};
use crate::shape::{Body, Cuboid, Lattice, Primitive, Shape};
use diffkern::memory::{collect, filled};

/// Pieces along the longest side by which the extent of a primitive is found.
const PIECES: f64 = 24.0;

/// What a body of a scene looks like at rest.
#[derive(Clone, Debug, PartialEq)]
pub enum BodyShape {
    /// A block along the axes, whose particles lie in a lattice that fits its sides.
    Block {
        /// Corner with the smallest coordinates \[m\].
        min: [f64; 3],
        /// Corner with the largest coordinates \[m\].
        max: [f64; 3],
    },
    /// Any other solid, filled as [`Body`] does.
    Solid(Solid),
}

/// A solid in its place, with what a plan needs of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Solid {
    shape: Shape,
    pose: Pose,
    /// Points of its surface \[m\].
    points: Vec<[f64; 3]>,
    bounds: [[f64; 3]; 2],
    volume: f64,
    centre: [f64; 3],
    /// Of a surface from elsewhere.
    vertices: Option<usize>,
}

impl Solid {
    /// `shape` at `pose`; a file is read now.
    ///
    /// # Errors
    /// As [`Primitive::surface`](crate::shape::Primitive::surface), [`read`] and [`ClosedMesh::placed`].
    pub fn new(shape: impl Into<Shape>, pose: Pose) -> Result<Solid> {
        pose.check()?;
        let (shape, mesh, vertices) = match shape.into() {
            Shape::Primitive(primitive) => {
                let [low, high] = primitive.bounds();
                let longest = (0..3).map(|a| high[a] - low[a]).fold(0.0, f64::max);
                let mesh = primitive.surface(positive("size of the body", longest)? / PIECES)?;
                (Shape::Primitive(primitive), mesh, None)
            }
            Shape::Mesh(mesh) => (Shape::Mesh(mesh.clone()), mesh.clone(), Some(mesh.vertices().len())),
            Shape::File { path, scale } => {
                let mesh = read(&path, scale)?;
                (Shape::Mesh(mesh.clone()), mesh.clone(), Some(mesh.vertices().len()))
            }
        };
        let volume = match &shape {
            Shape::Primitive(primitive) => primitive.moments()?.volume,
            Shape::Mesh(_) | Shape::File { .. } => mesh.moments().volume,
        };
        let placed = mesh.placed(1.0, &pose)?;
        let points = collect(placed.vertices().iter().copied())?;
        Ok(Solid { bounds: bounds(&placed), points, volume, centre: placed.moments().centroid, shape, pose, vertices })
    }
}

impl Solid {
    /// Where it is, from its shape's own frame.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// With particles and vertices about `spacing` \[m\] apart.
    fn cut(&self, spacing: f64) -> Body {
        let lattice = Lattice::about_the_body(spacing);
        Body { shape: self.shape.clone(), pose: self.pose, lattice, edge: spacing }
    }
}

fn bounds(mesh: &ClosedMesh) -> [[f64; 3]; 2] {
    let along = |a: usize| mesh.vertices().iter().map(move |v| v[a]);
    [
        [0, 1, 2].map(|a| along(a).fold(f64::INFINITY, f64::min)),
        [0, 1, 2].map(|a| along(a).fold(f64::NEG_INFINITY, f64::max)),
    ]
}

/// A body of elastic material, stress free at the start. Ranges are `[smallest, largest]`; a known value is one of width 0.
#[derive(Clone, Debug, PartialEq)]
pub struct BodySpec {
    /// What it looks like, and where.
    pub shape: BodyShape,
    /// Initial velocity of the centre of mass \[m/s\].
    pub velocity: [f64; 3],
    /// Initial angular velocity about the centre of mass \[rad/s\].
    pub angular_velocity: [f64; 3],
    /// Largest speed that the initial velocities may have \[m/s\], where they are not known.
    pub top_speed: f64,
    /// First Lamé parameter \[Pa\].
    pub mu: [f64; 2],
    /// Second Lamé parameter \[Pa\].
    pub lambda: [f64; 2],
    /// Density at rest \[kg/m^3\].
    pub density: [f64; 2],
    /// Viscosity \[Pa s\].
    pub viscosity: [f64; 2],
    /// A Maxwell branch beside the law, of bodies by finite elements.
    pub relaxation: Option<RelaxationSpec>,
}

/// A Maxwell branch, by ranges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelaxationSpec {
    /// Its shear modulus \[Pa\].
    pub modulus: [f64; 2],
    /// Its relaxation time \[s\].
    pub time: [f64; 2],
}

impl Default for BodySpec {
    /// A 10 cm cube of soft gel at rest.
    fn default() -> BodySpec {
        BodySpec {
            shape: BodyShape::Block { min: [0.0; 3], max: [0.1; 3] },
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            top_speed: 0.0,
            mu: [5e3; 2],
            lambda: [1e4; 2],
            density: [1e3; 2],
            viscosity: [0.0; 2],
            relaxation: None,
        }
    }
}

/// How a body is cut, counted without making it.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// Particles an axis, of the box around it.
    pub cells: [f64; 3],
    /// Their distance an axis \[m\].
    pub spacing: [f64; 3],
    pub particles: f64,
    pub vertices: f64,
}

/// Particles of a body.
pub(super) struct Filled {
    pub positions: Vec<[f64; 3]>,
    pub volumes: Vec<f64>,
    /// How far from its middle something touches each \[m\]; none where they were not asked for.
    pub radii: Vec<f64>,
    pub carried: Carried,
}

impl BodyShape {
    /// Lowest and highest corner of the box around it \[m\].
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        match self {
            BodyShape::Block { min, max } => [*min, *max],
            BodyShape::Solid(solid) => solid.bounds,
        }
    }

    /// Centre of mass \[m\].
    pub fn centre(&self) -> [f64; 3] {
        match self {
            BodyShape::Block { min, max } => [0, 1, 2].map(|a| 0.5 * (min[a] + max[a])),
            BodyShape::Solid(solid) => solid.centre,
        }
    }

    /// Volume \[m^3\].
    pub fn volume(&self) -> f64 {
        match self {
            BodyShape::Block { min, max } => (0..3).map(|a| max[a] - min[a]).product(),
            BodyShape::Solid(solid) => solid.volume,
        }
    }

    /// Sides of the box around it \[m\].
    pub fn sides(&self) -> [f64; 3] {
        let [low, high] = self.bounds();
        [0, 1, 2].map(|a| high[a] - low[a])
    }

    /// Least and greatest `direction . x` of its points \[m\]; of a curved primitive those of a polyhedron with its vertices on it.
    pub fn span(&self, direction: [f64; 3]) -> [f64; 2] {
        let along = |x: &[f64; 3]| (0..3).map(|a| direction[a] * x[a]).sum::<f64>();
        let of = |values: &mut dyn Iterator<Item = f64>| {
            values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
        };
        match self {
            BodyShape::Block { min, max } => {
                let corner = |k: usize| [0, 1, 2].map(|a| if k >> a & 1 == 0 { min[a] } else { max[a] });
                of(&mut (0..8).map(|k| along(&corner(k))))
            }
            BodyShape::Solid(solid) => of(&mut solid.points.iter().map(along)),
        }
    }

    /// The shape in its own frame, and where it is.
    pub fn placed(&self) -> (Shape, Pose) {
        match self {
            BodyShape::Block { .. } => {
                let block = Primitive::Cuboid(Cuboid { sides: self.sides() });
                (Shape::Primitive(block), Pose::at(self.centre()))
            }
            BodyShape::Solid(solid) => (solid.shape.clone(), solid.pose),
        }
    }

    /// Points of its inside and its surface \[m\], about `pieces` along its longest side.
    ///
    /// # Errors
    /// When it cannot be filled, or memory is short.
    pub fn samples(&self, pieces: usize) -> Result<Vec<[f64; 3]>> {
        let sides = self.sides();
        let spacing = sides.iter().fold(0.0f64, |m, &s| m.max(s)) / pieces as f64;
        match self {
            BodyShape::Block { min, .. } => {
                let counts = sides.map(|s| (s / spacing).ceil().max(1.0) as usize);
                let [_, ny, nz] = counts.map(|n| n + 1);
                let node = |k: usize| [k / (ny * nz), k / nz % ny, k % nz];
                let at = |k: usize| [0, 1, 2].map(|a| min[a] + sides[a] * node(k)[a] as f64 / counts[a] as f64);
                Ok(collect((0..counts.iter().map(|n| n + 1).product()).map(at))?)
            }
            BodyShape::Solid(solid) => {
                let body = solid.cut(spacing).build()?;
                let mut points = body.particles.positions;
                points.extend_from_slice(body.mesh.vertices());
                Ok(points)
            }
        }
    }

    /// Particles `spacing` \[m\] apart, or as near to that as whole numbers allow.
    pub(super) fn counts(&self, spacing: f64) -> Counts {
        let sides = self.sides();
        match self {
            BodyShape::Block { .. } => {
                let cells = sides.map(|s| (s / spacing).round().max(2.0));
                let [all, inner] = [1.0, -1.0].map(|rim| cells.iter().map(|n| n + rim).product::<f64>());
                let apart = [0, 1, 2].map(|a| sides[a] / cells[a]);
                Counts { cells, spacing: apart, particles: cells.iter().product(), vertices: all - inner }
            }
            BodyShape::Solid(solid) => {
                let whole = solid.volume / spacing.powi(3);
                // Cells at the boundary that are not full; triangles of a surface of as many cells, shorter than they may be.
                let boundary = whole.powf(2.0 / 3.0);
                Counts {
                    cells: sides.map(|s| s / spacing),
                    spacing: [spacing; 3],
                    particles: whole + 1.2 * boundary,
                    vertices: solid.vertices.map_or(10.0 * boundary, |n| n as f64),
                }
            }
        }
    }

    pub(super) fn fill(&self, spacing: f64, with_radii: bool) -> Result<Filled> {
        match self {
            BodyShape::Block { min, .. } => {
                let counts = self.counts(spacing);
                let lattice = counts.lattice(*min);
                Ok(Filled {
                    positions: lattice.positions()?,
                    volumes: filled(lattice.len(), lattice.particle_volume())?,
                    radii: filled(if with_radii { lattice.len() } else { 0 }, 0.5 * counts.apart())?,
                    carried: Carried::of_block(&lattice, 1)?,
                })
            }
            BodyShape::Solid(solid) => {
                let body = solid.cut(spacing).build()?;
                let carried = Carried::of_body(&body.mesh, &body.particles.positions)?;
                let radii = if with_radii { body.radii()? } else { Vec::new() };
                Ok(Filled { positions: body.particles.positions, volumes: body.particles.volumes, radii, carried })
            }
        }
    }
}

impl Counts {
    /// That of a block from the corner `min`.
    pub(super) fn lattice(&self, min: [f64; 3]) -> BlockLattice {
        BlockLattice { min, spacing: self.spacing, counts: self.cells.map(|n| n as usize) }
    }

    /// Edge of a cube of a particle's volume \[m\].
    pub(super) fn apart(&self) -> f64 {
        self.spacing.iter().product::<f64>().cbrt()
    }
}

impl BodySpec {
    /// Largest speed that it may begin with \[m/s\].
    pub(super) fn start_speed(&self) -> f64 {
        let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let start = norm(&self.velocity) + 0.5 * norm(&self.angular_velocity) * norm(&self.shape.sides());
        start.max(self.top_speed)
    }

    pub(super) fn check(&self) -> Result<()> {
        let sides = self.shape.sides();
        for (a, axis) in ['x', 'y', 'z'].into_iter().enumerate() {
            positive(&format!("size of the body along {axis}"), sides[a])?;
            for (what, v) in [("velocity", self.velocity), ("angular velocity", self.angular_velocity)] {
                if !v[a].is_finite() {
                    return Err(Error::invalid(format!("{what} along {axis}"), v[a], "a finite number"));
                }
            }
        }
        non_negative("top speed", self.top_speed)?;
        for (what, [low, high]) in [("mu", self.mu), ("lambda", self.lambda), ("density", self.density)] {
            positive(&format!("smallest {what}"), low)?;
            ordered(what, low, high)?;
        }
        let [low, high] = self.viscosity;
        non_negative("smallest viscosity", low)?;
        ordered("viscosity", low, high)?;
        let Some(RelaxationSpec { modulus, time }) = self.relaxation else {
            return Ok(());
        };
        non_negative("smallest relaxation modulus", modulus[0])?;
        ordered("relaxation modulus", modulus[0], modulus[1])?;
        positive("smallest relaxation time", time[0])?;
        ordered("relaxation time", time[0], time[1])
    }

    /// Speeds of compression waves at the soft and heavy, and at the stiff and light ends of its ranges \[m/s\].
    pub(super) fn waves(&self) -> [f64; 2] {
        let BodySpec { mu, lambda, density, .. } = self;
        let soft = ((lambda[0] + 2.0 * mu[0]) / density[1]).sqrt();
        [soft, ((lambda[1] + 2.0 * self.stiffest_shear()) / density[0]).sqrt()]
    }

    /// Largest shear modulus that fast motions meet \[Pa\].
    pub(super) fn stiffest_shear(&self) -> f64 {
        self.mu[1] + self.relaxation.map_or(0.0, |relaxation| relaxation.modulus[1])
    }
}

pub(super) fn ordered(what: &str, low: f64, high: f64) -> Result<()> {
    match high.is_finite() && low <= high {
        true => Ok(()),
        false => Err(Error::invalid(format!("range of {what}"), format!("{low} to {high}"), "smallest first")),
    }
}
