//! Settings that may differ from one array of parameters to the next.

use diffkern::{Array, Float};

use crate::check::{Checked, of, require, within};
use crate::error::{Error, Result, same_length, setting};
use crate::objective::{Evaluation, Objective};
use crate::rule::{Stepped, finite};
use crate::vector::{Arrays, Vector, same_arrays};

/// Settings of an array of parameters. A rule has one for each array, or a single one for all.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Group {
    /// Length of a step, in units of the scale. May be changed between steps: a schedule.
    pub rate: f64,
    /// Size of a usual change of a parameter, in its unit: the rule works on the parameter over its scale.
    pub scale: f64,
    /// Weight of the decay towards 0, for the parameter over its scale; the rule says where it acts. 0 for none.
    pub decay: f64,
}

impl Group {
    /// Of this rate, with a scale of 1 and without decay.
    pub fn new(rate: f64) -> Group {
        Group { rate, scale: 1.0, decay: 0.0 }
    }

    /// With this scale.
    #[must_use]
    pub fn with_scale(self, scale: f64) -> Group {
        Group { scale, ..self }
    }

    /// With this decay.
    #[must_use]
    pub fn with_decay(self, decay: f64) -> Group {
        Group { decay, ..self }
    }

    fn usable(&self) -> Result<()> {
        setting("the rate", self.rate, "a finite number of at least 0", |rate| rate >= 0.0)?;
        setting("the scale", self.scale, "a finite number above 0", |scale| scale > 0.0)?;
        setting("the decay", self.decay, "a finite number of at least 0", |decay| decay >= 0.0)
    }

    fn check(&self) -> Checked {
        within("rate", self.rate, 0.0, f64::MAX)?;
        within("scale", self.scale, f64::MIN_POSITIVE, f64::MAX)?;
        within("decay", self.decay, 0.0, f64::MAX)
    }
}

/// The settings of array `k`.
pub(super) fn group(groups: &[Group], k: usize) -> Group {
    match groups {
        [one] => *one,
        groups => groups[k],
    }
}

/// Checks what was read from a file.
pub(super) fn check(groups: &[Group]) -> Checked {
    require(!groups.is_empty(), "groups", || "none, expected one for all arrays, or one for each".into())?;
    groups.iter().enumerate().try_for_each(|(k, group)| of(&format!("groups[{k}]"), group.check()))
}

/// Refuses settings, shapes and gradients with which no step can be taken: one read, of the squared norms of the gradient.
pub(super) fn ready<F: Float>(groups: &[Group], x: &[Array<F>], gradient: &[Array<F>], step: u64) -> Result<()> {
    if groups.len() != 1 {
        same_length("groups", groups.len(), x.len())?;
    }
    groups.iter().try_for_each(Group::usable)?;
    same_arrays(gradient, x)?;
    let each: Vec<Arrays<F>> = gradient.iter().map(|gradient| vec![gradient.clone()]).collect();
    let squares = Arrays::dots(&each.iter().map(|part| (part, part)).collect::<Vec<_>>())?;
    match squares.iter().position(|square| !square.is_finite()) {
        None => Ok(()),
        Some(k) => {
            let what = format!("the squared norm of the gradient by array {k}");
            Err(Error::NotFinite { what, value: squares[k], step })
        }
    }
}

/// A step of a rule that needs the gradient where it is and no more: `update`, then the evaluation of the next step.
pub(super) fn follow<F: Float, O: Objective<Arrays<F>>>(
    x: &mut Arrays<F>,
    here: O::At,
    objective: &mut O,
    update: impl FnOnce(&Arrays<F>, &Arrays<F>) -> Result<()>,
) -> Result<Stepped<O::At>> {
    finite("the value", here.value(), 0)?;
    update(x, here.gradient())?;
    let here = objective.evaluate(x)?;
    Ok(Stepped { here, taken: true, exhausted: false, evaluations: 1, products: 0 })
}
