//! What the command line asks for; refused in one line, before any work.

use clap::{Parser, ValueEnum};
use diffkern::Device;

use crate::harness::Sizes;

/// Upper limits: what fits the memory of a large machine, so that a slip of the finger is refused.
const MOST_PARTICLES: usize = 1 << 26;
const MOST_CELLS: usize = 1 << 13;
const MOST_CUBES: usize = 200;

/// Times a workload and checks its gradients.
#[derive(Parser)]
#[command(name = "workloads", version)]
pub struct Args {
    /// Which workload.
    pub workload: Which,
    /// Particles, points, elements, triangles or boxes; the full size if left out.
    #[arg(long)]
    particles: Option<usize>,
    /// Grid cells per axis, points per side of the sheet, pixels per side of the picture, or cubes per side of the block.
    #[arg(long)]
    grid: Option<usize>,
    /// Time steps, or launches of the chain.
    #[arg(long)]
    steps: Option<usize>,
    /// cpu, wgpu, cuda or best.
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Timed repetitions.
    #[arg(long, default_value_t = 5)]
    pub reps: usize,
    /// Write when each launch of one more run forward and backward ran, for ui.perfetto.dev or chrome://tracing.
    #[arg(long)]
    pub trace: Option<std::path::PathBuf>,
    /// Leave out the check against the reference of the small case.
    #[arg(long)]
    pub no_check: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Which {
    /// 2D elastic block, MLS-MPM.
    W1,
    /// 3D elastic block, MLS-MPM.
    W2,
    /// A sheet of springs.
    W3,
    /// A chain of y = a y + x.
    W4,
    /// A soft silhouette.
    W5,
    /// A block of linear tetrahedra.
    W6,
    /// Rigid boxes on a plane.
    W7,
}

impl Which {
    /// Number and name.
    pub fn name(self) -> (&'static str, &'static str) {
        match self {
            Which::W1 => ("w1", "mpm2d"),
            Which::W2 => ("w2", "mpm3d"),
            Which::W3 => ("w3", "springs"),
            Which::W4 => ("w4", "saxpy-chain"),
            Which::W5 => ("w5", "softras"),
            Which::W6 => ("w6", "tets"),
            Which::W7 => ("w7", "boxes"),
        }
    }

    pub fn full(self) -> Sizes {
        match self {
            Which::W1 => Sizes { particles: 8192, grid: 128, steps: 128 },
            Which::W2 => Sizes { particles: 32768, grid: 64, steps: 64 },
            Which::W3 => Sizes { particles: 4096, grid: 64, steps: 256 },
            Which::W4 => Sizes { particles: 1_000_000, grid: 0, steps: 100 },
            Which::W5 => Sizes { particles: 1280, grid: 64, steps: 1 },
            Which::W6 => Sizes { particles: 5000, grid: 10, steps: 1000 },
            Which::W7 => Sizes { particles: 1000, grid: 0, steps: 1000 },
        }
    }

    pub fn small(self) -> Sizes {
        match self {
            Which::W1 => Sizes { particles: 512, grid: 32, steps: 64 },
            Which::W2 => Sizes { particles: 512, grid: 16, steps: 32 },
            Which::W3 => Sizes { particles: 256, grid: 16, steps: 64 },
            Which::W4 => Sizes { particles: 4096, grid: 0, steps: 20 },
            Which::W5 => Sizes { particles: 80, grid: 24, steps: 1 },
            Which::W6 => Sizes { particles: 135, grid: 3, steps: 200 },
            Which::W7 => Sizes { particles: 20, grid: 0, steps: 200 },
        }
    }
}

impl Args {
    /// Reads them; the error is one line.
    pub fn read(words: impl IntoIterator<Item = std::ffi::OsString>) -> Result<Args, Refusal> {
        Args::try_parse_from(words).map_err(|error| match error.use_stderr() {
            true => Refusal::Wrong(one_line(&error.to_string())),
            false => Refusal::Help(error.to_string()),
        })
    }

    /// The device, which must be there.
    pub fn device(&self) -> Result<Device, String> {
        Device::by_name(&self.device).map_err(|error| format!("--device {}: {error}", self.device))
    }

    /// The sizes, full where not given.
    pub fn sizes(&self) -> Result<Sizes, String> {
        let full = self.workload.full();
        let sizes = match self.workload {
            Which::W3 => self.sheet(full)?,
            Which::W5 => self.silhouette(full)?,
            Which::W6 => self.block(full)?,
            Which::W1 | Which::W2 | Which::W4 | Which::W7 => Sizes {
                particles: within("--particles", self.particles.unwrap_or(full.particles), 1, MOST_PARTICLES)?,
                grid: match self.workload {
                    Which::W4 | Which::W7 => 0,
                    // A particle needs three nodes and the walls take three on each side.
                    _ => within("--grid", self.grid.unwrap_or(full.grid), 8, MOST_CELLS)?,
                },
                steps: self.steps.unwrap_or(full.steps),
            },
        };
        within("--steps", sizes.steps, 1, usize::MAX)?;
        within("--reps", self.reps, 1, usize::MAX)?;
        Ok(sizes)
    }

    /// The sphere is an icosahedron whose faces are split in four, over and over; there are no steps.
    fn silhouette(&self, full: Sizes) -> Result<Sizes, String> {
        let particles = within("--particles", self.particles.unwrap_or(full.particles), 20, MOST_PARTICLES)?;
        if particles % 20 != 0 || !(particles / 20).is_power_of_two() || (particles / 20).ilog2() % 2 != 0 {
            return Err(format!("--particles {particles}: the sphere has 20, 80, 320, 1280, ... triangles"));
        }
        let grid = within("--grid", self.grid.unwrap_or(full.grid), 1, MOST_CELLS)?;
        match self.steps.unwrap_or(full.steps) {
            1 => Ok(Sizes { particles, grid, steps: 1 }),
            n => Err(format!("--steps {n}: expected 1, a picture has no steps")),
        }
    }

    /// The block has `grid` cubes of five elements per side, so the two numbers are one.
    fn block(&self, full: Sizes) -> Result<Sizes, String> {
        let of = |grid: usize| 5 * grid.pow(3);
        let grid = match (self.grid, self.particles) {
            (Some(grid), _) => within("--grid", grid, 1, MOST_CUBES)?,
            (None, Some(n)) => (1..MOST_CUBES).find(|grid| of(*grid) >= n).unwrap_or(MOST_CUBES),
            (None, None) => full.grid,
        };
        match self.particles {
            Some(n) if n != of(grid) => {
                Err(format!("--particles {n}: the block has 5, 40, 135, ... elements, with --grid {grid} {}", of(grid)))
            }
            _ => Ok(Sizes { particles: of(grid), grid, steps: self.steps.unwrap_or(full.steps) }),
        }
    }

    /// The sheet has `grid` points per side, so the two numbers are one.
    fn sheet(&self, full: Sizes) -> Result<Sizes, String> {
        let grid = match (self.grid, self.particles) {
            (Some(grid), _) => within("--grid", grid, 3, MOST_CELLS)?,
            (None, Some(n)) => within("--particles", n, 9, MOST_PARTICLES)?.isqrt(),
            (None, None) => full.grid,
        };
        let particles = grid * grid;
        match self.particles {
            Some(n) if n != particles => {
                Err(format!("--particles {n}: the sheet is square, {grid} points per side are {particles}"))
            }
            _ => Ok(Sizes { particles, grid, steps: self.steps.unwrap_or(full.steps) }),
        }
    }
}

/// Why there is nothing to run.
pub enum Refusal {
    /// Help or version was asked for.
    Help(String),
    Wrong(String),
}

fn within(what: &str, found: usize, least: usize, most: usize) -> Result<usize, String> {
    match found {
        n if n < least => Err(format!("{what} {n}: expected at least {least}")),
        n if n > most => Err(format!("{what} {n}: expected at most {most}")),
        n => Ok(n),
    }
}

/// The message without the advice to look at the help.
fn one_line(message: &str) -> String {
    let first: Vec<&str> = message.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    first.join(" ").trim_start_matches("error: ").to_owned()
}
