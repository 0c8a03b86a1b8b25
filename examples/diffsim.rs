//! How stiff is a block that hangs from a wall? Young's modulus from where it is after 20 steps, by Newton's method on its logarithm.
//!
//! `cargo run --release -p examples --example diffsim`

use diffkern::prelude::*;
use diffkern_sim::diffsim::{DifferentiableSolver, Elastic, Simulator, TetMesh, mse};

fn main() -> Result<()> {
    let device = Device::cpu();
    let mesh = TetMesh::block([3, 1, 1], [0.0, 0.5, 0.0], [0.3, 0.1, 0.1])?; // y is up
    let wall = mesh.vertices_where(|[x, _, _]| x < 0.01);
    let block = |young: f64| -> Result<Simulator<f64>> {
        let mut material = Elastic::uniform(&device, young, 0.3)?;
        material.young = material.young.requires_grad();
        Ok(Simulator::new(&mesh, material, DifferentiableSolver::default(), 1000.0, &device)?.with_fixed(&wall)?)
    };
    let (seen, mut young) = (block(3e4)?.rollout(20, 10)?, 1e4);
    for round in 0..5 {
        let block = block(young)?;
        let (tape, loss) = Tape::record_value(|| mse(&block.rollout(20, 10)?[20].0, &seen[20].0))?;
        tape.backward(&loss)?;
        let (loss, slope) = (loss.to_vec()?[0], block.material.young.grad()?.to_vec()?[0]);
        println!("round {round}: {young:.1} Pa, mean square {loss:.1e} m^2");
        // The step to where a square would be zero, by a factor of 2 at most.
        young *= (-2.0 * loss / (young * slope)).clamp(-0.7, 0.7).exp();
    }
    assert!((young / 3e4 - 1.0).abs() < 1e-3, "{young} Pa");
    Ok(())
}
