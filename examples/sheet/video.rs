//! The velocity of a throw, from silhouettes.

use crate::scene::Scene;
use diffkern::jvp;
use diffkern::prelude::*;
use diffkern_optim::dense::{Bounds, LevenbergMarquardt, NormalEquations};
use diffkern_render::{Camera, Mesh, Renderer, loss};

const FRAMES: usize = 6;
const SIZE: [usize; 2] = [96, 72];
pub const THROW: [f64; 3] = [-0.5, 0.4, -1.8];

/// Silhouettes of the frames of a throw, each less one of `seen` where there are some.
fn video(
    scene: &Scene,
    logarithms: &Array<f64>,
    throw: &Array<Vec3<f64>>,
    dt: f64,
    seen: &[Array<f64>],
) -> Result<Vec<Array<f64>>> {
    let [width, height] = SIZE;
    let (position, look_at, up) = ([0.8, -1.7, 0.7], [0.0, 0.0, -0.15], [0.0, 0.0, 1.0]);
    let camera = Camera { position, look_at, up, vertical_fov: 0.8, width, height, near: 0.1 };
    let camera = camera.params(&scene.device)?;
    let mesh = Mesh::smooth(scene.triangles.clone(), scene.positions.len())?.two_sided();
    let renderer = Renderer::new(&scene.device, &mesh)?;
    let mut frames = Vec::new();
    scene.run(logarithms, throw, (dt, FRAMES), |frame, state| {
        let image = renderer.silhouette(&state.x, &camera)?.coverage;
        frames.push(match seen.get(frame) {
            Some(seen) => loss::residual(&image, seen, 1.0)?,
            None => image,
        });
        Ok(())
    })?;
    Ok(frames)
}

/// The velocity \[m/s\] whose video is that of the hidden throw and stiffnesses with a quarter of the time step.
pub fn recover(scene: &Scene, logarithms: &Array<f64>) -> Result<[f64; 3]> {
    let velocity = |v: [f64; 3]| scene.device.array(&[Vec3::from_array(v)]);
    let hidden = scene.device.array(&scene.hidden())?;
    let seen = video(scene, &hidden, &velocity(THROW)?, scene.dt() / 4.0, &[])?;
    // Residuals and their derivatives by the three components, in one pass.
    let at = |v: [f64; 3]| -> Result<NormalEquations> {
        let throw = velocity(v)?;
        let axes = [velocity([1.0, 0.0, 0.0])?, velocity([0.0, 1.0, 0.0])?, velocity([0.0, 0.0, 1.0])?];
        let along: Vec<_> = axes.iter().map(|axis| [(throw.as_any(), axis.as_any())]).collect();
        let along: Vec<&[_]> = along.iter().map(|pair| &pair[..]).collect();
        let (frames, by) = jvp(&along, || video(scene, logarithms, &throw, scene.dt(), &seen))?;
        let mut normal = NormalEquations::new(3);
        for frame in &frames {
            let columns = (0..3).map(|k| by.get(k, frame)?.to_vec()).collect::<Result<Vec<_>>>()?;
            normal.add(&frame.to_vec()?, &columns)?;
        }
        Ok(normal)
    };
    let bounds = Bounds { low: vec![-5.0; 3], high: vec![5.0; 3], trust: vec![0.5; 3] };
    let mut v = [0.3, -0.2, -1.2];
    let (mut rule, mut here) = (LevenbergMarquardt::default(), at(v)?);
    for _ in 0..20 {
        let Some(step) = rule.propose(&here, &bounds, &v)? else { break };
        if rule.refused > 3 || step.change.iter().all(|c| c.abs() < 1e-6) {
            break;
        }
        let next = [0, 1, 2].map(|k| v[k] + step.change[k]);
        let there = at(next)?;
        if there.cost < here.cost {
            (v, here) = (next, there);
            rule.accept();
        } else {
            rule.refuse();
        }
    }
    Ok(v)
}
