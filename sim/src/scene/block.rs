//! An elastic block.

use super::extent;
use super::plan::Plan;
use crate::error::{Error, Result, non_negative, positive};
use crate::mesh::{BlockLattice, Surface};
use crate::mpm::{Contact, Dim3, HalfSpace, Law, Model, Params, Stability, State};
use diffkern::memory::collect;
use diffkern::prelude::*;

/// Description of a scene with one block of elastic material, stress free at the start.
///
/// Ranges are `[smallest, largest]`; a known value is a range of width 0. See [the crate](crate) for an example.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockSpec {
    /// Corner with the smallest coordinates \[m\].
    pub min: [f64; 3],
    /// Corner with the largest coordinates \[m\].
    pub max: [f64; 3],
    /// Initial velocity of the centre \[m/s\].
    pub velocity: [f64; 3],
    /// Initial angular velocity about the centre \[rad/s\].
    pub angular_velocity: [f64; 3],
    /// Elastic law.
    pub law: Law,
    /// First Lamé parameter \[Pa\].
    pub mu: [f64; 2],
    /// Second Lamé parameter \[Pa\].
    pub lambda: [f64; 2],
    /// Density at rest \[kg/m^3\].
    pub density: [f64; 2],
    /// Viscosity \[Pa s\].
    pub viscosity: [f64; 2],
    /// Rate at which velocities decay \[1/s\].
    pub damping: [f64; 2],
    /// Gravity \[m/s^2\]; there is none by default.
    pub gravity: [f64; 3],
    /// Floors, walls and clamps.
    pub half_spaces: Vec<HalfSpace<Dim3>>,
    /// Time to simulate \[s\].
    pub duration: f64,
    /// Frames a second \[1/s\].
    pub frame_rate: f64,
    /// Grid cells across the thinnest side, two particles a cell and axis.
    pub cells: usize,
    /// See [`Stability::cfl`].
    pub cfl: f64,
    /// Room on the grid beyond the predicted motion \[m\].
    pub reach: f64,
}

impl Default for BlockSpec {
    /// A 10 cm cube of soft gel that floats weightless for a second.
    fn default() -> BlockSpec {
        BlockSpec {
            min: [0.0; 3],
            max: [0.1; 3],
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            law: Law::NeoHookean,
            mu: [5e3; 2],
            lambda: [1e4; 2],
            density: [1e3; 2],
            viscosity: [0.0; 2],
            damping: [0.0; 2],
            gravity: [0.0; 3],
            half_spaces: Vec::new(),
            duration: 1.0,
            frame_rate: 32.0,
            cells: 5,
            cfl: 0.3,
            reach: 0.0,
        }
    }
}

/// A block ready to run.
#[derive(Clone, Debug)]
pub struct BlockScene<F: Float> {
    /// Grid, time step, law, obstacles.
    pub model: Model<Dim3, F>,
    /// State at time 0.
    pub state: State<Dim3, F>,
    /// Boundary of the block.
    pub surface: Surface<F>,
    /// Lattice of the particles at rest.
    pub lattice: BlockLattice,
    /// Steps from one frame to the next.
    pub steps_per_frame: usize,
    spec: BlockSpec,
}

impl BlockSpec {
    /// Particles, grid, time step and surface on `device`.
    ///
    /// # Errors
    /// When a value is out of its range, or memory is short.
    pub fn build<F: Float>(&self, device: &Device) -> Result<BlockScene<F>> {
        let plan = self.plan()?;
        plan.check()?;
        let lattice = self.lattice();
        let spacing = lattice.particle_volume().cbrt();
        let (steps_per_frame, dt, grid) = (plan.steps_per_frame as usize, plan.dt, plan.grid()?);
        let model = Model::new(device, grid, dt, self.law, &self.half_spaces)?
            .with_mass_cutoff(1e-12 * self.density[0] * lattice.particle_volume());
        let touched = self.half_spaces.iter().any(|h| matches!(h.contact, Contact::Penalty { .. }));
        let model = if touched { model.with_contact_spacing(spacing)? } else { model };
        let state = self.state(device, &lattice)?;
        let surface = Surface::of_block(device, &lattice, 1)?;
        Ok(BlockScene { model, state, surface, lattice, steps_per_frame, spec: self.clone() })
    }

    /// How many particles, nodes and steps it takes; allocates nothing.
    ///
    /// # Errors
    /// When a value is out of its range.
    pub fn plan(&self) -> Result<Plan> {
        self.check()?;
        let (counts, spacing) = self.counts();
        let apart = spacing.iter().product::<f64>().cbrt();
        let dx = 2.0 * spacing.iter().fold(0.0f64, |m, &h| m.max(h));
        let bounds = extent::motion(self);
        let speed = extent::top_speed(self, &bounds);
        let limit = self.stability(dx, apart, speed).time_step()?;
        let (steps_per_frame, dt) = per_frame(self.frame_rate, limit);
        let pull = self.gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
        let frame = 1.0 / self.frame_rate;
        let reach = (speed + 0.5 * pull * frame) * frame;
        Ok(Plan { counts, dt, steps_per_frame, reach, dx, extent: extent::extent(self, &bounds, dx) })
    }

    /// The particles at rest: as near to cubic cells as whole numbers allow.
    pub fn lattice(&self) -> BlockLattice {
        let (counts, spacing) = self.counts();
        BlockLattice { min: self.min, spacing, counts: counts.map(|n| n as usize) }
    }

    /// Particles an axis, and their spacing \[m\].
    fn counts(&self) -> ([f64; 3], [f64; 3]) {
        let size = [0, 1, 2].map(|a| self.max[a] - self.min[a]);
        let thinnest = size.iter().fold(f64::INFINITY, |m, &s| m.min(s));
        let h = thinnest / (2 * self.cells) as f64;
        let counts = size.map(|s| (s / h).round().max(2.0));
        (counts, [0, 1, 2].map(|a| size[a] / counts[a]))
    }

    fn state<F: Float>(&self, device: &Device, lattice: &BlockLattice) -> Result<State<Dim3, F>> {
        let [wx, wy, wz] = self.angular_velocity;
        let spin = [[0.0, -wz, wy], [wz, 0.0, -wx], [-wy, wx, 0.0]];
        let vec3 = |v: [f64; 3]| Vec3::from_array(v.map(F::from_f64));
        let positions = lattice.positions()?;
        let velocity = |x: &[f64; 3]| {
            let r = [0, 1, 2].map(|a| x[a] - 0.5 * (self.min[a] + self.max[a]));
            vec3([0, 1, 2].map(|a| self.velocity[a] + (0..3).map(|b| spin[a][b] * r[b]).sum::<f64>()))
        };
        let velocities = collect(positions.iter().map(velocity))?;
        let positions = collect(positions.into_iter().map(vec3))?;
        let state = State::undeformed(device, &positions, &velocities)?;
        let [a, b, c] = spin.map(vec3);
        Ok(State { c: device.full(positions.len(), Mat3::from_rows(a, b, c))?, ..state })
    }

    fn stability(&self, dx: f64, spacing: f64, speed: f64) -> Stability {
        let stiffness = self.half_spaces.iter().filter_map(|h| h.contact.numbers()).map(|[stiffness, ..]| stiffness);
        Stability {
            dx,
            spacing,
            p_modulus: self.lambda[1] + 2.0 * self.mu[1],
            density: self.density[0],
            viscosity: self.viscosity[1],
            penalty: stiffness.fold(0.0, f64::max),
            speed,
            cfl: self.cfl,
        }
    }

    fn check(&self) -> Result<()> {
        for (a, axis) in ['x', 'y', 'z'].into_iter().enumerate() {
            positive(&format!("size of the block along {axis}"), self.max[a] - self.min[a])?;
            for (what, v) in
                [("velocity", self.velocity), ("angular velocity", self.angular_velocity), ("gravity", self.gravity)]
            {
                if !v[a].is_finite() {
                    return Err(Error::invalid(format!("{what} along {axis}"), v[a], "a finite number"));
                }
            }
        }
        for (what, [low, high]) in [("mu", self.mu), ("lambda", self.lambda), ("density", self.density)] {
            positive(&format!("smallest {what}"), low)?;
            ordered(what, low, high)?;
        }
        for (what, [low, high]) in [("viscosity", self.viscosity), ("damping", self.damping)] {
            non_negative(&format!("smallest {what}"), low)?;
            ordered(what, low, high)?;
        }
        positive("duration", self.duration)?;
        positive("frame rate", self.frame_rate)?;
        non_negative("reach", self.reach)?;
        match self.cells {
            0 => Err(Error::invalid("cells across the thinnest side", 0, "at least 1")),
            _ => Ok(()),
        }
    }
}

impl<F: Float> BlockScene<F> {
    /// Parameters with this `mu` and `lambda` \[Pa\], all others in the middle of their ranges.
    ///
    /// # Errors
    /// When memory is short.
    pub fn params(&self, device: &Device, mu: f64, lambda: f64) -> Result<Params<Dim3, F>> {
        let middle = |[low, high]: [f64; 2]| 0.5 * (low + high);
        let one = |x: f64| device.array(&[F::from_f64(x)]);
        let volume = self.lattice.particle_volume();
        let params = Params::uniform(device, mu, lambda, middle(self.spec.density), volume, self.spec.gravity)?;
        let (viscosity, damping) = (one(middle(self.spec.viscosity))?, one(middle(self.spec.damping))?);
        Ok(Params { viscosity, damping, ..params })
    }

    /// The boundary with only every `stride`-th corner of the lattice as a vertex, to render faster.
    ///
    /// # Errors
    /// When memory is short.
    pub fn coarse_surface(&self, device: &Device, stride: usize) -> Result<Surface<F>> {
        Surface::of_block(device, &self.lattice, stride)
    }

    /// What it was made from.
    pub fn spec(&self) -> &BlockSpec {
        &self.spec
    }
}

/// `(steps, dt)` with `dt` at most `limit` and `steps * dt` one frame. Steps are a whole number, or infinite.
fn per_frame(frame_rate: f64, limit: f64) -> (f64, f64) {
    let steps = (1.0 / (frame_rate * limit)).ceil().max(1.0);
    (steps, 1.0 / (frame_rate * steps))
}

fn ordered(what: &str, low: f64, high: f64) -> Result<()> {
    match high.is_finite() && low <= high {
        true => Ok(()),
        false => Err(Error::invalid(format!("range of {what}"), format!("{low} to {high}"), "smallest first")),
    }
}

#[cfg(test)]
mod tests {
    use super::per_frame;

    #[test]
    fn frames_are_whole_numbers_of_steps() {
        assert_eq!(per_frame(32.0, 1e-4), (313.0, 1.0 / (32.0 * 313.0)));
        assert_eq!(per_frame(1.0, 10.0), (1.0, 1.0));
    }
}
