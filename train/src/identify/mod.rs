//! Finds the material that made a video.
//!
//! `problem` makes a problem of least squares of the videos, which a search solves; `answer` gives intervals.

mod observed;
mod misfit;
mod taped;
mod frames;
mod levels;
mod first_look;
mod differences;
mod suspects;
mod problem;
mod anew;
mod adequacy;
mod flight;
mod fault;
mod beginning;
mod refinement;
mod cause;
mod cost;
mod interval;
mod information;
mod answer;
mod gradient;

pub use crate::search::{Observer, State};
pub(crate) use answer::torn;
pub use cost::{Cost, Drawing, Estimate, Task, estimate};
pub(crate) use cost::{scan_passes, typical_passes};
pub use gradient::gradcheck;
pub(crate) use information::{Information, NOISE, Together, Told};
pub(crate) use interval::{SIGMAS, TELLS};

use crate::check::Checked;
use crate::error::{Error, Result};
use crate::job::{Ending, Flow, IdentifyOptions, Outcome, Shown, Simulator, Stop, Surface, Values};
use crate::limits::Limits;
use crate::optimizer::Optimizer;
use crate::program::{Failure, GridOptions, Physics, Program, Resolution, choose, shapes, viscous_room};
use crate::scene::Scene;
use crate::search::{Parametrisation, Passes, Problem, Reporter, Search, Shape, refused};
use crate::video::Video;
use diffkern::{Device, Float};
use problem::{Programs, VideoProblem};

/// Finds the unknowns of `scene` from `videos`, one for each of its films, from the beginning or from `resume`.
///
/// On the CPU and on CUDA an answer that is not refined is computed in 64 bits, elsewhere in 32; the way to it, and what is refined, in 32.
///
/// # Errors
/// When the simulation or the renderer refuses the scene, or a checkpoint cannot be saved.
pub fn identify(
    scene: &Scene,
    videos: &[Video],
    options: &IdentifyOptions,
    resume: Option<State>,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    let device = device(&options.device)?;
    observer.stop().scope(|| match device.supports_f64() {
        true => identify_as::<f64>(scene, videos, options, &device, resume, observer),
        false => identify_as::<f32>(scene, videos, options, &device, resume, observer),
    })
}

fn identify_as<F: Float>(
    scene: &Scene,
    videos: &[Video],
    options: &IdentifyOptions,
    device: &Device,
    resume: Option<State>,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    if let Some(state) = &resume {
        check(state, scene, options)?.map_err(refused)?;
    }
    let simulator = options.simulator;
    let resolution = resolution(scene, options.cells, simulator, refines(options));
    let room = viscous_room(scene, &options.fixed, resolution.last());
    let cost = Cost::of(scene, Task::Identify(options), false, device)?;
    let nodes = cost.node_limit(&options.limits);
    let grid = |cells| GridOptions { simulator, cells, room, fixed_steps: false, nodes };
    let single = |cells| Program::<f32>::new(scene, &options.fixed, grid(cells), device);
    let full = |cells| Program::<F>::new(scene, &options.fixed, grid(cells), device);
    let programs = Programs {
        coarse: single(resolution.coarse)?,
        rough: (F::SCALAR != f32::SCALAR || resolution.refined.is_some())
            .then(|| single(resolution.fine))
            .transpose()?,
        fine: full(resolution.fine)?,
        refined: resolution.refined.map(single).transpose()?,
        searched: grid(resolution.fine),
        cells: resolution.coarse,
    };
    let problem = VideoProblem::new(scene, videos, simulator, Parametrisation::new(scene, options, room)?, programs)?;
    let search = Search::new(&problem, options);
    let mut reporter = Reporter::new(observer, passes(&problem, options, device));
    let mut faults = Vec::new();
    let begun = beginning::faults(scene, videos, problem.coarse(), &search.initial(options), problem.frames);
    let begun = begun.and_then(|found| {
        faults = found;
        match resume {
            Some(state) => {
                problem.count_from(state.runs);
                if let Some(weights) = &state.weights {
                    problem.weigh(state.stage, weights)?;
                }
                Ok(state)
            }
            None => search.begin(options, &mut reporter),
        }
    });
    let mut state = match begun {
        Ok(mut state) => {
            faults.retain(|fault| !state.warnings.contains(fault));
            state.warnings.append(&mut faults);
            state
        }
        Err(failure) => match answer::error(failure) {
            Some(error) => return Err(error),
            None => {
                let state = answer::nothing(&search, options)?;
                return answer::outcome(&problem, &search, (state, None), options, Ending::Interrupted, &mut reporter);
            }
        },
    };
    let mut ended = None;
    let ran = search.run(&mut state, &mut reporter).and_then(|ending| {
        if ending == Ending::Converged {
            ended = refinement::refine(&problem, &search, &mut state, &mut reporter)?;
        }
        Ok(ending)
    });
    let ending = match ran {
        Ok(ending) => ending,
        Err(failure) => match answer::error(failure) {
            Some(error) => return Err(error),
            None => Ending::Interrupted,
        },
    };
    answer::outcome(&problem, &search, (state, ended), options, ending, &mut reporter)
}

/// What a search costs, and how many passes are to be expected.
fn passes<F: Float>(problem: &VideoProblem<'_, F>, options: &IdentifyOptions, device: &Device) -> Passes {
    let coordinates = problem.parametrisation();
    let [coarse, average] = cost::shares(device);
    let fine = |frames: usize| work(&problem.fine.program, frames, device);
    let last = |frames: usize| match &problem.refined {
        Some(refined) => coarse * work(&refined.program, frames, device),
        None => fine(frames),
    };
    Passes {
        scan: cost::scan_passes(coordinates),
        typical: cost::typical_passes(options.optimizer, coordinates.kinds().len() as f64),
        cost: [coarse * work(problem.coarse(), problem.frames, device), average * fine(problem.frames)],
        // Colours too.
        pictures: 1.5 * last(problem.scene.num_frames),
        refinement: problem.refined.as_ref().map_or(0.0, |_| {
            let walks = cost::rough_walks(coordinates.kinds().len() as f64);
            coarse * walks * fine(problem.frames) + cost::REFINING * last(problem.frames)
        }),
    }
}

/// Of a pass in full precision.
fn work<F: Float>(program: &Program<F>, frames: usize, device: &Device) -> f64 {
    let pass =
        |take: &crate::program::TakeProgram<F>| cost::pass(take.plan(), frames as f64, take.pixels() as f64, device);
    program.takes().map(|(_, take)| pass(take)).sum()
}

/// Checks the lengths, levels and ranges of a state against the job that is to go on from it; the inner result names the field that is
/// wrong.
///
/// # Errors
/// When the job itself is wrong.
pub fn check(state: &State, scene: &Scene, options: &IdentifyOptions) -> Result<Checked> {
    // Bounds are in units of the viscosity's room.
    let bounds = Parametrisation::new(scene, options, 1.0)?.bounds(true);
    let resolution = resolution(scene, options.cells, options.simulator, refines(options));
    let levels = levels::sizes(scene, options.simulator, resolution.refined.is_some());
    let frames = frames::frames_in_use(scene, options.simulator);
    Ok(Shape { options, bounds, levels, frames }.state(state))
}

/// What videos say that a scene is wrong about beside its material, in words, by their frames before anything touches: nothing of what is as it should be.
///
/// # Errors
/// When the simulation or the renderer refuses the scene.
pub fn beginning(scene: &Scene, videos: &[Video], device: &str) -> Result<Vec<String>> {
    let (device, known) = (self::device(device)?, Values::new());
    let (simulator, _) = choose(scene, None)?;
    let cells = resolution(scene, None, simulator, false).coarse;
    let room = viscous_room(scene, &known, cells);
    let grid = GridOptions { simulator, cells, room, fixed_steps: false, nodes: usize::MAX };
    let program = Program::<f32>::new(scene, &known, grid, &device)?;
    match beginning::faults(scene, videos, &program, &Physics::of(scene, &known), scene.num_frames) {
        Ok(faults) => Ok(faults),
        Err(failure) => answer::error(failure).map_or_else(|| Ok(Vec::new()), Err),
    }
}

/// Renders what values look like; the frames of each film of the scene, and the places of each track. Of a motion that does not come to its end
/// `last` is the last frame that could be drawn.
///
/// # Errors
/// When the simulation or the renderer refuses the scene or the values, particles scatter over more of the grid than
/// `limits` leave memory for, or `stop` or `progress` asks for an end.
pub fn simulate(
    scene: &Scene,
    drawing: Drawing<'_>,
    device: &str,
    limits: &Limits,
    stop: &Stop,
    progress: &mut dyn FnMut(f64) -> Flow,
    last: &mut Option<Surface>,
) -> Result<Shown> {
    let device = self::device(device)?;
    let cost = Cost::of(scene, Task::Simulate(drawing), false, &device)?;
    let nodes = cost.node_limit(limits);
    let Drawing { values, simulator, cells } = drawing;
    let cells = resolution(scene, cells, simulator, true).last();
    let room = viscous_room(scene, values, cells);
    let options = GridOptions { simulator, cells, room, fixed_steps: false, nodes };
    stop.scope(|| match device.supports_f64() {
        true => simulate_as::<f64>(scene, values, options, &device, progress, last),
        false => simulate_as::<f32>(scene, values, options, &device, progress, last),
    })
}

fn simulate_as<F: Float>(
    scene: &Scene,
    values: &Values,
    options: GridOptions,
    device: &Device,
    progress: &mut dyn FnMut(f64) -> Flow,
    last: &mut Option<Surface>,
) -> Result<Shown> {
    let program = Program::<F>::new(scene, values, options, device)?;
    program.shown(&Physics::of(scene, values), progress, last).map_err(|failure| match failure {
        Failure::Stopped => Error::Interrupted,
        Failure::Unstable(error) | Failure::Fatal(error) => error,
    })
}

/// Cells across the thinnest side with which an answer by `simulator` ends unless a job says otherwise.
pub fn cells(scene: &Scene, simulator: Simulator) -> usize {
    resolution(scene, None, simulator, true).last()
}

/// With so many cells on the last grid, if any are given, and a finer one than that of the search if the job `refines` its answer.
pub(crate) fn resolution(scene: &Scene, cells: Option<usize>, simulator: Simulator, refines: bool) -> Resolution {
    Resolution::of_bodies(&shapes(scene), simulator).ending(cells, refines)
}

/// Whether a job refines its answer: where it has tangents, which a few unknowns have.
pub(crate) fn refines(options: &IdentifyOptions) -> bool {
    match options.optimizer {
        Optimizer::Auto | Optimizer::Lm => true,
        Optimizer::NewtonCg | Optimizer::Adam => false,
    }
}

pub(crate) fn device(name: &str) -> Result<Device> {
    Ok(if name == "best" { Device::best() } else { Device::by_name(name)? })
}
