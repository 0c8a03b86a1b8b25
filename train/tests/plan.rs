//! Ways to film a scene, compared before they are filmed.
#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{diffkern, errors, fresh, json_of, run, write_scene};
use serde_json::{Value, json};
use std::fs;

/// Cells across the thinnest side: few, for the sake of time.
const CELLS: &str = "3";

/// A block that falls towards a floor with a camera that sees it from the side.
fn block() -> Value {
    json!({
        "version": 1,
        "name": "block",
        "frame_rate": 40.0,
        "frames": 8,
        "gravity": [0.0, 0.0, -9.81],
        "bodies": {"jelly": {
            "shape": {"box": {"size": [0.1, 0.12, 0.08]}},
            "pose": {"position": [0.01, -0.02, 0.06]},
            "velocity": [0.4, 0.1, -1.5],
            "density": 1000.0,
            "material": {"law": "stable_neo_hookean"},
            "albedo": [0.9, 0.5, 0.4],
        }},
        "colliders": {"floor": {"shape": {"half_space": {"normal": [0, 0, 1], "point": [0, 0, 0]}}, "contact": {"friction": 0.3}}},
        "cameras": {"front": {
            "position": [0.1, -0.7, 0.2], "look_at": [0.03, 0.0, 0.06], "vertical_fov": 0.4, "width": 40, "height": 32,
        }},
        "lights": {"sun": {"direction": [0.35, -0.6, 0.75], "intensity": 0.85}},
        "unknowns": {
            "bodies.jelly.material.mu": {"range": [8000, 80000]},
            "bodies.jelly.material.lambda": {"range": [8000, 160000]},
        },
    })
}

/// A bar that is held at one end and hangs.
fn bar() -> Value {
    let mut scene = block();
    scene["name"] = json!("bar");
    scene["bodies"]["jelly"] = json!({
        "shape": {"box": {"min": [0.0, 0.0, 0.1], "max": [0.16, 0.04, 0.14]}},
        "material": {"law": "stable_neo_hookean", "poisson": 0.3},
        "albedo": [0.9, 0.5, 0.4],
        "density": 1000.0,
        "clamps": [{"axis": "x", "plane": 0.001, "side": "below"}],
    });
    scene["colliders"] = json!({});
    scene["unknowns"] = json!({
        "bodies.jelly.material.young": {"range": [5000, 80000]},
        "bodies.jelly.density": {"range": [500, 2000]},
    });
    scene
}

fn design<'a>(plan: &'a Value, name: &str) -> &'a Value {
    plan["designs"].as_array().unwrap().iter().find(|one| one["design"] == name).unwrap_or(&Value::Null)
}

fn halves(design: &Value) -> Vec<f64> {
    design["unknowns"].as_array().unwrap().iter().map(|told| told["half"].as_f64().unwrap()).collect()
}

#[test]
fn films_are_compared_and_what_is_preferred_can_be_filmed() {
    let folder = fresh("plan_block");
    write_scene(&folder.join("scene"), &block());
    run(&folder, &["plan", "scene", "--cells", CELLS, "--out", "plan"], 0);
    let plan = json_of(&folder.join("plan/plan.json"));
    let all = plan["designs"].as_array().unwrap();
    // The scene itself; seven cameras and five throws, each in place of the film and beside it.
    assert_eq!((all.len(), &all[0]["design"], &all[0]["narrower"]), (25, &json!("as_it_is"), &json!(1.0)), "{plan:#}");
    let gain = |one: &Value| one["narrower"].as_f64().unwrap();
    assert!(all[1..].windows(2).all(|pair| gain(&pair[0]) >= gain(&pair[1])), "{plan:#}");
    // A second film takes nothing away, and what two films tell is more than either.
    let own = halves(&all[0]);
    for one in all.iter().filter(|one| one["design"].as_str().unwrap().contains("film_and_")) {
        let name = one["design"].as_str().unwrap().replace("film_and_", "");
        let alone = halves(design(&plan, &name));
        for ((both, own), alone) in halves(one).iter().zip(&own).zip(&alone) {
            assert!(*both <= own * (1.0 + 1e-9) && *both <= alone * (1.0 + 1e-9), "{name}: {one:#}");
        }
    }
    // A body that is dropped hits the floor more slowly.
    assert!(gain(design(&plan, "dropped")) < gain(design(&plan, "faster")), "{plan:#}");
    let best: Vec<_> = fs::read_dir(folder.join("plan/designs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(best.len(), 2);
    for (k, scene) in best.iter().enumerate() {
        let scene = scene.to_str().unwrap();
        run(
            &folder,
            &["simulate", scene, "--set", "mu=25000,lambda=36000", "--cells", CELLS, "--out", &format!("video{k}")],
            0,
        );
    }
    let output = diffkern(&folder, &["plan", "scene", "--out", "plan"]).output().unwrap();
    assert!(!output.status.success() && errors(&output).contains("--overwrite"));
}

#[test]
fn pairs_that_are_told_together_are_named() {
    let folder = fresh("plan_bar");
    write_scene(&folder.join("scene"), &bar());
    run(&folder, &["plan", "scene", "--cells", CELLS, "--out", "plan"], 0);
    let plan = json_of(&folder.join("plan/plan.json"));
    let own = &plan["designs"][0];
    // Nothing of a bar that hangs tells how heavy it is, but for the stiffness of one that is so heavy.
    let [pair] = &own["together"].as_array().unwrap()[..] else { panic!("{plan:#}") };
    let names = [&pair["names"][0], &pair["names"][1]].map(|name| name.as_str().unwrap());
    let stiffness_first = names[0].ends_with("young") && names[1].ends_with("density");
    assert!(stiffness_first || (names[1].ends_with("young") && names[0].ends_with("density")), "{pair}");
    assert_eq!(pair["power"], json!(-1.0));
    let half = pair["half"].as_f64().unwrap();
    assert!(halves(own).iter().all(|each| half < 0.1 * each), "{own:#}");
    // Nor does a video of it.
    run(&folder, &["simulate", "scene", "--set", "young=30000,density=1100", "--cells", CELLS, "--out", "video"], 0);
    run(&folder, &["identify", "video", "--cells", CELLS, "--out", "found"], 0);
    let found = json_of(&folder.join("found/result.json"));
    let said = found["warnings"].to_string();
    assert!(
        said.contains("density") && said.contains(" over ") && said.contains("but not each of the two"),
        "{found:#}"
    );
    // Its clamp leaves no other throw.
    assert!(design(&plan, "faster").is_null() && !design(&plan, "above").is_null());
}

#[test]
fn throws_that_a_material_does_not_stand_are_left_out() {
    let folder = fresh("plan_soft");
    let mut scene = block();
    scene["frames"] = json!(6);
    scene["bodies"]["jelly"]["material"] = json!({"law": "stable_neo_hookean", "poisson": 0.3});
    scene["unknowns"] = json!({"bodies.jelly.material.young": {"range": [2500, 50000]}});
    write_scene(&folder.join("scene"), &scene);
    let said = run(&folder, &["plan", "scene", "--cells", CELLS, "--out", "plan"], 0);
    assert!(said.contains("turned by 45 degrees about the x axis is left out, as it cannot be simulated"), "{said}");
    assert!(said.contains("inverted"), "{said}");
    // The others are compared.
    let plan = json_of(&folder.join("plan/plan.json"));
    assert!(design(&plan, "on_edge").is_null() && !design(&plan, "dropped").is_null(), "{plan:#}");
}
