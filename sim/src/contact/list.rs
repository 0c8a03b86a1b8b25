//! The list of contacts, from which a scene chooses one when it runs.

use crate::error::{Result, non_negative, positive};

/// Makes [`Contact`] of the rows of models by forces, `with_contact!`, which goes on with the type of such a model, and
/// `each_contact!`, which goes through them.
macro_rules! contacts {
    ($dollar:tt $(
        $(#[$doc:meta])*
        $model:ident { $($(#[$field_doc:meta])* $field:ident,)+ } = [$stiffness:expr, $damping:expr, $width:expr];
    )+) => {
        /// What happens at the surface of a solid.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Contact {
            /// What is inside does not move, or moves with the solid.
            Sticky,
            /// What is inside moves along the surface.
            Slip,
            /// What is inside moves along the surface or away from it.
            Separating,
            $($(#[$doc])* $model { $($(#[$field_doc])* $field: f64,)+ },)+
        }

        impl Contact {
            /// `(stiffness, damping, width)` of those that act by forces; a width of one where there is none.
            pub(crate) fn numbers(self) -> Option<[f64; 3]> {
                match self {
                    Contact::Sticky | Contact::Slip | Contact::Separating => None,
                    $(Contact::$model { $($field),+ } => Some([$stiffness, $damping, $width]),)+
                }
            }

            /// The number by which kernels know those that act on velocities.
            pub(crate) fn projection(self) -> Option<u32> {
                match self {
                    Contact::Sticky => Some(0),
                    Contact::Slip => Some(1),
                    Contact::Separating => Some(2),
                    $(Contact::$model { .. } => None,)+
                }
            }
        }

        /// `with_contact!(contact, L => e)`: `e`, in which `L` is the type of a model by forces; nothing for the others.
        macro_rules! with_contact {
            ($dollar contact:expr, $dollar model:ident => $dollar e:expr) => {
                match $dollar contact {
                    $crate::contact::Contact::Sticky
                    | $crate::contact::Contact::Slip
                    | $crate::contact::Contact::Separating => {}
                    $($crate::contact::Contact::$model { .. } => {
                        type $dollar model = $crate::contact::$model;
                        $dollar e
                    })+
                }
            };
        }

        /// `each_contact!(L => e)`: an array of `e` for each model by forces, in which `L` is its type.
        macro_rules! each_contact {
            ($dollar model:ident => $dollar e:expr) => {
                [$({
                    type $dollar model = $crate::contact::$model;
                    $dollar e
                }),+]
            };
        }
    };
}

contacts! { $
    /// What is inside is pushed out: of particles of [MPM](crate::mpm) by a pressure `stiffness (h/2 - gap)` on an area `h^(d-1)`, `h` the
    /// particle spacing; of a vertex by a force `stiffness` times the depth.
    Penalty {
        /// Pressure per depth \[Pa/m\] of half-spaces on particles, else force per depth \[N/m\].
        stiffness,
    } = [stiffness, 0.0, 1.0];
    /// A penalty that begins smoothly, see [`SmoothPenalty`](super::SmoothPenalty); of vertices.
    SmoothPenalty {
        /// Force per depth beyond the width \[N/m\].
        stiffness,
        /// Depth up to which it stiffens \[m\].
        width,
    } = [stiffness, 0.0, width];
    /// A penalty that stiffens as a layer of a body does that is squeezed, see [`Layer`](super::Layer); of vertices.
    Layer {
        /// Force per depth under small forces \[N/m\].
        stiffness,
        /// Thickness of the layer \[m\].
        thickness,
    } = [stiffness, 0.0, thickness];
    /// A penalty with damping that does not pull, see [`KelvinVoigt`](super::KelvinVoigt); of vertices.
    KelvinVoigt {
        /// Force per depth \[N/m\].
        stiffness,
        /// Force per speed of approach \[N s/m\].
        damping,
    } = [stiffness, damping, 1.0];
    /// A penalty with damping in proportion to the depth, see [`HuntCrossley`](super::HuntCrossley); of vertices.
    HuntCrossley {
        /// Force per depth \[N/m\].
        stiffness,
        /// Damping by the speed of approach \[s/m\].
        damping,
    } = [stiffness, damping, 1.0];
    /// Contact of round bodies, damped as `HuntCrossley`, see [`Hertz`](super::Hertz); of vertices.
    Hertz {
        /// Force per depth^(3/2) \[N/m^(3/2)\].
        stiffness,
        /// Damping by the speed of approach \[s/m\].
        damping,
    } = [stiffness, damping, 1.0];
    /// A smooth barrier before the surface, see [`Barrier`](super::Barrier); of vertices.
    Barrier {
        /// Scale of the force per depth \[N/m\].
        stiffness,
        /// Distance at which it begins \[m\].
        width,
    } = [stiffness, 0.0, width];
}

pub(crate) use {each_contact, with_contact};

impl Contact {
    /// From which gap on it does nothing \[m\].
    pub(crate) fn reach(self) -> f64 {
        match self {
            Contact::Barrier { width, .. } => width,
            _ => 0.0,
        }
    }

    /// Whether its force depends on how fast what touches comes nearer.
    pub(crate) fn is_damped(self) -> bool {
        matches!(self, Contact::KelvinVoigt { .. } | Contact::HuntCrossley { .. } | Contact::Hertz { .. })
    }

    pub(crate) fn check(self, of: &str) -> Result<()> {
        if let Some([stiffness, damping, width]) = self.numbers() {
            positive(&format!("stiffness of {of}"), stiffness)?;
            non_negative(&format!("damping of {of}"), damping)?;
            positive(&format!("width of {of}"), width)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::ContactModel;
    use diffkern::prelude::*;

    /// Forces begin at the reach of a law, and depend on the rate of those that say so.
    #[test]
    fn laws_are_as_their_kinds_say() {
        let all = [
            Contact::Penalty { stiffness: 3.0 },
            Contact::SmoothPenalty { stiffness: 3.0, width: 0.02 },
            Contact::Layer { stiffness: 3.0, thickness: 0.02 },
            Contact::KelvinVoigt { stiffness: 3.0, damping: 0.1 },
            Contact::HuntCrossley { stiffness: 3.0, damping: 0.1 },
            Contact::Hertz { stiffness: 3.0, damping: 0.1 },
            Contact::Barrier { stiffness: 3.0, width: 0.02 },
        ];
        assert_eq!(all.len(), each_contact!(L => std::any::type_name::<L>()).len(), "every law by forces");
        for contact in all {
            let [stiffness, damping, width] = contact.numbers().unwrap_or_default();
            let q = Vec4::new(stiffness, damping, width, 0.0);
            let force = |gap: f64, rate: f64| -> f64 {
                let mut force = f64::NAN;
                with_contact!(contact, L => force = L::force(gap, rate, q));
                force
            };
            let reach = contact.reach();
            for beyond in [0.0, 1e-9, 0.1, 3.0] {
                assert_eq!(force(reach + beyond, -2.0), 0.0, "{contact:?}");
            }
            let inside = reach - 0.01;
            assert!(force(inside, 0.0) > 0.0, "{contact:?}");
            assert_eq!(force(inside, 0.0) != force(inside, -2.0), contact.is_damped(), "{contact:?}");
        }
    }
}
