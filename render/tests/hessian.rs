//! Hessian-vector products of whole pictures: against finite differences of the gradient, and against themselves.
#![allow(clippy::unwrap_used)] // a helper that fails is a test that fails

mod common;

use common::*;
use diffkern::{Array, Device, Tape, Vec3};
use diffkern_render::{CameraParams, Lighting, Mesh, Renderer, loss, pyramid};

const SIZE: (usize, usize) = (36, 28);

/// Vertices, where the camera stands, albedo: with gradients; the rest is fixed.
struct Program {
    device: Device,
    mesh: Mesh,
    filter: u32,
    lighting: Lighting<f64>,
    camera: CameraParams<f64>,
    targets: (Array<f64>, Array<V>),
    start: [Vec<V>; 3],
}

type Three = [Vec<V>; 3];

fn inner(a: &Three, b: &Three) -> f64 {
    a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| a.dot(*b)).sum()
}

impl Program {
    fn new(mesh: Mesh, vertices: &[V], filter: u32) -> Program {
        let device = Device::cpu();
        let n = SIZE.0 * SIZE.1;
        let mut random = Random(5);
        let target: Vec<f64> = (0..n).map(|_| 0.5 + 0.5 * random.next()).collect();
        let colors: Vec<V> = (0..n).map(|_| random.vec(0.5) + Vec3::new(0.5, 0.5, 0.5)).collect();
        let targets = (device.array(&target).unwrap(), device.array(&colors).unwrap());
        let camera = drop_camera().with_size(SIZE.0, SIZE.1).params::<f64>(&device).unwrap();
        let lighting = drop_light().lighting::<f64>(&device).unwrap();
        let albedo: Vec<V> = vertices.iter().map(|_| random.vec(0.3) + Vec3::new(0.5, 0.5, 0.5)).collect();
        let start = [vertices.to_vec(), camera.position.to_vec().unwrap(), albedo];
        Program { device, mesh, filter, lighting, camera, targets, start }
    }

    fn arrays(&self, numbers: &Three) -> [Array<V>; 3] {
        [0, 1, 2].map(|k| self.device.array(&numbers[k]).unwrap())
    }

    fn record(&self, numbers: &Three) -> ([Array<V>; 3], Tape, Array<f64>) {
        let inputs = self.arrays(numbers).map(Array::requires_grad);
        let [vertices, position, albedo] = inputs.clone();
        let camera = CameraParams { position, ..self.camera.clone() };
        let lighting = Lighting { albedo, ..self.lighting.clone() };
        let (tape, loss) = Tape::record_value(|| {
            let renderer = Renderer::new(&self.device, &self.mesh)?.with_filter_width(self.filter)?;
            let outline = renderer.silhouette(&vertices, &camera)?;
            let picture = renderer.shaded(&vertices, &camera, &lighting)?;
            let total = loss::l2_color(&picture.color, &self.targets.1)?;
            loss::jaccard_into(&picture.coverage, &self.targets.0, 0.3, &total)?;
            pyramid::l2_into(&outline.coverage, &self.targets.0, SIZE, 0.5, &total)?;
            Ok::<_, diffkern_render::Error>(total)
        })
        .unwrap();
        (inputs, tape, loss)
    }

    fn gradient(&self, numbers: &Three) -> Three {
        let (inputs, tape, loss) = self.record(numbers);
        tape.backward(&loss).unwrap();
        inputs.map(|a| a.grad().unwrap().to_vec().unwrap())
    }

    fn direction(&self, seed: u64) -> Three {
        let mut random = Random(seed);
        let scales = [0.004, 0.01, 0.1];
        [0, 1, 2].map(|k| self.start[k].iter().map(|_| random.vec(scales[k])).collect())
    }
}

fn second_derivatives(name: &str, mesh: Mesh, vertices: &[V], filter: u32) {
    let program = Program::new(mesh, vertices, filter);
    let (u, v) = (program.direction(3), program.direction(4));
    let (inputs, tape, loss) = program.record(&program.start);
    let moves = [program.arrays(&u), program.arrays(&v)];
    let pairs = [0, 1].map(|k: usize| [0, 1, 2].map(|j: usize| (inputs[j].as_any(), moves[k][j].as_any())));
    let found = tape.hvp(&loss, &[&pairs[0], &pairs[1]]).unwrap();
    let products: [Three; 2] =
        [0, 1].map(|k: usize| [0, 1, 2].map(|j: usize| found.get(k, &inputs[j]).unwrap().to_vec().unwrap()));
    assert_eq!(
        [0, 1, 2].map(|j: usize| found.gradient(&inputs[j]).unwrap().to_vec().unwrap()),
        program.gradient(&program.start)
    );

    let (one, other) = (inner(&v, &products[0]), inner(&u, &products[1]));
    let size = inner(&u, &products[0]).abs().max(inner(&v, &products[1]).abs());
    assert!((one - other).abs() < 1e-10 * size, "{name}: <v, H u> = {one}, <u, H v> = {other}");

    for (probe, moved, product) in [(&u, &v, &products[1]), (&v, &v, &products[1]), (&u, &u, &products[0])] {
        let exact = inner(probe, product);
        let slope = |t: f64| {
            let at = [0, 1, 2]
                .map(|j: usize| program.start[j].iter().zip(&moved[j]).map(|(x, d)| *x + *d * t).collect::<Vec<_>>());
            inner(probe, &program.gradient(&at))
        };
        let pair = |h: f64| (slope(h) - slope(-h)) / (2.0 * h);
        // Pixels that an edge enters or leaves within a step have another second derivative there: small steps.
        let best = [4e-3, 1e-3, 2e-4, 5e-5, 1e-5]
            .map(|h| ((4.0 * pair(0.5 * h) - pair(h)) / 3.0 - exact).abs() / exact.abs())
            .into_iter()
            .fold(f64::INFINITY, f64::min);
        println!("{name}: {exact:e}, relative error {best:.1e}");
        assert!(best < 1e-6, "{name}: {exact} against differences: relative error {best:e}");
    }
}

#[test]
fn of_a_block_with_hard_edges() {
    let (mesh, vertices) = drop_block(2);
    second_derivatives("block", mesh, &vertices, 1);
}

#[test]
fn of_a_smooth_body_under_a_wide_filter() {
    let (mesh, vertices) = bumpy_sphere([-0.2, 0.04, 0.15], 0.1, 5);
    second_derivatives("sphere", mesh, &vertices, 3);
}
