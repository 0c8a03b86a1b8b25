//! Forces and impulses at points of bodies, over intervals of time.

use super::kernels::Wrench;
use crate::error::{Error, Result};
use crate::step::Tick;
use diffkern::prelude::*;

/// What acts on a step from outside; nothing by default.
#[derive(Clone, Debug)]
pub struct Control<F: Float> {
    /// Forces at points of bodies.
    pub loads: Option<Loads<F>>,
    /// Forces and torques on the centres of mass, one a body.
    pub wrench: Option<Array<Wrench<F>>>,
    /// Relative change of the lengths of springs at rest, one element or one a spring.
    pub actuation: Option<Array<F>>,
}

impl<F: Float> Default for Control<F> {
    fn default() -> Self {
        Control { loads: None, wrench: None, actuation: None }
    }
}

/// Forces of one step.
#[derive(Clone, Debug)]
pub struct Loads<F: Float> {
    /// Body of each.
    pub owner: Array<u32>,
    /// Where it acts, in the frame of the surface of the body \[m\].
    pub point: Array<Vec3<F>>,
    /// Force along the axes of the world \[N\].
    pub force: Array<Vec3<F>>,
    /// Part of the step for which it acts.
    pub share: Array<F>,
}

/// A force at a point of a body over an interval of time, as plain data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Push {
    /// Number of the body.
    pub body: usize,
    /// Where it acts, in the frame of the surface of the body \[m\]; it moves with the body.
    pub point: [f64; 3],
    /// Force along the axes of the world \[N\]; of an impulse \[N s\].
    pub force: [f64; 3],
    /// Begin and end \[s\]; an impulse where they are equal.
    pub interval: [f64; 2],
}

impl Push {
    /// An impulse \[N s\] at a time \[s\].
    pub fn impulse(body: usize, point: [f64; 3], impulse: [f64; 3], time: f64) -> Push {
        Push { body, point, force: impulse, interval: [time, time] }
    }
}

/// Pushes on a device: points and forces may have gradients.
#[derive(Clone, Debug)]
pub struct Pushes<F: Float> {
    owner: Array<u32>,
    /// Where they act, in the frames of the surfaces \[m\].
    pub point: Array<Vec3<F>>,
    /// Forces \[N\]; of impulses \[N s\].
    pub force: Array<Vec3<F>>,
    intervals: Vec<[f64; 2]>,
}

/// Part of a step by which rounding may move its ends.
const ROUNDING: f64 = 1e-6;

impl<F: Float> Pushes<F> {
    /// On `device`, on some of `bodies` bodies; at least one.
    ///
    /// # Errors
    /// When there is none, there is no such body, an interval ends before it begins, or a number is not finite.
    pub fn new(device: &Device, bodies: usize, pushes: &[Push]) -> Result<Pushes<F>> {
        if pushes.is_empty() {
            return Err(Error::invalid("number of pushes", 0, "at least 1"));
        }
        for (k, push) in pushes.iter().enumerate() {
            if push.body >= bodies {
                return Err(Error::invalid(format!("body of push {k}"), push.body, format!("a number below {bodies}")));
            }
            let numbers = push.point.iter().chain(&push.force).chain(&push.interval);
            if numbers.into_iter().any(|x| !x.is_finite()) || push.interval[0] > push.interval[1] {
                let expected = "finite numbers, and an interval that does not end before it begins";
                return Err(Error::invalid(format!("push {k}"), format!("{push:?}"), expected));
            }
        }
        let vectors = |of: fn(&Push) -> [f64; 3]| {
            let rows: Vec<Vec3<F>> = pushes.iter().map(|p| Vec3::from_array(of(p).map(F::from_f64))).collect();
            device.array(&rows)
        };
        Ok(Pushes {
            owner: device.array(&pushes.iter().map(|p| p.body as u32).collect::<Vec<_>>())?,
            point: vectors(|p| p.point)?,
            force: vectors(|p| p.force)?,
            intervals: pushes.iter().map(|p| p.interval).collect(),
        })
    }

    /// What they do in a step: the impulse over a run is force times interval, whatever the steps are.
    ///
    /// # Errors
    /// When memory is short.
    pub fn control(&self, tick: Tick) -> diffkern::Result<Control<F>> {
        let shares: Vec<f64> = self.intervals.iter().map(|&interval| share(interval, tick)).collect();
        if shares.iter().all(|&s| s == 0.0) {
            return Ok(Control::default());
        }
        let (owner, point, force) = (self.owner.clone(), self.point.clone(), self.force.clone());
        let share = point.device().array(&shares.into_iter().map(F::from_f64).collect::<Vec<_>>())?;
        Ok(Control { loads: Some(Loads { owner, point, force, share }), ..Control::default() })
    }
}

/// The part of the step within the interval; of an impulse what makes of it a force over the step.
fn share([start, end]: [f64; 2], tick: Tick) -> f64 {
    let Tick { time, dt, .. } = tick;
    if start == end {
        let since = (start - time) / dt + ROUNDING;
        return if (0.0..1.0).contains(&since) { 1.0 / dt } else { 0.0 };
    }
    ((end.min(time + dt) - start.max(time)) / dt).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Span;

    #[test]
    fn the_impulse_is_force_times_interval_whatever_the_steps() {
        for dt in [0.01, 0.03, 0.007] {
            let span = Span::until(0, 0.0, 0.5, dt).unwrap();
            for (interval, expected) in
                [([0.1, 0.25], 0.15), ([0.0, 0.5], 0.5), ([0.21, 0.2101], 1e-4), ([0.03; 2], 1.0)]
            {
                let sum: f64 = (0..span.len()).map(|k| share(interval, span.tick(k)) * span.tick(k).dt).sum();
                assert!((sum - expected).abs() < 1e-12, "{interval:?} in steps of {dt}: {sum}");
            }
        }
    }
}
