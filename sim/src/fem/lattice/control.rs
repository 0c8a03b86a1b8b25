//! What acts on bodies from outside in a step.

use diffkern::prelude::*;

/// What acts on a step from outside; nothing by default.
#[derive(Clone, Debug)]
pub struct Control<F: Float> {
    /// Forces on the control points \[N\], which act at the middle of the drift.
    pub force: Option<Array<Vec3<F>>>,
    /// How much the [fibres](super::Params::fibres) of each cell pull \[Pa\], one element for all or one for each. [`max_dt`](crate::Model::max_dt) knows nothing of it:
    /// give it shear moduli that are larger by the largest activation.
    pub activation: Option<Array<F>>,
    /// Acceleration of all clamps \[m/s^2\], one element. Without it they keep the velocity that the state begins with.
    pub drive: Option<Array<Vec3<F>>>,
}

impl<F: Float> Default for Control<F> {
    fn default() -> Self {
        Control { force: None, activation: None, drive: None }
    }
}
