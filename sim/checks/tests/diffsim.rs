//! The facade for tensors: gradients of runs, implicit against unrolled substeps, the ground, closed forms.

mod common;

use common::groups::{compare, gradient, like, numbers};
use common::{Random, relative};
use diffkern::gradcheck::{Options, function};
use diffkern::prelude::*;
use diffkern::{AnyArray, arith, jvp};
use diffkern_sim::Result;
use diffkern_sim::diffsim::kernels::{GroundForce, ground_friction, ground_push, held_positions, implicit_residual};
use diffkern_sim::diffsim::{
    DifferentiableSolver, Elastic, Ground, Pair, Simulator, TetMesh, chamfer, mse, vertex_masses,
};
use diffkern_sim::fem::tets::kernels::{elastic_forces, mean_velocity, rest_shape};
use diffkern_sim::material::QuadraticNeoHookean;
use std::time::Instant;

fn device() -> Device {
    Device::cpu()
}

/// A block without symmetry that falls onto the ground and slides there, one corner held in the air.
fn thrown(seed: u64, solver: DifferentiableSolver) -> Result<Simulator<f64>> {
    let (dev, mut r) = (device(), Random(seed));
    let mesh = TetMesh::block([1, 2, 1], [0.0, 0.018, 0.0], [0.1, 0.2, 0.11])?;
    let elements = mesh.tets().len();
    let young = r.many(elements, |r| r.between(1.5e4, 2.5e4));
    let material = Elastic::each(&dev, &young, &[0.31])?;
    let top = mesh.vertices_where(|[x, y, z]| y > 0.2 && x > 0.05 && z > 0.05);
    let mut block = Simulator::new(&mesh, material, solver, 900.0, &dev)?.with_fixed(&top)?;
    let x: Vec<_> = mesh.vertices().iter().map(|v| Vec3::from_array(*v) + r.vec3(-0.004, 0.004)).collect();
    block.x = dev.array(&x)?;
    block.v = dev.array(&r.many(x.len(), |r| Vec3::new(0.4, -0.2, 0.3) + r.vec3(-0.1, 0.1)))?;
    block.density = dev.array(&r.many(elements, |r| r.between(800.0, 1000.0)))?;
    Ok(block)
}

const SHORT: DifferentiableSolver = DifferentiableSolver {
    dt: 4e-3,
    gravity: -9.8,
    damping: 0.99,
    substeps: 4,
    use_implicit_diff: false,
    tolerance: 1e-10,
    ground: Some(Ground { stiffness: 1e4, width: 0.02, friction: 0.3 }),
};
const IMPLICIT: DifferentiableSolver =
    DifferentiableSolver { dt: 6e-3, substeps: 2, use_implicit_diff: true, tolerance: 1e-12, ..SHORT };

#[diff_kernel]
fn weighted_squares<F: Float>(x: &Array<Vec3<F>>, w: &Array<Vec3<F>>, out: &mut Array<F>) {
    let p = x[ABSOLUTE_POS];
    out[ABSOLUTE_POS] = p.mul_elem(p).dot(w[ABSOLUTE_POS]);
}

/// A weighted mean square of all positions and velocities of a run: no pair and no direction is left out.
fn loss(pairs: &[Pair<f64>]) -> Result<Array<f64>> {
    let (mut r, total) = (Random(3), device().zeros(1)?);
    for (x, v) in &pairs[1..] {
        for (array, scale) in [(x, 1.0), (v, 0.01)] {
            let weights = device().array(&r.many(x.len(), |r| r.vec3(0.2, 1.0)))?;
            let out = device().zeros(x.len())?;
            weighted_squares(x.len(), array, &weights, &out)?;
            diffkern::reduce::sum_into(&out, scale, &total)?;
        }
    }
    Ok(total)
}

const GROUPS: [&str; 9] = ["young", "poisson", "density", "masses", "gravity", "damping", "x", "v", "rest"];

fn group(block: &Simulator<f64>, name: &str) -> Result<AnyArray> {
    Ok(match name {
        "young" => block.material.young.as_any().clone(),
        "poisson" => block.material.poisson.as_any().clone(),
        "density" => block.density.as_any().clone(),
        "masses" => vertex_masses(&block.mesh, &block.density)?.as_any().clone(),
        "gravity" => block.gravity.as_any().clone(),
        "damping" => block.damping.as_any().clone(),
        "x" => block.x.as_any().clone(),
        "v" => block.v.as_any().clone(),
        "rest" => block.mesh.rest.as_any().clone(),
        other => panic!("no group {other}"),
    })
}

/// The block with these numbers in a group, of which a gradient is asked, and their array.
fn with(block: &Simulator<f64>, name: &str, at: &[f64]) -> Result<(Simulator<f64>, AnyArray)> {
    let (array, mut block) = (like(&group(block, name)?, at)?, block.clone());
    let any = array.clone();
    match name {
        "young" => block.material.young = any.try_into()?,
        "poisson" => block.material.poisson = any.try_into()?,
        "density" => block.density = any.try_into()?,
        "masses" => block.masses = Some(any.try_into()?),
        "gravity" => block.gravity = any.try_into()?,
        "damping" => block.damping = any.try_into()?,
        "x" => block.x = any.try_into()?,
        "v" => block.v = any.try_into()?,
        "rest" => block.mesh.rest = any.try_into()?,
        other => panic!("no group {other}"),
    }
    Ok((block, array))
}

/// Value and gradient of the loss by a group.
fn slope(block: &Simulator<f64>, name: &str, at: &[f64], steps: usize, every: usize) -> Result<(f64, Vec<f64>)> {
    let (block, array) = with(block, name, at)?;
    let (tape, value) = Tape::record_value(|| loss(&block.rollout(steps, every)?))?;
    tape.backward(&value)?;
    Ok((value.to_vec()?[0], gradient(&array)?))
}

/// Differences and Taylor remainders of whole runs by every group, over several starts.
fn every_gradient(solver: DifferentiableSolver, steps: usize, seeds: &[u64]) -> Result<()> {
    for &seed in seeds {
        let block = thrown(seed, solver)?;
        for name in GROUPS {
            let at = numbers(&group(&block, name)?)?;
            let (_, found) = slope(&block, name, &at, steps, 4)?;
            let value = |x: &[f64]| Ok(loss(&with(&block, name, x)?.0.rollout(steps, 0)?)?.to_vec()?[0]);
            compare(&format!("{name}, seed {seed}"), &found, &at, &value)?;
        }
    }
    Ok(())
}

#[test]
fn gradients_of_explicit_runs() -> Result<()> {
    every_gradient(SHORT, 6, &[5, 6, 7])
}

#[test]
fn gradients_of_implicit_runs() -> Result<()> {
    every_gradient(IMPLICIT, 2, &[8, 9])
}

/// `<w, J u> = <J^T w, u>` of the whole map from all groups at once; masses are those of the density.
#[test]
fn tangents_and_adjoints_of_runs_agree() -> Result<()> {
    for solver in [SHORT, IMPLICIT] {
        let (mut block, mut arrays, mut r) = (thrown(11, solver)?, Vec::new(), Random(12));
        for name in GROUPS.into_iter().filter(|name| *name != "masses") {
            let (next, array) = with(&block, name, &numbers(&group(&block, name)?)?)?;
            block = next;
            arrays.push(array);
        }
        let mut directions = Vec::new();
        for array in &arrays {
            let at = numbers(array)?;
            let size = at.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            directions.push(like(array, &at.iter().map(|_| size * r.between(-0.1, 0.1)).collect::<Vec<_>>())?);
        }
        let named: Vec<_> = arrays.iter().zip(&directions).collect();
        let (value, tangents) = jvp(&[&named], || loss(&block.rollout(3, 2)?))?;
        let forward = tangents.get(0, &value)?.to_vec()?[0];
        let (tape, value) = Tape::record_value(|| loss(&block.rollout(3, 2)?))?;
        tape.backward(&value)?;
        let mut backward = 0.0;
        for (array, direction) in named {
            backward += gradient(array)?.iter().zip(numbers(direction)?).map(|(a, b)| a * b).sum::<f64>();
        }
        let bound = if solver.use_implicit_diff { 1e-9 } else { 1e-12 };
        assert!((forward / backward - 1.0).abs() < bound, "{forward} and {backward}");
    }
    Ok(())
}

/// With a tape or without, checkpointed or not: the same bits of the states and of the loss, and the same gradient.
#[test]
fn a_run_has_the_same_bits_under_a_tape_and_without() -> Result<()> {
    for solver in [SHORT, IMPLICIT] {
        let block = thrown(13, solver)?;
        let read = |pairs: &[Pair<f64>]| -> Result<Vec<u64>> {
            let mut bits = Vec::new();
            for (x, v) in pairs {
                bits.extend([numbers(x.as_any())?, numbers(v.as_any())?].concat().into_iter().map(f64::to_bits));
            }
            Ok(bits)
        };
        let free = block.rollout(7, 3)?;
        assert_eq!(free.len(), 8);
        let (value, at) = (loss(&free)?.to_vec()?[0], numbers(block.x.as_any())?);
        let (_, expected) = slope(&block, "x", &at, 7, 0)?;
        for every in [0, 1, 3, 7, 100] {
            let (recorded, array) = with(&block, "x", &at)?;
            let (tape, (pairs, loss)) = Tape::record_value(|| -> Result<_> {
                let pairs = recorded.rollout(7, every)?;
                let loss = loss(&pairs)?;
                Ok((pairs, loss))
            })?;
            tape.backward(&loss)?;
            assert_eq!(read(&pairs)?, read(&free)?, "{every}");
            assert_eq!(loss.to_vec()?[0].to_bits(), value.to_bits(), "{every}");
            // Sums of the same terms, in another order.
            assert!(relative(&gradient(&array)?, &expected) < 1e-13, "{every}");
        }
        // A step is a run of one step.
        let masses = vertex_masses(&block.mesh, &block.density)?;
        let pair = solver.step(&block.mesh, &block.material, &block.x, &block.v, &masses, &block.fixed)?;
        assert_eq!(read(&[pair])?, read(&free[1..2])?);
        // No step is the start.
        assert_eq!(read(&block.rollout(0, 3)?)?, read(&free[..1])?);
    }
    Ok(())
}

/// What is kept for `backward` is less with checkpoints.
#[test]
fn checkpoints_save_memory() -> Result<()> {
    let block = thrown(14, SHORT)?;
    let at = numbers(block.x.as_any())?;
    let peak = |every| -> Result<usize> {
        let (block, _) = with(&block, "x", &at)?;
        let (tape, end) = Tape::record_value(|| -> Result<_> {
            let pairs = block.rollout(60, every)?;
            loss(&pairs[59..])
        })?;
        tape.backward(&end)?;
        Ok(tape.report().peak_bytes)
    };
    let (all, some) = (peak(0)?, peak(10)?);
    println!("{all} bytes with all launches, {some} with a pair in 10 steps");
    assert!(4 * some < all, "{some} bytes of {all}");
    Ok(())
}

#[diff_kernel]
fn multiply<F: Float>(matrix: &Array<F>, r: &Array<F>, product: &mut Array<F>) {
    let row = ABSOLUTE_POS;
    let mut sum = F::new(0.0);
    for column in 0..r.len() {
        sum += matrix[row * r.len() + column] * r[column];
    }
    product[row] = sum;
}

/// Substeps of backward Euler by a simplified Newton iteration whose every launch is on the tape: `y <- y - A^-1 r(y)`, `A` the derivative of
/// `r` at the beginning.
struct Unrolled {
    block: Simulator<f64>,
    masses: Array<f64>,
    inverse: Array<Mat3<f64>>,
    q: Array<Vec4<f64>>,
    h: f64,
}

impl Unrolled {
    const ITERATIONS: usize = 40;
    const GROUND: GroundForce<f64> = GroundForce { push: 1e4 * 0.02, width: 0.02, friction: 0.3, slip: 1e-4 };

    fn new(block: &Simulator<f64>) -> Result<Unrolled> {
        let (dev, n) = (device(), block.mesh.tets.len() / 4);
        let (inverse, q) = (dev.uninit(n)?, dev.uninit(n)?);
        let (e, nu) = (&block.material.young, &block.material.poisson);
        let (mu, lambda) = (dev.uninit(n)?, dev.uninit(n)?);
        diffkern_sim::diffsim::kernels::lame_parameters(n, e, nu, &mu, &lambda)?;
        let density = &block.density;
        rest_shape(n, &block.mesh.rest, &block.mesh.tets, &mu, &lambda, density, &inverse, &q)?;
        let masses = vertex_masses(&block.mesh, density)?;
        Ok(Unrolled { block: block.clone(), masses, inverse, q, h: block.solver.dt / block.solver.substeps as f64 })
    }

    fn residual(&self, y: &Array<Vec3<f64>>, x: &Array<Vec3<f64>>, v: &Array<Vec3<f64>>) -> Result<Array<Vec3<f64>>> {
        let (n, dev, Simulator { mesh, fixed, gravity, damping, .. }) = (x.len(), device(), &self.block);
        let (held, force, residual) = (dev.uninit(n)?, dev.zeros(n)?, dev.uninit(n)?);
        held_positions(n, y, x, fixed, &held)?;
        elastic_forces::<f64, QuadraticNeoHookean>(self.q.len(), &held, &mesh.tets, &self.inverse, &self.q, &force)?;
        ground_push(n, &held, fixed, &force, Self::GROUND)?;
        implicit_residual(n, y, x, v, &force, &self.masses, fixed, gravity, damping, &residual, self.h)?;
        Ok(residual)
    }

    fn rubbed(&self, x: &Array<Vec3<f64>>, v: &Array<Vec3<f64>>) -> Result<Array<Vec3<f64>>> {
        let slowed = device().uninit(x.len())?;
        ground_friction(x.len(), x, v, &self.masses, &self.block.fixed, &slowed, Self::GROUND, self.h)?;
        Ok(slowed)
    }

    /// The inverse of `dr/dy` at `y = x`; not on a tape.
    fn matrix(&self, x: &Array<Vec3<f64>>, v: &Array<Vec3<f64>>) -> Result<Array<f64>> {
        let (dev, n) = (device(), 3 * x.len());
        let y = x.detached()?;
        let mut columns = Vec::new();
        for k in 0..n {
            let unit: Vec<f64> = (0..n).map(|j| f64::from(j == k)).collect();
            let unit = like(x.as_any(), &unit)?;
            let (r, tangents) = jvp(&[&[(y.as_any(), &unit)]], || self.residual(&y, x, v))?;
            columns.push(numbers(tangents.get(0, &r)?.as_any())?);
        }
        // It is symmetric: rows are columns.
        Ok(dev.array(&inverted(columns).concat())?)
    }

    fn substep(&self, (x, v): Pair<f64>, matrix: &Array<f64>) -> Result<Pair<f64>> {
        let (n, dev) = (x.len(), device());
        let v = self.rubbed(&x, &v)?;
        let mut y = x.clone();
        for _ in 0..Self::ITERATIONS {
            let r = arith::components(&self.residual(&y, &x, &v)?)?;
            let step = dev.uninit(3 * n)?;
            multiply(3 * n, matrix, &r, &step)?;
            y = arith::sub(&y, &arith::from_components(&step)?)?;
        }
        let next = dev.uninit(n)?;
        mean_velocity(n, &y, &x, &next, self.h)?;
        Ok((y, next))
    }
}

/// By Gauss and Jordan.
fn inverted(mut a: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = a.len();
    for (k, row) in a.iter_mut().enumerate() {
        row.extend((0..n).map(|j| f64::from(j == k)));
    }
    for k in 0..n {
        let most = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).expect("a row");
        a.swap(k, most);
        let pivot: Vec<f64> = a[k].iter().map(|x| x / a[k][k]).collect();
        for row in &mut a {
            let factor = row[k];
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
        }
        a[k] = pivot;
    }
    a.into_iter().map(|row| row[n..].to_vec()).collect()
}

/// The gradient of the equation is that of an iteration which has converged, launch by launch.
#[test]
fn implicit_gradients_are_those_of_an_unrolled_iteration() -> Result<()> {
    let solver = DifferentiableSolver { tolerance: 1e-10, ..IMPLICIT };
    let steps = 3;
    for seed in [21, 22, 23] {
        let block = thrown(seed, solver)?;
        let mut matrices = Vec::new();
        let mut pair = (block.x.clone(), block.v.clone());
        let unrolled = Unrolled::new(&block)?;
        for _ in 0..steps * solver.substeps {
            let matrix = unrolled.matrix(&pair.0, &unrolled.rubbed(&pair.0, &pair.1)?)?;
            pair = unrolled.substep(pair, &matrix)?;
            matrices.push(matrix);
        }
        let (mut moved, mut arrays) = (block.clone(), Vec::new());
        for name in ["young", "poisson", "density", "damping", "x", "v"] {
            let (next, array) = with(&moved, name, &numbers(&group(&block, name)?)?)?;
            arrays.push((name, array));
            moved = next;
        }
        let begin = Instant::now();
        let (tape, end) = Tape::record_value(|| -> Result<_> {
            let unrolled = Unrolled::new(&moved)?;
            let mut pairs = vec![(moved.x.clone(), moved.v.clone())];
            for matrices in matrices.chunks(solver.substeps) {
                let start = pairs[pairs.len() - 1].clone();
                pairs.push(matrices.iter().try_fold(start, |pair, matrix| unrolled.substep(pair, matrix))?);
            }
            loss(&pairs)
        })?;
        tape.backward(&end)?;
        let (expected, unrolled_time) = (end.to_vec()?[0], begin.elapsed());
        for (name, array) in arrays {
            let begin = Instant::now();
            let (value, implicit) = slope(&block, name, &numbers(&group(&block, name)?)?, steps, 0)?;
            let implicit_time = begin.elapsed();
            let error = relative(&implicit, &gradient(&array)?);
            println!(
                "seed {seed}, {name}: relative difference {error:.1e}; implicit {implicit_time:.1?}, unrolled, of all at once, {unrolled_time:.1?}"
            );
            assert!((value / expected - 1.0).abs() < 1e-8, "{name}: {value}, unrolled {expected}");
            assert!(error < 1e-6, "{name}, seed {seed}: {error:e}");
        }
    }
    Ok(())
}

/// Explicit and implicit substeps have one limit, at first order; without damping, which counts substeps.
#[test]
fn implicit_and_explicit_substeps_converge_to_each_other() -> Result<()> {
    let end = |use_implicit_diff, substeps| -> Result<Vec<f64>> {
        let solver = DifferentiableSolver { dt: 0.02, damping: 1.0, substeps, use_implicit_diff, ..SHORT };
        let pairs = thrown(31, solver)?.rollout(2, 10)?;
        numbers(pairs[2].0.as_any())
    };
    let apart = |substeps| -> Result<f64> { Ok(relative(&end(false, substeps)?, &end(true, substeps)?)) };
    let (coarse, fine) = (apart(40)?, apart(80)?);
    assert!(coarse > 1e-6 && (coarse / fine).log2() > 0.8, "{coarse:e}, {fine:e}");
    Ok(())
}

/// Without contact all vertices fall alike: `v+ = d (v + h g)` a substep, along y alone. The damping counts substeps.
#[test]
fn a_free_block_falls_along_y_and_is_damped_by_substeps() -> Result<()> {
    for use_implicit_diff in [false, true] {
        for substeps in [1, 4] {
            let solver = DifferentiableSolver { substeps, use_implicit_diff, ..DifferentiableSolver::default() };
            let mesh = TetMesh::block([1, 1, 2], [0.0, 1.0, 0.0], [0.1, 0.1, 0.2])?;
            let mut block =
                Simulator::<f64>::new(&mesh, Elastic::uniform(&device(), 1e4, 0.3)?, solver, 1000.0, &device())?;
            block.v = device().full(mesh.vertices().len(), Vec3::new(0.5, 0.0, 0.25))?;
            let (h, mut fall) = (0.01 / substeps as f64, 0.0);
            for (k, (x, v)) in block.rollout(10, 10)?.iter().enumerate().skip(1) {
                (0..substeps).for_each(|_| fall = 0.99 * (fall + h * -9.8));
                let left = 0.99f64.powi((k * substeps) as i32);
                for v in v.to_vec()? {
                    assert!((v - Vec3::new(0.5 * left, fall, 0.25 * left)).norm() < 1e-8, "{v:?}, step {k}");
                }
                assert!(x.to_vec()?[0].y < 1.0);
            }
        }
    }
    Ok(())
}

/// A bar whose volume costs nothing (`nu = 0`) is as long under its weight as theory says: `mu (s - 1/s) = rho g (L - y)`, `E = 2 mu`.
#[test]
fn a_hanging_bar_is_as_long_as_theory_says() -> Result<()> {
    let (density, mu, g, length) = (1000.0, 5e4, 9.8, 0.8);
    let solver = DifferentiableSolver { dt: 1.0, damping: 0.5, substeps: 1, use_implicit_diff: true, ..SHORT };
    let mesh = TetMesh::block([1, 8, 1], [0.0, 1.0, 0.0], [0.1, length, 0.1])?;
    let bar = Simulator::<f64>::new(&mesh, Elastic::uniform(&device(), 2.0 * mu, 0.0)?, solver, density, &device())?
        .with_fixed(&mesh.vertices_where(|[_, y, _]| y > 1.79))?;
    let pairs = bar.rollout(40, 10)?;
    let end = pairs[40].0.to_vec()?;
    let bottom = mesh.vertices_where(|[_, y, _]| y < 1.01);
    let longer = 1.0 - bottom.iter().map(|&i| end[i as usize].y).sum::<f64>() / bottom.len() as f64;
    let stretch = |p: f64| 0.5 * (p + (p * p + 4.0).sqrt());
    let load = |k: usize| density * g / mu * length * (k as f64 + 0.5) / 1000.0;
    let theory: f64 = (0..1000).map(|k| (stretch(load(k)) - 1.0) * length / 1000.0).sum();
    assert!((longer / theory - 1.0).abs() < 5e-3, "{longer} instead of {theory}");
    // What is fixed has not moved a bit.
    for i in mesh.vertices_where(|[_, y, _]| y > 1.79) {
        assert_eq!(end[i as usize].to_array(), mesh.vertices()[i as usize]);
        assert_eq!(pairs[40].1.to_vec()?[i as usize], Vec3::zero());
    }
    Ok(())
}

/// All volume has its mass, a quarter at each corner.
#[test]
fn masses_add_up() -> Result<()> {
    let mesh = TetMesh::block([2, 3, 1], [0.0; 3], [0.2, 0.3, 0.1])?.on::<f64>(&device())?;
    let total: f64 = vertex_masses(&mesh, &device().array(&[1000.0])?)?.to_vec()?.iter().sum();
    assert!((total - 6.0).abs() < 1e-12, "{total} kg");
    let one = TetMesh::new(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], vec![[0, 1, 2, 3]])?;
    let masses = vertex_masses(&one.on::<f64>(&device())?, &device().array(&[24.0])?)?.to_vec()?;
    assert!(masses.iter().all(|m| (m - 1.0).abs() < 1e-14), "{masses:?}");
    assert!(vertex_masses(&mesh, &device().array(&[1.0, 2.0])?).is_err());
    Ok(())
}

/// Up is y. A body as the scenes of this project have it, on z, begins in the ground and is refused; nothing acts along z.
#[test]
fn the_ground_is_below_along_y_not_z() -> Result<()> {
    let scene = TetMesh::block([1, 1, 1], [-0.05, -0.05, 0.1], [0.1; 3])?;
    let material = || Elastic::uniform(&device(), 1e4, 0.3);
    let block = Simulator::<f64>::new(&scene, material()?, DifferentiableSolver::default(), 1000.0, &device())?;
    let error = block.rollout(1, 1).unwrap_err().to_string();
    assert!(error.contains("vertex 0") && error.contains("y is up here") && error.contains("-0.05"), "{error}");
    // Fixed vertices may be there.
    let held = block.clone().with_fixed(&scene.vertices_where(|[_, y, _]| y < 0.0))?;
    held.rollout(1, 1)?;
    // Below z = 0 there is nothing.
    let below = TetMesh::block([1, 1, 1], [-0.05, 0.05, -0.3], [0.1; 3])?;
    let block = Simulator::<f64>::new(&below, material()?, DifferentiableSolver::default(), 1000.0, &device())?;
    let (_, v) = block.rollout(3, 1)?.pop().expect("a pair");
    assert!(v.to_vec()?.iter().all(|v| v.y < -0.2 && v.z.abs() + v.x.abs() < 1e-9));
    Ok(())
}

/// The push of one vertex at height `y` that moves with `v`, and its velocity after friction.
fn touched(y: f64, v: Vec3<f64>) -> Result<(Vec3<f64>, Vec3<f64>)> {
    let dev = device();
    let (x, v) = (dev.array(&[Vec3::new(0.3, y, -0.2)])?, dev.array(&[v])?);
    let (fixed, mass, force, slowed) = (dev.zeros(1)?, dev.array(&[0.1])?, dev.zeros(1)?, dev.zeros(1)?);
    ground_push(1, &x, &fixed, &force, Unrolled::GROUND)?;
    ground_friction(1, &x, &v, &mass, &fixed, &slowed, Unrolled::GROUND, 1e-3)?;
    Ok((force.to_vec()?[0], slowed.to_vec()?[0]))
}

#[test]
fn the_ground_pushes_within_its_width_and_rubs() -> Result<()> {
    let v = Vec3::new(0.6, -0.3, -0.8);
    let energy = |y: f64| -1e4 * (y - 0.02f64).powi(2) * (y / 0.02).ln();
    for y in [1e-4, 3e-3, 0.01, 0.0199] {
        let (push, slowed) = touched(y, v)?;
        let h = 1e-6 * y;
        let expected = (energy(y - h) - energy(y + h)) / (2.0 * h);
        assert!(push.x == 0.0 && push.z == 0.0 && (push.y / expected - 1.0).abs() < 1e-5, "{push:?}, not {expected}");
        // Coulomb's: the velocity along the ground loses h mu N / m and keeps its direction, but never turns round.
        let (rub, stop) = (0.3 * push.y, 0.3 * push.y * 1e-3 / 0.1);
        let left = 1.0 - rub * 1e-3 / 0.1 / (1.0 + stop * stop + 1e-8f64).sqrt();
        assert!((0.0..1.0).contains(&left));
        assert!((slowed - Vec3::new(0.6 * left, -0.3, -0.8 * left)).norm() < 1e-12, "{slowed:?} at {y}");
    }
    for y in [0.02, 0.020001, 0.5] {
        assert_eq!(touched(y, v)?, (Vec3::zero(), v));
    }
    Ok(())
}

/// A block comes to rest on the ground, at a height where the push of the barrier carries it, with both kinds of substeps.
#[test]
fn a_block_comes_to_rest_on_the_ground() -> Result<()> {
    for use_implicit_diff in [false, true] {
        let solver = DifferentiableSolver { use_implicit_diff, damping: 0.97, ..DifferentiableSolver::default() };
        let mesh = TetMesh::block([1, 1, 1], [0.0, 0.04, 0.0], [0.1; 3])?;
        let block = Simulator::<f64>::new(&mesh, Elastic::uniform(&device(), 3e4, 0.3)?, solver, 1000.0, &device())?;
        let (x, v) = block.rollout(150, 10)?.pop().expect("a pair");
        let (x, v) = (x.to_vec()?, v.to_vec()?);
        let pushed: f64 = x.iter().map(|x| touched(x.y, Vec3::zero()).map(|(push, _)| push.y)).sum::<Result<f64>>()?;
        assert!(v.iter().all(|v| v.norm() < 1e-3), "{v:?}");
        assert!((pushed / 9.8 - 1.0).abs() < 1e-2, "{pushed} N carry a kilogram");
    }
    Ok(())
}

/// By how much of it the sum of the energies changes at most, where nothing damps or rubs.
fn strays(substeps: usize) -> Result<f64> {
    let ground = Some(Ground { friction: 0.0, ..Ground::default() });
    let solver = DifferentiableSolver { damping: 1.0, substeps, ground, ..SHORT };
    let mut block = thrown(51, solver)?;
    block.fixed = device().zeros(block.x.len())?;
    let mut totals = Vec::new();
    for pair in block.rollout(40, 10)? {
        let energies = block.energies(&pair)?;
        let parts = [&energies.kinetic, &energies.elastic, &energies.height, &energies.ground];
        totals.push(parts.into_iter().map(|part| part.to_vec().map(|e| e[0])).sum::<diffkern::Result<f64>>()?);
    }
    assert!(totals[0] > 0.0);
    Ok(totals.iter().map(|total| (total / totals[0] - 1.0).abs()).fold(0.0, f64::max))
}

#[test]
fn energy_is_kept_to_first_order() -> Result<()> {
    let (coarse, fine) = (strays(8)?, strays(16)?);
    println!("energy astray by {coarse:.1e} of it, with half the substep {fine:.1e}");
    assert!(coarse < 0.05 && (coarse / fine).log2() > 0.8, "{coarse:e}, {fine:e}");
    Ok(())
}

/// The derivative of the energies by the positions is the force of a step, `-m (v+ - v) / h`.
#[test]
fn forces_are_derivatives_of_the_energies() -> Result<()> {
    let ground = Some(Ground { friction: 0.0, ..Ground::default() });
    let solver = DifferentiableSolver { damping: 1.0, substeps: 1, ground, ..SHORT };
    let mut block = thrown(52, solver)?;
    block.x = block.x.requires_grad();
    let (tape, energies) = Tape::record_value(|| block.energies(&(block.x.clone(), block.v.clone())))?;
    let one = device().array(&[1.0])?;
    let seeds = [&energies.elastic, &energies.height, &energies.ground].map(|e| (e.as_any(), one.as_any()));
    tape.backward_from(&seeds)?;
    let slope = block.x.grad()?.to_vec()?;
    let masses = vertex_masses(&block.mesh, &block.density)?.to_vec()?;
    let (v, next) = (block.v.to_vec()?, block.rollout(1, 1)?[1].1.to_vec()?);
    for (i, _) in block.fixed.to_vec()?.into_iter().enumerate().filter(|(_, fixed)| *fixed == 0) {
        let force = (next[i] - v[i]) * (masses[i] / solver.dt);
        assert!((force + slope[i]).norm() < 1e-9 * slope[i].norm().max(1.0), "{i}: {force:?}, {:?}", slope[i]);
    }
    Ok(())
}

#[test]
fn what_goes_wrong_is_named() -> Result<()> {
    let (dev, mesh) = (device(), TetMesh::block([1, 1, 1], [0.0, 0.5, 0.0], [0.1; 3])?);
    let new = |material: Elastic<f64>, solver| Simulator::new(&mesh, material, solver, 1000.0, &device());
    let usual = DifferentiableSolver::default();
    for (solver, expected) in [
        (DifferentiableSolver { dt: 0.0, ..usual }, "time step"),
        (DifferentiableSolver { substeps: 0, ..usual }, "substeps"),
        (DifferentiableSolver { damping: f64::NAN, ..usual }, "damping"),
        (DifferentiableSolver { gravity: f64::INFINITY, ..usual }, "gravity"),
        (DifferentiableSolver { tolerance: -1.0, ..usual }, "tolerance"),
        (DifferentiableSolver { ground: Some(Ground { width: 0.0, ..Ground::default() }), ..usual }, "width"),
    ] {
        let error = new(Elastic::uniform(&dev, 1e4, 0.3)?, solver).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    for (young, poisson) in [(-1.0, 0.3), (1e4, 0.5), (1e4, -1.0), (f64::NAN, 0.3)] {
        assert!(Elastic::<f64>::uniform(&dev, young, poisson).is_err(), "{young}, {poisson}");
    }
    let error = new(Elastic::each(&dev, &[1e4; 5], &[0.3])?, usual)?.rollout(1, 1).unwrap_err().to_string();
    assert!(error.contains("length of Young's modulus is 5, expected 1 or 6"), "{error}");
    let mut block = new(Elastic::uniform(&dev, 1e4, 0.3)?, usual)?;
    assert!(block.clone().with_fixed(&[8]).is_err());
    block.v = dev.zeros(7)?;
    assert!(block.rollout(1, 1).unwrap_err().to_string().contains("length of velocities is 7, expected 8"));
    // Too stiff for its step: the first step after which the body is none.
    let block = new(Elastic::uniform(&dev, 1e9, 0.3)?, usual)?;
    let mut stretched = block.clone();
    stretched.x = dev.array(&mesh.vertices().iter().map(|v| Vec3::from_array(*v) * 1.01).collect::<Vec<_>>())?;
    let error = stretched.rollout(50, 10).unwrap_err().to_string();
    assert!(error.contains("after step 1") && error.contains("smaller time step"), "{error}");
    Ok(())
}

#[test]
fn losses_have_their_values_and_gradients() -> Result<()> {
    let (dev, mut r) = (device(), Random(41));
    let (a, b) = (r.many(9, |r| r.vec3(-1.0, 1.0)), r.many(6, |r| r.vec3(-1.0, 1.0)));
    let one_way = |a: &[Vec3<f64>], b: &[Vec3<f64>]| {
        let nearest = |p: &Vec3<f64>| b.iter().map(|q| (*p - *q).norm_squared()).fold(f64::INFINITY, f64::min);
        a.iter().map(nearest).sum::<f64>() / a.len() as f64
    };
    let seen = dev.array(&b)?;
    let found = chamfer(&dev.array(&a)?, &seen)?.to_vec()?[0];
    assert!((found - one_way(&a, &b) - one_way(&b, &a)).abs() < 1e-14, "{found}");
    let squares: f64 = a[..6].iter().zip(&b).map(|(a, b)| (*a - *b).norm_squared()).sum();
    assert!((mse(&dev.array(&a[..6])?, &seen)?.to_vec()?[0] - squares / 18.0).abs() < 1e-14);

    type Loss = fn(&Array<Vec3<f64>>, &Array<Vec3<f64>>) -> Result<Array<f64>>;
    for (loss, n) in [(chamfer as Loss, 9), (mse as Loss, 6)] {
        let points = dev.array(&a[..n])?;
        let at = [numbers(points.as_any())?, numbers(seen.as_any())?].concat();
        let pair = |at: &[f64]| -> Result<(AnyArray, AnyArray)> {
            Ok((like(points.as_any(), &at[..3 * n])?, like(seen.as_any(), &at[3 * n..])?))
        };
        let value = |(a, b): (AnyArray, AnyArray)| loss(&a.try_into()?, &b.try_into()?);
        let (left, right) = pair(&at)?;
        let (tape, end) = Tape::record_value(|| value((left.clone(), right.clone())))?;
        tape.backward(&end)?;
        let slope = [gradient(&left)?, gradient(&right)?].concat();
        let options = Options { first_step: 1e-3, ..Options::default() };
        function(|at| Ok(value(pair(at)?)?.to_vec()?[0]), &slope, &at, &options)?;
    }
    let none = dev.array::<Vec3<f64>>(&[]);
    assert!(none.is_err() || chamfer(&none?, &seen).is_err());
    assert!(mse(&dev.array(&a)?, &seen).is_err());
    Ok(())
}

/// Of two neighbours at one distance the first has the gradient.
#[test]
fn chamfer_is_one_sided_at_ties() -> Result<()> {
    let dev = device();
    let a = dev.array(&[Vec3::new(0.0, 0.0, 0.0)])?.requires_grad();
    let b = dev.array(&[Vec3::new(1.0, 0.0, 0.0), Vec3::new(-1.0, 0.0, 0.0)])?.requires_grad();
    let (tape, loss) = Tape::record_value(|| chamfer(&a, &b))?;
    tape.backward(&loss)?;
    assert_eq!(loss.to_vec()?, [2.0]);
    // From a to b[0] with -2, from both of b to a with -1 and 1.
    assert_eq!(a.grad()?.to_vec()?, [Vec3::new(-2.0, 0.0, 0.0)]);
    assert_eq!(b.grad()?.to_vec()?, [Vec3::new(3.0, 0.0, 0.0), Vec3::new(-1.0, 0.0, 0.0)]);
    Ok(())
}

/// Single precision works, implicit too, and is near to double.
#[test]
fn single_precision_is_near_to_double() -> Result<()> {
    fn end<F: Float>(use_implicit_diff: bool) -> Result<Vec<f64>> {
        let solver = DifferentiableSolver { use_implicit_diff, ..DifferentiableSolver::default() };
        let mesh = TetMesh::block([1, 2, 1], [0.0, 0.03, 0.0], [0.1, 0.2, 0.1])?;
        let block = Simulator::<F>::new(&mesh, Elastic::uniform(&device(), 2e4, 0.3)?, solver, 1000.0, &device())?;
        let (x, _) = block.rollout(10, 10)?.pop().expect("a pair");
        Ok(x.to_vec()?.into_iter().flat_map(|x| x.to_array().map(F::to_f64)).collect())
    }
    for (use_implicit_diff, bound) in [(false, 1e-5), (true, 1e-3)] {
        let error = relative(&end::<f32>(use_implicit_diff)?, &end::<f64>(use_implicit_diff)?);
        assert!(error < bound, "{error:e}");
    }
    Ok(())
}
