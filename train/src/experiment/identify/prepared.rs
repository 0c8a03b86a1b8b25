//! An identification: checked, begun or resumed, run, reported.

use super::Identify;
use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::experiment::options::check_device;
use crate::identify::{self, Estimate, Task};
use crate::job::{Ending, Gradcheck, IdentifyOptions, Outcome, Simulator, Stop};
use crate::limits::Limits;
use crate::program::choose;
use crate::report;
use crate::run::{Checkpoint, Former, Meta, Recorder, RunDir, Screen};
use crate::scene::Scene;
use crate::video::Video;
use std::path::{Path, PathBuf};

/// A job whose input and output folder have been checked; nothing was computed yet.
#[derive(Debug)]
pub struct Prepared {
    file: PathBuf,
    scene: Scene,
    videos: Vec<Video>,
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
    /// Checks a job and begins its folder, which must hold no run.
    ///
    /// # Errors
    /// For any wrong input, before anything is written.
    pub fn new(job: &Identify) -> Result<Self> {
        Self::begin(job, Former::Keep)
    }

    /// As [`Prepared::new`], but takes the place of a run that the folder holds, once this one has its first checkpoint;
    /// until then the former one comes back when this one fails, is stopped or killed.
    ///
    /// # Errors
    /// For any wrong input, before anything is written.
    pub fn replacing(job: &Identify) -> Result<Self> {
        Self::begin(job, Former::Replace)
    }

    /// As [`Prepared::new`] or [`Prepared::replacing`].
    ///
    /// # Errors
    /// As these.
    pub fn begin(job: &Identify, former: Former) -> Result<Self> {
        let (scene, videos, options, estimate) = read(job)?;
        let out = job.out.clone().unwrap_or_else(|| Path::new("out").join(&scene.name));
        let meta = Meta::here(&scene, &videos, &job.device, job.seed);
        let asked = Identify { folder: absolute(&job.folder)?, out: Some(absolute(&out)?), simulator: Some(options.simulator), ..job.clone() };
        let run = RunDir::begin(&out, &Experiment::Identify(asked).to_ron()?, &meta, former)?;
        let mut notes = scene.warnings.clone();
        notes.push(choose(&scene, job.simulator)?.1);
        notes.push(estimate.to_string());
        notes.extend(came_back(&run));
        let file = Scene::file(&job.folder)?;
        Ok(Self { file, scene, videos, options, run, checkpoint: None, notes })
    }

    /// Goes on with the run in `folder`, with another place of its video, another limit of iterations or other limits of
    /// time and memory where they are given.
    ///
    /// # Errors
    /// When there is no such run, or its video has changed.
    pub fn resume(folder: &Path, video: Option<&Path>, max_iterations: Option<usize>, limits: Limits) -> Result<Self> {
        let (run, mut job, before) = RunDir::open(folder, |config| match Experiment::read(config)? {
            Experiment::Identify(job) => Ok(job),
            _ => Err(Error::file(config, "holds no identification, expected Identify(..)")),
        })?;
        job.folder = video.map_or(job.folder, Path::to_owned);
        job.max_iterations = max_iterations.or(job.max_iterations);
        // What a job from before there was a choice did.
        job.simulator = job.simulator.or(Some(Simulator::Mpm));
        let limits = limits.or(job.limits());
        (job.max_time, job.max_memory) = (limits.max_time, limits.max_memory);
        let (scene, videos, options, estimate) = read(&job)?;
        let here = Meta::here(&scene, &videos, &job.device, job.seed);
        if here.input != before.input {
            let problem = "the video has changed since the run began, expected the same scene and frames";
            return Err(Error::file(&job.folder, problem));
        }
        let checkpoint = run.checkpoint()?;
        if let Some(Checkpoint { state, .. }) = &checkpoint {
            identify::check(state, &scene, &options)?.map_err(|fault| {
                Error::field(&run.file("checkpoint.json"), format!("state.{}", fault.field), fault.problem)
            })?;
        }
        let mut notes = scene.warnings.clone();
        notes.push(format!("in all {estimate}"));
        notes.extend(came_back(&run));
        notes.extend(run.rewind(checkpoint.as_ref())?);
        notes.extend(before.differs(&here));
        if checkpoint.is_none() {
            notes.push("stopped before its first checkpoint, beginning anew".into());
        }
        let file = Scene::file(&job.folder)?;
        Ok(Self { file, scene, videos, options, run, checkpoint, notes })
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
    /// When the program cannot be run at the start, or `stop` asks for an end.
    pub fn gradcheck(&self, stop: &Stop) -> Result<Gradcheck> {
        let check = identify::gradcheck(&self.scene, &self.videos, &self.options, stop);
        let check = check.map_err(|error| error.in_file(&self.file));
        let saved = check.and_then(|check| self.run.save_gradient(&check).map(|()| check));
        saved.map_err(|error| self.run.give_up(error))
    }

    /// Runs the job and writes its results. A run that ends before its first checkpoint leaves the former one that it was
    /// to replace as that was.
    ///
    /// # Errors
    /// When the computation fails or a file cannot be written.
    pub fn run<'a>(&'a self, screen: &'a mut Screen<'a>, stop: &Stop) -> Result<Finished> {
        let before = self.checkpoint.as_ref().map_or(0.0, |c| c.seconds);
        let state = self.checkpoint.as_ref().map(|c| c.state.clone());
        let mut recorder = Recorder::new(&self.run, screen, stop.clone(), before);
        let found = identify::identify(&self.scene, &self.videos, &self.options, state, &mut recorder);
        let seconds = recorder.seconds();
        let found = recorder.finish().and(found);
        let mut outcome = found.map_err(|error| self.run.give_up(error.in_file(&self.file)))?;
        if outcome.ending == Ending::Interrupted && self.run.has_former()? {
            self.run.roll_back()?;
            outcome.warnings.push("stopped before its first iteration: the former run is back".into());
            return Ok(Finished { outcome, seconds, files: Vec::new() });
        }
        let files = report::write(self.run.path(), &self.scene, &self.videos, &outcome, seconds)?;
        Ok(Finished { outcome, seconds, files })
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|e| Error::file(path, format!("has no absolute path: {e}")))
}

fn came_back(run: &RunDir) -> Option<String> {
    run.came_back.then(|| "the run that was to replace this one was killed before its first checkpoint".into())
}

fn read(job: &Identify) -> Result<(Scene, Vec<Video>, IdentifyOptions, Estimate)> {
    let scene = job.scene()?;
    let options = job.options(&scene)?;
    check_device(&job.device)?;
    let (file, limits) = (Scene::file(&job.folder)?, job.limits());
    // Before the frames are read: they need memory as well.
    let task = Task::Identify(&options);
    let estimate = identify::estimate(&scene, &file, task, job.gradcheck, &job.device, &limits)?;
    let videos = Video::read(&job.folder, &scene)?;
    Ok((scene, videos, options, estimate))
}
