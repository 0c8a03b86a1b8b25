//! Scenes with several cameras, takes and videos, fields, masks and priors, from videos that the program made itself.
#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{fresh, json_of, run};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Grid cells across the thinnest side: few, for the sake of time.
const CELLS: &str = "4";
/// So few that no finer grid follows that of the search.
const FEWER: &str = "3";

/// A block that flies over a floor, without videos and unknowns.
fn block() -> Value {
    json!({
        "version": 1,
        "name": "block",
        "frame_rate": 60.0,
        "frames": 8,
        "gravity": [0.0, 0.0, -9.81],
        "bodies": {
            "jelly": {
                "shape": {"box": {"size": [0.12, 0.1, 0.08]}},
                "pose": {"position": [0.0, 0.0, 0.07]},
                "velocity": [0.3, 0.0, -1.5],
                "density": 1000.0,
                "material": {"law": "neo_hookean", "lambda": 9000.0},
                "albedo": [0.9, 0.5, 0.4],
            },
        },
        "colliders": {"floor": {"shape": {"half_space": {"normal": [0.0, 0.0, 1.0]}}, "contact": "frictionless"}},
        "cameras": {
            "front": {"position": [0.05, -0.7, 0.15], "look_at": [0.02, 0.0, 0.05], "vertical_fov": 0.4, "width": 48, "height": 40},
            "side": {"position": [0.8, -0.1, 0.2], "look_at": [0.02, 0.0, 0.05], "vertical_fov": 0.35, "width": 40, "height": 48},
        },
        "lights": {"sun": {"direction": [0.35, -0.6, 0.75], "intensity": 0.85}},
        "unknowns": {},
    })
}

fn write(folder: &Path, scene: &Value) {
    fs::create_dir_all(folder.join("scene")).unwrap();
    fs::write(folder.join("scene/scene.json"), scene.to_string()).unwrap();
}

fn simulate(folder: &Path, set: &str) {
    run(folder, &["simulate", "scene", "--set", set, "--cells", CELLS, "--bits", "16", "--out", "video"], 0);
}

fn identify(folder: &Path, out: &str, more: &[&str]) -> Value {
    run(folder, &[&["identify", "video", "--cells", CELLS, "--out", out], more].concat(), 0);
    json_of(&folder.join(out).join("result.json"))
}

fn within(result: &Value, name: &str, truth: f64, share: f64) {
    let value = result["parameters"][name].as_f64().unwrap();
    assert!((value / truth - 1.0).abs() < share, "{name}: {value}, not {truth}: {result}");
}

/// Films of one camera each, of a take each.
fn two_takes() -> Value {
    let mut scene = block();
    scene["takes"] = json!({
        "drop": {},
        "throw": {"bodies": {"jelly": {"pose": {"position": [-0.03, 0.02, 0.06]}, "velocity": [0.8, 0.1, -1.0]}}},
    });
    scene["videos"] = json!({
        "first": {"camera": "front", "take": "drop", "silhouette": "videos/first/silhouette", "shaded": "videos/first/shaded"},
        "second": {"camera": "side", "take": "throw", "silhouette": "videos/second/silhouette", "shaded": "videos/second/shaded"},
    });
    scene["unknowns"] = json!({
        "bodies.jelly.material.mu": {"range": [4000.0, 14000.0]},
        "takes.throw.bodies.jelly.velocity.x": {"range": [0.3, 1.2]},
    });
    scene
}

/// Fewer frames and smaller pictures, for the sake of time.
fn shorten(scene: &mut Value, frames: usize) {
    scene["frames"] = json!(frames);
    for (name, camera) in scene["cameras"].as_object_mut().unwrap() {
        let [width, height] = if name == "front" { [36, 30] } else { [30, 36] };
        (camera["width"], camera["height"]) = (json!(width), json!(height));
    }
}

#[test]
fn two_videos_of_one_body_are_fitted_together() {
    let folder = fresh("two_takes");
    let mut scene = two_takes();
    shorten(&mut scene, 6);
    write(&folder, &scene);
    simulate(&folder, "mu=6000,takes.throw.velocity.x=0.72");
    assert!(folder.join("video/videos/second/silhouette/frame_0005.png").exists());
    let result = identify(&folder, "out", &[]);
    within(&result, "bodies.jelly.material.mu", 6000.0, 1e-3);
    within(&result, "takes.throw.bodies.jelly.velocity.x", 0.72, 1e-3);
    assert!(result["iou"].as_f64().unwrap() > 0.98, "{result}");
    for film in ["first", "second"] {
        assert!(folder.join("out/frames").join(film).join("shaded/frame_0005.png").exists());
    }
    // Adjoint and forward mode of both takes against differences.
    run(&folder, &["identify", "video", "--cells", "2", "--gradcheck", "--max-iterations", "1", "--out", "checked"], 0);
    let check = json_of(&folder.join("checked/gradient.json"));
    assert_eq!(check["passed"], json!(true), "{check}");
}

#[test]
fn a_stiffness_is_found_piece_by_piece() {
    let folder = fresh("field");
    let mut scene = block();
    shorten(&mut scene, 6);
    scene["frame_rate"] = json!(60.0);
    scene["bodies"]["jelly"]["shape"] = json!({"box": {"min": [0.0, -0.02, 0.2], "max": [0.16, 0.02, 0.24]}});
    scene["bodies"]["jelly"].as_object_mut().unwrap().remove("pose");
    scene["bodies"]["jelly"]["velocity"] = json!([0.0, 0.0, 0.0]);
    scene["bodies"]["jelly"]["clamps"] = json!([{"axis": "x", "plane": 0.02, "side": "below"}]);
    scene["cameras"].as_object_mut().unwrap().remove("side");
    scene["cameras"]["front"]["look_at"] = json!([0.08, 0.0, 0.18]);
    scene["cameras"]["front"]["position"] = json!([0.08, -0.7, 0.2]);
    scene["colliders"] = json!({});
    scene["unknowns"] = json!({"bodies.jelly.material.mu": {"range": [4000.0, 40000.0], "field": [4, 1, 1]}});
    write(&folder, &scene);
    // Half of the bar is softer.
    simulate(&folder, "mu=24000,mu[2]=8000,mu[3]=8000");
    let result = identify(&folder, "out", &[]);
    for (piece, truth) in [24_000.0, 24_000.0, 8000.0, 8000.0].into_iter().enumerate() {
        within(&result, &format!("bodies.jelly.material.mu[{piece}]"), truth, 1e-3);
    }
}

/// A ball that falls onto a box and is hit by another, which moves up and takes it along by friction.
fn struck() -> Value {
    let mut scene = block();
    let jelly = &mut scene["bodies"]["jelly"];
    jelly["shape"] = json!({"sphere": {"radius": 0.05}});
    jelly["pose"] = json!({"position": [0.0, 0.0, 0.06]});
    jelly["velocity"] = json!([0.0, 0.0, -0.5]);
    scene["colliders"] = json!({
        "table": {
            "shape": {"box": {"size": [0.6, 0.6, 0.1]}}, "pose": {"position": [0.0, 0.0, -0.05]}, "contact": {"friction": 0.2},
        },
        "bat": {
            "shape": {"box": {"size": [0.04, 0.3, 0.3]}}, "pose": {"position": [-0.12, 0.0, 0.1]},
            "motion": {"velocity": [1.5, 0.0, 0.9]}, "contact": {"friction": 0.3},
        },
    });
    scene["cameras"].as_object_mut().unwrap().remove("side");
    scene["unknowns"] = json!({
        "bodies.jelly.material.mu": {"range": [5000.0, 7000.0]},
        "colliders.bat.contact.friction": {"range": [0.05, 0.6]},
    });
    scene
}

#[test]
fn the_friction_of_a_box_that_moves_is_found() {
    let folder = fresh("struck");
    let mut scene = struck();
    shorten(&mut scene, 6);
    write(&folder, &scene);
    simulate(&folder, "mu=6000,bat.friction=0.45");
    let result = identify(&folder, "out", &["--set", "mu=6000"]);
    within(&result, "colliders.bat.contact.friction", 0.45, 0.02);
    let result = identify(&folder, "both", &[]);
    within(&result, "bodies.jelly.material.mu", 6000.0, 0.03);
    // Adjoint and forward mode against differences.
    run(&folder, &["identify", "video", "--cells", "2", "--gradcheck", "--max-iterations", "1", "--out", "checked"], 0);
    let check = json_of(&folder.join("checked/gradient.json"));
    assert_eq!(check["passed"], json!(true), "{check}");
}

#[test]
fn a_prior_tells_what_a_video_does_not() {
    let folder = fresh("prior");
    let mut scene = two_takes();
    shorten(&mut scene, 3);
    scene["bodies"]["jelly"]["pose"] = json!({"position": [0.0, 0.0, 0.12]});
    scene["takes"]["throw"]["bodies"]["jelly"]["pose"] = json!({"position": [0.0, 0.0, 0.12]});
    let prior = json!({"log_normal": {"median": 900.0, "deviation": 0.05}});
    // A body falls whatever it weighs; where it is thrown shows.
    scene["unknowns"] = json!({
        "bodies.jelly.density": {"range": [500.0, 2000.0], "prior": prior},
        "takes.throw.bodies.jelly.velocity.x": {"range": [0.3, 1.2], "prior": {"normal": {"mean": 0.5, "deviation": 0.2}}},
    });
    write(&folder, &scene);
    let mpm = ["--simulator", "mpm"];
    let set = ["--set", "mu=6000,takes.throw.velocity.x=0.72"];
    let made = ["simulate", "scene", "--cells", FEWER, "--bits", "16", "--out", "video"];
    run(&folder, &[&made[..], &set, &mpm].concat(), 0);
    let found = ["identify", "video", "--cells", FEWER, "--set", "mu=6000", "--out", "out"];
    run(&folder, &[&found[..], &mpm].concat(), 0);
    let result = json_of(&folder.join("out/result.json"));
    within(&result, "bodies.jelly.density", 900.0, 0.01);
    within(&result, "takes.throw.bodies.jelly.velocity.x", 0.72, 0.01);
    let interval = &result["intervals"]["bodies.jelly.density"];
    let half = (interval[1].as_f64().unwrap() / 900.0).ln();
    assert!((half / (1.96 * 0.05) - 1.0).abs() < 0.1, "{interval}");
    let said = run(&folder, &["identify", "video", "--optimizer", "adam", "--set", "mu=6000", "--out", "no"], 2);
    assert!(said.contains("prior"), "{said}");
}

#[test]
fn what_a_mask_covers_does_not_count() {
    let folder = fresh("mask");
    write(&folder, &two_takes());
    simulate(&folder, "mu=6000,takes.throw.velocity.x=0.72");
    // The lower half of the first film is something else.
    let film = folder.join("video/videos/first");
    fs::create_dir_all(film.join("masks")).unwrap();
    for frame in 0..8 {
        let name = format!("frame_{frame:04}.png");
        let white = |row: u32| if row < 20 { 255 } else { 0 };
        let mask: Vec<u8> = (0..40).flat_map(|row| vec![white(row); 48]).collect();
        common::write_grey(&film.join("masks").join(&name), 48, 40, &mask);
        let covered: Vec<u8> = (0..40 * 48).map(|k| if k >= 20 * 48 { 255 } else { 0 }).collect();
        if frame > 5 {
            common::write_grey(&film.join("silhouette").join(&name), 48, 40, &covered);
        }
    }
    let mut scene = json_of(&folder.join("video/scene.json"));
    scene["videos"]["first"]["masks"] = json!("videos/first/masks");
    scene["videos"]["first"]["weights"] = json!({"silhouette": 0.5});
    scene["frames"] = json!(6);
    fs::write(folder.join("video/scene.json"), scene.to_string()).unwrap();
    let result = identify(&folder, "out", &[]);
    within(&result, "takes.throw.bodies.jelly.velocity.x", 0.72, 0.01);
}

/// What a scene reads may lie outside; what is written does not.
#[test]
fn frames_are_not_written_outside() {
    let folder = fresh("outside");
    let mut scene = two_takes();
    scene["videos"]["first"]["silhouette"] = json!("videos/../../elsewhere");
    write(&folder, &scene);
    let set = "mu=6000,takes.throw.velocity.x=0.72";
    for more in [&[][..], &["--allow-outside"]] {
        let said = run(&folder, &[&["simulate", "scene", "--set", set, "--out", "video"], more].concat(), 2);
        assert!(said.contains("videos.first.silhouette"), "{said}");
    }
    assert!(!folder.join("elsewhere").exists());
}
