//! Several bodies in one model.

use super::*;
use diffkern_sim::Model as _;
use diffkern_sim::contact::Collider;
use diffkern_sim::fem::lattice::{Assembly, Clamp, Relaxation, Skin, floor};
use diffkern_sim::mesh::Pose;
use diffkern_sim::shape::{Cuboid, Primitive, Sphere};

/// A block that stands in a clamp and a turned ball, of other cells and materials, above a floor.
fn apart() -> Result<[Body; 2]> {
    let block = Primitive::Cuboid(Cuboid { sides: [0.12, 0.1, 0.1] });
    let pose = Pose { rotation: [0.4, 0.2, -0.3], translation: [0.4, 0.1, 0.055] };
    Ok([
        Body { pose: Pose::at([0.0, 0.0, 0.06]), clamps: vec![Clamp::below(0, -0.03)], ..Body::new(block, 0.03) },
        Body { pose, ..Body::new(Primitive::Sphere(Sphere { radius: 0.05 }), 0.026) },
    ])
}

const MATERIALS: [[f64; 6]; 2] = [[5e3, 8e3, 900.0, 2.0, 1.5e3, 0.02], [9e3, 4e3, 1200.0, 5.0, 0.0, 0.1]];
const MOTIONS: [[[f64; 3]; 2]; 2] = [[[0.1, 0.2, -0.4], [0.0; 3]], [[-0.2, 0.3, -0.6], [3.0, -2.0, 5.0]]];

/// Each by itself, and both in one model, under friction, viscosity and a clamp.
#[test]
fn bodies_that_do_not_meet_move_as_they_do_alone() -> Result<()> {
    let (dev, gravity, steps) = (device(), [0.3, 0.0, -9.81], 300);
    let bodies = apart()?.map(|b| b.build());
    let both = Assembly::new(bodies.into_iter().collect::<Result<Vec<_>>>()?)?;
    let ground = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], floor(9e3, 8e3, 0.03)).with_friction(0.3);
    let params = |which: &[usize], cells: &dyn Fn(usize) -> usize| -> Result<Params<f64>> {
        let of = |property: usize| {
            let each = which.iter().flat_map(|&k| vec![MATERIALS[k][property]; cells(k)]);
            dev.array(&each.collect::<Vec<_>>())
        };
        let plain = Params::uniform(&dev, 1.0, 1.0, 1.0, gravity)?;
        let relaxation = Some(Relaxation { modulus: of(4)?, time: of(5)? });
        Ok(Params { mu: of(0)?, lambda: of(1)?, density: of(2)?, viscosity: Some(of(3)?), relaxation, ..plain })
    };
    let cells = |k: usize| both.cells(k).len();
    let (together, state) = (params(&[0, 1], &cells)?, both.state(&dev, &MOTIONS)?);
    let model = Model::of_bodies(&dev, &both, Law::NeoHookean, 1.0, std::slice::from_ref(&ground))?;
    let state = model.settled(&state)?;
    let dt = model.max_dt(&together, &state)?;
    let solver = model.with_dt(dt)?.solver(&together, &state)?;
    let end = solver.advance(&state, 0, steps, Schedule::Auto)?;
    solver.check(&end, steps)?;
    let (x, seen) = (end.x.to_vec()?, Skin::of_all(&dev, &both)?.carried(&end.x)?.to_vec()?);
    let (mut energy, mut longest) = (0.0, f64::INFINITY);
    for (k, body) in both.bodies().iter().enumerate() {
        let (own, start) = (params(&[k], &cells)?, body.state(&dev, MOTIONS[k][0], MOTIONS[k][1])?);
        let model = Model::new(&dev, body, Law::NeoHookean, dt, std::slice::from_ref(&ground))?;
        let start = model.settled(&start)?;
        longest = model.max_dt(&own, &start)?.min(longest);
        let solver = model.solver(&own, &start)?;
        let alone = solver.advance(&start, 0, steps, Schedule::Auto)?;
        assert_eq!(alone.x.to_vec()?, x[both.nodes(k)], "body {k}");
        assert_eq!(Skin::new(&dev, body)?.carried(&alone.x)?.to_vec()?, seen[both.vertices(k)], "surface of body {k}");
        let places = [body.mesh().vertices()[3]];
        let (here, there) = (Skin::of_points_on(&dev, &both, k, &places)?, Skin::of_points(&dev, body, &places)?);
        assert_eq!(here.carried(&end.x)?.to_vec()?, there.carried(&alone.x)?.to_vec()?);
        energy += solver.energy(&alone)?.total();
        let lowest = seen[both.vertices(k)].iter().map(|x| x.z).fold(1.0, f64::min);
        assert!(lowest < 0.0, "body {k} has touched the floor: {lowest}");
    }
    assert_eq!(longest, dt);
    assert!((solver.energy(&end)?.total() / energy - 1.0).abs() < 1e-12);
    Ok(())
}
