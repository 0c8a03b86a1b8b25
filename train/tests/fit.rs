//! Scenes that are a little off in where a body starts and where a camera stands: told, and found along on request.
#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{fresh, json_of, run, write_scene};
use serde_json::{Value, json};
use std::fs;

const YOUNG: f64 = 23_000.0;
/// Cells across the thinnest side: few, for the sake of time.
const CELLS: &str = "3";

/// A block that falls onto a floor, seen from two sides.
fn block() -> Value {
    json!({
        "version": 1,
        "name": "block",
        "frame_rate": 60.0,
        "frames": 6,
        "gravity": [0.0, 0.0, -9.81],
        "bodies": {"jelly": {
            "shape": {"box": {"size": [0.1, 0.12, 0.08]}},
            "pose": {"position": [0.01, -0.02, 0.09]},
            "velocity": [0.3, 0.1, -1.2],
            "density": 1000.0,
            "material": {"law": "stable_neo_hookean", "poisson": 0.3},
            "albedo": [0.9, 0.5, 0.4],
        }},
        "colliders": {"floor": {"shape": {"half_space": {"normal": [0, 0, 1], "point": [0, 0, 0]}}, "contact": {"friction": 0.3}}},
        "cameras": {"front": {
            "position": [0.1, -0.7, 0.2], "look_at": [0.03, 0.0, 0.06], "vertical_fov": 0.4, "width": 36, "height": 30,
        }, "side": {
            "position": [0.75, -0.1, 0.25], "look_at": [0.03, 0.0, 0.06], "vertical_fov": 0.4, "width": 36, "height": 30,
        }},
        "videos": {
            "a": {"camera": "front", "silhouette": "videos/a/silhouette", "shaded": "videos/a/shaded"},
            "b": {"camera": "side", "silhouette": "videos/b/silhouette", "shaded": "videos/b/shaded"},
        },
        "lights": {"sun": {"direction": [0.35, -0.6, 0.75], "intensity": 0.85}},
        "unknowns": {"bodies.jelly.material.young": {"range": [12000, 50000]}},
    })
}

#[test]
fn a_start_and_a_camera_that_are_off_are_told_and_found_along() {
    let folder = fresh("fit");
    let mut truth = block();
    truth["bodies"]["jelly"]["pose"]["position"] = json!([0.013, -0.02, 0.095]);
    truth["bodies"]["jelly"]["velocity"] = json!([0.3, 0.1, -1.35]);
    truth["cameras"]["side"]["position"] = json!([0.75, -0.088, 0.25]);
    write_scene(&folder.join("scene"), &truth);
    let set = format!("young={YOUNG}");
    run(&folder, &["simulate", "scene", "--set", &set, "--cells", CELLS, "--bits", "16", "--out", "video"], 0);
    fs::write(folder.join("video/scene.json"), block().to_string()).unwrap();
    let young = |out: &str| {
        let result = json_of(&folder.join(out).join("result.json"));
        (result["parameters"]["bodies.jelly.material.young"].as_f64().unwrap(), result)
    };
    run(&folder, &["identify", "video", "--cells", CELLS, "--out", "as_said"], 0);
    let (off, result) = young("as_said");
    let warnings = result["warnings"].to_string();
    assert!(warnings.contains("not as the scene says") && warnings.contains("(--fit start"), "{warnings}");
    run(&folder, &["identify", "video", "--cells", CELLS, "--fit", "start,camera", "--out", "along"], 0);
    let (found, result) = young("along");
    let wrong = |young: f64| (young / YOUNG - 1.0).abs();
    assert!(wrong(found) < 0.01 && wrong(off) > 5.0 * wrong(found), "{off} {found}: {result}");
    let interval: Vec<f64> = result["intervals"]["bodies.jelly.material.young"]
        .as_array()
        .unwrap()
        .iter()
        .map(|x| x.as_f64().unwrap())
        .collect();
    assert!(interval[0] < YOUNG && YOUNG < interval[1], "{interval:?}");
    let near = |name: &str, truth: f64, tolerance: f64| {
        let found = result["parameters"][name].as_f64().unwrap_or_else(|| panic!("{name}: {result}"));
        assert!((found - truth).abs() < tolerance, "{name}: {found}, not {truth}");
    };
    near("pose.position.z", 0.095, 5e-4);
    near("velocity.z", -1.35, 0.02);
    near("side.position.y", -0.088, 5e-3);
}

#[test]
fn what_is_asked_for_is_found_with_what_is_fitted_and_clamps_stay() {
    let folder = fresh("fit_clamped");
    let mut scene = block();
    scene["bodies"]["jelly"]["clamps"] = json!([{"axis": "z", "plane": 0.08, "side": "above"}]);
    scene["colliders"] = json!({});
    write_scene(&folder.join("scene"), &scene);
    run(&folder, &["simulate", "scene", "--set", "young=20000", "--cells", CELLS, "--out", "video"], 0);
    let refused = run(&folder, &["identify", "video", "--fit", "start", "--out", "out"], 2);
    assert!(refused.contains("a clamp holds the body"), "{refused}");
    // By its whole path, and one that is given.
    let asked = ["identify", "video", "--unknown", "young,cameras.side.position.y", "--set", "front.vertical_fov=0.4"];
    let more = ["--fit", "camera", "--cells", CELLS, "--max-iterations", "1", "--out", "out"];
    run(&folder, &[&asked[..], &more].concat(), 0);
    let found = json_of(&folder.join("out/result.json"));
    // Seven numbers of each camera, but for the given one.
    assert_eq!(found["parameters"].as_object().unwrap().len(), 1 + 2 * 7 - 1, "{found}");
    let config = fs::read_to_string(folder.join("out/config.ron")).unwrap();
    assert!(config.contains("camera"), "{config}");
}

/// By finite elements without being asked for, but where it is given.
#[test]
fn friction_that_is_off_is_found_along() {
    let folder = fresh("rough");
    let rough = |friction: f64| {
        let mut scene = block();
        scene["bodies"]["jelly"]["velocity"] = json!([0.9, 0.1, -1.2]);
        scene["colliders"]["floor"]["contact"] = json!({"friction": friction});
        scene
    };
    write_scene(&folder.join("scene"), &rough(0.24));
    let set = format!("young={YOUNG}");
    run(&folder, &["simulate", "scene", "--set", &set, "--cells", CELLS, "--bits", "16", "--out", "video"], 0);
    fs::write(folder.join("video/scene.json"), rough(0.3).to_string()).unwrap();
    let parameters = |out: &str| json_of(&folder.join(out).join("result.json"))["parameters"].clone();
    run(&folder, &["identify", "video", "--cells", CELLS, "--out", "along"], 0);
    let along = parameters("along");
    let found = |name: &str| along[name].as_f64().unwrap();
    let (friction, young) = (found("friction"), found("bodies.jelly.material.young"));
    assert!((friction / 0.24 - 1.0).abs() < 1e-4, "{friction}");
    assert!((young / YOUNG - 1.0).abs() < 1e-4, "{young} Pa");
    let given = ["--set", "friction=0.3", "--max-iterations", "1"];
    run(&folder, &[&["identify", "video", "--cells", CELLS, "--out", "given"][..], &given].concat(), 0);
    assert_eq!(parameters("given").as_object().unwrap().keys().collect::<Vec<_>>(), ["bodies.jelly.material.young"]);
}
