//! Scenes that say something else than their video, told by the frames before anything touches.
#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{fresh, run, sample, write_scene};
use diffkern_sim::scene::BodyShape;
use serde_json::json;
use train::identify::beginning;
use train::scene::Scene;
use train::video::Video;

/// What is said of the sample, made by another program, with its scene changed.
fn said(edit: impl FnOnce(&mut Scene)) -> Vec<String> {
    let mut scene = Scene::read(&sample()).unwrap();
    let videos = Video::read(&sample(), &scene).unwrap();
    edit(&mut scene);
    beginning(&scene, &videos, "cpu").unwrap()
}

/// Whether it names a cause, and how far off the scene is.
fn named(said: &[String], cause: &str, low: f64, high: f64) {
    let [one] = said else { panic!("expected one fault: {said:?}") };
    let (_, after) = one.split_once(cause).unwrap_or_else(|| panic!("{cause} is not in: {one}"));
    let number: f64 = after.trim_start_matches(", by ").split(' ').next().unwrap().parse().unwrap();
    assert!(low < number && number < high, "{cause}, {number}: {one}");
}

fn block(scene: &mut Scene, edit: impl Fn(&mut [f64; 3], &mut [f64; 3])) {
    match &mut scene.bodies[0].starts[0].shape {
        BodyShape::Block { min, max } => edit(min, max),
        other => panic!("the sample is a block, not {other:?}"),
    }
}

#[test]
fn nothing_is_said_of_a_scene_that_is_right() {
    assert_eq!(said(|_| ()), Vec::<String>::new());
}

#[test]
fn a_camera_that_is_elsewhere_is_named() {
    named(&said(|s| s.cameras[0].position[2] += 0.02), "the position of the camera", 1.5, 2.5);
    named(&said(|s| s.cameras[0].look_at[0] += 0.01), "the point that the camera looks at", 0.7, 1.3);
    named(&said(|s| s.cameras[0].vertical_fov *= 1.02), "the field of view", 0.4, 0.8);
}

#[test]
fn a_body_of_another_size_is_named() {
    let smaller = |s: &mut Scene| {
        block(s, |min, max| {
            for (a, b) in min.iter_mut().zip(max) {
                let (middle, half) = (0.5 * (*a + *b), 0.475 * (*b - *a));
                (*a, *b) = (middle - half, middle + half);
            }
        });
    };
    named(&said(smaller), "the size of the body", 4.0, 6.0);
}

#[test]
fn a_clock_that_is_wrong_is_named() {
    let late = |s: &mut Scene| {
        let t = 0.25 / s.frame_rate;
        let (g, start) = (s.gravity, &mut s.bodies[0].starts[0]);
        let moved = [0, 1, 2].map(|a| t * start.velocity[a] + 0.5 * t * t * g[a]);
        start.velocity = [0, 1, 2].map(|a| start.velocity[a] + t * g[a]);
        block(s, |min, max| {
            for a in 0..3 {
                (min[a], max[a]) = (min[a] + moved[a], max[a] + moved[a]);
            }
        });
    };
    named(&said(late), "when it starts", 0.2, 0.3);
    named(&said(|s| s.frame_rate *= 1.1), "the frame rate", 7.0, 13.0);
    named(&said(|s| s.bodies[0].starts[0].velocity[0] += 0.05), "the velocity of the body", 0.03, 0.07);
    named(&said(|s| s.bodies[0].starts[0].angular_velocity[1] += 0.3), "the angular velocity of the body", 0.2, 0.4);
}

/// What is unknown is not held against a scene.
#[test]
fn an_unknown_camera_is_not_judged() {
    let unknown = |s: &mut Scene| {
        let name: train::scene::Name = "position.z".parse().unwrap();
        let target = s.target(&name).unwrap();
        let range = train::scene::Range { target, name, min: 0.1, max: 2.0, ..s.unknowns[0].clone() };
        s.unknowns.push(range);
        s.cameras[0].position[2] += 0.02;
    };
    assert_eq!(said(unknown), Vec::<String>::new());
}

/// A block that reaches the floor 2 ms before the second frame, where the program that made the video has stopped it and the search's gives way.
#[test]
fn a_frame_in_which_something_may_touch_is_not_judged() {
    let folder = fresh("beginning_touch");
    let scene = json!({
        "version": 1,
        "name": "touch",
        "frame_rate": 40.0,
        "frames": 3,
        "gravity": [0.0, 0.0, -9.81],
        "bodies": {"jelly": {
            "shape": {"box": {"size": [0.17, 0.19, 0.13]}},
            "pose": {"position": [-0.04, -0.02, 0.087]},
            "velocity": [0.36, 0.16, -0.85],
            "density": 1070.0,
            "material": {"law": "neo_hookean"},
            "albedo": [0.6, 0.6, 0.8],
        }},
        "colliders": {"floor": {"shape": {"half_space": {"normal": [0, 0, 1]}}, "contact": {"friction": 0.0}}},
        "cameras": {"main": {
            "position": [-0.14, -0.96, 0.25], "look_at": [0.0, 0.0, 0.07], "vertical_fov": 0.3, "width": 96, "height": 80,
        }},
        "lights": {"sun": {"direction": [0.35, -0.6, 0.75], "intensity": 0.85}},
        "unknowns": {"bodies.jelly.material.mu": {"range": [2000, 6000]}, "bodies.jelly.material.lambda": {"range": [2000, 20000]}},
    });
    write_scene(&folder.join("scene"), &scene);
    let simulate =
        ["simulate", "scene", "--set", "mu=3000,lambda=9000", "--simulator", "mpm", "--cells", "12", "--out", "video"];
    run(&folder, &simulate, 0);
    let video = folder.join("video");
    let scene = Scene::read(&video).unwrap();
    let said = beginning(&scene, &Video::read(&video, &scene).unwrap(), "cpu").unwrap();
    assert!(said.is_empty(), "{said:?}");
}
