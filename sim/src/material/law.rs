//! The list of constitutive models, from which a simulation chooses one when it runs.

/// Makes [`Law`] of its rows, and `with_law!`, which goes on with the type that a law names.
macro_rules! laws {
    ($dollar:tt $($(#[$doc:meta])* $law:ident: $name:literal, known by $word:literal;)+) => {
        /// A constitutive model of the list, each a type of its name that implements [`Material`](super::Material).
        ///
        /// ```
        /// use diffkern_sim::mpm::Law;
        ///
        /// assert_eq!(Law::ALL.map(Law::name), ["stable neo-Hookean", "compressible neo-Hookean", "fixed corotated"]);
        /// assert_eq!(Law::described("Stable Neo-Hookean flesh"), Some(Law::StableNeoHookean));
        /// assert_eq!(Law::described("neo-Hookean"), Some(Law::NeoHookean));
        /// assert_eq!(Law::described("a fixed corotated solid"), Some(Law::FixedCorotated));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub enum Law {
            $($(#[$doc])* $law,)+
        }

        impl Law {
            /// All of them.
            pub const ALL: [Law; [$($word),+].len()] = [$(Law::$law),+];

            /// What the model is called.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Law::$law => $name,)+
                }
            }

            /// The first model of the list that a description names, in letters of either case.
            pub fn described(text: &str) -> Option<Law> {
                let text = text.to_lowercase();
                let known = [$((Law::$law, $word)),+];
                known.into_iter().find(|(_, word)| text.contains(word)).map(|(law, _)| law)
            }
        }

        /// `with_law!(law, M => e)`: `e`, in which `M` is the type of the model that `law` names.
        macro_rules! with_law {
            ($dollar law:expr, $dollar model:ident => $dollar e:expr) => {
                match $dollar law {
                    $($crate::material::Law::$law => {
                        type $dollar model = $crate::material::$law;
                        $dollar e
                    })+
                }
            };
        }
    };
}

laws! { $
    /// Stable neo-Hookean, see [`StableNeoHookean`](super::StableNeoHookean). Before the model whose name its own contains.
    StableNeoHookean: "stable neo-Hookean", known by "stable neo-hookean";
    /// Compressible neo-Hookean, see [`NeoHookean`](super::NeoHookean).
    #[default]
    NeoHookean: "compressible neo-Hookean", known by "neo-hookean";
    /// Fixed corotated, see [`FixedCorotated`](super::FixedCorotated).
    FixedCorotated: "fixed corotated", known by "corotated";
}

pub(crate) use with_law;
