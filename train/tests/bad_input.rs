//! Every mistake in the input is one line that says where and what was expected, with exit code 2
//! and nothing written.

#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{assert_refused, copy_sample, diffkern, edit_scene, fresh};
use serde_json::json;
use std::fs;
use std::path::Path;
use train::scene::Scene;
use train::video::{Bits, Frame, Video};

/// A case: what it is called, how it breaks the video, what the error has to name.
type Case = (&'static str, fn(&Path), &'static [&'static str]);

const VIDEO_CASES: &[Case] = &[
    ("missing_scene", |v| fs::remove_file(v.join("scene.json")).unwrap(), &["scene.json", "cannot be read"]),
    (
        "missing_frame",
        |v| fs::remove_file(v.join("silhouette/frame_0007.png")).unwrap(),
        &["silhouette", "frame_0007.png", "expected 128x128", "num_frames: 32", "silhouette holds 31 of them"],
    ),
    (
        "missing_frames",
        |v| fs::remove_dir_all(v.join("shaded")).unwrap(),
        &["shaded/frame_0000.png", "num_frames: 32", "there is no folder shaded"],
    ),
    (
        "text_as_frame",
        |v| fs::write(v.join("shaded/frame_0002.png"), "hello").unwrap(),
        &["frame_0002.png: frame is no PNG", "expected 128x128"],
    ),
    ("missing_shaded", |v| fs::remove_file(v.join("shaded/frame_0031.png")).unwrap(), &["shaded", "frame_0031.png"]),
    (
        "truncated_frame",
        |v| {
            let file = v.join("silhouette/frame_0003.png");
            let bytes = fs::read(&file).unwrap();
            fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
        },
        &["frame_0003.png", "cut off", "expected 128x128"],
    ),
    ("empty_frame", |v| fs::write(v.join("shaded/frame_0002.png"), []).unwrap(), &["frame_0002.png", "cut off"]),
    (
        "other_size",
        |v| picture(&v.join("silhouette/frame_0004.png"), 64, 128),
        &["frame_0004.png", "64x128", "expected 128x128"],
    ),
    (
        "grey_for_colour",
        |v| picture(&v.join("shaded/frame_0004.png"), 128, 128),
        &["frame_0004.png", "8-bit grey", "8- or 16-bit RGB"],
    ),
    ("camera_of_other_size", |v| edit_scene(v, "/camera/width", json!(64)), &["frame_0000.png", "expected 64x128"]),
    ("malformed_json", |v| replace(v, "\"frame_rate\": 32,", "\"frame_rate\": 32"), &["scene.json:", "malformed JSON"]),
    ("nan_in_json", |v| replace(v, "1000.0", "NaN"), &["scene.json:", "object.density", "NaN"]),
    ("huge_number", |v| replace(v, "1000.0", "1e999"), &["scene.json:", "density", "out of range"]),
    ("missing_field", |v| replace(v, "\"near\"", "\"neer\""), &["scene.json:", "camera", "near"]),
    ("wrong_type", |v| edit_scene(v, "/gravity", json!([0, "down", 0])), &["scene.json:", "gravity[1]", "down"]),
    ("unknown_kind", |v| edit_scene(v, "/kind", json!("gas")), &["kind", "gas", "soft_body"]),
    ("cloth_kind", |v| edit_scene(v, "/kind", json!("cloth")), &["kind", "cloth", "soft_body", "rigid_body"]),
    ("unknown_unknown", |v| replace(v, "\"mu\":", "\"softness\":"), &["unknowns.softness", "mu, lambda"]),
    ("negative_density", |v| edit_scene(v, "/object/density", json!(-3.0)), &["object.density", "-3", "positive"]),
    ("inverted_range", |v| edit_scene(v, "/unknowns/mu/range", json!([9.0, 4.0])), &["unknowns.mu.range", "[9, 4]"]),
    (
        "half_a_range",
        |v| edit_scene(v, "/unknowns/mu/range", json!([9.0])),
        &["unknowns.mu.range", "[least, greatest]"],
    ),
    ("empty_block", |v| edit_scene(v, "/object/block_max/1", json!(-0.05)), &["object.block_max", "empty along y"]),
    ("block_in_floor", |v| edit_scene(v, "/floor/point/2", json!(0.2)), &["object.block_min", "inside the collider"]),
    ("no_look", |v| edit_scene(v, "/camera/up", json!([0, 0, 0])), &["camera.up", "other than zero"]),
    ("other_law", |v| edit_scene(v, "/material/model", json!("jam")), &["material.model", "jam", "neo-Hookean"]),
    ("too_many_frames", |v| edit_scene(v, "/num_frames", json!(40)), &["num_frames", "duration"]),
    (
        "nan_in_mesh",
        |v| mesh(v, "v 0 0 0\nv 1 0 nan\nv 0 1 0\nf 1 2 3\n"),
        &["box.obj:2:", "vertex", "three finite numbers"],
    ),
    ("empty_mesh", |v| mesh(v, "# nothing\n"), &["box.obj", "empty", "at least one face"]),
    ("stl_as_mesh", |v| mesh(v, "solid x\nfacet normal 0 0 1\n"), &["box.obj", "no Wavefront OBJ", "0 vertices"]),
    ("face_out_of_range", |v| mesh(v, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n"), &["box.obj:4:", "face", "1..=3"]),
    (
        "infinite_mesh",
        |v| mesh(v, "v 0 0 0\nv 1 0 0\nv 0 inf 0\nf 1 2 3\n"),
        &["box.obj:3:", "vertex", "three finite numbers"],
    ),
    ("mesh_without_faces", |v| mesh(v, "v 0 0 0\nv 1 0 0\nv 0 1 0\n"), &["box.obj", "empty", "at least one face"]),
    ("scene_is_a_folder", scene_folder, &["scene.json", "cannot be read"]),
    ("scene_is_no_text", |v| fs::write(v.join("scene.json"), [0xff, 0xfe]).unwrap(), &["scene.json", "UTF-8"]),
    (
        "truncated_json",
        |v| fs::write(v.join("scene.json"), "{\"name\": ").unwrap(),
        &["scene.json:1:", "malformed JSON"],
    ),
    (
        "camera_under_the_floor",
        |v| edit_scene(v, "/camera/position/2", json!(-0.5)),
        &["camera.position", "-0.5", "inside the half-space"],
    ),
    (
        "camera_in_the_block",
        |v| edit_scene(v, "/camera/position", json!([-0.2, 0.05, 0.15])),
        &["camera.position", "inside the block"],
    ),
    (
        "telescope",
        |v| edit_scene(v, "/camera/vertical_fov_deg", json!(1e-9)),
        &["camera.vertical_fov_deg", "1e-9", "0.01"],
    ),
    (
        "widest",
        |v| edit_scene(v, "/camera/vertical_fov_deg", json!(179.9999)),
        &["camera.vertical_fov_deg", "179.9999", "170.0 degrees"],
    ),
    ("far_too_near", |v| edit_scene(v, "/camera/far", json!(1.0)), &["camera.far", "1, but the block is at depths"]),
    (
        "near_too_far",
        |v| edit_scene(v, "/camera/near", json!(1.3)),
        &["camera.near", "1.3, but the block is at depths"],
    ),
    (
        "blinding",
        |v| edit_scene(v, "/shading/light_intensity", json!(1e300)),
        &["shading.light_intensity", "1e300", "white"],
    ),
    ("lit_all_over", |v| edit_scene(v, "/shading/ambient", json!(1e9)), &["shading.ambient", "1000.0", "clipped"]),
    ("vacuum", |v| edit_scene(v, "/object/density", json!(1e-300)), &["object.density", "1e-300", "0.001"]),
    ("speck", |v| edit_scene(v, "/object/block_max/0", json!(-0.30999999999)), &["object.block_max", "1e-6"]),
    ("far_out", |v| edit_scene(v, "/object/block_max/0", json!(1e300)), &["object.block_max", "1e300", "too coarse"]),
    (
        "faster_than_light",
        |v| edit_scene(v, "/object/initial_velocity/0", json!(1e20)),
        &["object.initial_velocity", "1e20", "light"],
    ),
    ("crushing", |v| edit_scene(v, "/gravity/2", json!(-1e300)), &["gravity", "-1e300", "neutron star"]),
    (
        "hard_range",
        |v| edit_scene(v, "/unknowns/mu/range", json!([1e3, 1e300])),
        &["unknowns.mu.range", "1e300", "diamond"],
    ),
    ("slow_motion", |v| edit_scene(v, "/frame_rate", json!(1e300)), &["frame_rate", "1e300", "no camera"]),
    ("no_frames", |v| edit_scene(v, "/num_frames", json!(0)), &["num_frames", "2 to 10000"]),
    ("frozen", |v| edit_scene(v, "/frame_rate", json!(-32)), &["frame_rate", "-32", "positive"]),
    ("negative_range", |v| edit_scene(v, "/unknowns/mu/range", json!([-9.0, 4.0])), &["unknowns.mu.range", "positive"]),
    ("zero_one_masks", zero_one_masks, &["frame_0000.png", "no pixel of any frame is white", "brightest is 1 of 255"]),
    ("missing_mesh", |v| edit_scene(v, "/object", json!({"mesh": "no.obj"})), &["no.obj", "cannot be read"]),
];

/// Masks of 0 and 1, of which the frames look black.
fn zero_one_masks(video: &Path) {
    let scene = Scene::read(video).unwrap();
    for (k, frame) in Video::read(video, &scene).unwrap()[0].frames.iter().enumerate() {
        let silhouette = frame.silhouette.iter().map(|value| value.round() / 255.0).collect();
        let frame = Frame { silhouette, ..frame.clone() };
        frame.write(video, ["silhouette", "shaded"], k, scene.cameras[0].width, Bits::Eight).unwrap();
    }
}

#[test]
fn broken_videos_are_refused() {
    for (case, break_it, parts) in VIDEO_CASES {
        let folder = fresh(case);
        let video = copy_sample(&folder);
        break_it(&video);
        let output = diffkern(&folder, &["identify", "video", "--out", "out"]).output().unwrap();
        assert_refused(case, &output, parts);
        assert!(!folder.join("out").exists(), "{case} left an output folder");
    }
}

#[test]
fn wrong_arguments_are_refused() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["identify", "absent"], &["absent", "no such folder"]),
        (&["identify", "video/scene.json"], &["video/scene.json", "not a folder"]),
        (&["identify", "video", "--unknown", "softness"], &["--unknown", "softness", "mu, lambda"]),
        (&["identify", "video", "--unknown", "mu"], &["lambda", "--set lambda=VALUE"]),
        (&["identify", "video", "--unknown", "mu,mu,lambda"], &["unknowns", "mu is there twice"]),
        (&["identify", "video", "--start", "mu=1"], &["start", "mu = 1", "1500 to 25000"]),
        (&["identify", "video", "--start", "mu"], &["--start", "NAME=VALUE"]),
        (&["identify", "video", "--start", "mu=soft"], &["--start", "soft", "number"]),
        (&["identify", "video", "--start", "mu=NaN"], &["start", "NaN", "1500 to 25000"]),
        (&["identify", "video", "--max-iterations", "0"], &["max_iterations", "at least 1"]),
        (&["identify", "video", "--optimizer", "bfgs"], &["--optimizer", "bfgs", "newton-cg"]),
        (&["identify", "video", "--device", "abacus"], &["device", "abacus"]),
        (&["identify", "video", "--frobnicate"], &["--frobnicate"]),
        (&["identify"], &["FOLDER"]),
        (&["resume", "video"], &["video", "no run to resume"]),
        (&["resume", "run", "--overwrite"], &["overwrite: this command takes the place of nothing"]),
        (&["identify", "video", "--unknown", "mu", "--set", "lambda=-5"], &["fixed", "lambda = -5", "positive"]),
        (&["identify", "video", "--set", "softness=5"], &["--set", "softness", "mu, lambda"]),
        (&["simulate", "absent", "--set", "mu=5e3,lambda=1e4"], &["absent", "no such folder"]),
        (&["simulate", "video", "--set", "mu=5e3,lambda=1e4", "--out", "video"], &["out", "video", "expected another"]),
        (&["simulate", "video", "--set", "mu=-5,lambda=1e4"], &["set", "mu = -5", "positive"]),
        (&["simulate", "video", "--set", "mu=5e3,lambda=1e4", "--set", "mu=6e3"], &["set", "mu is there twice"]),
        (&["simulate", "video", "--set", "mu=1e14,lambda=1e4"], &["set", "mu", "diamond"]),
        (&["simulate", "video", "--set", "mu=5000"], &["lambda", "--set lambda=VALUE"]),
        (&["run", "absent.ron"], &["absent.ron", "cannot be read"]),
    ];
    let folder = fresh("arguments");
    copy_sample(&folder);
    for (arguments, parts) in cases {
        let output = diffkern(&folder, arguments).output().unwrap();
        assert_refused(&arguments.join(" "), &output, parts);
        assert!(!folder.join("out").exists(), "{arguments:?} left an output folder");
    }
}

#[test]
fn wrong_experiments_are_refused_with_line_and_column() {
    let cases = [
        ("Identify(folder: \"video\"", "job.ron:1:", "Expected"),
        ("Identify(\n  folder: \"video\",\n  iterations: 3,\n)", "job.ron:3:", "iterations"),
        ("Identify(seed: 3)", "job.ron:1:", "folder"),
        ("Identify(folder: \"video\", seed: \"x\")", "job.ron:1:", "seed: Expected integer"),
        ("Identify(folder: \"video\", unknowns: [\"softness\"])", "job.ron:1:", "softness"),
        ("Dance(folder: \"video\")", "job.ron:1:", "Dance"),
        ("Identify(folder: \"video\", start: {\"mu\": 1.0})", "start", "1500 to 25000"),
        ("Simulate(folder: \"video\", set: {\"mu\": 5e3})", "set", "lambda"),
        ("Identify(folder: \"absent\")", "absent", "no such folder"),
    ];
    let folder = fresh("experiments");
    copy_sample(&folder);
    for (text, place, problem) in cases {
        fs::write(folder.join("job.ron"), text).unwrap();
        let output = diffkern(&folder, &["run", "job.ron"]).output().unwrap();
        assert_refused(text, &output, &[place, problem]);
        assert!(!folder.join("out").exists(), "{text} left an output folder");
    }
}

#[test]
fn damaged_runs_are_not_resumed() {
    const CONFIG: &str = "Identify(folder: \"../video\")";
    let cases = [
        ("Identify(folder: ", None, "config.ron:1:", "Expected"),
        ("Simulate(folder: \"../video\", set: {})", None, "config.ron", "expected Identify"),
        (CONFIG, None, "meta.json", "cannot be read"),
        (CONFIG, Some("{\"version\""), "meta.json:1:", "malformed JSON"),
    ];
    let folder = fresh("damaged_run");
    copy_sample(&folder);
    let run = folder.join("run");
    fs::create_dir(&run).unwrap();
    for (config, meta, place, problem) in cases {
        fs::write(run.join("config.ron"), config).unwrap();
        if let Some(text) = meta {
            fs::write(run.join("meta.json"), text).unwrap();
        }
        let output = diffkern(&folder, &["resume", "run"]).output().unwrap();
        assert_refused(config, &output, &[place, problem]);
        let files = fs::read_dir(&run).unwrap().count();
        assert_eq!(files, 1 + usize::from(meta.is_some()), "{config}: something was written");
    }
}

/// Both jobs, without the folder to write to.
const JOBS: [&[&str]; 2] = [&["identify", "video"], &["simulate", "video", "--set", "mu=5e3,lambda=1e4"]];

#[test]
fn output_that_cannot_be_written_is_refused_before_any_work() {
    let folder = fresh("unwritable");
    copy_sample(&folder);
    fs::write(folder.join("file"), "kept").unwrap();
    // Root may write everywhere but below /proc.
    let outs = ["file/out", "file", "/proc/diffkern/out"];
    for (job, out) in JOBS.into_iter().flat_map(|job| outs.map(|out| (job, out))) {
        let output = diffkern(&folder, job).args(["--out", out]).output().unwrap();
        assert_refused(out, &output, &["cannot write", out, "expected a folder that takes a file of 1 MiB"]);
    }
    assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "kept");
}

/// The limit on the size of files stands for a full disk: the write fails, and a signal comes with it.
#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_and_leaves_nothing() {
    let folder = fresh("full_disk");
    copy_sample(&folder);
    for job in JOBS {
        let mut shell = std::process::Command::new("sh");
        let arguments = job.join(" ");
        let limited = format!("ulimit -f 8; exec {} {arguments} --out new/out", env!("CARGO_BIN_EXE_diffkern"));
        let output = shell.current_dir(&folder).args(["-c", &limited]).output().unwrap();
        let parts = ["cannot write", "new/out", "large", "expected a folder that takes a file of 1 MiB"];
        assert_refused(&arguments, &output, &parts);
        assert!(!folder.join("new").exists(), "{arguments} left an output folder");
    }
    // What is written to the output stream.
    #[cfg(target_os = "linux")]
    for arguments in [&["devices"][..], &["import", "video"]] {
        let full = fs::File::create("/dev/full").unwrap();
        let output = diffkern(&folder, arguments).stdout(full).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("error: cannot write to the output stream"), "{arguments:?}: {told}");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

fn scene_folder(video: &Path) {
    fs::remove_file(video.join("scene.json")).unwrap();
    fs::create_dir(video.join("scene.json")).unwrap();
}

fn replace(video: &Path, from: &str, to: &str) {
    let file = video.join("scene.json");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(from));
    fs::write(&file, text.replacen(from, to, 1)).unwrap();
}

/// A grey picture of another size.
fn picture(file: &Path, width: u32, height: u32) {
    let mut encoder = png::Encoder::new(fs::File::create(file).unwrap(), width, height);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&vec![0; (width * height) as usize]).unwrap();
}

fn mesh(video: &Path, text: &str) {
    fs::write(video.join("box.obj"), text).unwrap();
    edit_scene(video, "/object", json!({"mesh": "box.obj (body frame)"}));
    edit_scene(video, "/kind", json!("rigid_body"));
}
