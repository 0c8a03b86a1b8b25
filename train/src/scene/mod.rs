//! What is filmed: bodies, what they touch, camera, light, and what is to be found. A file of version 1 is a [`document::Document`], which
//! `docs/scene.md` describes; one without a version is imported. Checked, it is a [`Scene`], in SI units, with z up.

mod tree;
pub mod document;
mod bounds;
mod measure;
mod row;
mod quantity;
mod name;
mod parameter;
mod collider;
mod convert;
mod track;
mod import;
mod folder;
mod version;
mod check;
mod fit;
mod read;

pub use fit::Fit;
pub use folder::Access;
pub use name::Name;
pub use parameter::Target;
pub use quantity::Quantity;
pub(crate) use read::{from_json, read_text};
pub(crate) use row::{Owner, Part, Scale};
pub use track::{Followed, Measured, Track};

use diffkern_render::Lens;
use diffkern_sim::collision::Solid;
use diffkern_sim::mpm::Law;
use diffkern_sim::scene::BodyShape;
pub use document::At;
use document::Transform;
use std::collections::BTreeMap;

/// A scene that has passed every check of [`Scene::read`].
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// Name of the sequence.
    pub name: String,
    /// Frames per second \[1/s\]; frame k is the state at `k / frame_rate`.
    pub frame_rate: f64,
    /// Number of frames, at least 2.
    pub num_frames: usize,
    /// Acceleration of gravity \[m/s^2\].
    pub gravity: [f64; 3],
    /// The cameras that filmed it, at least one.
    pub cameras: Vec<Camera>,
    /// Names of the runs that were filmed, at least one; the only one has no name where the scene gives none.
    pub takes: Vec<String>,
    /// The films, at least one, each of another folder.
    pub films: Vec<Film>,
    /// What was measured beside films.
    pub tracks: Vec<Track>,
    /// Lights and colours.
    pub shading: Shading,
    /// The bodies, at least one: all elastic, or all rigid.
    pub bodies: Vec<Body>,
    /// What they touch.
    pub colliders: Vec<Collider>,
    /// What pushes rigid bodies.
    pub pushes: Vec<Push>,
    /// What happens where bodies touch each other; none where there is one body.
    pub between: Option<Contact>,
    /// Material held fixed, if any is.
    pub clamp: Option<Clamp>,
    /// The parameters to find, with the ranges they lie in.
    pub unknowns: Vec<Range>,
    /// What the file calls a field, by its path, where that is not the path itself.
    pub fields: BTreeMap<String, String>,
    /// Things a person should know, such as fields that are not understood and were ignored.
    pub warnings: Vec<String>,
}

/// A pinhole camera with square pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct Camera {
    /// Its name in paths.
    pub name: String,
    /// Centre of projection \[m\].
    pub position: [f64; 3],
    /// Point that is seen at the centre of the image \[m\].
    pub look_at: [f64; 3],
    /// Direction that is up in the image.
    pub up: [f64; 3],
    /// Vertical field of view \[rad\].
    pub vertical_fov: f64,
    /// Columns of the image.
    pub width: usize,
    /// Rows of the image.
    pub height: usize,
    /// Nearest depth that is drawn \[m\].
    pub near: f64,
    /// Farthest depth that is drawn \[m\]; a block that gets beyond is an error, not cut.
    pub far: f64,
    /// Distortion by its lens.
    pub lens: Lens,
    /// Factor of all brightness.
    pub exposure: f64,
}

impl Camera {
    /// Distance of the corner of the image from its centre, at distance one from the camera.
    pub(crate) fn corner(&self) -> f64 {
        (self.width as f64 / self.height as f64).hypot(1.0) * (0.5 * self.vertical_fov).tan()
    }
}

/// Frames of one camera of one take.
#[derive(Debug, Clone, PartialEq)]
pub struct Film {
    /// Its name, empty for the only one of a scene that gives none.
    pub name: String,
    /// The camera, by its place in the scene.
    pub camera: usize,
    /// The take, by its place in the scene.
    pub take: usize,
    /// Folder of the silhouettes, relative to that of the scene.
    pub silhouette: String,
    /// Folder of the shaded pictures.
    pub shaded: String,
    /// Folder of the masks, if there are any.
    pub masks: Option<String>,
    /// The depths, if there are any.
    pub depth: Option<DepthFrames>,
    /// How much a squared difference of silhouettes counts, of colours, and of depths.
    pub weights: [f64; 3],
}

/// Frames of depth.
#[derive(Debug, Clone, PartialEq)]
pub struct DepthFrames {
    /// Their folder.
    pub folder: String,
    /// What a count stands for \[m\].
    pub scale: f64,
    /// Standard deviation of a depth \[m\].
    pub deviation: f64,
}

/// Directional lights and Lambert colours, all in 0..1, linear.
#[derive(Debug, Clone, PartialEq)]
pub struct Shading {
    /// The lights, at least one.
    pub lights: Vec<Light>,
    /// Ambient part.
    pub ambient: f64,
    /// Colour behind it.
    pub background: [f64; 3],
}

/// A light from afar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Light {
    /// Unit vector towards it.
    pub direction: [f64; 3],
    /// Its intensity.
    pub intensity: f64,
}

/// A body: elastic and stress free at rest, or rigid.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// Its name in paths.
    pub name: String,
    /// How it begins in each take.
    pub starts: Vec<Start>,
    /// Its material law and the constants that are known.
    pub material: Material,
    /// Colour in 0..1, linear.
    pub albedo: [f64; 3],
    /// Density of an elastic body \[kg/m^3\].
    pub density: f64,
    /// What hangs on it.
    pub load: Option<Load>,
    /// How heavy a rigid body is; none of an elastic one. Nothing is read of the material of a rigid body.
    pub rigid: Option<Weight>,
    /// Numbers of pieces along each axis, of properties that have a value of their own in each.
    pub fields: BTreeMap<Quantity, [usize; 3]>,
}

/// A point mass that moves with a point of an elastic body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// The point \[m\] at t = 0 of the first take.
    pub at: [f64; 3],
    /// Its mass \[kg\], where it is known.
    pub mass: Option<f64>,
}

/// How heavy a rigid body is, where the scene says so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weight {
    /// By its density \[kg/m^3\].
    Density(Option<f64>),
    /// By its mass \[kg\], spread evenly.
    Mass(Option<f64>),
}

/// Something that pushes a rigid body.
#[derive(Debug, Clone, PartialEq)]
pub struct Push {
    /// Its name.
    pub name: String,
    /// The body, by its place in the scene.
    pub body: usize,
    /// Force \[N\]; of an impulse \[N s\].
    pub vector: [f64; 3],
    /// Where it acts.
    pub at: At,
    /// When it begins and ends \[s\]; of an impulse both are its time.
    pub interval: [f64; 2],
}

/// How a body begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// What it looks like at t = 0, and where.
    pub shape: BodyShape,
    /// Velocity of the centre at t = 0 \[m/s\].
    pub velocity: [f64; 3],
    /// Angular velocity about the centre at t = 0 \[rad/s\].
    pub angular_velocity: [f64; 3],
}

/// Constitutive model with the constants that are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// One of the simulator's list.
    pub law: Law,
    /// Newtonian viscosity eta of the Cauchy stress `eta (L + L^T)` \[Pa s\], zero if there is none.
    pub viscosity: f64,
    /// Rate at which velocities decay, Rayleigh's damping by mass \[1/s\].
    pub damping: f64,
    /// A Maxwell branch, where there is one.
    pub relaxation: Option<Relaxation>,
    /// First Lamé parameter \[Pa\], where the scene gives it.
    pub mu: Option<f64>,
    /// Second Lamé parameter \[Pa\], where the scene gives it.
    pub lambda: Option<f64>,
    /// Which two elastic parameters the body has.
    pub pair: Pair,
    /// Young's modulus \[Pa\], where it is one of them and the scene gives it.
    pub young: Option<f64>,
    /// Poisson's ratio, where it is one of them and the scene gives it.
    pub poisson: Option<f64>,
}

/// A spring and a dashpot in series beside the elastic law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Relaxation {
    /// Shear modulus \[Pa\], where the scene gives it.
    pub modulus: Option<f64>,
    /// Relaxation time \[s\], where the scene gives it.
    pub time: Option<f64>,
}

/// The two elastic parameters of a material.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pair {
    /// The Lamé parameters; `mu` and `lambda`.
    #[default]
    Lame,
    /// Young's modulus and Poisson's ratio; `young` and `poisson`.
    Engineering,
}

impl Start {
    /// Where the origin of its shape is \[m\]; of a box given by its corners the middle.
    pub fn position(&self) -> [f64; 3] {
        match &self.shape {
            BodyShape::Block { .. } => self.shape.centre(),
            BodyShape::Solid(solid) => solid.pose().translation,
        }
    }
}

impl Pair {
    /// The parameters.
    pub fn quantities(self) -> [Quantity; 2] {
        match self {
            Self::Lame => [Quantity::Mu, Quantity::Lambda],
            Self::Engineering => [Quantity::Young, Quantity::Poisson],
        }
    }

    /// `(mu, lambda)` \[Pa\] of their values.
    pub fn lame(self, [first, second]: [f64; 2]) -> [f64; 2] {
        match self {
            Self::Lame => [first, second],
            Self::Engineering => {
                let (young, poisson) = (first, second);
                [young / (2.0 * (1.0 + poisson)), young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))]
            }
        }
    }
}

/// Something rigid that bodies touch; it is not drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Collider {
    /// Its name in paths.
    pub name: String,
    /// What it looks like, and where it is at t = 0.
    pub surface: Surface,
    /// Velocity of the origin of its shape \[m/s\], which is the same at all times.
    pub velocity: [f64; 3],
    /// Angular velocity about it \[rad/s\].
    pub angular_velocity: [f64; 3],
    /// Whether its motion is to be found.
    pub driven: bool,
    /// What it does to what touches it.
    pub contact: Contact,
    /// Coefficient of restitution of rigid bodies that bounce off it.
    pub restitution: f64,
}

/// What a collider looks like, and where it is at t = 0.
#[derive(Debug, Clone, PartialEq)]
pub enum Surface {
    /// All below a plane.
    HalfSpace {
        /// A point of the plane \[m\], the origin of the shape.
        point: [f64; 3],
        /// Unit normal, out of the half-space.
        normal: [f64; 3],
    },
    /// Any other solid.
    Solid {
        /// Its shape.
        solid: Solid,
        /// Origin of the shape \[m\].
        position: [f64; 3],
        /// Rotation vector \[rad\].
        rotation: [f64; 3],
    },
}

/// What happens at a collider, which bodies may leave in any case but one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Contact {
    /// Bodies slide, with this Coulomb's coefficient; zero without friction.
    Friction(f64),
    /// What touches it stays where it touched.
    Sticky,
    /// Bodies slide on it, and do not leave it.
    Slip,
}

/// Material that does not move.
#[derive(Debug, Clone, PartialEq)]
pub struct Clamp {
    /// 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// Where the held part ends \[m\], in the rest position.
    pub plane: f64,
    /// Whether the held part lies above the plane; below otherwise.
    pub above: bool,
}

/// Where an unknown lies.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// Which parameter, as the scene writes it.
    pub name: Name,
    /// What that is.
    pub target: Target,
    /// Least value.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
    /// In which coordinate it is searched for.
    pub transform: Transform,
    /// What is known of it beforehand, if anything.
    pub prior: Option<Prior>,
}

/// A normal distribution of a value that differs from others by differences, or of its logarithm where by factors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// The mean; the median where the distribution is one of logarithms.
    pub center: f64,
    /// Standard deviation, of the value or of its logarithm.
    pub deviation: f64,
}

impl Prior {
    /// How many standard deviations above the center a value is, whose logarithm counts if it `is_positive`.
    pub(crate) fn away(self, value: f64, is_positive: bool) -> f64 {
        let away = if is_positive { (value / self.center).ln() } else { value - self.center };
        away / self.deviation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_away_by_factors_where_they_are_positive() {
        let prior = Prior { center: 2.0, deviation: 0.1 };
        let near = |away: f64, by: f64| assert!((away - by).abs() < 1e-12, "{away} {by}");
        near(prior.away(2.2, true), 10.0 * 1.1f64.ln());
        near(prior.away(2.0 / 1.1, true), -10.0 * 1.1f64.ln());
        near(prior.away(2.2, false), 2.0);
        near(prior.away(1.7, false), -3.0);
        near(Prior { center: -1.0, deviation: 0.5 }.away(0.5, false), 3.0);
    }
}
