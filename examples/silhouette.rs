//! An ellipsoid is fitted to a silhouette: the gradient of a picture by the shape. Writes `out/silhouette.gif`.
//!
//! `cargo run --release -p examples --example silhouette`

use std::path::Path;

use diffkern::prelude::*;
use diffkern_render::animation::{side_by_side, write_gif};
use diffkern_render::image::{Gray, iou};
use diffkern_render::{Camera, Mesh, Renderer, loss};

const SIZE: usize = 96;
const ROUNDS: usize = 80;
/// Rings and sectors of the sphere.
const RINGS: u32 = 12;
const SECTORS: u32 = 20;

/// The points of a unit sphere, moved and stretched: `shape` is the centre (x, z), then the half axes (x, z).
#[diff_kernel]
fn place<F: Float>(unit: &Array<Vec3<F>>, shape: &Array<F>, vertices: &mut Array<Vec3<F>>) {
    let p = unit[ABSOLUTE_POS];
    vertices[ABSOLUTE_POS] = Vec3::new(shape[0] + shape[2] * p.x, p.y, shape[1] + shape[3] * p.z);
}

fn main() -> Result<()> {
    let dev = Device::cpu();
    let (points, triangles) = sphere();
    let unit = dev.array(&points)?;
    let renderer = Renderer::new(&dev, &Mesh::smooth(triangles, points.len())?)?;
    let camera = Camera {
        position: [0.0, -6.0, 0.0],
        look_at: [0.0; 3],
        up: [0.0, 0.0, 1.0],
        vertical_fov: 0.7,
        width: SIZE,
        height: SIZE,
        near: 0.1,
    };
    let camera = camera.params::<f32>(&dev)?;
    let picture = |shape: &Array<f32>| -> Result<Array<f32>> {
        let vertices = dev.zeros(points.len())?;
        place(points.len(), &unit, shape, &vertices)?;
        Ok(renderer.silhouette(&vertices, &camera)?.coverage)
    };

    let target = picture(&dev.array(&[0.5, -0.4, 0.6, 1.1])?)?;
    let gray = |image: &Array<f32>| Gray::from_array(image, SIZE, SIZE);
    let mut shape = [-0.3f32, 0.3, 1.0, 0.5];
    let (mut frames, mut overlap) = (Vec::new(), 0.0);
    for round in 0..ROUNDS {
        let unknown = dev.array(&shape)?.requires_grad();
        let (tape, (image, loss)) = Tape::record_value(|| {
            let image = picture(&unknown)?;
            let loss = loss::jaccard(&image, &target)?;
            Ok::<_, Error>((image, loss))
        })?;
        tape.backward(&loss)?;

        overlap = iou(&gray(&image)?.pixels, &gray(&target)?.pixels);
        if round % 10 == 0 {
            println!("round {round:2}: loss {:.4}, overlap {overlap:.3}, shape {shape:.2?}", loss.to_vec()?[0]);
        }
        frames.push(side_by_side(&[&gray(&target)?.to_rgb(), &gray(&image)?.to_rgb()])?);
        // Near the optimum the loss grows like a distance, not like its square: the steps have to shrink by themselves.
        let rate = 0.15 * 0.95f32.powi(round as i32);
        for (value, slope) in shape.iter_mut().zip(unknown.grad()?.to_vec()?) {
            *value -= rate * slope;
        }
    }
    println!("found {shape:.3?}, overlap {overlap:.3}");
    assert!(overlap > 0.95, "overlap {overlap}");

    let out = Path::new(env!("CARGO_MANIFEST_DIR")).join("../out");
    let file = out.join("silhouette.gif");
    std::fs::create_dir_all(&out).map_err(|e| Error::other(format!("{}: {e}", out.display())))?;
    write_gif(&file, &frames, 0.05)?;
    println!("wrote {}", file.display());
    Ok(())
}

/// Points and triangles of a unit sphere, counter-clockwise seen from outside.
fn sphere() -> (Vec<Vec3<f32>>, Vec<[u32; 3]>) {
    let turn = std::f32::consts::TAU / SECTORS as f32;
    let mut points = vec![Vec3::new(0.0, 0.0, 1.0)];
    for ring in 1..RINGS {
        let (sine, cosine) = (std::f32::consts::PI * ring as f32 / RINGS as f32).sin_cos();
        points.extend(
            (0..SECTORS).map(|k| (turn * k as f32).sin_cos()).map(|(s, c)| Vec3::new(sine * c, sine * s, cosine)),
        );
    }
    points.push(Vec3::new(0.0, 0.0, -1.0));
    // Ring 0 is the upper pole, the last the lower.
    let at = |ring: u32, sector: u32| match ring {
        0 => 0,
        RINGS => (RINGS - 1) * SECTORS + 1,
        _ => 1 + (ring - 1) * SECTORS + sector % SECTORS,
    };
    let mut triangles = Vec::new();
    for (ring, k) in (0..RINGS).flat_map(|ring| (0..SECTORS).map(move |k| (ring, k))) {
        let [a, b, c, d] = [at(ring, k), at(ring + 1, k), at(ring + 1, k + 1), at(ring, k + 1)];
        if ring + 1 < RINGS {
            triangles.push([a, b, c]);
        }
        if ring > 0 {
            triangles.push([a, c, d]);
        }
    }
    (points, triangles)
}
