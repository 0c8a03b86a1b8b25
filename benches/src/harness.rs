//! What a workload is, and how it is timed: forward and forward plus backward in turn, median of wall and mean of CPU time.

use std::time::Instant;

use anyhow::Result;
use serde::Serialize;

/// Sizes of a workload, as in its definition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    pub particles: usize,
    pub grid: usize,
    pub steps: usize,
}

/// Loss and its gradients with respect to the two groups of inputs.
pub struct Gradients {
    pub loss: f64,
    pub a: Vec<f64>,
    pub b: Vec<f64>,
}

pub trait Workload {
    /// The loss, without any record for gradients.
    fn forward(&self) -> Result<f64>;
    /// The loss; its gradients, which start from zero, are in the arrays then.
    fn forward_backward(&self) -> Result<f64>;
    /// The gradients by the two groups of inputs, as the last run backwards has left them.
    fn gradients(&self) -> Result<[Vec<f64>; 2]>;

    fn result(&self) -> Result<Gradients> {
        let loss = self.forward_backward()?;
        let [a, b] = self.gradients()?;
        Ok(Gradients { loss, a, b })
    }
}

pub struct Sample {
    /// Median.
    pub wall: f64,
    /// Mean: the system counts in ticks of 10 ms, which add up over the repetitions.
    pub cpu: f64,
    pub range: [f64; 2],
}

pub struct Timing {
    pub forward: Sample,
    pub both: Sample,
    /// Seconds of the first forward and the first forward plus backward.
    pub first: f64,
    pub result: Gradients,
}

pub fn time(workload: &dyn Workload, reps: usize) -> Result<Timing> {
    let started = Instant::now();
    workload.forward()?;
    workload.forward_backward()?;
    let first = started.elapsed().as_secs_f64();
    workload.forward()?;
    let mut loss = workload.forward_backward()?;
    let (mut forward, mut both) = (Vec::new(), Vec::new());
    for _ in 0..reps.max(1) {
        forward.push(clocked(|| workload.forward())?.1);
        let (found, spent) = clocked(|| workload.forward_backward())?;
        loss = found;
        both.push(spent);
    }
    let [a, b] = workload.gradients()?;
    let result = Gradients { loss, a, b };
    Ok(Timing { forward: summary(&forward), both: summary(&both), first, result })
}

/// Seconds that some work took.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Spent {
    pub wall: f64,
    /// Of all threads, in user mode.
    pub cpu: f64,
}

/// Does some work and says how long it took.
pub fn clocked<R, E>(work: impl FnOnce() -> Result<R, E>) -> Result<(R, Spent), E> {
    let (cpu, wall) = (user_cpu_s(), Instant::now());
    let result = work()?;
    Ok((result, Spent { wall: wall.elapsed().as_secs_f64(), cpu: user_cpu_s() - cpu }))
}

fn summary(samples: &[Spent]) -> Sample {
    let mut walls: Vec<f64> = samples.iter().map(|s| s.wall).collect();
    walls.sort_by(f64::total_cmp);
    let cpu = samples.iter().map(|s| s.cpu).sum::<f64>() / samples.len() as f64;
    Sample { wall: walls[walls.len() / 2], cpu, range: [walls[0], walls[walls.len() - 1]] }
}

/// User CPU seconds of this process; 0 where the system does not say.
fn user_cpu_s() -> f64 {
    let ticks = || {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        // Fields after the command's closing parenthesis; user time is the 12th of them, in ticks of 10 ms.
        stat.rsplit_once(')')?.1.split_whitespace().nth(11)?.parse::<f64>().ok()
    };
    ticks().unwrap_or(0.0) / 100.0
}

/// Largest resident memory so far \[MB\]; 0 where the system does not say.
pub fn peak_rss_mb() -> f64 {
    let kib = || {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
        line.split_whitespace().nth(1)?.parse::<f64>().ok()
    };
    kib().unwrap_or(0.0) / 1024.0
}
