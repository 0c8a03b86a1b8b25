//! Loads that hang on bodies, damping by mass and relaxation, as unknowns of scenes by finite elements.
#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{diffkern, errors, fresh, gradient_agrees, json_of, run, write_scene};
use serde_json::{Value, json};

/// Cells across the thinnest side: few, for the sake of time.
const CELLS: &str = "2";

/// A bar that is held at one end and hangs through with a weight near the other, with markers at its tip.
fn bar() -> Value {
    json!({
        "version": 1,
        "name": "bar",
        "frame_rate": 40.0,
        "frames": 7,
        "gravity": [0.3, 0.2, -9.81],
        "bodies": {"bar": {
            "shape": {"box": {"min": [0.0, 0.0, 0.0], "max": [0.1, 0.03, 0.03]}},
            "density": 1000.0,
            "material": {"law": "stable_neo_hookean", "young": 1e5, "poisson": 0.4},
            "albedo": [0.9, 0.5, 0.4],
            "clamps": [{"axis": "x", "plane": 0.001, "side": "below"}],
            "load": {"at": [0.09, 0.02, 0.03]},
        }},
        "cameras": {"front": {
            "position": [0.05, -0.4, 0.05], "look_at": [0.05, 0.0, 0.0], "vertical_fov": 0.4, "width": 48, "height": 40,
        }},
        "videos": {"front": {"camera": "front", "weights": {"silhouette": 0.0}}},
        "observations": {"tip": {"markers": {
            "points": [[0.099, 0.01, 0.03], [0.1, 0.03, 0.01]], "file": "tracks/tip.csv", "deviation": 1e-4,
        }}},
        "lights": {"sun": {"direction": [0.35, -0.6, 0.75], "intensity": 0.85}},
        "unknowns": {
            "bodies.bar.load.mass": {"range": [0.01, 0.2]},
            "bodies.bar.material.damping": {"range": [0.0, 20.0]},
        },
    })
}

#[test]
fn a_load_and_a_damping_are_found_again() {
    let folder = fresh("loads_found");
    let mut scene = bar();
    scene["frames"] = json!(5);
    write_scene(&folder.join("scene"), &scene);
    run(&folder, &["simulate", "scene", "--set", "load.mass=0.05,damping=6", "--cells", CELLS, "--out", "video"], 0);
    run(&folder, &["identify", "video", "--cells", CELLS, "--out", "out"], 0);
    let result = json_of(&folder.join("out/result.json"));
    for (name, truth) in [("bodies.bar.load.mass", 0.05), ("bodies.bar.material.damping", 6.0)] {
        let value = result["parameters"][name].as_f64().unwrap();
        assert!((value / truth - 1.0).abs() < 2e-3, "{name}: {value}, not {truth}: {result}");
    }
}

#[test]
fn the_gradient_by_a_load_and_a_damping_agrees() {
    let folder = fresh("loads_gradient");
    let mut scene = bar();
    // Squares of markers in metres are so small that rounding hides the remainder.
    scene["videos"] = json!({"front": {"camera": "front"}});
    write_scene(&folder.join("scene"), &scene);
    run(&folder, &["simulate", "scene", "--set", "load.mass=0.04,damping=7", "--cells", CELLS, "--out", "video"], 0);
    gradient_agrees(&folder, &["--cells", CELLS]);
}

/// The same bar without a load, which springs back slowly.
fn relaxing() -> Value {
    let mut scene = bar();
    let body = scene["bodies"]["bar"].as_object_mut().unwrap();
    body.remove("load");
    body.insert("velocity".into(), json!([0.0, 0.1, 0.4]));
    body["material"]["relaxation"] = json!({});
    scene["frames"] = json!(10);
    scene["unknowns"] = json!({
        "bodies.bar.material.relaxation.modulus": {"range": [0.0, 6e4]},
        "bodies.bar.material.relaxation.time": {"range": [0.005, 0.2]},
    });
    scene
}

#[test]
fn a_relaxation_is_found_again() {
    let folder = fresh("relaxation_found");
    let mut scene = relaxing();
    scene["frames"] = json!(6);
    scene["unknowns"] = json!({
        "bodies.bar.material.relaxation.modulus": {"range": [0.0, 4e4]},
        "bodies.bar.material.relaxation.time": {"range": [0.01, 0.1]},
    });
    write_scene(&folder.join("scene"), &scene);
    let truth = "relaxation.modulus=2.5e4,relaxation.time=0.04";
    run(&folder, &["simulate", "scene", "--set", truth, "--cells", CELLS, "--out", "video"], 0);
    run(&folder, &["identify", "video", "--cells", CELLS, "--out", "out"], 0);
    let result = json_of(&folder.join("out/result.json"));
    for (name, truth) in [("modulus", 2.5e4), ("time", 0.04)] {
        let value = result["parameters"][format!("bodies.bar.material.relaxation.{name}")].as_f64().unwrap();
        assert!((value / truth - 1.0).abs() < 1e-2, "{name}: {value}, not {truth}: {result}");
    }
}

#[test]
fn the_gradient_by_a_relaxation_agrees() {
    let folder = fresh("relaxation_gradient");
    let mut scene = relaxing();
    scene["videos"] = json!({"front": {"camera": "front"}});
    // In milliseconds, as a scene may have it.
    scene["units"] = json!({"time": "ms"});
    scene["frames"] = json!(5);
    scene["gravity"] = json!([3e-7, 2e-7, -9.81e-6]);
    scene["bodies"]["bar"]["velocity"] = json!([0.0, 1e-4, 4e-4]);
    scene["unknowns"]["bodies.bar.material.relaxation.time"] = json!({"range": [5.0, 200.0]});
    write_scene(&folder.join("scene"), &scene);
    let values = "relaxation.modulus=5e3,relaxation.time=0.15";
    run(&folder, &["simulate", "scene", "--set", values, "--cells", CELLS, "--out", "video"], 0);
    gradient_agrees(&folder, &["--cells", CELLS]);
}

/// Beside a body that does not relax, on a floor.
#[test]
fn the_gradient_by_one_relaxation_of_two_bodies_agrees() {
    let folder = fresh("relaxation_of_two");
    let mut scene = relaxing();
    scene["videos"] = json!({"front": {"camera": "front"}});
    scene["frames"] = json!(3);
    // Softer, and so in fewer steps.
    scene["bodies"]["bar"]["material"]["young"] = json!(4e4);
    scene["unknowns"]["bodies.bar.material.relaxation.modulus"] = json!({"range": [0.0, 2.5e4]});
    scene["contact_between_bodies"] = json!("frictionless");
    scene["colliders"] = json!({"floor": {
        "shape": {"half_space": {"point": [0.0, 0.0, -0.002], "normal": [0.0, 0.0, 1.0]}}, "contact": "frictionless",
    }});
    let body = scene["bodies"]["bar"].as_object_mut().unwrap();
    body.insert("velocity".into(), json!([0.05, 0.1, -0.5]));
    body.remove("clamps");
    let mut other = scene["bodies"]["bar"].clone();
    other["shape"] = json!({"box": {"min": [0.13, 0.0, 0.0], "max": [0.17, 0.03, 0.03]}});
    other["material"] = json!({"law": "stable_neo_hookean", "young": 3e4, "poisson": 0.3});
    scene["bodies"]["other"] = other;
    scene["observations"] = json!({});
    write_scene(&folder.join("scene"), &scene);
    let values = "relaxation.modulus=1e4,relaxation.time=0.04";
    run(&folder, &["simulate", "scene", "--set", values, "--cells", CELLS, "--out", "video"], 0);
    gradient_agrees(&folder, &["--cells", CELLS]);
}

#[test]
fn relaxations_that_cannot_be_simulated_are_refused() {
    let refused = |name: &str, change: &dyn Fn(&mut Value), more: &[&str], expected: &[&str]| {
        let folder = fresh(name);
        let mut scene = relaxing();
        scene["unknowns"] = json!({"bodies.bar.material.viscosity": {"range": [0.0, 5.0]}});
        scene["bodies"]["bar"]["material"]["relaxation"] = json!({"modulus": 1e4, "time": 0.05});
        change(&mut scene);
        write_scene(&folder.join("scene"), &scene);
        let arguments = [&["simulate", "scene", "--cells", CELLS, "--out", "video"], more].concat();
        let output = diffkern(&folder, &arguments).output().unwrap();
        assert!(!output.status.success(), "{name}");
        let errors = errors(&output);
        assert!(expected.iter().all(|text| errors.contains(text)), "{name}: {errors}");
    };
    let field =
        |value: Value| move |scene: &mut Value| scene["bodies"]["bar"]["material"]["relaxation"] = value.clone();
    let time = "bodies.bar.material.relaxation.time";
    refused("relaxation_half", &field(json!({"modulus": 1e4})), &[], &[time, "missing"]);
    refused("relaxation_no_time", &field(json!({"modulus": 1e4, "time": 0.0})), &[], &[time, "positive"]);
    refused(
        "relaxation_negative",
        &field(json!({"modulus": -1.0, "time": 0.1})),
        &[],
        &["bodies.bar.material.relaxation.modulus", "-1"],
    );
    let no_branch = |scene: &mut Value| {
        scene["bodies"]["bar"]["material"].as_object_mut().unwrap().remove("relaxation");
        scene["unknowns"] = json!({"bodies.bar.material.relaxation.time": {"range": [0.01, 0.1]}});
    };
    refused("relaxation_nowhere", &no_branch, &[], &[time, "no material has a relaxation"]);
    refused("relaxation_mpm", &|_| {}, &["--simulator", "mpm"], &["bodies.bar.material.relaxation", "MPM"]);
    let rigid = |scene: &mut Value| {
        scene["bodies"]["bar"]["material"] = json!({"law": "rigid", "relaxation": {"modulus": 1e4, "time": 0.05}});
        scene["bodies"]["bar"].as_object_mut().unwrap().remove("clamps");
        scene["unknowns"] = json!({});
    };
    refused("relaxation_rigid", &rigid, &[], &["bodies.bar.material.relaxation", "rigid"]);
}

#[test]
fn loads_that_cannot_be_simulated_are_refused() {
    let refused = |name: &str, change: &dyn Fn(&mut Value), more: &[&str], expected: &[&str]| {
        let folder = fresh(name);
        let mut scene = bar();
        change(&mut scene);
        write_scene(&folder.join("scene"), &scene);
        let arguments =
            [&["simulate", "scene", "--set", "damping=6", "--cells", CELLS, "--out", "video"], more].concat();
        let output = diffkern(&folder, &arguments).output().unwrap();
        assert!(!output.status.success(), "{name}");
        let errors = errors(&output);
        assert!(expected.iter().all(|text| errors.contains(text)), "{name}: {errors}");
    };
    refused(
        "load_away",
        &|s| s["bodies"]["bar"]["load"]["at"] = json!([0.3, 0.0, 0.0]),
        &[],
        &["bodies.bar.load.at", "0.3"],
    );
    refused(
        "load_none",
        &|s| drop(s["unknowns"].as_object_mut().unwrap().remove("bodies.bar.load.mass")),
        &[],
        &["bodies.bar.load.mass", "missing"],
    );
    refused("load_mpm", &|_| {}, &["--simulator", "mpm"], &["bodies.bar.load", "MPM"]);
    let bare = |s: &mut Value| {
        s["bodies"]["bar"].as_object_mut().unwrap().remove("load");
        s["unknowns"] = json!({"bodies.bar.material.viscosity": {"range": [0.0, 5.0]}});
    };
    refused("damping_mpm", &bare, &["--simulator", "mpm"], &["bodies.bar.material.damping", "MPM"]);
    refused(
        "load_rigid",
        &|s| {
            s["bodies"]["bar"]["material"] = json!({"law": "rigid"});
            s["bodies"]["bar"].as_object_mut().unwrap().remove("clamps");
        },
        &[],
        &["bodies.bar.load", "rigid"],
    );
}
