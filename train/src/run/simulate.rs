//! A simulation of given parameters, written as a video that can be identified.

use super::check_device;
use super::noise;
use crate::error::{Error, Result};
use crate::experiment::Simulate;
use crate::files;
use crate::identify;
use crate::job::{Flow, GradientCheck, IdentifyOptions, Values};
use crate::optim::Optimizer;
use crate::report;
use crate::scene::Scene;
use crate::video::{Depth, Video};
use std::fs;
use std::path::{Path, PathBuf};

/// A checked simulation.
#[derive(Debug)]
pub struct Simulation {
    scene: Scene,
    folder: PathBuf,
    out: PathBuf,
    values: Values,
    device: String,
    bits: Depth,
    noise: f64,
    seed: u64,
    /// Things a person should know before the run.
    pub notes: Vec<String>,
}

impl Simulation {
    /// Checks a job; makes its folder.
    ///
    /// # Errors
    /// For any wrong input, before anything is written.
    pub fn new(job: &Simulate) -> Result<Self> {
        let scene = Scene::read(&job.folder)?;
        let values = job.values(&scene)?;
        check_device(&job.device)?;
        let name = format!("{}_simulated", scene.name);
        let out = job.out.clone().unwrap_or_else(|| Path::new("out").join(name));
        files::prepare_folder(&out)?;
        if fs::canonicalize(&out).ok() == fs::canonicalize(&job.folder).ok() {
            let problem = format!("{} is the folder of the video, expected another", out.display());
            return Err(Error::argument("out", problem));
        }
        let notes = scene.warnings.clone();
        let (folder, device) = (job.folder.clone(), job.device.clone());
        Ok(Self { scene, folder, out, values, device, bits: job.bits, noise: job.noise, seed: job.seed, notes })
    }

    /// Compares the gradient at these values, against the frames of the folder, with finite
    /// differences.
    ///
    /// # Errors
    /// When there are no frames, or the program cannot be run at these values.
    pub fn check_gradient(&self) -> Result<GradientCheck> {
        let video = Video::read(&self.folder, &self.scene)?;
        let unknowns: Vec<_> = self.scene.unknowns.iter().map(|range| range.name).collect();
        let (start, fixed) = self.values.iter().map(|(n, v)| (*n, *v)).partition(|(name, _)| unknowns.contains(name));
        let device = self.device.clone();
        let options =
            IdentifyOptions { unknowns, fixed, start, device, seed: 0, max_iterations: None, optimizer: Optimizer::Lm };
        identify::check_gradient(&self.scene, &video, &options)
    }

    /// Simulates, renders and writes; none when `progress` asked to stop.
    ///
    /// # Errors
    /// When the computation fails or a file cannot be written.
    pub fn run(&self, progress: &mut dyn FnMut(f64) -> Flow) -> Result<Option<Vec<PathBuf>>> {
        let mut stopped = false;
        let mut watch = |fraction: f64| {
            let flow = progress(fraction);
            stopped |= flow == Flow::Stop;
            flow
        };
        let frames = identify::simulate(&self.scene, &self.values, &self.device, &mut watch);
        if stopped || frames.is_err() {
            // Goes only if it is empty: nothing of this job is in it.
            let _ = fs::remove_dir(&self.out);
        }
        if stopped {
            return Ok(None);
        }
        let mut frames = frames?;
        noise::add(&mut frames, self.noise, self.seed);
        let (width, height) = (self.scene.camera.width, self.scene.camera.height);
        for (k, frame) in frames.iter().enumerate() {
            frame.write(&self.out, k, width, self.bits)?;
        }
        let source = Scene::file(&self.folder)?;
        let text = fs::read(&source).map_err(|e| Error::file(&source, e.to_string()))?;
        let scene = self.out.join("scene.json");
        files::write(&scene, &text)?;
        let values = serde_json::json!({ "parameters": self.values, "version": env!("CARGO_PKG_VERSION") });
        files::write(&self.out.join("simulated.json"), format!("{values:#}\n").as_bytes())?;
        let animation = self.out.join("simulated.gif");
        let video = Video { width, height, frames };
        report::animation(&animation, &[("simulated", &video)], self.scene.frame_rate)?;
        Ok(Some(vec![scene, animation]))
    }
}
