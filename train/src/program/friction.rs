//! Where the coefficients of friction of a scene go.

use super::inputs::to_particles;
use super::setup;
use crate::scene::Scene;
use diffkern::prelude::*;
use diffkern_sim::contact::Contacts;
use diffkern_sim::mpm::{Dim3, Model};

/// For each half-space and each collider of the simulator which of the coefficients it has; none where no collider has one.
pub(super) struct Friction {
    half_spaces: Option<Array<u32>>,
    colliders: Option<Array<u32>>,
}

impl Friction {
    pub(super) fn of(scene: &Scene, device: &Device) -> diffkern::Result<Self> {
        let array = |places: Vec<u32>| match places.is_empty() || scene.slides().next().is_none() {
            true => Ok(None),
            false => device.array(&places).map(Some),
        };
        // Nothing slides on a clamp, whichever it has.
        let clamp = scene.clamp.iter().map(|_| 0);
        Ok(Self {
            half_spaces: array(setup::half_spaces(scene).map(|(of, ..)| of as u32).chain(clamp).collect())?,
            colliders: array(setup::others(scene).map(|of| of as u32).collect())?,
        })
    }

    /// Those of the half-spaces.
    pub(super) fn half_spaces<F: Float>(&self, all: &Array<F>) -> diffkern::Result<Option<Array<F>>> {
        self.half_spaces.as_ref().map(|places| at(all, places)).transpose()
    }

    /// The contacts of the colliders, with theirs.
    pub(super) fn contacts<F: Float>(
        &self,
        model: &Model<Dim3, F>,
        all: &Array<F>,
    ) -> diffkern_sim::Result<Option<Contacts<F>>> {
        let (Some(places), Some(obstacles)) = (&self.colliders, model.obstacles()) else { return Ok(None) };
        Ok(Some(Contacts { friction: at(all, places)?, ..obstacles.contacts(model.device())? }))
    }
}

fn at<F: Float>(all: &Array<F>, places: &Array<u32>) -> diffkern::Result<Array<F>> {
    let out = all.device().uninit(places.len())?;
    to_particles(places.len(), all, places, &out)?;
    Ok(out)
}
