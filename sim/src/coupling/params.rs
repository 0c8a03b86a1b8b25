//! What may be identified of a contact.

use crate::params::parameters;
use diffkern::prelude::*;

/// Parameters of a contact with a surface, one element each.
#[derive(Clone, Debug)]
pub struct Params<F: Float> {
    /// Pressure per depth \[Pa/m\], of [`Hertz`](crate::contact::Hertz) \[Pa/m^(3/2)\].
    pub stiffness: Array<F>,
    /// Damping by the speed of approach \[s/m\], of [`KelvinVoigt`](crate::contact::KelvinVoigt) \[Pa s/m\].
    pub damping: Array<F>,
    /// Coulomb's coefficient.
    pub friction: Array<F>,
}

parameters! {
    impl [F: Float] for Params<F> {
        stiffness: "stiffness", "Pa/m", NonNegative;
        damping: "damping", "s/m", NonNegative;
        friction: "friction", "", NonNegative;
    }
}
