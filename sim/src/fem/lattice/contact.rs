//! All that the bodies of a model may touch: colliders, and each other.

use super::assembly::Assembly;
use super::between::{Between, BodyContact, BoundBetween, Places, Surfaces};
use super::grid::Grid;
use super::kernels::{carry_pairs, forces_of_pairs, note_near};
use super::mass::surface_mass;
use super::params::Params;
use super::press::supported;
use super::stability::surface_depth;
use super::surface::PAIR;
use crate::contact::{Ahead, BoundObstacles, Collider, Obstacles, Vertices};
use crate::error::{Error, Result};
use crate::step::Tick;
use diffkern::prelude::*;

/// The constant part.
#[derive(Clone, Debug)]
pub(super) struct Touching<F: Float> {
    obstacles: Option<Obstacles<F>>,
    between: Option<Between<F>>,
    /// At each place of contact the depth of the layer that friction between bodies may stop in a step \[m\], see [`surface_depth`]; 0 where they do not touch.
    layers: Array<F>,
}

/// With its parameters.
#[derive(Clone, Debug)]
pub(super) struct BoundTouching<F: Float> {
    obstacles: Option<BoundObstacles<F>>,
    between: Option<BoundBetween<F>>,
    /// Whether colliders rub.
    rubs: bool,
    /// By how much what colliders do to each body is stiffer, and the body of each place.
    support: Option<(Array<F>, Array<u32>)>,
}

impl<F: Float> Touching<F> {
    pub(super) fn new(device: &Device, grid: &Grid<F>, colliders: &[Collider]) -> Result<Touching<F>> {
        let obstacles = match colliders.is_empty() {
            true => None,
            false => Some(Obstacles::new(device, colliders)?.with_radii(grid.depths.clone())),
        };
        Ok(Touching { obstacles, between: None, layers: device.zeros(1)? })
    }

    /// The same with contact between bodies.
    pub(super) fn with(self, device: &Device, bodies: &Assembly, contact: &BodyContact) -> Result<Touching<F>> {
        let depths: Vec<f64> = bodies.bodies().iter().map(surface_depth).collect();
        let each = |k: usize| vec![F::from_f64(depths[k]); bodies.contacts(k).len()];
        let layers = device.array(&(0..depths.len()).flat_map(each).collect::<Vec<_>>())?;
        Ok(Touching { between: Some(Between::new(device, bodies, &depths, contact)?), layers, ..self })
    }

    pub(super) fn obstacles(&self) -> Option<&Obstacles<F>> {
        self.obstacles.as_ref()
    }

    /// The default parameters of the surfaces of bodies that touch each other.
    pub(super) fn surfaces(&self, device: &Device) -> Result<Option<Surfaces<F>>> {
        self.between.as_ref().map(|between| between.surfaces(device)).transpose()
    }

    pub(super) fn bind(&self, device: &Device, grid: &Grid<F>, params: &Params<F>) -> Result<BoundTouching<F>> {
        let obstacles = Obstacles::bind(self.obstacles.as_ref(), params.contact.as_ref(), device)?;
        let rubs = self.obstacles.as_ref().map_or(Ok(false), |all| all.rub(params.contact.as_ref()))?;
        let Some(between) = &self.between else {
            return match params.surfaces {
                Some(_) => {
                    Err(Error::invalid("surfaces of the parameters", "given", "none: no contact between bodies"))
                }
                None => Ok(BoundTouching { obstacles, between: None, rubs, support: None }),
            };
        };
        let surfaces = params.surfaces.clone().map_or_else(|| between.surfaces(device), Ok)?;
        let behind = device.uninit(grid.contacts.len())?;
        surface_mass(behind.len(), &params.density, &grid.contacts.cells, &self.layers, &behind)?;
        let bound = between.bind(&surfaces, &params.density, &behind)?;
        let support = Some((surfaces.support, between.owner.clone()));
        Ok(BoundTouching { obstacles, between: Some(bound), rubs, support })
    }
}

impl<F: Float> BoundTouching<F> {
    /// Adds the forces on the control points, which act on places of the surface. Friction of colliders is by how control points move `ahead`, after a step of the forces with these pushes, and what the pushes
    /// have of that.
    pub(super) fn add(
        &self,
        grid: &Grid<F>,
        x: &Array<Vec3<F>>,
        v: &Array<Vec3<F>>,
        force: &Array<Vec3<F>>,
        tick: Tick,
        ahead: impl FnOnce(&Array<Vec3<F>>) -> diffkern::Result<[Array<Vec3<F>>; 2]>,
    ) -> diffkern::Result<()> {
        if self.obstacles.is_none() && self.between.is_none() {
            return Ok(());
        }
        let (Grid { rows, contacts, areas, depths, .. }, device) = (grid, x.device());
        let n = contacts.len();
        let carried = |x: &Array<Vec3<F>>| -> diffkern::Result<Array<Vec3<F>>> {
            let carried = device.uninit(n)?;
            carry_pairs(n / PAIR, x, rows, &contacts.cells, &contacts.at, &carried)?;
            Ok(carried)
        };
        let add_forces = |near: &Array<u32>, traction: &Array<Vec3<F>>, force: &Array<Vec3<F>>| {
            forces_of_pairs(n / PAIR, near, traction, areas, rows, &contacts.cells, &contacts.at, force)
        };
        let also_near = |noted: &Array<u32>, gap: &Array<Vec4<F>>, reach: f64| -> diffkern::Result<Array<u32>> {
            let near = device.uninit(n)?;
            note_near(n, gap, depths, noted, &near, F::from_f64(reach))?;
            Ok(near)
        };
        let (place, traction, mut near) = (carried(x)?, device.zeros(n)?, device.zeros(n)?);
        // Damping and friction between bodies alone read velocities here: without them any array will do.
        let reads_speed = self.bodies_rub() || self.obstacles.as_ref().is_some_and(BoundObstacles::are_damped);
        let speed = if reads_speed { carried(v)? } else { place.clone() };
        if let Some(obstacles) = &self.obstacles {
            // The mass is of their friction alone, of which there is none here.
            let at = Vertices { x: &place, v: &speed, mass: &device.full(1, F::one())? };
            let pushes = obstacles.pushes(&at, tick)?;
            self.supported(&traction, |force| pushes.add(force))?;
            for push in &pushes.each {
                near = also_near(&near, &push.gap, push.reach)?;
            }
            if self.rubs {
                let pushed = device.zeros(x.len())?;
                add_forces(&near, &traction, &pushed)?;
                let [v, pushed] = ahead(&pushed)?;
                let ahead = Ahead { x: &place, v: &carried(&v)?, pushed: &carried(&pushed)? };
                self.supported(&traction, |force| obstacles.add_friction(&ahead, &pushes, force))?;
            }
        }
        if let Some(between) = &self.between {
            between.add(&Places { grid, x, v, place: &place, speed: &speed }, &traction, force, tick, |gap| {
                near = also_near(&near, gap, 0.0)?;
                Ok(())
            })?;
        }
        add_forces(&near, &traction, force)
    }

    /// Adds what `add` adds of colliders to tractions, times the factor of each body.
    fn supported(
        &self,
        traction: &Array<Vec3<F>>,
        add: impl FnOnce(&Array<Vec3<F>>) -> diffkern::Result<()>,
    ) -> diffkern::Result<()> {
        let Some((factor, owner)) = &self.support else { return add(traction) };
        let plain = traction.device().zeros(traction.len())?;
        add(&plain)?;
        supported(plain.len(), &plain, factor, owner, traction)
    }

    /// The colliders, where the parameters have them.
    pub(super) fn colliders(&self) -> Result<Vec<Collider>> {
        self.obstacles.as_ref().map_or(Ok(Vec::new()), BoundObstacles::colliders)
    }

    /// Whether bodies touch each other.
    pub(super) fn presses_bodies(&self) -> bool {
        self.between.is_some()
    }

    /// The largest stiffness that the surface of each of so many bodies meets \[Pa/m\].
    pub(super) fn stiffnesses(&self, bodies: usize) -> Result<Vec<f64>> {
        let floor = self.obstacles.as_ref().map_or(Ok(0.0), |bound| bound.stiffness())?;
        let factors = self.support.as_ref().map_or(Ok(Vec::new()), |(factor, _)| factor.to_vec())?;
        let others = self.between.as_ref().map_or(Ok(Vec::new()), |between| between.stiffnesses())?;
        let factor = |k: usize| factors.get(k.min(factors.len().max(1) - 1)).map_or(1.0, |f| f.to_f64());
        Ok((0..bodies).map(|k| (floor * factor(k)).max(others.get(k).copied().unwrap_or(0.0))).collect())
    }

    /// Whether bodies slide on each other with friction.
    pub(super) fn bodies_rub(&self) -> bool {
        self.between.as_ref().is_some_and(BoundBetween::has_friction)
    }
}
