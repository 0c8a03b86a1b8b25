use super::*;
use diffkern_sim::Model as _;
use diffkern_sim::shape::{Cuboid, Primitive};
use std::time::Instant;

fn fem<F: Float>(n: usize) -> Result<()> {
    let cube = Primitive::Cuboid(Cuboid { sides: [0.1; 3] });
    let body = Body::new(cube, 0.1 / n as f64).build()?;
    let floor = diffkern_sim::contact::Collider::plane([0.0, 0.0, -0.05], [0.0, 0.0, 1.0], diffkern_sim::contact::Contact::Penalty { stiffness: 1e6 }).with_friction(0.3);
    for floor in [vec![], vec![floor]] {
        let mut params = Params::<F>::uniform(&device(), 2e4, 3e4, 1e3, [0.0; 3])?;
        let state = body.state::<F>(&device(), [0.0; 3], [0.0; 3])?;
        let model = Model::new(&device(), &body, Law::NeoHookean, 1e-4, &floor)?;
        let solver = model.solver(&params, &state)?;
        let end = solver.advance(&state, 0, 5, Schedule::StoreAll)?;
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let t = Instant::now();
            for _ in 0..20 { std::hint::black_box(solver.step(&end, &(), solver.tick(0))?); }
            best = best.min(t.elapsed().as_secs_f64() / 20.0);
        }
        print!("fem {} n {n} contact {}: {:.3} ms", std::any::type_name::<F>(), !floor.is_empty(), best * 1e3);
        params.mu = params.mu.requires_grad();
        let tape = Tape::record(|| { let s = model.solver(&params, &state).unwrap(); diffkern::rollout(20, Schedule::StoreAll, end.clone(), move |n, k| s.step(n, &(), s.tick(k))).map(|_| ()) })?;
        println!(" {}", tape.report());
    }
    Ok(())
}

fn mpm<F: Float>(n: usize) -> Result<()> {
    use diffkern_sim::scene::BlockSpec;
    let spec = BlockSpec { min: [0.0; 3], max: [0.1; 3], cells: n, mu: [2e4; 2], lambda: [3e4; 2], density: [1e3; 2], duration: 0.01, ..BlockSpec::default() };
    let scene = spec.build::<F>(&device())?;
    let solver = scene.model.solver(&scene.params(&device(), 2e4, 3e4)?, scene.state.len())?;
    let end = solver.advance(&scene.state, 0, 5, Schedule::StoreAll)?;
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let t = Instant::now();
        for _ in 0..20 { std::hint::black_box(solver.step(&end, &(), solver.tick(0))?); }
        best = best.min(t.elapsed().as_secs_f64() / 20.0);
    }
    println!("mpm {} particles {}: {:.3} ms, dt {:.2e}", std::any::type_name::<F>(), scene.state.len(), best * 1e3, solver.dt());
    Ok(())
}

#[test]
fn costs() -> Result<()> {
    fem::<f32>(8)?;
    fem::<f64>(8)?;
    mpm::<f32>(8)?;
    mpm::<f64>(8)
}
