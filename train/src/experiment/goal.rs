//! A body at a place at a frame, as a problem of least squares.

use super::{Console, Point};
use crate::error::{Error, Result};
use crate::identify::{self, Observer, State};
use crate::job::{Flow, IdentifyOptions, Progress, Runs, Stop, Values};
use crate::program::{Failure, Follower, GridOptions, Outcome, Physics, Resolution, TakeProgram, host, viscous_room};
use crate::report::table;
use crate::scene::{Quantity, Scene};
use crate::search::{Evaluation, Parametrisation, Passes, Precision, Problem, Recorded, Reporter, Search, Stage, Tick};
use crate::text::quoted;
use diffkern::{Device, Float};
use diffkern_optim::dense::NormalEquations;
use std::cell::Cell;
use std::time::Instant;

/// Where a body is to be, and what may be changed for it.
pub(super) struct Goal<'a> {
    scene: &'a Scene,
    options: &'a IdentifyOptions,
    body: usize,
    frame: usize,
    to: [f64; 3],
}

/// What was found.
pub(super) struct Reached {
    /// All values of the job.
    pub(super) values: Values,
    rows: Vec<[String; 4]>,
    place: [f64; 3],
    away: f64,
}

impl Reached {
    /// For people.
    pub(super) fn lines(&self) -> Vec<String> {
        let head = ["parameter", "unit", "initial", "found"].map(str::to_owned);
        let mut lines = table::columns(&std::iter::once(head).chain(self.rows.clone()).collect::<Vec<_>>());
        let [x, y, z] = self.place.map(|x| format!("{x:.5}"));
        lines.push(format!("the centre of mass comes to {x}, {y}, {z} m, {:.2e} m from where it should be", self.away));
        lines
    }
}

impl<'a> Goal<'a> {
    /// Of the body `body`, the only one if not given, at `frame`, the last if not given.
    ///
    /// # Errors
    /// Names the option and what was expected.
    pub(super) fn new(
        scene: &'a Scene,
        options: &'a IdentifyOptions,
        body: Option<&str>,
        frame: Option<usize>,
        Point(x, y, z): Point,
    ) -> Result<Self> {
        let place = |name: &str| scene.bodies.iter().position(|body| body.name == name);
        let only = Some(0).filter(|_| scene.bodies.len() == 1);
        let Some(body) = body.map_or(only, place) else {
            let names: Vec<&str> = scene.bodies.iter().map(|body| body.name.as_str()).collect();
            let given = body.map_or_else(|| "not given".into(), quoted);
            return Err(Error::argument("body", format!("{given}, expected one of {}", names.join(", "))));
        };
        if scene.cut(body, Quantity::Density).is_some() {
            let problem = format!("{} has a density that varies, expected one without", scene.bodies[body].name);
            return Err(Error::argument("body", problem));
        }
        let last = scene.num_frames - 1;
        let frame = frame.unwrap_or(last);
        if !(1..=last).contains(&frame) {
            return Err(Error::argument("frame", format!("{frame}, expected 1 to {last}")));
        }
        if ![x, y, z].iter().all(|x| x.is_finite()) {
            return Err(Error::argument("to", format!("{x},{y},{z}, expected finite numbers")));
        }
        Ok(Self { scene, options, body, frame, to: [x, y, z] })
    }

    /// The values that the search begins with.
    ///
    /// # Errors
    /// When an unknown has no range.
    pub(super) fn start(&self) -> Result<Values> {
        let parametrisation = Parametrisation::new(self.scene, self.options, None)?;
        Ok(self.all(&parametrisation, &parametrisation.initial(self.options)))
    }

    fn all(&self, parametrisation: &Parametrisation, values: &Physics) -> Values {
        self.options.fixed.clone().into_iter().chain(parametrisation.named(values)).collect()
    }

    /// Searches; none when it was interrupted.
    ///
    /// # Errors
    /// When the simulation refuses the scene.
    pub(super) fn reach(&self, console: &mut dyn Console) -> Result<Option<Reached>> {
        let device = identify::device(&self.options.device)?;
        let found = console.stop().scope(|| match device.supports_f64() {
            true => self.reach_as::<f64>(&device, console),
            false => self.reach_as::<f32>(&device, console),
        });
        match found {
            Ok(found) => Ok(Some(found)),
            Err(Failure::Stopped) => Ok(None),
            Err(Failure::Unstable(error) | Failure::Fatal(error)) => Err(error),
        }
    }

    fn reach_as<F: Float>(&self, device: &Device, console: &mut dyn Console) -> Outcome<Reached> {
        let (scene, options) = (self.scene, self.options);
        let Resolution { coarse, fine, .. } = identify::resolution(scene, options.cells, options.simulator, false);
        let room = viscous_room(scene, &options.fixed, fine);
        let task = identify::Task::Identify(options);
        let nodes = identify::Cost::of(scene, task, false, device)?.node_limit(&options.limits);
        let simulator = options.simulator;
        let grid = |cells: usize| {
            Grid::<F>::new(self, GridOptions { simulator, cells, room, fixed_steps: false, nodes }, device)
        };
        let parametrisation = Parametrisation::new(scene, options, None)?;
        let grids = [grid(coarse)?, grid(fine)?];
        let passes = Passes {
            scan: identify::scan_passes(&parametrisation),
            typical: identify::typical_passes(options.optimizer, parametrisation.kinds().len() as f64),
            cost: grids.each_ref().map(|grid| (grid.take.steps() * grid.take.bodies().count()) as f64),
            pictures: 0.0,
            refinement: 0.0,
        };
        let problem = Throwing { goal: self, parametrisation, grids, runs: Cell::default() };
        let search = Search::new(&problem, options);
        let mut observer = Told { console, begun: Instant::now() };
        let mut reporter = Reporter::new(&mut observer, passes);
        let mut state = search.begin(options, &mut reporter)?;
        search.run(&mut state, &mut reporter)?;
        let values = problem.parametrisation.values(&state.at);
        let residual = problem.residual(Stage::Fine, &state.at, &mut |_| Flow::Continue)?;
        let named = problem.parametrisation.named(&values);
        let row = |name: &crate::scene::Name| {
            let number = |of: &Values| of.get(name).map_or_else(String::new, |value| table::number(*value));
            [name.to_string(), name.unit().into(), number(&state.initial), number(&named)]
        };
        Ok(Reached {
            values: self.all(&problem.parametrisation, &values),
            rows: options.unknowns.iter().map(row).collect(),
            place: [0, 1, 2].map(|a| self.to[a] + residual[a]),
            away: residual.iter().map(|r| r * r).sum::<f64>().sqrt(),
        })
    }
}

/// The simulator at one resolution, and what is followed.
struct Grid<F: Float> {
    take: TakeProgram<F>,
    centre: Follower<F>,
}

impl<F: Float> Grid<F> {
    fn new(goal: &Goal<'_>, options: GridOptions, device: &Device) -> Result<Self> {
        let take = TakeProgram::new(goal.scene, 0, &goal.options.fixed, &options, device)?;
        let centre = Follower::centre(goal.body, take.bodies(), device)?;
        Ok(Self { take, centre })
    }
}

/// The distance from the goal on both grids.
struct Throwing<'g, F: Float> {
    goal: &'g Goal<'g>,
    parametrisation: Parametrisation,
    grids: [Grid<F>; 2],
    runs: Cell<[Runs; 2]>,
}

impl<F: Float> Throwing<'_, F> {
    fn count(&self, stage: Stage, more: Runs) -> &Grid<F> {
        let (k, mut runs) = (usize::from(stage != Stage::Coarse), self.runs.get());
        runs[k] = runs[k] + more;
        self.runs.set(runs);
        &self.grids[k]
    }

    /// From where the body should be to where it is.
    fn residual(&self, stage: Stage, at: &[f64], tick: &mut Tick<'_>) -> Outcome<Vec<f64>> {
        let grid = self.count(stage, Runs { forward: 1, ..Runs::default() });
        let inputs = grid.take.inputs(&self.parametrisation.values(at))?;
        let place = host(&grid.take.followed(&inputs, &grid.centre, self.goal.frame, &mut || tick(0.0))?)?;
        Ok(self.away(&place))
    }

    fn away(&self, place: &[f64]) -> Vec<f64> {
        place.iter().zip(self.goal.to).map(|(x, to)| x - to).collect()
    }
}

impl<F: Float> Problem for Throwing<'_, F> {
    fn parametrisation(&self) -> &Parametrisation {
        &self.parametrisation
    }

    fn levels(&self, _: Stage) -> usize {
        1
    }

    fn cost(&self, stage: Stage, at: &[f64], _most: f64, tick: &mut Tick<'_>) -> Outcome<f64> {
        Ok(self.residual(stage, at, tick)?.iter().map(|r| r * r).sum())
    }

    fn evaluate(&self, stage: Stage, at: &[f64], tick: &mut Tick<'_>) -> Outcome<Evaluation> {
        let mut normal = NormalEquations::new(0);
        normal.add(&self.residual(stage, at, tick)?, &[])?;
        Ok(Evaluation { normals: vec![normal], agreement: 0.0, rough: false })
    }

    fn linearise(&self, stage: Stage, _: Precision, at: &[f64], tick: &mut Tick<'_>) -> Outcome<Evaluation> {
        let values = self.parametrisation.values(at);
        let directions = self.parametrisation.tangents(&values);
        let grid = self.count(stage, Runs { forward: 1, tangents: directions.len(), ..Runs::default() });
        let linear = grid.take.derivatives(&values, &directions, |inputs| {
            Ok(vec![grid.take.followed(inputs, &grid.centre, self.goal.frame, &mut || tick(0.0))?])
        })?;
        let mut normal = NormalEquations::new(directions.len());
        let derivatives: Vec<Vec<f64>> = linear.derivatives.into_iter().map(|of| of.concat()).collect();
        normal.add(&self.away(&linear.coverage.concat()), &derivatives)?;
        Ok(Evaluation { normals: vec![normal], agreement: 0.0, rough: false })
    }

    fn record<'p>(&'p self, _: Stage, _: usize, _: &[f64], _: &mut Tick<'_>) -> Outcome<Box<dyn Recorded + 'p>> {
        Err(Error::argument("optimizer", "expected lm, as there are few numbers to reach").into())
    }

    fn worst(&self) -> diffkern::Result<f64> {
        Ok(f64::MAX)
    }

    fn runs(&self) -> [Runs; 2] {
        self.runs.get()
    }

    fn count_from(&self, runs: [Runs; 2]) {
        self.runs.set(runs);
    }
}

/// Tells the console how far the search is.
struct Told<'c> {
    console: &'c mut dyn Console,
    begun: Instant,
}

impl Observer for Told<'_> {
    fn stop(&self) -> Stop {
        self.console.stop()
    }

    fn progress(&mut self, progress: &Progress) -> Flow {
        self.console.progress(progress, self.begun.elapsed().as_secs_f64())
    }

    fn checkpoint(&mut self, _: &State) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Identify};
    use crate::job::Simulator;
    use std::path::Path;

    /// A ball that hits the floor, its velocity, stiffness and density as unknowns.
    const SCENE: &str = r#"{"version": 1, "name": "ball", "frame_rate": 60, "frames": 8, "gravity": [0.1, 0.2, -9.81],
        "bodies": {"jelly": {"shape": {"sphere": {"radius": 0.06}}, "pose": {"position": [0.02, 0.01, 0.075]},
            "velocity": [0.4, -0.2, -1.0], "angular_velocity": [1.0, 2.0, -0.5], "density": 1020,
            "material": {"law": "neo_hookean", "lambda": 14000}, "albedo": [0.9, 0.5, 0.4]}},
        "colliders": {"floor": {"shape": {"half_space": {"normal": [0, 0, 1]}}, "contact": {"friction": 0.4}}},
        "cameras": {"main": {"position": [0.5, -0.95, 0.42], "look_at": [0, 0, 0.1], "vertical_fov": 0.5, "width": 8, "height": 8}},
        "lights": {"sun": {"direction": [0.35, -0.6, 0.75], "intensity": 0.85}},
        "unknowns": {"bodies.jelly.velocity": {"range": [[-1, 1], [-1, 1], [-2, 1]]}, "bodies.jelly.density": {"range": [800, 1200]},
            "bodies.jelly.material.mu": {"range": [6000, 9000]}}}"#;

    #[test]
    fn derivatives_of_the_distance_are_those_of_differences() {
        derivatives_are_those_of_differences(Simulator::Mpm);
        derivatives_are_those_of_differences(Simulator::Fem);
    }

    fn derivatives_are_those_of_differences(simulator: Simulator) {
        let folder = std::env::temp_dir().join(format!("diffkern-goal-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("scene.json"), SCENE).unwrap();
        let scene = Scene::read(&folder).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let simulator = Some(simulator);
        let options = Identify { cells: Some(3), simulator, ..Identify::new(folder) }.options(&scene).unwrap();
        let goal = Goal::new(&scene, &options, None, None, Point(0.1, 0.0, 0.1)).unwrap();
        let parametrisation = Parametrisation::new(&scene, &options, None).unwrap();
        let grid = || {
            let room = viscous_room(&scene, &options.fixed, 3);
            let grid =
                GridOptions { simulator: options.simulator, cells: 3, room, fixed_steps: false, nodes: usize::MAX };
            Grid::<f64>::new(&goal, grid, &Device::cpu()).unwrap()
        };
        let problem = Throwing { goal: &goal, parametrisation, grids: [grid(), grid()], runs: Cell::default() };
        let mut tick = |_: f64| Flow::Continue;
        for shift in [0.0, 0.03, -0.05] {
            let start = problem.parametrisation.at(&problem.parametrisation.initial(&options));
            let at: Vec<f64> = start.iter().map(|x| x + shift).collect();
            let normal = problem.linearise(Stage::Fine, Precision::Full, &at, &mut tick).unwrap().normals.remove(0);
            assert_eq!(normal.parameters(), at.len());
            for k in 0..at.len() {
                let mut cost = |by: f64| {
                    let mut moved = at.clone();
                    moved[k] += by;
                    problem.cost(Stage::Fine, &moved, f64::INFINITY, &mut tick).unwrap()
                };
                let slope = 2.0 * normal.gradient[k];
                // One of a ladder: in long steps other particles and points come to the floor, short ones are rounded.
                let mut off = Vec::new();
                let agrees = [1e-6, 3e-6, 1e-5, 3e-7, 1e-7].into_iter().any(|h| {
                    let difference = (8.0 * (cost(h) - cost(-h)) - (cost(2.0 * h) - cost(-2.0 * h))) / (12.0 * h);
                    off.push((difference - slope).abs());
                    off[off.len() - 1] < 1e-6 * slope.abs().max(1e-3)
                });
                assert!(agrees, "{k}: {off:?} of {slope}");
            }
        }
    }

    #[test]
    fn wrong_goals_are_refused_by_their_option() {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/jelly_drop_a");
        let scene = Scene::read(&sample).unwrap();
        let options = Identify::new(sample.clone()).options(&scene).unwrap();
        let refused = |body: Option<&str>, frame: Option<usize>, to: Point| {
            Goal::new(&scene, &options, body, frame, to).map(drop).unwrap_err().to_string()
        };
        let here = Point(0.0, 0.0, 0.1);
        assert!(refused(Some("ball"), None, here).contains("body: \"ball\", expected one of"));
        assert!(refused(None, Some(0), here).contains("frame: 0, expected 1 to"));
        assert!(refused(None, Some(1000), here).contains("frame: 1000, expected 1 to"));
        assert!(refused(None, None, Point(0.0, f64::NAN, 0.1)).contains("to: 0,NaN,0.1"));
        let text = "Throw(folder: \"v\", to: (0.1, -0.2, 0.3), frame: 4)";
        let experiment = Experiment::parse(Path::new("x.ron"), text).unwrap();
        assert_eq!(Experiment::parse(Path::new("x.ron"), &experiment.to_ron().unwrap()).unwrap(), experiment);
        let Experiment::Throw(throw) = experiment else { panic!("expected a throw") };
        assert_eq!("0.1, -0.2,0.3".parse(), Ok(throw.to));
        assert!("0.1,0.2".parse::<Point>().is_err() && "a,0,0".parse::<Point>().is_err());
    }
}
