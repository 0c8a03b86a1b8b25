//! Unknowns other than a material's stiffness, from videos that the program made itself.
#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{copy_sample, edit_scene, fresh, json_of, run};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Grid cells across the thinnest side: few, for the sake of time.
const CELLS: &str = "4";

/// A small video of the block in flight, with values of some parameters that the scene beside it does not
/// have; `unknowns` with their ranges.
fn video(folder: &Path, frames: usize, set: &str, unknowns: Value) {
    let sample = folder.join("sample");
    fs::rename(copy_sample(folder), &sample).unwrap();
    let changes = [
        ("/num_frames", json!(frames)),
        ("/frame_rate", json!(100)),
        ("/camera/width", json!(48)),
        ("/camera/height", json!(48)),
        ("/floor/contact", json!("frictionless")),
        ("/unknowns", unknowns),
    ];
    changes.into_iter().for_each(|(pointer, value)| edit_scene(&sample, pointer, value));
    run(
        folder,
        &["simulate", "sample", "--set", "mu=6000,lambda=15000", "--set", set, "--cells", CELLS, "--out", "video"],
        0,
    );
}

/// The parameters that are found, each with its interval.
fn found(folder: &Path, more: &[&str]) -> Value {
    run(folder, &[&["identify", "video", "--cells", CELLS, "--out", "out"], more].concat(), 0);
    json_of(&folder.join("out/result.json"))
}

fn close(result: &Value, name: &str, truth: f64, tolerance: f64) {
    let value = result["parameters"][name].as_f64().unwrap();
    assert!((value - truth).abs() < tolerance, "{name}: {value}, not {truth}");
    let interval = &result["intervals"][name];
    let end = |k: usize| interval[k].as_f64().unwrap();
    assert!(end(0) < value && value < end(1), "{name}: {interval}");
    assert_eq!(result["determined"][name], json!(true), "{name}");
}

#[test]
fn velocities_and_the_cameras_place_are_found() {
    let folder = fresh("unknown_velocity");
    let ranges = json!({
        "velocity.x": {"range": [-0.5, 1.5]},
        "bodies.body.angular_velocity.y": {"range": [-6.0, 6.0]},
        "cameras.main.position.z": {"range": [0.4, 0.6]}
    });
    video(&folder, 8, "velocity.x=0.75,angular_velocity.y=1.5,position.z=0.49", ranges);
    let result = found(&folder, &["--set", "mu=6000,lambda=15000"]);
    close(&result, "velocity.x", 0.75, 5e-3);
    close(&result, "bodies.body.angular_velocity.y", 1.5, 5e-2);
    close(&result, "cameras.main.position.z", 0.49, 2e-3);
}

#[test]
fn what_a_video_does_not_show_is_said_to_be_unknown() {
    let folder = fresh("unknown_density");
    // A body falls whatever it weighs.
    video(&folder, 4, "density=1000", json!({"density": {"range": [500.0, 2000.0]}}));
    let set = ["--set", "mu=6000,lambda=15000"];
    // By finite elements to the last digit.
    let job = [&["identify", "video", "--cells", CELLS, "--out", "out"], &set[..]].concat();
    assert!(run(&folder, &job, 1).contains("density not identifiable"));
    let result = found(&folder, &[&set[..], &["--simulator", "mpm"]].concat());
    assert_eq!(result["determined"]["density"], json!(false), "{result}");
}
