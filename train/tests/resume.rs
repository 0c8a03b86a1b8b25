//! A run that was stopped goes on to the bits of one that was not.

mod common;

use common::{copy_sample, diffkern, edit_scene, errors, fresh};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Three small frames of a block that hits the floor at once.
fn small_video(folder: &Path) {
    let scene = copy_sample(folder);
    fs::rename(&scene, folder.join("sample")).expect("the copy can be renamed");
    let scene = folder.join("sample");
    edit_scene(&scene, "/num_frames", json!(3));
    edit_scene(&scene, "/frame_rate", json!(60));
    edit_scene(&scene, "/camera/width", json!(32));
    edit_scene(&scene, "/camera/height", json!(32));
    edit_scene(&scene, "/object/block_min/2", json!(0.0));
    edit_scene(&scene, "/object/block_max/2", json!(0.15625));
    edit_scene(&scene, "/object/initial_velocity", json!([0.0, 0.0, -1.5]));
    run(folder, &["simulate", "sample", "--set", "mu=6000,lambda=15000", "--out", "video"], 0);
}

fn run(folder: &Path, arguments: &[&str], code: i32) {
    let output = diffkern(folder, arguments).output().expect("the program starts");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", errors(&output));
}

/// A JSON file without the times in it.
fn read(file: &Path) -> Value {
    let text = fs::read_to_string(file).expect("the file is there");
    let mut value: Value = serde_json::from_str(&text).expect("the file is JSON");
    let fields = value.as_object_mut().expect("the file holds an object");
    fields.remove("seconds");
    value
}

fn assert_same(folder: &Path, one: &str, other: &str) {
    for name in ["result.json", "checkpoint.json"] {
        let (one, other) = (folder.join(one).join(name), folder.join(other).join(name));
        assert_eq!(read(&one), read(&other), "{name}");
    }
    let frame = "frames/shaded/frame_0002.png";
    let bytes = |run: &str| fs::read(folder.join(run).join(frame)).expect("frames are written");
    assert_eq!(bytes(one), bytes(other));
}

#[test]
fn a_limited_run_goes_on_to_the_same_bits() {
    let folder = fresh("resume");
    small_video(&folder);
    let begin = ["identify", "video", "--start", "mu=4000,lambda=9000", "--max-iterations"];
    run(&folder, &[&begin[..], &["3", "--out", "whole"]].concat(), 0);
    run(&folder, &[&begin[..], &["1", "--out", "parts"]].concat(), 0);
    assert_ne!(read(&folder.join("whole/result.json")), read(&folder.join("parts/result.json")));
    run(&folder, &["identify", "--resume", "parts", "--max-iterations", "3"], 0);
    assert_same(&folder, "whole", "parts");

    edit_scene(&folder.join("video"), "/object/density", json!(900.0));
    run(&folder, &["identify", "--resume", "parts"], 2);
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_the_best_so_far() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let folder = fresh("interrupt");
    small_video(&folder);
    let begin = ["identify", "video", "--start", "mu=3000,lambda=50000", "--max-iterations", "4", "--out"];
    let mut child = diffkern(&folder, &[&begin[..], &["stopped"]].concat())
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    let begun = Instant::now();
    while !folder.join("stopped/checkpoint.json").exists() && begun.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(2));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.expect("kill is there").success());
    let code = child.wait().expect("the program ends").code();
    let result = read(&folder.join("stopped/result.json"));
    // It may have been at its end already.
    match code {
        Some(130) => assert_eq!(result["ending"], "interrupted"),
        code => assert_eq!(code, Some(0)),
    }
    assert!(result["parameters"]["mu"].as_f64().is_some_and(|mu| mu > 0.0));
    run(&folder, &["identify", "--resume", "stopped"], 0);
    run(&folder, &[&begin[..], &["whole"]].concat(), 0);
    assert_same(&folder, "whole", "stopped");
}
