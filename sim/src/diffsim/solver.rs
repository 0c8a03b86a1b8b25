//! How a step is made.

use super::ground::Ground;
use crate::error::{Error, Result, non_negative, positive};
#[cfg(doc)]
use diffkern::implicit::SolveOptions;

/// How a [step](DifferentiableSolver::step) is made.
///
/// Each of the substeps, of length `h = dt / substeps`, is `v+ = damping (v + h (f / m + g))`, then `x+ = x + h v+`; so what is left of a velocity
/// after a step is `damping^substeps` of it: **the damping depends on the number of substeps**, and is not that of a continuous motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DifferentiableSolver {
    /// Length of a step \[s\].
    pub dt: f64,
    /// Acceleration along y, which points up \[m/s^2\].
    pub gravity: f64,
    /// What a substep leaves of a velocity, from 0 to 1.
    pub damping: f64,
    /// Substeps of a step.
    pub substeps: usize,
    /// Whether forces are those at the end of a substep (backward Euler, by Newton's method with conjugate gradients). Its gradient is that of
    /// the equation, by the implicit function theorem: no iteration is recorded. Otherwise they are those at its beginning: cheaper,
    /// and stable for short substeps alone. Conjugate gradients want a positive matrix: where a long substep finds the body so compressed that it
    /// buckles, it is not solved, which is an error.
    pub use_implicit_diff: bool,
    /// How far implicit substeps and their gradients are solved, see [`SolveOptions::tolerance`]; in `f32` at least 1e-5.
    pub tolerance: f64,
    /// The ground, if there is one.
    pub ground: Option<Ground>,
}

impl Default for DifferentiableSolver {
    /// 10 ms in four explicit substeps, under gravity of -9.8 m/s^2, with damping of 0.99, on the [ground](Ground).
    fn default() -> DifferentiableSolver {
        DifferentiableSolver {
            dt: 0.01,
            gravity: -9.8,
            damping: 0.99,
            substeps: 4,
            use_implicit_diff: false,
            tolerance: 1e-10,
            ground: Some(Ground::default()),
        }
    }
}

impl DifferentiableSolver {
    pub(crate) fn check(&self) -> Result<()> {
        positive("time step [s]", self.dt)?;
        non_negative("damping", self.damping)?;
        positive("tolerance", self.tolerance)?;
        if !self.gravity.is_finite() {
            return Err(Error::invalid("gravity [m/s^2]", self.gravity, "a finite number"));
        }
        if self.substeps == 0 {
            return Err(Error::invalid("number of substeps", 0, "at least 1"));
        }
        self.ground.map_or(Ok(()), |ground| ground.check())
    }
}
