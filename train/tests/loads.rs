//! Loads that hang on bodies and damping by mass, as unknowns of scenes by finite elements.
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
    write_scene(&folder.join("scene"), &bar());
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
