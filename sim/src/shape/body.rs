//! A body: what it is, where it is, how finely it is cut.

use super::fill::{Particles, fill, fill_volume};
use super::lattice::Lattice;
use super::primitive::Primitive;
use crate::error::{Result, positive};
use crate::mesh::{ClosedMesh, Inscribed, Point, Pose, Surface, read};
use diffkern::memory::collect;
use diffkern::prelude::*;
use std::path::PathBuf;

/// Particles less deep below the surface than this are those next to it, in units of their spacing: parts of cells weigh a quarter at least and lie
/// five eighths deep at most, and what is behind them three quarters at least.
const OUTERMOST: f64 = 0.7;

/// What a body looks like before it is moved.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// A shape that a formula describes.
    Primitive(Primitive),
    /// A surface from memory.
    Mesh(ClosedMesh),
    /// A surface from a file, see [`read`].
    File {
        /// The file.
        path: PathBuf,
        /// Metres of a unit of the file.
        scale: f64,
    },
}

impl From<Primitive> for Shape {
    fn from(primitive: Primitive) -> Shape {
        Shape::Primitive(primitive)
    }
}

impl From<ClosedMesh> for Shape {
    fn from(mesh: ClosedMesh) -> Shape {
        Shape::Mesh(mesh)
    }
}

impl Shape {
    /// Triangles with edges of at most `edge` \[m\] that enclose exactly the volume of a primitive; surfaces from elsewhere as they are.
    pub(crate) fn enclosing(&self, edge: f64) -> Result<ClosedMesh> {
        match self {
            Shape::Primitive(primitive) => enlarged(primitive, edge),
            Shape::Mesh(mesh) => Ok(mesh.clone()),
            Shape::File { path, scale } => read(path, *scale),
        }
    }
}

/// The triangles of a primitive, enlarged about the centre until they enclose its volume.
fn enlarged(primitive: &Primitive, edge: f64) -> Result<ClosedMesh> {
    let fine = primitive.surface(edge)?;
    let factor = (primitive.moments()?.volume / fine.moments().volume).cbrt();
    Ok(fine.moved(factor, &Pose::default()))
}

/// A body of any shape, as plain data.
///
/// # Example
/// A ring falls on a floor; how does where it is at the end depend on its stiffness?
/// ```
/// use diffkern::prelude::*;
/// use diffkern_sim::mesh::Pose;
/// use diffkern_sim::Step as _;
/// use diffkern_sim::mpm::{Contact, Dim3, Grid, HalfSpace, Law, Model, Params, State, mean_square_distance};
/// use diffkern_sim::shape::{Body, Primitive, Torus};
///
/// let device = Device::cpu();
/// let spacing = 0.02; // half a grid cell
/// let ring = Primitive::Torus(Torus { radius: 0.1, tube: 0.04 });
/// let body = Body { pose: Pose::at([0.3, 0.3, 0.17]), ..Body::new(ring, spacing) }.build()?;
///
/// let grid = Grid::<Dim3>::new([0.0; 3], 2.0 * spacing, [16, 16, 9])?;
/// let floor = HalfSpace::through([0.0, 0.0, 0.08], [0.0, 0.0, 1.0], Contact::Separating);
/// let model = Model::<Dim3, f64>::new(&device, grid, 1e-3, Law::NeoHookean, &[floor])?;
/// let uniform = Params::uniform(&device, 2e3, 3e3, 1e3, 1.0, [0.0, 0.0, -9.81])?; // Pa, Pa, kg/m^3
/// let volume = device.array(&body.particles.volumes)?;
/// let params = Params { mu: uniform.mu.requires_grad(), volume, ..uniform };
/// let positions: Vec<_> = body.particles.positions.iter().map(|&x| Vec3::from_array(x)).collect();
/// let start = State::undeformed(&device, &positions, &vec![Vec3::zero(); positions.len()])?;
///
/// let surface = body.surface::<f64>(&device)?;
/// let (tape, loss) = Tape::record_value(|| {
///     let end = model.solver(&params, positions.len())?.advance(&start, 0, 150, Schedule::Auto)?;
///     let seen = surface.vertices(&end.x)?; // what a camera sees
///     mean_square_distance::<Dim3, f64>(&seen, [0.3, 0.3, 0.1])
/// })?;
/// tape.backward(&loss)?;
/// assert_ne!(params.mu.grad()?.to_vec()?[0], 0.0);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// What it is.
    pub shape: Shape,
    /// Where it is and how it is turned.
    pub pose: Pose,
    /// The cells that its particles fill.
    pub lattice: Lattice,
    /// Longest edge of the surface of a primitive \[m\]; surfaces from elsewhere stay as they are.
    pub edge: f64,
}

/// Particles and surface of a body at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct FilledBody {
    /// Its particles.
    pub particles: Particles,
    /// Its surface.
    pub mesh: ClosedMesh,
}

impl Body {
    /// A body where its shape is, with particles `spacing` apart and edges of that length \[m\].
    pub fn new(shape: impl Into<Shape>, spacing: f64) -> Body {
        Body { shape: shape.into(), pose: Pose::default(), lattice: Lattice::about_the_body(spacing), edge: spacing }
    }

    /// The surface, and the particles that fill it.
    ///
    /// Particles of a primitive fill triangles with edges of half the spacing `h`, enlarged about the centre until they enclose
    /// exactly the volume of the primitive. Before they are enlarged they are at most `h^2 / 24 r` from a surface whose smallest
    /// radius of curvature is `r`.
    ///
    /// # Errors
    /// As [`Primitive::surface`], [`read`], [`ClosedMesh::placed`] and [`fill`].
    pub fn build(&self) -> Result<FilledBody> {
        self.pose.check()?;
        match &self.shape {
            Shape::Primitive(primitive) => {
                let spacing = positive("spacing of the particles", self.lattice.spacing)?;
                let volume = primitive.moments()?.volume;
                let enlarged = enlarged(primitive, 0.5 * spacing)?.moved(1.0, &self.pose);
                let particles = fill_volume(&enlarged, volume, &self.lattice)?;
                Ok(FilledBody { particles, mesh: primitive.surface(self.edge)?.moved(1.0, &self.pose) })
            }
            Shape::Mesh(mesh) => self.filled(mesh.placed(1.0, &self.pose)?),
            Shape::File { path, scale } => self.filled(read(path, *scale)?.placed(1.0, &self.pose)?),
        }
    }

    fn filled(&self, mesh: ClosedMesh) -> Result<FilledBody> {
        Ok(FilledBody { particles: fill(&mesh, &self.lattice)?, mesh })
    }
}

impl FilledBody {
    /// How far from the middle of each particle something touches it \[m\]: of those next to the surface their distance from it, whether or not
    /// their cells are whole; of all others half a spacing.
    ///
    /// # Errors
    /// When memory is short.
    pub fn radii(&self) -> Result<Vec<f64>> {
        let (inside, spacing) = (Inscribed::new(&self.mesh)?, self.particles.spacing);
        let radius = |&x: &Point| inside.distance(x, OUTERMOST * spacing).unwrap_or(0.5 * spacing);
        Ok(collect(self.particles.positions.iter().map(radius))?)
    }

    /// The surface as the particles carry it, see [`Surface::of_body`].
    ///
    /// # Errors
    /// When particles near a vertex are all in one plane, or memory is short.
    pub fn surface<F: Float>(&self, device: &Device) -> Result<Surface<F>> {
        Surface::of_body(device, &self.mesh, &self.particles.positions)
    }
}
