//! Which rule chooses the steps of an identification.

use crate::error::{Error, Result};
use crate::text::quoted;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Which rule chooses the steps of an identification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Optimizer {
    /// The one that needs the fewest runs of the simulator. For the at most three unknowns of a video that is
    /// [`Optimizer::Lm`]: `docs/experiment.md` has the count.
    #[default]
    Auto,
    /// Gauss-Newton with Levenberg and Marquardt's damping, on tangents of all pixels by forward mode.
    Lm,
    /// Newton's method with conjugate gradients on Hessian-vector products of the tape; needs the feature `second-order`.
    NewtonCg,
    /// Adam on gradients of the tape.
    Adam,
}

impl Optimizer {
    /// Every choice.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Lm, Self::NewtonCg, Self::Adam];

    /// As it is written.
    pub fn key(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Lm => "lm",
            Self::NewtonCg => "newton-cg",
            Self::Adam => "adam",
        }
    }

    /// What `auto` stands for.
    ///
    /// # Errors
    /// When this build cannot do it.
    pub fn resolve(self) -> Result<Self> {
        match self {
            Self::Auto => Ok(Self::Lm),
            Self::NewtonCg if !cfg!(feature = "second-order") => {
                let problem = "newton-cg needs second derivatives, which this build lacks: expected a build with \
                               --features second-order, or auto, lm or adam";
                Err(Error::argument("optimizer", problem))
            }
            other => Ok(other),
        }
    }
}

impl fmt::Display for Optimizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

impl FromStr for Optimizer {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let known = Self::ALL.into_iter().find(|optimizer| optimizer.key() == text);
        known.ok_or_else(|| format!("{}, expected auto, lm, newton-cg or adam", quoted(text)))
    }
}

impl TryFrom<String> for Optimizer {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        text.parse()
    }
}

impl From<Optimizer> for String {
    fn from(optimizer: Optimizer) -> Self {
        optimizer.key().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_reads_as_it_is_written() {
        for optimizer in Optimizer::ALL {
            assert_eq!(optimizer.to_string().parse(), Ok(optimizer));
        }
        assert!("bfgs".parse::<Optimizer>().unwrap_err().contains("newton-cg"));
    }

    #[test]
    fn newton_cg_asks_for_the_feature_by_name() {
        assert_eq!(Optimizer::Auto.resolve().unwrap(), Optimizer::Lm);
        let resolved = Optimizer::NewtonCg.resolve();
        match cfg!(feature = "second-order") {
            true => assert_eq!(resolved.unwrap(), Optimizer::NewtonCg),
            false => assert!(resolved.unwrap_err().to_string().contains("--features second-order")),
        }
    }
}
