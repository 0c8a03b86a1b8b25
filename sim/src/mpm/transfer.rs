//! How velocities pass between particles and grid, and how often.

use crate::error::{Error, Result};

/// How a [`Model`](super::Model) transfers velocities between particles and grid.
///
/// ```
/// use diffkern_sim::mpm::Transfer;
///
/// assert_eq!(Transfer::default(), Transfer::Apic);
/// assert_eq!(Transfer::LAGRANGIAN, Transfer::Lagrangian { steps: None });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transfer {
    /// To the grid and back in every step (Jiang et al. 2015). What the grid cannot represent is lost each time: a free block of
    /// eight cells loses one to four percent of its amplitude a period, the more the shorter the steps are.
    #[default]
    Apic,
    /// To the grid once, then steps on nodes that move with the material (the Lagrangian phase of Sulsky, Chen, Schreyer 1994,
    /// kept up): symplectic, of second order, and with momentum and angular momentum to rounding. Nothing is lost but in a transfer.
    ///
    /// Particles that share no node when a phase begins do not meet before the next: for one body that bends, swings and bounces. And
    /// nodes go where their particles go, off the grid too where a phase lasts as long as the run, so a body that flows needs phases that end. In single precision a body that travels by many cells within a
    /// phase has its strain to about 1e-7 of their number.
    Lagrangian {
        /// Steps from one transfer to the next, at least 1; none where a phase is to last as long as the run.
        steps: Option<usize>,
    },
}

impl Transfer {
    /// The transfer that keeps energy: once to the grid, at the beginning.
    pub const LAGRANGIAN: Transfer = Transfer::Lagrangian { steps: None };

    /// Whether a run goes to the grid at its beginning alone: particles may be off it later.
    pub(super) fn lasts(self) -> bool {
        self == Transfer::LAGRANGIAN
    }

    /// Whether step number `index` of a run begins with a transfer to the grid.
    pub(super) fn is_due(self, index: usize) -> bool {
        match self {
            Transfer::Apic => true,
            Transfer::Lagrangian { steps } => steps.is_some_and(|steps| index.is_multiple_of(steps)),
        }
    }

    pub(super) fn check(self) -> Result<()> {
        match self {
            Transfer::Lagrangian { steps: Some(0) } => {
                Err(Error::invalid("steps from one transfer to the next", 0, "at least 1, or none"))
            }
            Transfer::Apic | Transfer::Lagrangian { .. } => Ok(()),
        }
    }
}
