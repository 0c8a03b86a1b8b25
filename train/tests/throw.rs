//! A ball is thrown to a place.
#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{diffkern, errors, fresh, json_of};
use serde_json::json;
use std::fs;

#[test]
fn a_ball_comes_to_where_it_is_to_be_and_its_frames_are_written() {
    let folder = fresh("throw");
    let scene = json!({
        "version": 1,
        "name": "ball",
        "frame_rate": 30.0,
        "frames": 10,
        "gravity": [0.0, 0.0, -9.81],
        "bodies": {
            "jelly": {
                "shape": {"sphere": {"radius": 0.09}},
                "pose": {"position": [-0.16, 0.04, 0.19]},
                "density": 1020.0,
                "material": {"law": "neo_hookean", "mu": 8000.0, "lambda": 14000.0},
                "albedo": [0.9, 0.5, 0.4],
            },
        },
        "colliders": {"floor": {"shape": {"half_space": {"normal": [0.0, 0.0, 1.0]}}, "contact": {"friction": 0.4}}},
        "cameras": {"main": {"position": [0.5, -0.95, 0.42], "look_at": [0.0, 0.0, 0.1], "vertical_fov": 0.6, "width": 32, "height": 32}},
        "lights": {"sun": {"direction": [0.35, -0.6, 0.75], "intensity": 0.85}},
        "unknowns": {"bodies.jelly.velocity": {"range": [[-1.0, 1.5], [-1.0, 1.0], [-1.0, 2.0]]}},
    });
    fs::create_dir_all(folder.join("scene")).unwrap();
    fs::write(folder.join("scene/scene.json"), scene.to_string()).unwrap();
    // The last frame is after 0.3 s; it flies all the way.
    let arguments = ["throw", "scene", "--to", "0.1,-0.02,0.2", "--cells", "4", "--out", "out"];
    let output = diffkern(&folder, &arguments).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("the centre of mass comes to 0.10000, -0.02000, 0.20000 m"), "{told}");
    let record = json_of(&folder.join("out/simulated.json"));
    let exact = [0.26 / 0.3, -0.06 / 0.3, 0.01 / 0.3 + 0.5 * 9.81 * 0.3];
    for (axis, exact) in ["x", "y", "z"].into_iter().zip(exact) {
        let found = record["parameters"][format!("bodies.jelly.velocity.{axis}")].as_f64().unwrap();
        assert!((found - exact).abs() < 1e-5, "{axis}: {found}, not {exact}");
    }
    assert!(folder.join("out/silhouette/frame_0009.png").is_file());
    // What is there is not written over.
    let again = diffkern(&folder, &arguments).output().unwrap();
    assert!(again.status.code() == Some(2) && errors(&again).contains("--overwrite"), "{}", errors(&again));
}
