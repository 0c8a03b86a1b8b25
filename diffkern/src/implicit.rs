//! Converged fixed points, roots and linear systems as one operation: what led to them is not recorded, the derivative is that
//! of the equation (implicit function theorem; Griewank and Walther 2008, chapter 15; Blondel 2022).
//!
//! Linear systems are solved over one vector of all reals of the state, of one scalar type and on one device. It stays there, and
//! so do the factors of the iteration; the host waits for a number before and after, and every ten iterations (of GMRES for the
//! entries of the small triangle that ten iterations have made). So up to nine products may be made that were not needed. A
//! [`Preconditioner`] goes with the options.

mod basis;
mod fixed_point;
mod krylov;
mod linear;
mod operation;
mod preconditioner;
mod root;
mod scalars;
mod vectors;

pub use fixed_point::fixed_point;
pub use linear::linear_solve;
pub use preconditioner::{Block, Preconditioner, Solver};
pub use root::{root, root_after, root_at};

use crate::error::{Error, Result};

/// How the linear systems of an implicit operation are solved, those of its derivatives included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Conjugate gradients (Hestenes and Stiefel 1952), for symmetric positive systems.
    Cg,
    /// Generalised minimal residuals (Saad and Schultz 1986), for any system: keeps `restart` vectors, then starts anew.
    Gmres {
        /// Vectors kept.
        restart: usize,
    },
    /// Minimal residuals (Paige and Saunders 1975), for symmetric systems, positive or not.
    Minres,
    /// Stabilised biconjugate gradients (van der Vorst 1992), for any system: two products an iteration, eight vectors
    /// however many iterations. It may break down where GMRES does not, which is an error.
    BiCgStab,
    /// `w = r + G w` again and again, for the derivative of a fixed point: converges as fast as its own iteration.
    Iterate,
}

/// How far an implicit operation and its derivatives are solved. Norms are Euclidean, over all reals of the state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveOptions {
    /// Largest residual, relative to the right-hand side; of a fixed point, to its value. In `f32` some 1e-5 is the least
    /// that can be had. Gradients are as exact as this, times the condition of the system.
    pub tolerance: f64,
    /// Most iterations of the operation, and of each system that a derivative solves.
    pub iterations: usize,
    /// How linear systems are solved.
    pub method: Method,
}

impl Default for SolveOptions {
    /// To 1e-10 within 1000 iterations, by GMRES with 30 vectors.
    fn default() -> SolveOptions {
        SolveOptions { tolerance: 1e-10, iterations: 1000, method: Method::Gmres { restart: 30 } }
    }
}

impl SolveOptions {
    fn check(&self) -> Result<()> {
        match self.tolerance > 0.0 && self.tolerance.is_finite() && self.iterations > 0 {
            true => Ok(()),
            false => Err(Error::Invalid(format!(
                "implicit operation: tolerance {} and {} iterations; give a positive tolerance and at least 1 iteration",
                self.tolerance, self.iterations
            ))),
        }
    }

    fn missed(&self, what: &'static str, iterations: usize, residual: f64) -> Error {
        Error::NotConverged { what, iterations, residual, tolerance: self.tolerance }
    }
}
