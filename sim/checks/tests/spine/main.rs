//! Springs and linear tetrahedra on the interface of all solvers: gradients of runs, contacts, controls, coupling, closed forms.

#[path = "../common/mod.rs"]
mod common;
mod implicit;

use common::Random;
use common::groups::{LONG, Run};
use diffkern::prelude::*;
use diffkern_sim::collision::{SdfGrid, Solid};
use diffkern_sim::contact::{Collider, Contact};
use diffkern_sim::material::Law;
use diffkern_sim::mpm::{self, Dim3, Grid};
use diffkern_sim::scene::BlockSpec;
use diffkern_sim::vertices::{Skin, VertexState};
use diffkern_sim::{At, Coupled, Error, Exchange, Model, Observe, Params as _, Result, Span, Step, Tick, fem, springs};
use std::sync::Arc;

/// A model, its parameters and a start.
type Case<M> = (M, <M as Model>::Params, <M as Model>::State);

fn device() -> Device {
    Device::cpu()
}

/// A weighted mean square of the positions: no direction is left out.
fn loss(state: &VertexState<f64>) -> Result<Array<f64>> {
    let mut r = Random(3);
    let weights = device().array(&r.many(state.len(), |r| r.vec3(0.2, 1.0)))?;
    let out = device().zeros(state.len())?;
    weighted_squares(state.len(), &state.x, &weights, &out)?;
    Ok(diffkern::reduce::sum(&out)?)
}

#[diff_kernel]
fn weighted_squares<F: Float>(x: &Array<Vec3<F>>, w: &Array<Vec3<F>>, out: &mut Array<F>) {
    let p = x[ABSOLUTE_POS];
    out[ABSOLUTE_POS] = p.mul_elem(p).dot(w[ABSOLUTE_POS]);
}

/// A sheet of `n` by `n` vertices, `h` apart, at height `z`, with springs along and across its cells.
struct Sheet {
    positions: Vec<[f64; 3]>,
    springs: Vec<[u32; 2]>,
    rest: Vec<f64>,
}

fn sheet(n: usize, h: f64, z: f64) -> Sheet {
    let middle = 0.5 * (n - 1) as f64;
    let at = |i: usize, j: usize| [(i as f64 - middle) * h, (j as f64 - middle) * h, z];
    let index = |i: usize, j: usize| (i * n + j) as u32;
    let positions = (0..n * n).map(|k| at(k / n, k % n)).collect();
    let (mut springs, mut rest) = (Vec::new(), Vec::new());
    for (i, j) in (0..n * n).map(|k| (k / n, k % n)) {
        let across = 2f64.sqrt();
        let ends = [(i + 1, j, 1.0), (i, j + 1, 1.0), (i + 1, j + 1, across)];
        for (a, b, length) in ends.into_iter().filter(|&(a, b, _)| a < n && b < n) {
            springs.push([index(i, j), index(a, b)]);
            rest.push(length * h);
        }
        if i + 1 < n && j + 1 < n {
            springs.push([index(i + 1, j), index(i, j + 1)]);
            rest.push(across * h);
        }
    }
    Sheet { positions, springs, rest }
}

/// A throw of a sheet onto a moving, turning, rough solid: positions and speeds without symmetry.
fn thrown(contact: Contact, solid: Solid) -> Result<Case<springs::Model<f64>>> {
    let (dev, sheet, mut r) = (device(), sheet(5, 0.1, 0.0), Random(9));
    let friction = if contact == Contact::Sticky { 0.0 } else { 0.3 };
    let ball = Collider::new(solid, contact)
        .at([0.03, -0.02, -0.22])
        .turned([0.3, 0.2, 0.5])
        .moving([0.1, 0.05, 0.2], [0.4, -0.3, 0.6])
        .with_friction(friction);
    let n = sheet.positions.len();
    let model = springs::Model::new(&dev, n, &sheet.springs, 1e-3, &[0], &[ball])?;
    let positions: Vec<_> = sheet.positions.iter().map(|p| p.map(|x| x + r.between(-0.01, 0.01))).collect();
    let velocities = r.many(n, |r| [r.between(0.6, 1.0), r.between(-0.6, -0.2), r.between(-1.2, -0.8)]);
    let mut params = springs::Params::uniform(&dev, 80.0, 0.1, 0.02, [0.3, 0.2, -9.81])?;
    params.rest = dev.array(&sheet.rest)?;
    params.stiffness = dev.array(&r.many(sheet.springs.len(), |r| r.between(60.0, 100.0)))?;
    params.spring_damping = dev.array(&[0.02])?;
    params.mass = dev.array(&r.many(n, |r| r.between(0.015, 0.025)))?;
    params.damping = dev.array(&[0.2])?;
    params.contact = model.obstacles().map(|o| o.contacts(&dev)).transpose()?;
    Ok((model, params, VertexState::new(&dev, &positions, &velocities)?))
}

const BALL: Solid = Solid::Sphere { radius: 0.15 };

fn every_gradient(contact: Contact, solid: Solid, leave_out: &[&str]) -> Result<()> {
    let (model, params, state) = thrown(contact, solid)?;
    // A last step of a third of the length.
    let span = Span::until(0, 0.0, 0.06 + 1e-3 / 3.0, 1e-3)?;
    Run { model: &model, params, state, span, loss: &loss }.check(leave_out)
}

#[test]
fn gradients_of_springs_on_a_damped_ball() -> Result<()> {
    every_gradient(Contact::HuntCrossley { stiffness: 200.0, damping: 0.3 }, BALL, &[])
}

#[test]
fn gradients_of_springs_on_a_torus_as_of_hertz() -> Result<()> {
    every_gradient(Contact::Hertz { stiffness: 900.0, damping: 0.3 }, Solid::Torus { radius: 0.15, tube: 0.14 }, &[])
}

#[test]
fn gradients_of_springs_on_a_smooth_penalty() -> Result<()> {
    every_gradient(Contact::SmoothPenalty { stiffness: 200.0, width: 0.02 }, BALL, &["contact.damping"])
}

#[test]
fn gradients_of_springs_on_a_penalty_and_a_barrier() -> Result<()> {
    // A penalty has no damping, and the barrier none either.
    every_gradient(
        Contact::Penalty { stiffness: 200.0 },
        Solid::Capsule { radius: 0.14, half_length: 0.05 },
        &["contact.damping"],
    )?;
    every_gradient(Contact::Barrier { stiffness: 40.0, width: 0.04 }, BALL, &["contact.damping"])
}

#[test]
fn gradients_of_springs_that_stick_and_slip() -> Result<()> {
    let without = ["contact.stiffness", "contact.damping"];
    let cuboid = Solid::Cuboid { half_x: 0.2, half_y: 0.15, half_z: 0.18 };
    every_gradient(Contact::Separating, cuboid.clone(), &without)?;
    every_gradient(Contact::Slip, cuboid.clone(), &without)?;
    every_gradient(Contact::Sticky, cuboid, &["contact.stiffness", "contact.damping", "contact.friction"])
}

/// A box of `n` cells along each side `h`, six tetrahedra a cell.
fn bar(n: [usize; 3], h: f64) -> (Vec<[f64; 3]>, Vec<[u32; 4]>) {
    let [a, b, c] = n.map(|n| n + 1);
    let positions = (0..a * b * c).map(|k| [k / (b * c), k / c % b, k % c].map(|i| i as f64 * h)).collect();
    let corner = |i: [usize; 3]| ((i[0] * b + i[1]) * c + i[2]) as u32;
    let mut tets = Vec::new();
    for cell in (0..n[0] * n[1] * n[2]).map(|k| [k / (n[1] * n[2]), k / n[2] % n[1], k % n[2]]) {
        // A path along the axes in each order, from the lowest to the highest corner (Kuhn).
        for (order, odd) in [
            ([0, 1, 2], false),
            ([1, 2, 0], false),
            ([2, 0, 1], false),
            ([1, 0, 2], true),
            ([0, 2, 1], true),
            ([2, 1, 0], true),
        ] {
            let mut at = cell;
            let mut tet = [corner(at); 4];
            for (k, &axis) in order.iter().enumerate() {
                at[axis] += 1;
                tet[k + 1] = corner(at);
            }
            if odd {
                tet.swap(2, 3);
            }
            tets.push(tet);
        }
    }
    (positions, tets)
}

fn solid(law: Law, method: fem::Method) -> Result<(Case<fem::Model<f64>>, Span)> {
    let (dev, mut r) = (device(), Random(17));
    let (rest, tets) = bar([2, 1, 1], 0.1);
    let floor = [Collider::plane(
        [0.0, 0.0, -0.005],
        [0.1, 0.05, 1.0],
        Contact::HuntCrossley { stiffness: 400.0, damping: 0.2 },
    )
    .with_friction(0.4)];
    let (dt, colliders) = match method {
        fem::Method::Explicit => (1e-3, &floor[..]),
        fem::Method::BackwardEuler | fem::Method::Midpoint => (1e-2, &[][..]),
    };
    let model = fem::Model::new(&dev, &rest, &tets, law, dt, &[1], colliders)?.with_method(method);
    let mut params = fem::Params::uniform(&dev, 2e3, 3e3, 900.0, [0.4, -0.3, -9.81])?;
    params.mu = dev.array(&r.many(tets.len(), |r| r.between(1.5e3, 2.5e3)))?;
    params.damping = dev.array(&[0.3])?;
    params.contact = model.obstacles().map(|o| o.contacts(&dev)).transpose()?;
    let positions: Vec<_> = rest.iter().map(|p| p.map(|x| 1.05 * x + r.between(-0.004, 0.004))).collect();
    let velocities = r.many(rest.len(), |r| [r.between(0.1, 0.5), r.between(-0.4, 0.2), r.between(-0.8, -0.2)]);
    let span = Span::until(0, 0.0, 30.4 * dt, dt)?;
    Ok(((model, params, VertexState::new(&dev, &positions, &velocities)?), span))
}

#[test]
fn gradients_of_explicit_elements() -> Result<()> {
    for law in Law::ALL {
        let ((model, params, state), span) = solid(law, fem::Method::Explicit)?;
        Run { model: &model, params, state, span, loss: &loss }.check(&[])?;
    }
    Ok(())
}

#[test]
fn gradients_of_implicit_elements() -> Result<()> {
    let ways = [fem::Method::BackwardEuler, fem::Method::Midpoint, fem::Method::BackwardEuler];
    for (law, method) in Law::ALL.into_iter().zip(ways) {
        let ((model, params, state), _) = solid(law, method)?;
        let span = Span::until(0, 0.0, 5.4e-2, 1e-2)?;
        Run { model: &model, params, state, span, loss: &loss }.check(&[])?;
    }
    Ok(())
}

/// A soft block thrown onto a moving ball that acts on nodes, and one that acts on particles.
fn block(contact: Contact) -> Result<Case<mpm::Model<Dim3, f64>>> {
    let (dev, mut r) = (device(), Random(31));
    let ball = Collider::new(BALL, contact)
        .at([0.03, -0.02, -0.16])
        .moving([0.1, 0.05, 0.2], [0.4, -0.3, 0.6])
        .with_friction(0.3);
    let grid = Grid::new([-0.4; 3], 0.05, [18, 17, 19])?;
    let model = mpm::Model::new(&dev, grid, 1e-3, Law::NeoHookean, &[])?.with_colliders(&[ball])?;
    let mut params = mpm::Params::uniform(&dev, 800.0, 900.0, 1000.0, 0.025f64.powi(3), [0.3, 0.2, -9.81])?;
    params.viscosity = dev.array(&[0.4])?;
    params.damping = dev.array(&[0.2])?;
    params.contact = model.obstacles().map(|o| o.contacts(&dev)).transpose()?;
    let n = 6;
    let at = |k: usize| [k / (n * n), k / n % n, k % n].map(|i| 0.025 * (i as f64 - 2.5));
    let positions: Vec<_> =
        (0..n * n * n).map(|k| Vec3::from_array(at(k)) + r.vec3(-1e-3, 1e-3) + Vec3::new(0.0, 0.0, 0.09)).collect();
    let velocities = r.many(n * n * n, |r| Vec3::new(0.4, -0.2, -1.0) + r.vec3(-0.1, 0.1));
    Ok((model, params, mpm::State::undeformed(&dev, &positions, &velocities)?))
}

fn particle_loss(state: &mpm::State<Dim3, f64>) -> Result<Array<f64>> {
    loss(&VertexState { x: state.x.clone(), v: state.v.clone() })
}

#[test]
fn gradients_of_particles_on_a_moving_ball() -> Result<()> {
    let span = Span::until(0, 0.0, 0.0404, 1e-3)?;
    let (model, params, state) = block(Contact::Separating)?;
    // Nothing but stress and mass act on a node, and both are in proportion to the volume.
    let without = ["contact.stiffness", "contact.damping", "volume"];
    Run { model: &model, params, state, span, loss: &particle_loss }.check_by(LONG, &without)?;
    let (model, params, state) = block(Contact::HuntCrossley { stiffness: 20.0, damping: 0.4 })?;
    Run { model: &model, params, state, span, loss: &particle_loss }.check_by(LONG, &[])
}

/// The ball holds the block up: nothing is left below its surface but what contact by the grid allows, a cell.
#[test]
fn particles_do_not_enter_a_collider() -> Result<()> {
    let (model, params, state) = block(Contact::Separating)?;
    let depth = |solver: &mpm::Solver<Dim3, f64>| -> Result<f64> {
        let end = solver.advance(&state, 0, 120, Schedule::Auto)?;
        let centre = Vec3::new(0.03 + 0.1 * 0.12, -0.02 + 0.05 * 0.12, -0.16 + 0.2 * 0.12);
        Ok(end.x.to_vec()?.iter().map(|x| 0.15 - (*x - centre).norm()).fold(f64::NEG_INFINITY, f64::max))
    };
    let held = depth(&model.bind(&params, &state)?)?;
    let free = mpm::Model::new(&device(), *model.grid(), 1e-3, Law::NeoHookean, &[])?;
    let through = depth(&free.bind(&mpm::Params { contact: None, ..params }, &state)?)?;
    assert!(held < 0.05 && through > 0.1, "{held} m deep, {through} m without the ball");
    Ok(())
}

/// Whatever carries the surface, it is seen the same way.
#[test]
fn surfaces_follow_their_bodies() -> Result<()> {
    fn seen<S>(body: &impl Observe<S, f64>, state: &S) -> Result<(usize, Vec<Vec3<f64>>)> {
        Ok((body.triangles().len(), body.vertices(state)?.to_vec()?))
    }
    let (_, _, state) = thrown(Contact::Slip, BALL)?;
    let skin = Skin::new(vec![[0, 1, 2], [1, 3, 2]], 25)?;
    assert_eq!(seen(&skin, &state)?, (2, state.x.to_vec()?));
    assert!(Skin::new(vec![[0, 1, 25]], 25).is_err() && Skin::new(Vec::new(), 24)?.vertices(&state).is_err());
    let scene = BlockSpec::default().build::<f64>(&device())?;
    let (triangles, vertices) = seen(&scene.surface, &scene.state)?;
    assert_eq!((triangles, vertices.len()), (scene.surface.triangles.len(), scene.surface.vertex_count()));
    Ok(())
}

/// Frames at times that are no multiple of the step: in free fall the velocity is `g t` to rounding, whatever the solver.
#[test]
fn frames_end_at_their_times() -> Result<()> {
    fn speeds<S: Step>(step: &S, start: &S::State, of: impl Fn(&S::State) -> Array<Vec3<f64>>) -> Result<()>
    where
        S::Control: Default,
    {
        let times = [0.0, 0.0123, 0.02, 0.0204];
        let mut seen = 0;
        step.frames(start, &times, Schedule::Auto, |frame, state| {
            let v = of(state).to_vec()?[0].z;
            assert!((v + 9.81 * times[frame]).abs() < 1e-12, "frame {frame}: {v}");
            seen += 1;
            Ok(())
        })?;
        assert_eq!(seen, times.len());
        assert!(step.frames(start, &[0.0, 0.2, 0.1], Schedule::Auto, |_, _| Ok(())).is_err());
        Ok(())
    }
    let (dev, g) = (device(), [0.0, 0.0, -9.81]);
    let model = springs::Model::<f64>::new(&dev, 2, &[[0, 1]], 1e-3, &[], &[])?;
    let start = VertexState::new(&dev, &[[0.0; 3], [0.1, 0.0, 0.0]], &[[0.0; 3]; 2])?;
    let springs = model.bind(&springs::Params::uniform(&dev, 10.0, 0.1, 1.0, g)?, &start)?;
    speeds(&springs, &start, |s| s.v.clone())?;
    let (rest, tets) = bar([1, 1, 1], 0.1);
    let start = VertexState::new(&dev, &rest, &[[0.0; 3]; 8])?;
    let model = fem::Model::<f64>::new(&dev, &rest, &tets, Law::NeoHookean, 1e-3, &[], &[])?;
    speeds(&model.bind(&fem::Params::uniform(&dev, 1e3, 1e3, 1e3, g)?, &start)?, &start, |s| s.v.clone())?;
    let grid = Grid::new([-0.4; 3], 0.05, [18, 17, 19])?;
    let model = mpm::Model::<Dim3, f64>::new(&dev, grid, 1e-3, Law::NeoHookean, &[])?;
    let start = mpm::State::undeformed(&dev, &[Vec3::new(0.01, 0.02, 0.03)], &[Vec3::zero()])?;
    let params = mpm::Params::uniform(&dev, 1e3, 1e3, 1e3, 1e-5, g)?;
    speeds(&model.bind(&params, &start)?, &start, |s| s.v.clone())
}

/// Both ways of stepping have one limit, at first order.
#[test]
fn implicit_and_explicit_steps_converge_to_each_other() -> Result<()> {
    let end = |method, dt: f64| -> Result<Vec<Vec3<f64>>> {
        let dev = device();
        let (rest, tets) = bar([2, 1, 1], 0.1);
        let model =
            fem::Model::<f64>::new(&dev, &rest, &tets, Law::NeoHookean, dt, &[0, 1, 2, 3], &[])?.with_method(method);
        let params = fem::Params::uniform(&dev, 2e3, 3e3, 900.0, [0.4, -0.3, -9.81])?;
        let state = VertexState::new(&dev, &rest, &vec![[0.0; 3]; rest.len()])?;
        let span = Span::until(0, 0.0, 0.05, dt)?;
        Ok(model.bind(&params, &state)?.advance_with(&state, span, |_, _| Ok(()), Schedule::Auto)?.x.to_vec()?)
    };
    let apart = |dt: f64| -> Result<f64> {
        let (a, b) = (end(fem::Method::Explicit, dt)?, end(fem::Method::BackwardEuler, dt)?);
        Ok(a.iter().zip(&b).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max))
    };
    let (coarse, fine) = (apart(1e-3)?, apart(5e-4)?);
    assert!(coarse > 1e-7 && (coarse / fine).log2() > 0.9, "{coarse:e}, {fine:e}");
    Ok(())
}

/// A bar without lateral contraction under its weight: `mu (s - 1/s) = rho g (L - z)` for the stretch `s` at height `L - z`.
#[test]
fn a_hanging_bar_is_as_long_as_theory_says() -> Result<()> {
    let (dev, density, mu, g) = (device(), 1000.0, 5e4, 9.81);
    let (rest, tets) = bar([1, 1, 8], 0.1);
    let top: Vec<u32> = (0..rest.len() as u32).filter(|&i| rest[i as usize][2] > 0.79).collect();
    let model = fem::Model::<f64>::new(&dev, &rest, &tets, Law::NeoHookean, 1.0, &top, &[])?
        .with_method(fem::Method::BackwardEuler);
    let params = fem::Params::uniform(&dev, mu, 0.0, density, [0.0, 0.0, -g])?;
    let start = VertexState::new(&dev, &rest, &vec![[0.0; 3]; rest.len()])?;
    let end = model.bind(&params, &start)?.advance(&start, 0, 40, Schedule::Auto)?.x.to_vec()?;
    let bottom: Vec<f64> = (0..rest.len()).filter(|&i| rest[i][2] < 0.01).map(|i| end[i].z).collect();
    let longer = -bottom.iter().sum::<f64>() / bottom.len() as f64;
    let stretch = |p: f64| 0.5 * (p + (p * p + 4.0).sqrt());
    let load = |k: usize| density * g / mu * 0.8 * (k as f64 + 0.5) / 1000.0;
    let theory: f64 = (0..1000).map(|k| (stretch(load(k)) - 1.0) * 0.8 / 1000.0).sum();
    assert!((longer / theory - 1.0).abs() < 5e-3, "{longer} instead of {theory}");
    Ok(())
}

/// `s = v^2 / (2 mu g)` on a rough floor, by forces and by projection.
#[test]
fn a_sliding_vertex_comes_to_rest_where_coulomb_says() -> Result<()> {
    let dev = device();
    for contact in [Contact::HuntCrossley { stiffness: 1e4, damping: 1.0 }, Contact::Separating] {
        let floor = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], contact).with_friction(0.5);
        // Two vertices on a spring at rest, already as deep as their weight presses them.
        let model = springs::Model::<f64>::new(&dev, 2, &[[0, 1]], 1e-3, &[], &[floor])?;
        let params = springs::Params::uniform(&dev, 10.0, 0.1, 1.0, [0.0, 0.0, -9.81])?;
        let deep = -9.81 / 1e4;
        let start = VertexState::new(&dev, &[[0.0, 0.0, deep], [0.1, 0.0, deep]], &[[2.0, 0.0, 0.0]; 2])?;
        let end = model.bind(&params, &start)?.advance(&start, 0, 1000, Schedule::Auto)?;
        let (slid, theory) = (end.x.to_vec()?[0].x, 2.0 * 2.0 / (2.0 * 0.5 * 9.81));
        assert!((slid / theory - 1.0).abs() < 0.01, "{contact:?}: {slid} instead of {theory}");
    }
    Ok(())
}

/// A ball of speed `v` on a round floor gets `(5 m v^2 / (4 k))^(2/5)` deep and comes back as fast; with damping `c` it comes back with
/// the speed `u` for which `-c u - ln(1 - c u) = c v - ln(1 + c v)`: the equation of motion integrated over the depth, without `k`.
#[test]
fn a_ball_bounces_as_hertz_says() -> Result<()> {
    let (dev, dt) = (device(), 2e-6);
    for (k, mass, v, c) in [(3e5, 0.8, 2.0, 0.0), (2e4, 0.1, 0.5, 0.0), (3e5, 0.8, 2.0, 0.2), (2e4, 0.1, 0.5, 1.1)] {
        let floor = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], Contact::Hertz { stiffness: k, damping: c });
        let model = springs::Model::<f64>::new(&dev, 2, &[[0, 1]], dt, &[], &[floor])?;
        let params = springs::Params::uniform(&dev, 1.0, 0.1, mass, [0.0; 3])?;
        let solver = model.bind(&params, &VertexState::new(&dev, &[[0.0; 3]; 2], &[[0.0; 3]; 2])?)?;
        let mut state = VertexState::new(&dev, &[[0.0; 3], [0.1, 0.0, 0.0]], &[[0.0, 0.0, -v]; 2])?;
        let (mut deepest, mut steps) = (0.0f64, 0);
        while state.x.to_vec()?[0].z <= 0.0 {
            state = solver.advance(&state, steps, 20, Schedule::Auto)?;
            deepest = deepest.max(-state.x.to_vec()?[0].z);
            steps += 20;
        }
        let (depth, back) = ((5.0 * mass * v * v / (4.0 * k)).powf(0.4), state.v.to_vec()?[0].z);
        if c == 0.0 {
            assert!((deepest / depth - 1.0).abs() < 1e-3, "{deepest} m instead of {depth}");
            assert!((back / v - 1.0).abs() < 1e-3, "{back} m/s instead of {v}");
        } else {
            let left = -c * back - (1.0 - c * back).ln();
            let expected = c * v - (c * v).ln_1p();
            assert!((left / expected - 1.0).abs() < 2e-3, "{left} instead of {expected}");
            assert!(back < 0.9 * v && deepest < depth, "{back} m/s, {deepest} m");
        }
    }
    Ok(())
}

/// Samples of the distance from a ball are as good as the ball, to second order.
#[test]
fn samples_of_a_shape_replace_it() -> Result<()> {
    let end = |solid: Solid| -> Result<Vec<Vec3<f64>>> {
        let (model, params, state) = thrown(Contact::HuntCrossley { stiffness: 200.0, damping: 0.3 }, solid)?;
        Ok(model.bind(&params, &state)?.advance(&state, 0, 80, Schedule::Auto)?.x.to_vec()?)
    };
    let exact = end(BALL)?;
    let error = |n: usize| -> Result<f64> {
        let distance = |x: [f64; 3]| x.iter().map(|x| x * x).sum::<f64>().sqrt() - 0.15;
        let h = 0.5 / (n - 1) as f64;
        let grid = SdfGrid::sampled([-0.25; 3], h, [n; 3], distance)?;
        let sampled = end(Solid::Grid(Arc::new(grid)))?;
        Ok(exact.iter().zip(&sampled).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max))
    };
    let (coarse, fine) = (error(17)?, error(65)?);
    assert!(fine < 2e-3 && coarse / fine > 6.0, "{coarse:e}, {fine:e}");
    Ok(())
}

/// A spring between the last vertex of one body and the first of the other.
#[derive(Clone)]
struct Tether {
    stiffness: f64,
}

#[diff_kernel]
fn pull_together<F: Float>(
    a: &Array<Vec3<F>>,
    b: &Array<Vec3<F>>,
    on_a: &mut Array<Vec3<F>>,
    on_b: &mut Array<Vec3<F>>,
    stiffness: F,
) {
    let last = a.len() - 1;
    let pull = (b[0] - a[last]) * stiffness;
    on_a[last] += pull;
    on_b[0] += -pull;
}

type Springs = springs::Solver<f64>;

impl Exchange<Springs, Springs> for Tether {
    type Params = ();

    fn bind(&self, (): &()) -> Result<Tether> {
        Ok(self.clone())
    }

    fn controls(
        &self,
        a: At<'_, Springs>,
        b: At<'_, Springs>,
        (for_a, for_b): (springs::Control<f64>, springs::Control<f64>),
        _: Tick,
    ) -> diffkern::Result<(springs::Control<f64>, springs::Control<f64>)> {
        let begin = |outer: &springs::Control<f64>, n| -> diffkern::Result<Array<Vec3<f64>>> {
            let force = device().zeros(n)?;
            outer.force.as_ref().map_or(Ok(()), |outer| force.copy_from(outer))?;
            Ok(force)
        };
        let (on_a, on_b) = (begin(&for_a, a.state.len())?, begin(&for_b, b.state.len())?);
        pull_together(1, &a.state.x, &b.state.x, &on_a, &on_b, self.stiffness)?;
        let control = |force, outer| springs::Control { force: Some(force), ..outer };
        Ok((control(on_a, for_a), control(on_b, for_b)))
    }
}

#[test]
fn coupled_bodies_keep_their_momentum_and_have_gradients() -> Result<()> {
    let (dev, mut r) = (device(), Random(23));
    let model = springs::Model::<f64>::new(&dev, 3, &[[0, 1], [1, 2]], 1e-3, &[], &[])?;
    let mut one = |mass: f64| -> Result<_> {
        let params = springs::Params::uniform(&dev, 50.0, 0.12, mass, [0.0; 3])?;
        let positions = r.many(3, |r| [r.between(0.0, 0.3), r.between(0.0, 0.3), r.between(0.0, 0.3)]);
        let velocities = r.many(3, |r| [r.between(-1.0, 1.0), r.between(-1.0, 1.0), r.between(-1.0, 1.0)]);
        Ok((params, VertexState::new(&dev, &positions, &velocities)?))
    };
    let ((a, start_a), (b, start_b)) = (one(1.0)?, one(2.0)?);
    let both = Coupled { a: model.clone(), b: model, exchange: Tether { stiffness: 30.0 } };
    let params = diffkern_sim::Both { a, b, exchange: () };
    let start = (start_a, start_b);
    let momentum = |(a, b): &(VertexState<f64>, VertexState<f64>)| -> Result<Vec3<f64>> {
        let of = |s: &VertexState<f64>| Ok::<_, Error>(s.v.to_vec()?.into_iter().fold(Vec3::zero(), |p, v| p + v));
        Ok(of(a)? + of(b)? * 2.0)
    };
    let end = both.bind(&params, &start)?.advance(&start, 0, 300, Schedule::Auto)?;
    let (before, after) = (momentum(&start)?, momentum(&end)?);
    assert!((before - after).norm() < 1e-12 * before.norm().max(1.0), "{before:?}, {after:?}");
    assert!((start.0.x.to_vec()?[2] - end.0.x.to_vec()?[2]).norm() > 0.01);
    let paths: Vec<_> = params.groups().iter().map(|g| g.path.to_string()).collect();
    assert!(paths.contains(&"a.mass".into()) && paths.contains(&"b.springs.stiffness".into()), "{paths:?}");
    let loss = |(a, b): &(VertexState<f64>, VertexState<f64>)| Ok(diffkern::arith::add(&loss(a)?, &loss(b)?)?);
    Run { model: &both, params, state: start, span: Span::steps(0, 100, 1e-3), loss: &loss }.check(&[])
}

/// DiffTaichi's first example (Hu et al. 2020): rest lengths for which a triangle with a wall has an area, in its 25 iterations.
#[test]
fn three_springs_reach_an_area_in_the_published_iterations() -> Result<()> {
    let dev = device();
    let wall = Collider::plane([0.4, 0.0, 0.0], [-1.0, 0.0, 0.0], Contact::Separating).with_friction(0.01);
    let model = springs::Model::<f64>::new(&dev, 3, &[[0, 1], [1, 2], [2, 0]], 1e-3, &[], &[wall])?;
    let start = VertexState::new(&dev, &[[0.3, 0.5, 0.0], [0.3, 0.4, 0.0], [0.4, 0.4, 0.0]], &[[0.0; 3]; 3])?;
    let mut params = springs::Params::uniform(&dev, 10.0, 0.1, 1.0, [0.0; 3])?;
    params.damping = dev.array(&[20.0])?;
    let mut rest = [0.1, 0.1, 0.1 * 2f64.sqrt()];
    let mut area = f64::NAN;
    for _ in 0..=25 {
        params.rest = dev.array(&rest)?.requires_grad();
        let (tape, (error, now)) = Tape::record_value(|| {
            let end = model.bind(&params, &start)?.advance(&start, 0, 1023, Schedule::Auto)?;
            let (error, area) = (dev.uninit(1)?, dev.uninit(1)?);
            area_error(1, &end.x, &error, &area, 0.2)?;
            Ok::<_, Error>((error, area))
        })?;
        tape.backward(&error)?;
        area = now.to_vec()?[0];
        let slope = params.rest.grad()?.to_vec()?;
        rest.iter_mut().zip(slope).for_each(|(l, s)| *l -= 5.0 * s);
    }
    assert!((area - 0.2).abs() < 1e-4, "{area}");
    Ok(())
}

#[diff_kernel]
fn area_error<F: Float>(x: &Array<Vec3<F>>, error: &mut Array<F>, area: &mut Array<F>, target: F) {
    let (a, b) = (x[0] - x[1], x[0] - x[2]);
    let found = 0.5 * (a.x * b.y - a.y * b.x).abs();
    area[0] = found;
    error[0] = (found - target) * (found - target);
}

/// A control that reads the state: springs that pull the more the lower their body is.
#[test]
fn actuation_by_the_state_has_gradients() -> Result<()> {
    let dev = device();
    let model = springs::Model::<f64>::new(&dev, 3, &[[0, 1], [1, 2]], 1e-3, &[0], &[])?;
    let params = springs::Params::uniform(&dev, 60.0, 0.1, 0.1, [0.0, 0.5, -9.81])?;
    let start = VertexState::new(&dev, &[[0.0; 3], [0.01, 0.0, -0.1], [0.0, 0.02, -0.2]], &[[0.0; 3]; 3])?;
    let value = |gain: &[f64]| -> Result<(Array<f64>, Array<f64>, Tape)> {
        let gain = dev.array(gain)?.requires_grad();
        let (tape, end) = Tape::record_value(|| {
            let (dev, by) = (dev.clone(), gain.clone());
            let control = move |s: &VertexState<f64>, _: Tick| {
                let actuation = dev.uninit(2)?;
                contract(2, &s.x, &by, &actuation)?;
                Ok(springs::Control { actuation: Some(actuation), force: None })
            };
            let solver = model.bind(&params, &start)?;
            loss(&solver.advance_with(&start, Span::steps(0, 200, 1e-3), control, Schedule::Auto)?)
        })?;
        Ok((gain, end, tape))
    };
    let at = [0.8, -0.6];
    let (gain, end, tape) = value(&at)?;
    tape.backward(&end)?;
    let f = |x: &[f64]| Ok(value(x).map_err(diffkern::Error::from)?.1.to_vec()?[0]);
    diffkern::gradcheck::function(f, &gain.grad()?.to_vec()?, &at, &diffkern::gradcheck::Options::default())?;
    Ok(())
}

#[diff_kernel]
fn contract<F: Float>(x: &Array<Vec3<F>>, gain: &Array<F>, actuation: &mut Array<F>) {
    actuation[ABSOLUTE_POS] = gain[ABSOLUTE_POS] * x[ABSOLUTE_POS + 1].z;
}

#[test]
fn mistakes_are_named() -> Result<()> {
    let dev = device();
    let of = |springs: &[[u32; 2]], keep: &[u32], colliders: &[Collider]| {
        springs::Model::<f64>::new(&dev, 2, springs, 1e-3, keep, colliders).unwrap_err().to_string()
    };
    assert_eq!(of(&[[0, 2]], &[], &[]), "end of spring 0 is 2, expected an index below 2");
    assert_eq!(of(&[[0, 1], [1, 1]], &[], &[]), "ends of spring 1 is [1, 1], expected two vertices");
    assert_eq!(of(&[[0, 1]], &[7], &[]), "held vertex is 7, expected an index below 2");
    let ball = Collider::new(Solid::Sphere { radius: -1.0 }, Contact::Slip);
    assert_eq!(of(&[[0, 1]], &[], &[ball]), "radius of collider 0 is -1, expected a positive number");
    let inverted =
        fem::Model::<f64>::new(&dev, &bar([1, 1, 1], 1.0).0, &[[0, 1, 2, 4]], Law::NeoHookean, 1e-3, &[], &[]);
    let message = inverted.unwrap_err().to_string();
    assert!(message.starts_with("volume of tetrahedron 0 is -0.1"), "{message}");
    let unused =
        fem::Model::<f64>::new(&dev, &bar([1, 1, 1], 1.0).0, &[[0, 4, 2, 1]], Law::NeoHookean, 1e-3, &[], &[])?;
    let params = fem::Params {
        contact: thrown(Contact::Slip, BALL)?.1.contact,
        ..fem::Params::uniform(&dev, 1.0, 1.0, 1.0, [0.0; 3])?
    };
    let start = VertexState::new(&dev, &bar([1, 1, 1], 1.0).0, &[[0.0; 3]; 8])?;
    let message = unused.bind(&params, &start).unwrap_err().to_string();
    assert_eq!(message, "contact of the parameters is given, expected none: there are no colliders");
    // A run that blows up names the first step and vertex.
    let model = springs::Model::<f64>::new(&dev, 2, &[[0, 1]], 1.0, &[], &[])?;
    let start = VertexState::new(&dev, &[[0.0; 3], [1.1, 0.0, 0.0]], &[[0.0; 3]; 2])?;
    let params = springs::Params::uniform(&dev, 1e200, 1.0, 1.0, [0.0; 3])?;
    let error = model.bind(&params, &start)?.advance(&start, 0, 5, Schedule::Auto).unwrap_err();
    assert!(matches!(error, Error::NotFinite { what: "vertex", index: 0, step: 2, .. }), "{error}");
    Ok(())
}

#[test]
fn longest_steps_are_stable_and_not_far_from_the_limit() -> Result<()> {
    let (dev, sheet) = (device(), sheet(6, 0.1, 0.0));
    let n = sheet.positions.len();
    let mut params = springs::Params::uniform(&dev, 80.0, 0.1, 0.02, [0.0; 3])?;
    params.rest = dev.array(&sheet.rest)?;
    let mut r = Random(5);
    let state = VertexState::new(&dev, &sheet.positions, &r.many(n, |r| [0, 1, 2].map(|_| r.between(-1e-3, 1e-3))))?;
    let energy = |factor: f64| -> Result<f64> {
        let probe = springs::Model::<f64>::new(&dev, n, &sheet.springs, 1.0, &[], &[])?;
        let dt = factor * probe.max_dt(&params, &state)?;
        let model = springs::Model::<f64>::new(&dev, n, &sheet.springs, dt, &[], &[])?;
        let end = model.bind(&params, &state)?.advance(&state, 0, 2000, Schedule::Auto)?;
        Ok(end.v.to_vec()?.iter().map(|v| v.norm_squared()).fold(0.0, f64::max))
    };
    assert!(energy(1.0)? < 1e-4, "{}", energy(1.0)?);
    assert!(energy(4.0).map_or(true, |e| e > 1.0), "the limit is far away");
    Ok(())
}
