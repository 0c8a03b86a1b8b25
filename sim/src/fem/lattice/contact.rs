//! All that the bodies of a model may touch: colliders, and each other.

use super::assembly::Assembly;
use super::between::{Between, BodyContact, BoundBetween, Places, Surfaces};
use super::grid::Grid;
use super::kernels::{carry_pairs, forces_of_pairs};
use super::mass::surface_mass;
use super::params::Params;
use super::press::{relieved, supported};
use super::stability::surface_depth;
use super::surface::PAIR;
use crate::contact::{BoundObstacles, Collider, Obstacles, Vertices};
use crate::error::{Error, Result};
use crate::step::Tick;
use diffkern::prelude::*;

/// The constant part.
#[derive(Clone, Debug)]
pub(super) struct Touching<F: Float> {
    obstacles: Option<Obstacles<F>>,
    between: Option<Between<F>>,
    /// Of the layer that friction may stop in a step \[m\], of each body, see [`surface_depth`]; none where nothing is touched.
    depths: Vec<f64>,
    /// The same of each place of contact.
    layers: Array<F>,
}

/// With its parameters.
#[derive(Clone, Debug)]
pub(super) struct BoundTouching<F: Float> {
    obstacles: Option<BoundObstacles<F>>,
    between: Option<BoundBetween<F>>,
    /// The mass behind each place that friction of colliders may stop.
    behind: Array<F>,
    /// By how much what colliders do to each body is stiffer, and the body of each place.
    support: Option<(Array<F>, Array<u32>)>,
}

impl<F: Float> Touching<F> {
    pub(super) fn new(
        device: &Device,
        bodies: &Assembly,
        grid: &Grid<F>,
        colliders: &[Collider],
    ) -> Result<Touching<F>> {
        let none = Touching { obstacles: None, between: None, depths: Vec::new(), layers: device.zeros(1)? };
        if colliders.is_empty() {
            return Ok(none);
        }
        let obstacles = Obstacles::new(device, colliders)?.with_radii(grid.depths.clone()).with_sharp_friction();
        Touching { obstacles: Some(obstacles), ..none }.with_layers(device, bodies)
    }

    /// The same with contact between bodies.
    pub(super) fn with(self, device: &Device, bodies: &Assembly, contact: &BodyContact) -> Result<Touching<F>> {
        let deep = self.with_layers(device, bodies)?;
        Ok(Touching { between: Some(Between::new(device, bodies, &deep.depths, contact)?), ..deep })
    }

    fn with_layers(self, device: &Device, bodies: &Assembly) -> Result<Touching<F>> {
        if !self.depths.is_empty() {
            return Ok(self);
        }
        let depths: Vec<f64> = bodies.bodies().iter().map(surface_depth).collect();
        let each = |k: usize| vec![F::from_f64(depths[k]); bodies.contacts(k).len()];
        let layers = device.array(&(0..depths.len()).flat_map(each).collect::<Vec<_>>())?;
        Ok(Touching { depths, layers, ..self })
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
        let behind = match self.depths.is_empty() {
            true => device.zeros(1)?,
            false => {
                let behind = device.uninit(grid.contacts.len())?;
                surface_mass(behind.len(), &params.density, &grid.contacts.cells, &self.layers, &behind)?;
                behind
            }
        };
        let Some(between) = &self.between else {
            return match params.surfaces {
                Some(_) => {
                    Err(Error::invalid("surfaces of the parameters", "given", "none: no contact between bodies"))
                }
                None => Ok(BoundTouching { obstacles, between: None, behind, support: None }),
            };
        };
        let surfaces = params.surfaces.clone().map_or_else(|| between.surfaces(device), Ok)?;
        let bound = between.bind(&surfaces, &params.density, &behind)?;
        let lighter = device.uninit(behind.len())?;
        relieved(behind.len(), &behind, &surfaces.support, &between.owner, &lighter)?;
        let support = Some((surfaces.support, between.owner.clone()));
        Ok(BoundTouching { obstacles, between: Some(bound), behind: lighter, support })
    }
}

impl<F: Float> BoundTouching<F> {
    /// Adds the forces on the control points, which act on places of the surface.
    pub(super) fn add(
        &self,
        grid: &Grid<F>,
        x: &Array<Vec3<F>>,
        v: &Array<Vec3<F>>,
        force: &Array<Vec3<F>>,
        tick: Tick,
    ) -> diffkern::Result<()> {
        if self.obstacles.is_none() && self.between.is_none() {
            return Ok(());
        }
        let (Grid { rows, contacts, areas, .. }, device) = (grid, x.device());
        let n = contacts.len();
        let (place, speed, traction) = (device.uninit(n)?, device.uninit(n)?, device.zeros(n)?);
        carry_pairs(n / PAIR, x, v, rows, &contacts.cells, &contacts.at, &place, &speed)?;
        if let Some(obstacles) = &self.obstacles {
            let at = Vertices { x: &place, v: &speed, mass: &self.behind };
            match &self.support {
                None => obstacles.add_forces(&at, &traction, tick)?,
                Some((factor, owner)) => {
                    let plain = device.zeros(n)?;
                    obstacles.add_forces(&at, &plain, tick)?;
                    supported(n, &plain, factor, owner, &traction)?;
                }
            }
        }
        if let Some(between) = &self.between {
            between.add(&Places { grid, x, v, place: &place, speed: &speed }, &traction, force, tick)?;
        }
        forces_of_pairs(n / PAIR, &traction, areas, rows, &contacts.cells, &contacts.at, force)
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

    /// Whether anything slides with friction.
    pub(super) fn has_friction(&self) -> Result<bool> {
        let rubs = self.between.as_ref().is_some_and(|between| between.has_friction());
        Ok(rubs || self.obstacles.as_ref().map_or(Ok(false), |bound| bound.has_friction())?)
    }
}
