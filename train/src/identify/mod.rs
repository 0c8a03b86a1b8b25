//! Finds the material that made a video.

use crate::error::{Error, Result};
use crate::job::{GradientCheck, IdentifyOptions, Observer, Outcome, Values};
use crate::scene::Scene;
use crate::video::{Frame, Video};
use serde::{Deserialize, Serialize};

/// All that a stopped identification needs to go on to the same bits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {}

/// Finds the unknowns of `scene` from `video`, from the beginning or from `resume`.
///
/// # Errors
/// When the simulation or the renderer refuses the scene, or a checkpoint cannot be saved.
pub fn identify(
    _scene: &Scene,
    _video: &Video,
    _options: &IdentifyOptions,
    _resume: Option<State>,
    _observer: &mut dyn Observer,
) -> Result<Outcome> {
    Err(Error::Compute("identification is not part of this build".into()))
}

/// Renders what `values` look like, at the resolution that [`identify`] ends with.
///
/// # Errors
/// When the simulation or the renderer refuses the scene or the values.
pub fn simulate(
    _scene: &Scene,
    _values: &Values,
    _device: &str,
    _progress: &mut dyn FnMut(f64) -> crate::job::Flow,
) -> Result<Vec<Frame>> {
    Err(Error::Compute("simulation is not part of this build".into()))
}

/// Compares the gradient that [`identify`] uses with finite differences, at the start.
///
/// # Errors
/// As [`identify`].
pub fn check_gradient(_scene: &Scene, _video: &Video, _options: &IdentifyOptions) -> Result<GradientCheck> {
    Err(Error::Compute("the gradient check is not part of this build".into()))
}
