//! Signs of life, with an estimate of how much is done: by the passes over the frames, run and still to be expected.

use super::observer::Observer;
use super::state::{Stage, State};
use crate::error::Result;
use crate::job::{Flow, Progress, Runs, Values};

/// The stage of an answer that is refined.
pub(crate) const REFINED: &str = "refined";

/// Part of what a stage typically takes that is always thought to be left of it: it may not be over.
const LEAST_LEFT: f64 = 0.15;

/// Passes that a search takes, and what one costs, in units of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passes {
    /// Of the scan, on the coarse grid.
    pub(crate) scan: f64,
    /// Of the stages after it, typically, on the coarse grid and on the fine one.
    pub(crate) typical: [f64; 2],
    /// Cost of one on each grid.
    pub(crate) cost: [f64; 2],
    /// Cost of the pictures of the answer.
    pub(crate) pictures: f64,
    /// Cost of what refines the answer before.
    pub(crate) refinement: f64,
}

impl Passes {
    fn done(&self, runs: [Runs; 2]) -> f64 {
        self.cost[0] * runs[0].walks() as f64 + self.cost[1] * runs[1].walks() as f64
    }

    /// What is to be expected after `runs` in `stage`, none being the scan.
    fn left(&self, runs: [Runs; 2], stage: Option<Stage>) -> f64 {
        let [coarse, fine] = runs.map(|runs| runs.walks() as f64);
        let rest = |typical: f64, done: f64| (typical - done).max(LEAST_LEFT * typical);
        let coarse_left = match stage {
            None => (self.scan - coarse).max(0.0) + self.typical[0],
            Some(Stage::Coarse) => rest(self.typical[0], coarse - self.scan),
            Some(Stage::Fine | Stage::Finished) => 0.0,
        };
        let fine_left = match stage {
            None | Some(Stage::Coarse) => self.typical[1],
            Some(Stage::Fine) => rest(self.typical[1], fine),
            Some(Stage::Finished) => 0.0,
        };
        self.cost[0] * coarse_left + self.cost[1] * fine_left + self.refinement + self.pictures
    }
}

pub(crate) struct Reporter<'a> {
    observer: &'a mut dyn Observer,
    passes: Passes,
    now: Progress,
    stage: Option<Stage>,
    /// Cost of what was done before the evaluation in hand, of it, and of what is expected after it.
    before: f64,
    current: f64,
    after: f64,
}

impl<'a> Reporter<'a> {
    pub(crate) fn new(observer: &'a mut dyn Observer, passes: Passes) -> Self {
        let now = Progress {
            stage: "start".into(),
            iteration: 0,
            fraction: 0.0,
            loss: None,
            values: Values::new(),
            finished: false,
            note: None,
        };
        Self { observer, passes, now, stage: None, before: 0.0, current: 0.0, after: 0.0 }
    }

    /// An evaluation of the scan begins, after `runs`.
    pub(crate) fn scanning(&mut self, runs: [Runs; 2], values: Values) {
        self.now.values = values;
        self.expect(runs, self.passes.cost[0]);
    }

    /// An evaluation of a stage begins, after `runs`; it takes so many passes.
    pub(crate) fn evaluating(&mut self, stage: Stage, runs: [Runs; 2], passes: usize, values: Values) {
        self.stage = Some(stage);
        // That of the last iteration may tell more.
        if !self.now.stage.starts_with(stage.name()) {
            self.now.stage = stage.name().into();
        }
        self.now.values = values;
        let cost = self.passes.cost[usize::from(stage != Stage::Coarse)];
        self.expect(runs, passes as f64 * cost);
    }

    /// An evaluation that refines the answer begins, one of some.
    pub(crate) fn refining(&mut self, runs: [Runs; 2], part: f64, values: Values) {
        (self.now.stage, self.now.values) = (REFINED.into(), values);
        let Passes { refinement, pictures, .. } = self.passes;
        self.before = self.passes.done(runs);
        (self.current, self.after) = (part * refinement, (1.0 - part) * refinement + pictures);
        self.now.fraction = self.fraction(0.0);
    }

    /// The pictures of the answer are drawn.
    pub(crate) fn drawing(&mut self, runs: [Runs; 2]) {
        self.now.stage = "pictures".into();
        (self.before, self.current, self.after) = (self.passes.done(runs), self.passes.pictures, 0.0);
    }

    fn expect(&mut self, runs: [Runs; 2], current: f64) {
        (self.before, self.current) = (self.passes.done(runs), current);
        let least = self.passes.pictures + self.passes.refinement;
        self.after = (self.passes.left(runs, self.stage) - current).max(least);
        self.now.fraction = self.fraction(0.0);
    }

    /// Part that is done when so much of the evaluation in hand is.
    fn fraction(&self, part: f64) -> f64 {
        let done = self.before + self.current * part.clamp(0.0, 1.0);
        done / (self.before + self.current + self.after).max(f64::MIN_POSITIVE)
    }

    /// Somewhere inside an evaluation.
    pub(crate) fn tick(&mut self, part: f64) -> Flow {
        self.now.fraction = self.fraction(part);
        self.observer.progress(&self.now)
    }

    /// Something is wrong of which the user should know now.
    pub(crate) fn note(&mut self, note: &str) -> Flow {
        self.observer.progress(&Progress { note: Some(note.to_owned()), ..self.now.clone() })
    }

    /// An iteration is finished; saves it.
    pub(crate) fn iteration(&mut self, state: &State) -> Result<Flow> {
        self.stage = Some(state.stage);
        self.expect(state.runs, 0.0);
        let flow = self.told(state)?;
        self.observer.checkpoint(state)?;
        Ok(flow)
    }

    /// An iteration is finished that is done again where a job goes on: it is not saved.
    pub(crate) fn told(&mut self, state: &State) -> Result<Flow> {
        let Some(record) = state.history.last() else { return Ok(Flow::Continue) };
        let progress = Progress {
            stage: record.stage.clone(),
            iteration: record.iteration,
            fraction: self.now.fraction,
            loss: Some(record.loss),
            values: record.values.clone(),
            finished: true,
            note: None,
        };
        self.now = Progress { finished: false, ..progress.clone() };
        Ok(self.observer.progress(&progress))
    }

    /// Saves a change of level or stage.
    pub(crate) fn save(&mut self, state: &State) -> Result<()> {
        self.observer.checkpoint(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(coarse: usize, fine: usize) -> [Runs; 2] {
        [coarse, fine].map(|forward| Runs { forward, ..Runs::default() })
    }

    /// From the second iteration on, what is thought to be left is within a factor of two of what was, in searches of the
    /// sample and of two others that took less and more.
    #[test]
    fn what_is_left_is_told_within_a_factor_of_two() {
        let passes = Passes { scan: 43.0, typical: [8.0, 17.0], cost: [1.0, 6.0], pictures: 18.0, refinement: 0.0 };
        let searches: [&[(Stage, usize, usize)]; 3] = [
            // Passes on both grids after each iteration.
            &[(Stage::Coarse, 51, 1), (Stage::Fine, 51, 10), (Stage::Fine, 51, 14), (Stage::Fine, 51, 18)],
            &[(Stage::Coarse, 47, 1), (Stage::Fine, 47, 10), (Stage::Fine, 47, 14)],
            &[(Stage::Coarse, 55, 1), (Stage::Fine, 55, 10), (Stage::Fine, 55, 18), (Stage::Fine, 55, 26)],
        ];
        for search in searches {
            let total = search.last().map_or(0.0, |&(_, c, f)| passes.done(walked(c, f))) + passes.pictures;
            for &(stage, coarse, fine) in search {
                let runs = walked(coarse, fine);
                let (thought, was) = (passes.left(runs, Some(stage)), total - passes.done(runs));
                assert!((0.5..=2.0).contains(&(thought / was)), "{stage:?} {coarse} {fine}: {thought} for {was}");
            }
        }
    }
}
