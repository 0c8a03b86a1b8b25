//! Right inputs to change: a video of two frames of 16x16 pixels, its mesh, jobs, and a run that stopped after an iteration.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::documents::documents;
use crate::program::Program;

const MESH: &str =
    "# a tetrahedron\nv 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1/1 2/2/2 4//3\nf 1 4 3\nf -3 -2 -1\n";

const JOBS: [&str; 3] = [
    r#"Identify(
    folder: "video",
    out: "out",
    unknowns: ["mu", "lambda"],
    start: {"mu": 5000.0},
    device: "cpu",
    seed: 7,
    max_iterations: 1,
    optimizer: "lm",
)
"#,
    r#"Simulate(
    folder: "video",
    set: {"mu": 8e3, "lambda": 1.4e4},
    out: "out",
    bits: 16,
    noise: 0.01,
    seed: 3,
)
"#,
    r#"Throw(
    folder: "video",
    to: (0.1, -0.2, 0.1),
    frame: 1,
    fixed: {"lambda": 1.4e4},
    start: {"mu": 5000.0},
    out: "out",
)
"#,
];

/// Files by their path relative to the folder that a job runs in.
pub type Files = BTreeMap<String, Vec<u8>>;

/// All seeds.
pub struct Sample {
    /// Scene, frames and mesh.
    pub video: Files,
    /// The folder of a run, which goes on from `video` of the folder that the sample lies in.
    pub run: Files,
    /// One job in RON each.
    pub jobs: Vec<Vec<u8>>,
    /// Name and text of scenes of the documented schema, for the same video.
    pub documents: Vec<(String, Vec<u8>)>,
    /// Where the program finds the video in the place of the one that comes with it.
    pub samples: PathBuf,
}

impl Sample {
    /// Makes the video and the run with the program, in `folder`; the more frames a second, the less there is to compute.
    ///
    /// # Errors
    /// When the program does not take what is right.
    pub fn make(program: &Program, folder: &Path, frame_rate: f64) -> Result<Sample> {
        fs::create_dir_all(folder.join("scene"))?;
        fs::write(folder.join("scene/scene.json"), scene(frame_rate).to_string())?;
        let commands: [&[&str]; 2] = [
            &["simulate", "scene", "--set", "mu=6000,lambda=15000", "--out", "video"],
            &["identify", "video", "--start", "mu=4000,lambda=9000", "--max-iterations", "1", "--out", "run"],
        ];
        for (mesh, arguments) in ["scene/box.obj", "video/box.obj"].into_iter().zip(commands) {
            fs::write(folder.join(mesh), MESH)?;
            let done = program.run(folder, arguments, Duration::from_secs(600))?;
            if done.code != Some(0) {
                bail!("{arguments:?} ends with {:?}: {}", done.code, done.errors);
            }
        }
        let samples = std::path::absolute(folder.join("samples"))?;
        fs::create_dir_all(&samples)?;
        std::os::unix::fs::symlink("../video", samples.join("jelly_drop_e"))?;
        let jobs = JOBS.map(|text| text.as_bytes().to_vec()).into();
        Ok(Sample { video: files(folder, "video")?, run: files(folder, "run")?, jobs, documents: documents(), samples })
    }
}

/// A block that hits the floor at once, seen from aside.
fn scene(frame_rate: f64) -> serde_json::Value {
    json!({
        "name": "tiny", "kind": "soft_body", "duration": 0.1, "frame_rate": frame_rate, "num_frames": 2,
        "gravity": [0.0, 0.0, -9.81],
        "camera": {
            "model": "pinhole", "position": [0.62, -0.98, 0.52], "look_at": [-0.01, -0.02, 0.095], "up": [0.0, 0.0, 1.0],
            "vertical_fov_deg": 32.0, "width": 16, "height": 16, "near": 0.05, "far": 20.0
        },
        "shading": {
            "light_direction_to_light": [0.35, -0.6, 0.75], "light_intensity": 0.85, "ambient": 0.15,
            "albedo_rgb": [0.85, 0.55, 0.35], "background_rgb": [0.08, 0.09, 0.11]
        },
        "object": {
            "type": "block", "block_min": [-0.3, -0.05, 0.0], "block_max": [-0.1, 0.15, 0.2], "density": 1000.0,
            "initial_velocity": [0.1, 0.0, -3.0], "initial_angular_velocity": [0.0, 0.0, 0.0],
            "initial_deformation": "none", "mesh": "box.obj"
        },
        "material": {"model": "compressible neo-Hookean", "damping": {"eta": 0.5, "known": true}},
        "floor": {"point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0], "contact": "frictionless"},
        "unknowns": {"mu": {"range": [1500.0, 25000.0]}, "lambda": {"range": [1500.0, 60000.0]}}
    })
}

/// All files below `root/folder`.
///
/// # Errors
/// When one cannot be read.
pub fn files(root: &Path, folder: &str) -> Result<Files> {
    let mut files = Files::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let path = folder.join(entry?.file_name());
            if root.join(&path).is_dir() {
                folders.push(path);
            } else {
                let name = path.to_str().context("names of the sample are UTF-8")?;
                files.insert(name.to_owned(), fs::read(root.join(&path))?);
            }
        }
    }
    Ok(files)
}
