//! Adam, with either form of weight decay.

use diffkern::{Array, Float, diff_fn, diff_kernel, diff_struct};

use super::group::{self, Group};
use crate::check::{Checked, require, within};
use crate::error::{Result, setting};
use crate::objective::Objective;
use crate::rule::{Rule, Stepped};
use crate::vector::{Arrays, Host, Vector, same_arrays};

/// Where the decay of a [`Group`] acts in [`Adam`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum WeightDecay {
    /// In the gradient, as that of `decay y^2 / 2`: what Adam divides by the gradient's usual size, too.
    L2,
    /// Beside the step: `y -= rate decay y` (AdamW).
    Decoupled,
}

/// Adam (Kingma and Ba 2015, algorithm 1), and AdamW (Loshchilov and Hutter 2019, algorithm 2): gradient steps scaled by
/// running moments, for many parameters and noisy gradients. For the parameter over its scale, `y = x / scale`, with its
/// gradient `g = scale df/dx`, `a` and `b` of `beta` and step number `t`:
/// - `m = a m + (1 - a) g` and `v = b v + (1 - b) g^2`, from 0;
/// - `y -= rate (m / (1 - a^t)) / (sqrt(v / (1 - b^t)) + epsilon)`.
///
/// A first step is as long as the rate, whatever the gradient's size. Parameters and moments stay on the device; one read a
/// step, of the gradient's norms.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Adam<V> {
    /// One for all arrays, or one for each.
    pub groups: Vec<Group>,
    /// Forgetting factors of the first and of the second moment, from 0 to less than 1.
    pub beta: [f64; 2],
    /// Keeps the quotient finite where the gradient vanishes; in units of the scaled gradient.
    pub epsilon: f64,
    /// Where the decay acts.
    pub weight_decay: WeightDecay,
    steps: u64,
    /// First and second.
    moments: Option<[V; 2]>,
}

/// A step of one array: `mature` is what corrects the moments' start at 0.
#[diff_struct]
pub(crate) struct AdamStep<F> {
    pub(crate) rate: F,
    pub(crate) scale: F,
    pub(crate) fade: F,
    pub(crate) fade_square: F,
    /// 1 less `fade`, rounded once.
    pub(crate) rest: F,
    pub(crate) rest_square: F,
    pub(crate) mature: F,
    pub(crate) mature_square: F,
    pub(crate) epsilon: F,
}

impl<F: Float> AdamStep<F> {
    /// Step number `step`, from 1.
    pub(crate) fn new(rate: f64, scale: f64, [fade, fade_square]: [f64; 2], epsilon: f64, step: i32) -> AdamStep<F> {
        let real = F::from_f64;
        AdamStep {
            rate: real(rate),
            scale: real(scale),
            fade: real(fade),
            fade_square: real(fade_square),
            rest: real(1.0 - fade),
            rest_square: real(1.0 - fade_square),
            mature: real(1.0 - fade.powi(step)),
            mature_square: real(1.0 - fade_square.powi(step)),
            epsilon: real(epsilon),
        }
    }
}

/// The moments and the change of a parameter, for its gradient times its scale.
#[diff_fn]
pub(crate) fn adam<F: Float>(gradient: F, first: F, second: F, by: AdamStep<F>) -> (F, F, F) {
    let m = by.fade * first + by.rest * gradient;
    let v = by.fade_square * second + by.rest_square * gradient * gradient;
    let size = (v / by.mature_square).sqrt();
    (m, v, -by.rate * by.scale * (m / by.mature) / (size + by.epsilon))
}

/// `coupled` and `decoupled` are the decay where it acts, else 0.
#[diff_kernel]
pub(super) fn adam_update<F: Float>(
    gradient: &Array<F>,
    first: &mut Array<F>,
    second: &mut Array<F>,
    x: &mut Array<F>,
    by: AdamStep<F>,
    coupled: F,
    decoupled: F,
) {
    let i = ABSOLUTE_POS;
    let g = gradient[i] * by.scale + x[i] / by.scale * coupled;
    let (m, v, change): (F, F, F) = adam::<F>(g, first[i], second[i], by);
    first[i] = m;
    second[i] = v;
    x[i] = x[i] - x[i] * (by.rate * decoupled) + change;
}

impl<V> Adam<V> {
    /// With the moments' usual factors, 0.9 and 0.999, and an epsilon of 1e-8; a decay is that of the objective.
    pub fn new(groups: Vec<Group>) -> Adam<V> {
        let weight_decay = WeightDecay::L2;
        Adam { groups, beta: [0.9, 0.999], epsilon: 1e-8, weight_decay, steps: 0, moments: None }
    }

    /// AdamW: the decay acts beside the step. The paper's decay is this one times the rate.
    pub fn decoupled(groups: Vec<Group>) -> Adam<V> {
        Adam { weight_decay: WeightDecay::Decoupled, ..Adam::new(groups) }
    }

    /// Number of steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The same with another kind of vector.
    fn with<W>(&self, moments: Option<[W; 2]>) -> Adam<W> {
        let (groups, weight_decay) = (self.groups.clone(), self.weight_decay);
        Adam { groups, beta: self.beta, epsilon: self.epsilon, weight_decay, steps: self.steps, moments }
    }
}

impl<F: Float> Adam<Arrays<F>> {
    /// Changes the parameters `x` in place, for this gradient.
    ///
    /// # Errors
    /// When a setting is not usable, shapes differ, or the gradient is not finite; then nothing has changed. When the device
    /// fails.
    pub fn update(&mut self, x: &[Array<F>], gradient: &[Array<F>]) -> Result<()> {
        for beta in self.beta {
            setting("a factor of the moments", beta, "at least 0 and less than 1", |b| (0.0..1.0).contains(&b))?;
        }
        setting("epsilon", self.epsilon, "a finite number above 0", |epsilon| epsilon > 0.0)?;
        group::ready(&self.groups, x, gradient, self.steps)?;
        let zeros = || x.iter().map(|x| x.device().zeros(x.len())).collect::<Result<Arrays<F>, _>>();
        let [first, second] = match &self.moments {
            Some(moments) => moments,
            None => self.moments.insert([zeros()?, zeros()?]),
        };
        same_arrays(first, x)?;
        let step = i32::try_from(self.steps + 1).unwrap_or(i32::MAX);
        let moments = first.iter().zip(second);
        for (k, ((x, gradient), (first, second))) in x.iter().zip(gradient).zip(moments).enumerate() {
            let Group { rate, scale, decay } = group::group(&self.groups, k);
            let [coupled, decoupled] = match self.weight_decay {
                WeightDecay::L2 => [decay, 0.0],
                WeightDecay::Decoupled => [0.0, decay],
            }
            .map(F::from_f64);
            let by = AdamStep::new(rate, scale, self.beta, self.epsilon, step);
            adam_update(x.len(), gradient, first, second, x, by, coupled, decoupled)?;
        }
        self.steps += 1;
        Ok(())
    }

    /// The state as numbers, to be kept.
    ///
    /// # Errors
    /// When the device fails.
    pub fn to_host(&self) -> Result<Adam<Host>> {
        let host = |[first, second]: &[Arrays<F>; 2]| Ok::<_, crate::Error>([first.to_host()?, second.to_host()?]);
        Ok(self.with(self.moments.as_ref().map(host).transpose()?))
    }

    /// Goes on from a state that was kept, for the parameters `x`, to the same bits.
    ///
    /// # Errors
    /// When the state does not fit, or the device fails.
    pub fn from_host(state: &Adam<Host>, x: &Arrays<F>) -> Result<Adam<Arrays<F>>> {
        state.check()?;
        let arrays = |[first, second]: &[Host; 2]| Ok::<_, crate::Error>([x.like(first)?, x.like(second)?]);
        Ok(state.with(state.moments.as_ref().map(arrays).transpose()?))
    }
}

impl Adam<Host> {
    /// Checks what was read from a file.
    ///
    /// # Errors
    /// Names the field.
    pub fn check(&self) -> Checked {
        group::check(&self.groups)?;
        check_moments(self.beta, self.epsilon)?;
        let [first, second] = self.moments.as_ref().map_or([&[][..], &[]], |[first, second]| [first, second]);
        let finite = first.iter().chain(second).flatten().all(|x| x.is_finite());
        let squares = second.iter().flatten().all(|square| *square >= 0.0);
        require(finite && squares, "moments", || "a number is not finite, or a square negative".into())
    }
}

/// Checks the settings that all forms of Adam have.
pub(crate) fn check_moments(beta: [f64; 2], epsilon: f64) -> Checked {
    within("epsilon", epsilon, f64::MIN_POSITIVE, f64::MAX)?;
    let fading = beta.iter().all(|fade| (0.0..1.0).contains(fade));
    require(fading, "beta", || format!("{beta:?}, expected two numbers from 0 to less than 1"))
}

impl<F: Float> Rule<Arrays<F>> for Adam<Arrays<F>> {
    fn step<O: Objective<Arrays<F>>>(
        &mut self,
        x: &mut Arrays<F>,
        here: O::At,
        objective: &mut O,
    ) -> Result<Stepped<O::At>> {
        group::follow(x, here, objective, |x, gradient| self.update(x, gradient))
    }
}
