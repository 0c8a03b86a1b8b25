//! Bodies cut from lattices that touch each other: places of contact about a cube of cells.

use diffkern::prelude::*;
use diffkern_sim::contact::SmoothPenalty;
use diffkern_sim::fem::lattice::press::{
    Rub, beneath, beneath_points, pack_surfaces, press, press_points, reactions, rub_points, supported,
};
use diffkern_sim::fem::lattice::touch::{Touched, approach, locate, mean_map, reach};

use crate::kernels::random::Random;
use crate::kernels::{Kernel, Size};

/// A cube of whole cells with a cell around it, two bodies' worth of materials, and places in the cube.
struct Touching<F: Float> {
    nodes: usize,
    places: usize,
    x: Array<Vec3<F>>,
    v: Array<Vec3<F>>,
    rows: Array<u32>,
    node_owner: Array<u32>,
    weights: Array<Vec4<F>>,
    map: Array<Vec3<F>>,
    near: Array<u32>,
    corners: Array<Vec3<F>>,
    distance: Array<F>,
    place: Array<Vec3<F>>,
    cell: Array<u32>,
    foot: Array<Vec3<F>>,
    slope: Array<Vec4<F>>,
    speed: Array<Vec3<F>>,
    under: Array<Vec3<F>>,
    owner: Array<u32>,
    per_place: Array<F>,
    per_cell: Array<F>,
    per_body: [Array<F>; 3],
    laws: Array<Vec4<F>>,
    found: Array<u32>,
    place_out: [Array<Vec3<F>>; 2],
    slope_out: Array<Vec4<F>>,
    mass_out: Array<F>,
    node_out: Array<Vec3<F>>,
    map_out: Array<Vec3<F>>,
    laws_out: Array<Vec4<F>>,
    to: Touched<F>,
    rub: Rub<F>,
}

fn touching<F: Float>(d: &Device, size: Size) -> Result<Touching<F>> {
    let n = size.pick(16, 2);
    let (side, wide, finer, mut r) = (n + 2, n + 2, 4, Random(57));
    let (cells, nodes, places) = (n * n * n, side * side * side, size.pick(4096, 5));
    let cube = |k: usize, n: usize| [k / (n * n), k / n % n, k % n];
    let real = |u: [f64; 3]| Vec3::<F>::from_array(u.map(F::from_f64));
    let first = |c: usize, k: usize| ((c / (n * n) + k / 3) * side + c / n % n + k % 3) * side + c % n;
    // In cells of the box, in which the first control points are at a half.
    let rest = |k: usize| cube(k, side).map(|i| i as f64 + 0.5);
    let x: Vec<_> = (0..nodes).map(|k| real(rest(k)) + r.vec3(-0.05, 0.05)).collect();
    let inner = |u: [usize; 3]| u.map(|i| i.clamp(1, n) - 1);
    let near = (0..wide * wide * wide).map(|k| inner(cube(k, wide))).map(|[i, j, k]| ((i * n + j) * n + k) as u32);
    let samples = finer * wide + 2;
    let distance = (0..samples * samples * samples).map(|k| {
        let [x, y, z] = cube(k, samples).map(|i| (i as f64 - 0.5) / finer as f64 - 1.0);
        F::from_f64(0.1 + 0.02 * x - 0.05 * y + 0.9 * z + 0.01 * x * x - 0.02 * y * z)
    });
    let inside: Vec<[f64; 3]> =
        (0..places).map(|_| [(); 3].map(|()| r.between::<f64>(1.05, n as f64 + 0.95))).collect();
    let cell = |u: &[f64; 3]| u.map(|u| u as usize - 1);
    let cell_of = inside.iter().map(cell).map(|[i, j, k]| ((i * n + j) * n + k) as u32);
    let foot = inside.iter().map(|u| real(u.map(|u| u - u.floor())));
    let [nx, ny, nz] = [wide as u32; 3];
    let middle = 0.5 * wide as f64;
    let to = Touched {
        body: 1,
        first_cell: 0,
        first: 0,
        end: 0,
        nx,
        ny,
        nz,
        finer: finer as u32,
        centre: real([middle; 3]),
        edge: F::from_f64(1.0),
        reach: F::from_f64(0.1),
    };
    let axes = [real([1.0, 0.0, 0.0]), real([0.0, 1.0, 0.0]), real([0.0, 0.0, 1.0])];
    let positive = |r: &mut Random| r.between(0.5, 1.0);
    let bodies = (0..places).map(|k| (k % 2) as u32).collect::<Vec<_>>();
    Ok(Touching {
        nodes,
        places,
        x: d.array(&x)?.requires_grad(),
        v: r.array(d, nodes, |r| r.vec3(-1.0, 1.0))?,
        rows: d.array(&(0..9 * cells).map(|i| first(i / 9, i % 9) as u32).collect::<Vec<_>>())?,
        node_owner: d.array(&vec![1; nodes])?,
        weights: d.array(&(0..nodes).map(|_| Vec4::splat(positive(&mut r))).collect::<Vec<_>>())?,
        map: d.array(&[&axes[..], &[Vec3::zero()], &axes, &[to.centre]].concat())?,
        near: d.array(&near.collect::<Vec<_>>())?,
        corners: d.array(&(0..cells).map(|c| real(cube(c, n).map(|i| i as f64 + 1.0))).collect::<Vec<_>>())?,
        distance: d.array(&distance.collect::<Vec<_>>())?,
        place: d.array(&inside.iter().map(|&u| real(u)).collect::<Vec<_>>())?.requires_grad(),
        cell: d.array(&cell_of.collect::<Vec<_>>())?,
        foot: d.array(&foot.collect::<Vec<_>>())?.requires_grad(),
        slope: r.array(d, places, |r| {
            let [x, y, z, w] = [r.between(0.2, 0.9), r.between(-0.8, -0.3), r.between(0.1, 0.6), r.between(-0.3, -0.1)];
            Vec4::new(x, y, z, w)
        })?,
        speed: r.array(d, places, |r| r.vec3(-1.0, 1.0))?,
        under: r.array(d, places, |r| r.vec3(-1.0, 1.0))?,
        owner: d.array(&bodies)?,
        per_place: r.array(d, places, positive)?,
        per_cell: r.array(d, cells, positive)?,
        per_body: [r.array(d, 2, positive)?, r.array(d, 2, positive)?, r.array(d, 2, positive)?],
        laws: r.array(d, 2, |r| Vec4::from_array([(); 4].map(|()| r.between(0.2, 0.4))))?,
        found: d.zeros(places)?,
        place_out: [d.zeros(places)?, d.zeros(places)?],
        slope_out: d.zeros(places)?,
        mass_out: d.zeros(places)?,
        node_out: d.zeros(nodes)?,
        map_out: d.zeros(8)?,
        laws_out: d.zeros(2)?,
        to,
        rub: Rub { body: 1, dt: F::from_f64(0.1), slip: F::from_f64(0.05) },
    })
}

/// For those without a derivative.
fn usual(d: &Device) -> Result<Touching<f32>> {
    touching(d, Size::Usual)
}

pub fn kernels() -> Vec<Kernel> {
    vec![
        integers!(mean_map: usual => |i| "nodes" i.nodes,
            (i.nodes, &i.x, &i.node_owner, &i.weights, &i.map_out)),
        integers!(locate: usual => |i| "points" i.places,
            (i.places, &i.x, &i.rows, &i.place, &i.map, &i.near, &i.corners, &i.distance, &i.found, &i.place_out[0], i.to)),
        kernel!(approach: touching => |i| "points" i.places,
            (i.places, &i.x, &i.rows, &i.place, &i.cell, &i.foot, &i.place_out[0]),
            writes [i.place_out[0] => Vec3::splat(1.0)]),
        kernel!(reach: touching => |i| "points" i.places,
            (i.places, &i.x, &i.rows, &i.cell, &i.foot, &i.corners, &i.distance, &i.slope_out, i.to),
            writes [i.slope_out => Vec4::splat(1.0)]),
        kernel!(beneath: touching => |i| "points" i.places,
            (i.places, &i.v, &i.rows, &i.cell, &i.foot, &i.per_cell, &i.per_place, &i.place_out[0], &i.mass_out, i.rub.dt),
            writes [i.place_out[0] => Vec3::splat(1.0), i.mass_out => 1.0]),
        kernel!(pack_surfaces: touching => |i| "bodies" 2,
            (2, &i.per_body[0], &i.per_body[1], &i.per_body[2], &i.laws_out), writes [i.laws_out => Vec4::splat(1.0)]),
        kernel!(press<SmoothPenalty>: touching => |i| "points" i.places,
            (i.places, &i.speed, &i.under, &i.per_place, &i.slope, &i.per_place, &i.owner, &i.laws, &i.place_out[0],
             &i.place_out[1], i.rub),
            writes [i.place_out[0] => Vec3::splat(1.0), i.place_out[1] => Vec3::splat(0.3)]),
        kernel!(beneath_points: touching => |i| "points" i.places,
            (i.places, &i.v, &i.rows, &i.cell, &i.foot, &i.per_cell, &i.place_out[0], &i.mass_out, i.rub.dt),
            writes [i.place_out[0] => Vec3::splat(1.0), i.mass_out => 1.0]),
        kernel!(press_points<SmoothPenalty>: touching => |i| "points" i.places,
            (i.places, &i.speed, &i.under, &i.slope, &i.per_place, &i.laws, &i.place_out[0], &i.mass_out),
            writes [i.place_out[0] => Vec3::splat(1.0), i.mass_out => 1.0]),
        kernel!(rub_points: touching => |i| "points" i.places,
            (i.places, &i.speed, &i.per_place, &i.slope, &i.per_place, &i.per_place, &i.per_place, &i.laws, &i.place_out[0],
             &i.place_out[1], i.rub),
            writes [i.place_out[0] => Vec3::splat(1.0), i.place_out[1] => Vec3::splat(0.3)]),
        kernel!(reactions: touching => |i| "points" i.places,
            (i.places, &i.speed, &i.per_place, &i.rows, &i.cell, &i.foot, &i.node_out),
            writes [i.node_out => Vec3::splat(1.0)]),
        kernel!(supported: touching => |i| "points" i.places,
            (i.places, &i.speed, &i.per_body[0], &i.owner, &i.place_out[0]),
            writes [i.place_out[0] => Vec3::splat(1.0)]),
    ]
}
