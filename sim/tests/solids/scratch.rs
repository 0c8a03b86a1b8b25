use super::*;
use diffkern_sim::Model as _;
use diffkern_sim::shape::{Cuboid, Primitive, Sphere};

/// Frequency of free vibration along axis, of a bar n cells: u = cos(pi x/L)
#[test]
fn bar_waves() -> Result<()> {
    for n in [2usize, 4, 8] {
        let l = 1.0;
        let cube = Primitive::Cuboid(Cuboid { sides: [l; 3] });
        let body = Body::new(cube, l / n as f64).build()?;
        // lambda = 0: longitudinal mode u_x = cos(pi (x/L + 1/2)) ... with nu = 0, sqrt(E/rho) pi / L
        let params = Params::uniform(&device(), 0.5, 0.0, 1.0, [0.0; 3])?;
        let eps = 1e-4;
        let state = displaced(&body, |x| [eps * (std::f64::consts::PI * x[0] / l).sin(), 0.0, 0.0], |_| [0.0; 3])?;
        let model = Model::new(&device(), &body, Law::NeoHookean, 1.0, &[])?;
        let dt0 = model.max_dt(&params, &state)?;
        for factor in [1.0, 0.25] {
            let dt = dt0 * factor;
            let model = model.clone().with_dt(dt)?;
            let solver = model.solver(&params, &state)?;
            let x0 = state.x.to_vec()?;
            let (mut now, mut t) = (state.clone(), 0.0);
            let proj = |s: &VertexState<f64>| -> Result<f64> { Ok(s.x.to_vec()?.iter().zip(body.rest()).map(|(x, r)| (x.x - r[0]) * (x0[0].x - body.rest()[0][0]).signum() * -(std::f64::consts::PI * r[0] / l).sin()).sum::<f64>()) };
            let mut last = proj(&now)?;
            let s0 = last.signum();
            // find the first two zero crossings
            let mut zeros = vec![];
            while zeros.len() < 21 {
                now = solver.advance(&now, 0, 1, Schedule::StoreAll)?;
                t += dt;
                let p = proj(&now)?;
                if p.signum() != last.signum() { zeros.push(t - dt * p / (p - last)); }
                last = p;
                if t > 100.0 { break; }
            }
            let _ = s0;
            let half = (zeros[20] - zeros[0]) / 20.0;
            println!("n {n} dt*c/h {:.3}: freq/exact {:.5}", dt * n as f64 / l, (1.0 / (2.0 * half)) / 0.5);
        }
    }
    Ok(())
}

#[test]
fn steps_of_cut_balls() -> Result<()> {
    for k in 0..6 {
        let ball = Primitive::Sphere(Sphere { radius: 0.5 });
        let corner = Some([-0.5 - 0.031 * k as f64, -0.5 - 0.017 * k as f64, -0.5 - 0.023 * k as f64]);
        let body = Body { corner, ..Body::new(ball, 0.2) }.build()?;
        let params = Params::<f64>::uniform(&device(), 0.4, 0.2, 1.0, [0.0; 3])?;
        let state = body.state(&device(), [0.0; 3], [0.0; 3])?;
        let model = Model::new(&device(), &body, Law::NeoHookean, 1.0, &[])?;
        println!("ball {k}: cells {} nodes {} dt c/h {:.3}", body.cells(), body.rest().len(), model.max_dt(&params, &state)? / 0.2);
    }
    Ok(())
}
