//! Motions that do not come to their end.
#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{fresh, run, write_scene};
use serde_json::json;
use std::fs;

/// The frame that a message names, and the places of the vertices in the file beside it.
fn kept(folder: &std::path::Path, message: &str) -> (usize, Vec<[f64; 3]>) {
    let (_, after) = message.split_once("the bodies in frame ").unwrap_or_else(|| panic!("{message}"));
    let frame = after.split(',').next().unwrap().parse().unwrap();
    let text = fs::read_to_string(folder.join("out/last_frame.obj")).unwrap();
    let numbers = |line: &str| -> [f64; 3] {
        let all: Vec<f64> = line.split(' ').skip(1).map(|word| word.parse().unwrap()).collect();
        all.try_into().unwrap()
    };
    let vertices: Vec<[f64; 3]> = text.lines().filter(|line| line.starts_with("v ")).map(numbers).collect();
    assert!(text.lines().filter(|line| line.starts_with("f ")).count() > vertices.len(), "{text}");
    (frame, vertices)
}

#[test]
fn the_last_frame_before_an_element_turns_inside_out_is_kept() {
    let folder = fresh("unstable");
    let scene = json!({
        "version": 1,
        "name": "crushed",
        "frame_rate": 100.0,
        "frames": 20,
        "gravity": [0.0, 0.0, -9.81],
        "bodies": {"jelly": {
            "shape": {"box": {"size": [0.1, 0.1, 0.1]}},
            "pose": {"position": [0.0, 0.0, 0.25]},
            "velocity": [0.5, 0.0, -10.0],
            "density": 1000.0,
            "material": {"law": "neo_hookean", "mu": 2000.0, "lambda": 2000.0},
            "albedo": [0.9, 0.5, 0.4],
        }},
        "colliders": {"floor": {"shape": {"half_space": {"normal": [0, 0, 1], "point": [0, 0, 0]}}, "contact": {"friction": 0.3}}},
        "cameras": {"front": {"position": [0.1, -0.9, 0.2], "look_at": [0.0, 0.0, 0.1], "vertical_fov": 0.6, "width": 24, "height": 20}},
        "lights": {"sun": {"direction": [0.35, -0.6, 0.75], "intensity": 0.85}},
    });
    write_scene(&folder.join("scene"), &scene);
    let simulate = ["simulate", "scene", "--cells", "3", "--out", "out"];
    let message = run(&folder, &simulate, 2);
    assert!(message.contains("inverted after step") && message.contains("expected stiffer values"), "{message}");
    let (frame, vertices) = kept(&folder, &message);
    // It has fallen nearly as far as in free flight, and is not through the floor.
    let t = frame as f64 / 100.0;
    let lowest = vertices.iter().map(|x| x[2]).fold(f64::INFINITY, f64::min);
    let flown = 0.2 - 10.0 * t - 0.5 * 9.81 * t * t;
    assert!(frame > 0 && lowest < 0.2 && lowest > flown.max(-0.02) - 1e-3, "{frame}: {lowest}, {flown}: {message}");
    // A stiffer one comes to its end, and the file of the former is gone.
    run(&folder, &[&simulate[..], &["--set", "mu=600000,lambda=600000"]].concat(), 0);
    assert!(!folder.join("out/last_frame.obj").exists() && folder.join("out/scene.json").exists());
}
