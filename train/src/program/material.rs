//! Properties of every particle or cell from the numbers of a run, one for each piece of each body.

use super::bodies::{Bodies, Sites};
use super::inputs::{Inputs, lame_of, to_particles};
use super::physics::Physics;
use super::setup;
use crate::error::Result;
use crate::scene::{Pair, Part, Scene};
use diffkern::memory::collect;
use diffkern::prelude::*;

/// What varies inside of bodies.
const VARYING: [Part; 4] = [Part::Mu, Part::Lambda, Part::Density, Part::Viscosity];

/// Which numbers are of which site.
pub(super) struct Materials<F: Float> {
    device: Device,
    sites: usize,
    /// The piece of each site; none where one number is of all.
    pieces: [Option<Array<u32>>; VARYING.len()],
    /// Where any body has Young's modulus and Poisson's ratio: which sites do, or whether the only body does.
    engineering: Option<Array<u32>>,
    of: std::marker::PhantomData<F>,
}

/// The properties of all sites, or of each.
pub(super) struct Properties<F: Float> {
    pub(super) mu: Array<F>,
    pub(super) lambda: Array<F>,
    pub(super) density: Array<F>,
    pub(super) viscosity: Array<F>,
}

impl<F: Float> Materials<F> {
    pub(super) fn new(scene: &Scene, take: usize, bodies: &Bodies<F>, device: &Device) -> Result<Self> {
        let layout = Physics::zero(scene);
        let Sites { at, body_of } = bodies.sites()?;
        let pieces = |part: Part| -> Result<Option<Array<u32>>> {
            if layout.own(part, take).len() == 1 {
                return Ok(None);
            }
            let begins = |body| layout.pieces(part, body);
            let pieces = setup::pieces(scene, take, part as usize, begins, &at, &body_of);
            Ok(Some(device.array(&pieces)?))
        };
        let [mu, lambda, density, viscosity] = VARYING.map(pieces);
        let of_body = |body: &u32| u32::from(scene.bodies[*body as usize].material.pair == Pair::Engineering);
        let engineering: Vec<u32> = match scene.bodies.len() {
            1 => vec![of_body(&0)],
            _ => collect(body_of.iter().map(of_body))?,
        };
        Ok(Self {
            device: device.clone(),
            sites: at.len(),
            pieces: [mu?, lambda?, density?, viscosity?],
            engineering: engineering.contains(&1).then(|| device.array(&engineering)).transpose()?,
            of: std::marker::PhantomData,
        })
    }

    /// By launches only.
    pub(super) fn properties(&self, inputs: &Inputs<F>) -> diffkern::Result<Properties<F>> {
        let each = |k: usize| -> diffkern::Result<Array<F>> {
            let Some(pieces) = &self.pieces[k] else { return Ok(inputs[VARYING[k]].clone()) };
            let out = self.device.uninit(self.sites)?;
            to_particles(self.sites, &inputs[VARYING[k]], pieces, &out)?;
            Ok(out)
        };
        let (first, second) = (each(0)?, each(1)?);
        let (mu, lambda) = match &self.engineering {
            None => (first, second),
            Some(engineering) => {
                let n = first.len().max(second.len());
                let (mu, lambda) = (self.device.uninit(n)?, self.device.uninit(n)?);
                lame_of(n, &first, &second, engineering, &mu, &lambda)?;
                (mu, lambda)
            }
        };
        Ok(Properties { mu, lambda, density: each(2)?, viscosity: each(3)? })
    }
}
