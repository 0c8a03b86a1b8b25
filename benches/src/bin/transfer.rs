//! What do transfers between particles and grid lose?
//!
//! `transfer` prints tables in Markdown: the logarithmic decrement of the first mode of a free block by cells and steps, energy and angular
//! momentum over bounces on a penalty floor, roughness of velocities within cells, and the time of a step.

use anyhow::Result;
use benches::harness::clocked;
use benches::transfer::{Setting, bounce, decrement};
use clap::Parser;
use diffkern::{Mat3, Vec3};
use diffkern_sim::mpm::Transfer;

/// Measures what transfers lose.
#[derive(Parser)]
#[command(name = "transfer", version)]
struct Args {
    /// Periods of the free vibration.
    #[arg(long, default_value_t = 5.0)]
    periods: f64,
    /// Cells along each side of the blocks that vibrate.
    #[arg(long, value_delimiter = ',', default_values_t = [4, 8, 16])]
    cells: Vec<usize>,
    /// Speed of the impact \[m/s\].
    #[arg(long, default_value_t = 1.0)]
    speed: f64,
}

/// Cells that the fastest wave crosses in a step.
const STEPS: [f64; 3] = [0.4, 0.2, 0.1];
/// Steps of the rounds that are timed, and rounds.
const TIMED: usize = 40;
const ROUNDS: usize = 5;

const TRANSFERS: [(&str, Transfer); 4] = [
    ("APIC", Transfer::Apic),
    ("Lagrangian, 8 steps", Transfer::Lagrangian { steps: Some(8) }),
    ("Lagrangian, 32 steps", Transfer::Lagrangian { steps: Some(32) }),
    ("Lagrangian", Transfer::LAGRANGIAN),
];

fn setting(transfer: Transfer, cells: usize, cfl: f64) -> Setting {
    Setting { transfer, cells, cfl, mu: 8e3, lambda: 12e3 }
}

fn decrements(args: &Args) -> Result<()> {
    println!("| transfer | cells | {} |", STEPS.map(|cfl| format!("{cfl} cells a step")).join(" | "));
    println!("|---|---|---|---|---|");
    for (name, transfer) in TRANSFERS {
        for &cells in &args.cells {
            let of = |cfl| decrement(setting(transfer, cells, cfl), args.periods);
            let row = STEPS.into_iter().map(of).collect::<Result<Vec<_>, _>>()?;
            let row: Vec<String> = row.iter().map(|d| format!("{d:.5}")).collect();
            println!("| {name} | {cells} | {} |", row.join(" | "));
        }
    }
    Ok(())
}

fn bounces(args: &Args) -> Result<()> {
    println!("\n| transfer | tilt | lost | 50 ms later | most gained | angular momentum in flight | roughness |");
    println!("|---|---|---|---|---|---|---|");
    for tilt in [0.0, 0.3] {
        for (name, transfer) in TRANSFERS {
            let b = bounce(setting(transfer, 8, 0.2), tilt, args.speed, 0.1)?;
            let percent = |part: f64| format!("{:.2} %", 100.0 * part);
            println!(
                "| {name} | {tilt} | {} | {} | {} | {:.1e} | {} |",
                percent(-b.left),
                percent(-b.end),
                percent(b.most.max(0.0)),
                b.turned,
                percent(b.roughness)
            );
        }
    }
    Ok(())
}

fn times() -> Result<()> {
    println!("\n| transfer | ms a step |\n|---|---|");
    let mut spent = [const { Vec::new() }; 2];
    let of = [TRANSFERS[0], TRANSFERS[3]];
    for round in 0..=ROUNDS {
        for (spent, (_, transfer)) in spent.iter_mut().zip(of) {
            let still = |_| (Vec3::new(0.0, 0.0, -1.0), Mat3::zero());
            let mut block = setting(transfer, 16, 0.2).block(Some(0.01), 0.0, still)?;
            let (_, took) = clocked(|| block.run(TIMED))?;
            // The first one warms up.
            if round > 0 {
                spent.push(took.wall / TIMED as f64);
            }
        }
    }
    for (mut spent, (name, _)) in spent.into_iter().zip(of) {
        spent.sort_by(f64::total_cmp);
        println!("| {name} | {:.2} |", 1e3 * spent[ROUNDS / 2]);
    }
    Ok(())
}

fn main() -> Result<()> {
    let args = Args::parse();
    decrements(&args)?;
    bounces(&args)?;
    times()
}
