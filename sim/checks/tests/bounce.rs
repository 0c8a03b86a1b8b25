//! Bodies of particles that meet colliders and half-spaces.

use diffkern::prelude::*;
use diffkern_sim::collision::Solid;
use diffkern_sim::contact::{Collider, Contact};
use diffkern_sim::mesh::Pose;
use diffkern_sim::mpm::{Dim3, HalfSpace, Transfer};
use diffkern_sim::scene::{self, BodiesSpec, BodyShape, BodySpec};
use diffkern_sim::shape::{Primitive, Sphere};
use diffkern_sim::{Result, Step as _};

const G: f64 = 9.81;
/// Time of a fall, a bounce and a part of the way back \[s\], two frames.
const DURATION: f64 = 0.1;

/// A ball 1.5 cm above z = 0, which it meets at 1.5 m/s.
fn ball(friction: f64, half_spaces: Vec<HalfSpace<Dim3>>, colliders: Vec<Collider>) -> BodiesSpec {
    let sphere = Primitive::Sphere(Sphere { radius: 0.06 });
    let shape = BodyShape::Solid(scene::Solid::new(sphere, Pose::at([0.0, 0.0, 0.075])).expect("a ball"));
    let body = BodySpec { shape, velocity: [0.6, 0.0, -1.4], mu: [8e3; 2], lambda: [12e3; 2], ..BodySpec::default() };
    BodiesSpec {
        bodies: vec![body],
        gravity: [0.0, 0.0, -G],
        half_spaces: half_spaces.into_iter().map(|h| h.with_friction(friction)).collect(),
        colliders: colliders.into_iter().map(|c| c.with_friction(friction)).collect(),
        duration: DURATION,
        frame_rate: 2.0 / DURATION,
        spacing: 0.012,
        cfl: 0.2,
        ..BodiesSpec::default()
    }
}

const PENALTY: Contact = Contact::Penalty { stiffness: 1.2 * 28e3 / 0.012 };

fn floor() -> HalfSpace<Dim3> {
    HalfSpace::through([0.0; 3], [0.0, 0.0, 1.0], PENALTY)
}

fn slab() -> Collider {
    Collider::new(Solid::Cuboid { half_x: 2.0, half_y: 2.0, half_z: 0.5 }, PENALTY).at([0.3, 0.2, -0.5])
}

/// Place and velocity of the centre at the end.
fn end(spec: &BodiesSpec) -> Result<[[f64; 3]; 2]> {
    let device = Device::cpu();
    let scene = spec.build::<f64>(&device)?;
    let solver = scene.model.solver(&scene.params(&device)?, scene.state.len())?;
    let steps = (spec.duration / scene.model.dt()).round() as usize;
    let end = solver.advance(&scene.state, 0, steps, diffkern::Schedule::Auto)?;
    let mean = |of: &Array<Vec3<f64>>| -> Result<[f64; 3]> {
        let (all, volumes) = (of.to_vec()?, scene.volumes.to_vec()?);
        let volume = |k: usize| volumes[k.min(volumes.len() - 1)];
        let total: f64 = (0..all.len()).map(volume).sum();
        let sum = all.iter().enumerate().fold(Vec3::zero(), |sum, (k, x)| sum + *x * volume(k));
        Ok((sum / total).to_array())
    };
    Ok([mean(&end.x)?, mean(&end.v)?])
}

#[test]
fn a_box_throws_back_as_a_half_space_does() -> Result<()> {
    for friction in [0.0, 0.3] {
        let [[x, _, z], [u, _, w]] = end(&ball(friction, vec![floor()], vec![]))?;
        let still = end(&ball(friction, vec![], vec![slab()]))?;
        let plane = end(&ball(friction, vec![], vec![Collider::plane([0.0; 3], [0.0, 0.0, 1.0], PENALTY)]))?;
        for [[x1, _, z1], [u1, _, w1]] in [still, plane] {
            assert!((x1 - x).abs() < 0.01 * x && (z1 - z).abs() < 0.01 * z, "{x1} {x} {z1} {z}");
            assert!((u1 - u).abs() < 0.02 * u && (w1 - w).abs() < 0.02 * w.abs(), "{u1} {u} {w1} {w}");
        }
    }
    Ok(())
}

#[test]
fn who_moves_does_not_matter() -> Result<()> {
    // Weightless: a box comes from below, or the ball comes from above.
    let gravity = [0.0; 3];
    let mut falling = BodiesSpec { gravity, ..ball(0.3, vec![], vec![slab()]) };
    let mut resting =
        BodiesSpec { colliders: vec![slab().moving([-0.6, 0.0, 1.4], [0.0; 3]).with_friction(0.3)], ..falling.clone() };
    resting.bodies[0].velocity = [0.0; 3];
    // As finely in time.
    (falling.reach, resting.reach) = (0.1, 0.1);
    let ([_, v], [_, w]) = (end(&falling)?, end(&resting)?);
    for (a, moving) in [-0.6, 0.0, 1.4].into_iter().enumerate() {
        assert!((w[a] - moving - v[a]).abs() < 0.03, "{w:?} {v:?}");
    }
    Ok(())
}

#[test]
fn colliders_are_checked() {
    let of = |collider: Collider| ball(0.0, vec![], vec![collider]).plan().unwrap_err().to_string();
    let ball = Collider::new(Solid::Sphere { radius: 0.0 }, PENALTY);
    assert_eq!(of(ball.clone()), "radius of collider 0 is 0, expected a positive number");
    let round = Contact::Hertz { stiffness: 1.0, damping: 0.0 };
    let message = of(Collider { contact: round, solid: Solid::Sphere { radius: 1.0 }, ..ball });
    assert!(message.starts_with("contact of collider 0 is Hertz"), "{message}");
}

#[test]
fn bodies_that_would_never_meet_are_refused() {
    let spec = ball(0.0, vec![], vec![]);
    let two = BodiesSpec { bodies: vec![spec.bodies[0].clone(); 2], transfer: Transfer::LAGRANGIAN, ..spec };
    let message = two.plan().unwrap_err().to_string();
    assert!(message.starts_with("transfer of several bodies is Lagrangian for the whole run"), "{message}");
    assert!(BodiesSpec { transfer: Transfer::Lagrangian { steps: Some(8) }, ..two }.plan().is_ok());
}

/// How far above a plane or a box the lowest point of a ball is where its fall is first slowed \[particle spacings\]. Spacings and places
/// in the lattice differ, as a lattice lies about the middle of its body. With its particles' own radii, or all `alike`.
fn touched_at(radius: f64, by_box: bool, alike: bool) -> Result<f64> {
    let (half_spaces, colliders) = if by_box { (vec![], vec![slab()]) } else { (vec![floor()], vec![]) };
    let mut spec = BodiesSpec { transfer: Transfer::LAGRANGIAN, cfl: 0.02, ..ball(0.0, half_spaces, colliders) };
    let sphere = Primitive::Sphere(Sphere { radius });
    let height = radius + 0.004;
    spec.bodies[0].shape = BodyShape::Solid(scene::Solid::new(sphere, Pose::at([0.0, 0.0, height]))?);
    let device = Device::cpu();
    let scene = spec.build::<f64>(&device)?;
    let model = match alike {
        true => scene.model.clone().with_particle_radii(&vec![0.5 * spec.spacing; scene.state.len()])?,
        false => scene.model.clone(),
    };
    let solver = model.solver(&scene.params(&device)?, scene.state.len())?;
    let (dt, mut state) = (scene.model.dt(), solver.begun(&scene.state)?);
    let mass = |x: &[Vec3<f64>], volumes: &[f64]| -> f64 { x.iter().zip(volumes).map(|(x, v)| x.z * v).sum() };
    let volumes = scene.volumes.to_vec()?;
    let total: f64 = volumes.iter().sum();
    for step in 1..100 {
        state = solver.advance(&state, step - 1, 1, diffkern::Schedule::Auto)?;
        let t = step as f64 * dt;
        let free = height - 1.4 * t - 0.5 * G * t * t;
        if mass(&state.x.to_vec()?, &volumes) / total - free > 1e-9 {
            return Ok((free - radius) / spec.spacing);
        }
    }
    panic!("a ball fell through");
}

/// With half a spacing for all of them it is stopped early, by 0.04 to 0.21 spacings. Late it is by what the polyhedron of its surface is inside of the ball, and as no
/// particle is just below the centre.
#[test]
fn a_ball_touches_where_its_surface_is() -> Result<()> {
    for radius in [0.055, 0.0577, 0.06, 0.0623] {
        for by_box in [false, true] {
            let [apart, alike] = [false, true].map(|alike| touched_at(radius, by_box, alike));
            let (apart, alike) = (apart?, alike?);
            assert!((-0.12..0.03).contains(&apart), "{radius} {by_box}: {apart}");
            assert!(alike > 0.03 && alike > apart + 0.1, "{radius} {by_box}: {apart} {alike}");
        }
    }
    Ok(())
}

#[test]
fn radii_of_particles_are_checked() -> Result<()> {
    let device = Device::cpu();
    let spec = BodiesSpec { transfer: Transfer::LAGRANGIAN, ..ball(0.0, vec![floor()], vec![]) };
    let scene = spec.build::<f64>(&device)?;
    let (params, n) = (scene.params(&device)?, scene.state.len());
    let message = |model: diffkern_sim::mpm::Model<Dim3, f64>| model.solver(&params, n).unwrap_err().to_string();
    let few = scene.model.clone().with_particle_radii(&[0.006; 3])?;
    assert_eq!(message(few), format!("number of radii of particles is 3, expected {n}, one a particle"));
    let apic = message(scene.model.clone().with_transfer(Transfer::Apic)?);
    assert!(apic.starts_with(&format!("radii of particles is {n} of them, expected none by APIC")), "{apic}");
    let negative = scene.model.with_particle_radii(&[-0.1]).unwrap_err().to_string();
    assert_eq!(negative, "radius of a particle is -0.1, expected a number of at least 0");
    Ok(())
}

/// A weightless ball that flies on when the time that its grid is made for is over.
#[test]
fn what_lasts_needs_the_grid_at_its_beginning_alone() -> Result<()> {
    let fly = |transfer: Transfer| -> Result<f64> {
        let spec = BodiesSpec { transfer, gravity: [0.0; 3], ..ball(0.0, vec![], vec![]) };
        let (device, steps) = (Device::cpu(), 4);
        let scene = spec.build::<f64>(&device)?;
        let solver = scene.model.solver(&scene.params(&device)?, scene.state.len())?;
        let frame = scene.steps_per_frame;
        let mut state = scene.state.clone();
        for k in 0..steps {
            state = solver.advance(&state, k * frame, frame, diffkern::Schedule::Auto)?;
            solver.check(&state, (k + 1) * frame)?;
        }
        let moved = state.x.to_vec()?[0].z - scene.state.x.to_vec()?[0].z;
        Ok(moved / (-1.4 * (steps * frame) as f64 * scene.model.dt()))
    };
    assert!((fly(Transfer::LAGRANGIAN)? - 1.0).abs() < 1e-9);
    for transfer in [Transfer::Apic, Transfer::Lagrangian { steps: Some(8) }] {
        assert!(fly(transfer).is_err(), "{transfer:?}");
    }
    Ok(())
}

/// A soft bar along x from one end to the other, of which a clamp holds what is below `plane`.
fn held_bar([from, to]: [f64; 2], plane: f64, material_clamps: bool) -> BodiesSpec {
    let shape = BodyShape::Block { min: [from, 0.0, 0.0], max: [to, 0.04, 0.04] };
    BodiesSpec {
        bodies: vec![BodySpec { shape, ..BodySpec::default() }],
        gravity: [0.0, 0.0, -G],
        half_spaces: vec![HalfSpace::clamp(0, plane)],
        duration: 0.05,
        frame_rate: 20.0,
        spacing: 0.01,
        cfl: 0.2,
        transfer: Transfer::LAGRANGIAN,
        material_clamps,
        ..BodiesSpec::default()
    }
}

/// A bar that is held by a plane through nodes bends alike in both precisions, wherever the plane is.
#[test]
fn a_clamp_holds_the_same_nodes_in_both_precisions() -> Result<()> {
    fn end<F: Float>(at: f64, material_clamps: bool) -> Result<Vec<f64>> {
        let spec = held_bar([at, at + 0.12], at + 0.02, material_clamps);
        let device = Device::cpu();
        let scene = spec.build::<F>(&device)?;
        let solver = scene.model.solver(&scene.params(&device)?, scene.state.len())?;
        let end = solver.advance(&scene.state, 0, scene.steps_per_frame, diffkern::Schedule::Auto)?;
        Ok(end.x.to_vec()?.into_iter().map(|x| x.z.to_f64()).collect())
    }
    for k in 0..24 {
        let at = 0.317 + 0.0137 * f64::from(k);
        let material_clamps = k % 2 == 0;
        let (single, double) = (end::<f32>(at, material_clamps)?, end::<f64>(at, material_clamps)?);
        let apart = single.iter().zip(&double).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let fallen = double.iter().fold(0.0f64, |least, z| least.min(*z));
        assert!(apart < 1e-3 * -fallen, "{at}: {apart} of {fallen}");
    }
    Ok(())
}

/// A soft bar swings below its clamp: a clamp as a part of space holds what gets there, one as a part of the body what began in it.
#[test]
fn a_material_clamp_holds_what_began_in_it() -> Result<()> {
    const PLANE: f64 = 0.04;
    // How far what began beyond the plane gets behind it, and how far what began well within the clamp moves.
    let end = |material_clamps: bool| -> Result<[f64; 2]> {
        let spec = BodiesSpec { duration: 0.4, ..held_bar([0.0, 0.22], PLANE, material_clamps) };
        let device = Device::cpu();
        let scene = spec.build::<f64>(&device)?;
        let solver = scene.model.solver(&scene.params(&device)?, scene.state.len())?;
        let end = solver.advance(&scene.state, 0, 7 * scene.steps_per_frame, diffkern::Schedule::Auto)?;
        let (mut behind, mut moved) = (0.0f64, 0.0f64);
        for (before, after) in scene.state.x.to_vec()?.iter().zip(&end.x.to_vec()?) {
            match before.x < PLANE - 0.03 {
                true => moved = moved.max((*after - *before).norm()),
                false if before.x > PLANE => behind = behind.max(PLANE - after.x),
                false => {}
            }
        }
        Ok([behind, moved])
    };
    let ([of_body, moved], [in_space, _]) = (end(true)?, end(false)?);
    assert!(of_body > 2.0 * in_space && of_body > 0.02 && moved < 1e-12, "{of_body} {in_space}, moved by {moved}");
    Ok(())
}
