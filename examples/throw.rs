//! How hard must a soft block be thrown to hit a target? Gradient descent through a simulation.
//!
//! `cargo run --release -p examples --example throw`

use diffkern::prelude::*;
use diffkern_sim::Step as _;
use diffkern_sim::mpm::{Contact, Dim2, Grid, HalfSpace, Law, Model, Params, State, mean_square_distance};

/// Particles per side of the block, their distance \[m\], and steps of the simulation.
const SIDE: usize = 8;
const SPACING: f64 = 0.05;
const STEPS: usize = 400;
const DT: f64 = 1e-3;
const TARGET: [f64; 2] = [1.8, 0.6];

/// Every particle starts with the same velocity. Gradients of all of them add up in the one.
#[diff_kernel]
fn spread<F: Float>(one: &Array<Vec2<F>>, all: &mut Array<Vec2<F>>) {
    all[ABSOLUTE_POS] = one[0];
}

fn main() -> Result<()> {
    let dev = Device::cpu();
    // A grid with two particles per cell and axis, and a rough floor that the block bounces off.
    let grid = Grid::<Dim2>::new([-0.5, -0.5], 2.0 * SPACING, [40, 30])?;
    let floor = HalfSpace::through([0.0, 0.0], [0.0, 1.0], Contact::Separating).with_friction(0.2);
    let model = Model::new(&dev, grid, DT, Law::NeoHookean, &[floor])?;
    // A rubber of 1,000 kg/m^2; mu and lambda in Pa, the volume of a particle in m^2.
    let params = Params::uniform(&dev, 2e4, 3e4, 1e3, SPACING * SPACING, [0.0, -9.81])?;

    let n = SIDE * SIDE;
    let at = |p: usize| [p / SIDE, p % SIDE].map(|k| (0.2 + (k as f64 + 0.5) * SPACING) as f32);
    let positions: Vec<_> = (0..n).map(|p| Vec2::from_array(at(p))).collect();
    let start = State::<Dim2, f32>::undeformed(&dev, &positions, &vec![Vec2::zero(); n])?;

    let mut throw = [2.0f32, -3.0];
    let mut distance = f64::INFINITY;
    for round in 0..20 {
        let velocity = dev.array(&[Vec2::from_array(throw)])?.requires_grad();
        let (tape, (end, loss)) = Tape::record_value(|| {
            let v = dev.zeros(n)?;
            spread(n, &velocity, &v)?;
            let state = State { v, ..start.clone() };
            // The solver is made where the tape records, so that gradients could reach its parameters as well.
            let end = model.solver(&params, n)?.advance(&state, 0, STEPS, Schedule::Auto)?;
            let loss = mean_square_distance::<Dim2, f32>(&end.x, TARGET)?;
            Ok::<_, Error>((end, loss))
        })?;
        tape.backward(&loss)?;

        let slope = velocity.grad()?.to_vec()?[0];
        distance = from_target(&end.x.to_vec()?);
        println!("round {round:2}: thrown at {throw:5.2?} m/s, {distance:.4} m from the target");
        // In free flight the block gets `STEPS * DT` times the velocity far, and this would be Newton's step. Here it
        // bounces: thrown harder at the floor it gets higher, which the gradient knows.
        let rate = 0.5 / (STEPS as f32 * DT as f32).powi(2);
        throw = [throw[0] - rate * slope.x, throw[1] - rate * slope.y];
    }
    assert!(distance < 0.01, "{distance} m");
    Ok(())
}

/// Distance of the middle of the block from the target \[m\].
fn from_target(x: &[Vec2<f32>]) -> f64 {
    let mean = |part: fn(&Vec2<f32>) -> f32| x.iter().map(|x| f64::from(part(x))).sum::<f64>() / x.len() as f64;
    (mean(|x| x.x) - TARGET[0]).hypot(mean(|x| x.y) - TARGET[1])
}
