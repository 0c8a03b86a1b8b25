//! Does Newton-CG on Hessian-vector products need three times fewer simulator runs than Adam to identify a material?
//! And least squares with tangents (Levenberg and Marquardt), which `identify` uses?
//!
//! A block of MPM particles in stripes of different stiffness falls on a floor; known are the positions at three times.
//! Looked for are the logarithms of the stripes' shear moduli and of lambda, until all are within 0.1 % of the truth. Truth
//! and start are drawn anew for each of three seeds.
//!
//! Adam gets the best of ten settings, chosen for each seed by the loss after 100 steps and not charged: the best three
//! go on, and of these the one that is done first counts. One that needs more than `MOST` gradients is stopped there,
//! and counts as done.
//!
//! A table, and exit code 1 if Newton-CG does not need three times fewer runs of the simulator, summed over the seeds, by
//! either count: by evaluations (a run with its gradient 1, a product 1), and by walks over all steps (a run 1, its
//! reverse 1, the tangents beside a run 1 each; a product 3, as it carries tangents forwards and walks back with an
//! adjoint and its tangent). Beside them CPU seconds of all threads.

use std::process::ExitCode;

use anyhow::{Context, Result};
use benches::harness::{Spent, clocked};
use diffkern::prelude::*;
use diffkern::{AnyArray, Schedule, jvp};
use diffkern_optim::NewtonCg;
use diffkern_optim::dense::{Adam, Bounds, LevenbergMarquardt, NormalEquations};
use diffkern_sim::Step as _;
use diffkern_sim::mpm::{Contact, Dim2, Grid, HalfSpace, Law, Model, Params, Solver, State};
use train::job::Runs;

const SIDE: usize = 10;
const N: usize = SIDE * SIDE;
const H: f64 = 0.03;
const STRIPES: usize = 5;
const UNKNOWNS: usize = STRIPES + 1;
/// Times at which positions are known, and steps between them.
const TIMES: usize = 3;
const STEPS: usize = 40;
/// How far the truth is from the middle, and the start from the truth: by a random part between a half and the whole.
const SPREAD: f64 = 0.3;
const APART: f64 = 0.7;
const SEEDS: std::ops::Range<u64> = 1..4;
const CLOSE: f64 = 1e-3;
/// Most steps of Newton and of least squares, and of Adam, each with a gradient.
const TURNS: usize = 100;
const MOST: usize = 600;
const SCANNED: usize = 100;
const FINALISTS: usize = 3;
const FACTOR: f64 = 3.0;

/// Shear modulus per particle and lambda, from their logarithms.
#[diff_kernel]
fn stiffness<F: Float>(theta: &Array<F>, stripe: &Array<u32>, mu: &mut Array<F>) {
    mu[ABSOLUTE_POS] = theta[stripe[ABSOLUTE_POS]].exp() * 200.0;
}

#[diff_kernel]
fn compression<F: Float>(theta: &Array<F>, lambda: &mut Array<F>, last: usize) {
    lambda[ABSOLUTE_POS] = theta[last].exp() * 300.0;
}

#[diff_kernel]
fn misfit<F: Float>(x: &Array<Vec2<F>>, seen: &Array<Vec2<F>>, loss: &mut Array<F>, scale: F) {
    loss[0] += (x[ABSOLUTE_POS] - seen[ABSOLUTE_POS]).norm_squared() * scale;
}

struct Problem {
    device: Device,
    model: Model<Dim2, f64>,
    stripe: Array<u32>,
    seen: Vec<Array<Vec2<f64>>>,
    truth: Vec<f64>,
    start: Vec<f64>,
}

/// How an optimizer fared.
struct Found {
    name: String,
    steps: usize,
    runs: Runs,
    cpu: f64,
    loss: f64,
    error: f64,
}

impl Found {
    fn new(name: &str) -> Self {
        Self { name: name.into(), steps: 0, runs: Runs::default(), cpu: 0.0, loss: f64::NAN, error: f64::INFINITY }
    }

    /// Does some work, counted and timed.
    fn spend<T>(&mut self, runs: Runs, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.runs = self.runs + runs;
        let (done, Spent { cpu, .. }) = clocked(work)?;
        self.cpu += cpu;
        Ok(done)
    }

    /// Runs of the program, with or without what comes beside it, and products.
    fn evaluations(&self) -> usize {
        self.runs.forward + self.runs.products
    }

    fn print(&self) {
        let Runs { forward, tangents, reverse, products } = self.runs;
        println!(
            "  {:<24} {:>5} {forward:>7} {reverse:>9} {products:>8} {tangents:>8} {:>11} {:>6} {:>7.1} {:>9.1e} {:>9.1e}",
            self.name,
            self.steps,
            self.evaluations(),
            self.runs.walks(),
            self.cpu,
            self.loss,
            self.error,
        );
    }
}

impl Problem {
    fn new(seed: u64) -> Result<Problem> {
        let device = Device::cpu();
        let grid = Grid::new([-0.2, -0.2], 2.0 * H, [16, 16])?;
        let floor = HalfSpace::through([0.0, 0.0], [0.0, 1.0], Contact::Penalty { stiffness: 4e3 });
        let model = Model::new(&device, grid, 1e-3, Law::NeoHookean, &[floor])?.with_contact_spacing(H)?;
        let stripe: Vec<u32> = (0..N).map(|p| ((p / SIDE) * STRIPES / SIDE) as u32).collect();
        let stripe = device.array(&stripe)?;
        let mut random = fastrand::Rng::with_seed(seed);
        let truth: Vec<f64> = (0..UNKNOWNS).map(|_| SPREAD * (2.0 * random.f64() - 1.0)).collect();
        let away = |truth: &f64| {
            let size = APART * (0.5 + 0.5 * random.f64());
            truth + if random.bool() { size } else { -size }
        };
        let start = truth.iter().map(away).collect();
        let mut problem = Problem { device, model, stripe, seen: Vec::new(), truth, start };
        problem.seen = problem.positions(&problem.device.array(&problem.truth)?)?;
        Ok(problem)
    }

    fn positions(&self, theta: &Array<f64>) -> Result<Vec<Array<Vec2<f64>>>> {
        let at = |p: usize| Vec2::new((p / SIDE) as f64 * H - 0.1, (p % SIDE) as f64 * H + 0.02);
        let points: Vec<_> = (0..N).map(at).collect();
        let speeds: Vec<_> = (0..N).map(|p| Vec2::new(0.3 * at(p).y, -1.5 + at(p).x)).collect();
        let (mu, lambda) = (self.device.zeros(N)?, self.device.zeros(1)?);
        stiffness(N, theta, &self.stripe, &mu)?;
        compression(1, theta, &lambda, STRIPES)?;
        let params = Params::uniform(&self.device, 1.0, 1.0, 2.0, H * H, [0.0, -9.8])?;
        let solver: Solver<Dim2, f64> = self.model.solver(&Params { mu, lambda, ..params }, N)?;
        let mut state = State::undeformed(&self.device, &points, &speeds)?;
        let mut seen = Vec::new();
        for time in 0..TIMES {
            state = solver.advance(&state, time * STEPS, STEPS, Schedule::Auto)?;
            seen.push(state.x.clone());
        }
        Ok(seen)
    }

    fn loss(&self, theta: &Array<f64>) -> Result<Array<f64>> {
        let loss = self.device.zeros(1)?;
        for (x, seen) in self.positions(theta)?.iter().zip(&self.seen) {
            misfit(N, x, seen, &loss, 1e4 / N as f64)?;
        }
        Ok(loss)
    }

    /// The largest relative error of a parameter, nearly: the distance of logarithms.
    fn error(&self, x: &[f64]) -> f64 {
        x.iter().zip(&self.truth).fold(0.0, |most, (x, truth)| most.max((x - truth).abs()))
    }

    /// A tape with the loss at `x`, the loss itself, and the gradient.
    fn look(&self, x: &[f64], found: &mut Found) -> Result<Here> {
        let here = found.spend(Runs { forward: 1, reverse: 1, ..Runs::default() }, || {
            let theta = self.device.array(x)?.requires_grad();
            let (tape, loss) = Tape::record_value(|| self.loss(&theta))?;
            tape.backward(&loss)?;
            Ok(Here { value: loss.to_vec()?[0], gradient: theta.grad()?.to_vec()?, theta, tape, loss })
        })?;
        (found.loss, found.error) = (here.value, self.error(x));
        Ok(here)
    }

    /// Residuals and their derivatives by all unknowns, by forward mode.
    fn linearise(&self, x: &[f64], found: &mut Found) -> Result<NormalEquations> {
        let normal = found.spend(Runs { forward: 1, tangents: UNKNOWNS, ..Runs::default() }, || {
            let theta = self.device.array(x)?;
            let unit = |k: usize| (0..UNKNOWNS).map(|j| f64::from(u8::from(j == k))).collect::<Vec<_>>();
            let units = (0..UNKNOWNS).map(|k| self.device.array(&unit(k))).collect::<diffkern::Result<Vec<_>>>()?;
            let pairs: Vec<[_; 1]> = units.iter().map(|unit| [(theta.as_any(), unit.as_any())]).collect();
            let directions: Vec<diffkern::Direction<'_>> = pairs.iter().map(|pair| pair.as_slice()).collect();
            let (positions, tangents) = jvp(&directions, || self.positions(&theta))?;
            let mut normal = NormalEquations::new(UNKNOWNS);
            let scale = (1e4 / N as f64).sqrt();
            let flat = |v: Vec<Vec2<f64>>| v.iter().flat_map(|v| v.to_array()).map(|x| x * scale).collect::<Vec<f64>>();
            for (x, seen) in positions.iter().zip(&self.seen) {
                let (now, seen) = (flat(x.to_vec()?), flat(seen.to_vec()?));
                let residual: Vec<f64> = now.iter().zip(&seen).map(|(x, s)| x - s).collect();
                let by = |k| Ok(flat(tangents.get(k, x)?.to_vec()?));
                normal.add(&residual, &(0..UNKNOWNS).map(by).collect::<Result<Vec<_>>>()?)?;
            }
            Ok(normal)
        })?;
        (found.loss, found.error) = (normal.cost, self.error(x));
        Ok(normal)
    }
}

struct Here {
    value: f64,
    gradient: Vec<f64>,
    theta: Array<f64>,
    tape: Tape,
    loss: Array<f64>,
}

impl Here {
    fn product(&self, v: &[f64], found: &mut Found) -> Result<Vec<f64>> {
        found.spend(Runs { products: 1, ..Runs::default() }, || {
            let by = self.theta.device().array(v)?;
            let pair: [(&AnyArray, &AnyArray); 1] = [(self.theta.as_any(), by.as_any())];
            Ok(self.tape.hvp(&self.loss, &[&pair])?.get(0, &self.theta)?.to_vec()?)
        })
    }
}

/// Nothing where the simulator refuses the material; other errors stay errors.
fn carried<T>(outcome: Result<T>) -> Result<Option<T>> {
    match outcome {
        Err(error) if error.downcast_ref().is_some_and(diffkern_sim::Error::is_of_the_motion) => Ok(None),
        outcome => outcome.map(Some),
    }
}

fn newton(problem: &Problem) -> Result<Found> {
    let (mut x, mut found, mut newton) = (problem.start.clone(), Found::new("newton-cg"), NewtonCg::new(1.0));
    let mut here = problem.look(&x, &mut found)?;
    let first = here.gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
    while problem.error(&x) > CLOSE && found.steps < TURNS {
        found.steps += 1;
        let step = newton.propose(&here.gradient, first, |v: &Vec<f64>| here.product(v, &mut found))?;
        let next: Vec<f64> = x.iter().zip(&step.change).map(|(x, c)| x + c).collect();
        // A material that the grid does not carry is a refused step.
        let Some(there) = carried(problem.look(&next, &mut found))? else {
            newton.radius *= 0.25;
            continue;
        };
        if newton.judge(&step, here.value - there.value) {
            (x, here) = (next, there);
        }
    }
    (found.loss, found.error) = (here.value, problem.error(&x));
    Ok(found)
}

fn least_squares(problem: &Problem) -> Result<Found> {
    let mut found = Found::new("lm, forward mode");
    let (mut x, mut lm) = (problem.start.clone(), LevenbergMarquardt::default());
    let wide = |x: f64| vec![x; UNKNOWNS];
    let bounds = Bounds { low: wide(-3.0), high: wide(3.0), trust: wide(1.0) };
    let mut here = problem.linearise(&x, &mut found)?;
    while problem.error(&x) > CLOSE && found.steps < TURNS {
        found.steps += 1;
        let Some(step) = lm.propose(&here, &bounds, &x)? else { break };
        let next: Vec<f64> = x.iter().zip(&step.change).map(|(x, c)| x + c).collect();
        match carried(problem.linearise(&next, &mut found))? {
            Some(there) if there.cost < here.cost => {
                (x, here) = (next, there);
                lm.accept();
            }
            _ => lm.refuse(),
        }
    }
    (found.loss, found.error) = (here.cost, problem.error(&x));
    Ok(found)
}

/// A setting of Adam: rate, steps after which it has halved if it decays, and forgetting factor of the squares.
#[derive(Clone, Copy)]
struct Setting {
    rate: f64,
    halved: f64,
    beta: f64,
}

impl Setting {
    fn all() -> Vec<Setting> {
        let plain = [1.0, 0.5, 0.3, 0.2, 0.1, 0.05].map(|rate| Setting { rate, halved: f64::INFINITY, beta: 0.999 });
        let quick = [1.0, 0.3].map(|rate| Setting { rate, halved: f64::INFINITY, beta: 0.99 });
        let decays = [1.0, 0.5].map(|rate| Setting { rate, halved: 200.0, beta: 0.999 });
        [&plain[..], &quick, &decays].concat()
    }

    fn name(&self) -> String {
        let decay = if self.halved.is_finite() { ", decaying" } else { "" };
        let beta = if self.beta == 0.999 { "" } else { ", beta2 .99" };
        format!("adam {}{beta}{decay}", self.rate)
    }
}

struct AdamRun<'a> {
    problem: &'a Problem,
    setting: Setting,
    adam: Adam,
    x: Vec<f64>,
    /// It left what can be simulated.
    lost: bool,
    found: Found,
}

impl<'a> AdamRun<'a> {
    fn new(problem: &'a Problem, setting: Setting) -> Self {
        let mut adam = Adam::new(setting.rate, vec![1.0; UNKNOWNS]);
        adam.beta[1] = setting.beta;
        Self { problem, setting, adam, x: problem.start.clone(), lost: false, found: Found::new(&setting.name()) }
    }

    fn done(&self) -> bool {
        self.found.error <= CLOSE
    }

    /// On to `most` steps, or until done. A material that the grid does not carry ends the run.
    fn go_on(&mut self, most: usize) -> Result<()> {
        while !self.done() && !self.lost && self.found.steps < most {
            let Some(here) = carried(self.problem.look(&self.x, &mut self.found))? else {
                self.lost = true;
                return Ok(());
            };
            self.found.steps += 1;
            self.adam.rate = self.setting.rate / (1.0 + self.found.steps as f64 / self.setting.halved);
            self.x.iter_mut().zip(self.adam.step(&here.gradient)?).for_each(|(x, c)| *x += c);
        }
        Ok(())
    }
}

/// The best of all settings.
fn adam(problem: &Problem) -> Result<Found> {
    let mut runs: Vec<_> = Setting::all().into_iter().map(|setting| AdamRun::new(problem, setting)).collect();
    runs.iter_mut().try_for_each(|run| run.go_on(SCANNED))?;
    runs.retain(|run| !run.lost);
    let unfinished = |run: &AdamRun<'_>| !run.done();
    runs.sort_by(|a, b| unfinished(a).cmp(&unfinished(b)).then(a.found.loss.total_cmp(&b.found.loss)));
    runs.truncate(FINALISTS);
    // No need to go on where another was done.
    let mut most = MOST;
    for run in &mut runs {
        run.go_on(most)?;
        if run.done() {
            most = most.min(run.found.steps);
        }
        run.found.print();
    }
    let best = runs.into_iter().min_by_key(|run| (!run.done(), run.found.steps));
    best.map(|run| run.found).context("no setting of Adam")
}

fn main() -> Result<ExitCode> {
    println!(
        "  {:<24} {:>5} {:>7} {:>9} {:>8} {:>8} {:>11} {:>6} {:>7} {:>9} {:>9}",
        "optimizer",
        "steps",
        "forward",
        "gradients",
        "products",
        "tangents",
        "evaluations",
        "walks",
        "CPU s",
        "loss",
        "error"
    );
    let mut sums = [[0.0; 3]; 2];
    let mut converged = true;
    for seed in SEEDS {
        println!("seed {seed}");
        let problem = Problem::new(seed)?;
        let least = least_squares(&problem)?;
        least.print();
        let second = newton(&problem)?;
        second.print();
        let first = adam(&problem)?;
        converged &= second.error <= CLOSE && least.error <= CLOSE;
        for (sum, found) in sums.iter_mut().zip([&second, &first]) {
            let counts = [found.evaluations() as f64, found.runs.walks() as f64, found.cpu];
            sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }
    let [newton, adam] = sums;
    let [by_evaluations, by_walks, by_cpu] = [0, 1, 2].map(|k| adam[k] / newton[k]);
    println!(
        "Newton-CG against the best Adam, sums over the seeds: {by_evaluations:.1}x fewer evaluations, \
         {by_walks:.1}x fewer walks, {by_cpu:.1}x less CPU time"
    );
    if !converged {
        println!("Newton-CG or least squares did not converge");
    }
    let enough = converged && by_evaluations >= FACTOR && by_walks >= FACTOR;
    Ok(if enough { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
