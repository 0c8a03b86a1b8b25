//! Frames of depth: written, fitted beside silhouettes, and refused where they are of another kind.
#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{fresh, gradient_agrees, json_of, run, write_scene};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// A ball that flies away from the camera, which sees along y, and meets a floor. Lengths are in centimetres.
fn ball() -> Value {
    json!({
        "version": 1,
        "name": "ball",
        "units": {"length": "cm"},
        "frame_rate": 60.0,
        "frames": 6,
        "gravity": [0.0, 0.0, -981.0],
        "bodies": {"ball": {
            "shape": {"sphere": {"radius": 5}},
            "pose": {"position": [0.3, -0.5, 6.5]},
            "velocity": [20, 90, -60],
            "density": 1000.0,
            "material": {"law": "neo_hookean", "lambda": 9000.0},
            "albedo": [0.9, 0.5, 0.4],
        }},
        "colliders": {"floor": {"shape": {"half_space": {"normal": [0, 0, 1]}}, "contact": "frictionless"}},
        "cameras": {"front": {"position": [1, -70, 7], "look_at": [1, 0, 6], "vertical_fov": 0.35, "width": 40, "height": 32}},
        "videos": {"main": {
            "silhouette": "silhouette",
            "shaded": "shaded",
            "depth": {"folder": "depth", "scale": 0.02, "deviation": 0.1},
        }},
        "lights": {"sun": {"direction": [0.35, -0.6, 0.75], "intensity": 0.6}, "lamp": {"direction": [-1, -1, 0.2], "intensity": 0.25}},
        "ambient": 0.1,
        "unknowns": {
            "bodies.ball.material.mu": {"range": [4000.0, 14000.0]},
            "bodies.ball.velocity.y": {"range": [40, 140]},
            "bodies.ball.pose.position.y": {"range": [-3, 3]},
        },
    })
}

const SET: &str = "mu=7000,velocity.y=0.8,pose.position.y=0.01";

fn filmed(name: &str) -> PathBuf {
    let folder = fresh(name);
    write_scene(&folder.join("scene"), &ball());
    run(&folder, &["simulate", "scene", "--set", SET, "--cells", "4", "--bits", "16", "--out", "video"], 0);
    folder
}

/// The counts of a frame.
fn counts(file: &Path) -> Vec<u16> {
    let mut reader = png::Decoder::new(std::io::BufReader::new(fs::File::open(file).unwrap())).read_info().unwrap();
    assert_eq!(
        (reader.info().bit_depth, reader.info().color_type),
        (png::BitDepth::Sixteen, png::ColorType::Grayscale)
    );
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut bytes).unwrap();
    bytes.as_chunks::<2>().0.iter().map(|&pair| u16::from_be_bytes(pair)).collect()
}

fn write_counts(file: &Path, counts: &[u16], bits: png::BitDepth) {
    let mut encoder = png::Encoder::new(fs::File::create(file).unwrap(), 40, 32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(bits);
    let bytes: Vec<u8> = match bits {
        png::BitDepth::Sixteen => counts.iter().flat_map(|count| count.to_be_bytes()).collect(),
        _ => counts.iter().map(|count| (count / 256) as u8).collect(),
    };
    encoder.write_header().unwrap().write_image_data(&bytes).unwrap();
}

fn found(folder: &Path, out: &str, change: &dyn Fn(&mut Value)) -> Value {
    let mut scene = ball();
    change(&mut scene);
    write_scene(&folder.join("video"), &scene);
    run(folder, &["identify", "video", "--cells", "4", "--out", out], 0);
    json_of(&folder.join(out).join("result.json"))
}

fn within(result: &Value, name: &str, truth: f64, tolerance: f64) {
    let value = result["parameters"][name].as_f64().unwrap();
    assert!((value - truth).abs() < tolerance, "{name}: {value}, not {truth}: {}", result["parameters"]);
}

fn width(result: &Value, name: &str) -> f64 {
    let [low, high] = [0, 1].map(|k| result["intervals"][name][k].as_f64().unwrap());
    high - low
}

#[test]
fn depths_are_written_and_tell_what_silhouettes_hardly_do() {
    let folder = filmed("depth");
    let first = counts(&folder.join("video/depth/frame_0000.png"));
    // The point of the ball that is nearest is at 0.7 + 0.01 - 0.05 m along y; the camera looks down a little.
    let nearest = first.iter().filter(|count| **count > 0).min().unwrap();
    assert!((f64::from(*nearest) * 2e-4 - 0.66).abs() < 5e-3, "{nearest}");
    assert_eq!(first[0], 0);
    let both = found(&folder, "both", &|_| ());
    within(&both, "bodies.ball.velocity.y", 0.8, 2e-3);
    within(&both, "bodies.ball.pose.position.y", 0.01, 1e-4);
    within(&both, "bodies.ball.material.mu", 7000.0, 100.0);
    let written = folder.join("both/frames/main/depth/frame_0005.png");
    assert!(counts(&written).iter().any(|count| *count > 0));
    // Neither silhouettes nor colours.
    let alone = found(&folder, "alone", &|s| s["videos"]["main"]["weights"] = json!({"silhouette": 0}));
    within(&alone, "bodies.ball.pose.position.y", 0.01, 1e-4);
    // The same without depths is not as sure.
    let without = found(&folder, "without", &|s| s["videos"]["main"]["weights"] = json!({"depth": 0}));
    let place = "bodies.ball.pose.position.y";
    assert!(width(&without, place) > 2.0 * width(&both, place), "{} {}", width(&without, place), width(&both, place));
}

#[test]
fn the_gradient_of_depths_agrees() {
    let folder = filmed("depth_gradient");
    gradient_agrees(&folder, &["--cells", "2"]);
}

#[test]
fn depths_of_another_kind_are_refused_by_file() {
    let folder = filmed("depth_refused");
    let frame = folder.join("video/depth/frame_0003.png");
    let first = folder.join("video/depth/frame_0000.png");
    let (own, of_first) = (counts(&frame), counts(&first));
    let refused = |expected: &[&str]| {
        let told = run(&folder, &["identify", "video", "--cells", "4", "--out", "out"], 2);
        assert!(expected.iter().all(|part| told.contains(part)), "{told}");
        assert!(!folder.join("out").exists());
    };
    write_counts(&frame, &own, png::BitDepth::Eight);
    refused(&["depth/frame_0003.png", "8-bit grey, expected 40x32 pixels of 16-bit grey, counts of 0.0002 m"]);
    fs::remove_file(&frame).unwrap();
    refused(&["depth/frame_0003.png", "40x32 pixels"]);
    write_counts(&frame, &own, png::BitDepth::Sixteen);
    // In millimetres, though the scene says fifths of them.
    let other: Vec<u16> = of_first.iter().map(|count| count / 5).collect();
    write_counts(&first, &other, png::BitDepth::Sixteen);
    refused(&["depth/frame_0000.png", "from the camera where a count is 0.0002 m", "another scale"]);
    write_counts(&first, &of_first, png::BitDepth::Sixteen);
    for k in 0..6 {
        write_counts(&folder.join(format!("video/depth/frame_000{k}.png")), &[0; 40 * 32], png::BitDepth::Sixteen);
    }
    refused(&["depth/frame_0000.png", "no pixel that is white in the silhouettes has a depth"]);
    let mut scene = ball();
    scene["videos"]["main"]["depth"]["scale"] = json!(1e-3);
    write_scene(&folder.join("scene"), &scene);
    // A count is 0.01 mm, so that 16 bits end at 0.655 m.
    let told = run(&folder, &["simulate", "scene", "--set", SET, "--cells", "4", "--out", "short"], 2);
    assert!(told.contains("counts of 0.00001 m") && told.contains("up to 0.65535 m"), "{told}");
    scene["videos"]["main"].as_object_mut().unwrap().remove("depth");
    scene["videos"]["main"]["weights"] = json!({"depth": 2});
    write_scene(&folder.join("scene"), &scene);
    let told = run(&folder, &["simulate", "scene", "--set", SET, "--cells", "4", "--out", "short"], 2);
    assert!(told.contains("videos.main.weights.depth: the video has no depths"), "{told}");
}
