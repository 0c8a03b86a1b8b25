//! Where friction and motion of the colliders of a scene go.

use super::inputs::{driven, to_particles};
use super::setup;
use crate::scene::Scene;
use diffkern::prelude::*;
use diffkern_sim::collision::Pose;
use diffkern_sim::contact::Contacts;
use diffkern_sim::mpm::{Dim3, Model};

/// For each half-space and each collider of the simulator which it is of the scene.
pub(super) struct Colliders {
    /// None where no collider has friction.
    half_spaces: Option<Array<u32>>,
    /// None where there are no others.
    others: Option<Array<u32>>,
    /// Whether any collider has friction.
    rough: bool,
}

impl Colliders {
    pub(super) fn of(scene: &Scene, device: &Device) -> diffkern::Result<Self> {
        let array = |places: Vec<u32>| match places.is_empty() {
            true => Ok(None),
            false => device.array(&places).map(Some),
        };
        let rough = scene.slides().next().is_some();
        // Nothing slides on a clamp, whichever it has.
        let clamp = scene.clamp.iter().map(|_| 0);
        let half_spaces = setup::half_spaces(scene).map(|(of, ..)| of as u32).chain(clamp).filter(|_| rough);
        Ok(Self {
            half_spaces: array(half_spaces.collect())?,
            others: array(setup::others(scene).map(|of| of as u32).collect())?,
            rough,
        })
    }

    /// The friction of the half-spaces.
    pub(super) fn half_spaces<F: Float>(&self, friction: &Array<F>) -> diffkern::Result<Option<Array<F>>> {
        self.half_spaces.as_ref().map(|places| at(friction, places)).transpose()
    }

    /// The contacts of the others, with their friction and motion.
    pub(super) fn contacts<F: Float>(
        &self,
        model: &Model<Dim3, F>,
        friction: &Array<F>,
        motion: &Array<F>,
    ) -> diffkern_sim::Result<Option<Contacts<F>>> {
        let (Some(places), Some(obstacles)) = (&self.others, model.obstacles()) else { return Ok(None) };
        let contacts = obstacles.contacts(model.device())?;
        Ok(Some(Contacts {
            friction: if self.rough { at(friction, places)? } else { contacts.friction },
            poses: moving(&contacts.poses, places, motion)?,
            ..contacts
        }))
    }
}

/// Of all numbers those of the colliders at `places`.
pub(super) fn at<F: Float>(all: &Array<F>, places: &Array<u32>) -> diffkern::Result<Array<F>> {
    let out = all.device().uninit(places.len())?;
    to_particles(places.len(), all, places, &out)?;
    Ok(out)
}

/// The poses of the colliders at `places` with their motion.
pub(super) fn moving<F: Float>(
    poses: &Array<Pose<F>>,
    places: &Array<u32>,
    motion: &Array<F>,
) -> diffkern::Result<Array<Pose<F>>> {
    let out = poses.device().uninit(poses.len())?;
    driven(poses.len(), poses, places, motion, &out)?;
    Ok(out)
}
