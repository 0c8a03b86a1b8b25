//! Bodies that touch each other.

use super::*;
use crate::common::Random;
use crate::common::groups::Run;
use diffkern_sim::contact::{Collider, Contact};
use diffkern_sim::fem::lattice::{Assembly, BodyContact, Surfaces};
use diffkern_sim::mesh::Pose;
use diffkern_sim::shape::{Cuboid, Primitive, Shape, Sphere};
use diffkern_sim::{Model as _, Span};

const LAME: [[f64; 2]; 2] = [[5.2e3, 9.4e3], [1.59e4, 2.03e4]];
const DENSITY: [f64; 2] = [1000.0, 1120.0];

/// Two bodies of two materials, weightless.
fn pair(bodies: [Body; 2]) -> Result<(Assembly, Params<f64>)> {
    let both = Assembly::new(bodies.iter().map(Body::build).collect::<Result<Vec<_>>>()?)?;
    let each = |of: [f64; 2]| -> Vec<f64> { (0..2).flat_map(|k| vec![of[k]; both.cells(k).len()]).collect() };
    let plain = Params::uniform(&device(), 1.0, 1.0, 1.0, [0.0; 3])?;
    let params = Params {
        mu: device().array(&each(LAME.map(|l| l[0])))?,
        lambda: device().array(&each(LAME.map(|l| l[1])))?,
        density: device().array(&each(DENSITY))?,
        ..plain
    };
    Ok((both, params))
}

fn placed(shape: impl Into<Shape>, cell: f64, translation: [f64; 3], rotation: [f64; 3]) -> Body {
    Body { pose: Pose { rotation, translation }, ..Body::new(shape, cell) }
}

fn momentum(solver: &Solver<f64>, state: &State<f64>) -> Result<Vec3<f64>> {
    let (v, mass) = (state.v.to_vec()?, solver.lumped_masses().to_vec()?);
    Ok(v.iter().zip(mass).fold(Vec3::zero(), |p, (&v, m)| p + v * m))
}

/// Two cubes of different materials that hit each other off their centres, 20 ms of free flight after they have parted.
#[test]
fn impacts_keep_momentum_and_energy() -> Result<()> {
    for cells in [4, 6] {
        let (h, gap) = (0.1 / cells as f64, 5e-4);
        let cube = || Primitive::Cuboid(Cuboid { sides: [0.1; 3] });
        // The lattice of one is finer than that of the other.
        let (both, params) = pair([
            placed(cube(), h, [-0.05 - gap, 0.0, 0.0], [0.0; 3]),
            placed(cube(), 0.8 * h, [0.05 + gap, 0.013, 0.02], [0.0; 3]),
        ])?;
        let state = both.state(&device(), &[[[0.4, 0.0, 0.0], [0.0; 3]], [[-0.4, 0.0, 0.0], [0.0; 3]]])?;
        let contact = BodyContact::of(&both, &LAME)?;
        let model = Model::of_bodies(&device(), &both, Law::NeoHookean, 1.0, &[])?.with_body_contact(&contact)?;
        let dt = model.max_dt(&params, &state)?;
        let solver = model.with_dt(dt)?.solver(&params, &state)?;
        let (before, most) = (solver.energy(&state)?, 0.1 * DENSITY[1] * 1e-3 * 0.4);
        let mut now = state.clone();
        for k in 0..14 {
            now = solver.advance(&now, 0, (0.005 / dt) as usize, Schedule::Auto)?;
            let [p, q] = [momentum(&solver, &now)?, momentum(&solver, &state)?];
            assert!((p - q).norm() < 1e-12 * most, "{cells} cells, {k}: {p:?} and {q:?}");
            let kept = solver.energy(&now)?.total() / before.total();
            // While they touch a part is in their contact.
            assert!((k < 10 && kept > 0.8 && kept < 1.002) || (kept - 1.0).abs() < 1e-3, "{cells} cells, {k}: {kept}");
            if k == 4 {
                assert!(solver.energy(&now)?.elastic > 0.6 * before.total(), "they are pressed together");
            }
        }
    }
    Ok(())
}

/// Turned bodies that overlap, so that they touch from the first step, with all that surfaces may have.
fn check(bodies: [Body; 2], friction: Option<f64>, leave_out: &[&str]) -> Result<()> {
    let (dev, mut r) = (device(), Random(29));
    let (both, params) = pair(bodies)?;
    let contact = BodyContact::of(&both, &LAME)?;
    let contact = BodyContact { width: vec![2e-3; 2], friction, ..contact };
    let ground =
        Collider::plane([0.0, 0.0, -0.05], [0.1, 0.0, 1.0], Contact::SmoothPenalty { stiffness: 2e5, width: 5e-3 });
    let model = Model::of_bodies(&dev, &both, Law::NeoHookean, 1.0, &[ground.with_friction(0.3)])?;
    let model = model.with_body_contact(&contact)?;
    let surfaces =
        model.surfaces()?.map(|s| Ok::<_, diffkern::Error>(Surfaces { support: dev.array(&[0.7, 1.4])?, ..s }));
    let params = Params {
        damping: dev.array(&[0.3])?,
        gravity: dev.array(&[Vec3::new(0.4, -0.3, -9.81)])?,
        contact: model.obstacles().map(|o| o.contacts(&dev)).transpose()?,
        surfaces: surfaces.transpose()?,
        ..params
    };
    let rest: Vec<_> = both.rest().copied().collect();
    let x: Vec<_> = rest.iter().map(|p| p.map(|x| x + r.between(-2e-4, 2e-4))).collect();
    let towards = |k: usize| if both.nodes(0).contains(&k) { 0.4 } else { -0.5 };
    let v: Vec<_> = (0..x.len())
        .map(|k| [towards(k) + r.between(-0.1, 0.1), 2.0 * towards(k) + r.between(-0.3, 0.1), r.between(-0.4, 0.0)])
        .collect();
    let state = State::new(&dev, &x, &v)?;
    let dt = model.max_dt(&params, &state)?;
    let span = Span::until(0, 0.0, 8.4 * dt, dt)?;
    let before = momentum(&model.clone().with_dt(dt)?.solver(&params, &state)?, &state)?;
    assert!(before.norm() > 0.0);
    Run { model: &model.with_dt(dt)?, params, state, span, loss: &super::gradients::loss }.check(leave_out)
}

#[test]
fn gradients_of_two_blocks_that_rub() -> Result<()> {
    let cube = |sides| Primitive::Cuboid(Cuboid { sides });
    check(
        [
            placed(cube([0.1, 0.1, 0.1]), 0.05, [-0.044, 0.0, 0.0], [0.05, 0.1, 0.02]),
            placed(cube([0.1, 0.12, 0.08]), 0.05, [0.05, 0.02, 0.01], [0.3, -0.1, 0.2]),
        ],
        Some(0.4),
        &["contact.damping"],
    )
}

#[test]
fn gradients_of_a_ball_and_a_block() -> Result<()> {
    check(
        [
            placed(Primitive::Sphere(Sphere { radius: 0.05 }), 0.05, [-0.046, 0.0, 0.0], [0.2, 0.1, 0.4]),
            placed(Primitive::Cuboid(Cuboid { sides: [0.1, 0.12, 0.08] }), 0.05, [0.048, 0.01, 0.01], [0.1, -0.2, 0.1]),
        ],
        None,
        // They hardly touch the ground: rounding hides what its friction changes, which the blocks above show.
        &["contact.damping", "contact.friction"],
    )
}

#[test]
fn what_does_not_fit_the_bodies_is_refused() -> Result<()> {
    let cube = || Primitive::Cuboid(Cuboid { sides: [0.1; 3] });
    let (both, params) =
        pair([placed(cube(), 0.05, [0.0; 3], [0.0; 3]), placed(cube(), 0.05, [0.2, 0.0, 0.0], [0.0; 3])])?;
    let error = BodyContact::of(&both, &LAME[..1]).unwrap_err().to_string();
    assert!(error.contains("2, one a body"), "{error}");
    let contact = BodyContact::of(&both, &LAME)?;
    let model = || Model::<f64>::of_bodies(&device(), &both, Law::NeoHookean, 1e-3, &[]);
    let wrong = [
        (BodyContact { width: vec![1e-3], ..contact.clone() }, "width of surfaces"),
        (BodyContact { stiffness: vec![1e5, -1.0], ..contact.clone() }, "stiffness of a surface"),
        (contact.clone().with_friction(-0.1), "friction between bodies"),
    ];
    for (wrong, name) in wrong {
        let error = model()?.with_body_contact(&wrong).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
    let state = both.state(&device(), &[[[0.0; 3]; 2]; 2])?;
    let touching = model()?.with_body_contact(&contact)?;
    let surfaces = touching.surfaces()?;
    let given = Params { surfaces: surfaces.clone(), ..params.clone() };
    let error = model()?.solver(&given, &state).unwrap_err().to_string();
    assert!(error.contains("no contact between bodies"), "{error}");
    let three = surfaces.map(|s| Ok::<_, diffkern::Error>(Surfaces { support: device().array(&[1.0; 3])?, ..s }));
    let error = touching.solver(&Params { surfaces: three.transpose()?, ..params }, &state).unwrap_err().to_string();
    assert!(error.contains("surface.support"), "{error}");
    assert!(both.state::<f64>(&device(), &[[[0.0; 3]; 2]]).is_err() && Assembly::new(Vec::new()).is_err());
    Ok(())
}
