//! Several bodies of elastic material.

use super::body::{BodyShape, BodySpec, Counts};
use super::extent;
use super::plan::Plan;
use crate::contact::Collider;
use crate::error::{Error, Result, non_negative, positive};
use crate::mesh::{Carried, Surface};
use crate::mpm::{Contact, Dim3, HalfSpace, Law, Model, Params, Stability, State, Transfer};
use diffkern::memory::{collect, with_room};
use diffkern::prelude::*;

/// Bodies of one law, each stress free at the start, on one grid: where they meet they move as one, so they neither pass through
/// each other nor slide on each other.
///
/// ```
/// use diffkern::prelude::*;
/// use diffkern_sim::mesh::Pose;
/// use diffkern_sim::scene::{BodiesSpec, BodyShape, BodySpec, Solid};
/// use diffkern_sim::shape::{Primitive, Sphere};
///
/// let ball = Solid::new(Primitive::Sphere(Sphere { radius: 0.05 }), Pose::at([0.3, 0.0, 0.1]))?;
/// let soft = BodySpec { shape: BodyShape::Solid(ball), mu: [2e3; 2], ..BodySpec::default() };
/// let spec = BodiesSpec { bodies: vec![BodySpec::default(), soft], spacing: 0.02, ..BodiesSpec::default() };
/// let scene = spec.build::<f64>(&Device::cpu())?;
/// assert_eq!(scene.centres.len(), 2);
/// assert!((scene.centres[1][0] - 0.3).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BodiesSpec {
    /// The bodies, at least one.
    pub bodies: Vec<BodySpec>,
    /// Elastic law of all of them.
    pub law: Law,
    /// Rate at which velocities decay \[1/s\].
    pub damping: [f64; 2],
    /// Gravity \[m/s^2\]; there is none by default.
    pub gravity: [f64; 3],
    /// Floors, walls and clamps.
    pub half_spaces: Vec<HalfSpace<Dim3>>,
    /// What else bodies touch, still or moving. A penalty does what that of a half-space does: its stiffness is a pressure per depth \[Pa/m\],
    /// from half a particle spacing above the surface on. None by default.
    ///
    /// Grid and time step have room for a body that is thrown by colliders once: faster, by twice the speed of their surface, than it came.
    pub colliders: Vec<Collider>,
    /// Time to simulate \[s\].
    pub duration: f64,
    /// Frames a second \[1/s\].
    pub frame_rate: f64,
    /// Distance of the particles \[m\], half a grid cell.
    pub spacing: f64,
    /// See [`Stability::cfl`].
    pub cfl: f64,
    /// How velocities pass between particles and grid. Several bodies meet by transfers alone, so theirs may not last.
    pub transfer: Transfer,
    /// Coefficient of the [bulk viscosity](crate::fem::bulk) of bodies that may hit something, where velocities stay on the nodes; none by default.
    pub bulk_viscosity: f64,
    /// Whether sticky half-spaces hold what is in them at the beginning alone ([`Model::with_material_clamps`]), where velocities stay on the nodes for the whole run; not by default. For clamps: nothing is stopped by a sticky floor then.
    pub material_clamps: bool,
    /// Room on the grid beyond the predicted motion \[m\].
    pub reach: f64,
}

impl Default for BodiesSpec {
    /// One default body that floats weightless for a second, ten particles across.
    fn default() -> BodiesSpec {
        BodiesSpec {
            bodies: vec![BodySpec::default()],
            law: Law::NeoHookean,
            damping: [0.0; 2],
            gravity: [0.0; 3],
            half_spaces: Vec::new(),
            colliders: Vec::new(),
            duration: 1.0,
            frame_rate: 32.0,
            spacing: 0.01,
            cfl: 0.3,
            transfer: Transfer::Apic,
            bulk_viscosity: 0.0,
            material_clamps: false,
            reach: 0.0,
        }
    }
}

/// Bodies ready to run; their particles lie one after the other.
#[derive(Clone, Debug)]
pub struct BodiesScene<F: Float> {
    /// Grid, time step, law, obstacles.
    pub model: Model<Dim3, F>,
    /// State at time 0.
    pub state: State<Dim3, F>,
    /// Boundaries of all bodies.
    pub surface: Surface<F>,
    /// Volume of each particle at rest \[m^3\], one for all where they are the same.
    pub volumes: Array<F>,
    /// The body of each particle.
    pub body_of: Vec<u32>,
    /// The body of each vertex of the surface.
    pub body_of_vertex: Vec<u32>,
    /// Centres of mass \[m\].
    pub centres: Vec<[f64; 3]>,
    /// Steps from one frame to the next.
    pub steps_per_frame: usize,
    spec: BodiesSpec,
}

impl BodiesSpec {
    /// Particles, grid, time step and surfaces on `device`.
    ///
    /// # Errors
    /// When a value is out of its range, a body cannot be filled, or memory is short.
    pub fn build<F: Float>(&self, device: &Device) -> Result<BodiesScene<F>> {
        let plan = self.plan()?;
        plan.check()?;
        let (steps_per_frame, dt, grid) = (plan.steps_per_frame as usize, plan.dt, plan.grid()?);
        // Particles of whole cells touch alike.
        let cut = self.bodies.iter().any(|body| matches!(body.shape, BodyShape::Solid(_)));
        let with_radii = cut && self.transfer != Transfer::Apic;
        let filled = self.bodies.iter().map(|b| b.shape.fill(self.spacing, with_radii)).collect::<Result<Vec<_>>>()?;
        let least = filled.iter().flat_map(|f| &f.volumes).fold(f64::INFINITY, |m, &v| m.min(v));
        let lightest = self.bodies.iter().fold(f64::INFINITY, |m, b| m.min(b.density[0]));
        let model =
            Model::new(device, grid, dt, self.law, &self.half_spaces)?.with_mass_cutoff(1e-12 * lightest * least);
        let model = model.with_transfer(self.transfer)?.with_bulk_viscosity(self.bulk_viscosity)?;
        let model = if self.material_clamps { model.with_material_clamps()? } else { model };
        let touched = self.half_spaces.iter().any(|h| matches!(h.contact, Contact::Penalty { .. }));
        let model = if touched { model.with_contact_spacing(plan.apart)? } else { model };
        let model = match self.colliders.is_empty() {
            true => model,
            false => model.with_colliders(&self.pressing(plan.apart))?.with_particle_radius(0.5 * plan.apart)?,
        };
        let total = filled.iter().map(|f| f.positions.len()).sum();
        let model = match with_radii && (touched || model.obstacles().is_some()) {
            true => {
                let mut radii = with_room(total)?;
                filled.iter().for_each(|f| radii.extend_from_slice(&f.radii));
                model.with_particle_radii(&radii)?
            }
            false => model,
        };
        let (mut positions, mut velocities, mut spins) = (with_room(total)?, with_room(total)?, with_room(total)?);
        let (mut volumes, mut body_of, mut body_of_vertex) = (with_room(total)?, with_room(total)?, Vec::new());
        for (k, (body, filled)) in self.bodies.iter().zip(&filled).enumerate() {
            let spin = spin(body.angular_velocity);
            let centre = body.shape.centre();
            for x in &filled.positions {
                let r = [0, 1, 2].map(|a| x[a] - centre[a]);
                let turning = |a: usize| (0..3).map(|b| spin[a][b] * r[b]).sum::<f64>();
                positions.push(vec3::<F>(*x));
                velocities.push(vec3::<F>([0, 1, 2].map(|a| body.velocity[a] + turning(a))));
                let [a, b, c] = spin.map(vec3::<F>);
                spins.push(Mat3::from_rows(a, b, c));
                body_of.push(k as u32);
            }
            volumes.extend(filled.volumes.iter().map(|&v| F::from_f64(v)));
            body_of_vertex.extend(std::iter::repeat_n(k as u32, filled.carried.vertex_count()));
        }
        let same = volumes.iter().all(|v| *v == volumes[0]);
        volumes.truncate(if same { 1 } else { total });
        let state = State::undeformed(device, &positions, &velocities)?;
        let parts: Vec<Carried> = filled.into_iter().map(|f| f.carried).collect();
        Ok(BodiesScene {
            model,
            state: State { c: device.array(&spins)?, ..state },
            surface: Surface::new(device, Carried::join(&parts)?)?,
            volumes: device.array(&volumes)?,
            body_of,
            body_of_vertex,
            centres: self.bodies.iter().map(|b| b.shape.centre()).collect(),
            steps_per_frame,
            spec: self.clone(),
        })
    }

    /// How many particles, nodes and steps it takes; allocates nothing on a device.
    ///
    /// # Errors
    /// When a value is out of its range.
    pub fn plan(&self) -> Result<Plan> {
        self.check()?;
        let counts: Vec<Counts> = self.bodies.iter().map(|b| b.shape.counts(self.spacing)).collect();
        let apart = counts.iter().fold(f64::INFINITY, |m, c| m.min(c.apart()));
        let dx = 2.0 * counts.iter().flat_map(|c| c.spacing).fold(0.0f64, f64::max);
        let bounds = extent::motion(self);
        let speed = extent::top_speed(self, &bounds);
        let steps = self.bodies.iter().zip(&counts).map(|(b, c)| self.stability(b, dx, c.apart(), speed).time_step());
        let limit = steps.collect::<Result<Vec<_>>>()?.into_iter().fold(f64::INFINITY, f64::min);
        let (steps_per_frame, dt) = per_frame(self.frame_rate, limit);
        let pull = self.gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
        let frame = 1.0 / self.frame_rate;
        let reach = (speed + 0.5 * pull * frame) * frame;
        let (extent, lasting) = (extent::extent(self, &bounds, dx), self.transfer != Transfer::Apic);
        Ok(Plan { counts, apart, dt, steps_per_frame, reach, dx, extent, lasting })
    }

    /// The colliders with penalties as forces on particles `h` \[m\] apart.
    fn pressing(&self, h: f64) -> Vec<Collider> {
        let force = |contact: Contact| match contact {
            Contact::Penalty { stiffness } => Contact::Penalty { stiffness: stiffness * h * h },
            other => other,
        };
        self.colliders.iter().map(|c| Collider { contact: force(c.contact), ..c.clone() }).collect()
    }

    fn stability(&self, body: &BodySpec, dx: f64, spacing: f64, speed: f64) -> Stability {
        let contacts = self.half_spaces.iter().map(|h| h.contact).chain(self.colliders.iter().map(|c| c.contact));
        let stiffness = contacts.filter_map(Contact::numbers).map(|[stiffness, ..]| stiffness);
        Stability {
            dx,
            spacing,
            p_modulus: body.lambda[1] + 2.0 * body.mu[1],
            density: body.density[0],
            viscosity: body.viscosity[1],
            penalty: stiffness.fold(0.0, f64::max),
            speed,
            cfl: self.cfl,
        }
    }

    fn check(&self) -> Result<()> {
        if self.bodies.is_empty() {
            return Err(Error::invalid("number of bodies", 0, "at least 1"));
        }
        self.bodies.iter().try_for_each(BodySpec::check)?;
        if let Some(k) = self.bodies.iter().position(|body| body.relaxation.is_some()) {
            let expected = "none: particles have no memory, bodies by finite elements may";
            return Err(Error::invalid(format!("relaxation of body {k}"), "a Maxwell branch", expected));
        }
        if self.bodies.len() > 1 && self.transfer == Transfer::LAGRANGIAN {
            let expected =
                "APIC, or Lagrangian with a number of steps from one transfer to the next: only then do bodies meet";
            return Err(Error::invalid("transfer of several bodies", "Lagrangian for the whole run", expected));
        }
        for (k, collider) in self.colliders.iter().enumerate() {
            collider.check(k)?;
            if !matches!(collider.contact, Contact::Penalty { .. }) && collider.contact.numbers().is_some() {
                let value = format!("{:?}", collider.contact);
                return Err(Error::invalid(
                    format!("contact of collider {k}"),
                    value,
                    "sticky, slip, separating or a penalty",
                ));
            }
        }
        for (a, axis) in ['x', 'y', 'z'].into_iter().enumerate() {
            if !self.gravity[a].is_finite() {
                return Err(Error::invalid(format!("gravity along {axis}"), self.gravity[a], "a finite number"));
            }
        }
        let [low, high] = self.damping;
        non_negative("smallest damping", low)?;
        super::body::ordered("damping", low, high)?;
        positive("duration", self.duration)?;
        positive("frame rate", self.frame_rate)?;
        positive("distance of the particles", self.spacing)?;
        non_negative("reach", self.reach).map(|_| ())
    }
}

impl<F: Float> BodiesScene<F> {
    /// Parameters in the middle of their ranges.
    ///
    /// # Errors
    /// When memory is short.
    pub fn params(&self, device: &Device) -> Result<Params<Dim3, F>> {
        let middle = |[low, high]: [f64; 2]| F::from_f64(0.5 * (low + high));
        let each = |range: fn(&BodySpec) -> [f64; 2]| -> Result<Array<F>> {
            let values: Vec<F> = self.spec.bodies.iter().map(|b| middle(range(b))).collect();
            if values.len() == 1 {
                return Ok(device.array(&values)?);
            }
            Ok(device.array(&collect(self.body_of.iter().map(|&b| values[b as usize]))?)?)
        };
        Ok(Params {
            mu: each(|b| b.mu)?,
            lambda: each(|b| b.lambda)?,
            density: each(|b| b.density)?,
            viscosity: each(|b| b.viscosity)?,
            volume: self.volumes.clone(),
            damping: device.array(&[middle(self.spec.damping)])?,
            gravity: device.array(&[vec3::<F>(self.spec.gravity)])?,
            friction: None,
            stiffness: None,
            contact: None,
        })
    }

    /// Points of a body at the start \[m\] as vertices that follow its particles, without triangles.
    ///
    /// # Errors
    /// When there is no such body, a point is not on it, or memory is short.
    pub fn points(&self, device: &Device, body: usize, points: &[[f64; 3]]) -> Result<Surface<F>> {
        let begin = |body: usize| self.body_of.partition_point(|of| (*of as usize) < body);
        let own = begin(body)..begin(body + 1);
        if own.is_empty() {
            return Err(Error::invalid("body", body, format!("one of {}", self.centres.len())));
        }
        let positions: Vec<[f64; 3]> =
            collect(self.state.x.to_vec()?.into_iter().map(|x| x.to_array().map(Float::to_f64)))?;
        Surface::new(device, Carried::of_points(points, &positions, own, self.spec.spacing)?)
    }

    /// What it was made from.
    pub fn spec(&self) -> &BodiesSpec {
        &self.spec
    }
}

fn vec3<F: Float>(v: [f64; 3]) -> Vec3<F> {
    Vec3::from_array(v.map(F::from_f64))
}

/// Rows of the matrix of a cross product.
fn spin([wx, wy, wz]: [f64; 3]) -> [[f64; 3]; 3] {
    [[0.0, -wz, wy], [wz, 0.0, -wx], [-wy, wx, 0.0]]
}

/// `(steps, dt)` with `dt` at most `limit` and `steps * dt` one frame. Steps are a whole number, or infinite.
pub(super) fn per_frame(frame_rate: f64, limit: f64) -> (f64, f64) {
    let steps = (1.0 / (frame_rate * limit)).ceil().max(1.0);
    (steps, 1.0 / (frame_rate * steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_whole_numbers_of_steps() {
        assert_eq!(per_frame(32.0, 1e-4), (313.0, 1.0 / (32.0 * 313.0)));
        assert_eq!(per_frame(1.0, 10.0), (1.0, 1.0));
    }
}
