//! Surfaces that particles carry.

use crate::common::Random;
use crate::{PRIMITIVES, largest, pose};
use diffkern::prelude::*;
use diffkern_sim::Result;
use diffkern_sim::mpm::{Dim3, mean_square_distance};
use diffkern_sim::shape::{Body, FilledBody};

fn bodies(seed: u64) -> impl Iterator<Item = Result<FilledBody>> {
    let mut r = Random(seed);
    PRIMITIVES.into_iter().map(move |p| Body { pose: pose(&mut r), ..Body::new(p, 0.1) }.build())
}

#[test]
fn affine_motions_are_followed_exactly() -> Result<()> {
    let device = Device::cpu();
    for seed in 1..4 {
        let mut r = Random(seed);
        for body in bodies(seed) {
            let body = body?;
            let surface = body.surface::<f64>(&device)?;
            for size in [0.0, 1.5] {
                let map = Mat3::identity() + r.mat3(size);
                let shift = r.vec3(-size, size);
                let apply = |x: &[f64; 3]| map * Vec3::from_array(*x) + shift;
                let x: Vec<_> = body.particles.positions.iter().map(apply).collect();
                let seen = surface.vertices(&device.array(&x)?)?.to_vec()?;
                let difference = |(v, rest): (&Vec3<f64>, &[f64; 3])| (*v - apply(rest)).to_array();
                let off = largest(seen.iter().zip(body.mesh.vertices()).flat_map(difference));
                assert!(off < 1e-13, "a vertex is {off} m off");
            }
        }
    }
    Ok(())
}

/// Between them vertices are the quadratic motion up to its second order.
#[test]
fn bending_is_followed_to_second_order() -> Result<()> {
    let device = Device::cpu();
    let mut worst = [0.0f64; 2];
    for (worst, h) in worst.iter_mut().zip([0.1, 0.05]) {
        let body = Body::new(PRIMITIVES[5], h).build()?;
        let bent = |[x, y, z]: [f64; 3]| Vec3::new(x + 0.3 * z * z, y + 0.3 * x * y, z + 0.3 * x * x);
        let x: Vec<_> = body.particles.positions.iter().map(|&x| bent(x)).collect();
        let seen = body.surface::<f64>(&device)?.vertices(&device.array(&x)?)?.to_vec()?;
        *worst = largest(seen.iter().zip(body.mesh.vertices()).flat_map(|(v, &rest)| (*v - bent(rest)).to_array()));
    }
    assert!(worst[0] / worst[1] > 3.0 && worst[1] < 0.05 * 0.05, "{worst:?}");
    Ok(())
}

#[test]
fn gradient_to_the_particles_is_exact() -> Result<()> {
    let device = Device::cpu();
    for (seed, body) in bodies(9).enumerate() {
        let body = body?;
        let surface = body.surface::<f64>(&device)?;
        let mut r = Random(seed as u64);
        let at: Vec<_> = body.particles.positions.iter().map(|&x| Vec3::from_array(x) + r.vec3(-0.1, 0.1)).collect();
        let along: Vec<_> = at.iter().map(|_| r.vec3(-1.0, 1.0)).collect();
        let loss = |x: &Array<Vec3<f64>>| mean_square_distance::<Dim3, f64>(&surface.vertices(x)?, [0.2, -0.3, 1.0]);
        let x = device.array(&at)?.requires_grad();
        let (tape, value) = Tape::record_value(|| loss(&x))?;
        tape.backward(&value)?;
        let slope: f64 = x.grad()?.to_vec()?.iter().zip(&along).map(|(g, d)| g.dot(*d)).sum();
        let moved = |s: f64| -> Result<f64> {
            let x: Vec<_> = at.iter().zip(&along).map(|(x, d)| *x + *d * s).collect();
            Ok(loss(&device.array(&x)?)?.to_vec()?[0])
        };
        // The loss is quadratic, so the central difference is exact.
        let expected = 0.5 * (moved(1.0)? - moved(-1.0)?);
        assert!((slope - expected).abs() < 1e-11 * expected.abs(), "{slope} instead of {expected}");
    }
    Ok(())
}

#[test]
fn particles_of_another_body_are_refused() -> Result<()> {
    let device = Device::cpu();
    let surface = Body::new(PRIMITIVES[1], 0.2).build()?.surface::<f32>(&device)?;
    assert!(surface.vertices(&device.zeros(3)?).is_err());
    Ok(())
}
