//! A linear spring beside a linear dashpot that only pushes.

use super::ContactModel;
use diffkern::prelude::*;

/// `N = k d + c max(0, -gap')` in the solid, `d = -gap`: the damping resists approach and never pulls, and is in N s/m. The force jumps at
/// touch by `c` times the speed of approach, and the gradient is that of the side taken: it misses what the time of touch does to
/// the jump. [`HuntCrossley`](super::HuntCrossley) has no jump. One-sided where approach becomes separation; zero by the
/// damping while what touches separates.
///
/// Source: the contact `ke`, `kd` of gradSim's engine (Jatavallabhula et al., 2021), a model of Kelvin and Voigt.
#[derive(Clone, Copy, Debug)]
pub struct KelvinVoigt;

#[diff_impl]
impl ContactModel for KelvinVoigt {
    fn force<F: Float>(gap: F, rate: F, q: Vec4<F>) -> F {
        let mut force = F::new(0.0);
        if gap < 0.0 {
            force = q.y * (-rate).max(0.0) - q.x * gap;
        }
        force
    }
}
