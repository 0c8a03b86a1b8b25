//! Motions that do not come to their end.
#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{fresh, run, write_scene};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The frame that a message names, and the places of the vertices in the file beside it.
fn kept(folder: &Path, message: &str) -> (usize, Vec<[f64; 3]>) {
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

/// A soft cube that is thrown onto a floor.
fn thrown() -> Value {
    json!({
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
        "cameras": {"front": {"position": [0.0, -0.9, 0.2], "look_at": [0.0, 0.0, 0.1], "vertical_fov": 0.6, "width": 24, "height": 20}},
        "lights": {"sun": {"direction": [0.35, -0.6, 0.75], "intensity": 0.85}},
    })
}

/// Two such cubes at rest, `apart` along x.
fn beside(apart: f64) -> Value {
    let mut scene = thrown();
    let mut cube = scene["bodies"]["jelly"].clone();
    cube["velocity"] = json!([0.0, 0.0, 0.0]);
    scene["bodies"] = json!({"left": cube, "right": cube});
    scene["bodies"]["right"]["pose"]["position"][0] = json!(apart);
    scene["contact_between_bodies"] = json!("frictionless");
    scene
}

#[test]
fn the_last_frame_before_an_element_turns_inside_out_is_kept() {
    let folder = fresh("unstable");
    let mut scene = thrown();
    // One whose energy has an end where a volume vanishes.
    scene["bodies"]["jelly"]["material"]["law"] = json!("stable_neo_hookean");
    // Faster, it is more than two centimetres in the floor before.
    scene["bodies"]["jelly"]["velocity"][2] = json!(-2.5);
    write_scene(&folder.join("scene"), &scene);
    let simulate = ["simulate", "scene", "--cells", "3", "--out", "out"];
    let message = run(&folder, &simulate, 2);
    assert!(message.contains("inverted after step") && message.contains("expected stiffer values"), "{message}");
    let (frame, vertices) = kept(&folder, &message);
    // It has fallen nearly as far as in free flight, and is not through the floor.
    let t = frame as f64 / 100.0;
    let lowest = vertices.iter().map(|x| x[2]).fold(f64::INFINITY, f64::min);
    let flown = 0.2 - 2.5 * t - 0.5 * 9.81 * t * t;
    assert!(frame > 0 && lowest < 0.2 && lowest > flown.max(-0.02) - 1e-3, "{frame}: {lowest}, {flown}: {message}");
    // A stiffer one comes to its end, and the file of the former is gone.
    run(&folder, &[&simulate[..], &["--set", "mu=600000,lambda=600000"]].concat(), 0);
    assert!(!folder.join("out/last_frame.obj").exists() && folder.join("out/scene.json").exists());
}

#[test]
fn the_body_is_named_where_there_are_several() {
    let folder = fresh("unstable_pair");
    let mut scene = beside(0.3);
    scene["bodies"]["right"]["velocity"] = json!([0.0, 0.0, -15.0]);
    scene["bodies"]["right"]["material"] = json!({"law": "neo_hookean", "mu": 500.0, "lambda": 500.0});
    write_scene(&folder.join("scene"), &scene);
    let message = run(&folder, &["simulate", "scene", "--cells", "3", "--out", "out"], 2);
    assert!(message.contains("scene.json: bodies.right.material: "), "{message}");
    assert!(message.contains("of the body \"right\" is") && message.contains("after step"), "{message}");
    kept(&folder, &message);
}

/// Between two walls that come together.
#[test]
fn a_rigid_body_that_runs_away_is_told_as_that() {
    let folder = fresh("unstable_rigid");
    let mut scene = thrown();
    scene["gravity"] = json!([0.0, 0.0, 0.0]);
    scene["bodies"]["jelly"]["material"] = json!({"law": "rigid"});
    scene["bodies"]["jelly"]["velocity"] = json!([0.0, 0.0, 0.0]);
    let wall = |side: f64| {
        json!({
            "shape": {"half_space": {"normal": [side, 0, 0], "point": [-0.06 * side, 0, 0]}},
            "motion": {"velocity": [0.5 * side, 0, 0]}, "contact": {"friction": 0.3},
        })
    };
    scene["colliders"] = json!({"left": wall(1.0), "right": wall(-1.0)});
    write_scene(&folder.join("scene"), &scene);
    let message = run(&folder, &["simulate", "scene", "--out", "out"], 2);
    assert!(message.contains("scene.json: bodies.jelly: the body \"jelly\" runs away: after step "), "{message}");
    assert!(message.contains("expected more steps a frame (--cells)") && !message.contains("camera"), "{message}");
    let (_, vertices) = kept(&folder, &message);
    assert!(vertices.as_flattened().iter().all(|x| x.abs() < 1.0), "{vertices:?}");
}

#[test]
fn particles_that_leave_the_grid_upwards_or_sideways_are_no_fault_of_a_floor() {
    let folder = fresh("unstable_particles");
    let mut scene = thrown();
    let floor = scene["colliders"]["floor"].clone();
    scene["colliders"] = json!({"table": floor});
    let jelly = &mut scene["bodies"]["jelly"];
    jelly["pose"]["position"] = json!([0.0, 0.0, 0.08]);
    jelly["velocity"] = json!([0.0, 0.0, -10.0]);
    jelly["material"] = json!({"law": "neo_hookean", "mu": 20000.0, "lambda": 20000.0});
    let told = |scene: &Value| {
        write_scene(&folder.join("scene"), scene);
        let simulate = ["simulate", "scene", "--simulator", "mpm", "--cells", "3", "--out", "out"];
        let message = run(&folder, &simulate, 2);
        assert!(message.contains("left the region of the grid") && message.contains("after step"), "{message}");
        assert!(!message.contains("table") && !message.contains("floor"), "{message}");
        message
    };
    let message = told(&scene);
    assert!(message.contains("bodies.jelly.velocity: particle") && message.contains("upwards"), "{message}");
    (scene["colliders"], scene["frames"]) = (json!({}), json!(8));
    scene["bodies"]["jelly"]["velocity"] = json!([0.2, 0.0, -0.5]);
    scene["bodies"]["jelly"]["angular_velocity"] = json!([0.0, 0.0, 3000.0]);
    let message = told(&scene);
    assert!(message.contains("bodies.jelly.angular_velocity: particle") && message.contains("sideways"), "{message}");
}

#[test]
fn bodies_that_begin_inside_each_other_are_refused_by_every_simulator() {
    let folder = fresh("unstable_inside");
    let mut scene = beside(0.05);
    let refused = |scene: &Value, more: &[&str]| {
        write_scene(&folder.join("scene"), scene);
        let message = run(&folder, &[&["simulate", "scene", "--out", "out"], more].concat(), 2);
        let parts = [
            "scene.json: bodies.right.pose.position: ",
            "the body \"right\" starts 0.05 m inside the body \"left\"",
            "0.05 m along x",
        ];
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        assert!(!folder.join("out").exists());
    };
    refused(&scene, &["--simulator", "fem"]);
    refused(&scene, &["--simulator", "mpm"]);
    for name in ["left", "right"] {
        scene["bodies"][name]["material"] = json!({"law": "rigid"});
    }
    refused(&scene, &[]);
    // Those that lie on each other begin.
    let mut scene = beside(0.0);
    scene["bodies"]["right"]["pose"]["position"] = json!([0.02, 0.01, 0.35]);
    scene["frames"] = json!(2);
    write_scene(&folder.join("scene"), &scene);
    run(&folder, &["simulate", "scene", "--cells", "3", "--out", "out"], 0);
}
