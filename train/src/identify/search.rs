//! Coarse to fine least squares on silhouettes.
//!
//! A scan on a coarse grid finds the valley from anywhere; Levenberg-Marquardt follows it there, then on the final grid,
//! each time on blurred differences first, because edges more than a pixel apart do not see each other, and on the final
//! grid on the earlier frames first, because small causes have large effects later. Only the first half of the video
//! is used: what impacts do later depends more on the grid than on the material.
//!
//! On the final grid a viscosity beside the scene's is fitted along. Real things lose energy in ways that a scene does
//! not tell, and so do simulators, each by its grid and step; a model that may not lose as much as the video shows takes
//! the loss for stiffness. The viscosity may be a little below zero, where the video loses less than the simulator.

use super::coordinates::{Coordinates, Kind};
use super::cost as passes;
use super::failure::{Failure, Outcome, simulable};
use super::forward::{Coverage, Linear, Program};
use super::misfit::{Look, Misfit};
use super::physics::Physics;
use super::place::{Best, Place};
use super::reporter::{Passes, Reporter};
use super::state::{Stage, State};
use super::taped::Taped;
use crate::error::Error;
use crate::job::{Ending, Flow, IdentifyOptions, Record, Runs};
use crate::optimizer::Optimizer;
use crate::scene::Scene;
use crate::video::{Frame, Video};
use diffkern::Float;
use diffkern::memory::filled;
use diffkern_optim::dense::{Bounds, LevenbergMarquardt, NormalEquations, Prior, Step};
use diffkern_render::image;

/// Values of the first coordinate that the scan looks at.
pub(super) const SCANNED: usize = 14;
/// Levels of the two stages.
pub(super) const COARSE: [Look; 2] = [Look { blur: 4.0, frames: 1.0 }, Look { blur: 2.0, frames: 1.0 }];
pub(super) const FINE: [Look; 3] =
    [Look { blur: 2.0, frames: 0.6 }, Look { blur: 1.0, frames: 0.8 }, Look { blur: 0.0, frames: 1.0 }];
/// Steps below which the next width, or the next stage, begins: of stiffnesses and all that is not named, of Poisson's ratios, and
/// of the viscosity.
const NARROW: Enough = [0.03, 0.06, 0.1];
const COARSE_ENOUGH: Enough = [0.02, 0.03, f64::INFINITY];
const FINE_ENOUGH: Enough = [1e-3, 2e-3, 4e-3];
type Enough = [f64; 3];
/// A width of the coarse stage, and the fine stage, end when a step lowers the cost by less than this part.
const COARSE_GAIN: f64 = 0.05;
const LEAST_GAIN: f64 = 1e-3;
/// Most accepted steps of the coarse stage, and refused ones in a row of any.
const COARSE_STEPS: usize = 6;
pub(super) const REFUSALS: usize = 4;
/// A coarse grid cannot tell Poisson's ratio well: there it is pulled towards common values, by this part of the misfit
/// that the grid leaves.
const PULL: f64 = 0.3;
const POISSON: Prior = Prior { parameter: 0, center: 0.3, width: 0.2, weight: 0.0 };
/// By how much stiffnesses are raised when a material cannot be simulated, and how often.
const STIFFEN: f64 = 0.3;
const STIFFENINGS: usize = 8;

/// A search under way.
pub(super) struct Search<'a, F: Float> {
    pub(super) scene: &'a Scene,
    pub(super) video: &'a Video,
    pub(super) coordinates: Coordinates,
    pub(super) coarse: Program<F>,
    pub(super) fine: Program<F>,
    coarse_misfit: Misfit,
    fine_misfit: Misfit,
    /// Frames in use.
    pub(super) frames: usize,
    most: usize,
    pub(super) optimizer: Optimizer,
}

impl<'a, F: Float> Search<'a, F> {
    pub(super) fn new(
        scene: &'a Scene,
        video: &'a Video,
        options: &IdentifyOptions,
        coordinates: Coordinates,
        [coarse, fine]: [Program<F>; 2],
    ) -> crate::error::Result<Self> {
        let frames = frames_in_use(scene.num_frames);
        Ok(Self {
            scene,
            video,
            coordinates,
            coarse,
            fine,
            coarse_misfit: Misfit::new(video, frames, &COARSE)?,
            fine_misfit: Misfit::new(video, frames, &FINE)?,
            frames,
            most: options.max_iterations.unwrap_or(usize::MAX),
            optimizer: options.optimizer,
        })
    }

    /// What was run so far, on the coarse grid and on the final one.
    pub(super) fn runs(&self) -> [Runs; 2] {
        [self.coarse.runs(), self.fine.runs()]
    }

    /// What they cost, and how many are to be expected.
    pub(super) fn passes(&self) -> Passes {
        let work = [&self.coarse, &self.fine].map(|program| program.work(self.frames));
        Passes {
            scan: passes::scan_passes(&self.coordinates),
            typical: passes::typical_passes(self.optimizer, self.coordinates.kinds().len() as f64),
            cost: work,
            // Colours too.
            pictures: 1.5 * self.fine.work(self.scene.num_frames),
        }
    }

    /// Counts on from what a run that is resumed had run.
    pub(super) fn count_from(&self, [coarse, fine]: [Runs; 2]) {
        self.coarse.count_from(coarse);
        self.fine.count_from(fine);
    }

    /// Looks at the start and at points all over the ranges; begins at the best.
    pub(super) fn begin(&self, options: &IdentifyOptions, reporter: &mut Reporter<'_>) -> Outcome<State> {
        let initial = self.initial(options);
        let mut points = vec![self.coordinates.at(&initial)];
        points.extend(self.coordinates.spread(&points[0], SCANNED));
        let mut best: Option<(f64, &Vec<f64>)> = None;
        for point in &points {
            let values = self.coordinates.values(point);
            reporter.scanning(self.runs(), self.coordinates.named(&values));
            let images = self.coarse.coverage(&values, self.frames, &mut ticking(reporter, self.frames));
            let Some(images) = simulable(images)? else { continue };
            let cost = self.coarse_misfit.cost(0, &images)?;
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, point));
            }
        }
        let Some((_, best)) = best else {
            let problem = "no material in the ranges can be simulated: at each, an element turns inside out or runs \
                           away; expected stiffer materials, or slower bodies";
            return Err(Error::scene("unknowns", problem).into());
        };
        let mut state = State::new(best.clone(), self.coordinates.named(&initial), 0.0);
        reporter.evaluating(Stage::Coarse, self.runs(), 1, self.coordinates.named(&initial));
        let at_start = self.fine.coverage(&initial, self.frames, &mut ticking(reporter, self.frames));
        state.loss_initial = match simulable(at_start)? {
            Some(images) => self.fine_misfit.mean(FINE.len() - 1, &images)?,
            None => {
                let problem = "the start cannot be simulated on the final grid; its loss is that of an empty picture";
                state.warnings.push(problem.into());
                self.empty_loss()?
            }
        };
        Ok(state)
    }

    /// Until the stopping rule, the limit of iterations, or the observer ends it.
    pub(super) fn run(&self, state: &mut State, reporter: &mut Reporter<'_>) -> Outcome<Ending> {
        let mut tape = None;
        // A checkpoint of version 1 does not know it.
        if state.best.is_none() && !state.normals.is_empty() && state.stage != Stage::Finished {
            state.best = Some(self.here(state));
        }
        while state.stage != Stage::Finished {
            if state.normals.is_empty() {
                self.enter(state, &mut tape, reporter)?;
            }
            if state.iteration >= self.most {
                return Ok(Ending::MaxIterations);
            }
            match self.optimizer {
                Optimizer::NewtonCg | Optimizer::Adam => self.descend(state, &mut tape, reporter)?,
                Optimizer::Auto | Optimizer::Lm => self.iterate(state, reporter)?,
            }
        }
        Ok(Ending::Converged)
    }

    /// On the fine grid, Poisson's ratios beside the one of the coarse grid, which cannot tell it: the misfit has
    /// valleys that end at a wrong ratio.
    fn look_around(&self, state: &mut State, reporter: &mut Reporter<'_>) -> Outcome<()> {
        let frames = self.fine_misfit.frames(0);
        let mut best: Option<(f64, Vec<f64>)> = None;
        for point in self.coordinates.around(&state.at) {
            let values = self.coordinates.values(&point);
            reporter.evaluating(state.stage, self.runs(), 1, self.coordinates.named(&values));
            let images = self.fine.coverage(&values, frames, &mut ticking(reporter, frames));
            let Some(images) = simulable(images)? else { continue };
            let cost = self.fine_misfit.cost(0, &images)?;
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, point));
            }
        }
        if let Some((_, point)) = best {
            state.go_to(Place { at: point, normals: Vec::new(), iou: state.iou });
        }
        Ok(())
    }

    /// The first evaluation of a stage; a material that is too soft for it is made stiffer.
    fn enter(&self, state: &mut State, tape: &mut Option<Taped<F>>, reporter: &mut Reporter<'_>) -> Outcome<()> {
        if state.stage == Stage::Fine {
            self.look_around(state, reporter)?;
        }
        for _ in 0..STIFFENINGS {
            if let Some((normals, iou)) = simulable(self.first_look(state, tape, reporter))? {
                state.go_to(Place { at: state.at.clone(), normals, iou });
                if state.stage == Stage::Coarse {
                    state.pull = PULL * state.normals[0].cost;
                }
                self.record(state);
                return self.tell(state, reporter);
            }
            let Some(at) = self.coordinates.stiffer(&state.at, STIFFEN) else { break };
            state.go_to(Place { at, normals: Vec::new(), iou: state.iou });
        }
        let values = self.coordinates.named(&self.coordinates.values(&state.at));
        let near: Vec<String> =
            values.iter().map(|(name, value)| format!("{name} = {value} {}", name.unit())).collect();
        let problem = format!("no stable simulation near {}, expected ranges of stiffer materials", near.join(", "));
        Err(Error::scene("unknowns", problem).into())
    }

    /// The misfits where a stage begins, with the derivatives that its rule needs.
    fn first_look(
        &self,
        state: &State,
        tape: &mut Option<Taped<F>>,
        reporter: &mut Reporter<'_>,
    ) -> Outcome<(Vec<NormalEquations>, f64)> {
        let misfit = self.misfit(state.stage);
        Ok(match self.optimizer {
            Optimizer::NewtonCg | Optimizer::Adam => {
                let taped = self.record_tape(state, &state.at, reporter)?;
                let (costs, iou) = (misfit.costs(&taped.coverage)?, self.iou(&taped.coverage)?);
                *tape = Some(taped);
                (costs, iou)
            }
            Optimizer::Auto | Optimizer::Lm => {
                let linear = self.linearise(state.stage, &state.at, reporter)?;
                (misfit.normals(&linear)?, self.iou(&linear.coverage)?)
            }
        })
    }

    /// One step, accepted or refused, or a change of level or stage.
    fn iterate(&self, state: &mut State, reporter: &mut Reporter<'_>) -> Outcome<()> {
        let priors = self.priors(state);
        let here = &state.normals[state.level];
        let step = state.lm.propose(here, &priors, &self.bounds(state.stage), &state.at)?;
        let last = state.level + 1 == state.normals.len();
        let stuck = state.lm.refused >= REFUSALS;
        let Some(step) = step.filter(|step| !stuck && !self.small(state, step, last)) else {
            self.advance(state, last)?;
            return Ok(reporter.save(state)?);
        };
        let trial = self.after(&state.at, &step);
        let Some(linear) = simulable(self.linearise(state.stage, &trial, reporter))? else {
            state.lm.refuse();
            return Ok(());
        };
        let normals = self.misfit(state.stage).normals(&linear)?;
        let pull = |x: &[f64]| cost(&priors, x);
        let (before, after) = (here.cost + pull(&state.at), normals[state.level].cost + pull(&trial));
        // Not `after >= before`: NaN is refused too.
        if after.partial_cmp(&before) != Some(std::cmp::Ordering::Less) {
            state.lm.refuse();
            return Ok(());
        }
        state.go_to(Place { at: trial, normals, iou: self.iou(&linear.coverage)? });
        state.pull = state.pull.min(PULL * state.normals[0].cost);
        state.lm.accept();
        self.record(state);
        // Before the checkpoint: one that went on from here could not tell that the stage is over.
        if let Some(last) = self.settled(state, before - after, before) {
            self.advance(state, last)?;
        }
        self.tell(state, reporter)
    }

    /// Whether an accepted step ended its level (false) or its stage (true).
    pub(super) fn settled(&self, state: &State, gain: f64, before: f64) -> Option<bool> {
        let last = state.level + 1 == state.normals.len();
        let coarse_steps = state.history.iter().filter(|r| r.stage.starts_with(Stage::Coarse.name())).count();
        let coarse = state.stage == Stage::Coarse;
        let enough = coarse && self.optimizer != Optimizer::Adam && coarse_steps > COARSE_STEPS;
        let settled = gain < before * if coarse { COARSE_GAIN } else { LEAST_GAIN };
        (enough || (settled && (last || coarse))).then_some(enough || last)
    }

    /// On to the next level, or if this is the `last` to the next stage.
    pub(super) fn advance(&self, state: &mut State, last: bool) -> Outcome<()> {
        match (last, state.stage) {
            (false, _) => {
                state.level += 1;
                state.lm = Default::default();
                state.descent = None;
                // Losses compare within a level only.
                state.best = Some(self.here(state));
            }
            (true, Stage::Coarse) => state.enter(Stage::Fine),
            (true, Stage::Fine | Stage::Finished) => {
                if self.optimizer == Optimizer::Lm {
                    self.polish(state)?;
                }
                state.enter(Stage::Finished);
            }
        }
        state.runs = self.runs();
        Ok(())
    }

    /// The last step, too small to be worth an evaluation: Gauss-Newton, without damping.
    fn polish(&self, state: &mut State) -> Outcome<()> {
        let Some(here) = state.normals.last().filter(|_| state.lm.refused == 0) else { return Ok(()) };
        let plain = LevenbergMarquardt { damping: 0.0, refused: 0 };
        let Some(step) = plain.propose(here, &[], &self.bounds(state.stage), &state.at)? else { return Ok(()) };
        if self.within(&step, FINE_ENOUGH.map(|tolerance| 2.0 * tolerance)) {
            let at = self.after(&state.at, &step);
            state.go_to(Place { at, normals: state.normals.clone(), iou: state.iou });
        }
        Ok(())
    }

    /// Where a step ends, inside the ranges.
    pub(super) fn after(&self, at: &[f64], step: &Step) -> Vec<f64> {
        let moved: Vec<f64> = at.iter().zip(&step.change).map(|(x, c)| x + c).collect();
        self.coordinates.inside(&moved)
    }

    /// Notes a finished iteration.
    pub(super) fn record(&self, state: &mut State) {
        state.runs = self.runs();
        let here = Best { record: self.recorded(state, state.iteration), place: None };
        state.history.push(here.record.clone());
        state.iteration += 1;
        let better = |best: &Best| best.record.stage != here.record.stage || here.record.loss <= best.record.loss;
        if state.best.as_ref().is_none_or(better) {
            state.best = Some(here);
        }
    }

    /// The place where the search is, as the best.
    fn here(&self, state: &State) -> Best {
        Best { record: self.recorded(state, state.iteration.saturating_sub(1)), place: None }
    }

    fn recorded(&self, state: &State, iteration: usize) -> Record {
        let levels = state.normals.len();
        Record {
            iteration,
            stage: label(state.stage, state.level, levels),
            loss: self.loss(state),
            values: self.coordinates.named(&self.coordinates.values(&state.at)),
        }
    }

    /// The stage of records whose losses compare with that of the answer.
    pub(super) fn last_level(&self) -> String {
        label(Stage::Fine, FINE.len() - 1, FINE.len())
    }

    /// What is minimised: the mean squared difference from the video at the blur of the level, with the pull.
    fn loss(&self, state: &State) -> f64 {
        let here = &state.normals[state.level];
        let pull = cost(&self.priors(state), &state.at);
        (here.cost + pull) / here.residuals.max(1) as f64
    }

    pub(super) fn tell(&self, state: &State, reporter: &mut Reporter<'_>) -> Outcome<()> {
        let flow = reporter.iteration(state)?;
        if flow == Flow::Stop { Err(Failure::Stopped) } else { Ok(()) }
    }

    pub(super) fn linearise(&self, stage: Stage, at: &[f64], reporter: &mut Reporter<'_>) -> Outcome<Linear> {
        let values = self.coordinates.values(at);
        let directions = self.coordinates.tangents(&values);
        reporter.evaluating(stage, self.runs(), 1 + directions.len(), self.coordinates.named(&values));
        self.program(stage).linearise(&values, &directions, self.frames, &mut ticking(reporter, self.frames))
    }

    pub(super) fn program(&self, stage: Stage) -> &Program<F> {
        if stage == Stage::Coarse { &self.coarse } else { &self.fine }
    }

    pub(super) fn misfit(&self, stage: Stage) -> &Misfit {
        if stage == Stage::Coarse { &self.coarse_misfit } else { &self.fine_misfit }
    }

    /// The coarse grid damps too much itself to tell more viscosity.
    pub(super) fn bounds(&self, stage: Stage) -> Bounds {
        self.coordinates.bounds(stage != Stage::Coarse)
    }

    /// A pull on each Poisson's ratio.
    pub(super) fn priors(&self, state: &State) -> Vec<Prior> {
        let kinds = self.coordinates.kinds();
        let pulled = (0..kinds.len()).filter(|&k| kinds[k] == Kind::Poisson && state.stage == Stage::Coarse);
        pulled.map(|parameter| Prior { parameter, weight: state.pull, ..POISSON }).collect()
    }

    pub(super) fn small(&self, state: &State, step: &Step, last: bool) -> bool {
        let limits = match (last, state.stage) {
            (false, _) => NARROW,
            (true, Stage::Coarse) => COARSE_ENOUGH,
            (true, _) => FINE_ENOUGH,
        };
        self.within(step, limits)
    }

    fn within(&self, step: &Step, [first, poisson, viscosity]: Enough) -> bool {
        let limits = self.coordinates.kinds().into_iter().map(|kind| match kind {
            Kind::Stiffness | Kind::Other => first,
            Kind::Poisson => poisson,
            Kind::Viscosity => viscosity,
        });
        step.change.iter().zip(limits).all(|(change, limit)| change.abs() < limit)
    }

    /// To begin with.
    pub(super) fn initial(&self, options: &IdentifyOptions) -> Physics {
        self.coordinates.initial(options)
    }

    /// The loss of pictures without the bodies.
    pub(super) fn empty_loss(&self) -> diffkern::Result<f64> {
        let pixels = self.video.width * self.video.height;
        let empty = (0..self.frames).map(|_| filled(pixels, 0.0)).collect::<diffkern::Result<_>>()?;
        self.fine_misfit.mean(FINE.len() - 1, &empty)
    }

    pub(super) fn iou(&self, images: &Coverage) -> diffkern::Result<f64> {
        let pairs = images.iter().zip(&self.video.frames);
        let one = |(image, frame): (&Vec<f64>, &Frame)| -> diffkern::Result<f64> {
            Ok(image::iou(image, &frame.coverage()?))
        };
        Ok(pairs.map(one).sum::<diffkern::Result<f64>>()? / images.len().max(1) as f64)
    }
}

/// What pulls add to the cost.
pub(super) fn cost(priors: &[Prior], at: &[f64]) -> f64 {
    priors.iter().map(|prior| prior.cost(at)).sum()
}

fn label(stage: Stage, level: usize, levels: usize) -> String {
    format!("{} {}/{levels}", stage.name(), level + 1)
}

/// The first half of the video, but no fewer than eight frames if it has them.
pub(super) fn frames_in_use(all: usize) -> usize {
    all.div_ceil(2).max(8).min(all)
}

/// A tick per frame of an evaluation of `frames` frames.
pub(super) fn ticking<'r>(reporter: &'r mut Reporter<'_>, frames: usize) -> impl FnMut() -> Flow + 'r {
    let mut frame = 0;
    move || {
        frame += 1;
        reporter.tick((frame - 1) as f64 / frames.max(1) as f64)
    }
}
