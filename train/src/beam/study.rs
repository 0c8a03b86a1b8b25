//! Stiffness and viscosity from beams that carry nothing, then what hangs on those that do.

use super::placed::{Placed, Unknown};
use super::recording::{Recording, read};
use crate::error::{Error, Result};
use crate::experiment::{Console, Identify, Prepared};
use crate::job::{Ending, Progress, Simulator};
use crate::limits::Seconds;
use crate::run::Former;
use serde::Serialize;
use std::path::Path;

/// What the names of recordings hold that carry nothing.
const BARE: &str = "gravity";
/// Most time by the estimate of a search \[s\]; on an idle machine it takes minutes.
const LONGEST: f64 = 4.0 * 3600.0;

/// A value and its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimated {
    /// What was found.
    pub value: f64,
    /// The ends of the interval, where there is one.
    pub interval: Option<(f64, f64)>,
}

/// What a recording tells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// Name of the recording.
    pub name: String,
    /// The frame at which the beam is let go.
    pub release: usize,
    /// Frames from there on that count.
    pub frames: usize,
    /// How far the markers are from those of the beam at the release, root of the mean square \[m\].
    pub placed: f64,
    /// Young's modulus \[Pa\], of a bare beam.
    pub young: Option<Estimated>,
    /// Viscosity \[Pa s\], of a bare beam.
    pub viscosity: Option<Estimated>,
    /// The mass that hangs on it \[kg\], of a loaded one.
    pub load: Option<Estimated>,
    /// Damping by mass \[1/s\] beside the viscosity, of a loaded one.
    pub damping: Option<Estimated>,
    /// Distance of the markers at the free end from where they were measured, over all frames, root of the mean square \[m\].
    pub distance: f64,
    /// Iterations.
    pub iterations: usize,
    /// Time by the clock \[s\].
    pub seconds: f64,
}

/// How to simulate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Effort {
    /// Cells across the beam.
    pub(super) cells: usize,
    /// Most frames.
    pub(super) frames: usize,
}

/// All that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Study {
    /// Of beams that carry nothing.
    pub bare: Vec<Found>,
    /// Of beams with a load, with the mean stiffness and viscosity of the others.
    pub loaded: Vec<Found>,
}

impl Study {
    /// Of the recordings in `data`; scenes and runs are written to folders below `out`, and take the place of former ones.
    ///
    /// # Errors
    /// When a recording is wrong, none carries nothing, a search fails or a file cannot be written; [`Error::Interrupted`].
    pub(super) fn new(data: &Path, out: &Path, effort: Effort, console: &mut dyn Console) -> Result<Self> {
        let placed = |recording: Recording| {
            let mut placed = Placed::new(&recording)?;
            placed.tips.truncate(effort.frames);
            Ok::<_, Error>(placed)
        };
        let all = read(data)?.into_iter().map(placed).collect::<Result<Vec<_>>>()?;
        let (bare, loaded): (Vec<_>, Vec<_>) = all.into_iter().partition(|placed| placed.name.contains(BARE));
        if bare.is_empty() {
            let problem = format!("holds no recording of a bare beam, expected one with {BARE} in its name");
            return Err(Error::file(data, problem));
        }
        let mut find = |placed: &Placed, unknown| found(placed, unknown, &out.join(&placed.name), effort, console);
        let bare = bare.iter().map(|placed| find(placed, Unknown::Material)).collect::<Result<Vec<_>>>()?;
        let mean = |value: fn(&Found) -> Option<Estimated>| {
            bare.iter().filter_map(value).map(|found| found.value).sum::<f64>() / bare.len() as f64
        };
        let with = Unknown::Load { young: mean(|found| found.young), viscosity: mean(|found| found.viscosity) };
        let loaded = loaded.iter().map(|placed| find(placed, with)).collect::<Result<Vec<_>>>()?;
        Ok(Self { bare, loaded })
    }
}

fn found(placed: &Placed, unknown: Unknown, folder: &Path, effort: Effort, console: &mut dyn Console) -> Result<Found> {
    placed.write(folder, unknown)?;
    let mut job = Identify::new(folder.to_owned());
    job.out = Some(folder.join("run"));
    job.simulator = Some(Simulator::Fem);
    job.cells = Some(effort.cells);
    job.max_time = Some(Seconds(LONGEST));
    let prepared = Prepared::begin(&job, Former::Replace)?;
    console.say(&format!("{}: {} frames from frame {} on", placed.name, placed.tips.len(), placed.release));
    let stop = console.stop();
    let done = prepared.run(&mut |progress: &Progress, seconds| console.progress(progress, seconds), &stop);
    console.finish();
    let done = done?;
    if done.outcome.ending == Ending::Interrupted {
        return Err(Error::Interrupted);
    }
    let get = |quantity: &str| {
        let mut all = done.outcome.parameters.iter();
        let found = all.find(|parameter| parameter.name.key().ends_with(quantity))?;
        Some(Estimated { value: found.found, interval: found.interval })
    };
    Ok(Found {
        name: placed.name.clone(),
        release: placed.release,
        frames: placed.tips.len(),
        placed: placed.distance,
        young: get(".young"),
        viscosity: get(".viscosity"),
        load: get(".load.mass"),
        damping: get(".damping"),
        distance: done.outcome.tracks.first().map_or(f64::NAN, |track| track.distance),
        iterations: done.outcome.iterations,
        seconds: done.seconds,
    })
}
