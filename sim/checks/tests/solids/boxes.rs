//! Sums over control points along one axis after the other are those over all of them.

use super::*;
use crate::common::Random;
use diffkern_sim::fem::lattice::kernels::{
    box_forces, box_gradients, carry, carry_pairs, forces_of_pairs, gradients, stress_forces, surface_forces,
};
use diffkern_sim::fem::lattice::mass::{box_inertia, inertia};

/// Control points of a row of cells along x.
const NODES: usize = 7 * 9;
const CELLS: usize = 5;

struct Setup {
    x: Array<Vec3<f64>>,
    rows: Array<u32>,
    per_cell: Array<Vec3<f64>>,
    /// Two corners of each cell, and the eight of their box.
    corners: Array<Vec3<f64>>,
    eight: Array<Vec3<f64>>,
    stress: Array<Mat3<f64>>,
}

fn setup(seed: u64) -> Result<Setup> {
    let (dev, mut r) = (device(), Random(seed));
    let rows: Vec<u32> = (0..9 * CELLS).map(|k| (9 * (k / 9 + k % 9 / 3) + 3 * (k % 3)) as u32).collect();
    let (mut corners, mut eight) = (Vec::new(), Vec::new());
    for _ in 0..CELLS {
        let ends = [r.vec3(0.1, 0.4), r.vec3(0.5, 0.9)];
        corners.extend(ends);
        eight.extend((0..8).map(|k| Vec3::new(ends[k & 1].x, ends[k >> 1 & 1].y, ends[k >> 2].z)));
    }
    let mut vectors = |n: usize| r.many(n, |r| r.vec3(-1.0, 1.0));
    let x = vectors(NODES);
    let columns = vectors(3 * 8 * CELLS);
    let stress: Vec<_> = columns.chunks(3).map(|c| Mat3::from_cols(c[0], c[1], c[2])).collect();
    Ok(Setup {
        x: dev.array(&x)?,
        rows: dev.array(&rows)?,
        per_cell: dev.array(&[Vec3::new(3.0, 4.0, 5.0)])?,
        corners: dev.array(&corners)?,
        eight: dev.array(&eight)?,
        stress: dev.array(&stress)?,
    })
}

/// The means of gradients and values of the 27 splines over eight points each.
fn means(points: &[Vec3<f64>]) -> Vec<Vec4<f64>> {
    let value = |s: f64| [0.5 * (1.0 - s).powi(2), 0.5 + s * (1.0 - s), 0.5 * s * s];
    let slope = |s: f64| [s - 1.0, 1.0 - 2.0 * s, s];
    let of = |own: &[Vec3<f64>], k: usize| {
        let [i, j, k] = [k / 9, k / 3 % 3, k % 3];
        own.iter().fold(Vec4::zero(), |sum, s| {
            let [x, y, z] = [value(s.x)[i], value(s.y)[j], value(s.z)[k]];
            let [dx, dy, dz] = [slope(s.x)[i], slope(s.y)[j], slope(s.z)[k]];
            sum + Vec4::new(dx * y * z, x * dy * z, x * y * dz, x * y * z) * 0.125
        })
    };
    points.chunks(8).flat_map(|own| (0..27).map(move |k| of(own, k))).collect()
}

fn alike(a: &Array<Vec3<f64>>, b: &Array<Vec3<f64>>) -> Result<()> {
    for (k, (a, b)) in a.to_vec()?.into_iter().zip(b.to_vec()?).enumerate() {
        assert!((a - b).norm() < 1e-12 * (1.0 + b.norm()), "{k}: {a:?}, not {b:?}");
    }
    Ok(())
}

#[test]
fn gradients_forces_and_inertia_of_boxes_are_those_of_their_corners() -> Result<()> {
    for seed in 1..4 {
        let Setup { x, rows, per_cell, corners, eight, stress } = &setup(seed)?;
        let (boxed, plain) = (device().zeros(8 * CELLS)?, device().zeros(8 * CELLS)?);
        box_gradients(CELLS, x, rows, corners, per_cell, &boxed)?;
        gradients(CELLS, x, rows, eight, per_cell, &plain)?;
        for (k, (a, b)) in boxed.to_vec()?.into_iter().zip(plain.to_vec()?).enumerate() {
            let off = (a - b).to_array().iter().fold(0.0f64, |most, x| most.max(x.abs()));
            assert!(off < 1e-12, "{k}: {a:?}, not {b:?}");
        }
        let (boxed, plain) = (device().zeros(NODES)?, device().zeros(NODES)?);
        let masses = device().array(&corners.to_vec()?.iter().step_by(2).map(|x| x.x).collect::<Vec<_>>())?;
        let moments = device().array(&stress.to_vec()?[..CELLS])?;
        let shapes = device().array(&means(&eight.to_vec()?))?;
        box_inertia(CELLS, x, rows, corners, &moments, &masses, &boxed)?;
        inertia(CELLS, x, rows, &shapes, &moments, &masses, &plain)?;
        alike(&boxed, &plain)?;
        let (boxed, plain) = (device().zeros(NODES)?, device().zeros(NODES)?);
        box_forces(CELLS, stress, rows, corners, per_cell, &boxed)?;
        stress_forces(CELLS, stress, rows, eight, per_cell, &plain)?;
        alike(&boxed, &plain)?;
    }
    Ok(())
}

#[test]
fn pairs_are_carried_as_points_are() -> Result<()> {
    let dev = device();
    for seed in 1..4 {
        let Setup { x, rows, eight, stress, .. } = &setup(seed)?;
        // Eight of each cell: some other number, and not in the order of the cells.
        let cells: Vec<u32> = (0..8 * CELLS).map(|k| (k / 2 * 3 % CELLS) as u32).collect();
        let (n, cells) = (cells.len(), &dev.array(&cells)?);
        let (place, alone) = (dev.zeros(n)?, dev.zeros(n)?);
        carry_pairs(n / 2, x, rows, cells, eight, &place)?;
        carry(n, x, rows, cells, eight, &alone)?;
        alike(&place, &alone)?;
        let traction: Vec<_> = stress.to_vec()?.iter().map(|m| m.col(0)).collect();
        let areas: Vec<_> = stress.to_vec()?.iter().map(|m| m.col(1).x).collect();
        // Of four pairs one has its first point near, one its second, one both and one neither.
        let is_near = |k: usize| [0, 3, 4, 5].contains(&(k % 8));
        let near: Vec<u32> = (0..n).map(|k| u32::from(is_near(k))).collect();
        let pressed: Vec<_> =
            traction.iter().enumerate().map(|(k, t)| if is_near(k) { *t } else { Vec3::zero() }).collect();
        let (near, pressed, areas) = (dev.array(&near)?, dev.array(&pressed)?, dev.array(&areas)?);
        let (together, alone) = (dev.zeros(NODES)?, dev.zeros(NODES)?);
        forces_of_pairs(n / 2, &near, &pressed, &areas, rows, cells, eight, &together)?;
        surface_forces(n, &pressed, &areas, rows, cells, eight, &alone)?;
        alike(&together, &alone)?;
    }
    Ok(())
}
