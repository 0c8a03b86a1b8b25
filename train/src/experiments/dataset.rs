//! Many instances of an experiment with what made them and what is observed of them, as files.

use super::catalogue::{Named, find};
use super::instance::Instance;
use super::observation::{Bits, Observation};
use super::program::Supervision;
use super::protocol::Protocol;
use crate::error::{Error, Result};
use crate::experiment::{Console, Ended};
use crate::job::Flow;
use crate::npz::{self, Numbers};
use crate::{files, input, text};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

/// One of several parts of a set: instances `part`, `part + of`, ...
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    part: usize,
    of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(i, n)| Some((i.trim().parse().ok()?, n.trim().parse().ok()?)));
        match numbers {
            Some((part, of)) if part < of => Ok(Self { part, of }),
            _ => Err("expected I/N with I from 0 to N - 1, such as 0/4".into()),
        }
    }
}

/// A set of instances.
#[derive(Debug, Clone, PartialEq, clap::Args)]
pub struct Dataset {
    /// Name of the experiment, or its RON file.
    pub name: PathBuf,
    /// Instances of all shards together.
    #[arg(long, value_name = "N")]
    pub count: usize,
    /// Seed of what is drawn.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Which part of them, I/N: every N-th instance from I on.
    #[arg(long, value_name = "I/N", default_value = "0/1")]
    pub shard: Shard,
    /// What is observed: image, state or com.
    #[arg(long, value_name = "WHAT", default_value = "image")]
    pub supervision: Supervision,
    /// Bits of images: 8 or float.
    #[arg(long, value_name = "BITS", default_value = "8")]
    pub bits: Bits,
    /// Observe a motion with N times as many steps.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub finer: usize,
    /// Folder of the set; one that was begun there is gone on with.
    #[arg(long, value_name = "DIR", default_value = "out/datasets")]
    pub out: PathBuf,
}

/// What all instances of a set have in common, `dataset.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    experiment: String,
    seed: u64,
    /// Names of the numbers in `truth`, in order.
    truth: Vec<String>,
    observation: Observation,
    protocol: Protocol,
}

impl Dataset {
    /// Writes `NAME/dataset.json`, and `NAME/instance_NNNNNN.npz` for each instance of the shard that is not there.
    ///
    /// # Errors
    /// When there is no such experiment, the folder holds another set, a motion cannot be simulated, or a file cannot be written.
    pub fn run(&self, console: &mut dyn Console) -> Result<Ended> {
        let Named { name, protocol } = find(&self.name)?;
        for (option, number, most) in [("count", self.count, 1_000_000), ("finer", self.finer, 64)] {
            if !(1..=most).contains(&number) {
                return Err(Error::argument(option, format!("{number}, expected 1 to {most}")));
            }
        }
        let Self { seed, supervision, bits, finer, .. } = *self;
        let observation = Observation { supervision, bits, finer };
        let folder = self.out.join(&name);
        let truth = protocol.unknowns.iter().map(|u| u.quantity.name().to_owned()).collect();
        let head = Head { experiment: name, seed, truth, observation, protocol };
        head.keep(&folder.join("dataset.json"))?;
        let file = |k: usize| folder.join(format!("instance_{k:06}.npz"));
        let numbers = (self.shard.part..self.count).step_by(self.shard.of);
        let missing: Vec<usize> = numbers.filter(|&k| !file(k).is_file()).collect();
        let begun = Instant::now();
        for (done, &k) in missing.iter().enumerate() {
            let arrays = match arrays(&head, k) {
                Err(Error::Interrupted) => return Ok(Ended::Interrupted),
                arrays => arrays?,
            };
            files::write(&file(k), &npz::archive(&arrays)?)?;
            let part = (done + 1) as f64 / missing.len() as f64;
            if console.fraction(part, begun.elapsed().as_secs_f64()) == Flow::Stop && part < 1.0 {
                console.finish();
                console.say(&format!("stopped; the same command goes on with {}", text::path(&folder)));
                return Ok(Ended::Interrupted);
            }
        }
        console.finish();
        console.say(&format!("wrote {} instances to {}", missing.len(), text::path(&folder)));
        Ok(Ended::Done)
    }
}

impl Head {
    /// Writes it where there is none, and compares it with the one that is there.
    fn keep(&self, file: &Path) -> Result<()> {
        if !file.is_file() {
            return files::write_json(file, self);
        }
        let there: Self = serde_json::from_str(&input::text(file, input::JOB)?)
            .map_err(|e| Error::file(file, format!("{e}, expected what a set of instances begins with")))?;
        match there == *self {
            true => Ok(()),
            false => {
                let problem = "another set is here: its experiment, seed or observation differs; expected the same, or another --out";
                Err(Error::file(file, problem))
            }
        }
    }
}

/// An instance: what made its motion, how it begins, what pushes it, and what is observed at each frame.
fn arrays(head: &Head, number: usize) -> Result<Vec<(&'static str, Numbers)>> {
    let instance = Instance::draw(&head.protocol, head.seed, number)?;
    let seen = head.observation.frames(&head.protocol, &instance)?;
    let row = |values: Vec<f64>| Numbers { shape: vec![values.len()], values };
    let (pose, q) = (&instance.pose, instance.pose.rotation);
    let begin = [pose.centre.to_array().to_vec(), vec![q.w, q.x, q.y, q.z]].concat();
    let moving = [pose.velocity.to_array(), pose.spin.to_array()].concat();
    let frames = seen.len();
    let each = match head.observation.supervision {
        Supervision::Image => vec![head.protocol.camera.height, head.protocol.camera.width],
        Supervision::State | Supervision::Com => vec![seen.first().map_or(0, Vec::len)],
    };
    let mut all = vec![
        ("truth", row(instance.truth.clone())),
        ("shape", row(vec![(number % head.protocol.shapes.len()) as f64])),
        ("pose", row(begin)),
        ("motion", row(moving)),
        ("seen", Numbers { shape: [vec![frames], each].concat(), values: seen.concat() }),
    ];
    if let Some(push) = &instance.push {
        all.push(("push", row([&push.point[..], &push.force, &push.interval].concat())));
    }
    Ok(all)
}
