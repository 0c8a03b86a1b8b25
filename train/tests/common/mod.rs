//! Videos to break and the program to run on them.
#![allow(dead_code, reason = "each test file uses a part of this")]
#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An empty folder of this test.
pub fn fresh(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
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

/// Changes a value of `scene.json`; `pointer` as in RFC 6901.
pub fn edit_scene(video: &Path, pointer: &str, value: serde_json::Value) {
    let file = video.join("scene.json");
    let mut scene: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    *scene.pointer_mut(pointer).unwrap() = value;
    fs::write(&file, scene.to_string()).unwrap();
}

/// The program, to be run in `folder`.
pub fn diffkern(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_diffkern"));
    command.current_dir(folder).args(arguments);
    command
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
