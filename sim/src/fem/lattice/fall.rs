//! Free falls: where bodies are before they touch anything is known without steps.

use super::grid::Carriers;
use super::kernels::carry;
use super::model::Solver;
use super::skin::Skin;
use super::state::State;
use crate::contact::{Collider, Contact};
use crate::error::Result;
use crate::mesh::{Point, add, bounds, norm, scale, sub};
use crate::rounding::epsilon;
use crate::step::Step as _;
use crate::vertices::kernels::fall;
use diffkern::prelude::*;

/// Looks for the moment of a touch, at most.
const LOOKS: usize = 64;
/// Part of the time in which a gap may close that passes from one look to the next: sampled distances may grow faster than the way.
const SHARE: f64 = 0.5;
/// Parts of a cell: a gap at which a fall is over, and the room about a body in which another may touch it.
const NEAR: f64 = 1e-3;
const ROOM: f64 = 0.25;
/// Roundings by which a strain may differ from none.
const ROUNDINGS: f64 = 8.0;

/// How a state changes with what is differentiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// All of a body alike: it is elsewhere, or has another velocity.
    Alike,
    /// In any way.
    Any,
}

/// A body that falls.
struct Falling {
    velocity: Point,
    /// Ends of its box along each axis \[m\].
    low: Point,
    high: Point,
}

impl<F: Float> Solver<F> {
    /// The state after those of `most` steps from the step `first` that are a free fall, and their number: steps at whose middles no body touches a collider or another
    /// body, of bodies that are neither deformed nor turn, nor are held, damped or [acted on](super::Control). It is where the steps would lead but for rounding,
    /// for the cost of one. Reads numbers to the host.
    ///
    /// Gradients are those of the steps: by gravity, by what moves all of a body alike, and, with what it is made of, none. How it would vibrate if it were deformed or turned is
    /// not followed, nor how it would slow down: there is no fall where the damping is differentiated, or the state but for `changes` that are alike.
    ///
    /// # Errors
    /// When the state is of another body, or memory is short.
    pub fn fall(&self, state: &State<F>, first: usize, most: usize, changes: Changes) -> Result<(State<F>, usize)> {
        self.is_of_the_body(state)?;
        let begin = first as f64 * self.dt();
        let steps = match self.velocities(state)? {
            Some(velocities) if most > 0 && self.is_followed(state, changes) && self.is_at_rest(state)? => {
                let until = self.touched(state, &velocities, [begin, begin + most as f64 * self.dt()])?;
                // Forces are taken at the middle of a step.
                (((until - begin) / self.dt() + 0.5).floor() as usize).min(most)
            }
            _ => 0,
        };
        if steps == 0 {
            return Ok((state.clone(), 0));
        }
        let (n, device) = (state.len(), state.x.device());
        let (x, v) = (device.uninit(n)?, device.uninit(n)?);
        fall(n, &state.x, &state.v, &self.params().gravity, &x, &v, F::from_f64(steps as f64 * self.dt()))?;
        Ok((State { x, v, memory: state.memory.clone() }, steps))
    }

    /// Whether what is differentiated changes a fall as it changes steps.
    fn is_followed(&self, state: &State<F>, changes: Changes) -> bool {
        let any =
            changes == Changes::Any && (state.x.as_any().is_differentiated() || state.v.as_any().is_differentiated());
        let memory = state.memory.as_ref().is_some_and(|memory| memory.as_any().is_differentiated());
        !any && !memory && !self.params().damping.as_any().is_differentiated()
    }

    /// The velocity of each body, if nothing holds, slows or turns any.
    fn velocities(&self, state: &State<F>) -> Result<Option<Vec<Point>>> {
        let bodies = self.bodies();
        let held = bodies.bodies().iter().any(|b| b.has_held());
        if held || self.params().damping.to_vec()?.iter().any(|c| *c != F::zero()) {
            return Ok(None);
        }
        let v = state.v.to_vec()?;
        let one = |k: usize| {
            let own = &v[bodies.nodes(k)];
            own.iter().all(|v| *v == own[0]).then(|| own[0].to_array().map(F::to_f64))
        };
        Ok((0..bodies.bodies().len()).map(one).collect())
    }

    /// Whether no body is strained, nor remembers that it was.
    fn is_at_rest(&self, state: &State<F>) -> Result<bool> {
        let x = state.x.detached()?;
        let far = x.to_vec()?.iter().map(|x| norm(x.to_array().map(F::to_f64))).fold(0.0, f64::max);
        let rounding = ROUNDINGS * epsilon::<F>() * (1.0 + far / self.finest());
        let small = |m: &Mat3<F>| m.to_array().iter().all(|x| x.to_f64().abs() <= rounding);
        let unstrained =
            self.deformations(&x)?.to_vec()?.iter().all(|f| small(&(f.transpose() * *f - Mat3::identity())));
        Ok(unstrained && state.memory.as_ref().map_or(Ok(true), |m| m.to_vec().map(|m| m.iter().all(small)))?)
    }

    /// The shortest edge of a cell \[m\].
    fn finest(&self) -> f64 {
        self.bodies().bodies().iter().flat_map(|b| b.cell_size()).fold(f64::INFINITY, f64::min)
    }

    /// From a time to another, until when nothing touches \[s\].
    fn touched(&self, state: &State<F>, velocities: &[Point], [begin, end]: [f64; 2]) -> Result<f64> {
        let gravity = self.params().gravity.to_vec()?[0].to_array().map(F::to_f64);
        let touching = self.touching();
        let mut until = end;
        if touching.presses_bodies() {
            let vertices = Skin::of_all(state.x.device(), self.bodies())?.carried(&state.x.detached()?)?.to_vec()?;
            let all = velocities.iter().enumerate().map(|(k, &velocity)| {
                let own = vertices[self.bodies().vertices(k)].iter().map(|x| x.to_array().map(F::to_f64));
                let room = [ROOM * self.finest(); 3];
                let [low, high] = bounds(own);
                Falling { velocity, low: sub(low, room), high: add(high, room) }
            });
            let all: Vec<Falling> = all.collect();
            for (k, one) in all.iter().enumerate() {
                until = all[..k].iter().map(|other| begin + one.meets(other)).fold(until, f64::min);
            }
        }
        let colliders = touching.colliders()?;
        if colliders.is_empty() {
            return Ok(until);
        }
        let (grid, bodies) = (self.grid(), self.bodies());
        let places = state.x.device().uninit(grid.contacts.len())?;
        let Carriers { cells, at } = &grid.contacts;
        carry(places.len(), &state.x.detached()?, &grid.rows, cells, at, &places)?;
        let (places, radii) = (places.to_vec()?, grid.depths.to_vec()?);
        let points: Vec<Round> = (velocities.iter().enumerate())
            .flat_map(|(k, &v)| bodies.contacts(k).map(move |i| (i, v)))
            .map(|(i, v)| Round { at: places[i].to_array().map(F::to_f64), velocity: v, radius: radii[i].to_f64() })
            .collect();
        let near = NEAR * self.finest();
        let first = colliders.iter().map(|c| touched_by(c, &points, gravity, [begin, until], near));
        Ok(first.fold(until, f64::min))
    }
}

impl Falling {
    /// When the boxes of two begin to overlap \[s\].
    fn meets(&self, other: &Falling) -> f64 {
        let (mut from, mut to) = (0.0f64, f64::INFINITY);
        for a in 0..3 {
            let speed = self.velocity[a] - other.velocity[a];
            // The gaps before and behind along this axis.
            let [low, high] = [other.low[a] - self.high[a], other.high[a] - self.low[a]];
            if speed == 0.0 {
                if low > 0.0 || high < 0.0 {
                    return f64::INFINITY;
                }
            } else {
                let (one, two) = (low / speed, high / speed);
                (from, to) = (from.max(one.min(two)), to.min(one.max(two)));
            }
        }
        if from <= to { from } else { f64::INFINITY }
    }
}

/// A ball that falls.
struct Round {
    at: Point,
    velocity: Point,
    radius: f64,
}

/// From a time to another, until when none of these touches a collider \[s\]: by steps in which the gap cannot close.
fn touched_by(collider: &Collider, points: &[Round], gravity: Point, [begin, end]: [f64; 2], near: f64) -> f64 {
    let pose = collider.pose;
    let (drift, spin) = (pose.velocity.to_array(), norm(pose.spin.to_array()));
    // A barrier acts before the surface.
    let width = if let Contact::Barrier { width, .. } = collider.contact { width } else { 0.0 };
    let mut time = begin;
    for _ in 0..LOOKS {
        let passed = time - begin;
        let centre = add(pose.centre.to_array(), scale(drift, time));
        let (mut gap, mut far, mut speed) = (f64::INFINITY, 0.0f64, 0.0f64);
        for p in points {
            let x = add(p.at, add(scale(p.velocity, passed), scale(gravity, 0.5 * passed * passed)));
            gap = gap.min(collider.gap(x, time) - p.radius - width);
            far = far.max(norm(sub(x, centre)));
            speed = speed.max(norm(sub(add(p.velocity, scale(gravity, passed)), drift)));
        }
        if gap <= near {
            return time;
        }
        // `speed t + |g| t^2 / 2` is the most by which it closes.
        let (way, speed, g) = (SHARE * gap, speed + spin * (far + gap), norm(gravity));
        time += 2.0 * way / (speed + (speed * speed + 2.0 * g * way).sqrt());
        if time >= end {
            return end;
        }
    }
    time
}
