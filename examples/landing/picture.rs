//! A strip of frames: the box, the block by its triangles, posts as coils; braces and the net between the heads of the posts would hide them and are left out.

use crate::scene::{SIDE, Scene, State, Step};
use diffkern::prelude::*;
use diffkern_render::animation::side_by_side;
use diffkern_render::image::{Rgb, write_rgb};
use diffkern_render::{Camera, Lighting, Mesh, Renderer};
use diffkern_sim::Observe as _;
use diffkern_sim::fem::lattice::Skin;
use std::f64::consts::TAU;
use std::path::Path;

const SIZE: [usize; 2] = [252, 288];
/// Turns of a coil, pieces of a turn, and its radius \[m\].
const COIL: (f64, usize, f64) = (5.0, 14, 0.011);
/// Radius of the wire \[m\].
const WIRE: f64 = 0.0024;

type Point = Vec3<f64>;

/// Triangles with corners and colours of their own.
#[derive(Default)]
struct Drawing {
    corners: Vec<Point>,
    colours: Vec<Point>,
}

impl Drawing {
    fn triangle(&mut self, corners: [Point; 3], colour: [f64; 3]) {
        self.corners.extend(corners);
        self.colours.extend([Vec3::from_array(colour); 3]);
    }

    /// A tube of three sides along a line.
    fn tube(&mut self, line: &[Point], radius: f64, colour: [f64; 3]) {
        let ring = |k: usize| -> [Point; 3] {
            let along = (line[(k + 1).min(line.len() - 1)] - line[k.max(1) - 1]).normalize();
            let any = if along.z.abs() < 0.7 { Vec3::new(0.0, 0.0, 1.0) } else { Vec3::new(1.0, 0.0, 0.0) };
            let side = along.cross(any).normalize();
            let other = along.cross(side);
            [0.0, 1.0, 2.0].map(|s| {
                let (sine, cosine) = (s * TAU / 3.0).sin_cos();
                line[k] + (side * cosine + other * sine) * radius
            })
        };
        for k in 1..line.len() {
            let (low, high) = (ring(k - 1), ring(k));
            for s in 0..3 {
                let next = (s + 1) % 3;
                self.triangle([low[s], low[next], high[next]], colour);
                self.triangle([low[s], high[next], high[s]], colour);
            }
        }
    }

    /// A coil between two points, with straight ends.
    fn coil(&mut self, [from, to]: [Point; 2], colour: [f64; 3]) {
        let (turns, pieces, radius) = COIL;
        let count = (turns * pieces as f64) as usize;
        let at = |k: usize| {
            let (part, (sine, cosine)) = (k as f64 / count as f64, (k as f64 / pieces as f64 * TAU).sin_cos());
            let wide = radius * (8.0 * part).min(8.0 - 8.0 * part).min(1.0);
            from + (to - from) * part + Vec3::new(cosine, sine, 0.0) * wide
        };
        self.tube(&(0..=count).map(at).collect::<Vec<_>>(), WIRE, colour);
    }
}

/// What a camera sees of a state.
pub fn frame(scene: &Scene, step: &Step, (chest, (net, block)): &State) -> Result<Rgb> {
    let mut all = Drawing::default();
    let floor = [[-0.6, -0.6], [0.6, -0.6], [0.6, 0.6], [-0.6, 0.6]].map(|[x, y]| Vec3::new(x, y, -0.165));
    for [a, b, c] in [[0, 1, 2], [0, 2, 3]] {
        all.triangle([floor[a], floor[b], floor[c]], [0.80, 0.81, 0.84]);
    }
    let x = net.x.to_vec()?;
    for &[head, foot] in &scene.springs[..SIDE * SIDE] {
        all.coil([x[foot as usize], x[head as usize]], [0.30, 0.45, 0.62]);
    }
    let skin = Skin::new(&scene.device, &scene.block)?;
    let soft = skin.vertices(block)?.to_vec()?;
    for (k, t) in skin.triangles().iter().enumerate() {
        let colour = if k / 2 % 2 == 0 { [0.36, 0.72, 0.52] } else { [0.30, 0.64, 0.46] };
        all.triangle(t.map(|i| soft[i as usize]), colour);
    }
    let hard = step.a.vertices(chest)?.to_vec()?;
    for t in step.a.triangles() {
        all.triangle(t.map(|i| hard[i as usize]), [0.90, 0.52, 0.18]);
    }
    draw(&scene.device, &all)
}

fn draw(device: &Device, all: &Drawing) -> Result<Rgb> {
    let [width, height] = SIZE;
    let (position, look_at, up) = ([0.75, -1.0, 0.45], [0.0, 0.0, 0.075], [0.0, 0.0, 1.0]);
    let camera = Camera { position, look_at, up, vertical_fov: 0.44, width, height, near: 0.1 };
    let triangles = (0..all.corners.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let renderer = Renderer::new(device, &Mesh::flat(triangles, all.corners.len())?)?;
    let lighting = Lighting {
        direction: device.array(&[Vec3::new(0.25, -0.8, 1.0)])?,
        intensity: device.array(&[0.7])?,
        ambient: device.array(&[0.4])?,
        albedo: device.array(&all.colours)?,
        background: device.array(&[Vec3::new(1.0, 1.0, 1.0)])?,
    };
    let picture = renderer.shaded(&device.array(&all.corners)?, &camera.params(device)?, &lighting)?;
    Ok(Rgb::from_array(&picture.color, width, height)?)
}

/// Writes frames from the left to the right.
pub fn write(frames: &[Rgb], file: &Path) -> Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|e| Error::other(format!("{}: {e}", folder.display())))?;
    Ok(write_rgb(file, &side_by_side(&frames.iter().collect::<Vec<_>>())?)?)
}
