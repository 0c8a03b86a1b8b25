//! What do tangents of a simulator cost, beside the run itself?
//!
//! `tangents --rounds 9` runs the blocks of W1 (two dimensions) and W2 (three) plainly, with one tangent and with three, in turn, and
//! prints one line of JSON for each: medians of wall time \[s\], and what one and three tangents cost as multiples of the run, by
//! wall and by CPU time.

use anyhow::Result;
use benches::harness::{Sizes, Spent, clocked};
use benches::mpm::{Block, plane, space};
use clap::Parser;
use diffkern::Device;
use diffkern_sim::mpm::Dimension;
use serde_json::json;

/// Times tangents beside the run.
#[derive(Parser)]
#[command(name = "tangents", version)]
struct Args {
    /// Rounds, of which medians are taken.
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Steps of each run.
    #[arg(long, default_value_t = 32)]
    steps: usize,
}

fn median(spent: &[Spent], of: fn(&Spent) -> f64) -> f64 {
    let mut all: Vec<f64> = spent.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn time<D: Dimension>(name: &str, block: &Block<D>, rounds: usize) -> Result<()> {
    const DIRECTIONS: [usize; 3] = [0, 1, 3];
    let mut spent: [Vec<Spent>; 3] = Default::default();
    for round in 0..=rounds.max(1) {
        for (spent, directions) in spent.iter_mut().zip(DIRECTIONS) {
            let (_, took) = clocked(|| block.with_tangents(directions))?;
            // The first one warms up.
            if round > 0 {
                spent.push(took);
            }
        }
    }
    let [run, one, three] = [0, 1, 2].map(|k| [median(&spent[k], |s| s.wall), median(&spent[k], |s| s.cpu)]);
    let cost = |with: [f64; 2]| [0, 1].map(|k| (with[k] - run[k]) / run[k]);
    println!(
        "{}",
        json!({
            "workload": name,
            "wall": { "run": run[0], "one": one[0], "three": three[0] },
            "one_costs": { "wall": cost(one)[0], "cpu": cost(one)[1] },
            "three_cost": { "wall": cost(three)[0], "cpu": cost(three)[1] },
        })
    );
    Ok(())
}

fn main() -> Result<()> {
    let args = Args::parse();
    let device = Device::cpu();
    let sizes = |particles, grid| Sizes { particles, grid, steps: args.steps };
    time("w1", &plane(&device, sizes(8192, 128))?, args.rounds)?;
    time("w2", &space(&device, sizes(32_768, 64))?, args.rounds)
}
