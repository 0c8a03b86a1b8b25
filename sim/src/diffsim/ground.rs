//! The ground of a world whose y axis points up.

use super::kernels::GroundForce;
use crate::contact::SLIP_SPEED;
use crate::error::{Result, non_negative, positive};
use diffkern::Float;

/// The plane `y = 0`, which pushes vertices before they touch it: **y is up here**, while z is up in the scenes of this project.
///
/// A vertex at the height `y` below the width `w` has the energy `-kappa (y - w)^2 ln(y / w)`, the barrier of Li et al. (2020): twice
/// continuously differentiable, exactly zero beyond the width, infinite at touch. A vertex at or below `y = 0` gets a force that is not a
/// number, which [`Simulator::rollout`](super::Simulator::rollout) reports.
///
/// Friction is Coulomb's, regularised: smooth in position and velocity, and at most as much as stops the vertex within a substep. The push and the
/// velocity in it are those at the beginning of the substep, for implicit substeps too. Fixed vertices are not pushed and may be anywhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// Stiffness `kappa` \[N/m\].
    pub stiffness: f64,
    /// Height up to which it pushes \[m\].
    pub width: f64,
    /// Coefficient of friction.
    pub friction: f64,
}

impl Default for Ground {
    /// 10 kN/m over 2 cm, friction 0.3.
    fn default() -> Ground {
        Ground { stiffness: 1e4, width: 0.02, friction: 0.3 }
    }
}

impl Ground {
    pub(crate) fn check(&self) -> Result<()> {
        positive("stiffness of the ground [N/m]", self.stiffness)?;
        positive("width of the ground [m]", self.width)?;
        non_negative("friction of the ground", self.friction).map(drop)
    }

    pub(crate) fn force<F: Float>(&self) -> GroundForce<F> {
        GroundForce {
            push: F::from_f64(self.stiffness * self.width),
            width: F::from_f64(self.width),
            friction: F::from_f64(self.friction),
            slip: F::from_f64(SLIP_SPEED),
        }
    }
}
