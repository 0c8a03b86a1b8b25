//! The gradient of the whole program - more than a thousand steps with contact and friction, all frames rendered, the
//! loss - by the adjoint and by forward mode, against central differences in 64 bits.

#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{copy_sample, edit_scene, fresh};
use serde_json::json;
use train::experiment::Identify;
use train::identify::gradcheck;
use train::job::{Simulator, Stop};
use train::scene::Scene;
use train::video::{Frame, Video};

/// Pixels of the sample that become one.
const SHRINK: usize = 4;
/// Of the frames of the sample, every second is kept.
const STRIDE: usize = 2;
/// So many frames are kept.
const KEPT: usize = 4;

/// Every so many pixels' mean.
fn shrunk(frame: &Frame, width: usize) -> Frame {
    let small = width / SHRINK;
    let pixel = |k: usize| {
        let (row, column) = (SHRINK * (k / small), SHRINK * (k % small));
        let block = (0..SHRINK * SHRINK).map(|j| (row + j / SHRINK) * width + column + j % SHRINK);
        block.map(|at| frame.silhouette[at]).sum::<f32>() / (SHRINK * SHRINK) as f32
    };
    Frame { silhouette: (0..small * small).map(pixel).collect(), shaded: Vec::new(), depth: Vec::new() }
}

#[test]
fn the_gradient_of_the_whole_program_by_mpm_agrees_with_differences() {
    the_gradient_agrees(Simulator::Mpm);
}

#[test]
fn the_gradient_of_the_whole_program_by_finite_elements_agrees_with_differences() {
    the_gradient_agrees(Simulator::Fem);
}

fn the_gradient_agrees(simulator: Simulator) {
    let folder = copy_sample(&fresh(&format!("whole_gradient_{simulator:?}")));
    let [video]: [Video; 1] = Video::read(&folder, &Scene::read(&folder).unwrap()).unwrap().try_into().unwrap();
    let small = video.width / SHRINK;
    edit_scene(&folder, "/camera/width", json!(small));
    edit_scene(&folder, "/camera/height", json!(small));
    edit_scene(&folder, "/frame_rate", json!(32.0 / STRIDE as f64));
    edit_scene(&folder, "/num_frames", json!(KEPT));
    // Few particles or cells, that slide on a rough floor.
    edit_scene(&folder, "/object/block_min", json!([-0.30, -0.05, 0.06]));
    edit_scene(&folder, "/object/block_max", json!([-0.10, 0.11, 0.22]));
    edit_scene(&folder, "/object/initial_velocity", json!([0.8, -0.3, 0.0]));
    edit_scene(
        &folder,
        "/floor",
        json!({"point": [0, 0, 0], "normal": [0, 0, 1], "contact": "rigid", "friction": 0.3}),
    );
    // Light and stiff, so that the steps are short.
    edit_scene(&folder, "/object/density", json!(150.0));
    edit_scene(&folder, "/unknowns/lambda/range", json!([6000.0, 120_000.0]));
    let scene = Scene::read(&folder).unwrap();
    let frames: Vec<_> =
        video.frames.iter().step_by(STRIDE).take(KEPT).map(|frame| shrunk(frame, video.width)).collect();
    let video = Video { width: small, height: small, frames, masks: None };

    let job = Identify { simulator: Some(simulator), ..Identify::new(folder) };
    let options = job.options(&scene).unwrap();
    let check = gradcheck(&scene, &[video], &options, &Stop::default()).unwrap();
    assert!((1000..2500).contains(&check.steps), "{} steps", check.steps);
    assert_eq!(check.frames, KEPT);
    // A check that met kinks says so and draws other seeds; three stay.
    assert!(check.kinks.len() <= 1, "{:?}", check.kinks);
    assert_eq!(check.directions.len(), 3, "{:?}", check.kinks);
    for d in &check.directions {
        assert!(d.error <= 1e-6, "{d:?}");
        assert!(d.taylor_rate > 1.9, "{d:?}");
        // Without the gradient the remainder is of first order: the test can fail.
        assert!((d.taylor_rate_without - 1.0).abs() < 0.1, "{d:?}");
    }
    assert!(check.passed && check.bound == 1e-6);
}
