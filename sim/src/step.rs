//! What all solvers have in common: a constant [`Model`], a flowing state, a [`Step`] between them; and what is made of steps.
//!
//! A solver says what one step is, when it is stable and what a sound state looks like. Runs to a given time, frames, schedules
//! for the tape and the search for the step at which a run went wrong are here, once for all of them.

use crate::error::{Error, Result, positive};
use crate::params::Params;
use diffkern::{Schedule, State};

/// One step of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tick {
    /// Steps taken before.
    pub index: usize,
    /// Time at its beginning \[s\].
    pub time: f64,
    /// Its length \[s\].
    pub dt: f64,
}

/// Consecutive steps of a run: all of one length, but for the last, which may be shorter.
///
/// ```
/// use diffkern_sim::Span;
///
/// let span = Span::until(0, 0.0, 0.25, 0.1)?;
/// let steps: Vec<f64> = (0..span.len()).map(|k| span.tick(k).dt).collect();
/// assert!(steps.len() == 3 && steps[1] == 0.1 && (steps[2] - 0.05).abs() < 1e-12);
/// # Ok::<(), diffkern_sim::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    first: usize,
    start: f64,
    steps: usize,
    dt: f64,
    last: f64,
}

/// Share of a step by which the end of a span may miss a whole number of steps and still be one.
const WHOLE: f64 = 1e-6;

impl Span {
    /// So many steps of length `dt` \[s\]; the first has the number `first`.
    pub fn steps(first: usize, steps: usize, dt: f64) -> Span {
        Span { first, start: first as f64 * dt, steps, dt, last: dt }
    }

    /// Steps from time `start` to `end` \[s\] of length `dt`, the last shortened to end there. The first has the number `first`.
    ///
    /// # Errors
    /// When `dt` is not positive, a time not finite, or `end` before `start`.
    pub fn until(first: usize, start: f64, end: f64, dt: f64) -> Result<Span> {
        positive("time step", dt)?;
        let ratio = (end - start) / dt;
        if !(ratio >= 0.0 && ratio <= u32::MAX.into()) {
            let expected = format!("a time from {start} on, at most 2^32 steps of {dt} s later");
            return Err(Error::invalid("end of the run [s]", end, expected));
        }
        let steps = (ratio - WHOLE).ceil().max(0.0);
        Ok(Span { first, start, steps: steps as usize, dt, last: end - start - (steps - 1.0) * dt })
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.steps
    }

    /// Whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.steps == 0
    }

    /// Number of steps taken at its end.
    pub fn end_index(&self) -> usize {
        self.first + self.steps
    }

    /// Its length \[s\].
    pub fn duration(&self) -> f64 {
        if self.is_empty() { 0.0 } else { (self.steps - 1) as f64 * self.dt + self.last }
    }

    /// Step `k` of it.
    pub fn tick(&self, k: usize) -> Tick {
        let dt = if k + 1 == self.steps { self.last } else { self.dt };
        Tick { index: self.first + k, time: self.start + k as f64 * self.dt, dt }
    }
}

/// The constant part of a simulation: geometry, method, obstacles. [Parameters](Params) make a [`Step`] of it.
pub trait Model: Clone {
    /// What flows.
    type State: State + 'static;
    /// What may be identified.
    type Params: Params;
    /// What acts on a step from outside, `()` if nothing does.
    type Control: Clone + 'static;
    /// The model with its parameters.
    type Step: Step<State = Self::State, Control = Self::Control>;

    /// The step with these parameters, for states like `state`. Call it where the tape records, so that gradients reach them.
    ///
    /// # Errors
    /// When a parameter has the wrong length.
    fn bind(&self, params: &Self::Params, state: &Self::State) -> Result<Self::Step>;

    /// The longest stable step of length \[s\] from `state`, of parameters that are read to the host. Where they are known by
    /// ranges alone, give the stiffest, lightest and fastest.
    ///
    /// # Errors
    /// When a parameter is out of its bounds, or cannot be read.
    fn max_dt(&self, params: &Self::Params, state: &Self::State) -> Result<f64>;
}

/// Takes a state to the next: explicit or implicit, by launches alone, so that it may be recorded, replayed and differentiated.
pub trait Step: Clone + 'static {
    /// What flows.
    type State: State + 'static;
    /// What acts on a step from outside.
    type Control: Clone + 'static;

    /// Usual length of a step \[s\].
    fn dt(&self) -> f64;

    /// Step number `index` of a run from time 0 in steps of the usual length.
    fn tick(&self, index: usize) -> Tick {
        Span::steps(index, 1, self.dt()).tick(0)
    }

    /// The state after `tick`.
    ///
    /// # Errors
    /// When a launch or a solver fails.
    fn step(&self, state: &Self::State, control: &Self::Control, tick: Tick) -> diffkern::Result<Self::State>;

    /// Whether a state still means something: never repaired, only reported. `step` is the number of steps taken. Reads the state
    /// to the host.
    ///
    /// # Errors
    /// On the first element that is not sound, with its values.
    fn check(&self, state: &Self::State, step: usize) -> Result<()>;

    /// Why no step can be taken from `state`, beside [`Step::check`].
    ///
    /// # Errors
    /// When it cannot be found out.
    fn obstacle(&self, state: &Self::State, step: usize) -> diffkern::Result<Option<Error>> {
        let _ = (state, step);
        Ok(None)
    }

    /// All steps of `span` as one rollout, which a recording tape replays by `schedule`. A solver may prepare the run here, as long
    /// as the result is that of one [`Step::step`] after the other.
    ///
    /// # Errors
    /// As [`Step::step`].
    fn roll<C>(self, state: &Self::State, span: Span, control: C, schedule: Schedule) -> diffkern::Result<Self::State>
    where
        C: Fn(&Self::State, Tick) -> diffkern::Result<Self::Control> + Clone + 'static,
    {
        diffkern::rollout(span.len(), schedule, state.clone(), move |now, k| {
            let tick = span.tick(k);
            self.step(now, &control(now, tick)?, tick)
        })
    }

    /// `steps` steps of the usual length without control, then the checks of [`Step::check`]. `first_step` is where the error
    /// messages start to count.
    ///
    /// # Errors
    /// When a launch or a check fails; the message names the first step and element at which it does.
    fn advance(&self, state: &Self::State, first_step: usize, steps: usize, schedule: Schedule) -> Result<Self::State>
    where
        Self::Control: Default,
    {
        self.advance_with(
            state,
            Span::steps(first_step, steps, self.dt()),
            |_, _| Ok(Self::Control::default()),
            schedule,
        )
    }

    /// The steps of `span`, each under the control that `control` makes of the state before it: launches and nothing else, so that
    /// gradients pass through it. Then the checks.
    ///
    /// # Errors
    /// As [`Step::advance`], and what `control` returns.
    fn advance_with<C>(&self, state: &Self::State, span: Span, control: C, schedule: Schedule) -> Result<Self::State>
    where
        C: Fn(&Self::State, Tick) -> diffkern::Result<Self::Control> + Clone + 'static,
    {
        use diffkern::Error as Runtime;
        let checked = match self.clone().roll(state, span, control.clone(), schedule) {
            Ok(end) => self.check(&end, span.end_index()).map(|()| end),
            Err(error @ (Runtime::Index { .. } | Runtime::Memory { .. } | Runtime::NotConverged { .. })) => {
                Err(error.into())
            }
            // No element is to blame: a budget that is too small, a device that fails.
            Err(error) => return Err(error.into()),
        };
        checked.map_err(|error| first_fault(self, state, span, control).unwrap_or(error))
    }

    /// The states at `times` \[s\], of which the first is that of `state`; `see` gets each. A time that is no multiple of the step
    /// ends with a shorter one, in the gradient too.
    ///
    /// # Errors
    /// As [`Step::advance`], when the times do not increase, and what `see` returns.
    fn frames(
        &self,
        state: &Self::State,
        times: &[f64],
        schedule: Schedule,
        mut see: impl FnMut(usize, &Self::State) -> Result<()>,
    ) -> Result<Self::State>
    where
        Self::Control: Default,
    {
        let (mut now, mut taken) = (state.clone(), 0);
        for (frame, pair) in times.windows(2).enumerate() {
            see(frame, &now)?;
            let span = Span::until(taken, pair[0], pair[1], self.dt())?;
            now = self.advance_with(&now, span, |_, _| Ok(Self::Control::default()), schedule)?;
            taken = span.end_index();
        }
        if let Some(last) = times.len().checked_sub(1) {
            see(last, &now)?;
        }
        Ok(now)
    }
}

/// Goes through the steps again, checking each, to find where it went wrong.
fn first_fault<S: Step>(
    step: &S,
    state: &S::State,
    span: Span,
    control: impl Fn(&S::State, Tick) -> diffkern::Result<S::Control>,
) -> Option<Error> {
    let mut now = state.clone();
    for k in 0..=span.len() {
        let tick = span.tick(k);
        if let Err(error) = step.check(&now, tick.index) {
            return Some(error);
        }
        if let Some(error) = step.obstacle(&now, tick.index).ok()? {
            return Some(error);
        }
        now = step.step(&now, &control(&now, tick).ok()?, tick).ok()?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_step_is_what_is_left() {
        for (end, steps, last) in [(1.0, 10, 0.1), (1.04, 11, 0.04), (0.03, 1, 0.03), (0.1 + 1e-9, 1, 0.1)] {
            let span = Span::until(3, 0.0, end, 0.1).unwrap();
            assert_eq!(span.len(), steps, "{end}");
            assert!((span.tick(steps - 1).dt - last).abs() < 1e-8, "{end}");
            assert!((span.duration() - end).abs() < 1e-12, "{end}");
            assert_eq!((span.tick(0).index, span.end_index()), (3, 3 + steps));
        }
        assert!(Span::until(0, 1.0, 1.0, 0.1).unwrap().is_empty());
    }

    #[test]
    fn times_that_go_back_are_refused() {
        for (end, dt) in [(0.5, 0.1), (f64::NAN, 0.1), (2.0, 0.0), (f64::INFINITY, 0.1)] {
            assert!(Span::until(0, 1.0, end, dt).is_err(), "{end}, {dt}");
        }
    }
}
