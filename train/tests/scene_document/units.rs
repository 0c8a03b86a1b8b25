//! The same scene in other units and axes.

use crate::scenes::{ball, changed, read};
use diffkern_sim::scene::BodyShape;
use serde_json::{Value, json};

/// The ball as a block of which every number has a unit.
fn block() -> Value {
    let changes = [
        ("/bodies/jelly/shape", json!({"box": {"min": [0.05, 0.1, 0.1], "max": [0.15, 0.3, 0.25]}})),
        ("/bodies/jelly/pose", json!({})),
        ("/bodies/jelly/angular_velocity", json!([0.0, 1.5, -3.0])),
        ("/bodies/jelly/material", json!({"law": "neo_hookean", "mu": 7000.0, "viscosity": 12.0})),
        ("/bodies/jelly/clamps", json!([{"axis": "y", "plane": 0.2, "side": "above"}])),
        ("/cameras/front/near", json!(0.05)),
        ("/unknowns/bodies.jelly.velocity", json!({"range": [[-1.0, 1.0], [-2.0, 3.0], [-4.0, 5.0]]})),
        ("/unknowns/gravity.z", json!({"range": [-11.0, -9.0]})),
    ];
    changes.into_iter().fold(ball(), |scene, (pointer, value)| changed(&scene, pointer, value))
}

#[test]
fn other_units_give_the_same_scene() {
    let changes = [
        ("/units", json!({"length": "mm", "time": "ms", "density": "g/cm^3", "pressure": "kPa"})),
        ("/gravity", json!([0.0, 0.0, -0.00981])),
        ("/bodies/jelly/shape", json!({"box": {"min": [50, 100, 100], "max": [150, 300, 250]}})),
        ("/bodies/jelly/velocity", json!([0.4, -0.1, 0.0])),
        ("/bodies/jelly/angular_velocity", json!([0.0, 0.0015, -0.003])),
        ("/bodies/jelly/density", json!(1.02)),
        ("/bodies/jelly/material", json!({"law": "neo_hookean", "mu": 7.0, "viscosity": 12.0})),
        ("/bodies/jelly/clamps", json!([{"axis": "y", "plane": 200, "side": "above"}])),
        ("/cameras/front/position", json!([500, -950, 420])),
        ("/cameras/front/look_at", json!([10, 0, 100])),
        ("/cameras/front/near", json!(50)),
        ("/unknowns/bodies.jelly.material.mu", json!({"range": [1.5, 25]})),
        ("/unknowns/bodies.jelly.material.lambda", json!({"range": [1.5, 60]})),
        ("/unknowns/gravity.z", json!({"range": [-0.011, -0.009]})),
    ];
    let other = changes.into_iter().fold(block(), |scene, (pointer, value)| changed(&scene, pointer, value));
    assert_eq!(read("units_si", &block()).unwrap(), read("units_other", &other).unwrap());
}

#[test]
fn degrees_are_converted() {
    let scene = changed(&changed(&ball(), "/units", json!({"angle": "deg"})), "/cameras/front/vertical_fov", json!(30));
    let scene = changed(&scene, "/bodies/jelly/angular_velocity", json!([0, 0, 180]));
    let scene = read("degrees", &scene).unwrap();
    assert!((scene.cameras[0].vertical_fov - std::f64::consts::PI / 6.0).abs() < 1e-15);
    assert!((scene.bodies[0].starts[0].angular_velocity[2] - std::f64::consts::PI).abs() < 1e-14);
}

#[test]
fn y_up_gives_the_same_scene() {
    let bat = |size: [f64; 3], at: [f64; 3], turn: [f64; 3], v: [f64; 3]| {
        let (pose, motion) =
            (json!({"position": at, "rotation": turn}), json!({"velocity": v, "angular_velocity": turn}));
        json!({"shape": {"box": {"size": size}}, "pose": pose, "motion": motion, "contact": "slip"})
    };
    // What is (x, y, z) with z up is (x, z, -y) with y up.
    let changes = [
        ("/axes", json!({"up": "y"})),
        ("/gravity", json!([0.0, -9.81, 0.0])),
        ("/bodies/jelly/shape", json!({"box": {"min": [0.05, 0.1, -0.3], "max": [0.15, 0.25, -0.1]}})),
        ("/bodies/jelly/velocity", json!([0.4, 0.0, 0.1])),
        ("/bodies/jelly/angular_velocity", json!([0.0, -3.0, -1.5])),
        ("/bodies/jelly/clamps", json!([{"axis": "z", "plane": -0.2, "side": "below"}])),
        ("/colliders/ground/shape", json!({"half_space": {"normal": [0.0, 1.0, 0.0]}})),
        ("/colliders/bat", bat([0.1, 0.3, 0.2], [0.9, 0.4, -0.7], [0.1, 0.3, -0.2], [1.0, 3.0, -2.0])),
        ("/cameras/front/position", json!([0.5, 0.42, 0.95])),
        ("/cameras/front/look_at", json!([0.01, 0.1, 0.0])),
        ("/lights/sun/direction", json!([0.35, 0.75, 0.6])),
        ("/unknowns/bodies.jelly.velocity", json!({"range": [[-1.0, 1.0], [-4.0, 5.0], [-3.0, 2.0]]})),
    ];
    let mut other = changes.into_iter().fold(block(), |scene, (pointer, value)| changed(&scene, pointer, value));
    let unknowns = other["unknowns"].as_object_mut().unwrap();
    let gravity = unknowns.remove("gravity.z").unwrap();
    unknowns.insert("gravity.y".into(), gravity);
    let here = bat([0.1, 0.2, 0.3], [0.9, 0.7, 0.4], [0.1, 0.2, 0.3], [1.0, 2.0, 3.0]);
    let upright = changed(&block(), "/colliders/bat", here);
    let mut turned = read("y_up", &other).unwrap();
    // What paths mean is said.
    let notes = std::mem::take(&mut turned.warnings);
    assert!(notes.len() == 1 && notes[0].contains("axes.up: paths of vectors"), "{notes:?}");
    assert_eq!(read("z_up", &upright).unwrap(), turned);
}

#[test]
fn a_shape_with_an_axis_lies_as_its_file_says() {
    let cylinder = json!({"cylinder": {"radius": 0.02, "height": 0.1}});
    let scene = changed(&changed(&ball(), "/bodies/jelly/shape", cylinder), "/axes", json!({"up": "y"}));
    let sides = |name: &str, rotation: [f64; 3]| {
        let turned = changed(&scene, "/bodies/jelly/pose/rotation", json!(rotation));
        match &read(name, &turned).unwrap().bodies[0].starts[0].shape {
            solid @ BodyShape::Solid(_) => solid.sides(),
            block @ BodyShape::Block { .. } => panic!("{block:?}"),
        }
    };
    // z of the file is -y with z up; a quarter turn about x of the file takes it to -y there, which is -z with z up.
    let (flat, upright) = (sides("flat", [0.0; 3]), sides("upright", [std::f64::consts::FRAC_PI_2, 0.0, 0.0]));
    assert!((flat[1] - 0.1).abs() < 1e-9 && flat[2] < 0.041, "{flat:?}");
    assert!((upright[2] - 0.1).abs() < 1e-9 && upright[1] < 0.041, "{upright:?}");
}
