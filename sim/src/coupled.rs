//! Models that act on each other.

use crate::error::{Error, Result};
use crate::params::{Group, Params, unknown};
use crate::step::{Model, Step, Tick};
use diffkern::AnyArray;

/// A step and a state from which it is taken.
#[derive(Debug)]
pub struct At<'a, S: Step> {
    /// The step.
    pub step: &'a S,
    /// The state.
    pub state: &'a S::State,
}

/// What two bodies exert on each other, by launches alone. Momentum is kept where what is added to the controls are opposite forces.
pub trait Exchange<A: Step, B: Step>: Clone + 'static {
    /// What may be identified of it, `()` if nothing.
    type Params: Params;

    /// The exchange with its parameters. It is called where the tape records, so that gradients reach them.
    ///
    /// # Errors
    /// When a parameter has the wrong length.
    fn bind(&self, params: &Self::Params) -> Result<Self>;

    /// The controls of both for a step from these states: what acts from outside, and what they exert on each other.
    ///
    /// # Errors
    /// When a launch fails.
    fn controls(
        &self,
        a: At<'_, A>,
        b: At<'_, B>,
        outer: (A::Control, B::Control),
        tick: Tick,
    ) -> diffkern::Result<(A::Control, B::Control)>;

    /// The longest stable step of what acts between them \[s\], of two that are in touch; without bound where it is not known.
    ///
    /// # Errors
    /// When an array cannot be read.
    fn max_dt(&self, a: At<'_, A>, b: At<'_, B>) -> Result<f64> {
        let _ = (a, b);
        Ok(f64::INFINITY)
    }
}

/// Two models, or two steps, with what they exchange: in each step both are told of the state of the other at its beginning. One of them may be
/// two itself, so that there are three; [`WithSecond`] says which of them the third acts on.
///
/// The steps have the length of the shorter of the two. Parameters keep their paths, those of the first behind `a.`, of the second
/// behind `b.`, of the exchange behind `exchange.`.
#[derive(Clone, Debug)]
pub struct Coupled<A, B, X> {
    /// One of them.
    pub a: A,
    /// The other.
    pub b: B,
    /// What acts between them.
    pub exchange: X,
}

impl<A: Model, B: Model, X: Exchange<A::Step, B::Step>> Model for Coupled<A, B, X> {
    type State = (A::State, B::State);
    type Params = Both<A::Params, B::Params, X::Params>;
    type Control = (A::Control, B::Control);
    type Step = Coupled<A::Step, B::Step, X>;

    fn bind(&self, params: &Self::Params, (a, b): &Self::State) -> Result<Self::Step> {
        let (a, b) = (self.a.bind(&params.a, a)?, self.b.bind(&params.b, b)?);
        Ok(Coupled { a, b, exchange: self.exchange.bind(&params.exchange)? })
    }

    fn max_dt(&self, params: &Self::Params, state: &Self::State) -> Result<f64> {
        let bound = self.bind(params, state)?;
        let (a, b) = bound.both(state);
        let alone = self.a.max_dt(&params.a, &state.0)?.min(self.b.max_dt(&params.b, &state.1)?);
        Ok(alone.min(bound.exchange.max_dt(a, b)?))
    }
}

impl<A: Step, B: Step, X> Coupled<A, B, X> {
    fn both<'a>(&'a self, (a, b): &'a (A::State, B::State)) -> (At<'a, A>, At<'a, B>) {
        (At { step: &self.a, state: a }, At { step: &self.b, state: b })
    }
}

impl<A: Step, B: Step, X: Exchange<A, B>> Step for Coupled<A, B, X> {
    type State = (A::State, B::State);
    type Control = (A::Control, B::Control);

    fn dt(&self) -> f64 {
        self.a.dt().min(self.b.dt())
    }

    fn step(&self, state: &Self::State, outer: &Self::Control, tick: Tick) -> diffkern::Result<Self::State> {
        let (a, b) = self.both(state);
        let (for_a, for_b) = self.exchange.controls(a, b, outer.clone(), tick)?;
        Ok((self.a.step(&state.0, &for_a, tick)?, self.b.step(&state.1, &for_b, tick)?))
    }

    fn check(&self, (a, b): &Self::State, step: usize) -> Result<()> {
        self.a.check(a, step)?;
        self.b.check(b, step)
    }

    fn obstacle(&self, (a, b): &Self::State, step: usize) -> diffkern::Result<Option<Error>> {
        match self.a.obstacle(a, step)? {
            Some(error) => Ok(Some(error)),
            None => self.b.obstacle(b, step),
        }
    }
}

/// An exchange with the second of two that are coupled.
#[derive(Clone, Debug)]
pub struct WithSecond<X>(pub X);

impl<A: Step, B: Step, C: Step, Y: Exchange<B, C>, X: Exchange<A, C>> Exchange<A, Coupled<B, C, Y>> for WithSecond<X> {
    type Params = X::Params;

    fn bind(&self, params: &X::Params) -> Result<WithSecond<X>> {
        self.0.bind(params).map(WithSecond)
    }

    fn controls(
        &self,
        a: At<'_, A>,
        both: At<'_, Coupled<B, C, Y>>,
        (for_a, (for_b, for_c)): (A::Control, (B::Control, C::Control)),
        tick: Tick,
    ) -> diffkern::Result<(A::Control, (B::Control, C::Control))> {
        let (_, c) = both.step.both(both.state);
        let (for_a, for_c) = self.0.controls(a, c, (for_a, for_c), tick)?;
        Ok((for_a, (for_b, for_c)))
    }

    fn max_dt(&self, a: At<'_, A>, both: At<'_, Coupled<B, C, Y>>) -> Result<f64> {
        self.0.max_dt(a, both.step.both(both.state).1)
    }
}

/// The parameters of both models of a [`Coupled`], and of what they exchange.
#[derive(Clone, Debug)]
pub struct Both<A, B, X = ()> {
    /// Of the first.
    pub a: A,
    /// Of the second.
    pub b: B,
    /// Of the exchange.
    pub exchange: X,
}

impl<A: Params, B: Params, X: Params> Params for Both<A, B, X> {
    fn groups(&self) -> Vec<Group<'_>> {
        let prefixed = |prefix, groups: Vec<_>| {
            groups.into_iter().map(move |g: Group<'_>| Group { path: format!("{prefix}.{}", g.path).into(), ..g })
        };
        let both = prefixed("a", self.a.groups()).chain(prefixed("b", self.b.groups()));
        both.chain(prefixed("exchange", self.exchange.groups())).collect()
    }

    fn replace(&mut self, path: &str, array: AnyArray) -> Result<()> {
        match path.split_once('.') {
            Some(("a", rest)) => self.a.replace(rest, array),
            Some(("b", rest)) => self.b.replace(rest, array),
            Some(("exchange", rest)) => self.exchange.replace(rest, array),
            Some(_) | None => {
                Err(Error::invalid("path of a parameter", format!("`{path}`"), "`a.`, `b.` or `exchange.` and a path"))
            }
        }
    }
}

/// No parameters.
impl Params for () {
    fn groups(&self) -> Vec<Group<'_>> {
        Vec::new()
    }

    fn replace(&mut self, path: &str, _: AnyArray) -> Result<()> {
        Err(unknown(path, &[]))
    }
}
