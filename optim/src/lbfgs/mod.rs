//! L-BFGS (Nocedal 1980; Nocedal and Wright 2006, algorithms 7.4 and 7.5).

mod wolfe;

pub use wolfe::Wolfe;

use std::collections::VecDeque;

use crate::check::{Checked, at_most, require, within};
use crate::error::{Result, setting};
use crate::objective::{Evaluation, Objective};
use crate::rule::{Rule, Stepped, finite};
use crate::vector::{Host, Vector};
use wolfe::{Searched, Trial};

/// A pair whose curvature is smaller, relative to the norms of change and change of gradient, is rounding.
const LEAST_CURVATURE: f64 = 1e-8;
/// More pairs than any memory needs.
const MOST_PAIRS: usize = 10_000;

/// Quasi-Newton steps by the last changes of parameters and gradients, with a line search for the strong Wolfe conditions.
///
/// Pairs whose curvature is not positive, or is rounding, are left out. Where the direction is not downhill the memory is
/// forgotten and the step follows the gradient. Vectors stay on the device; with `k` pairs kept and `e` evaluations in the line
/// search, a step reads `2 k + e + 2` times from the device, inner products alone, besides what the objective reads.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Lbfgs<V> {
    /// Most pairs kept; 5 to 20 is usual.
    pub memory: usize,
    /// Length of the very first step that is tried, Euclidean; at most 1 times the gradient.
    pub first_length: f64,
    /// The line search.
    pub wolfe: Wolfe,
    /// The oldest first.
    pairs: VecDeque<Pair<V>>,
}

/// A change, and what it has shown of the Hessian.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
struct Pair<V> {
    /// Of the parameters.
    s: V,
    /// Of the gradient.
    y: V,
    /// `<s, y>`
    curvature: f64,
    /// `<s, y> / <y, y>`, the usual size of the inverse Hessian.
    size: f64,
}

impl<V> Lbfgs<V> {
    /// That keeps so many pairs.
    pub fn new(memory: usize) -> Lbfgs<V> {
        Lbfgs { memory, first_length: 1.0, wolfe: Wolfe::default(), pairs: VecDeque::new() }
    }

    /// Number of pairs kept so far.
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// The same with another kind of vector.
    fn try_map<W>(&self, change: impl Fn(&V) -> Result<W>) -> Result<Lbfgs<W>> {
        let pair = |pair: &Pair<V>| {
            let Pair { s, y, curvature, size } = pair;
            Ok(Pair { s: change(s)?, y: change(y)?, curvature: *curvature, size: *size })
        };
        let pairs = self.pairs.iter().map(pair).collect::<Result<_>>()?;
        Ok(Lbfgs { memory: self.memory, first_length: self.first_length, wolfe: self.wolfe, pairs })
    }
}

impl<V: Vector> Lbfgs<V> {
    /// The state as numbers, to be kept.
    ///
    /// # Errors
    /// When the device fails.
    pub fn to_host(&self) -> Result<Lbfgs<Host>> {
        self.try_map(Vector::to_host)
    }

    /// Goes on from a state that was kept, for the parameters `x`, to the same bits.
    ///
    /// # Errors
    /// When the state does not fit, or the device fails.
    pub fn from_host(state: &Lbfgs<Host>, x: &V) -> Result<Lbfgs<V>> {
        state.check()?;
        state.try_map(|vector| x.like(vector))
    }

    /// Minus the inverse Hessian times the gradient, by two loops over the pairs.
    fn direction(&self, gradient: &V) -> Result<V> {
        let mut q = gradient.scaled(-1.0)?;
        let mut parts = Vec::with_capacity(self.pairs.len());
        for Pair { s, y, curvature, .. } in self.pairs.iter().rev() {
            let part = s.dot(&q)? / curvature;
            q = V::combine(1.0, &q, -part, y)?;
            parts.push(part);
        }
        if let Some(last) = self.pairs.back() {
            q = q.scaled(last.size)?;
        }
        for (Pair { s, y, curvature, .. }, part) in self.pairs.iter().zip(parts.into_iter().rev()) {
            let back = y.dot(&q)? / curvature;
            q = V::combine(1.0, &q, part - back, s)?;
        }
        Ok(q)
    }

    /// Keeps what a step has shown, unless it is rounding or curves downwards.
    fn learn(&mut self, s: V, y: V) -> Result<()> {
        let found = V::dots(&[(&s, &y), (&y, &y), (&s, &s)])?;
        let (curvature, size) = (found[0], found[0] / found[1]);
        let least = LEAST_CURVATURE.max(10.0 * V::epsilon()) * (found[1] * found[2]).sqrt();
        // Not `<=`: NaN is no curvature.
        let shows = curvature > least && size.is_finite();
        if shows && self.memory > 0 {
            self.pairs.push_back(Pair { s, y, curvature, size });
        }
        while self.pairs.len() > self.memory {
            self.pairs.pop_front();
        }
        Ok(())
    }

    fn search<O: Objective<V>>(
        &self,
        x: &V,
        here: &O::At,
        (direction, slope, guess): (&V, f64, f64),
        objective: &mut O,
    ) -> Result<Searched<(V, O::At)>> {
        let start = Trial { length: 0.0, value: here.value(), slope, place: None };
        let rounding = 4.0 * V::epsilon() * here.value().abs();
        self.wolfe.search(start, guess, rounding, |length| {
            let at = V::combine(1.0, x, length, direction)?;
            let there = objective.evaluate(&at)?;
            let slope = there.gradient().dot(direction)?;
            Ok(Trial { length, value: there.value(), slope, place: Some((at, there)) })
        })
    }
}

impl<V: Vector> Rule<V> for Lbfgs<V> {
    fn step<O: Objective<V>>(&mut self, x: &mut V, here: O::At, objective: &mut O) -> Result<Stepped<O::At>> {
        self.wolfe.usable()?;
        setting("the first length", self.first_length, "a finite number above 0", |length| length > 0.0)?;
        finite("the value", here.value(), 0)?;
        let mut evaluations = 0;
        loop {
            let direction = self.direction(here.gradient())?;
            let found = V::dots(&[(here.gradient(), &direction), (here.gradient(), here.gradient())])?;
            let (slope, square) = (found[0], found[1]);
            finite("the squared norm of the gradient", square, 0)?;
            let guess = if self.pairs.is_empty() { (self.first_length / square.sqrt()).min(1.0) } else { 1.0 };
            let searched = match slope < 0.0 {
                true => self.search(x, &here, (&direction, slope, guess), objective)?,
                false => Searched { found: None, evaluations: 0 },
            };
            evaluations += searched.evaluations;
            if let Some(Trial { length, place: Some((at, there)), .. }) = searched.found {
                self.learn(direction.scaled(length)?, V::combine(1.0, there.gradient(), -1.0, here.gradient())?)?;
                x.assign(&at)?;
                return Ok(Stepped { here: there, taken: true, exhausted: false, evaluations, products: 0 });
            }
            if self.pairs.is_empty() {
                return Ok(Stepped { here, taken: false, exhausted: true, evaluations, products: 0 });
            }
            self.pairs.clear();
        }
    }
}

impl Lbfgs<Host> {
    /// Checks what was read from a file.
    ///
    /// # Errors
    /// Names the field.
    pub fn check(&self) -> Checked {
        at_most("memory", self.memory, MOST_PAIRS)?;
        at_most("pairs", self.pairs.len(), self.memory)?;
        within("first_length", self.first_length, f64::MIN_POSITIVE, f64::MAX)?;
        for pair in &self.pairs {
            within("pairs.curvature", pair.curvature, f64::MIN_POSITIVE, f64::MAX)?;
            within("pairs.size", pair.size, f64::MIN_POSITIVE, f64::MAX)?;
            let finite = pair.s.iter().chain(&pair.y).flatten().all(|x| x.is_finite());
            require(finite, "pairs", || "a number is not finite, expected finite numbers".into())?;
        }
        Ok(())
    }
}
