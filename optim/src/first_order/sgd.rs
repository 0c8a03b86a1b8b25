//! Gradient descent with momentum.

use diffkern::{Array, Float, diff_kernel, diff_struct};

use super::group::{self, Group};
use crate::check::{Checked, require, within};
use crate::error::{Result, setting};
use crate::objective::Objective;
use crate::rule::{Rule, Stepped};
use crate::vector::{Arrays, Host, Vector};

/// Gradient descent, with Polyak's momentum (1964) or Nesterov's in the form of Sutskever et al. (2013). For the parameter
/// over its scale, `y = x / scale`, and its gradient `g = scale df/dx + decay y`:
/// - `v = momentum v + g`, from `v = 0`;
/// - `y -= rate v`, with Nesterov `y -= rate (g + momentum v)`.
///
/// The decay is that of `decay y^2 / 2` in the objective. Parameters and velocities stay on the device; one read a step, of
/// the gradient's norms.
///
/// ```
/// use diffkern::prelude::*;
/// use diffkern_optim::{Group, Sgd};
///
/// let x = vec![Device::cpu().array(&[1.0, 2.0])?];
/// let mut sgd = Sgd::new(vec![Group::new(0.1)]).with_momentum(0.9);
/// let gradient = vec![x[0].device().array(&[10.0, 0.0])?];
/// sgd.update(&x, &gradient)?;
/// assert_eq!(x[0].to_vec()?, [0.0, 2.0]);
/// # Ok::<(), diffkern_optim::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Sgd<V> {
    /// One for all arrays, or one for each.
    pub groups: Vec<Group>,
    /// Part of the velocity that stays, from 0 to less than 1.
    pub momentum: f64,
    /// Whether the gradient is taken ahead of the velocity.
    pub nesterov: bool,
    steps: u64,
    velocity: Option<V>,
}

/// Of one array.
#[diff_struct]
pub(super) struct SgdStep<F> {
    pub(super) rate: F,
    pub(super) scale: F,
    pub(super) decay: F,
    pub(super) momentum: F,
    pub(super) nesterov: bool,
}

#[diff_kernel]
pub(super) fn sgd_update<F: Float>(gradient: &Array<F>, velocity: &mut Array<F>, x: &mut Array<F>, by: SgdStep<F>) {
    let i = ABSOLUTE_POS;
    let g = gradient[i] * by.scale + x[i] / by.scale * by.decay;
    let v = velocity[i] * by.momentum + g;
    let along = if by.nesterov { g + v * by.momentum } else { v };
    velocity[i] = v;
    x[i] = x[i] - by.rate * by.scale * along;
}

impl<V> Sgd<V> {
    /// Without momentum.
    pub fn new(groups: Vec<Group>) -> Sgd<V> {
        Sgd { groups, momentum: 0.0, nesterov: false, steps: 0, velocity: None }
    }

    /// With this momentum.
    #[must_use]
    pub fn with_momentum(self, momentum: f64) -> Sgd<V> {
        Sgd { momentum, ..self }
    }

    /// With the gradient taken ahead of the velocity.
    #[must_use]
    pub fn with_nesterov(self) -> Sgd<V> {
        Sgd { nesterov: true, ..self }
    }

    /// The same with another kind of vector.
    fn with<W>(&self, velocity: Option<W>) -> Sgd<W> {
        let groups = self.groups.clone();
        Sgd { groups, momentum: self.momentum, nesterov: self.nesterov, steps: self.steps, velocity }
    }
}

impl<F: Float> Sgd<Arrays<F>> {
    /// Changes the parameters `x` in place, for this gradient.
    ///
    /// # Errors
    /// When a setting is not usable, shapes differ, or the gradient is not finite; then nothing has changed. When the device
    /// fails.
    pub fn update(&mut self, x: &[Array<F>], gradient: &[Array<F>]) -> Result<()> {
        setting("the momentum", self.momentum, "at least 0 and less than 1", |m| (0.0..1.0).contains(&m))?;
        group::ready(&self.groups, x, gradient, self.steps)?;
        let velocity = match &self.velocity {
            Some(velocity) => velocity,
            None => self.velocity.insert(x.iter().map(|x| x.device().zeros(x.len())).collect::<Result<_, _>>()?),
        };
        crate::vector::same_arrays(velocity, x)?;
        let real = F::from_f64;
        for (k, ((x, gradient), velocity)) in x.iter().zip(gradient).zip(velocity).enumerate() {
            let Group { rate, scale, decay } = group::group(&self.groups, k);
            let by = SgdStep {
                rate: real(rate),
                scale: real(scale),
                decay: real(decay),
                momentum: real(self.momentum),
                nesterov: self.nesterov,
            };
            sgd_update(x.len(), gradient, velocity, x, by)?;
        }
        self.steps += 1;
        Ok(())
    }

    /// The state as numbers, to be kept.
    ///
    /// # Errors
    /// When the device fails.
    pub fn to_host(&self) -> Result<Sgd<Host>> {
        Ok(self.with(self.velocity.as_ref().map(Vector::to_host).transpose()?))
    }

    /// Goes on from a state that was kept, for the parameters `x`, to the same bits.
    ///
    /// # Errors
    /// When the state does not fit, or the device fails.
    pub fn from_host(state: &Sgd<Host>, x: &Arrays<F>) -> Result<Sgd<Arrays<F>>> {
        state.check()?;
        Ok(state.with(state.velocity.as_ref().map(|velocity| x.like(velocity)).transpose()?))
    }
}

impl Sgd<Host> {
    /// Checks what was read from a file.
    ///
    /// # Errors
    /// Names the field.
    pub fn check(&self) -> Checked {
        group::check(&self.groups)?;
        within("momentum", self.momentum, 0.0, 1.0)?;
        let finite = self.velocity.iter().flatten().flatten().all(|v| v.is_finite());
        require(finite, "velocity", || "a number is not finite, expected finite numbers".into())
    }
}

impl<F: Float> Rule<Arrays<F>> for Sgd<Arrays<F>> {
    fn step<O: Objective<Arrays<F>>>(
        &mut self,
        x: &mut Arrays<F>,
        here: O::At,
        objective: &mut O,
    ) -> Result<Stepped<O::At>> {
        group::follow(x, here, objective, |x, gradient| self.update(x, gradient))
    }
}
