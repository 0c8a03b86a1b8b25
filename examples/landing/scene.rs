//! A rigid box, a soft block, and springs that carry it: one model, and its parameters by name.

use diffkern::prelude::*;
use diffkern_sim::collision::Pose;
use diffkern_sim::contact::Contact;
use diffkern_sim::coupling::SurfaceContact;
use diffkern_sim::fem::lattice;
use diffkern_sim::material::Law;
use diffkern_sim::rigid::{self, SurfacePoints};
use diffkern_sim::shape::{Cuboid, Primitive};
use diffkern_sim::springs::{self, VertexPoints};
use diffkern_sim::vertices::VertexState;
use diffkern_sim::{Both, Coupled, Model as _, Step as _, WithSecond};

type OnSprings = SurfaceContact<f64, VertexPoints<f64>>;
type OnBox = SurfaceContact<f64, SurfacePoints<f64>>;
type Bed = Coupled<springs::Model<f64>, lattice::Model<f64>, OnSprings>;
pub type All = Coupled<rigid::Model<f64>, Bed, WithSecond<OnBox>>;
pub type State = <All as diffkern_sim::Model>::State;

/// Vertices along a side of the bed, and how far they are apart \[m\].
pub const SIDE: usize = 5;
const APART: f64 = 0.055;
/// Length of the posts \[m\].
const POST: f64 = 0.1;
/// Sides of the block and of the box \[m\].
const BLOCK: [f64; 3] = [0.24, 0.24, 0.12];
const BOX: [f64; 3] = [0.12, 0.1, 0.07];
/// Edge of the cells of the block \[m\].
const CELL: f64 = 0.06;
/// Length of the steps \[s\].
pub const DT: f64 = 5e-4;

/// Names, units and values of what the gradient is by.
pub const PARAMETERS: [(&str, &str, f64); 25] = [
    ("density of the box", "kg/m^3", 1400.0),
    ("its height", "m", 0.24),
    ("its velocity along x", "m/s", -0.06),
    ("along y", "m/s", -0.04),
    ("along z", "m/s", -0.4),
    ("its spin about x", "rad/s", 0.4),
    ("about y", "rad/s", -0.3),
    ("about z", "rad/s", 1.2),
    ("mu of the block", "Pa", 6e3),
    ("lambda", "Pa", 9e3),
    ("density", "kg/m^3", 400.0),
    ("viscosity", "Pa s", 40.0),
    ("damping", "1/s", 0.3),
    ("stiffness of a post", "N/m", 500.0),
    ("of a spring of the net", "N/m", 300.0),
    ("damping of the springs", "N s/m", 2.0),
    ("their rest lengths, factor", "", 1.02),
    ("mass of a vertex", "kg", 0.03),
    ("gravity along x", "m/s^2", 0.1),
    ("along y", "m/s^2", -0.06),
    ("along z", "m/s^2", -9.81),
    ("contact above: stiffness", "Pa/m", 6e5),
    ("friction", "", 0.6),
    ("contact below: stiffness", "Pa/m", 6e5),
    ("friction", "", 0.5),
];

pub struct Scene {
    pub device: Device,
    pub model: All,
    pub block: lattice::CutBody,
    pub springs: Vec<[u32; 2]>,
    bed: Vec<[f64; 3]>,
}

/// Vertices of the bed at rest, and springs: posts, then braces and the net between their heads.
fn bed() -> (Vec<[f64; 3]>, Vec<[u32; 2]>) {
    let middle = 0.5 * (SIDE - 1) as f64;
    let at = |k: usize, z: f64| [((k / SIDE) as f64 - middle) * APART, ((k % SIDE) as f64 - middle) * APART, z];
    let count = SIDE * SIDE;
    let top = -0.5 * BLOCK[2] - 1e-3;
    let vertices = (0..count).map(|k| at(k, top)).chain((0..count).map(|k| at(k, top - POST))).collect();
    let mut springs: Vec<[u32; 2]> = (0..count).map(|k| [k as u32, (k + count) as u32]).collect();
    for (i, j) in (0..count).map(|k| (k / SIDE, k % SIDE)) {
        let number = |i: usize, j: usize| (i * SIDE + j) as u32;
        for (a, b) in [(i + 1, j), (i, j + 1)].into_iter().filter(|&(a, b)| a < SIDE && b < SIDE) {
            let (k, l) = (number(i, j), number(a, b));
            springs.extend([[k, l], [k, l + count as u32], [l, k + count as u32]]);
        }
    }
    (vertices, springs)
}

impl Scene {
    pub fn new() -> Result<Scene> {
        let device = Device::cpu();
        let (bed, springs) = bed();
        let feet: Vec<u32> = (bed.len() as u32 / 2..bed.len() as u32).collect();
        let net = springs::Model::new(&device, bed.len(), &springs, DT, &feet, &[])?;
        let block = lattice::Body::new(Primitive::Cuboid(Cuboid { sides: BLOCK }), CELL).build()?;
        let soft = lattice::Model::new(&device, &block, Law::NeoHookean, DT, &[])?;
        let surface = Primitive::Cuboid(Cuboid { sides: BOX }).surface(1.0)?;
        let heavy = rigid::Model::new(&device, &[rigid::Body::new(surface)], DT, &[])?;
        let contact = Contact::SmoothPenalty { stiffness: 1.0, width: 2e-3 };
        let heads: Vec<_> = (0..bed.len() as u32 / 2).map(|k| (k, APART * APART)).collect();
        let under = SurfaceContact::new(net.vertex_points(&heads)?, &soft, contact, 0.0)?;
        let above = SurfaceContact::new(heavy.surface_points(0.04)?, &soft, contact, 0.0)?;
        let on_springs = Coupled { a: net, b: soft, exchange: under };
        let model = Coupled { a: heavy, b: on_springs, exchange: WithSecond(above) };
        Ok(Scene { device, model, block, springs, bed })
    }

    /// One array for each parameter.
    pub fn arrays(&self, values: &[f64]) -> Result<Vec<Array<f64>>> {
        values.iter().map(|v| self.device.array(&[*v])).collect()
    }

    /// The parameters of the model and the state at the beginning.
    fn begin(&self, p: &[Array<f64>]) -> Result<(<All as diffkern_sim::Model>::Params, State)> {
        let dev = &self.device;
        let gravity = dev.uninit(1)?;
        vector(1, &p[18], &p[19], &p[20], &gravity)?;
        let mut heavy = self.model.a.params(1.0, [0.0; 3])?;
        heavy.mass = rigid::Mass::Density(p[0].clone());
        heavy.gravity = gravity.clone();
        let pose = dev.uninit(1)?;
        thrown(1, &p[1], &p[2], &p[3], &p[4], &p[5], &p[6], &p[7], &pose)?;
        let chest = self.model.a.start(&heavy, &pose)?;

        let mut soft = lattice::Params::uniform(dev, 1.0, 1.0, 1.0, [0.0; 3])?;
        (soft.mu, soft.lambda, soft.density) = (p[8].clone(), p[9].clone(), p[10].clone());
        (soft.viscosity, soft.damping, soft.gravity) = (Some(p[11].clone()), p[12].clone(), gravity.clone());
        let mut net = springs::Params::uniform(dev, 1.0, 1.0, 1.0, [0.0; 3])?;
        let (count, at) = (self.springs.len(), |i: u32| Vec3::from_array(self.bed[i as usize]));
        let lengths: Vec<f64> = self.springs.iter().map(|&[a, b]| (at(a) - at(b)).norm()).collect();
        let (stiffness, rest) = (dev.uninit(count)?, dev.uninit(count)?);
        let posts = (SIDE * SIDE) as u32;
        of_springs(count, &p[13], &p[14], &p[16], &dev.array(&lengths)?, &stiffness, &rest, posts)?;
        (net.stiffness, net.rest, net.gravity) = (stiffness, rest, gravity);
        (net.spring_damping, net.mass) = (p[15].clone(), p[17].clone());
        let lying = VertexState::new(dev, &self.bed, &vec![[0.0; 3]; self.bed.len()])?;

        let damping = dev.array(&[0.0])?;
        let contact = |stiffness: usize, friction: usize| diffkern_sim::coupling::Params {
            stiffness: p[stiffness].clone(),
            damping: damping.clone(),
            friction: p[friction].clone(),
        };
        let params =
            Both { a: heavy, b: Both { a: net, b: soft, exchange: contact(23, 24) }, exchange: contact(21, 22) };
        Ok((params, (chest, (lying, self.block.state(dev, [0.0; 3], [0.0; 3])?))))
    }

    /// The state after so many steps, and what `see` makes of the ones at the beginning of each of `frames` equal parts.
    pub fn run(
        &self,
        p: &[Array<f64>],
        (frames, steps): (usize, usize),
        mut see: impl FnMut(&Step, &State) -> Result<()>,
    ) -> Result<(Step, State)> {
        let (params, mut now) = self.begin(p)?;
        let step = self.model.bind(&params, &now)?;
        for frame in 0..frames {
            see(&step, &now)?;
            let [first, last] = [frame, frame + 1].map(|k| k * steps / frames);
            now = step.advance(&now, first, last - first, Schedule::Auto)?;
        }
        Ok((step, now))
    }

    /// A number that depends on all of the state: where the box, the block and the bed are in the end, and how the box is turned.
    pub fn score(&self, (chest, (net, block)): &State) -> Result<Array<f64>> {
        let sum = self.device.zeros(1)?;
        score(1, &chest.x, &chest.q, &chest.v, &sum)?;
        mean_square(block.len(), &block.x, &sum)?;
        mean_square(net.len(), &net.x, &sum)?;
        Ok(sum)
    }
}

pub type Step = <All as diffkern_sim::Model>::Step;

#[diff_kernel]
fn vector<F: Float>(x: &Array<F>, y: &Array<F>, z: &Array<F>, out: &mut Array<Vec3<F>>) {
    out[0] = Vec3::new(x[0], y[0], z[0]);
}

/// A box a little askew, at a height, with velocity and spin.
#[diff_kernel]
fn thrown<F: Float>(
    height: &Array<F>,
    vx: &Array<F>,
    vy: &Array<F>,
    vz: &Array<F>,
    wx: &Array<F>,
    wy: &Array<F>,
    wz: &Array<F>,
    pose: &mut Array<Pose<F>>,
) {
    pose[0] = Pose {
        centre: Vec3::new(F::new(0.03), F::new(-0.01), height[0]),
        rotation: Quat::from_rotation_vector(Vec3::new(F::new(0.2), F::new(0.15), F::new(0.5))),
        velocity: Vec3::new(vx[0], vy[0], vz[0]),
        spin: Vec3::new(wx[0], wy[0], wz[0]),
    };
}

/// The first springs are posts.
#[diff_kernel]
fn of_springs<F: Float>(
    post: &Array<F>,
    net: &Array<F>,
    factor: &Array<F>,
    length: &Array<F>,
    stiffness: &mut Array<F>,
    rest: &mut Array<F>,
    posts: u32,
) {
    let s = ABSOLUTE_POS;
    let mut k = net[0];
    if s < posts as usize {
        k = post[0];
    }
    stiffness[s] = k;
    rest[s] = length[s] * factor[0];
}

#[diff_kernel]
fn score<F: Float>(x: &Array<Vec3<F>>, q: &Array<Quat<F>>, v: &Array<Vec3<F>>, sum: &mut Array<F>) {
    let axis = q[0].rotate(Vec3::new(F::new(0.2), F::new(-0.5), F::new(0.8)));
    let away = x[0] - Vec3::new(F::new(0.1), F::new(-0.2), F::new(0.3));
    sum[0] +=
        away.dot(away) + 0.05 * axis.dot(Vec3::new(F::new(0.7), F::new(0.4), F::new(0.3))) + 0.02 * v[0].dot(v[0]);
}

#[diff_kernel]
fn mean_square<F: Float>(x: &Array<Vec3<F>>, sum: &mut Array<F>) {
    let p = x[ABSOLUTE_POS];
    sum[0] += (p.dot(p) + 0.3 * p.x * p.z) / F::cast_from(x.len());
}
