//! Implicit steps: their energy and its derivatives, contact that nothing passes, orders, gradients.

use super::{BALL, Case, bar, device, loss};
use crate::common::Random;
use crate::common::groups::Run;
use diffkern::jvp;
use diffkern::prelude::*;
use diffkern::reduce;
use diffkern_sim::collision::{Pose, SdfGrid, Solid};
use diffkern_sim::contact::implicit::kernels::{Slide, barrier_blocks, barrier_energies, barrier_forces};
use diffkern_sim::contact::{Collider, Contact, ContactModel, barrier_energy, barrier_stiffness};
use diffkern_sim::fem::tets::curvature::{elastic_blocks, elastic_modes, elastic_products};
use diffkern_sim::fem::tets::kernels::{
    elastic_energies, elastic_forces, euler_residual, inertial_energies, rest_shape,
};
use diffkern_sim::fem::{Method, Model, Params};
use diffkern_sim::material::{FixedCorotated, Law, Material, NeoHookean, Principal, StableNeoHookean};
use diffkern_sim::vertices::VertexState;
use diffkern_sim::{Model as _, Result, Span, Step};
use std::sync::Arc;

const MU: f64 = 2e3;
const LAMBDA: f64 = 3e3;
const DENSITY: f64 = 900.0;

/// A bar of some cells of 5 cm, and a model of it.
fn body(
    n: [usize; 3],
    method: Method,
    dt: f64,
    held: &[u32],
    colliders: &[Collider],
) -> Result<(Model<f64>, Vec<[f64; 3]>)> {
    let (rest, tets) = bar(n, 0.05);
    let model = Model::new(&device(), &rest, &tets, Law::NeoHookean, dt, held, colliders)?.with_method(method);
    Ok((model, rest))
}

fn params(model: &Model<f64>, gravity: [f64; 3]) -> Result<Params<f64>> {
    let mut params = Params::uniform(&device(), MU, LAMBDA, DENSITY, gravity)?;
    params.contact = model.obstacles().map(|o| o.contacts(&device())).transpose()?;
    Ok(params)
}

fn state(positions: &[[f64; 3]], velocity: [f64; 3]) -> Result<VertexState<f64>> {
    VertexState::new(&device(), positions, &vec![velocity; positions.len()])
}

fn run(model: &Model<f64>, params: &Params<f64>, from: &VertexState<f64>, end: f64) -> Result<VertexState<f64>> {
    let solver = model.bind(params, from)?;
    let span = Span::until(0, 0.0, end, solver.dt())?;
    solver.advance_with(from, span, |_, _| Ok(()), Schedule::Auto)
}

/// One that carries the vertices of a bar of 10 cm cells within its width for some steps, and does not throw them off in the first.
fn soft(width: f64) -> Contact {
    Contact::Barrier { stiffness: 4.0, width }
}

fn barrier(width: f64) -> Contact {
    Contact::Barrier { stiffness: 300.0, width }
}

/// The vertices at the bottom of a bar.
fn bottom(n: [usize; 3]) -> Vec<u32> {
    let (rest, _) = bar(n, 0.05);
    (0..rest.len() as u32).filter(|&i| rest[i as usize][2] < 0.01).collect()
}

fn mean(vectors: &[Vec3<f64>]) -> Vec3<f64> {
    vectors.iter().fold(Vec3::zero(), |sum, v| sum + *v) / vectors.len() as f64
}

/// A bar that begins within barriers and moves on against them.
fn thrown(colliders: &[Collider]) -> Result<Case<Model<f64>>> {
    let mut r = Random(23);
    let (rest, tets) = bar([2, 1, 1], 0.1);
    let model = Model::new(&device(), &rest, &tets, Law::StableNeoHookean, 4e-3, &[3], colliders)?
        .with_method(Method::BackwardEuler);
    let mut params = params(&model, [0.4, -0.3, -9.81])?;
    params.mu = device().array(&r.many(tets.len(), |r| r.between(1.5e3, 2.5e3)))?;
    params.damping = device().array(&[2.0])?;
    let positions: Vec<_> = rest.iter().map(|p| p.map(|x| 1.05 * x + r.between(-0.004, 0.004))).collect();
    let velocities = r.many(rest.len(), |r| [r.between(0.1, 0.5), r.between(-0.4, 0.2), r.between(-0.8, -0.2)]);
    Ok((model, params, VertexState::new(&device(), &positions, &velocities)?))
}

/// By every group of parameters and both arrays of the state; a barrier has no damping.
fn every_gradient(colliders: &[Collider]) -> Result<()> {
    let (model, params, state) = thrown(colliders)?;
    // A last step of a third of the length.
    let span = Span::until(0, 0.0, 0.012 + 4e-3 / 3.0, 4e-3)?;
    Run { model: &model, params, state, span, loss: &loss }.check(&["contact.damping"])
}

#[test]
fn gradients_on_a_rough_slope() -> Result<()> {
    every_gradient(&[Collider::plane([0.0, 0.0, -0.012], [0.1, 0.05, 1.0], soft(0.03)).with_friction(0.4)])
}

#[test]
fn gradients_on_a_turning_ball() -> Result<()> {
    let ball = Collider::new(BALL, soft(0.03)).at([0.12, 0.06, -0.165]);
    every_gradient(&[ball.turned([0.3, 0.2, 0.5]).moving([0.1, 0.05, 0.2], [0.4, -0.3, 0.6]).with_friction(0.3)])
}

#[test]
fn gradients_on_a_sampled_slope() -> Result<()> {
    // Not symmetric: its normals are not quite the derivatives of its distances.
    let hill = SdfGrid::sampled([-0.3, -0.3, -0.2], 0.1, [9, 9, 4], |[x, y, z]| z - 0.2 * x * x + 0.1 * x * y)?;
    let collider = Collider::new(Solid::Grid(Arc::new(hill)), soft(0.04)).at([0.1, 0.05, -0.02]);
    every_gradient(&[collider.moving([0.0, 0.0, 0.3], [0.0; 3]).with_friction(0.3)])
}

/// Between two stiff plates, against which it slides; a vertex that keeps its velocity is below the surface of one. What sticks is not tested by
/// differences: they would have to be small beside the 4 um within which friction turns round.
#[test]
fn gradients_between_two_plates() -> Result<()> {
    let contact = Contact::Barrier { stiffness: 150.0, width: 0.02 };
    let below = Collider::plane([0.0, 0.0, -0.012], [0.02, 0.05, 1.0], contact).moving([-0.1, 0.2, 0.0], [0.0; 3]);
    let above = Collider::plane([0.0, 0.0, 0.122], [0.03, 0.0, -1.0], contact).moving([-0.1, 0.2, 0.02], [0.0; 3]);
    let (model, params, state) = thrown(&[below.with_friction(0.4), above.with_friction(0.3)])?;
    let mut x: Vec<_> = state.x.to_vec()?.into_iter().map(Vec3::to_array).collect();
    x[3][2] = 0.15;
    let v: Vec<_> = x.iter().map(|x| [0.5 + 0.1 * x[1], -0.3, 0.2 * x[0]]).collect();
    let state = VertexState::new(&device(), &x, &v)?;
    Run { model: &model, params, state, span: Span::steps(0, 3, 4e-3), loss: &loss }.check(&["contact.damping"])
}

/// Of a stiff body and a long step, a matrix of high condition.
#[test]
fn gradients_of_a_stiff_body() -> Result<()> {
    let (rest, tets) = bar([3, 3, 3], 0.05);
    let model = Model::new(&device(), &rest, &tets, Law::NeoHookean, 0.1, &[], &[])?.with_method(Method::BackwardEuler);
    let mut r = Random(29);
    let positions: Vec<_> = rest.iter().map(|p| p.map(|x| 1.02 * x + r.between(-5e-4, 5e-4))).collect();
    let params = Params::uniform(&device(), 4e5, 6e5, DENSITY, [0.4, -0.3, -9.81])?;
    let (mu, from) = (device().array(&[4e5])?.requires_grad(), state(&positions, [0.3, 0.2, 0.1])?);
    let (tape, loss) =
        Tape::record_value(|| loss(&run(&model, &Params { mu: mu.clone(), ..params.clone() }, &from, 0.2)?))?;
    tape.backward(&loss)?;
    let at = |mu: f64| -> Result<f64> {
        let params = Params { mu: device().array(&[mu])?, ..params.clone() };
        Ok(super::loss(&run(&model, &params, &from, 0.2)?)?.to_vec()?[0])
    };
    let (found, numeric) = (mu.grad()?.to_vec()?[0], (at(4.04e5)? - at(3.96e5)?) / 8e3);
    assert!((found / numeric - 1.0).abs() < 1e-4, "{found} {numeric}");
    Ok(())
}

/// Places of vertices at rest and now, elements, and displacements.
struct Deformed {
    rest: Array<Vec3<f64>>,
    x: Array<Vec3<f64>>,
    tets: Array<u32>,
    d: Array<Vec3<f64>>,
}

/// A bar that is stretched across, and along to `squeeze` of its length.
fn deformed(squeeze: f64) -> Result<Deformed> {
    let mut r = Random(7);
    let (rest, tets) = bar([2, 1, 1], 0.1);
    let at = |p: &[f64; 3], r: &mut Random| Vec3::new(p[0] * squeeze, p[1] * 1.1, p[2] * 1.05) + r.vec3(-0.002, 0.002);
    let x: Vec<_> = rest.iter().map(|p| at(p, &mut r)).collect();
    let rest: Vec<_> = rest.iter().map(|p| Vec3::from_array(*p)).collect();
    let d = device().array(&r.many(x.len(), |r| r.vec3(-1.0, 1.0)))?;
    let (rest, x, tets) = (device().array(&rest)?, device().array(&x)?, device().array(tets.as_flattened())?);
    Ok(Deformed { rest, x, tets, d })
}

/// The second derivative of the elastic energy by columns of three components of each vertex: the true one and the positive one; and the blocks of the latter.
struct Matrices {
    exact: Vec<Vec<f64>>,
    positive: Vec<Vec<f64>>,
    blocks: Vec<Mat3<f64>>,
}

fn matrices<M: Material + Principal>(squeeze: f64) -> Result<Matrices> {
    let (dev, Deformed { rest, x, tets, .. }) = (device(), deformed(squeeze)?);
    let (n, e) = (x.len(), tets.len() / 4);
    let (inverse, q) = (dev.uninit(e)?, dev.uninit(e)?);
    let [mu, lambda, density] = [MU, LAMBDA, DENSITY].map(|x| dev.array(&[x]));
    rest_shape(e, &rest, &tets, &mu?, &lambda?, &density?, &inverse, &q)?;
    let (modes, blocks) = (dev.uninit(e)?, dev.zeros(n)?);
    elastic_modes::<f64, M>(e, &x, &tets, &inverse, &q, &modes)?;
    elastic_blocks(e, &tets, &inverse, &modes, &blocks)?;
    let (mut exact, mut positive) = (Vec::new(), Vec::new());
    for column in 0..3 * n {
        let one = |i: usize| Vec3::from_array([0, 1, 2].map(|a| f64::from(3 * i + a == column)));
        let d = dev.array(&(0..n).map(one).collect::<Vec<_>>())?;
        let (force, tangents) = jvp(&[&[(x.as_any(), d.as_any())]], || {
            let force = dev.zeros(n)?;
            elastic_forces::<f64, M>(e, &x, &tets, &inverse, &q, &force)?;
            Ok::<_, Error>(force)
        })?;
        exact.push(tangents.get(0, &force)?.to_vec()?.into_iter().flat_map(|f| (-f).to_array()).collect());
        let product = dev.zeros(n)?;
        elastic_products(e, &d, &tets, &inverse, &modes, &product)?;
        positive.push(product.to_vec()?.into_iter().flat_map(Vec3::to_array).collect());
    }
    Ok(Matrices { exact, positive, blocks: blocks.to_vec()? })
}

/// Whether a symmetric matrix with a little more on its diagonal has a factor of Cholesky: no eigenvalue is below minus that.
fn is_positive(matrix: &[Vec<f64>], little: f64) -> bool {
    let mut rest = matrix.to_vec();
    for k in 0..rest.len() {
        let pivot = rest[k][k] + little;
        if pivot <= 0.0 {
            return false;
        }
        let row = rest[k].clone();
        for other in rest.iter_mut().skip(k + 1) {
            let share = other[k] / pivot;
            other.iter_mut().zip(&row).skip(k + 1).for_each(|(a, b)| *a -= share * b);
        }
    }
    true
}

fn apart(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let norm = |pairs: &mut dyn Iterator<Item = f64>| pairs.map(|x| x * x).sum::<f64>().sqrt();
    let pairs = || a.iter().flatten().zip(b.iter().flatten());
    norm(&mut pairs().map(|(a, b)| a - b)) / norm(&mut pairs().map(|(_, b)| *b))
}

fn off(a: &[Vec3<f64>], b: &[Vec3<f64>]) -> f64 {
    let size = b.iter().map(|b| b.norm_squared()).sum::<f64>().sqrt();
    a.iter().zip(b).map(|(a, b)| (*a - *b).norm_squared()).sum::<f64>().sqrt() / size
}

/// Where the energy is convex the positive matrix is its second derivative; where it is not, it is another one and stays positive.
#[test]
fn directions_have_the_second_derivative_made_positive() -> Result<()> {
    fn of<M: Material + Principal>() -> Result<()> {
        // Stretched along all axes neither stretches nor pairs of axes lose energy.
        for (squeeze, convex) in [(1.2, true), (0.8, false), (0.5, false), (0.2, false)] {
            let Matrices { exact, positive, blocks } = matrices::<M>(squeeze)?;
            let apart = apart(&positive, &exact);
            assert!(if convex { apart < 1e-6 } else { apart > 0.01 }, "{squeeze}: {apart}");
            let little = 1e-6 * MU;
            assert!(is_positive(&positive, little) && is_positive(&exact, little) == convex, "{squeeze}");
            for (i, block) in blocks.iter().enumerate() {
                for (a, b) in (0..9).map(|k| (k / 3, k % 3)) {
                    let entry = positive[3 * i + b][3 * i + a];
                    assert!((block.col(b).to_array()[a] - entry).abs() < 1e-9 * MU, "{squeeze}: {block:?} {entry}");
                }
            }
        }
        Ok(())
    }
    of::<NeoHookean>()?;
    of::<StableNeoHookean>()?;
    of::<FixedCorotated>()
}

/// Principal stresses and their derivatives are those of the energy, of inverted states too where that has one.
#[test]
fn principal_derivatives_are_those_of_the_energy() {
    fn of<M: Material + Principal>(stretches: &[[f64; 3]]) {
        for &s in stretches {
            let s = Vec3::from_array(s);
            let (t, a) = (M::stresses(s, MU, LAMBDA), M::stiffness(s, MU, LAMBDA));
            let energy = |s: Vec3<f64>| M::energy_3d(Mat3::from_diagonal(s), MU, LAMBDA);
            for k in 0..3 {
                let step = Vec3::from_array([0, 1, 2].map(|i| if i == k { 1e-5 } else { 0.0 }));
                let slope = (energy(s + step) - energy(s - step)) / 2e-5;
                assert!((slope - t.to_array()[k]).abs() < 1e-4 * MU, "{s:?} {k}: {slope} {t:?}");
                let change = (M::stresses(s + step, MU, LAMBDA) - M::stresses(s - step, MU, LAMBDA)) / 2e-5;
                assert!((change - a.col(k)).norm() < 1e-4 * MU, "{s:?} {k}: {change:?} {a:?}");
            }
        }
    }
    let upright = [[1.3, 1.1, 0.8], [1.0, 1.0, 1.0], [1.4, 0.6, 0.5]];
    of::<NeoHookean>(&upright);
    of::<StableNeoHookean>(&[upright[0], upright[1], [1.3, 0.9, -0.4]]);
    of::<FixedCorotated>(&upright);
}

/// Forces of barriers and their friction are minus the derivative of their energies by the position, blocks the derivative of the forces on
/// planes, from the first to the second kind of friction.
#[test]
fn barriers_have_an_energy() -> Result<()> {
    let (dev, mut r) = (device(), Random(41));
    let n = 12;
    let normal = Vec3::new(0.36, 0.48, 0.8);
    let gap = |w: f64| Vec4::new(normal.x, normal.y, normal.z, w);
    let heights = r.many(n, |r| r.between(0.1, 1.2));
    let y: Vec<_> = heights.iter().map(|h| normal * *h).collect();
    let carried: Vec<_> =
        y.iter().enumerate().map(|(i, y)| *y + r.vec3(-0.5, 0.5) * if i % 2 == 0 { 1.0 } else { 0.02 }).collect();
    let gaps = dev.array(&heights.iter().map(|h| gap(*h)).collect::<Vec<_>>())?;
    let before = dev.array(&r.many(n, |r| gap(r.between(0.2, 0.8))))?;
    let laws = dev.array(&[Vec4::new(50.0, 0.0, 1.0, 0.4)])?;
    let held = dev.array(&(0..n as u32).map(|i| u32::from(i == 5)).collect::<Vec<_>>())?;
    let (y, carried) = (dev.array(&y)?.requires_grad(), dev.array(&carried)?);
    let slide = Slide { collider: 0, slip: 0.1 };
    // Gaps to the plane through the origin follow the vertices.
    let gaps_at = |y: &Array<Vec3<f64>>| -> diffkern::Result<Array<Vec4<f64>>> {
        let out = dev.zeros(n)?;
        plane_gaps(n, y, &gaps, &out)?;
        Ok(out)
    };
    let forces = |y: &Array<Vec3<f64>>| -> diffkern::Result<Array<Vec3<f64>>> {
        let force = dev.zeros(n)?;
        barrier_forces(n, y, &carried, &gaps_at(y)?, &before, &laws, &held, &force, slide)?;
        Ok(force)
    };
    let (tape, total) = Tape::record_value(|| {
        let energy = dev.zeros(n)?;
        barrier_energies(n, &y, &carried, &gaps_at(&y)?, &before, &laws, &held, &energy, slide)?;
        reduce::sum(&energy)
    })?;
    tape.backward(&total)?;
    let (force, slope) = (forces(&y)?.to_vec()?, y.grad()?.to_vec()?);
    for (i, (f, s)) in force.iter().zip(&slope).enumerate() {
        assert!((*f + *s).norm() <= 1e-10 * (1.0 + s.norm()) && (f.norm() > 0.0) == (i != 5), "{i}: {f:?} {s:?}");
    }
    let blocks = dev.zeros(n)?;
    let y = y.detached()?;
    barrier_blocks(n, &y, &carried, &gaps, &before, &laws, &held, &blocks, slide)?;
    let d = dev.array(&r.many(n, |r| r.vec3(-1.0, 1.0)))?;
    let (force, tangents) = jvp(&[&[(y.as_any(), d.as_any())]], || forces(&y))?;
    let changes = tangents.get(0, &force)?.to_vec()?;
    for (i, ((block, d), change)) in blocks.to_vec()?.into_iter().zip(d.to_vec()?).zip(changes).enumerate() {
        assert!((block * d + change).norm() <= 1e-9 * (1.0 + change.norm()), "{i}: {block:?} {change:?}");
    }
    Ok(())
}

/// `gap_i = (n, n . y)` with the normals `n` of other gaps.
#[diff_kernel]
fn plane_gaps<F: Float>(y: &Array<Vec3<F>>, like: &Array<Vec4<F>>, gap: &mut Array<Vec4<F>>) {
    let at = like[ABSOLUTE_POS];
    let distance = y[ABSOLUTE_POS].dot(Vec3::new(at.x, at.y, at.z));
    gap[ABSOLUTE_POS] = Vec4::new(at.x, at.y, at.z, distance);
}

/// Twice smooth where it begins.
#[test]
fn a_barrier_begins_with_no_energy_force_and_stiffness() {
    let q = Vec4::new(50.0, 0.0, 0.2, 0.0);
    for (gap, size) in [(0.2 - 1e-6, 1.0), (0.2, 0.0), (0.3, 0.0)] {
        let force = diffkern_sim::contact::Barrier::force(gap, 0.0, q);
        let (energy, stiffness) = (barrier_energy(gap, q), barrier_stiffness(gap, q));
        assert!((0.0..=1e-12 * size).contains(&energy) && (0.0..=1e-6 * size).contains(&force), "{energy} {force}");
        assert!((0.0..=1e-1 * size).contains(&stiffness), "{stiffness}");
    }
}

/// The energies together are that of which the residual is the derivative.
#[test]
fn the_residual_is_the_derivative_of_the_energy() -> Result<()> {
    let (dev, Deformed { rest, x: y, tets, .. }) = (device(), deformed(0.9)?);
    let (n, e, h) = (y.len(), tets.len() / 4, 0.02);
    let (inverse, q) = (dev.uninit(e)?, dev.uninit(e)?);
    let [mu, lambda, density] = [MU, LAMBDA, DENSITY].map(|x| dev.array(&[x]));
    rest_shape(e, &rest, &tets, &mu?, &lambda?, &density?, &inverse, &q)?;
    let (mass, held) = (dev.array(&Random(2).many(n, |r| r.between(0.5, 1.0)))?, dev.zeros(n)?);
    let (gravity, damping) = (dev.array(&[Vec3::new(0.4, -0.3, -9.0)])?, dev.array(&[0.7])?);
    let v = dev.array(&Random(3).many(n, |r| r.vec3(-1.0, 1.0)))?;
    let y = y.requires_grad();
    let (tape, total) = Tape::record_value(|| {
        let (inertial, elastic) = (dev.zeros(n)?, dev.uninit(e)?);
        inertial_energies(n, &y, &rest, &v, &mass, &held, &gravity, &damping, &inertial, h)?;
        elastic_energies::<f64, NeoHookean>(e, &y, &tets, &inverse, &q, &elastic)?;
        diffkern::arith::scaled_sum(&[(1.0, &reduce::sum(&inertial)?), (h * h, &reduce::sum(&elastic)?)])
    })?;
    tape.backward(&total)?;
    let (force, residual) = (dev.zeros(n)?, dev.uninit(n)?);
    elastic_forces::<f64, NeoHookean>(e, &y, &tets, &inverse, &q, &force)?;
    euler_residual(n, &y, &rest, &v, &force, &mass, &held, &gravity, &damping, &residual, h)?;
    let size = off(&residual.to_vec()?, &y.grad()?.to_vec()?);
    assert!(size < 1e-12, "{size}");
    Ok(())
}

/// A step whose matrix is another than the positive one that found it: the gradient is of the true one.
#[test]
fn gradients_where_the_search_had_another_matrix() -> Result<()> {
    let Matrices { exact, positive, .. } = matrices::<NeoHookean>(0.8)?;
    assert!(apart(&positive, &exact) > 0.01, "{}", apart(&positive, &exact));
    let (rest, tets) = bar([2, 1, 1], 0.1);
    let ends: Vec<u32> = (0..rest.len() as u32).filter(|&i| (rest[i as usize][0] - 0.1).abs() > 0.05).collect();
    let model =
        Model::new(&device(), &rest, &tets, Law::NeoHookean, 2e-2, &ends, &[])?.with_method(Method::BackwardEuler);
    let Deformed { x, d, .. } = deformed(0.8)?;
    let positions: Vec<_> = x.to_vec()?.into_iter().map(Vec3::to_array).collect();
    let velocities: Vec<_> = d.to_vec()?.into_iter().map(|d| (d * 0.05).to_array()).collect();
    let state = VertexState::new(&device(), &positions, &velocities)?;
    let params = params(&model, [0.4, -0.3, -9.81])?;
    Run { model: &model, params, state, span: Span::steps(0, 2, 2e-2), loss: &loss }.check(&[])
}

/// From far beyond where Newton's method alone gets: a body at a fifth of its length, in one step of a second.
#[test]
fn a_crushed_body_unfolds_in_one_long_step() -> Result<()> {
    let (model, rest) = body([1, 1, 3], Method::BackwardEuler, 1.0, &bottom([1, 1, 3]), &[])?;
    let params = params(&model, [0.0; 3])?;
    let mut r = Random(5);
    let crushed = rest.iter().map(|p| match p[2] < 0.01 {
        true => *p,
        false => [p[0], p[1], 0.2 * p[2]].map(|x| x + r.between(-5e-4, 5e-4)),
    });
    let crushed: Vec<_> = crushed.collect();
    let end = run(&model, &params, &state(&crushed, [0.0; 3])?, 40.0)?.x.to_vec()?;
    for (x, p) in end.iter().zip(&rest) {
        assert!((*x - Vec3::from_array(*p)).norm() < 1e-4, "{x:?} {p:?}");
    }
    Ok(())
}

/// What would fly through a plate between two steps stops before it.
#[test]
fn nothing_passes_a_thin_plate() -> Result<()> {
    let plate = Collider::new(Solid::Cuboid { half_x: 1.0, half_y: 1.0, half_z: 0.005 }, barrier(0.002))
        .turned([0.1, 0.0, 0.0]);
    let (model, rest) = body([1, 1, 1], Method::BackwardEuler, 0.02, &[], std::slice::from_ref(&plate))?;
    let high: Vec<_> = rest.iter().map(|p| [p[0], p[1], p[2] + 0.25]).collect();
    // 40 cm a step, of 25 cm to the plate.
    let mut now = state(&high, [0.5, 0.3, -20.0])?;
    let params = params(&model, [0.0, 0.0, -9.81])?;
    for _ in 0..10 {
        now = run(&model, &params, &now, 0.02)?;
        let gaps = now.x.to_vec()?.into_iter().map(|x| (plate.gap(x.to_array(), 0.0), x.z));
        assert!(gaps.clone().all(|(gap, z)| gap > 0.0 && z > -0.1), "{:?}", gaps.collect::<Vec<_>>());
    }
    Ok(())
}

/// A plate of 1 cm that moves 5 cm in a step takes along what it meets, also where vertices that keep their velocity are below its surface.
#[test]
fn a_thin_plate_takes_along_what_it_meets() -> Result<()> {
    let plate = Collider::new(Solid::Cuboid { half_x: 1.0, half_y: 1.0, half_z: 0.005 }, barrier(0.002))
        .at([0.0, 0.0, -0.03])
        .moving([0.0, 0.0, 5.0], [0.0; 3]);
    let (rest, tets) = bar([1, 1, 1], 0.05);
    let alone = rest.len() as u32;
    // Four vertices far off, inside of the plate and moving with it.
    let (mut all, mut elements) = (rest.clone(), tets);
    all.extend([[0.5, 0.5, -0.03], [0.51, 0.5, -0.03], [0.5, 0.51, -0.03], [0.5, 0.5, -0.026]]);
    elements.push([alone, alone + 1, alone + 2, alone + 3]);
    let held: Vec<u32> = (alone..alone + 4).collect();
    let model = Model::new(&device(), &all, &elements, Law::NeoHookean, 0.01, &held, std::slice::from_ref(&plate))?
        .with_method(Method::BackwardEuler);
    let velocities: Vec<_> = (0..all.len()).map(|i| [0.0, 0.0, if i < rest.len() { 0.0 } else { 5.0 }]).collect();
    let mut now = VertexState::new(&device(), &all, &velocities)?;
    for _ in 0..3 {
        now = run(&model, &params(&model, [0.0; 3])?, &now, 0.01)?;
        let moved = Collider { pose: Pose { centre: plate.pose.centre, ..plate.pose }, ..plate.clone() };
        let gaps = now.x.to_vec()?.into_iter().take(rest.len()).map(|x| (moved.gap(x.to_array(), 0.01), x.z));
        assert!(gaps.clone().all(|(gap, z)| gap > 0.0 && z > 0.02), "{:?}", gaps.collect::<Vec<_>>());
        // Every run begins with the plate where it was at time 0.
        let back = |x: Vec3<f64>| (x - Vec3::new(0.0, 0.0, 0.05)).to_array();
        let x: Vec<_> = now.x.to_vec()?.into_iter().map(back).collect();
        let v: Vec<_> = now.v.to_vec()?.into_iter().map(Vec3::to_array).collect();
        now = VertexState::new(&device(), &x, &v)?;
    }
    Ok(())
}

/// What slides a metre in a step at a gap of a tenth of a millimetre is not held up by the bound of its way.
#[test]
fn fast_sliding_is_not_bounded() -> Result<()> {
    let floor = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], Contact::Barrier { stiffness: 1e4, width: 2e-4 });
    let (model, rest) = body([1, 1, 1], Method::BackwardEuler, 0.05, &[], &[floor])?;
    let above: Vec<_> = rest.iter().map(|p| [p[0], p[1], p[2] + 1e-4]).collect();
    let end = run(&model, &params(&model, [0.0, 0.0, -9.81])?, &state(&above, [20.0, 0.0, 0.0])?, 0.5)?;
    let (x, v) = (mean(&end.x.to_vec()?), mean(&end.v.to_vec()?));
    // The mean of vertices, not of masses: it moves with what vibrates.
    assert!((x.x - 10.025).abs() < 1e-3 && (v.x - 20.0).abs() < 1e-3, "{x:?} {v:?}");
    Ok(())
}

/// A floor that rises by five times the width of its barrier a step takes along what lies on it.
#[test]
fn a_rising_floor_lifts_a_block() -> Result<()> {
    let floor =
        Collider::plane([0.0; 3], [0.0, 0.0, 1.0], barrier(0.002)).moving([0.2, 0.0, 1.0], [0.0; 3]).with_friction(0.8);
    let (model, rest) = body([1, 1, 1], Method::BackwardEuler, 0.01, &[], std::slice::from_ref(&floor))?;
    let above: Vec<_> = rest.iter().map(|p| [p[0], p[1], p[2] + 0.001]).collect();
    let end = run(&model, &params(&model, [0.0, 0.0, -9.81])?, &state(&above, [0.2, 0.0, 1.0])?, 0.5)?;
    let (v, lowest) = (mean(&end.v.to_vec()?), end.x.to_vec()?.iter().map(|x| x.z).fold(f64::INFINITY, f64::min));
    assert!((v - Vec3::new(0.2, 0.0, 1.0)).norm() < 0.02, "{v:?}");
    assert!((0.5..0.502).contains(&lowest), "{lowest}");
    Ok(())
}

/// At rest on a floor the barriers carry the weight, exactly where the end is one of equilibrium.
#[test]
fn a_floor_carries_the_weight() -> Result<()> {
    let floor = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], barrier(0.005));
    let (model, rest) = body([2, 2, 1], Method::BackwardEuler, 0.05, &[], &[floor])?;
    let above: Vec<_> = rest.iter().map(|p| [p[0], p[1], p[2] + 0.004]).collect();
    let end = run(&model, &params(&model, [0.0, 0.0, -9.81])?, &state(&above, [0.0; 3])?, 20.0)?;
    let law = Vec4::new(300.0, 0.0, 0.005, 0.0);
    let push: f64 = end.x.to_vec()?.iter().map(|x| diffkern_sim::contact::Barrier::force(x.z, 0.0, law)).sum();
    let weight = DENSITY * 0.1 * 0.1 * 0.05 * 9.81;
    assert!((push / weight - 1.0).abs() < 1e-8, "{push} {weight}");
    Ok(())
}

/// Coulomb's law on a slope of 0.3: what slides gains `g (sin - mu cos)`, what holds creeps at less than the speed at which friction is full.
#[test]
fn friction_holds_or_lets_slide_as_coulomb_says() -> Result<()> {
    let slope = 0.3f64;
    let normal = [-slope.sin(), 0.0, slope.cos()];
    let along = Vec3::new(slope.cos(), 0.0, slope.sin());
    for (mu, holds) in [(0.1, false), (0.5, true)] {
        let floor = Collider::plane([0.0; 3], normal, barrier(0.005)).with_friction(mu);
        // Long steps damp the vibrations of what is to come to rest.
        let dt = if holds { 1e-2 } else { 2e-3 };
        let (model, rest) = body([2, 2, 1], Method::BackwardEuler, dt, &[], &[floor])?;
        // Turned by the slope, in the barrier by what carries it.
        let turn = Quat::from_rotation_vector(Vec3::new(0.0, -slope, 0.0));
        let lifted = rest.iter().map(|p| (turn.rotate(Vec3::from_array(*p) + Vec3::new(0.0, 0.0, 0.004))).to_array());
        let params = params(&model, [0.0, 0.0, -9.81])?;
        let settled = run(&model, &params, &state(&lifted.collect::<Vec<_>>(), [0.0; 3])?, 300.0 * dt)?;
        let later = run(&model, &params, &settled, 0.2)?;
        let (v, w) = (mean(&settled.v.to_vec()?).dot(along), mean(&later.v.to_vec()?).dot(along));
        match holds {
            true => assert!(w <= 0.0 && w > -1e-3, "{v} {w}"),
            false => {
                let (gained, theory) = ((v - w) / 0.2, 9.81 * (slope.sin() - mu * slope.cos()));
                assert!((gained / theory - 1.0).abs() < 0.01, "{gained} {theory}");
            }
        }
    }
    Ok(())
}

/// A bar that swings from held vertices: its place and how that depends on its stiffness, at a time.
fn swung(method: Method, dt: f64) -> Result<(Vec<f64>, f64)> {
    let (model, rest) = body([1, 1, 3], method, dt, &bottom([1, 1, 3]), &[])?;
    let mut params = params(&model, [0.5, 0.2, -3.0])?;
    params.mu = device().array(&[MU])?.requires_grad();
    params.damping = device().array(&[0.6])?;
    let from = state(&rest, [0.0; 3])?;
    let (tape, (end, loss)) = Tape::record_value(|| {
        let end = run(&model, &params, &from, 0.16)?;
        let loss = loss(&end)?;
        Ok::<_, diffkern_sim::Error>((end, loss))
    })?;
    tape.backward(&loss)?;
    let place = end.x.to_vec()?.into_iter().chain(end.v.to_vec()?).flat_map(Vec3::to_array).collect();
    Ok((place, params.mu.grad()?.to_vec()?[0]))
}

#[test]
fn orders_of_state_and_gradient() -> Result<()> {
    for (method, order, dt) in [(Method::BackwardEuler, 1.0, 1e-3), (Method::Midpoint, 2.0, 4e-3)] {
        let runs = [dt, dt / 2.0, dt / 4.0].map(|dt| swung(method, dt));
        let [(a, da), (b, db), (c, dc)] = runs.map(|run| run.expect("a run"));
        let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let (state, gradient) = ((apart(&a, &b) / apart(&b, &c)).log2(), ((da - db) / (db - dc)).abs().log2());
        assert!((state - order).abs() < 0.1 && (gradient - order).abs() < 0.1, "{method:?}: {state} {gradient}");
    }
    Ok(())
}

/// Of a free, spinning, vibrating body.
#[test]
fn midpoints_keep_momenta_and_energy() -> Result<()> {
    let (model, rest) = body([1, 1, 2], Method::Midpoint, 5e-3, &[], &[])?;
    let params = params(&model, [0.0; 3])?;
    let x: Vec<_> = rest.iter().map(|p| [1.1 * p[0], p[1], 0.95 * p[2]]).collect();
    let v: Vec<_> = x.iter().map(|p| [0.3 - 2.0 * p[1], 0.1 + 2.0 * p[0], -0.2 + p[1]]).collect();
    let from = VertexState::new(&device(), &x, &v)?;
    let end = run(&model, &params, &from, 1.0)?;
    let (dev, (rest, tets)) = (device(), bar([1, 1, 2], 0.05));
    let (e, n) = (tets.len(), rest.len());
    let points: Vec<_> = rest.iter().map(|p| Vec3::from_array(*p)).collect();
    let (inverse, q, mass) = (dev.uninit(e)?, dev.uninit(e)?, dev.zeros(n)?);
    let tets = dev.array(tets.as_flattened())?;
    rest_shape(e, &dev.array(&points)?, &tets, &params.mu, &params.lambda, &params.density, &inverse, &q)?;
    diffkern_sim::fem::tets::kernels::lump_mass(e, &tets, &q, &mass)?;
    let mass = mass.to_vec()?;
    let sums = |state: &VertexState<f64>| -> Result<(Vec3<f64>, Vec3<f64>, f64)> {
        let elastic = dev.uninit(e)?;
        elastic_energies::<f64, NeoHookean>(e, &state.x, &tets, &inverse, &q, &elastic)?;
        let (mut p, mut l, mut energy) = (Vec3::zero(), Vec3::zero(), elastic.to_vec()?.iter().sum::<f64>());
        for ((x, v), m) in state.x.to_vec()?.into_iter().zip(state.v.to_vec()?).zip(&mass) {
            (p, l, energy) = (p + v * *m, l + x.cross(v) * *m, energy + 0.5 * m * v.norm_squared());
        }
        Ok((p, l, energy))
    };
    let ((p, l, before), (p_end, l_end, after)) = (sums(&from)?, sums(&end)?);
    assert!(
        (p_end - p).norm() < 1e-9 * p.norm() && (l_end - l).norm() < 1e-8 * l.norm(),
        "{p_end:?} {p:?} {l_end:?} {l:?}"
    );
    assert!((after / before - 1.0).abs() < 0.02, "{before} {after}");
    Ok(())
}

#[test]
fn single_precision_is_near_to_double() -> Result<()> {
    fn end<F: Float>() -> Result<Vec<[f64; 3]>> {
        let (rest, tets) = bar([1, 1, 1], 0.05);
        let floor = Collider::plane([0.0; 3], [0.0, 0.1, 1.0], barrier(0.005)).with_friction(0.3);
        let model = Model::<F>::new(&device(), &rest, &tets, Law::StableNeoHookean, 0.01, &[], &[floor])?
            .with_method(Method::BackwardEuler);
        let mut params = Params::uniform(&device(), MU, LAMBDA, DENSITY, [0.0, 0.0, -9.81])?;
        params.contact = model.obstacles().map(|o| o.contacts(&device())).transpose()?;
        let above: Vec<_> = rest.iter().map(|p| [p[0], p[1], p[2] + 0.004]).collect();
        let from = VertexState::new(&device(), &above, &vec![[0.3, 0.0, -0.5]; rest.len()])?;
        let end = model.bind(&params, &from)?.advance(&from, 0, 10, Schedule::Auto)?;
        Ok(end.x.to_vec()?.into_iter().map(|x| x.to_array().map(F::to_f64)).collect())
    }
    for (a, b) in end::<f32>()?.iter().zip(end::<f64>()?) {
        assert!((0..3).all(|k| (a[k] - b[k]).abs() < 2e-5), "{a:?} {b:?}");
    }
    Ok(())
}

#[test]
fn what_implicit_steps_cannot_do_is_named() -> Result<()> {
    let said = |method: Method, contact: Contact, height: f64| -> Result<String> {
        let floor = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], contact);
        let (model, rest) = body([1, 1, 1], method, 0.01, &[], &[floor])?;
        let above: Vec<_> = rest.iter().map(|p| [p[0], p[1], p[2] + height]).collect();
        let ended = run(&model, &params(&model, [0.0, 0.0, -9.81])?, &state(&above, [0.0; 3])?, 0.05);
        Ok(ended.expect_err("a refusal").to_string())
    };
    let text = said(Method::Midpoint, barrier(0.01), 0.1)?;
    assert!(text.contains("midpoint") && text.contains("backward Euler"), "{text}");
    let text = said(Method::BackwardEuler, Contact::HuntCrossley { stiffness: 1e3, damping: 0.1 }, 0.1)?;
    assert!(text.contains("collider 0") && text.contains("HuntCrossley") && text.contains("Barrier"), "{text}");
    let text = said(Method::BackwardEuler, barrier(0.01), -0.01)?;
    assert!(text.contains("gap of vertex") && text.contains("collider 0") && text.contains("-0.01"), "{text}");
    Ok(())
}
