//! Contact of vertices in implicit steps: [barriers](super::Barrier) where a step ends, and friction with the normal force where it began, so that both
//! are derivatives of an energy of the end.
//!
//! Source: Li, Ferguson, Schneider, Langlois, Zorin, Panozzo, Jiang, Kaufman: Incremental potential contact, 2020; conservative
//! advancement: Mirtich, Impulse-based dynamic simulation, 1996.

pub mod kernels;

use super::{BoundObstacles, Contact};
use crate::collision::{Pose, Solid};
use crate::error::{Error, Result};
use crate::step::Tick;
use diffkern::arith;
use diffkern::prelude::*;
use kernels::{
    Slide, Steepness, advance, barrier_blocks, barrier_energies, barrier_forces, carried_along, follow,
    least_of_blocks, negative_lengths,
};

/// Speed from which on friction is Coulomb's \[m/s\].
const COULOMB_SPEED: f64 = 1e-3;
/// Rounds of conservative advancement for a direction.
const ROUNDS: usize = 8;
/// How many numbers one thread compares.
const BLOCK: usize = 64;

/// All colliders in a step, as the energy of its end sees them.
pub(crate) struct Barriers<F: Float> {
    obstacles: BoundObstacles<F>,
    /// Where they are at the end.
    ends: Array<Pose<F>>,
    /// Of each collider.
    starts: Vec<Start<F>>,
    /// Displacement from which on friction is Coulomb's \[m\].
    slip: F,
}

/// A collider at the beginning of a step.
struct Start<F: Float> {
    gap: Array<Vec4<F>>,
    /// Where it would carry the vertices.
    carried: Array<Vec3<F>>,
}

impl<F: Float> BoundObstacles<F> {
    /// Refuses colliders that do not act by an energy.
    pub(crate) fn check_implicit(&self) -> Result<()> {
        let other = |c: &super::Collider| !matches!(c.contact, Contact::Barrier { .. });
        match self.obstacles.colliders.iter().position(other) {
            None => Ok(()),
            Some(k) => Err(Error::invalid(
                format!("contact of collider {k} in implicit steps"),
                format!("{:?}", self.obstacles.colliders[k].contact),
                "`Barrier`, or explicit steps",
            )),
        }
    }

    /// Whether all distances are to shapes, not sampled ones: their normals are their derivatives.
    pub(crate) fn are_shapes(&self) -> bool {
        self.obstacles.colliders.iter().all(|c| !matches!(c.solid, Solid::Grid(_)))
    }

    /// The smallest width of a barrier \[m\].
    pub(crate) fn least_width(&self) -> Result<f64> {
        let laws = self.laws.to_vec()?;
        Ok(laws.iter().map(|q| q.z.to_f64()).fold(f64::INFINITY, f64::min))
    }

    /// The colliders in the step `tick` from positions `x`.
    pub(crate) fn barriers(&self, x: &Array<Vec3<F>>, tick: Tick) -> diffkern::Result<Barriers<F>> {
        let (from, ends) = (self.poses(tick.time)?, self.poses(tick.time + tick.dt)?);
        let starts = (0..self.obstacles.colliders.len()).map(|k| {
            let carried = x.device().uninit(x.len())?;
            carried_along(x.len(), x, &from, &ends, &carried, k as u32, F::from_f64(tick.dt))?;
            Ok(Start { gap: self.obstacles.solids.gaps(k, x, &from)?, carried })
        });
        let starts = starts.collect::<diffkern::Result<_>>()?;
        Ok(Barriers { obstacles: self.clone(), ends, starts, slip: F::from_f64(COULOMB_SPEED * tick.dt) })
    }
}

impl<F: Float> Barriers<F> {
    fn gaps(&self, k: usize, y: &Array<Vec3<F>>) -> diffkern::Result<Array<Vec4<F>>> {
        self.obstacles.obstacles.solids.gaps(k, y, &self.ends)
    }

    /// The number of each collider, its start, and how friction on it begins.
    fn each(&self) -> impl Iterator<Item = (usize, &Start<F>, Slide<F>)> {
        let slide = |k: usize| Slide { collider: k as u32, slip: self.slip };
        self.starts.iter().enumerate().map(move |(k, start)| (k, start, slide(k)))
    }

    /// Adds the forces on free vertices at `y`.
    pub(crate) fn add_forces(
        &self,
        y: &Array<Vec3<F>>,
        held: &Array<u32>,
        force: &Array<Vec3<F>>,
    ) -> diffkern::Result<()> {
        let laws = &self.obstacles.laws;
        self.each().try_for_each(|(k, Start { gap, carried }, slide)| {
            barrier_forces(y.len(), y, carried, &self.gaps(k, y)?, gap, laws, held, force, slide)
        })
    }

    /// Adds the energy of each free vertex, not a number where one is at or below a surface.
    pub(crate) fn add_energies(
        &self,
        y: &Array<Vec3<F>>,
        held: &Array<u32>,
        energy: &Array<F>,
    ) -> diffkern::Result<()> {
        let laws = &self.obstacles.laws;
        self.each().try_for_each(|(k, Start { gap, carried }, slide)| {
            barrier_energies(y.len(), y, carried, &self.gaps(k, y)?, gap, laws, held, energy, slide)
        })
    }

    /// Adds the second derivative of each free vertex, made positive.
    pub(crate) fn add_blocks(
        &self,
        y: &Array<Vec3<F>>,
        held: &Array<u32>,
        blocks: &Array<Mat3<F>>,
    ) -> diffkern::Result<()> {
        let laws = &self.obstacles.laws;
        self.each().try_for_each(|(k, Start { gap, carried }, slide)| {
            barrier_blocks(y.len(), y, carried, &self.gaps(k, y)?, gap, laws, held, blocks, slide)
        })
    }

    /// Whether a collider moves: by its parameters, which are read to the host, since they may give it another motion than the model.
    pub(crate) fn any_moves(&self) -> diffkern::Result<bool> {
        let rest = Vec3::zero();
        Ok(self.ends.to_vec()?.iter().any(|pose| pose.velocity != rest || pose.spin != rest))
    }

    /// Puts free vertices to which a collider comes in the step where that carries them.
    pub(crate) fn clear(&self, y: &Array<Vec3<F>>, held: &Array<u32>) -> diffkern::Result<()> {
        self.starts.iter().enumerate().try_for_each(|(k, Start { gap, carried })| {
            // Seen from the collider a vertex comes from where it is carried.
            let share = self.shares(k, carried, &arith::sub(y, carried)?, gap, held)?;
            follow(y.len(), carried, &share, held, y)
        })
    }

    /// A share, at most 1, of the way `d` from `y` that all free vertices may go without touching.
    pub(crate) fn step_bound(
        &self,
        y: &Array<Vec3<F>>,
        d: &Array<Vec3<F>>,
        held: &Array<u32>,
    ) -> diffkern::Result<f64> {
        (0..self.starts.len())
            .try_fold(1.0f64, |least, k| Ok(least.min(smallest(self.shares(k, y, d, &self.gaps(k, y)?, held)?)?)))
    }

    /// The share of its way `d` from `y`, where the gaps are `first`, that each vertex may go.
    fn shares(
        &self,
        k: usize,
        y: &Array<Vec3<F>>,
        d: &Array<Vec3<F>>,
        first: &Array<Vec4<F>>,
        held: &Array<u32>,
    ) -> diffkern::Result<Array<F>> {
        let (n, device) = (y.len(), y.device());
        let solid = &self.obstacles.obstacles.colliders[k].solid;
        let (most, convex) = match solid {
            Solid::Grid(grid) => (grid.steepness(), false),
            Solid::Torus { .. } => (1.0, false),
            Solid::HalfSpace {} | Solid::Sphere { .. } | Solid::Capsule { .. } | Solid::Cuboid { .. } => (1.0, true),
        };
        let steep = Steepness { most: F::from_f64(most), convex: u32::from(convex) };
        let (share, ahead) = (device.zeros(n)?, device.uninit(n)?);
        advance(n, y, d, first, first, held, &share, &ahead, steep)?;
        for _ in 1..ROUNDS {
            advance(n, y, d, first, &self.gaps(k, &ahead)?, held, &share, &ahead, steep)?;
        }
        Ok(share)
    }

    /// A free vertex that is at or below a surface at the beginning of the step: its number, that of the collider, the gap \[m\]. Reads gaps to the host.
    pub(crate) fn touching_before(&self, held: &Array<u32>) -> diffkern::Result<Option<(usize, usize, f64)>> {
        self.touching(held, |k| Ok(self.starts[k].gap.clone()))
    }

    /// The same at `y`, at its end.
    pub(crate) fn touching_at(
        &self,
        y: &Array<Vec3<F>>,
        held: &Array<u32>,
    ) -> diffkern::Result<Option<(usize, usize, f64)>> {
        self.touching(held, |k| self.gaps(k, y))
    }

    fn touching(
        &self,
        held: &Array<u32>,
        gaps: impl Fn(usize) -> diffkern::Result<Array<Vec4<F>>>,
    ) -> diffkern::Result<Option<(usize, usize, f64)>> {
        let held = held.to_vec()?;
        for k in 0..self.starts.len() {
            let distances = gaps(k)?.to_vec()?.into_iter().map(|gap| gap.w.to_f64()).enumerate();
            let mut touching = distances.filter(|&(i, gap)| held[i] == 0 && (gap.is_nan() || gap <= 0.0));
            if let Some((i, gap)) = touching.next() {
                return Ok(Some((i, k, gap)));
            }
        }
        Ok(None)
    }
}

/// The longest of these vectors, at least one.
pub(crate) fn longest<F: Float>(d: &Array<Vec3<F>>) -> diffkern::Result<f64> {
    let lengths = d.device().uninit(d.len())?;
    negative_lengths(d.len(), d, &lengths)?;
    Ok(-smallest(lengths)?)
}

/// The least number of an array with at least one.
fn smallest<F: Float>(mut numbers: Array<F>) -> diffkern::Result<f64> {
    while numbers.len() > 1 {
        let least = numbers.device().uninit(numbers.len().div_ceil(BLOCK))?;
        least_of_blocks(least.len(), &numbers, &least, BLOCK)?;
        numbers = least;
    }
    Ok(numbers.to_vec()?[0].to_f64())
}
