//! Where a search begins: the best of points all over the ranges.

use super::Search;
use super::place::Place;
use super::reporter::Reporter;
use super::state::{Stage, State};
use crate::error::Error;
use crate::job::IdentifyOptions;
use crate::program::{Outcome, Physics, simulable};

/// Values of the first coordinate that the scan looks at.
pub(crate) const SCANNED: usize = 14;
/// Part of the cost where the coarse grid ended below which other moduli are taken on the final grid. A video of something viscous has stiffer places that are
/// a little better as long as no viscosity is fitted.
const FARTHER: f64 = 0.5;

impl Search<'_> {
    /// Looks at the start and at points all over the ranges, or without a stiffness along one coordinate after the other;
    /// begins at the best.
    pub(crate) fn begin(&self, options: &IdentifyOptions, reporter: &mut Reporter<'_>) -> Outcome<State> {
        let coordinates = self.parametrisation();
        let initial = self.initial(options);
        let mut points = vec![coordinates.at(&initial)];
        points.extend(coordinates.spread(&points[0], SCANNED));
        let mut best = self.best_of(&points, None, reporter)?.map(|(_, best)| best.clone());
        for k in coordinates.to_look_along() {
            let points = coordinates.along(best.as_ref().unwrap_or(&points[0]), k);
            best = self.best_of(&points, None, reporter)?.map(|(_, best)| best.clone()).or(best);
        }
        let Some(best) = best else {
            let problem = "no material in the ranges can be simulated: at each, an element turns inside out or runs \
                           away; expected stiffer materials, or slower bodies";
            return Err(Error::scene("unknowns", problem).into());
        };
        let mut state = State::new(best, coordinates.named(&initial));
        if !self.problem.refines() {
            self.look_at_start(&mut state, &points[0], reporter)?;
        }
        Ok(state)
    }

    /// Its loss on the final grid.
    fn look_at_start(&self, state: &mut State, start: &[f64], reporter: &mut Reporter<'_>) -> Outcome<()> {
        reporter.evaluating(Stage::Coarse, self.runs(), 1, state.initial.clone());
        let at_start = self.problem.evaluate(Stage::Fine, start, &mut |part| reporter.tick(part));
        state.loss_initial = Some(match simulable(at_start)? {
            Some(start) => start.normals.last().map_or(0.0, |last| last.cost / last.residuals.max(1) as f64),
            None => {
                let problem = "the start cannot be simulated on the final grid; its loss is that of an empty picture";
                state.warnings.push(problem.into());
                self.problem.worst()?
            }
        });
        Ok(())
    }

    /// On the fine grid, Poisson's ratios beside the one of the coarse grid, which cannot tell it: the misfit has
    /// valleys that end at a wrong ratio.
    pub(super) fn look_around(&self, state: &mut State, reporter: &mut Reporter<'_>) -> Outcome<()> {
        let points = self.parametrisation().around(&state.at);
        let Some((cost, near)) = self.best_of(&points, Some(state.stage), reporter)? else { return Ok(()) };
        let others = self.parametrisation().farther(near);
        let far = self.best_of(&others, Some(state.stage), reporter)?.filter(|(other, _)| *other < FARTHER * cost);
        let at = match far {
            None => near.clone(),
            // Its ratio was chosen with other moduli.
            Some((_, far)) => {
                let points = self.parametrisation().around(far);
                self.best_of(&points, Some(state.stage), reporter)?.map_or(far, |(_, best)| best).clone()
            }
        };
        state.go_to(Place { at, normals: Vec::new(), iou: state.iou, rough: false });
        Ok(())
    }

    /// The point of the least cost, with that, on the coarse grid before there is a stage.
    fn best_of<'p>(
        &self,
        points: &'p [Vec<f64>],
        stage: Option<Stage>,
        reporter: &mut Reporter<'_>,
    ) -> Outcome<Option<(f64, &'p Vec<f64>)>> {
        let mut best: Option<(f64, &Vec<f64>)> = None;
        for point in points {
            let values = self.parametrisation().named(&self.parametrisation().values(point));
            match stage {
                None => reporter.scanning(self.runs(), values),
                Some(stage) => reporter.evaluating(stage, self.runs(), 1, values),
            }
            let most = best.map_or(f64::INFINITY, |(least, _)| least);
            let cost = self.problem.cost(stage.unwrap_or(Stage::Coarse), point, most, &mut |part| reporter.tick(part));
            let Some(cost) = simulable(cost)? else { continue };
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, point));
            }
        }
        Ok(best)
    }

    /// To begin with.
    pub(crate) fn initial(&self, options: &IdentifyOptions) -> Physics {
        self.parametrisation().initial(options)
    }
}
