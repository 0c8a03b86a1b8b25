//! How many simulator runs does Newton-CG on Hessian-vector products need to identify a material, how many Adam, and how
//! many least squares with tangents (Levenberg and Marquardt, what `identify` uses)?
//!
//! A block of MPM particles in six stripes of different stiffness falls on a floor; known are the positions at four
//! times. Looked for are the logarithms of the stripes' shear moduli and of lambda, from 40 % beside the truth or more,
//! until all are within 0.1 %. Adam gets the best of several rates, constant and decaying.
//!
//! One line of JSON per optimizer; exit code 1 if Newton-CG does not need three times fewer runs than the best Adam. Runs
//! are counted in two ways: by the walks over all steps (a run of the simulator is 1, its reverse 1, the tangents beside
//! it 1, the tangent of the reverse 1 more, so a gradient costs 2 and a product 3), and by time over that of a run.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use diffkern::prelude::*;
use diffkern::{AnyArray, Schedule, jvp};
use diffkern_sim::mpm::{Contact, Dim2, Grid, HalfSpace, Law, Model, Params, Solver, State};
use serde_json::json;
use train::optim::{Adam, Bounds, Lm, NewtonCg, Normal};

const SIDE: usize = 12;
const N: usize = SIDE * SIDE;
const H: f64 = 0.025;
const STRIPES: usize = 6;
const UNKNOWNS: usize = STRIPES + 1;
/// Times at which positions are known, and steps between them.
const TIMES: usize = 4;
const STEPS: usize = 40;
const BEGIN: [f64; UNKNOWNS] = [0.5, -0.4, 0.6, -0.5, 0.4, -0.6, 0.5];
const TRUTH: [f64; UNKNOWNS] = [0.0, 0.3, -0.2, 0.1, 0.25, -0.15, 0.1];
const CLOSE: f64 = 1e-3;
const MOST: usize = 3_000;
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
    /// Seconds of a run that nothing records.
    run: f64,
}

/// What an optimizer has spent.
#[derive(Default)]
struct Spent {
    gradients: usize,
    products: usize,
    /// Of runs with tangents beside them, all directions counted.
    tangents: usize,
    runs: usize,
    seconds: f64,
}

impl Spent {
    fn walks(&self) -> usize {
        self.runs + self.tangents + 2 * self.gradients + 3 * self.products
    }
}

impl Problem {
    fn new() -> Result<Problem> {
        let device = Device::cpu();
        let grid = Grid::new([-0.2, -0.2], 2.0 * H, [16, 16])?;
        let floor = HalfSpace::through([0.0, 0.0], [0.0, 1.0], Contact::Penalty { stiffness: 4e3 });
        let model = Model::new(&device, grid, 1e-3, Law::NeoHookean, &[floor])?.with_contact_spacing(H)?;
        let stripe: Vec<u32> = (0..N).map(|p| ((p / SIDE) * STRIPES / SIDE) as u32).collect();
        let stripe = device.array(&stripe)?;
        let mut problem = Problem { device, model, stripe, seen: Vec::new(), run: 0.0 };
        problem.seen = problem.positions(&problem.device.array(&TRUTH)?)?;
        for _ in 0..5 {
            let start = Instant::now();
            problem.loss(&problem.device.array(&BEGIN)?)?.to_vec()?;
            problem.run = match problem.run {
                0.0 => start.elapsed().as_secs_f64(),
                least => least.min(start.elapsed().as_secs_f64()),
            };
        }
        Ok(problem)
    }

    fn positions(&self, theta: &Array<f64>) -> Result<Vec<Array<Vec2<f64>>>> {
        let at = |p: usize| Vec2::new((p / SIDE) as f64 * H - 0.1, (p % SIDE) as f64 * H + 0.02);
        let points: Vec<_> = (0..N).map(at).collect();
        let speeds: Vec<_> = (0..N).map(|p| Vec2::new(0.3 * at(p).y, -1.5 + at(p).x)).collect();
        let (mu, lambda) = (self.device.zeros(N)?, self.device.zeros(1)?);
        stiffness(N, theta, &self.stripe, &mu)?;
        compression(1, theta, &lambda, STRIPES)?;
        let params = Params { mu, lambda, ..Params::<Dim2, f64>::uniform(&self.device, 1.0, 1.0, 2.0, H * H)? };
        let gravity = self.device.array(&[Vec2::new(0.0, -9.8)])?;
        let solver: Solver<Dim2, f64> = self.model.solver(&Params { gravity, ..params }, N)?;
        let mut state = State::at_rest(&self.device, &points, &speeds)?;
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

    /// A tape with the loss at `x`, the loss itself, and the gradient.
    fn look(&self, x: &[f64], spent: &mut Spent) -> Result<Here> {
        let start = Instant::now();
        let theta = self.device.array(x)?.requires_grad();
        let (tape, loss) = Tape::record_with(|| self.loss(&theta))?;
        tape.backward(&loss)?;
        let here = Here { value: loss.to_vec()?[0], gradient: theta.grad()?.to_vec()?, theta, tape, loss };
        spent.gradients += 1;
        spent.seconds += start.elapsed().as_secs_f64();
        Ok(here)
    }
}

impl Problem {
    /// Residuals and their derivatives by all unknowns, by forward mode.
    fn linearise(&self, x: &[f64], spent: &mut Spent) -> Result<Normal> {
        let start = Instant::now();
        let theta = self.device.array(x)?;
        let unit =
            |k: usize| self.device.array(&(0..UNKNOWNS).map(|j| f64::from(u8::from(j == k))).collect::<Vec<_>>());
        let units = (0..UNKNOWNS).map(unit).collect::<diffkern::Result<Vec<_>>>()?;
        let pairs: Vec<[_; 1]> = units.iter().map(|unit| [(theta.any(), unit.any())]).collect();
        let directions: Vec<diffkern::Direction<'_>> = pairs.iter().map(|pair| pair.as_slice()).collect();
        let (positions, tangents) = jvp(&directions, || self.positions(&theta))?;
        let mut normal = Normal::new(UNKNOWNS);
        let scale = (1e4 / N as f64).sqrt();
        let flat = |v: Vec<Vec2<f64>>| v.iter().flat_map(|v| v.to_array()).map(|x| x * scale).collect::<Vec<f64>>();
        for (x, seen) in positions.iter().zip(&self.seen) {
            let (x_now, seen) = (flat(x.to_vec()?), flat(seen.to_vec()?));
            let residual: Vec<f64> = x_now.iter().zip(&seen).map(|(x, s)| x - s).collect();
            let by = |k| Ok(flat(tangents.get(k, x)?.to_vec()?));
            normal.add(&residual, &(0..UNKNOWNS).map(by).collect::<Result<Vec<_>>>()?);
        }
        spent.runs += 1;
        spent.tangents += UNKNOWNS;
        spent.seconds += start.elapsed().as_secs_f64();
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
    fn product(&self, v: &[f64], spent: &mut Spent) -> Result<Vec<f64>> {
        let start = Instant::now();
        let by = self.theta.device().array(v)?;
        let pair: [(&AnyArray, &AnyArray); 1] = [(self.theta.any(), by.any())];
        let product = self.tape.hvp(&self.loss, &[&pair])?.get(0, &self.theta)?.to_vec()?;
        spent.products += 1;
        spent.seconds += start.elapsed().as_secs_f64();
        Ok(product)
    }
}

fn distance(x: &[f64]) -> f64 {
    x.iter().zip(&TRUTH).fold(0.0, |most, (x, truth)| most.max((x - truth).abs()))
}

fn newton(problem: &Problem) -> Result<(Spent, usize, f64)> {
    let (mut x, mut spent, mut newton) = (BEGIN.to_vec(), Spent::default(), NewtonCg::new(1.0));
    let mut here = problem.look(&x, &mut spent)?;
    let first = here.gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
    let mut turns = 0;
    while distance(&x) > CLOSE && turns < MOST {
        turns += 1;
        let step = newton.propose(&here.gradient, first, |v| here.product(v, &mut spent))?;
        let next: Vec<f64> = x.iter().zip(&step.change).map(|(x, c)| x + c).collect();
        // A material that the grid does not carry is a refused step.
        let Ok(there) = problem.look(&next, &mut spent) else {
            newton.radius *= 0.25;
            continue;
        };
        if newton.judge(&step, here.value - there.value) {
            (x, here) = (next, there);
        }
    }
    Ok((spent, turns, distance(&x)))
}

fn least_squares(problem: &Problem) -> Result<(Spent, usize, f64)> {
    let (mut x, mut spent, mut lm) = (BEGIN.to_vec(), Spent::default(), Lm::default());
    let wide = |x: f64| vec![x; UNKNOWNS];
    let bounds = Bounds { low: wide(-3.0), high: wide(3.0), trust: wide(1.0) };
    let mut here = problem.linearise(&x, &mut spent)?;
    let mut turns = 0;
    while distance(&x) > CLOSE && turns < MOST {
        turns += 1;
        let Some(step) = lm.propose(&here, None, &bounds, &x) else { break };
        let next: Vec<f64> = x.iter().zip(&step.change).map(|(x, c)| x + c).collect();
        match problem.linearise(&next, &mut spent) {
            Ok(there) if there.cost < here.cost => {
                (x, here) = (next, there);
                lm.accept();
            }
            _ => lm.refuse(),
        }
    }
    Ok((spent, turns, distance(&x)))
}

fn adam(problem: &Problem, rate: f64, decays: bool, within: f64) -> Result<(Spent, usize, f64)> {
    let (mut x, mut spent, mut adam) = (BEGIN.to_vec(), Spent::default(), Adam::new(rate, vec![1.0; UNKNOWNS]));
    let mut turns = 0;
    while distance(&x) > CLOSE && turns < MOST && (spent.walks() as f64) < within {
        if decays {
            adam.rate = rate / (1.0 + turns as f64 / 50.0);
        }
        turns += 1;
        let here = problem.look(&x, &mut spent)?;
        x.iter_mut().zip(adam.step(&here.gradient)).for_each(|(x, c)| *x += c);
    }
    Ok((spent, turns, distance(&x)))
}

fn line(problem: &Problem, name: &str, (spent, turns, error): &(Spent, usize, f64)) {
    println!(
        "{}",
        json!({
            "optimizer": name, "converged": *error <= CLOSE, "error": error, "steps": turns,
            "gradients": spent.gradients, "products": spent.products, "walks": spent.walks(),
            "runs_by_time": spent.seconds / problem.run, "seconds": spent.seconds,
        })
    );
}

fn main() -> Result<ExitCode> {
    let problem = Problem::new()?;
    let found = newton(&problem)?;
    line(&problem, "newton-cg", &found);
    line(&problem, "least squares, forward mode", &least_squares(&problem)?);
    let mut best: Option<(Spent, usize, f64)> = None;
    for rate in [0.3, 0.2, 0.1, 0.05, 0.02, 0.01] {
        for decays in [false, true] {
            // No need to go on where another was better.
            let within = best.as_ref().map_or(f64::INFINITY, |(spent, ..)| spent.walks() as f64);
            let tried = adam(&problem, rate, decays, within)?;
            line(&problem, &format!("adam {rate}{}", if decays { ", decaying" } else { "" }), &tried);
            let better = best.as_ref().is_none_or(|(spent, ..)| tried.0.walks() < spent.walks());
            if tried.2 <= CLOSE && better {
                best = Some(tried);
            }
        }
    }
    let Some(best) = best.filter(|_| found.2 <= CLOSE) else {
        println!("{}", json!({ "ok": false, "reason": "one of the two does not converge" }));
        return Ok(ExitCode::FAILURE);
    };
    let by_walks = best.0.walks() as f64 / found.0.walks() as f64;
    let by_time = best.0.seconds / found.0.seconds;
    let ok = by_walks >= FACTOR && by_time >= FACTOR;
    println!("{}", json!({ "ok": ok, "fewer_walks": by_walks, "less_time": by_time }));
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
