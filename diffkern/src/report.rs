//! What a tape did and what it cost.

mod dot;
mod graph;
mod zeros;

use std::fmt;

pub(crate) use graph::passes;
pub use graph::{Entry, Graph, Part, Use};
pub(crate) use zeros::zero_gradients;
pub use zeros::{PathEnd, ZeroGradient};

use crate::ids::Label;
use crate::kernel::KernelDef;
use crate::memory::Bytes;

/// Account of a tape, for people and for programs.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Launches made while it recorded or replayed, recorded or not.
    pub launches: usize,
    /// Launches that `backward` ran again for what they wrote (see [`recompute`](crate::recompute)).
    pub launches_again: usize,
    /// Adjoint launches made by `backward`.
    pub adjoint_launches: usize,
    /// Entries on the tape; a rollout is one.
    pub nodes: usize,
    /// Bytes of arrays that the tape keeps now, snapshots included.
    pub bytes_kept: usize,
    /// The most that it kept, the adjoints of `backward` included.
    pub peak_bytes: usize,
    /// By kernel, the most expensive first.
    pub kernels: Vec<KernelReport>,
    /// By rollout, in the order of recording.
    pub rollouts: Vec<RolloutReport>,
    /// What was recorded.
    pub graph: Graph,
    /// Arrays that require a gradient and were seen by a recorded launch.
    pub leaves: Vec<Label>,
    /// What the last `backward` started from; empty before it.
    pub losses: Vec<Label>,
    /// What would make it faster: not to build without optimisation. None if that is not so, or it took no second.
    pub advice: Option<String>,
    /// Those of the leaves that get no gradient from the losses whatever the values are, and where their paths end.
    pub zero_gradients: Vec<ZeroGradient>,
}

impl Report {
    /// The recorded launches and the arrays between them in the language of Graphviz, for `dot -Tsvg`. Boxes are
    /// launches, ovals the arrays that were there before (bold if they require a gradient), dashed arrows carry no
    /// derivative, dotted ones contents that are added to or partly overwritten. A rollout is one frame with its last
    /// step inside.
    pub fn to_dot(&self) -> String {
        dot::to_dot(&self.graph, &self.leaves, &self.losses)
    }
}

/// Account of one kernel. On the CPU a launch is over when it returns, and the times are those of the kernels. On a GPU
/// they are those of handing the launches over, unless the tape was recorded with
/// [`Recording::timed`](crate::Recording::timed): then each includes its execution and one wait for the device.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelReport {
    /// Name of the kernel.
    pub name: &'static str,
    /// Launches of the kernel.
    pub launches: usize,
    /// Time of these \[s\].
    pub seconds: f64,
    /// Launches that `backward` ran again for what they wrote.
    pub launches_again: usize,
    /// Launches of its adjoint.
    pub adjoint_launches: usize,
    /// Time of these \[s\].
    pub adjoint_seconds: f64,
    /// Why launches in `f32` on the CPU ran one position at a time, where packs of lanes would run several at once: the construct
    /// of the kernel that has no lanes, and where it stands.
    pub in_scalar: Option<&'static str>,
    /// The same of its adjoint.
    pub adjoint_in_scalar: Option<&'static str>,
}

impl KernelReport {
    pub(crate) fn of(def: &'static KernelDef) -> KernelReport {
        KernelReport {
            name: def.name,
            launches: 0,
            launches_again: 0,
            seconds: 0.0,
            adjoint_launches: 0,
            adjoint_seconds: 0.0,
            in_scalar: None,
            adjoint_in_scalar: None,
        }
    }

    pub(crate) fn total_seconds(&self) -> f64 {
        self.seconds + self.adjoint_seconds
    }
}

/// Account of one rollout.
#[derive(Clone, Debug, PartialEq)]
pub struct RolloutReport {
    /// Number of steps.
    pub steps: usize,
    /// The schedule in use, in words.
    pub schedule: String,
    /// Bytes of one state.
    pub state_bytes: usize,
    /// Bytes that the schedule is expected to need at most, where a byte budget was given.
    pub predicted_bytes: Option<usize>,
    /// Steps that recording and one `backward` will run, per step of the rollout, looks at the first step included.
    pub predicted_factor: f64,
    /// Steps run so far.
    pub steps_run: usize,
    /// Work that `backward` will do once more for launches that are run again, per step and in steps, where a budget was
    /// given.
    pub predicted_again: f64,
    /// Files written so far.
    pub files: usize,
    /// The most bytes in files at a time.
    pub peak_file_bytes: usize,
    /// Steps run by recording and the first `backward`, per step of the rollout; what has been run so far before it.
    pub measured_factor: f64,
    /// What [`Rollout::recompute`](crate::Rollout::recompute) names and no step has launched: kernels of other names, or none.
    pub not_launched: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "launches {}   adjoint launches {}   nodes {}   kept {}   peak {}",
            self.launches,
            self.adjoint_launches,
            self.nodes,
            Bytes(self.bytes_kept),
            Bytes(self.peak_bytes)
        )?;
        for r in &self.rollouts {
            write!(
                f,
                "rollout of {} steps: {}, state {}, recompute factor predicted {:.4}, measured {:.4}",
                r.steps,
                r.schedule,
                Bytes(r.state_bytes),
                r.predicted_factor,
                r.measured_factor
            )?;
            if r.files > 0 {
                write!(f, ", {} files, at most {} at a time", r.files, Bytes(r.peak_file_bytes))?;
            }
            match r.predicted_bytes {
                Some(bytes) => writeln!(f, ", at most {} predicted", Bytes(bytes))?,
                None => writeln!(f)?,
            }
            for name in &r.not_launched {
                writeln!(f, "no step has launched `{name}`, which `recompute` names")?;
            }
        }
        let width = self.kernels.iter().map(|k| k.name.len()).max().unwrap_or(0).max("kernel".len());
        writeln!(f, "{:<width$}  {:>9}  {:>11}  {:>9}  {:>11}", "kernel", "launches", "ms", "adjoints", "ms")?;
        for k in &self.kernels {
            let (ms, adjoint_ms) = (k.seconds * 1e3, k.adjoint_seconds * 1e3);
            writeln!(
                f,
                "{:<width$}  {:>9}  {ms:>11.3}  {:>9}  {adjoint_ms:>11.3}",
                k.name, k.launches, k.adjoint_launches
            )?;
        }
        for k in &self.kernels {
            for (whose, lack) in [("", k.in_scalar), ("the adjoint of ", k.adjoint_in_scalar)] {
                if let Some(lack) = lack {
                    writeln!(f, "{whose}`{}` ran in scalar, for lanes do not have {lack}", k.name)?;
                }
            }
        }
        self.zero_gradients.iter().try_for_each(|zero| writeln!(f, "{zero}"))?;
        self.advice.iter().try_for_each(|words| writeln!(f, "{words}"))
    }
}
