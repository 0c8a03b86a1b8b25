//! What does the gradient of an implicit step cost: by its equation, and by the tape of the iteration that solved it?
//!
//! `cargo run --release -p examples --example implicit`

use std::time::Instant;

use diffkern::prelude::*;
use diffkern::{arith, reduce};
use diffkern_sim::diffsim::kernels::{implicit_residual, lame_parameters};
use diffkern_sim::diffsim::{DifferentiableSolver, Elastic, Simulator, TetMesh, mse, vertex_masses};
use diffkern_sim::fem::tets::kernels::{elastic_forces, mean_velocity, rest_shape};
use diffkern_sim::material::QuadraticNeoHookean;

const STEPS: usize = 4;
/// Iterations of Newton's method, and of conjugate gradients in each: as many as bring this block to rounding.
const NEWTON: usize = 5;
const GRADIENTS: usize = 60;
/// Length of the difference in place of a derivative \[m\].
const NEAR: f64 = 1e-4;

type Vectors = Array<Vec3<f64>>;

fn main() -> Result<()> {
    let device = Device::cpu();
    let mesh = TetMesh::block([6, 6, 6], [0.0, 0.5, 0.0], [0.2; 3])?;
    let solver =
        DifferentiableSolver { substeps: 1, use_implicit_diff: true, ground: None, ..DifferentiableSolver::default() };
    // Stretched by a tenth along y: it swings.
    let stretched: Vec<_> = mesh.vertices().iter().map(|&[x, y, z]| Vec3::new(x, 1.1 * y, z)).collect();
    let block = || -> Result<Simulator<f64>> {
        let mut material = Elastic::uniform(&device, 2e4, 0.3)?;
        material.young = material.young.requires_grad();
        let block = Simulator::new(&mesh, material, solver, 1000.0, &device)?;
        Ok(Simulator { x: device.array(&stretched)?, ..block })
    };
    type Program = fn(&Simulator<f64>) -> Result<Vectors>;
    let gradient = |what: &str, end: Program| -> Result<(f64, usize)> {
        let (block, begin) = (block()?, Instant::now());
        let (tape, loss) = Tape::record_value(|| mse(&end(&block)?, &block.mesh.rest))?;
        let forwards = begin.elapsed();
        tape.backward(&loss)?;
        let (slope, bytes) = (block.material.young.grad()?.to_vec()?[0], tape.report().peak_bytes);
        let seconds = [forwards, begin.elapsed() - forwards].map(|t| t.as_secs_f64());
        println!(
            "{what}: d loss / d E = {slope:.12e}; forwards {:.2} s, backwards {:.2} s, {} kB",
            seconds[0],
            seconds[1],
            bytes / 1000
        );
        Ok((slope, bytes))
    };
    let (equation, least) = gradient("the equation ", |block| Ok(block.rollout(STEPS, 0)?[STEPS].0.clone()))?;
    let (iteration, most) = gradient("the iteration", unrolled)?;
    let error = (equation / iteration - 1.0).abs();
    println!("{error:.1e} apart");
    assert!(error < 1e-6 && 20 * least < most, "{error:e} apart, {least} and {most} bytes");
    Ok(())
}

/// The same steps, every launch of Newton's method and of conjugate gradients on the tape. Products with the matrix are central differences.
fn unrolled(block: &Simulator<f64>) -> Result<Vectors> {
    let (n, elements, device) = (block.x.len(), block.mesh.tets.len() / 4, block.x.device());
    let (mu, lambda) = (device.uninit(1)?, device.uninit(1)?);
    lame_parameters(1, &block.material.young, &block.material.poisson, &mu, &lambda)?;
    let (inverse, q) = (device.uninit(elements)?, device.uninit(elements)?);
    rest_shape(elements, &block.mesh.rest, &block.mesh.tets, &mu, &lambda, &block.density, &inverse, &q)?;
    let (mass, h) = (vertex_masses(&block.mesh, &block.density)?, block.solver.dt);
    let residual = |y: &Vectors, x: &Vectors, v: &Vectors| -> Result<Vectors> {
        let (force, r) = (device.zeros(n)?, device.uninit(n)?);
        elastic_forces::<f64, QuadraticNeoHookean>(elements, y, &block.mesh.tets, &inverse, &q, &force)?;
        implicit_residual(n, y, x, v, &force, &mass, &block.fixed, &block.gravity, &block.damping, &r, h)?;
        Ok(r)
    };
    let (mut x, mut v) = (block.x.clone(), block.v.clone());
    for _ in 0..STEPS {
        let mut y = x.clone();
        for _ in 0..NEWTON {
            let product = |p: &Vectors| -> Result<Vectors> {
                // Of a direction of unit length.
                let size = device.uninit(1)?;
                scale_of(1, &reduce::squared_norm(p)?, &size, NEAR)?;
                let part = arith::scale_by(p, &size)?;
                let (up, down) = (arith::add(&y, &part)?, arith::sub(&y, &part)?);
                let difference = arith::sub(&residual(&up, &x, &v)?, &residual(&down, &x, &v)?)?;
                let half = device.uninit(1)?;
                half_inverse(1, &size, &half)?;
                arith::scale_by(&difference, &half)
            };
            y = arith::sub(&y, &conjugate_gradients(product, &residual(&y, &x, &v)?)?)?;
        }
        v = device.uninit(n)?;
        mean_velocity(n, &y, &x, &v, h)?;
        x = y;
    }
    Ok(x)
}

#[diff_kernel]
fn scale_of<F: Float>(square: &Array<F>, scale: &mut Array<F>, near: F) {
    scale[0] = near / (square[0] + 1e-300).sqrt();
}

#[diff_kernel]
fn half_inverse<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[0] = 0.5 / x[0];
}

/// `a / b`, 0 where `b` vanishes: an iteration that has converged stands still.
#[diff_kernel]
fn quotient<F: Float>(a: &Array<F>, b: &Array<F>, q: &mut Array<F>) {
    q[0] = if b[0] > 0.0 { a[0] / b[0] } else { F::new(0.0) };
}

/// `x` of `A x = b`.
fn conjugate_gradients(product: impl Fn(&Vectors) -> Result<Vectors>, b: &Vectors) -> Result<Vectors> {
    let ratio = |a: &Array<f64>, b: &Array<f64>| -> Result<Array<f64>> {
        let q = a.device().uninit(1)?;
        quotient(1, a, b, &q)?;
        Ok(q)
    };
    let (mut x, mut r, mut p) = (b.device().zeros(b.len())?, b.clone(), b.clone());
    let start = reduce::squared_norm(b)?.to_vec()?[0];
    let mut square = reduce::squared_norm(&r)?;
    for _ in 0..GRADIENTS {
        if square.to_vec()?[0] <= 1e-20 * start {
            break;
        }
        let pushed = product(&p)?;
        let alpha = ratio(&square, &reduce::dot(&p, &pushed)?)?;
        x = arith::add(&x, &arith::scale_by(&p, &alpha)?)?;
        r = arith::sub(&r, &arith::scale_by(&pushed, &alpha)?)?;
        let next = reduce::squared_norm(&r)?;
        p = arith::add(&r, &arith::scale_by(&p, &ratio(&next, &square)?)?)?;
        square = next;
    }
    Ok(x)
}
