//! Rigid bodies from videos: their own are found again, the gradient of the whole program agrees with differences, and what cannot be found is
//! said before the search.
#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{fresh, gradient_agrees, json_of, run, write_scene};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use train::scene::Access;
use train::scene::document::Document;

/// A box that slides on a rough floor and is pushed beside its centre, 14 frames.
fn pushed() -> Value {
    json!({
        "version": 1,
        "name": "pushed",
        "frame_rate": 30.0,
        "frames": 14,
        "gravity": [0.0, 0.0, -9.81],
        "bodies": {"crate": {
            "shape": {"box": {"size": [0.3, 0.2, 0.14]}},
            "pose": {"position": [-0.2, -0.05, 0.07], "rotation": [0.0, 0.0, 0.5]},
            "velocity": [0.9, 0.2, 0.0],
            "mass": 2.0,
            "material": {"law": "rigid"},
            "albedo": [0.45, 0.65, 0.85],
        }},
        "colliders": {"floor": {"shape": {"half_space": {"normal": [0.0, 0.0, 1.0]}}, "contact": {"friction": 0.3}}},
        "pushes": {
            "kick": {"impulse": {"vector": [0.5, 1.4, 0.0], "at": {"centre": [0.05, 0.04, -0.01]}, "time": 0.15}},
            "shove": {"force": {"vector": [-4.0, 3.0, 0.0], "at": {"body": [0.12, 0.0, 0.0]}, "interval": [0.2, 0.31]}},
        },
        "cameras": {"main": {
            "position": [0.2, -1.5, 1.0], "look_at": [0.0, 0.03, 0.05], "vertical_fov": 0.6, "width": 64, "height": 64,
        }},
        "lights": {"sun": {"direction": [0.3, -0.5, 0.8], "intensity": 0.85}},
        "ambient": 0.15,
        "unknowns": {
            "bodies.crate.mass": {"range": [1.5, 5.0]},
            "colliders.floor.contact.friction": {"range": [0.02, 0.8]},
        },
    })
}

/// A bracket that falls on a corner onto a tilted floor and bounces, and turns.
fn thrown() -> Value {
    let mut scene = pushed();
    scene["name"] = json!("thrown");
    scene["bodies"]["crate"]["pose"] = json!({"position": [-0.15, -0.05, 0.24], "rotation": [0.5, 0.3, 0.4]});
    scene["bodies"]["crate"]["velocity"] = json!([0.5, 0.2, 0.3]);
    scene["bodies"]["crate"]["angular_velocity"] = json!([1.0, -2.0, 1.5]);
    scene["colliders"]["floor"]["shape"]["half_space"]["normal"] = json!([0.05, -0.03, 1.0]);
    scene["colliders"]["floor"]["restitution"] = json!(0.5);
    scene["unknowns"] = json!({
        "colliders.floor.restitution": {"range": [0.1, 0.9]},
        "bodies.crate.velocity": {"range": [[0.0, 1.0], [-0.3, 0.7], [-0.2, 0.8]]},
        "bodies.crate.angular_velocity": {"range": [[0.0, 2.0], [-3.0, -1.0], [0.5, 2.5]]},
    });
    scene
}

/// A ball that strikes the box beside its centre and slides with it: what is known is the mass of the ball.
fn struck() -> Value {
    let mut scene = pushed();
    scene["name"] = json!("struck");
    scene.as_object_mut().unwrap().remove("pushes");
    scene["bodies"]["crate"]["pose"] = json!({"position": [0.02, 0.0, 0.07], "rotation": [0.0, 0.0, 0.5]});
    scene["bodies"]["crate"]["velocity"] = json!([0.0, 0.0, 0.0]);
    scene["bodies"]["ball"] = json!({
        "shape": {"sphere": {"radius": 0.08}}, "pose": {"position": [-0.33, -0.07, 0.085]}, "velocity": [1.9, 0.1, 0.25],
        "mass": 1.3, "material": {"law": "rigid"}, "albedo": [0.8, 0.5, 0.4],
    });
    scene["contact_between_bodies"] = json!({"friction": 0.25});
    scene
}

/// The result of an identification of the video that `scene` shows at `set`.
fn found_again(name: &str, scene: &Value, set: &str) -> Value {
    let folder = fresh(name);
    write_scene(&folder.join("scene"), scene);
    run(&folder, &["simulate", "scene", "--set", set, "--bits", "16", "--out", "video"], 0);
    run(&folder, &["identify", "video", "--out", "out"], 0);
    json_of(&folder.join("out/result.json"))
}

fn near(result: &Value, name: &str, truth: f64, share: f64) {
    let found = result["parameters"][name].as_f64().unwrap_or_else(|| panic!("{name}: {result}"));
    assert!((found / truth - 1.0).abs() < share, "{name}: {found}, not {truth}");
    let interval = &result["intervals"][name];
    let [low, high] = [0, 1].map(|k| interval[k].as_f64().unwrap());
    assert!(low < truth && truth < high, "{name}: {low} to {high}, not {truth}");
}

#[test]
fn mass_and_friction_of_its_own_video_are_found_again() {
    let result = found_again("rigid_pushed", &pushed(), "mass=2.37,friction=0.207");
    near(&result, "bodies.crate.mass", 2.37, 2e-4);
    near(&result, "colliders.floor.contact.friction", 0.207, 2e-4);
    assert_eq!(result["discretisation"]["simulator"], json!("rigid"));
}

#[test]
fn the_mass_of_what_is_struck_is_found() {
    // Fewer and smaller frames and narrower ranges, for the sake of time.
    let mut scene = struck();
    scene["frames"] = json!(9);
    (scene["cameras"]["main"]["width"], scene["cameras"]["main"]["height"]) = (json!(40), json!(40));
    scene["unknowns"]["bodies.crate.mass"]["range"] = json!([1.5, 4.0]);
    scene["unknowns"]["colliders.floor.contact.friction"]["range"] = json!([0.1, 0.4]);
    let result = found_again("rigid_struck", &scene, "crate.mass=2.37,friction=0.207");
    near(&result, "bodies.crate.mass", 2.37, 1e-3);
    near(&result, "colliders.floor.contact.friction", 0.207, 1e-3);
}

/// What falls onto others comes to rest on them, and the momentum of what meets is that of before.
#[test]
fn bodies_stay_outside_of_each_other() {
    let folder = fresh("rigid_stack");
    let mut scene = struck();
    scene["frames"] = json!(30);
    scene["bodies"]["ball"]["pose"] = json!({"position": [0.03, 0.01, 0.26]});
    scene["bodies"]["ball"]["velocity"] = json!([0.0, 0.0, 0.0]);
    scene["bodies"]["ball"]["shape"] = json!({"box": {"size": [0.16, 0.14, 0.12]}});
    scene["observations"] = json!({
        "below": {"centre_of_mass": {"body": "crate", "file": "tracks/below.csv", "deviation": 0.001}},
        "above": {"centre_of_mass": {"body": "ball", "file": "tracks/above.csv", "deviation": 0.001}},
    });
    write_scene(&folder.join("scene"), &scene);
    run(&folder, &["simulate", "scene", "--set", "crate.mass=2,friction=0.3", "--out", "out"], 0);
    for (file, height) in [("below", 0.07), ("above", 0.2)] {
        let [before, end] = [28, 29].map(|frame| places(&folder.join(format!("out/tracks/{file}.csv")), frame)[0]);
        assert!((end[2] - height).abs() < 2e-4, "{file}: {end:?}");
        assert!((0..3).all(|a| (end[a] - before[a]).abs() < 1e-4), "{file}: {before:?} {end:?}");
    }
    // Without a floor, weight and friction.
    scene["gravity"] = json!([0.0, 0.0, 0.0]);
    scene["colliders"] = json!({});
    scene["unknowns"] = json!({});
    scene["bodies"]["ball"]["velocity"] = json!([0.1, -0.05, -0.9]);
    write_scene(&folder.join("free"), &scene);
    run(&folder, &["simulate", "free", "--out", "met"], 0);
    let middle = |frame: usize| {
        let of = |file: &str| places(&folder.join(format!("met/tracks/{file}.csv")), frame)[0];
        let (below, above) = (of("below"), of("above"));
        ([0, 1, 2].map(|a| 2.0 * below[a] + 1.3 * above[a]), below[2])
    };
    let ((first, low), (last, lower)) = (middle(0), middle(29));
    assert!(lower < low - 0.1, "nothing has met: {low} {lower}");
    for (a, v) in [0.1, -0.05, -0.9].into_iter().enumerate() {
        assert!((last[a] - first[a] - 1.3 * v * 29.0 / 30.0).abs() < 1e-6, "{first:?} {last:?}");
    }
}

#[test]
fn restitution_velocity_and_spin_of_its_own_video_are_found_again() {
    let set = "restitution=0.62,velocity.x=0.55,velocity.y=0.15,velocity.z=0.25,angular_velocity.x=1.1,angular_velocity.y=-1.8,\
               angular_velocity.z=1.4";
    let mut scene = thrown();
    scene["frames"] = json!(12);
    let result = found_again("rigid_thrown", &scene, set);
    near(&result, "colliders.floor.restitution", 0.62, 5e-3);
    near(&result, "bodies.crate.velocity.x", 0.55, 5e-3);
    near(&result, "bodies.crate.angular_velocity.y", -1.8, 5e-3);
}

/// By the adjoint and by forward mode, in 64 bits, with Taylor rates above 1.9, at three draws from `seed` on.
fn the_gradient_agrees(name: &str, scene: &Value, set: &str, seed: &str) {
    let folder = fresh(name);
    write_scene(&folder.join("scene"), scene);
    run(&folder, &["simulate", "scene", "--set", set, "--out", "video"], 0);
    gradient_agrees(&folder, &["--seed", seed]);
}

/// Of fourteen draws from the seeds 0, 10, 20 and 30 two are at a kink and four next to one, where one of the corners that slide begins or ends to bear weight; the
/// derivatives of the four are those of the differences to 4e-8 all the same.
#[test]
fn the_gradient_of_a_pushed_body_that_slides_agrees() {
    let mut scene = pushed();
    scene["observations"] = json!({
        "dots": {"markers": {
            "points": [[-0.2, -0.05, 0.14], [-0.1, 0.0, 0.05]], "file": "tracks/dots.csv", "deviation": 0.001,
        }},
        "middle": {"centre_of_mass": {"file": "tracks/middle.csv", "deviation": 0.002}},
    });
    the_gradient_agrees("rigid_gradient_pushed", &scene, "mass=2.5,friction=0.25", "10");
}

/// Of nine draws from the seeds 0, 10 and 20 rates are lower at three, next to where friction reaches its limit; derivatives agree to 1e-7 at all.
#[test]
fn the_gradient_of_bodies_that_meet_agrees() {
    let mut scene = struck();
    // Without a floor, whose impacts have kinks of their own.
    (scene["gravity"], scene["colliders"]) = (json!([0.0, 0.0, 0.0]), json!({}));
    scene["frames"] = json!(10);
    scene["bodies"]["ball"]["velocity"] = json!([1.9, 0.1, 0.1]);
    scene["unknowns"] = json!({
        "bodies.crate.mass": {"range": [1.5, 5.0]},
        "bodies.ball.velocity": {"range": [[1.5, 2.3], [-0.2, 0.4], [-0.1, 0.3]]},
    });
    let set = "crate.mass=2.5,ball.velocity.x=1.9,ball.velocity.y=0.1,ball.velocity.z=0.1";
    the_gradient_agrees("rigid_gradient_struck", &scene, set, "10");
}

#[test]
fn the_gradient_of_a_thrown_body_that_bounces_agrees() {
    // Later impacts come in another order next to some of the draws.
    let mut scene = thrown();
    scene["frames"] = json!(11);
    the_gradient_agrees("rigid_gradient_thrown", &scene, "restitution=0.5", "0");
}

/// Above a floor that it does not reach: friction matters nowhere in its range.
#[test]
fn an_unknown_without_influence_is_told_before_the_search() {
    let folder = fresh("rigid_idle");
    let mut scene = pushed();
    scene["gravity"] = json!([0.0, 0.0, -0.5]);
    scene["bodies"]["crate"]["pose"]["position"] = json!([-0.2, -0.05, 0.3]);
    write_scene(&folder.join("video"), &scene);
    run(&folder, &["simulate", "video", "--set", "mass=2.37,friction=0.3", "--out", "frames"], 0);
    let told =
        run(&folder, &["identify", "frames", "--out", "alone", "--unknown", "friction", "--set", "mass=2.37"], 1);
    assert!(told.contains("colliders.floor.contact.friction not identifiable"), "{told}");
    let told = run(&folder, &["identify", "frames", "--out", "both"], 0);
    let note = "colliders.floor.contact.friction has no influence on what is compared";
    // At once, and with the answer.
    assert!(told.matches(note).count() == 2 && told.find(note) < told.find("fine"), "{told}");
    near(&json_of(&folder.join("both/result.json")), "bodies.crate.mass", 2.37, 2e-3);
}

#[test]
fn a_mass_that_nothing_shows_is_refused_before_the_search() {
    let folder = fresh("rigid_free");
    write_scene(&folder.join("video"), &pushed());
    run(&folder, &["simulate", "video", "--set", "mass=2,friction=0.3", "--out", "frames"], 0);
    let mut scene = pushed();
    scene.as_object_mut().unwrap().remove("pushes");
    write_scene(&folder.join("frames"), &scene);
    let told = run(&folder, &["identify", "frames", "--out", "out"], 1);
    assert!(told.contains("mass is not identifiable") && told.contains("--set"), "{told}");
    assert!(!folder.join("out").exists());
    // Nothing is wrong with the rest of it.
    run(&folder, &["identify", "frames", "--out", "out", "--unknown", "friction"], 0);
    // Of two that meet the ratio shows alone.
    scene = struck();
    scene["bodies"]["ball"].as_object_mut().unwrap().remove("mass");
    scene["unknowns"]["bodies.ball.mass"] = json!({"range": [0.5, 5.0]});
    write_scene(&folder.join("two"), &scene);
    run(&folder, &["simulate", "two", "--set", "crate.mass=2,ball.mass=1,friction=0.3", "--out", "both"], 0);
    let told = run(&folder, &["identify", "both", "--out", "neither"], 1);
    assert!(told.contains("ratios of their masses") && told.contains("--set"), "{told}");
}

/// The motion does not depend on the mass of what nothing pushes, whatever it touches.
#[test]
fn what_touches_a_moving_ball_by_forces_moves_alike_whatever_its_mass() {
    let folder = fresh("rigid_ball");
    let mut scene = thrown();
    scene["colliders"] = json!({"ball": {
        "shape": {"sphere": {"radius": 0.2}}, "pose": {"position": [0.0, 0.0, -0.12]}, "motion": {"velocity": [0.0, 0.1, 0.1]},
        "contact": {"friction": 0.3},
    }});
    scene["unknowns"] = json!({"colliders.ball.contact.friction": {"range": [0.1, 0.9]}});
    scene.as_object_mut().unwrap().remove("pushes");
    scene["frames"] = json!(10);
    let shown = |mass: f64| {
        scene["bodies"]["crate"]["mass"] = json!(mass);
        let name = format!("of_{mass}");
        write_scene(&folder.join(&name), &scene);
        run(&folder, &["simulate", &name, "--out", &format!("frames_{mass}")], 0);
        fs::read(folder.join(format!("frames_{mass}/silhouette/frame_0009.png"))).unwrap()
    };
    let mut shown = shown;
    assert_eq!(shown(0.5), shown(40.0));
}

#[test]
fn what_rigid_bodies_do_not_have_is_refused() {
    let cases: [(&str, Value, &[&str]); 8] = [
        ("/bodies/crate/material", json!({"law": "rigid", "mu": 1e4}), &["bodies.crate.material.mu", "rigid"]),
        ("/bodies/crate/density", json!(500.0), &["bodies.crate.mass", "expected one of both"]),
        ("/bodies/crate/material/law", json!("neo_hookean"), &["bodies.crate.mass", "elastic"]),
        ("/colliders/floor/contact", json!("sticky"), &["colliders.floor.contact", "not held"]),
        ("/colliders/floor/restitution", json!(1.2), &["colliders.floor.restitution", "0.0 to 1.0"]),
        ("/pushes/kick/impulse/time", json!(-0.1), &["pushes.kick.impulse.time", "-0.1"]),
        ("/pushes/shove/force/interval", json!([0.3, 0.2]), &["pushes.shove.force.interval", "begin and end"]),
        ("/pushes/kick/impulse/body", json!("box"), &["pushes.kick.impulse.body", "\"crate\""]),
    ];
    let folder = fresh("rigid_refused");
    for (pointer, value, words) in cases {
        let mut scene = pushed();
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        scene.pointer_mut(parent).unwrap()[field] = value;
        write_scene(&folder.join("scene"), &scene);
        let told = run(&folder, &["simulate", "scene", "--out", "out"], 2);
        assert!(words.iter().all(|word| told.contains(word)), "{pointer}: {told}");
    }
    write_scene(&folder.join("scene"), &pushed());
    let told = run(&folder, &["simulate", "scene", "--simulator", "fem", "--set", "mass=2", "--out", "out"], 2);
    assert!(told.contains("rigid"), "{told}");
    let mut scene = struck();
    scene["contact_between_bodies"] = json!("sticky");
    write_scene(&folder.join("scene"), &scene);
    let told = run(&folder, &["simulate", "scene", "--out", "out"], 2);
    assert!(told.contains("contact_between_bodies") && told.contains("not held"), "{told}");
}

/// A box on a floor, pushed beside its centre, as other programs write it.
fn of_another_program() -> Value {
    json!({
        "name": "kicked", "kind": "rigid_body", "duration": 0.5, "frame_rate": 24, "num_frames": 12,
        "gravity": [0, 0, -9.81],
        "camera": {
            "model": "pinhole", "position": [0.25, -1.55, 1.05], "look_at": [0.04, 0.03, 0.05], "up": [0.0, 0.0, 1.0],
            "vertical_fov_deg": 39.0, "width": 64, "height": 64, "near": 0.05, "far": 20.0,
        },
        "shading": {
            "light_direction_to_light": [0.3, -0.5, 0.8], "light_intensity": 0.85, "ambient": 0.15,
            "albedo_rgb": [0.45, 0.65, 0.85], "background_rgb": [0.1, 0.08, 0.08], "normals": "flat (one per face)",
        },
        "object": {
            "type": "box", "mesh": "box.obj (body frame, origin at the centre of mass)", "half_extents": [0.17, 0.11, 0.07],
            "initial_position": [-0.34, -0.08, 0.07],
            "initial_orientation_quat_wxyz": [0.9723699203976766, 0.0, 0.0, 0.2334453638559054],
            "initial_velocity": [0.2, 0.0, 0.0], "initial_angular_velocity_world": [0.0, 0.0, 0.1],
            "mass_distribution": "uniform density", "mass": null, "density": null, "density_note": "mass / volume",
        },
        "floor": {"point": [0, 0, 0], "normal": [0.0, 0.0, 1.0], "contact": "rigid, no bounce, frictionless", "friction": 0.0},
        "impulse": {
            "time": 0.06, "impulse_world": [1.95, 0.45, 0.0], "point_world": [-0.348, -0.135, 0.07],
            "point_relative_to_centre_of_mass_world_axes": [-0.02, -0.055, 0.0], "note": "instantaneous",
        },
        "unknowns": {"mass": {"unit": "kg", "range": [0.8, 8.0]}},
    })
}

/// The corners of a box about its centre.
fn corners([x, y, z]: [f64; 3]) -> String {
    let signs = |k: usize| [0, 1, 2].map(|a| if k >> (2 - a) & 1 == 0 { -1.0 } else { 1.0 });
    let vertices = (0..8).map(signs).map(|[a, b, c]| format!("v {} {} {}\n", a * x, b * y, c * z));
    let faces =
        "f 1 2 4\nf 1 4 3\nf 5 7 8\nf 5 8 6\nf 1 5 6\nf 1 6 2\nf 3 4 8\nf 3 8 7\nf 1 3 7\nf 1 7 5\nf 2 6 8\nf 2 8 4\n";
    vertices.collect::<String>() + faces
}

#[test]
fn a_folder_of_another_program_is_read_as_a_box_or_by_its_mesh() {
    let folder = fresh("rigid_foreign");
    let mut scene = of_another_program();
    write_scene(&folder.join("box"), &scene);
    scene["object"]["type"] = json!("mesh");
    scene["object"].as_object_mut().unwrap().remove("half_extents");
    write_scene(&folder.join("mesh"), &scene);
    for name in ["box", "mesh"] {
        fs::write(folder.join(name).join("box.obj"), corners([0.17, 0.11, 0.07])).unwrap();
        run(&folder, &["simulate", name, "--set", "mass=2.37", "--out", &format!("of_{name}")], 0);
    }
    let (document, taken) = Document::read(&folder.join("mesh"), Access::Inside).unwrap();
    let [x, y, z] = document.bodies["body"].pose.rotation;
    assert!(x == 0.0 && y == 0.0 && (z - 2.0 * 0.233_445_363_855_905_4f64.asin()).abs() < 1e-12, "{z}");
    assert!(
        taken.iter().any(|text| text.contains("\"rigid, no bounce, frictionless\" is taken as frictionless")),
        "{taken:?}"
    );
    let last = |name: &str| fs::read(folder.join(name).join("silhouette/frame_0011.png")).unwrap();
    assert_eq!(last("of_box"), last("of_mesh"));
    run(&folder, &["identify", "of_mesh", "--out", "out"], 0);
    near(&json_of(&folder.join("out/result.json")), "mass", 2.37, 1e-3);
    // A friction that is to be found need not be given; another remark on the frame of the mesh is refused.
    scene["floor"] = json!({
        "point": [0, 0, 0], "normal": [0.0, 0.0, 1.0],
        "contact": "rigid, no bounce, Coulomb friction with one coefficient (static = kinetic)",
    });
    let refused = |scene: &Value, words: &[&str]| {
        write_scene(&folder.join("mesh"), scene);
        let told = run(&folder, &["simulate", "mesh", "--set", "mass=2", "--out", "refused"], 2);
        assert!(words.iter().all(|word| told.contains(word)), "{told}");
    };
    refused(&scene, &["floor.friction", "missing"]);
    scene["unknowns"]["friction"] = json!({"unit": "1", "range": [0.02, 0.6]});
    write_scene(&folder.join("mesh"), &scene);
    run(&folder, &["simulate", "mesh", "--set", "mass=2,friction=0.2", "--out", "rough"], 0);
    scene["object"]["mesh"] = json!("box.obj (world frame)");
    refused(&scene, &["object.mesh", "body frame"]);
}

#[test]
fn a_ball_comes_to_where_it_is_to_be() {
    let folder = fresh("rigid_throw");
    let mut scene = pushed();
    scene["bodies"]["crate"]["shape"] = json!({"sphere": {"radius": 0.06}});
    scene["bodies"]["crate"]["pose"] = json!({"position": [-0.16, 0.04, 0.19]});
    scene["unknowns"] = json!({"bodies.crate.velocity": {"range": [[-1.0, 1.5], [-1.0, 1.0], [-1.0, 2.0]]}});
    scene.as_object_mut().unwrap().remove("pushes");
    write_scene(&folder.join("scene"), &scene);
    run(&folder, &["throw", "scene", "--to", "0.1,-0.02,0.2", "--frame", "9", "--out", "out"], 0);
    let record = json_of(&folder.join("out/simulated.json"));
    let exact = [0.26 / 0.3, -0.06 / 0.3, 0.01 / 0.3 + 0.5 * 9.81 * 0.3];
    for (axis, exact) in ["x", "y", "z"].into_iter().zip(exact) {
        let found = record["parameters"][format!("bodies.crate.velocity.{axis}")].as_f64().unwrap();
        assert!((found - exact).abs() < 1e-6, "{axis}: {found}, not {exact}");
    }
}

/// Rows of a table of places at a frame.
fn places(file: &Path, frame: usize) -> Vec<[f64; 3]> {
    let text = fs::read_to_string(file).unwrap();
    let rows = text.lines().skip(1).map(|line| line.split(',').map(|x| x.parse::<f64>().unwrap()).collect::<Vec<_>>());
    rows.filter(|row| row[0] as usize == frame).map(|row| [3, 2, 1].map(|k| row[row.len() - k])).collect()
}

/// In free space what pushes do is known: an impulse beside the centre turns the body about z, a force at a point of its frame in line with the centre does not.
#[test]
fn pushes_give_their_momentum_to_mass_and_inertia() {
    let folder = fresh("rigid_momentum");
    let mut scene = pushed();
    let (sides, density) = ([0.3, 0.2, 0.14f64], 400.0);
    let mass = density * sides.iter().product::<f64>();
    scene["gravity"] = json!([0.0, 0.0, 0.0]);
    scene["colliders"] = json!({});
    scene["unknowns"] = json!({});
    scene["bodies"]["crate"].as_object_mut().unwrap().remove("mass");
    scene["bodies"]["crate"]["density"] = json!(density);
    scene["bodies"]["crate"]["velocity"] = json!([0.0, 0.0, 0.0]);
    scene["bodies"]["crate"]["pose"] = json!({"position": [-0.1, 0.0, 0.1]});
    scene["pushes"] = json!({
        "kick": {"impulse": {"vector": [0.4, 1.1, 0.0], "at": {"centre": [0.05, -0.03, 0.0]}, "time": 0.21}},
        "shove": {"force": {"vector": [3.0, 0.0, 0.0], "at": {"body": [0.12, 0.0, 0.0]}, "interval": [0.02, 0.17]}},
    });
    scene["observations"] = json!({
        "corner": {"markers": {"points": [[0.05, 0.1, 0.17]], "file": "tracks/corner.csv", "deviation": 0.001}},
        "middle": {"centre_of_mass": {"file": "tracks/middle.csv", "deviation": 0.001}},
    });
    write_scene(&folder.join("scene"), &scene);
    run(&folder, &["simulate", "scene", "--out", "out"], 0);
    let end = 13.0 / 30.0;
    let since = end - 0.21;
    let middle = [-0.1 + (3.0 * 0.15 * (end - 0.095) + 0.4 * since) / mass, 1.1 * since / mass, 0.1];
    let inertia = mass / 12.0 * (sides[0].powi(2) + sides[1].powi(2));
    let turned = (0.05 * 1.1 + 0.03 * 0.4) / inertia * since;
    let (sine, cosine) = turned.sin_cos();
    let corner = [middle[0] + 0.15 * cosine - 0.1 * sine, middle[1] + 0.15 * sine + 0.1 * cosine, 0.17];
    for (file, expected) in [("middle", middle), ("corner", corner)] {
        let found = places(&folder.join(format!("out/tracks/{file}.csv")), 13)[0];
        let away = (0..3).map(|a| (found[a] - expected[a]).powi(2)).sum::<f64>().sqrt();
        assert!(away < 1e-6, "{file}: {found:?}, not {expected:?}");
    }
}
