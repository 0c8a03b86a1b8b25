//! Scenes that the tests share.
#![allow(dead_code, reason = "every test binary uses a part of it")]

use diffkern::{Array, Device, Vec3};
use diffkern_render::{Camera, Light, Mesh};

pub type V = Vec3<f64>;

/// Looks along +y from 4 m; one pixel is `8 tan(0.25) / height` metres wide at y = 0.
pub fn front_camera(size: usize) -> Camera {
    Camera {
        position: [0.0, -4.0, 0.0],
        look_at: [0.0; 3],
        up: [0.0, 0.0, 1.0],
        vertical_fov: 0.5,
        width: size,
        height: size,
        near: 0.1,
    }
}

/// Metres per pixel of [`front_camera`] at y = 0.
pub fn pixel(size: usize) -> f64 {
    8.0 * 0.25f64.tan() / size as f64
}

/// The camera of the sequence `jelly_drop_a`.
pub fn drop_camera() -> Camera {
    Camera {
        position: [0.62, -0.98, 0.52],
        look_at: [-0.01, -0.02, 0.095],
        up: [0.0, 0.0, 1.0],
        vertical_fov: 32f64.to_radians(),
        width: 128,
        height: 128,
        near: 0.05,
    }
}

/// The light of the sequence `jelly_drop_a`.
pub fn drop_light() -> Light {
    Light {
        direction: [0.35, -0.6, 0.75],
        intensity: 0.85,
        ambient: 0.15,
        albedo: [0.85, 0.55, 0.35],
        background: [0.08, 0.09, 0.11],
    }
}

/// A box with `n` by `n` squares of two triangles on each side and hard edges between sides, closed: sides share the
/// vertices on their edges.
pub fn block(min: [f64; 3], max: [f64; 3], n: u32) -> (Mesh, Vec<V>) {
    let (mut vertices, mut triangles, mut sides) = (Vec::new(), Vec::new(), Vec::new());
    for side in 0..6u32 {
        let (axis, high) = ((side / 2) as usize, side % 2 == 1);
        // (u, v, axis) is right-handed for u = axis + 1, v = axis + 2.
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut index = Vec::new();
        for j in 0..=n {
            for i in 0..=n {
                let mut p = [0.0; 3];
                p[axis] = if high { max[axis] } else { min[axis] };
                p[u] = min[u] + (max[u] - min[u]) * f64::from(i) / f64::from(n);
                p[v] = min[v] + (max[v] - min[v]) * f64::from(j) / f64::from(n);
                let p = Vec3::from_array(p);
                let known = vertices.iter().position(|q: &V| (*q - p).norm() < 1e-9);
                index.push(known.unwrap_or(vertices.len()) as u32);
                if known.is_none() {
                    vertices.push(p);
                }
            }
        }
        for j in 0..n {
            for i in 0..n {
                let at = |i: u32, j: u32| index[(j * (n + 1) + i) as usize];
                let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
                let two = if high { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] };
                triangles.extend(two);
                sides.extend([side; 2]);
            }
        }
    }
    let mesh = Mesh::with_sides(triangles, &sides, vertices.len()).unwrap();
    (mesh, vertices)
}

/// The block of `jelly_drop_a` at time 0.
pub fn drop_block(n: u32) -> (Mesh, Vec<V>) {
    block([-0.31, -0.05, 0.075], [-0.09125, 0.1375, 0.23125], n)
}

/// A sphere that faces outwards, `rings` by `2 rings` squares, slightly bumpy so that nothing is symmetric.
pub fn bumpy_sphere(centre: [f64; 3], radius: f64, rings: u32) -> (Mesh, Vec<V>) {
    let turns = 2 * rings;
    let mut vertices = Vec::new();
    for i in 0..=rings {
        for j in 0..turns {
            let theta = std::f64::consts::PI * f64::from(i) / f64::from(rings);
            let phi = std::f64::consts::TAU * f64::from(j) / f64::from(turns) + 0.1;
            let r = radius * (1.0 + 0.08 * (3.0 * phi).sin() * theta.sin() + 0.05 * (2.0 * theta).cos());
            let n = [theta.sin() * phi.cos(), theta.sin() * phi.sin(), theta.cos()];
            vertices.push(Vec3::new(centre[0] + r * n[0], centre[1] + r * n[1], centre[2] + r * n[2]));
        }
    }
    let mut triangles = Vec::new();
    for i in 0..rings {
        for j in 0..turns {
            // One vertex at each pole: the surface is closed however the vertices move.
            let at = |i: u32, j: u32| i * turns + if i == 0 || i == rings { 0 } else { j % turns };
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            if i > 0 {
                triangles.push([a, b, d]);
            }
            if i + 1 < rings {
                triangles.push([b, c, d]);
            }
        }
    }
    let mesh = Mesh::smooth(triangles, vertices.len()).unwrap();
    (mesh, vertices)
}

/// A disc in the plane y = 0 that faces -y, as a fan of `n` triangles.
pub fn disc(centre: [f64; 2], radius: f64, n: u32) -> (Mesh, Vec<V>) {
    let rim = |k: u32| {
        let angle = std::f64::consts::TAU * (f64::from(k) + 0.3) / f64::from(n);
        Vec3::new(centre[0] + radius * angle.cos(), 0.0, centre[1] + radius * angle.sin())
    };
    let mut vertices: Vec<V> = (0..n).map(rim).collect();
    vertices.push(Vec3::new(centre[0], 0.0, centre[1]));
    let triangles = (0..n).map(|k| [n, k, (k + 1) % n]).collect();
    (Mesh::flat(triangles, vertices.len()).unwrap(), vertices)
}

/// Seeded numbers in -1..1.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as f64) / f64::from(1u32 << 30) - 1.0
    }

    pub fn vec(&mut self, scale: f64) -> V {
        Vec3::new(scale * self.next(), scale * self.next(), scale * self.next())
    }
}

pub fn upload(device: &Device, vertices: &[V]) -> Array<V> {
    device.array(vertices).unwrap()
}
