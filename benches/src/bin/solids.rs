//! What does a second of a falling block cost by finite elements, beside MPM with eight particles a cell?
//!
//! `solids --cells 8` runs a block on a floor by both, in turn, in the steps that each thinks stable, plainly and with the tangents of both moduli, and prints one
//! line of JSON for each: medians of wall time of a step \[s\], and of what a simulated second takes.

use anyhow::Result;
use benches::harness::clocked;
use clap::Parser;
use diffkern::jvp;
use diffkern::prelude::*;
use diffkern_sim::contact::{Collider, Contact};
use diffkern_sim::fem::lattice::{self, Body, contact_stiffness};
use diffkern_sim::material::Law;
use diffkern_sim::mesh::Pose;
use diffkern_sim::mpm::HalfSpace;
use diffkern_sim::scene::BlockSpec;
use diffkern_sim::shape::{Cuboid, Primitive};
use diffkern_sim::{Model, Params as _, Step};
use serde_json::json;

/// Times finite elements beside MPM.
#[derive(Parser)]
#[command(name = "solids", version)]
struct Args {
    /// Cells along each side of the block.
    #[arg(long, default_value_t = 8)]
    cells: usize,
    /// Rounds, of which medians are taken.
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Steps of each run.
    #[arg(long, default_value_t = 20)]
    steps: usize,
}

/// Side of the block \[m\], its moduli \[Pa\] and density.
const SIDE: f64 = 0.1;
const MU: f64 = 2e4;
const LAMBDA: f64 = 3e4;
const DENSITY: f64 = 1e3;

/// Wall time of a run, plainly and with two tangents.
fn run<M: Model>(model: &M, params: &M::Params, state: &M::State, steps: usize) -> Result<[f64; 2]>
where
    M::Control: Default,
{
    let advanced = || model.bind(params, state)?.advance(state, 0, steps, Schedule::Auto);
    let (_, plain) = clocked(advanced)?;
    let moduli = [params.group("material.mu")?.array, params.group("material.lambda")?.array];
    let pairs = moduli.map(|array| [(array, array)]);
    let directions = [pairs[0].as_slice(), pairs[1].as_slice()];
    let (_, tangents) = clocked(|| jvp(&directions, || Ok::<_, diffkern::Error>(advanced()?)))?;
    Ok([plain.wall, tangents.wall])
}

fn report<M: Model>(name: &str, model: &M, params: &M::Params, state: &M::State, dt: f64, args: &Args) -> Result<()>
where
    M::Control: Default,
{
    let mut rounds = (0..=args.rounds).map(|_| run(model, params, state, args.steps)).collect::<Result<Vec<_>>>()?;
    // The first one warms up.
    rounds.remove(0);
    let [plain, tangents] = [0, 1].map(|k| {
        let mut all: Vec<f64> = rounds.iter().map(|r| r[k]).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2] / args.steps as f64
    });
    let second = |step: f64| step / dt;
    println!(
        "{}",
        json!({
            "solver": name, "dt": dt, "step": plain, "step_with_tangents": tangents,
            "second": second(plain), "second_with_tangents": second(tangents),
        })
    );
    Ok(())
}

fn elements<F: Float>(name: &str, floor: bool, args: &Args) -> Result<()> {
    let (device, cell) = (Device::cpu(), SIDE / args.cells as f64);
    let block = Primitive::Cuboid(Cuboid { sides: [SIDE; 3] });
    let body = Body { pose: Pose::at([0.0, 0.0, 0.5 * SIDE]), ..Body::new(block, cell) }.build()?;
    let contact = Contact::Penalty { stiffness: contact_stiffness(MU, LAMBDA, cell) };
    let colliders = [Collider::plane([0.0; 3], [0.0, 0.0, 1.0], contact).with_friction(0.3)];
    let params = lattice::Params::<F>::uniform(&device, MU, LAMBDA, DENSITY, [0.0, 0.0, -9.81])?;
    let state = body.state(&device, [0.1, 0.0, -0.5], [0.0; 3])?;
    let model = lattice::Model::new(&device, &body, Law::NeoHookean, 1.0, if floor { &colliders } else { &[] })?;
    let dt = model.max_dt(&params, &state)?;
    report(name, &model.with_dt(dt)?, &params, &state, dt, args)
}

fn particles<F: Float>(name: &str, args: &Args) -> Result<()> {
    let device = Device::cpu();
    let spec = BlockSpec {
        min: [0.0; 3],
        max: [SIDE; 3],
        mu: [MU; 2],
        lambda: [LAMBDA; 2],
        density: [DENSITY; 2],
        gravity: [0.0, 0.0, -9.81],
        half_spaces: vec![HalfSpace::through([0.0; 3], [0.0, 0.0, 1.0], Contact::Separating).with_friction(0.3)],
        cells: args.cells,
        duration: 0.1,
        ..BlockSpec::default()
    };
    let scene = spec.build::<F>(&device)?;
    let params = scene.params(&device, MU, LAMBDA)?;
    report(name, &scene.model, &params, &scene.state, scene.model.dt(), args)
}

fn main() -> Result<()> {
    let args = Args::parse();
    elements::<f32>("elements f32", false, &args)?;
    elements::<f32>("elements and floor f32", true, &args)?;
    particles::<f32>("particles f32", &args)?;
    elements::<f64>("elements f64", false, &args)?;
    elements::<f64>("elements and floor f64", true, &args)?;
    particles::<f64>("particles f64", &args)
}
