//! Where bodies begin and how colliders move as unknowns, by each simulator: found again from their own videos, and with exact gradients.
#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{fresh, gradient_agrees, json_of, run, write_scene};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A ball that falls onto a rough floor and is struck by a bat; where it begins and how the bat moves are to be found. `axes` has z up.
fn struck(material: Value) -> Value {
    json!({
        "version": 1,
        "name": "struck",
        "frame_rate": 60.0,
        "frames": 7,
        "gravity": [0.0, 0.0, -9.81],
        "bodies": {"ball": {
            "shape": {"ellipsoid": {"radii": [0.05, 0.06, 0.045]}},
            "pose": {"position": [0.01, -0.02, 0.07], "rotation": [0.3, 0.2, 0.4]},
            "velocity": [0.1, 0.2, -0.5],
            "density": 1000.0,
            "material": material,
            "albedo": [0.9, 0.5, 0.4],
        }},
        "colliders": {
            "floor": {"shape": {"half_space": {"normal": [0.0, 0.0, 1.0]}}, "contact": {"friction": 0.2}},
            "bat": {
                "shape": {"box": {"size": [0.06, 0.3, 0.3]}}, "pose": {"position": [-0.13, 0.0, 0.1]},
                "motion": {"velocity": [1.5, 0.2, 0.9], "angular_velocity": [0.2, 1.0, 0.5]}, "contact": {"friction": 0.3},
            },
        },
        "cameras": {"front": {
            "position": [0.05, -0.7, 0.2], "look_at": [0.05, 0.0, 0.07], "vertical_fov": 0.5, "width": 40, "height": 32,
        }, "side": {
            "position": [0.8, -0.1, 0.25], "look_at": [0.05, 0.0, 0.07], "vertical_fov": 0.45, "width": 32, "height": 40,
        }},
        "videos": {
            "a": {"camera": "front", "silhouette": "videos/a/silhouette", "shaded": "videos/a/shaded"},
            "b": {"camera": "side", "silhouette": "videos/b/silhouette", "shaded": "videos/b/shaded"},
        },
        "lights": {"sun": {"direction": [0.35, -0.6, 0.75], "intensity": 0.85}},
        "unknowns": {
            "bodies.ball.pose.position": {"range": [[-0.03, 0.05], [-0.06, 0.02], [0.062, 0.1]]},
            "colliders.bat.motion.velocity": {"range": [[1.2, 2.2], [-0.4, 0.6], [0.3, 1.3]]},
        },
    })
}

fn elastic() -> Value {
    json!({"law": "neo_hookean", "mu": 9000.0, "lambda": 9000.0})
}

const SET: &str = "pose.position.x=0.02,pose.position.y=-0.025,pose.position.z=0.075,motion.velocity.x=1.7";
/// What the videos show well: how fast the bat slides up along the ball hardly matters.
const FOUND: &str = "pose.position.x,pose.position.y,pose.position.z,motion.velocity.x";

/// A folder with the video that a scene shows at `set`.
fn filmed(name: &str, scene: &Value, set: &str, more: &[&str]) -> std::path::PathBuf {
    let folder = fresh(name);
    write_scene(&folder.join("scene"), scene);
    run(&folder, &[&["simulate", "scene", "--set", set, "--bits", "16", "--out", "video"], more].concat(), 0);
    folder
}

fn near(result: &Value, name: &str, truth: f64, tolerance: f64) {
    let found = result["parameters"][name].as_f64().unwrap_or_else(|| panic!("{name}: {result}"));
    assert!((found - truth).abs() < tolerance, "{name}: {found}, not {truth}: {}", result["parameters"]);
    assert_eq!(result["determined"][name], json!(true), "{name}");
}

#[test]
fn a_start_and_a_bat_are_found_by_finite_elements() {
    let folder = filmed("places_fem", &struck(elastic()), SET, &["--cells", "4"]);
    gradient_agrees(&folder, &["--cells", "2"]);
    run(&folder, &["identify", "video", "--cells", "4", "--unknown", FOUND, "--out", "out"], 0);
    let result = json_of(&folder.join("out/result.json"));
    assert_eq!(result["discretisation"]["simulator"], json!("fem"));
    near(&result, "bodies.ball.pose.position.x", 0.02, 2e-5);
    near(&result, "bodies.ball.pose.position.y", -0.025, 2e-5);
    near(&result, "bodies.ball.pose.position.z", 0.075, 2e-5);
    near(&result, "colliders.bat.motion.velocity.x", 1.7, 2e-2);
}

#[test]
fn a_start_and_a_bat_are_found_by_the_material_point_method() {
    let mut scene = struck(elastic());
    scene["unknowns"].as_object_mut().unwrap().remove("bodies.ball.pose.position");
    scene["unknowns"]["bodies.ball.pose.position.x"] = json!({"range": [-0.03, 0.05]});
    scene["unknowns"]["bodies.ball.pose.position.z"] = json!({"range": [0.062, 0.1]});
    let set = SET.replace("pose.position.y=-0.025,", "");
    let more = ["--cells", "4", "--simulator", "mpm"];
    let folder = filmed("places_mpm", &scene, &set, &more);
    gradient_agrees(&folder, &["--cells", "2", "--simulator", "mpm"]);
    let found = FOUND.replace("pose.position.y,", "");
    run(&folder, &[&["identify", "video", "--unknown", &found, "--out", "out"], &more[..]].concat(), 0);
    let result = json_of(&folder.join("out/result.json"));
    near(&result, "bodies.ball.pose.position.x", 0.02, 2e-4);
    near(&result, "bodies.ball.pose.position.z", 0.075, 2e-4);
    near(&result, "colliders.bat.motion.velocity.x", 1.7, 5e-2);
}

#[test]
fn a_start_and_a_bat_are_found_of_a_rigid_body() {
    let mut scene = struck(json!({"law": "rigid"}));
    scene["frames"] = json!(6);
    // Corners that touch one after the other would put many draws at kinks.
    scene["bodies"]["ball"]["shape"] = json!({"sphere": {"radius": 0.05}});
    scene["bodies"]["ball"]["pose"]["position"] = json!([0.01, -0.02, 0.12]);
    scene["unknowns"]["bodies.ball.pose.position"]["range"] = json!([[-0.03, 0.05], [-0.06, 0.02], [0.1, 0.14]]);
    let folder = filmed("places_rigid", &scene, &SET.replace("0.075", "0.125"), &[]);
    gradient_agrees(&folder, &[]);
    run(&folder, &["identify", "video", "--unknown", FOUND, "--out", "out"], 0);
    let result = json_of(&folder.join("out/result.json"));
    near(&result, "bodies.ball.pose.position.x", 0.02, 2e-5);
    near(&result, "bodies.ball.pose.position.z", 0.125, 2e-5);
    near(&result, "colliders.bat.motion.velocity.x", 1.7, 2e-2);
}

/// Markers and the centre of mass begin where the body does.
#[test]
fn what_follows_a_body_begins_with_it() {
    let shift = [0.01, 0.015, 0.02];
    for (name, material, more) in [
        ("fem", elastic(), ["--simulator", "fem"]),
        ("mpm", elastic(), ["--simulator", "mpm"]),
        ("tlmpm", elastic(), ["--simulator", "tlmpm"]),
        ("rigid", json!({"law": "rigid"}), ["--simulator", "rigid"]),
    ] {
        let mut scene = struck(material);
        scene["frames"] = json!(2);
        scene["videos"].as_object_mut().unwrap().remove("b");
        scene["observations"] = json!({
            "dots": {"markers": {"points": [[0.01, -0.02, 0.09], [0.03, 0.0, 0.07]], "file": "tracks/dots.csv", "deviation": 0.001}},
            "middle": {"centre_of_mass": {"file": "tracks/middle.csv", "deviation": 0.002}},
        });
        let set = |by: [f64; 3]| {
            let [x, y, z] = [0, 1, 2].map(|a| [0.01, -0.02, 0.07][a] + by[a]);
            format!("pose.position.x={x},pose.position.y={y},pose.position.z={z}")
        };
        let first = |at: &Path| -> Vec<f64> {
            let rows =
                ["dots", "middle"].map(|name| fs::read_to_string(at.join(format!("video/tracks/{name}.csv"))).unwrap());
            let of = |row: &str| row.split(',').rev().take(3).map(|x| x.parse().unwrap()).collect::<Vec<f64>>();
            rows.iter().flat_map(|text| text.lines().filter(|row| row.starts_with("0,"))).flat_map(of).collect()
        };
        let more = [&more[..], &["--cells", "3"]].concat();
        let here = first(&filmed(&format!("places_here_{name}"), &scene, &set([0.0; 3]), &more));
        let there = first(&filmed(&format!("places_there_{name}"), &scene, &set(shift), &more));
        assert_eq!((here.len(), there.len()), (9, 9), "{name}");
        for (k, (a, b)) in here.iter().zip(&there).enumerate() {
            assert!((b - a - shift[2 - k % 3]).abs() < 1e-9, "{name}: {a} and {b}");
        }
    }
}

/// A half-space that may move is no longer one of those that stand still.
#[test]
fn a_floor_whose_motion_is_to_be_found_moves() {
    let mut scene = struck(elastic());
    scene["colliders"].as_object_mut().unwrap().remove("bat");
    scene["unknowns"] = json!({"colliders.floor.motion.velocity.z": {"range": [-0.3, 0.9]}});
    // It rises to a body that hangs still two centimetres above it, and pushes it up.
    (scene["gravity"], scene["bodies"]["ball"]["velocity"]) = (json!([0.0, 0.0, 0.0]), json!([0.0, 0.0, 0.0]));
    scene["observations"] = json!({"middle": {"centre_of_mass": {"file": "tracks/middle.csv", "deviation": 0.01}}});
    for simulator in ["fem", "mpm"] {
        let more = ["--cells", "4", "--simulator", simulator];
        let folder = filmed(&format!("places_floor_{simulator}"), &scene, "motion.velocity.z=0.6", &more);
        let table = fs::read_to_string(folder.join("video/tracks/middle.csv")).unwrap();
        let last = table.lines().last().and_then(|row| row.rsplit(',').next()).unwrap();
        let risen = last.parse::<f64>().unwrap() - 0.07;
        assert!((0.03..0.09).contains(&risen), "{simulator}: {risen}");
        run(&folder, &[&["identify", "video", "--out", "out"], &more[..]].concat(), 0);
        near(&json_of(&folder.join("out/result.json")), "colliders.floor.motion.velocity.z", 0.6, 1e-2);
    }
}

#[test]
fn places_inside_of_a_floor_and_what_stays_in_its_place_are_refused() {
    let folder = fresh("places_refused");
    let refused = |change: &dyn Fn(&mut Value), arguments: &[&str]| {
        let mut scene = struck(elastic());
        change(&mut scene);
        write_scene(&folder.join("scene"), &scene);
        run(&folder, &[&["simulate", "scene", "--out", "video"], arguments].concat(), 2)
    };
    let told = refused(&|s| s["unknowns"]["bodies.ball.pose.position"]["range"][2] = json!([0.02, 0.1]), &[]);
    assert!(told.contains("unknowns.bodies.ball.pose.position.range: the body may start 0.02"), "{told}");
    let told = refused(
        &|s| {
            s["bodies"]["ball"]["shape"] = json!({"box": {"size": [0.1, 0.1, 0.08]}});
            s["bodies"]["ball"]["pose"] = json!({"position": [0.01, -0.02, 0.07]});
            s["bodies"]["ball"]["clamps"] = json!([{"axis": "x", "plane": 0.0, "side": "below"}]);
        },
        &[],
    );
    assert!(told.contains("unknowns.bodies.ball.pose.position: a clamp holds"), "{told}");
    // The floor stands still.
    let told = refused(&|_| (), &["--set", "floor.motion.velocity.z=1"]);
    assert!(told.contains("expected motion.velocity.z"), "{told}");
    let told = refused(&|_| (), &["--set", "pose.position.z=0.02"]);
    assert!(told.contains("with bodies.ball.pose.position.z the body starts 0.02"), "{told}");
    let still = |s: &mut Value| {
        s["unknowns"] = json!({});
        s["colliders"].as_object_mut().unwrap().remove("bat");
    };
    let told = refused(&still, &["--set", "motion.velocity.z=1"]);
    assert!(told.contains("where no collider has a motion"), "{told}");
}
