//! The impacts of a step, one round after the other.

use super::plane::{ImpactParams, Impacts, Impulse, SPEED_ROUNDING, Wall, pack_planes};
use super::spot::{Look, find_spots, mobilities};
use super::sweep::{Rows, compress, pack_motions, restitute, unpack_motions};
use super::time::{Near, find_impacts, free_motions, move_bodies};
use crate::collision::Pose;
use crate::error::{Error, Result};
use crate::rigid::geometry::Geometry;
use crate::rigid::kernels::motions;
use crate::rigid::properties::Properties;
use crate::rigid::state::State;
use crate::rounding::epsilon;
use crate::vertices::one_or;
use diffkern::prelude::*;

/// Bodies and planes as the impacts of a step have them, with parameters.
#[derive(Clone, Debug)]
pub(in crate::rigid) struct Bounced<F: Float> {
    properties: Properties<F>,
    /// Points from their centres of mass, with radius; the body of each, and the first of each body.
    points: Array<Vec4<F>>,
    owner: Array<u32>,
    first: Array<u32>,
    walls: Array<Wall<F>>,
    impulse: Impulse,
    near: Near<F>,
    rest_speed: f64,
    /// Size of gravity \[m/s^2\].
    gravity: f64,
    most: usize,
    sweeps: usize,
}

/// Part of the size of a body within which points land together.
const TOGETHER: f64 = 1e-6;

/// What rests approaches by the speed that gravity gives in a step: by so many times that nothing bounces.
const RESTING: f64 = 2.0;

/// Units in the last place that a gap may be off by rounding.
const ROUNDING: f64 = 16.0;

impl<F: Float> Bounced<F> {
    pub(in crate::rigid) fn new(
        impacts: &Impacts,
        params: &ImpactParams<F>,
        geometry: &Geometry<F>,
        points: &Array<Vec4<F>>,
        properties: &Properties<F>,
        gravity: f64,
    ) -> Result<Bounced<F>> {
        let (device, planes) = (points.device(), impacts.planes.len());
        one_or("impact.restitution", params.restitution.len(), planes, "plane")?;
        one_or("impact.friction", params.friction.len(), planes, "plane")?;
        if params.planes.len() != planes {
            let expected = format!("{planes}, one a plane");
            return Err(Error::invalid("length of impact.planes", params.planes.len(), expected));
        }
        let walls = device.uninit(planes)?;
        pack_planes(planes, &params.planes, &params.restitution, &params.friction, &walls)?;
        let smallest = geometry.bodies.iter().map(|b| b.extent()).fold(f64::INFINITY, f64::min);
        Ok(Bounced {
            properties: properties.clone(),
            points: points.clone(),
            owner: geometry.points.owner.clone(),
            first: geometry.points.first.clone(),
            walls,
            impulse: impacts.impulse,
            near: Near {
                gap: F::from_f64(TOGETHER * smallest),
                rounding: F::from_f64(ROUNDING * epsilon::<F>()),
                speed: F::from_f64(SPEED_ROUNDING * epsilon::<F>()),
                points: geometry.points.counts.iter().fold(0, |most, &count| most.max(count as u32)),
            },
            rest_speed: impacts.rest_speed,
            gravity,
            most: impacts.most,
            sweeps: impacts.sweeps,
        })
    }

    /// The state after `h` \[s\] of free motion, but for impacts. `report` gets for each round what the last sweeps have changed, relative to
    /// the largest impulse.
    pub(in crate::rigid) fn bounce(
        &self,
        state: State<F>,
        h: f64,
        mut report: Option<&mut Vec<f64>>,
    ) -> diffkern::Result<State<F>> {
        let (n, dev, near) = (state.len(), self.points.device(), self.near);
        let naive = self.impulse == Impulse::Naive;
        let mut now = state;
        let mut left = dev.full(n, F::from_f64(h))?;
        for _ in 0..if naive { 1 } else { self.most } {
            let free = self.free(&now, &left)?;
            let (time, hit) = (dev.uninit(n)?, dev.uninit(n)?);
            find_impacts(n, &free, &left, &self.points, &self.first, &self.walls, &time, &hit, near)?;
            if hit.to_vec()?.iter().all(|&hit: &u32| hit == 0) {
                break;
            }
            let rest_speed = F::from_f64(self.rest_speed.max(RESTING * self.gravity * h));
            let mut look = Look { ahead: F::zero(), near, rest_speed };
            if naive {
                look.ahead = F::from_f64(h);
                look.near = Near { gap: F::zero(), rounding: F::zero(), speed: F::zero(), points: near.points };
            } else {
                let (x, q, rest) = (dev.uninit(n)?, dev.uninit(n)?, dev.uninit(n)?);
                move_bodies(n, &free, &time, &left, &x, &q, &rest)?;
                now = State { x, q, ..now };
                left = rest;
            }
            now = self.collide(now, &hit, look, report.as_deref_mut())?;
        }
        let (x, q, rest) = (dev.uninit(n)?, dev.uninit(n)?, dev.uninit(n)?);
        move_bodies(n, &self.free(&now, &left)?, &left, &left, &x, &q, &rest)?;
        Ok(State { x, q, ..now })
    }

    /// How bodies move until the end of the step.
    fn free(&self, now: &State<F>, left: &Array<F>) -> diffkern::Result<Array<Pose<F>>> {
        let free = left.device().uninit(now.len())?;
        free_motions(now.len(), &now.x, &now.q, &now.v, &now.l, &self.properties.inverse, left, &free)?;
        Ok(free)
    }

    /// The motions after the impulses on all points that touch.
    fn collide(
        &self,
        now: State<F>,
        hit: &Array<u32>,
        look: Look<F>,
        report: Option<&mut Vec<f64>>,
    ) -> diffkern::Result<State<F>> {
        let (n, dev, first, walls) = (now.len(), self.points.device(), &self.first, self.walls.len());
        let bodies = dev.uninit(n)?;
        motions(n, &now.x, &now.q, &now.v, &now.l, &self.properties.inverse, &bodies)?;
        let mobility = dev.uninit(n)?;
        mobilities(n, &bodies, &self.properties.all, &mobility)?;
        let count = self.points.len() * walls;
        let (spots, active) = (dev.uninit(count)?, dev.uninit(count)?);
        find_spots(count, &bodies, &mobility, &self.points, &self.owner, &self.walls, hit, &spots, &active, look)?;
        let mut motion = dev.uninit(n)?;
        pack_motions(n, &now.v, &now.l, &motion)?;
        let rows = Rows { walls: walls as u32, most: self.near.points * walls as u32 };
        let mut impulse = dev.zeros(count)?;
        let mut before = impulse.clone();
        for _ in 0..self.sweeps {
            let (swept, new) = (dev.uninit(n)?, dev.uninit(count)?);
            compress(n, &motion, &mobility, &spots, &active, first, &impulse, &swept, &new, rows)?;
            (motion, before, impulse) = (swept, impulse, new);
        }
        let mut residual = report.is_some().then(|| change(&before, &impulse)).transpose()?;
        let base = impulse.clone();
        for _ in 0..self.sweeps {
            let (swept, new) = (dev.uninit(n)?, dev.uninit(count)?);
            restitute(n, &motion, &mobility, &spots, &active, first, &base, &impulse, &swept, &new, rows)?;
            (motion, before, impulse) = (swept, impulse, new);
        }
        if let (Some(report), Some(residual)) = (report, residual.as_mut()) {
            report.push(residual.max(change(&before, &impulse)?));
        }
        let (v, l) = (dev.uninit(n)?, dev.uninit(n)?);
        unpack_motions(n, &motion, &v, &l)?;
        Ok(State { v, l, ..now })
    }
}

/// Largest change of an impulse, relative to the largest impulse.
fn change<F: Float>(before: &Array<Vec3<F>>, after: &Array<Vec3<F>>) -> diffkern::Result<f64> {
    let (before, after) = (before.to_vec()?, after.to_vec()?);
    let largest = |values: &mut dyn Iterator<Item = Vec3<F>>| values.map(|v| v.norm().to_f64()).fold(0.0, f64::max);
    let scale = largest(&mut after.iter().copied());
    let changed = largest(&mut before.iter().zip(&after).map(|(a, b)| *b - *a));
    Ok(if scale > 0.0 { changed / scale } else { 0.0 })
}
