//! The derivative of a whole picture: Taylor remainders and central differences over everything that can vary.
#![allow(clippy::unwrap_used)] // a helper that fails is a test that fails

mod common;

use common::*;
use diffkern::{Array, Device, Tape, Vec3};
use diffkern_render::{CameraParams, Light, Lighting, Mesh, Renderer, Result, loss, pyramid};

/// Everything a picture depends on, as one list of numbers: vertices, camera (10), light (5 + albedo per vertex + 3), lens (5), exposure, a
/// second light (4).
struct Program {
    device: Device,
    mesh: Mesh,
    vertices: usize,
    size: (usize, usize),
    filter: u32,
    targets: (Array<f64>, Array<V>),
}

struct Inputs {
    vertices: Array<V>,
    camera: CameraParams<f64>,
    lighting: Lighting<f64>,
}

impl Inputs {
    /// The parts in the order of the list of numbers.
    fn gradient(&self) -> Vec<f64> {
        let vectors = |a: &Array<V>| a.grad().unwrap().to_vec().unwrap().into_iter().flat_map(|v| v.to_array());
        let scalars = |a: &Array<f64>| a.grad().unwrap().to_vec().unwrap();
        vectors(&self.vertices)
            .chain(vectors(&self.camera.position))
            .chain(vectors(&self.camera.look_at))
            .chain(vectors(&self.camera.up))
            .chain(scalars(&self.camera.fov))
            .chain(vectors(&self.lighting.direction).take(3))
            .chain(scalars(&self.lighting.intensity).into_iter().take(1))
            .chain(scalars(&self.lighting.ambient))
            .chain(vectors(&self.lighting.background))
            .chain(vectors(&self.lighting.albedo))
            .chain(self.camera.lens.iter().flat_map(scalars))
            .chain(self.camera.exposure.iter().flat_map(scalars))
            .chain(vectors(&self.lighting.direction).skip(3))
            .chain(scalars(&self.lighting.intensity).into_iter().skip(1))
            .collect()
    }
}

impl Program {
    fn inputs(&self, p: &[f64]) -> Inputs {
        let d = &self.device;
        let n = 3 * self.vertices;
        let vectors = |from: usize, count: usize| {
            let v: Vec<V> = p[from..from + 3 * count].as_chunks::<3>().0.iter().map(|&c| Vec3::from_array(c)).collect();
            d.array(&v).unwrap().requires_grad()
        };
        let scalar = |at: usize| d.array(&p[at..=at]).unwrap().requires_grad();
        let last = p.len() - 4;
        let directions = [n + 10, last].map(|at| Vec3::new(p[at], p[at + 1], p[at + 2]));
        Inputs {
            vertices: vectors(0, self.vertices),
            camera: CameraParams {
                position: vectors(n, 1),
                look_at: vectors(n + 3, 1),
                up: vectors(n + 6, 1),
                fov: scalar(n + 9),
                width: self.size.0,
                height: self.size.1,
                near: 0.05,
                lens: Some(d.array(&p[n + 18 + n..n + 18 + n + 5]).unwrap().requires_grad()),
                exposure: Some(scalar(n + 18 + n + 5)),
            },
            lighting: Lighting {
                direction: d.array(&directions).unwrap().requires_grad(),
                intensity: d.array(&[p[n + 13], p[last + 3]]).unwrap().requires_grad(),
                ambient: scalar(n + 14),
                background: vectors(n + 15, 1),
                albedo: vectors(n + 18, self.vertices),
            },
        }
    }

    fn loss(&self, inputs: &Inputs) -> Result<Array<f64>> {
        let renderer = Renderer::new(&self.device, &self.mesh)?.with_filter_width(self.filter)?;
        let outline = renderer.silhouette(&inputs.vertices, &inputs.camera)?;
        let picture = renderer.shaded(&inputs.vertices, &inputs.camera, &inputs.lighting)?;
        let depth = renderer.depth(&inputs.vertices, &inputs.camera)?;
        let total = loss::l2_color(&picture.color, &self.targets.1)?;
        loss::jaccard_into(&picture.coverage, &self.targets.0, 0.3, &total)?;
        loss::l2_into(&outline.coverage, &self.targets.0, 2.0, &total)?;
        pyramid::l2_into(&outline.coverage, &self.targets.0, self.size, 0.5, &total)?;
        loss::l2_into(&depth.inverse, &self.targets.0, 0.7, &total)?;
        loss::l2_into(&depth.coverage, &self.targets.0, 0.4, &total)?;
        Ok(total)
    }

    fn value(&self, p: &[f64]) -> f64 {
        self.loss(&self.inputs(p)).unwrap().to_vec().unwrap()[0]
    }

    fn gradient(&self, p: &[f64]) -> Vec<f64> {
        let inputs = self.inputs(p);
        let (tape, loss) = Tape::record_value(|| self.loss(&inputs)).unwrap();
        tape.backward(&loss).unwrap();
        inputs.gradient()
    }
}

fn program(mesh: Mesh, vertices: &[V], filter: u32) -> (Program, Vec<f64>) {
    let device = Device::cpu();
    let size = (44, 36);
    let n = size.0 * size.1;
    let mut random = Random(5);
    let target: Vec<f64> = (0..n).map(|_| 0.5 + 0.5 * random.next()).collect();
    let colors: Vec<V> = (0..n).map(|_| random.vec(0.5) + Vec3::new(0.5, 0.5, 0.5)).collect();
    let targets = (device.array(&target).unwrap(), device.array(&colors).unwrap());
    let mut p: Vec<f64> = vertices.iter().flat_map(|v| v.to_array()).collect();
    p.extend([0.62, -0.98, 0.52, -0.2, 0.04, 0.15, 0.05, 0.02, 1.0, 0.5]);
    let Light { direction, intensity, ambient, background, .. } = drop_light();
    p.extend(direction);
    p.extend([intensity, ambient]);
    p.extend(background);
    p.extend(vertices.iter().flat_map(|_| [0.0; 3].map(|_| 0.5 + 0.3 * random.next())));
    p.extend([-0.18, 0.11, -0.05, 0.012, -0.008, 1.3]);
    // From beside the camera, not along a vector of length one.
    p.extend([0.1, -0.7, -0.2, 0.35]);
    (Program { device, mesh, vertices: vertices.len(), size, filter, targets }, p)
}

/// Checks along random directions that move only `part` of the numbers; returns the worst rate and difference.
fn check(name: &str, program: &Program, p: &[f64], part: std::ops::Range<usize>, scale: f64) {
    let gradient = program.gradient(p);
    let value = program.value(p);
    for seed in 1..=3u64 {
        let mut random = Random(seed);
        let direction: Vec<f64> =
            (0..p.len()).map(|k| if part.contains(&k) { scale * random.next() } else { 0.0 }).collect();
        let slope: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
        let at = |h: f64| program.value(&p.iter().zip(&direction).map(|(p, d)| p + h * d).collect::<Vec<_>>());
        let remainder = |h: f64| (at(h) - value - h * slope).abs();
        let steps = [4e-3, 1e-3, 5e-4, 1.25e-4];
        let rate = (remainder(steps[0]) / remainder(steps[3])).ln() / (steps[0] / steps[3]).ln();
        let without = ((at(steps[0]) - value) / (at(steps[3]) - value)).abs().ln() / (steps[0] / steps[3]).ln();
        let difference = [1e-4, 3e-5, 1e-5, 3e-6]
            .iter()
            .map(|h| ((at(*h) - at(-h)) / (2.0 * h) - slope).abs() / slope.abs())
            .fold(f64::INFINITY, f64::min);
        println!("{name}, seed {seed}: rate {rate:.3} ({without:.3} without), relative difference {difference:.1e}");
        let linear = remainder(steps[0]) < 1e-13;
        assert!(rate > 1.9 || linear, "{name}, seed {seed}: Taylor rate {rate}, slope {slope}");
        assert!(difference < 1e-6, "{name}, seed {seed}: relative difference {difference}, slope {slope}");
    }
}

fn check_all(name: &str, mesh: Mesh, vertices: &[V], filter: u32) {
    let (program, p) = program(mesh, vertices, filter);
    let n = 3 * vertices.len();
    check(&format!("{name} vertices"), &program, &p, 0..n, 0.01);
    check(&format!("{name} camera"), &program, &p, n..n + 10, 0.02);
    check(&format!("{name} light"), &program, &p, n + 10..n + 18, 0.1);
    check(&format!("{name} albedo"), &program, &p, n + 18..2 * n + 18, 0.1);
    check(&format!("{name} lens"), &program, &p, 2 * n + 18..p.len() - 4, 0.1);
    check(&format!("{name} second light"), &program, &p, p.len() - 4..p.len(), 0.5);
    check(&format!("{name} all"), &program, &p, 0..p.len(), 0.01);
}

#[test]
fn block_with_hard_edges() {
    let (mesh, vertices) = drop_block(2);
    check_all("block", mesh, &vertices, 1);
}

#[test]
fn smooth_body_under_a_wide_filter() {
    let (mesh, vertices) = bumpy_sphere([-0.2, 0.04, 0.15], 0.1, 6);
    check_all("sphere", mesh, &vertices, 3);
}

#[test]
fn one_body_before_another() {
    let (front, front_vertices) = bumpy_sphere([-0.15, -0.1, 0.2], 0.06, 5);
    let (back, back_vertices) = bumpy_sphere([-0.25, 0.2, 0.12], 0.12, 5);
    let offset = front_vertices.len() as u32;
    let triangles = front.triangles().iter().copied().chain(back.triangles().iter().map(|t| t.map(|v| v + offset)));
    let vertices: Vec<V> = front_vertices.iter().chain(&back_vertices).copied().collect();
    let mesh = Mesh::smooth(triangles.collect(), vertices.len()).unwrap();
    check_all("two bodies", mesh, &vertices, 1);
}

#[test]
fn sheet_seen_from_behind() {
    let (n, mut vertices, mut triangles) = (6u32, Vec::new(), Vec::new());
    for j in 0..=n {
        for i in 0..=n {
            let (s, t) = (f64::from(i) / f64::from(n) - 0.5, f64::from(j) / f64::from(n) - 0.5);
            let bulge = 0.02 * (5.0 * s).sin() * (3.0 * t + 0.4).cos();
            vertices.push(Vec3::new(0.3 * s - 0.2, 0.04 + bulge, 0.25 * t + 0.15 + 0.05 * s));
            if i < n && j < n {
                let a = j * (n + 1) + i;
                triangles.extend([[a, a + n + 2, a + 1], [a, a + n + 1, a + n + 2]]);
            }
        }
    }
    let mesh = Mesh::smooth(triangles, vertices.len()).unwrap().two_sided();
    check_all("sheet", mesh, &vertices, 1);
}

#[test]
fn forward_mode_gives_the_columns_of_the_residuals() {
    let device = Device::cpu();
    let (mesh, vertices) = drop_block(3);
    let renderer = Renderer::new(&device, &mesh).unwrap();
    let camera = drop_camera().with_size(64, 64).params(&device).unwrap();
    let target = device.zeros::<f64>(64 * 64).unwrap();
    let residual = |x: &Array<V>| loss::residual(&renderer.silhouette(x, &camera)?.coverage, &target, 0.5);
    let x = upload(&device, &vertices);
    // A translation and a stretch, both at once.
    let columns: [Vec<V>; 2] =
        [vec![Vec3::new(1.0, 0.3, -0.2); vertices.len()], vertices.iter().map(|v| *v * 0.7).collect()];
    let tangents = columns.clone().map(|column| upload(&device, &column));
    let seeds = [[(x.as_any(), tangents[0].as_any())], [(x.as_any(), tangents[1].as_any())]];
    let (found, derivatives) = diffkern::jvp(&[&seeds[0], &seeds[1]], || residual(&x)).unwrap();
    for (k, column) in columns.iter().enumerate() {
        let analytic = derivatives.get(k, &found).unwrap().to_vec().unwrap();
        let at = |h: f64| {
            let moved: Vec<V> = vertices.iter().zip(column).map(|(v, c)| *v + *c * h).collect();
            residual(&upload(&device, &moved)).unwrap().to_vec().unwrap()
        };
        let (plus, minus) = (at(1e-6), at(-1e-6));
        let size = analytic.iter().fold(0.0f64, |m, a| m.max(a.abs()));
        for (i, a) in analytic.iter().enumerate() {
            let numeric = (plus[i] - minus[i]) / 2e-6;
            assert!((a - numeric).abs() < 1e-4 * size, "tangent {k}, pixel {i}: {a}, {numeric}");
        }
    }
}
