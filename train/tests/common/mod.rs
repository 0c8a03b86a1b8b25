//! Videos to break and the program to run on them.
#![allow(dead_code, reason = "each test file uses a part of this")]
#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// An empty folder of this test.
pub fn fresh(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The gradient of the whole program for the scene in `video`, by the adjoint and by forward mode, in 64 bits, along three directions against differences.
pub fn gradient_agrees(folder: &Path, more: &[&str]) {
    let arguments = [&["identify", "video", "--out", "checked", "--gradcheck", "--max-iterations", "1"], more].concat();
    let output = diffkern(folder, &arguments).output().unwrap();
    assert!(output.status.success(), "{}{}", String::from_utf8_lossy(&output.stdout), errors(&output));
    let check = json_of(&folder.join("checked/gradient.json"));
    assert_eq!(check["passed"], json!(true), "{check}");
    assert_eq!(check["directions"].as_array().map(Vec::len), Some(3), "{check}");
    for direction in check["directions"].as_array().unwrap() {
        assert!(direction["taylor_rate"].as_f64().unwrap() > 1.9, "{direction}");
        assert!(direction["analytic"].as_f64().unwrap().abs() > 1e-6, "{direction}");
    }
}

/// The sample video in the source tree.
pub fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/jelly_drop_a")
}

/// A copy of the sample video below `folder`.
pub fn copy_sample(folder: &Path) -> PathBuf {
    let copy = folder.join("video");
    for part in ["silhouette", "shaded"] {
        fs::create_dir_all(copy.join(part)).unwrap();
        for entry in fs::read_dir(sample().join(part)).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), copy.join(part).join(entry.file_name())).unwrap();
        }
    }
    fs::copy(sample().join("scene.json"), copy.join("scene.json")).unwrap();
    copy
}

/// Writes a scene as a folder.
pub fn write_scene(folder: &Path, scene: &Value) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("scene.json"), scene.to_string()).unwrap();
}

/// Changes a value of `scene.json`; `pointer` as in RFC 6901.
pub fn edit_scene(video: &Path, pointer: &str, value: serde_json::Value) {
    let file = video.join("scene.json");
    let mut scene: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    *scene.pointer_mut(pointer).unwrap() = value;
    fs::write(&file, scene.to_string()).unwrap();
}

/// Three small frames of a block that hits the floor at once, in `folder/video`; their scene in `folder/sample`.
pub fn small_video(folder: &Path) {
    let sample = folder.join("sample");
    fs::rename(copy_sample(folder), &sample).unwrap();
    let changes = [
        ("/num_frames", json!(3)),
        ("/frame_rate", json!(60)),
        ("/camera/width", json!(32)),
        ("/camera/height", json!(32)),
        ("/object/block_min/2", json!(0.0)),
        ("/object/block_max/2", json!(0.15625)),
        ("/object/initial_velocity", json!([0.0, 0.0, -1.5])),
    ];
    changes.into_iter().for_each(|(pointer, value)| edit_scene(&sample, pointer, value));
    // Few cells, for the sake of time.
    run(folder, &["simulate", "sample", "--set", "mu=6000,lambda=15000", "--cells", "6", "--out", "video"], 0);
}

/// Runs the program in `folder` to an exit code; what it wrote on its error stream.
pub fn run(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = diffkern(folder, arguments).output().unwrap();
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    text
}

/// A JSON file.
pub fn json_of(file: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// Every file below `folder` with what is in it; links are not followed.
pub fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match fs::symlink_metadata(&path).unwrap() {
            kind if kind.is_dir() => all.extend(contents(&path)),
            kind if kind.is_file() => drop(all.insert(path.clone(), fs::read(&path).unwrap())),
            _ => drop(all.insert(path, Vec::new())),
        }
    }
    all
}

/// Sends a signal, such as `-INT`, to a process.
#[cfg(unix)]
pub fn send(signal: &str, process: u32) {
    assert!(Command::new("kill").args([signal, &process.to_string()]).status().unwrap().success());
}

/// Waits until `ready`, for at most two minutes.
pub fn wait_until(ready: impl Fn() -> bool) {
    let begun = Instant::now();
    while !ready() {
        assert!(begun.elapsed() < Duration::from_secs(120), "waited in vain");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The program, to be run in `folder`.
pub fn diffkern(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_diffkern"));
    command.current_dir(folder).args(arguments);
    #[cfg(unix)]
    heed_signals(&mut command);
    command
}

/// The tests may run where signals are ignored, in the background of a script, which a program that they start inherits.
#[cfg(unix)]
fn heed_signals(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    let heed = || {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: this may be called between fork and exec, and the default takes no handler.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: it allocates nothing and takes no lock.
    unsafe { command.pre_exec(heed) };
}

/// What a program wrote on its error stream.
pub fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Checks for one line that holds every one of `parts`, and exit code 2.
pub fn assert_refused(case: &str, output: &Output, parts: &[&str]) {
    let text = errors(output);
    assert_eq!(output.status.code(), Some(2), "{case}: {text}");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 1, "{case}: {text}");
    for part in parts {
        assert!(lines[0].contains(part), "{case}: {part:?} is not in {text}");
    }
}

/// Writes a grey picture of 8 bits.
pub fn write_grey(file: &Path, width: u32, height: u32, pixels: &[u8]) {
    let mut encoder = png::Encoder::new(fs::File::create(file).unwrap(), width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header().unwrap().write_image_data(pixels).unwrap();
}
