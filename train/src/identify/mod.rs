//! Finds the material that made a video.
//!
//! The method, and why: `search` (coarse to fine least squares), `forward` (the differentiable program), `physics` (the numbers
//! that it depends on), `coordinates` (what the search moves in), `resolution` (how fine a grid), `answer` (intervals).

mod resolution;

mod physics;
mod inputs;
mod setup;
mod failure;
mod forward;

mod cause;
mod cost;

mod blur;
mod coordinates;
mod misfit;

mod taped;

mod place;
mod observer;
mod reporter;
mod search;
mod state;

mod checked;

mod descent;

mod answer;

mod gradient;

pub use cost::{Cost, Estimate, Task, estimate};
pub use gradient::gradcheck;
pub use observer::Observer;
pub use state::State;

use crate::error::{Error, Result};
use crate::job::{Ending, Flow, IdentifyOptions, Outcome, Stop, Values};
use crate::limits::Limits;
use crate::scene::Scene;
use crate::video::{Frame, Video};
use coordinates::Coordinates;
use diffkern::{Device, Float};
use failure::Failure;
use forward::Program;
use physics::Physics;
use reporter::Reporter;
use resolution::Resolution;
use search::Search;

/// Finds the unknowns of `scene` from `video`, from the beginning or from `resume`.
///
/// On the CPU and on CUDA everything is computed in 64 bits, elsewhere in 32.
///
/// # Errors
/// When the simulation or the renderer refuses the scene, or a checkpoint cannot be saved.
pub fn identify(
    scene: &Scene,
    video: &Video,
    options: &IdentifyOptions,
    resume: Option<State>,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    let device = device(&options.device)?;
    observer.stop().scope(|| match device.supports_f64() {
        true => identify_as::<f64>(scene, video, options, &device, resume, observer),
        false => identify_as::<f32>(scene, video, options, &device, resume, observer),
    })
}

fn identify_as<F: Float>(
    scene: &Scene,
    video: &Video,
    options: &IdentifyOptions,
    device: &Device,
    resume: Option<State>,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    if let Some(state) = &resume {
        state.check(scene, options)?.map_err(checked::refused)?;
    }
    let resolution = resolution(scene);
    let room = setup::viscous_room(scene, &options.fixed, resolution.fine);
    let cost = Cost::of(scene, Task::Identify(options), false, device)?;
    let nodes = cost.node_limit(&options.limits);
    let program = |cells| Program::<F>::new(scene, &options.fixed, cells, room, device, nodes);
    let programs = [program(resolution.coarse)?, program(resolution.fine)?];
    let search = Search::new(scene, video, options, Coordinates::new(scene, options, room)?, programs)?;
    let mut reporter = Reporter::new(observer, search.passes());
    let begun = match resume {
        Some(state) => {
            search.count_from(state.runs);
            Ok(state)
        }
        None => search.begin(options, &mut reporter),
    };
    let mut state = match begun {
        Ok(state) => state,
        Err(failure) => match answer::error(failure) {
            Some(error) => return Err(error),
            None => {
                let state = answer::nothing(&search, options)?;
                return answer::outcome(&search, state, options, Ending::Interrupted, &mut reporter);
            }
        },
    };
    let ending = match search.run(&mut state, &mut reporter) {
        Ok(ending) => ending,
        Err(failure) => match answer::error(failure) {
            Some(error) => return Err(error),
            None => Ending::Interrupted,
        },
    };
    answer::outcome(&search, state, options, ending, &mut reporter)
}

/// Renders what `values` look like, with so many grid cells across the thinnest side: at the resolution that [`identify`] ends with
/// if not given.
///
/// # Errors
/// When the simulation or the renderer refuses the scene or the values, particles scatter over more of the grid than
/// `limits` leave memory for, or `stop` or `progress` asks for an end.
pub fn simulate(
    scene: &Scene,
    values: &Values,
    cells: Option<usize>,
    device: &str,
    limits: &Limits,
    stop: &Stop,
    progress: &mut dyn FnMut(f64) -> Flow,
) -> Result<Vec<Frame>> {
    let device = self::device(device)?;
    let cost = Cost::of(scene, Task::Simulate { values, cells }, false, &device)?;
    let nodes = cost.node_limit(limits);
    let cells = cells.unwrap_or_else(|| resolution(scene).fine);
    stop.scope(|| match device.supports_f64() {
        true => simulate_as::<f64>(scene, values, cells, &device, nodes, progress),
        false => simulate_as::<f32>(scene, values, cells, &device, nodes, progress),
    })
}

fn simulate_as<F: Float>(
    scene: &Scene,
    values: &Values,
    cells: usize,
    device: &Device,
    nodes: usize,
    progress: &mut dyn FnMut(f64) -> Flow,
) -> Result<Vec<Frame>> {
    let room = setup::viscous_room(scene, values, cells);
    let program = Program::<F>::new(scene, values, cells, room, device, nodes)?;
    program.pictures(&Physics::of(scene, values), progress).map_err(|failure| match failure {
        Failure::Stopped => Error::Interrupted,
        Failure::Unstable(error) | Failure::Fatal(error) => error,
    })
}

fn resolution(scene: &Scene) -> Resolution {
    Resolution::of_bodies(&scene.bodies.iter().map(|body| &body.shape).collect::<Vec<_>>())
}

fn device(name: &str) -> Result<Device> {
    Ok(if name == "best" { Device::best() } else { Device::by_name(name)? })
}
