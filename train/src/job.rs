//! What goes into an identification and what comes out of it.

use crate::limits::Limits;
use crate::optimizer::Optimizer;
use crate::scene::Name;
use crate::video::{Frame, Video};
use diffkern::interrupt;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Values of parameters, in SI units.
pub type Values = BTreeMap<Name, f64>;

/// What moves the bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Simulator {
    /// Finite elements: cells of a lattice of splines.
    Fem,
    /// The material point method: particles and a grid.
    Mpm,
    /// Total Lagrangian MPM: particles on a grid that moves with the body, which keeps energy but for what resists fast compression.
    Tlmpm,
    /// As rigid bodies, by the contacts of their surfaces.
    Rigid,
}

impl Simulator {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fem => "finite elements",
            Self::Mpm => "MPM",
            Self::Tlmpm => "total Lagrangian MPM",
            Self::Rigid => "rigid bodies",
        }
    }

    /// What it cuts bodies into.
    pub fn elements(self) -> &'static str {
        match self {
            Self::Fem => "cells",
            Self::Mpm | Self::Tlmpm => "particles",
            Self::Rigid => "points",
        }
    }
}

/// How to identify. Everything else (time step, schedule) follows from the scene.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IdentifyOptions {
    /// Parameters to find, each with a range in the scene.
    pub unknowns: Vec<Name>,
    /// Values of the parameters that are not searched for.
    pub fixed: Values,
    /// Where to start; a parameter that is missing here starts where the method chooses.
    pub start: Values,
    /// `cpu`, `wgpu`, `cuda` or `best`.
    pub device: String,
    /// Seed of everything random.
    pub seed: u64,
    /// What moves the bodies.
    pub simulator: Simulator,
    /// Cells across the thinnest side on the final grid; as the method chooses if not given.
    #[serde(default)]
    pub cells: Option<usize>,
    /// Most iterations of the optimiser, over all stages.
    pub max_iterations: Option<usize>,
    /// Which rule chooses the steps; not [`Optimizer::Auto`], which a job has resolved.
    pub optimizer: Optimizer,
    /// Time and memory that it may take.
    pub limits: Limits,
}

/// What a search ran, in walks over all steps of the simulator, the renderer included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    /// Runs of the program.
    pub forward: usize,
    /// Tangents that were carried beside them, each for one direction.
    pub tangents: usize,
    /// Walks back: one for each gradient.
    pub reverse: usize,
    /// Products with a Hessian, each a walk with tangents, and one back with an adjoint and its tangent.
    pub products: usize,
}

impl Runs {
    /// Walks in all, each of about the cost of a run or two: a product counts for three.
    pub fn walks(&self) -> usize {
        self.forward + self.tangents + self.reverse + 3 * self.products
    }
}

impl std::ops::Add for Runs {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            forward: self.forward + other.forward,
            tangents: self.tangents + other.tangents,
            reverse: self.reverse + other.reverse,
            products: self.products + other.products,
        }
    }
}

/// Something to tell while a job runs: after every evaluation that took visible time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// What is going on, in a word or two: `coarse 1/2` (the first of two levels on the coarse grid), `pictures`.
    pub stage: String,
    /// Iterations finished so far, over all stages.
    pub iteration: usize,
    /// Part of the whole work that is done, estimated, in 0..1. It falls where a search turns out to be longer.
    pub fraction: f64,
    /// The loss at `values`, if it was computed.
    pub loss: Option<f64>,
    /// Where the search is.
    pub values: Values,
    /// Whether this is a finished iteration (drawn in the curves) or only a sign of life.
    pub finished: bool,
    /// What turned out to be wrong, said once.
    pub note: Option<String>,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop at once and return the best so far, marked [`Ending::Interrupted`].
    Stop,
}

/// A flag to ask for an end with, looked at by every launch and between frames that are read or written. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// One that is set elsewhere, as by a signal.
    pub fn new(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }

    /// Runs `f`, whose launches on this thread fail once the flag is set, as do frames that are read or written; see
    /// [`interrupt::scope`].
    pub fn scope<T>(&self, f: impl FnOnce() -> T) -> T {
        interrupt::scope(&self.0, f)
    }

    /// What a job should do.
    pub fn flow(&self) -> Flow {
        if self.0.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
    }
}

/// Why a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The method met its own stopping rule.
    Converged,
    /// [`IdentifyOptions::max_iterations`] were done.
    MaxIterations,
    /// The observer asked to stop.
    Interrupted,
}

/// One parameter of the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Which.
    pub name: Name,
    /// SI unit.
    pub unit: String,
    /// Value that the search began with.
    pub initial: f64,
    /// Value found.
    pub found: f64,
    /// 95 % interval, by all that makes the value unsure (`docs/answers.md`); none when the job ended before it was computed.
    pub interval: Option<(f64, f64)>,
    /// The same were model, grid and search exact: by the residuals of the pixels alone.
    pub by_noise: Option<(f64, f64)>,
    /// False when this video cannot tell the parameter: its interval covers most of its range.
    pub determined: bool,
}

/// One finished iteration, for the curves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Number, from 0 (the start).
    pub iteration: usize,
    /// Stage and level it belongs to, such as `fine 2/3`; losses compare within a level only.
    pub stage: String,
    /// What is minimised there.
    pub loss: f64,
    /// Parameters.
    pub values: Values,
}

/// The discretisation that the final values were found with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Discretisation {
    /// What moved the bodies.
    pub simulator: Simulator,
    /// Grid spacing, or edge of a cell \[m\].
    pub dx: f64,
    /// Time step \[s\].
    pub dt: f64,
    /// Number of particles, or of cells.
    pub elements: usize,
}

/// What a run shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// For each film of the scene its frames.
    pub films: Vec<Vec<Frame>>,
    /// For each track of the scene three numbers a point at each frame \[m\].
    pub tracks: Vec<Vec<Vec<f64>>>,
    /// The first frame in which MPM has torn a body (numerical fracture), if there is one.
    pub torn: Option<usize>,
}

/// The surfaces of all bodies in a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    /// Number of the frame.
    pub frame: usize,
    /// Vertices \[m\].
    pub vertices: Vec<[f64; 3]>,
    /// Triangles.
    pub triangles: Vec<[u32; 3]>,
}

impl Surface {
    /// As a Wavefront OBJ.
    pub fn obj(&self) -> String {
        let vertices = self.vertices.iter().map(|[x, y, z]| format!("v {x:?} {y:?} {z:?}\n"));
        let faces = self.triangles.iter().map(|t| {
            let [a, b, c] = t.map(|k| k + 1);
            format!("f {a} {b} {c}\n")
        });
        vertices.chain(faces).collect()
    }
}

/// How near a track is met.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackFit {
    /// Its name.
    pub name: String,
    /// Distance of the places from those that were measured, over all frames, root of the mean square \[m\].
    pub distance: f64,
    /// Three numbers a point at each frame \[m\].
    pub places: Vec<Vec<f64>>,
}

/// What an identification found.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// One per unknown, in the order of the options.
    pub parameters: Vec<Parameter>,
    /// Loss at the start, at the final discretisation; none when the job ended before it got to compute with that, so
    /// that the two do not compare.
    pub loss_initial: Option<f64>,
    /// Loss at the values found; none when the job ended before any was computed.
    pub loss: Option<f64>,
    /// Iterations done.
    pub iterations: usize,
    /// What was run for them on the coarse grid and on the final one, the pictures of the answer not counted.
    pub runs: [Runs; 2],
    /// Mean intersection over union of the silhouettes with the video's, in 0..1; none where none is compared.
    pub iou: Option<f64>,
    /// By how much their outlines are off, root of the mean square \[pixels\]; none where it was not computed.
    pub outlines: Option<f64>,
    /// How many frames of each video were fitted, from the first.
    pub fitted_frames: usize,
    /// Why it ended.
    pub ending: Ending,
    /// Every finished iteration.
    pub history: Vec<Record>,
    /// Viscosity that the scene does not know of, fitted along \[Pa s\].
    pub viscosity: f64,
    /// The discretisation of the last stage.
    pub discretisation: Discretisation,
    /// Frames of the values found, for each film as many as its video has (none if interrupted too early).
    pub videos: Vec<Video>,
    /// How near each track of the scene is met (none if interrupted too early).
    pub tracks: Vec<TrackFit>,
    /// Things a person should know.
    pub warnings: Vec<String>,
}

/// Outcome of `--gradcheck`: the gradient of the whole program against differences, at some materials, each along a
/// random direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gradcheck {
    /// Steps of the simulator.
    pub steps: usize,
    /// Frames rendered and compared with the video.
    pub frames: usize,
    /// The discretisation.
    pub discretisation: Discretisation,
    /// One per seed.
    pub directions: Vec<DirectionCheck>,
    /// Draws that met a kink, where differences say nothing; the seed was drawn again.
    pub kinks: Vec<Kink>,
    /// Bound that the relative errors are held to; it depends on the scalar.
    pub bound: f64,
    /// Whether there is a direction for each seed, all within the bounds.
    pub passed: bool,
}

/// One direction of a gradient check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DirectionCheck {
    /// What material and direction were drawn from.
    pub seed: u64,
    /// Where the derivative was taken.
    pub at: Values,
    /// Directional derivative by the adjoint.
    pub analytic: f64,
    /// By forward mode, which the search uses.
    pub forward: f64,
    /// By central differences, best of a ladder.
    pub numeric: f64,
    /// Error of the worse of the two, relative to the derivative and to a hundredth of the parts that it is summed of at least.
    pub error: f64,
    /// Taylor rate with the gradient; 2 is exact.
    pub taylor_rate: f64,
    /// Taylor rate without it; 1 shows that the test can fail.
    pub taylor_rate_without: f64,
}

/// A draw whose one-sided derivatives differ however small the step: a branch on a real switches there, as when a
/// particle touches the floor or an edge passes a pixel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kink {
    /// What material and direction were drawn from.
    pub seed: u64,
    /// Where it is.
    pub at: Values,
    /// Derivative from the one side.
    pub left: f64,
    /// From the other.
    pub right: f64,
}
