//! An identification: checked, begun or resumed, run, reported.

use super::check_device;
use super::dir::{Checkpoint, RunDir};
use super::meta::Meta;
use super::recorder::{Recorder, Screen};
use crate::error::{Error, Result};
use crate::experiment::Identify;
use crate::identify;
use crate::job::{GradientCheck, IdentifyOptions, Outcome};
use crate::report;
use crate::scene::Scene;
use crate::video::Video;
use std::path::{Path, PathBuf};

/// A job whose input and output folder have been checked; nothing was computed yet.
#[derive(Debug)]
pub struct Prepared {
    scene: Scene,
    video: Video,
    options: IdentifyOptions,
    run: RunDir,
    checkpoint: Option<Checkpoint>,
    /// Things a person should know before the run.
    pub notes: Vec<String>,
}

/// A finished job.
#[derive(Debug)]
pub struct Finished {
    /// What was found.
    pub outcome: Outcome,
    /// Time spent, without pauses \[s\].
    pub seconds: f64,
    /// The files that were written for people to look at.
    pub files: Vec<PathBuf>,
}

impl Prepared {
    /// Checks a job and begins its folder.
    ///
    /// # Errors
    /// For any wrong input, before anything is written.
    pub fn new(job: &Identify) -> Result<Self> {
        let (scene, video, options) = read(job)?;
        let out = job.out.clone().unwrap_or_else(|| Path::new("out").join(&scene.name));
        let meta = Meta::here(&scene, &video, &job.device, job.seed);
        let run = RunDir::begin(&out, job, &meta)?;
        let notes = scene.warnings.clone();
        Ok(Self { scene, video, options, run, checkpoint: None, notes })
    }

    /// Goes on with the run in `folder`, with another place of its video or another limit of
    /// iterations if one is given.
    ///
    /// # Errors
    /// When there is no such run, or its video has changed.
    pub fn resume(folder: &Path, video: Option<&Path>, max_iterations: Option<usize>) -> Result<Self> {
        let (run, mut job, before) = RunDir::open(folder)?;
        job.folder = video.map_or(job.folder, Path::to_owned);
        job.max_iterations = max_iterations.or(job.max_iterations);
        let (scene, video, options) = read(&job)?;
        let here = Meta::here(&scene, &video, &job.device, job.seed);
        if here.input != before.input {
            let problem = "the video has changed since the run began, expected the same scene and frames";
            return Err(Error::file(&job.folder, problem));
        }
        let checkpoint = run.checkpoint()?;
        run.rewind(checkpoint.as_ref().map_or(0, |c| c.iteration))?;
        let mut notes = scene.warnings.clone();
        notes.extend(before.differs(&here));
        if checkpoint.is_none() {
            notes.push("stopped before its first checkpoint, beginning anew".into());
        }
        Ok(Self { scene, video, options, run, checkpoint, notes })
    }

    /// The scene.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The folder that is written to.
    pub fn folder(&self) -> &Path {
        self.run.path()
    }

    /// Compares the gradient in use with finite differences, and keeps the answer.
    ///
    /// # Errors
    /// When the program cannot be run at the start.
    pub fn check_gradient(&self) -> Result<GradientCheck> {
        let check = identify::check_gradient(&self.scene, &self.video, &self.options)?;
        self.run.save_gradient(&check)?;
        Ok(check)
    }

    /// Runs the job and writes its results.
    ///
    /// # Errors
    /// When the computation fails or a file cannot be written.
    pub fn run<'a>(&'a self, screen: &'a mut Screen<'a>) -> Result<Finished> {
        let before = self.checkpoint.as_ref().map_or(0.0, |c| c.seconds);
        let state = self.checkpoint.as_ref().map(|c| c.state.clone());
        let mut recorder = Recorder::new(&self.run, screen, before);
        let found = identify::identify(&self.scene, &self.video, &self.options, state, &mut recorder);
        let seconds = recorder.seconds();
        recorder.finish()?;
        let outcome = found?;
        let files = report::write(&self.run, &self.scene, &self.video, &outcome, seconds)?;
        Ok(Finished { outcome, seconds, files })
    }
}

fn read(job: &Identify) -> Result<(Scene, Video, IdentifyOptions)> {
    let scene = Scene::read(&job.folder)?;
    let options = job.options(&scene)?;
    let video = Video::read(&job.folder, &scene)?;
    check_device(&job.device)?;
    Ok((scene, video, options))
}
