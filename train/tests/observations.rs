//! Parameters from measured places and from colours, of data that the program made itself.
#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{fresh, json_of, run};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Grid cells across the thinnest side: few, for the sake of time.
const CELLS: &str = "4";

/// A ball that falls onto a floor, in millimetres and axes with y up, with three markers and its centre of mass.
fn ball() -> Value {
    // Off the planes of symmetry: there particles are as far as others, and which of them carry a marker is a matter of rounding.
    let points = [[11.0, 71.0, 46.0], [33.0, 94.0, 7.0], [-47.0, 53.0, 9.0]];
    json!({
        "version": 1,
        "name": "ball",
        "units": {"length": "mm"},
        "axes": {"up": "y"},
        "frame_rate": 60.0,
        "frames": 8,
        "gravity": [0.0, -9810.0, 0.0],
        "bodies": {
            "jelly": {
                "shape": {"sphere": {"radius": 50.0}},
                "pose": {"position": [0.0, 60.0, 0.0]},
                "velocity": [300.0, -1500.0, 0.0],
                "density": 1000.0,
                "material": {"law": "neo_hookean", "lambda": 9000.0},
                "albedo": [0.9, 0.5, 0.4],
            },
        },
        "colliders": {"floor": {"shape": {"half_space": {"normal": [0.0, 1.0, 0.0]}}, "contact": "frictionless"}},
        "cameras": {
            "front": {"position": [50.0, 150.0, 700.0], "look_at": [20.0, 50.0, 0.0], "vertical_fov": 0.3, "width": 36, "height": 32},
        },
        "lights": {"sun": {"direction": [0.35, 0.75, 0.6], "intensity": 0.85}},
        "ambient": 0.1,
        "observations": {
            "dots": {"markers": {"points": points, "file": "tracks/dots.csv", "deviation": 0.5}},
            "middle": {"centre_of_mass": {"body": "jelly", "file": "tracks/middle.csv", "deviation": 0.5}},
        },
        "unknowns": {
            "bodies.jelly.material.mu": {"range": [5000.0, 7000.0]},
            "bodies.jelly.velocity.x": {"range": [100.0, 600.0]},
        },
    })
}

fn simulated(name: &str, scene: &Value, set: &str) -> std::path::PathBuf {
    let folder = fresh(name);
    fs::create_dir_all(folder.join("scene")).unwrap();
    fs::write(folder.join("scene/scene.json"), scene.to_string()).unwrap();
    run(&folder, &["simulate", "scene", "--set", set, "--cells", CELLS, "--bits", "16", "--out", "video"], 0);
    folder
}

fn identify(folder: &Path, change: impl Fn(&mut Value)) -> Value {
    let file = folder.join("video/scene.json");
    let mut scene = json_of(&file);
    change(&mut scene);
    fs::write(&file, scene.to_string()).unwrap();
    run(folder, &["identify", "video", "--cells", CELLS, "--out", "out"], 0);
    json_of(&folder.join("out/result.json"))
}

fn within(result: &Value, name: &str, truth: f64, share: f64) {
    let value = result["parameters"][name].as_f64().unwrap();
    assert!((value / truth - 1.0).abs() < share, "{name}: {value}, not {truth}: {result}");
}

#[test]
fn measured_places_alone_give_the_parameters() {
    let folder = simulated("places", &ball(), "mu=6000,velocity.x=0.36");
    let table = fs::read_to_string(folder.join("video/tracks/dots.csv")).unwrap();
    assert!(table.starts_with("frame,marker,x,y,z\n0,0,"), "{table}");
    assert_eq!(table.lines().count(), 1 + 8 * 3);
    // No picture is there, and the table does not have every marker in every frame.
    fs::remove_dir_all(folder.join("video/silhouette")).unwrap();
    fs::remove_dir_all(folder.join("video/shaded")).unwrap();
    let some = table.lines().enumerate().filter(|(k, _)| k % 5 != 4).map(|(_, line)| format!("{line}\n"));
    fs::write(folder.join("video/tracks/dots.csv"), some.collect::<String>()).unwrap();
    let result = identify(&folder, |scene| {
        scene["videos"] = json!({"film": {"weights": {"silhouette": 0.0}}});
        // The table says where the markers are.
        scene["observations"]["dots"]["markers"].as_object_mut().unwrap().remove("points");
    });
    within(&result, "bodies.jelly.material.mu", 6000.0, 1e-3);
    within(&result, "bodies.jelly.velocity.x", 0.36, 1e-3);
    assert!(result["iou"].is_null(), "{result}");
    for name in ["dots", "middle"] {
        assert!(result["distances"][name].as_f64().unwrap() < 1e-5, "{result}");
    }
    // Adjoint and forward mode against differences.
    run(&folder, &["identify", "video", "--cells", "2", "--gradcheck", "--max-iterations", "1", "--out", "checked"], 0);
    let check = json_of(&folder.join("checked/gradient.json"));
    assert_eq!(check["passed"], json!(true), "{check}");
}

#[test]
fn youngs_modulus_and_poissons_ratio_are_found() {
    // A clamped bar that swings: no floor, whose stiffness follows from the ranges.
    let mut scene = ball();
    scene["colliders"] = json!({});
    scene["bodies"]["jelly"] = json!({
        "shape": {"box": {"min": [0.0, 200.0, -20.0], "max": [160.0, 240.0, 20.0]}},
        "clamps": [{"axis": "x", "plane": 20.0, "side": "below"}],
        "density": 1000.0, "material": {"law": "neo_hookean"}, "albedo": [0.9, 0.5, 0.4],
    });
    scene["cameras"]["front"]["look_at"] = json!([80.0, 200.0, 0.0]);
    scene["observations"]["dots"]["markers"]["points"] =
        json!([[155.0, 220.0, 0.0], [100.0, 240.0, 15.0], [150.0, 202.0, -18.0]]);
    scene["unknowns"] = json!({
        "bodies.jelly.material.young": {"range": [14000.0, 40000.0], "transform": "logit"},
        "bodies.jelly.material.poisson": {"range": [0.2, 0.4]},
    });
    let folder = simulated("young", &scene, "young=25500,poisson=0.33");
    let result = identify(&folder, |_| {});
    within(&result, "bodies.jelly.material.young", 25_500.0, 1e-3);
    within(&result, "bodies.jelly.material.poisson", 0.33, 1e-3);
    let check = ["identify", "video", "--cells", "2", "--gradcheck", "--max-iterations", "1", "--out", "checked"];
    run(&folder, &[&check[..], &["--simulator", "mpm"]].concat(), 0);
    let check = json_of(&folder.join("checked/gradient.json"));
    assert_eq!(check["passed"], json!(true), "{check}");
    let told = run(&folder, &["identify", "video", "--set", "poisson=0.6"], 2);
    assert!(told.contains("poisson = 0.6, expected 0.0 to 0.499"), "{told}");
}

#[test]
fn colours_alone_give_the_parameters() {
    let mut scene = ball();
    scene.as_object_mut().unwrap().remove("observations");
    let folder = simulated("colours", &scene, "mu=6000,velocity.x=0.36");
    let result = identify(&folder, |scene| {
        scene["videos"] = json!({"film": {"weights": {"silhouette": 0.0, "shaded": 1.0}}});
    });
    within(&result, "bodies.jelly.material.mu", 6000.0, 1e-3);
    within(&result, "bodies.jelly.velocity.x", 0.36, 1e-3);
}

#[test]
fn tables_that_do_not_fit_the_scene_are_refused() {
    let folder = fresh("tables");
    let refused = |args: &[&str], change: &dyn Fn(&mut Value), said: &[&str]| {
        let mut scene = ball();
        change(&mut scene);
        fs::create_dir_all(folder.join("scene/tracks")).unwrap();
        fs::write(folder.join("scene/scene.json"), scene.to_string()).unwrap();
        let told = run(&folder, &[args, &["scene", "--set", "mu=6000", "--cells", "2", "--out", "video"]].concat(), 2);
        assert!(said.iter().all(|part| told.contains(part)), "{told}");
    };
    let simulate = &["simulate"];
    let dots = |field: &'static str, value: Value| {
        move |scene: &mut Value| scene["observations"]["dots"]["markers"][field] = value.clone()
    };
    refused(simulate, &dots("file", json!("dots.csv")), &["observations.dots.file", "below tracks"]);
    refused(simulate, &dots("points", Value::Null), &["observations.dots.markers.points", "missing"]);
    let beside = dots("points", json!([[0.0, 60.0, 500.0]]));
    refused(simulate, &beside, &["observations.dots.markers.points", "a place of the surface is"]);
    let no_velocity = |scene: &mut Value| {
        scene["unknowns"] = json!({"bodies.jelly.velocity.x": {"range": [100.0, 600.0]}});
    };
    refused(&["identify"], &no_velocity, &["dots.csv", "no such file"]);
    let varies = |scene: &mut Value| {
        scene["unknowns"]["bodies.jelly.density"] = json!({"range": [900.0, 1100.0], "field": [2, 1, 1]});
    };
    let elsewhere = |scene: &mut Value| {
        scene["observations"]["dots"]["markers"].as_object_mut().unwrap().remove("points");
        scene["unknowns"]["bodies.jelly.pose.position.x"] = json!({"range": [-10.0, 10.0]});
    };
    refused(simulate, &elsewhere, &["observations.dots.markers.points: missing", "where its pose has it"]);
    refused(simulate, &varies, &["observations.middle.centre_of_mass.body", "varies"]);
}
