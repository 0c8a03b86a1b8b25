//! Scenes to read and to break.

use crate::common::{fresh, sample};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use train::scene::Scene;

/// A folder of this test with this text as the scene.
pub fn folder(name: &str, file: &str, text: &str) -> PathBuf {
    let folder = fresh(&format!("document_{name}"));
    fs::write(folder.join(file), text).unwrap();
    folder
}

/// What the reader says to a scene.
pub fn read(name: &str, scene: &Value) -> train::Result<Scene> {
    // Tests run beside each other.
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    Scene::read(&folder(&format!("{number}_{name}"), "scene.json", &scene.to_string()))
}

/// The refusal of a scene.
pub fn refusal(name: &str, scene: &Value) -> String {
    read(name, scene).expect_err(name).to_string()
}

/// A ball that falls on a floor, with every field that has a default left out.
pub fn ball() -> Value {
    json!({
        "version": 1,
        "name": "ball",
        "frame_rate": 36.0,
        "frames": 12,
        "gravity": [0.0, 0.0, -9.81],
        "bodies": {
            "jelly": {
                "shape": {"sphere": {"radius": 0.09}},
                "pose": {"position": [0.1, 0.2, 0.19]},
                "velocity": [0.4, -0.1, 0.0],
                "density": 1020.0,
                "material": {"law": "neo_hookean"},
                "albedo": [0.9, 0.5, 0.4],
            },
        },
        "colliders": {"ground": {"shape": {"half_space": {"normal": [0.0, 0.0, 1.0]}}, "contact": "frictionless"}},
        "cameras": {
            "front": {
                "position": [0.5, -0.95, 0.42],
                "look_at": [0.01, 0.0, 0.1],
                "vertical_fov": 0.5,
                "width": 64,
                "height": 48,
            },
        },
        "lights": {"sun": {"direction": [0.35, -0.6, 0.75], "intensity": 0.85}},
        "unknowns": {
            "bodies.jelly.material.mu": {"range": [1500.0, 25000.0]},
            "bodies.jelly.material.lambda": {"range": [1500.0, 60000.0]},
        },
    })
}

/// The same with a value changed; `pointer` as in RFC 6901. A last step that is not there yet is added.
pub fn changed(scene: &Value, pointer: &str, value: Value) -> Value {
    let mut scene = scene.clone();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match scene.pointer_mut(parent).unwrap() {
        Value::Object(fields) => drop(fields.insert(key.replace("~1", "/"), value)),
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        other => panic!("{other} has no fields"),
    }
    scene
}

/// The scene without a version that comes with the source.
pub fn former() -> Value {
    serde_json::from_str(&fs::read_to_string(sample().join("scene.json")).unwrap()).unwrap()
}

/// Checks that a message names every part.
pub fn assert_names(case: &str, message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{case}: {part:?} is not in {message}");
    }
    assert!(!message.contains('\n'), "{case}: {message}");
}

/// Path of a file of the documentation.
pub fn docs(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(file)
}
