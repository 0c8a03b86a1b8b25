//! Scenes of one body by total Lagrangian MPM.
#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{fresh, run, write_scene};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A ball that falls on a floor and comes back up.
fn bounce() -> Value {
    json!({
        "version": 1,
        "name": "bounce",
        "frame_rate": 40.0,
        "frames": 16,
        "gravity": [0.0, 0.0, -9.81],
        "bodies": {"jelly": {
            "shape": {"sphere": {"radius": 0.06}},
            "pose": {"position": [-0.03, -0.02, 0.09]},
            "velocity": [0.2, 0.1, -1.2],
            "density": 1000.0,
            "material": {"law": "neo_hookean"},
            "albedo": [0.9, 0.5, 0.4],
        }},
        "colliders": {"floor": {"shape": {"half_space": {"normal": [0, 0, 1]}}, "contact": {"friction": 0.0}}},
        "cameras": {"front": {
            "position": [0.1, -0.9, 0.2], "look_at": [0.03, 0.0, 0.07], "vertical_fov": 0.4, "width": 56, "height": 40,
        }},
        "lights": {"sun": {"direction": [0.35, -0.6, 0.75], "intensity": 0.85}},
        "observations": {"middle": {"centre_of_mass": {"file": "tracks/middle.csv", "deviation": 0.002}}},
        "unknowns": {
            "bodies.jelly.material.mu": {"range": [5000, 20000]},
            "bodies.jelly.material.lambda": {"range": [8000, 40000]},
        },
    })
}

/// The height of the centre of mass in each frame of a scene.
fn heights(folder: &Path, scene: &Value, simulator: &str, cells: &str) -> Vec<f64> {
    path(folder, scene, simulator, cells).into_iter().map(|place| place[2]).collect()
}

/// The centre of mass in each frame of a scene.
fn path(folder: &Path, scene: &Value, simulator: &str, cells: &str) -> Vec<[f64; 3]> {
    write_scene(&folder.join("scene"), scene);
    let simulate = ["simulate", "scene", "--set", "mu=8000,lambda=16000", "--out", "video", "--overwrite"];
    run(folder, &[&simulate[..], &["--simulator", simulator, "--cells", cells]].concat(), 0);
    let table = fs::read_to_string(folder.join("video/tracks/middle.csv")).unwrap();
    let place = |row: &str| -> [f64; 3] {
        let numbers: Vec<f64> = row.split(',').skip(1).map(|number| number.parse().unwrap()).collect();
        numbers.try_into().unwrap()
    };
    let places: Vec<[f64; 3]> = table.lines().skip(1).map(place).collect();
    assert_eq!(places.len(), scene["frames"].as_u64().unwrap() as usize);
    places
}

fn most_apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn a_ball_comes_back_up_as_by_finite_elements() {
    let folder = fresh("lagrangian_bounce");
    let top = |by: &str, cells: &str| {
        let heights = heights(&folder, &bounce(), by, cells);
        heights[2..].iter().copied().fold(0.0, f64::max)
    };
    // What it is off goes with the square of the spacing, what APIC is off with the spacing.
    let truth = top("fem", "12");
    let [wide, fine, eulerian] =
        [("tlmpm", "6"), ("tlmpm", "10"), ("mpm", "10")].map(|(by, cells)| truth - top(by, cells));
    assert!(0.0 < fine && fine < 0.5 * wide && fine < 0.5 * eulerian, "{wide} {fine} {eulerian} below {truth}");
}

/// A launch is no half a step early.
#[test]
fn what_touches_nothing_flies_along_a_parabola() {
    let mut scene = bounce();
    scene["colliders"] = json!({});
    let own = heights(&fresh("lagrangian_flight"), &scene, "tlmpm", "4");
    let time = |frame: usize| frame as f64 / 40.0;
    let exact: Vec<f64> = (0..16).map(|frame| own[0] - 1.2 * time(frame) - 0.5 * 9.81 * time(frame).powi(2)).collect();
    assert!((own[0] - 0.09).abs() < 1e-3 && most_apart(&own, &exact) < 1e-9, "{own:?} {exact:?}");
}

/// The floor is as stiff as the material that is tried says, not as the hardest that may be.
#[test]
fn how_hard_a_material_might_be_does_not_move_one() {
    let folder = fresh("lagrangian_ranges");
    let narrow = heights(&folder, &bounce(), "tlmpm", "6");
    let mut scene = bounce();
    scene["unknowns"]["bodies.jelly.material.mu"]["range"] = json!([5000, 120_000]);
    let wide = heights(&folder, &scene, "tlmpm", "6");
    let apart = most_apart(&narrow, &wide);
    assert!(apart < 1e-4, "{apart}");
}

/// A bar that is held at one end and swings.
fn bar() -> Value {
    let mut scene = bounce();
    scene["colliders"] = json!({});
    let bar = &mut scene["bodies"]["jelly"];
    bar["shape"] = json!({"box": {"size": [0.2, 0.05, 0.05]}});
    bar["pose"]["position"] = json!([0.1, 0.0, 0.1]);
    bar["velocity"] = json!([0.0, 0.0, 0.0]);
    bar["density"] = json!(2000.0);
    bar["clamps"] = json!([{"axis": "x", "plane": 0.02, "side": "below"}]);
    scene["frames"] = json!(14);
    scene
}

/// Numerical fracture: no simulator but MPM on a grid in space tears an elastic bar, and only a soft one.
#[test]
fn a_bar_that_the_grid_tears_is_said_to_be_torn() {
    let folder = fresh("lagrangian_torn");
    write_scene(&folder.join("scene"), &bar());
    let torn = |simulator: &str, values: &str| {
        let simulate = ["simulate", "scene", "--set", values, "--cells", "4", "--out", "video", "--overwrite"];
        let said = run(&folder, &[&simulate[..], &["--simulator", simulator]].concat(), 0);
        let (_, frame) = said.split_once("MPM tears a body in frame ")?;
        frame.split(' ').next()?.parse::<usize>().ok()
    };
    assert!(torn("mpm", "mu=8000,lambda=16000").is_some_and(|frame| (8..13).contains(&frame)));
    let others = [("fem", "mu=8000"), ("tlmpm", "mu=8000"), ("mpm", "mu=20000")];
    assert_eq!(others.map(|(simulator, mu)| torn(simulator, &format!("{mu},lambda=16000"))), [None; 3]);
}

/// A clamp is a part of the body, as by finite elements: what swings below its plane is free. By MPM with transfers it is a part of space.
#[test]
fn a_bar_swings_through_its_clamp_as_by_finite_elements() {
    let folder = fresh("lagrangian_bar");
    let scene = bar();
    let [elements, particles, in_space] = ["fem", "tlmpm", "mpm"].map(|by| path(&folder, &scene, by, "4"));
    let apart = |other: &[[f64; 3]]| -> f64 {
        let square = |(a, b): (&[f64; 3], &[f64; 3])| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>();
        elements.iter().zip(other).map(square).fold(0.0, f64::max).sqrt()
    };
    let (below, fallen) = (elements[13][0], elements[0][2] - elements[10][2]);
    assert!(below < 0.0 && fallen > 0.08 && apart(&particles) < 0.05 * fallen, "{elements:?} {particles:?}");
    assert!(apart(&in_space) > 0.06, "{in_space:?}");
    write_scene(&folder.join("scene"), &scene);
    let said = |simulator: &str| {
        let simulate = ["simulate", "scene", "--set", "mu=8000,lambda=16000", "--cells", "2", "--overwrite"];
        run(&folder, &[&simulate[..], &["--out", "other", "--simulator", simulator]].concat(), 0)
    };
    let held = "a clamp also holds what swings into it later";
    assert!(said("mpm").contains(held) && !said("tlmpm").contains(held));
}

#[test]
fn what_nodes_that_move_along_cannot_do_is_refused() {
    let folder = fresh("lagrangian_refused");
    let refused = |change: &dyn Fn(&mut Value), expected: &[&str]| {
        let mut scene = bounce();
        change(&mut scene);
        write_scene(&folder.join("scene"), &scene);
        let set = "bodies.jelly.material.mu=8000,bodies.jelly.material.lambda=16000";
        let said = run(&folder, &["simulate", "scene", "--set", set, "--simulator", "tlmpm", "--out", "video"], 2);
        assert!(expected.iter().all(|text| said.contains(text)), "{said}");
    };
    refused(
        &|s| s["colliders"]["floor"]["contact"] = json!("sticky"),
        &["colliders.floor.contact", "\"sticky\"", "--simulator"],
    );
    refused(&|s| s["bodies"]["jelly"]["material"]["damping"] = json!(2.0), &["bodies.jelly.material.damping", "fem"]);
    let two = |scene: &mut Value| {
        let mut other = scene["bodies"]["jelly"].clone();
        other["pose"]["position"] = json!([0.2, 0.0, 0.09]);
        scene["bodies"]["other"] = other;
        scene["contact_between_bodies"] = json!("frictionless");
        scene["observations"]["middle"]["centre_of_mass"]["body"] = json!("jelly");
        for name in ["mu", "lambda"] {
            scene["bodies"]["other"]["material"][name] = json!(9000.0);
        }
    };
    refused(&two, &["bodies", "several bodies", "--simulator"]);
    let mut filmed = bounce();
    filmed.as_object_mut().unwrap().remove("observations");
    write_scene(&folder.join("scene"), &filmed);
    for job in [&["identify", "scene"][..], &["plan", "scene"]] {
        let said = run(&folder, &[job, &["--simulator", "tlmpm", "--out", "out"]].concat(), 2);
        assert!(said.contains("simulator") && said.contains("expected fem or mpm"), "{said}");
    }
}
