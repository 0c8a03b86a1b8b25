//! Numbers that follow a body: places of its points, or of its centre of mass.

use super::bodies::{Bodies, Mean, Points};
use super::inputs::{numbers_of, weighted_mean};
use crate::error::{Error, Result};
use crate::scene::{Followed, Track};
use diffkern::memory::collect;
use diffkern::prelude::*;

/// What gives three numbers for each point from positions of particles or control points, by launches alone.
pub(crate) enum Follower<F: Float> {
    Points(Points<F>),
    /// The weight of each, and what is added.
    Centre(Array<F>, [f64; 3]),
}

impl<F: Float> Follower<F> {
    /// Of what a track has measured.
    pub(crate) fn of(track: &Track, bodies: &Bodies<F>, device: &Device) -> Result<Self> {
        match &track.of {
            Followed::Centre => Self::centre(track.body, bodies, device),
            Followed::Points(points) => {
                let carried = bodies.points(track.body, points, device).map_err(|error| match error {
                    diffkern_sim::Error::Invalid { .. } => {
                        Error::scene(format!("observations.{}.markers.points", track.name), error.to_string())
                    }
                    other => other.into(),
                });
                Ok(Self::Points(carried?))
            }
        }
    }

    /// Of the centre of volume of a body: that of mass where its density is everywhere the same.
    pub(crate) fn centre(body: usize, bodies: &Bodies<F>, device: &Device) -> Result<Self> {
        let Mean { weights, offset } = bodies.centre(body)?;
        let weights: Vec<F> = collect(weights.into_iter().map(F::from_f64))?;
        Ok(Self::Centre(device.array(&weights)?, offset))
    }

    /// The numbers when particles or control points are at `x`.
    pub(crate) fn numbers(&self, x: &Array<Vec3<F>>) -> Result<Array<F>> {
        match self {
            Self::Points(points) => {
                let places = points.places(x)?;
                let numbers = x.device().uninit(3 * places.len())?;
                numbers_of(places.len(), &places, &numbers)?;
                Ok(numbers)
            }
            Self::Centre(weights, offset) => {
                let mean = x.device().array(&offset.map(F::from_f64))?;
                weighted_mean(x.len(), x, weights, &mean)?;
                Ok(mean)
            }
        }
    }
}
