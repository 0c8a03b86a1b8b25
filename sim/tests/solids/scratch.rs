use super::*;
use diffkern_sim::Model as _;
use diffkern_sim::shape::{Cuboid, Primitive, Sphere};

#[test]
fn growth() -> Result<()> {
    let cube = Primitive::Cuboid(Cuboid { sides: [0.1; 3] });
    let body = Body::new(cube, 0.1 / 3.0).build()?;
    let params = Params::<f64>::uniform(&device(), 2e4, 3e4, 1e3, [0.0; 3])?;
    let mut r = crate::common::Random(3);
    for (eps, what) in [(1e-7, "tiny"), (3e-4, "large")] {
        let u: Vec<_> = body.rest().iter().map(|x| [0, 1, 2].map(|a| x[a] + eps * r.between(-1.0, 1.0))).collect();
        let state = VertexState::new(&device(), &u, &vec![[0.0; 3]; u.len()])?;
        let model = Model::new(&device(), &body, Law::NeoHookean, 1.0, &[])?;
        let dt0 = model.max_dt(&params, &state)?;
        for factor in [0.25, 1.0, 1.8, 2.0, 2.2] {
            let solver = model.clone().with_dt(dt0 * factor)?.solver(&params, &state)?;
            let start = solver.energy(&state)?;
            let mut now = state.clone();
            print!("{what} {factor}: {start:?} ");
            for _ in 0..5 {
                match solver.advance(&now, 0, 400, Schedule::StoreAll) {
                    Ok(s) => now = s,
                    Err(e) => { print!("{e}"); break; }
                }
                print!("{:.5} ", solver.energy(&now)?.total() / start.total());
            }
            println!();
        }
    }
    let _ = Sphere { radius: 1.0 };
    Ok(())
}
