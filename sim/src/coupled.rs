//! Two models that act on each other.

use crate::error::{Error, Result};
use crate::params::{Group, Params};
use crate::step::{Model, Step, Tick};
use diffkern::AnyArray;

/// What two bodies exert on each other, by launches alone. Momentum is kept where the controls are opposite forces.
pub trait Exchange<A: Step, B: Step>: Clone + 'static {
    /// The controls of both for a step from these states.
    ///
    /// # Errors
    /// When a launch fails.
    fn controls(&self, a: &A::State, b: &B::State, tick: Tick) -> diffkern::Result<(A::Control, B::Control)>;
}

/// Two models, or two steps, with what they exchange: in each step both are told of the state of the other at its beginning.
///
/// The steps have the length of the shorter of the two. Parameters keep their paths, those of the first behind `a.`, of the second
/// behind `b.`.
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
    type Params = Both<A::Params, B::Params>;
    type Control = ();
    type Step = Coupled<A::Step, B::Step, X>;

    fn bind(&self, params: &Self::Params, (a, b): &Self::State) -> Result<Self::Step> {
        let (a, b) = (self.a.bind(&params.a, a)?, self.b.bind(&params.b, b)?);
        Ok(Coupled { a, b, exchange: self.exchange.clone() })
    }

    fn max_dt(&self, params: &Self::Params, (a, b): &Self::State) -> Result<f64> {
        Ok(self.a.max_dt(&params.a, a)?.min(self.b.max_dt(&params.b, b)?))
    }
}

impl<A: Step, B: Step, X: Exchange<A, B>> Step for Coupled<A, B, X> {
    type State = (A::State, B::State);
    type Control = ();

    fn dt(&self) -> f64 {
        self.a.dt().min(self.b.dt())
    }

    fn step(&self, (a, b): &Self::State, (): &(), tick: Tick) -> diffkern::Result<Self::State> {
        let (for_a, for_b) = self.exchange.controls(a, b, tick)?;
        Ok((self.a.step(a, &for_a, tick)?, self.b.step(b, &for_b, tick)?))
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

/// The parameters of both models of a [`Coupled`].
#[derive(Clone, Debug)]
pub struct Both<A, B> {
    /// Of the first.
    pub a: A,
    /// Of the second.
    pub b: B,
}

impl<A: Params, B: Params> Both<A, B> {
    /// The parameters of one, by the prefix of a path, and the rest of the path.
    fn part<'p>(&self, path: &'p str) -> Result<(bool, &'p str)> {
        match path.split_once('.') {
            Some(("a", rest)) => Ok((true, rest)),
            Some(("b", rest)) => Ok((false, rest)),
            Some(_) | None => {
                Err(Error::invalid("path of a parameter", format!("`{path}`"), "`a.` or `b.` and a path"))
            }
        }
    }
}

impl<A: Params, B: Params> Params for Both<A, B> {
    fn groups(&self) -> Vec<Group<'_>> {
        let prefixed = |prefix, groups: Vec<_>| {
            groups.into_iter().map(move |g: Group<'_>| Group { path: format!("{prefix}.{}", g.path).into(), ..g })
        };
        prefixed("a", self.a.groups()).chain(prefixed("b", self.b.groups())).collect()
    }

    fn replace(&mut self, path: &str, array: AnyArray) -> Result<()> {
        match self.part(path)? {
            (true, rest) => self.a.replace(rest, array),
            (false, rest) => self.b.replace(rest, array),
        }
    }
}
