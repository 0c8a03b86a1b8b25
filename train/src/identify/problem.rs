//! What was observed of a scene as a problem of least squares, on a coarse grid and on a fine one.
//!
//! On each grid blurred differences come first, because edges more than a pixel apart do not see each other, and on the final
//! grid earlier frames first, because small causes have large effects later. By finite elements all frames count, each by how far it and
//! those before are off where a stage begins, and in a refinement by how far two grids are apart there too. By MPM only the first half of the video
//! is used: what impacts do later depends more on the grid than on the material. The way is computed in single precision, and so is
//! what is refined; else where it ends in that of the answer.

use super::differences::{Motions, over_doubt};
use super::first_look::FirstLook;
use super::frames::{is_robust, left_by, weights, weights_by_errors};
use super::levels::{COARSE, FINE, JUDGED, fine_levels};
use super::misfit::{LevelOptions, Misfit};
use super::observed;
use super::suspects::Alternative;
use super::taped::{OnTape, Taped};
use crate::error::Result;
use crate::job::{Discretisation, Flow, Runs, Shown, Simulator};
use crate::program::{
    Carried, Coverage, GridOptions, Linear, Outcome, Physics, Program, Shot, shapes, shots, simulable, thinnest,
};
use crate::scene::{Quantity, Scene, Target};
use crate::search::{Evaluation, Parametrisation, Precision, Problem, Recorded, Stage, Tick};
use crate::video::Video;
use diffkern::Float;
use diffkern::memory::{collect, filled};
use diffkern_optim::dense::NormalEquations;
use std::cell::RefCell;
use std::rc::Rc;

/// Part of its thinnest side by which a rigid body that another program has moved is beside its place: 0.0014 and 0.003 of those of `docs/accuracy.md`,
/// root of the mean square.
const STRAYS: f64 = 3e-3;

/// Programs on both grids, and what their pictures are compared with.
pub(super) struct VideoProblem<'a, F: Float> {
    pub(super) scene: &'a Scene,
    pub(super) videos: &'a [Video],
    parametrisation: Parametrisation,
    coarse: Grid<f32>,
    /// The final grid in single precision, where `F` is another or the answer is refined.
    rough: Option<Grid<f32>>,
    pub(super) fine: Grid<F>,
    /// A finer one for the answer.
    pub(super) refined: Option<Refined>,
    /// Frames in use.
    pub(super) frames: usize,
    /// How much each of them counts before anything is known of them.
    pub(super) weights: Vec<f64>,
    /// What a scan compares with, on the coarse grid and on the final one.
    looked: [Misfit; 2],
    /// The grid of the search, and cells across the thinnest side on the coarse one.
    searched: GridOptions,
    cells: usize,
}

/// A finer grid for the answer, in single precision.
pub(super) struct Refined {
    pub(super) program: Program<f32>,
    /// What the grid of the search carries of what this one draws.
    carried: Vec<Carried<f32>>,
}

/// Normal equations of what is seen, blurred a little.
#[derive(Default)]
pub(super) struct ByFrame {
    /// Of each frame by itself, on the last grid.
    pub(super) frames: Vec<NormalEquations>,
    /// Of all that the grid of the search shows at the same place, with the same derivatives, where the last grid is a finer one.
    pub(super) coarser: Option<NormalEquations>,
    /// What the last grid shows, with its derivatives, and what the next wider one does where that was run.
    pub(super) shown: Option<(Linear, Option<Coverage>)>,
}

/// What a [`VideoProblem`] runs.
pub(super) struct Programs<F: Float> {
    pub(super) coarse: Program<f32>,
    /// The final grid in single precision, where `F` is another or the answer is refined.
    pub(super) rough: Option<Program<f32>>,
    pub(super) fine: Program<F>,
    /// A finer one for the answer, in single precision.
    pub(super) refined: Option<Program<f32>>,
    /// How the final grid cuts, and cells across the thinnest side on the coarse one.
    pub(super) searched: GridOptions,
    pub(super) cells: usize,
}

/// A program on one grid, and how its pictures are looked at.
pub(super) struct Grid<F: Float> {
    pub(super) program: Program<F>,
    /// As frames count in the stage.
    misfit: RefCell<Rc<Misfit>>,
}

impl<F: Float> Grid<F> {
    fn misfit(&self) -> Rc<Misfit> {
        self.misfit.borrow().clone()
    }
}

impl<'a, F: Float> VideoProblem<'a, F> {
    pub(super) fn new(
        scene: &'a Scene,
        videos: &'a [Video],
        simulator: Simulator,
        parametrisation: Parametrisation,
        programs: Programs<F>,
    ) -> Result<Self> {
        let weights = weights(scene, simulator);
        let misfit = |levels: &[LevelOptions]| -> diffkern::Result<_> {
            Ok(RefCell::new(Rc::new(Misfit::new(scene, videos, &weights, levels)?)))
        };
        let refined = match (programs.refined, &programs.rough) {
            (Some(program), Some(rough)) => {
                let carried = rough.carried(&program)?;
                carried.map(|carried| Refined { program, carried })
            }
            (None, _) | (_, None) => None,
        };
        let levels = fine_levels(refined.is_some());
        let rough = programs.rough.map(|program| -> Result<_> { Ok(Grid { program, misfit: misfit(levels)? }) });
        Ok(Self {
            scene,
            videos,
            parametrisation,
            coarse: Grid { program: programs.coarse, misfit: misfit(&COARSE)? },
            rough: rough.transpose()?,
            refined,
            fine: Grid { program: programs.fine, misfit: misfit(levels)? },
            looked: [looked(scene, videos, simulator, &COARSE)?, looked(scene, videos, simulator, levels)?],
            frames: weights.len(),
            weights,
            searched: programs.searched,
            cells: programs.cells,
        })
    }

    /// How much each frame counts where this is shown: by how far it is from what was observed, and where two grids were run, of which the other one shows `wider` and is `ratio` times as wide, by how far both are apart.
    pub(super) fn weights_where(
        &self,
        shown: &Coverage,
        wider: Option<(&Coverage, f64)>,
    ) -> diffkern::Result<Option<Vec<f64>>> {
        let misfit = Misfit::new(self.scene, self.videos, &filled(self.frames, 1.0)?, &[JUDGED])?;
        let off = misfit.off(self.frames, shown)?;
        let apart =
            wider.map(|(wider, ratio)| Ok::<_, diffkern::Error>((misfit.apart(self.frames, shown, wider)?, ratio)));
        let apart = apart.transpose()?;
        Ok(weights_by_errors(&off, apart.as_ref().map(|(apart, ratio)| (&**apart, left_by(*ratio)))))
    }

    /// What the last grid shows: of a refined answer in the precision in which it was refined, else in that of the answer.
    pub(super) fn shown(&self, at: &[f64], tick: &mut Tick<'_>) -> Outcome<Shown> {
        let values = self.parametrisation.values(at);
        match &self.refined {
            Some(Refined { program, .. }) => program.shown(&values, tick, &mut None),
            None => self.fine.program.shown(&values, tick, &mut None),
        }
    }

    /// What the last grid is.
    pub(super) fn discretisation(&self) -> Discretisation {
        self.refined
            .as_ref()
            .map_or_else(|| self.fine.program.discretisation(), |refined| refined.program.discretisation())
    }

    /// How the grid of the search moves what the refined grid draws, by the coordinates. None where there is no refined grid, or places near cannot be simulated.
    pub(super) fn motions(&self, at: &[f64], tick: &mut Tick<'_>) -> Outcome<Option<Motions>> {
        let (Some(Refined { carried, .. }), Some(Grid { program, .. })) = (&self.refined, &self.rough) else {
            return Ok(None);
        };
        Motions::about(&self.parametrisation, at, tick, &mut |there, tick| {
            let tick = &mut ticking(program, self.frames, tick);
            program.places(carried, &self.parametrisation.values(there), self.frames, tick)
        })
    }

    /// What the refined grid shows, with its derivatives by how the grid of the search moves: those hardly change with the grid and from a place to those near it,
    /// while what is seen does. None where there is no refined grid.
    pub(super) fn refined(&self, at: &[f64], motions: &Motions, tick: &mut Tick<'_>) -> Outcome<Option<Linear>> {
        let Some(Refined { program, carried, .. }) = &self.refined else { return Ok(None) };
        let values = self.parametrisation.values(at);
        let directions = self.parametrisation.tangents(&values);
        let ticks = &mut ticking(program, self.frames, tick);
        Ok(Some(program.along(carried, &motions.of, &values, &directions, self.frames, ticks)?))
    }

    /// What was observed, as a refinement looks at it, each frame with its weight.
    pub(super) fn refined_misfit(&self, weights: &[f64]) -> diffkern::Result<Misfit> {
        Misfit::new(self.scene, self.videos, weights, &FINE)
    }

    /// How far what the refined grid shows is from what was observed.
    pub(super) fn evaluated(&self, misfit: &Misfit, linear: &Linear) -> diffkern::Result<Evaluation> {
        let agreement = self.agreement(&linear.coverage)?;
        Ok(Evaluation { normals: misfit.normals(linear)?, agreement, rough: true })
    }

    /// What the last grid `shows` at `at`, held against what was observed. Derivatives are those of the refinement, or differences of the grid of the search over the
    /// doubt along each coordinate: those at a point follow vibrations so fast that they say little of how far an answer may be off.
    pub(super) fn by_frame(
        &self,
        (at, weights): (&[f64], &[f64]),
        shows: Coverage,
        derivatives: Option<Vec<Coverage>>,
        tick: &mut Tick<'_>,
    ) -> Outcome<ByFrame> {
        let misfit = Misfit::new(self.scene, self.videos, weights, &[JUDGED])?;
        let mut pictures = |there: &[f64], tick: &mut Tick<'_>| self.pictures(Stage::Fine, there, self.frames, tick);
        let mut linear = Linear { coverage: shows, derivatives: Vec::new() };
        linear.derivatives = match derivatives {
            Some(derivatives) => derivatives,
            None => over_doubt(&self.parametrisation, at, 1.0, tick, &mut pictures)?,
        };
        let frame = |shot: Shot| shot.frame;
        let frames = misfit.by(self.scene, self.frames, (self.frames, &frame), &linear)?;
        let (mut coarser, mut beside) = (None, None);
        let wider = if self.refined.is_some() { Stage::Fine } else { Stage::Coarse };
        if self.ratio() > 1.0 {
            // What moved to a place that the finer grid alone can simulate is not compared.
            if let Some(seen) = simulable(self.pictures(wider, at, self.frames, tick))? {
                let shown = std::mem::replace(&mut linear.coverage, seen);
                if self.refined.is_some() {
                    coarser = misfit.normals(&linear)?.pop();
                }
                beside = Some(std::mem::replace(&mut linear.coverage, shown));
            }
        }
        Ok(ByFrame { frames, coarser, shown: Some((linear, beside)) })
    }

    /// How many times as wide as the grid of the answer the next one is: that of the search of an answer that was refined, else the coarse one.
    pub(super) fn ratio(&self) -> f64 {
        let wider = if self.refined.is_some() {
            self.fine.program.discretisation()
        } else {
            self.coarse.program.discretisation()
        };
        wider.dx / self.discretisation().dx
    }

    /// What the grid of the search shows.
    pub(super) fn searched(&self, at: &[f64], tick: &mut Tick<'_>) -> Outcome<Coverage> {
        self.pictures(Stage::Fine, at, self.frames, tick)
    }

    /// An alternative on the grid of a stage.
    pub(super) fn program_of(&self, other: &Alternative, stage: Stage) -> Result<Program<f32>> {
        let options = match stage {
            Stage::Coarse => GridOptions { cells: self.cells, ..self.searched },
            Stage::Fine | Stage::Finished => self.searched,
        };
        Program::new(&other.scene, &other.known, options, self.fine.program.device())
    }

    /// What other scenes are compared with: all frames, whatever was fitted.
    pub(super) fn tried(&self, level: LevelOptions) -> diffkern::Result<Misfit> {
        Misfit::new(self.scene, self.videos, &self.weights, &[level])
    }

    /// What an alternative shows on the grid of the search.
    pub(super) fn otherwise(&self, other: &Alternative, tick: &mut Tick<'_>) -> Outcome<Coverage> {
        let program = self.program_of(other, Stage::Fine)?;
        let tick = &mut ticking(&program, self.frames, tick);
        program.coverage(&other.values, self.frames, tick)
    }

    /// How far the answer at `at` moves where bodies are seen beside their places along each axis by so much as those of another model of contact stray:
    /// a vector of coordinates for each. Nothing of elastic bodies.
    pub(super) fn strayed(&self, at: &[f64], tick: &mut Tick<'_>) -> Outcome<Vec<Vec<f64>>> {
        if !self.scene.is_rigid() {
            return Ok(Vec::new());
        }
        let values = self.parametrisation.values(at);
        let mut directions = self.parametrisation.tangents(&values);
        let kept = directions.len();
        let by = STRAYS * thinnest(&shapes(self.scene));
        directions.extend((0..3).map(|axis| {
            // All cameras the other way.
            let mut moved = values.zeroed();
            for camera in 0..self.scene.cameras.len() {
                for quantity in [Quantity::Position(axis), Quantity::LookAt(axis)] {
                    moved[Target::new(camera, quantity)] = -by;
                }
            }
            moved
        }));
        let program = &self.fine.program;
        let ticks = &mut ticking(program, self.frames, tick);
        let linear = program.linearise(&values, &directions, self.frames, ticks)?;
        let normals = self.fine.misfit().normals(&linear)?;
        let last = normals.last();
        Ok((kept..kept + 3).filter_map(|axis| last?.follow(kept, axis)).collect())
    }

    /// The program on the coarse grid.
    pub(super) fn coarse(&self) -> &Program<f32> {
        &self.coarse.program
    }

    /// Whether frames count as far as they can be fitted.
    fn is_robust(&self) -> bool {
        is_robust(self.scene, self.fine.program.simulator())
    }

    /// The grid of a stage in single precision, none where that of the answer is the one.
    fn single(&self, stage: Stage) -> Option<&Grid<f32>> {
        match stage {
            Stage::Coarse => Some(&self.coarse),
            Stage::Fine | Stage::Finished => self.rough.as_ref(),
        }
    }

    fn misfit(&self, stage: Stage) -> Rc<Misfit> {
        match stage {
            Stage::Coarse => self.coarse.misfit(),
            Stage::Fine | Stage::Finished => self.fine.misfit(),
        }
    }

    /// Pictures of so many frames.
    pub(super) fn pictures(&self, stage: Stage, at: &[f64], frames: usize, tick: &mut Tick<'_>) -> Outcome<Coverage> {
        match self.single(stage) {
            Some(grid) => self.coverage(grid, at, frames, tick),
            None => self.coverage(&self.fine, at, frames, tick),
        }
    }

    fn coverage<G: Float>(&self, grid: &Grid<G>, at: &[f64], frames: usize, tick: &mut Tick<'_>) -> Outcome<Coverage> {
        let tick = &mut ticking(&grid.program, frames, tick);
        grid.program.coverage(&self.parametrisation.values(at), frames, tick)
    }

    /// Cost of what a program shows at the first level of a look, of as many frames as do not make it more than `most`.
    pub(super) fn first_cost<G: Float>(
        &self,
        program: &Program<G>,
        mut look: FirstLook<'_>,
        values: &Physics,
        most: f64,
        tick: &mut Tick<'_>,
    ) -> Outcome<f64> {
        let (frames, mut cost) = (look.frames(), 0.0);
        program.show_each(values, frames, &mut ticking(program, frames, tick), &mut |image| {
            cost = look.add(image)?;
            Ok(if cost > most { Flow::Stop } else { Flow::Continue })
        })?;
        Ok(cost)
    }

    /// Pictures with their derivatives by the coordinates.
    fn linear<G: Float>(&self, grid: &Grid<G>, at: &[f64], tick: &mut Tick<'_>) -> Outcome<Linear> {
        let values = self.parametrisation.values(at);
        let directions = self.parametrisation.tangents(&values);
        let tick = &mut ticking(&grid.program, self.frames, tick);
        grid.program.linearise(&values, &directions, self.frames, tick)
    }

    /// With the misfit of a level on a tape.
    fn taped<'p, G: Float>(
        &'p self,
        grid: &'p Grid<G>,
        level: usize,
        at: &[f64],
        tick: &mut Tick<'_>,
    ) -> Outcome<Box<dyn Recorded + 'p>> {
        let (program, misfit) = (&grid.program, grid.misfit());
        let tick = &mut ticking(program, self.frames, tick);
        let taped = Taped::record(program, &self.parametrisation, at, misfit.level(level), self.frames, tick)?;
        let evaluation = self.evaluation(&misfit, &taped.coverage, false)?;
        Ok(Box::new(OnTape { program, taped, evaluation }))
    }

    /// Mean intersection over union with the silhouettes of the videos; 0 where none is compared.
    fn agreement(&self, images: &Coverage) -> diffkern::Result<f64> {
        let of = |place: usize, _| collect(images[place].iter().copied());
        Ok(observed::agreement(self.videos, &shots(self.scene, self.frames), of)?.unwrap_or(0.0))
    }

    fn evaluation(&self, misfit: &Misfit, images: &Coverage, rough: bool) -> diffkern::Result<Evaluation> {
        Ok(Evaluation { normals: misfit.costs(images)?, agreement: self.agreement(images)?, rough })
    }
}

impl<F: Float> Problem for VideoProblem<'_, F> {
    fn parametrisation(&self) -> &Parametrisation {
        &self.parametrisation
    }

    fn levels(&self, stage: Stage) -> usize {
        self.misfit(stage).len()
    }

    fn cost(&self, stage: Stage, at: &[f64], most: f64, tick: &mut Tick<'_>) -> Outcome<f64> {
        let values = self.parametrisation.values(at);
        let looked = match stage {
            Stage::Coarse => &self.looked[0],
            Stage::Fine | Stage::Finished => &self.looked[1],
        };
        let look = FirstLook::new(looked.level(0), self.is_robust());
        match self.single(stage) {
            Some(grid) => self.first_cost(&grid.program, look, &values, most, tick),
            None => self.first_cost(&self.fine.program, look, &values, most, tick),
        }
    }

    fn evaluate(&self, stage: Stage, at: &[f64], tick: &mut Tick<'_>) -> Outcome<Evaluation> {
        let images = self.pictures(stage, at, self.frames, tick)?;
        Ok(self.evaluation(&self.misfit(stage), &images, self.single(stage).is_some())?)
    }

    fn linearise(&self, stage: Stage, precision: Precision, at: &[f64], tick: &mut Tick<'_>) -> Outcome<Evaluation> {
        // What is refined afterwards needs no more.
        let single = precision == Precision::Single || self.refined.is_some();
        let single = self.single(stage).filter(|_| stage == Stage::Coarse || single);
        let linear = match single {
            Some(grid) => self.linear(grid, at, tick)?,
            None => self.linear(&self.fine, at, tick)?,
        };
        let (normals, agreement) = (self.misfit(stage).normals(&linear)?, self.agreement(&linear.coverage)?);
        let rough = single.is_some() && (stage == Stage::Coarse || self.refined.is_none());
        Ok(Evaluation { normals, agreement, rough })
    }

    fn record<'p>(
        &'p self,
        stage: Stage,
        level: usize,
        at: &[f64],
        tick: &mut Tick<'_>,
    ) -> Outcome<Box<dyn Recorded + 'p>> {
        match stage {
            Stage::Coarse => self.taped(&self.coarse, level, at, tick),
            Stage::Fine | Stage::Finished => self.taped(&self.fine, level, at, tick),
        }
    }

    fn refines(&self) -> bool {
        self.refined.is_some()
    }

    fn weights(&self, stage: Stage, at: &[f64], tick: &mut Tick<'_>) -> Outcome<Option<Vec<f64>>> {
        match self.is_robust() {
            true => Ok(self.weights_where(&self.pictures(stage, at, self.frames, tick)?, None)?),
            false => Ok(None),
        }
    }

    fn weigh(&self, stage: Stage, weights: &[f64]) -> diffkern::Result<()> {
        let misfit = |levels| Ok::<_, diffkern::Error>(Rc::new(Misfit::new(self.scene, self.videos, weights, levels)?));
        if stage == Stage::Coarse {
            *self.coarse.misfit.borrow_mut() = misfit(&COARSE)?;
            return Ok(());
        }
        let misfit = misfit(fine_levels(self.refines()))?;
        if let Some(rough) = &self.rough {
            *rough.misfit.borrow_mut() = misfit.clone();
        }
        *self.fine.misfit.borrow_mut() = misfit;
        Ok(())
    }

    fn worst(&self) -> diffkern::Result<f64> {
        let empty = shots(self.scene, self.frames).into_iter().map(|shot| observed::nothing(self.scene, shot));
        let empty: Coverage = empty.collect::<diffkern::Result<_>>()?;
        let costs = self.fine.misfit().costs(&empty)?;
        Ok(costs.last().map_or(0.0, NormalEquations::mean_square))
    }

    fn runs(&self) -> [Runs; 2] {
        let rough = self.rough.as_ref().map(|grid| grid.program.runs()).unwrap_or_default();
        let refined = self.refined.as_ref().map(|refined| refined.program.runs()).unwrap_or_default();
        [self.coarse.program.runs(), self.fine.program.runs() + rough + refined]
    }

    fn count_from(&self, [coarse, fine]: [Runs; 2]) {
        self.coarse.program.count_from(coarse);
        self.fine.program.count_from(fine);
    }
}

/// What a scan of a stage compares with: frames that count as far as they can be fitted are not weighted beforehand.
fn looked(scene: &Scene, videos: &[Video], simulator: Simulator, levels: &[LevelOptions]) -> diffkern::Result<Misfit> {
    let mut weights = weights(scene, simulator);
    if is_robust(scene, simulator) {
        weights.fill(1.0);
    }
    Misfit::new(scene, videos, &weights, &levels[..1])
}

/// A tick per frame of each take of an evaluation of `frames` frames.
fn ticking<'t, F: Float>(program: &Program<F>, frames: usize, tick: &'t mut Tick<'_>) -> impl FnMut() -> Flow + 't {
    let all = (frames * program.takes().count()).max(1) as f64;
    let mut frame = 0;
    move || {
        frame += 1;
        tick((frame - 1) as f64 / all)
    }
}
