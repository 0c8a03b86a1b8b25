//! Where a search begins: the best of points all over the ranges.

use super::Search;
use super::place::Place;
use super::reporter::Reporter;
use super::row::Kind;
use super::state::{Stage, State};
use crate::error::Error;
use crate::job::{Flow, IdentifyOptions};
use crate::program::{Failure, Outcome, Physics, simulable};
use crate::scene::Name;
use diffkern_optim::dense::NormalEquations;

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
        let mut points = vec![self.start.clone()];
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
        let idle = self.without_influence(&best, reporter)?;
        let mut state = State::new(best, coordinates.named(&initial));
        for name in &idle {
            let note = format!(
                "{name} has no influence on what is compared where the search begins, from one end of its range to the other"
            );
            if reporter.note(&note) == Flow::Stop {
                return Err(Failure::Stopped);
            }
            state.warnings.push(note);
        }
        if !self.problem.refines() {
            self.look_at_start(&mut state, reporter)?;
        }
        Ok(state)
    }

    /// Unknowns other than stiffnesses by which nothing changes between the ends of their ranges, not a bit, with all others as they are at `at`.
    ///
    /// # Errors
    /// When that is all that is sought.
    fn without_influence(&self, at: &[f64], reporter: &mut Reporter<'_>) -> Outcome<Vec<Name>> {
        let coordinates = self.parametrisation();
        let (others, bounds) = (coordinates.to_watch(), coordinates.bounds(false));
        if others.is_empty() {
            return Ok(Vec::new());
        }
        let here = self.cost_at(at, None, f64::INFINITY, reporter)?;
        let mut idle = Vec::new();
        for k in others {
            let mut moves = here.is_none();
            for end in [bounds.low[k], bounds.high[k]] {
                let mut there = at.to_vec();
                there[k] = end;
                // What cannot be simulated or seen there is no sign of a mistake: no search need go there.
                moves = moves
                    || match self.cost_at(&there, None, f64::INFINITY, reporter) {
                        Ok(cost) => cost != here,
                        Err(Failure::Stopped) => return Err(Failure::Stopped),
                        Err(Failure::Unstable(_) | Failure::Fatal(_)) => true,
                    };
            }
            if !moves {
                idle.extend(coordinates.name(k).cloned());
            }
        }
        let sought = coordinates.kinds().into_iter().filter(|kind| *kind != Kind::Viscosity).count();
        if !idle.is_empty() && idle.len() == sought {
            let names = idle.iter().map(Name::to_string).collect::<Vec<_>>().join(", ");
            let problem = format!(
                "{names} not identifiable: what is compared is the same at both ends of the range; expected a scene in which it matters, such as one where something touches"
            );
            return Err(Failure::Fatal(Error::Compute(problem)));
        }
        Ok(idle)
    }

    /// Its loss on the final grid.
    pub(super) fn look_at_start(&self, state: &mut State, reporter: &mut Reporter<'_>) -> Outcome<()> {
        reporter.evaluating(Stage::Coarse, self.runs(), 1, state.initial.clone());
        let at_start = self.problem.evaluate(Stage::Fine, &self.start, &mut |part| reporter.tick(part));
        state.loss_initial = Some(match simulable(at_start)? {
            Some(start) => start.normals.last().map_or(0.0, NormalEquations::mean_square),
            None => {
                let problem = "the start cannot be simulated on the final grid; its loss is that of an empty picture";
                if !state.warnings.iter().any(|told| told == problem) {
                    state.warnings.push(problem.into());
                }
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
            let most = best.map_or(f64::INFINITY, |(least, _)| least);
            let Some(cost) = self.cost_at(point, stage, most, reporter)? else { continue };
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, point));
            }
        }
        Ok(best)
    }

    /// The cost at a point, on the coarse grid before there is a stage; none where it cannot be simulated.
    fn cost_at(
        &self,
        point: &[f64],
        stage: Option<Stage>,
        most: f64,
        reporter: &mut Reporter<'_>,
    ) -> Outcome<Option<f64>> {
        let values = self.parametrisation().named(&self.parametrisation().values(point));
        match stage {
            None => reporter.scanning(self.runs(), values),
            Some(stage) => reporter.evaluating(stage, self.runs(), 1, values),
        }
        let stage = stage.unwrap_or(Stage::Coarse);
        simulable(self.problem.cost(stage, point, most, &mut |part| reporter.tick(part)))
    }

    /// To begin with.
    pub(crate) fn initial(&self, options: &IdentifyOptions) -> Physics {
        self.parametrisation().initial(options)
    }
}
